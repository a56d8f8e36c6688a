//! Words of a line, and which of them differ: Unicode segmentation with a dictionary for scripts
//! without spaces, then a diff of the words.

use std::borrow::Cow;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};
use imara_diff::{Algorithm, Diff, InternedInput};
use serde::{Deserialize, Serialize};

use super::fold;

/// A run of words of one line, all of which changed or none. The texts of a line's runs, joined,
/// are the line as it stands on the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    pub text: String,
    pub changed: bool,
}

/// Splits lines into words and compares them, within a budget for the whole page.
pub(super) struct Words {
    segmenter: WordSegmenterBorrowed<'static>,
    /// Bytes that may still be segmented; past it, lines are compared as a whole.
    budget: usize,
}

impl Words {
    /// Bytes of one line beyond which it counts as one word.
    const LINE_MAX: usize = 256 << 10;
    /// Bytes of all lines of a comparison that are segmented.
    const BUDGET: usize = 8 << 20;

    pub(super) fn new() -> Words {
        Words {
            segmenter: WordSegmenter::new_dictionary(WordBreakInvariantOptions::default()),
            budget: Words::BUDGET,
        }
    }

    /// The words of `text`, white space and punctuation included; the line itself as one word
    /// where it is over the bounds.
    pub(super) fn split<'t>(&mut self, text: &'t str) -> Vec<&'t str> {
        if text.len() > Words::LINE_MAX || text.len() > self.budget {
            return vec![text];
        }
        self.budget -= text.len();
        let ends = self.segmenter.segment_str(text);
        let mut from = 0;
        ends.filter_map(|to| {
            let word = text.get(from..to).filter(|word| !word.is_empty());
            from = to;
            word
        })
        .collect()
    }

    /// Both lines as runs of changed and unchanged words. Words that differ only in width are
    /// unchanged.
    pub(super) fn diff(&mut self, before: &str, after: &str) -> (Vec<Word>, Vec<Word>) {
        let (before, after) = (self.split(before), self.split(after));
        let mut input: InternedInput<Cow<'_, str>> = InternedInput::default();
        input.update_before(before.iter().map(|word| fold::wide(word)));
        input.update_after(after.iter().map(|word| fold::wide(word)));
        let mut diff = Diff::compute(Algorithm::Myers, &input);
        diff.postprocess_no_heuristic(&input);
        let removed = (0..).map(|i| diff.is_removed(i));
        let added = (0..).map(|i| diff.is_added(i));
        (
            runs(before.iter().copied().zip(removed)),
            runs(after.iter().copied().zip(added)),
        )
    }
}

/// A whole line as one run.
pub(super) fn whole(text: &str, changed: bool) -> Vec<Word> {
    vec![Word {
        text: text.to_owned(),
        changed,
    }]
}

/// Joins neighbours with the same mark.
fn runs<'t>(words: impl Iterator<Item = (&'t str, bool)>) -> Vec<Word> {
    let mut runs: Vec<Word> = Vec::new();
    for (text, changed) in words {
        match runs.last_mut() {
            Some(run) if run.changed == changed => run.text.push_str(text),
            _ => runs.push(Word {
                text: text.to_owned(),
                changed,
            }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(words: &[Word]) -> String {
        words
            .iter()
            .map(|w| {
                if w.changed {
                    format!("[{}]", w.text)
                } else {
                    w.text.clone()
                }
            })
            .collect()
    }

    #[test]
    fn japanese_changes_by_the_word() {
        let cases = [
            (
                "一般1,000円",
                "一般1,200円",
                "一般[1,000]円",
                "一般[1,200]円",
            ),
            (
                "毎週月曜日は休館です",
                "毎週火曜日は休館です",
                "毎週[月曜日]は休館です",
                "毎週[火曜日]は休館です",
            ),
            (
                "Open daily to ５ pm",
                "Open daily to 5 am",
                "Open daily to ５ [pm]",
                "Open daily to 5 [am]",
            ),
        ];
        let mut words = Words::new();
        for (before, after, left, right) in cases {
            let (b, a) = words.diff(before, after);
            assert_eq!((marked(&b).as_str(), marked(&a).as_str()), (left, right));
        }
    }
}
