//! The log's lines put in order: by host and by connection, on one time axis.

use crate::log::{End, Event, Exchange};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// A request and the log's line that tells of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) line: usize,
    pub(super) exchange: &'a Exchange,
}

impl Seen<'_> {
    /// Arrival of the first byte, in microseconds of Unix time.
    pub(super) fn arrived(&self) -> i64 {
        self.exchange.arrived.wall.as_microsecond()
    }

    /// The end of the answer as the site noticed it.
    pub(super) fn end(&self) -> i64 {
        self.exchange.finished.wall.as_microsecond()
    }

    /// The earliest moment at which the client can have seen the end: the last write began then.
    /// Where the client left, the web may have noticed it late by `slack`.
    pub(super) fn end_earliest(&self, slack: i64) -> i64 {
        match (self.exchange.end, self.exchange.last_write) {
            (End::Left, _) => self.end() - slack,
            (_, Some(stamp)) => stamp.wall.as_microsecond(),
            (_, None) => self.end(),
        }
    }

    pub(super) fn is_robots(&self) -> bool {
        self.exchange.path.split('?').next() == Some("/robots.txt")
    }
}

/// A connection as one host saw it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Connection<'a> {
    /// The first request for this host on it.
    pub(super) first: Seen<'a>,
    pub(super) opened: i64,
    /// `i64::MAX` where the log ends before.
    pub(super) closed: i64,
}

/// A whole log.
#[derive(Debug, Default)]
pub(super) struct History<'a> {
    /// Requests by host, in the order of arrival.
    pub(super) lanes: BTreeMap<&'a str, Vec<Seen<'a>>>,
    /// Connections by host, in the order of opening.
    pub(super) connections: BTreeMap<&'a str, Vec<Connection<'a>>>,
    /// Connections that carried requests.
    pub(super) connection_count: usize,
}

impl<'a> History<'a> {
    pub(super) fn read(events: &'a [Event]) -> History<'a> {
        let mut history = History::default();
        // Connection numbers begin anew with each start of the web.
        let mut run = 0;
        let mut closed = HashMap::new();
        let mut first: HashMap<(usize, u64, &str), Seen<'a>> = HashMap::new();
        let mut ends = Vec::new();
        for (at, event) in events.iter().enumerate() {
            match event {
                Event::Start { at } => {
                    run += 1;
                    ends.push(at.wall.as_microsecond());
                }
                Event::Open { .. } => {}
                Event::Close { connection, at, .. } => {
                    closed.insert((run, *connection), at.wall.as_microsecond());
                }
                Event::Request(exchange) => {
                    let seen = Seen {
                        line: at + 1,
                        exchange,
                    };
                    let host = exchange.host.as_str();
                    history.lanes.entry(host).or_default().push(seen);
                    first
                        .entry((run, exchange.connection, host))
                        .or_insert(seen);
                }
            }
        }
        for lane in history.lanes.values_mut() {
            lane.sort_by_key(|seen| (seen.arrived(), seen.line));
        }
        let mut counted: Vec<_> = first
            .keys()
            .map(|(run, number, _)| (*run, *number))
            .collect();
        counted.sort_unstable();
        counted.dedup();
        history.connection_count = counted.len();
        for ((run, number, host), first) in first {
            // A web that was killed closed its connections before it started again.
            let next_start = ends.get(run).copied().unwrap_or(i64::MAX);
            let closed = closed.get(&(run, number)).copied().unwrap_or(next_start);
            let opened = first.exchange.opened.wall.as_microsecond();
            let connection = Connection {
                first,
                opened,
                closed,
            };
            history
                .connections
                .entry(host)
                .or_default()
                .push(connection);
        }
        for connections in history.connections.values_mut() {
            connections.sort_by_key(|connection| (connection.opened, connection.first.line));
        }
        history
    }
}

/// A duration in microseconds.
pub(super) fn us(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
