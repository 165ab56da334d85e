//! Arrays of numbers in a file, row by row: samples, and beside them their labels.

use super::check_label;
use super::rows::{ByteRows, Rows};
use crate::error::DataError;
use crate::table::Labels;
use std::path::Path;

/// What the bytes of a row mean.
pub(crate) trait Decode: Send {
    /// Bytes of one value.
    fn item_bytes(&self) -> usize;

    /// A value as a number.
    fn number(&self, item: &[u8]) -> f64;

    /// A value as the name of a class.
    fn label(&self, item: &[u8]) -> String;
}

/// An array that is read row by row.
pub(crate) struct ArrayStream {
    pub(crate) rows: ByteRows,
    pub(crate) decode: Box<dyn Decode>,
    /// Values of a row.
    pub(crate) width: usize,
}

/// Where the labels of samples are.
pub(crate) enum LabelStream {
    /// In a column of the samples.
    Column(usize),
    /// In an array, one for each sample.
    Array(ArrayStream),
    /// In memory.
    Whole {
        /// All of them.
        labels: Labels,
        /// The sample whose label is next.
        next: usize,
    },
}

impl LabelStream {
    /// One label for each of `n_samples`.
    pub(crate) fn check(&self, n_samples: usize) -> Result<(), DataError> {
        let Self::Array(array) = self else { return Ok(()) };
        if array.width == 1 && array.rows.n_rows == n_samples {
            return Ok(());
        }
        let problem = format!("{} labels for {n_samples} samples", array.rows.n_rows);
        Err(DataError::format(&array.rows.file, problem, "give one label per sample"))
    }
}

/// Samples and their labels.
pub(crate) struct ArrayRows {
    pub(crate) samples: ArrayStream,
    pub(crate) labels: LabelStream,
    pub(crate) image_shape: Option<(usize, usize)>,
}

impl Rows for ArrayRows {
    fn file(&self) -> &Path {
        &self.samples.rows.file
    }

    fn files(&self) -> Vec<&Path> {
        let mut files = vec![self.file()];
        if let LabelStream::Array(labels) = &self.labels {
            files.push(&labels.rows.file);
        }
        files
    }

    fn n_features(&self) -> usize {
        self.samples.width - usize::from(matches!(self.labels, LabelStream::Column(_)))
    }

    fn next(&mut self, values: &mut [f64], label: &mut String) -> Result<bool, DataError> {
        let decode = &self.samples.decode;
        let Some(row) = self.samples.rows.next()? else {
            if let LabelStream::Array(labels) = &mut self.labels {
                labels.rows.next()?; // which has come to its end, or says why not
            }
            return Ok(false);
        };
        let column = match self.labels {
            LabelStream::Column(column) => Some(column),
            _ => None,
        };
        let items = row.chunks_exact(decode.item_bytes()).enumerate();
        let mut features = values.iter_mut();
        for (place, item) in items {
            if Some(place) == column {
                *label = decode.label(item);
            } else if let Some(value) = features.next() {
                *value = decode.number(item);
            }
        }
        match &mut self.labels {
            LabelStream::Column(_) => check_label(label, &self.samples.rows.file)?,
            LabelStream::Array(labels) => {
                if let Some(row) = labels.rows.next()? {
                    *label = labels.decode.label(row);
                    check_label(label, &labels.rows.file)?;
                }
            }
            LabelStream::Whole { labels, next } => {
                label.clone_from(&labels.class_names[labels.indices[*next] as usize]);
                *next += 1;
            }
        }
        Ok(true)
    }

    fn rewind(&mut self) -> Result<(), DataError> {
        self.samples.rows.rewind();
        match &mut self.labels {
            LabelStream::Column(_) => {}
            LabelStream::Array(labels) => labels.rows.rewind(),
            LabelStream::Whole { next, .. } => *next = 0,
        }
        Ok(())
    }

    fn image_shape(&self) -> Option<(usize, usize)> {
        self.image_shape
    }
}
