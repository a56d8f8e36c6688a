//! The ledger: a bot's list of targets, from TOML or CSV.
//!
//! [`Target`] is the row as adopted and journalled. [`Ledger::parse`] reads a file and finds every
//! problem at once; [`edit`] changes one, keeping what else its writer put into it.

use serde::{Deserialize, Serialize};

use crate::cadence::Every;
use crate::charter::problem::Problems;
use crate::digest::Digest;

mod check;
mod csv;
pub mod edit;
mod file;
mod url;

/// A ledger file, valid as a whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ledger {
    /// Its rows, in the order of the file.
    pub targets: Vec<Target>,
    /// Digest of the file's text.
    pub digest: Digest,
    /// What holds but may surprise: for example a row without the terms check that the charter
    /// promises, which the gate will refuse to visit.
    pub warnings: Problems,
}

fn is_csv(file_name: &str) -> bool {
    file_name.to_ascii_lowercase().ends_with(".csv")
}

/// One row of a ledger. All its URLs lie on one host: a target is visited in one lane.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Stable id, unique in the ledger (`[a-z0-9._-]+`).
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Absolute http(s) URLs without userinfo or fragment, in visiting order.
    pub urls: Vec<String>,
    /// Free category for tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Who runs the site, where several targets share a provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// A rarer period than the charter's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Every>,
    /// The terms-of-use check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<TermsCheck>,
    /// CSS selectors: only these parts are compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// CSS selectors: these parts are not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// A remark for colleagues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

impl Target {
    /// Digest of the row: two equal rows need no new entry.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&serde_json::to_vec(self).unwrap_or_default())
    }
}

/// That a person read a site's terms of use.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TermsCheck {
    /// Where the terms stand.
    pub url: String,
    /// Who read them.
    pub checked_by: String,
    /// When, `YYYY-MM-DD` in the house's zone.
    pub checked_on: String,
    /// What they say about automatic reading.
    pub verdict: TermsVerdict,
}

/// What terms of use say about automatic reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TermsVerdict {
    /// Nothing against it.
    Allowed,
    /// They forbid it.
    Refused,
    /// A person could not decide; treated as refused.
    Unclear,
}
