//! A response before it is bytes, and the steps in which bytes leave.
//!
//! Every answer, sound or broken, becomes a list of [`Step`]s. The server only plays steps; it
//! knows no fault by name.

use bytes::Bytes;
use std::time::Duration;

/// How the end of a body is told (RFC 9112 §6).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Framing {
    /// By `Content-Length`.
    #[default]
    Length,
    /// By the chunked transfer coding.
    Chunked,
    /// By closing the connection.
    Close,
}

/// One thing the server does on a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Writes bytes.
    Send(Bytes),
    /// Waits, watching for the client to leave.
    Pause(Duration),
    /// Writes bytes a few at a time.
    Drip {
        /// What is written in all.
        bytes: Bytes,
        /// How many bytes at a time.
        piece: usize,
        /// The wait before each piece.
        every: Duration,
    },
    /// Writes the same bytes again and again until the client leaves.
    Forever {
        /// What is written each time.
        bytes: Bytes,
        /// The wait before each time.
        every: Duration,
    },
    /// Sends nothing more and waits until the client leaves.
    Stall,
    /// Closes the connection in good order.
    Close,
    /// Resets the connection.
    Reset,
}

/// A response.
#[derive(Debug, Clone, Default)]
pub(crate) struct Message {
    pub(crate) status: u16,
    /// In wire order. Values are bytes: not all that is sent is text.
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    /// The body in its content coding.
    pub(crate) body: Bytes,
    pub(crate) framing: Framing,
    /// Whether the client asked to close: the server does so after the last step.
    pub(crate) close: bool,
    /// Whether this answers HEAD.
    pub(crate) head_only: bool,
}

impl Message {
    /// A header's value as text.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let named = self
            .headers
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name));
        named.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
    }

    /// Status line and headers without framing and without the closing empty line.
    pub(crate) fn open_head(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status)).into_bytes();
        for (name, value) in &self.headers {
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        }
        if self.close || self.framing == Framing::Close {
            head.extend_from_slice(b"Connection: close\r\n");
        }
        head
    }

    /// The head with extra header lines and its empty line.
    pub(crate) fn head_with(&self, lines: &str) -> Vec<u8> {
        let mut head = self.open_head();
        head.extend_from_slice(lines.as_bytes());
        head.extend_from_slice(b"\r\n");
        head
    }

    /// Whether this status has a body at all.
    fn has_body(&self) -> bool {
        !(self.head_only || self.status == 204 || self.status == 304 || self.status < 200)
    }

    /// The whole answer as a sound server sends it.
    pub(crate) fn bytes(&self) -> Bytes {
        let mut out = match self.framing {
            _ if matches!(self.status, 204 | 304) => self.head_with(""),
            Framing::Length => self.head_with(&format!("Content-Length: {}\r\n", self.body.len())),
            Framing::Chunked => self.head_with("Transfer-Encoding: chunked\r\n"),
            Framing::Close => self.head_with(""),
        };
        if self.has_body() {
            match self.framing {
                Framing::Chunked => {
                    for piece in self.body.chunks(8192) {
                        out.extend_from_slice(&chunk(piece));
                    }
                    out.extend_from_slice(b"0\r\n\r\n");
                }
                Framing::Length | Framing::Close => out.extend_from_slice(&self.body),
            }
        }
        out.into()
    }

    /// The steps of a sound answer.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let mut steps = vec![Step::Send(self.bytes())];
        if self.framing == Framing::Close {
            steps.push(Step::Close);
        }
        steps
    }
}

/// One chunk of the chunked coding.
pub(crate) fn chunk(data: &[u8]) -> Vec<u8> {
    let mut out = format!("{:x}\r\n", data.len()).into_bytes();
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
    out
}

/// The reason phrase of a status (RFC 9110 §15).
pub(crate) fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        102 => "Processing",
        103 => "Early Hints",
        200 => "OK",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        410 => "Gone",
        418 => "I'm a teapot",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(message: &Message) -> String {
        String::from_utf8(message.bytes().to_vec()).unwrap()
    }

    #[test]
    fn framing_tells_the_end() {
        let message = Message {
            status: 200,
            body: "abc".into(),
            ..Message::default()
        };
        assert_eq!(
            text(&message),
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"
        );
        let chunked = Message {
            framing: Framing::Chunked,
            ..message.clone()
        };
        assert!(text(&chunked).ends_with("chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"));
        let closed = Message {
            framing: Framing::Close,
            ..message
        };
        assert_eq!(
            text(&closed),
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc"
        );
        assert_eq!(closed.steps().last(), Some(&Step::Close));
    }

    #[test]
    fn not_modified_and_head_have_no_body() {
        let message = Message {
            status: 304,
            body: "abc".into(),
            ..Message::default()
        };
        assert_eq!(text(&message), "HTTP/1.1 304 Not Modified\r\n\r\n");
        let head = Message {
            status: 200,
            body: "abc".into(),
            head_only: true,
            ..Message::default()
        };
        assert_eq!(text(&head), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
    }
}
