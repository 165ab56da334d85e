//! Files of named arrays (MATLAB, HDF5): which array holds the samples, which the labels, and
//! whether a sample is a row or a column.
//!
//! Arrays are spoken of as MATLAB does, the first axis running fastest. Names given by the caller
//! decide; then names in common use; then shapes, if only one array has the right one. What remains
//! in doubt is an error that lists the arrays.

use crate::error::DataError;
use crate::options::{Layout, ReadOptions};
use crate::table::{Labels, Table};
use faer::{Mat, MatRef};
use std::fmt;
use std::path::Path;

/// What an array is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Real numbers or truth values.
    Numbers,
    /// Complex numbers.
    Complex,
    /// Characters, one text per row; or one text per element.
    Text,
    /// Cells, which may hold texts.
    Cells,
    /// What cannot be used; the words follow "is".
    Other(&'static str),
}

/// An array of a file, not read yet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) class: Class,
}

/// An array's values, first axis fastest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    /// Numbers that `f64` holds exactly, or are rounded to it.
    Real(Vec<f64>),
    /// 64-bit integers.
    Integers(Vec<i64>),
    /// 64-bit integers without sign.
    Unsigned(Vec<u64>),
    /// Texts.
    Text(Vec<String>),
}

/// A file of named arrays.
pub(crate) trait Source {
    /// The arrays, in the file's order.
    fn variables(&self) -> &[Variable];
    /// The values of one of them.
    fn load(&self, index: usize) -> Result<Content, DataError>;
    /// Whether the file's own users see the axes in the other order, last axis fastest.
    fn last_axis_first(&self) -> bool {
        false
    }
}

/// Samples and labels that are known to belong together, by common usage and from the files of the
/// face sets; the first that is there counts.
const PAIRS: [(&str, &str); 12] = [
    ("X", "y"),
    ("data", "labels"),
    ("samples", "labels"),
    ("fea", "gnd"),
    ("features", "labels"),
    ("training_feats", "H_train"),
    ("testing_feats", "H_test"),
    ("featureMat", "labelMat"),
    ("EYALEB_DATA", "EYALEB_LABEL"),
    ("tr_dat", "trls"),
    ("tt_dat", "ttls"),
    ("X_train", "y_train"),
];

/// Names of labels beside samples of any name.
const LABEL_NAMES: [&str; 11] = [
    "y", "labels", "gnd", "label", "Y", "target", "targets", "classes", "class", "labelMat", "trls",
];

const NAME_SAMPLES: &str = "name the variable of the samples";
const NAME_LABELS: &str = "name the variable of the labels, or read none";

/// Reads samples and labels as `options` ask.
pub(crate) fn read(
    source: &dyn Source,
    options: &ReadOptions,
    file: &Path,
) -> Result<Table, DataError> {
    let chooser = Chooser { source, file };
    let mut options = options.clone();
    if source.last_axis_first() {
        options.layout = match options.layout {
            Layout::Auto => Layout::Auto,
            Layout::Rows => Layout::Columns,
            Layout::Columns => Layout::Rows,
        };
    }
    let options = &options;
    let samples = chooser.samples(options)?;
    let (n_rows, n_columns) = chooser.matrix(samples)?;
    let labels = if options.unlabelled {
        None
    } else {
        chooser.labels(options, samples, (n_rows, n_columns))?
    };
    let (layout, labels) = chooser.fit(options, samples, (n_rows, n_columns), labels)?;
    let values = match source.load(samples)? {
        Content::Real(values) => values,
        Content::Integers(values) => values.iter().map(|value| *value as f64).collect(),
        Content::Unsigned(values) => values.iter().map(|value| *value as f64).collect(),
        Content::Text(_) => return Err(chooser.fault("the samples are text", NAME_SAMPLES)),
    };
    if values.len() != n_rows * n_columns {
        let problem = format!("{} values for {n_rows} x {n_columns}", values.len());
        return Err(chooser.fault(problem, "the file may be damaged: fetch it again"));
    }
    let matrix = MatRef::from_column_major_slice(&values, n_rows, n_columns);
    let samples: Mat<f64> = match layout {
        Layout::Rows => matrix.transpose().to_owned(),
        Layout::Columns | Layout::Auto => matrix.to_owned(),
    };
    Table::from_file(file, samples, labels)
}

