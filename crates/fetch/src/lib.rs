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
//! - `names`: from a host's name to addresses; `connect`: from addresses to one connection
//! - `wire`: the connection that keeps the window and records what passes
//! - `exchange`: one GET and its answer, by hyper; `body`: content codings, bounded
//!
//! One connection a request, closed before the next is opened: a serial, polite crawler gains
//! little from keep-alive, and there is never a stale connection on which a request would have to
//! be sent again. Memory of one request is bounded by about four times the permit's `max_bytes`
//! (raw and decoded body, each in a vector that doubles as it grows), the decoder's window of at
//! most 16 MiB, and 256 KiB of heads.

mod body;
mod connect;
mod exchange;
mod names;
mod wire;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reigi_core::fetched::{Fetch, Fetched, Outcome, Phase};
use reigi_core::gate::{LEAD, Permit};
use reigi_core::host::Host;
use reigi_core::time::{Clock, Mono};
use tokio::time::Instant;
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
    #[error("the TLS roots cannot be read: {0}")]
    Tls(String),
}

/// Sends permitted requests.
pub struct Fetcher {
    clock: Arc<dyn Clock>,
    hosts: HostsFile,
    resolver: names::Resolver,
    tls: Tls,
}

impl Fetcher {
    /// A fetcher that reads `clock`, looks names up in `names` and trusts `tls`.
    ///
    /// # Errors
    /// The system's name servers cannot be read, and no hosts file gives any name a place.
    pub fn new(clock: Arc<dyn Clock>, names: Names, tls: Tls) -> Result<Self, Error> {
        let resolver = names::Resolver::new(&names)?;
        Ok(Self {
            clock,
            hosts: names.hosts,
            resolver,
            tls,
        })
    }

    /// The addresses of a host, IPv4 first. This is no request to it; whether one may be
    /// connected to is the gate's to say.
    ///
    /// # Errors
    /// Why there are none: `no such name`, `the name has no address`, or what the name server did.
    pub async fn lookup(&self, host: &str) -> Result<Vec<IpAddr>, String> {
        if let Some(at) = self.hosts.find(host) {
            return Ok(vec![at.ip()]);
        }
        let Some(host) = Host::parse(host) else {
            return Err("this is no host name".to_owned());
        };
        match host.address() {
            Some(address) => Ok(vec![address]),
            None => self.resolver.lookup(host.as_str()).await,
        }
    }

    /// Sends one request, in its window, once.
    ///
    /// Connects up to [`LEAD`] before the window opens. A site that has not taken the connection
    /// by the window's end has timed out; where only we are late, the answer is
    /// [`Fetch::NotSent`].
    pub async fn fetch(&self, permit: Permit) -> Fetch {
        let not_sent = |why: &str| Fetch::NotSent {
            why: why.to_owned(),
            at: self.clock.now(),
        };
        let Ok(url) = Url::parse(&permit.admitted().url) else {
            return not_sent("the URL cannot be read");
        };
        let window = wire::Window::of(&permit);
        self.wait_until(window.lead(LEAD)).await;
        let mut fetched = blank(&*self.clock);
        if window.is_over(fetched.opened.mono) {
            return not_sent("the window passed before a connection was opened");
        }
        let deadline = in_time(permit.timeout());
        let to = connect::To {
            addresses: permit.addresses(),
            url: &url,
            port: self.port(&url),
            deadline: deadline.min(in_time(window.to_connect(fetched.opened.mono))),
        };
        let stream = match connect::connect(&self.tls, to, &mut fetched).await {
            Ok(stream) => stream,
            Err(outcome) => {
                fetched.outcome = outcome;
                fetched.ended = self.clock.now();
                return Fetch::Done(Box::new(fetched));
            }
        };
        self.wait_until(window.opens()).await;
        exchange::exchange(&self.clock, stream, &permit, &url, deadline, fetched).await
    }

    /// The URL's port, or where the hosts file puts the host.
    fn port(&self, url: &Url) -> u16 {
        let placed = url.host_str().and_then(|host| self.hosts.find(host));
        placed
            .map(|at| at.port())
            .or(url.port_or_known_default())
            .unwrap_or(80)
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

/// The instant `span` from now; one that no clock can show is a year away.
fn in_time(span: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(span)
        .unwrap_or_else(|| now + Duration::from_secs(365 * 24 * 60 * 60))
}

/// A request of which nothing is known but that its connection begins to open.
fn blank(clock: &dyn Clock) -> Fetched {
    let opened = clock.now();
    Fetched {
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
    }
}
