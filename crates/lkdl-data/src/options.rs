//! What a file cannot say about itself: which column holds the labels, which array the samples.

use crate::format::Format;
use std::path::Path;

/// Whether an array holds one sample per row or one per column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Layout {
    /// As the format usually has it: rows in `.npy`, `.npz` and HDF5; in MATLAB files as the
    /// labels' number tells, and columns where it does not.
    #[default]
    Auto,
    /// One sample per row.
    Rows,
    /// One sample per column.
    Columns,
}

/// Whether the first line of a table in text names the columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Header {
    /// As the first two lines tell.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It is a sample.
    No,
}

/// How to read a file. The default finds out what it can.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; without it, the file's name and first bytes tell.
    pub format: Option<Format>,
    /// Where the labels are: a column's name or its number from 0 (CSV, TSV, Parquet, `.npy`), a
    /// variable's name (`.npz`, MATLAB, HDF5), or the path of a file of labels: one per line,
    /// `.npy`, `.npz` or IDX.
    pub label: Option<String>,
    /// The variable that holds the samples (`.npz`, MATLAB, HDF5).
    pub samples: Option<String>,
    /// Samples in rows or in columns (`.npy`, `.npz`, MATLAB, HDF5).
    pub layout: Layout,
    /// Read no labels: every column is a feature.
    pub unlabelled: bool,
    /// Whether there is a header (CSV, TSV).
    pub header: Header,
    /// Number of features (LIBSVM, which leaves out zeros); without it, the largest index.
    pub n_features: Option<usize>,
}

impl ReadOptions {
    /// The file that holds the labels of one in `format`, if that is what `label` says: the path
    /// of a file, or anything but a column's number in a format without names.
    pub(crate) fn labels_file(&self, format: Format) -> Option<&Path> {
        let label = self.label.as_deref().filter(|_| !self.unlabelled)?;
        let is_nameless = match format {
            Format::Npy => label.trim().parse::<isize>().is_err(),
            Format::Idx | Format::Svmlight | Format::Images => true,
            _ => false,
        };
        let is_path = label.contains(['/', '\\', '.']);
        let path = Path::new(label);
        (is_nameless || (is_path && path.is_file())).then_some(path)
    }
}

impl std::str::FromStr for Header {
    type Err = crate::DataError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "yes" => Ok(Self::Yes),
            "no" => Ok(Self::No),
            _ => {
                let value = format!("\"{text}\"");
                Err(crate::DataError::parameter("header", value, "auto, yes or no"))
            }
        }
    }
}

impl std::fmt::Display for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Yes => "yes",
            Self::No => "no",
        })
    }
}

impl std::str::FromStr for Layout {
    type Err = crate::DataError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "rows" => Ok(Self::Rows),
            "columns" => Ok(Self::Columns),
            _ => {
                let value = format!("\"{text}\"");
                Err(crate::DataError::parameter("layout", value, "auto, rows or columns"))
            }
        }
    }
}

impl std::fmt::Display for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Rows => "rows",
            Self::Columns => "columns",
        })
    }
}
