//! Landmarks, and the maps from samples to virtual samples.

use crate::array::{
    AnySamples, InPrecision, Number, dtype_of, in_precision, indices, reshaped, rows, vector,
};
use crate::error::Failure;
use crate::job::Call;
use crate::kernel::kernel;
use faer::{MatMut, MatRef};
use lkdl::map::fastfood::FastfoodParams;
use lkdl::map::fourier::FourierParams;
use lkdl::map::{NystroemMap, NystroemParams, Rank};
use lkdl::sampling::{LandmarkCount, LandmarkParams, Landmarks, Sampler};
use lkdl::{FeatureMap, LkdlError, MapParams, Panel};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use std::sync::Arc;

/// A name, or the indices of the samples to take.
fn sampler(of: &Bound<'_, PyAny>) -> PyResult<Sampler> {
    if let Ok(name) = of.extract::<String>() {
        return Ok(name.parse().map_err(Failure::Engine)?);
    }
    Ok(Sampler::Given(crate::array::labels(of)?))
}

/// A count, a share or `auto`, as the command has them.
fn count(text: &str) -> Result<LandmarkCount, Failure> {
    lkdl_recipe::landmarks(text)
        .map_err(|requirement| Failure::argument(format!("n_landmarks {requirement}")))
}

/// Landmarks: points as rows, which samples they are, the trace error if it is known, warnings.
type Chosen<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Option<f64>, Vec<String>);

/// Chooses landmarks among the rows of X.
#[pyfunction]
#[pyo3(signature = (X, kernel, sampler, n_landmarks, seed=0, memory=None, threads=0))]
#[allow(clippy::too_many_arguments)] // one for each argument of Python
pub fn landmarks<'py>(
    py: Python<'py>,
    X: &Bound<'py, PyAny>,
    kernel: &Bound<'py, PyAny>,
    sampler: &Bound<'py, PyAny>,
    n_landmarks: &str,
    seed: u64,
    memory: Option<u64>,
    threads: usize,
) -> PyResult<Chosen<'py>> {
    let kernel = self::kernel(kernel)?;
    let (sampler, n_landmarks) = (self::sampler(sampler)?, count(n_landmarks)?);
    let params = LandmarkParams { sampler, n_landmarks, seed, memory };
    in_precision!(AnySamples::of(X, "X")?, X => {
        let found =
            Call::silent(py, threads).run(move |_| Ok(params.select(&kernel, X.view())?))?;
        let which = found.indices.as_ref().map(|which| indices(py, which));
        let warnings = found.warnings.iter().map(ToString::to_string).collect();
        Ok((rows(py, found.points.as_ref()), which, found.trace_error, warnings))
    })
}

/// A fitted map in either precision.
pub enum AnyMap {
    /// Single.
    F32(Arc<FeatureMap<f32>>),
    /// Double.
    F64(Arc<FeatureMap<f64>>),
}

/// Wraps a map in its own precision.
pub trait Wrap<T: Number> {
    /// From the map.
    fn wrap(map: FeatureMap<T>) -> Self;
    /// The map, if it is of this type.
    fn get(&self) -> Option<&Arc<FeatureMap<T>>>;
}

macro_rules! wrap {
    ($type:ty, $variant:ident) => {
        impl Wrap<$type> for AnyMap {
            fn wrap(map: FeatureMap<$type>) -> Self {
                Self::$variant(Arc::new(map))
            }

            fn get(&self) -> Option<&Arc<FeatureMap<$type>>> {
                match self {
                    Self::$variant(map) => Some(map),
                    _ => None,
                }
            }
        }
    };
}

wrap!(f32, F32);
wrap!(f64, F64);

/// The same expression in the precision of the map.
macro_rules! for_map {
    ($any:expr, $map:ident => $result:expr) => {
        match $any {
            $crate::map::AnyMap::F32($map) => $result,
            $crate::map::AnyMap::F64($map) => $result,
        }
    };
}
pub(crate) use for_map;

/// A fitted map from samples to virtual samples.
#[pyclass(frozen, module = "lkdl._core", name = "FeatureMap")]
pub struct PyFeatureMap {
    pub(crate) map: AnyMap,
    warnings: Vec<String>,
}

impl PyFeatureMap {
    pub(crate) fn new<T: Number>(map: FeatureMap<T>) -> Self
    where
        AnyMap: Wrap<T>,
    {
        let warnings = match &map {
            FeatureMap::Nystroem(map) => map.warnings().iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        };
        Self { map: AnyMap::wrap(map), warnings }
    }
}

