//! A table in text, line by line.

use super::header::is_header;
use super::records::{Record, Records};
use super::{Columns, Rows as Lines, is_missing, number};
use crate::compressed;
use crate::error::DataError;
use crate::options::ReadOptions;
use crate::source::Rows;
use std::io::BufRead;
use std::path::{Path, PathBuf};

/// Text whose label column is known.
struct TextRows {
    file: PathBuf,
    separator: char,
    has_header: bool,
    names: Option<Vec<String>>,
    lines: Lines,
    records: Records<Box<dyn BufRead + Send>>,
    record: Record,
    n_features: usize,
}

/// Opens the file, with cells usually between `separator`s.
pub(crate) fn open(
    file: &Path,
    separator: char,
    options: &ReadOptions,
) -> Result<Box<dyn Rows>, DataError> {
    let mut records = Records::new(compressed::open(file)?, file, separator)?;
    let (mut first, mut second) = (Record::default(), Record::default());
    if !records.next(&mut first)? {
        return Err(DataError::format(file, "no line", "is this the right file?"));
    }
    let has_second = records.next(&mut second)?;
    let has_header = is_header(&first, has_second.then_some(&second), options);
    let mut columns = Columns::of(&first, has_header, file, options)?;
    let sample = if has_header { &second } else { &first };
    if has_header && !has_second {
        return Err(DataError::format(file, "a header and no sample", "is this the right file?"));
    }
    let cell = columns.candidate.and_then(|column| sample.cells.iter().nth(column));
    if !columns.certain && cell.is_none_or(|cell| number(cell).is_some()) {
        return Err(DataError::Unlabelled { name: file.display().to_string() });
    }
    columns.certain = true;
    let label = columns.candidate;
    let n_features = columns.n_columns - 1 - usize::from(columns.has_index);
    let lines = Lines::new(columns, records.separator());
    let names = lines.columns.feature_names(label);
    let mut rows = TextRows {
        file: file.into(),
        separator,
        has_header,
        names,
        lines,
        records,
        record: first,
        n_features,
    };
    rows.rewind()?;
    Ok(Box::new(rows))
}

impl Rows for TextRows {
    fn file(&self) -> &Path {
        &self.file
    }

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn next(&mut self, values: &mut [f64], label: &mut String) -> Result<bool, DataError> {
        if !self.records.next(&mut self.record)? {
            return Ok(false);
        }
        self.lines.clear();
        let added = self.lines.add(&self.record);
        added.map_err(|(problem, fix)| self.records.fault(self.record.line, problem, fix))?;
        values[..self.n_features].copy_from_slice(&self.lines.values);
        label.clear();
        label.extend(self.lines.texts.iter().filter(|text| !is_missing(text)));
        Ok(true)
    }

    fn rewind(&mut self) -> Result<(), DataError> {
        self.records = Records::new(compressed::open(&self.file)?, &self.file, self.separator)?;
        if self.has_header {
            self.records.next(&mut self.record)?;
        }
        Ok(())
    }

    fn feature_names(&self) -> Option<Vec<String>> {
        self.names.clone()
    }
}
