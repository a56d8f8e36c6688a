//! What is answered about one URL.

/// Whether a crawler may fetch a URL, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict<'r> {
    /// May it be fetched?
    pub allowed: bool,
    /// The rule that decided; `None` where no rule matched, and for `/robots.txt`.
    pub rule: Option<RuleRef<'r>>,
    /// Whose group was asked.
    pub group: Group,
}

/// A rule and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleRef<'r> {
    /// `Allow` (true) or `Disallow`.
    pub allow: bool,
    /// The pattern in canonical percent-encoding: `*` and a last `$` are wildcards, the literal
    /// characters are `%2A` and `%24`.
    pub pattern: &'r str,
    /// Line in the body, from 1.
    pub line: u32,
}

/// Whose group applies to a crawler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// Groups that name it.
    Own,
    /// The groups of `*`, since none names it.
    Star,
    /// No group: everything is allowed.
    None,
}

/// How a crawler's name was compared with the `User-agent` lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// As a product token of RFC 9309.
    Token,
    /// As its operator documents it, because it is no product token.
    Documented,
    /// It is no product token and stands nowhere as documented, so by the token it begins with.
    Cut,
}
