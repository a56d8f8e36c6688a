//! Quantities as people write them in a charter: `"2s"`, `"500KiB"`, `"month"`.
//!
//! A number without a unit is never guessed at: the error says what to write instead.

use std::time::Duration;

use crate::cadence::Every;

/// Longest duration and period: a century. More is a typing error.
pub(crate) const CENTURY: Duration = Duration::from_secs(36_500 * 24 * 3600);

/// Why a quantity could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum BadQuantity {
    /// No unit, or one that is written otherwise; `suggestion` is what may have been meant.
    Unit {
        /// The same quantity, written as it should be.
        suggestion: Option<String>,
    },
    /// Not a number and a unit at all.
    Form,
    /// More than any quantity of this kind can be.
    TooLarge,
}

const TIME_UNITS: &[(&str, u64)] = &[
    ("ms", 1_000),
    ("s", 1_000_000),
    ("m", 60_000_000),
    ("h", 3_600_000_000),
    ("d", 86_400_000_000),
];

/// What people write for a unit of time, and its name here.
const TIME_WORDS: &[(&str, &[&str])] = &[
    (
        "ms",
        &[
            "msec",
            "msecs",
            "millis",
            "millisecond",
            "milliseconds",
            "ミリ秒",
        ],
    ),
    ("s", &["sec", "secs", "second", "seconds", "秒", ""]),
    ("m", &["min", "mins", "minute", "minutes", "分", "分間"]),
    ("h", &["hr", "hrs", "hour", "hours", "時間"]),
    ("d", &["day", "days", "日", "日間"]),
];

const SIZE_UNITS: &[(&str, u64)] = &[
    ("B", 1),
    ("KB", 1_000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
];

const SIZE_WORDS: &[(&str, &[&str])] = &[
    ("B", &["b", "byte", "bytes", "バイト", ""]),
    ("KB", &["k", "kb"]),
    ("KiB", &["kib", "ki"]),
    ("MB", &["m", "mb"]),
    ("MiB", &["mib", "mi"]),
    ("GB", &["g", "gb"]),
    ("GiB", &["gib", "gi"]),
];

/// Reads a duration: a number (`1.5` too) and `ms`, `s`, `m` (minute), `h` or `d` (24 hours).
pub(crate) fn duration(text: &str) -> Result<Duration, BadQuantity> {
    let micros = quantity(text, TIME_UNITS, TIME_WORDS)?;
    let duration = Duration::from_micros(micros);
    if duration > CENTURY {
        return Err(BadQuantity::TooLarge);
    }
    Ok(duration)
}

/// Reads a size in bytes: a number and `B`, `KB` (1000), `KiB` (1024), `MB`, `MiB`, `GB`, `GiB`.
pub(crate) fn size(text: &str) -> Result<u64, BadQuantity> {
    quantity(text, SIZE_UNITS, SIZE_WORDS)
}

fn quantity(
    text: &str,
    units: &[(&str, u64)],
    words: &[(&str, &[&str])],
) -> Result<u64, BadQuantity> {
    let narrow: String = text.chars().map(narrow_digit).collect();
    let split = narrow
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(narrow.len());
    let (number, unit) = narrow.split_at(split);
    if number.is_empty() {
        return Err(BadQuantity::Form);
    }
    if narrow == text
        && let Some((_, scale)) = units.iter().find(|(name, _)| *name == unit)
    {
        return scaled(number, *scale);
    }
    let word = unit.trim().to_lowercase();
    let meant = words
        .iter()
        .find(|(name, others)| name.to_lowercase() == word || others.contains(&word.as_str()));
    Err(BadQuantity::Unit {
        suggestion: meant.map(|(name, _)| format!("{number}{name}")),
    })
}

/// `number × scale`, exact; the number may have decimals as far as they come out whole.
fn scaled(number: &str, scale: u64) -> Result<u64, BadQuantity> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let has_point = number.contains('.');
    if whole.is_empty() || (has_point && decimals.is_empty()) || decimals.contains('.') {
        return Err(BadQuantity::Form);
    }
    let decimals = decimals.trim_end_matches('0');
    let digits = u32::try_from(decimals.len()).unwrap_or(u32::MAX);
    let tenth = 10_u64.checked_pow(digits).ok_or(BadQuantity::Form)?;
    let whole: u64 = whole.parse().map_err(|_| BadQuantity::TooLarge)?;
    let part: u64 = if decimals.is_empty() {
        0
    } else {
        decimals.parse().map_err(|_| BadQuantity::Form)?
    };
    let part = part.checked_mul(scale).ok_or(BadQuantity::Form)?;
    if part % tenth != 0 {
        return Err(BadQuantity::Form);
    }
    whole
        .checked_mul(scale)
        .and_then(|whole| whole.checked_add(part / tenth))
        .ok_or(BadQuantity::TooLarge)
}

fn narrow_digit(c: char) -> char {
    match c {
        '０'..='９' => char::from_u32(u32::from(c) - 0xff10 + 0x30).unwrap_or(c),
        '．' => '.',
        c => c,
    }
}

