//! Dictionaries that are fed block by block: online learning and RLS-DLA. A learner never changes;
//! what it has learned from more samples is another one, so that a block that is refused, or Ctrl-C,
//! leaves the learner as it was.

use crate::array::{
    AnySamples, InPrecision, Number, Samples, dtype_of, in_precision, reshaped, rows, vector,
};
use crate::error::Failure;
use crate::job::Call;
use crate::learn::atoms_for;
use faer::{Mat, MatRef};
use lkdl::LkdlError;
use lkdl::dictionary::{
    Incremental, InitialAtoms, Learned, OnlineCoding, OnlineDictionary, OnlineParams,
    RlsDictionary, RlsParams,
};
use lkdl::state::{Kept, Lent, Saved, Saving};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// The name under which a learner's arrays are kept.
const PLACE: &str = "learner";

/// What a learner is made with, in either precision.
#[derive(Debug, Clone, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    algorithm: String,
    n_atoms: usize,
    sparsity: usize,
    batch_size: usize,
    fading: f64,
    forgetting: f64,
    total: Option<usize>,
    seed: u64,
}

/// A learner of either algorithm.
#[derive(Clone)]
enum Fed<T: Number> {
    Online(Incremental<T, OnlineDictionary<T>>),
    Rls(Incremental<T, RlsDictionary<T>>),
}

macro_rules! for_fed {
    ($fed:expr, $learner:ident => $result:expr) => {
        match $fed {
            Fed::Online($learner) => $result,
            Fed::Rls($learner) => $result,
        }
    };
}

impl Settings {
    fn online<T: Number>(&self, initial: InitialAtoms<T>) -> OnlineParams<T> {
        OnlineParams {
            n_atoms: self.n_atoms,
            coding: OnlineCoding::Omp { sparsity: self.sparsity },
            batch_size: self.batch_size,
            fading: self.fading,
            initial,
            seed: self.seed,
            ..OnlineParams::default()
        }
    }

    fn rls<T: Number>(&self, initial: InitialAtoms<T>) -> RlsParams<T> {
        RlsParams {
            n_atoms: self.n_atoms,
            sparsity: self.sparsity,
            batch_size: self.batch_size,
            forgetting: self.forgetting,
            total: self.total,
            initial,
            seed: self.seed,
            ..RlsParams::default()
        }
    }

    /// A learner whose starting atoms are given, or drawn from the pilot.
    fn start<T: Number>(
        &self,
        pilot: MatRef<'_, T>,
        initial: InitialAtoms<T>,
        class: usize,
    ) -> Result<Fed<T>, Failure> {
        Ok(match self.algorithm.as_str() {
            "online" => Fed::Online(self.online(initial).start(pilot, class)?),
            "rls" => Fed::Rls(self.rls(initial).start(pilot, class)?),
            other => return Err(unknown(other)),
        })
    }

    fn resume<T: Number>(&self, mut saved: Saved<T>) -> Result<Fed<T>, Failure> {
        let initial = InitialAtoms::default();
        Ok(match self.algorithm.as_str() {
            "online" => Fed::Online(self.online(initial).resume(PLACE, &mut saved)?),
            "rls" => Fed::Rls(self.rls(initial).resume(PLACE, &mut saved)?),
            other => return Err(unknown(other)),
        })
    }
}

fn unknown(algorithm: &str) -> Failure {
    Failure::argument(format!("algorithm is \"{algorithm}\", but must be online or rls"))
}

enum AnyFed {
    F32(Arc<Fed<f32>>),
    F64(Arc<Fed<f64>>),
}

/// A learner in its own precision.
trait Wrap<T: Number> {
    fn wrap(learner: Fed<T>) -> Self;
    fn get(&self) -> Option<&Arc<Fed<T>>>;
}

macro_rules! wrap {
    ($type:ty, $variant:ident) => {
        impl Wrap<$type> for AnyFed {
            fn wrap(learner: Fed<$type>) -> Self {
                Self::$variant(Arc::new(learner))
            }

            fn get(&self) -> Option<&Arc<Fed<$type>>> {
                match self {
                    Self::$variant(learner) => Some(learner),
                    _ => None,
                }
            }
        }
    };
}

