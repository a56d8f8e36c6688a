//! `reigi audit --rebuild`: folds the whole journal again and compares the rows with the stored
//! ones.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::tz::TimeZone;
use reigi_core::charter::{Charter, Lang};
use reigi_core::event::{Event, LaneId, Seq};
use reigi_core::host::Host;
use reigi_core::journal::Entry;
use reigi_core::state::house::Zone;
use reigi_core::state::{House, LaneState, Row, RowChange, Table};
use reigi_core::time::Mono;
use reigi_store::Store;
use serde::Serialize;

use crate::exit::Failure;
use crate::house::Home;

/// Entries read at once.
const PAGE: usize = 2_000;

/// What a rebuild found.
#[derive(Serialize)]
pub(crate) struct Rebuilt {
    /// Rows compared.
    rows: usize,
    /// Rows that differ, are missing or stand there though no entry made them; the first 100.
    differ: Vec<String>,
    /// Entries that could not be folded because their payload was erased.
    erased: u64,
}

/// Rows named in a report.
const NAMED: usize = 100;

impl Rebuilt {
    /// Whether the stored state is the journal's. Where payloads were erased nobody can tell.
    pub(crate) fn is_same(&self) -> bool {
        self.differ.is_empty() || self.erased > 0
    }

    /// One line for people.
    pub(crate) fn in_words(&self, lang: Lang) -> String {
        let (rows, differ, erased) = (self.rows, self.differ.len(), self.erased);
        let mut out = match (lang, differ, erased) {
            (Lang::Ja, 0, _) => format!("記録から状態を作り直しました：{rows} 行、相違なし\n"),
            (Lang::En, 0, _) => {
                format!("State folded again from the journal: {rows} rows, the same\n")
            }
            (Lang::Ja, _, 0) => format!("記録から作り直した状態と {differ} 行が異なります：\n"),
            (Lang::En, _, 0) => format!("{differ} rows differ from those folded again:\n"),
            (Lang::Ja, ..) => {
                format!("{erased} 件の本文が消されているため、{differ} 行は比べられません：\n")
            }
            (Lang::En, ..) => {
                format!("{erased} payloads were erased, so {differ} rows cannot be compared:\n")
            }
        };
        for row in self.differ.iter().take(5) {
            out += &format!("  {row}\n");
        }
        out
    }
}

/// Folds everything. Needs the house to itself: a driver would write meanwhile.
pub(crate) async fn run(home: &Home, store: &Store) -> Result<Rebuilt, Failure> {
    let _lock = store.lock_driver("audit")?;
    let mut fold = Fold::new(home);
    let mut from = Seq(0);
    loop {
        let page = store.entries(from, PAGE).await?;
        let Some(last) = page.last() else { break };
        from = Seq(last.header.seq.0 + 1);
        for entry in &page {
            fold.see(entry)?;
        }
    }
    let stored: BTreeMap<Key, Row> = store
        .all_rows()
        .await?
        .into_iter()
        .map(|row| (key(&row), row))
        .collect();
    let mut differ: Vec<String> = stored
        .iter()
        .filter(|(key, row)| fold.rows.get(key) != Some(row))
        .map(|(key, _)| named(key))
        .chain(
            fold.rows
                .keys()
                .filter(|key| !stored.contains_key(key))
                .map(named),
        )
        .collect();
    differ.truncate(NAMED);
    Ok(Rebuilt {
        rows: fold.rows.len(),
        differ,
        erased: fold.erased,
    })
}

type Key = (Table, LaneId, String);

fn key(row: &Row) -> Key {
    (row.table, row.lane, row.key.clone())
}

fn named((table, lane, key): &Key) -> String {
    format!("{} {key} (lane {})", table.name(), lane.0)
}

struct Fold {
    house: House,
    lanes: HashMap<LaneId, LaneState>,
    rows: BTreeMap<Key, Row>,
    erased: u64,
}

impl Fold {
    fn new(home: &Home) -> Self {
        let house = House {
            zone: Zone(home.file.zone.clone()),
            ..House::default()
        };
        Self {
            house,
            lanes: HashMap::new(),
            rows: BTreeMap::new(),
            erased: 0,
        }
    }

    fn see(&mut self, entry: &Entry) -> Result<(), Failure> {
        let header = &entry.header;
        let event = entry.event().map_err(|error| {
            Failure::could_not(
                format!("記録を読めません（{error}）。"),
                format!("The journal cannot be read: {error}."),
            )
        })?;
        let Some(event) = event else {
            self.erased += 1;
            return Ok(());
        };
        self.take_charter(&event);
        if let Event::LaneOpened(opened) = &event
            && let Some(host) = Host::parse(&opened.host)
        {
            let lane = LaneState::new(header.lane, host, header.segment, Mono::default());
            self.lanes.insert(header.lane, lane);
        }
        let mut changes = self.house.apply(header, &event);
        if let Some(lane) = self.lanes.get_mut(&header.lane) {
            changes.extend(lane.apply(&self.house, header, &event));
        }
        for change in changes {
            match change {
                RowChange::Put(row) => drop(self.rows.insert(key(&row), row)),
                RowChange::Drop { table, lane, key } => drop(self.rows.remove(&(table, lane, key))),
            }
        }
        Ok(())
    }

    /// Pace rules come from the charter then in force.
    fn take_charter(&mut self, event: &Event) {
        let Event::CharterAdopted(adopted) = event else {
            return;
        };
        if let Ok(zone) = TimeZone::get(&adopted.zone) {
            self.house.zone = Zone(zone);
        }
        if let Ok(charter) = Charter::parse(&format!("{}.toml", adopted.bot), &adopted.text) {
            self.house
                .charters
                .insert(adopted.bot.clone(), Arc::new(charter));
        }
    }
}
