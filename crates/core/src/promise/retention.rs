//! `retention`: a body that nothing refers to is deleted in time; one that is referred to stays.
//!
//! Seed: B "未参照スナップショットの保存期限は最大3,650日"; DECISIONS 8. A reference is a change, a
//! review or a confirmed fact; a robots.txt is referred to by the requests judged by it. The journal
//! shows when each body was stored, what refers to it and which bodies were recorded as deleted.
//! It cannot show that the bytes are gone from every disk: that is no claim of this proof.

use std::collections::HashMap;
use std::time::Duration;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, RequestKind};
use crate::digest::Digest;
use crate::event::{Event, EvidenceDropped, Seq};
use crate::journal::Header;
use crate::policy::words;
use crate::time::Timestamp;

/// See the module.
pub struct Retention;

/// A body in the store, as `reigi gc` sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoredBody {
    /// The body.
    pub digest: Digest,
    /// When it was last stored.
    pub stored_at: Timestamp,
    /// Whether a change, a review or a confirmed fact refers to it, or an entry was judged by it.
    pub referenced: bool,
}

/// The bodies whose time is over at `now`.
#[must_use]
pub fn expired(bodies: &[StoredBody], charter: &Charter, now: Timestamp) -> Vec<Digest> {
    let over = |body: &&StoredBody| {
        !body.referenced && body.stored_at.plus(charter.evidence.retention_unreferenced) <= now
    };
    bodies.iter().filter(over).map(|body| body.digest).collect()
}

/// Deletion runs once a day.
const GRACE: Duration = Duration::from_secs(24 * 3600);

impl Promise for Retention {
    fn id(&self) -> &'static str {
        "retention"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "保存期限",
            Lang::En => "Retention",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let age = words::span(charter.evidence.retention_unreferenced, lang);
        Some(match lang {
            Lang::Ja => format!(
                "変更の記録、レビュー、確認済みの事実のどれからも参照されない本文は、最後に取得した日から最長{age}で消します。参照されているものは、参照が続くあいだ証拠として残します。"
            ),
            Lang::En => format!(
                "A body that no recorded change, review or confirmed fact refers to is deleted {age} after it was last fetched, at most. What is referred to stays as evidence as long as it is."
            ),
        })
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Ages::default()))
    }
}

/// Every body that the journal says is stored: about 40 bytes of memory each. Bodies are told
/// apart by the first 8 bytes of their digests: two in a million million million share them.
#[derive(Default)]
struct Ages {
    finding: Finding,
    bodies: HashMap<u64, Body>,
    retention: Vec<(String, Duration)>,
    end: Option<(Seq, Timestamp)>,
}

#[derive(Clone, Copy)]
struct Body {
    stored: Timestamp,
    referenced: bool,
    bot: usize,
}

fn short(digest: Digest) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *digest.as_bytes();
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

impl Proof for Ages {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        self.end = Some((entry.header.seq, entry.header.at));
        match (entry.event, entry.admitted) {
            (Event::CharterAdopted(adopted), _) => {
                if let Some(charter) = versions.charter_of(&adopted.bot) {
                    let bot = self.bot(&adopted.bot);
                    if let Some((_, age)) = self.retention.get_mut(bot) {
                        *age = charter.evidence.retention_unreferenced;
                    }
                }
            }
            (Event::Answered(answered), Some((_, admitted))) => {
                if let Some(body) = &answered.body {
                    let bot = self.bot(&admitted.bot);
                    let known = self.bodies.entry(short(body.digest)).or_insert(Body {
                        stored: entry.header.at,
                        referenced: false,
                        bot,
                    });
                    (known.stored, known.bot) = (entry.header.at, bot);
                    known.referenced |= admitted.kind == RequestKind::Robots;
                }
            }
            (Event::Changed(changed), _) => {
                for digest in [changed.before, changed.after] {
                    if let Some(body) = self.bodies.get_mut(&short(digest)) {
                        body.referenced = true;
                    }
                }
            }
            (Event::EvidenceDropped(dropped), _) => self.drop(entry.header, dropped),
            _ => {}
        }
    }

    fn finish(mut self: Box<Self>) -> Finding {
        let Some((seq, end)) = self.end else {
            return self.finding;
        };
        for body in self.bodies.values().filter(|body| !body.referenced) {
            let Some((_, most)) = self.retention.get(body.bot) else {
                continue;
            };
            let age = end.since(body.stored);
            self.finding
                .check(age <= most.saturating_add(GRACE), seq, || {
                    format!(
                        "a body stored on {} that nothing refers to has not been deleted",
                        body.stored.rfc3339()
                    )
                });
        }
        self.finding
    }
}

