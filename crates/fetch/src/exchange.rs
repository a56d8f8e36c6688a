//! One GET and its answer, on a connection that is open already.

use std::error::Error as _;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use reigi_core::charter::RequestKind;
use reigi_core::fetched::{Fetch, Fetched, Outcome, Phase};
use reigi_core::gate::Permit;
use reigi_core::time::Clock;
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::body::{self, Broken};
use crate::connect::{Stream, is_reset};
use crate::wire::{HEAD_MAX, Seen, Window, Wire, look, oddities};

/// Header fields of an answer that are read; more is a flood.
const FIELDS_MAX: usize = 512;

/// Sends the request and reads the answer. The socket is closed before the body is decoded.
pub(crate) async fn exchange(
    clock: &Arc<dyn Clock>,
    stream: Box<dyn Stream>,
    permit: &Permit,
    url: &Url,
    deadline: Instant,
    mut fetched: Fetched,
) -> Fetch {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let wire = Wire {
        stream,
        clock: Arc::clone(clock),
        window: Window::of(permit),
        seen: Arc::clone(&seen),
    };
    let mut raw = Vec::new();
    let talk = Talk {
        seen: &seen,
        limit: permit.max_bytes(),
        fetched: &mut fetched,
        raw: &mut raw,
    };
    let ended = timeout_at(deadline, talk.hold(wire, permit, url)).await;
    let now = clock.now();
    let (last_read, too_late) = look(&seen, |seen| {
        fetched.sent = seen.sent;
        fetched.request_head = std::mem::take(&mut seen.written);
        fetched.faults.splice(0..0, oddities(&seen.read));
        (seen.last_read, seen.too_late)
    });
    if too_late {
        return Fetch::NotSent {
            why: "the window passed before the request could leave".to_owned(),
            at: now,
        };
    }
    fetched.outcome = match ended {
        Ok(outcome) => outcome,
        Err(_) if fetched.head_at.is_some() => Outcome::TimedOut(Phase::Body),
        Err(_) => Outcome::TimedOut(Phase::Head),
    };
    // A complete answer ends with its last byte; anything else when the socket closed.
    fetched.ended = now;
    if let Outcome::Status(status) = fetched.outcome {
        fetched.ended = last_read.unwrap_or(now);
        open_up(status, raw, permit.max_bytes(), &mut fetched).await;
    }
    Fetch::Done(Box::new(fetched))
}

/// Removes the content coding of a complete answer.
async fn open_up(status: u16, raw: Vec<u8>, limit: u64, fetched: &mut Fetched) {
    let named = fetched.headers.iter();
    let named = named.filter(|(name, _)| name == "content-encoding");
    let codings = body::codings(named.map(|(_, value)| value.as_slice()));
    match body::decode(raw, &codings, limit).await {
        Ok(decoded) => {
            fetched.body = decoded.bytes;
            fetched.faults.extend(decoded.faults);
        }
        Err(Broken::TooLarge) => fetched.outcome = Outcome::TooLarge { status, limit },
        // What an error page or a redirect says in its body is not used: its status still counts.
        Err(Broken::Coding(why)) if !(200..300).contains(&status) => fetched.faults.push(why),
        Err(Broken::Coding(why)) => fetched.outcome = Outcome::Protocol(why),
    }
}

/// The connection's use, and what it fills in.
struct Talk<'a> {
    seen: &'a Mutex<Seen>,
    limit: u64,
    fetched: &'a mut Fetched,
    raw: &'a mut Vec<u8>,
}

