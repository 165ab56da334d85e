//! When the checkpoint of a fit from blocks is written, and whose it is: it is held against the run that
//! wants to go on from it.

use crate::card::DataRecord;
use crate::checkpoint::{CheckpointError, read_checkpoint, write_checkpoint};
use crate::element::Element;
use lkdl::LkdlError;
use lkdl::state::{Saved, Saving};
use lkdl::stream::Keeper;
use lkdl_data::atomic;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Everything that a model depends on, as it was given: what was not, is not there.
pub type Run = BTreeMap<String, String>;

/// What a checkpoint says of its run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Everything that the model depends on, as it was given.
    pub run: Run,
    /// What was said or chosen.
    pub settings: BTreeMap<String, String>,
    /// What held-out samples decided, in words.
    pub choice: Option<String>,
    /// Names of classes as the source writes them, by which it knows them again.
    pub written_names: Vec<String>,
    /// What the first pass saw.
    pub data: DataRecord,
}

/// How often something is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Every {
    /// After so many blocks.
    Blocks(usize),
    /// After so much time.
    Time(Duration),
}

impl Default for Every {
    fn default() -> Self {
        Self::Time(Duration::from_secs(60))
    }
}

impl FromStr for Every {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "must be a time such as 30s or 5min, or a number of blocks".to_string();
        let seconds = |number: &str, unit: f64| {
            let count: f64 = number.trim().parse().map_err(|_| wrong())?;
            Duration::try_from_secs_f64(count * unit).map(Self::Time).map_err(|_| wrong())
        };
        if let Some(number) = text.strip_suffix("min") {
            return seconds(number, 60.0);
        }
        if let Some(number) = text.strip_suffix('s') {
            return seconds(number, 1.0);
        }
        match text.parse() {
            Ok(0) | Err(_) => Err(wrong()),
            Ok(blocks) => Ok(Self::Blocks(blocks)),
        }
    }
}

/// Writes checkpoints, or none.
pub struct FileKeeper {
    path: Option<PathBuf>,
    every: Every,
    note: serde_json::Value,
    last: Instant,
    n_blocks: usize,
}

impl FileKeeper {
    /// Nothing is written yet.
    pub fn new(path: Option<&Path>, every: Every, note: &Note) -> Result<Self, LkdlError> {
        let note = serde_json::to_value(note)
            .map_err(|error| LkdlError::NotKept { message: error.to_string() })?;
        Ok(Self { path: path.map(Into::into), every, note, last: Instant::now(), n_blocks: 0 })
    }

    /// The fit has ended: there is nothing left to go on with.
    pub fn remove(&self) {
        if let Some(path) = &self.path {
            // one that cannot be removed is harmless: it is of a run that has ended
            let _ = std::fs::remove_file(path);
        }
    }
}

impl<T: Element> Keeper<T> for FileKeeper {
    fn is_due(&mut self) -> bool {
        self.n_blocks += 1;
        self.path.is_some()
            && match self.every {
                Every::Blocks(blocks) => self.n_blocks >= blocks,
                Every::Time(time) => self.last.elapsed() >= time,
            }
    }

    fn keep(&mut self, state: &Saving<'_, T>) -> Result<(), LkdlError> {
        let Some(path) = &self.path else { return Ok(()) };
        let written =
            atomic::write_file(path, true, |out| write_checkpoint(out, state, &self.note));
        (self.last, self.n_blocks) = (Instant::now(), 0);
        written.map_err(|error| LkdlError::NotKept { message: error.to_string() })
    }
}

/// Why a fit cannot go on from a file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// It cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It is no checkpoint, not whole, or of another version.
    #[error("{}: {source}", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: CheckpointError,
    },
    /// It is of a fit of other data, or with other settings.
    #[error(
        "{}: the checkpoint is of another run: {difference}; give the same settings and data, or \
         remove it to start anew",
        path.display()
    )]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// In what they differ.
        difference: String,
    },
}

/// Reads the checkpoint at `path`, which must be one of this run.
pub fn load_checkpoint<T: Element>(
    path: &Path,
    run: &Run,
) -> Result<(Note, Saved<T>), ResumeError> {
    let unfit = |source: CheckpointError| ResumeError::Unfit { path: path.into(), source };
    let bytes = std::fs::read(path)
        .map_err(|source| ResumeError::Unreadable { path: path.into(), source })?;
    let checkpoint = read_checkpoint(&bytes).map_err(unfit)?;
    let note: Note = serde_json::from_value(checkpoint.note.clone()).map_err(|error| {
        let problem = format!("its note is incomplete ({error})");
        unfit(CheckpointError::Damaged { problem })
    })?;
    if let Some(difference) = difference(&note.run, run) {
        return Err(ResumeError::OtherRun { path: path.into(), difference });
    }
    let state = checkpoint.state().map_err(unfit)?;
    Ok((note, state))
}

/// All in which two runs differ.
fn difference(kept: &Run, now: &Run) -> Option<String> {
    let value = |run: &Run, key: &str| run.get(key).map_or("not given".into(), Clone::clone);
    let keys: BTreeSet<&String> = kept.keys().chain(now.keys()).collect();
    let differing = keys.into_iter().filter(|key| kept.get(*key) != now.get(*key));
    let words =
        differing.map(|key| format!("{key} was {} and is {}", value(kept, key), value(now, key)));
    Some(words.collect::<Vec<_>>().join(", ")).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_blocks_are_told_apart() {
        let time = |seconds| Every::Time(Duration::from_secs_f64(seconds));
        for (text, every) in [
            ("30s", time(30.0)),
            ("0.5 s", time(0.5)),
            ("5min", time(300.0)),
            ("7", Every::Blocks(7)),
        ] {
            assert_eq!(text.parse(), Ok(every));
        }
        for text in ["", "0", "s", "-1s", "1h", "nans", "min"] {
            assert!(text.parse::<Every>().unwrap_err().contains("30s or 5min"), "{text}");
        }
    }

    #[test]
    fn what_two_runs_differ_in_is_named() {
        let run = |seed: &str| Run::from([("seed".to_string(), seed.to_string())]);
        assert_eq!(difference(&run("1"), &run("1")), None);
        assert_eq!(difference(&run("1"), &run("2")).unwrap(), "seed was 1 and is 2");
        assert_eq!(difference(&run("1"), &Run::new()).unwrap(), "seed was 1 and is not given");
        let other = Run::from([("atoms".to_string(), "50".to_string())]);
        let both = "atoms was not given and is 50, seed was 1 and is not given";
        assert_eq!(difference(&run("1"), &other).unwrap(), both);
    }
}
