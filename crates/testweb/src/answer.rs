//! One answer and what HTTP makes of it: coding, validators, 304, framing.

use crate::fault::Fault;
use crate::message::{Framing, Message};
use crate::request::Request;
use bytes::Bytes;
use jiff::{Timestamp, fmt::strtime};
use std::io::Write as _;
use std::time::Duration;

/// Content coding of a body (RFC 9110 §8.4.1), used where the request accepts it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Encoding {
    /// As is.
    #[default]
    Identity,
    /// RFC 1952.
    Gzip,
    /// The zlib format, as the standard means by `deflate`.
    Deflate,
    /// Raw deflate data labelled `deflate`, as some servers send.
    RawDeflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878.
    Zstd,
}

impl Encoding {
    /// The name in `Content-Encoding`.
    #[must_use]
    pub fn token(self) -> &'static str {
        match self {
            Encoding::Identity => "identity",
            Encoding::Gzip => "gzip",
            Encoding::Deflate | Encoding::RawDeflate => "deflate",
            Encoding::Brotli => "br",
            Encoding::Zstd => "zstd",
        }
    }

    /// The body in this coding.
    #[must_use]
    pub fn encode(self, body: &Bytes) -> Bytes {
        let fast = flate2::Compression::fast();
        let out = Vec::with_capacity(body.len() / 3);
        let coded = match self {
            Encoding::Identity => return body.clone(),
            Encoding::Gzip => {
                let mut w = flate2::write::GzEncoder::new(out, fast);
                w.write_all(body).and_then(|()| w.finish())
            }
            Encoding::Deflate => {
                let mut w = flate2::write::ZlibEncoder::new(out, fast);
                w.write_all(body).and_then(|()| w.finish())
            }
            Encoding::RawDeflate => {
                let mut w = flate2::write::DeflateEncoder::new(out, fast);
                w.write_all(body).and_then(|()| w.finish())
            }
            Encoding::Brotli => {
                let mut w = brotli::CompressorWriter::new(out, 4096, 4, 20);
                w.write_all(body).map(|()| w.into_inner())
            }
            Encoding::Zstd => zstd::encode_all(body.as_ref(), 1),
        };
        // Writing to memory cannot fail; an empty body would show at once in a test.
        coded.map(Bytes::from).unwrap_or_default()
    }
}

/// What a page says about its version, and how it treats conditional requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Validator {
    /// No validator.
    #[default]
    None,
    /// A strong ETag of the body; 304 where it matches.
    Strong,
    /// A weak ETag of the body; 304 where it matches.
    Weak,
    /// `Last-Modified` (start of the version); 304 where the client's date is not older.
    Date,
    /// Strong ETag and `Last-Modified`; the ETag decides where both are asked (RFC 9110 §13.2.2).
    Both,
    /// `"…-gzip"` that never matches when sent back: always 200.
    Useless,
    /// Weak on even turns, strong on odd ones, same tag; 304 where the bare tag matches.
    Flipping,
    /// Another ETag each time for the same body: always 200.
    Fresh,
    /// Answers every conditional request with 304, even where the body has changed.
    Stuck,
}

/// One answer of a page.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Headers besides those that framing, coding and validators bring.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body before content coding.
    pub body: Bytes,
    /// The body in `encoding`, where it was coded beforehand.
    pub coded: Option<Bytes>,
    /// The coding used where the request accepts it.
    pub encoding: Encoding,
    /// Whether the coding is used even where the request does not accept it.
    pub encoding_forced: bool,
    /// What it says about its version.
    pub validator: Validator,
    /// Wait before the first byte.
    pub delay: Duration,
    /// How the end of the body is told.
    pub framing: Framing,
    /// What goes wrong on the way.
    pub fault: Option<Fault>,
}

impl Answer {
    /// 200 with a body of a content type.
    pub fn new(content_type: &str, body: impl Into<Bytes>) -> Answer {
        let headers = vec![("Content-Type".to_owned(), content_type.as_bytes().to_vec())];
        Answer {
            status: 200,
            headers,
            body: body.into(),
            ..Answer::default()
        }
    }