struct Chooser<'a> {
    source: &'a dyn Source,
    file: &'a Path,
}

impl Chooser<'_> {
    fn fault(&self, problem: impl fmt::Display, fix: &'static str) -> DataError {
        let found: Vec<String> = self.source.variables().iter().map(|v| self.show(v)).collect();
        let found = if found.is_empty() { "no variable".into() } else { found.join(", ") };
        DataError::format(self.file, format!("{problem}; found {found}"), fix)
    }

    /// `X (504 x 1216)`, the shape as the file's users write it.
    fn show(&self, variable: &Variable) -> String {
        let mut lengths: Vec<String> = variable.shape.iter().map(ToString::to_string).collect();
        if self.source.last_axis_first() {
            lengths.reverse();
        }
        let kind = match variable.class {
            Class::Numbers => "",
            Class::Complex => " complex",
            Class::Text => " text",
            Class::Cells => " cells",
            Class::Other(_) => return format!("{} ({})", variable.name, variable.class),
        };
        format!("{} ({}{kind})", variable.name, lengths.join(" x "))
    }

    fn variable(&self, index: usize) -> &Variable {
        &self.source.variables()[index]
    }

    fn named(&self, name: &str) -> Option<usize> {
        self.source.variables().iter().position(|variable| variable.name == name)
    }

    /// The variable of the samples.
    fn samples(&self, options: &ReadOptions) -> Result<usize, DataError> {
        if let Some(name) = &options.samples {
            let missing = || self.fault(format!("no variable {name}"), NAME_SAMPLES);
            return self.named(name).ok_or_else(missing);
        }
        let label = options.label.as_deref();
        let fits = |index: &usize| {
            let variable = self.variable(*index);
            let size = variable.size();
            let name = variable.name.as_str();
            // what is called labels is not samples, even if it is all there is
            let labels = LABEL_NAMES.contains(&name) || PAIRS.iter().any(|pair| pair.1 == name);
            variable.is_matrix() && size > 0 && !labels && Some(name) != label
        };
        let known = PAIRS.iter().filter_map(|(samples, _)| self.named(samples)).find(fits);
        if let Some(index) = known {
            return Ok(index);
        }
        let size = |index: &usize| self.variable(*index).size();
        let fitting: Vec<usize> = (0..self.source.variables().len()).filter(fits).collect();
        let largest = fitting.iter().map(size).max().unwrap_or(0);
        match *fitting.iter().copied().filter(|i| size(i) == largest).collect::<Vec<_>>() {
            [index] => Ok(index),
            [] => Err(self.fault("no matrix of numbers", NAME_SAMPLES)),
            _ => Err(self.fault("several matrices could hold the samples", NAME_SAMPLES)),
        }
    }

    /// Rows and columns of the samples.
    fn matrix(&self, samples: usize) -> Result<(usize, usize), DataError> {
        let variable = self.variable(samples);
        match (variable.class, variable.shape.as_slice()) {
            (Class::Numbers, &[n_rows, n_columns]) => Ok((n_rows, n_columns)),
            (Class::Numbers, _) => {
                let problem = format!("samples {} are not a matrix", self.show(variable));
                Err(self.fault(problem, "give them two axes: features and samples"))
            }
            (class, _) => {
                let problem = format!("variable {} is {class}", variable.name);
                Err(self.fault(problem, NAME_SAMPLES))
            }
        }
    }

    /// The variable of the labels, if there is one.
    fn labels(
        &self,
        options: &ReadOptions,
        samples: usize,
        size: (usize, usize),
    ) -> Result<Option<usize>, DataError> {
        if let Some(name) = &options.label {
            let missing = || self.fault(format!("no variable {name}"), NAME_LABELS);
            let index = self.named(name).ok_or_else(missing)?;
            if index == samples {
                return Err(self.fault(format!("{name} holds the samples already"), NAME_LABELS));
            }
            return Ok(Some(index));
        }
        let counts: &[usize] = match options.layout {
            Layout::Auto => &[size.0, size.1],
            Layout::Rows => &[size.0],
            Layout::Columns => &[size.1],
        };
        let fits =
            |index: &usize| *index != samples && self.variable(*index).may_label(counts, Use::Any);
        let partners = PAIRS.iter().filter(|pair| pair.0 == self.variable(samples).name);
        let partner = partners.filter_map(|pair| self.named(pair.1)).find(fits);
        let usual = || LABEL_NAMES.iter().filter_map(|name| self.named(name)).find(fits);
        if let Some(index) = partner.or_else(usual) {
            return Ok(Some(index));
        }
        // numbers first: texts of the right number are often file names
        for way in [Use::Vector, Use::Matrix, Use::Text] {
            let mut found = None;
            for (index, variable) in self.source.variables().iter().enumerate() {
                let labels = index != samples
                    && variable.size() > 1
                    && variable.may_label(counts, way)
                    && self.looks_like_labels(index, counts, way)?;
                if labels && found.replace(index).is_some() {
                    return Err(self.fault("several variables could be the labels", NAME_LABELS));
                }
            }
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Whether a variable that no name commends holds what labels do: whole numbers or one-hot rows.
    fn looks_like_labels(
        &self,
        index: usize,
        counts: &[usize],
        way: Use,
    ) -> Result<bool, DataError> {
        Ok(match way {
            Use::Matrix => self.one_hot(index, counts)?.is_some(),
            Use::Vector => match self.source.load(index)? {
                Content::Real(values) => values.iter().all(|value| value.fract() == 0.0),
                _ => true,
            },
            Use::Text | Use::Any => true,
        })
    }

    /// The layout and the labels, which must have as many entries as there are samples.
    fn fit(
        &self,
        options: &ReadOptions,
        samples: usize,
        (n_rows, n_columns): (usize, usize),
        labels: Option<usize>,
    ) -> Result<(Layout, Option<Labels>), DataError> {
        // where both axes would do: the axis that a file's users count samples along
        let usual = match options.layout {
            Layout::Auto => Layout::Columns,
            given => given,
        };
        let Some(index) = labels else { return Ok((usual, None)) };
        let variable = self.variable(index);
        let counts = match options.layout {
            Layout::Auto => vec![n_columns, n_rows],
            Layout::Columns => vec![n_columns],
            Layout::Rows => vec![n_rows],
        };
        let labels = if variable.is_matrix() && !variable.is_vector() {
            self.one_hot(index, &counts)?.ok_or_else(|| {
                let problem = format!(
                    "labels {} are neither a vector nor one-hot for samples {}",
                    self.show(variable),
                    self.show(self.variable(samples)),
                );
                self.fault(problem, NAME_LABELS)
            })?
        } else {
            match self.source.load(index)? {
                Content::Real(values) => {
                    Labels::from_numbers(&values).map_err(|error| error.in_file(self.file))?
                }
                Content::Integers(values) => Labels::from_integers(&values),
                Content::Unsigned(values) => Labels::from_integers(&values),
                Content::Text(texts) => Labels::from_texts(&texts),
            }
        };
        let n = labels.indices.len();
        if !counts.contains(&n) {
            let problem = format!(
                "{n} labels {} do not fit samples {}",
                self.show(variable),
                self.show(self.variable(samples)),
            );
            return Err(self.fault(problem, NAME_LABELS));
        }
        let layout = match options.layout {
            Layout::Auto if n == n_columns => Layout::Columns,
            Layout::Auto => Layout::Rows,
            given => given,
        };
        Ok((layout, Some(labels)))
    }

    /// Classes of a matrix with one row or one column per class, counted from 1: the axis whose
    /// length is among `counts` (the first that is) runs over samples.
    fn one_hot(&self, index: usize, counts: &[usize]) -> Result<Option<Labels>, DataError> {
        let &[n_rows, n_columns] = self.variable(index).shape.as_slice() else { return Ok(None) };
        let values = match self.source.load(index)? {
            Content::Real(values) if values.len() == n_rows * n_columns => values,
            _ => return Ok(None),
        };
        let hot = |values: &mut dyn Iterator<Item = f64>| {
            let mut class = None;
            for (l, value) in values.enumerate() {
                match (value, class) {
                    (0.0, _) => {}
                    (1.0, None) => class = Some((l + 1) as f64),
                    _ => return None,
                }
            }
            class
        };
        let by_column = || -> Option<Vec<f64>> {
            let columns = values.chunks_exact(n_rows.max(1));
            columns.map(|column| hot(&mut column.iter().copied())).collect()
        };
        let by_row = || -> Option<Vec<f64>> {
            let row = |t| hot(&mut values.iter().copied().skip(t).step_by(n_rows));
            (0..n_rows).map(row).collect()
        };
        let classes = counts.iter().find_map(|&n| {
            let columns = if n == n_columns { by_column() } else { None };
            columns.or_else(|| if n == n_rows { by_row() } else { None })
        });
        classes.map(|classes| Labels::from_numbers(&classes)).transpose()
    }
}

/// How a variable would serve as labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Vector,
    Matrix,
    Text,
    Any,
}

