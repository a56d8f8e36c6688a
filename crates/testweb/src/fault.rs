//! What can go wrong on the way: one entry of [`Fault`] for each kind, each a list of steps.
//!
//! Faults bend an answer that is otherwise sound; the table [`Fault::all`] names one of each kind
//! and feeds both the `faults.test` host and the tests. Odd *content* (challenge, login, script
//! only, huge) is in `content`.

use crate::message::{Framing, Message, Step, chunk};
use bytes::Bytes;
use flate2::{Compress, Compression, Crc, FlushCompress};
use std::time::Duration;

/// A way in which an answer goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Reads the request, then closes without a byte.
    CloseUnanswered,
    /// Reads the request, then resets without a byte.
    ResetUnanswered,
    /// Reads the request and never answers.
    Silence,
    /// Half a status line, then reset.
    ResetInHead,
    /// A whole head, then reset.
    ResetAfterHead,
    /// A head and half of the body, then reset.
    ResetInBody,
    /// A whole head, then nothing more.
    StallAfterHead,
    /// A head and half of the body, then nothing more.
    StallInBody,
    /// The body alone, with no head, as HTTP/0.9 did.
    Http09,
    /// Bytes that are no HTTP.
    Garbage,
    /// A status line with a version and status that do not exist.
    BadStatusLine,
    /// `HTTP/1.1 200` without a reason phrase and its space: legal in practice.
    NoReason,
    /// A folded header and a line without a colon; the body is `Works`.
    MalformedLines,
    /// Line ends are bare LF.
    BareLf,
    /// A NUL byte in a header's value.
    NulInHeader,
    /// Many small headers.
    HeaderFlood {
        /// How many.
        lines: usize,
    },
    /// One header with a very long value.
    LongHeader {
        /// Length of the value.
        bytes: usize,
    },
    /// Headers without end.
    EndlessHead,
    /// The head, a few bytes at a time.
    SlowHead {
        /// The wait before each byte.
        every: Duration,
    },
    /// 103 Early Hints, then the answer.
    EarlyHints,
    /// Many interim answers of one status, then the answer.
    InterimFlood {
        /// 100 or 102.
        status: u16,
        /// How many.
        answers: usize,
    },
    /// Interim answers without end.
    InterimForever,
    /// 101 to a protocol that nobody asked for.
    Upgrade,
    /// Two `Content-Length` headers that differ.
    TwoLengths,
    /// `Content-Length: -1`.
    NegativeLength,
    /// `Content-Length` and `Transfer-Encoding: chunked` together.
    LengthAndChunked,
    /// Fewer bytes than `Content-Length` says, then closes.
    ShortBody {
        /// What the head says.
        declared: usize,
        /// What is sent.
        sent: usize,
    },
    /// More bytes after the end of the answer.
    ExtraBytes,
    /// A second whole answer that nobody asked for.
    ExtraAnswer,
    /// Chunks, but no last chunk, then closes.
    ChunkedCut,
    /// A chunk size that is no number.
    BadChunkSize,
    /// A chunk size beyond 64 bits.
    HugeChunkSize,
    /// Chunks without end.
    EndlessBody,
    /// The body a few bytes at a time.
    Drip {
        /// Bytes at a time.
        piece: usize,
        /// The wait before each.
        every: Duration,
    },
    /// A gzip body that grows to this many bytes.
    GzipBomb {
        /// Size after decoding.
        bytes: usize,
    },
    /// A gzip stream that stops in the middle, with a right `Content-Length`.
    GzipCut,
    /// A gzip stream with a wrong checksum.
    GzipBadChecksum,
    /// Plain text labelled gzip.
    GzipLabel,
    /// A content coding that does not exist.
    UnknownCoding,
    /// A zlib stream of 100,000 × `a`, then the 7 bytes `garbage`.
    DeflateGarbage,
    /// A zlib stream of 100,000 × `a`, then a second one.
    DeflateTwice,
}

