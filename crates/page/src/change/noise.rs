//! Which steps are noise: the kinds that one pair of readings can show, and where each may apply.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::lines::{Edit, Line, Step};
use super::{fact, fold, mask, nonce, overlay};
use crate::{BlockKind, Page, Region};

/// Why a difference is no change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseKind {
    /// An id drawn for the request or session, or an address scrambled anew.
    Token,
    /// A hash in the file name of an asset.
    AssetHash,
    BuildId,
    /// The number of the application that serves the page.
    Version,
    /// A time that tells the present: a clock, "3 hours ago".
    Clock,
    /// The year beside a copyright sign.
    Year,
    /// A count of views, visitors or the like.
    Counter,
    /// The same items in another order.
    Order,
    /// A consent banner came or went.
    Overlay,
    /// What stands under a label "advertisement".
    Ad,
    /// The same text cut into lines otherwise, or a target spelt otherwise.
    Markup,
    /// The same text in characters of another width or form.
    Width,
    /// A version seen lately came back.
    Rotation,
    /// Taught by the target's history.
    Learned,
}

/// The lines of one page with what noise must know of their surroundings.
pub(super) struct Side<'p> {
    pub(super) lines: Vec<Line<'p>>,
    /// The line from which the page's foot begins, as its copyright line shows.
    foot: usize,
    /// Texts of the `h1` headings.
    titles: HashSet<&'p str>,
    /// The lines of each region that state a fact, in order; found when first asked for.
    facts: OnceCell<BTreeMap<Region, Vec<usize>>>,
}

/// What stands around a line.
#[derive(Debug, Clone, Copy)]
struct Spot {
    kind: BlockKind,
    /// In the footer of the page.
    footer: bool,
    /// In the footer, or after the copyright line at the end of a page without one.
    foot: bool,
    /// In a table or a definition list.
    tabled: bool,
    /// Under a label of a table or a definition list.
    labelled: bool,
    /// Under any heading.
    headed: bool,
    /// Under a heading other than the page's title alone.
    sectioned: bool,
}

impl<'p> Side<'p> {
    pub(super) fn new(page: &'p Page) -> Side<'p> {
        let lines = super::lines::lines(page);
        let foot = foot(&lines);
        let titles = lines
            .iter()
            .filter(|line| line.at.kind == BlockKind::Heading(1));
        let titles = titles.map(|line| line.text).collect();
        Side {
            lines,
            foot,
            titles,
            facts: OnceCell::new(),
        }
    }

    /// Whether a line of the region, from one number up to another, states a fact.
    fn has_fact(&self, region: Region, from: usize, to: usize) -> bool {
        let facts = self.facts.get_or_init(|| {
            let mut facts: BTreeMap<Region, Vec<usize>> = BTreeMap::new();
            for (at, line) in self.lines.iter().enumerate() {
                if fact::states(line.text) {
                    facts.entry(line.at.region).or_default().push(at);
                }
            }
            facts
        });
        let Some(lines) = facts.get(&region) else {
            return false;
        };
        lines
            .get(lines.partition_point(|&at| at < from))
            .is_some_and(|&at| at < to)
    }

    pub(super) fn line(&self, at: Option<usize>) -> Option<&Line<'p>> {
        self.lines.get(at?)
    }

    fn spot(&self, at: usize) -> Option<Spot> {
        let line = self.lines.get(at)?;
        let footer = line.at.region == Region::Footer;
        let headings = &line.at.headings;
        let titled = matches!(headings.as_slice(), [one] if self.titles.contains(one.as_str()));
        let listed = matches!(line.at.kind, BlockKind::Term | BlockKind::Definition);
        Some(Spot {
            kind: line.at.kind,
            footer,
            foot: footer || at >= self.foot,
            tabled: line.at.cell.is_some() || listed,
            labelled: line.labels() != [None, None] || listed,
            headed: !headings.is_empty(),
            sectioned: !headings.is_empty() && !titled,
        })
    }
}

