//! What every file format holds: samples in `f64`, and the names of their classes if it has them.
//!
//! A [`Table`] is what readers give and writers take; a [`Dataset`] is a table whose labels are
//! known to be there. A class is a name. Names that are whole numbers are written "3", whatever
//! the file's type or spelling ("3.0", "+3", an `int8`), so labels survive any chain of formats.

use crate::dataset::{Dataset, convert};
use crate::error::DataError;
use crate::format::Compression;
use crate::labels::{LabelError, index_labels, number};
use faer::Mat;
use lkdl::Real;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::Path;

/// The class of every sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    /// For every sample, an index into `class_names`.
    pub indices: Vec<u32>,
    /// The classes: numbers ascending, or texts in the order of their bytes.
    pub class_names: Vec<String>,
}

impl Labels {
    /// Labels that a file holds as numbers. Equal numbers are one class; classes ascend.
    pub fn from_numbers(values: &[f64]) -> Result<Self, DataError> {
        if let Some(i) = values.iter().position(|value| !value.is_finite()) {
            let value = format!("{} at sample {i}", values[i]);
            return Err(DataError::parameter("label", value, "finite"));
        }
        match index_labels(values, None) {
            Ok(indexed) => Ok(Self { indices: indexed.labels, class_names: indexed.class_names }),
            Err(LabelError::Names(error)) => Err(error),
            Err(LabelError::Unknown { i }) => {
                Err(DataError::parameter("label", values[i], "among the class names"))
            }
        }
    }

    /// Labels that a file holds as whole numbers, all told apart: 64 bits are more than `f64`
    /// holds.
    pub(crate) fn from_integers<I: ToString>(values: &[I]) -> Self {
        Self::from_texts(&values.iter().map(I::to_string).collect::<Vec<_>>())
    }

    /// Labels that a file holds as text. If every one is a number, they are as
    /// [`from_numbers`](Self::from_numbers) has them; "007" is not a number, its zeros say so.
    pub fn from_texts<S: AsRef<str>>(texts: &[S]) -> Self {
        let numbers: Option<Vec<f64>> = texts.iter().map(|text| number(text.as_ref())).collect();
        if let Some(labels) = numbers.and_then(|numbers| Self::from_numbers(&numbers).ok()) {
            return labels;
        }
        let mut names: Vec<&str> = texts.iter().map(S::as_ref).collect();
        names.sort_unstable();
        names.dedup();
        let place = |text: &S| names.partition_point(|name| *name < text.as_ref()) as u32;
        let indices = texts.iter().map(place).collect();
        Self { indices, class_names: names.into_iter().map(String::from).collect() }
    }

    /// Whether every class name is a whole number in its usual spelling.
    pub fn are_integers(&self) -> bool {
        self.integers().is_some()
    }

    /// The class names as whole numbers, if all are.
    pub fn integers(&self) -> Option<Vec<i64>> {
        let integer = |name: &String| name.parse().ok().filter(|v: &i64| v.to_string() == *name);
        self.class_names.iter().map(integer).collect()
    }

    /// The name of every sample's class.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        let name = |index: &u32| self.class_names.get(*index as usize).map_or("", String::as_str);
        self.indices.iter().map(name)
    }
}

/// Samples, their classes if known, and a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What the table is called in results.
    pub name: String,
    /// One sample per column.
    pub samples: Mat<f64>,
    /// The classes, if the source has them.
    pub labels: Option<Labels>,
    /// What the source calls its features, one distinct name each, if it does (CSV, Parquet).
    pub feature_names: Option<Vec<String>>,
    /// Rows and columns of the images that the samples are, pixels row by row, if the source says
    /// so (folders of images, IDX and NumPy arrays of three axes, named sets).
    pub image_shape: Option<(usize, usize)>,
    /// Whether the source leaves features out where they are zero (LIBSVM), so that more may
    /// follow the last that it mentions.
    pub may_be_padded: bool,
    /// The number from which the source counts features, if it numbers them (LIBSVM: 0 or 1).
    pub index_base: Option<u32>,
}

impl Table {
    /// Checks that the parts fit together: at least one sample and feature, finite values, one
    /// known class per sample.
    pub fn new(
        name: impl Into<String>,
        samples: Mat<f64>,
        labels: Option<Labels>,
    ) -> Result<Self, DataError> {
        check_samples(&samples)?;
        if let Some(labels) = &labels {
            check_labels(&labels.indices, &labels.class_names, samples.ncols())?;
        }
        Ok(Self {
            name: name.into(),
            samples,
            labels,
            feature_names: None,
            image_shape: None,
            may_be_padded: false,
            index_base: None,
        })
    }