impl Fault {
    /// One of each kind, with the path it has on `faults.test`.
    #[must_use]
    pub fn all() -> Vec<(&'static str, Fault)> {
        use Fault as F;
        let ms = Duration::from_millis;
        vec![
            ("/close-unanswered", F::CloseUnanswered),
            ("/reset-unanswered", F::ResetUnanswered),
            ("/silence", F::Silence),
            ("/reset-in-head", F::ResetInHead),
            ("/reset-after-head", F::ResetAfterHead),
            ("/reset-in-body", F::ResetInBody),
            ("/stall-after-head", F::StallAfterHead),
            ("/stall-in-body", F::StallInBody),
            ("/http09", F::Http09),
            ("/garbage", F::Garbage),
            ("/bad-status-line", F::BadStatusLine),
            ("/no-reason", F::NoReason),
            ("/malformed-lines", F::MalformedLines),
            ("/bare-lf", F::BareLf),
            ("/nul-in-header", F::NulInHeader),
            ("/header-flood", F::HeaderFlood { lines: 5_000 }),
            ("/long-header", F::LongHeader { bytes: 200_000 }),
            ("/endless-head", F::EndlessHead),
            ("/slow-head", F::SlowHead { every: ms(5) }),
            ("/early-hints", F::EarlyHints),
            (
                "/continue-flood",
                F::InterimFlood {
                    status: 100,
                    answers: 200,
                },
            ),
            (
                "/processing-flood",
                F::InterimFlood {
                    status: 102,
                    answers: 200,
                },
            ),
            ("/interim-forever", F::InterimForever),
            ("/upgrade", F::Upgrade),
            ("/two-lengths", F::TwoLengths),
            ("/negative-length", F::NegativeLength),
            ("/length-and-chunked", F::LengthAndChunked),
            (
                "/short-body",
                F::ShortBody {
                    declared: 1000,
                    sent: 400,
                },
            ),
            ("/extra-bytes", F::ExtraBytes),
            ("/extra-answer", F::ExtraAnswer),
            ("/chunked-cut", F::ChunkedCut),
            ("/bad-chunk-size", F::BadChunkSize),
            ("/huge-chunk-size", F::HugeChunkSize),
            ("/endless-body", F::EndlessBody),
            (
                "/drip",
                F::Drip {
                    piece: 1,
                    every: ms(5),
                },
            ),
            ("/gzip-bomb", F::GzipBomb { bytes: 50_000_000 }),
            ("/gzip-cut", F::GzipCut),
            ("/gzip-bad-checksum", F::GzipBadChecksum),
            ("/gzip-label", F::GzipLabel),
            ("/unknown-coding", F::UnknownCoding),
            ("/deflate-garbage", F::DeflateGarbage),
            ("/deflate-twice", F::DeflateTwice),
        ]
    }

    /// Whether the answer ends only when the client leaves.
    #[must_use]
    pub fn endless(&self) -> bool {
        matches!(
            self,
            Fault::Silence
                | Fault::StallAfterHead
                | Fault::StallInBody
                | Fault::EndlessHead
                | Fault::InterimForever
                | Fault::EndlessBody
        )
    }

    /// Whether no readable status line is sent.
    #[must_use]
    pub fn headless(&self) -> bool {
        matches!(
            self,
            Fault::CloseUnanswered
                | Fault::ResetUnanswered
                | Fault::Silence
                | Fault::ResetInHead
                | Fault::Http09
                | Fault::Garbage
                | Fault::BadStatusLine
                | Fault::InterimForever
                | Fault::Upgrade
        )
    }

    /// Whether the answer cannot be read as a whole; the others are odd, and a client may do
    /// either.
    #[must_use]
    pub fn spoils(&self) -> bool {
        self.headless()
            || self.endless()
            || matches!(
                self,
                Fault::ResetAfterHead
                    | Fault::ResetInBody
                    | Fault::NegativeLength
                    | Fault::TwoLengths
                    | Fault::ShortBody { .. }
                    | Fault::ChunkedCut
                    | Fault::BadChunkSize
                    | Fault::HugeChunkSize
                    | Fault::GzipCut
                    | Fault::GzipBadChecksum
                    | Fault::GzipLabel
                    | Fault::UnknownCoding
            )
    }