    /// 200 with UTF-8 HTML.
    pub fn html(body: impl Into<String>) -> Answer {
        Answer::new("text/html; charset=utf-8", body.into())
    }

    /// 200 with UTF-8 plain text.
    pub fn text(body: impl Into<String>) -> Answer {
        Answer::new("text/plain; charset=utf-8", body.into())
    }

    /// A robots.txt with this text.
    pub fn robots(text: &str) -> Answer {
        Answer::text(text).validated(Validator::Both)
    }

    /// A bare status with a short HTML page that names it.
    #[must_use]
    pub fn status(status: u16) -> Answer {
        let words = crate::message::reason(status);
        let page = format!(
            "<!DOCTYPE html><html><head><title>{status} {words}</title></head>\
             <body><h1>{status} {words}</h1></body></html>\n"
        );
        Answer {
            status,
            ..Answer::html(page)
        }
    }

    /// A redirect; `location` is sent as given, right or wrong.
    #[must_use]
    pub fn redirect(status: u16, location: &str) -> Answer {
        Answer::status(status).header("Location", location)
    }

    /// A refusal for a while: 429 or 503 with a `Retry-After` as given, right or wrong.
    #[must_use]
    pub fn retry_after(status: u16, value: &str) -> Answer {
        Answer::status(status).header("Retry-After", value)
    }

    /// Any answer that goes wrong in this way; the body is a small HTML page.
    #[must_use]
    pub fn fault(fault: Fault) -> Answer {
        let page = "<!DOCTYPE html><html><head><title>test page</title></head>\
                    <body><h1>Test page</h1><p>Some text that should arrive.</p></body></html>\n";
        Answer::html(page).with(fault)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Answer {
        self.headers
            .push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// Codes the body where the request accepts it.
    #[must_use]
    pub fn encoded(mut self, encoding: Encoding) -> Answer {
        self.encoding = encoding;
        self
    }

    /// Sets what it says about its version.
    #[must_use]
    pub fn validated(mut self, validator: Validator) -> Answer {
        self.validator = validator;
        self
    }

    /// Waits before the first byte.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Answer {
        self.delay = delay;
        self
    }

    /// Tells the end of the body in this way.
    #[must_use]
    pub fn framed(mut self, framing: Framing) -> Answer {
        self.framing = framing;
        self
    }

    /// Goes wrong in this way.
    #[must_use]
    pub fn with(mut self, fault: Fault) -> Answer {
        self.fault = Some(fault);
        self
    }

    /// What goes over the wire for a request: coded, validated, or 304.
    pub(crate) fn message(&self, request: &Request, since: Timestamp, turn: u64) -> Message {
        let tags = Tags::of(self, since, turn);
        let unchanged = self.status == 200 && tags.unchanged(self.validator, request);
        let mut message = Message {
            status: if unchanged { 304 } else { self.status },
            headers: self.headers.clone(),
            framing: self.framing,
            head_only: request.method == "HEAD",
            ..Message::default()
        };
        if let Some(etag) = tags.etag {
            message.headers.push(("ETag".to_owned(), etag.into_bytes()));
        }
        if let Some(date) = tags.last_modified {
            message
                .headers
                .push(("Last-Modified".to_owned(), date.into_bytes()));
        }
        if unchanged {
            message
                .headers
                .retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            return message;
        }
        if self.encoding != Encoding::Identity {
            message
                .headers
                .push(("Vary".to_owned(), b"Accept-Encoding".to_vec()));
        }
        if self.encoding != Encoding::Identity
            && (self.encoding_forced || accepts(request, self.encoding.token()))
        {
            let token = self.encoding.token().as_bytes().to_vec();
            message.headers.push(("Content-Encoding".to_owned(), token));
            let coded = || self.encoding.encode(&self.body);
            message.body = self.coded.clone().unwrap_or_else(coded);
        } else {
            message.body = self.body.clone();
        }
        message
    }
}

/// The validators of one answer.
struct Tags {
    etag: Option<String>,
    last_modified: Option<String>,
}

impl Tags {
    fn of(answer: &Answer, since: Timestamp, turn: u64) -> Tags {
        if answer.validator == Validator::None || answer.status != 200 {
            return Tags {
                etag: None,
                last_modified: None,
            };
        }
        let tag = format!("{:016x}", digest(&answer.body));
        let etag = match answer.validator {
            Validator::Strong | Validator::Both | Validator::Stuck => Some(format!("\"{tag}\"")),
            Validator::Weak => Some(format!("W/\"{tag}\"")),
            Validator::Useless => Some(format!("\"{tag}-gzip\"")),
            Validator::Flipping if turn.is_multiple_of(2) => Some(format!("W/\"{tag}\"")),
            Validator::Flipping => Some(format!("\"{tag}\"")),
            Validator::Fresh => Some(format!("\"{tag}-{turn}\"")),
            Validator::None | Validator::Date => None,
        };
        let dated = matches!(answer.validator, Validator::Date | Validator::Both);
        Tags {
            etag,
            last_modified: dated.then(|| http_date(since)),
        }
    }

