//! Values of `Crawl-delay` and `Max-crawl-rate`: waits in exact time.

use std::time::Duration;

/// A wait that a robots.txt asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delay {
    /// The wait, never shorter than the text says: parts under a nanosecond round up, and what is
    /// too long for the type saturates at [`Duration::MAX`].
    pub duration: Duration,
    /// The same in seconds, as the nearest floating-point number (finite).
    pub seconds: f64,
    /// Line in the body, from 1.
    pub line: u32,
}

impl Delay {
    /// Reads `digits[.digits]` seconds; anything else is not given.
    pub(crate) fn read(value: &[u8], line: u32) -> Option<Delay> {
        let text = std::str::from_utf8(value).ok()?;
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(part) || (whole.is_empty() && part.is_empty()) {
            return None;
        }
        let seconds = text.parse::<f64>().ok()?.min(f64::MAX);
        Some(Delay {
            duration: exact(whole, part),
            seconds,
            line,
        })
    }

    /// The largest number that stands anywhere in an unclear value: `10s` is 10, `5-15` is 15.
    pub(crate) fn largest_readable(value: &[u8], line: u32) -> Option<Delay> {
        value
            .split(|b| !b.is_ascii_digit() && *b != b'.')
            .flat_map(numbers)
            .filter_map(|number| Delay::read(number, line))
            .reduce(Delay::longer)
    }

    /// The longer of two waits, the first of two equal ones.
    pub(crate) fn longer(self, other: Delay) -> Delay {
        if other.seconds > self.seconds || other.duration > self.duration {
            other
        } else {
            self
        }
    }
}

/// Splits `1.2.1` into `1.2` and `1`: a point belongs to the digits around it once.
fn numbers(run: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = run;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let second = rest.iter().enumerate().filter(|(_, b)| **b == b'.').nth(1);
        let end = second.map_or(rest.len(), |(at, _)| at);
        let number = rest.get(..end).unwrap_or_default();
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(number)
    })
}

fn exact(whole: &str, part: &str) -> Duration {
    let Ok(seconds) = (if whole.is_empty() {
        Ok(0)
    } else {
        whole.parse::<u64>()
    }) else {
        return Duration::MAX;
    };
    let nanos = part.bytes().chain(std::iter::repeat(b'0')).take(9);
    let nanos = nanos.fold(0, |n, digit| n * 10 + u64::from(digit - b'0'));
    let more = part.bytes().skip(9).any(|digit| digit != b'0');
    let wait = Duration::from_secs(seconds).checked_add(Duration::from_nanos(nanos));
    wait.and_then(|w| w.checked_add(Duration::from_nanos(u64::from(more))))
        .unwrap_or(Duration::MAX)
}

/// The ceiling that a `Max-crawl-rate` record sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrawlRate {
    /// Requests allowed in each span.
    pub requests: u32,
    /// The span: a second, minute, hour, day or week.
    pub per: Duration,
    /// Line in the body, from 1.
    pub line: u32,
}

impl CrawlRate {
    /// Reads `N/unit` with unit `s`, `m`, `h`, `d` or `w`, and N from 1.
    pub(crate) fn read(value: &[u8], line: u32) -> Option<CrawlRate> {
        let (count, unit) = std::str::from_utf8(value).ok()?.split_once('/')?;
        let seconds = match unit.trim() {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            "d" => 86_400,
            "w" => 604_800,
            _ => return None,
        };
        let count = count.trim();
        let plain = count.bytes().all(|b| b.is_ascii_digit());
        let requests = count.parse().ok().filter(|&n| plain && n > 0)?;
        Some(CrawlRate {
            requests,
            per: Duration::from_secs(seconds),
            line,
        })
    }

    /// The wait between two requests that keeps the rate, rounded up to a nanosecond.
    pub fn interval(&self) -> Duration {
        let nanos = self
            .per
            .as_nanos()
            .div_ceil(u128::from(self.requests.max(1)));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_decimals_are_exact() {
        let table = [
            ("5", Some((5, 0))),
            ("5.", Some((5, 0))),
            (".5", Some((0, 500_000_000))),
            ("0.1", Some((0, 100_000_000))),
            ("1.0000000001", Some((1, 1))),
            (
                "18446744073709551615.9999999999",
                Some((u64::MAX, 999_999_999)),
            ),
            ("99999999999999999999", Some((u64::MAX, 999_999_999))),
            (".", None),
            ("", None),
            ("+5", None),
            ("1e3", None),
            ("1.2.1", None),
            ("5 s", None),
        ];
        for (text, wait) in table {
            let read = Delay::read(text.as_bytes(), 1).map(|d| d.duration);
            assert_eq!(read, wait.map(|(s, n)| Duration::new(s, n)), "{text}");
        }
    }

    #[test]
    fn unclear_values_yield_their_largest_number() {
        let table = [
            ("10s", 10.0),
            ("5-15", 15.0),
            ("-2", 2.0),
            ("1.2.1", 1.2),
            ("10<br>", 10.0),
        ];
        for (text, seconds) in table {
            let read = Delay::largest_readable(text.as_bytes(), 1).map(|d| d.seconds);
            assert_eq!(read, Some(seconds), "{text}");
        }
        assert_eq!(Delay::largest_readable(b"five", 1), None);
    }

    #[test]
    fn rates_are_counts_over_a_unit() {
        let rate = CrawlRate::read(b"3 / m", 1).unwrap();
        assert_eq!(rate.interval(), Duration::from_secs(20));
        for bad in ["0/s", "x/s", "5/y", "5", "+5/s"] {
            assert_eq!(CrawlRate::read(bad.as_bytes(), 1), None, "{bad}");
        }
    }
}
