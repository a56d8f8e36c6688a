//! From a name to addresses, against a name server of our own.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reigi_core::time::Clock;
use reigi_fetch::{Fetcher, HostsFile, Names, Tls};
use tokio::net::UdpSocket;

use crate::support::TestClock;

const A: u16 = 1;
const AAAA: u16 = 28;

/// The name server's zone: response code (RFC 1035 section 4.1.1) and addresses.
fn zone(name: &str, kind: u16) -> Option<(u8, Vec<IpAddr>)> {
    let list = |addresses: &[&str]| addresses.iter().map(|a| a.parse().unwrap()).collect();
    let found: Vec<IpAddr> = match name {
        "one.example" => list(&["192.0.2.1"]),
        "both.example" => list(&["192.0.2.1", "2001:db8::1", "192.0.2.2"]),
        "six.example" => list(&["2001:db8::1"]),
        "inside.example" => list(&["127.0.0.1", "169.254.169.254"]),
        "many.example" => (0..40).map(|n| IpAddr::from([192, 0, 2, n])).collect(),
        "empty.example" => Vec::new(),
        "failing.example" => return Some((2, Vec::new())),
        "refusing.example" => return Some((5, Vec::new())),
        "silent.example" => return None,
        _ => return Some((3, Vec::new())),
    };
    let of_kind = |a: &IpAddr| a.is_ipv4() == (kind == A);
    Some((0, found.into_iter().filter(of_kind).collect()))
}

/// Answers queries for addresses; one question each, as resolvers ask.
async fn name_server() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let at = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 1500];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            if let Some(answer) = answer(&buffer[..length]) {
                socket.send_to(&answer, from).await.unwrap();
            }
        }
    });
    at
}

fn answer(query: &[u8]) -> Option<Vec<u8>> {
    let (mut at, mut labels) = (12, Vec::new());
    while query[at] != 0 {
        let end = at + 1 + usize::from(query[at]);
        labels.push(String::from_utf8_lossy(&query[at + 1..end]).to_lowercase());
        at = end;
    }
    let kind = u16::from_be_bytes([query[at + 1], query[at + 2]]);
    let question = &query[12..at + 5];
    let (code, addresses) = zone(&labels.join("."), kind)?;
    let count = u16::try_from(addresses.len()).unwrap().to_be_bytes();
    let mut out = query[..2].to_vec();
    out.extend([0x81, 0x80 | code, 0, 1, count[0], count[1], 0, 0, 0, 0]);
    out.extend(question);
    for address in addresses {
        let (kind, bytes) = match address {
            IpAddr::V4(a) => (A, a.octets().to_vec()),
            IpAddr::V6(a) => (AAAA, a.octets().to_vec()),
        };
        out.extend([
            0xc0,
            12,
            0,
            kind as u8,
            0,
            1,
            0,
            0,
            0,
            60,
            0,
            bytes.len() as u8,
        ]);
        out.extend(bytes);
    }
    Some(out)
}

async fn fetcher(hosts: &str) -> Fetcher {
    let names = Names {
        hosts: HostsFile::parse(hosts).unwrap(),
        resolver: Some(name_server().await),
    };
    let clock: Arc<dyn Clock> = TestClock::new();
    Fetcher::new(clock, names, Tls::system()).unwrap()
}

fn in_words(found: Result<Vec<IpAddr>, String>) -> String {
    match found {
        Ok(addresses) => addresses.iter().map(|a| format!("{a} ")).collect(),
        Err(why) => why,
    }
}

#[tokio::test]
async fn each_answer_of_the_name_server_has_its_words() {
    let fetcher = fetcher("a.test 127.0.0.7:80").await;
    for (host, words) in [
        ("one.example", "192.0.2.1 "),
        ("ONE.example.", "192.0.2.1 "),
        ("both.example", "192.0.2.1 192.0.2.2 2001:db8::1 "),
        ("six.example", "2001:db8::1 "),
        // Whatever a name leads to is told; the gate vets it.
        ("inside.example", "127.0.0.1 169.254.169.254 "),
        ("empty.example", "the name has no address"),
        ("none.example", "no such name"),
        ("failing.example", "the name server failed: Server Failure"),
        ("refusing.example", "the name server failed: Query Refused"),
        ("a.test", "127.0.0.7 "),
        ("192.0.2.9", "192.0.2.9 "),
        ("[2001:db8::9]", "2001:db8::9 "),
        ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1 "),
        ("not a host", "this is no host name"),
        ("", "this is no host name"),
    ] {
        assert_eq!(in_words(fetcher.lookup(host).await), words, "{host}");
    }
    let many = fetcher.lookup("many.example").await.unwrap();
    assert_eq!(many.len(), 16);
}

#[tokio::test(start_paused = true)]
async fn a_silent_name_server_is_not_waited_for_without_end() {
    let fetcher = fetcher("").await;
    let began = tokio::time::Instant::now();
    let found = fetcher.lookup("silent.example").await;
    assert_eq!(in_words(found), "the name server did not answer in time");
    assert!(began.elapsed().as_secs() <= 15, "{:?}", began.elapsed());
}

/// dgtlmoon/changedetection.io GHSA-rph4-96w6-q594: what a name led to a moment ago is no answer
/// now. Nothing is kept here; the gate vets what it is given, and that is connected to.
#[tokio::test]
async fn a_name_is_looked_up_anew_each_time() {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let at = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 1500];
        let mut asked = 0;
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            let mut out = answer(&buffer[..length]).unwrap();
            if out[7] > 0 {
                asked += 1;
                *out.last_mut().unwrap() = asked;
            }
            socket.send_to(&out, from).await.unwrap();
        }
    });
    let names = Names {
        resolver: Some(at),
        ..Names::default()
    };
    let fetcher = Fetcher::new(TestClock::new(), names, Tls::system()).unwrap();
    for words in ["192.0.2.1 ", "192.0.2.2 ", "192.0.2.3 "] {
        assert_eq!(in_words(fetcher.lookup("one.example").await), words);
    }
}

#[tokio::test]
async fn a_thousand_names_are_looked_up_at_once() {
    let fetcher = Arc::new(fetcher("").await);
    let mut crowd = tokio::task::JoinSet::new();
    for _ in 0..1000 {
        let fetcher = Arc::clone(&fetcher);
        crowd.spawn(async move { fetcher.lookup("one.example").await });
    }
    for found in crowd.join_all().await {
        assert_eq!(in_words(found), "192.0.2.1 ");
    }
}
