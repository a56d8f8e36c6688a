//! Payloads of one request: admitted, answered, lost, and hops between lanes.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{LaneId, Seq, VisitId};
use crate::charter::RequestKind;
use crate::digest::Digest;
use crate::fetched::{Outcome, WireText};
use crate::time::{Now, Timestamp};

/// Validators of a body that we hold, sent back byte for byte (G18).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Validators {
    /// ETag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// Last-Modified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

impl Validators {
    /// Whether there is nothing to send.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

/// The evidence that a page request was judged by.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RobotsBasis {
    /// The answer to robots.txt (the last hop's, where it redirected).
    pub answered: Seq,
    /// Its body, where there was one with rules.
    pub body: Option<Digest>,
    /// 1-based line of the rule that decided, if one did.
    pub line: Option<u32>,
    /// Crawl-delay that the file asks of this token, microseconds.
    pub crawl_delay_us: Option<u64>,
}

/// See [`super::Event::Admitted`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Admitted {
    /// The visit it belongs to.
    pub visit: VisitId,
    /// The bot.
    pub bot: String,
    /// The row's id.
    pub target: String,
    /// What is asked for.
    pub kind: RequestKind,
    /// The URL asked.
    pub url: String,
    /// The listed URL that it is asked for.
    pub listed: String,
    /// For robots.txt: the origin that the answer will speak for.
    pub answers_for: Option<String>,
    /// User-Agent field sent.
    pub user_agent: String,
    /// Token that it is judged under.
    pub token: String,
    /// Charter in force.
    pub charter: Digest,
    /// `rules_epoch` it was judged under.
    pub epoch: u64,
    /// The answer whose redirect led here.
    pub cause: Option<Seq>,
    /// 0, or the hop's number.
    pub hop: u8,
    /// Robots evidence; `None` for robots.txt itself.
    pub robots: Option<RobotsBasis>,
    /// Validators sent.
    pub validators: Validators,
    /// Addresses that may be connected to, all vetted.
    pub addresses: Vec<IpAddr>,
    /// The drawn interval, microseconds; a lower bound (DECISIONS 11).
    pub draw_us: u64,
    /// The window in which the request head may leave.
    pub not_before: Now,
    /// End of the window.
    pub send_by: Now,
    /// Pacers won.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pacers: Vec<String>,
}

/// See [`super::Event::NotSent`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NotSent {
    /// The permit.
    pub admitted: Seq,
    /// Why.
    pub why: String,
    /// When that was clear.
    pub at: Now,
}

/// A stored body.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BodyRef {
    /// SHA-256 of the body, content coding removed.
    pub digest: Digest,
    /// Its length.
    pub bytes: u64,
}

/// See [`super::Event::Answered`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Answered {
    /// The permit that was used.
    pub admitted: Seq,
    /// How it ended.
    pub outcome: Outcome,
    /// When the connection began to open.
    pub opened: Now,
    /// When the request head left.
    pub sent: Option<Now>,
    /// When the head of the answer was complete.
    pub head_at: Option<Now>,
    /// When the last byte came or the socket closed.
    pub ended: Now,
    /// Local end of the connection.
    pub local: Option<String>,
    /// Far end.
    pub remote: Option<String>,
    /// The request head, byte for byte.
    pub request_head: WireText,
    /// The answer's fields.
    pub headers: Vec<(String, WireText)>,
    /// The body, where one was kept.
    pub body: Option<BodyRef>,
    /// Bytes of the body on the wire.
    pub raw_bytes: u64,
    /// Oddities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// SHA-256 of the server's certificate, hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
}

impl Answered {
    /// The first field named `name` (lower case), where it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name)?.1.as_text()
    }
}

/// See [`super::Event::Lost`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Lost {
    /// The permit.
    pub admitted: Seq,
    /// When it was found lost; counts as the end of the request.
    pub at: Now,
}

/// See [`super::Event::HopParked`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HopParked {
    /// The waiting visit.
    pub visit: VisitId,
    /// The redirecting answer.
    pub cause: Seq,
    /// Lane that will ask.
    pub to: LaneId,
    /// When the visit gives up waiting.
    pub deadline: Timestamp,
}

/// See [`super::Event::HopQueued`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HopQueued {
    /// Lane of the waiting visit.
    pub from: LaneId,
    /// The waiting visit.
    pub visit: VisitId,
    /// The bot.
    pub bot: String,
    /// The row's id.
    pub target: String,
    /// The redirecting answer.
    pub cause: Seq,
    /// The URL to ask.
    pub url: String,
    /// The listed URL that the redirect began at.
    pub listed: String,
    /// What is asked for.
    pub kind: RequestKind,
    /// For robots.txt: the origin that the answer will speak for.
    pub answers_for: Option<String>,
    /// This hop's number.
    pub hop: u8,
    /// When the visit gives up waiting.
    pub deadline: Timestamp,
}

/// See [`super::Event::HopReturned`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HopReturned {
    /// The waiting visit.
    pub visit: VisitId,
    /// The URL that was to be asked.
    pub url: String,
    /// This hop's number.
    pub hop: u8,
    /// What came of it.
    pub result: HopResult,
}

/// What came of a hop in another lane.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HopResult {
    /// It was asked; the answer.
    Answer {
        /// The `answered` (or `lost`) entry in the other lane.
        answered: Seq,
        /// How it ended; `None`: lost with its writer.
        outcome: Option<Outcome>,
        /// Location, where it redirected again.
        location: Option<String>,
        /// Retry-After, where it named one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<String>,
        /// The body.
        body: Option<BodyRef>,
    },
    /// The gate said no, or the deadline passed.
    Held {
        /// The promise that decided.
        promise: String,
        /// In words.
        why: String,
    },
}

/// See [`super::Event::HopDone`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HopDone {
    /// Lane of the waiting visit.
    pub from: LaneId,
    /// The waiting visit.
    pub visit: VisitId,
    /// The redirecting answer.
    pub cause: Seq,
}
