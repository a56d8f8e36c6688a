//! `retry-after`: what a site asks for by Retry-After. (The promise itself follows.)

use crate::time::Timestamp;

/// The instant that a Retry-After value names, seen at `at`: seconds or an HTTP-date (RFC 9110
/// section 10.2.3). `None`: unreadable, negative or past, which is no information (G07).
pub(crate) fn named_instant(value: &str, at: Timestamp) -> Option<Timestamp> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        // More digits than any calendar has still mean "much later".
        let seconds = value
            .parse::<u64>()
            .unwrap_or(u64::MAX)
            .min(100 * 365 * 86_400);
        return (seconds > 0).then(|| at.plus(std::time::Duration::from_secs(seconds)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let since = date.duration_since(std::time::UNIX_EPOCH).ok()?;
    let named = Timestamp::default().plus(since);
    (named > at).then_some(named)
}
