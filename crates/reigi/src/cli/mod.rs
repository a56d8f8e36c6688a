//! The command line: names, arguments, help. What the commands do is in [`crate::commands`].

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod attempt;
mod house;

pub(crate) use attempt::{Change, Try};
pub(crate) use house::{
    Add, Audit, BotOf, Changes, Check, Decide, Diff, Explain, Form, Import, Init, LedgerCommand,
    OptOutAdd, OptOutCommand, Pause, Policy, Remove, ReviewCommand, Run, Terms, Where,
};

/// Observatory crawlers that keep, show and prove their promises.
///
/// Exit codes: 0 fine; 1 the answer is no (refused, breach found, changes pending with --fail-on);
/// 2 bad input or usage; 3 could not do it (store, network). Results go to standard output,
/// progress and reasons to standard error.
#[derive(Debug, Parser)]
#[command(name = "reigi", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Language of what people read [default: the locale's, then the house's].
    #[arg(long, global = true, value_enum)]
    pub(crate) lang: Option<Language>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// A language by its code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Language {
    /// 日本語
    Ja,
    /// English
    En,
}

impl From<Language> for reigi_core::charter::Lang {
    fn from(language: Language) -> Self {
        match language {
            Language::Ja => Self::Ja,
            Language::En => Self::En,
        }
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Watch a town of test sites on this machine that changes over a year.
    Demo(Demo),
    /// Write a new house: a folder with a commented charter, a ledger and reigi.toml.
    Init(Init),
    /// Read charters, ledgers and reigi.toml; show every problem with its line and remedy.
    Check(Check),
    /// Change a bot's list of targets, keeping comments and order.
    #[command(subcommand)]
    Ledger(LedgerCommand),
    /// Stop collecting from a target, a host or everywhere until it is resumed.
    Pause(Pause),
    /// End a pause.
    Resume(Pause),
    /// Visit what is due, one pass, with progress.
    Run(Run),
    /// Say what would happen to a URL now, and which sentence of the policy decides.
    Explain(Explain),
    /// Show every target: when it was seen, what was found, when it is due.
    Status(Where),
    /// List the changes that were found.
    Changes(Changes),
    /// Show a change word by word.
    Diff(Diff),
    /// Decide about changes as a person.
    #[command(subcommand)]
    Review(ReviewCommand),
    /// Prove every promise from the journal.
    Audit(Audit),
    /// Print the public policy page of a charter.
    Policy(Policy),
    /// Record that a site wishes to be left alone.
    #[command(subcommand, name = "optout")]
    OptOut(OptOutCommand),
    /// Delete stored pages that nothing refers to and that the charter keeps no longer.
    Gc(Where),
    /// Try one part on files of your own: no house, no network.
    #[command(subcommand)]
    Try(Try),
}

/// `reigi demo`.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Stop after the report.
    #[arg(long)]
    pub(crate) once: bool,
    /// Keep the house as DIR/house.
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
}
