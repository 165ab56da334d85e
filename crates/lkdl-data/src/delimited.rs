//! CSV and TSV: one sample per line, cells between separators, quotes where needed.
//!
//! **Header.** The first line is a header if a cell outside the label column is not a number. (The
//! label column is the one given by its number, otherwise the last of several.)
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
//! numbers. Written is a header `f0,f1,…,label`, and numbers in the fewest digits that are read
//! back to the same bits.

use crate::compressed;
use crate::dataset::MAX_ENTRIES;
use crate::error::DataError;
use crate::label_column::{column_number, label_column};
use crate::options::ReadOptions;
use crate::table::{Labels, Table, check_writable, write_number};
use csv::StringRecord;
use faer::Mat;
use std::io::{Read, Write};
use std::path::Path;

/// The most kinds of whole numbers that are taken for classes without being told.
pub const MAX_CLASSES: usize = 256;

/// Reads the file, plain or compressed, with cells between `separator`s.
pub(crate) fn read(file: &Path, separator: u8, options: &ReadOptions) -> Result<Table, DataError> {
    read_from(compressed::open(file)?, file, separator, options)
}

/// Reads text; `file` is what messages call it.
fn read_from(
    reader: impl Read,
    file: &Path,
    separator: u8,
    options: &ReadOptions,
) -> Result<Table, DataError> {
    let mut lines = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        // what it takes for lines is what is counted; a \r before it is trimmed with the blanks
        .terminator(csv::Terminator::Any(b'\n'))
        .from_reader(reader.chain(&b"\n"[..]));
    let mut record = StringRecord::new();
    if !next(&mut lines, &mut record, file)? {
        return Err(DataError::format(file, "no line", "is this the right file?"));
    }
    let (columns, is_header) = Columns::of(&record, file, options)?;
    let mut rows = Rows { columns, values: Vec::new(), texts: Texts::default(), n_samples: 0 };
    if is_header && !next(&mut lines, &mut record, file)? {
        return Err(DataError::format(file, "a header and no sample", "is this the right file?"));
    }
    loop {
        let line = line_of(&record, lines.position());
        rows.add(&record).map_err(|(problem, fix)| DataError::Format {
            file: file.into(),
            line: Some(line),
            problem,
            fix,
        })?;
        if !next(&mut lines, &mut record, file)? {
            return rows.finish(file);
        }
    }
}

/// The next line that is not empty; `false` at the end.
fn next<R: Read>(
    lines: &mut csv::Reader<R>,
    record: &mut StringRecord,
    file: &Path,
) -> Result<bool, DataError> {
    loop {
        let read = lines.read_record(record).map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(source) => DataError::reading(file, source),
            csv::ErrorKind::Utf8 { pos, .. } => DataError::Format {
                file: file.into(),
                line: pos.map(|pos| pos.line() as usize),
                problem: "not text in UTF-8".into(),
                fix: "save the file as UTF-8 text",
            },
            other => DataError::format(file, format!("{other:?}"), "is this a text file?"),
        })?;
        if !read || record.len() > 1 || record.get(0).is_some_and(|cell| !cell.trim().is_empty()) {
            return Ok(read);
        }
    }
}

/// The line a record stands on, from where the reader is after it. (Where it was before does not
/// tell: empty lines may have come between.)
fn line_of(record: &StringRecord, after: &csv::Position) -> usize {
    let inside: usize = record.iter().map(|cell| cell.matches('\n').count()).sum();
    (after.line() as usize).saturating_sub(1 + inside)
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
}

impl Columns {
    /// What the first line and the options say; and whether the first line is a header.
    fn of(
        first: &StringRecord,
        file: &Path,
        options: &ReadOptions,
    ) -> Result<(Self, bool), DataError> {
        let n_columns = first.len();
        let named = options.label.as_deref().filter(|_| !options.unlabelled);
        let by_number = named.and_then(|label| column_number(label, n_columns));
        let outside = match by_number {
            _ if options.unlabelled => None,
            Some(column) => Some(column),
            // an only column is a feature
            None => n_columns.checked_sub(1).filter(|last| *last > 0),
        };
        let is_header = first
            .iter()
            .enumerate()
            .any(|(column, cell)| Some(column) != outside && number(cell).is_none());
        let names = is_header.then(|| first.iter().map(|c| c.trim().to_string()).collect());
        let columns = Self { names, n_columns, candidate: outside, certain: false };
        if is_header && let Some(column) = first.iter().position(|cell| cell.trim().is_empty()) {
            let problem = format!("column {column} has no name in the header");
            let fix = "name the column, or drop it if it only counts the lines";
            return Err(DataError::format(file, problem, fix));
        }
        let chosen = label_column(columns.names.as_deref(), n_columns, file, options)?;
        let (candidate, certain) = match chosen {
            Some(column) => (Some(column), true),
            None => (outside, options.unlabelled),
        };
        if certain && candidate.is_some() && n_columns < 2 {
            let problem = "one column, which is the label";
            let fix = "is the separator right? name the format csv or tsv";
            return Err(DataError::format(file, problem, fix));
        }
        Ok((Self { candidate, certain, ..columns }, is_header))
    }

