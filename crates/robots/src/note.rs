//! What was odd about a robots.txt body, as data for people and statistics.

/// One oddity and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// What was odd.
    pub oddity: Oddity,
    /// Line in the body, from 1.
    pub line: u32,
}

/// Kinds of oddity. None of them stops the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Oddity {
    /// A UTF-8 byte order mark was skipped.
    ByteOrderMark,
    /// Only the first one or two octets of a byte order mark stood there; they were skipped.
    PartialByteOrderMark,
    /// The body begins with a UTF-16 byte order mark; RFC 9309 section 2.3 requires UTF-8.
    Utf16,
    /// The body begins like an HTML or XML page.
    Markup,
    /// A NUL octet ended the line early.
    Nul,
    /// The line was longer than [`LINE_LIMIT`](crate::LINE_LIMIT) and was cut.
    LineCut,
    /// The body was longer than the limit given and was cut in this line, which is not read.
    BodyCut,
    /// A misspelt name was understood (`Dissallow`, `Useragent`).
    Misspelt,
    /// A longer name was understood by its beginning (`Disallowed`).
    NameByBeginning,
    /// A blank stood where the colon should be.
    MissingColon,
    /// A rule before any `User-agent` line was ignored.
    RuleOutsideGroup,
    /// A rule begins with neither `/` nor `*` and so matches no path.
    RuleWithoutSlash,
    /// An `Allow` for an index page was taken to cover its directory as well.
    IndexPage,
    /// A `User-agent` value is more than a product token; what follows the token was cut off.
    AgentCut,
    /// A `User-agent` line that names nobody.
    AgentEmpty,
    /// A `Crawl-delay` between two `User-agent` lines: read as one group (RFC 9309 section 2.2.4),
    /// though its author may have meant two.
    DelayBetweenAgents,
    /// A `Crawl-delay` that is no plain number of seconds.
    UnclearDelay,
    /// A `Crawl-delay` before any `User-agent` line was ignored.
    DelayOutsideGroup,
    /// More unknown records than are kept.
    RecordsDropped,
    /// More notes than are kept; always the last note.
    NotesDropped,
}

/// Notes kept for one body.
pub(crate) const NOTES_KEPT: usize = 1_000;

/// Adds a note; a body of nothing but oddities stays bounded.
pub(crate) fn push(notes: &mut Vec<Note>, oddity: Oddity, line: u32) {
    match notes.len() {
        n if n < NOTES_KEPT => notes.push(Note { oddity, line }),
        NOTES_KEPT => notes.push(Note {
            oddity: Oddity::NotesDropped,
            line,
        }),
        _ => {}
    }
}
