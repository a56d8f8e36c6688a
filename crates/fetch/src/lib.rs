//! The only crate that can reach an observed site: sends one admitted request on a connection of
//! its own and reports all that came back.
//!
//! [`Fetcher::fetch`] takes a [`Permit`] by value, so a request that has not passed the gate does
//! not compile. It connects to exactly one of the permit's vetted addresses, agrees on TLS, and
//! writes the request head only inside the permit's window, checked as the last act before the
//! write. Whatever the other side does is data in [`Fetched`]: no answer makes this crate panic or
//! return an `Err`. It keeps no cookie, sends no credential and no Referer, follows nothing, and
//! tries nothing twice: each hop of a redirect is a new decision of the gate.
//!
//! One connection a request, closed before the next is opened: a serial, polite crawler gains
//! little from keep-alive, and there is never a stale connection on which a request would have to
//! be sent again. Memory of one request is bounded by about four times the permit's `max_bytes`
//! (raw and decoded body, and the decoder's window of at most 8 MiB) plus 128 KiB of heads.

mod body;
mod connect;
mod exchange;
mod names;
mod wire;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reigi_core::fetched::{Fetch, Fetched, Outcome, Phase};
use reigi_core::gate::Permit;
use reigi_core::time::{Clock, Mono};
use url::Url;

pub use connect::Tls;
pub use names::{HostsFile, Names};

/// Set-up that failed. No answer of a site is ever one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name server's configuration cannot be used.
    #[error(
        "the name servers of this system cannot be read: {0}; name one under [network] resolver"
    )]
    Resolver(String),
    /// The roots that TLS certificates are checked against cannot be read.
    #[error("the system's TLS roots cannot be read: {0}; install its CA certificates")]
    Tls(String),
}

/// Sends permitted requests.
pub struct Fetcher {
    clock: Arc<dyn Clock>,
    names: Names,
    resolver: names::Resolver,
    tls: Tls,
}

impl Fetcher {
    /// A fetcher that reads `clock`, looks names up in `names` and trusts `tls`.
    ///
    /// # Errors
    /// The system's name servers cannot be read.
    pub fn new(clock: Arc<dyn Clock>, names: Names, tls: Tls) -> Result<Self, Error> {
        let resolver = names::Resolver::new(names.resolver)?;
        Ok(Self {
            clock,
            names,
            resolver,
            tls,
        })
    }

    /// The addresses of a host. This is no request to it.
    ///
    /// # Errors
    /// Why there are none, in words.
    pub async fn lookup(&self, host: &str) -> Result<Vec<IpAddr>, String> {
        if let Some(at) = self.names.hosts.find(host) {
            return Ok(vec![at.ip()]);
        }
        if let Ok(address) = host.trim_start_matches('[').trim_end_matches(']').parse() {
            return Ok(vec![address]);
        }
        self.resolver.lookup(host).await
    }

    /// Sends one request, in its window, once.
    pub async fn fetch(&self, permit: Permit) -> Fetch {
        let Ok(url) = Url::parse(&permit.admitted().url) else {
            let why = "the URL cannot be read".to_owned();
            return Fetch::NotSent {
                why,
                at: self.clock.now(),
            };
        };
        let opened = self.clock.now();
        let mut fetched = Fetched {
            outcome: Outcome::TimedOut(Phase::Connect),
            opened,
            sent: None,
            head_at: None,
            ended: opened,
            local: None,
            remote: None,
            request_head: Vec::new(),
            headers: Vec::new(),
            body: Vec::new(),
            raw_bytes: 0,
            faults: Vec::new(),
            certificate: None,
        };
        let deadline = tokio::time::Instant::now() + permit.timeout();
        let port = self
            .names
            .hosts
            .find(url.host_str().unwrap_or_default())
            .map(|at| at.port());
        let stream =
            match connect::connect(&self.tls, &permit, &url, port, deadline, &mut fetched).await {
                Ok(stream) => stream,
                Err(outcome) => {
                    fetched.outcome = outcome;
                    fetched.ended = self.clock.now();
                    return Fetch::Done(Box::new(fetched));
                }
            };
        self.wait_until(permit.admitted().not_before.mono).await;
        exchange::exchange(&self.clock, stream, &permit, &url, deadline, fetched).await
    }

    async fn wait_until(&self, at: Mono) {
        loop {
            let now = self.clock.now().mono;
            if now >= at {
                return;
            }
            // Timers round up to a millisecond; one more look costs nothing.
            tokio::time::sleep(at.since(now).max(Duration::from_micros(100))).await;
        }
    }
}
