//! The web's own access log: what a site's operator could see, and when, to the microsecond.
//!
//! Lines are JSON: one when the web starts, one when a connection opens, one for each request
//! once its answer has ended, one when a connection closes. The checker reads these lines and
//! nothing else.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Bytes of a request head that the log keeps.
pub const HEAD_KEPT_MAX: usize = 8 * 1024;
/// Bytes of a robots.txt body that the log keeps.
pub const ROBOTS_KEPT_MAX: usize = 512 * 1024;

/// A moment by both clocks. Within one run `wall` is the start's wall time plus the monotonic
/// time since, so that the two never disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stamp {
    /// Wall clock, to the microsecond.
    pub wall: Timestamp,
    /// Microseconds since the web started.
    pub mono_us: u64,
}

/// The clock that stamps a log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch {
    wall: Timestamp,
    started: Instant,
}

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        let now = Timestamp::now();
        let wall = Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now);
        Stopwatch {
            wall,
            started: Instant::now(),
        }
    }

    pub(crate) fn stamp(&self) -> Stamp {
        let mono_us = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let since = SignedDuration::from_micros(i64::try_from(mono_us).unwrap_or(i64::MAX));
        Stamp {
            wall: self.wall.checked_add(since).unwrap_or(self.wall),
            mono_us,
        }
    }
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The last byte was written; the connection may live on.
    Complete,
    /// The server closed the connection after what it wrote.
    Closed,
    /// The server reset the connection.
    Reset,
    /// The client left before the end.
    Left,
    /// The web was shut down meanwhile.
    Shutdown,
}

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// The connection's number, from 1.
    pub connection: u64,
    /// The request's number on its connection, from 1.
    pub nth: u64,
    /// The client's address.
    pub peer: SocketAddr,
    /// The address the client reached.
    pub local: SocketAddr,
    /// The host asked for, in lower case, without port.
    pub host: String,
    /// The method as sent.
    pub method: String,
    /// The request target as sent, query included.
    pub path: String,
    /// The `User-Agent`, if one was sent.
    pub user_agent: Option<String>,
    /// All headers as sent.
    pub headers: Vec<(String, String)>,
    /// The head's first bytes, each byte as the character of the same number.
    #[serde(with = "bytes_as_chars")]
    pub head: Vec<u8>,
    /// When the connection was accepted.
    pub opened: Stamp,
    /// When the head's first byte was read.
    pub arrived: Stamp,
    /// When the head was complete.
    pub asked: Stamp,
    /// When the first byte of the answer was about to be written.
    pub answered: Option<Stamp>,
    /// When the last write began: no client can have seen the end earlier than this.
    pub last_write: Option<Stamp>,
    /// When the answer had ended: last byte written, connection closed, or client gone.
    pub finished: Stamp,
    /// How it ended.
    pub end: End,
    /// The status sent; 0 where a fault leaves no readable status line.
    pub status: u16,
    /// Bytes written, head included.
    pub bytes: u64,
    /// `ETag` sent.
    pub etag: Option<String>,
    /// `Last-Modified` sent.
    pub last_modified: Option<String>,
    /// `Retry-After` sent.
    pub retry_after: Option<String>,
    /// `Location` sent.
    pub location: Option<String>,
    /// A digest (hex) of the body's version before coding; absent on 304.
    pub body: Option<String>,
    /// Whether a client could read the whole answer: no fault spoiled it.
    pub whole: bool,
    /// Whether a right conditional request would have been answered 304.
    pub validates: bool,
    /// The fault played, if any.
    pub fault: Option<String>,
    /// The text of a robots.txt answered with 200.
    pub robots: Option<String>,
    /// Site time of the request.
    pub site_time: Timestamp,
}

impl Exchange {
    /// The first value of a request header, its name compared without case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let named = self
            .headers
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str())
    }

    /// The line as the combined log format has it, with the host in front.
    #[must_use]
    pub fn combined(&self) -> String {
        let when = self.arrived.wall.strftime("%d/%b/%Y:%H:%M:%S +0000");
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let or_dash = |name: &str| self.header(name).map_or_else(|| "-".to_owned(), quoted);
        let protocol = String::from_utf8_lossy(&self.head);
        let protocol = protocol
            .lines()
            .next()
            .and_then(|line| line.split(' ').nth(2));
        format!(
            "{} - - [{when}] \"{} {} {}\" {} {} \"{}\" \"{}\"",
            self.peer.ip(),
            quoted(&self.method),
            quoted(&self.path),
            quoted(protocol.unwrap_or("HTTP/1.1")),
            self.status,
            self.bytes,
            or_dash("referer"),
            or_dash("user-agent"),
        )
    }
}

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The web started; `mono_us` counts from here.
    Start {
        /// Now.
        at: Stamp,
    },
    /// A connection was accepted.
    Open {
        /// Its number.
        connection: u64,
        /// The client's address.
        peer: SocketAddr,
        /// The address reached.
        local: SocketAddr,
        /// When.
        at: Stamp,
    },
    /// A request was answered.
    Request(Box<Exchange>),
    /// A connection was closed, by either side.
    Close {
        /// Its number.
        connection: u64,
        /// Requests it carried.
        requests: u64,
        /// When.
        at: Stamp,
    },
}