/// Reads a visiting period: `month`, `week`, a duration, or ISO 8601 (`P1D`, `PT12H`, `P1W`,
/// `P1M`).
pub(crate) fn every(text: &str) -> Result<Every, BadQuantity> {
    match text {
        "month" | "P1M" => return Ok(Every::Month),
        "week" | "P1W" => return Ok(Every::Week),
        _ => {}
    }
    if let Some(rest) = text.strip_prefix("PT") {
        return duration(&rest.to_lowercase()).map(Every::Period);
    }
    if let Some(rest) = text.strip_prefix('P') {
        return match rest.strip_suffix('W') {
            Some(weeks) => {
                let days = duration(&format!("{weeks}d"))?;
                Ok(Every::Period(days * 7))
            }
            None => duration(&rest.replace('D', "d")).map(Every::Period),
        };
    }
    let meant = match text.to_lowercase().as_str() {
        "monthly" | "1month" | "months" | "1mo" | "毎月" | "月次" => Some("month"),
        "weekly" | "1week" | "1w" | "weeks" | "毎週" | "週次" => Some("week"),
        "daily" | "day" | "毎日" => Some("1d"),
        "hourly" | "hour" | "毎時" => Some("1h"),
        _ => None,
    };
    // A period without a unit was hardly meant in seconds.
    let bare = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    match meant
        .map(str::to_owned)
        .or(bare.then(|| format!("{text}d")))
    {
        None => duration(text).map(Every::Period),
        suggestion => Err(BadQuantity::Unit { suggestion }),
    }
}

/// A duration as a charter writes it, in its largest whole unit.
pub(crate) fn show_duration(duration: Duration) -> String {
    let micros = duration.as_micros();
    // Days only where people count in days: 24h is a day's freshness, 3650d a retention.
    let unit = |(_, scale): &&(&str, u64)| {
        let scale = u128::from(*scale);
        micros.is_multiple_of(scale)
            && micros >= scale
            && (scale < 86_400_000_000 || micros > scale)
    };
    match TIME_UNITS.iter().rev().find(unit) {
        Some((name, scale)) => format!("{}{name}", micros / u128::from(*scale)),
        None => format!("{}ms", duration.as_secs_f64() * 1000.0),
    }
}

/// A size as a charter writes it, in its largest whole unit.
pub(crate) fn show_size(bytes: u64) -> String {
    let fits = |(_, scale): &&(&str, u64)| bytes.is_multiple_of(*scale) && bytes >= *scale;
    match SIZE_UNITS.iter().rev().find(fits) {
        Some((name, scale)) => format!("{}{name}", bytes / scale),
        None => format!("{bytes}B"),
    }
}

/// A period as a charter writes it.
pub(crate) fn show_every(every: Every) -> String {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    match every {
        Every::Month => "month".to_owned(),
        Every::Week => "week".to_owned(),
        Every::Period(DAY) => "1d".to_owned(),
        Every::Period(period) => show_duration(period),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(text: &str) -> BadQuantity {
        BadQuantity::Unit {
            suggestion: Some(text.to_owned()),
        }
    }

    #[test]
    fn durations_have_a_unit() {
        let ms = Duration::from_millis;
        for (text, want) in [
            ("2s", Ok(ms(2_000))),
            ("300ms", Ok(ms(300))),
            ("1.5s", Ok(ms(1_500))),
            ("1m", Ok(ms(60_000))),
            ("24h", Ok(ms(86_400_000))),
            ("3650d", Ok(Duration::from_secs(315_360_000))),
            ("0s", Ok(ms(0))),
            ("2", Err(meant("2s"))),
            ("2 s", Err(meant("2s"))),
            ("2S", Err(meant("2s"))),
            ("2sec", Err(meant("2s"))),
            ("２秒", Err(meant("2s"))),
            ("5 minutes", Err(meant("5m"))),
            ("2y", Err(BadQuantity::Unit { suggestion: None })),
            ("", Err(BadQuantity::Form)),
            ("-2s", Err(BadQuantity::Form)),
            ("2.s", Err(BadQuantity::Form)),
            ("1.2.3s", Err(BadQuantity::Form)),
            ("0.0000001s", Err(BadQuantity::Form)),
            ("36501d", Err(BadQuantity::TooLarge)),
            ("99999999999999999999d", Err(BadQuantity::TooLarge)),
        ] {
            assert_eq!(duration(text), want, "{text}");
        }
    }

    #[test]
    fn sizes_tell_thousands_from_kibi() {
        for (text, want) in [
            ("500KiB", Ok(512_000)),
            ("500KB", Ok(500_000)),
            ("10MB", Ok(10_000_000)),
            ("0.5MiB", Ok(524_288)),
            ("512000", Err(meant("512000B"))),
            ("500kb", Err(meant("500KB"))),
            ("500kib", Err(meant("500KiB"))),
            ("99999999999999GiB", Err(BadQuantity::TooLarge)),
        ] {
            assert_eq!(size(text), want, "{text}");
        }
    }

    #[test]
    fn periods_are_calendar_words_or_durations() {
        let day = Duration::from_secs(86_400);
        for (text, want) in [
            ("month", Ok(Every::Month)),
            ("P1M", Ok(Every::Month)),
            ("week", Ok(Every::Week)),
            ("1d", Ok(Every::Period(day))),
            ("P1D", Ok(Every::Period(day))),
            ("PT12H", Ok(Every::Period(day / 2))),
            ("P2W", Ok(Every::Period(14 * day))),
            ("daily", Err(meant("1d"))),
            ("7", Err(meant("7d"))),
            ("毎月", Err(meant("month"))),
            ("fortnight", Err(BadQuantity::Form)),
        ] {
            assert_eq!(every(text), want, "{text}");
        }
    }

    #[test]
    fn what_is_shown_can_be_read_back() {
        for text in ["2s", "300ms", "1m", "24h", "3650d", "90s", "1500ms"] {
            assert_eq!(show_duration(duration(text).unwrap()), text);
        }
        for text in ["500KiB", "10MB", "1B"] {
            assert_eq!(size(&show_size(size(text).unwrap())), size(text));
        }
    }
}
