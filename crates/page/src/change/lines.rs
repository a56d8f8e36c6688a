//! The lines of two pages, aligned: which line of the one is which line of the other.
//!
//! A line is a block of the page. Two lines are the same if their texts are, and, in a table or a
//! definition list, if they stand under the same labels too: a price that slips into another row
//! or column is another line, whatever the order of the text.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

use super::fold;
use crate::{BlockKind, Locator, Page};

/// A visible line with what it stands for.
pub(super) struct Line<'p> {
    pub(super) text: &'p str,
    pub(super) at: &'p Locator,
    /// The term that a definition belongs to.
    pub(super) term: Option<&'p str>,
    /// Equal for equal lines.
    key: Cow<'p, str>,
}

impl Line<'_> {
    /// What the line is a value of, outermost first: row and column, or the term defined.
    pub(super) fn labels(&self) -> [Option<&str>; 2] {
        match &self.at.cell {
            Some(cell) => [cell.row_label.as_deref(), cell.col_label.as_deref()],
            None => [self.term, None],
        }
    }
}

/// The lines of a page in the order of reading.
pub(super) fn lines(page: &Page) -> Vec<Line<'_>> {
    let mut term = None;
    page.blocks
        .iter()
        .map(|block| {
            match block.at.kind {
                BlockKind::Term => term = Some(block.text.as_str()),
                BlockKind::Definition => {}
                _ => term = None,
            }
            let own = (block.at.kind == BlockKind::Definition)
                .then_some(term)
                .flatten();
            let mut line = Line {
                text: &block.text,
                at: &block.at,
                term: own,
                key: fold::wide(&block.text),
            };
            if line.labels() != [None, None] {
                let [outer, inner] = line.labels().map(|label| fold::wide(label.unwrap_or("")));
                line.key = Cow::Owned(format!("{}\u{1f}{outer}\u{1f}{inner}", line.key));
            }
            line
        })
        .collect()
}

/// The digest of the folded lines: equal for pages that say the same at the same places.
pub(super) fn digest(page: &Page) -> String {
    fold::digest(lines(page).iter().map(|line| line.key.as_ref()))
}

/// A run of lines that differ, as ranges of both pages.
type Run = (Range<usize>, Range<usize>);

/// How a line became another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Removed,
    Added,
    Replaced,
    /// The same line at another place in the order.
    Moved,
    /// The same text under another label.
    Relabelled,
    /// The same text in other characters (width, quotes, dashes).
    Form,
    /// The same text cut into lines otherwise.
    Recut,
}

/// One step from before to after; the numbers are those of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) step: Step,
    pub(super) before: Option<usize>,
    pub(super) after: Option<usize>,
    /// Where it falls in the order of reading of the later page.
    rank: usize,
    /// For a moved line: the lines of both pages that lie between its old place and its new one.
    pub(super) passed: [(usize, usize); 2],
}

impl Edit {
    fn mirrored(self) -> Edit {
        let [before, after] = self.passed;
        let step = match self.step {
            Step::Removed => Step::Added,
            Step::Added => Step::Removed,
            step => step,
        };
        Edit {
            step,
            before: self.after,
            after: self.before,
            passed: [after, before],
            ..self
        }
    }
}

