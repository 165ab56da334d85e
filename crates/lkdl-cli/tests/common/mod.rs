//! Running the built command, as a shell would.
#![allow(dead_code, clippy::unwrap_used)] // each test file uses a part; what is missing is a failure

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The command, away from the user's settings and from a terminal.
pub fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lkdl"));
    command.args(words).stdin(Stdio::null());
    for name in
        ["LKDL_CONFIG", "LKDL_DATA_DIR", "LKDL_THREADS", "COLUMNS", "http_proxy", "HTTP_PROXY"]
    {
        command.env_remove(name);
    }
    command.env("HOME", "/no/such/home").env_remove("XDG_DATA_HOME");
    command
}

/// What a run left behind.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs `lkdl` with these words.
pub fn lkdl(words: &[&str]) -> Run {
    command(words).output().unwrap().into()
}

/// Runs `lkdl` and reads its JSON.
pub fn json(words: &[&str]) -> serde_json::Value {
    let run = lkdl(words);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

/// The keys of a JSON object, sorted.
pub fn keys(value: &serde_json::Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// A folder for one test, removed at its end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lkdl-cli-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The path of `name` in it, as a word.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.0.join(name), content).unwrap();
        self.path(name)
    }

    /// The names of what is in it, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Compares `text` with the committed file tests/snapshots/`name`; `UPDATE_SNAPSHOTS=1` writes it.
pub fn check_snapshot(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&file, text).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        committed == text,
        "{name} is not as committed; if it should be so, run with UPDATE_SNAPSHOTS=1\n\
         --- committed\n{committed}\n--- now\n{text}"
    );
}
