//! Strings drawn at random: ids of a request or a session, apart from codes that people use.

use super::mask::{cover, ends_with_name, left, text_of};

/// Names after which a string of letters and figures is an id of the request.
const IDS: &[&str] = &[
    "request id",
    "requestid",
    "request-id",
    "ray id",
    "session",
    "session id",
    "nonce",
    "trace id",
    "correlation id",
    "error id",
    "reference id",
    "incident id",
    "csrf",
    "token",
    "リクエストid",
    "セッション",
    "セッションid",
    "トレースid",
    "参照id",
];

/// Names after which such a string is content: somebody types it or checks by it.
const CODES: &[&str] = &[
    "sha",
    "md5",
    "checksum",
    "hash",
    "ハッシュ",
    "fingerprint",
    "指紋",
    "key",
    "キー",
    "code",
    "コード",
    "クーポン",
    "coupon",
    "promo",
    "型番",
    "model",
    "serial",
    "isbn",
    "doi",
    "番号",
];

/// Ids of a request or a session. `named` asks for their name beside them.
pub(super) fn token(text: &str, named: bool) -> Option<String> {
    let lower = text.to_lowercase();
    if CODES.iter().any(|name| lower.contains(name)) {
        return None;
    }
    let chars: Vec<char> = text.chars().collect();
    let spans: Vec<_> = tokens(&chars)
        .into_iter()
        .filter(|&(start, end)| {
            let before = left(&chars, start, 24);
            let has_name = IDS.iter().any(|name| ends_with_name(&before, name));
            let word = text_of(&chars, (start, end));
            is_nonce(&word) && (has_name || !named)
                || has_name && word.len() >= 6 && word.contains(|c: char| c.is_ascii_digit())
        })
        .collect();
    (!spans.is_empty()).then(|| cover(&chars, &spans))
}

/// Words of ASCII letters, figures and the signs of base64 and uuid.
pub(super) fn tokens(chars: &[char]) -> Vec<(usize, usize)> {
    let joined = |i: usize| {
        chars
            .get(i)
            .is_some_and(|c| c.is_ascii_alphanumeric() || "-_+=".contains(*c))
    };
    let mut spans = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let start = i;
        while joined(i) {
            i += 1;
        }
        if i > start {
            spans.push((start, i));
        } else {
            i += 1;
        }
    }
    spans
}

/// Looks drawn at random: a uuid, hexadecimal of 12 or more, or 16 or more letters of both cases
/// mixed with figures. Plain numbers and words never do.
pub(super) fn is_nonce(word: &str) -> bool {
    let word = word.trim_matches(['-', '_', '=']);
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    if digits == 0 || letters == 0 {
        return false;
    }
    let groups: Vec<usize> = word.split('-').map(str::len).collect();
    if groups == [8, 4, 4, 4, 12] && word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') {
        return true;
    }
    if word.bytes().all(|b| b.is_ascii_hexdigit()) {
        return word.len() >= 12 && letters >= 2;
    }
    let cases = word.bytes().any(|b| b.is_ascii_lowercase())
        && word.bytes().any(|b| b.is_ascii_uppercase());
    word.len() >= 16 && cases && digits >= 2 && turns(word) * 3 >= word.len()
}

/// How often the class of character changes: random strings turn often, `CamelCase2026` seldom.
pub(super) fn turns(word: &str) -> usize {
    let class = |b: &u8| match b {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    };
    word.as_bytes()
        .windows(2)
        .filter(|w| matches!(w, [a, b] if class(a) != class(b)))
        .count()
}
