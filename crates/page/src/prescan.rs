//! The charset that a document declares inside itself.
//!
//! [`meta`] is the prescan of the HTML Standard (13.2.3.2 "prescan a byte stream to determine its
//! encoding"): only `<meta charset>` and `<meta http-equiv=content-type content=…>` count, never
//! the word `charset=` elsewhere; comments and other tags are stepped over as tags.
//! [`xml`] reads the encoding of an XML declaration.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Labels that sites and their tools write but the Encoding Standard does not list.
const UNLISTED: [(&str, &str); 12] = [
    ("cp932", "windows-31j"),
    ("ms-kanji", "windows-31j"),
    ("sjis-win", "windows-31j"),
    ("shiftjis", "windows-31j"),
    ("eucjp", "euc-jp"),
    ("euc_jp", "euc-jp"),
    ("eucjp-win", "euc-jp"),
    ("eucjp-ms", "euc-jp"),
    ("cp51932", "euc-jp"),
    ("cp50220", "iso-2022-jp"),
    ("cp50221", "iso-2022-jp"),
    ("iso-2022-jp-ms", "iso-2022-jp"),
];

/// The encoding of a label, white space around it and letter case ignored.
pub(crate) fn for_label(label: &[u8]) -> Option<&'static Encoding> {
    Encoding::for_label(label).or_else(|| {
        let label = label.trim_ascii();
        let (_, listed) = UNLISTED
            .iter()
            .find(|(l, _)| l.as_bytes().eq_ignore_ascii_case(label))?;
        Encoding::for_label(listed.as_bytes())
    })
}

/// What a `<meta>` in these bytes declares. A declared UTF-16 means UTF-8, since the declaration
/// itself could be read as ASCII.
pub(crate) fn meta(bytes: &[u8]) -> Option<&'static Encoding> {
    let mut scan = Scan { rest: bytes };
    loop {
        scan.skip_to(b'<')?;
        let rest = scan.rest;
        if rest.starts_with(b"<!--") {
            // The two dashes of the start may belong to the end: `<!-->` is a whole comment.
            scan.rest = rest.get(2..)?;
            scan.skip_past(b"-->")?;
        } else if rest
            .get(1..5)
            .is_some_and(|name| name.eq_ignore_ascii_case(b"meta"))
            && rest
                .get(5)
                .is_some_and(|b| b.is_ascii_whitespace() || *b == b'/')
        {
            scan.rest = rest.get(5..)?;
            if let Some(encoding) = scan.meta_attributes() {
                return Some(encoding);
            }
        } else if rest.get(1).is_some_and(u8::is_ascii_alphabetic)
            || (rest.get(1) == Some(&b'/') && rest.get(2).is_some_and(u8::is_ascii_alphabetic))
        {
            let name = rest
                .iter()
                .position(|b| b.is_ascii_whitespace() || *b == b'>')?;
            scan.rest = rest.get(name..)?;
            while scan.attribute().is_some() {}
        } else if matches!(rest.get(1), Some(b'!' | b'/' | b'?')) {
            scan.skip_past(b">")?;
        } else {
            scan.rest = rest.get(1..)?;
        }
    }
}

struct Scan<'a> {
    rest: &'a [u8],
}

impl<'a> Scan<'a> {
    fn skip_to(&mut self, byte: u8) -> Option<()> {
        let at = self.rest.iter().position(|b| *b == byte)?;
        self.rest = self.rest.get(at..)?;
        Some(())
    }

    fn skip_past(&mut self, word: &[u8]) -> Option<()> {
        let at = self.rest.windows(word.len()).position(|w| w == word)?;
        self.rest = self.rest.get(at + word.len()..)?;
        Some(())
    }

    /// Takes bytes from the front while `take` holds.
    fn take_while(&mut self, take: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self
            .rest
            .iter()
            .position(|b| !take(*b))
            .unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, &[]));
        self.rest = rest;
        taken
    }

    /// The standard's "get an attribute": name and value, or nothing at the end of the tag.
    fn attribute(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        self.take_while(|b| b.is_ascii_whitespace() || b == b'/');
        if matches!(self.rest.first(), None | Some(b'>')) {
            return None;
        }
        let whole = self.rest;
        let (first, rest) = whole.split_at_checked(1)?;
        self.rest = rest;
        let tail =
            self.take_while(|b| !b.is_ascii_whitespace() && !matches!(b, b'=' | b'/' | b'>'));
        let name = whole.get(..first.len() + tail.len())?;
        let before_space = self.rest;
        self.take_while(|b| b.is_ascii_whitespace());
        if self.rest.first() != Some(&b'=') {
            self.rest = before_space;
            return Some((name, b""));
        }
        self.rest = self.rest.get(1..)?;
        self.take_while(|b| b.is_ascii_whitespace());
        match self.rest.first() {
            Some(quote @ (b'"' | b'\'')) => {
                self.rest = self.rest.get(1..)?;
                let value = self.take_while(|b| b != *quote);
                self.rest = self.rest.get(1..)?;
                Some((name, value))
            }
            Some(_) => Some((
                name,
                self.take_while(|b| !b.is_ascii_whitespace() && b != b'>'),
            )),
            None => None,
        }
    }

    fn meta_attributes(&mut self) -> Option<&'static Encoding> {
        let (mut charset, mut content, mut pragma) = (None, None, false);
        let mut seen: [bool; 3] = [false; 3];
        while let Some((name, value)) = self.attribute() {
            let [charset_seen, content_seen, pragma_seen] = &mut seen;
            if name.eq_ignore_ascii_case(b"charset") && !*charset_seen {
                *charset_seen = true;
                charset = for_label(value);
            } else if name.eq_ignore_ascii_case(b"content") && !*content_seen {
                *content_seen = true;
                content = charset_of_content(value);
            } else if name.eq_ignore_ascii_case(b"http-equiv") && !*pragma_seen {
                *pragma_seen = true;
                pragma = value.trim_ascii().eq_ignore_ascii_case(b"content-type");
            }
        }
        let declared = charset.or(if pragma { content } else { None })?;
        Some(if declared == UTF_16BE || declared == UTF_16LE {
            UTF_8
        } else {
            declared
        })
    }
}