impl Variable {
    /// How many values it holds; 0 if that cannot be counted.
    fn size(&self) -> usize {
        let size = self.shape.iter().try_fold(1usize, |size, length| size.checked_mul(*length));
        size.unwrap_or(0)
    }

    fn is_matrix(&self) -> bool {
        self.class == Class::Numbers && self.shape.len() == 2
    }

    fn is_vector(&self) -> bool {
        self.shape.iter().filter(|length| **length != 1).count() <= 1
    }

    /// Whether its shape is that of labels of as many samples as one of `counts` says.
    fn may_label(&self, counts: &[usize], way: Use) -> bool {
        let along = |axis: usize| self.shape.get(axis).is_some_and(|n| counts.contains(n));
        let vector = self.is_vector() && counts.contains(&self.size());
        match (self.class, way) {
            (Class::Numbers, Use::Vector) => vector,
            (Class::Numbers, Use::Matrix) => self.is_matrix() && !vector && (along(0) || along(1)),
            (Class::Numbers, Use::Any) => vector || (self.is_matrix() && (along(0) || along(1))),
            (Class::Cells, Use::Text | Use::Any) => vector,
            // one text per row, or one per element where that is what the file holds
            (Class::Text, Use::Text | Use::Any) => along(0),
            _ => false,
        }
    }
}

/// The rows of a matrix of characters, first axis fastest; `None` if the letters do not fill them.
/// Rows of several lose the blanks that made them equally long; a single one is taken as it is,
/// since writers disagree on what its length counts.
pub(crate) fn lines(letters: &[char], n_rows: usize) -> Option<Vec<String>> {
    match n_rows {
        0 => Some(Vec::new()),
        1 => Some(vec![letters.iter().collect()]),
        // rows without letters are not counted out: a shape may claim billions of them
        _ if !letters.is_empty() && letters.len().is_multiple_of(n_rows) => {
            let line = |row| letters.iter().skip(row).step_by(n_rows).collect::<String>();
            let trimmed = |row| line(row).trim_end_matches([' ', '\0']).to_string();
            Some((0..n_rows).map(trimmed).collect())
        }
        _ => None,
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Numbers => "of real numbers",
            Self::Complex => "of complex numbers",
            Self::Text => "text",
            Self::Cells => "of cells",
            Self::Other(what) => what,
        })
    }
}
