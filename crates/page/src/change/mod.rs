//! What changed between two readings of one page, and which of it is noise.
//!
//! [`compare`] aligns the visible lines of both readings, then the words of the lines that
//! differ, and the targets of links. Every difference becomes a [`Hunk`]; a hunk is noise only
//! where one of the [`NoiseKind`]s explains all of it. What no kind explains is a change: noise is
//! the exception that must be argued for, and noise hunks stay in the list, named, for whoever
//! wants to see them.
//!
//! The promise behind it: a price, a date, a time or a number that stands under a heading or in a
//! table is never noise. Exempt are, outside tables: years beside a copyright sign; ids after their
//! name ("Request ID"); counters and clocks after theirs where only the page's own title (its
//! `h1`) stands above; versions, builds and ids in the foot of the page, which begins at its last
//! copyright line where no heading follows; the figures of a consent banner under its own heading.
//! What a target's own history teaches is in [`Learned`] and can be taken back.
//!
//! Not compared: images other than their alternative texts, structured data, markup. A page whose
//! visible text and links are equal is unchanged, whatever its bytes.
//!
//! Pure: no clock, no I/O, no order of a hash map in any result. Time is bounded: alignment is
//! linear in practice by the diff library's own heuristics, likeness is asked for at most a million
//! pairs of lines, words are split for at most 8 MiB of text; beyond, lines are whole.

mod fact;
mod fold;
mod learned;
mod lines;
mod links;
mod mask;
mod noise;
mod nonce;
mod overlay;
mod summary;
mod target;
mod words;

use std::cell::Cell;
use std::collections::HashSet;

use serde::Serialize;

pub use learned::{Learned, LearnedRule, Pattern, Seen, learn};
pub use noise::NoiseKind;
pub use summary::Summary;
pub use words::Word;

use crate::{BlockKind, Page, Region};
use lines::{Edit, Line, Step};
use noise::Side;
use words::Words;

/// What a comparison says of the page as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The same text in the same places, the same targets.
    Unchanged,
    /// Every difference is of a kind that no person would call a change.
    Noise,
    Changed,
}

/// The difference between two readings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    pub verdict: Verdict,
    pub summary: Summary,
    /// In the order of reading of the later page; links and images after the text.
    pub hunks: Vec<Hunk>,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HunkKind {
    Added,
    Removed,
    Replaced,
    /// The same text at another place: in the order, or under another label.
    Moved,
    /// The same link text with another target, or none.
    LinkTarget,
}

/// One line, link or image that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hunk {
    pub kind: HunkKind,
    /// Why it is noise; `None`: it is a change.
    pub noise: Option<NoiseKind>,
    /// Id of the learned rule that made it noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Where it stands, on the later page if it is there.
    #[serde(rename = "where")]
    pub place: Place,
    /// Where a moved line stood before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Place>,
    /// The line, or the target of the link, as it was; `None`: it was not there.
    pub before: Option<Vec<Word>>,
    /// The same as it is now.
    pub after: Option<Vec<Word>>,
    /// Number of the block on the earlier page, from 0; `None` for links, images and the title.
    pub before_line: Option<usize>,
    /// Number of the block on the later page.
    pub after_line: Option<usize>,
}

/// What part of a page a hunk is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Text,
    Title,
    Link,
    /// The alternative text of an image.
    Image,
}

/// Where a hunk stands, in words that a person can find it by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    pub part: Part,
    pub region: Option<Region>,
    pub kind: Option<BlockKind>,
    /// The headings above, outermost first.
    pub headings: Vec<String>,
    /// Of a table's row, or the term of a definition.
    pub row_label: Option<String>,
    pub col_label: Option<String>,
    /// The text of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

impl Place {
    fn of_line(line: &Line<'_>) -> Place {
        let [row, col] = line.labels().map(|label| label.map(str::to_owned));
        Place {
            part: Part::Text,
            region: Some(line.at.region),
            kind: Some(line.at.kind),
            headings: line.at.headings.clone(),
            row_label: row,
            col_label: col,
            link: None,
        }
    }

    fn of_part(part: Part) -> Place {
        Place {
            part,
            region: None,
            kind: None,
            headings: Vec::new(),
            row_label: None,
            col_label: None,
            link: None,
        }
    }
}

