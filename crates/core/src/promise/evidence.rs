//! `evidence`: bodies lie in a restricted place, only named roles read them, every reading is
//! journalled, and only complete good answers leave a body at all.
//!
//! Seed: B "スナップショットはアクセスを制限した内部領域に保存".

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, OverSize, RequestKind};
use crate::event::{Admitted, Answered, Event, EvidenceRead};
use crate::fetched::Outcome;
use crate::journal::Header;

/// See the module.
pub struct Evidence;

/// Whether this role may read bodies; asked before each reading.
#[must_use]
pub fn may_read(charter: &Charter, role: &str) -> bool {
    charter.evidence.readers.iter().any(|reader| reader == role)
}

impl Promise for Evidence {
    fn id(&self) -> &'static str {
        "evidence"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "保存データの閲覧制限",
            Lang::En => "Restricted evidence",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let readers = &charter.evidence.readers;
        Some(match (lang, readers.is_empty()) {
            (Lang::Ja, true) => "取得した本文と正規化テキストは、アクセスを制限した領域に保存し、だれにも読ませません。".into(),
            (Lang::En, true) => "Bodies and normalised texts are kept in a restricted place, and nobody reads them.".into(),
            (Lang::Ja, false) => format!(
                "取得した本文と正規化テキストは、アクセスを制限した領域に保存します。読めるのは役割「{}」を持つ担当者だけで、いつ、だれが、何のために読んだかを毎回記録します。最後まで正常に届いた応答のほかは、本文を保存しません。",
                readers.join("」「")
            ),
            (Lang::En, false) => format!(
                "Bodies and normalised texts are kept in a restricted place. Only people in the role {} read them, and each reading is recorded: when, who, what for. Only answers that arrived whole and well leave a body.",
                readers.join(", ")
            ),
        })
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Readings::default()))
    }
}

/// Roles of readings; outcomes of answers with a body. `bots` are numbered as first adopted.
#[derive(Default)]
struct Readings {
    finding: Finding,
    bots: Vec<String>,
}

impl Proof for Readings {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        match (entry.event, entry.admitted) {
            (Event::CharterAdopted(adopted), _) if !self.bots.contains(&adopted.bot) => {
                self.bots.push(adopted.bot.clone());
            }
            (Event::EvidenceRead(read), _) => self.read(entry.header, read, versions),
            (Event::Answered(answered), Some((_, admitted))) if answered.body.is_some() => {
                self.kept(entry.header, answered, admitted, versions);
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

impl Readings {
    /// An entry of the house says nothing of the bot: then every charter in force must agree.
    fn read(&mut self, header: &Header, read: &EvidenceRead, versions: &Versions<'_>) {
        let number = usize::try_from(header.bot).unwrap_or(usize::MAX);
        let named = number.checked_sub(1).and_then(|at| self.bots.get(at));
        let asked: Vec<&String> = match named {
            Some(bot) => vec![bot],
            None => self.bots.iter().collect(),
        };
        let mut allowed = !asked.is_empty();
        for bot in asked {
            let Some(charter) = versions.charter_of(bot) else {
                self.finding
                    .undecidable(header.seq, "the charter in force is not readable");
                return;
            };
            allowed &= charter.evidence.readers.contains(&read.role);
        }
        self.finding.check(allowed, header.seq, || {
            format!(
                "read in the role {:?}, which the charter does not name",
                read.role
            )
        });
    }

    fn kept(
        &mut self,
        header: &Header,
        answered: &Answered,
        admitted: &Admitted,
        versions: &Versions<'_>,
    ) {
        let cut_robots = || {
            let over = versions.charter(admitted.charter).map(|c| c.robots.over);
            admitted.kind == RequestKind::Robots && over == Some(OverSize::Cut)
        };
        let whole = match &answered.outcome {
            Outcome::Status(status) => (200..=299).contains(status),
            Outcome::TooLarge { .. } => cut_robots(),
            _ => false,
        };
        self.finding.check(whole, header.seq, || {
            format!("a body was kept of {:?}", answered.outcome)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promise::testing::{History, LANE, PAGE, charter};

    fn read(role: &str) -> EvidenceRead {
        EvidenceRead {
            digests: Vec::new(),
            by: "sato".to_owned(),
            role: role.to_owned(),
            purpose: "review".to_owned(),
        }
    }

    #[test]
    fn roles_the_charter_names_may_read_and_no_other() {
        assert!(may_read(&charter(), "reviewer"));
        assert!(!may_read(&charter(), "owner"));
        let mut history = History::new();
        history.house(read("reviewer"));
        let broken = history.house(read("visitor"));
        assert_eq!(history.breaches(&Evidence), [broken]);
    }

    #[test]
    fn a_body_of_a_bad_answer_is_named() {
        let mut history = History::new();
        history.open();
        history.fetch(PAGE);
        let admitted = history.admit(history.page(PAGE));
        let mut answer = history.answer(admitted);
        answer.outcome = Outcome::Status(403);
        let broken = history.push(LANE, answer);
        assert_eq!(history.breaches(&Evidence), [broken]);
    }
}
