//! Sparse codes: OMP, OMP on inner products, and the lasso.

use crate::array::{AnySamples, InPrecision, Number, in_precision, vector};
use crate::error::Failure;
use crate::job::Call;
use lkdl::pursuit::lasso::{LassoParams, Penalty, Solver};
use lkdl::pursuit::{BatchOmp, Codes, Encoded, GramOmp, Target};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;

/// Row offsets, atoms and values of codes, and the squared residual of every sample.
type Coded<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

fn arrays<'py, T: Number>(py: Python<'py>, encoded: Encoded<T>) -> Coded<'py> {
    let (offsets, atoms, values) = Codes::parts(&encoded.codes);
    // SciPy's indices are int32 where they can be
    let (last, atoms) = (offsets.last().copied().unwrap_or(0), atoms.iter());
    let (offsets, atoms) = if i32::try_from(last).is_ok() {
        let offsets = offsets.iter().map(|&offset| offset as i32).collect();
        (vector::<i32>(py, offsets), vector::<i32>(py, atoms.map(|&atom| atom as i32).collect()))
    } else {
        let offsets = offsets.iter().map(|&offset| offset as i64).collect();
        (
            vector::<i64>(py, offsets),
            vector::<i64>(py, atoms.map(|&atom| i64::from(atom)).collect()),
        )
    };
    (offsets, atoms, vector(py, values.to_vec()), vector(py, encoded.sq_residuals))
}

/// By sparsity, or by the residual norm `tol` with at most `sparsity` atoms.
fn target(sparsity: Option<usize>, tol: Option<f64>) -> Result<Target, Failure> {
    match (sparsity, tol) {
        (max_atoms, Some(norm)) => Ok(Target::Error { norm, max_atoms }),
        (Some(sparsity), None) => Ok(Target::Sparsity(sparsity)),
        (None, None) => Err(Failure::argument("give sparsity, tol or both")),
    }
}

/// Orthogonal matching pursuit of every row of X over the rows of D.
#[pyfunction]
#[pyo3(signature = (X, D, sparsity=None, tol=None, threads=0))]
pub fn omp<'py>(
    py: Python<'py>,
    X: &Bound<'py, PyAny>,
    D: &Bound<'py, PyAny>,
    sparsity: Option<usize>,
    tol: Option<f64>,
    threads: usize,
) -> PyResult<Coded<'py>> {
    let (X, D, target) = (AnySamples::of(X, "X")?, AnySamples::of(D, "D")?, target(sparsity, tol)?);
    in_precision!(X, X => {
        let D = D.samples("D")?;
        let encoded = Call::silent(py, threads)
            .run(move |_| Ok(BatchOmp::new(D.view())?.encode(X.view(), target)?))?;
        Ok(arrays(py, encoded))
    })
}

/// Orthogonal matching pursuit by inner products: row i of `products` is D x_i.
#[pyfunction]
#[pyo3(signature = (gram, products, sq_norms, sparsity=None, tol=None, threads=0))]
pub fn omp_gram<'py>(
    py: Python<'py>,
    gram: &Bound<'py, PyAny>,
    products: &Bound<'py, PyAny>,
    sq_norms: &Bound<'py, PyArray1<f64>>,
    sparsity: Option<usize>,
    tol: Option<f64>,
    threads: usize,
) -> PyResult<Coded<'py>> {
    let (gram, target) = (AnySamples::of(gram, "gram")?, target(sparsity, tol)?);
    let sq_norms: Vec<f64> = sq_norms.try_readonly()?.as_array().iter().copied().collect();
    in_precision!(AnySamples::of(products, "products")?, products => {
        let gram = gram.samples("gram")?;
        let encoded = Call::silent(py, threads).run(move |_| {
            Ok(GramOmp::new(gram.view())?.encode(products.view(), &sq_norms, target)?)
        })?;
        Ok(arrays(py, encoded))
    })
}

/// Lasso codes of every row of X over the rows of D, and how many did not converge.
#[pyfunction]
#[pyo3(signature = (X, D, penalty, relative, solver, tol, max_iter, threads=0))]
#[allow(clippy::too_many_arguments)] // one for each argument of Python
pub fn lasso<'py>(
    py: Python<'py>,
    X: &Bound<'py, PyAny>,
    D: &Bound<'py, PyAny>,
    penalty: f64,
    relative: bool,
    solver: &str,
    tol: f64,
    max_iter: usize,
    threads: usize,
) -> PyResult<(Coded<'py>, usize)> {
    let solver = match solver {
        "lars" => Solver::Lars,
        "cd" => Solver::CoordinateDescent,
        "fista" => Solver::Fista,
        other => {
            let message = format!("solver is \"{other}\", but must be lars, cd or fista");
            return Err(Failure::argument(message).into());
        }
    };
    let penalty = if relative { Penalty::Relative(penalty) } else { Penalty::Absolute(penalty) };
    let params = LassoParams { penalty, solver, tolerance: tol, max_iters: max_iter };
    let (X, D) = (AnySamples::of(X, "X")?, AnySamples::of(D, "D")?);
    in_precision!(X, X => {
        let D = D.samples("D")?;
        let found =
            Call::silent(py, threads).run(move |_| Ok(params.encode(D.view(), X.view())?))?;
        Ok((arrays(py, found.encoded), found.n_unconverged))
    })
}
