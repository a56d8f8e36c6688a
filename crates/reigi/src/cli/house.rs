//! Commands on a house: each takes its folder, by default the nearest parent with reigi.toml.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// A house, and the form of a listing.
#[derive(Debug, Args)]
pub(crate) struct Where {
    /// The house's folder [default: the nearest parent with reigi.toml].
    pub(crate) dir: Option<PathBuf>,
    /// JSON lines instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `reigi init`.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The new folder.
    pub(crate) dir: PathBuf,
    /// What kind of observatory.
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(
        reigi_core::house_file::TEMPLATES))]
    pub(crate) template: String,
    /// Who runs it, as the policy page names them. What is not given is asked on a terminal.
    #[arg(long)]
    pub(crate) operator: Option<String>,
    /// The operator's name in English [default: as --operator].
    #[arg(long)]
    pub(crate) operator_en: Option<String>,
    /// The bot's name for people.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Product token for robots.txt: letters, - and _.
    #[arg(long)]
    pub(crate) token: Option<String>,
    /// Where the policy page will stand.
    #[arg(long, value_name = "URL")]
    pub(crate) policy_url: Option<String>,
    /// Where a site owner writes to: an https address or mailto:…
    #[arg(long, value_name = "URL")]
    pub(crate) contact_url: Option<String>,
    /// What the bot is for, in Japanese.
    #[arg(long)]
    pub(crate) purpose_ja: Option<String>,
    /// What the bot is for, in English.
    #[arg(long)]
    pub(crate) purpose_en: Option<String>,
    /// Who reviews changes, and may read bodies [default: the account's name].
    #[arg(long)]
    pub(crate) reviewer: Option<String>,
    /// File name of charter and ledger [default: the token in lower case].
    #[arg(long)]
    pub(crate) bot: Option<String>,
    /// Time zone of calendar periods.
    #[arg(long, default_value = "Asia/Tokyo")]
    pub(crate) zone: String,
    /// A first page to watch.
    #[arg(long, value_name = "URL")]
    pub(crate) target_url: Option<String>,
    /// The name of that target.
    #[arg(long, requires = "target_url")]
    pub(crate) target_name: Option<String>,
    /// Its terms of use, if the reviewer has read them today and found nothing against it.
    #[arg(long, value_name = "URL", requires = "target_url")]
    pub(crate) target_terms_url: Option<String>,
}

/// `reigi check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The house's folder [default: the nearest parent with reigi.toml].
    pub(crate) dir: Option<PathBuf>,
    /// A JSON line a problem.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `reigi ledger …`.
#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    /// Add a target at the end of the ledger.
    Add(Add),
    /// Remove a target.
    Remove(Remove),
    /// Add every target of another ledger file (TOML or CSV) that is not there yet.
    Import(Import),
}

/// Which bot's ledger.
#[derive(Debug, Args)]
pub(crate) struct BotOf {
    /// The house's folder [default: the nearest parent with reigi.toml].
    pub(crate) dir: Option<PathBuf>,
    /// The bot; needed where the house has several.
    #[arg(long)]
    pub(crate) bot: Option<String>,
}

/// `reigi ledger add`.
#[derive(Debug, Args)]
pub(crate) struct Add {
    #[command(flatten)]
    pub(crate) of: BotOf,
    /// Its id: lower-case letters, digits, `.`, `_`, `-`.
    #[arg(long)]
    pub(crate) id: String,
    /// Its name for people [default: the id].
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// A page; give it once for each page, in visiting order.
    #[arg(long = "url", value_name = "URL", required = true)]
    pub(crate) urls: Vec<String>,
    /// Category for tables.
    #[arg(long)]
    pub(crate) category: Option<String>,
    /// Who runs the site, where several targets share a provider.
    #[arg(long)]
    pub(crate) provider: Option<String>,
    /// A remark for colleagues.
    #[arg(long)]
    pub(crate) notes: Option<String>,
    /// Where the terms of use stand that were read.
    #[arg(long, value_name = "URL", requires = "terms_by")]
    pub(crate) terms_url: Option<String>,
    /// Who read them.
    #[arg(long, value_name = "NAME", requires = "terms_url")]
    pub(crate) terms_by: Option<String>,
    /// When they were read, YYYY-MM-DD [default: today].
    #[arg(long, value_name = "DATE", requires = "terms_url")]
    pub(crate) terms_on: Option<String>,
    /// What they say about automatic reading.
    #[arg(long, value_enum, default_value = "allowed", requires = "terms_url")]
    pub(crate) terms_verdict: Terms,
}

/// What terms of use say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Terms {
    /// Nothing against automatic reading.
    Allowed,
    /// They forbid it.
    Refused,
    /// A person could not decide.
    Unclear,
}

/// `reigi ledger remove`.
#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The target's id.
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) of: BotOf,
}

/// `reigi ledger import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file to read.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) of: BotOf,
}

