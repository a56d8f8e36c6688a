//! A connection that keeps the permit's window and records what passes: the request head, the
//! answer's head, and when.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use reigi_core::gate::{Permit, WINDOW};
use reigi_core::time::{Clock, Mono, Now};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connect::Stream;

/// Bytes of the answer's heads (informational ones included) that are read before it counts as a
/// flood.
pub(crate) const HEAD_MAX: usize = 64 * 1024;

/// When a request head may leave, by the monotonic clock.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    not_before: Mono,
    send_by: Mono,
}

impl Window {
    pub(crate) fn of(permit: &Permit) -> Self {
        let admitted = permit.admitted();
        Self {
            not_before: admitted.not_before.mono,
            send_by: admitted.send_by.mono,
        }
    }

    pub(crate) fn opens(self) -> Mono {
        self.not_before
    }

    /// The instant `lead` before it opens.
    pub(crate) fn lead(self, lead: Duration) -> Mono {
        let lead = i64::try_from(lead.as_micros()).unwrap_or(i64::MAX);
        Mono::from_micros(self.not_before.micros().saturating_sub(lead))
    }

    pub(crate) fn is_over(self, now: Mono) -> bool {
        now > self.send_by
    }

    fn is_open(self, now: Mono) -> bool {
        self.not_before <= now && !self.is_over(now)
    }

    /// How long a site may take to accept a connection that begins to open at `now`. Later, no
    /// request could leave on it; but a window shorter than [`WINDOW`] is our pace, not the
    /// site's slowness.
    pub(crate) fn to_connect(self, now: Mono) -> Duration {
        self.send_by.since(now).max(WINDOW)
    }
}

/// What was seen on the wire.
#[derive(Default)]
pub(crate) struct Seen {
    /// The request head.
    pub(crate) written: Vec<u8>,
    /// When its last byte was handed to the socket.
    pub(crate) sent: Option<Now>,
    /// The first bytes of the answer, up to [`HEAD_MAX`]: its heads, and what came with them.
    pub(crate) read: Vec<u8>,
    /// When the last byte, or the end, came.
    pub(crate) last_read: Option<Now>,
    /// The window was not open when the head was to be written.
    pub(crate) too_late: bool,
    /// The final head was read: from here on bytes are body.
    pub(crate) head_done: bool,
    /// More than [`HEAD_MAX`] bytes came before that.
    pub(crate) head_flood: bool,
}

impl Seen {
    /// Notes what came; says whether there may be more.
    fn note(&mut self, fresh: &[u8], now: Now) -> io::Result<()> {
        self.last_read = Some(now);
        if self.head_done {
            return Ok(());
        }
        let room = HEAD_MAX.saturating_sub(self.read.len()).min(fresh.len());
        let (kept, over) = fresh.split_at_checked(room).unwrap_or((fresh, &[]));
        self.read.extend_from_slice(kept);
        if !over.is_empty() && final_head(&self.read).is_none() {
            self.head_flood = true;
            return Err(io::Error::other("the answer's head is too large"));
        }
        Ok(())
    }
}

/// See the module.
pub(crate) struct Wire {
    pub(crate) stream: Box<dyn Stream>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) window: Window,
    pub(crate) seen: Arc<Mutex<Seen>>,
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
        if matches!(polled, Poll::Ready(Ok(()))) {
            let fresh = buf.filled().get(before..).unwrap_or_default();
            let now = this.clock.now();
            return Poll::Ready(look(&this.seen, |seen| seen.note(fresh, now)));
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
        let begun = look(&this.seen, |seen| !seen.written.is_empty());
        // The last act before the write: is the window open?
        if !begun && !this.window.is_open(this.clock.now().mono) {
            look(&this.seen, |seen| seen.too_late = true);
            return Poll::Ready(Err(io::Error::other("the window is not open")));
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

/// The head of the final answer in what was read, and how many bytes stand before it.
fn final_head(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut before = 0;
    loop {
        let rest = bytes.get(before..)?;
        let head = rest.get(..end_of_head(rest)?)?;
        // 101 is final: it ends HTTP (RFC 9110 section 15.2.2).
        let status = head.get(9..12).unwrap_or_default();
        if !status.starts_with(b"1") || status == b"101" {
            return Some((before, head));
        }
        before += head.len();
    }
}

/// The first empty line; either half of a line end may be missing (RFC 9112 section 2.2).
fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let mut after = 0;
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let start = after;
        after += line.len();
        if start > 0 && matches!(line, b"\n" | b"\r\n") {
            return Some(after);
        }
    }
    None
}

/// What is odd about an answer's head, in short phrases.
pub(crate) fn oddities(read: &[u8]) -> Vec<String> {
    let Some((before, head)) = final_head(read) else {
        return Vec::new();
    };
    let lines = head.split(|b| *b == b'\n').skip(1);
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let (mut folded, mut malformed) = (false, false);
    for line in lines.filter(|line| !line.is_empty()) {
        match line.first() {
            Some(b' ' | b'\t') => folded = true,
            _ => malformed |= is_malformed(line),
        }
    }
    let found = [
        (before > 0, "1xx before the answer"),
        (folded, "folded header"),
        (malformed, "malformed header line"),
    ];
    let found = found.iter().filter(|(is, _)| *is);
    found.map(|(_, phrase)| (*phrase).to_owned()).collect()
}

/// Whether a line is no field of RFC 9112 section 5.
fn is_malformed(line: &[u8]) -> bool {
    let Some(colon) = line.iter().position(|b| *b == b':') else {
        return true;
    };
    let (name, value) = line.split_at_checked(colon).unwrap_or((line, &[]));
    let token = |b: &u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(b);
    let control = |b: &u8| b.is_ascii_control() && *b != b'\t';
    name.is_empty() || !name.iter().all(token) || value.iter().any(control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oddities_of_a_head_are_named() {
        for (read, phrases) in [
            ("HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody: no header\r\nnone", ""),
            ("HTTP/1.1 200\nA: b\n\nx", ""),
            ("HTTP/1.1 200 OK\r\n\r\n", ""),
            ("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "folded header"),
            (
                "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
                "malformed header line",
            ),
            ("HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "malformed header line"),
            ("HTTP/1.1 200 OK\r\n: b\r\n\r\n", "malformed header line"),
            ("HTTP/1.1 200 OK\r\nA: b\0\r\n\r\n", "malformed header line"),
            (
                "HTTP/1.1 103 Early\r\nLink\r\n\r\nHTTP/1.1 100\n\nHTTP/1.1 200 OK\n\r\n",
                "1xx before the answer",
            ),
            ("HTTP/1.1 101 Upgrade\r\n\r\n", ""),
            ("HTTP/1.1 200 OK\r\nno end", ""),
            ("", ""),
        ] {
            assert_eq!(oddities(read.as_bytes()).join(", "), phrases, "{read:?}");
        }
    }

    #[test]
    fn a_head_is_read_up_to_its_limit() {
        let now = Now::default();
        let mut seen = Seen::default();
        let big = vec![b'a'; HEAD_MAX];
        assert!(seen.note(&big, now).is_ok());
        assert!(seen.note(b"a", now).is_err());
        assert!(seen.head_flood);

        let mut seen = Seen::default();
        assert!(seen.note(b"HTTP/1.1 200 OK\r\n\r\n", now).is_ok());
        assert!(seen.note(&big, now).is_ok(), "these bytes are body");
        assert_eq!(seen.read.len(), HEAD_MAX);
    }
}
