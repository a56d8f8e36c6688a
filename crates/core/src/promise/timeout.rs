//! `timeout`: no request lasts longer than the charter says, from connecting to the last byte.
//! Seeds: Ar and Ad "20秒"; B leaves the number to the charter.

use std::time::Duration;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang};
use crate::event::Event;
use crate::policy::words;

/// See the module.
pub struct Timeout;

/// The end is stamped after the socket is closed, and a busy machine stamps late.
const STAMPING: Duration = Duration::from_secs(1);

impl Promise for Timeout {
    fn id(&self) -> &'static str {
        "timeout"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "打ち切り時間",
            Lang::En => "Timeout",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let span = words::span(charter.limits.timeout, lang);
        Some(match lang {
            Lang::Ja => format!("一回のリクエストは、接続を始めてから{span}で打ち切ります。"),
            Lang::En => format!("A request is given up {span} after we begin to connect."),
        })
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Durations::default()))
    }
}

/// Both stamps are of one writer: the monotonic clock decides.
#[derive(Default)]
struct Durations {
    finding: Finding,
}

impl Proof for Durations {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let (Event::Answered(answered), Some((_, admitted))) = (entry.event, entry.admitted) else {
            return;
        };
        let seq = entry.header.seq;
        let Some(charter) = versions.charter(admitted.charter) else {
            self.finding.undecidable(seq, "its charter is not readable");
            return;
        };
        let took = answered.ended.mono.since(answered.opened.mono);
        let most = charter.limits.timeout;
        let kept = took <= most.saturating_add(STAMPING);
        self.finding.check(kept, seq, || {
            format!("lasted {took:?}, promised at most {most:?} (1 s is allowed for stamping)")
        });
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promise::testing::{History, LANE, OTHER_PAGE, PAGE, at};

    #[test]
    fn a_request_that_lasts_too_long_is_named() {
        let mut history = History::new();
        history.open();
        let mut last = |page, seconds| {
            let admitted = history.admit(history.page(page));
            let mut answer = history.answer(admitted);
            (answer.opened, answer.ended) = (at(0.0), at(seconds));
            history.push(LANE, answer)
        };
        last(PAGE, 20.9);
        let late = last(OTHER_PAGE, 21.5);
        assert_eq!(history.breaches(&Timeout), [late]);
        assert_eq!(history.prove(&Timeout).kept, 1);
    }
}
