//! NumPy's `.npy`: the magic `\x93NUMPY`, a version, a header that is a Python dictionary with
//! the keys `descr`, `fortran_order` and `shape`, then the values.
//!
//! The first axis counts samples, the others, flattened in C order, are their features; with
//! [`Layout::Columns`] the last axis counts samples. A 1-D array is one feature. Whole numbers
//! beyond 2⁵³ are rounded to `f64`, as NumPy's own conversion does. Three axes are a stack of
//! images. One array has no place for labels: they are a column of it, or a second file, if
//! [`ReadOptions::label`] says so.

use crate::dataset::MAX_ENTRIES;
use crate::error::DataError;
use crate::label_column::column_number;
use crate::mapped;
use crate::options::{Layout, ReadOptions};
use crate::table::{Labels, Table};
use faer::Mat;
use header::Header;
use std::io::Write;
use std::path::Path;

pub(crate) mod header;
mod item;
pub(crate) mod rows;

const FETCH_AGAIN: &str = "the file may be truncated or damaged: fetch it again";

/// The type of an array's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Int,
    Uint,
    Float,
    /// UCS-4 characters.
    Text,
    /// ASCII characters.
    Ascii,
}

/// An array in memory.
pub(crate) struct Array<'a> {
    header: Header,
    data: &'a [u8],
}

impl<'a> Array<'a> {
    /// Takes `bytes` for a whole file; `file` is what messages call it.
    pub(crate) fn parse(bytes: &'a [u8], file: &Path) -> Result<Self, DataError> {
        let (header, data) =
            header::parse(bytes).map_err(|(problem, fix)| DataError::format(file, problem, fix))?;
        let expected = header.n_values.checked_mul(header.item_bytes);
        if expected != Some(data.len()) {
            let problem = format!(
                "the header claims shape {:?} of {} bytes each, but {} bytes follow",
                header.shape,
                header.item_bytes,
                data.len()
            );
            return Err(DataError::format(file, problem, FETCH_AGAIN));
        }
        Ok(Self { header, data })
    }

    pub(crate) fn is_text(&self) -> bool {
        self.header.is_text()
    }

    /// The bytes of value number `place`, counted as they lie in the file.
    fn item(&self, place: usize) -> &'a [u8] {
        let size = self.header.item_bytes;
        self.data.get(place * size..(place + 1) * size).unwrap_or_default()
    }

    fn integer(&self, place: usize) -> i128 {
        self.header.integer(self.item(place))
    }

    fn number(&self, place: usize) -> f64 {
        self.header.number(self.item(place))
    }

    fn text(&self, place: usize) -> String {
        self.header.text(self.item(place))
    }

    /// The samples as columns.
    pub(crate) fn samples(&self, layout: Layout, file: &Path) -> Result<Mat<f64>, DataError> {
        let format = |problem: String, fix| DataError::format(file, problem, fix);
        if self.is_text() {
            return Err(format("the samples are texts".into(), "give an array of numbers"));
        }
        let (shape, n_values) = (&self.header.shape, self.header.n_values);
        if n_values > MAX_ENTRIES {
            let problem = format!("shape {shape:?} is more than {MAX_ENTRIES} values");
            return Err(format(problem, "split the file"));
        }
        if shape.is_empty() || n_values == 0 {
            return Err(format(format!("shape {shape:?} holds no sample"), "give a 2-D array"));
        }
        let axis = self.header.sample_axis(layout);
        let strides = self.header.strides();
        let mut offsets = vec![0];
        for other in (0..shape.len()).filter(|other| *other != axis) {
            let steps = |start: usize| (0..shape[other]).map(move |t| (start, t));
            offsets = offsets
                .into_iter()
                .flat_map(steps)
                .map(|(start, t)| start + t * strides[other])
                .collect();
        }
        let mut samples = Mat::zeros(offsets.len(), shape[axis]);
        for i in 0..shape[axis] {
            let column = samples.col_as_slice_mut(i);
            for (slot, offset) in column.iter_mut().zip(&offsets) {
                *slot = self.number(i * strides[axis] + offset);
            }
        }
        Ok(samples)
    }

    /// Rows and columns of the images in a stack.
    pub(crate) fn image_shape(&self, layout: Layout) -> Option<(usize, usize)> {
        self.header.image_shape(layout)
    }

    /// The labels of a 1-D array, or of one that is a single row or column.
    pub(crate) fn labels(&self, file: &Path) -> Result<Labels, DataError> {
        let shape = &self.header.shape;
        if shape.iter().filter(|length| **length != 1).count() > 1 {
            let problem = format!("labels of shape {shape:?}");
            return Err(DataError::format(file, problem, "give one label per sample"));
        }
        let places = 0..self.header.n_values;
        if self.is_text() {
            return Ok(Labels::from_texts(&places.map(|i| self.text(i)).collect::<Vec<_>>()));
        }
        if matches!(self.header.kind, Kind::Int | Kind::Uint) {
            let integers: Vec<i128> = places.map(|i| self.integer(i)).collect();
            return Ok(Labels::from_integers(&integers));
        }
        Labels::from_numbers(&places.map(|i| self.number(i)).collect::<Vec<_>>())
            .map_err(|error| error.in_file(file))
    }
}

