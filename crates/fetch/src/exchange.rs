//! One GET and its answer, on a connection that is open already.

use std::error::Error as _;
use std::io;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use reigi_core::charter::RequestKind;
use reigi_core::fetched::{Fetch, Fetched, Outcome, Phase};
use reigi_core::gate::Permit;
use reigi_core::time::Clock;
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::body;
use crate::connect::Stream;
use crate::wire::{HEAD_MAX, Seen, Wire, look, oddities};

/// Header fields of an answer that are read; more is a flood.
const FIELDS_MAX: usize = 512;

/// Sends the request and reads the answer.
pub(crate) async fn exchange(
    clock: &Arc<dyn Clock>,
    stream: Box<dyn Stream>,
    permit: &Permit,
    url: &Url,
    deadline: Instant,
    mut fetched: Fetched,
) -> Fetch {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let send_by = permit.admitted().send_by.mono;
    let wire = Wire::new(stream, Arc::clone(clock), send_by, Arc::clone(&seen));
    let talk = talk(clock, wire, permit, url, &seen, &mut fetched);
    let ended = timeout_at(deadline, talk).await;
    let now = clock.now();
    let (last_read, too_late) = look(&seen, |seen| {
        fetched.sent = seen.sent;
        fetched.request_head = std::mem::take(&mut seen.written);
        fetched.faults.extend(oddities(&seen.read));
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
    fetched.ended = match fetched.outcome {
        Outcome::Status(_) => last_read.unwrap_or(now),
        _ => now,
    };
    Fetch::Done(Box::new(fetched))
}

async fn talk(
    clock: &Arc<dyn Clock>,
    wire: Wire,
    permit: &Permit,
    url: &Url,
    seen: &Mutex<Seen>,
    fetched: &mut Fetched,
) -> Outcome {
    let request = match request(permit, url) {
        Ok(request) => request,
        Err(error) => return Outcome::Protocol(format!("no request can be made of it: {error}")),
    };
    let handshake = http1::Builder::new()
        .ignore_invalid_headers_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .max_headers(FIELDS_MAX)
        .max_buf_size(HEAD_MAX * 2)
        .handshake::<_, Empty<Bytes>>(TokioIo::new(wire))
        .await;
    let (mut sender, connection) = match handshake {
        Ok(pair) => pair,
        Err(error) => return failed(&error, Phase::Head, seen),
    };
    // Driven here, not in a task of its own: when this future ends, the socket is closed.
    let mut connection = std::pin::pin!(connection);
    let answer = async {
        match sender.send_request(request).await {
            Ok(answer) => read(clock, permit, answer, seen, fetched).await,
            Err(error) => failed(&error, Phase::Head, seen),
        }
    };
    let mut answer = std::pin::pin!(answer);
    tokio::select! {
        biased;
        outcome = &mut answer => outcome,
        _ = &mut connection => answer.await,
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
    if let Some(etag) = &admitted.validators.etag {
        request = request.header("if-none-match", etag);
    }
    if let Some(date) = &admitted.validators.last_modified {
        request = request.header("if-modified-since", date);
    }
    request.body(Empty::new())
}

async fn read(
    clock: &Arc<dyn Clock>,
    permit: &Permit,
    answer: Response<Incoming>,
    seen: &Mutex<Seen>,
    fetched: &mut Fetched,
) -> Outcome {
    look(seen, |seen| seen.head_done = true);
    fetched.head_at = Some(clock.now());
    let status = answer.status().as_u16();
    let (parts, mut incoming) = answer.into_parts();
    fetched.headers = fields(&parts.headers);
    let limit = permit.max_bytes();
    let too_large = Outcome::TooLarge { status, limit };
    let mut raw: Vec<u8> = Vec::new();
    while let Some(frame) = incoming.frame().await {
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => return cut(&error, status, fetched, &parts.headers),
        };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        fetched.raw_bytes += u64::try_from(data.len()).unwrap_or(u64::MAX);
        if fetched.raw_bytes > limit {
            return too_large;
        }
        raw.extend_from_slice(&data);
    }
    match body::decode(raw, &codings(&parts.headers), limit).await {
        Ok(decoded) => {
            fetched.body = decoded.bytes;
            fetched.faults.extend(decoded.faults);
            Outcome::Status(status)
        }
        Err(body::Broken::TooLarge) => too_large,
        Err(body::Broken::Coding(why)) => Outcome::Protocol(why),
    }
}

fn fields(headers: &HeaderMap) -> Vec<(String, Vec<u8>)> {
    headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
        .collect()
}

/// Content codings in the order they were applied.
fn codings(headers: &HeaderMap) -> Vec<String> {
    headers
        .get_all("content-encoding")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|coding| coding.trim().to_ascii_lowercase())
        .filter(|coding| !coding.is_empty() && coding != "identity")
        .collect()
}

/// The body ended before its announced end (G06), or broke.
fn cut(error: &hyper::Error, status: u16, fetched: &Fetched, headers: &HeaderMap) -> Outcome {
    let expected = headers
        .get("content-length")
        .and_then(|v| v.to_str().ok()?.trim().parse().ok());
    let io_kind = error
        .source()
        .and_then(|e| e.downcast_ref::<io::Error>())
        .map(io::Error::kind);
    match io_kind {
        Some(io::ErrorKind::UnexpectedEof) | None
            if error.is_incomplete_message() || expected.is_some() =>
        {
            Outcome::Incomplete {
                status,
                got: fetched.raw_bytes,
                expected,
            }
        }
        Some(io::ErrorKind::UnexpectedEof) => Outcome::Incomplete {
            status,
            got: fetched.raw_bytes,
            expected,
        },
        Some(io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) => {
            Outcome::Reset(Phase::Body)
        }
        _ => Outcome::Protocol(format!("broken body: {}", why(error))),
    }
}

fn failed(error: &hyper::Error, phase: Phase, seen: &Mutex<Seen>) -> Outcome {
    let (flood, nothing) = look(seen, |seen| (seen.head_flood, seen.read.is_empty()));
    let io_kind = error
        .source()
        .and_then(|e| e.downcast_ref::<io::Error>())
        .map(io::Error::kind);
    match io_kind {
        _ if flood || why(error).contains("too large") => {
            Outcome::Protocol("the answer's head is too large".to_owned())
        }
        Some(io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) => Outcome::Reset(phase),
        _ if error.is_incomplete_message() && nothing => Outcome::Reset(phase),
        _ if error.is_canceled() && nothing => Outcome::Reset(phase),
        _ => Outcome::Protocol(why(error)),
    }
}

fn why(error: &hyper::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
