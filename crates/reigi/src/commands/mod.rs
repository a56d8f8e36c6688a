//! What each command does. One room a command; [`dispatch`] is the only switch.

use std::io::Write as _;

use jiff::tz::TimeZone;
use reigi_core::charter::Lang;
use reigi_core::time::Timestamp;

use crate::cli::{Cli, Command};
use crate::exit::{Failure, Outcome};
use crate::lang;

pub(crate) mod audit;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod explain;
pub(crate) mod gc;
pub(crate) mod halt;
pub(crate) mod init;
pub(crate) mod ledger;
pub(crate) mod policy;
mod rebuild;
pub(crate) mod run;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod try_cmd;

/// Does what the command line asks for.
pub(crate) fn dispatch(cli: Cli) -> (Option<Lang>, Outcome) {
    let lang = lang::chosen(cli.lang.map(Lang::from));
    let outcome = match cli.command {
        Command::Demo(asked) => show::demo(&asked, lang),
        Command::Init(asked) => init::run(&asked, lang),
        Command::Check(asked) => check::run(&asked, lang),
        Command::Ledger(asked) => ledger::run(&asked, lang),
        Command::Pause(asked) => halt::pause(&asked, lang),
        Command::Resume(asked) => halt::resume(&asked, lang),
        Command::Run(asked) => show::run(&asked, lang),
        Command::Status(asked) => status::run(&asked, lang),
        Command::Changes(asked) => changes::list(&asked, lang),
        Command::Diff(asked) => diff::run(&asked, lang),
        Command::Review(asked) => changes::review(&asked, lang),
        Command::OptOut(asked) => halt::opt_out(&asked, lang),
        Command::Gc(asked) => gc::run(&asked, lang),
        Command::Explain(asked) => explain::run(&asked, lang),
        Command::Audit(asked) => audit::run(&asked, lang),
        Command::Policy(asked) => policy::run(&asked, lang),
        Command::Try(what) => try_cmd::run(&what, lang.unwrap_or(Lang::En)),
    };
    (lang, outcome)
}

/// Writes a JSON line.
pub(crate) fn json_line(
    out: &mut dyn std::io::Write,
    value: &impl serde::Serialize,
) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Standard output with a buffer; to be flushed by whoever wrote.
pub(crate) fn stdout() -> std::io::BufWriter<std::io::StdoutLock<'static>> {
    std::io::BufWriter::new(std::io::stdout().lock())
}

/// Writes a whole text to standard output.
pub(crate) fn print(text: &str) -> std::io::Result<()> {
    let mut out = stdout();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// A count with its noun in English: `1 visit`, `2 visits`.
pub(crate) fn counted(count: impl TryInto<u64>, one: &str, many: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {}", if count == 1 { one } else { many })
}

/// What commands on store and network run in.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Runtime::new().map_err(|e| {
        Failure::could_not(
            format!("実行の準備ができません（{e}）。"),
            format!("The program cannot set itself up: {e}."),
        )
    })
}

/// A moment as a person gives it: RFC 3339, or a day of the house's zone.
pub(crate) fn time_of(text: &str, zone: &TimeZone) -> Result<Timestamp, Failure> {
    let day = || {
        let day: jiff::civil::Date = text.parse().ok()?;
        let start = day.to_zoned_datetime(zone.clone()).ok()?;
        Some(Timestamp::from_micros(start.timestamp().as_microsecond()))
    };
    Timestamp::parse(text).or_else(day).ok_or_else(|| {
        Failure::bad_input(
            format!("{text} を日時として読めません。"),
            format!("{text} is no time."),
        )
        .hint(
            "2026-11-30 または 2026-11-30T09:00:00+09:00 のように書いてください。",
            "Write 2026-11-30 or 2026-11-30T09:00:00+09:00.",
        )
    })
}
