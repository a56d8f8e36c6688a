//! Paths and path patterns in one canonical percent-encoding, and the match between them.
//!
//! RFC 9309 section 2.2.2 compares both sides percent-encoded; RFC 3986 section 6.2.2 says which
//! encodings are equal. The canonical form here is pure ASCII: octets outside `0x21..=0x7E` are
//! encoded, triplets of unreserved characters are decoded, other triplets get upper-case hex, and
//! a literal `*` or `$` is always written `%2A` or `%24`, so that the bare characters are left to
//! mean "any octets" and "end of the path" (section 2.2.3).

use std::borrow::Cow;
use std::cell::OnceCell;

/// A compiled pattern; its text lives in the arena of the rules that own it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pattern {
    start: u32,
    /// Canonical text with all its `*` and `$`.
    len: u32,
    /// The part that decides: trailing `*` and `$` taken off.
    core: u32,
    /// Octets before the first `*` of the core.
    head_len: u32,
    /// Specificity: octets of the pattern as RFC 9309 counts them.
    pub(crate) octets: u32,
    /// The core must reach the end of the path.
    anchored: bool,
    wild: bool,
    /// First octets of the head, little endian, and which of them count.
    head: u64,
    mask: u64,
    /// Octet classes that any matching path holds (only filled for wild patterns).
    need: u64,
}

/// What follows a percent sign.
fn triplet(bytes: &[u8]) -> Option<u8> {
    let hex = |b: &u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        b'A'..=b'F' => Some(b - b'A' + 10),
        _ => None,
    };
    match bytes {
        [b'%', high, low, ..] => Some(hex(high)? << 4 | hex(low)?),
        _ => None,
    }
}

fn push_encoded(out: &mut Vec<u8>, octet: u8) {
    let digit = |n: u8| if n < 10 { b'0' + n } else { b'A' + n - 10 };
    out.extend_from_slice(&[b'%', digit(octet >> 4), digit(octet & 15)]);
}

fn unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

/// What a canonical text makes of each octet.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Stands as it is.
    Plain,
    /// The wildcard of a pattern; a path encodes it.
    Star,
    /// Is encoded, or needs a second look.
    Care,
    /// Ends a path.
    Hash,
}

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, and bounded by the loop"
)]
const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Care; 256];
    let mut octet = 0x21;
    while octet <= 0x7E {
        kinds[octet] = match octet as u8 {
            b'%' | b'$' => Kind::Care,
            b'*' => Kind::Star,
            b'#' => Kind::Hash,
            _ => Kind::Plain,
        };
        octet += 1;
    }
    kinds
};

#[inline]
fn kind(octet: u8) -> Kind {
    KINDS.get(usize::from(octet)).copied().unwrap_or(Kind::Care)
}

/// Pushes the first octet or triplet of `rest` canonically; returns (octets eaten, octets counted).
fn push_canonical(out: &mut Vec<u8>, rest: &[u8]) -> (usize, u32) {
    let Some(&octet) = rest.first() else {
        return (1, 0);
    };
    if octet == b'%' {
        return match triplet(rest) {
            Some(decoded) if unreserved(decoded) => {
                out.push(decoded);
                (3, 1)
            }
            Some(decoded) => {
                push_encoded(out, decoded);
                (3, 3)
            }
            None => {
                out.push(octet);
                (1, 1)
            }
        };
    }
    if (0x21..=0x7E).contains(&octet) {
        out.push(octet);
        return (1, 1);
    }
    push_encoded(out, octet);
    (1, 3)
}

/// Pushes the rest of a pattern from its first odd octet on; returns the octets counted.
fn push_rest(arena: &mut Vec<u8>, rest: &[u8]) -> u32 {
    let mut rest = rest;
    let mut octets = 0;
    loop {
        let run = rest
            .iter()
            .position(|&b| kind(b) == Kind::Care)
            .unwrap_or(rest.len());
        let (plain, odd) = rest.split_at_checked(run).unwrap_or_default();
        arena.extend_from_slice(plain);
        let (eaten, counted) = match odd.first() {
            None => return octets + size(run),
            Some(b'$') => {
                push_encoded(arena, b'$');
                (1, 1)
            }
            Some(_) => push_canonical(arena, odd),
        };
        octets += size(run) + counted;
        rest = odd.get(eaten..).unwrap_or_default();
    }
}

