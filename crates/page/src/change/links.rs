//! Where links lead, and whether a difference of targets is one.
//!
//! Links are compared by their text: the k-th "details" of the one page with the k-th of the
//! other. Picture links have no text; those of a region are compared as a set.

use std::collections::BTreeMap;

use super::target::{Target, target};
use super::{NoiseKind, fold};
use crate::{Link, Page, Region};

/// A link whose target differs, as the numbers of the links of both pages; one side is missing
/// where the same text was no link.
pub(super) struct Retarget {
    pub(super) before: Option<usize>,
    pub(super) after: Option<usize>,
    pub(super) noise: Option<NoiseKind>,
}

/// The links that lead elsewhere.
///
/// `explained` tells of a link's text whether lines with it, or of it, came, went or moved: its
/// links came, went and moved with them and are no news of their own.
pub(super) fn retargeted(
    before: &Page,
    after: &Page,
    explained: impl Fn(&str) -> bool,
) -> Vec<Retarget> {
    let mut groups: BTreeMap<(String, Option<Region>), [Vec<Place>; 2]> = BTreeMap::new();
    for (side, page) in [before, after].into_iter().enumerate() {
        for (at, link) in page.links.iter().enumerate() {
            let text = fold::squeezed(&link.text);
            let region = text.is_empty().then_some(link.region);
            let sides = groups.entry((text, region)).or_default();
            if let Some(places) = sides.get_mut(side) {
                places.push(Place {
                    at,
                    href: &link.href,
                    target: target(&link.href),
                });
            }
        }
    }
    let mut found = Vec::new();
    for ((text, _), [old, new]) in groups {
        let known = !text.is_empty() && explained(&text);
        if !known && !text.is_empty() && old.len() == new.len() {
            let pairs = old.iter().zip(&new);
            found.extend(pairs.filter_map(|(old, new)| judged(Some(old), Some(new))));
        } else {
            found.extend(as_sets(&old, &new, known));
        }
    }
    drop_retold(&mut found, before, after);
    for change in &mut found {
        change.noise = change.noise.or_else(|| home_twin(change, before, after));
        change.noise = change.noise.or_else(|| advertised(change, before, after));
    }
    found.sort_by_key(|change| (change.after.or(change.before), change.before));
    found
}

/// A link of one side, read.
struct Place<'p> {
    at: usize,
    href: &'p str,
    target: Target,
}

/// The change from one link to another, if there is one.
fn judged(old: Option<&Place<'_>>, new: Option<&Place<'_>>) -> Option<Retarget> {
    let noise = match (old, new) {
        (Some(old), Some(new)) if old.href == new.href => return None,
        (Some(old), Some(new)) if old.target.folded == new.target.folded => {
            let plain = old.target.kind == NoiseKind::Markup;
            Some(if plain {
                new.target.kind
            } else {
                old.target.kind
            })
        }
        _ => None,
    };
    let (before, after) = (old.map(|place| place.at), new.map(|place| place.at));
    Some(Retarget {
        before,
        after,
        noise,
    })
}

/// Compares without regard to order. Where the text is `known` to have come, gone or moved, a
/// link without a counterpart is no news.
fn as_sets(old: &[Place<'_>], new: &[Place<'_>], known: bool) -> Vec<Retarget> {
    let mut waiting: BTreeMap<&str, Vec<&Place<'_>>> = BTreeMap::new();
    for place in old.iter().rev() {
        waiting.entry(&place.target.folded).or_default().push(place);
    }
    let mut found = Vec::new();
    let mut come = Vec::new();
    for place in new {
        match waiting
            .get_mut(place.target.folded.as_str())
            .and_then(Vec::pop)
        {
            Some(twin) => found.extend(judged(Some(twin), Some(place))),
            None => come.push(place),
        }
    }
    let mut gone: Vec<&Place<'_>> = waiting.into_values().flatten().collect();
    gone.sort_by_key(|place| place.at);
    let pairs = gone.len().min(come.len());
    found.extend(
        gone.iter()
            .zip(&come)
            .filter_map(|(old, new)| judged(Some(old), Some(new))),
    );
    if !known {
        found.extend(
            gone.iter()
                .skip(pairs)
                .filter_map(|old| judged(Some(old), None)),
        );
        found.extend(
            come.iter()
                .skip(pairs)
                .filter_map(|new| judged(None, Some(new))),
        );
    }
    found
}

/// Drops links that lead where they led, and whose text alone changed: the lines tell that.
fn drop_retold(found: &mut Vec<Retarget>, before: &Page, after: &Page) {
    let one_sided = |change: &Retarget| change.before.is_some() != change.after.is_some();
    let folded = |change: &Retarget| {
        let old = change.before.and_then(|b| before.links.get(b));
        let link = change.after.and_then(|a| after.links.get(a)).or(old)?;
        (!link.text.trim().is_empty()).then(|| target(&link.href).folded)
    };
    let mut balance: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for change in found.iter().filter(|change| one_sided(change)) {
        if let Some(target) = folded(change) {
            let [gone, come] = balance.entry(target).or_default();
            *(if change.before.is_some() { gone } else { come }) += 1;
        }
    }
    for sides in balance.values_mut() {
        *sides = [*sides.iter().min().unwrap_or(&0); 2];
    }
    found.retain(|change| {
        let twin = folded(change).and_then(|target| balance.get_mut(&target));
        let Some([gone, come]) = twin.filter(|_| one_sided(change)) else {
            return true;
        };
        let left = if change.before.is_some() { gone } else { come };
        let told = *left > 0;
        *left = left.saturating_sub(1);
        !told
    });
}

/// Domains of advertising networks, whose links carry the advertisement of the day.
const AD_NETWORKS: &[&str] = &[
    "doubleclick.net",
    "googleadservices.com",
    "googlesyndication.com",
    "amazon-adsystem.com",
    "criteo.com",
    "taboola.com",
    "outbrain.com",
    "adnxs.com",
    "a8.net",
    "valuecommerce.com",
    "accesstrade.net",
    "linksynergy.com",
    "microad.jp",
    "i-mobile.co.jp",
    "impact-ad.jp",
];

/// A link into an advertising network, on every side that it has.
fn advertised(change: &Retarget, before: &Page, after: &Page) -> Option<NoiseKind> {
    let sold = |link: &Link| {
        let rest = link.href.split_once("//").map_or("", |(_, rest)| rest);
        let host = rest.split(['/', '?', '#', ':']).next().unwrap_or("");
        AD_NETWORKS.iter().any(|domain| {
            host.strip_suffix(domain)
                .is_some_and(|sub| sub.is_empty() || sub.ends_with('.'))
        })
    };
    let old = change.before.and_then(|b| before.links.get(b));
    let new = change.after.and_then(|a| after.links.get(a));
    [old, new]
        .into_iter()
        .flatten()
        .all(sold)
        .then_some(NoiseKind::Ad)
}

/// A picture that leads home under another name of home.
fn home_twin(change: &Retarget, before: &Page, after: &Page) -> Option<NoiseKind> {
    let home = |link: &Link| {
        link.text.trim().is_empty() && matches!(link.href.trim_end_matches('/'), "" | "/home")
    };
    let both = home(before.links.get(change.before?)?) && home(after.links.get(change.after?)?);
    both.then_some(NoiseKind::Markup)
}
