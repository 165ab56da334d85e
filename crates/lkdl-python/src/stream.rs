//! Fits from blocks: of a Python object that hands them out, or of files. Memory holds a block and a
//! pilot; everything else is the engine's own streamed fit, the same that the command runs.

use crate::array::{AnySamples, InPrecision, Number, Samples, in_precision, labels};
use crate::caller::Caller;
use crate::checkpoint::{Keeping, Streamed};
use crate::error::Failure;
use crate::gather::Workers;
use crate::job::{Call, Watch};
use crate::model::{AnyModel, Fitted, Model, Wrap, wishes};
use faer::Mat;
use lkdl::LkdlError;
use lkdl::blocks::{Block, Source};
use lkdl::stream::{Drift, DriftParams, Pilot, StreamFit, Tally, Whole};
use lkdl_data::{BlockSource, DataArgument, ReadOptions};
use lkdl_model::{Card, Classifier, DataRecord, Note, Pipeline};
use lkdl_recipe::{Labelled, Settled, Started, StreamJob, Surveyed, Wishes};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// An object of Python with `rewind()`, `next()` (samples and class indices of the next block, or
/// None), `settle()`, `written_names()`, `settle_as()` and `identity`; only the thread of the call
/// speaks to it.
struct PythonBlocks<'a>(Caller<'a>);

impl<T: Number> Source<T> for PythonBlocks<'_>
where
    AnySamples: InPrecision<T>,
{
    fn next_block(&mut self) -> Result<Option<Block<T>>, LkdlError> {
        self.0.ask(|blocks| {
            let next = blocks.call_method0("next")?;
            if next.is_none() {
                return Ok(None);
            }
            let (X, of_samples): (Bound<'_, PyAny>, Bound<'_, PyAny>) = next.extract()?;
            let samples = AnySamples::of(&X, "X")?.samples("X")?.view().to_owned();
            Ok(Some(Block { samples, labels: labels(&of_samples)? }))
        })
    }

    fn rewind(&mut self) -> Result<(), LkdlError> {
        self.0.ask(|blocks| blocks.call_method0("rewind").map(|_| ()))
    }
}

impl<T: Number> Labelled<T> for PythonBlocks<'_>
where
    AnySamples: InPrecision<T>,
{
    fn settle(&mut self) -> Result<Settled, LkdlError> {
        self.0.ask(|blocks| blocks.call_method0("settle")?.extract())
    }

    fn written_names(&mut self) -> Result<Vec<String>, LkdlError> {
        self.0.ask(|blocks| blocks.call_method0("written_names")?.extract())
    }

    fn settle_as(&mut self, written: &[String]) -> Result<Vec<String>, LkdlError> {
        let written = written.to_vec();
        self.0.ask(|blocks| blocks.call_method1("settle_as", (written,))?.extract())
    }
}

impl PythonBlocks<'_> {
    /// What tells other samples from these before they are read.
    fn identity(&mut self) -> Result<String, LkdlError> {
        self.0.ask(|blocks| blocks.getattr("identity")?.extract())
    }
}

fn joined(data: &[DataArgument], text: impl Fn(&DataArgument) -> String) -> String {
    data.iter().map(text).collect::<Vec<_>>().join(" + ")
}

/// A file and its bytes; a named set stays as it is.
fn sized(data: &DataArgument) -> String {
    match data {
        DataArgument::File(path) => match path.metadata() {
            Ok(metadata) => format!("{data} of {} bytes", metadata.len()),
            Err(_) => data.to_string(),
        },
        set => set.to_string(),
    }
}

/// Starts, or goes on from a checkpoint, and learns pass by pass.
fn fit<T: Number>(
    source: &mut impl Labelled<T>,
    said: &Streamed,
    job: &StreamJob,
    watch: &Watch,
) -> Result<(Fitted<T>, Option<Drift>), Failure> {
    let started = match said.load(job)? {
        Some(kept) => job.resume(source, kept)?,
        None => job.plan(job.survey(source, watch)?, watch)?.start(source, watch)?,
    };
    let Started { mut fit, class_names, note, .. } = started;
    let mut keeper = said.keeper(&note)?;
    fit.run_passes(source, &mut keeper, watch)?;
    let drift = fit.drift();
    let fitted = fitted(fit, class_names, note, said.seed)?;
    keeper.remove();
    Ok((fitted, drift))
}

