//! `reigi.toml`: the house's own file. Which bots it runs, where its data lies, who may read
//! bodies, and the network hooks.
//!
//! Nothing here can weaken a promise: what a bot may do stands in its charter.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Component, Path};

use jiff::tz::TimeZone;

use crate::charter::problem::{Problems, Sheet, say};
use crate::charter::reader::{self, Table, Value};
use crate::charter::{Lang, bot_name};
use crate::host::Block;

mod template;

pub use template::{Answers, FirstTarget, TEMPLATES, template};

/// The name of the file in the house's folder.
pub const FILE_NAME: &str = "reigi.toml";

/// A house as its file describes it.
#[derive(Clone, PartialEq, Debug)]
pub struct HouseFile {
    /// Name for people.
    pub name: String,
    /// Zone that periods and dates are counted in; UTC unless said.
    pub zone: TimeZone,
    /// Language of reports where the command line names none.
    pub lang: Lang,
    /// The bots, in the order of the file.
    pub bots: Vec<BotFiles>,
    /// Test hooks.
    pub network: Network,
    /// Folder of journal and evidence, relative to the house's folder.
    pub store: String,
    /// People by role (`reviewer` → names). A charter's `evidence.readers` names roles.
    pub roles: BTreeMap<String, Vec<String>>,
}

/// The files of one bot, relative to the house's folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BotFiles {
    /// Its name: the stem of the charter file.
    pub bot: String,
    /// The charter.
    pub charter: String,
    /// The ledger, TOML or CSV.
    pub ledger: String,
}

/// `[network]`: where names lead. Off by default; nothing here changes what is promised.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Network {
    /// Name server to ask instead of the system's.
    pub resolver: Option<SocketAddr>,
    /// Addresses that are allowed although no public site can have them.
    pub allow_private: Vec<Block>,
    /// File with lines `host address:port`.
    pub hosts_file: Option<String>,
}

impl HouseFile {
    /// Reads `reigi.toml`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(file_name: &str, text: &str) -> Result<Self, Problems> {
        let sheet = Sheet::new(file_name, text);
        let document = reader::parse(&sheet);
        let root = Table::root(&sheet, &document);
        let house = house_file(&root);
        root.finish();
        sheet.finish(house).map(|(house, _)| house)
    }

    /// Whether `person` has one of `roles`.
    #[must_use]
    pub fn has_role(&self, person: &str, roles: &[String]) -> bool {
        roles
            .iter()
            .filter_map(|role| self.roles.get(role))
            .flatten()
            .any(|name| name == person)
    }
}

fn house_file(root: &Table<'_, '_>) -> Option<HouseFile> {
    let house = root.section("house").map(|t| {
        let name = t.need("name", "\"Example\"").and_then(|v| v.words());
        let zone = t.maybe("zone", zone);
        let langs = [("ja", Lang::Ja), ("en", Lang::En)];
        let lang = t.maybe("lang", |v| v.one_of(&langs, &[]));
        t.finish();
        Some((
            name?,
            zone?.unwrap_or(TimeZone::UTC),
            lang?.unwrap_or_default(),
        ))
    });
    let bots = match root.get("bot") {
        Some(value) => bots(&value),
        None => {
            root.missing("bot", "[[bot]]");
            None
        }
    };
    let network = root.maybe("network", |v| v.table().and_then(|t| network(&t)));
    let store = root.maybe("store", |v| {
        let t = v.table()?;
        let path = t.maybe("path", Value::words);
        t.finish();
        path
    });
    let roles = root.maybe("roles", roles);
    let (name, zone, lang) = house??;
    Some(HouseFile {
        name,
        zone,
        lang,
        bots: bots?,
        network: network?.unwrap_or_default(),
        store: store?.flatten().unwrap_or_else(|| "data".to_owned()),
        roles: roles?.unwrap_or_default(),
    })
}

fn zone(value: &Value<'_, '_>) -> Option<TimeZone> {
    let name = value.text()?;
    if let Ok(zone) = TimeZone::get(name) {
        return Some(zone);
    }
    value.wrong(
        say(
            format!("`{name}` という時間帯はありません。"),
            format!("there is no time zone `{name}`"),
        ),
        say(
            "`\"Asia/Tokyo\"` のように、IANA の名前で書いてください。",
            "write its IANA name, like `\"Asia/Tokyo\"`",
        ),
    )
}

