//! `reigi explain`: what would happen to a URL now, and which sentence of the policy decides.

use std::io::Write as _;
use std::sync::Arc;

use reigi_core::charter::Lang;
use reigi_core::crawl::observe::in_words;
use reigi_core::digest::Digest;
use reigi_core::event::{Event, LaneId, TargetEntered};
use reigi_core::explain::{LastRequest, Outcome as Would, explain};
use reigi_core::host::Host;
use reigi_core::journal::Header;
use reigi_core::state::house::Zone;
use reigi_core::state::{House, LaneState, RobotsVerdict, Table};
use reigi_core::time::{Clock as _, Mono, Now};
use reigi_robots::Rules;
use reigi_store::Store;
use url::Url;

use super::{json_line, runtime, stdout};
use crate::cli::Explain;
use crate::clock::SystemClock;
use crate::exit::{Exit, Failure, Outcome};
use crate::house::{Home, HouseDir, lane_in};

/// Earlier requests shown.
const LAST: usize = 5;
/// Entries of the lane that are looked through for them.
const LOOKED: usize = 400;

/// Does it. A URL that no bot would ask for is a "no".
pub(crate) fn run(asked: &Explain, lang: Option<Lang>) -> Outcome {
    let home = Home::open(asked.of.dir.as_deref())?;
    let lang = lang.unwrap_or(home.file.lang);
    let only = asked
        .of
        .bot
        .as_deref()
        .map(|bot| home.bot_named(Some(bot)).cloned())
        .transpose()?;
    let url = parse(&asked.url)?;
    let rt = runtime()?;
    let store = rt.block_on(home.store())?;
    let house = HouseDir::of(home, None)?;
    let now = SystemClock::new().now();
    let (live, lane, last) = rt.block_on(scene(&house, store.as_ref(), &url, now))?;
    let mut out = stdout();
    let mut is_asked = false;
    let bots = house.bots.iter().map(|bot| bot.charter.bot.as_str());
    for bot in bots.filter(|bot| only.as_ref().is_none_or(|only| only.bot == *bot)) {
        let mut said = explain(&live, lane.as_ref(), bot, None, &url, now);
        said.last.clone_from(&last);
        is_asked |= matches!(
            said.outcome,
            Would::Fetched { .. } | Would::Waits | Would::NotDue
        );
        if asked.json {
            json_line(&mut out, &said.json())?;
        } else {
            writeln!(out, "{}", said.words(lang).trim_end())?;
        }
    }
    out.flush()?;
    Ok(if is_asked { Exit::Fine } else { Exit::No })
}

fn parse(text: &str) -> Result<Url, Failure> {
    let url = Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"));
    url.ok_or_else(|| {
        Failure::bad_input(
            format!("{text} は http または https のURLではありません。"),
            format!("{text} is no http or https URL."),
        )
    })
}

type Scene = (House, Option<LaneState>, Vec<LastRequest>);

/// House and lane as the next run would find them: stored state, and ledger rows that it would
/// adopt.
async fn scene(
    house: &HouseDir,
    store: Option<&Store>,
    url: &Url,
    now: Now,
) -> Result<Scene, Failure> {
    let mut live = House {
        charters: house
            .bots
            .iter()
            .map(|b| (b.charter.bot.clone(), Arc::clone(&b.charter)))
            .collect(),
        zone: Zone(house.file.zone.clone()),
        allow_private: house.file.network.allow_private.clone(),
        ..House::default()
    };
    let (mut lane, mut last) = (None, Vec::new());
    let host = Host::of(url);
    if let Some(store) = store {
        live = house.live(store).await?;
        if let Some(host) = &host
            && let Some(row) = store.rows_by_key(Table::Lane, host.as_str()).await?.first()
        {
            lane = lane_in(&store.rows_of_lane(row.lane).await?)?;
            last = last_requests(store, row.lane, url).await?;
        }
    }
    if let (Some(store), Some(lane)) = (store, &mut lane) {
        load_rules(store, lane).await?;
    }
    if let Some(host) = host {
        lane = with_files(house, &live, lane, host, now);
    }
    Ok((live, lane, last))
}

/// The lane with the rows of the ledgers on disk that are not in force yet.
fn with_files(
    house: &HouseDir,
    live: &House,
    lane: Option<LaneState>,
    host: Host,
    now: Now,
) -> Option<LaneState> {
    let is_known = lane.is_some();
    let mut lane =
        lane.unwrap_or_else(|| LaneState::new(LaneId(0), host.clone(), 0, Mono::default()));
    let mut entered = false;
    for bot in &house.bots {
        for row in &bot.ledger.targets {
            let of = row
                .urls
                .first()
                .and_then(|url| Host::of(&Url::parse(url).ok()?));
            let known = lane.targets.values().any(|t| {
                t.key.bot == bot.charter.bot && t.key.id == row.id && t.row == *row && !t.left
            });
            if known || of.as_ref() != Some(&host) {
                continue;
            }
            entered = true;
            let bot = bot.charter.bot.clone();
            let event = TargetEntered {
                bot,
                row: row.clone(),
                due: now.wall,
                epoch: 0,
            };
            lane.apply(live, &unwritten(now), &event.into());
        }
    }
    (is_known || entered).then_some(lane)
}

/// The header of an entry that is only imagined.
fn unwritten(now: Now) -> Header {
    Header {
        seq: Default::default(),
        segment: 0,
        at: now.wall,
        kind: String::new(),
        kind_version: 1,
        bot: 0,
        lane: LaneId(0),
        lane_seq: 0,
        payload_digest: Digest::default(),
        prev: Digest::default(),
    }
}

async fn load_rules(store: &Store, lane: &mut LaneState) -> Result<(), Failure> {
    let wanted: Vec<Digest> = lane
        .lane
        .robots
        .values()
        .filter_map(|record| match record.verdict {
            RobotsVerdict::Rules(digest) => Some(digest),
            RobotsVerdict::Means { .. } => None,
        })
        .collect();
    for digest in wanted {
        if let Some(body) = store.get_body(digest).await? {
            lane.rules.insert(digest, Arc::new(Rules::parse(&body)));
        }
    }
    Ok(())
}

/// The last requests for the URL, newest first.
async fn last_requests(
    store: &Store,
    lane: LaneId,
    url: &Url,
) -> Result<Vec<LastRequest>, Failure> {
    let entries = store.lane_entries(lane, None, LOOKED).await?;
    let mut ends = std::collections::HashMap::new();
    let mut last = Vec::new();
    for entry in &entries {
        match entry.event() {
            Ok(Some(Event::Answered(answered))) => {
                ends.insert(answered.admitted, in_words(&answered.outcome));
            }
            Ok(Some(Event::Admitted(admitted))) if admitted.url == url.as_str() => {
                let Some(outcome) = ends.remove(&entry.header.seq) else {
                    continue;
                };
                last.push(LastRequest {
                    at: entry.header.at,
                    url: admitted.url,
                    outcome,
                });
                if last.len() >= LAST {
                    break;
                }
            }
            _ => {}
        }
    }
    Ok(last)
}