    /// The same with the source's names of its features, which are distinct.
    pub(crate) fn with_feature_names(self, names: Option<Vec<String>>) -> Self {
        let p = self.n_features();
        Self { feature_names: names.filter(|names| names.len() == p), ..self }
    }

    /// The same with the size of its images, if they have one that fits.
    pub(crate) fn with_image_shape(self, shape: Option<(usize, usize)>) -> Self {
        let p = self.n_features();
        let image_shape = shape.filter(|(rows, columns)| rows.checked_mul(*columns) == Some(p));
        Self { image_shape, ..self }
    }

    /// A table read from `file`, whose name without endings it takes; errors name the file.
    pub(crate) fn from_file(
        file: &Path,
        samples: Mat<f64>,
        labels: Option<Labels>,
    ) -> Result<Self, DataError> {
        Self::new(set_name(file), samples, labels).map_err(|error| error.in_file(file))
    }

    /// Number of samples, N.
    pub fn n_samples(&self) -> usize {
        self.samples.ncols()
    }

    /// Number of features, p.
    pub fn n_features(&self) -> usize {
        self.samples.nrows()
    }

    /// The samples in the precision a model works in.
    pub fn convert<T: Real>(&self) -> Mat<T> {
        convert(&self.samples)
    }

    /// The labelled set; a table without labels is an error that says how to name them.
    pub fn into_dataset(self) -> Result<Dataset, DataError> {
        let Some(labels) = self.labels else {
            return Err(DataError::Unlabelled { name: self.name });
        };
        let set = Dataset::new(self.name, self.samples, labels.indices, labels.class_names)?;
        Ok(Dataset { feature_names: self.feature_names, image_shape: self.image_shape, ..set })
    }