/// Compares two readings of one page in the light of what its history taught.
pub fn compare(before: &Page, after: &Page, learned: &Learned) -> Difference {
    let (old, new) = (Side::new(before), Side::new(after));
    let edits = lines::align(&old.lines, &new.lines);
    let mut words = Words::new();
    let noise = noise::of_edits(&old, &new, &edits);
    let told = told(&old, &new, &edits);
    let mut hunks: Vec<Hunk> = edits
        .iter()
        .zip(noise)
        .filter(|(edit, _)| !is_renaming(&old, &new, edit, &told))
        .map(|(edit, noise)| text_hunk(&old, &new, edit, noise, &mut words))
        .collect();
    hunks.extend(title_hunk(before, after, &mut words));
    let touched = Touched::new(&hunks);
    hunks.extend(
        links::retargeted(before, after, |text| touched.has(text))
            .iter()
            .map(|change| link_hunk(before, after, change)),
    );
    hunks.extend(image_hunks(before, after, &touched));
    learned.apply(&mut hunks, after);

    let verdict = match hunks
        .iter()
        .map(|hunk| hunk.noise)
        .max_by_key(Option::is_none)
    {
        None => Verdict::Unchanged,
        Some(Some(_)) => Verdict::Noise,
        Some(None) => Verdict::Changed,
    };
    Difference {
        verdict,
        summary: Summary::of(verdict, &hunks),
        hunks,
    }
}

/// SHA-256 in lower-case hex over the visible text, folded: equal for readings that differ in
/// nothing but markup, charset, width and white space.
pub fn text_digest(page: &Page) -> String {
    lines::digest(page)
}

/// The folded texts of the lines that a page's own hunks tell of, before and after.
fn told(old: &Side<'_>, new: &Side<'_>, edits: &[Edit]) -> [HashSet<String>; 2] {
    let news = |edit: &&Edit| matches!(edit.step, Step::Replaced | Step::Added | Step::Removed);
    let texts = |side: &Side<'_>, at: fn(&Edit) -> Option<usize>| -> HashSet<String> {
        let lines = edits
            .iter()
            .filter(news)
            .filter_map(|edit| side.line(at(edit)));
        lines
            .map(|line| fold::wide(line.text).into_owned())
            .collect()
    };
    [
        texts(old, |edit| edit.before),
        texts(new, |edit| edit.after),
    ]
}

/// A cell whose label was renamed is told by the label's own hunk.
fn is_renaming(old: &Side<'_>, new: &Side<'_>, edit: &Edit, told: &[HashSet<String>; 2]) -> bool {
    let (Step::Relabelled, Some(b), Some(a)) =
        (edit.step, old.line(edit.before), new.line(edit.after))
    else {
        return false;
    };
    let [before, after] = told;
    let known = |label: Option<&str>, told: &HashSet<String>| {
        label.is_none_or(|label| told.contains(fold::wide(label).as_ref()))
    };
    let mut labels = b.labels().into_iter().zip(a.labels());
    labels.all(|(was, is)| was == is || known(was, before) && known(is, after))
}

fn text_hunk(
    old: &Side<'_>,
    new: &Side<'_>,
    edit: &Edit,
    noise: Option<NoiseKind>,
    words: &mut Words,
) -> Hunk {
    let (b, a) = (old.line(edit.before), new.line(edit.after));
    let (before, after) = match (edit.step, b, a) {
        (Step::Replaced, Some(b), Some(a)) => {
            let (before, after) = words.diff(b.text, a.text);
            (Some(before), Some(after))
        }
        (step, b, a) => {
            let changed = !matches!(step, Step::Moved | Step::Relabelled);
            let whole = |line: &Line<'_>| words::whole(line.text, changed);
            (b.map(whole), a.map(whole))
        }
    };
    let from = b.zip(a).map(|(b, _)| Place::of_line(b));
    let place = a
        .or(b)
        .map_or_else(|| Place::of_part(Part::Text), Place::of_line);
    let kind = match (edit.step, b.is_some(), a.is_some()) {
        (Step::Moved | Step::Relabelled, ..) => HunkKind::Moved,
        (_, true, true) => HunkKind::Replaced,
        (_, true, false) => HunkKind::Removed,
        (_, false, _) => HunkKind::Added,
    };
    Hunk {
        kind,
        noise,
        rule: None,
        from: from.filter(|from| *from != place),
        place,
        before,
        after,
        before_line: edit.before,
        after_line: edit.after,
    }
}

