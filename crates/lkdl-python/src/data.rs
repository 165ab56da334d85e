//! Sets and files of every format that the command reads.

use crate::array::{rows, vector};
use crate::job::Call;
use lkdl_data::{DataArgument, ReadOptions};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Samples as rows, class indices and names, names of the features, rows and columns of images.
type Table<'py> = (
    Bound<'py, PyAny>,
    Option<(Bound<'py, PyAny>, Vec<String>)>,
    Option<Vec<String>>,
    Option<(usize, usize)>,
);

/// Reads what `lkdl fit DATA` would read.
#[pyfunction]
#[pyo3(signature = (data, data_dir=None))]
pub fn read<'py>(py: Python<'py>, data: String, data_dir: Option<PathBuf>) -> PyResult<Table<'py>> {
    let table = Call::silent(py, 1).run(move |_| {
        let argument = DataArgument::parse(&data)?;
        Ok(argument.load(data_dir.as_deref(), &ReadOptions::default())?)
    })?;
    let labels = table.labels.map(|labels| {
        let indices = labels.indices.iter().map(|&label| i64::from(label)).collect();
        (vector::<i64>(py, indices), labels.class_names)
    });
    Ok((rows(py, table.samples.as_ref()), labels, table.feature_names, table.image_shape))
}