/// Pages without a `footer` element still end in one: from the last copyright line, if that is
/// near the end and no heading follows it.
fn foot(lines: &[Line<'_>]) -> usize {
    const LAST: usize = 12;
    let mark = lines.iter().rposition(|line| {
        mask::is_copyright(line.text)
            && line.text.chars().count() < 200
            && !matches!(line.at.region, Region::Main | Region::Header)
    });
    let ends = |at: &usize| {
        let rest = lines.get(*at..).unwrap_or(&[]);
        let body = |line: &Line<'_>| matches!(line.at.kind, BlockKind::Heading(_));
        rest.len() <= LAST && !rest.iter().any(body)
    };
    mark.filter(ends).unwrap_or(lines.len())
}

/// The kind of noise of each step, in the same order; `None` is a change.
pub(super) fn of_edits(old: &Side<'_>, new: &Side<'_>, edits: &[Edit]) -> Vec<Option<NoiseKind>> {
    let mut kinds: Vec<Option<NoiseKind>> =
        edits.iter().map(|edit| of_edit(old, new, edit)).collect();
    overlay::mark(old, new, edits, &mut kinds);
    kinds
}

fn of_edit(old: &Side<'_>, new: &Side<'_>, edit: &Edit) -> Option<NoiseKind> {
    match (edit.step, edit.before, edit.after) {
        (Step::Form, ..) => Some(NoiseKind::Width),
        (Step::Recut, ..) => Some(NoiseKind::Markup),
        (Step::Moved, ..) => is_reordering(old, new, edit).then_some(NoiseKind::Order),
        (Step::Replaced, Some(b), Some(a)) => {
            let (was, is) = (old.line(Some(b))?, new.line(Some(a))?);
            let ad = in_ad(old, b) && in_ad(new, a);
            by_mask(was.text, is.text, old.spot(b)?, new.spot(a)?)
                .or_else(|| ad.then_some(NoiseKind::Ad))
        }
        (Step::Removed, Some(b), _) => in_ad(old, b).then_some(NoiseKind::Ad),
        (Step::Added, _, Some(a)) => in_ad(new, a).then_some(NoiseKind::Ad),
        _ => None,
    }
}

/// The title of the window: a count in front of it, or the same in other characters.
pub(super) fn of_title(was: &str, is: &str) -> Option<NoiseKind> {
    let (was, is) = (fold::wide(was), fold::wide(is));
    if was == is {
        return Some(NoiseKind::Width);
    }
    let bare = |text: &str| mask::title_counter(text).unwrap_or_else(|| text.trim().to_owned());
    (bare(&was) == bare(&is)).then_some(NoiseKind::Counter)
}

/// The kind whose mask makes both lines equal, where the kind may apply to both places.
fn by_mask(was: &str, is: &str, old: Spot, new: Spot) -> Option<NoiseKind> {
    const LONGEST: usize = 2_000;
    if was.len() > LONGEST || is.len() > LONGEST {
        return None;
    }
    let (mut was, mut is) = (fold::wide(was).into_owned(), fold::wide(is).into_owned());
    if fold::squeezed(&was) == fold::squeezed(&is) {
        return Some(NoiseKind::Markup);
    }
    for kind in [
        NoiseKind::Year,
        NoiseKind::Version,
        NoiseKind::BuildId,
        NoiseKind::Counter,
        NoiseKind::Clock,
        NoiseKind::Token,
    ] {
        let (left, right) = (masked(kind, &was, old), masked(kind, &is, new));
        if left.is_none() && right.is_none() {
            continue;
        }
        was = left.unwrap_or(was);
        is = right.unwrap_or(is);
        if was == is {
            return Some(kind);
        }
    }
    None
}

/// The text with that kind of noise masked, where the kind may be noise at all.
fn masked(kind: NoiseKind, text: &str, spot: Spot) -> Option<String> {
    // A name and number of an application stands in a short line of its own kind.
    const NOTE: usize = 160;
    if matches!(spot.kind, BlockKind::Heading(_)) {
        return None;
    }
    let loose = !spot.tabled && !spot.sectioned;
    let imprint = !spot.tabled && (loose || spot.foot) && text.len() < NOTE;
    match kind {
        NoiseKind::Year if !spot.labelled => mask::year(text),
        NoiseKind::Version if imprint => mask::version(text),
        NoiseKind::BuildId if imprint => mask::build(text),
        NoiseKind::Counter if loose => mask::counter(text, spot.footer),
        NoiseKind::Clock if loose => mask::clock(text),
        NoiseKind::Token if !spot.tabled => nonce::token(text, spot.headed && !spot.foot),
        _ => None,
    }
}

/// A line moved among its like, and no fact was passed on the way or stands beside it: otherwise
/// a value could slip from one name to another.
fn is_reordering(old: &Side<'_>, new: &Side<'_>, edit: &Edit) -> bool {
    let (Some(was), Some(is)) = (old.line(edit.before), new.line(edit.after)) else {
        return false;
    };
    let spots = edit
        .before
        .and_then(|b| old.spot(b))
        .zip(edit.after.and_then(|a| new.spot(a)));
    let Some((spot_was, spot_is)) = spots else {
        return false;
    };
    let heading = matches!(spot_is.kind, BlockKind::Heading(_));
    if heading || spot_was.tabled || spot_is.tabled || fact::states(was.text) {
        return false;
    }
    let framed = |line: &Line<'_>| !matches!(line.at.region, Region::Main | Region::Body);
    let frame = was.at.region == is.at.region && framed(was) || spot_was.foot && spot_is.foot;
    if was.at.headings != is.at.headings && !frame {
        return false;
    }
    let [passed_old, passed_new] = edit.passed;
    !passes_fact(old, edit.before, passed_old) && !passes_fact(new, edit.after, passed_new)
}

/// Whether a fact lies on the way of a moved line, or next to it in the same element.
fn passes_fact(side: &Side<'_>, at: Option<usize>, passed: (usize, usize)) -> bool {
    let Some((at, line)) = at.and_then(|at| Some((at, side.lines.get(at)?))) else {
        return true;
    };
    let region = line.at.region;
    let beside = [at.checked_sub(1), Some(at + 1)].map(|i| side.line(i));
    let sibling = |other: &&Line<'_>| {
        other.at.region == region
            && parent(other) == parent(line)
            && !matches!(other.at.kind, BlockKind::Heading(_))
    };
    side.has_fact(region, passed.0, passed.1)
        || beside
            .into_iter()
            .flatten()
            .filter(sibling)
            .any(|other| fact::states(other.text))
}

