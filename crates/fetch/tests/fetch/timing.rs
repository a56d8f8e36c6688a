//! When a head leaves, and when a request is given up.

use std::time::{Duration, Instant};

use reigi_core::fetched::{Fetch, Outcome, Phase};
use reigi_core::gate::{LEAD, WINDOW};
use reigi_core::time::Clock as _;

use crate::listen::{End, Listener};
use crate::support::{TestClock, Wanted, fetch, fetcher};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[tokio::test]
async fn the_connection_opens_early_and_the_head_leaves_in_the_window() {
    let listener = Listener::play(vec![OK.to_vec()], End::Hold).await;
    let clock = TestClock::new();
    let wanted = Wanted {
        opens_in: ms(300),
        ..Wanted::page("http://a.test/")
    };
    let permit = wanted.permit(&*clock);
    let (opens, asked) = (permit.admitted().not_before.mono, Instant::now());
    let Fetch::Done(fetched) = fetcher(&clock, listener.at).fetch(permit).await else {
        panic!("not sent");
    };
    let sent = fetched.sent.unwrap().mono;
    assert!(opens <= sent, "{opens:?} {sent:?}");
    assert!(sent.since(opens) < ms(1000), "{opens:?} {sent:?}");
    assert!(fetched.opened.mono < opens, "connected before the window");
    let visit = listener.visits().await.remove(0);
    let arrived = visit.arrived.unwrap();
    assert!(visit.accepted < arrived);
    assert!(arrived.duration_since(asked) >= ms(299));
}

#[tokio::test]
async fn nothing_leaves_after_the_window() {
    let listener = Listener::play(vec![OK.to_vec()], End::Hold).await;
    let clock = TestClock::new();
    let fetcher = fetcher(&clock, listener.at);

    // The window has passed: no connection is opened at all.
    let late = Wanted::page("http://late.test/").permit(&*clock);
    clock.move_on(WINDOW + ms(1));
    let Fetch::NotSent { why, at } = fetcher.fetch(late).await else {
        panic!("sent");
    };
    assert_eq!(why, "the window passed before a connection was opened");
    assert!(at.mono <= clock.now().mono);

    // It passes while the open connection waits for it: closed without a byte.
    let waiting = Wanted {
        opens_in: ms(300),
        ..Wanted::page("http://a.test/")
    };
    let waiting = fetcher.fetch(waiting.permit(&*clock));
    let stalled = async {
        tokio::time::sleep(ms(100)).await;
        clock.move_on(LEAD + WINDOW);
    };
    let ((), fetch) = tokio::join!(biased; stalled, waiting);
    let Fetch::NotSent { why, .. } = fetch else {
        panic!("sent");
    };
    assert_eq!(why, "the window passed before the request could leave");
    let visits = listener.visits().await;
    assert_eq!((visits.len(), visits[0].arrived), (1, None));
}

#[tokio::test]
async fn a_silent_or_dripping_site_is_given_up_in_time() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n".to_vec();
    let drip: Vec<_> = std::iter::once(head.clone())
        .chain(std::iter::repeat_n(b"a".to_vec(), 99))
        .collect();
    let slow_head: Vec<_> = head.iter().map(|byte| vec![*byte]).collect();
    for (pieces, phase) in [
        (vec![], Phase::Head),
        (slow_head, Phase::Head),
        (vec![head], Phase::Body),
        (drip, Phase::Body),
    ] {
        let listener = Listener::play(pieces, End::Hold).await;
        let clock = TestClock::new();
        let wanted = Wanted {
            timeout: ms(120),
            ..Wanted::page("http://a.test/")
        };
        let fetched = fetch(&clock, listener.at, &wanted).await;
        assert_eq!(fetched.outcome, Outcome::TimedOut(phase));
        let took = fetched.ended.mono.since(fetched.opened.mono);
        assert!((ms(119)..ms(1000)).contains(&took), "{took:?}");
        assert!(fetched.sent.is_some());
        // The socket was closed by then.
        assert_eq!(listener.visits().await.len(), 1);
    }
}

/// The end is the end of the body, not the time that we took to look at it; where only the close
/// ends the body, it is the close.
#[tokio::test]
async fn an_answer_ends_with_its_last_byte_or_its_close() {
    let pieces = vec![
        b"HTTP/1.1 200 OK\r\n\r\nok".to_vec(),
        vec![],
        vec![],
        vec![],
    ];
    let listener = Listener::play(pieces, End::Close).await;
    let clock = TestClock::new();
    let fetched = fetch(&clock, listener.at, &Wanted::page("http://a.test/")).await;
    assert_eq!(fetched.outcome, Outcome::Status(200));
    let after_head = fetched.ended.mono.since(fetched.head_at.unwrap().mono);
    assert!(after_head >= ms(14), "{after_head:?}");
}