    fn call(&self, column: usize) -> String {
        match self.names.as_ref().and_then(|names| names.get(column)) {
            Some(name) => format!("column {column} ({name})"),
            None => format!("column {column}"),
        }
    }
}

/// Many texts in one.
#[derive(Default)]
struct Texts {
    text: String,
    ends: Vec<usize>,
}

impl Texts {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| &self.text[*start..*end])
    }
}

/// The samples read so far.
struct Rows {
    columns: Columns,
    /// Line by line, without the candidate column.
    values: Vec<f64>,
    /// The candidate column.
    texts: Texts,
    n_samples: usize,
}

impl Rows {
    /// Adds one line, or says what is wrong with it and how to mend it.
    fn add(&mut self, record: &StringRecord) -> Result<(), (String, &'static str)> {
        let n_columns = self.columns.n_columns;
        if record.len() != n_columns {
            let problem = format!("{} cells, where the first line has {n_columns}", record.len());
            return Err((problem, "give every line the same number of cells"));
        }
        for (column, cell) in record.iter().enumerate() {
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
                let fix = match n_columns {
                    1 => "there is one column: is the separator right? name the format csv or tsv",
                    _ => "replace it or drop the line; if the column is the label, name it",
                };
                (format!("{}: {}", self.columns.call(column), fault(cell)), fix)
            })?);
        }
        self.n_samples += 1;
        if self.values.len() > MAX_ENTRIES {
            return Err((format!("more than {MAX_ENTRIES} values"), "split the file"));
        }
        Ok(())
    }

    fn finish(self, file: &Path) -> Result<Table, DataError> {
        let n = self.n_samples;
        let width = self.values.len() / n.max(1);
        let Some(candidate) = self.columns.candidate else {
            return Table::from_file(file, columns_of(&self.values, width, n), None);
        };
        let is_label = self.columns.certain || self.looks_like_labels();
        if is_label {
            if let Some(i) = self.texts.iter().position(is_missing) {
                let problem =
                    format!("{}: the label of sample {i} is missing", self.columns.call(candidate));
                return Err(DataError::format(file, problem, "give the label or drop the line"));
            }
            let labels = Labels::from_texts(&self.texts.iter().collect::<Vec<_>>());
            return Table::from_file(file, columns_of(&self.values, width, n), Some(labels));
        }
        // the last column is a feature after all; its cells are numbers
        let mut samples = Mat::zeros(width + 1, n);
        for (i, text) in self.texts.iter().enumerate() {
            let column = samples.col_as_slice_mut(i);
            column[..width].copy_from_slice(&self.values[i * width..(i + 1) * width]);
            column[width] = number(text).unwrap_or(f64::NAN);
        }
        Table::from_file(file, samples, None)
    }

    /// Rules 2 and 3.
    fn looks_like_labels(&self) -> bool {
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
    let shown: String = cell.trim().chars().take(40).collect();
    match shown.as_str() {
        "" => "the cell is empty".into(),
        _ => format!("\"{shown}\" is not a finite number"),
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

/// Writes the table with `separator` between cells.
pub(crate) fn write(out: &mut dyn Write, table: &Table, separator: u8) -> Result<(), DataError> {
    let survives = |name: &str| name.trim() == name && !is_missing(name);
    check_writable(table, survives, "a text that starts and ends with neither blank nor is NaN")?;
    let mut quoted = Vec::new();
    for name in table.labels.iter().flat_map(|labels| &labels.class_names) {
        let mut cell = csv::WriterBuilder::new().delimiter(separator).from_writer(Vec::new());
        let written = cell.write_record([name.as_str()]).and_then(|()| Ok(cell.flush()?));
        written.map_err(|error| DataError::output(error.into()))?;
        quoted.push(cell.into_inner().unwrap_or_default());
    }
    fill(out, table, separator, &quoted).map_err(DataError::output)
}

/// `quoted` holds every class name as a cell and the end of its line.
fn fill(
    out: &mut dyn Write,
    table: &Table,
    separator: u8,
    quoted: &[Vec<u8>],
) -> std::io::Result<()> {
    let mut line = Vec::new();
    for t in 0..table.n_features() {
        write!(line, "f{t}")?;
        line.push(separator);
    }
    end_line(&mut line, table.labels.is_some().then_some(b"label\n"));
    out.write_all(&line)?;
    for i in 0..table.n_samples() {
        line.clear();
        for value in table.samples.col_as_slice(i) {
            write_number(&mut line, *value)?;
            line.push(separator);
        }
        let class = table.labels.as_ref().and_then(|labels| labels.indices.get(i));
        end_line(&mut line, class.and_then(|class| quoted.get(*class as usize)));
        out.write_all(&line)?;
    }
    Ok(())
}

/// Ends a line whose cells are each followed by a separator with a last cell, or without one.
fn end_line(line: &mut Vec<u8>, last: Option<impl AsRef<[u8]>>) {
    match last {
        Some(last) => line.extend_from_slice(last.as_ref()),
        None => {
            line.pop();
            line.push(b'\n');
        }
    }
}

#[cfg(test)]
mod tests;