wrap!(f32, F32);
wrap!(f64, F64);

macro_rules! in_own_precision {
    ($any:expr, $learner:ident => $result:expr) => {
        match $any {
            AnyFed::F32($learner) => $result,
            AnyFed::F64($learner) => $result,
        }
    };
}

/// A dictionary and what it remembers of the samples so far.
#[pyclass(frozen, module = "lkdl._core", name = "Incremental")]
pub struct PyIncremental {
    learner: AnyFed,
    settings: Settings,
}

/// Atoms as rows, the error of every pass, atoms replaced, what is to be known.
type Found<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, usize, Vec<String>);

#[pymethods]
impl PyIncremental {
    /// A learner that has seen nothing; it starts from `initial`, or from rows of the pilot.
    #[staticmethod]
    #[pyo3(signature = (pilot, settings, initial=None, stream=0, threads=0))]
    fn start<'py>(
        py: Python<'py>,
        pilot: &Bound<'py, PyAny>,
        settings: Settings,
        initial: Option<&Bound<'py, PyAny>>,
        stream: usize,
        threads: usize,
    ) -> PyResult<Self> {
        let initial = initial.map(|initial| AnySamples::of(initial, "dict_init")).transpose()?;
        in_precision!(AnySamples::of(pilot, "X")?, pilot => {
            let (initial, of_work) = (atoms_for(&pilot, initial)?, settings.clone());
            let learner = Call::silent(py, threads)
                .run(move |_| of_work.start(pilot.view(), initial, stream))?;
            Ok(Self { learner: AnyFed::wrap(learner), settings })
        })
    }

    /// The learner that has seen the rows of X too.
    #[pyo3(signature = (X, threads=0))]
    fn fed<'py>(&self, py: Python<'py>, X: &Bound<'py, PyAny>, threads: usize) -> PyResult<Self> {
        in_precision!(AnySamples::of(X, "X")?, X => {
            let learner = own(&self.learner)?;
            let learner = Call::silent(py, threads).run(move |_| {
                let mut learner = Fed::clone(&learner);
                let added = for_fed!(&mut learner, learner => learner.add_block(X.view()));
                added.map_err(of_call)?;
                Ok(learner)
            })?;
            Ok(self.with(learner))
        })
    }

    /// The learner after a pass over all samples, with the relative error of the pass.
    #[pyo3(signature = (threads=0))]
    fn passed(&self, py: Python<'_>, threads: usize) -> PyResult<(Self, f64)> {
        in_own_precision!(&self.learner, learner => {
            let learner = learner.clone();
            let (learner, error) = Call::silent(py, threads).run(move |_| {
                let mut learner = Fed::clone(&learner);
                let error = for_fed!(&mut learner, learner => learner.end_pass())?;
                Ok((learner, error))
            })?;
            Ok((self.with(learner), error))
        })
    }

    /// The learner of samples that have more features, by zeros so far.
    fn grown(&self, n_features: usize) -> PyResult<Self> {
        in_own_precision!(&self.learner, learner => {
            let mut learner = Fed::clone(learner);
            for_fed!(&mut learner, learner => learner.grow(n_features)).map_err(Failure::Engine)?;
            Ok(self.with(learner))
        })
    }

    /// The dictionary after all samples so far, those included that do not fill a batch yet.
    #[pyo3(signature = (threads=0))]
    fn finished<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Found<'py>> {
        in_own_precision!(&self.learner, learner => {
            let learner = learner.clone();
            let learned = Call::silent(py, threads).run(move |_| {
                Ok(for_fed!(Fed::clone(&learner), learner => learner.finish())?)
            })?;
            let Learned { dictionary, errors, n_replaced, warnings, .. } = learned;
            let warnings = warnings.iter().map(ToString::to_string).collect();
            Ok((rows(py, dictionary.as_ref()), vector(py, errors), n_replaced, warnings))
        })
    }

    /// Everything it remembers, as settings and plain arrays.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<(Settings, Bound<'py, PyDict>)> {
        let arrays = in_own_precision!(&self.learner, learner => kept(py, learner))?;
        Ok((self.settings.clone(), arrays))
    }

    /// The learner of that state.
    #[staticmethod]
    fn from_state(settings: Settings, arrays: &Bound<'_, PyDict>) -> PyResult<Self> {
        let dictionary = arrays.get_item(format!("{PLACE}.D"))?;
        let missing = || Failure::argument("the state holds no dictionary");
        let dictionary = AnySamples::of(&dictionary.ok_or_else(missing)?, "D")?;
        in_precision!(dictionary, D => {
            let saved = saved(&D, arrays)?;
            Ok(Self { learner: AnyFed::wrap(settings.resume(saved)?), settings })
        })
    }

    /// Features of a sample.
    #[getter]
    fn n_features(&self) -> usize {
        in_own_precision!(&self.learner, learner => {
            for_fed!(&**learner, learner => learner.dictionary().nrows())
        })
    }

    /// The precision of the learner.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        match &self.learner {
            AnyFed::F32(_) => dtype_of::<f32>(py),
            AnyFed::F64(_) => dtype_of::<f64>(py),
        }
    }
}

