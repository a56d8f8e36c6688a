//! One connection: reads heads, plays steps, and stamps the moments between.

use crate::answer::{Answer, Validator, digest, http_date};
use crate::fault::Fault;
use crate::log::{End, Event, Exchange, HEAD_KEPT_MAX, Log, ROBOTS_KEPT_MAX, Stamp, Stopwatch};
use crate::message::{Message, Step};
use crate::request::{HEAD_BYTES_MAX, Request, head_end};
use crate::site::Found;
use jiff::Timestamp;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Bytes of a request body that are read and thrown away; a longer one ends the connection.
const REQUEST_BODY_BYTES_MAX: usize = 1024 * 1024;

/// A request with the moments of its arrival.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) request: Request,
    /// When its first byte was read.
    arrived: Stamp,
    /// When its last byte was read.
    asked: Stamp,
    /// Whether it was cut at the limit.
    pub(crate) too_long: bool,
}

/// The server's end of one connection.
#[derive(Debug)]
pub(crate) struct Player {
    /// `None` once closed.
    stream: Option<TcpStream>,
    number: u64,
    requests: u64,
    peer: SocketAddr,
    local: SocketAddr,
    opened: Stamp,
    /// Bytes read and not yet used.
    buffer: Vec<u8>,
    /// When the first byte of `buffer` was read.
    buffered: Option<Stamp>,
}

impl Player {
    pub(crate) fn new(
        stream: TcpStream,
        number: u64,
        peer: SocketAddr,
        local: SocketAddr,
        opened: Stamp,
    ) -> Player {
        let buffer = Vec::with_capacity(1024);
        let stream = Some(stream);
        Player {
            stream,
            number,
            requests: 0,
            peer,
            local,
            opened,
            buffer,
            buffered: None,
        }
    }

    /// How many requests were read.
    pub(crate) fn requests(&self) -> u64 {
        self.requests
    }

    /// Reads more; 0 where the client has left or the connection is closed.
    async fn read(&mut self, watch: &Stopwatch) -> usize {
        let Some(stream) = &mut self.stream else {
            return 0;
        };
        let n = stream.read_buf(&mut self.buffer).await.unwrap_or(0);
        if n > 0 && self.buffered.is_none() {
            self.buffered = Some(watch.stamp());
        }
        n
    }

    /// Reads the next head; `None` where the client has left.
    pub(crate) async fn read_head(&mut self, watch: &Stopwatch) -> Option<Head> {
        let (end, too_long) = loop {
            if let Some(end) = head_end(&self.buffer) {
                break (end, false);
            }
            if self.buffer.len() > HEAD_BYTES_MAX {
                break (self.buffer.len(), true);
            }
            if self.read(watch).await == 0 {
                return None;
            }
        };
        let asked = watch.stamp();
        let arrived = self.buffered.unwrap_or(asked);
        let rest = self.buffer.split_off(end);
        let request = Request::read(&std::mem::replace(&mut self.buffer, rest));
        self.skip_body(request.body_bytes(), watch).await?;
        // What is left came with this request's last bytes: sent ahead of the answer.
        self.buffered = (!self.buffer.is_empty()).then_some(asked);
        self.requests += 1;
        Some(Head {
            request,
            arrived,
            asked,
            too_long,
        })
    }

    async fn skip_body(&mut self, bytes: usize, watch: &Stopwatch) -> Option<()> {
        if bytes > REQUEST_BODY_BYTES_MAX {
            return None;
        }
        while self.buffer.len() < bytes {
            if self.read(watch).await == 0 {
                return None;
            }
        }
        self.buffer.drain(..bytes);
        Some(())
    }

    /// Plays an answer and logs it. Gives whether the connection lives on.
    pub(crate) async fn answer(
        &mut self,
        head: &Head,
        found: &Found,
        site_time: Timestamp,
        log: &Log,
    ) -> bool {
        let message = self.message(head, found, site_time);
        let steps = match &found.answer.fault {
            Some(fault) => fault.steps(&message),
            None => message.steps(),
        };
        let exchange = self.exchange(head, found, &message, site_time);
        let mut record = Record {
            exchange: Some(exchange),
            log,
        };
        let mut end = End::Complete;
        if !found.answer.delay.is_zero() && self.pause(found.answer.delay, &log.stopwatch).await {
            end = End::Left;
        }
        for step in &steps {
            if end != End::Complete {
                break;
            }
            end = self.play(step, &mut record).await;
        }
        if end == End::Complete && message.close {
            end = self.play(&Step::Close, &mut record).await;
        }
        record.finish(end);
        end == End::Complete && self.stream.is_some()
    }

    fn message(&self, head: &Head, found: &Found, site_time: Timestamp) -> Message {
        let mut message = found.answer.message(&head.request, found.since, found.turn);
        message.close = head.too_long || !head.request.keeps_alive();
        let date = http_date(site_time).into_bytes();
        message.headers.insert(0, ("Date".to_owned(), date));
        message
    }

