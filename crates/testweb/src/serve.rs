//! The listener: accepts connections, reads heads, plays the answers' steps, logs.

use crate::answer::Answer;
use crate::log::{Event, Log};
use crate::play::Player;
use crate::routes::Routes;
use crate::site::{Ask, Door, Found, Site};
use jiff::{SignedDuration, Timestamp};
use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How a test web is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// Loopback addresses to listen on; hosts are spread over them by name.
    pub addresses: Vec<IpAddr>,
    /// The port; 0 takes a free one. The same port is used on every address.
    pub port: u16,
    /// Appends the access log to this file.
    pub log_file: Option<PathBuf>,
    /// Keeps the access log in memory, for [`Running::log`].
    pub log_kept: bool,
    /// Site time at the start; it runs on from there. `None` is the wall clock.
    pub site_time: Option<Timestamp>,
    /// An idle connection is closed after this.
    pub idle_timeout: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            addresses: vec![IpAddr::V4(Ipv4Addr::LOCALHOST)],
            port: 0,
            log_file: None,
            log_kept: true,
            site_time: None,
            idle_timeout: Duration::from_secs(60),
        }
    }
}

/// The calendar on which sites change: the wall clock plus an offset that callers move.
#[derive(Debug, Default)]
struct Calendar {
    offset_us: AtomicI64,
}

impl Calendar {
    fn now(&self) -> Timestamp {
        let offset = SignedDuration::from_micros(self.offset_us.load(Ordering::Relaxed));
        let now = Timestamp::now();
        now.checked_add(offset).unwrap_or(now)
    }

    fn set(&self, time: Timestamp) {
        let offset = time
            .as_microsecond()
            .saturating_sub(Timestamp::now().as_microsecond());
        self.offset_us.store(offset, Ordering::Relaxed);
    }
}

/// What all connections share.
#[derive(Debug)]
struct Shared {
    routes: RwLock<Routes>,
    calendar: Calendar,
    log: Log,
    connections: AtomicU64,
    idle_timeout: Duration,
}

/// The test web's entry point.
#[derive(Debug)]
pub struct TestWeb;

impl TestWeb {
    /// Binds the listeners and serves until [`Running::shutdown`] or drop.
    ///
    /// # Errors
    /// Where an address cannot be bound or the log file cannot be opened.
    pub async fn start(sites: Vec<Site>, options: Options) -> io::Result<Running> {
        let shared = Arc::new(Shared {
            routes: RwLock::new(Routes::new(sites)),
            calendar: Calendar::default(),
            log: Log::open(options.log_kept, options.log_file.as_deref())?,
            connections: AtomicU64::new(0),
            idle_timeout: options.idle_timeout,
        });
        if let Some(time) = options.site_time {
            shared.calendar.set(time);
        }
        let (stop, stopped) = watch::channel(());
        let mut listeners = JoinSet::new();
        let mut open = Vec::new();
        let mut port = options.port;
        for address in &options.addresses {
            let listener = listen(SocketAddr::new(*address, port))?;
            let bound = listener.local_addr()?;
            port = bound.port();
            open.push(bound);
            listeners.spawn(accept(
                listener,
                Door::Open,
                shared.clone(),
                stopped.clone(),
            ));
        }
        let Some(first) = open.first().copied() else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "no address to listen on",
            ));
        };
        let mut doors = Vec::new();
        for door in [Door::Closes, Door::Resets, Door::Mute, Door::Babbles] {
            let listener = listen(SocketAddr::new(first.ip(), 0))?;
            doors.push((door, listener.local_addr()?));
            listeners.spawn(accept(listener, door, shared.clone(), stopped.clone()));
        }
        // Bound but not listening: the port is ours, and connecting to it is refused.
        let refused = socket(first)?;
        refused.bind(SocketAddr::new(first.ip(), 0))?;
        doors.push((Door::Refused, refused.local_addr()?));
        listeners.spawn(flush(shared.clone(), stopped));
        Ok(Running {
            open,
            doors,
            shared,
            stop,
            listeners,
            _refused: refused,
        })
    }
}