/// The number of axes a header tells, from the first bytes of a file.
pub(crate) fn n_axes(start: &[u8]) -> Option<usize> {
    header::parse(start).ok().map(|(header, _)| header.shape.len())
}

/// Reads samples; labels are a column of them if the options give its number.
pub(crate) fn read(file: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    let bytes = mapped::bytes(file)?;
    let array = Array::parse(&bytes, file)?;
    let samples = array.samples(options.layout, file)?;
    let Some(label) = options.label.as_deref().filter(|_| !options.unlabelled) else {
        let table = Table::from_file(file, samples, None)?;
        return Ok(table.with_image_shape(array.image_shape(options.layout)));
    };
    let column = column_number(label, samples.nrows());
    let (samples, numbers) = column
        .and_then(|column| split_feature(&samples, column))
        .ok_or_else(|| no_column(file, label, samples.nrows()))?;
    let labels = Labels::from_numbers(&numbers).map_err(|error| error.in_file(file))?;
    Table::from_file(file, samples, Some(labels))
}

/// The labels in a file of their own.
pub(crate) fn read_labels(file: &Path) -> Result<Labels, DataError> {
    Array::parse(&mapped::bytes(file)?, file)?.labels(file)
}

fn no_column(file: &Path, column: &str, n_columns: usize) -> DataError {
    let problem = format!("label column {column} of an array with {n_columns} columns");
    DataError::format(file, problem, "count columns from 0, and leave one for a feature")
}

/// Takes one feature out of the samples.
fn split_feature(samples: &Mat<f64>, feature: usize) -> Option<(Mat<f64>, Vec<f64>)> {
    let (p, n) = (samples.nrows(), samples.ncols());
    if feature >= p || p < 2 {
        return None;
    }
    let rest = Mat::from_fn(p - 1, n, |t, i| samples[(t + usize::from(t >= feature), i)]);
    Some((rest, (0..n).map(|i| samples[(feature, i)]).collect()))
}

pub(crate) fn write(out: &mut dyn Write, table: &Table) -> Result<(), DataError> {
    if table.labels.is_some() {
        return Err(DataError::parameter(
            "format",
            "npy, which holds one array and no labels",
            "npz, or the table unlabelled",
        ));
    }
    write_samples(out, table).map_err(DataError::output)
}

/// The samples as an (N, p) array of `float64`: in C order, its bytes are ours.
pub(crate) fn write_samples(out: &mut dyn Write, table: &Table) -> std::io::Result<()> {
    let shape = [table.n_samples(), table.n_features()];
    out.write_all(&header::bytes("<f8", &shape))?;
    let mut buffer = Vec::with_capacity(8 * table.n_features());
    for i in 0..table.n_samples() {
        buffer.clear();
        buffer.extend(table.samples.col_as_slice(i).iter().flat_map(|v| v.to_le_bytes()));
        out.write_all(&buffer)?;
    }
    Ok(())
}

/// Labels as `int64` if they are whole numbers, otherwise as texts of equal width.
pub(crate) fn write_labels(out: &mut dyn Write, labels: &Labels) -> std::io::Result<()> {
    let shape = [labels.indices.len()];
    let classes: (String, Vec<Vec<u8>>) = match labels.integers() {
        Some(integers) => {
            ("<i8".into(), integers.iter().map(|value| value.to_le_bytes().to_vec()).collect())
        }
        None => {
            let lengths = labels.class_names.iter().map(|name| name.chars().count());
            let width = lengths.max().unwrap_or(0).max(1);
            let fill = |name: &String| {
                let mut bytes: Vec<u8> =
                    name.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
                bytes.resize(4 * width, 0);
                bytes
            };
            (format!("<U{width}"), labels.class_names.iter().map(fill).collect())
        }
    };
    out.write_all(&header::bytes(&classes.0, &shape))?;
    for index in &labels.indices {
        out.write_all(classes.1.get(*index as usize).map_or(&[][..], Vec::as_slice))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