    fn exchange(
        &self,
        head: &Head,
        found: &Found,
        message: &Message,
        site_time: Timestamp,
    ) -> Exchange {
        let Answer {
            body,
            validator,
            fault,
            ..
        } = &found.answer;
        let request = &head.request;
        let robots = (request.path() == "/robots.txt" && message.status == 200)
            .then(|| String::from_utf8_lossy(body.get(..ROBOTS_KEPT_MAX).unwrap_or(body)).into());
        let validates = !matches!(
            validator,
            Validator::None | Validator::Useless | Validator::Fresh
        );
        Exchange {
            connection: self.number,
            nth: self.requests,
            peer: self.peer,
            local: self.local,
            host: request.host(),
            method: request.method.clone(),
            path: request.target.clone(),
            user_agent: request.header("user-agent").map(str::to_owned),
            headers: request.headers.clone(),
            head: request.head.iter().copied().take(HEAD_KEPT_MAX).collect(),
            opened: self.opened,
            arrived: head.arrived,
            asked: head.asked,
            answered: None,
            last_write: None,
            finished: head.asked,
            end: End::Shutdown,
            status: if fault.as_ref().is_some_and(Fault::headless) {
                0
            } else {
                message.status
            },
            bytes: 0,
            etag: message.header("etag"),
            last_modified: message.header("last-modified"),
            retry_after: message.header("retry-after"),
            location: message.header("location"),
            body: (message.status != 304).then(|| format!("{:016x}", digest(body))),
            whole: !fault.as_ref().is_some_and(Fault::spoils),
            validates,
            fault: fault.as_ref().map(|fault| format!("{fault:?}")),
            robots,
            site_time,
        }
    }

    async fn play(&mut self, step: &Step, record: &mut Record<'_>) -> End {
        let sent = match step {
            Step::Send(bytes) => self.send(bytes, record).await,
            Step::Pause(time) if self.pause(*time, &record.log.stopwatch).await => Err(gone()),
            Step::Pause(_) => Ok(()),
            Step::Drip {
                bytes,
                piece,
                every,
            } => self.drip(bytes, *piece, *every, record).await,
            Step::Forever { bytes, every } => loop {
                if let Err(error) = self.drip(bytes, bytes.len(), *every, record).await {
                    break Err(error);
                }
            },
            Step::Stall => {
                self.until_left(&record.log.stopwatch).await;
                Err(gone())
            }
            Step::Close => {
                record.ends();
                self.close().await;
                return End::Closed;
            }
            Step::Reset => {
                record.ends();
                self.reset();
                return End::Reset;
            }
        };
        if sent.is_ok() {
            End::Complete
        } else {
            End::Left
        }
    }

    async fn send(&mut self, bytes: &[u8], record: &mut Record<'_>) -> io::Result<()> {
        let stream = self.stream.as_ref().ok_or_else(gone)?;
        let mut rest = bytes;
        while !rest.is_empty() {
            stream.writable().await?;
            let before = record.log.stopwatch.stamp();
            match stream.try_write(rest) {
                Ok(n) => {
                    record.wrote(n, before);
                    rest = rest.get(n..).unwrap_or_default();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn drip(
        &mut self,
        bytes: &[u8],
        piece: usize,
        every: Duration,
        record: &mut Record<'_>,
    ) -> io::Result<()> {
        for piece in bytes.chunks(piece.max(1)) {
            if self.pause(every, &record.log.stopwatch).await {
                return Err(gone());
            }
            self.send(piece, record).await?;
        }
        Ok(())
    }

    /// Waits; gives whether the client left meanwhile.
    async fn pause(&mut self, time: Duration, watch: &Stopwatch) -> bool {
        tokio::time::timeout(time, self.until_left(watch))
            .await
            .is_ok()
    }

    /// Waits until the client leaves; what it sends meanwhile is kept up to a limit.
    pub(crate) async fn until_left(&mut self, watch: &Stopwatch) {
        while self.read(watch).await > 0 {
            if self.buffer.len() > HEAD_BYTES_MAX {
                return;
            }
        }
    }

    async fn close(&mut self) {
        if let Some(mut stream) = self.stream.take() {
            let _ = stream.shutdown().await;
        }
    }

    /// Resets the connection: the client sees RST, not an end.
    pub(crate) fn reset(&mut self) {
        if let Some(stream) = self.stream.take() {
            let _ = stream.set_zero_linger();
        }
    }

    /// Speaks first, and not HTTP; then waits for the client to leave.
    pub(crate) async fn babble(&mut self, watch: &Stopwatch) {
        if let Some(stream) = &mut self.stream {
            let _ = stream.write_all(b"220 mail.test ESMTP ready\r\n").await;
        }
        self.until_left(watch).await;
    }
}

fn gone() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

/// An exchange under way. It is logged when it ends, also where the web is shut down meanwhile.
struct Record<'a> {
    exchange: Option<Exchange>,
    log: &'a Log,
}

impl Record<'_> {
    fn wrote(&mut self, bytes: usize, before: Stamp) {
        if let Some(exchange) = &mut self.exchange {
            exchange.bytes += bytes as u64;
            exchange.answered.get_or_insert(before);
            exchange.last_write = Some(before);
        }
    }

    /// The connection is about to be closed: where nothing was written, this is the end.
    fn ends(&mut self) {
        if let Some(exchange) = &mut self.exchange {
            exchange
                .last_write
                .get_or_insert(self.log.stopwatch.stamp());
        }
    }

    fn finish(&mut self, end: End) {
        if let Some(mut exchange) = self.exchange.take() {
            exchange.end = end;
            exchange.finished = self.log.stopwatch.stamp();
            self.log.add(Event::Request(Box::new(exchange)));
        }
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        self.finish(End::Shutdown);
    }
}
