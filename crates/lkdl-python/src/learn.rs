//! Dictionary learning without labels: K-SVD and MOD.

use crate::array::{AnySamples, InPrecision, Number, Samples, in_precision, rows, vector};
use crate::error::Failure;
use crate::job::Call;
use lkdl::dictionary::{AtomUpdate, InitialAtoms, KsvdParams, Learned, Learner, ModParams, Stop};
use lkdl::monitor::Monitor;
use pyo3::prelude::*;

/// Atoms as rows, the error of every iteration, whether it converged, and what is to be known.
type Found<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, bool, Vec<String>);

/// Learns a dictionary by `ksvd`, `ksvd-exact` or `mod`.
#[pyfunction]
#[pyo3(signature = (X, method, n_atoms, sparsity, max_iter, tol, initial=None, seed=0, threads=0,
    progress=None))]
#[allow(clippy::too_many_arguments)] // one for each argument of Python
pub fn learn<'py>(
    py: Python<'py>,
    X: &Bound<'py, PyAny>,
    method: &str,
    n_atoms: usize,
    sparsity: usize,
    max_iter: usize,
    tol: f64,
    initial: Option<&Bound<'py, PyAny>>,
    seed: u64,
    threads: usize,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Found<'py>> {
    let initial = initial.map(|initial| AnySamples::of(initial, "dict_init")).transpose()?;
    let method = method.to_string();
    in_precision!(AnySamples::of(X, "X")?, X => {
        let initial = atoms_for(&X, initial)?;
        let learner = learner(&method, n_atoms, sparsity, max_iter, tol, initial, seed)?;
        let learned = Call { py, threads, progress }.run(move |watch| {
            watch.begin("learn", max_iter);
            Ok(learner.learn_monitored(X.view(), 0, watch)?)
        })?;
        Ok(found(py, learned))
    })
}

/// Atoms to start from, in the precision of the samples.
pub fn atoms_for<T: Number>(
    _: &Samples<T>,
    initial: Option<AnySamples>,
) -> Result<InitialAtoms<T>, Failure>
where
    AnySamples: InPrecision<T>,
{
    Ok(match initial {
        Some(initial) => InitialAtoms::Given(initial.samples("dict_init")?.view().to_owned()),
        None => InitialAtoms::Samples,
    })
}

fn learner<T: Number>(
    method: &str,
    n_atoms: usize,
    sparsity: usize,
    max_iters: usize,
    tol: f64,
    initial: InitialAtoms<T>,
    seed: u64,
) -> Result<Box<dyn Learner<T> + Send>, Failure> {
    let ksvd = |update, initial| {
        let usual = KsvdParams::default();
        Box::new(KsvdParams { n_atoms, sparsity, max_iters, tol, update, initial, seed, ..usual })
    };
    Ok(match method {
        "ksvd" => ksvd(AtomUpdate::Approximate, initial),
        "ksvd-exact" => ksvd(AtomUpdate::Exact, initial),
        "mod" => Box::new(ModParams { n_atoms, sparsity, max_iters, tol, initial, seed }),
        other => return Err(Failure::argument(format!("method \"{other}\" is not known"))),
    })
}

fn found<'py, T: Number>(py: Python<'py>, learned: Learned<T>) -> Found<'py> {
    let warnings = learned.warnings.iter().map(ToString::to_string).collect();
    let converged = learned.stop == Stop::Converged;
    (rows(py, learned.dictionary.as_ref()), vector(py, learned.errors), converged, warnings)
}
