//! Which address is connected to, and what is said when none can be.

use std::net::IpAddr;

use reigi_core::fetched::{Outcome, Phase};
use reigi_fetch::Tls;
use tokio::net::TcpListener;

use crate::listen::{End, Listener};
use crate::support::{LOOPBACK, TestClock, Wanted, done, fetch, fetcher_with};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn at(addresses: &[&str]) -> Wanted {
    Wanted {
        addresses: addresses.iter().map(|a| a.parse().unwrap()).collect(),
        ..Wanted::page("http://a.test/")
    }
}

#[tokio::test]
async fn the_first_address_that_takes_the_connection_is_used() {
    let listener = Listener::play(vec![OK.to_vec()], End::Hold).await;
    let clock = TestClock::new();
    for addresses in [
        &["127.0.0.1", "127.0.0.2"][..],
        &["127.0.0.2", "127.0.0.1"],
        &["::1", "127.0.0.3", "127.0.0.1"],
    ] {
        let fetched = fetch(&clock, listener.at, &at(addresses)).await;
        assert_eq!(fetched.outcome, Outcome::Status(200), "{addresses:?}");
        assert_eq!(fetched.remote, Some(listener.at.to_string()));
        assert!(fetched.local.unwrap().starts_with("127.0.0.1:"));
    }
    assert_eq!(listener.visits().await.len(), 3, "one connection a request");
}

/// An address is connected to because the permit names it, whatever the hosts file says.
#[tokio::test]
async fn only_the_permits_addresses_are_connected_to() {
    let listener = Listener::play(vec![OK.to_vec()], End::Hold).await;
    let clock = TestClock::new();
    let fetched = fetch(&clock, listener.at, &at(&["127.0.0.2"])).await;
    assert_eq!(
        fetched.outcome,
        Outcome::ConnectFailed("refused".to_owned())
    );
    assert_eq!((fetched.sent, fetched.remote), (None, None));
    assert!(fetched.request_head.is_empty());
    assert!(fetched.opened.mono <= fetched.ended.mono);
}

#[tokio::test]
async fn an_address_in_the_url_needs_no_name() {
    let clock = TestClock::new();
    for host in ["127.0.0.1", "[::1]"] {
        let Ok(listener) = TcpListener::bind(format!("{host}:0")).await else {
            println!("skipped: no {host} here");
            continue;
        };
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let fetcher = fetcher_with(&clock, "", Tls::system());
        let found = fetcher.lookup(host).await.unwrap();
        let wanted = Wanted {
            addresses: found,
            ..Wanted::page(format!("http://{host}:{port}/"))
        };
        let fetched = done(&fetcher, &clock, &wanted).await;
        assert_eq!(
            fetched.outcome,
            Outcome::ConnectFailed("refused".to_owned())
        );
    }
}

/// A listener whose queue is full answers no connection: an address that stays silent.
#[tokio::test]
async fn a_silent_address_does_not_hide_the_next() {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let full = socket.listen(0).unwrap();
    let at = full.local_addr().unwrap();
    let _first = tokio::net::TcpStream::connect(at).await.unwrap();
    let clock = TestClock::new();
    let silent: IpAddr = at.ip();
    let timeout = std::time::Duration::from_millis(600);
    let wanted = |addresses: Vec<IpAddr>| Wanted {
        addresses,
        timeout,
        ..Wanted::page("http://a.test/")
    };
    let alone = fetch(&clock, at, &wanted(vec![silent])).await;
    assert_eq!(alone.outcome, Outcome::TimedOut(Phase::Connect));
    assert!(alone.ended.mono.since(alone.opened.mono) >= timeout);
    let other = fetch(&clock, at, &wanted(vec![silent, LOOPBACK])).await;
    assert_eq!(other.outcome, Outcome::ConnectFailed("refused".to_owned()));
    let took = other.ended.mono.since(other.opened.mono);
    assert!(took >= timeout / 2 && took < timeout, "{took:?}");
}
