//! Kernels from Python: by name with parameters, or a function over blocks of samples.

use crate::array::{AnySamples, InPrecision, in_precision, rows};
use crate::error::Failure;
use crate::job::Call;
use faer::{MatMut, MatRef};
use lkdl::kernel::{CustomKernel, median_distance as median};
use lkdl::{Kernel, LkdlError, Panel};
use numpy::{PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::any::Any;
use std::sync::Arc;

/// Samples whose self-values are asked for at a time: their whole block is evaluated, and its
/// diagonal kept.
const DIAGONAL_BLOCK: usize = 16;

/// A function `f(X, Y) -> (n, m) array` of two blocks, one sample per row.
pub struct PythonKernel {
    function: Py<PyAny>,
    name: String,
}

impl std::fmt::Debug for PythonKernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PythonKernel({})", self.name)
    }
}

impl PythonKernel {
    fn fail(&self, message: impl ToString) -> LkdlError {
        LkdlError::CustomKernel { name: self.name.clone(), message: message.to_string() }
    }

    fn call<'py>(
        &self,
        py: Python<'py>,
        X: MatRef<'_, f64>,
        Y: MatRef<'_, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = self.function.bind(py).call1((rows(py, X), rows(py, Y)))?;
        let keywords = PyDict::new(py);
        keywords.set_item("dtype", "float64")?;
        let values = py.import("numpy")?.call_method("asarray", (values,), Some(&keywords))?;
        Ok(values.cast_into::<PyArray2<f64>>()?)
    }
}

impl CustomKernel for PythonKernel {
    fn name(&self) -> &str {
        &self.name
    }

    fn block(
        &self,
        X: MatRef<'_, f64>,
        Y: MatRef<'_, f64>,
        mut out: MatMut<'_, f64>,
    ) -> Result<(), LkdlError> {
        let fill = |py: Python<'_>| {
            let values = self.call(py, X, Y).map_err(|error| self.fail(error))?;
            if values.shape() != [X.ncols(), Y.ncols()] {
                return Err(self.fail(format!(
                    "gave an array of shape {:?} for {} and {} samples, but must give ({1}, {2})",
                    values.shape(),
                    X.ncols(),
                    Y.ncols()
                )));
            }
            let values = values.try_readonly().map_err(|error| self.fail(error))?;
            let values = values.as_array();
            for j in 0..Y.ncols() {
                for i in 0..X.ncols() {
                    out[(i, j)] = values[[i, j]];
                }
            }
            Ok(())
        };
        Python::try_attach(fill).unwrap_or_else(|| Err(self.fail("Python is shutting down")))
    }

    fn diag(&self, X: MatRef<'_, f64>, out: &mut [f64]) -> Result<(), LkdlError> {
        for (t, part) in out.chunks_mut(DIAGONAL_BLOCK).enumerate() {
            let x = X.subcols(t * DIAGONAL_BLOCK, part.len());
            let mut block = faer::Mat::zeros(part.len(), part.len());
            self.block(x, x, block.as_mut())?;
            for (i, value) in part.iter_mut().enumerate() {
                *value = block[(i, i)];
            }
        }
        Ok(())
    }
}

/// The kernel that Python describes: a function, or a dictionary with `name` and parameters.
pub fn kernel(description: &Bound<'_, PyAny>) -> PyResult<Kernel> {
    if description.is_callable() {
        return Ok(custom(description));
    }
    let parameters = description.cast::<PyDict>()?;
    let number = |name: &str| -> PyResult<f64> {
        let missing = || Failure::argument(format!("the kernel lacks its parameter {name}"));
        parameters.get_item(name)?.ok_or_else(missing)?.extract()
    };
    let name: String = match parameters.get_item("name")? {
        Some(name) => name.extract()?,
        None => return Err(Failure::argument("the kernel lacks a name").into()),
    };
    Ok(match name.as_str() {
        "linear" => Kernel::Linear,
        "polynomial" => Kernel::Polynomial { degree: number("degree")?, offset: number("offset")? },
        "gaussian" => Kernel::Gaussian { sigma: number("sigma")? },
        "exponential" => Kernel::Exponential { sigma: number("sigma")? },
        "laplacian" => Kernel::Laplacian { rate: number("rate")? },
        "cosine" => Kernel::Cosine,
        "sigmoid" => Kernel::Sigmoid { scale: number("rate")?, offset: number("offset")? },
        "chi2" => Kernel::Chi2Exponential { rate: number("rate")? },
        "chi2-additive" => Kernel::Chi2Additive,
        "precomputed" => Kernel::Precomputed,
        _ => return Err(Failure::argument(format!("kernel \"{name}\" is not known")).into()),
    })
}

/// A function as a kernel.
pub fn custom(function: &Bound<'_, PyAny>) -> Kernel {
    let name = function.getattr("__name__").and_then(|name| name.extract());
    let name = name.unwrap_or_else(|_| function.get_type().to_string());
    Kernel::Custom(Arc::new(PythonKernel { function: function.clone().unbind(), name }))
}

/// The function that [`custom`] has made a kernel of.
pub fn function<'py>(py: Python<'py>, kernel: &dyn CustomKernel) -> Option<Bound<'py, PyAny>> {
    let own = (kernel as &dyn Any).downcast_ref::<PythonKernel>()?;
    Some(own.function.bind(py).clone())
}

/// Kernel values of all rows of X with all rows of Y.
#[pyfunction(name = "kernel")]
#[pyo3(signature = (X, Y, kernel, threads=0))]
pub fn kernel_values<'py>(
    py: Python<'py>,
    X: &Bound<'py, PyAny>,
    Y: &Bound<'py, PyAny>,
    kernel: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (X, Y, kernel) = (AnySamples::of(X, "X")?, AnySamples::of(Y, "Y")?, self::kernel(kernel)?);
    in_precision!(X, X => {
        let Y = Y.samples("Y")?;
        let values = Call::silent(py, threads).run(move |_| {
            // column i of the tile belongs to sample i of X
            Ok(Panel::new(&kernel, Y.view())?.evaluate(X.view())?)
        })?;
        Ok(rows(py, values.as_ref()))
    })
}

/// The median distance between pairs of rows.
#[pyfunction]
#[pyo3(signature = (X, seed=0, threads=0))]
pub fn median_distance(
    py: Python<'_>,
    X: &Bound<'_, PyAny>,
    seed: u64,
    threads: usize,
) -> PyResult<f64> {
    in_precision!(AnySamples::of(X, "X")?, X => {
        Call::silent(py, threads).run(move |_| Ok(median(X.view(), seed)?))
    })
}
