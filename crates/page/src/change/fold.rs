//! Which texts count as the same: two strengths of folding, used for comparing and never for
//! showing.
//!
//! [`same`] removes what no reader can see: white space of every sort, joiners, and the pairs of
//! characters that differ only by the table a Shift_JIS page was converted with. Texts equal
//! under it are unchanged. [`wide`] also folds full and half width, compatibility forms, quotes
//! and dashes: texts equal only under it say the same with other characters, which is noise.

use std::borrow::Cow;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};
use unicode_normalization::UnicodeNormalization as _;

/// Folds what no reader can see.
pub(super) fn same(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| is_plain(c) || c == '`') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().filter_map(visible).collect())
}

/// Folds the forms of characters as well: the strongest sense of "the same text".
pub(super) fn wide(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len());
    let mut foldable = String::new();
    for c in text.chars().filter_map(visible) {
        if is_raised_or_fraction(c) {
            folded.extend(foldable.nfkc().map(typewriter));
            foldable.clear();
            folded.push(c);
        } else {
            foldable.push(c);
        }
    }
    folded.extend(foldable.nfkc().map(typewriter));
    Cow::Owned(folded)
}

/// `wide` without the white space that separates nothing: between letters of Latin-like scripts
/// and between digits it stays, since "1 000" is not "1000" and "new one" not "newone".
pub(super) fn squeezed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut gap = false;
    for c in wide(text).chars() {
        if c.is_whitespace() {
            gap = true;
            continue;
        }
        if gap && spaced(c) && out.chars().next_back().is_some_and(spaced) {
            out.push(' ');
        }
        gap = false;
        out.push(c);
    }
    out
}

/// SHA-256 in lower-case hex over `parts`, each ended by a byte that no UTF-8 text has.
pub(super) fn digest<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0xff]);
    }
    hash.finalize()
        .iter()
        .fold(String::with_capacity(64), |mut hex, byte| {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

/// Most of all text: characters that no folding touches, alone or beside each other.
fn is_plain(c: char) -> bool {
    matches!(c, ' '..='_' | 'a'..='~' | '、' | '。' | '「' | '」' | 'ぁ'..='ゖ' | 'ァ'..='ヺ' | 'ー'
        | '\u{4e00}'..='\u{9fff}')
}

/// A character as it counts, or `None` if it is not seen.
fn visible(c: char) -> Option<char> {
    Some(match c {
        // Soft hyphen, zero width marks, word joiner, variation selectors, byte order mark.
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' => {
            return None;
        }
        c if c.is_whitespace() => ' ',
        // Twins of the conversion tables: JIS X 0208 to Unicode by JIS and by Microsoft.
        '\u{ff5e}' => '\u{301c}',
        '\u{2225}' => '\u{2016}',
        '\u{ff0d}' => '\u{2212}',
        '\u{2015}' => '\u{2014}',
        '\u{ffe0}' => '\u{a2}',
        '\u{ffe1}' => '\u{a3}',
        '\u{ffe2}' => '\u{ac}',
        c => c,
    })
}

/// Compatibility folding would change the value: 10² would become 102 and 1½ 11⁄2.
fn is_raised_or_fraction(c: char) -> bool {
    matches!(c, '\u{b2}' | '\u{b3}' | '\u{b9}' | '\u{bc}'..='\u{be}' | '\u{2070}'..='\u{209f}'
        | '\u{2150}'..='\u{215f}' | '\u{2189}')
}

/// The plain form of quotes, dashes and the wave dash.
fn typewriter(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2b9}' | '`' | '\u{b4}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{301c}' => '~',
        c => c,
    }
}

/// Of a script that separates words by spaces, or a digit.
fn spaced(c: char) -> bool {
    c.is_alphanumeric() && !is_east_asian(c)
}

/// Han, kana and full-width forms; Hangul separates words by spaces.
pub(super) fn is_east_asian(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{312f}' | '\u{31a0}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversion_twins_and_unseen_marks_are_the_same_text() {
        assert_eq!(same("9時\u{301c}17時"), same("9時\u{ff5e}17時"));
        assert_eq!(same("a\u{a0}b\u{200b}c"), "a bc");
        assert_ne!(same("１０"), same("10"));
    }

    #[test]
    fn width_folds_but_a_value_never_does() {
        assert_eq!(wide("１，２００円"), wide("1,200円"));
        assert_eq!(wide("ﾒﾝﾃﾅﾝｽ"), wide("メンテナンス"));
        assert_eq!(wide("9:00–17:00"), wide("9:00-17:00"));
        for (a, b) in [
            ("10²", "102"),
            ("1½", "11/2"),
            ("第一回", "第1回"),
            ("1O", "10"),
        ] {
            assert_ne!(wide(a), wide(b), "{a} {b}");
        }
    }

    #[test]
    fn squeezing_never_joins_numbers_or_words() {
        assert_eq!(squeezed("第 3 回"), squeezed("第3回"));
        assert_ne!(squeezed("1 000円"), squeezed("1000円"));
        assert_ne!(squeezed("new one"), squeezed("newone"));
    }

    #[test]
    fn a_digest_keeps_the_borders_of_its_parts() {
        assert_ne!(
            digest(["ab", "c"].into_iter()),
            digest(["a", "bc"].into_iter())
        );
        assert_eq!(digest(std::iter::empty()).len(), 64);
    }
}
