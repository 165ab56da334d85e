//! An IDX array row by row.

use super::{IdxHeader, Kind};
use crate::compressed;
use crate::error::DataError;
use crate::idx_pair::labels_file;
use crate::label_file;
use crate::source::{ArrayRows, ArrayStream, ByteRows, Decode, LabelStream, Opener, Rows};
use std::path::{Path, PathBuf};

impl Decode for Kind {
    fn item_bytes(&self) -> usize {
        self.bytes()
    }

    fn number(&self, item: &[u8]) -> f64 {
        self.value(item)
    }

    fn label(&self, item: &[u8]) -> String {
        // + 0.0: −0 is written 0
        (self.value(item) + 0.0).to_string()
    }
}

/// Opens samples, and their labels in the file that is said or stands beside them.
pub(crate) fn open(file: &Path, labels: Option<&Path>) -> Result<Box<dyn Rows>, DataError> {
    let (samples, shape) = stream(file)?;
    let beside = labels_file(file);
    let labels = match labels {
        Some(labels) => label_file::stream(labels, samples.rows.n_rows)?,
        None if beside.is_file() => self::labels(&beside)?,
        None => return Err(DataError::Unlabelled { name: file.display().to_string() }),
    };
    labels.check(samples.rows.n_rows)?;
    let image_shape = match shape.as_slice() {
        &[_, rows, columns] => Some((rows, columns)),
        _ => None,
    };
    Ok(Box::new(ArrayRows { samples, labels, image_shape }))
}

/// Labels in a file of their own.
pub(crate) fn labels(file: &Path) -> Result<LabelStream, DataError> {
    Ok(LabelStream::Array(stream(file)?.0))
}

fn stream(file: &Path) -> Result<(ArrayStream, Vec<usize>), DataError> {
    let IdxHeader { shape, kind, count } = IdxHeader::read(&mut compressed::open(file)?, file)?;
    let (path, width) = (PathBuf::from(file), count / shape[0]);
    let open: Opener = Box::new(move || Ok(Box::new(compressed::open(&path)?)));
    let header_bytes = 4 + 4 * shape.len() as u64;
    let row_bytes = width.saturating_mul(kind.bytes());
    let rows = ByteRows::new(file, open, header_bytes, shape[0], row_bytes);
    Ok((ArrayStream { rows, decode: Box::new(kind), width }, shape))
}
