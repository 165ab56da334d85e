//! The one error type of this crate: which file, which line, what is wrong, how to mend it.

use std::path::{Path, PathBuf};
use thiserror::Error;

/// What went wrong with data, and the fix.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// A file could not be opened or read to its end.
    #[error("{}: {source}; {fix}", .file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system, or the decompressor, said.
        source: std::io::Error,
        /// What to do.
        fix: &'static str,
    },
    /// A file does not hold what its format promises.
    #[error("{}{}: {problem}; {fix}", .file.display(), at_line(.line))]
    Format {
        /// The file.
        file: PathBuf,
        /// The line, from 1, of a text file.
        line: Option<usize>,
        /// What is wrong.
        problem: String,
        /// What to do.
        fix: &'static str,
    },
    /// A file of a named set is not where it should be.
    #[error(
        "data set {set}: {} is missing, looked for in {}; put the file there, or set {} to the \
         directory that holds it",
        .file.display(), .directory.display(), crate::DATA_DIR
    )]
    Missing {
        /// The set.
        set: &'static str,
        /// The file, relative to the directory.
        file: PathBuf,
        /// The directory.
        directory: PathBuf,
    },
    /// No directory of data was named.
    #[error("{} is not set; set it to the directory that holds usps/ and mnist/", crate::DATA_DIR)]
    NoDataDir,
    /// A parameter is out of range.
    #[error("{name} is {value}, but must be {requirement}")]
    Parameter {
        /// The parameter's public name.
        name: &'static str,
        /// The value given.
        value: String,
        /// What is accepted.
        requirement: String,
    },
}

fn at_line(line: &Option<usize>) -> String {
    line.map(|line| format!(", line {line}")).unwrap_or_default()
}

impl DataError {
    /// A parameter error: `name` is `value`, but must be `requirement`.
    pub(crate) fn parameter(
        name: &'static str,
        value: impl ToString,
        requirement: impl Into<String>,
    ) -> Self {
        Self::Parameter { name, value: value.to_string(), requirement: requirement.into() }
    }

    /// A file whose bytes are not what its format promises.
    pub(crate) fn format(file: &Path, problem: impl Into<String>, fix: &'static str) -> Self {
        Self::Format { file: file.into(), line: None, problem: problem.into(), fix }
    }

    /// A file that broke off, or whose compression is damaged.
    pub(crate) fn reading(file: &Path, source: std::io::Error) -> Self {
        let fix = "the file may be truncated or damaged: fetch it again";
        Self::Io { file: file.into(), source, fix }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_place_and_the_fix() {
        let error = DataError::Format {
            file: "a.txt".into(),
            line: Some(3),
            problem: "label is missing".into(),
            fix: "start the line with a number",
        };
        assert_eq!(
            error.to_string(),
            "a.txt, line 3: label is missing; start the line with a number"
        );
        let error = DataError::format(Path::new("a.idx"), "too short", "fetch it again");
        assert_eq!(error.to_string(), "a.idx: too short; fetch it again");
        let error = DataError::parameter("n_folds", 1, "at least 2");
        assert_eq!(error.to_string(), "n_folds is 1, but must be at least 2");
        let error = DataError::Missing {
            set: "usps",
            file: "usps/usps.bz2".into(),
            directory: "/data".into(),
        };
        assert!(
            error
                .to_string()
                .starts_with("data set usps: usps/usps.bz2 is missing, looked for in /data; ")
        );
    }
}
