//! What sort of document a body is: by its declared media type, checked against its first bytes.

use crate::page::Kind;

/// How a body will be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sort {
    Text(Kind),
    /// Not for readers; the media type.
    Opaque(String),
}

/// First bytes that no text starts with.
const MAGIC: [(&[u8], &str); 14] = [
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "application/x-ole-storage",
    ),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"wOF2", "font/woff2"),
];

/// How far the first bytes are looked at.
const SNIFF: usize = 4096;

pub(crate) fn sort(body: &[u8], content_type: Option<&str>) -> Sort {
    if let Some((_, mime)) = MAGIC.iter().find(|(magic, _)| body.starts_with(magic)) {
        return Sort::Opaque((*mime).to_owned());
    }
    if body.get(8..12) == Some(b"WEBP") && body.starts_with(b"RIFF") {
        return Sort::Opaque("image/webp".to_owned());
    }
    let mime = content_type.map(essence).unwrap_or_default();
    let start = body.get(..SNIFF).unwrap_or(body);
    let start = start
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(start)
        .trim_ascii_start();
    match mime.as_str() {
        "text/html" | "application/xhtml+xml" => Sort::Text(markup(start).unwrap_or(Kind::Html)),
        "" | "application/octet-stream" | "application/unknown" | "*/*" | "unknown/unknown" => {
            sniff(start, body)
        }
        "image/svg+xml" => Sort::Opaque(mime),
        m if m.ends_with("/xml") || m.ends_with("+xml") => {
            Sort::Text(markup(start).unwrap_or(Kind::Xml))
        }
        "text/css" | "text/javascript" | "text/ecmascript" | "text/json" | "text/x-json" => {
            Sort::Opaque(mime)
        }
        m if m.starts_with("text/") => Sort::Text(Kind::Text),
        _ => Sort::Opaque(mime),
    }
}

/// The media type without its parameters, in lower case; empty where it is none.
fn essence(content_type: &str) -> String {
    let mime = content_type
        .split([';', ','])
        .next()
        .unwrap_or_default()
        .trim();
    if mime.contains('/') {
        mime.to_ascii_lowercase()
    } else {
        String::new()
    }
}

/// HTML or XML, where the document begins with an XML declaration or a root that tells.
fn markup(start: &[u8]) -> Option<Kind> {
    let declared = start.starts_with(b"<?xml");
    let mut rest = start;
    let root = loop {
        rest = rest.trim_ascii_start();
        let end: &[u8] = match rest {
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'?', ..] => b"?>",
            [b'<', b'!', ..] => b">",
            _ => break rest.strip_prefix(b"<").unwrap_or_default(),
        };
        if rest
            .get(..14)
            .is_some_and(|d| d.eq_ignore_ascii_case(b"<!doctype html"))
        {
            return Some(Kind::Html);
        }
        let at = rest.windows(end.len()).position(|w| w == end)?;
        rest = rest.get(at + end.len()..).unwrap_or_default();
    };
    let name = root
        .split(|b| !b.is_ascii_alphanumeric() && *b != b':')
        .next()
        .unwrap_or_default();
    if name.eq_ignore_ascii_case(b"html") {
        return Some(Kind::Html);
    }
    let feeds: [&[u8]; 5] = [b"rss", b"feed", b"rdf:RDF", b"urlset", b"sitemapindex"];
    (declared || feeds.contains(&name)).then_some(Kind::Xml)
}

fn sniff(start: &[u8], body: &[u8]) -> Sort {
    if let Some(kind) = markup(start) {
        return Sort::Text(kind);
    }
    let utf16 = body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff");
    if start.contains(&0) && !utf16 {
        return Sort::Opaque("application/octet-stream".to_owned());
    }
    if matches!(start.first(), Some(b'{' | b'['))
        && serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok()
    {
        return Sort::Opaque("application/json".to_owned());
    }
    let tag = |w: &[u8]| matches!(w, [b'<', b'!' | b'/' | b'a'..=b'z' | b'A'..=b'Z']);
    let begins = start.get(..2).is_some_and(tag);
    let known = [
        &b"<html"[..],
        b"<body",
        b"<head",
        b"<div",
        b"<table",
        b"<p>",
        b"<br",
        b"<a href",
    ];
    let holds = |word: &&[u8]| {
        start
            .windows(word.len())
            .any(|w| w.eq_ignore_ascii_case(word))
    };
    let html = begins || body.is_empty() || known.iter().any(holds) || utf16_html(body, utf16);
    Sort::Text(if html { Kind::Html } else { Kind::Text })
}

/// UTF-16 with a mark whose first character opens a tag.
fn utf16_html(body: &[u8], utf16: bool) -> bool {
    utf16
        && body
            .get(2..4)
            .is_some_and(|first| first.contains(&b'<') && first.contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declared_type_decides_unless_the_bytes_refute_it() {
        let html = Sort::Text(Kind::Html);
        let xml = Sort::Text(Kind::Xml);
        let text = Sort::Text(Kind::Text);
        let opaque = |mime: &str| Sort::Opaque(mime.to_owned());
        let cases: [(&[u8], Option<&str>, Sort); 17] = [
            (b"<p>a", Some("text/html; charset=utf-8"), html.clone()),
            (
                b"<?xml version='1.0'?><rss>",
                Some("text/html"),
                xml.clone(),
            ),
            (
                b"<?xml version='1.0'?><!DOCTYPE html><html>",
                Some("application/xml"),
                html.clone(),
            ),
            (b"%PDF-1.7", Some("text/html"), opaque("application/pdf")),
            (
                b"{\"a\":1}",
                Some("application/json"),
                opaque("application/json"),
            ),
            (b"{\"a\":1}", None, opaque("application/json")),
            (b"{ not json", None, text.clone()),
            (b"<p>a", Some("text/plain"), text.clone()),
            (b"<feed>", Some("application/atom+xml"), xml.clone()),
            (b"\xef\xbb\xbf \n<?xml ?><rss>", None, xml),
            (b"  <DIV>", None, html.clone()),
            (b"2 < 3 words", None, text.clone()),
            (
                b"words and <br> more",
                Some("application/octet-stream"),
                html.clone(),
            ),
            (b"a\x00b", None, opaque("application/octet-stream")),
            (b"", None, html),
            (b"x", Some("video/mp4"), opaque("video/mp4")),
            (b"x", Some("nonsense"), text),
        ];
        for (body, content_type, want) in cases {
            assert_eq!(sort(body, content_type), want, "{content_type:?}");
        }
    }
}