impl Talk<'_> {
    async fn hold(mut self, wire: Wire, permit: &Permit, url: &Url) -> Outcome {
        let request = match request(permit, url) {
            Ok(request) => request,
            Err(error) => return Outcome::Protocol(format!("no request can be made: {error}")),
        };
        let handshake = http1::Builder::new()
            .ignore_invalid_headers_in_responses(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .max_headers(FIELDS_MAX)
            .max_buf_size(HEAD_MAX * 2)
            .handshake::<_, Empty<Bytes>>(TokioIo::new(wire))
            .await;
        let (mut sender, mut connection) = match handshake {
            Ok(pair) => pair,
            Err(error) => return self.failed(&error),
        };
        let outcome = {
            let mut answer = pin!(async {
                match sender.send_request(request).await {
                    Ok(answer) => self.read(answer).await,
                    Err(error) => self.failed(&error),
                }
            });
            // Driven here, not in a task of its own: when this future ends, the socket is closed.
            tokio::select! {
                biased;
                outcome = &mut answer => outcome,
                _ = &mut connection => answer.await,
            }
        };
        if !connection.into_parts().read_buf.is_empty() && outcome.status().is_some() {
            self.fetched
                .faults
                .push("trailing bytes after the answer".to_owned());
        }
        outcome
    }

    async fn read(&mut self, answer: Response<Incoming>) -> Outcome {
        self.fetched.head_at = look(self.seen, |seen| {
            seen.head_done = true;
            seen.last_read
        });
        let status = answer.status().as_u16();
        let (parts, mut incoming) = answer.into_parts();
        self.fetched.headers = fields(&parts.headers);
        if let Some(why) = unreadable(status, &parts.headers) {
            return Outcome::Protocol(why);
        }
        let limit = self.limit;
        let too_large = Outcome::TooLarge { status, limit };
        let expected = incoming.size_hint().exact();
        if expected.is_some_and(|announced| announced > limit) {
            return too_large;
        }
        while let Some(frame) = incoming.frame().await {
            let frame = match frame {
                Ok(frame) => frame,
                Err(error) => return self.cut(&error, status, expected),
            };
            let Ok(data) = frame.into_data() else {
                continue;
            };
            self.fetched.raw_bytes += u64::try_from(data.len()).unwrap_or(u64::MAX);
            if self.fetched.raw_bytes > limit {
                return too_large;
            }
            self.raw.extend_from_slice(&data);
        }
        Outcome::Status(status)
    }

    /// The body ended before its announced end (G06), broke off, or makes no sense.
    fn cut(&self, error: &hyper::Error, status: u16, expected: Option<u64>) -> Outcome {
        match io_kind(error) {
            Some(kind) if is_reset(kind) => Outcome::Reset(Phase::Body),
            Some(io::ErrorKind::UnexpectedEof) => Outcome::Incomplete {
                status,
                got: self.fetched.raw_bytes,
                expected,
            },
            None if error.is_incomplete_message() => Outcome::Incomplete {
                status,
                got: self.fetched.raw_bytes,
                expected,
            },
            _ => Outcome::Protocol(format!("broken body: {}", in_words(error))),
        }
    }

    /// No head came that can be read.
    fn failed(&self, error: &hyper::Error) -> Outcome {
        let flood = look(self.seen, |seen| seen.head_flood) || is_flood(error);
        let ended = error.is_incomplete_message() || error.is_canceled();
        match io_kind(error) {
            _ if flood => Outcome::Protocol("the answer's head is too large".to_owned()),
            Some(kind) if is_reset(kind) || kind == io::ErrorKind::UnexpectedEof => {
                Outcome::Reset(Phase::Head)
            }
            _ if ended => Outcome::Reset(Phase::Head),
            _ => Outcome::Protocol(in_words(error)),
        }
    }
}

fn request(permit: &Permit, url: &Url) -> Result<Request<Empty<Bytes>>, http::Error> {
    let admitted = permit.admitted();
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let host = match (url.host_str().unwrap_or_default(), url.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    };
    let accept = match admitted.kind {
        RequestKind::Robots => "text/plain, */*;q=0.5",
        RequestKind::Page => "text/html, application/xhtml+xml, */*;q=0.5",
    };
    let mut request = Request::get(path)
        .header("host", host)
        .header("user-agent", &admitted.user_agent)
        .header("accept", accept)
        .header("accept-encoding", "gzip, br, zstd, deflate")
        .header("connection", "close");
    // Byte for byte as the site gave them (G18); one that no head can carry is left out.
    let validators = [
        ("if-none-match", &admitted.validators.etag),
        ("if-modified-since", &admitted.validators.last_modified),
    ];
    for (name, value) in validators {
        if let Some(Ok(value)) = value.as_deref().map(HeaderValue::from_str) {
            request = request.header(name, value);
        }
    }
    request.body(Empty::new())
}

fn fields(headers: &HeaderMap) -> Vec<(String, Vec<u8>)> {
    headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
        .collect()
}

/// Why a head, though well-formed, leads to no body that we could read.
fn unreadable(status: u16, headers: &HeaderMap) -> Option<String> {
    if status == 101 {
        return Some("a change of protocol that was not asked for".to_owned());
    }
    let transfer = headers.get_all("transfer-encoding").iter();
    let mut codings = body::codings(transfer.map(HeaderValue::as_bytes)).into_iter();
    codings
        .find(|coding| coding != "chunked")
        .map(|coding| format!("unknown transfer coding {coding:?}"))
}

fn io_kind(error: &hyper::Error) -> Option<io::ErrorKind> {
    let source = error.source()?.downcast_ref::<io::Error>()?;
    Some(source.kind())
}

/// Whether there are more fields than [`FIELDS_MAX`]; hyper says so in words only.
fn is_flood(error: &hyper::Error) -> bool {
    error.is_parse() && error.to_string().contains("too large")
}

fn in_words(error: &hyper::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
