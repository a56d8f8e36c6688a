//! What each command does. One room a command; [`dispatch`] is the only switch.

use std::io::Write as _;

use reigi_core::charter::Lang;

use crate::cli::{Cli, Command};
use crate::exit::Outcome;
use crate::lang;

pub(crate) mod try_cmd;

/// Does what the command line asks for.
pub(crate) fn dispatch(cli: Cli) -> (Option<Lang>, Outcome) {
    let lang = lang::chosen(cli.lang.map(Lang::from));
    let outcome = match cli.command {
        Command::Try(what) => try_cmd::run(&what, lang.unwrap_or(Lang::En)),
        _ => Err(crate::exit::Failure::could_not(
            "まだありません。",
            "Not yet.",
        )),
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
