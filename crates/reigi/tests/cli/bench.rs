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

/// A house in `dir` with the example charter, which reaches loopback only: a target for each list
/// of URLs, `t0`, `t1`, …, its terms checked.
pub(crate) fn acceptance_house(dir: &Path, hosts: &str, targets: &[Vec<String>]) -> PathBuf {
    let house = dir.join("house");
    std::fs::create_dir_all(house.join("charters")).unwrap();
    std::fs::create_dir_all(house.join("ledgers")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(house.join(name), text).unwrap();
    let charter = include_str!("../../../../charters/blueai-change.toml");
    write("charters/blueai-change.toml", charter);
    write("hosts.txt", hosts);
    let mut ledger = String::new();
    for (number, urls) in targets.iter().enumerate() {
        ledger += &format!(
            "[[target]]\nid = \"t{number}\"\nname = \"t{number}\"\nurls = {urls:?}\nterms = {{ url = {:?}, \
             checked_by = \"me\", checked_on = \"2026-11-01\", verdict = \"allowed\" }}\n",
            urls[0]
        );
    }
    write("ledgers/all.toml", &ledger);
    write(
        "reigi.toml",
        "[house]\nname = \"test\"\nzone = \"Asia/Tokyo\"\nlang = \"en\"\n\n[[bot]]\n\
         charter = \"charters/blueai-change.toml\"\nledger = \"ledgers/all.toml\"\n\n\
         [network]\nhosts_file = \"hosts.txt\"\n\n[store]\npath = \"data\"\n\n\
         [roles]\nreviewer = [\"me\"]\n",
    );
    house
}