/// The steps that lead from `before` to `after`, in the order of reading.
///
/// The pair is put into one order before it is aligned, so that comparing backwards gives the
/// same steps mirrored.
pub(super) fn align(before: &[Line<'_>], after: &[Line<'_>]) -> Vec<Edit> {
    let keys = |lines| <[Line<'_>]>::iter(lines).map(|line| line.key.as_ref());
    let flip =
        before.len() > after.len() || before.len() == after.len() && keys(before).gt(keys(after));
    if flip {
        let mut edits: Vec<Edit> = align_ordered(after, before)
            .into_iter()
            .map(Edit::mirrored)
            .collect();
        edits.sort_by_key(|edit| (edit.rank, edit.after, edit.before));
        edits
    } else {
        align_ordered(before, after)
    }
}

fn align_ordered(before: &[Line<'_>], after: &[Line<'_>]) -> Vec<Edit> {
    let mut input: InternedInput<&str> = InternedInput::default();
    input.update_before(before.iter().map(|line| line.key.as_ref()));
    input.update_after(after.iter().map(|line| line.key.as_ref()));
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_no_heuristic(&input);

    let mut edits = Vec::new();
    let mut runs = Vec::new();
    let (mut b, mut a) = (0, 0);
    for hunk in diff.hunks() {
        let run = (span(&hunk.before), span(&hunk.after));
        push_forms(&mut edits, before, after, b..run.0.start, a);
        (b, a) = (run.0.end, run.1.end);
        runs.push(run);
    }
    push_forms(&mut edits, before, after, b..before.len(), a);

    let moved = moves(before, after, &runs);
    let (gone, come): (Vec<usize>, Vec<usize>) = moved.iter().copied().unzip();
    let (gone, come) = (flags(before.len(), &gone), flags(after.len(), &come));
    edits.extend(moved.iter().map(|&(b, a)| {
        let passed = passed(&runs, b, a);
        Edit {
            passed,
            ..edit(Step::Moved, Some(b), Some(a), a)
        }
    }));
    let mut budget = LIKENESS_BUDGET;
    for (b, a) in runs {
        let rank = a.start;
        let b: Vec<usize> = b.filter(|&i| gone.get(i) == Some(&false)).collect();
        let a: Vec<usize> = a.filter(|&i| come.get(i) == Some(&false)).collect();
        edits.extend(rewrite(before, after, &b, &a, rank, &mut budget));
    }
    edits.sort_by_key(|edit| (edit.rank, edit.after, edit.before));
    edits
}

fn edit(step: Step, before: Option<usize>, after: Option<usize>, rank: usize) -> Edit {
    Edit {
        step,
        before,
        after,
        rank,
        passed: [(0, 0); 2],
    }
}

fn span(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

fn flags(len: usize, set: &[usize]) -> Vec<bool> {
    let mut flags = vec![false; len];
    for &i in set {
        if let Some(flag) = flags.get_mut(i) {
            *flag = true;
        }
    }
    flags
}

/// Lines that are aligned as equal, but not written in the same characters.
fn push_forms(
    edits: &mut Vec<Edit>,
    before: &[Line<'_>],
    after: &[Line<'_>],
    equal: Range<usize>,
    after_start: usize,
) {
    for (b, a) in equal.zip(after_start..) {
        if let (Some(old), Some(new)) = (before.get(b), after.get(a))
            && old.text != new.text
            && fold::same(old.text) != fold::same(new.text)
        {
            edits.push(edit(Step::Form, Some(b), Some(a), a));
        }
    }
}

/// The lines between the old and the new place of a moved line, on both pages.
fn passed(runs: &[Run], b: usize, a: usize) -> [(usize, usize); 2] {
    let left = runs.get(runs.partition_point(|run| run.0.end <= b));
    let met = runs.get(runs.partition_point(|run| run.1.end <= a));
    let reach = |at: usize, run: Option<Range<usize>>| {
        let run = run.unwrap_or(at..at);
        (at.min(run.start), (at + 1).max(run.end))
    };
    [
        reach(b, met.map(|run| run.0.clone())),
        reach(a, left.map(|run| run.1.clone())),
    ]
}

/// Lines that left one place and came back, equal, at another.
fn moves(before: &[Line<'_>], after: &[Line<'_>], runs: &[Run]) -> Vec<(usize, usize)> {
    let mut gone: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for i in runs.iter().flat_map(|run| run.0.clone()) {
        if let Some(line) = before.get(i) {
            gone.entry(&line.key).or_default().push_back(i);
        }
    }
    let come = runs.iter().flat_map(|run| run.1.clone());
    come.filter_map(|a| Some((gone.get_mut(after.get(a)?.key.as_ref())?.pop_front()?, a)))
        .collect()
}

/// The steps within one run of lines that differ.
fn rewrite(
    before: &[Line<'_>],
    after: &[Line<'_>],
    b: &[usize],
    a: &[usize],
    rank: usize,
    budget: &mut usize,
) -> Vec<Edit> {
    let old: Vec<&Line<'_>> = b.iter().filter_map(|&i| before.get(i)).collect();
    let new: Vec<&Line<'_>> = a.iter().filter_map(|&i| after.get(i)).collect();
    let recut = is_recut(&old, &new);
    let pairs = if recut {
        in_order(old.len(), new.len())
    } else {
        pair(&old, &new, budget)
    };
    pairs
        .into_iter()
        .map(|(i, j)| {
            let step = match (i.and_then(|i| old.get(i)), j.and_then(|j| new.get(j))) {
                _ if recut => Step::Recut,
                (Some(old), Some(new)) if fold::wide(old.text) == fold::wide(new.text) => {
                    Step::Relabelled
                }
                (Some(_), Some(_)) => Step::Replaced,
                (Some(_), None) => Step::Removed,
                (None, _) => Step::Added,
            };
            let (b, a) = (i.and_then(|i| b.get(i)), j.and_then(|j| a.get(j)));
            edit(step, b.copied(), a.copied(), rank)
        })
        .collect()
}

/// The same text, cut into lines in another way, and no label involved.
fn is_recut(old: &[&Line<'_>], new: &[&Line<'_>]) -> bool {
    let labelled = |lines: &[&Line<'_>]| lines.iter().any(|line| line.labels() != [None, None]);
    let text = |lines: &[&Line<'_>]| {
        fold::squeezed(
            &lines
                .iter()
                .map(|line| line.text)
                .collect::<Vec<_>>()
                .join("\n"),
        )
    };
    !old.is_empty() && !new.is_empty() && !labelled(old) && !labelled(new) && text(old) == text(new)
}

type Pairs = Vec<(Option<usize>, Option<usize>)>;

fn in_order(old: usize, new: usize) -> Pairs {
    let within = |i, len| (i < len).then_some(i);
    (0..old.max(new))
        .map(|i| (within(i, old), within(i, new)))
        .collect()
}

/// Cells of the table of likenesses beyond which lines are not matched by likeness.
const LIKENESS_MAX: usize = 60_000;
/// Such cells of a whole page.
const LIKENESS_BUDGET: usize = 1_000_000;
/// The likeness from which two lines count as versions of one line.
const LIKE: f32 = 0.4;

/// Matches the lines of a run: by likeness, in order, then gaps of equal length one to one.
fn pair(old: &[&Line<'_>], new: &[&Line<'_>], budget: &mut usize) -> Pairs {
    let cells = old.len().saturating_mul(new.len());
    let matched = if cells <= LIKENESS_MAX.min(*budget) {
        *budget -= cells;
        by_likeness(old, new)
    } else {
        Vec::new()
    };
    let mut pairs = Pairs::new();
    let (mut i, mut j) = (0, 0);
    for (b, a) in matched.into_iter().chain([(old.len(), new.len())]) {
        let kinds = |lines: &[&Line<'_>], from, to| -> Vec<_> {
            lines
                .get(from..to)
                .into_iter()
                .flatten()
                .map(|line| line.at.kind)
                .collect()
        };
        if b - i == a - j && kinds(old, i, b) == kinds(new, j, a) {
            pairs.extend((i..b).zip(j..a).map(|(i, j)| (Some(i), Some(j))));
        } else {
            pairs.extend((i..b).map(|i| (Some(i), None)));
            pairs.extend((j..a).map(|j| (None, Some(j))));
        }
        if b < old.len() && a < new.len() {
            pairs.push((Some(b), Some(a)));
        }
        (i, j) = (b + 1, a + 1);
    }
    pairs
}

/// The chain of pairs, in order on both sides, with the greatest sum of likeness.
fn by_likeness(old: &[&Line<'_>], new: &[&Line<'_>]) -> Vec<(usize, usize)> {
    let (old_grams, new_grams): (Vec<_>, Vec<_>) = (
        old.iter().map(|l| grams(l.text)).collect(),
        new.iter().map(|l| grams(l.text)).collect(),
    );
    let width = new.len() + 1;
    let mut likes = vec![0.0_f32; (old.len() + 1) * width];
    let mut best = likes.clone();
    let at = |table: &[f32], i: usize, j: usize| table.get(i * width + j).copied().unwrap_or(0.0);
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let like = match (old.get(i), new.get(j), old_grams.get(i), new_grams.get(j)) {
                (Some(old), Some(new), Some(g), Some(h)) => likeness(old, new, g, h),
                _ => 0.0,
            };
            let skip = at(&best, i + 1, j).max(at(&best, i, j + 1));
            let take = if like >= LIKE {
                like + at(&best, i + 1, j + 1)
            } else {
                0.0
            };
            if let (Some(l), Some(b)) = (likes.get_mut(i * width + j), best.get_mut(i * width + j))
            {
                (*l, *b) = (like, skip.max(take));
            }
        }
    }
    let (mut chain, mut i, mut j) = (Vec::new(), 0, 0);
    while i < old.len() && j < new.len() {
        let like = at(&likes, i, j);
        if like >= LIKE && at(&best, i, j) <= like + at(&best, i + 1, j + 1) {
            chain.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if at(&best, i + 1, j) >= at(&best, i, j + 1) {
            i += 1;
        } else {
            j += 1;
        }
    }
    chain
}

/// 0 for nothing in common, 1 for the same letters; a shared label counts as much as the text.
fn likeness(old: &Line<'_>, new: &Line<'_>, old_grams: &[u64], new_grams: &[u64]) -> f32 {
    let same_labels = old.labels() == new.labels() && old.labels() != [None, None];
    let kind = if old.at.kind == new.at.kind { 1.0 } else { 0.8 };
    kind * dice(old_grams, new_grams) + if same_labels { 1.0 } else { 0.0 }
}

/// Pairs of neighbouring characters, sorted, every digit as one; bounded for long lines.
fn grams(text: &str) -> Vec<u64> {
    const GRAMS_MAX: usize = 512;
    let folded = fold::wide(text);
    let mask = |c: char| u64::from(if c.is_numeric() { '0' } else { c });
    let chars: Vec<u64> = folded.chars().map(mask).take(GRAMS_MAX).collect();
    let mut grams: Vec<u64> = match chars.as_slice() {
        [one] => vec![*one],
        chars => chars
            .windows(2)
            .map(|w| w.iter().fold(0, |g, c| g << 32 | c))
            .collect(),
    };
    grams.sort_unstable();
    grams
}

/// Twice the common part of two sorted bags over the sum of their sizes.
fn dice(a: &[u64], b: &[u64]) -> f32 {
    let (mut i, mut j, mut common) = (0, 0, 0_usize);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        common += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    let sizes = (a.len() + b.len()).max(1);
    2.0 * common as f32 / sizes as f32
}