fn socket(address: SocketAddr) -> io::Result<TcpSocket> {
    if address.is_ipv6() {
        TcpSocket::new_v6()
    } else {
        TcpSocket::new_v4()
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = socket(address)?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(4096)
}

/// A running test web.
#[derive(Debug)]
pub struct Running {
    open: Vec<SocketAddr>,
    doors: Vec<(Door, SocketAddr)>,
    shared: Arc<Shared>,
    stop: watch::Sender<()>,
    listeners: JoinSet<()>,
    _refused: TcpSocket,
}

impl Running {
    /// The first address that serves.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.open
            .first()
            .copied()
            .unwrap_or(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0))
    }

    /// Where a host is served, by its name and door.
    #[must_use]
    pub fn addr_of(&self, host: &str, door: Door) -> SocketAddr {
        if let Some((_, addr)) = self.doors.iter().find(|(d, _)| *d == door) {
            return *addr;
        }
        let hash = crate::answer::digest(host.as_bytes());
        let turn = usize::try_from(hash % self.open.len().max(1) as u64).unwrap_or(0);
        self.open.get(turn).copied().unwrap_or_else(|| self.addr())
    }

    /// A line `host address:port` for each host, and `*.suffix address:port` for each suffix.
    #[must_use]
    pub fn hosts_file(&self) -> String {
        let mut lines = String::new();
        let routes = self
            .shared
            .routes
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        for (host, door) in routes.hosts() {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{host} {}", self.addr_of(host, door));
        }
        lines
    }

    /// The access log.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.shared.log
    }

    /// Site time now.
    #[must_use]
    pub fn time(&self) -> Timestamp {
        self.shared.calendar.now()
    }

    /// Moves site time to a moment; it runs on from there. Real time, which the log has, stays.
    pub fn set_time(&self, time: Timestamp) {
        self.shared.calendar.set(time);
    }

    /// Moves site time forward, or back where negative.
    pub fn advance(&self, by: SignedDuration) {
        let us = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        self.shared
            .calendar
            .offset_us
            .fetch_add(us, Ordering::Relaxed);
    }

    /// Adds a host, or puts another in its place.
    pub fn put(&self, site: Site) {
        self.shared
            .routes
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .put(site);
    }

    /// Changes a host. Gives `false` where there is none of that name.
    pub fn edit(&self, host: &str, change: impl FnOnce(&mut Site)) -> bool {
        let mut routes = self
            .shared
            .routes
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        routes.named(host).map(change).is_some()
    }

    /// Stops listening, ends all connections and writes the log out.
    ///
    /// # Errors
    /// Where the log file could not be written.
    pub async fn shutdown(mut self) -> io::Result<()> {
        // Receivers see the sender go; each listener then ends its own connections.
        drop(self.stop);
        while self.listeners.join_next().await.is_some() {}
        self.shared.log.flush()
    }
}

/// Writes the log out now and then, so that others can read the file while the web runs.
async fn flush(shared: Arc<Shared>, mut stopped: watch::Receiver<()>) {
    let mut tick = tokio::time::interval(Duration::from_millis(200));
    loop {
        tokio::select! {
            _ = stopped.changed() => return,
            // An error is kept and told by shutdown.
            _ = tick.tick() => drop(shared.log.flush()),
        }
    }
}

async fn accept(
    listener: TcpListener,
    door: Door,
    shared: Arc<Shared>,
    mut stopped: watch::Receiver<()>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = stopped.changed() => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    connections.spawn(connection(stream, peer, door, shared.clone(), stopped.clone()));
                }
                // Out of descriptors, most likely: let some connections end.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            },
        }
    }
    while connections.join_next().await.is_some() {}
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    door: Door,
    shared: Arc<Shared>,
    mut stopped: watch::Receiver<()>,
) {
    let number = shared.connections.fetch_add(1, Ordering::Relaxed) + 1;
    let at = shared.log.stopwatch.stamp();
    let local = stream.local_addr().unwrap_or(peer);
    shared.log.add(Event::Open {
        connection: number,
        peer,
        local,
        at,
    });
    let _ = stream.set_nodelay(true);
    let mut player = Player::new(stream, number, peer, local, at);
    let talk = async {
        match door {
            Door::Open => converse(&mut player, &shared).await,
            Door::Refused | Door::Closes => {}
            Door::Resets => player.reset(),
            Door::Mute => player.until_left(&shared.log.stopwatch).await,
            Door::Babbles => player.babble(&shared.log.stopwatch).await,
        }
    };
    tokio::select! {
        _ = stopped.changed() => {}
        () = talk => {}
    }
    let requests = player.requests();
    // Closed before it is logged: a client may open its next connection as soon as it sees this.
    drop(player);
    let at = shared.log.stopwatch.stamp();
    shared.log.add(Event::Close {
        connection: number,
        requests,
        at,
    });
}

/// Reads requests and plays their answers until one side closes.
async fn converse(player: &mut Player, shared: &Shared) {
    let watch = &shared.log.stopwatch;
    loop {
        let reading = tokio::time::timeout(shared.idle_timeout, player.read_head(watch));
        let Ok(Some(head)) = reading.await else {
            return;
        };
        let now = shared.calendar.now();
        let found = if head.too_long {
            Found {
                answer: Answer::status(431),
                since: Timestamp::MIN,
                turn: 0,
            }
        } else {
            let routes = shared.routes.read().unwrap_or_else(PoisonError::into_inner);
            let host = head.request.host();
            routes.answer(Ask {
                host: &host,
                request: &head.request,
                now,
                turn: 0,
            })
        };
        if !player.answer(&head, &found, now, &shared.log).await {
            return;
        }
    }
}
