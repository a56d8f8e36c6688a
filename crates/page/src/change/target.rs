//! The target of a link, folded: equal for spellings that lead to the same thing.
//!
//! Session ids, nonces and tracking marks in the query, hashes in the file names of assets, and
//! mail addresses scrambled with a key of the day are folded away. Anything else that differs
//! leads elsewhere: identifiers (`?id=`), documents, anchors.

use super::NoiseKind;
use super::nonce::{is_nonce, turns};

/// A folded target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// Equal for targets that lead to the same thing.
    pub(super) folded: String,
    /// What was folded away; `Markup` where only the spelling can differ.
    pub(super) kind: NoiseKind,
}

/// Names of query parameters that carry no identity of the page, lower case.
const VOLATILE: &[&str] = &[
    "utm_source",
    "utm_medium",
    "utm_campaign",
    "utm_term",
    "utm_content",
    "utm_id",
    "gclid",
    "fbclid",
    "yclid",
    "msclkid",
    "dclid",
    "_ga",
    "_gl",
    "mc_cid",
    "mc_eid",
    "sid",
    "sessid",
    "session",
    "sessionid",
    "session_id",
    "phpsessid",
    "jsessionid",
    "aspsessionid",
    "cfid",
    "cftoken",
    "token",
    "csrf",
    "csrf_token",
    "_csrf",
    "authenticity_token",
    "nonce",
    "_wpnonce",
    "__cf_chl_tk",
    "requestid",
    "request_id",
    "rid",
    "traceid",
    "trace_id",
    "correlationid",
    "ts",
    "timestamp",
    "_",
    "t",
    "time",
    "now",
    "cb",
    "cachebuster",
    "nocache",
    "rnd",
    "rand",
    "random",
    "sig",
    "signature",
    "expires",
    "x-amz-signature",
    "x-amz-date",
    "x-amz-credential",
    "x-amz-security-token",
    "x-amz-expires",
    "hash",
    "state",
    "guest_token",
    "sess",
];

/// Parameters of assets that only defeat caches.
const ASSET_STAMPS: &[&str] = &["v", "ver", "version", "rev", "build", "h", "m", "d"];

/// Endings of files that dress a page; a hash in their names is no content.
const ASSETS: &[&str] = &[
    "js", "mjs", "css", "map", "woff", "woff2", "ttf", "ico", "png", "jpg", "jpeg", "gif", "svg",
    "webp", "avif",
];

/// Folds a target as written.
pub(super) fn target(href: &str) -> Target {
    let href = href.trim();
    if let Some(mail) = unscrambled(href) {
        return Target {
            folded: format!("mailto:{mail}"),
            kind: NoiseKind::Token,
        };
    }
    if href
        .get(..11)
        .is_some_and(|s| s.eq_ignore_ascii_case("javascript:"))
    {
        // A script is not a place; what it is called changes with every build.
        return Target {
            folded: "javascript:".to_owned(),
            kind: NoiseKind::Token,
        };
    }
    let mut kind = None;
    let (address, anchor) = split(href, '#');
    let (path, query) = split(address, '?');
    let path = fold_path(path, &mut kind);
    let asset = is_asset(&path);
    let mut folded = path;
    if let Some(query) = query {
        let kept: Vec<&str> = query
            .split('&')
            .flat_map(|part| part.split("amp;").filter(|part| !part.is_empty()))
            .filter(|pair| !folds_away(pair, asset, &mut kind))
            .collect();
        if !kept.is_empty() {
            folded.push('?');
            folded.push_str(&kept.join("&"));
        }
    }
    if let Some(anchor) = anchor.filter(|anchor| !anchor.is_empty()) {
        let random = is_nonce(anchor) || anchor.split(['-', '_', '=', '/', ':']).any(is_drawn);
        if random {
            kind = kind.or(Some(NoiseKind::Token));
        }
        folded.push('#');
        folded.push_str(if random { "" } else { anchor });
    }
    Target {
        folded,
        kind: kind.unwrap_or(NoiseKind::Markup),
    }
}

