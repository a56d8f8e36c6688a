//! Noise that one target's own history taught, and how to take it back.
//!
//! [`learn`] reads the kept versions of a target, oldest first, and proposes rules: a place whose
//! figures or ids run on from visit to visit ([`Pattern::Running`]), and lines that come and go
//! in turn ([`Pattern::Turns`]). A rule is bound to one place and, within it, to one shape or to
//! the very lines seen; it explains nothing else. Nothing that states a price, and nothing that
//! states a fact under a heading or in a table, is ever learned or explained by a rule.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Hunk, HunkKind, NoiseKind, Part, Place, Word, compare, fact, fold, mask, text_digest};
use crate::{BlockKind, Page, Region};

/// How often a place must have run on before a rule is made of it.
const RUNS_MIN: u32 = 3;
/// Versions whose digests are kept for recognising that one came back.
const RECENT_MAX: usize = 16;

/// What the history of a target taught.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learned {
    rules: Vec<LearnedRule>,
    /// Ids of rules that a person took back; they are not learned again.
    retired: BTreeSet<String>,
    /// Text digests of the last versions, oldest first.
    recent: Vec<String>,
}

/// One thing that history taught.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedRule {
    /// Stable: the same place and pattern give the same id.
    pub id: String,
    /// The place, for people: region, headings, labels, kind.
    pub place: String,
    pub pattern: Pattern,
    /// How many steps of the history show it.
    pub count: u32,
    /// The version that showed it first, as the caller named it.
    pub since: String,
}

/// What the rule explains at its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Pattern {
    /// A line of this shape, its figures and ids masked, whatever these are.
    Running { shape: String },
    /// Lines that come, go and return: digests of the folded lines.
    Turns { lines: BTreeSet<String> },
}

/// A version of the target, with the name (a date, a sequence number) it goes by.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'p> {
    pub at: &'p str,
    pub page: &'p Page,
}

impl Learned {
    pub fn rules(&self) -> &[LearnedRule] {
        &self.rules
    }

    /// Takes over proposed rules, except those a person took back. A rule known already is
    /// brought up to date.
    pub fn adopt(&mut self, rules: impl IntoIterator<Item = LearnedRule>) {
        for rule in rules {
            if self.retired.contains(&rule.id) {
                continue;
            }
            match self.rules.iter_mut().find(|known| known.id == rule.id) {
                Some(known) => known.count = known.count.max(rule.count),
                None => self.rules.push(rule),
            }
        }
        self.rules.sort_by(|a, b| a.id.cmp(&b.id));
    }

    /// Takes a rule back for good; what it explained is a change again.
    pub fn retire(&mut self, id: &str) -> Option<LearnedRule> {
        let at = self.rules.iter().position(|rule| rule.id == id)?;
        self.retired.insert(id.to_owned());
        Some(self.rules.remove(at))
    }

    /// Notes a version that was compared, so that its return is recognised.
    pub fn note(&mut self, page: &Page) {
        let digest = text_digest(page);
        self.recent.retain(|known| *known != digest);
        self.recent.push(digest);
        let over = self.recent.len().saturating_sub(RECENT_MAX);
        self.recent.drain(..over);
    }

    /// How many versions ago a text was seen; 0 is the last one noted.
    pub fn seen_before(&self, digest: &str) -> Option<usize> {
        self.recent.iter().rev().position(|known| known == digest)
    }

    /// Marks what the rules explain, and, where the page as a whole has been seen before, what
    /// states no fact.
    pub(super) fn apply(&self, hunks: &mut [Hunk], after: &Page) {
        if self.rules.is_empty() && self.recent.is_empty() {
            return;
        }
        let returned = self.seen_before(&text_digest(after)).is_some();
        for hunk in hunks
            .iter_mut()
            .filter(|hunk| hunk.noise.is_none() && may_be_noise(hunk))
        {
            if let Some(rule) = self.rules.iter().find(|rule| rule.explains(hunk)) {
                hunk.noise = Some(NoiseKind::Learned);
                hunk.rule = Some(rule.id.clone());
            } else if returned && hunk.place.part == Part::Text && !states_fact(hunk) {
                hunk.noise = Some(NoiseKind::Rotation);
            }
        }
    }
}

impl LearnedRule {
    fn new(place: String, pattern: Pattern, count: u32, since: String) -> LearnedRule {
        let mark = match &pattern {
            Pattern::Running { shape } => format!("running {shape}"),
            // The set may grow; the place alone names the rule.
            Pattern::Turns { .. } => "turns".to_owned(),
        };
        let digest = fold::digest([place.as_str(), &mark].into_iter());
        let id = digest.get(..16).unwrap_or(&digest).to_owned();
        LearnedRule {
            id,
            place,
            pattern,
            count,
            since,
        }
    }

    fn explains(&self, hunk: &Hunk) -> bool {
        if self.place != place_name(&hunk.place) {
            return false;
        }
        let mut sides = [&hunk.before, &hunk.after].into_iter().flatten().peekable();
        match &self.pattern {
            _ if sides.peek().is_none() => false,
            Pattern::Running { shape } => {
                hunk.kind == HunkKind::Replaced && sides.all(|words| shape_of(words) == *shape)
            }
            Pattern::Turns { lines } => sides.all(|words| lines.contains(&line_digest(words))),
        }
    }
}

