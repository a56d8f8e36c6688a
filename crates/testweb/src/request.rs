//! A request head as it came over the wire: kept byte for byte, read leniently.
//!
//! The server must answer odd clients too, so nothing is refused here; what a head holds is only
//! named. Judging it is the checker's work.

/// Heads longer than this (bytes) are answered with 431 and the connection is closed.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;

/// One request head.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The head as received, with its closing empty line.
    pub head: Vec<u8>,
    /// The method as sent, for example `GET`.
    pub method: String,
    /// The request target as sent, query included.
    pub target: String,
    /// The protocol as sent, for example `HTTP/1.1`; empty where there was none.
    pub protocol: String,
    /// Names as sent and values without surrounding blanks, in wire order.
    pub headers: Vec<(String, String)>,
}

impl Request {
    /// Reads a complete head. Bytes that are not UTF-8 become U+FFFD in the parsed fields;
    /// [`Request::head`] keeps them.
    #[must_use]
    pub fn read(head: &[u8]) -> Request {
        let text = String::from_utf8_lossy(head);
        let mut lines = text.split('\n').map(|line| line.trim_end_matches('\r'));
        let mut words = lines.next().unwrap_or_default().split(' ');
        let mut word = || words.next().unwrap_or_default().to_owned();
        let (method, target, protocol) = (word(), word(), word());
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect();
        Request {
            head: head.to_vec(),
            method,
            target,
            protocol,
            headers,
        }
    }

    /// The first value of a header, its name compared without case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let named = self
            .headers
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str())
    }

    /// The host asked for, in lower case and without its port; empty where none was named.
    #[must_use]
    pub fn host(&self) -> String {
        let host = self.header("host").unwrap_or_default();
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
            _ => host,
        };
        name.trim_end_matches('.').to_ascii_lowercase()
    }

    /// The path without its query; a target in absolute form loses its scheme and authority.
    #[must_use]
    pub fn path(&self) -> &str {
        let local = match self.target.split_once("://") {
            Some((_, rest)) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/"),
            None => &self.target,
        };
        local.split(['?', '#']).next().unwrap_or_default()
    }

    /// The query without its question mark.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.target.split_once('?').map(|(_, query)| query)
    }

    /// Whether the client lets the connection live on after the answer.
    #[must_use]
    pub fn keeps_alive(&self) -> bool {
        let connection = self
            .header("connection")
            .unwrap_or_default()
            .to_ascii_lowercase();
        match self.protocol.as_str() {
            "HTTP/1.1" => !connection.contains("close"),
            _ => connection.contains("keep-alive"),
        }
    }

    /// How many bytes of body follow, by `Content-Length`.
    #[must_use]
    pub fn body_bytes(&self) -> usize {
        self.header("content-length")
            .and_then(|value| value.parse().ok())
            .unwrap_or(0)
    }
}

/// Where the head ends in a buffer: the offset just after its empty line.
#[must_use]
pub(crate) fn head_end(buffer: &[u8]) -> Option<usize> {
    let crlf = buffer
        .windows(4)
        .position(|w| w == b"\r\n\r\n")
        .map(|at| at + 4);
    let lf = buffer
        .windows(2)
        .position(|w| w == b"\n\n")
        .map(|at| at + 2);
    match (crlf, lf) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_was_sent() {
        let r = Request::read(b"GET /a?b=1 HTTP/1.1\r\nHost: Foo.Test:81\r\nX-Y:  z \r\n\r\n");
        assert_eq!(
            (r.method.as_str(), r.path(), r.query()),
            ("GET", "/a", Some("b=1"))
        );
        assert_eq!(r.host(), "foo.test");
        assert_eq!(r.header("x-y"), Some("z"));
        assert!(r.keeps_alive());
    }

    #[test]
    fn odd_heads_are_named_not_refused() {
        assert_eq!(Request::read(b"\r\n\r\n").method, "");
        assert_eq!(
            Request::read(b"GET http://h/p HTTP/1.0\r\n\r\n").path(),
            "/p"
        );
        assert_eq!(Request::read(b"GET http://h HTTP/1.0\r\n\r\n").path(), "/");
        assert!(!Request::read(b"GET / HTTP/1.0\r\n\r\n").keeps_alive());
        assert_eq!(
            Request::read(b"GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n").host(),
            "[::1]"
        );
    }

    #[test]
    fn head_ends_at_its_empty_line() {
        assert_eq!(head_end(b"GET / HTTP/1.1\r\n\r\nrest"), Some(18));
        assert_eq!(head_end(b"GET /\n\nrest"), Some(7));
        assert_eq!(head_end(b"GET / HTTP/1.1\r\n"), None);
    }
}
