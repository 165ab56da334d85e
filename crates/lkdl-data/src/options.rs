//! What a file cannot say about itself: which column holds the labels, which array the samples.

use crate::format::Format;

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

/// How to read a file. The default finds out what it can.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; without it, the file's name and first bytes tell.
    pub format: Option<Format>,
    /// Where the labels are: a column's name or its number from 0 (CSV, TSV, Parquet, `.npy`), a
    /// variable's name (`.npz`, MATLAB, HDF5), or the path of a file of labels (IDX, `.npy`).
    pub label: Option<String>,
    /// The variable that holds the samples (`.npz`, MATLAB, HDF5).
    pub samples: Option<String>,
    /// Samples in rows or in columns (`.npy`, `.npz`, MATLAB, HDF5).
    pub layout: Layout,
    /// Read no labels: every column is a feature.
    pub unlabelled: bool,
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