/// The path of the element around the line's own.
fn parent<'l>(line: &'l Line<'_>) -> Option<&'l str> {
    line.at.path.rsplit_once('>').map(|(parent, _)| parent)
}

/// Labels of advertisements, folded and lower case, as whole lines.
const AD_LABELS: &[&str] = &[
    "広告",
    "pr",
    "[pr]",
    "【pr】",
    "ad",
    "ads",
    "スポンサーリンク",
    "スポンサードリンク",
    "スポンサー",
    "advertisement",
    "advertisements",
    "advertising",
    "sponsored",
    "ads by google",
    "sponsored links",
    "sponsored content",
    "anzeige",
    "werbung",
    "publicité",
    "annonce",
    "publicidad",
    "pubblicità",
    "reklama",
    "реклама",
    "광고",
    "广告",
    "廣告",
];

/// Words of an id or class that mark an advertisement.
const AD_MARKS: &[&str] = &[
    "ad",
    "ads",
    "advert",
    "adverts",
    "advertisement",
    "advertising",
    "adsense",
    "adsbygoogle",
    "adslot",
    "adunit",
    "adbox",
    "adbanner",
    "sponsored",
    "koukoku",
];

/// The line stands in an element marked as an advertisement or, outside the main text, right
/// under a label that says so; and it is no fact under a heading, nor in a table.
fn in_ad(side: &Side<'_>, at: usize) -> bool {
    const REACH: usize = 4;
    let (Some(line), Some(spot)) = (side.line(Some(at)), side.spot(at)) else {
        return false;
    };
    if spot.tabled || spot.headed && fact::states(line.text) {
        return false;
    }
    let steps = line
        .at
        .path
        .split('>')
        .filter_map(|step| step.split_once(['.', '#']));
    let mut marks = steps.flat_map(|(_, mark)| mark.split(['-', '_', '.', '#']));
    if marks.any(|mark| AD_MARKS.contains(&mark.to_ascii_lowercase().as_str())) {
        return true;
    }
    let above = side.lines.get(at.saturating_sub(REACH)..=at).unwrap_or(&[]);
    line.at.region != Region::Main
        && above
            .iter()
            .rev()
            .take_while(|l| l.at.region == line.at.region && l.at.headings == line.at.headings)
            .any(|l| AD_LABELS.contains(&fold::wide(l.text).to_lowercase().trim()))
}
