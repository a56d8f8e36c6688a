//! A connection that keeps the permit's window and records what passes: the request head, the
//! answer's head, and when.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use reigi_core::time::{Clock, Mono, Now};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connect::Stream;

/// Bytes of the answer's heads (informational ones included) that are read before it counts as a
/// flood.
pub(crate) const HEAD_MAX: usize = 64 * 1024;

/// What was seen on the wire.
#[derive(Default)]
pub(crate) struct Seen {
    /// The request head.
    pub(crate) written: Vec<u8>,
    /// When its last byte was handed to the socket.
    pub(crate) sent: Option<Now>,
    /// The first bytes of the answer, up to [`HEAD_MAX`].
    pub(crate) read: Vec<u8>,
    /// When the last byte came.
    pub(crate) last_read: Option<Now>,
    /// The window had passed when the head was to be written.
    pub(crate) too_late: bool,
    /// The head was complete: from here on bytes are body.
    pub(crate) head_done: bool,
    /// More than [`HEAD_MAX`] bytes came before the head was complete.
    pub(crate) head_flood: bool,
}

/// See the module.
pub(crate) struct Wire {
    stream: Box<dyn Stream>,
    clock: Arc<dyn Clock>,
    send_by: Mono,
    seen: Arc<Mutex<Seen>>,
}

impl Wire {
    pub(crate) fn new(
        stream: Box<dyn Stream>,
        clock: Arc<dyn Clock>,
        send_by: Mono,
        seen: Arc<Mutex<Seen>>,
    ) -> Self {
        Self {
            stream,
            clock,
            send_by,
            seen,
        }
    }
}

/// Looks at what was seen; a panic elsewhere does not matter to it.
pub(crate) fn look<T>(seen: &Mutex<Seen>, with: impl FnOnce(&mut Seen) -> T) -> T {
    with(&mut seen.lock().unwrap_or_else(PoisonError::into_inner))
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        let polled = Pin::new(&mut this.stream).poll_read(cx, buf);
        if let Poll::Ready(Ok(())) = polled {
            let fresh = buf.filled().get(before..).unwrap_or_default();
            if !fresh.is_empty() {
                let now = this.clock.now();
                let flood = look(&this.seen, |seen| {
                    seen.last_read = Some(now);
                    let room = HEAD_MAX.saturating_sub(seen.read.len()).min(fresh.len());
                    seen.read
                        .extend_from_slice(fresh.get(..room).unwrap_or_default());
                    seen.head_flood |=
                        !seen.head_done && room < fresh.len() && !has_final_head(&seen.read);
                    seen.head_flood
                });
                if flood {
                    return Poll::Ready(Err(io::Error::other("header flood")));
                }
            }
        }
        polled
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        // The last act before the write: is the window still open?
        if this.clock.now().mono > this.send_by {
            look(&this.seen, |seen| seen.too_late |= seen.written.is_empty());
            return Poll::Ready(Err(io::Error::other("the window has passed")));
        }
        let polled = Pin::new(&mut this.stream).poll_write(cx, bytes);
        if let Poll::Ready(Ok(count)) = polled {
            let now = this.clock.now();
            look(&this.seen, |seen| {
                seen.written
                    .extend_from_slice(bytes.get(..count).unwrap_or_default());
                seen.sent = Some(now);
            });
        }
        polled
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

/// Whether a complete head that is no informational one stands in `bytes`.
fn has_final_head(bytes: &[u8]) -> bool {
    final_head(bytes).is_some()
}

/// The head of the final answer in what was read, without informational heads before it.
pub(crate) fn final_head(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes;
    loop {
        let end = end_of_head(rest)?;
        let (head, after) = rest.split_at_checked(end)?;
        let informational = head.get(9..10) == Some(b"1") && head.starts_with(b"HTTP/");
        if !informational {
            return Some(head);
        }
        rest = after;
    }
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let crlf = bytes
        .windows(4)
        .position(|w| w == b"\r\n\r\n")
        .map(|at| at + 4);
    let lf = bytes.windows(2).position(|w| w == b"\n\n").map(|at| at + 2);
    match (crlf, lf) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// What is odd about an answer's head, in short phrases.
pub(crate) fn oddities(read: &[u8]) -> Vec<String> {
    let mut faults = Vec::new();
    let Some(head) = final_head(read) else {
        return faults;
    };
    let before = head.as_ptr().addr().saturating_sub(read.as_ptr().addr());
    if before > 0 {
        faults.push("informational answers before the final one".to_owned());
    }
    let mut fields: Vec<&[u8]> = head.split(|b| *b == b'\n').skip(1).collect();
    fields.retain(|line| !line.is_empty() && *line != b"\r");
    if fields
        .iter()
        .any(|line| line.starts_with(b" ") || line.starts_with(b"\t"))
    {
        faults.push("folded header".to_owned());
    }
    let plain = fields
        .iter()
        .filter(|line| !line.starts_with(b" ") && !line.starts_with(b"\t"));
    if plain.into_iter().any(|line| malformed(line)) {
        faults.push("malformed header line".to_owned());
    }
    faults
}

fn malformed(line: &[u8]) -> bool {
    let name = line.split(|b| *b == b':').next().unwrap_or_default();
    let token = |b: &u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(b);
    name.len() == line.len() || name.is_empty() || !name.iter().all(token)
}
