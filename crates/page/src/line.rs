//! One line of visible text while it is put together: white space folded as a browser shows it.

/// A line of text under construction.
///
/// White space, NBSP included, folds to one space, and none at the ends; the ideographic space
/// stays where it is inside a line, and goes at the ends. A line break in the source between two
/// characters of Japanese or Chinese text is no space at all. Control characters and invisible
/// marks (soft hyphen, zero-width space, byte order mark) are dropped; nothing else is changed.
#[derive(Debug, Default)]
pub(crate) struct Line {
    text: String,
    gap: Gap,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Gap {
    #[default]
    None,
    Break,
    Space,
}

impl Line {
    /// Appends the text of one node.
    pub(crate) fn push(&mut self, text: &str) {
        for c in text.chars() {
            if c == '\u{3000}' || !(c.is_whitespace() || c.is_control() || is_invisible(c)) {
                self.push_visible(c);
            } else if matches!(c, '\n' | '\r') && self.gap == Gap::None {
                self.gap = Gap::Break;
            } else if c.is_whitespace()
                && !(matches!(c, '\n' | '\r' | '\t' | ' ') && self.gap == Gap::Break)
            {
                self.gap = Gap::Space;
            }
        }
        if self.gap == Gap::Break {
            self.gap = Gap::Space;
        }
    }

    fn push_visible(&mut self, c: char) {
        if self.text.is_empty() && c == '\u{3000}' {
            return;
        }
        let joins = self.gap == Gap::Break
            && is_ideographic(c)
            && self.text.chars().next_back().is_some_and(is_ideographic);
        if self.gap != Gap::None && !joins && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.gap = Gap::None;
        self.text.push(c);
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// The line so far, trimmed; the next one starts empty.
    pub(crate) fn take(&mut self) -> String {
        self.gap = Gap::None;
        let mut text = std::mem::take(&mut self.text);
        text.truncate(text.trim_end_matches(['\u{3000}', ' ']).len());
        text
    }
}

/// A whole text folded to one line.
pub(crate) fn fold(text: &str) -> String {
    let mut line = Line::default();
    line.push(text);
    line.take()
}

/// The longest prefix of at most `bytes` bytes that ends at a character.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// Characters of a script that is written without spaces.
fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_folds_as_a_browser_shows_it() {
        let cases = [
            ("  a \t b\n\nc ", "a b c"),
            ("a\u{a0}b", "a b"),
            ("入館\n   料", "入館料"),
            ("入館 \n料", "入館 料"),
            ("入館\nABC", "入館 ABC"),
            ("　大人　500円　", "大人　500円"),
            ("１，２００円", "１，２００円"),
            ("a\u{0}\u{7}b\u{200b}c\u{feff}", "abc"),
            ("한국\n어", "한국 어"),
            (" \n　 ", ""),
        ];
        for (text, want) in cases {
            assert_eq!(fold(text), want, "{text:?}");
        }
    }
}
