//! What a fit from blocks gathers from all samples, as plain arrays: a request says what, whoever
//! holds a block forms its part, and parts add in the order of the blocks.
//!
//! A request is a tuple (settings, seed, moments, count, points): with neither count nor points it
//! asks for the moments of the samples that the next `standardize` sees, with a count for so many
//! candidates for landmarks, with points (rows) for the sums of their map. A part is a tuple of its
//! kind and its arrays, which one may pickle and should not change:
//!
//! - `("moments", (n, origin, offset, squares))`
//! - `("landmarks", (count, keys, indices, points))`
//! - `("map", (n, trace, kernel_sum, cross_gram))`, the arrays of `map_sums`

use crate::array::{
    AnySamples, InPrecision, Number, Samples, in_precision, indices, labels, numbers, reshaped,
    rows, vector,
};
use crate::caller::Caller;
use crate::error::Failure;
use crate::job::{Call, Watch};
use crate::kernel::custom;
use crate::sums::{map_parts, read_map_parts};
use faer::Mat;
use lkdl::blocks::Add;
use lkdl::map::{MapSums, NystroemParams};
use lkdl::monitor::Monitor;
use lkdl::prepare::{Moments, Preparation};
use lkdl::sampling::{Candidate, DiagonalDraw, Reservoir, Sampler};
use lkdl::stream::{Gather, StreamParams};
use lkdl::{Kernel, LkdlError, MapParams, Panel};
use lkdl_recipe::{Settings, StreamRecipe};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Settings, seed, moments of the `standardize` steps before, a count of landmarks, landmarks.
type Request<'py> =
    (Bound<'py, PyDict>, u64, Vec<MomentParts<'py>>, Option<usize>, Option<Bound<'py, PyAny>>);
/// N, a sample, the mean from it, and squared deviations.
type MomentParts<'py> = (usize, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);
/// How many are wanted; keys, numbers and samples (rows) of the candidates.
type CandidateParts<'py> = (usize, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);
/// A kind and its arrays.
type Parts<'py> = (String, Bound<'py, PyAny>);

const MOMENTS: &str = "moments";
const LANDMARKS: &str = "landmarks";
const MAP: &str = "map";

/// What was gathered from some samples.
enum Part<T: Number> {
    Moments(Moments),
    Landmarks(Reservoir<T>),
    Map(MapSums),
}

impl<T: Number> Part<T>
where
    AnySamples: InPrecision<T>,
{
    fn read(part: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (kind, arrays): Parts<'_> = part.extract()?;
        Ok(match kind.as_str() {
            MOMENTS => Self::Moments(read_moments(&arrays.extract()?)?),
            LANDMARKS => {
                let arrays: CandidateParts<'_> = arrays.extract()?;
                let points = AnySamples::of(&arrays.3, "points")?.samples("points")?;
                Self::Landmarks(read_candidates(&arrays, &points)?)
            }
            MAP => Self::Map(read_map_parts(&arrays.extract()?)?),
            _ => return Err(Failure::argument(format!("\"{kind}\" is no kind of part")).into()),
        })
    }

    fn write<'py>(self, py: Python<'py>) -> PyResult<Parts<'py>> {
        let (kind, arrays) = match self {
            Self::Moments(moments) => (MOMENTS, moment_parts(py, moments).into_pyobject(py)?),
            Self::Landmarks(candidates) => {
                (LANDMARKS, candidate_parts(py, &candidates).into_pyobject(py)?)
            }
            Self::Map(sums) => (MAP, map_parts(py, sums).into_pyobject(py)?),
        };
        Ok((kind.to_string(), arrays.into_any()))
    }

    /// The part of both; the second comes later.
    fn add(&mut self, later: Self) -> Result<(), Failure> {
        let fits = match (&*self, &later) {
            (Self::Moments(a), Self::Moments(b)) => widths(a) == widths(b),
            (Self::Landmarks(a), Self::Landmarks(b)) => {
                let width = |of: &Reservoir<T>| of.candidates().first().map(|c| c.point.len());
                width(a).is_none() || width(b).is_none() || width(a) == width(b)
            }
            (Self::Map(a), Self::Map(b)) => {
                let shape = |of: &MapSums| {
                    (of.kernel_sum.len(), of.cross_gram.nrows(), of.cross_gram.ncols())
                };
                shape(a) == shape(b)
            }
            _ => false,
        };
        if !fits {
            return Err(Failure::argument("these parts are not of one request"));
        }
        match (self, later) {
            (Self::Moments(a), Self::Moments(b)) => a.add(b),
            (Self::Landmarks(a), Self::Landmarks(b)) => a.add(b),
            (Self::Map(a), Self::Map(b)) => a.add(b),
            _ => {}
        }
        Ok(())
    }
}

fn widths(moments: &Moments) -> [usize; 3] {
    [&moments.origin, &moments.offset, &moments.squares].map(Vec::len)
}