/// A part of an anchor that a program made up: `r0w5qw`, `0BPi5A`.
fn is_drawn(part: &str) -> bool {
    is_nonce(part) || part.len() >= 5 && part.len() <= 12 && turns(part) >= 3
}

fn split(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at)
        .map_or((text, None), |(head, tail)| (head, Some(tail)))
}

/// Whether a query parameter says nothing of where the link leads.
fn folds_away(pair: &str, asset: bool, kind: &mut Option<NoiseKind>) -> bool {
    let (name, value) = split(pair, '=');
    let (name, value) = (name.to_ascii_lowercase(), value.unwrap_or(""));
    if asset && (ASSET_STAMPS.contains(&name.as_str()) || name.bytes().all(|b| b.is_ascii_digit()))
    {
        *kind = Some(NoiseKind::AssetHash);
        return true;
    }
    let named = VOLATILE.contains(&name.as_str()) && !is_word(value);
    let tracking = name.starts_with("utm_") || name.ends_with("clid");
    let drawn = is_nonce(value) && !is_identity(&name);
    let stamp = value.is_empty() && name.len() >= 10 && name.bytes().all(|b| b.is_ascii_digit());
    let away = named || tracking || drawn || stamp;
    if away {
        *kind = kind.or(Some(NoiseKind::Token));
    }
    away
}

/// A value of letters alone: `?t=museum` names something, whatever the parameter.
fn is_word(value: &str) -> bool {
    value.len() > 1 && value.bytes().all(|b| b.is_ascii_alphabetic())
}

/// Parameters that name the thing shown: their values are content, random as they look.
fn is_identity(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "p", "v", "q", "list", "page", "item", "doc", "document", "file", "code", "product",
        "isbn", "article", "post", "video", "form", "formkey", "key", "name", "slug", "path",
        "url",
    ];
    NAMES.contains(&name) || name.ends_with("id")
}

/// The path without session ids, without hashes in the names of assets, without the difference
/// between `/a/`, `/a` and `/a/index.html`.
fn fold_path(path: &str, kind: &mut Option<NoiseKind>) -> String {
    let path = decode_case(path);
    let (path, session) = match path.find(";jsessionid=") {
        Some(at) => (path.get(..at).unwrap_or("").to_owned(), true),
        None => (path, false),
    };
    if session {
        *kind = Some(NoiseKind::Token);
    }
    if is_asset(&path) {
        let mut hashed = false;
        let parts: Vec<String> = path
            .split('/')
            .map(|part| fold_hash(part, &mut hashed))
            .collect();
        if hashed {
            *kind = kind.or(Some(NoiseKind::AssetHash));
        }
        return parts.join("/");
    }
    let (scheme, rest) = match path.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => ("https://", rest),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => ("https://", rest),
        _ => ("", path.as_str()),
    };
    let ends = ["/index.html", "/index.htm", "/index.php", "/"];
    let bare = ends
        .iter()
        .find_map(|end| rest.strip_suffix(end))
        .unwrap_or(rest);
    let folded = format!("{scheme}{bare}");
    let root = bare.is_empty() && !path.is_empty();
    if root { "/".to_owned() } else { folded }
}

/// Percent escapes in upper case, so that `%e3` is `%E3`.
fn decode_case(path: &str) -> String {
    let mut left = 0;
    path.chars()
        .map(|c| {
            let upper = left > 0;
            left = if c == '%' { 2 } else { i32::max(left - 1, 0) };
            if upper { c.to_ascii_uppercase() } else { c }
        })
        .collect()
}

fn is_asset(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or("");
    let end = name
        .rsplit_once('.')
        .map(|(_, end)| end.to_ascii_lowercase());
    end.is_some_and(|end| ASSETS.contains(&end.as_str()))
}

