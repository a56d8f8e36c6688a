//! `reigi ledger`: changes to a bot's list of targets that keep what else its writer put there.
//!
//! The edited file is checked like any other before it takes the old one's place; the next run
//! adopts it.

use std::fs;
use std::path::{Path, PathBuf};

use reigi_core::charter::problem::{Problems, decode};
use reigi_core::charter::{Charter, Lang};
use reigi_core::ledger::edit::{self, EditError};
use reigi_core::ledger::{Ledger, Target, TermsCheck, TermsVerdict};

use super::counted;
use crate::cli::{Add, BotOf, Import, LedgerCommand, Remove, Terms};
use crate::exit::{Exit, Failure, Outcome};
use crate::house::{Home, NotOpened, Report};
use crate::people;
use crate::writer::now;

/// Does it.
pub(crate) fn run(asked: &LedgerCommand, lang: Option<Lang>) -> Outcome {
    let (told, lang) = match asked {
        LedgerCommand::Add(add) => with(&add.of, lang, |file| add_target(file, add))?,
        LedgerCommand::Remove(remove) => {
            with(&remove.of, lang, |file| remove_target(file, remove))?
        }
        LedgerCommand::Import(import) => with(&import.of, lang, |file| import_file(file, import))?,
    };
    super::print(told.get(lang))?;
    Ok(Exit::Fine)
}

type Said = reigi_core::charter::Bilingual;

/// A bot's ledger file with what it is checked by.
struct File {
    home: Home,
    charter: Charter,
    name: String,
    path: PathBuf,
    text: String,
}

fn with(
    of: &BotOf,
    lang: Option<Lang>,
    edit: impl FnOnce(&File) -> Result<(String, Said), Failure>,
) -> Result<(Said, Lang), Failure> {
    let home = Home::open(of.dir.as_deref())?;
    let lang = lang.unwrap_or(home.file.lang);
    let names = home.bot_named(of.bot.as_deref())?.clone();
    let read = |name: &str| {
        let path = home.dir.join(name);
        let bytes = fs::read(&path).map_err(|e| Failure::unreadable(&path, &e))?;
        let lossy = || String::from_utf8_lossy(&bytes).into_owned();
        decode(name, &bytes)
            .map(str::to_owned)
            .map_err(|problems| refused(lossy(), problems))
    };
    let text = read(&names.charter)?;
    let charter =
        Charter::parse(&names.charter, &text).map_err(|problems| refused(text, problems))?;
    let (path, text) = (home.dir.join(&names.ledger), read(&names.ledger)?);
    let file = File {
        home,
        charter,
        name: names.ledger,
        path,
        text,
    };
    let (text, told) = edit(&file)?;
    file.put(text)?;
    Ok((told, lang))
}

fn refused(text: String, problems: Problems) -> Failure {
    NotOpened::Problems(vec![Report { text, problems }]).into()
}

/// An edit that would spoil the ledger: its errors alone. Warnings stood there before.
fn not_put(text: &str, problems: Problems) -> Failure {
    let errors = problems.errors().cloned().collect();
    let errors = Problems { list: errors };
    let say = |lang| errors.render(text, lang).trim_end().to_owned();
    Failure::bad_input(say(Lang::Ja), say(Lang::En)).hint(
        "台帳は変更していません（行番号は、加えた場合のものです）。直して、もう一度実行してください。",
        "The ledger is as it was (the lines are those that it would have). Mend it and try again.",
    )
}

impl File {
    /// Puts an edited text in place, if it is a ledger.
    fn put(&self, text: String) -> Result<(), Failure> {
        if text == self.text {
            return Ok(());
        }
        if let Err(problems) = self.parse(&self.name, &text) {
            return Err(not_put(&text, problems));
        }
        let unwritable = |e| Failure::unwritable(&self.path, &e);
        let beside = self
            .path
            .with_extension(format!("new-{}", std::process::id()));
        fs::write(&beside, text).map_err(unwritable)?;
        fs::rename(&beside, &self.path).map_err(unwritable)
    }