/// `[[bot]]`.
fn bots(value: &Value<'_, '_>) -> Option<Vec<BotFiles>> {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    let elements = value.list()?;
    if elements.is_empty() {
        return value.wrong(
            say("ボットがありません。", "there is no bot"),
            say("[[bot]] を書いてください。", "write a [[bot]]"),
        );
    }
    let read: Vec<_> = elements
        .iter()
        .map(|value| {
            let t = value.table()?;
            let charter_value = t.need("charter", "\"charters/school-watch.toml\"");
            let charter = charter_value.as_ref().and_then(|v| path(v, &["toml"]));
            let ledger = t
                .need("ledger", "\"ledgers/school-watch.csv\"")
                .and_then(|v| path(&v, &["toml", "csv"]));
            t.finish();
            let (charter_value, charter) = (charter_value?, charter?);
            let bot = bot(&charter_value, &charter)?;
            let line = value.sheet.line(charter_value.span.start);
            if let Some(first) = lines.insert(bot.clone(), line) {
                charter_value.wrong::<()>(
                    say(
                        format!("ボット `{bot}` は {first} 行目にもあります。"),
                        format!("the bot `{bot}` is on line {first} too"),
                    ),
                    say(
                        "charter のファイル名がボットの名前です。別の名前にしてください。",
                        "the charter's file name is the bot's name: choose another",
                    ),
                );
            }
            Some(BotFiles {
                bot,
                charter,
                ledger: ledger?,
            })
        })
        .collect();
    read.into_iter().collect()
}

fn bot(value: &Value<'_, '_>, charter: &str) -> Option<String> {
    if let Some(bot) = bot_name(charter) {
        return Some(bot.to_owned());
    }
    value.wrong(
        say(
            "ファイル名がボットの名前になりません。",
            "the file's name is no name for a bot",
        ),
        say(
            "`charters/school-watch.toml` のように、小文字の英数字と - だけで名づけてください。",
            "name it like `charters/school-watch.toml`: lower-case letters, digits and -",
        ),
    )
}

/// A path within the house's folder, with one of the endings.
fn path(value: &Value<'_, '_>, endings: &[&str]) -> Option<String> {
    let text = value.words()?;
    let path = Path::new(&text);
    let within = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let ending = path.extension().and_then(|e| e.to_str());
    if path.components().all(within) && ending.is_some_and(|e| endings.contains(&e)) {
        return Some(text);
    }
    let endings = endings.join(" | .");
    value.wrong(
        say(
            format!("`{}` は、この家のフォルダーの中の .{endings} ファイルではありません。", value.path),
            format!("`{}` is no .{endings} file within the house's folder", value.path),
        ),
        say(
            "`\"charters/school-watch.toml\"` のように、reigi.toml からの相対パスで書いてください。",
            "write a path relative to reigi.toml, like `\"charters/school-watch.toml\"`",
        ),
    )
}

fn network(t: &Table<'_, '_>) -> Option<Network> {
    let resolver = t.maybe("resolver", |v| {
        let text = v.text()?;
        text.parse()
            .ok()
            .or_else(|| bad_address(v, "127.0.0.1:5300"))
    });
    let allow_private = t.maybe("allow_private", |v| {
        v.list_of(|v| Block::parse(v.text()?).or_else(|| bad_address(v, "127.0.0.0/8")))
    });
    let hosts_file = t.maybe("hosts_file", Value::words);
    t.finish();
    Some(Network {
        resolver: resolver?,
        allow_private: allow_private?.unwrap_or_default(),
        hosts_file: hosts_file?,
    })
}

fn bad_address<T>(value: &Value<'_, '_>, example: &str) -> Option<T> {
    value.wrong(
        say(
            format!("`{}` をアドレスとして読めません。", value.path),
            format!("`{}` is not such an address", value.path),
        ),
        say(
            format!("`\"{example}\"` のように書いてください。"),
            format!("write it like `\"{example}\"`"),
        ),
    )
}

/// `[roles]`: role → people.
fn roles(value: &Value<'_, '_>) -> Option<BTreeMap<String, Vec<String>>> {
    let read = value.table()?.map(|role, people| {
        let people = people.list_of(Value::words)?;
        Some((role.to_owned(), people))
    });
    read.into_iter().collect()
}