/// `main.e29256a3.js` without its hash.
fn fold_hash(part: &str, hashed: &mut bool) -> String {
    let hash = |word: &str| {
        let hex = word.len() >= 8
            && word.bytes().all(|b| b.is_ascii_hexdigit())
            && word.bytes().any(|b| b.is_ascii_digit())
            && word.bytes().any(|b| b.is_ascii_alphabetic());
        hex || is_nonce(word)
    };
    let mut out = String::with_capacity(part.len());
    for piece in part.split_inclusive(['.', '-', '_']) {
        let word = piece.trim_end_matches(['.', '-', '_']);
        if hash(word) {
            *hashed = true;
            out.push_str(piece.get(word.len()..).unwrap_or(""));
        } else {
            out.push_str(piece);
        }
    }
    out
}

/// The address behind a scrambled mail link: hexadecimal, every byte xored with the first.
fn unscrambled(href: &str) -> Option<String> {
    let hex = href.split_once("/cdn-cgi/l/email-protection#")?.1;
    let byte = |i: usize| u8::from_str_radix(hex.get(i..i + 2)?, 16).ok();
    let key = byte(0)?;
    let bytes: Option<Vec<u8>> = (2..hex.len())
        .step_by(2)
        .map(|i| Some(byte(i)? ^ key))
        .collect();
    String::from_utf8(bytes?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_target_fold_together() {
        for (a, b) in [
            ("/a?sid=81f2", "/a?sid=99c0"),
            ("/a?x=9f8a7b6c5d4e3f2a", "/a?x=0f1e2d3c4b5a6978"),
            ("/a?_wpnonce=1a2b3c4d5e", "/a"),
            ("/a;jsessionid=0AF3?x=1", "/a;jsessionid=77B1?x=1"),
            (
                "/static/main.e29256a30fbc.js",
                "/static/main.8b7e2149535c.js",
            ),
            ("/logo.png?v=12", "/logo.png?v=13"),
            ("#tab-r0w5qw", "#tab-0BPi5A"),
            ("/map?1690000000", "/map?1690000123"),
            ("/news/", "/news"),
            ("/index.html", "/"),
            ("http://a.example/x", "https://a.example/x"),
            ("/%e6%96%99", "/%E6%96%99"),
            (
                "javascript:reload6a031dee06ab2()",
                "javascript:reload6a03c6b889b5b()",
            ),
            (
                "/cdn-cgi/l/email-protection#00614062",
                "/cdn-cgi/l/email-protection#01604163",
            ),
        ] {
            assert_eq!(target(a).folded, target(b).folded, "{a} {b}");
        }
    }

    #[test]
    fn what_leads_elsewhere_stays_apart() {
        for (a, b) in [
            ("/a?id=81f2", "/a?id=99c0"),
            ("/watch?v=dQw4w9WgXcQ", "/watch?v=9bZkp7q19f0"),
            (
                "/form?formId=9f8a7b6c5d4e3f2a",
                "/form?formId=0f1e2d3c4b5a6978",
            ),
            ("/fees-2025.pdf", "/fees-2026.pdf"),
            ("/files/9f8a7b6c5d4e.pdf", "/files/0f1e2d3c4b5a.pdf"),
            (
                "/d/1BxiMVs0XRA5nFMdKvBdBZjg/view",
                "/d/9QxzTTs0XRA5nFMdKvBdAAAA/view",
            ),
            ("#fees", "#hours"),
            ("#rtx4090ti", "#rtx4080ti"),
            ("tel:0312345678", "tel:0312345679"),
            (
                "/cdn-cgi/l/email-protection#00614062",
                "/cdn-cgi/l/email-protection#00614063",
            ),
            ("https://a.example/", "https://b.example/"),
            ("/?t=museum", "/?t=garden"),
        ] {
            assert_ne!(target(a).folded, target(b).folded, "{a} {b}");
        }
    }
}
