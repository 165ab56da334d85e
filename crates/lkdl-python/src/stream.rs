//! Fits from blocks: of a Python object that hands them out, or of files. Memory holds a block and a
//! pilot; everything else is the engine's own streamed fit, the same that the command runs.

use crate::array::{AnySamples, InPrecision, Number, Samples, in_precision, labels};
use crate::caller::Caller;
use crate::error::Failure;
use crate::gather::Workers;
use crate::job::{Call, Watch};
use crate::model::{AnyModel, Fitted, Model, Wrap, wishes};
use lkdl::LkdlError;
use lkdl::blocks::{Block, Source};
use lkdl::monitor::Monitor;
use lkdl::stream::{DriftParams, KeepNothing, Pilot, SurveyParams, Tally, Whole};
use lkdl_data::{BlockSource, DataArgument, ReadOptions};
use lkdl_model::{Card, Classifier, DataRecord, Pipeline};
use lkdl_recipe::Wishes;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Names of classes in their order, and which of them every index of the first pass means.
type Settled = (Vec<String>, Vec<usize>);

/// Blocks whose classes have names.
trait Labelled<T: Number>: Source<T> {
    /// The first pass is over: all classes are known, and have their own indices from now on.
    fn settle(&mut self) -> Result<Settled, LkdlError>;

    /// What is known of the samples beside them.
    fn record(&self) -> DataRecord;
}

/// An object of Python with `rewind()`, `next()` (samples and class indices of the next block, or
/// None) and `settle()`; only the thread of the call speaks to it.
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

    fn record(&self) -> DataRecord {
        DataRecord::default()
    }
}

/// Files, and what they are called.
struct Files<T: Number> {
    source: BlockSource<T>,
    name: String,
}

impl<T: Number> Files<T> {
    fn open(
        data: &[String],
        directory: Option<PathBuf>,
        block_size: usize,
    ) -> Result<Self, Failure> {
        let data = data.iter().map(|data| DataArgument::parse(data));
        let data = data.collect::<Result<Vec<_>, _>>()?;
        let options = ReadOptions::default();
        let source = BlockSource::open(&data, directory.as_deref(), &options, block_size)?;
        let names: Vec<String> = data.iter().map(ToString::to_string).collect();
        Ok(Self { source, name: names.join(" + ") })
    }
}

impl<T: Number> Source<T> for Files<T> {
    fn next_block(&mut self) -> Result<Option<Block<T>>, LkdlError> {
        self.source.next_block()
    }

    fn rewind(&mut self) -> Result<(), LkdlError> {
        self.source.rewind()
    }
}

impl<T: Number> Labelled<T> for Files<T> {
    fn settle(&mut self) -> Result<Settled, LkdlError> {
        Ok(self.source.settle())
    }

    fn record(&self) -> DataRecord {
        DataRecord {
            name: self.name.clone(),
            feature_names: self.source.feature_names(),
            image_shape: self.source.image_shape(),
            index_base: self.source.index_base(),
            ..DataRecord::default()
        }
    }
}

/// Looks at all samples, chooses by the pilot what was left open, and learns pass by pass.
fn fit<T: Number>(
    source: &mut impl Labelled<T>,
    wishes: &Wishes,
    n_pilot: usize,
    seed: u64,
    watch: &Watch,
) -> Result<Fitted<T>, Failure> {
    wishes.check_streamed()?;
    let survey = SurveyParams { n_pilot, seed, ..SurveyParams::default() };
    let mut pilot = survey.survey(source, watch)?;
    let (class_names, classes) = source.settle()?;
    if class_names.len() < 2 {
        let message = "y has 1 class, so there is nothing to tell apart; give at least two";
        return Err(Failure::argument(message));
    }
    pilot.relabel(&classes)?;
    let checksum = format!("{:016x}", pilot.tally.digest());
    let data = DataRecord { checksum, n_samples: pilot.tally.n_samples, ..source.record() };
    watch.begin("choose", 0);
    let recipe = wishes.stream_recipe(
        pilot.samples.as_ref(),
        &pilot.labels,
        DriftParams::default(),
        seed,
    )?;
    let whole = recipe.params.gather(&pilot, source, watch)?;
    let fit = recipe.params.start(pilot, whole, watch)?;
    let model = fit.run(source, &mut KeepNothing, watch)?;
    let pipeline: Pipeline<T> = model.map_classifier(Classifier::from);
    let card = Card { class_names, seed, data, settings: recipe.settings };
    Ok(Fitted::new(pipeline, card, recipe.verdict.as_ref()))
}

