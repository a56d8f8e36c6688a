//! Lines of a robots.txt body and the record that each one holds.
//!
//! Follows the grammar of RFC 9309 section 2.2 with the leniencies of Google's parser: CR, LF and
//! CRLF end a line, `#` and NUL cut it, a line is read up to [`LINE_LIMIT`] octets, a missing colon
//! and some misspelt names are understood, and a name counts by its beginning.

use crate::note::Oddity;

/// Octets of one line that are read; the rest of the line is ignored (as Google's parser does).
pub const LINE_LIMIT: usize = 16_663;

/// Which record a line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// `User-agent`: names a crawler for the rules that follow (RFC 9309 section 2.2.1).
    UserAgent,
    /// `Allow` (RFC 9309 section 2.2.2).
    Allow,
    /// `Disallow` (RFC 9309 section 2.2.2).
    Disallow,
    /// `Crawl-delay`: no part of RFC 9309, in wide use.
    CrawlDelay,
    /// `Sitemap` (sitemaps.org).
    Sitemap,
    /// `Content-Signal` (Cloudflare's content signals policy).
    ContentSignal,
    /// `Content-Usage` (IETF AIPREF attachment draft).
    ContentUsage,
    /// `License` (RSL 1.0): belongs to no group.
    License,
    /// `Max-crawl-rate` (draft-meunier-signature-agent-rep).
    MaxCrawlRate,
    /// `Host`: the preferred host name, an old Yandex record.
    Host,
    /// Any other name.
    Other,
}

/// One line that has the shape of a record.
#[derive(Debug, PartialEq)]
pub(crate) struct Line<'a> {
    pub(crate) field: Field,
    pub(crate) name: &'a [u8],
    pub(crate) value: &'a [u8],
    /// What had to be forgiven to read it.
    pub(crate) odd: Option<Oddity>,
}

/// Walks over the lines of a body without copying them.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(body: &'a [u8]) -> Lines<'a> {
        Lines { rest: Some(body) }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let mut end = 0;
        loop {
            match find_below(rest, end, b'\r' + 1) {
                Some((at, b'\n' | b'\r')) => {
                    end = at;
                    break;
                }
                Some((at, _)) => end = at + 1,
                None => {
                    self.rest = None;
                    return Some(rest);
                }
            }
        }
        let (line, ending) = rest.split_at_checked(end)?;
        self.rest = match ending {
            [b'\r', b'\n', after @ ..] | [_, after @ ..] => Some(after),
            [] => None,
        };
        Some(line)
    }
}

/// The first octet below `limit` (at most 128) from `start` on, eight octets a step.
#[inline]
fn find_below(bytes: &[u8], start: usize, limit: u8) -> Option<(usize, u8)> {
    const ONES: u64 = u64::MAX / 255;
    let mut at = start;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*chunk);
        // Sets the top bit of each octet below the limit; the lowest one set is exact.
        let below = word.wrapping_sub(ONES * u64::from(limit)) & !word & (ONES << 7);
        if below != 0 {
            at += below.trailing_zeros() as usize / 8;
            return bytes.get(at).map(|&octet| (at, octet));
        }
        at += 8;
    }
    let tail = bytes.get(at..)?;
    let found = tail.iter().position(|&octet| octet < limit)?;
    tail.get(found).map(|&octet| (at + found, octet))
}

/// The text before `#`.
#[inline]
fn without_comment(line: &[u8]) -> &[u8] {
    let mut at = 0;
    while let Some((found, octet)) = find_below(line, at, b'#' + 1) {
        if octet == b'#' {
            return line.get(..found).unwrap_or_default();
        }
        at = found + 1;
    }
    line
}

/// Reads one line; `None` for a blank line, a comment, or text that is no record.
#[inline]
pub(crate) fn read(line: &[u8]) -> Option<Line<'_>> {
    let text = without_comment(line).trim_ascii();
    let colon = text.iter().position(|&b| b == b':');
    let (name, value, colon) = match colon.and_then(|at| text.split_at_checked(at)) {
        Some((name, value)) => (name, value.get(1..)?, true),
        None => {
            let (name, value) = split_at_space(text)?;
            (name, value, false)
        }
    };
    let (name, value) = (name.trim_ascii_end(), value.trim_ascii_start());
    let (field, spelling) = field(name)?;
    let odd = if colon || field == Field::Other {
        spelling
    } else {
        Some(Oddity::MissingColon)
    };
    Some(Line {
        field,
        name,
        value,
        odd,
    })
}

