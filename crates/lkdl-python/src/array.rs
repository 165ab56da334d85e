//! NumPy arrays as the engine's matrices, and back. A C-order (N, p) array is the same bytes as a
//! column-major p×N matrix, so samples are never copied on the way in.

use crate::error::Failure;
use faer::MatRef;
use lkdl_model::Element as Tensor;
use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods, dtype,
};
use pyo3::prelude::*;

/// A number type of both sides.
pub trait Number: Tensor + Element + Default {}
impl Number for f32 {}
impl Number for f64 {}

/// The rows of a C-order array as columns, for as long as the array lives: work that was left behind
/// by Ctrl-C may outlive the call that started it.
pub struct Samples<T> {
    /// Keeps the memory.
    _array: Py<PyAny>,
    first: *const T,
    n_features: usize,
    n_samples: usize,
}

// SAFETY: the memory is kept by the array and only read. Whoever writes to an array while another
// thread computes with it gets values of before or after, as everywhere in NumPy.
unsafe impl<T: Sync> Send for Samples<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Samples<T> {}

impl<T: Number> Samples<T> {
    fn of(array: &Bound<'_, PyArray2<T>>, name: &str) -> Result<Self, Failure> {
        if !(array.is_c_contiguous() && array.is_aligned()) {
            return Err(Failure::argument(format!(
                "{name} must be a C-order array; np.ascontiguousarray makes one"
            )));
        }
        let (n_samples, n_features) = (array.shape()[0], array.shape()[1]);
        let owner = array.clone().into_any().unbind();
        Ok(Self { _array: owner, first: array.data(), n_features, n_samples })
    }

    /// One sample per column.
    pub fn view(&self) -> MatRef<'_, T> {
        let length = self.n_features * self.n_samples;
        // SAFETY: C-order and aligned, so `length` values lie from `first` on; the array keeps them.
        // NumPy never hands out a null pointer, not even for an empty array.
        let values = unsafe { std::slice::from_raw_parts(self.first, length) };
        MatRef::from_column_major_slice(values, self.n_features, self.n_samples)
    }
}

/// Samples in either precision.
pub enum AnySamples {
    /// Single.
    F32(Samples<f32>),
    /// Double.
    F64(Samples<f64>),
}

impl AnySamples {
    /// The samples of a two-dimensional float array.
    pub fn of(array: &Bound<'_, PyAny>, name: &str) -> Result<Self, Failure> {
        if let Ok(array) = array.cast::<PyArray2<f64>>() {
            return Samples::of(array, name).map(Self::F64);
        }
        if let Ok(array) = array.cast::<PyArray2<f32>>() {
            return Samples::of(array, name).map(Self::F32);
        }
        let found = match array.cast::<PyUntypedArray>() {
            Ok(array) => format!("one of {} dimensions and type {}", array.ndim(), array.dtype()),
            Err(_) => array.get_type().to_string(),
        };
        Err(Failure::argument(format!(
            "{name} must be a two-dimensional array of float64 or float32, not {found}"
        )))
    }
}

/// The same expression in the precision of the samples.
macro_rules! in_precision {
    ($any:expr, $samples:ident => $result:expr) => {
        match $any {
            $crate::array::AnySamples::F32($samples) => $result,
            $crate::array::AnySamples::F64($samples) => $result,
        }
    };
}
pub(crate) use in_precision;

/// A second argument in the precision of the first, for [`in_precision`].
pub trait InPrecision<T> {
    /// The samples, if they are of this type.
    fn samples(self, name: &str) -> Result<Samples<T>, Failure>;
}

macro_rules! in_own_precision {
    ($type:ty, $variant:ident, $name:literal) => {
        impl InPrecision<$type> for AnySamples {
            fn samples(self, name: &str) -> Result<Samples<$type>, Failure> {
                match self {
                    Self::$variant(samples) => Ok(samples),
                    _ => Err(Failure::argument(format!("{name} must be of {}, as X is", $name))),
                }
            }
        }
    };
}

in_own_precision!(f32, F32, "float32");
in_own_precision!(f64, F64, "float64");

/// Columns as the rows of a new array.
pub fn rows<'py, T: Number>(py: Python<'py>, matrix: MatRef<'_, T>) -> Bound<'py, PyAny> {
    let (rows, cols) = (matrix.ncols(), matrix.nrows());
    let mut values = Vec::with_capacity(rows * cols);
    for column in matrix.col_iter() {
        values.extend(column.iter().copied());
    }
    reshaped(py, values, rows, cols)
}

/// The rows of an array, one after the other in `values`.
pub fn reshaped<T: Number>(
    py: Python<'_>,
    values: Vec<T>,
    rows: usize,
    cols: usize,
) -> Bound<'_, PyAny> {
    let flat = PyArray1::from_vec(py, values);
    match flat.reshape([rows, cols]) {
        Ok(array) => array.into_any(),
        Err(_) => flat.into_any(), // the sizes are those of the values
    }
}

/// A one-dimensional array.
pub fn vector<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyAny> {
    PyArray1::from_vec(py, values).into_any()
}

/// Indices as NumPy has them.
pub fn indices<'py>(py: Python<'py>, values: &[usize]) -> Bound<'py, PyAny> {
    vector(py, values.iter().map(|&i| i as i64).collect())
}

/// Class indices from an integer array.
pub fn labels(array: &Bound<'_, PyAny>) -> Result<Vec<usize>, Failure> {
    let wrong = || Failure::argument("labels must be class indices: an int64 array, none below 0");
    let array = array.cast::<PyArray1<i64>>().map_err(|_| wrong())?;
    let values = array.try_readonly().map_err(|_| wrong())?;
    values.as_array().iter().map(|&label| usize::try_from(label).map_err(|_| wrong())).collect()
}

/// The values of a float64 vector.
pub fn numbers(array: &Bound<'_, PyAny>, name: &str) -> Result<Vec<f64>, Failure> {
    let wrong = || Failure::argument(format!("{name} must be a vector of float64"));
    let array = array.cast::<PyArray1<f64>>().map_err(|_| wrong())?;
    Ok(array.try_readonly().map_err(|_| wrong())?.as_array().to_vec())
}

/// `float32` or `float64`.
pub fn dtype_of<T: Number>(py: Python<'_>) -> Bound<'_, PyAny> {
    dtype::<T>(py).into_any()
}