    /// The steps in which this answer leaves.
    pub(crate) fn steps(&self, m: &Message) -> Vec<Step> {
        match self {
            Fault::CloseUnanswered => vec![Step::Close],
            Fault::ResetUnanswered => vec![Step::Reset],
            Fault::Silence => vec![Step::Stall],
            Fault::ResetInHead => vec![send("HTTP/1.1 20"), Step::Reset],
            Fault::ResetAfterHead => vec![send(length_head(m)), Step::Reset],
            Fault::ResetInBody => vec![send(half(m)), Step::Reset],
            Fault::StallAfterHead => vec![send(length_head(m)), Step::Stall],
            Fault::StallInBody => vec![send(half(m)), Step::Stall],
            Fault::Http09 => vec![send(m.body.clone()), Step::Close],
            Fault::Garbage => {
                let noise = (0..2048_u32).map(|i| (i.wrapping_mul(167) >> 3) as u8);
                vec![send(noise.collect::<Vec<_>>()), Step::Close]
            }
            Fault::BadStatusLine => vec![send("HTTP/7.7 9999 What\r\n\r\n"), Step::Close],
            Fault::ShortBody { declared, sent } => {
                let mut out = m.head_with(&format!("Content-Length: {declared}\r\n"));
                out.extend(m.body.iter().copied().cycle().take(*sent));
                vec![send(out), Step::Close]
            }
            Fault::Drip { piece, every } => {
                let head = Step::Send(length_head(m).into());
                vec![
                    head,
                    Step::Drip {
                        bytes: m.body.clone(),
                        piece: *piece,
                        every: *every,
                    },
                ]
            }
            Fault::GzipBomb { .. }
            | Fault::GzipCut
            | Fault::GzipBadChecksum
            | Fault::GzipLabel
            | Fault::UnknownCoding
            | Fault::DeflateGarbage
            | Fault::DeflateTwice => self.coded(m),
            Fault::ExtraBytes
            | Fault::ExtraAnswer
            | Fault::ChunkedCut
            | Fault::BadChunkSize
            | Fault::HugeChunkSize
            | Fault::EndlessBody
            | Fault::TwoLengths
            | Fault::NegativeLength
            | Fault::LengthAndChunked => self.framed(m),
            _ => self.headed(m),
        }
    }

    /// Faults of the head.
    fn headed(&self, m: &Message) -> Vec<Step> {
        let length = format!("Content-Length: {}\r\n", m.body.len());
        let with = |lines: String| {
            let mut out = m.head_with(&format!("{lines}{length}"));
            out.extend_from_slice(&m.body);
            vec![send(out)]
        };
        let whole = m.bytes();
        match self {
            Fault::NoReason => vec![send(replace(&whole, b"200 OK", b"200"))],
            Fault::BareLf => {
                let mut head = length_head(m);
                head.retain(|byte| *byte != b'\r');
                head.extend_from_slice(&m.body);
                vec![send(head)]
            }
            Fault::MalformedLines => vec![
                send(
                    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/html\r\n\
                     X-Folded: one\r\n\ttwo\r\n\
                     <meta http-equiv=\"Content-Type\" content=\"text/html; charset=utf-8\" />\r\n\
                     X-After: works\r\nConnection: close\r\n\r\nWorks",
                ),
                Step::Close,
            ],
            Fault::NulInHeader => with("X-Nul: a\0b\r\n".to_owned()),
            Fault::HeaderFlood { lines } => with(
                (0..*lines)
                    .map(|i| format!("X-Flood-{i}: {i}\r\n"))
                    .collect(),
            ),
            Fault::LongHeader { bytes } => with(format!("X-Long: {}\r\n", "a".repeat(*bytes))),
            Fault::EndlessHead => vec![
                send(m.open_head()),
                Step::Forever {
                    bytes: "X-More: and one more\r\n".repeat(40).into(),
                    every: Duration::from_millis(1),
                },
            ],
            Fault::SlowHead { every } => vec![
                Step::Drip {
                    bytes: length_head(m).into(),
                    piece: 1,
                    every: *every,
                },
                Step::Send(m.body.clone()),
            ],
            Fault::EarlyHints => vec![
                send("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"),
                send(whole),
            ],
            Fault::InterimFlood { status, answers } => {
                let interim = format!(
                    "HTTP/1.1 {status} {}\r\n\r\n",
                    crate::message::reason(*status)
                );
                vec![send(interim.repeat(*answers)), send(whole)]
            }
            Fault::InterimForever => vec![Step::Forever {
                bytes: "HTTP/1.1 102 Processing\r\n\r\n".repeat(40).into(),
                every: Duration::from_millis(5),
            }],
            Fault::Upgrade => vec![
                send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h9\r\n"),
                send("Connection: Upgrade\r\n\r\n\0\x01\x02"),
                Step::Close,
            ],
            _ => m.steps(),
        }
    }