    /// SHA-256, in hexadecimal, of what the table holds and not of how a file writes it: N and p,
    /// every value's `f64` bits, the class name of every sample. What the table and its features
    /// are called does not count.
    pub fn checksum(&self) -> String {
        let mut hash = Sha256::new();
        hash.update((self.n_samples() as u64).to_le_bytes());
        hash.update((self.n_features() as u64).to_le_bytes());
        let mut bytes = Vec::with_capacity(8 * self.n_features());
        for i in 0..self.n_samples() {
            bytes.clear();
            bytes.extend(self.samples.col_as_slice(i).iter().flat_map(|v| v.to_le_bytes()));
            hash.update(&bytes);
        }
        for name in self.labels.iter().flat_map(Labels::names) {
            // the length first: "a", "bc" is not "ab", "c"
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl From<Dataset> for Table {
    fn from(set: Dataset) -> Self {
        let labels = Labels { indices: set.labels, class_names: set.class_names };
        Self {
            name: set.name,
            samples: set.samples,
            labels: Some(labels),
            feature_names: set.feature_names,
            image_shape: set.image_shape,
            may_be_padded: false,
            index_base: None,
        }
    }
}

/// A file's name without the endings of compression and format: what its table is called.
pub(crate) fn set_name(file: &Path) -> String {
    let mut stem = file.file_name().map(Path::new).unwrap_or(file);
    if Compression::from_name(stem).is_some() {
        stem = stem.file_stem().map_or(stem, Path::new);
    }
    stem.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// An error unless every class name of the table `survives` a format, which needs `requirement`.
pub(crate) fn check_writable(
    table: &Table,
    survives: impl Fn(&str) -> bool,
    requirement: &str,
) -> Result<(), DataError> {
    let mut names = table.labels.iter().flat_map(|labels| &labels.class_names);
    match names.find(|name| !survives(name)) {
        Some(name) => {
            let requirement = format!("{requirement} to be written in this format");
            Err(DataError::parameter("label", format!("{name:?}"), requirement))
        }
        None => Ok(()),
    }
}

/// Writes a number in the fewest digits that are read back to the same bits.
pub(crate) fn write_number(out: &mut Vec<u8>, value: f64) -> std::io::Result<()> {
    /// Whole numbers below this are written without point or exponent.
    const PLAIN: f64 = 1e15;
    if value.fract() == 0.0 && value.abs() < PLAIN {
        write!(out, "{value}")
    } else {
        write!(out, "{value:?}")
    }
}

/// At least one sample and one feature, all values finite.
pub(crate) fn check_samples(samples: &Mat<f64>) -> Result<(), DataError> {
    let (p, n) = (samples.nrows(), samples.ncols());
    if p == 0 || n == 0 {
        let size = format!("{p} x {n}");
        return Err(DataError::parameter("samples", size, "at least one row and one column"));
    }
    for i in 0..n {
        if let Some(t) = samples.col_as_slice(i).iter().position(|v| !v.is_finite()) {
            let value = format!("{} at feature {t} of sample {i}", samples[(t, i)]);
            return Err(DataError::parameter("samples", value, "finite"));
        }
    }
    Ok(())
}

/// One label per sample, each with a name.
pub(crate) fn check_labels(indices: &[u32], names: &[String], n: usize) -> Result<(), DataError> {
    if indices.len() != n {
        let requirement = format!("one per sample, {n}");
        return Err(DataError::parameter("number of labels", indices.len(), requirement));
    }
    if let Some(label) = indices.iter().find(|label| **label as usize >= names.len()) {
        let requirement = format!("below the number of class names, {}", names.len());
        return Err(DataError::parameter("label", label, requirement));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Table {
        let samples = Mat::from_fn(2, 3, |t, i| (10 * t + i) as f64 + 0.1);
        Table::new("example", samples, Some(Labels::from_texts(&["b", "a", "b"]))).unwrap()
    }

    #[test]
    fn numbers_are_one_class_however_they_are_spelt() {
        let labels = Labels::from_texts(&["10", "3.0", "+3", "-1", "3", "1e1"]);
        assert_eq!(labels.class_names, ["-1", "3", "10"]);
        assert_eq!(labels.indices, [2, 1, 1, 0, 1, 2]);
        assert!(labels.are_integers());
        assert_eq!(labels, Labels::from_numbers(&[10.0, 3.0, 3.0, -1.0, 3.0, 10.0]).unwrap());
        assert_eq!(Labels::from_texts(&["10", "9.5"]).class_names, ["9.5", "10"]);
        assert!(!Labels::from_texts(&["10", "9.5"]).are_integers());
        assert!(Labels::from_numbers(&[1.0, f64::NAN]).is_err());
    }

    #[test]
    fn texts_keep_their_spelling_and_sort_by_bytes() {
        for (texts, names) in [
            (["cat", "Dog", "cat"], ["Dog", "cat"]),
            (["007", "10", "10"], ["007", "10"]),
            (["nan", "1", "1"], ["1", "nan"]),
            // f64 cannot tell these apart
            (
                ["9007199254740993", "9007199254740992", "9007199254740992"],
                ["9007199254740992", "9007199254740993"],
            ),
        ] {
            let labels = Labels::from_texts(&texts);
            assert_eq!(labels.class_names, names);
            assert_eq!(labels.names().collect::<Vec<_>>(), texts);
        }
    }

    #[test]
    fn a_table_and_a_set_hold_the_same() {
        let set = example().into_dataset().unwrap();
        assert_eq!((set.labels.as_slice(), set.n_classes()), (&[1, 0, 1][..], 2));
        assert_eq!(Table::from(set), example());
        let named = example().with_feature_names(Some(vec!["u".into(), "v".into()]));
        let named = named.with_image_shape(Some((1, 2)));
        assert_eq!(Table::from(named.clone().into_dataset().unwrap()), named);
        let bare = Table { labels: None, ..example() };
        assert!(bare.into_dataset().unwrap_err().to_string().contains("label column"));
    }

    #[test]
    fn the_checksum_is_that_of_the_content() {
        let checksum = example().checksum();
        assert_eq!(checksum.len(), 64);
        let renamed = Table { name: "other".into(), ..example() };
        assert_eq!(renamed.checksum(), checksum);
        let named = example().with_feature_names(Some(vec!["u".into(), "v".into()]));
        assert_eq!(named.checksum(), checksum);
        let mut moved = example();
        moved.samples[(0, 0)] = -moved.samples[(0, 0)];
        assert_ne!(moved.checksum(), checksum);
        // an unused class changes nothing, another class does
        let mut wider = example();
        wider.labels.as_mut().unwrap().class_names.push("c".into());
        assert_eq!(wider.checksum(), checksum);
        wider.labels.as_mut().unwrap().indices[0] = 2;
        assert_ne!(wider.checksum(), checksum);
        assert_ne!(Table { labels: None, ..example() }.checksum(), checksum);
    }

    #[test]
    fn parts_that_do_not_fit_are_errors() {
        let labels = |indices| Some(Labels { indices, class_names: vec!["a".into()] });
        assert!(Table::new("x", Mat::zeros(2, 2), labels(vec![0])).is_err());
        assert!(Table::new("x", Mat::zeros(2, 2), labels(vec![0, 1])).is_err());
        assert!(Table::new("x", Mat::zeros(0, 2), None).is_err());
        let error =
            Table::new("x", Mat::from_fn(2, 2, |t, i| [[0.0, 1.0], [2.0, f64::NAN]][t][i]), None);
        assert!(error.unwrap_err().to_string().contains("NaN at feature 1 of sample 1"));
    }
}