/// Why a log could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error("cannot read the log: {0}")]
    Io(#[from] io::Error),
    /// A line is not of this log.
    #[error("line {line} of the log: {source}")]
    Line {
        /// Line number from 1.
        line: usize,
        /// What the JSON reader said.
        source: serde_json::Error,
    },
}

/// A log in memory, in a file, or both.
#[derive(Debug)]
pub struct Log {
    inner: Mutex<Inner>,
    pub(crate) stopwatch: Stopwatch,
}

#[derive(Debug)]
struct Inner {
    kept: Option<Vec<Event>>,
    file: Option<BufWriter<File>>,
    failed: Option<io::Error>,
}

impl Log {
    /// Opens a log. `keep` holds the lines in memory for [`Log::events`]; `file` is appended to.
    ///
    /// # Errors
    /// Where the file cannot be opened.
    pub fn open(keep: bool, file: Option<&Path>) -> io::Result<Log> {
        let open = |path| File::options().create(true).append(true).open(path);
        let file = file.map(open).transpose()?.map(BufWriter::new);
        let inner = Inner {
            kept: keep.then(Vec::new),
            file,
            failed: None,
        };
        let log = Log {
            inner: Mutex::new(inner),
            stopwatch: Stopwatch::start(),
        };
        log.add(Event::Start {
            at: log.stopwatch.stamp(),
        });
        Ok(log)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, event: Event) {
        // Serialised outside the lock: connections must not wait for each other's lines.
        let line = {
            let mut line = serde_json::to_vec(&event).unwrap_or_default();
            line.push(b'\n');
            line
        };
        let mut inner = self.lock();
        if let Some(file) = &mut inner.file
            && let Err(error) = file.write_all(&line)
        {
            inner.failed = Some(error);
        }
        if let Some(kept) = &mut inner.kept {
            kept.push(event);
        }
    }

    /// Writes what is buffered to the file.
    ///
    /// # Errors
    /// Where this or an earlier write failed: the file is then not the whole log.
    pub fn flush(&self) -> io::Result<()> {
        let mut inner = self.lock();
        match (inner.failed.take(), &mut inner.file) {
            (Some(error), _) => Err(error),
            (None, Some(file)) => file.flush(),
            (None, None) => Ok(()),
        }
    }

    /// All lines so far, if they are kept in memory.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.lock().kept.clone().unwrap_or_default()
    }

    /// All answered requests so far, in the order in which their answers ended.
    #[must_use]
    pub fn requests(&self) -> Vec<Exchange> {
        requests(self.lock().kept.iter().flatten())
            .cloned()
            .collect()
    }
}

/// The requests among log lines.
pub fn requests<'a>(
    events: impl IntoIterator<Item = &'a Event>,
) -> impl Iterator<Item = &'a Exchange> {
    events.into_iter().filter_map(|event| match event {
        Event::Request(exchange) => Some(exchange.as_ref()),
        _ => None,
    })
}

/// Reads a log of JSON lines. A cut last line (the web was killed) is ignored.
///
/// # Errors
/// Where the reader fails or a line is not of this log.
pub fn read(reader: impl BufRead) -> Result<Vec<Event>, ReadError> {
    let mut events = Vec::new();
    let mut lines = reader.lines().enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(&line) {
            Ok(event) => events.push(event),
            Err(source) if source.is_eof() && lines.peek().is_none() => {}
            Err(source) => {
                return Err(ReadError::Line {
                    line: at + 1,
                    source,
                });
            }
        }
    }
    Ok(events)
}

/// Writes requests in the combined log format, one a line.
///
/// # Errors
/// Where the writer fails.
pub fn write_combined<'a>(
    exchanges: impl IntoIterator<Item = &'a Exchange>,
    mut out: impl Write,
) -> io::Result<()> {
    exchanges
        .into_iter()
        .try_for_each(|exchange| writeln!(out, "{}", exchange.combined()))
}

/// Bytes as a string whose characters have the bytes' numbers: lossless and readable.
mod bytes_as_chars {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(
            &bytes
                .iter()
                .map(|byte| char::from(*byte))
                .collect::<String>(),
        )
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(d)?;
        text.chars()
            .map(|c| u8::try_from(c).map_err(D::Error::custom))
            .collect()
    }
}
