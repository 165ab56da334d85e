//! CSV, TSV and other text: one sample per line, cells between separators, quotes where needed.
//!
//! **Separator.** Commas, semicolons or tabs, whichever stands between most numbers of the first
//! two lines, the format's own where that does not tell; blanks in a file that has none of these.
//!
//! **Lines.** Empty ones, and those that start with `#`, are passed over.
//!
//! **Header.** [`ReadOptions::header`] says whether the first line is one. Without other word it is
//! if (the *free* column being the label's if its number was given, otherwise the last of several)
//! 1. a cell outside the free column is not a number;
//! 2. or the cell in the free column is a usual name of labels (below), or the name asked for;
//! 3. or that cell is a text, and the one below it a number;
//! 4. or the cells (but for a text in the free column) are three or more and count 0, 1, 2, … or
//!    1, 2, 3, …, and those of the line below do not count upwards by ones.
//!
//! A first column without a name is the index that pandas writes, and is left out. Two columns of
//! one name are an error.
//!
//! **Labels.** Without other word, the label column is
//! 1. the column that a header calls `label`, `class`, `target`, `labels` or `y`, in any case;
//! 2. otherwise the last column, if one of its cells is not a number;
//! 3. otherwise, in a file without header, the last column, if its cells are whole numbers of at
//!    least 2 and at most [`MAX_CLASSES`] kinds, and there are twice as many lines as kinds;
//! 4. otherwise there is none.
//!
//! [`ReadOptions::label`] names another (by header, or by its number from 0, −1 being the last),
//! and [`ReadOptions::unlabelled`] says that there is none. All other cells must be finite
//! numbers, and their names in the header are the features' names.
//!
//! Written is a header of the features' names (`f0,f1,…` without such) and `label`, and numbers in
//! the fewest digits that are read back to the same bits.

mod header;
pub(crate) mod records;
pub(crate) mod rows;
pub(crate) mod separator;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use writer::write;

use crate::compressed;
use crate::dataset::MAX_ENTRIES;
use crate::error::{DataError, excerpt};
use crate::label_column::{check_distinct, label_column};
use crate::options::ReadOptions;
use crate::table::{Labels, Table};
use faer::Mat;
use header::{free_column, is_header};
use records::{Cells, Record, Records};
use separator::Separator;
use std::io::BufRead;
use std::path::Path;

/// The most kinds of whole numbers that are taken for classes without being told.
pub const MAX_CLASSES: usize = 256;

const ONE_COLUMN: &str =
    "there is one column: cells stand between commas, semicolons, tabs or blanks";

/// Reads the file, plain or compressed, with cells usually between `separator`s.
pub(crate) fn read(
    file: &Path,
    separator: char,
    options: &ReadOptions,
) -> Result<Table, DataError> {
    read_from(compressed::open(file)?, file, separator, options)
}

/// Reads text; `file` is what messages call it.
fn read_from(
    reader: impl BufRead,
    file: &Path,
    separator: char,
    options: &ReadOptions,
) -> Result<Table, DataError> {
    let mut records = Records::new(reader, file, separator)?;
    let (mut first, mut record) = (Record::default(), Record::default());
    if !records.next(&mut first)? {
        return Err(DataError::format(file, "no line", "is this the right file?"));
    }
    let mut has_more = records.next(&mut record)?;
    let is_header = is_header(&first, has_more.then_some(&record), options);
    let columns = Columns::of(&first, is_header, file, options)?;
    let mut rows = Rows::new(columns, records.separator());
    let fault = |line, (problem, fix): (String, _)| DataError::Format {
        file: file.into(),
        line: Some(line),
        problem,
        fix,
    };
    if !is_header {
        rows.add(&first).map_err(|what| fault(first.line, what))?;
    } else if !has_more {
        return Err(DataError::format(file, "a header and no sample", "is this the right file?"));
    }
    while has_more {
        rows.add(&record).map_err(|what| fault(record.line, what))?;
        has_more = records.next(&mut record)?;
    }
    rows.finish(file)
}

fn number(cell: &str) -> Option<f64> {
    cell.trim().parse().ok()
}

/// Where the label may stand, and what the columns are called.
struct Columns {
    names: Option<Vec<String>>,
    n_columns: usize,
    /// The label column if there is one.
    candidate: Option<usize>,
    /// Whether the candidate was named, and is not only the last.
    certain: bool,
    /// Whether the first column only counts the lines.
    has_index: bool,
}

impl Columns {
    /// What the first line and the options say.
    fn of(
        first: &Record,
        is_header: bool,
        file: &Path,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let n_columns = first.cells.len();
        let names = is_header.then(|| -> Vec<String> {
            first.cells.iter().map(|cell| cell.trim().to_string()).collect()
        });
        check_distinct(names.as_deref().unwrap_or_default(), file)?;
        let chosen = label_column(names.as_deref(), n_columns, file, options)?;
        let (candidate, certain) = match chosen {
            Some(column) => (Some(column), true),
            None => (free_column(n_columns, options), options.unlabelled),
        };
        let is_unnamed = |column: usize| names.as_ref().is_some_and(|n| n[column].is_empty());
        let has_index = n_columns > 1 && is_unnamed(0) && candidate != Some(0);
        let is_nameless = |column: &usize| Some(*column) != chosen && is_unnamed(*column);
        if let Some(column) = (usize::from(has_index)..n_columns).find(is_nameless) {
            let problem = format!("column {column} has no name in the header");
            return Err(DataError::format(file, problem, "name the column, or drop it"));
        }
        if certain && candidate.is_some() && n_columns < 2 {
            return Err(DataError::format(file, "one column, which is the label", ONE_COLUMN));
        }
        Ok(Self { names, n_columns, candidate, certain, has_index })
    }