    /// RFC 9110 §13: If-None-Match goes before If-Modified-Since and compares weakly.
    fn unchanged(&self, validator: Validator, request: &Request) -> bool {
        let none_match = request.header("if-none-match");
        let since = request.header("if-modified-since");
        match validator {
            Validator::None | Validator::Useless | Validator::Fresh => return false,
            Validator::Stuck => return none_match.is_some() || since.is_some(),
            _ => {}
        }
        match (none_match, &self.etag) {
            (Some(asked), Some(etag)) => {
                let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
                asked
                    .split(',')
                    .any(|tag| tag.trim() == "*" || bare(tag) == bare(etag))
            }
            _ => match (since.and_then(parse_http_date), &self.last_modified) {
                (Some(asked), Some(date)) => parse_http_date(date).is_some_and(|d| d <= asked),
                _ => false,
            },
        }
    }
}

/// Whether `Accept-Encoding` names a coding with a weight above zero.
fn accepts(request: &Request, token: &str) -> bool {
    request
        .header("accept-encoding")
        .unwrap_or_default()
        .split(',')
        .any(|part| {
            let mut pieces = part.split(';').map(str::trim);
            let named = pieces
                .next()
                .is_some_and(|name| name.eq_ignore_ascii_case(token));
            let zero = |q: &str| {
                q.strip_prefix("q=")
                    .is_some_and(|w| w.parse() == Ok(0.0_f32))
            };
            named && !pieces.any(zero)
        })
}

/// A 64-bit digest of a body, eight bytes at a time: it tells versions apart and is no proof.
#[must_use]
pub fn digest(body: &[u8]) -> u64 {
    let seed = 0xcbf2_9ce4_8422_2325 ^ body.len() as u64;
    let hash = body.chunks(8).fold(seed, |hash, piece| {
        let word = piece
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u64::from(*byte));
        (hash ^ word)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    });
    (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ hash >> 29
}

/// An HTTP date (RFC 9110 §5.6.7). Moments before 1990 are given as 1990-01-01.
#[must_use]
pub fn http_date(at: Timestamp) -> String {
    let floor = Timestamp::from_second(631_152_000).unwrap_or(Timestamp::UNIX_EPOCH);
    at.max(floor)
        .strftime("%a, %d %b %Y %H:%M:%S GMT")
        .to_string()
}

fn parse_http_date(text: &str) -> Option<Timestamp> {
    let broken_down = strtime::parse("%a, %d %b %Y %H:%M:%S GMT", text.trim()).ok()?;
    jiff::tz::TimeZone::UTC
        .to_timestamp(broken_down.to_datetime().ok()?)
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::day;

    fn ask(headers: &str) -> Request {
        Request::read(format!("GET / HTTP/1.1\r\n{headers}\r\n\r\n").as_bytes())
    }

    fn etag(message: &Message) -> String {
        let found = message.headers.iter().find(|(name, _)| name == "ETag");
        String::from_utf8(found.unwrap().1.clone()).unwrap()
    }

    #[test]
    fn conditional_requests_by_validator() {
        use Validator as V;
        let since = day(2026, 4, 1);
        for (validator, sends_back, expected) in [
            (V::Strong, true, 304),
            (V::Weak, true, 304),
            (V::Both, true, 304),
            (V::Flipping, true, 304),
            (V::Useless, true, 200),
            (V::Fresh, true, 200),
            (V::Strong, false, 200),
            (V::Stuck, false, 304),
        ] {
            let answer = Answer::html("<p>a</p>").validated(validator);
            let first = answer.message(&ask("X: y"), since, 0);
            let tag = if sends_back {
                etag(&first)
            } else {
                "\"other\"".to_owned()
            };
            let second = answer.message(&ask(&format!("If-None-Match: {tag}")), since, 1);
            assert_eq!(second.status, expected, "{validator:?}");
        }
    }

    #[test]
    fn flipping_tags_flip_and_fresh_ones_never_come_back() {
        let since = day(2026, 4, 1);
        let tags = |validator| {
            let answer = Answer::html("a").validated(validator);
            [0, 1].map(|turn| etag(&answer.message(&ask("X: y"), since, turn)))
        };
        let [weak, strong] = tags(Validator::Flipping);
        assert_eq!(weak, format!("W/{strong}"));
        let [first, second] = tags(Validator::Fresh);
        assert_ne!(first, second);
    }

    #[test]
    fn dates_are_compared_as_dates() {
        let answer = Answer::html("a").validated(Validator::Date);
        let since = day(2026, 4, 1);
        let status = |date: &str| {
            answer
                .message(&ask(&format!("If-Modified-Since: {date}")), since, 0)
                .status
        };
        assert_eq!(status("Tue, 31 Mar 2026 15:00:00 GMT"), 304);
        assert_eq!(status("Tue, 31 Mar 2026 14:59:59 GMT"), 200);
        assert_eq!(status("soon"), 200);
    }

    #[test]
    fn a_coding_is_used_where_it_is_accepted() {
        let answer = Answer::html("a".repeat(2000)).encoded(Encoding::Gzip);
        let len = |headers: &str| answer.message(&ask(headers), day(2026, 4, 1), 0).body.len();
        assert!(len("Accept-Encoding: br, gzip") < 200);
        assert_eq!(len("Accept-Encoding: br, gzip;q=0"), 2000);
        assert_eq!(len("X: y"), 2000);
    }

    #[test]
    fn every_coding_can_be_read_back() {
        use std::io::Read as _;
        let body = Bytes::from("料金のご案内 ".repeat(500));
        for encoding in [
            Encoding::Identity,
            Encoding::Gzip,
            Encoding::Deflate,
            Encoding::RawDeflate,
            Encoding::Brotli,
            Encoding::Zstd,
        ] {
            let coded = encoding.encode(&body);
            let mut out = Vec::new();
            match encoding {
                Encoding::Identity => out = coded.to_vec(),
                Encoding::Gzip => {
                    flate2::read::GzDecoder::new(&coded[..])
                        .read_to_end(&mut out)
                        .map(drop)
                        .unwrap();
                }
                Encoding::Deflate => {
                    flate2::read::ZlibDecoder::new(&coded[..])
                        .read_to_end(&mut out)
                        .map(drop)
                        .unwrap();
                }
                Encoding::RawDeflate => {
                    let mut r = flate2::read::DeflateDecoder::new(&coded[..]);
                    r.read_to_end(&mut out).unwrap();
                }
                Encoding::Brotli => {
                    brotli::Decompressor::new(&coded[..], 4096)
                        .read_to_end(&mut out)
                        .map(drop)
                        .unwrap();
                }
                Encoding::Zstd => out = zstd::decode_all(&coded[..]).unwrap(),
            }
            assert_eq!(out, body, "{encoding:?}");
        }
    }
}