impl PyIncremental {
    fn with<T: Number>(&self, learner: Fed<T>) -> Self
    where
        AnyFed: Wrap<T>,
    {
        Self { learner: AnyFed::wrap(learner), settings: self.settings.clone() }
    }
}

/// A learner counts the blocks it was given; the caller knows which one this is.
fn of_call(error: LkdlError) -> LkdlError {
    match error {
        LkdlError::InBlock { source, .. } => *source,
        other => other,
    }
}

/// The learner in the precision of the samples.
fn own<T: Number>(learner: &AnyFed) -> Result<Arc<Fed<T>>, Failure>
where
    AnyFed: Wrap<T>,
{
    let other = || Failure::argument(format!("X is of {}, but the learner is not", T::NAME));
    learner.get().cloned().ok_or_else(other)
}

/// The arrays that a learner lends, each column as a row.
fn kept<'py, T: Number>(py: Python<'py>, learner: &Fed<T>) -> PyResult<Bound<'py, PyDict>> {
    let (mut saving, arrays) = (Saving::default(), PyDict::new(py));
    for_fed!(learner, learner => learner.save(PLACE, &mut saving));
    for (name, array) in saving.arrays() {
        let array = match array {
            Lent::Real { n_rows, columns } => {
                reshaped(py, columns.concat(), columns.len(), *n_rows)
            }
            Lent::Wide { n_rows, columns } => {
                reshaped(py, columns.concat(), columns.len(), *n_rows)
            }
            Lent::Counts(counts) => vector(py, counts.clone()),
        };
        arrays.set_item(name, array)?;
    }
    Ok(arrays)
}

/// The same on the way back, in the precision of the dictionary.
fn saved<T: Number>(_: &Samples<T>, arrays: &Bound<'_, PyDict>) -> PyResult<Saved<T>>
where
    AnySamples: InPrecision<T>,
{
    let kept = |(name, array): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name: String = name.extract()?;
        if let Ok(counts) = array.cast::<PyArray1<u64>>() {
            return Ok((name, Kept::Counts(counts.try_readonly()?.as_array().to_vec())));
        }
        let array = AnySamples::of(&array, &name)?;
        // in double precision sums look like samples; only these two are sums
        let is_sum = name.ends_with(".A") || name.ends_with(".B");
        Ok(match array {
            AnySamples::F64(sums) if is_sum => (name, Kept::Wide(owned(&sums))),
            array => {
                let samples = array.samples(&name)?;
                (name, Kept::Real(owned(&samples)))
            }
        })
    };
    arrays.iter().map(kept).collect()
}

fn owned<T: Number>(samples: &Samples<T>) -> Mat<T> {
    samples.view().to_owned()
}
