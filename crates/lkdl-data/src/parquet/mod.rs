//! Parquet, `.parquet`: flat columns, one sample per row.
//!
//! Every column of numbers or truth values is a feature, in the file's order, but for the label
//! column. That is the one [`ReadOptions::label`] names (or counts from 0), else one with a usual
//! name, else the last if it holds texts; the rule of CSV files with a header. Nulls and nested
//! columns are errors. Read are pages of both versions, plain, by dictionary or in split streams,
//! under Snappy, gzip or Zstandard. Written are `f0`, `f1`, … as doubles and `label` as integers or
//! texts, under Snappy.
//!
//! Format: <https://github.com/apache/parquet-format>. The reader is our own because the public
//! crate panics on damaged files and takes memory on a header's word.

mod reader;
#[cfg(test)]
mod tests;
mod thrift;
mod values;
mod writer;

pub(crate) use writer::write;

use crate::error::DataError;
use crate::label_column::label_column;
use crate::mapped;
use crate::options::ReadOptions;
use crate::table::{Labels, Table};
use faer::Mat;
use reader::ParquetFile;
use std::path::Path;
use values::{Physical, Values};

/// Reads samples and labels.
pub(crate) fn read(file: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    read_bytes(&mapped::bytes(file)?, file, options)
}

fn read_bytes(bytes: &[u8], file: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    let parquet = ParquetFile::open(bytes, file)?;
    let names: Vec<String> = parquet.columns.iter().map(|column| column.name.clone()).collect();
    let last_is_text = parquet.columns.last().is_some_and(|c| c.physical == Ok(Physical::Text));
    let label = match label_column(Some(&names), names.len(), file, options)? {
        Some(column) => Some(column),
        None if last_is_text && !options.unlabelled => Some(names.len() - 1),
        None => None,
    };
    let mut features = Vec::new();
    for (index, column) in parquet.columns.iter().enumerate() {
        if Some(index) == label {
            continue;
        }
        if column.physical == Ok(Physical::Text) {
            let problem = format!("column {index} ({}) holds texts", column.name);
            return Err(DataError::format(
                file,
                problem,
                "drop it, or name it as the label column",
            ));
        }
        features.push(match parquet.read(index)? {
            Values::Real(values) => values,
            Values::Integers(values) => values.iter().map(|value| *value as f64).collect(),
            Values::Text(_) => Vec::new(), // not read as such
        });
    }
    let labels = match label.map(|index| parquet.read(index)).transpose()? {
        None => None,
        Some(Values::Real(values)) => {
            Some(Labels::from_numbers(&values).map_err(|error| error.in_file(file))?)
        }
        Some(Values::Integers(values)) => {
            let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
            Some(Labels::from_texts(&texts))
        }
        Some(Values::Text(texts)) => Some(Labels::from_texts(&texts)),
    };
    let samples = Mat::from_fn(features.len(), parquet.n_rows, |t, i| features[t][i]);
    Table::from_file(file, samples, labels)
}
