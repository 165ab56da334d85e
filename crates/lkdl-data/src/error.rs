//! The one error type of this crate: which file, which line, what is wrong, how to mend it.

use crate::format::Format;
use std::io::ErrorKind;
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
    /// A file that is read more than once is not as it was.
    #[error("{}: the file has changed since it was opened: {change}; start again when it stays", .file.display())]
    Changed {
        /// The file.
        file: PathBuf,
        /// What is different.
        change: String,
    },
    /// A file of a named set is not where it should be.
    #[error(
        "data set {set}: {} is missing, looked for in {}; put the file there, or set {} to the \
         directory that holds it",
        .file.display(), list(.directories), crate::DATA_DIR
    )]
    Missing {
        /// The set.
        set: &'static str,
        /// The file, relative to the directory.
        file: PathBuf,
        /// The directories.
        directories: Vec<PathBuf>,
    },
    /// No directory of data was named.
    #[error("no directory of data; set {} to the one that holds usps/ and mnist/", crate::DATA_DIR)]
    NoDataDir,
    /// A format that is read, and not written.
    #[error("{}: {format} cannot be written; write {}", .file.display(), Format::written())]
    Unsupported {
        /// The file.
        file: PathBuf,
        /// Its format.
        format: Format,
    },
    /// An option that means nothing in a file's format.
    #[error("{option} is for {}, but {} is {format}; leave it away", names(.formats), .file.display())]
    Unused {
        /// The option's public name.
        option: &'static str,
        /// The formats that have a use for it.
        formats: &'static [Format],
        /// The file.
        file: PathBuf,
        /// Its format.
        format: Format,
    },
    /// An option about files beside a set that has a name.
    #[error("{option} is for files, but {set} is a set that is known by its name; leave it away")]
    UnusedForSet {
        /// The option's public name.
        option: &'static str,
        /// The set.
        set: String,
    },
    /// Samples without labels where labels are needed.
    #[error(
        "{name} has no labels; name the label column (--label NAME or --label INDEX), or the \
         variable or file that holds them"
    )]
    Unlabelled {
        /// The table.
        name: String,
    },
    /// A file is there already.
    #[error("{} exists already; give --force to replace it, or choose another name", .file.display())]
    Exists {
        /// The file.
        file: PathBuf,
    },
    /// A writer's output failed; [`Io`](Self::Io) once the file is known.
    #[error("{source}")]
    Output {
        /// What the system said.
        source: std::io::Error,
    },
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

/// Characters of a file's content that a message shows.
const MAX_SHOWN: usize = 40;

/// What a file holds, in quotes, as far as a message shows it.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("\"{}…\"", &text[..end]),
        None => format!("\"{text}\""),
    }
}

fn at_line(line: &Option<usize>) -> String {
    line.map(|line| format!(", line {line}")).unwrap_or_default()
}

/// `npz, mat or hdf5`.
fn names(formats: &[Format]) -> String {
    let names: Vec<&str> = formats.iter().map(|format| format.name()).collect();
    match names.split_last() {
        Some((last, [])) => last.to_string(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "none".into(),
    }
}

fn list(directories: &[PathBuf]) -> String {
    let shown: Vec<_> = directories.iter().map(|path| path.display().to_string()).collect();
    shown.join(" and ")
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

    /// A parameter error found in a file becomes one that names the file; others stay.
    pub(crate) fn in_file(self, file: &Path) -> Self {
        match self {
            Self::Parameter { name, value, requirement } => {
                let problem = format!("{name} is {value}, but must be {requirement}");
                Self::format(file, problem, "mend or drop it")
            }
            other => other,
        }
    }

    /// Output that failed, in a writer that does not know its file.
    pub(crate) fn output(source: std::io::Error) -> Self {
        Self::Output { source }
    }

    /// Output to `file` that failed.
    pub(crate) fn writing(file: &Path, source: std::io::Error) -> Self {
        let fix = match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                "free some space, or write elsewhere"
            }
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                "write to a folder you may write to"
            }
            ErrorKind::NotFound => "create the folder first",
            ErrorKind::IsADirectory => "choose a name that is not a folder's",
            ErrorKind::BrokenPipe => "the reader of the output has gone",
            _ => "check the path and the disk",
        };
        Self::Io { file: file.into(), source, fix }
    }

    /// Completes an [`Output`](Self::Output) error by the file; others stay.
    pub(crate) fn written_to(self, file: &Path) -> Self {
        match self {
            Self::Output { source } => Self::writing(file, source),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_shown_in_part() {
        assert_eq!(excerpt("nö"), "\"nö\"");
        let long = excerpt(&"ö".repeat(1000));
        assert_eq!(long.chars().count(), MAX_SHOWN + 3);
        assert!(long.ends_with("ö…\""), "{long}");
    }

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
            directories: vec!["/data".into(), "/more".into()],
        };
        assert!(error.to_string().starts_with(
            "data set usps: usps/usps.bz2 is missing, looked for in /data and /more; "
        ));
    }
}
