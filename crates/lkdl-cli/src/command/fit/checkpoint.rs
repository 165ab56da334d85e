//! The checkpoint of a fit from blocks: written now and then, held against the run that wants to go
//! on from it.

use super::stream_flags::Every;
use crate::failure::Failure;
use lkdl::LkdlError;
use lkdl::state::{Saved, Saving};
use lkdl::stream::Keeper;
use lkdl_data::atomic;
use lkdl_model::{CheckpointError, DataRecord, Element, read_checkpoint, write_checkpoint};
use lkdl_recipe::Settings;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What a checkpoint says of its run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Everything that the model depends on, as it was given.
    pub run: BTreeMap<String, String>,
    /// What was said or chosen.
    pub settings: Settings,
    /// What held-out samples decided, in words.
    pub choice: Option<String>,
    /// Names of classes as they are written, in the order they were met.
    pub written_names: Vec<String>,
    /// What the first pass saw.
    pub data: DataRecord,
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
    pub fn new(path: Option<&Path>, every: Every, note: &Note) -> Result<Self, Failure> {
        let note = serde_json::to_value(note).map_err(Failure::run)?;
        Ok(Self { path: path.map(Into::into), every, note, last: Instant::now(), n_blocks: 0 })
    }

    /// The model is written: there is nothing left to go on with.
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

/// Reads the checkpoint at `path`, which must be one of this run.
pub fn load<T: Element>(
    path: &Path,
    run: &BTreeMap<String, String>,
) -> Result<(Note, Saved<T>), Failure> {
    let failed = |error: CheckpointError| Failure::input(format!("{}: {error}", path.display()));
    let bytes = std::fs::read(path)
        .map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
    let checkpoint = read_checkpoint(&bytes).map_err(failed)?;
    let note: Note = serde_json::from_value(checkpoint.note.clone()).map_err(|error| {
        let problem = format!("its note is incomplete ({error})");
        failed(CheckpointError::Damaged { problem })
    })?;
    if let Some(difference) = difference(&note.run, run) {
        return Err(Failure::input(format!(
            "{}: the checkpoint is of another run: {difference}; give the same flags and data, or \
             start anew without --resume",
            path.display()
        )));
    }
    let state = checkpoint.state().map_err(failed)?;
    Ok((note, state))
}

/// The first thing in which two runs differ.
fn difference(kept: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Option<String> {
    let value =
        |run: &BTreeMap<String, String>, key: &str| run.get(key).cloned().unwrap_or_default();
    let mut keys = kept.keys().chain(now.keys());
    let key = keys.find(|key| value(kept, key) != value(now, key))?;
    Some(format!("{key} was {}, and is {}", value(kept, key), value(now, key)))
}