impl Pattern {
    /// Compiles a rule value, appending its canonical text to `arena`.
    pub(crate) fn compile(value: &[u8], arena: &mut Vec<u8>) -> Pattern {
        let start = arena.len();
        let (body, anchored) = match value.split_last() {
            Some((b'$', body)) => (body, true),
            _ => (value, false),
        };
        let odd = body.iter().position(|&b| kind(b) != Kind::Plain);
        let (plain, rest) = body
            .split_at_checked(odd.unwrap_or(body.len()))
            .unwrap_or_default();
        arena.extend_from_slice(plain);
        let octets = size(plain.len()) + push_rest(arena, rest) + u32::from(anchored);
        let len = arena.len() - start;
        if anchored {
            arena.push(b'$');
        }
        let text = arena.get(start..start + len).unwrap_or_default();
        Pattern::of_canonical(start, text, anchored, octets, odd.is_some())
    }

    /// Measures canonical `text` (without its `$`) that begins at `start` of the arena; only an
    /// `odd` one can hold a star.
    fn of_canonical(start: usize, text: &[u8], anchored: bool, octets: u32, odd: bool) -> Pattern {
        let stars = text.iter().rev().take_while(|&&b| b == b'*').count();
        let core = text.get(..text.len() - stars).unwrap_or_default();
        let star = if odd {
            core.iter().position(|&b| b == b'*')
        } else {
            None
        };
        let head = star.and_then(|at| core.get(..at)).unwrap_or(core);
        let need = if star.is_some() {
            classes(core) & !class(b'*')
        } else {
            0
        };
        Pattern {
            start: size(start),
            len: size(text.len()) + u32::from(anchored),
            core: size(core.len()),
            head_len: size(head.len()),
            octets,
            anchored: anchored && stars == 0,
            wild: star.is_some(),
            head: first_octets(head),
            mask: mask(head.len()),
            need,
        }
    }

    /// The canonical text, with `*` and `$` as they were meant.
    pub(crate) fn text<'a>(&self, arena: &'a str) -> &'a str {
        self.slice(arena, self.len)
    }

    fn slice<'a>(&self, arena: &'a str, len: u32) -> &'a str {
        let start = self.start as usize;
        arena.get(start..start + len as usize).unwrap_or_default()
    }

    /// Whether the pattern matches, in at most `O(path + pattern)` steps.
    #[inline]
    pub(crate) fn matches(&self, arena: &str, path: &Path<'_>) -> bool {
        if (path.head ^ self.head) & self.mask != 0 {
            return false;
        }
        if self.wild {
            return self.need & !path.classes() == 0 && self.matches_wild(arena, &path.text);
        }
        if self.anchored {
            return path.text.len() == self.core as usize
                && *path.text == *self.slice(arena, self.core);
        }
        self.core <= 8 || path.text.starts_with(self.slice(arena, self.core))
    }

    /// The head is a prefix, an anchored tail a suffix, and every segment between two stars is
    /// taken where it first occurs: leftmost is never worse, so nothing is ever tried twice.
    fn matches_wild(&self, arena: &str, path: &str) -> bool {
        let core = self.slice(arena, self.core);
        let (head, segments) = core
            .split_at_checked(self.head_len as usize)
            .unwrap_or((core, ""));
        let Some(mut rest) = path.strip_prefix(head) else {
            return false;
        };
        let (segments, tail) = match segments.rsplit_once('*') {
            Some((before, tail)) if self.anchored => (before, tail),
            _ => (segments, ""),
        };
        match rest.strip_suffix(tail) {
            Some(shorter) => rest = shorter,
            None => return false,
        }
        for segment in segments.split('*').filter(|s| !s.is_empty()) {
            match find(rest, segment) {
                Some(at) => rest = rest.get(at + segment.len()..).unwrap_or_default(),
                None => return false,
            }
        }
        true
    }
}

