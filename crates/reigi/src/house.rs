//! A house on disk: its files, checked, and its live state, read from the store.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::civil::Date;
use reigi_core::charter::problem::{Problem, Problems, Severity, decode};
use reigi_core::charter::{Bilingual, Charter, Lang};
use reigi_core::house_file::{BotFiles, FILE_NAME, HouseFile};
use reigi_core::ledger::Ledger;
use reigi_core::state::house::{HouseFacts, Zone};
use reigi_core::state::{Change, Lane, LaneState, Row, TargetState};
use reigi_core::state::{House, Table};
use reigi_store::Store;

use crate::driver::read_row;
use crate::exit::Failure;

/// A house by its own file alone: enough for what must work whatever its charters look like.
pub(crate) struct Home {
    /// The folder.
    pub(crate) dir: PathBuf,
    /// `reigi.toml`.
    pub(crate) file: HouseFile,
}

/// The files of a house, all valid.
pub(crate) struct HouseDir {
    /// The folder.
    pub(crate) dir: PathBuf,
    /// `reigi.toml`.
    pub(crate) file: HouseFile,
    /// Charter and ledger of each bot, in the file's order.
    pub(crate) bots: Vec<Bot>,
    /// What is worth a word although it is valid.
    pub(crate) warnings: Vec<Report>,
}

/// One bot's files.
pub(crate) struct Bot {
    /// Its charter.
    pub(crate) charter: Arc<Charter>,
    /// Its ledger.
    pub(crate) ledger: Ledger,
}

/// Problems of one file, with the text that they point into.
pub(crate) struct Report {
    /// The text.
    pub(crate) text: String,
    /// What was found.
    pub(crate) problems: Problems,
}

/// Why a house cannot be opened.
pub(crate) enum NotOpened {
    /// No `reigi.toml` in the folder or above it.
    NoHouse(PathBuf),
    /// A file cannot be read.
    File(PathBuf, std::io::Error),
    /// Files with problems, all of them.
    Problems(Vec<Report>),
}

impl Home {
    /// Reads `reigi.toml` of `dir`, or of the working folder or the nearest folder above it.
    pub(crate) fn open(dir: Option<&Path>) -> Result<Self, NotOpened> {
        let dir = find(dir)?;
        let path = dir.join(FILE_NAME);
        let bytes = fs::read(&path).map_err(|e| NotOpened::File(path, e))?;
        let text =
            text_of(FILE_NAME, &bytes).map_err(|report| NotOpened::Problems(vec![report]))?;
        match HouseFile::parse(FILE_NAME, &text) {
            Ok(file) => {
                crate::lang::note_house(file.lang);
                Ok(Self { dir, file })
            }
            Err(problems) => Err(NotOpened::Problems(vec![Report { text, problems }])),
        }
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.dir.join(&self.file.store)
    }

    /// The store; `None` where the house has never run.
    pub(crate) async fn store(&self) -> Result<Option<Store>, Failure> {
        if !self.data().join("reigi.db").exists() {
            return Ok(None);
        }
        Ok(Some(Store::open(&self.data()).await?))
    }

    /// The files of the bot of this name; without a name, of the only bot.
    pub(crate) fn bot_named(&self, name: Option<&str>) -> Result<&BotFiles, Failure> {
        let bots = &self.file.bots;
        let named = |name: &str| bots.iter().find(|bot| bot.bot == name);
        let found = match (name, bots.as_slice()) {
            (Some(name), _) => named(name),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        found.ok_or_else(|| {
            let list: Vec<&str> = bots.iter().map(|bot| bot.bot.as_str()).collect();
            let list = list.join(", ");
            Failure::bad_input(
                format!("どのボットかが分かりません（{list}）。"),
                format!("Which bot? This house has: {list}."),
            )
            .hint("--bot NAME で指定してください。", "Say it with --bot NAME.")
        })
    }

    /// Reads a bot's files; every problem of both. The ledger is read once the charter is valid:
    /// what is right in it depends on that.
    fn bot(&self, names: &BotFiles, today: Option<Date>) -> Result<(Bot, Option<Report>), Report> {
        let text = self.text(&names.charter)?;
        let charter =
            Charter::parse(&names.charter, &text).map_err(|problems| Report { text, problems })?;
        let text = self.text(&names.ledger)?;
        let ledger = Ledger::parse_as_of(&names.ledger, &text, &charter, today);
        match ledger {
            Err(problems) => Err(Report { text, problems }),
            Ok(ledger) => {
                let problems = ledger.warnings.clone();
                let warned = (!problems.is_empty()).then_some(Report { text, problems });
                Ok((
                    Bot {
                        charter: Arc::new(charter),
                        ledger,
                    },
                    warned,
                ))
            }
        }
    }

    fn text(&self, name: &str) -> Result<String, Report> {
        match fs::read(self.dir.join(name)) {
            Ok(bytes) => text_of(name, &bytes),
            Err(error) => Err(missing(name, &error)),
        }
    }
}

impl HouseDir {
    /// Reads and checks every file of the house; all problems of all files at once.
    pub(crate) fn open(dir: Option<&Path>) -> Result<Self, NotOpened> {
        Self::of(Home::open(dir)?, None)
    }