/// "Extracting a character encoding from a meta element", and the same for a Content-Type value.
pub(crate) fn charset_of_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = content;
    loop {
        let at = rest
            .windows(7)
            .position(|w| w.eq_ignore_ascii_case(b"charset"))?;
        rest = rest.get(at + 7..)?.trim_ascii_start();
        let Some(value) = rest.strip_prefix(b"=") else {
            continue;
        };
        let value = value.trim_ascii_start();
        let label = match value.first()? {
            quote @ (b'"' | b'\'') => value.get(1..)?.split(|b| b == quote).next()?,
            _ => value
                .split(|b| b.is_ascii_whitespace() || matches!(b, b';' | b','))
                .next()?,
        };
        return for_label(label);
    }
}

/// The encoding of an XML declaration at the start of the bytes.
pub(crate) fn xml(bytes: &[u8]) -> Option<&'static Encoding> {
    let bytes = bytes.trim_ascii_start();
    let declaration = bytes.strip_prefix(b"<?xml")?.split(|b| *b == b'>').next()?;
    let at = declaration.windows(8).position(|w| w == b"encoding")?;
    let value = declaration
        .get(at + 8..)?
        .trim_ascii_start()
        .strip_prefix(b"=")?
        .trim_ascii_start();
    let quote = value.first().filter(|q| matches!(q, b'"' | b'\''))?;
    let declared = for_label(value.get(1..)?.split(|b| b == quote).next()?)?;
    Some(if declared == UTF_16BE || declared == UTF_16LE {
        UTF_8
    } else {
        declared
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_declaration_declares() {
        let cases: [(&str, Option<&str>); 22] = [
            (r#"<meta charset="shift_jis">"#, Some("Shift_JIS")),
            ("<META CHARSET=euc-jp>", Some("EUC-JP")),
            (r#"<meta charset = 'x-sjis' />"#, Some("Shift_JIS")),
            (r#"<meta/charset=utf-8>"#, Some("UTF-8")),
            (
                r#"<meta http-equiv="Content-Type" content="text/html;charset=Shift-JIS">"#,
                Some("Shift_JIS"),
            ),
            (
                r#"<meta content="text/html; charset='EUC-JP'" http-equiv=content-type>"#,
                Some("EUC-JP"),
            ),
            (
                r#"<meta http-equiv="content-type" content="text/html; CharSet = iso-2022-jp">"#,
                Some("ISO-2022-JP"),
            ),
            (r#"<meta charset="utf-16">"#, Some("UTF-8")),
            (r#"<meta charset="cp932">"#, Some("Shift_JIS")),
            (r#"<meta name="description" content="charset=gbk">"#, None),
            (r#"<meta data-charset="gbk">"#, None),
            (
                r#"<meta http-equiv="refresh" content="0; charset=gbk">"#,
                None,
            ),
            (r#"<metacharset="gbk">"#, None),
            (r#"<!-- <meta charset="gbk"> -->"#, None),
            (r#"<!--><meta charset="gbk">"#, Some("GBK")),
            (r#"<p title='<meta charset="gbk">'>"#, None),
            (r#"</p title='<meta charset="gbk">'>"#, None),
            (r#"<!doctype x><?pi <meta?><meta charset=gbk>"#, Some("GBK")),
            (
                r#"<meta charset="no-such"><meta charset="gbk">"#,
                Some("GBK"),
            ),
            (r#"<meta charset="gbk" charset="utf-8">"#, Some("GBK")),
            (r#"<meta charset="gbk"#, None),
            ("charset=gbk", None),
        ];
        for (html, want) in cases {
            assert_eq!(meta(html.as_bytes()).map(Encoding::name), want, "{html}");
        }
    }

    #[test]
    fn an_xml_declaration_declares() {
        let cases: [(&str, Option<&str>); 5] = [
            (
                r#"<?xml version="1.0" encoding="Shift_JIS"?><rss>"#,
                Some("Shift_JIS"),
            ),
            (
                "\n<?xml version='1.0' encoding = 'CP932' ?>",
                Some("Shift_JIS"),
            ),
            (r#"<?xml version="1.0"?><rss encoding="gbk">"#, None),
            (r#"<rss encoding="gbk">"#, None),
            (r#"<?xml encoding="#, None),
        ];
        for (xml_text, want) in cases {
            assert_eq!(
                xml(xml_text.as_bytes()).map(Encoding::name),
                want,
                "{xml_text}"
            );
        }
    }
}