/// Stands in for a missing colon: blanks between exactly two words.
fn split_at_space(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let blank = |b: &u8| matches!(b, b' ' | b'\t');
    let (name, rest) = text.split_at_checked(text.iter().position(blank)?)?;
    let value = rest.trim_ascii_start();
    (!value.iter().any(blank)).then_some((name, value))
}

/// The record that a name stands for; `None` for an empty name.
#[inline]
fn field(name: &[u8]) -> Option<(Field, Option<Oddity>)> {
    // The names of nearly all lines, compared as one word. No octet but a letter becomes a small
    // letter by its case bit.
    let start = name
        .first_chunk::<8>()
        .map(|c| u64::from_le_bytes(*c) | 0x2020_2020_2020_2020);
    match (start, name.get(8..)) {
        (Some(word), Some([])) if word == u64::from_le_bytes(*b"disallow") => {
            return Some((Field::Disallow, None));
        }
        (Some(word), Some([b'n' | b'N', b't' | b'T']))
            if word == u64::from_le_bytes(*b"user-age") =>
        {
            return Some((Field::UserAgent, None));
        }
        _ => {}
    }
    Some(other_field(name, name.first()?.to_ascii_lowercase()))
}

fn other_field(name: &[u8], first: u8) -> (Field, Option<Oddity>) {
    let begins = |known: &str| {
        let start = name.get(..known.len()).unwrap_or_default();
        start.eq_ignore_ascii_case(known.as_bytes())
    };
    let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    let by = |field: Field, known: &str, misspelt: &[&str]| {
        if begins(known) {
            let whole = name.len() == known.len();
            return Some((field, (!whole).then_some(Oddity::NameByBeginning)));
        }
        misspelt
            .iter()
            .any(|m| begins(m))
            .then_some((field, Some(Oddity::Misspelt)))
    };
    let known = match first {
        b'd' => by(Field::Disallow, "disallow", DISALLOW_TYPOS),
        b'a' => by(Field::Allow, "allow", &[]),
        b'u' => by(Field::UserAgent, "user-agent", &["useragent", "user agent"]),
        b's' => by(Field::Sitemap, "sitemap", &["site-map"]),
        b'c' if is("crawl-delay") => Some((Field::CrawlDelay, None)),
        b'c' if is("content-signal") => Some((Field::ContentSignal, None)),
        b'c' if is("content-usage") => Some((Field::ContentUsage, None)),
        b'l' if is("license") => Some((Field::License, None)),
        b'm' if is("max-crawl-rate") => Some((Field::MaxCrawlRate, None)),
        b'h' if is("host") => Some((Field::Host, None)),
        _ => None,
    };
    known.unwrap_or((Field::Other, None))
}

const DISALLOW_TYPOS: &[&str] = &["dissallow", "dissalow", "disalow", "diasllow", "disallaw"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cr_lf_and_crlf_end_a_line() {
        let lines: Vec<_> = Lines::of(b"a\r\nb\rc\n\nd\r\r\n").collect();
        assert_eq!(lines, [&b"a"[..], b"b", b"c", b"", b"d", b"", b""]);
    }

    #[test]
    fn names_are_understood_as_google_does() {
        let table = [
            ("Disallow: /a", Field::Disallow, "/a", None),
            (" disallow\t:\t/a ", Field::Disallow, "/a", None),
            ("Disalow: /a", Field::Disallow, "/a", Some(Oddity::Misspelt)),
            (
                "Disallowed: /a",
                Field::Disallow,
                "/a",
                Some(Oddity::NameByBeginning),
            ),
            (
                "Disallow /a",
                Field::Disallow,
                "/a",
                Some(Oddity::MissingColon),
            ),
            (
                "user agent: x",
                Field::UserAgent,
                "x",
                Some(Oddity::Misspelt),
            ),
            ("Site-map: x", Field::Sitemap, "x", Some(Oddity::Misspelt)),
            ("Crawl-delay: 1 # s", Field::CrawlDelay, "1", None),
            ("Noindex: /a", Field::Other, "/a", None),
        ];
        for (text, field, value, odd) in table {
            let line = read(text.as_bytes()).unwrap();
            assert_eq!(
                (line.field, line.value, line.odd),
                (field, value.as_bytes(), odd),
                "{text}"
            );
        }
        for none in [
            "",
            "# x",
            "word",
            "three words here",
            ": value",
            "user agent x",
        ] {
            assert_eq!(read(none.as_bytes()), None, "{none}");
        }
    }
}