/// What may be learned of these versions, oldest first.
pub fn learn(history: &[Seen<'_>]) -> Vec<LearnedRule> {
    let mut running: BTreeMap<(String, String), (u32, String)> = BTreeMap::new();
    let mut turns: BTreeMap<String, Turns> = BTreeMap::new();
    for pair in history.windows(2) {
        let [before, after] = pair else { continue };
        let difference = compare(before.page, after.page, &Learned::default());
        let open = difference
            .hunks
            .iter()
            .filter(|hunk| hunk.noise.is_none() && may_be_noise(hunk));
        for hunk in open.filter(|hunk| hunk.place.part == Part::Text) {
            let place = place_name(&hunk.place);
            if let (HunkKind::Replaced, Some(was), Some(is)) =
                (hunk.kind, &hunk.before, &hunk.after)
                && shape_of(was) == shape_of(is)
            {
                let key = (place.clone(), shape_of(is));
                running.entry(key).or_insert((0, before.at.to_owned())).0 += 1;
            }
            if !states_fact(hunk) && hunk.kind != HunkKind::Moved {
                turns.entry(place).or_default().step(hunk, before.at);
            }
        }
    }
    let mut rules: Vec<LearnedRule> = running
        .into_iter()
        .filter(|(_, (count, _))| *count >= RUNS_MIN)
        .map(|((place, shape), (count, since))| {
            LearnedRule::new(place, Pattern::Running { shape }, count, since)
        })
        .collect();
    rules.extend(turns.into_iter().filter_map(|(place, turns)| {
        let lines: BTreeSet<String> = turns.returned().collect();
        let pattern = Pattern::Turns { lines };
        let fits = matches!(&pattern, Pattern::Turns { lines } if !lines.is_empty());
        fits.then(|| LearnedRule::new(place, pattern, turns.steps, turns.since))
    }));
    rules
}

/// The comings and goings of lines at one place.
#[derive(Default)]
struct Turns {
    /// Per line: how often it came, how often it went.
    lines: BTreeMap<String, (u32, u32)>,
    steps: u32,
    since: String,
}

impl Turns {
    fn step(&mut self, hunk: &Hunk, at: &str) {
        if self.steps == 0 {
            self.since = at.to_owned();
        }
        self.steps += 1;
        if let Some(words) = &hunk.before {
            self.lines.entry(line_digest(words)).or_default().1 += 1;
        }
        if let Some(words) = &hunk.after {
            self.lines.entry(line_digest(words)).or_default().0 += 1;
        }
    }

    /// Lines that came back after they had gone, or went again after they had come back.
    fn returned(&self) -> impl Iterator<Item = String> {
        let turned = |&(came, went): &(u32, u32)| came >= 1 && went >= 1 && came + went >= 3;
        self.lines
            .iter()
            .filter(move |(_, counts)| turned(counts))
            .map(|(line, _)| line.clone())
    }
}

/// Whether a hunk may be hidden by what history taught: no price at all, no fact under a heading
/// or in a table.
fn may_be_noise(hunk: &Hunk) -> bool {
    let price = texts(hunk).any(|text| fact::is_price(&text));
    let guarded = [Some(&hunk.place), hunk.from.as_ref()]
        .into_iter()
        .flatten()
        .any(is_guarded);
    let link = hunk.kind == HunkKind::LinkTarget;
    !(price || link || guarded && states_fact(hunk))
}

/// Under a heading, in a table or a definition list, or itself a heading or a title.
fn is_guarded(place: &Place) -> bool {
    let foot = place.region == Some(Region::Footer);
    let kind = matches!(
        place.kind,
        None | Some(
            BlockKind::Heading(_) | BlockKind::Cell | BlockKind::Term | BlockKind::Definition
        )
    );
    kind || place.row_label.is_some()
        || place.col_label.is_some()
        || !place.headings.is_empty() && !foot
}

fn states_fact(hunk: &Hunk) -> bool {
    texts(hunk).any(|text| fact::states(&text))
}

fn texts(hunk: &Hunk) -> impl Iterator<Item = String> {
    [&hunk.before, &hunk.after]
        .into_iter()
        .flatten()
        .map(|words| text_of(words))
}

fn text_of(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect()
}

fn shape_of(words: &[Word]) -> String {
    mask::shape(&fold::wide(&text_of(words)))
}

fn line_digest(words: &[Word]) -> String {
    fold::digest([fold::squeezed(&text_of(words)).as_str()].into_iter())
}

/// Region, headings, labels and kind of element, in one line.
fn place_name(place: &Place) -> String {
    let region = place
        .region
        .map_or_else(String::new, |region| format!("{region:?}").to_lowercase());
    let kind = place
        .kind
        .map_or_else(String::new, |kind| format!("{kind:?}").to_lowercase());
    let labels = [&place.row_label, &place.col_label].into_iter().flatten();
    let steps = place
        .headings
        .iter()
        .chain(labels)
        .map(|step| fold::squeezed(step));
    let steps: Vec<String> = std::iter::once(region).chain(steps).chain([kind]).collect();
    steps.join(" › ")
}