impl Ages {
    fn bot(&mut self, bot: &str) -> usize {
        let known = self.retention.iter().position(|(name, _)| name == bot);
        known.unwrap_or_else(|| {
            self.retention.push((bot.to_owned(), Duration::MAX));
            self.retention.len() - 1
        })
    }

    /// A person may delete at any time (a request to forget); retention deletes what is over only.
    fn drop(&mut self, header: &Header, dropped: &EvidenceDropped) {
        for digest in &dropped.digests {
            let body = self.bodies.remove(&short(*digest));
            if dropped.by != "retention" {
                continue;
            }
            let Some(body) = body else {
                self.finding.undecidable(
                    header.seq,
                    format!("nothing says when {} was stored", digest.short()),
                );
                continue;
            };
            let least = self.retention.get(body.bot).map(|(_, age)| *age);
            let age = header.at.since(body.stored);
            let over = least.is_none_or(|least| age >= least);
            self.finding
                .check(over && !body.referenced, header.seq, || {
                    format!(
                        "{} was deleted although it was {}",
                        digest.short(),
                        if body.referenced {
                            "referred to"
                        } else {
                            "not old enough"
                        }
                    )
                });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{BodyRef, Cause, Changed};
    use crate::promise::testing::{BOT, History, LANE, PAGE, TARGET, at, charter};

    const DAY: f64 = 86_400.0;

    #[test]
    fn what_is_old_and_unreferenced_expires() {
        let body = |name: &str, days: f64, referenced| StoredBody {
            digest: Digest::of(name.as_bytes()),
            stored_at: at(-days * DAY).wall,
            referenced,
        };
        let bodies = [
            body("old", 3650.0, false),
            body("cited", 3650.0, true),
            body("young", 3649.9, false),
        ];
        let gone = expired(&bodies, &charter(), at(0.0).wall);
        assert_eq!(gone, [Digest::of(b"old")]);
    }

    fn store(history: &mut History, name: &str) -> Digest {
        let admitted = history.admit(history.page(PAGE));
        let mut answer = history.answer(admitted);
        let digest = Digest::of(name.as_bytes());
        answer.body = Some(BodyRef { digest, bytes: 1 });
        history.push(LANE, answer);
        digest
    }

    fn dropped(digests: &[Digest], by: &str) -> EvidenceDropped {
        EvidenceDropped {
            digests: digests.to_vec(),
            by: by.to_owned(),
            reason: String::new(),
        }
    }

    #[test]
    fn deleting_too_early_too_late_or_what_is_cited_is_named() {
        let mut history = History::new();
        let [old, before, after] = ["old", "before", "after"].map(|n| store(&mut history, n));
        history.push(
            LANE,
            Changed {
                change: 1,
                bot: BOT.to_owned(),
                target: TARGET.to_owned(),
                url: PAGE.to_owned(),
                before,
                after,
                summary_ja: String::new(),
                summary_en: String::new(),
                cause: Cause::Site,
                supersedes: None,
            },
        );
        history.wait(3650.0 * DAY);
        let young = store(&mut history, "young");
        history.house(dropped(&[old], "retention"));
        assert_eq!(history.breaches(&Retention), []);
        let cited = history.house(dropped(&[before], "retention"));
        let early = history.house(dropped(&[young], "retention"));
        history.house(dropped(&[after], "sato"));
        assert_eq!(history.breaches(&Retention), [cited, early]);
        store(&mut history, "late");
        history.wait(3652.0 * DAY);
        let end = history.open();
        assert_eq!(end, 1);
        assert_eq!(history.prove(&Retention).broken, 3);
    }
}
