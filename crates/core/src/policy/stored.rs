//! What is stored, field kind by field kind, each with its sentence on the page (DECISIONS 22).
//!
//! [`of_entry`] says which of them an entry of the journal holds, so that a kind of entry without
//! a sentence is found by a test before a page is printed without it.

use super::words;
use crate::charter::{Charter, Keep, Lang};

/// A kind of stored thing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stored {
    /// URL, times, User-Agent of each request.
    Request,
    /// Status, fields and size of each answer; both ends of the connection.
    Answer,
    /// Body and normalised text.
    Snapshot,
    /// Digests and differences.
    Difference,
    /// robots.txt and its verdict.
    Robots,
    /// Signals of a page's publisher.
    Signals,
    /// The list of targets, with the check of their terms.
    Targets,
    /// Decisions of reviewers; confirmed facts; releases.
    Review,
    /// Requests to stop, pauses.
    Wishes,
    /// Who read or deleted a body.
    Access,
    /// Charters, pages printed, starts of the program.
    Operation,
}

impl Stored {
    /// Every kind, in the order of the page.
    pub const ALL: &[Self] = &[
        Self::Request,
        Self::Answer,
        Self::Snapshot,
        Self::Difference,
        Self::Robots,
        Self::Signals,
        Self::Targets,
        Self::Review,
        Self::Wishes,
        Self::Access,
        Self::Operation,
    ];

    /// Name, and what exactly is kept.
    #[must_use]
    pub fn say(self, charter: &Charter, lang: Lang) -> (&'static str, String) {
        let (name, sentence) = match lang {
            Lang::Ja => self.ja(),
            Lang::En => self.en(),
        };
        let tail = match self {
            Self::Snapshot => snapshot_kept(charter, lang),
            _ => String::new(),
        };
        (name, format!("{sentence}{tail}"))
    }

    fn ja(self) -> (&'static str, &'static str) {
        match self {
            Self::Request => (
                "リクエスト",
                "URL、取得日時、送信したヘッダー（User-Agent を含む）",
            ),
            Self::Answer => (
                "応答",
                "HTTPステータス、ETag・Last-Modified などの応答ヘッダー、受信量、所要時間、接続先のアドレスと証明書のハッシュ",
            ),
            Self::Snapshot => (
                "本文",
                "公開ページの本文と、そこから取り出した正規化テキスト。",
            ),
            Self::Difference => ("差分", "変更の判定に使うハッシュと差分、短い変更要約"),
            Self::Robots => (
                "robots.txt",
                "robots.txt の内容と、そこから出した判定の結果",
            ),
            Self::Signals => (
                "ページの意思表示",
                "meta robots、X-Robots-Tag など、そのページの利用条件を示す印",
            ),
            Self::Targets => ("台帳", "対象のURLと名前、利用規約を確認した日・人・結論"),
            Self::Review => (
                "確認の記録",
                "変更や事実を、だれがいつ確認または却下したか。公開したもの",
            ),
            Self::Wishes => (
                "停止のご依頼",
                "対象から外した範囲と、依頼を受けた日時・効力が生じた日時。一時停止とその理由",
            ),
            Self::Access => (
                "閲覧と削除の記録",
                "保存した本文を、だれがいつ読み、いつ消したか",
            ),
            Self::Operation => (
                "運用の記録",
                "運用規約の各版、このページの各版のハッシュ、プログラムの起動と時計のずれ",
            ),
        }
    }

    fn en(self) -> (&'static str, &'static str) {
        match self {
            Self::Request => (
                "Requests",
                "URL, date and time, the header that we sent (User-Agent included)",
            ),
            Self::Answer => (
                "Answers",
                "HTTP status, response fields such as ETag and Last-Modified, bytes received, time taken, address reached and digest of its certificate",
            ),
            Self::Snapshot => (
                "Bodies",
                "The body of a public page and the normalised text taken from it. ",
            ),
            Self::Difference => (
                "Differences",
                "Digests and differences that show whether a page changed, and a short summary of the change",
            ),
            Self::Robots => (
                "robots.txt",
                "The content of robots.txt and the verdict drawn from it",
            ),
            Self::Signals => (
                "Signals of the publisher",
                "meta robots, X-Robots-Tag and other marks that say how a page may be used",
            ),
            Self::Targets => (
                "Ledger",
                "URL and name of each target; when, by whom and with what conclusion its terms of use were read",
            ),
            Self::Review => (
                "Record of reviews",
                "Who confirmed or rejected a change or a fact, and when; what was published",
            ),
            Self::Wishes => (
                "Requests to stop",
                "What was taken out, when the request came and when it took effect; pauses and their reasons",
            ),
            Self::Access => (
                "Record of reading and deletion",
                "Who read a stored body and when; when one was deleted",
            ),
            Self::Operation => (
                "Record of operation",
                "Each version of the charter, the digest of each version of this page, starts of the program, steps of its clock",
            ),
        }
    }
}

fn snapshot_kept(charter: &Charter, lang: Lang) -> String {
    let age = words::span(charter.evidence.retention_unreferenced, lang);
    match (charter.evidence.keep, lang) {
        (Keep::Full, Lang::Ja) => format!(
            "閲覧できる人を限った内部の領域に置き、どこからも参照されないものは最長{age}で消します"
        ),
        (Keep::Full, Lang::En) => format!(
            "They lie in an internal area that few people may read; what nothing refers to is deleted after {age} at most"
        ),
    }
}

/// What an entry of this kind holds; `None`: the kind has no sentence on the page.
#[must_use]
pub fn of_entry(kind: &str) -> Option<&'static [Stored]> {
    use Stored as S;
    Some(match kind {
        "segment-opened" | "clock-stepped" | "charter-adopted" | "policy-rendered" => {
            &[S::Operation]
        }
        "ledger-adopted" | "lane-opened" | "target-entered" | "target-left" => &[S::Targets],
        "paused" | "resumed" | "opted-out" => &[S::Wishes],
        "visit-opened" | "visit-closed" | "admitted" | "not-sent" | "lost" => &[S::Request],
        "hop-parked" | "hop-queued" | "hop-returned" | "hop-done" => &[S::Request],
        "answered" => &[S::Request, S::Answer, S::Snapshot],
        "robots-settled" => &[S::Robots],
        "observed" => &[S::Snapshot, S::Difference, S::Signals],
        "changed" | "noise-learned" => &[S::Difference],
        "reviewed" | "released" => &[S::Review],
        "evidence-read" | "evidence-dropped" => &[S::Access],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::KINDS;

    #[test]
    fn each_kind_of_entry_has_its_sentence() {
        let mut said: Vec<Stored> = Vec::new();
        for kind in KINDS {
            said.extend(of_entry(kind).unwrap_or_else(|| panic!("{kind} has no sentence")));
        }
        said.sort_unstable();
        said.dedup();
        assert_eq!(said, Stored::ALL, "a sentence that no entry needs");
    }
}