    /// The rest of a house whose own file was read. `today`: look at the dates in ledgers, too.
    pub(crate) fn of(home: Home, today: Option<Date>) -> Result<Self, NotOpened> {
        let (mut bots, mut bad, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        for names in &home.file.bots {
            match home.bot(names, today) {
                Ok((bot, warned)) => {
                    bots.push(bot);
                    warnings.extend(warned);
                }
                Err(report) => bad.push(report),
            }
        }
        if !bad.is_empty() {
            bad.append(&mut warnings);
            return Err(NotOpened::Problems(bad));
        }
        let Home { dir, file } = home;
        Ok(Self {
            dir,
            file,
            bots,
            warnings,
        })
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.dir.join(&self.file.store)
    }

    /// The live state of the house, as the store has it, judged by the charters on disk.
    pub(crate) async fn live(&self, store: &Store) -> Result<House, reigi_store::Error> {
        let charters: BTreeMap<String, Arc<Charter>> = self
            .bots
            .iter()
            .map(|b| (b.charter.bot.clone(), Arc::clone(&b.charter)))
            .collect();
        Ok(House {
            facts: facts(store).await?,
            charters,
            zone: Zone(self.file.zone.clone()),
            allow_private: self.file.network.allow_private.clone(),
        })
    }
}

impl NotOpened {
    /// The reports of a house with problems.
    pub(crate) fn reports(self) -> Result<Vec<Report>, Failure> {
        match self {
            Self::Problems(reports) => Ok(reports),
            Self::File(path, error) => Err(Failure::unreadable(&path, &error)),
            Self::NoHouse(dir) => {
                let dir = dir.display();
                Err(Failure::bad_input(
                    format!("{dir} にもその上のフォルダーにも reigi.toml がありません。"),
                    format!("There is no reigi.toml in {dir} or above it."),
                )
                .hint(
                    "`reigi init DIR --template changes` で家を作るか、フォルダーを指定してください。",
                    "Make a house with `reigi init DIR --template changes`, or name its folder.",
                ))
            }
        }
    }
}

impl From<NotOpened> for Failure {
    fn from(not: NotOpened) -> Self {
        let reports = match not.reports() {
            Ok(reports) => reports,
            Err(failure) => return failure,
        };
        let render = |lang| -> String {
            reports
                .iter()
                .map(|report| report.problems.render(&report.text, lang))
                .collect()
        };
        Self::bad_input(render(Lang::Ja).trim_end(), render(Lang::En).trim_end()).hint(
            "直してから `reigi check` で確かめてください。",
            "Mend them, then see with `reigi check`.",
        )
    }
}

/// The house's stored facts, with everything that stays: charters, zone, network.
pub(crate) async fn reload(store: &Store, house: &House) -> Result<House, reigi_store::Error> {
    Ok(House {
        facts: facts(store).await?,
        ..house.clone()
    })
}

/// The house's facts as stored.
pub(crate) async fn facts(store: &Store) -> Result<HouseFacts, reigi_store::Error> {
    facts_in(&store.rows_of(Table::House).await?)
}

/// The house's facts among its rows; none yet: a house that has done nothing.
pub(crate) fn facts_in(rows: &[Row]) -> Result<HouseFacts, reigi_store::Error> {
    let row = rows
        .iter()
        .find(|row| row.table == Table::House && row.key == "house");
    row.map_or_else(|| Ok(HouseFacts::default()), read_row)
}

/// A lane among its rows; `None`: no such lane. Robots bodies are left to those who judge by them.
pub(crate) fn lane_in(rows: &[Row]) -> Result<Option<LaneState>, reigi_store::Error> {
    let Some(row) = rows.iter().find(|row| row.table == Table::Lane) else {
        return Ok(None);
    };
    let lane: Lane = read_row(row)?;
    let mut state = LaneState::new(lane.id, lane.host.clone(), 0, Default::default());
    state.lane = lane;
    for row in rows {
        match row.table {
            Table::Target => {
                let target: TargetState = read_row(row)?;
                state.targets.insert(target.key.clone(), target);
            }
            Table::Change => {
                let change: Change = read_row(row)?;
                state.changes.insert(change.what.change, change);
            }
            Table::House | Table::Lane => {}
        }
    }
    Ok(Some(state))
}

/// The nearest folder with a `reigi.toml`: `dir` itself, or the working folder and above.
fn find(dir: Option<&Path>) -> Result<PathBuf, NotOpened> {
    if let Some(dir) = dir {
        let found = dir.join(FILE_NAME).is_file();
        return if found {
            Ok(dir.to_owned())
        } else {
            Err(NotOpened::NoHouse(dir.to_owned()))
        };
    }
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let nearest = here.ancestors().find(|dir| dir.join(FILE_NAME).is_file());
    nearest.map(Path::to_owned).ok_or(NotOpened::NoHouse(here))
}

fn text_of(name: &str, bytes: &[u8]) -> Result<String, Report> {
    match decode(name, bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(problems) => Err(Report {
            text: String::from_utf8_lossy(bytes).into_owned(),
            problems,
        }),
    }
}

/// A file that `reigi.toml` names and that cannot be read.
fn missing(name: &str, error: &std::io::Error) -> Report {
    let say = |ja: String, en: String| Bilingual { ja, en };
    let problem = Problem {
        severity: Severity::Error,
        file: name.to_owned(),
        span: 0..0,
        line: 1,
        column: 1,
        what: say(
            format!("ファイルを読めません（{error}）。"),
            format!("the file cannot be read: {error}"),
        ),
        remedy: say(
            format!("ファイルを置くか、{FILE_NAME} の [[bot]] を直してください。"),
            format!("put it there, or mend the [[bot]] of {FILE_NAME}"),
        ),
    };
    Report {
        text: String::new(),
        problems: Problems {
            list: vec![problem],
        },
    }
}