/// Where `needle` first stands in `text`. Short needles are compared place by place (at most
/// [`SHORT`] steps each); for longer ones the standard library's two-way search is linear.
fn find(text: &str, needle: &str) -> Option<usize> {
    const SHORT: usize = 16;
    if needle.len() > SHORT {
        return text.find(needle);
    }
    let first = needle.as_bytes().first()?;
    let last_start = text.len().checked_sub(needle.len())?;
    let (text, needle) = (text.as_bytes(), needle.as_bytes());
    let mut at = 0;
    while at <= last_start {
        let ahead = text.get(at..=last_start)?;
        at += ahead.iter().position(|b| b == first)?;
        if text.get(at..)?.starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// A length or offset as stored: bodies are cut long before 4 GiB (see `Rules::parse_with`).
pub(crate) fn size(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The first eight octets, little endian, zeros after a shorter text.
fn first_octets(text: &[u8]) -> u64 {
    match text.first_chunk::<8>() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => text
            .iter()
            .rev()
            .fold(0, |word, &b| word << 8 | u64::from(b)),
    }
}

/// The bits of [`first_octets`] that a head of `len` octets decides.
fn mask(len: usize) -> u64 {
    u64::MAX.checked_shr(64 - 8 * size(len.min(8))).unwrap_or(0)
}

/// One bit for an octet of canonical text; letters share theirs with their other case.
fn class(octet: u8) -> u64 {
    1 << (octet & (0x3F >> (octet >> 6 & 1)))
}

fn classes(text: &[u8]) -> u64 {
    text.iter().fold(0, |seen, &b| seen | class(b))
}

/// A path with its query, canonical and measured once for many patterns.
#[derive(Debug)]
pub(crate) struct Path<'a> {
    text: Cow<'a, str>,
    head: u64,
    /// Filled when the first wild pattern asks.
    classes: OnceCell<u64>,
}

impl<'a> Path<'a> {
    /// Takes the path and query from an absolute URL, a network-path reference (`//host/a`) or a
    /// path; what is not encoded is encoded octet by octet, the fragment is dropped.
    pub(crate) fn of(url: &'a str) -> Path<'a> {
        let text = match from_path(url) {
            rest if rest.starts_with('/') => canonical_path(rest),
            "" => Cow::Borrowed("/"),
            rest => match canonical_path(rest) {
                Cow::Borrowed("") => Cow::Borrowed("/"),
                path => Cow::Owned(format!("/{path}")),
            },
        };
        Path {
            head: first_octets(text.as_bytes()),
            text,
            classes: OnceCell::new(),
        }
    }

    /// RFC 9309 section 2.2.2: the `/robots.txt` URI is implicitly allowed.
    pub(crate) fn is_robots_txt(&self) -> bool {
        self.text == "/robots.txt"
    }

    fn classes(&self) -> u64 {
        *self.classes.get_or_init(|| classes(self.text.as_bytes()))
    }
}

/// `url` from where its path, query or fragment begins; empty where none does.
fn from_path(url: &str) -> &str {
    let begins = |text: &str| {
        let at = text
            .bytes()
            .position(|b| matches!(b, b'/' | b'?' | b';' | b'#'));
        at.unwrap_or(text.len())
    };
    let first = if url.starts_with("//") {
        2
    } else {
        begins(url)
    };
    let (before, rest) = url.split_at_checked(first).unwrap_or_default();
    let host = match (before, rest.strip_prefix("//")) {
        ("//", _) => rest,
        (scheme, Some(host)) if scheme.ends_with(':') => host,
        _ => return rest,
    };
    host.get(begins(host)..).unwrap_or_default()
}

/// The canonical form of a path, up to its fragment.
fn canonical_path(path: &str) -> Cow<'_, str> {
    let bytes = path.as_bytes();
    let mut at = 0;
    while let Some(found) = bytes.iter().skip(at).position(|&b| kind(b) != Kind::Plain) {
        at += found;
        let odd = bytes.get(at..).unwrap_or_default();
        match odd.first() {
            Some(b'#') => return Cow::Borrowed(path.get(..at).unwrap_or_default()),
            Some(b'%') if is_canonical_triplet(odd) => at += 3,
            _ => return Cow::Owned(rewritten(bytes, at)),
        }
    }
    Cow::Borrowed(path)
}

/// The canonical form of a path that is canonical up to `done`.
fn rewritten(path: &[u8], done: usize) -> String {
    let (start, mut rest) = path.split_at_checked(done).unwrap_or_default();
    let mut out = Vec::with_capacity(path.len() + 16);
    out.extend_from_slice(start);
    while let Some(&octet) = rest.first().filter(|&&b| b != b'#') {
        let eaten = if matches!(octet, b'*' | b'$') {
            push_encoded(&mut out, octet);
            1
        } else {
            push_canonical(&mut out, rest).0
        };
        rest = rest.get(eaten..).unwrap_or_default();
    }
    String::from_utf8(out).unwrap_or_default()
}

fn is_canonical_triplet(text: &[u8]) -> bool {
    let upper = |b: Option<&u8>| b.is_some_and(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F'));
    let reserved = triplet(text).is_some_and(|decoded| !unreserved(decoded));
    reserved && upper(text.get(1)) && upper(text.get(2))
}