/// The map, if it is Nyström's.
pub fn nystroem<T: Number>(map: &FeatureMap<T>) -> Result<&NystroemMap<T>, Failure> {
    match map {
        FeatureMap::Nystroem(map) => Ok(map),
        _ => Err(Failure::argument("only a Nyström map has landmarks")),
    }
}

#[pymethods]
impl PyFeatureMap {
    /// A Nyström map of the rows of X; `landmarks` are points to use instead of a choice.
    #[staticmethod]
    #[pyo3(signature = (X, kernel, sampler, n_landmarks, rank, variant, centered=false,
        indefinite="reject", landmarks=None, seed=0, memory=None, threads=0))]
    #[allow(clippy::too_many_arguments)] // one for each argument of Python
    fn nystroem(
        py: Python<'_>,
        X: &Bound<'_, PyAny>,
        kernel: &Bound<'_, PyAny>,
        sampler: &Bound<'_, PyAny>,
        n_landmarks: &str,
        rank: &Bound<'_, PyAny>,
        variant: &str,
        centered: bool,
        indefinite: &str,
        landmarks: Option<&Bound<'_, PyAny>>,
        seed: u64,
        memory: Option<u64>,
        threads: usize,
    ) -> PyResult<Self> {
        let named =
            |name: &str, requirement: String| Failure::argument(format!("{name} {requirement}"));
        let params = NystroemParams {
            kernel: self::kernel(kernel)?,
            sampler: self::sampler(sampler)?,
            n_landmarks: count(n_landmarks)?,
            rank: self::rank(rank)?,
            variant: lkdl_recipe::variant(variant).map_err(|text| named("map", text))?,
            centered,
            indefinite: lkdl_recipe::indefinite(indefinite)
                .map_err(|text| named("indefinite", text))?,
            memory,
            seed,
        };
        let own = landmarks.map(|points| AnySamples::of(points, "landmarks")).transpose()?;
        in_precision!(AnySamples::of(X, "X")?, X => {
            let own = own.map(|points| points.samples("landmarks")).transpose()?;
            let map = Call::silent(py, threads).run(move |_| {
                let map = match own {
                    Some(points) => {
                        params.fit_landmarks(X.view(), &Landmarks::from_points(points.view()))?
                    }
                    None => params.fit(X.view())?,
                };
                Ok(FeatureMap::Nystroem(Box::new(map)))
            })?;
            Ok(Self::new(map))
        })
    }

    /// Random features of the Gaussian kernel for rows of so many features: `fourier` or
    /// `fastfood`.
    #[staticmethod]
    #[pyo3(signature = (name, dtype, n_features, sigma, rank, seed=0))]
    fn random(
        name: &str,
        dtype: &str,
        n_features: usize,
        sigma: f64,
        rank: usize,
        seed: u64,
    ) -> PyResult<Self> {
        let params = match name {
            "fourier" => MapParams::Fourier(FourierParams { sigma, rank, seed }),
            "fastfood" => MapParams::Fastfood(FastfoodParams { sigma, rank, seed }),
            other => return Err(Failure::argument(format!("map \"{other}\" is not known")).into()),
        };
        Ok(match dtype {
            "float32" => Self::new(random::<f32>(&params, n_features)?),
            _ => Self::new(random::<f64>(&params, n_features)?),
        })
    }

    /// The Nyström map of these parts.
    #[staticmethod]
    #[pyo3(signature = (kernel, points, indices, n_rows, projection, mean, eigenvalues))]
    fn from_parts(
        kernel: &Bound<'_, PyAny>,
        points: &Bound<'_, PyAny>,
        indices: Option<&Bound<'_, PyAny>>,
        n_rows: usize,
        projection: &Bound<'_, PyAny>,
        mean: &Bound<'_, PyAny>,
        eigenvalues: &Bound<'_, PyArray1<f64>>,
    ) -> PyResult<Self> {
        let kernel = self::kernel(kernel)?;
        let indices = indices.map(crate::array::labels).transpose()?;
        let eigenvalues: Vec<f64> = eigenvalues.try_readonly()?.as_array().to_vec();
        let (projection, mean) =
            (AnySamples::of(projection, "projection")?, AnySamples::of(mean, "mean")?);
        in_precision!(AnySamples::of(points, "points")?, points => {
            let (projection, mean) = (projection.samples("projection")?, mean.samples("mean")?);
            let panel = Panel::from_parts(&kernel, points.view(), indices, n_rows)
                .map_err(Failure::Engine)?;
            let mean: Vec<_> = mean.view().col_iter().flat_map(|c| c.iter().copied()).collect();
            let map = NystroemMap::from_parts(panel, projection.view(), &mean, &eigenvalues)
                .map_err(Failure::Engine)?;
            Ok(Self::new(FeatureMap::Nystroem(Box::new(map))))
        })
    }

    /// Virtual samples of the rows of X.
    #[pyo3(signature = (X, threads=0))]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        X: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        in_precision!(AnySamples::of(X, "X")?, X => {
            let map = own(&self.map)?;
            let (rank, n_samples) = (map.rank(X.view().nrows()), X.view().ncols());
            let mapped = Call::silent(py, threads).run(move |_| {
                let mut values = vec![<_>::default(); rank * n_samples];
                let F = MatMut::from_column_major_slice_mut(&mut values, rank, n_samples);
                map.transform_into(X.view(), F)?;
                Ok(values)
            })?;
            Ok(reshaped(py, mapped, n_samples, rank))
        })
    }

    /// What the landmarks miss of every row of X, κ(x, x) − ‖f‖², and κ(x, x) itself.
    #[pyo3(signature = (X, threads=0))]
    fn residual_energy<'py>(
        &self,
        py: Python<'py>,
        X: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        in_precision!(AnySamples::of(X, "X")?, X => {
            let map = own(&self.map)?;
            let (missed, whole) = Call::silent(py, threads).run(move |_| {
                let map = nystroem(&map)?;
                let mapped = map.transform(X.view())?;
                let missed = map.residual_energy(X.view(), mapped.as_ref())?;
                Ok((missed, map.panel().kernel().diagonal(X.view())?))
            })?;
            Ok((vector(py, missed), vector(py, whole)))
        })
    }

    /// Landmarks as rows.
    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        for_map!(&self.map, map => Ok(rows(py, nystroem(map)?.panel().points())))
    }

    /// Which training samples the landmarks are, if they are samples.
    #[getter]
    fn indices<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        for_map!(&self.map, map => {
            Ok(nystroem(map)?.panel().indices().map(|which| indices(py, which)))
        })
    }

    /// Rows of the projection: a virtual sample is `projection @ kernel(points, x) - mean`.
    #[getter]
    fn projection<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        for_map!(&self.map, map => Ok(rows(py, nystroem(map)?.projection())))
    }

    /// The mean virtual sample that is subtracted, as one row; none if the map is not centred.
    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        for_map!(&self.map, map => {
            let mean = nystroem(map)?.mean();
            Ok(rows(py, MatRef::from_column_major_slice(mean, mean.len(), 1)))
        })
    }

    /// The eigenvalues that were kept.
    #[getter]
    fn eigenvalues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        for_map!(&self.map, map => Ok(vector(py, nystroem(map)?.eigenvalues().to_vec())))
    }

    /// Values of a sample: features, or training samples for a precomputed kernel.
    #[getter]
    fn n_rows(&self) -> PyResult<usize> {
        for_map!(&self.map, map => Ok(nystroem(map)?.panel().n_rows()))
    }

    /// The precision of the map.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        match &self.map {
            AnyMap::F32(_) => dtype_of::<f32>(py),
            AnyMap::F64(_) => dtype_of::<f64>(py),
        }
    }

    /// What the fit wants known.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

/// The map in the precision of the samples.
pub fn own<T: Number>(map: &AnyMap) -> Result<Arc<FeatureMap<T>>, Failure>
where
    AnyMap: Wrap<T>,
{
    let other = || Failure::argument(format!("X is of {}, but the map is not", T::NAME));
    map.get().cloned().ok_or_else(other)
}

fn random<T: Number>(params: &MapParams, n_features: usize) -> Result<FeatureMap<T>, Failure> {
    // random features look at nothing but the number of features
    let one = faer::Mat::<T>::full(n_features, 1, T::of(1.0));
    Ok(params.fit(one.as_ref())?)
}

/// `None` for the usual rank, an integer, or a share of the trace that may be lost.
pub fn rank(of: &Bound<'_, PyAny>) -> PyResult<Rank> {
    if of.is_none() {
        return Ok(Rank::Standard);
    }
    if let Ok(rank) = of.extract::<usize>() {
        return Ok(Rank::Exact(rank));
    }
    let share = of.extract::<f64>().map_err(|_| {
        let value = of.to_string();
        Failure::Engine(LkdlError::parameter("rank", value, "a count or a share of the trace"))
    })?;
    Ok(Rank::Trace(share))
}
