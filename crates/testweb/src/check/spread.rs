//! How a set of durations spreads.

use serde::Serialize;

/// Figures of a set of durations, in milliseconds; all `None` where the set is empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Spread {
    /// How many there are.
    pub count: usize,
    /// The least.
    pub min_ms: Option<f64>,
    /// Half of them are at most this.
    pub p50_ms: Option<f64>,
    /// 99 in 100 are at most this.
    pub p99_ms: Option<f64>,
    /// The greatest.
    pub max_ms: Option<f64>,
}

impl Spread {
    /// The spread of durations in microseconds.
    pub(crate) fn of(mut us: Vec<i64>) -> Spread {
        us.sort_unstable();
        #[expect(
            clippy::cast_precision_loss,
            reason = "milliseconds of a test run are exact"
        )]
        let ms = |us: &i64| *us as f64 / 1000.0;
        // Nearest rank: the smallest value with at least p percent of all at or below it.
        let rank = |p: usize| {
            us.get((us.len() * p).div_ceil(100).saturating_sub(1))
                .map(ms)
        };
        Spread {
            count: us.len(),
            min_ms: us.first().map(ms),
            p50_ms: rank(50),
            p99_ms: rank(99),
            max_ms: us.last().map(ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_values_of_the_set() {
        let spread = Spread::of((1..=200).map(|ms| ms * 1000).rev().collect());
        assert_eq!(spread.count, 200);
        assert_eq!((spread.min_ms, spread.max_ms), (Some(1.0), Some(200.0)));
        assert_eq!((spread.p50_ms, spread.p99_ms), (Some(100.0), Some(198.0)));
        assert_eq!(Spread::of(Vec::new()), Spread::default());
    }
}
