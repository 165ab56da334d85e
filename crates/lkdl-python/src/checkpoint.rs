//! Where a fit from blocks keeps its state, as Python says it.

use crate::array::Number;
use crate::error::{Failure, argument};
use lkdl::state::Saved;
use lkdl::stream::DriftParams;
use lkdl_data::atomic;
use lkdl_model::{Every, FileKeeper, Note, Run, load_checkpoint};
use lkdl_recipe::{StreamJob, Wishes};
use pyo3::prelude::*;
use std::path::PathBuf;

/// A file for the state, how often it is written, and whether the fit goes on from it.
#[derive(Debug, Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Keeping {
    path: PathBuf,
    every: Option<String>,
    resume: bool,
    /// Whether the memory was limited by the caller, not by what the machine has.
    limits_memory: bool,
}

/// Everything that a fit from blocks is made with, beside the blocks.
pub struct Streamed {
    /// What is learned.
    pub wishes: Wishes,
    /// Samples of the pilot.
    pub n_pilot: usize,
    /// What is done about drift.
    pub drift: DriftParams,
    /// Where the state is kept, if it is.
    pub keeping: Option<Keeping>,
    /// Of all draws.
    pub seed: u64,
}

impl Streamed {
    /// As Python says it; `drift` is the limit, and landmarks to add when it is exceeded.
    pub fn new(
        wishes: Wishes,
        n_pilot: usize,
        (limit, grow): (f64, usize),
        keeping: Option<Keeping>,
        seed: u64,
    ) -> Self {
        let drift = DriftParams { limit, grow, ..DriftParams::default() };
        Self { wishes, n_pilot, drift, keeping, seed }
    }

    /// Refuses what could only fail after much work.
    pub fn check(&self) -> Result<(), Failure> {
        self.wishes.check_streamed()?;
        self.wishes.check_growing(&self.drift)?;
        let Some(Keeping { path, resume, .. }) = &self.keeping else { return Ok(()) };
        self.every()?;
        if self.wishes.kernel.custom.is_some() {
            let message = "a checkpoint cannot hold a kernel that is a function; name one";
            return Err(Failure::argument(message));
        }
        if path.is_file() && !resume {
            return Err(Failure::argument(format!(
                "checkpoint {} is there already; resume=True goes on from it, or remove it",
                path.display()
            )));
        }
        Ok(atomic::check_file(path, true)?)
    }

    /// Writes checkpoints as often as was said, or none.
    pub fn keeper(&self, note: &Note) -> Result<FileKeeper, Failure> {
        let path = self.keeping.as_ref().map(|keeping| keeping.path.as_path());
        Ok(FileKeeper::new(path, self.every()?, note)?)
    }

    fn every(&self) -> Result<Every, Failure> {
        let every = self.keeping.as_ref().and_then(|keeping| keeping.every.as_ref());
        let Some(text) = every else { return Ok(Every::default()) };
        text.parse().map_err(|requirement: String| {
            Failure::argument(format!("checkpoint_every is \"{text}\", but {requirement}"))
        })
    }

    /// The fit of data that are called `name`; `data` tells others from them before they are read.
    pub fn job<T: Number>(&self, name: String, data: String) -> StreamJob {
        StreamJob {
            wishes: self.wishes.clone(),
            n_pilot: self.n_pilot,
            drift: self.drift,
            seed: self.seed,
            name,
            run: self.keeping.as_ref().map(|keeping| self.run::<T>(data, keeping)),
        }
    }

    /// The checkpoint to go on from, which must be one of this job, if there is one.
    pub fn load<T: Number>(&self, job: &StreamJob) -> Result<Option<(Note, Saved<T>)>, Failure> {
        let keeping = self.keeping.as_ref().filter(|keeping| keeping.resume);
        let kept = keeping.map(|keeping| keeping.path.as_path()).filter(|path| path.exists());
        let (Some(path), Some(run)) = (kept, &job.run) else { return Ok(None) };
        Ok(Some(load_checkpoint::<T>(path, run)?))
    }

    /// Everything that the model depends on, in the words of the arguments. What a machine's memory
    /// decides is not given: the checkpoint has it.
    fn run<T: Number>(&self, data: String, keeping: &Keeping) -> Run {
        let run = [
            ("the data", data),
            ("the precision", T::NAME.to_string()),
            ("random_state", self.seed.to_string()),
            ("pilot_size", self.n_pilot.to_string()),
            ("grow", self.drift.grow.to_string()),
            ("drift_limit", self.drift.limit.to_string()),
        ];
        let run = run.into_iter().map(|(key, value)| (key.to_string(), value));
        let said = self.wishes.said();
        let said = said.filter(|(option, _)| *option != "memory" || keeping.limits_memory);
        run.chain(said.map(|(option, value)| (stream_argument(option), value))).collect()
    }
}

/// The argument of a fit from blocks that sets an option.
fn stream_argument(option: &str) -> String {
    match option {
        "method" => "learner".into(),
        "memory" => "memory_limit".into(),
        "batch" => "batch_size".into(),
        other => argument(other),
    }
}