    fn parse(&self, name: &str, text: &str) -> Result<Ledger, Problems> {
        Ledger::parse_as_of(name, text, &self.charter, Some(self.today()))
    }

    fn today(&self) -> jiff::civil::Date {
        now()
            .jiff()
            .to_zoned_datetime(self.home.file.zone.clone())
            .date()
    }
}

fn add_target(file: &File, add: &Add) -> Result<(String, Said), Failure> {
    let target = Target {
        id: add.id.clone(),
        name: add.name.clone().unwrap_or_else(|| add.id.clone()),
        urls: add.urls.clone(),
        category: add.category.clone(),
        provider: add.provider.clone(),
        every: None,
        terms: terms(file, add),
        include: Vec::new(),
        ignore: Vec::new(),
        notes: add.notes.clone(),
    };
    let text = edit::add(&file.name, &file.text, &target).map_err(not_edited)?;
    let (id, name) = (&add.id, &file.name);
    Ok((
        text,
        Said {
            ja: format!("{id} を {name} に加えました。次の巡回から有効です。\n"),
            en: format!("{id} was added to {name}; it counts from the next run on.\n"),
        },
    ))
}

fn terms(file: &File, add: &Add) -> Option<TermsCheck> {
    Some(TermsCheck {
        url: add.terms_url.clone()?,
        checked_by: people::name(add.terms_by.as_deref()),
        checked_on: add
            .terms_on
            .clone()
            .unwrap_or_else(|| file.today().to_string()),
        verdict: match add.terms_verdict {
            Terms::Allowed => TermsVerdict::Allowed,
            Terms::Refused => TermsVerdict::Refused,
            Terms::Unclear => TermsVerdict::Unclear,
        },
    })
}

fn remove_target(file: &File, remove: &Remove) -> Result<(String, Said), Failure> {
    let text = edit::remove(&file.name, &file.text, &remove.id).map_err(not_edited)?;
    let (id, name) = (&remove.id, &file.name);
    Ok((
        text,
        Said {
            ja: format!("{id} を {name} から外しました。次の巡回から取得しません。\n"),
            en: format!("{id} was taken out of {name}; it is not visited from the next run on.\n"),
        },
    ))
}

/// Adds what is not there yet; a target with a known id stays as it is.
fn import_file(file: &File, import: &Import) -> Result<(String, Said), Failure> {
    let path: &Path = &import.file;
    let bytes = fs::read(path).map_err(|e| Failure::unreadable(path, &e))?;
    let shown = path.display().to_string();
    let lossy = || String::from_utf8_lossy(&bytes).into_owned();
    let text = decode(&shown, &bytes).map_err(|problems| refused(lossy(), problems))?;
    let incoming = file
        .parse(&shown, text)
        .map_err(|problems| refused(text.to_owned(), problems))?;
    let (mut edited, mut added, mut known) = (file.text.clone(), 0_usize, 0_usize);
    for target in &incoming.targets {
        match edit::add(&file.name, &edited, target) {
            Ok(text) => (edited, added) = (text, added + 1),
            Err(EditError::Exists(_)) => known += 1,
            Err(error) => return Err(not_edited(error)),
        }
    }
    let name = &file.name;
    Ok((
        edited,
        Said {
            ja: format!("{name} に {added} 件を加えました（すでにあるもの {known} 件）。\n"),
            en: format!(
                "{} added to {name} ({known} there already).\n",
                counted(added, "target was", "targets were")
            ),
        },
    ))
}

fn not_edited(error: EditError) -> Failure {
    let failure = |ja: String| Failure::bad_input(ja, format!("Nothing was changed: {error}."));
    match &error {
        EditError::Exists(id) => failure(format!("{id} はすでに台帳にあります。")),
        EditError::Unknown(id) => failure(format!("{id} は台帳にありません。")),
        EditError::NoColumn(column) => {
            failure(format!("台帳に {column} の列がないので、加えられません。"))
        }
        _ => failure(format!("台帳を変更できません（{error}）。")),
    }
}
