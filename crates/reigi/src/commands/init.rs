//! `reigi init`: a commented house with the operator's own identity.

use std::fs;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use reigi_core::charter::{Bilingual, Lang};
use reigi_core::house_file::{Answers, FirstTarget, template};

use crate::cli::Init;
use crate::exit::{Exit, Failure, Outcome};
use crate::house::HouseDir;
use crate::lang::pick;
use crate::people;
use crate::writer::now;

/// Does it. The files are read back before they are put in place: a house that `reigi check`
/// would refuse is not written.
pub(crate) fn run(asked: &Init, lang: Option<Lang>) -> Outcome {
    let lang = lang.unwrap_or(Lang::En);
    let dir = &asked.dir;
    if dir.exists() && fs::read_dir(dir).map_or(true, |mut entries| entries.next().is_some()) {
        let dir = dir.display();
        return Err(Failure::bad_input(
            format!("{dir} は空のフォルダーではありません。"),
            format!("{dir} is no empty folder."),
        )
        .hint("新しいフォルダーを指定してください。", "Name a new folder."));
    }
    let files = template(&asked.template, &answers(asked, lang)?).ok_or_else(|| {
        let kind = &asked.template;
        Failure::bad_input(
            format!("{kind} というひな形はありません。"),
            format!("There is no template {kind}."),
        )
    })?;
    let beside = Beside::of(dir)?;
    for (name, text) in &files {
        write(&beside.0.join(name), text)?;
    }
    HouseDir::open(Some(&beside.0)).map_err(Failure::from)?;
    if dir.exists() {
        fs::remove_dir(dir).map_err(|e| Failure::unwritable(dir, &e))?;
    }
    fs::rename(&beside.0, dir).map_err(|e| Failure::unwritable(dir, &e))?;
    super::print(&told(asked, &files, lang))?;
    Ok(Exit::Fine)
}

fn told(asked: &Init, files: &[(String, String)], lang: Lang) -> String {
    let dir = asked.dir.display();
    let mut text = match lang {
        Lang::Ja => format!("{dir} に家を作りました。\n"),
        Lang::En => format!("A new house stands in {dir}.\n"),
    };
    for (name, _) in files {
        text += &format!("  {name}\n");
    }
    text + &match (lang, &asked.target_url, &asked.target_terms_url) {
        (Lang::Ja, Some(_), Some(_)) => {
            format!("`reigi check {dir}` で確かめてから、`reigi run {dir}` で始めてください。\n")
        }
        (Lang::En, Some(_), Some(_)) => {
            format!("See that `reigi check {dir}` is content, then begin: `reigi run {dir}`.\n")
        }
        (Lang::Ja, Some(_), None) => format!(
            "対象の利用規約を読み、台帳に terms を書いてから、`reigi run {dir}` で始めてください。\n"
        ),
        (Lang::En, Some(_), None) => format!(
            "Read the target's terms of use and fill in `terms` in the ledger; \
             then begin: `reigi run {dir}`.\n"
        ),
        (Lang::Ja, None, _) => format!(
            "`reigi ledger add --id … --url … --terms-url … --terms-by … {dir}` で対象を加え、\
             `reigi check {dir}` で確かめてから、`reigi run {dir}` で始めてください。\n"
        ),
        (Lang::En, None, _) => format!(
            "Add a page: `reigi ledger add --id … --url … --terms-url … --terms-by … {dir}`; \
             see that `reigi check {dir}` is content; then begin: `reigi run {dir}`.\n"
        ),
    }
}

/// A folder beside the one to be made; it goes away with a failure.
struct Beside(PathBuf);

impl Beside {
    fn of(dir: &Path) -> Result<Self, Failure> {
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        let beside = dir.with_file_name(format!(".{name}.new-{}", std::process::id()));
        fs::create_dir_all(&beside).map_err(|e| Failure::unwritable(&beside, &e))?;
        Ok(Self(beside))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // Gone already where the house was put in place.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let write = || {
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        fs::write(path, text)
    };
    write().map_err(|e| Failure::unwritable(path, &e))
}

