//! What a file cannot say about itself: which column holds the labels, which array the samples.

use crate::error::DataError;
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

/// From which number the indices of LIBSVM text count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IndexBase {
    /// From 0 in a file that mentions index 0, from 1 in others.
    #[default]
    Auto,
    /// From 0.
    Zero,
    /// From 1.
    One,
}

impl IndexBase {
    /// The first index, where it is known.
    pub fn first(self) -> Option<u32> {
        match self {
            Self::Auto => None,
            Self::Zero => Some(0),
            Self::One => Some(1),
        }
    }
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
    /// What indices count from (LIBSVM, which does not say).
    pub index_base: IndexBase,
}

impl ReadOptions {
    /// An error that names an option which was given and means nothing in `format`; `file` is what
    /// messages call the file.
    pub fn check(&self, format: Format, file: &Path) -> Result<(), DataError> {
        match self.given().into_iter().find(|(_, formats)| !formats.contains(&format)) {
            Some((option, formats)) => {
                Err(DataError::Unused { option, formats, file: file.into(), format })
            }
            None => Ok(()),
        }
    }

    /// Options that were given and are not for every format, with those they are for.
    fn given(&self) -> Vec<(&'static str, &'static [Format])> {
        use Format::{Csv, Hdf5, Matlab, Npy, Npz, Svmlight, Tsv};
        let all: [(_, &'static [Format], _); 5] = [
            ("samples", &[Npz, Matlab, Hdf5], self.samples.is_some()),
            ("layout", &[Npy, Npz, Matlab, Hdf5], self.layout != Layout::Auto),
            ("header", &[Csv, Tsv], self.header != Header::Auto),
            ("n_features", &[Svmlight], self.n_features.is_some()),
            ("index_base", &[Svmlight], self.index_base != IndexBase::Auto),
        ];
        let given = all.into_iter().filter(|(_, _, given)| *given);
        given.map(|(option, formats, _)| (option, formats)).collect()
    }

    /// The first option that was given and speaks of a file.
    pub(crate) fn about_files(&self) -> Option<&'static str> {
        let of_any = [("format", self.format.is_some()), ("label", self.label.is_some())];
        let of_any = of_any.into_iter().filter(|(_, given)| *given).map(|(option, _)| option);
        of_any.chain(self.given().into_iter().map(|(option, _)| option)).next()
    }

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

/// Reads and prints a choice by its words; `$requirement` lists them.
macro_rules! by_words {
    ($choice:ident, $name:literal, $requirement:literal, $($variant:ident = $word:literal),+) => {
        impl std::str::FromStr for $choice {
            type Err = DataError;

            fn from_str(text: &str) -> Result<Self, DataError> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(DataError::parameter($name, format!("\"{text}\""), $requirement)),
                }
            }
        }

        impl std::fmt::Display for $choice {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $word,)+
                })
            }
        }
    };
}

by_words!(Header, "header", "auto, yes or no", Auto = "auto", Yes = "yes", No = "no");
by_words!(
    Layout,
    "layout",
    "auto, rows or columns",
    Auto = "auto",
    Rows = "rows",
    Columns = "columns"
);
by_words!(IndexBase, "index_base", "auto, 0 or 1", Auto = "auto", Zero = "0", One = "1");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_mean_nothing_in_a_format_are_named_with_those_they_are_for() {
        let none = ReadOptions::default();
        let given = [
            ReadOptions { samples: Some("X".into()), ..none.clone() },
            ReadOptions { layout: Layout::Rows, ..none.clone() },
            ReadOptions { header: Header::No, ..none.clone() },
            ReadOptions { n_features: Some(3), ..none.clone() },
            ReadOptions { index_base: IndexBase::Zero, ..none.clone() },
        ];
        let refused = |format: Format| -> Vec<&str> {
            let options = given.iter().filter_map(|options| {
                match options.check(format, Path::new("t")).err()? {
                    DataError::Unused { option, .. } => Some(option),
                    other => panic!("{other}"),
                }
            });
            options.collect()
        };
        assert_eq!(refused(Format::Csv), ["samples", "layout", "n_features", "index_base"]);
        assert_eq!(refused(Format::Svmlight), ["samples", "layout", "header"]);
        assert_eq!(refused(Format::Npy), ["samples", "header", "n_features", "index_base"]);
        assert_eq!(refused(Format::Matlab), ["header", "n_features", "index_base"]);
        assert_eq!(refused(Format::Images).len(), 5);
        let message = given[3].check(Format::Csv, Path::new("a.csv")).unwrap_err().to_string();
        assert_eq!(message, "n_features is for svmlight, but a.csv is csv; leave it away");
        for format in Format::ALL {
            assert!(none.check(format, Path::new("t")).is_ok());
        }
    }

    #[test]
    fn words_are_read_back_as_written() {
        for base in [IndexBase::Auto, IndexBase::Zero, IndexBase::One] {
            assert_eq!(base.to_string().parse::<IndexBase>().unwrap(), base);
        }
        let message = "2".parse::<IndexBase>().unwrap_err().to_string();
        assert_eq!(message, "index_base is \"2\", but must be auto, 0 or 1");
    }
}