fn title_hunk(before: &Page, after: &Page, words: &mut Words) -> Option<Hunk> {
    let (b, a) = (before.title.as_deref(), after.title.as_deref());
    let (was, is) = (b.unwrap_or(""), a.unwrap_or(""));
    if fold::same(was).trim() == fold::same(is).trim() {
        return None;
    }
    let (old, new) = words.diff(was, is);
    let hunk = loose_hunk(Place::of_part(Part::Title), b.map(|_| old), a.map(|_| new));
    Some(Hunk {
        noise: noise::of_title(was, is),
        ..hunk
    })
}

/// A hunk that belongs to no line.
fn loose_hunk(place: Place, before: Option<Vec<Word>>, after: Option<Vec<Word>>) -> Hunk {
    let kind = match (&before, &after) {
        _ if place.part == Part::Link => HunkKind::LinkTarget,
        (None, _) => HunkKind::Added,
        (_, None) => HunkKind::Removed,
        _ => HunkKind::Replaced,
    };
    Hunk {
        kind,
        noise: None,
        rule: None,
        place,
        from: None,
        before,
        after,
        before_line: None,
        after_line: None,
    }
}

fn link_hunk(before: &Page, after: &Page, change: &links::Retarget) -> Hunk {
    let old = change.before.and_then(|b| before.links.get(b));
    let new = change.after.and_then(|a| after.links.get(a));
    let link = new.or(old);
    let place = Place {
        region: link.map(|link| link.region),
        link: link.map(|link| link.text.clone()),
        ..Place::of_part(Part::Link)
    };
    let target = |link: &crate::Link| words::whole(&link.href, true);
    Hunk {
        noise: change.noise,
        ..loose_hunk(place, old.map(target), new.map(target))
    }
}

/// Alternative texts that came or went, unless a line says the same.
fn image_hunks(before: &Page, after: &Page, touched: &Touched) -> Vec<Hunk> {
    let alts = |page: &Page| -> Vec<String> {
        let alts = page.images.iter().filter_map(|image| image.alt.clone());
        alts.filter(|alt| !fold::squeezed(alt).is_empty()).collect()
    };
    let (old, new) = (alts(before), alts(after));
    let set = |alts: &[String]| {
        alts.iter()
            .map(|a| fold::squeezed(a))
            .collect::<HashSet<_>>()
    };
    let (old_set, new_set) = (set(&old), set(&new));
    let mut shown = HashSet::new();
    let mut missing = |alts: Vec<String>, other: &HashSet<String>| -> Vec<String> {
        shown.clear();
        let fresh = alts.into_iter().filter(|alt| {
            let folded = fold::squeezed(alt);
            !other.contains(&folded) && !touched.has(&folded) && shown.insert(folded)
        });
        fresh.collect()
    };
    let (gone, come) = (missing(old, &new_set), missing(new, &old_set));
    let place = || Place::of_part(Part::Image);
    let whole = |alt: &String| words::whole(alt, true);
    (0..gone.len().max(come.len()))
        .map(|i| loose_hunk(place(), gone.get(i).map(whole), come.get(i).map(whole)))
        .collect()
}

/// The texts of the lines that came, went or moved, folded.
struct Touched {
    lines: HashSet<String>,
    /// Characters of all lines.
    size: usize,
    /// Characters that may still be searched; past it, only whole lines are found.
    budget: Cell<usize>,
}

impl Touched {
    const BUDGET: usize = 200 << 20;

    fn new(hunks: &[Hunk]) -> Touched {
        let sides = hunks
            .iter()
            .flat_map(|hunk| [&hunk.before, &hunk.after])
            .flatten();
        let text = |words: &Vec<Word>| words.iter().map(|w| w.text.as_str()).collect::<String>();
        let lines: HashSet<String> = sides.map(|words| fold::squeezed(&text(words))).collect();
        let size = lines.iter().map(String::len).sum();
        Touched {
            lines,
            size,
            budget: Cell::new(Touched::BUDGET),
        }
    }

    /// Some of the lines has the text in it, or is a part of it.
    fn has(&self, text: &str) -> bool {
        let text = fold::squeezed(text);
        if self.lines.contains(&text) {
            return true;
        }
        let cost = self.size + self.lines.len() * text.len();
        let Some(left) = self.budget.get().checked_sub(cost) else {
            return false;
        };
        self.budget.set(left);
        let part = |line: &String| line.chars().count() > 1 && text.contains(line.as_str());
        self.lines
            .iter()
            .any(|line| line.contains(&text) || part(line))
    }
}
