//! What `reigi init` writes: a commented house with the operator's own identity.
//!
//! The texts lie beside this file; `{{name}}` stands for an answer, written as a TOML string.

use super::FILE_NAME;
use crate::charter::Bilingual;

/// The kinds of house that [`template`] knows.
pub const TEMPLATES: &[&str] = &["changes"];

/// What only the operator knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answers {
    /// File stem of charter and ledger (`school-watch`).
    pub bot: String,
    /// Name for people.
    pub name: String,
    /// Product token for robots.txt: letters, `_` and `-`.
    pub token: String,
    /// Publisher of the policy.
    pub operator: Bilingual,
    /// Where the policy page will stand.
    pub policy_url: String,
    /// Where a site owner writes to: https or mailto.
    pub contact_url: String,
    /// What the bot is for.
    pub purpose: Bilingual,
    /// IANA name of the house's zone.
    pub zone: String,
    /// Language of reports, `ja` or `en`.
    pub lang: String,
    /// Who reviews, and may read bodies.
    pub reviewer: String,
    /// Today in the house's zone, `YYYY-MM-DD`: the date of the first version.
    pub today: String,
    /// A first target, if there is one.
    pub first: Option<FirstTarget>,
}

/// A first target of the ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FirstTarget {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// A page.
    pub url: String,
    /// Where its terms of use stand, if the reviewer has read them today and found nothing
    /// against automatic reading.
    pub terms_url: Option<String>,
}

/// The files of a new house of this kind, as (path, text); `None` for an unknown kind.
///
/// An answer that no charter may have (a token with a digit, a bare e-mail address) is written
/// all the same: reading the files, which a caller does before it puts them in place, names the
/// line and the remedy.
#[must_use]
pub fn template(kind: &str, answers: &Answers) -> Option<Vec<(String, String)>> {
    let (house, charter, ledger) = match kind {
        "changes" => (
            include_str!("changes/house.toml"),
            include_str!("changes/charter.toml"),
            include_str!("changes/ledger.toml"),
        ),
        _ => return None,
    };
    let a = answers;
    let charter_path = format!("charters/{}.toml", a.bot);
    let ledger_path = format!("ledgers/{}.toml", a.bot);
    let user_agent = format!("{}/1.0 (+{})", a.token, a.policy_url);
    let blanks = [
        ("name", a.name.as_str()),
        ("token", &a.token),
        ("user_agent", &user_agent),
        ("policy_url", &a.policy_url),
        ("contact_url", &a.contact_url),
        ("operator_ja", &a.operator.ja),
        ("operator_en", &a.operator.en),
        ("purpose_ja", &a.purpose.ja),
        ("purpose_en", &a.purpose.en),
        ("zone", &a.zone),
        ("lang", &a.lang),
        ("reviewer", &a.reviewer),
        ("today", &a.today),
        ("charter_path", &charter_path),
        ("ledger_path", &ledger_path),
    ];
    let ledger = ledger.to_owned() + &first_target(answers);
    Some(vec![
        (FILE_NAME.to_owned(), fill(house, &blanks)),
        (charter_path.clone(), fill(charter, &blanks)),
        (ledger_path.clone(), ledger),
    ])
}

fn first_target(answers: &Answers) -> String {
    let Some(first) = &answers.first else {
        return String::new();
    };
    let mut text = format!(
        "\n[[target]]\nid = {}\nname = {}\nurls = [{}]\n",
        quoted(&first.id),
        quoted(&first.name),
        quoted(&first.url)
    );
    if let Some(terms_url) = &first.terms_url {
        text += &format!(
            "terms.url = {}\nterms.checked_by = {}\nterms.checked_on = {}\nterms.verdict = \"allowed\"\n",
            quoted(terms_url),
            quoted(&answers.reviewer),
            quoted(&answers.today),
        );
    }
    text
}

/// One pass, so that an answer that holds `{{` is not filled in again.
fn fill(template: &str, blanks: &[(&str, &str)]) -> String {
    let mut parts = template.split("{{");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        if let Some((_, answer)) = blanks.iter().find(|(blank, _)| *blank == name) {
            text += &quoted(answer);
        }
        text += rest;
    }
    text
}

/// A TOML string.
fn quoted(text: &str) -> String {
    toml_edit::value(text).to_string().trim().to_owned()
}
