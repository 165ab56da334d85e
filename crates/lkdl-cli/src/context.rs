//! What every command gets: the shared flags, and the two ways out. Results go to stdout; progress,
//! notes and warnings to stderr.

use crate::cli::Shared;
use crate::failure::Failure;
use crate::words;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

/// Threads at most: more than any machine has cores, and few enough to start.
const MAX_THREADS: usize = 1024;

/// The shared flags, made ready.
#[derive(Debug)]
pub struct Context {
    /// Results as JSON.
    pub json: bool,
    /// Nothing on stderr but errors.
    pub quiet: bool,
    /// Threads in the pool that all parallel work runs in.
    pub threads: usize,
    /// The seed of every random draw.
    pub seed: u64,
    /// Where named sets are, if the user said so.
    pub data_dir: Option<PathBuf>,
    /// Existing outputs may be overwritten.
    pub force: bool,
    /// Colours may be used on stderr.
    colours: bool,
}

impl Context {
    /// Builds the pool of threads, once per process.
    pub fn new(shared: Shared) -> Result<Self, Failure> {
        let wanted = shared.threads.map_or(0, Into::into); // 0 lets rayon count the cores
        if wanted > MAX_THREADS {
            let message = format!("--threads is {wanted}, but must be at most {MAX_THREADS}");
            return Err(Failure::usage(message));
        }
        rayon::ThreadPoolBuilder::new()
            .num_threads(wanted)
            .build_global()
            .map_err(|error| Failure::run(format!("cannot start {wanted} threads: {error}")))?;
        let no_color =
            shared.no_color || std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        Ok(Self {
            json: shared.json,
            quiet: shared.quiet,
            threads: rayon::current_num_threads(),
            seed: shared.seed,
            data_dir: shared.data_dir,
            force: shared.force,
            colours: !no_color && std::io::stderr().is_terminal(),
        })
    }

    /// What unit tests of commands run in.
    #[cfg(test)]
    pub fn for_tests() -> Self {
        let (json, quiet, force, colours) = (false, true, false, false);
        Self { json, quiet, threads: 1, seed: 0, data_dir: None, force, colours }
    }

    /// A bar on stderr with the time left, invisible unless a person is watching. `label` should
    /// not be longer than a word or two.
    pub fn progress(&self, label: &str, total: u64) -> ProgressBar {
        self.bar(label, total, "{pos}/{len}")
    }

    /// The same for bytes.
    pub fn progress_bytes(&self, label: &str, total: u64) -> ProgressBar {
        self.bar(label, total, "{bytes}/{total_bytes} {bytes_per_sec}")
    }

    fn bar(&self, label: &str, total: u64, counter: &str) -> ProgressBar {
        if self.quiet || self.json || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let colour = if self.colours { ".cyan" } else { "" };
        let template = format!("{{msg:12}} {{bar:30{colour}}} {counter} {{eta}} left");
        let style = ProgressStyle::with_template(&template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("━╸─");
        ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr())
            .with_style(style)
            .with_message(label.to_owned())
    }

    /// A remark for a person, on one line.
    pub fn note(&self, text: impl std::fmt::Display) {
        self.say("", text);
    }

    /// Something the user may want to know about the result, on one line.
    pub fn warn(&self, text: impl std::fmt::Display) {
        let (on, off) = if self.colours { ("\x1b[33m", "\x1b[0m") } else { ("", "") };
        self.say(&format!("{on}warning:{off} "), text);
    }

    fn say(&self, start: &str, text: impl std::fmt::Display) {
        if !self.quiet {
            // a closed stderr is no reason to fail
            let _ = writeln!(std::io::stderr(), "{start}{}", words::shown(&text.to_string()));
        }
    }

    /// Prints a result for a person, ended by a line break.
    pub fn print(&self, text: impl std::fmt::Display) -> Result<(), Failure> {
        let text = words::shown_lines(&text.to_string());
        let end = if text.ends_with('\n') { "" } else { "\n" };
        self.print_bytes(format!("{text}{end}").as_bytes())
    }

    /// Prints a result as it is.
    pub fn print_bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = std::io::stdout().lock();
        stdout
            .write_all(bytes)
            .and_then(|()| stdout.flush())
            .map_err(|error| Failure::stdout(&error))
    }

    /// Prints an object as JSON. `version` and `command` are added: `body` must be a struct or map
    /// without these keys.
    pub fn print_json(&self, body: &impl Serialize) -> Result<(), Failure> {
        let envelope =
            Envelope { version: env!("CARGO_PKG_VERSION"), command: self.command_line(), body };
        let text = serde_json::to_string_pretty(&envelope)
            .map_err(|error| Failure::run(format!("cannot write the result as JSON: {error}")))?;
        self.print_bytes(format!("{text}\n").as_bytes())
    }

    /// The command as it was typed, for records.
    pub fn command_line(&self) -> String {
        let words = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
        std::iter::once("lkdl".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
    }
}

#[derive(Serialize)]
struct Envelope<'a, T: Serialize> {
    version: &'a str,
    command: String,
    #[serde(flatten)]
    body: &'a T,
}

/// A word as a shell would take it back.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        assert_eq!(quoted("usps:train"), "usps:train");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