/// The model of a fit that has ended.
fn fitted<T: Number>(
    fit: StreamFit<T>,
    class_names: Vec<String>,
    note: Note,
    seed: u64,
) -> Result<Fitted<T>, Failure> {
    let pipeline: Pipeline<T> = fit.finish()?.map_classifier(Classifier::from);
    let Note { settings, choice, data, .. } = note;
    Ok(Fitted::new(pipeline, Card { class_names, seed, data, settings }, choice))
}

/// What Python hands out, in its precision.
fn fit_python<T: Number>(
    blocks: Py<PyAny>,
    said: &Streamed,
    watch: &Watch,
) -> Result<(AnyModel, Option<Drift>), Failure>
where
    AnySamples: InPrecision<T>,
    AnyModel: Wrap<T>,
{
    said.check()?;
    let mut source = PythonBlocks(Caller::new(blocks, watch));
    let found = source.identity().map_err(Failure::from).and_then(|identity| {
        let job = said.job::<T>(String::new(), identity);
        fit::<T>(&mut source, said, &job, watch)
    });
    match found {
        Ok((fitted, drift)) => Ok((AnyModel::wrap(fitted), drift)),
        Err(failure) => Err(source.0.raised().map_or(failure, Failure::Raised)),
    }
}

/// A model; what its landmarks missed of the last samples, and at most, as multiples of what they
/// missed of the pilot; landmarks that were added.
type Learned = (Model, Option<(f64, f64, usize)>);

fn learned((model, drift): (AnyModel, Option<Drift>)) -> Learned {
    (Model { model }, drift.map(|drift| (drift.level, drift.highest, drift.n_grown)))
}

/// Learns from what `blocks` hands out, pass by pass. `drift` is its limit, and landmarks to add when
/// it is exceeded.
#[pyfunction]
#[pyo3(signature = (blocks, dtype, settings, n_pilot, drift, checkpoint=None, kernel=None, seed=0,
    threads=0, progress=None))]
#[allow(clippy::too_many_arguments)] // one for each argument of Python
pub fn fit_blocks<'py>(
    py: Python<'py>,
    blocks: Py<PyAny>,
    dtype: &str,
    settings: &Bound<'py, PyDict>,
    n_pilot: usize,
    drift: (f64, usize),
    checkpoint: Option<Keeping>,
    kernel: Option<&Bound<'py, PyAny>>,
    seed: u64,
    threads: usize,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Learned> {
    let said = Streamed::new(wishes(settings, kernel)?, n_pilot, drift, checkpoint, seed);
    let is_single = dtype == "float32";
    let found = Call { py, threads, progress }.run(move |watch| {
        let fit = if is_single { fit_python::<f32> } else { fit_python::<f64> };
        fit(blocks, &said, watch)
    })?;
    Ok(learned(found))
}

/// Learns from files, one after the other, that `lkdl fit --stream` would read.
#[pyfunction]
#[pyo3(signature = (data, block_size, settings, n_pilot, drift, checkpoint=None, data_dir=None,
    seed=0, threads=0, progress=None))]
#[allow(clippy::too_many_arguments)] // one for each argument of Python
pub fn fit_files<'py>(
    py: Python<'py>,
    data: Vec<String>,
    block_size: usize,
    settings: &Bound<'py, PyDict>,
    n_pilot: usize,
    drift: (f64, usize),
    checkpoint: Option<Keeping>,
    data_dir: Option<PathBuf>,
    seed: u64,
    threads: usize,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Learned> {
    let said = Streamed::new(wishes(settings, None)?, n_pilot, drift, checkpoint, seed);
    let found = Call { py, threads, progress }.run(move |watch| {
        said.check()?;
        let data = data.iter().map(|data| DataArgument::parse(data));
        let data = data.collect::<Result<Vec<_>, _>>()?;
        let options = ReadOptions::default();
        let mut source =
            BlockSource::<f64>::open(&data, data_dir.as_deref(), &options, block_size)?;
        let identity = format!("{} in blocks of {block_size}", joined(&data, sized));
        let job = said.job::<f64>(joined(&data, ToString::to_string), identity);
        let (fitted, drift) = fit(&mut source, &said, &job, watch)?;
        Ok((AnyModel::wrap(fitted), drift))
    })?;
    Ok(learned(found))
}

