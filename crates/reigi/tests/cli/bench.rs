//! Running the binary, and where shared test material lies.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// What a command answered.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    /// Standard output as JSON lines.
    pub(crate) fn json(&self) -> Vec<Value> {
        self.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Itself, if the exit code is `code`.
    #[track_caller]
    pub(crate) fn with(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout:\n{}\nstderr:\n{}",
            self.out, self.err
        );
        self
    }
}

/// Runs the binary in `dir` in English, with nothing on standard input.
pub(crate) fn reigi(dir: &Path, arguments: &[&str]) -> Said {
    reigi_fed(dir, arguments, b"")
}

/// Runs the binary in `dir` with `input` on standard input.
pub(crate) fn reigi_fed(dir: &Path, arguments: &[&str], input: &[u8]) -> Said {
    let mut child = Command::new(env!("CARGO_BIN_EXE_reigi"))
        .args(arguments)
        .current_dir(dir)
        .env_remove("LC_ALL")
        .env_remove("LC_MESSAGES")
        .env("LANG", "en_US.UTF-8")
        .env("USER", "tester")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that reads no input may have ended already.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    Said {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Shared test material (`REIGI_SHARED`, or the folder `shared` beside the checkout).
pub(crate) fn shared(part: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("REIGI_SHARED").map_or_else(beside, PathBuf::from);
    let path = root.join(part);
    if path.exists() {
        return Some(path.canonicalize().unwrap());
    }
    println!("skipped: {part} is not here (set REIGI_SHARED)");
    None
}
