//! A thousand hosts at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reigi_core::fetched::Outcome;
use reigi_testweb::{Answer, Encoding, Options, Site, TestWeb};
use tokio::task::JoinSet;

use crate::support::{TestClock, Wanted, done, fetcher};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_fetches_run_at_once() {
    const FETCHES: usize = 1000;
    let slow = Duration::from_secs(1);
    let answer = Answer::html("<p>hello</p>")
        .encoded(Encoding::Gzip)
        .after(slow);
    let site = Site::new("a.test").page("/", answer);
    let web = TestWeb::start(vec![site], Options::default())
        .await
        .unwrap();
    let clock = TestClock::new();
    let fetcher = Arc::new(fetcher(&clock, web.addr()));
    let began = Instant::now();
    let mut crowd = JoinSet::new();
    for _ in 0..FETCHES {
        let (fetcher, clock) = (Arc::clone(&fetcher), Arc::clone(&clock));
        crowd.spawn(async move {
            let wanted = Wanted::page("http://a.test/");
            done(&fetcher, &clock, &wanted).await
        });
    }
    for fetched in crowd.join_all().await {
        assert_eq!(fetched.outcome, Outcome::Status(200));
        assert_eq!(fetched.body, b"<p>hello</p>");
    }
    // One after the other they would take a thousand seconds.
    assert!(began.elapsed() < 10 * slow, "{:?}", began.elapsed());
    assert_eq!(web.log().requests().len(), FETCHES);
}
