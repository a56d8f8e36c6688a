//! A house on disk: its files, checked, and its live state, read from the store.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reigi_core::charter::Charter;
use reigi_core::charter::problem::{Problems, decode};
use reigi_core::house_file::HouseFile;
use reigi_core::ledger::Ledger;
use reigi_core::state::house::{HouseFacts, Zone};
use reigi_core::state::{House, Table};
use reigi_store::Store;

/// The house file's name.
pub(crate) const HOUSE_FILE: &str = "reigi.toml";

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

impl HouseDir {
    /// The nearest folder with a `reigi.toml`: `dir` itself, or the working folder and above.
    pub(crate) fn find(dir: Option<&Path>) -> Result<PathBuf, NotOpened> {
        if let Some(dir) = dir {
            let found = dir.join(HOUSE_FILE).is_file();
            return if found { Ok(dir.to_owned()) } else { Err(NotOpened::NoHouse(dir.to_owned())) };
        }
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let nearest = here.ancestors().find(|dir| dir.join(HOUSE_FILE).is_file());
        nearest.map(Path::to_owned).ok_or(NotOpened::NoHouse(here))
    }

    /// Reads and checks every file of the house; all problems of all files at once.
    pub(crate) fn open(dir: Option<&Path>) -> Result<Self, NotOpened> {
        let dir = Self::find(dir)?;
        let text = read(&dir.join(HOUSE_FILE))?;
        let file = match HouseFile::parse(HOUSE_FILE, &text) {
            Ok(file) => file,
            Err(problems) => return Err(NotOpened::Problems(vec![Report { text, problems }])),
        };
        let (mut bots, mut bad, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        for names in &file.bots {
            let text = read(&dir.join(&names.charter))?;
            let charter = match Charter::parse(&names.charter, &text) {
                Ok(charter) => charter,
                Err(problems) => {
                    bad.push(Report { text, problems });
                    continue;
                }
            };
            let text = read(&dir.join(&names.ledger))?;
            match Ledger::parse(&names.ledger, &text, &charter) {
                Ok(ledger) => {
                    let problems = ledger.warnings.clone();
                    if !problems.is_empty() {
                        warnings.push(Report { text, problems });
                    }
                    bots.push(Bot { charter: Arc::new(charter), ledger });
                }
                Err(problems) => bad.push(Report { text, problems }),
            }
        }
        if bad.is_empty() { Ok(Self { dir, file, bots, warnings }) } else { Err(NotOpened::Problems(bad)) }
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.dir.join(&self.file.store)
    }

    /// The live state of the house, as the store has it, judged by the charters on disk.
    pub(crate) async fn live(&self, store: &Store) -> Result<House, reigi_store::Error> {
        let charters: BTreeMap<String, Arc<Charter>> =
            self.bots.iter().map(|b| (b.charter.bot.clone(), Arc::clone(&b.charter))).collect();
        Ok(House {
            facts: facts(store).await?,
            charters,
            zone: Zone(self.file.zone.clone()),
            allow_private: self.file.network.allow_private.clone(),
        })
    }
}

/// The house's stored facts, with everything that stays: charters, zone, network.
pub(crate) async fn reload(store: &Store, house: &House) -> Result<House, reigi_store::Error> {
    Ok(House { facts: facts(store).await?, ..house.clone() })
}

async fn facts(store: &Store) -> Result<HouseFacts, reigi_store::Error> {
    let row = store.rows_of(Table::House).await?.into_iter().find(|row| row.key == "house");
    row.map_or_else(|| Ok(HouseFacts::default()), |row| crate::driver::read_row(&row))
}

fn read(path: &Path) -> Result<String, NotOpened> {
    let bytes = fs::read(path).map_err(|e| NotOpened::File(path.to_owned(), e))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match decode(&name, &bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(problems) => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Err(NotOpened::Problems(vec![Report { text, problems }]))
        }
    }
}
