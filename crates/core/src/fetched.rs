//! What came back from one request, as data. The world's misbehaviour is never an `Err`.

use serde::{Deserialize, Serialize};

use crate::time::Now;

/// A string from the wire: JSON text where it is UTF-8, else base64 under `b64`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WireText {
    /// Valid UTF-8.
    Text(String),
    /// Anything else.
    Bytes {
        /// Standard base64.
        b64: String,
    },
    /// Nothing was said.
    #[default]
    Absent,
}

impl From<&[u8]> for WireText {
    fn from(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Bytes {
                b64: data_encoding::BASE64.encode(bytes),
            },
        }
    }
}

impl WireText {
    /// The text, if it is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Bytes { .. } | Self::Absent => None,
        }
    }
}

/// How one request ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// A complete answer with this status.
    Status(u16),
    /// A head came, but the body ended before its announced end.
    Incomplete {
        /// Status of the head.
        status: u16,
        /// Bytes received.
        got: u64,
        /// Bytes announced, where they were.
        expected: Option<u64>,
    },
    /// The answer is larger than the charter allows; what was read is not used.
    TooLarge {
        /// Status of the head.
        status: u16,
        /// The limit that was hit, in bytes.
        limit: u64,
    },
    /// The host name led nowhere.
    LookupFailed(String),
    /// Nobody answered at the address, or refused.
    ConnectFailed(String),
    /// TLS was not agreed.
    TlsFailed(String),
    /// The charter's time ran out.
    TimedOut(Phase),
    /// The connection broke.
    Reset(Phase),
    /// The answer is no HTTP that we can read.
    Protocol(String),
}

/// Where in a request something ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// While connecting.
    Connect,
    /// While agreeing on TLS.
    Tls,
    /// While sending or waiting for the head.
    Head,
    /// In the body.
    Body,
}

impl Outcome {
    /// The status, where a complete answer came.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Status(status) => Some(*status),
            _ => None,
        }
    }
}

impl Outcome {
    /// The status of the answer's head, whether or not the body came whole.
    #[must_use]
    pub fn head_status(&self) -> Option<u16> {
        match self {
            Self::Status(status)
            | Self::Incomplete { status, .. }
            | Self::TooLarge { status, .. } => Some(*status),
            _ => None,
        }
    }
}

/// The result of handing a permit to the fetcher.
#[derive(Clone, PartialEq, Debug)]
pub enum Fetch {
    /// The request head left (or the connection for it was opened).
    Done(Box<Fetched>),
    /// The window passed before the head could leave: no request was made.
    NotSent {
        /// Why.
        why: String,
        /// When that was clear.
        at: Now,
    },
}

/// All that one answer says about itself.
#[derive(Clone, PartialEq, Debug)]
pub struct Fetched {
    /// How it ended.
    pub outcome: Outcome,
    /// When the connection began to open.
    pub opened: Now,
    /// When the request head left; `None` if it never did.
    pub sent: Option<Now>,
    /// When the head of the answer was complete.
    pub head_at: Option<Now>,
    /// When the last byte came or the socket closed.
    pub ended: Now,
    /// Local end of the connection, `address:port`.
    pub local: Option<String>,
    /// Far end, `address:port`.
    pub remote: Option<String>,
    /// The request head, byte for byte.
    pub request_head: Vec<u8>,
    /// Fields of the answer in order, names in lower case, values as received; at most 64 KiB.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body, content coding removed; empty where the outcome says it is not usable.
    pub body: Vec<u8>,
    /// Bytes of the body on the wire.
    pub raw_bytes: u64,
    /// Oddities, each a short phrase (`malformed header line`, `trailing bytes after deflate`).
    pub faults: Vec<String>,
    /// SHA-256 of the server's certificate, hex, where TLS was used.
    pub certificate: Option<String>,
}

impl Fetched {
    /// The first field named `name` (lower case), as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(n, _)| n == name)?;
        std::str::from_utf8(value).ok()
    }
}
