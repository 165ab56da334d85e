//! Parquet, `.parquet`: flat columns, one sample per row.
//!
//! Every column of numbers or truth values is a feature, in the file's order, but for the label
//! column. That is the one [`ReadOptions::label`] names (or counts from 0), else one with a usual
//! name, else the last if it holds texts; the rule of CSV files with a header. Nulls, nested
//! columns and two columns of one name are errors. The index that pandas stores as a column (`__index_level_0__`, or as its
//! note in the file says) is left out unless it is named as the label, and is not counted. Read are
//! pages of both versions, plain, by dictionary or in split streams, under Snappy, gzip or
//! Zstandard. Written are the features by their names (`f0`, `f1`, … without such) as doubles and
//! `label` as integers or texts, under Snappy.
//!
//! Format: <https://github.com/apache/parquet-format>. The reader is our own because the public
//! crate panics on damaged files and takes memory on a header's word.

mod index;
mod reader;
pub(crate) mod rows;
#[cfg(test)]
mod tests;
mod thrift;
mod values;
mod writer;

pub(crate) use writer::write;

use crate::error::DataError;
use crate::label_column::{check_distinct, label_column};
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
    parquet.check_size()?;
    let layout = layout(&parquet, file, options)?;
    let read = |place: usize| parquet.read(layout.columns[place]);
    let features = layout.features().map(|place| Ok(read(place)?.into_numbers()));
    let features = features.collect::<Result<Vec<_>, DataError>>()?;
    let labels = match layout.label.map(read).transpose()? {
        None => None,
        Some(Values::Real(values)) => {
            Some(Labels::from_numbers(&values).map_err(|error| error.in_file(file))?)
        }
        Some(Values::Integers(values)) => Some(Labels::from_integers(&values)),
        Some(Values::Unsigned(values)) => Some(Labels::from_integers(&values)),
        Some(Values::Text(texts)) => Some(Labels::from_texts(&texts)),
    };
    let samples = Mat::from_fn(features.len(), parquet.n_rows, |t, i| features[t][i]);
    let names = layout.features().map(|place| layout.names[place].clone()).collect();
    Ok(Table::from_file(file, samples, labels)?.with_feature_names(Some(names)))
}

/// Which columns there are, as the file's users count them: without the index.
struct Layout {
    /// Their places in the file.
    columns: Vec<usize>,
    names: Vec<String>,
    /// The label's place among them.
    label: Option<usize>,
}

impl Layout {
    /// The places of all but the label.
    fn features(&self) -> impl Iterator<Item = usize> {
        let label = self.label;
        (0..self.columns.len()).filter(move |place| Some(*place) != label)
    }
}

fn layout(
    parquet: &ParquetFile<'_>,
    file: &Path,
    options: &ReadOptions,
) -> Result<Layout, DataError> {
    let index = index::columns(parquet);
    let columns: Vec<usize> = (0..parquet.columns.len())
        .filter(|column| {
            let name = &parquet.columns[*column].name;
            !index.contains(name) || options.label.as_ref() == Some(name)
        })
        .collect();
    let names: Vec<String> =
        columns.iter().map(|column| parquet.columns[*column].name.clone()).collect();
    check_distinct(&names, file)?;
    let is_text = |place: usize| parquet.columns[columns[place]].physical == Ok(Physical::Text);
    let label = match label_column(Some(&names), names.len(), file, options)? {
        Some(place) => Some(place),
        None if options.unlabelled => None,
        None => columns.len().checked_sub(1).filter(|last| is_text(*last)),
    };
    let is_feature_text = |place: &usize| Some(*place) != label && is_text(*place);
    if let Some(place) = (0..columns.len()).find(is_feature_text) {
        let problem = format!("column {place} ({}) holds texts", names[place]);
        let fix = "drop it, or name it as the label column";
        return Err(DataError::format(file, problem, fix));
    }
    Ok(Layout { columns, names, label })
}
