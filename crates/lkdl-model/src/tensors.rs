//! Named tensors on their way into a file, and out of it. A matrix with samples in columns is
//! written as rows: the same bytes, the shape a NumPy reader expects.

use crate::element::Element;
use crate::error::ModelError;
use faer::{Mat, MatRef};
use lkdl::Kernel;
use safetensors::Dtype;
use safetensors::tensor::{SafeTensors, TensorView};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The tensors of a file before it is written, by name.
#[derive(Default)]
pub(crate) struct Tensors {
    entries: BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>,
}

impl Tensors {
    /// The columns of X as the rows of a tensor.
    pub(crate) fn put_matrix<T: Element>(&mut self, name: impl Into<String>, X: MatRef<'_, T>) {
        let mut bytes = Vec::with_capacity(X.nrows() * X.ncols() * size_of::<T>());
        for column in X.col_iter() {
            column.iter().for_each(|v| v.write(&mut bytes));
        }
        self.entries.insert(name.into(), (T::DTYPE, vec![X.ncols(), X.nrows()], bytes));
    }

    pub(crate) fn put_vector<T: Element>(&mut self, name: impl Into<String>, values: &[T]) {
        let mut bytes = Vec::with_capacity(size_of_val(values));
        values.iter().for_each(|v| v.write(&mut bytes));
        self.entries.insert(name.into(), (T::DTYPE, vec![values.len()], bytes));
    }

    pub(crate) fn put_indices(&mut self, name: impl Into<String>, values: &[usize]) {
        let bytes = values.iter().flat_map(|&v| (v as u64).to_le_bytes()).collect();
        self.entries.insert(name.into(), (Dtype::U64, vec![values.len()], bytes));
    }

    /// The views that `safetensors::serialize` takes.
    pub(crate) fn views(&self) -> Result<Vec<(&str, TensorView<'_>)>, ModelError> {
        self.entries
            .iter()
            .map(|(name, (dtype, shape, bytes))| {
                let view = TensorView::new(*dtype, shape.clone(), bytes);
                view.map(|view| (name.as_str(), view)).map_err(|error| ModelError::Tensor {
                    name: name.clone(),
                    problem: format!("cannot be written ({error})"),
                })
            })
            .collect()
    }
}

/// SHA-256 over the metadata's text and every tensor: name, type, shape, bytes.
pub(crate) fn checksum<'a>(
    metadata: &str,
    tensors: impl IntoIterator<Item = (&'a str, TensorView<'a>)>,
) -> String {
    let mut sorted: Vec<_> = tensors.into_iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(b.0));
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(metadata.as_bytes());
    for (name, view) in sorted {
        part(name.as_bytes());
        part(format!("{:?}{:?}", view.dtype(), view.shape()).as_bytes());
        part(view.data());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The tensors of a file that was read, and what was kept elsewhere.
pub(crate) struct Source<'a> {
    pub(crate) tensors: SafeTensors<'a>,
    /// A kernel that no file can hold.
    pub(crate) custom: Option<&'a Kernel>,
}

impl Source<'_> {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    fn get(&self, name: &str, dtype: Dtype, dims: usize) -> Result<TensorView<'_>, ModelError> {
        let wrong = |problem: String| ModelError::Tensor { name: name.to_string(), problem };
        let view = self.tensors.tensor(name).map_err(|_| wrong("is missing".into()))?;
        if view.dtype() != dtype {
            return Err(wrong(format!("is {:?}, but must be {dtype:?}", view.dtype())));
        }
        if view.shape().len() != dims {
            return Err(wrong(format!("has {} dimensions, not {dims}", view.shape().len())));
        }
        if view.shape().contains(&0) {
            return Err(wrong(format!("is empty ({:?})", view.shape())));
        }
        Ok(view)
    }

    /// The rows of a tensor as columns.
    pub(crate) fn matrix<T: Element>(&self, name: &str) -> Result<Mat<T>, ModelError> {
        let view = self.get(name, T::DTYPE, 2)?;
        let (n, p) = (view.shape()[0], view.shape()[1]);
        let size = size_of::<T>();
        let data = view.data();
        Ok(Mat::from_fn(p, n, |t, i| T::read(&data[(i * p + t) * size..])))
    }

    pub(crate) fn vector<T: Element>(&self, name: &str) -> Result<Vec<T>, ModelError> {
        let view = self.get(name, T::DTYPE, 1)?;
        Ok(view.data().chunks_exact(size_of::<T>()).map(T::read).collect())
    }

    pub(crate) fn indices(&self, name: &str) -> Result<Vec<usize>, ModelError> {
        let view = self.get(name, Dtype::U64, 1)?;
        let value = |chunk: &[u8]| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(chunk);
            usize::try_from(u64::from_le_bytes(bytes)).map_err(|_| ModelError::Tensor {
                name: name.to_string(),
                problem: "holds an index beyond this machine's range".into(),
            })
        };
        view.data().chunks_exact(8).map(value).collect()
    }
}