fn read_moments(parts: &MomentParts<'_>) -> Result<Moments, Failure> {
    let moments = Moments {
        n_samples: parts.0,
        origin: numbers(&parts.1, "origin")?,
        offset: numbers(&parts.2, "offset")?,
        squares: numbers(&parts.3, "squares")?,
    };
    let [p, offset, squares] = widths(&moments);
    if [offset, squares] != [p; 2] {
        return Err(Failure::argument("the moments' arrays differ in length"));
    }
    Ok(moments)
}

fn moment_parts(py: Python<'_>, moments: Moments) -> MomentParts<'_> {
    let Moments { n_samples, origin, offset, squares } = moments;
    (n_samples, vector(py, origin), vector(py, offset), vector(py, squares))
}

fn read_candidates<T: Number>(
    parts: &CandidateParts<'_>,
    points: &Samples<T>,
) -> Result<Reservoir<T>, Failure> {
    let (keys, indices, points) = (numbers(&parts.1, "keys")?, labels(&parts.2)?, points.view());
    if [indices.len(), points.ncols()] != [keys.len(); 2] {
        return Err(Failure::argument("the candidates' arrays differ in length"));
    }
    let all = keys.into_iter().zip(indices).zip(points.col_iter());
    let candidate = |((key, index), point): ((f64, usize), faer::ColRef<'_, T>)| Candidate {
        key,
        index,
        point: point.iter().copied().collect(),
    };
    Ok(Reservoir::new(parts.0, all.map(candidate).collect()))
}

fn candidate_parts<'py, T: Number>(
    py: Python<'py>,
    candidates: &Reservoir<T>,
) -> CandidateParts<'py> {
    let kept = candidates.candidates();
    let n_features = kept.first().map_or(0, |candidate| candidate.point.len());
    let numbers: Vec<usize> = kept.iter().map(|candidate| candidate.index).collect();
    let points = kept.iter().flat_map(|candidate| candidate.point.iter().copied()).collect();
    (
        candidates.count(),
        vector(py, kept.iter().map(|candidate| candidate.key).collect()),
        indices(py, &numbers),
        reshaped(py, points, kept.len(), n_features),
    )
}

/// Those who hold the samples, asked by the caller's function: `gather(request)` is the sum of the
/// parts of all blocks.
pub struct Workers<'a> {
    gather: Caller<'a>,
    watch: &'a Watch,
    settings: Settings,
    seed: u64,
    moments: Vec<Moments>,
}

impl<'a> Workers<'a> {
    /// For a fit of these settings.
    pub fn new(gather: Py<PyAny>, settings: Settings, seed: u64, watch: &'a Watch) -> Self {
        let gather = Caller::new(gather, watch);
        Self { gather, watch, settings, seed, moments: Vec::new() }
    }

    /// What the caller's function raised.
    pub fn raised(self) -> Option<PyErr> {
        self.gather.raised()
    }

    fn ask<T: Number>(
        &mut self,
        stage: &'static str,
        count: Option<usize>,
        points: Option<Mat<T>>,
    ) -> Result<Part<T>, LkdlError>
    where
        AnySamples: InPrecision<T>,
    {
        self.watch.begin(stage, 0);
        let (settings, seed, moments) = (self.settings.clone(), self.seed, self.moments.clone());
        self.gather.ask(move |gather| {
            let (py, texts) = (gather.py(), PyDict::new(gather.py()));
            settings.iter().try_for_each(|(option, value)| texts.set_item(option, value))?;
            let moments = moments.into_iter().map(|moments| moment_parts(py, moments)).collect();
            let points = points.map(|points| rows(py, points.as_ref()));
            let request: Request<'_> = (texts, seed, moments, count, points);
            Part::read(&gather.call1((request,))?)
        })
    }

    fn other(&self) -> LkdlError {
        let (what, fix) = ("what was gathered", "return the part that was asked for");
        LkdlError::Unsupported { what, problem: "is of another kind than asked for", fix }
    }
}

impl<T: Number> Gather<T> for Workers<'_>
where
    AnySamples: InPrecision<T>,
{
    fn moments(&mut self, _: &Preparation<T>) -> Result<Moments, LkdlError> {
        match self.ask::<T>("moments", None, None)? {
            Part::Moments(moments) => {
                self.moments.push(moments.clone());
                Ok(moments)
            }
            _ => Err(self.other()),
        }
    }

    fn candidates(
        &mut self,
        _: &Preparation<T>,
        draw: &DiagonalDraw,
    ) -> Result<Reservoir<T>, LkdlError> {
        match self.ask::<T>("draw", Some(draw.count), None)? {
            Part::Landmarks(candidates) => Ok(candidates),
            _ => Err(self.other()),
        }
    }

    fn map_sums(&mut self, _: &Preparation<T>, panel: &Panel<T>) -> Result<MapSums, LkdlError> {
        match self.ask::<T>("sums", None, Some(panel.points().to_owned()))? {
            Part::Map(sums) => Ok(sums),
            _ => Err(self.other()),
        }
    }
}

