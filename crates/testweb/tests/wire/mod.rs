//! A raw TCP client: it sends what it is told and keeps the bytes that come back.
#![allow(dead_code, reason = "each test file uses its part of the client")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test client that fails is a failed test"
)]

use reigi_testweb::{Door, Running};
use std::io::ErrorKind;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How a conversation ended, as the client saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The server closed in good order.
    Closed,
    /// The server reset the connection.
    Reset,
    /// Nothing came for a while.
    Silent,
    /// The client had enough and left.
    Enough,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) bytes: Vec<u8>,
    pub(crate) ended: Ended,
}

impl Reply {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub(crate) fn status(&self) -> u16 {
        self.text()
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok())
            .unwrap_or(0)
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let text = self.text();
        let head = text.split("\r\n\r\n").next()?;
        head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name)
                .then(|| value.trim().to_owned())
        })
    }

    pub(crate) fn body(&self) -> Vec<u8> {
        let at = self.bytes.windows(4).position(|w| w == b"\r\n\r\n");
        at.and_then(|at| self.bytes.get(at + 4..))
            .unwrap_or_default()
            .to_vec()
    }
}

/// Bytes after which a client has enough.
const ENOUGH: usize = 64 * 1024 * 1024;

/// Reads until the end, until enough, or until nothing comes for `patience`.
pub(crate) async fn read_all(stream: &mut TcpStream, patience: Duration, enough: usize) -> Reply {
    let mut bytes = Vec::new();
    let ended = loop {
        if bytes.len() >= enough {
            break Ended::Enough;
        }
        match tokio::time::timeout(patience, stream.read_buf(&mut bytes)).await {
            Err(_) => break Ended::Silent,
            Ok(Ok(0)) => break Ended::Closed,
            Ok(Ok(_)) => {}
            Ok(Err(error)) if error.kind() == ErrorKind::ConnectionReset => break Ended::Reset,
            Ok(Err(error)) => panic!("{error}"),
        }
    };
    Reply { bytes, ended }
}

/// Waits for an answer to begin, then reads until nothing comes for a while: for connections that
/// live on.
pub(crate) async fn read_one(stream: &mut TcpStream) -> Reply {
    tokio::time::timeout(Duration::from_secs(5), stream.readable())
        .await
        .unwrap()
        .unwrap();
    read_all(stream, Duration::from_millis(40), usize::MAX).await
}

/// One request on a connection of its own, with extra header lines.
pub(crate) async fn ask(web: &Running, host: &str, path: &str, lines: &str) -> Reply {
    let mut stream = TcpStream::connect(web.addr_of(host, Door::Open))
        .await
        .unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{lines}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    read_all(&mut stream, Duration::from_secs(5), ENOUGH).await
}

/// The same, with little patience and soon enough: for answers without end.
pub(crate) async fn ask_briefly(web: &Running, host: &str, path: &str) -> Reply {
    let mut stream = TcpStream::connect(web.addr_of(host, Door::Open))
        .await
        .unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    read_all(&mut stream, Duration::from_millis(250), 128 * 1024).await
}