/// `reigi pause` and `reigi resume`.
#[derive(Debug, Args)]
pub(crate) struct Pause {
    /// A target (`id` or `bot/id`) or a host [unless --all].
    #[arg(required_unless_present = "all")]
    pub(crate) what: Option<String>,
    /// The house's folder [default: the nearest parent with reigi.toml].
    pub(crate) dir: Option<PathBuf>,
    /// Everything.
    #[arg(long)]
    pub(crate) all: bool,
    /// Why, for the journal.
    #[arg(long, default_value = "")]
    pub(crate) reason: String,
    /// Who says so [default: the account's name].
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
}

/// `reigi run`.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The house's folder [default: the nearest parent with reigi.toml].
    pub(crate) dir: Option<PathBuf>,
    /// End when nothing is due any more (which is what a run does).
    #[arg(long)]
    pub(crate) until_idle: bool,
    /// Where names lead: lines `host address:port`, also `*.suffix address:port`.
    #[arg(long, value_name = "FILE")]
    pub(crate) hosts_file: Option<PathBuf>,
    /// The closing table as one JSON line.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `reigi explain`.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The URL.
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) of: BotOf,
    /// A JSON line a bot.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `reigi changes`.
#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// The house's folder [default: the nearest parent with reigi.toml].
    pub(crate) dir: Option<PathBuf>,
    /// JSON lines instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// Only those that wait for review.
    #[arg(long, conflicts_with = "all")]
    pub(crate) pending: bool,
    /// Also those that a newer change of the same page replaced.
    #[arg(long)]
    pub(crate) all: bool,
    /// Exit with 1 where a change waits for review.
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "pending"
    )]
    pub(crate) fail_on: Option<FailOn>,
}

/// What makes `reigi changes` answer no.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum FailOn {
    /// A change that waits for review.
    Pending,
}

/// `reigi diff`.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The change, as `reigi changes` names it (`3-12`).
    pub(crate) id: String,
    /// The house's folder [default: the nearest parent with reigi.toml].
    pub(crate) dir: Option<PathBuf>,
    /// One JSON line.
    #[arg(long)]
    pub(crate) json: bool,
    /// Who looks [default: the account's name].
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
}

/// `reigi review …`.
#[derive(Debug, Subcommand)]
pub(crate) enum ReviewCommand {
    /// It is so: it may be published.
    Confirm(Decide),
    /// It is not so, or is no news; the same version stays quiet.
    Reject(Decide),
}

/// What to decide about.
#[derive(Debug, Args)]
pub(crate) struct Decide {
    /// Changes, as `reigi changes` names them (`3-12`); the house's folder may stand last.
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// A note that stays with the decision.
    #[arg(long)]
    pub(crate) note: Option<String>,
    /// Who decides [default: the account's name].
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// JSON lines instead of sentences.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `reigi audit`.
#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// The house's folder [default: the nearest parent with reigi.toml].
    pub(crate) dir: Option<PathBuf>,
    /// Report only what happened from here on: RFC 3339, or a day of the house's zone.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// A published head, SEQ:HASH: find any change of the journal before it.
    #[arg(long, value_name = "SEQ:HASH")]
    pub(crate) head: Option<String>,
    /// Hash every stored body again.
    #[arg(long)]
    pub(crate) evidence: bool,
    /// Fold the whole journal again and compare with the stored state.
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// The report as one JSON line.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `reigi policy`.
#[derive(Debug, Args)]
pub(crate) struct Policy {
    /// The house's folder [default: the nearest parent with reigi.toml].
    pub(crate) dir: Option<PathBuf>,
    /// Charter files to print without a house.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["dir", "bot"])]
    pub(crate) charter: Vec<PathBuf>,
    /// The bot; needed where the house has several.
    #[arg(long)]
    pub(crate) bot: Option<String>,
    /// HTML or Markdown.
    #[arg(long, value_enum, default_value = "html")]
    pub(crate) format: Form,
}

/// The form of a policy page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Form {
    /// One HTML file.
    Html,
    /// Markdown.
    Md,
}

/// `reigi optout …`.
#[derive(Debug, Subcommand)]
pub(crate) enum OptOutCommand {
    /// Leave a host with all below it, or a path, alone from now on.
    Add(OptOutAdd),
    /// List the wishes in force.
    List(Where),
}

/// `reigi optout add`.
#[derive(Debug, Args)]
pub(crate) struct OptOutAdd {
    /// A host with all hosts below it (`example.jp`), or a URL: its path and everything below.
    pub(crate) what: String,
    /// The house's folder [default: the nearest parent with reigi.toml].
    pub(crate) dir: Option<PathBuf>,
    /// What was said, for the journal.
    #[arg(long, default_value = "")]
    pub(crate) reason: String,
    /// When the wish was received: RFC 3339, or a day of the house's zone [default: now].
    #[arg(long, value_name = "TIME")]
    pub(crate) received: Option<String>,
    /// Who records it [default: the account's name].
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// The wish was taken back.
    #[arg(long)]
    pub(crate) withdraw: bool,
}
