//! The folder of results. `runs.jsonl` is the truth, one line per run, on the disk as soon as the run
//! is over; the other files are made from it.

use crate::context::Context;
use crate::failure::Failure;
use crate::jsonl::{JsonLines, Kind};
use crate::output;
use lkdl_data::atomic;
use lkdl_experiments::{EXPERIMENTS, Job, Record, Run, gather};
use std::path::{Path, PathBuf};

pub const VERSION: &str = env!("CARGO_PKG_VERSION");
const RUNS: &str = "runs.jsonl";
const LINES: Kind = Kind {
    first_words: "{\"version\":\"",
    name: "run of an experiment",
    fix: "choose another folder of results",
};

/// A folder of results, open for more.
pub struct Results {
    folder: PathBuf,
    lines: JsonLines,
    runs: Vec<Run>,
}

impl Results {
    /// Opens the folder. Results that are there already are gone on with (`resume`), replaced
    /// (`--force`), or an error.
    pub fn open(folder: &Path, resume: bool, context: &Context) -> Result<Self, Failure> {
        std::fs::create_dir_all(folder).map_err(|error| Failure::output(folder, &error))?;
        let path = folder.join(RUNS);
        if path.exists() && !resume {
            if !context.force {
                return Err(Failure::output_exists(
                    &path,
                    "--resume to go on with it, --force to start anew",
                ));
            }
            // an empty file in its place: what is there is not lost before this one is
            output::write(&path, b"", context)?;
        }
        let (lines, runs) = JsonLines::open(&path, LINES)?;
        Ok(Self { folder: folder.into(), lines, runs })
    }

    /// The runs of a folder that is only read.
    pub fn read(folder: &Path) -> Result<Vec<Run>, Failure> {
        let path = folder.join(RUNS);
        if !path.is_file() {
            let fix = "name a folder that `lkdl reproduce … --out` made";
            return Err(Failure::input(format!("{} is missing; {fix}", path.display())));
        }
        JsonLines::read(&path, LINES)
    }

    /// The run of a job and a seed, if it is there.
    pub fn find(&self, job: &Job, seed: u64) -> Option<&Run> {
        self.runs.iter().find(|run| job.is_done_by(run, seed, VERSION))
    }

    /// Saves a run.
    pub fn add(&mut self, run: Run) -> Result<(), Failure> {
        self.lines.append(&run)?;
        self.runs.push(run);
        Ok(())
    }

    /// All runs there are.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// A file as the last run left it; empty if there is none.
    pub fn former(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }

    /// Writes a file that is made from the runs, over its former self.
    pub fn write(&self, name: &str, content: &str) -> Result<(), Failure> {
        let path = self.folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|error| Failure::output(parent, &error))?;
        }
        atomic::write_file(&path, true, |out| out.write_all(content.as_bytes()))
            .map_err(Failure::writing)
    }
}

/// All rows of some runs, in the paper's order.
pub fn records(runs: &[Run]) -> Vec<Record> {
    let mut records = gather(runs);
    let place = |record: &Record| EXPERIMENTS.iter().position(|e| e.id == record.experiment);
    records.sort_by_key(place);
    records
}

/// One object per line.
pub fn lines(records: &[Record]) -> Result<String, Failure> {
    let line = |record: &Record| {
        serde_json::to_string(record)
            .map(|text| text + "\n")
            .map_err(|error| Failure::run(format!("cannot write a record as JSON: {error}")))
    };
    records.iter().map(line).collect()
}