    /// Faults of framing.
    fn framed(&self, m: &Message) -> Vec<Step> {
        let chunked = m.head_with("Transfer-Encoding: chunked\r\n");
        let after = |mut head: Vec<u8>, tail: &[u8]| {
            head.extend_from_slice(tail);
            vec![send(head), Step::Close]
        };
        match self {
            Fault::ExtraBytes => vec![send(m.bytes()), send("and something more")],
            Fault::ExtraAnswer => vec![
                send(m.bytes()),
                send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nunasked!"),
            ],
            Fault::ChunkedCut => after(chunked, &chunk(&m.body)),
            Fault::BadChunkSize => after(chunked, b"zz\r\nbody\r\n0\r\n\r\n"),
            Fault::HugeChunkSize => after(chunked, b"fffffffffffffffff\r\nbody\r\n0\r\n\r\n"),
            Fault::EndlessBody => vec![
                send(chunked),
                Step::Forever {
                    bytes: chunk("<p>and so on</p>\n".repeat(256).as_bytes()).into(),
                    every: Duration::from_millis(1),
                },
            ],
            Fault::TwoLengths => {
                let (a, b) = (m.body.len(), m.body.len() / 2);
                let lines = format!("Content-Length: {a}\r\nContent-Length: {b}\r\n");
                after(m.head_with(&lines), &m.body)
            }
            Fault::NegativeLength => after(m.head_with("Content-Length: -1\r\n"), &m.body),
            Fault::LengthAndChunked => {
                let head = m.head_with("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n");
                let mut body = chunk(&m.body);
                body.extend_from_slice(b"0\r\n\r\n");
                after(head, &body)
            }
            _ => m.steps(),
        }
    }

    /// Faults of the content coding.
    fn coded(&self, m: &Message) -> Vec<Step> {
        let (token, body) = match self {
            Fault::GzipBomb { bytes } => ("gzip", gzip_blanks(*bytes)),
            Fault::GzipCut => {
                let whole = gzip(&m.body);
                let kept = whole.len() / 2;
                ("gzip", whole.into_iter().take(kept).collect())
            }
            Fault::GzipBadChecksum => {
                let mut whole = gzip(&m.body);
                let tail = whole.len().saturating_sub(8);
                whole
                    .iter_mut()
                    .skip(tail)
                    .take(4)
                    .for_each(|byte| *byte ^= 0xff);
                ("gzip", whole)
            }
            Fault::GzipLabel => ("gzip", m.body.to_vec()),
            Fault::DeflateGarbage => ("deflate", [zlib_of_a(), b"garbage".to_vec()].concat()),
            Fault::DeflateTwice => ("deflate", [zlib_of_a(), zlib_of_a()].concat()),
            _ => ("x-rot13", m.body.to_vec()),
        };
        let mut message = m.clone();
        message
            .headers
            .push(("Content-Encoding".to_owned(), token.into()));
        Message {
            body: body.into(),
            framing: Framing::Length,
            ..message
        }
        .steps()
    }
}

fn send(bytes: impl Into<Bytes>) -> Step {
    Step::Send(bytes.into())
}

/// The head with the true length of the body.
fn length_head(m: &Message) -> Vec<u8> {
    m.head_with(&format!("Content-Length: {}\r\n", m.body.len()))
}

/// The head with the true length, and half of the body.
fn half(m: &Message) -> Vec<u8> {
    let mut out = length_head(m);
    out.extend(m.body.iter().take(m.body.len() / 2));
    out
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    match bytes.windows(from.len()).position(|w| w == from) {
        Some(at) => {
            let tail = bytes.iter().skip(at + from.len());
            bytes
                .iter()
                .take(at)
                .chain(to)
                .chain(tail)
                .copied()
                .collect()
        }
        None => bytes.to_vec(),
    }
}

fn gzip(body: &[u8]) -> Vec<u8> {
    crate::answer::Encoding::Gzip
        .encode(&Bytes::copy_from_slice(body))
        .to_vec()
}

/// A gzip stream (RFC 1952) of this many blanks: one compressed block, again and again, since a
/// full flush makes it stand alone.
fn gzip_blanks(bytes: usize) -> Vec<u8> {
    let block = [b' '; 65_536];
    let deflated = |part: &[u8], flush| {
        let mut out = Vec::with_capacity(part.len() + 64);
        // There is room for it, so that one call does all; a test reads the stream back.
        let _ = Compress::new(Compression::best(), false).compress_vec(part, &mut out, flush);
        out
    };
    let (whole, mut crc, mut block_crc) = (bytes / block.len(), Crc::new(), Crc::new());
    block_crc.update(&block);
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let again = deflated(&block, FlushCompress::Full);
    for _ in 0..whole {
        out.extend_from_slice(&again);
        crc.combine(&block_crc);
    }
    let rest = block.get(..bytes % block.len()).unwrap_or_default();
    out.extend_from_slice(&deflated(rest, FlushCompress::Finish));
    crc.update(rest);
    out.extend_from_slice(&crc.sum().to_le_bytes());
    out.extend_from_slice(&crc.amount().to_le_bytes());
    out
}

fn zlib_of_a() -> Vec<u8> {
    let body = Bytes::from(vec![b'a'; 100_000]);
    crate::answer::Encoding::Deflate.encode(&body).to_vec()
}
