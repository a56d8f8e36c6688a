//! Numbers, spans of time and dates as people write them in each language.

use std::time::Duration;

use crate::charter::Lang;
use crate::time::Timestamp;

/// `46,212`: digits in groups of three, as both languages print them.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let first = digits.len() % 3;
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at % 3 == first {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

const UNITS: [(u128, &str, &str); 5] = [
    (86_400_000_000, "日", "day"),
    (3_600_000_000, "時間", "hour"),
    (60_000_000, "分", "minute"),
    (1_000_000, "秒", "second"),
    (1_000, "ミリ秒", "millisecond"),
];

/// A span in its largest whole unit: 3,650日, 2秒, `24 hours`. One day is said in hours.
pub(crate) fn span(span: Duration, lang: Lang) -> String {
    let micros = span.as_micros();
    let fits = |(scale, _, _): &&(u128, &str, &str)| {
        micros >= *scale
            && micros.is_multiple_of(*scale)
            && (*scale < 86_400_000_000 || micros > *scale)
    };
    let Some((scale, ja, en)) = UNITS.iter().find(fits) else {
        let seconds = span.as_secs_f64();
        return match lang {
            Lang::Ja => format!("{seconds}秒"),
            Lang::En => format!("{seconds} seconds"),
        };
    };
    let n = u64::try_from(micros / scale).unwrap_or(u64::MAX);
    match lang {
        Lang::Ja => format!("{}{ja}", count(n)),
        Lang::En => plural(n, en),
    }
}

/// `1 page`, `2 pages`.
pub(crate) fn plural(n: u64, noun: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {noun}{s}", count(n))
}

/// `2026年8月23日` / `23 August 2026`; a text that is no date stays as it is.
pub(crate) fn date(iso: &str, lang: Lang) -> String {
    let Ok(date) = iso.parse::<jiff::civil::Date>() else {
        return iso.to_owned();
    };
    match lang {
        Lang::Ja => format!("{}年{}月{}日", date.year(), date.month(), date.day()),
        Lang::En => date.strftime("%-d %B %Y").to_string(),
    }
}

/// An instant in the house's zone, to the minute; to the second where seconds matter.
pub(crate) fn instant(
    at: Timestamp,
    zone: &jiff::tz::TimeZone,
    seconds: bool,
    lang: Lang,
) -> String {
    let local = at.jiff().to_zoned_datetime(zone.clone());
    let form = match (lang, seconds) {
        (Lang::Ja, false) => "%Y年%-m月%-d日 %H:%M (%Z)",
        (Lang::Ja, true) => "%Y年%-m月%-d日 %H:%M:%S (%Z)",
        (Lang::En, false) => "%-d %B %Y, %H:%M %Z",
        (Lang::En, true) => "%-d %B %Y, %H:%M:%S %Z",
    };
    local.strftime(form).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three() {
        for (n, words) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (46_212, "46,212"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(count(n), words);
        }
    }

    #[test]
    fn spans_are_said_in_their_largest_whole_unit() {
        let secs = Duration::from_secs;
        for (d, ja, en) in [
            (secs(2), "2秒", "2 seconds"),
            (secs(1), "1秒", "1 second"),
            (secs(90), "90秒", "90 seconds"),
            (secs(86_400), "24時間", "24 hours"),
            (secs(3650 * 86_400), "3,650日", "3,650 days"),
            (Duration::from_millis(300), "300ミリ秒", "300 milliseconds"),
            (Duration::from_micros(1_500), "0.0015秒", "0.0015 seconds"),
            (Duration::ZERO, "0秒", "0 seconds"),
        ] {
            assert_eq!(span(d, Lang::Ja), ja);
            assert_eq!(span(d, Lang::En), en);
        }
    }

    #[test]
    fn dates_are_written_out() {
        assert_eq!(date("2026-08-23", Lang::Ja), "2026年8月23日");
        assert_eq!(date("2026-08-23", Lang::En), "23 August 2026");
        assert_eq!(date("soon", Lang::En), "soon");
    }

    #[test]
    fn instants_name_their_zone() {
        let tokyo = jiff::tz::TimeZone::get("Asia/Tokyo").unwrap();
        let at = Timestamp::parse("2026-12-01T00:30:05Z").unwrap();
        assert_eq!(
            instant(at, &tokyo, false, Lang::Ja),
            "2026年12月1日 09:30 (JST)"
        );
        assert_eq!(
            instant(at, &tokyo, true, Lang::En),
            "1 December 2026, 09:30:05 JST"
        );
    }
}