/// The keys of so many samples from number `first` on, by which a pilot is drawn.
#[pyfunction]
#[pyo3(signature = (seed, first, count))]
pub fn survey_keys(
    py: Python<'_>,
    seed: u64,
    first: usize,
    count: usize,
) -> Bound<'_, PyArray1<u64>> {
    PyArray1::from_vec(py, lkdl::stream::survey_keys(seed, first, count))
}

/// What others have counted: blocks, samples of the largest, samples of every class.
type Counts = (usize, usize, Vec<usize>);

/// A fit from blocks as it starts: preparation, map and the atoms to begin with, from a pilot (rows
/// of X, class indices, numbers in the source) that was drawn elsewhere. What depends on all samples
/// is asked of `gather(request)`, once for each pass that is needed, on the thread of the call: it
/// gives the sum, by `add_gathered`, of what `gather_block(request, …)` gives for every block. Without
/// it the pilot stands for all.
#[pyfunction]
#[pyo3(signature = (X, labels, indices, counts, class_names, settings, kernel=None, seed=0,
    threads=0, progress=None, gather=None))]
#[allow(clippy::too_many_arguments)] // one for each argument of Python
pub fn start_blocks<'py>(
    py: Python<'py>,
    X: &Bound<'py, PyAny>,
    labels: &Bound<'py, PyAny>,
    indices: &Bound<'py, PyAny>,
    counts: Counts,
    class_names: Vec<String>,
    settings: &Bound<'py, PyDict>,
    kernel: Option<&Bound<'py, PyAny>>,
    seed: u64,
    threads: usize,
    progress: Option<Bound<'py, PyAny>>,
    gather: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let wishes = wishes(settings, kernel)?;
    let (labels, indices) = (self::labels(labels)?, self::labels(indices)?);
    in_precision!(AnySamples::of(X, "X")?, X => {
        let pilot = pilot(&X, labels, indices, counts)?;
        let model = Call { py, threads, progress }.run(move |watch| {
            start(pilot, &wishes, class_names, seed, gather, watch)
        })?;
        Ok(Model { model: AnyModel::wrap(model) })
    })
}

fn pilot<T: Number>(
    X: &Samples<T>,
    labels: Vec<usize>,
    indices: Vec<usize>,
    (n_blocks, largest_block, class_counts): Counts,
) -> Result<Pilot<T>, Failure> {
    let samples = X.view().to_owned();
    let (p, n) = (samples.nrows(), samples.ncols());
    let is_known = |label: &usize| *label < class_counts.len();
    if [labels.len(), indices.len()] != [n; 2] || !labels.iter().all(is_known) {
        return Err(Failure::argument("labels, indices and counts do not fit the pilot"));
    }
    let tally = Tally::counted(n_blocks, p, class_counts, largest_block);
    Ok(Pilot { samples, labels, indices, held_out: Mat::new(), tally })
}

fn start<T: Number>(
    pilot: Pilot<T>,
    wishes: &Wishes,
    class_names: Vec<String>,
    seed: u64,
    gather: Option<Py<PyAny>>,
    watch: &Watch,
) -> Result<Fitted<T>, Failure>
where
    AnySamples: InPrecision<T>,
{
    let data = DataRecord { n_samples: pilot.tally.n_samples, ..DataRecord::default() };
    let job = StreamJob {
        wishes: wishes.clone(),
        n_pilot: pilot.samples.ncols(),
        drift: DriftParams::default(),
        seed,
        name: String::new(),
        run: None,
    };
    let planned = job.plan(Surveyed { pilot, class_names, data }, watch)?;
    let recipe = &planned.recipe;
    let whole = match gather {
        None => Whole::default(),
        Some(gather) => {
            let mut workers = Workers::new(gather, recipe.settings.clone(), seed, watch);
            let gathered = recipe.params.gather_by(&planned.surveyed.pilot, &mut workers);
            gathered.map_err(|error| match workers.raised() {
                Some(raised) => Failure::Raised(raised),
                None => error.into(),
            })?
        }
    };
    let Started { fit, class_names, note, .. } = planned.start_from(whole, watch)?;
    fitted(fit, class_names, note, seed)
}