/// What Python hands out, in its precision.
fn fit_python<T: Number>(
    blocks: Py<PyAny>,
    wishes: &Wishes,
    n_pilot: usize,
    seed: u64,
    watch: &Watch,
) -> Result<AnyModel, Failure>
where
    AnySamples: InPrecision<T>,
    AnyModel: Wrap<T>,
{
    let mut source = PythonBlocks(Caller::new(blocks, watch));
    match fit::<T>(&mut source, wishes, n_pilot, seed, watch) {
        Ok(fitted) => Ok(AnyModel::wrap(fitted)),
        Err(failure) => Err(source.0.raised().map_or(failure, Failure::Raised)),
    }
}

/// Learns from what `blocks` hands out, pass by pass.
#[pyfunction]
#[pyo3(signature = (blocks, dtype, settings, n_pilot, kernel=None, seed=0, threads=0,
    progress=None))]
#[allow(clippy::too_many_arguments)] // one for each argument of Python
pub fn fit_blocks<'py>(
    py: Python<'py>,
    blocks: Py<PyAny>,
    dtype: &str,
    settings: &Bound<'py, PyDict>,
    n_pilot: usize,
    kernel: Option<&Bound<'py, PyAny>>,
    seed: u64,
    threads: usize,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Model> {
    let (wishes, is_single) = (wishes(settings, kernel)?, dtype == "float32");
    let model = Call { py, threads, progress }.run(move |watch| {
        let fit = if is_single { fit_python::<f32> } else { fit_python::<f64> };
        fit(blocks, &wishes, n_pilot, seed, watch)
    })?;
    Ok(Model { model })
}

/// Learns from files, one after the other, that `lkdl fit --stream` would read.
#[pyfunction]
#[pyo3(signature = (data, block_size, settings, n_pilot, data_dir=None, seed=0, threads=0,
    progress=None))]
#[allow(clippy::too_many_arguments)] // one for each argument of Python
pub fn fit_files<'py>(
    py: Python<'py>,
    data: Vec<String>,
    block_size: usize,
    settings: &Bound<'py, PyDict>,
    n_pilot: usize,
    data_dir: Option<PathBuf>,
    seed: u64,
    threads: usize,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Model> {
    let wishes = wishes(settings, None)?;
    let model = Call { py, threads, progress }.run(move |watch| {
        let mut source = Files::<f64>::open(&data, data_dir, block_size)?;
        Ok(AnyModel::wrap(fit(&mut source, &wishes, n_pilot, seed, watch)?))
    })?;
    Ok(Model { model })
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
    Ok(Pilot { samples, labels, indices, tally })
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
    watch.begin("choose", 0);
    let recipe = wishes.stream_recipe(
        pilot.samples.as_ref(),
        &pilot.labels,
        DriftParams::default(),
        seed,
    )?;
    let data = DataRecord { n_samples: pilot.tally.n_samples, ..DataRecord::default() };
    let whole = match gather {
        None => Whole::default(),
        Some(gather) => {
            let mut workers = Workers::new(gather, recipe.settings.clone(), seed, watch);
            let gathered = recipe.params.gather_by(&pilot, &mut workers);
            gathered.map_err(|error| match workers.raised() {
                Some(raised) => Failure::Raised(raised),
                None => error.into(),
            })?
        }
    };
    let model = recipe.params.start(pilot, whole, watch)?.finish()?;
    let pipeline: Pipeline<T> = model.map_classifier(Classifier::from);
    let card = Card { class_names, seed, data, settings: recipe.settings };
    Ok(Fitted::new(pipeline, card, recipe.verdict.as_ref()))
}
