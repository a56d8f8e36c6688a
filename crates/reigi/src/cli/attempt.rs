//! `reigi try …`: one part of the program on files of one's own.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What to try.
#[derive(Debug, Subcommand)]
pub(crate) enum Try {
    /// Ask robots.txt bodies about agents and URLs.
    ///
    /// Reads JSON lines {"id","robots"|"robots_b64"|"robots_repeat","agent","url"} and writes
    /// {"id","allowed","line"} where a URL is given, {"id","crawl_delay","line"} for an agent
    /// alone, else {"id","sitemaps","line"}.
    Robots {
        /// The cases; `-` reads standard input.
        #[arg(long, value_name = "FILE")]
        cases: PathBuf,
    },
    /// Read pages: charset, title, visible text, links, images, structured data as JSON lines.
    Page {
        /// A file, or a folder of files.
        path: PathBuf,
        /// The Content-Type field that came with it.
        #[arg(long, value_name = "VALUE")]
        content_type: Option<String>,
    },
    /// Compare two versions of a page.
    Change(Change),
    /// Tell which agents each robots.txt of a folder lets in at `/`, as a table with tabs.
    Census {
        /// The folder; its *.txt files are read, or all files where it has none.
        dir: PathBuf,
        /// A JSON object keyed by agent, or a name a line.
        #[arg(long, value_name = "FILE")]
        agents: PathBuf,
    },
}

/// `reigi try change`.
#[derive(Debug, Args)]
#[command(override_usage = "reigi try change BEFORE AFTER\n       reigi try change --pairs DIR")]
pub(crate) struct Change {
    /// The earlier version.
    #[arg(required_unless_present = "pairs", requires = "after")]
    pub(crate) before: Option<PathBuf>,
    /// The later version.
    pub(crate) after: Option<PathBuf>,
    /// A folder of folders, each with before.html and after.html.
    #[arg(long, value_name = "DIR", conflicts_with = "before")]
    pub(crate) pairs: Option<PathBuf>,
}