/// What a worker is asked of a block, in its precision.
struct Question<T: Number> {
    params: StreamParams<T>,
    moments: Vec<Moments>,
    count: Option<usize>,
    points: Option<Samples<T>>,
}

impl<T: Number> Question<T>
where
    AnySamples: InPrecision<T>,
{
    fn read(request: Request<'_>, kernel: Option<Kernel>) -> PyResult<Self> {
        let (texts, seed, moments, count, points) = request;
        let settings: Settings = texts.extract()?;
        let recipe = StreamRecipe::of(settings, kernel, seed).map_err(Failure::Recipe)?;
        let moments = moments.iter().map(read_moments).collect::<Result<Vec<_>, _>>()?;
        let own = |points| AnySamples::of(&points, "points")?.samples("points");
        let points = points.map(own).transpose()?;
        Ok(Self { params: recipe.params, moments, count, points })
    }

    fn answer(&self, first: usize, X: &Samples<T>) -> Result<Part<T>, Failure> {
        let prepare = &self.params.prepare;
        let preparation = prepare.by_moments(X.view().nrows(), &self.moments)?;
        let prepared = preparation.apply(X.view())?.samples;
        Ok(match (self.count, &self.points) {
            (None, None) => Part::Moments(Moments::of(prepared.as_ref())?),
            (Some(count), None) => Part::Landmarks(self.draw(count)?.of(first, prepared.as_ref())?),
            (_, Some(points)) => {
                let panel = Panel::new(&self.map()?.kernel, points.view())?;
                Part::Map(MapSums::of(&panel, prepared.as_ref())?)
            }
        })
    }

    fn map(&self) -> Result<&NystroemParams, Failure> {
        match &self.params.map {
            MapParams::Nystroem(map) => Ok(map),
            _ => Err(Failure::argument("the settings' map has no landmarks")),
        }
    }

    fn draw(&self, count: usize) -> Result<DiagonalDraw, Failure> {
        let NystroemParams { kernel, sampler, seed, .. } = self.map()?;
        match sampler {
            Sampler::Diagonal { squared } => {
                Ok(DiagonalDraw { kernel: kernel.clone(), squared: *squared, count, seed: *seed })
            }
            _ => Err(Failure::argument("the settings' sampler draws from the pilot")),
        }
    }
}

/// The part of a block (rows of X, the first of which is sample number `first` of all) in what a
/// request of `start_blocks` asks for; None of a block without rows. `kernel` is the function that
/// the fit was started with, if it was.
#[pyfunction]
#[pyo3(signature = (request, X, first, kernel=None, threads=0))]
pub fn gather_block<'py>(
    py: Python<'py>,
    request: Request<'py>,
    X: &Bound<'py, PyAny>,
    first: usize,
    kernel: Option<&Bound<'py, PyAny>>,
    threads: usize,
) -> PyResult<Option<Parts<'py>>> {
    in_precision!(AnySamples::of(X, "X")?, X => {
        if X.view().ncols() == 0 {
            return Ok(None);
        }
        let question = Question::read(request, kernel.map(custom))?;
        let part = Call::silent(py, threads).run(move |_| question.answer(first, &X))?;
        part.write(py).map(Some)
    })
}

/// The part of the blocks of both, the second of which come later; None adds nothing. In the order of
/// the engine (neighbours, then pairs of those) the sum has the same bits as a fit on one machine.
#[pyfunction]
#[pyo3(signature = (first, later))]
pub fn add_gathered<'py>(
    py: Python<'py>,
    first: Option<Bound<'py, PyAny>>,
    later: Option<Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (Some(first), Some(later)) = (&first, &later) else { return Ok(first.or(later)) };
    let is_single = |part: &Bound<'py, PyAny>| -> PyResult<bool> {
        let (kind, arrays): Parts<'_> = part.extract()?;
        let points = if kind == LANDMARKS { Some(arrays.get_item(3)?) } else { None };
        let points = points.map(|points| AnySamples::of(&points, "points")).transpose()?;
        Ok(matches!(points, Some(AnySamples::F32(_))))
    };
    let added = if is_single(first)? {
        added::<f32>(py, first, later)
    } else {
        added::<f64>(py, first, later)
    };
    Ok(Some(added?.into_pyobject(py)?.into_any()))
}

fn added<'py, T: Number>(
    py: Python<'py>,
    first: &Bound<'py, PyAny>,
    later: &Bound<'py, PyAny>,
) -> PyResult<Parts<'py>>
where
    AnySamples: InPrecision<T>,
{
    let mut sum = Part::<T>::read(first)?;
    sum.add(Part::read(later)?)?;
    sum.write(py)
}
