//! `size`: no more of an answer is read than the charter says; what is larger is not used.
//! Seed: B "取得上限超過の場合は新規取得を保留" for robots.txt; the numbers are the charter's.

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, OverSize, RequestKind};
use crate::event::Event;
use crate::fetched::Outcome;
use crate::policy::words;

/// See the module.
pub struct Size;

impl Promise for Size {
    fn id(&self) -> &'static str {
        "size"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "取得する大きさの上限",
            Lang::En => "Size limit",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let page = said(charter.limits.max_bytes);
        let robots = said(charter.robots.max_bytes);
        Some(match (lang, charter.robots.over) {
            (Lang::Ja, OverSize::Hold) => format!(
                "一つのページは{page}（展開後）まで、robots.txt は{robots}までしか読みません。これを超えるページは取得をやめて保存せず、robots.txt が超えるときは新しい取得を保留します。"
            ),
            (Lang::Ja, OverSize::Cut) => format!(
                "一つのページは{page}（展開後）まで、robots.txt は{robots}までしか読みません。これを超えるページは取得をやめて保存せず、robots.txt は読んだところまでで判断します。"
            ),
            (Lang::En, OverSize::Hold) => format!(
                "We read at most {page} of a page (after decompression) and {robots} of a robots.txt. A larger page is dropped and not kept; a larger robots.txt means that nothing new is fetched."
            ),
            (Lang::En, OverSize::Cut) => format!(
                "We read at most {page} of a page (after decompression) and {robots} of a robots.txt. A larger page is dropped and not kept; a larger robots.txt is judged by the part that was read."
            ),
        })
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Sizes::default()))
    }

    /// A body kept of too large an answer is one that should not be there either.
    fn implies(&self) -> &'static [&'static str] {
        &["evidence"]
    }
}

/// A size in the largest unit that leaves it whole: `10 MB`, `500 KiB`.
fn said(size: u64) -> String {
    const UNITS: [(u64, &str); 4] = [
        (1 << 20, "MiB"),
        (1_000_000, "MB"),
        (1 << 10, "KiB"),
        (1_000, "KB"),
    ];
    let unit = UNITS
        .iter()
        .find(|(unit, _)| size > 0 && size.is_multiple_of(*unit));
    match unit {
        Some((unit, name)) => format!("{} {name}", words::count(size / unit)),
        None => words::plural(size, "byte"),
    }
}

#[derive(Default)]
struct Sizes {
    finding: Finding,
}

impl Proof for Sizes {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let (Event::Answered(answered), Some((_, admitted))) = (entry.event, entry.admitted) else {
            return;
        };
        let seq = entry.header.seq;
        let Some(charter) = versions.charter(admitted.charter) else {
            self.finding.undecidable(seq, "its charter is not readable");
            return;
        };
        let (most, may_cut) = match admitted.kind {
            RequestKind::Page => (charter.limits.max_bytes, false),
            RequestKind::Robots => (
                charter.robots.max_bytes,
                charter.robots.over == OverSize::Cut,
            ),
        };
        let kept_bytes = answered.body.as_ref().map_or(0, |b| b.bytes);
        self.finding.check(kept_bytes <= most, seq, || {
            format!("{kept_bytes} bytes were kept, promised at most {most}")
        });
        if let Outcome::TooLarge { .. } = answered.outcome {
            let kept = answered.body.is_none() || may_cut;
            self.finding.check(kept, seq, || {
                "a body over the limit was kept although its answer is not used".to_owned()
            });
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::event::BodyRef;
    use crate::promise::testing::{History, LANE, OTHER_PAGE, PAGE};

    fn body(bytes: u64) -> Option<BodyRef> {
        let digest = Digest::of(b"large");
        Some(BodyRef { digest, bytes })
    }

    #[test]
    fn sizes_are_said_as_the_charter_wrote_them() {
        for (size, text) in [
            (10_000_000, "10 MB"),
            (1 << 20, "1 MiB"),
            (500 << 10, "500 KiB"),
            (1_234_567, "1,234,567 bytes"),
        ] {
            assert_eq!(said(size), text);
        }
    }

    #[test]
    fn too_large_a_body_is_named() {
        let mut history = History::new();
        history.open();
        let mut answer = |admitted, outcome, bytes| {
            let admitted = history.admit(admitted);
            let mut answer = history.answer(admitted);
            (answer.outcome, answer.body) = (outcome, bytes);
            history.push(LANE, answer)
        };
        let (page, other) = (History::new().page(PAGE), History::new().page(OTHER_PAGE));
        let robots = History::new().robots();
        let over = Outcome::TooLarge {
            status: 200,
            limit: 10_000_000,
        };
        answer(robots.clone(), Outcome::Status(200), body(1 << 20));
        answer(page.clone(), over.clone(), None);
        let mut broken = vec![answer(page, Outcome::Status(200), body(10_000_001))];
        broken.push(answer(robots, Outcome::Status(200), body((1 << 20) + 1)));
        broken.push(answer(other, over, body(5)));
        assert_eq!(history.breaches(&Size), broken);
    }

    #[test]
    fn a_robots_txt_may_be_cut_where_the_charter_says_so() {
        let mut history = History::under(|c| c.robots.over = OverSize::Cut);
        history.open();
        let admitted = history.admit(history.robots());
        let mut answer = history.answer(admitted);
        answer.outcome = Outcome::TooLarge {
            status: 200,
            limit: 1 << 20,
        };
        answer.body = body(1 << 20);
        history.push(LANE, answer);
        assert_eq!(history.breaches(&Size), []);
    }
}
