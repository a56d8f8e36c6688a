//! `reigi gc`: deletes bodies that nothing refers to and that the charters keep no longer.
//!
//! What refers to a body is read from the journal, as the audit does. The deletion is journalled
//! before it is done; what a crash left behind goes with the next run.

use std::collections::{BTreeMap, HashMap};

use reigi_core::charter::{Lang, RequestKind};
use reigi_core::digest::Digest;
use reigi_core::event::{Event, EvidenceDropped, LaneId, Seq};
use reigi_core::promise::retention::{StoredBody, expired};
use reigi_store::Store;
use serde::Serialize;

use super::{json_line, print, runtime, stdout};
use crate::cli::Where;
use crate::exit::{Exit, Failure, Outcome};
use crate::house::{Home, HouseDir};
use crate::writer::{Writer, now};
use std::io::Write as _;

/// Entries read at once.
const PAGE: usize = 2_000;
/// Bodies of one entry and one deletion.
const CHUNK: usize = 500;

/// What was done.
#[derive(Default, Serialize)]
struct Done {
    bodies: usize,
    kept: usize,
    deleted: usize,
    freed_bytes: u64,
}

/// Does it.
pub(crate) fn run(asked: &Where, lang: Option<Lang>) -> Outcome {
    let home = Home::open(asked.dir.as_deref())?;
    let lang = lang.unwrap_or(home.file.lang);
    let done = runtime()?.block_on(collect(&home))?;
    if asked.json {
        let mut out = stdout();
        json_line(&mut out, &done)?;
        out.flush()?;
        return Ok(Exit::Fine);
    }
    let Done {
        kept,
        deleted,
        freed_bytes,
        ..
    } = done;
    print(&match lang {
        Lang::Ja => {
            format!("本文 {deleted} 件（{freed_bytes} バイト）を消し、{kept} 件を残しました。\n")
        }
        Lang::En => format!("{deleted} bodies ({freed_bytes} bytes) were deleted, {kept} stay.\n"),
    })?;
    Ok(Exit::Fine)
}

async fn collect(home: &Home) -> Result<Done, Failure> {
    let files = Home {
        dir: home.dir.clone(),
        file: home.file.clone(),
    };
    let house = HouseDir::of(files, None)?;
    let Some(store) = home.store().await? else {
        return Ok(Done::default());
    };
    // Bodies first: what is stored while the journal is read is younger than any limit.
    let mut sizes: BTreeMap<Digest, u64> = BTreeMap::new();
    for body in store.bodies().await? {
        *sizes.entry(body.digest).or_default() += body.frame_bytes;
    }
    let known = Known::read(&store).await?;
    let mut over: Vec<Digest> = Vec::new();
    for bot in &house.bots {
        let bodies: Vec<StoredBody> = known
            .bodies
            .iter()
            .filter(|(digest, (of, _))| *of == bot.charter.bot && sizes.contains_key(digest))
            .map(|(_, (_, body))| *body)
            .collect();
        over.extend(expired(&bodies, &bot.charter, now()));
    }
    over.sort_unstable();
    if !over.is_empty() {
        let writer = Writer::open(home, "gc").await?;
        for digests in over.chunks(CHUNK) {
            let dropped = EvidenceDropped {
                digests: digests.to_vec(),
                by: "retention".to_owned(),
                reason: "retention_unreferenced".to_owned(),
            };
            writer
                .append(LaneId::HOUSE, None, |_, _| {
                    Ok(Event::EvidenceDropped(dropped))
                })
                .await?;
            store.drop_bodies(digests).await?;
        }
    }
    // Journalled as deleted earlier, and still there: a crash came between.
    let left: Vec<Digest> = known
        .dropped
        .iter()
        .filter(|digest| sizes.contains_key(digest))
        .copied()
        .collect();
    for digests in left.chunks(CHUNK) {
        store.drop_bodies(digests).await?;
    }
    let gone = || over.iter().chain(&left);
    let freed_bytes = gone().filter_map(|digest| sizes.get(digest)).sum();
    let deleted = gone().count();
    Ok(Done {
        bodies: sizes.len(),
        kept: sizes.len() - deleted,
        deleted,
        freed_bytes,
    })
}

/// What the journal says of each body.
#[derive(Default)]
struct Known {
    bodies: HashMap<Digest, (String, StoredBody)>,
    dropped: std::collections::BTreeSet<Digest>,
}

impl Known {
    async fn read(store: &Store) -> Result<Self, Failure> {
        let (mut known, mut permits, mut from) = (Self::default(), HashMap::new(), Seq(0));
        loop {
            let page = store.entries(from, PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(known);
            };
            from = Seq(last.header.seq.0 + 1);
            for entry in &page {
                match entry.event() {
                    Ok(Some(Event::Admitted(admitted))) => {
                        permits.insert(entry.header.seq, (admitted.bot, admitted.kind));
                    }
                    Ok(Some(Event::Answered(answered))) => {
                        let permit = permits.remove(&answered.admitted);
                        if let Some(((bot, kind), body)) = permit.zip(answered.body) {
                            known.store(bot, kind, body.digest, entry.header.at);
                        }
                    }
                    Ok(Some(Event::NotSent(e))) => drop(permits.remove(&e.admitted)),
                    Ok(Some(Event::Lost(e))) => drop(permits.remove(&e.admitted)),
                    Ok(Some(Event::Changed(changed))) => {
                        for digest in [changed.before, changed.after] {
                            if let Some((_, body)) = known.bodies.get_mut(&digest) {
                                body.referenced = true;
                            }
                        }
                    }
                    Ok(Some(Event::EvidenceDropped(dropped))) => {
                        for digest in dropped.digests {
                            known.bodies.remove(&digest);
                            known.dropped.insert(digest);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// A body counts from when it was last fetched; a robots.txt is what requests were judged by.
    fn store(
        &mut self,
        bot: String,
        kind: RequestKind,
        digest: Digest,
        at: reigi_core::time::Timestamp,
    ) {
        self.dropped.remove(&digest);
        let robots = kind == RequestKind::Robots;
        let fresh = StoredBody {
            digest,
            stored_at: at,
            referenced: robots,
        };
        let (of, body) = self.bodies.entry(digest).or_insert((bot.clone(), fresh));
        *of = bot;
        body.stored_at = at;
        body.referenced |= robots;
    }
}
