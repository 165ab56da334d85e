//! MATLAB files, `.mat`: versions 5 and 7 read and written here, 7.3 read as the HDF5 it is.
//!
//! Samples are columns unless the labels' number says rows; which variables are meant is decided in
//! [`variables`](crate::variables). A table is written as `X`, one sample per column, and `y`, a
//! column of numbers or of cells with texts.

mod reader;
mod stream;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use writer::write;

use crate::error::DataError;
use crate::options::ReadOptions;
use crate::table::Table;
use crate::{hdf5, mapped, variables};
use std::path::Path;

/// Reads samples and labels.
pub(crate) fn read(file: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    let bytes = mapped::bytes(file)?;
    if hdf5::is_hdf5(&bytes) {
        return hdf5::read_bytes(bytes, file, options);
    }
    let source = reader::MatFile::open(&bytes, file)?;
    variables::read(&source, options, file)
}
