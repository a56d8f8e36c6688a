//! How a command ends: its exit code, and the sentence that says why.

use std::process::ExitCode;

use reigi_core::charter::{Bilingual, Lang};

/// The exit codes of the command line contract.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// Done; the answer is yes.
    Fine,
    /// Done; the answer is no: refused, a breach found.
    No,
    /// Bad input or usage.
    BadInput,
    /// It could not be done: store, network, files.
    CouldNot,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::No => 1,
            Exit::BadInput => 2,
            Exit::CouldNot => 3,
        })
    }
}

/// Why a command did not come to its end: what happened and why, then what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Failure {
    /// The code.
    pub(crate) exit: Exit,
    what: Bilingual,
    hint: Bilingual,
}

impl Failure {
    /// Bad input or usage.
    pub(crate) fn bad_input(ja: impl Into<String>, en: impl Into<String>) -> Self {
        Self::new(Exit::BadInput, ja.into(), en.into())
    }

    /// It could not be done.
    pub(crate) fn could_not(ja: impl Into<String>, en: impl Into<String>) -> Self {
        Self::new(Exit::CouldNot, ja.into(), en.into())
    }

    /// The answer is no.
    pub(crate) fn no(ja: impl Into<String>, en: impl Into<String>) -> Self {
        Self::new(Exit::No, ja.into(), en.into())
    }

    fn new(exit: Exit, ja: String, en: String) -> Self {
        Self {
            exit,
            what: Bilingual { ja, en },
            hint: Bilingual::default(),
        }
    }

    /// Adds what to do about it.
    pub(crate) fn hint(mut self, ja: impl Into<String>, en: impl Into<String>) -> Self {
        self.hint = Bilingual {
            ja: ja.into(),
            en: en.into(),
        };
        self
    }

    /// A file that cannot be read.
    pub(crate) fn unreadable(path: &std::path::Path, error: &std::io::Error) -> Self {
        let path = path.display();
        Self::bad_input(
            format!("{path} を読めません（{error}）。"),
            format!("{path} cannot be read: {error}."),
        )
    }

    /// A file that cannot be written.
    pub(crate) fn unwritable(path: &std::path::Path, error: &std::io::Error) -> Self {
        let path = path.display();
        Self::could_not(
            format!("{path} に書き込めません（{error}）。"),
            format!("{path} cannot be written: {error}."),
        )
    }

    /// The sentence and the way out, for standard error.
    pub(crate) fn say(&self, lang: Lang) -> String {
        let what = self.what.get(lang);
        match self.hint.get(lang) {
            "" => format!("{what}\n"),
            hint => format!("{what}\n  → {hint}\n"),
        }
    }
}

/// Standard output that cannot be written to. A reader that went away (`| head`) is nobody's
/// mistake: the command ends quietly.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::new(Exit::Fine, String::new(), String::new());
        }
        Self::could_not(
            format!("結果を出力できません（{error}）。"),
            format!("The result cannot be written: {error}."),
        )
    }
}

impl From<reigi_store::Error> for Failure {
    fn from(error: reigi_store::Error) -> Self {
        use reigi_store::Error;
        match &error {
            Error::Locked { by } => Self::could_not(
                format!("この家はほかのプロセスが巡回中です（{by}）。"),
                format!("Another process drives this house ({by})."),
            )
            .hint(
                "それが終わってから、もう一度実行してください。",
                "Try again when it has ended.",
            ),
            Error::Row { .. } => Self::could_not(
                format!("保存した状態を読めません（{error}）。"),
                format!("The stored state cannot be read: {error}."),
            ),
            _ => Self::could_not(
                format!("保存先を使えません（{error}）。"),
                format!("The store cannot be used: {error}."),
            ),
        }
    }
}

/// What a command comes to.
pub(crate) type Outcome = Result<Exit, Failure>;