/// From flags, and on a terminal from questions; everything that is missing at once.
fn answers(asked: &Init, lang: Lang) -> Result<Answers, Failure> {
    let mut form = Form {
        lang,
        missing: Vec::new(),
    };
    let operator = form.need(
        "--operator",
        &asked.operator,
        "運営者の名前",
        "Who runs the bot",
    );
    let token = form.need(
        "--token",
        &asked.token,
        "robots.txt に書くボットの名前（英字、-、_）",
        "The bot's token for robots.txt (letters, - and _)",
    );
    let policy_url = form.need(
        "--policy-url",
        &asked.policy_url,
        "運用規約を公開するURL",
        "Where the policy page will stand (URL)",
    );
    let contact_url = form.need(
        "--contact-url",
        &asked.contact_url,
        "連絡先（https のURL または mailto:）",
        "Where a site owner writes to (https or mailto:)",
    );
    let purpose = form.purpose(asked);
    form.finish()?;
    let zone = TimeZone::get(&asked.zone).map_err(|e| {
        let zone = &asked.zone;
        Failure::bad_input(
            format!("{zone} という時間帯はありません。"),
            format!("There is no time zone {zone}: {e}."),
        )
        .hint(
            "Asia/Tokyo のように書いてください。",
            "Write it like Asia/Tokyo.",
        )
    })?;
    let today = now().jiff().to_zoned_datetime(zone).date().to_string();
    let operator_en = asked
        .operator_en
        .clone()
        .unwrap_or_else(|| operator.clone());
    Ok(Answers {
        bot: asked
            .bot
            .clone()
            .unwrap_or_else(|| token.to_ascii_lowercase().replace('_', "-")),
        name: asked.name.clone().unwrap_or_else(|| token.clone()),
        token,
        operator: Bilingual {
            ja: operator,
            en: operator_en,
        },
        policy_url,
        contact_url,
        purpose,
        zone: asked.zone.clone(),
        lang: pick(lang, "ja", "en").to_owned(),
        reviewer: asked.reviewer.clone().unwrap_or_else(|| people::name(None)),
        today,
        first: asked.target_url.as_ref().map(|url| first(asked, url)),
    })
}

fn first(asked: &Init, url: &str) -> FirstTarget {
    let host = url::Url::parse(url)
        .ok()
        .and_then(|url| url.host_str().map(str::to_owned));
    let id = host.unwrap_or_else(|| "first".to_owned());
    FirstTarget {
        name: asked.target_name.clone().unwrap_or_else(|| id.clone()),
        id,
        url: url.to_owned(),
        terms_url: asked.target_terms_url.clone(),
    }
}

/// Questions and what stayed without an answer.
struct Form {
    lang: Lang,
    missing: Vec<&'static str>,
}

impl Form {
    fn need(&mut self, flag: &'static str, told: &Option<String>, ja: &str, en: &str) -> String {
        let told = told.clone().or_else(|| self.ask(pick(self.lang, ja, en)));
        told.filter(|text| !text.trim().is_empty())
            .unwrap_or_else(|| {
                self.missing.push(flag);
                String::new()
            })
    }

    /// One of the two languages is enough: the other then says the same.
    fn purpose(&mut self, asked: &Init) -> Bilingual {
        let (ja, en) = (asked.purpose_ja.clone(), asked.purpose_en.clone());
        let (ja, en) = match (ja, en) {
            (None, None) => {
                let flag = pick(self.lang, "--purpose-ja", "--purpose-en");
                let purpose = self.need(
                    flag,
                    &None,
                    "ボットの目的（一文）",
                    "What it is for (a sentence)",
                );
                (purpose.clone(), purpose)
            }
            (ja, en) => {
                let other = ja.clone().or_else(|| en.clone()).unwrap_or_default();
                (ja.unwrap_or_else(|| other.clone()), en.unwrap_or(other))
            }
        };
        Bilingual { ja, en }
    }

    /// Only where somebody can answer.
    fn ask(&self, question: &str) -> Option<String> {
        if !std::io::stdin().is_terminal() {
            return None;
        }
        eprint!("{question}: ");
        let _ = std::io::stderr().flush();
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).ok()?;
        Some(line.trim().to_owned())
    }

    fn finish(self) -> Result<(), Failure> {
        if self.missing.is_empty() {
            return Ok(());
        }
        let list = self.missing.join(" ");
        Err(Failure::bad_input(
            format!("足りない指定があります（{list}）。"),
            format!("Something is missing: {list}."),
        )
        .hint(
            "端末で実行すると順に尋ねます。",
            "Give it on the command line; on a terminal it is asked for.",
        ))
    }
}
