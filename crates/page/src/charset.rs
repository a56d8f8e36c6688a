//! Which charset the bytes are in, and how we know.
//!
//! The order is the web's: byte order mark, charset parameter of Content-Type, `<meta>` within the
//! first 1024 bytes (a later one counts as it does in browsers, as far as the head reaches), XML
//! declaration; where nothing is declared, UTF-8 if the bytes are valid UTF-8, else statistics.
//!
//! One addition: **a declaration that the bytes refute does not count.** A page declared
//! Shift_JIS whose bytes are valid UTF-8 beyond ASCII is UTF-8 (Japanese in any legacy charset is
//! practically never valid UTF-8); seven-bit bytes with the escape sequences of ISO-2022-JP are
//! ISO-2022-JP; a page whose declared charset fails on most of its characters while a Japanese
//! charset reads every byte is in that charset. [`CharsetFrom::Bytes`] marks these.
//!
//! Decoding itself never fails: an impossible sequence becomes U+FFFD.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{EUC_JP, Encoding, ISO_2022_JP, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE};
use serde::Serialize;

use crate::prescan;

/// The charset that a page was decoded with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Charset {
    /// Lower-case name by the WHATWG Encoding Standard, such as `utf-8` or `shift_jis`
    /// (which means windows-31j there).
    pub name: String,
    pub from: CharsetFrom,
    /// Byte sequences impossible in the charset were met, and became U+FFFD.
    pub malformed: bool,
}

/// What decided the charset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CharsetFrom {
    /// A byte order mark.
    Bom,
    /// The `charset` parameter of Content-Type.
    Http,
    /// A `<meta>`.
    Meta,
    /// The XML declaration.
    Xml,
    /// Nothing was declared, and the bytes are valid UTF-8.
    Utf8,
    /// Nothing was declared: statistics of the bytes.
    Detected,
    /// What was declared cannot be: the bytes themselves say another charset.
    Bytes,
}

impl CharsetFrom {
    /// The word for it in records and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bom => "bom",
            Self::Http => "http",
            Self::Meta => "meta",
            Self::Xml => "xml",
            Self::Utf8 => "utf8",
            Self::Detected => "detected",
            Self::Bytes => "bytes",
        }
    }
}

/// How far a browser's prescan looks, in bytes.
const PRESCAN: usize = 1024;
/// How far we look for a `<meta>` that the prescan did not reach.
const HEAD: usize = 64 << 10;
/// How much the statistics look at.
const SAMPLE: usize = 1 << 20;

/// Decodes a body. `markup` says where a document of this kind may declare its charset.
pub(crate) fn decode<'a>(
    body: &'a [u8],
    content_type: Option<&str>,
    markup: Markup,
) -> (Cow<'a, str>, Charset) {
    if let Some((encoding, length)) = Encoding::for_bom(body) {
        let body = body.get(length..).unwrap_or_default();
        return finish(
            encoding,
            CharsetFrom::Bom,
            encoding.decode_without_bom_handling(body),
        );
    }
    let Some((declared, from)) = declaration(body, content_type, markup) else {
        let (encoding, from) = undeclared(body);
        return finish(encoding, from, encoding.decode_without_bom_handling(body));
    };
    let (text, malformed) = declared.decode_without_bom_handling(body);
    match refuted(body, declared, &text, malformed) {
        Some(encoding) => finish(
            encoding,
            CharsetFrom::Bytes,
            encoding.decode_without_bom_handling(body),
        ),
        None => finish(declared, from, (text, malformed)),
    }
}

/// Where a document may declare its charset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Markup {
    Html,
    Xml,
    None,
}

fn finish<'a>(
    encoding: &'static Encoding,
    from: CharsetFrom,
    (text, malformed): (Cow<'a, str>, bool),
) -> (Cow<'a, str>, Charset) {
    let name = encoding.name().to_ascii_lowercase();
    (
        text,
        Charset {
            name,
            from,
            malformed,
        },
    )
}

fn declaration(
    body: &[u8],
    content_type: Option<&str>,
    markup: Markup,
) -> Option<(&'static Encoding, CharsetFrom)> {
    if let Some(encoding) = content_type.and_then(http) {
        return Some((encoding, CharsetFrom::Http));
    }
    let head = |length: usize| body.get(..length).unwrap_or(body);
    let meta = |bytes| prescan::meta(bytes).map(|e| (e, CharsetFrom::Meta));
    let xml = || prescan::xml(head(PRESCAN)).map(|e| (e, CharsetFrom::Xml));
    match markup {
        Markup::None => None,
        Markup::Xml => xml(),
        Markup::Html => meta(head(PRESCAN)).or_else(xml).or_else(|| {
            let head = head(HEAD);
            let end = head
                .windows(5)
                .position(|w| w.eq_ignore_ascii_case(b"<body"));
            meta(end.and_then(|end| head.get(..end)).unwrap_or(head))
        }),
    }
}

/// The charset parameter of a Content-Type value.
fn http(content_type: &str) -> Option<&'static Encoding> {
    let (_, parameters) = content_type.split_once(';')?;
    prescan::charset_of_content(parameters.as_bytes())
}

fn undeclared(body: &[u8]) -> (&'static Encoding, CharsetFrom) {
    if is_iso_2022_jp(body) {
        (ISO_2022_JP, CharsetFrom::Detected)
    } else if std::str::from_utf8(body).is_ok() {
        (UTF_8, CharsetFrom::Utf8)
    } else {
        (statistics(body), CharsetFrom::Detected)
    }
}

/// The charset that the bytes prove against the declared one, if they do.
fn refuted(
    body: &[u8],
    declared: &'static Encoding,
    text: &str,
    malformed: bool,
) -> Option<&'static Encoding> {
    if declared != ISO_2022_JP && is_iso_2022_jp(body) {
        return Some(ISO_2022_JP);
    }
    if declared != UTF_8 {
        let utf16 = declared == UTF_16BE || declared == UTF_16LE;
        let wide = |text: &str| text.chars().any(|c| c >= '\u{800}');
        match std::str::from_utf8(body) {
            Ok(utf8) if utf16 && !body.contains(&0) => return (!utf8.is_empty()).then_some(UTF_8),
            Ok(utf8) if !utf16 && !utf8.is_ascii() && (malformed || wide(utf8)) => {
                return Some(UTF_8);
            }
            _ => {}
        }
    }
    if !malformed {
        return None;
    }
    let lost = text
        .chars()
        .filter(|c| *c == char::REPLACEMENT_CHARACTER)
        .count();
    let kept = text.chars().filter(|c| !c.is_ascii()).count() - lost;
    let guess = statistics(body);
    let japanese = guess == SHIFT_JIS || guess == EUC_JP;
    let clean = || {
        guess
            .decode_without_bom_handling_and_without_replacement(body)
            .is_some()
    };
    (guess != declared && japanese && lost > kept && clean()).then_some(guess)
}

fn statistics(body: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    let sample = body.get(..SAMPLE).unwrap_or(body);
    detector.feed(sample, sample.len() == body.len());
    detector.guess(Some(b"jp"), Utf8Detection::Deny)
}

/// Seven-bit bytes that switch to a Japanese set and can be read so from end to end.
fn is_iso_2022_jp(body: &[u8]) -> bool {
    let switches = |w: &[u8]| matches!(w, [0x1b, b'$', b'B' | b'@'] | [0x1b, b'(', b'I']);
    body.contains(&0x1b)
        && body.is_ascii()
        && body.windows(3).any(switches)
        && ISO_2022_JP
            .decode_without_bom_handling_and_without_replacement(body)
            .is_some()
}