    fn call(&self, column: usize) -> String {
        match self.names.as_ref().and_then(|names| names.get(column)) {
            Some(name) => format!("column {column} ({name})"),
            None => format!("column {column}"),
        }
    }

    /// The names of all columns but the `label` and the index.
    fn feature_names(&self, label: Option<usize>) -> Option<Vec<String>> {
        let is_feature = |column: usize| Some(column) != label && !(self.has_index && column == 0);
        let names = self.names.iter().flatten().enumerate();
        let names = names.filter(|(column, _)| is_feature(*column)).map(|(_, name)| name.clone());
        self.names.is_some().then(|| names.collect())
    }
}

/// The samples read so far.
struct Rows {
    columns: Columns,
    separator: Separator,
    /// Line by line, without the candidate column.
    values: Vec<f64>,
    /// The candidate column.
    texts: Cells,
    n_samples: usize,
}

impl Rows {
    fn new(columns: Columns, separator: Separator) -> Self {
        Self { columns, separator, values: Vec::new(), texts: Cells::default(), n_samples: 0 }
    }

    /// Forgets the samples.
    fn clear(&mut self) {
        self.values.clear();
        self.texts.clear();
        self.n_samples = 0;
    }

    /// Adds one line, or says what is wrong with it and how to mend it.
    fn add(&mut self, record: &Record) -> Result<(), (String, &'static str)> {
        let n_columns = self.columns.n_columns;
        if record.cells.len() != n_columns {
            let n_cells = record.cells.len();
            let problem = format!("{n_cells} cells, where the first line has {n_columns}");
            return Err((problem, "give every line the same number of cells"));
        }
        let skipped = usize::from(self.columns.has_index);
        for (column, cell) in record.cells.iter().enumerate().skip(skipped) {
            if Some(column) == self.columns.candidate {
                let text = cell.trim();
                if self.columns.certain && is_missing(text) {
                    let problem = format!("{}: the label is missing", self.columns.call(column));
                    return Err((problem, "give the label or drop the line"));
                }
                self.texts.push(text);
                continue;
            }
            self.values.push(number(cell).filter(|v| v.is_finite()).ok_or_else(|| {
                (format!("{}: {}", self.columns.call(column), fault(cell)), self.fix(cell))
            })?);
        }
        self.n_samples += 1;
        if self.values.len() > MAX_ENTRIES {
            return Err((format!("more than {MAX_ENTRIES} values"), "split the file"));
        }
        Ok(())
    }

    /// How to mend a cell that is not a number.
    fn fix(&self, cell: &str) -> &'static str {
        if self.columns.n_columns == 1 {
            ONE_COLUMN
        } else if self.separator != Separator::Character(',')
            && number(&cell.replacen(',', ".", 1)).is_some()
        {
            "write decimals with a point, not a comma"
        } else {
            "replace it or drop the line; if the column is the label, name it"
        }
    }

    fn finish(self, file: &Path) -> Result<Table, DataError> {
        let n = self.n_samples;
        let width = self.values.len() / n.max(1);
        let label =
            self.columns.candidate.filter(|_| self.columns.certain || self.look_like_labels());
        let (samples, labels) = match (self.columns.candidate, label) {
            (None, _) => (columns_of(&self.values, width, n), None),
            (Some(_), Some(column)) => {
                if let Some(i) = self.texts.iter().position(is_missing) {
                    let column = self.columns.call(column);
                    let problem = format!("{column}: the label of sample {i} is missing");
                    let fix = "give the label or drop the line";
                    return Err(DataError::format(file, problem, fix));
                }
                let labels = Labels::from_texts(&self.texts.iter().collect::<Vec<_>>());
                (columns_of(&self.values, width, n), Some(labels))
            }
            (Some(_), None) => (self.with_candidate(width), None),
        };
        let names = self.columns.feature_names(label);
        Ok(Table::from_file(file, samples, labels)?.with_feature_names(names))
    }

    /// The samples with the last column, which is a feature after all; its cells are numbers.
    fn with_candidate(&self, width: usize) -> Mat<f64> {
        let mut samples = Mat::zeros(width + 1, self.n_samples);
        for (i, text) in self.texts.iter().enumerate() {
            let column = samples.col_as_slice_mut(i);
            column[..width].copy_from_slice(&self.values[i * width..(i + 1) * width]);
            column[width] = number(text).unwrap_or(f64::NAN);
        }
        samples
    }

    /// Rules 2 and 3 of the labels.
    fn look_like_labels(&self) -> bool {
        let numbers: Option<Vec<f64>> = self.texts.iter().map(number).collect();
        let Some(mut numbers) = numbers else { return true };
        if self.columns.names.is_some() || numbers.iter().any(|v| v.fract() != 0.0) {
            return false;
        }
        numbers.sort_unstable_by(f64::total_cmp);
        numbers.dedup();
        (2..=MAX_CLASSES).contains(&numbers.len()) && 2 * numbers.len() <= self.n_samples
    }
}

/// A label that says there is none.
fn is_missing(text: &str) -> bool {
    text.is_empty() || text.eq_ignore_ascii_case("nan")
}

fn fault(cell: &str) -> String {
    match cell.trim() {
        "" => "the cell is empty".into(),
        cell => format!("{} is not a finite number", excerpt(cell)),
    }
}

fn columns_of(values: &[f64], p: usize, n: usize) -> Mat<f64> {
    let mut samples = Mat::zeros(p, n);
    if p > 0 {
        for (i, row) in values.chunks_exact(p).enumerate() {
            samples.col_as_slice_mut(i).copy_from_slice(row);
        }
    }
    samples
}
