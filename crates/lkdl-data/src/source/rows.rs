//! One file, sample by sample.

use crate::error::DataError;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// A file of labelled samples that can be read again and again.
pub(crate) trait Rows: Send {
    /// What messages call it.
    fn file(&self) -> &Path;

    /// All files that are read again in every pass.
    fn files(&self) -> Vec<&Path> {
        vec![self.file()]
    }

    /// Number of features; a file that leaves out zeros may have fewer than its neighbours.
    fn n_features(&self) -> usize;

    /// Reads the next sample into the front of `values`, and the name of its class; `false` at the
    /// end.
    fn next(&mut self, values: &mut [f64], label: &mut String) -> Result<bool, DataError>;

    /// Back to the first sample.
    fn rewind(&mut self) -> Result<(), DataError>;

    /// As [`Table::feature_names`](crate::Table::feature_names).
    fn feature_names(&self) -> Option<Vec<String>> {
        None
    }

    /// As [`Table::image_shape`](crate::Table::image_shape).
    fn image_shape(&self) -> Option<(usize, usize)> {
        None
    }

    /// As [`Table::index_base`](crate::Table::index_base).
    fn index_base(&self) -> Option<u32> {
        None
    }
}

/// Opens the bytes of an array's values, header and all.
pub(crate) type Opener = Box<dyn Fn() -> Result<Box<dyn Read + Send>, DataError> + Send>;

/// Rows of equal size that follow a header, as arrays of numbers have them.
pub(crate) struct ByteRows {
    pub(crate) file: PathBuf,
    open: Opener,
    /// Passes over what comes before the first row.
    header_bytes: u64,
    pub(crate) n_rows: usize,
    row: Vec<u8>,
    reader: Option<Box<dyn Read + Send>>,
    n_read: usize,
}

impl ByteRows {
    pub(crate) fn new(
        file: &Path,
        open: Opener,
        header_bytes: u64,
        n_rows: usize,
        row_bytes: usize,
    ) -> Self {
        let row = vec![0; row_bytes];
        Self { file: file.into(), open, header_bytes, n_rows, row, reader: None, n_read: 0 }
    }

    /// The bytes of the next row; `None` after the last, which must be the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, DataError> {
        let failed = |source| DataError::reading(&self.file, source);
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => {
                let mut reader = (self.open)()?;
                let mut header = reader.by_ref().take(self.header_bytes);
                std::io::copy(&mut header, &mut std::io::sink()).map_err(failed)?;
                none.insert(Box::new(BufReader::with_capacity(1 << 18, reader)))
            }
        };
        if self.n_read == self.n_rows {
            return match reader.read(&mut [0]).map_err(failed)? {
                0 => Ok(None),
                _ => {
                    let problem = format!("more than the {} samples promised", self.n_rows);
                    let fix = "the file may be damaged: fetch it again";
                    Err(DataError::format(&self.file, problem, fix))
                }
            };
        }
        reader.read_exact(&mut self.row).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                let (there, all) = (self.n_read, self.n_rows);
                let problem = format!("ends after {there} of the {all} samples promised");
                let fix = "the file may be truncated or have changed: fetch it again";
                DataError::format(&self.file, problem, fix)
            }
            _ => failed(error),
        })?;
        self.n_read += 1;
        Ok(Some(&self.row))
    }

    pub(crate) fn rewind(&mut self) {
        (self.reader, self.n_read) = (None, 0);
    }
}
