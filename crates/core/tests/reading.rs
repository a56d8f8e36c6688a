//! What is read of an answer before it is journalled.

use reigi_core::charter::RequestKind;
use reigi_core::crawl::observe::{Raw, Reading};
use reigi_core::digest::Digest;
use reigi_core::fetched::Outcome;

/// A site may add a wish to a page whose bytes we know: it counts from then on.
#[test]
fn signals_in_the_head_are_read_even_where_the_body_is_known() {
    let body = b"<html><body>Tuition: 330,000 yen</body></html>";
    let raw = Raw {
        kind: RequestKind::Page,
        outcome: &Outcome::Status(200),
        headers: &[("content-type", "text/html"), ("x-robots-tag", "noai")],
        body,
    };
    for known in [None, Some(Digest::of(body))] {
        let reading = Reading::of(raw, None, known);
        assert_eq!(reading.signals, ["noai"], "known: {known:?}");
        assert_eq!(reading.page.is_none(), known.is_some());
    }
}
