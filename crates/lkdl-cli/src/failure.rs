//! How a run can fail, and the exit code that says so.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done; also when the reader of stdout went away |
//! | 1 | the run failed |
//! | 2 | bad usage: a flag, a parameter, a config file |
//! | 3 | bad input: data or a model that is missing, damaged or unfit |
//! | 4 | the output cannot be written |
//! | 130 | interrupted |
//!
//! A failure is one line on stderr, `error: …`, with the fix, also under `--json`: stdout holds
//! results or nothing.

use crate::config::Arguments;
use crate::words;
use lkdl::LkdlError;
use lkdl_data::DataError;
use lkdl_recipe::RecipeError;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

/// The exit code after Ctrl-C: 128 and the number of the signal, as shells count.
pub const INTERRUPTED: u8 = 130;

/// What sort of thing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The run itself.
    Run,
    /// A flag, a parameter or a config file.
    Usage,
    /// Data or a model.
    Input,
    /// Where results go.
    Output,
    /// Ctrl-C, noticed by the work itself.
    Interrupted,
    /// Nothing wrong and nothing left to say: help was asked for, or whoever read stdout has gone
    /// (`lkdl … | head`).
    Silent,
}

/// The end of a run that did not succeed.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    /// One line; empty if all has been said.
    message: String,
}

impl Failure {
    /// The run failed: nothing the user gave is at fault.
    pub fn run(message: impl ToString) -> Self {
        Self::new(Kind::Run, message)
    }

    /// A flag or parameter is wrong.
    pub fn usage(message: impl ToString) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// Data or a model is wrong.
    pub fn input(message: impl ToString) -> Self {
        Self::new(Kind::Input, message)
    }

    /// `path` cannot be written.
    pub fn output(path: &Path, error: &std::io::Error) -> Self {
        let fix = "check the folder, its permissions and its free space, or choose another output";
        Self::new(Kind::Output, format!("{}: {error}; {fix}", path.display()))
    }

    /// `path` is there already; `fix` says which flags allow for that.
    pub fn output_exists(path: &Path, fix: &str) -> Self {
        Self::new(Kind::Output, format!("{} exists already; give {fix}", path.display()))
    }

    /// A file could not be written: `lkdl_data::write(…).map_err(Failure::writing)`.
    pub fn writing(error: DataError) -> Self {
        match &error {
            DataError::Io { source, .. } if source.kind() == ErrorKind::BrokenPipe => {
                Self::new(Kind::Silent, "") // `-o /dev/stdout | head`
            }
            DataError::Io { .. } => Self::new(Kind::Output, error),
            // the name of an output asks for a format that is not written
            DataError::Format { .. } | DataError::Unsupported { .. } => {
                Self::new(Kind::Usage, error)
            }
            _ => error.into(),
        }
    }

    /// stdout cannot be written; silent if that is because its reader has gone.
    pub fn stdout(error: &std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Self::new(Kind::Silent, ""),
            _ => Self::new(Kind::Output, format!("stdout: {error}; check where it is sent to")),
        }
    }

    /// What clap has to say, said: help or a version that was asked for, or bad usage.
    pub fn parsing(error: &clap::Error, arguments: &Arguments) -> Self {
        if error.kind() == clap::error::ErrorKind::MissingSubcommand {
            let _ = write!(std::io::stderr(), "{}", arguments.help());
            return Self::new(Kind::Usage, "");
        }
        let printed = error.print();
        if !error.use_stderr() {
            return printed
                .map_or_else(|error| Self::stdout(&error), |()| Self::new(Kind::Silent, ""));
        }
        if let Some(origin) = &arguments.origin {
            let _ = writeln!(std::io::stderr(), "\nnote: {origin}");
        }
        Self::new(Kind::Usage, "")
    }

    fn new(kind: Kind, message: impl ToString) -> Self {
        let lines = message.to_string();
        let line = lines.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        Self { kind, message: words::shortened(&words::shown(&line)) }
    }

    /// Whether whoever read stdout has gone, and nothing else is wrong.
    pub fn is_silent(&self) -> bool {
        self.kind == Kind::Silent
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self.kind {
            Kind::Silent => 0,
            Kind::Run => 1,
            Kind::Usage => 2,
            Kind::Input => 3,
            Kind::Output => 4,
            Kind::Interrupted => INTERRUPTED,
        }
    }

    /// Says it on stderr.
    pub fn report(&self) -> ExitCode {
        if !self.message.is_empty() {
            // stderr may be closed too; the exit code still speaks
            let _ = writeln!(std::io::stderr(), "error: {}", self.message);
        }
        ExitCode::from(self.code())
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<LkdlError> for Failure {
    fn from(error: LkdlError) -> Self {
        use LkdlError as E;
        let kind = match &error {
            E::InClass { source, .. } | E::InBlock { source, .. } => {
                Self::from(source.as_ref().clone()).kind
            }
            E::KernelOverflow { .. } | E::Unsupported { what: "sparse coding", .. } => Kind::Input,
            E::Parameter { .. }
            | E::Unsupported { .. }
            | E::Memory { .. }
            | E::SurveyMemory { .. } => Kind::Usage,
            E::Empty { .. }
            | E::NonFinite { .. }
            | E::AllZero { .. }
            | E::Shape { .. }
            | E::NegativeFeature { .. }
            | E::Source { .. }
            | E::SourceChanged { .. }
            | E::EmptyClass { .. } => Kind::Input,
            E::NotKept { .. } => Kind::Output,
            E::Cancelled => Kind::Interrupted,
            _ => Kind::Run,
        };
        Self::new(kind, words::of_error(&error))
    }
}

impl From<RecipeError> for Failure {
    fn from(error: RecipeError) -> Self {
        match error {
            RecipeError::Engine(error) => error.into(),
            other => {
                let text = other.spelled(&|option| format!("--{option}"));
                match other {
                    RecipeError::OneClass { .. } | RecipeError::AllSame { .. } => Self::input(text),
                    _ => Self::usage(text),
                }
            }
        }
    }
}

impl From<DataError> for Failure {
    /// For errors of reading; those of writing go through [`Failure::writing`].
    fn from(error: DataError) -> Self {
        let kind = match &error {
            // what a file holds, found out when its parts are put together
            DataError::Parameter { name, .. } if IN_DATA.contains(name) => Kind::Input,
            DataError::Parameter { .. }
            | DataError::NoDataDir
            | DataError::Unused { .. }
            | DataError::UnusedForSet { .. } => Kind::Usage,
            DataError::Exists { .. } | DataError::Output { .. } => Kind::Output,
            _ => Kind::Input,
        };
        let text = match &error {
            DataError::Parameter { name, value, requirement } => {
                format!("{} is {value}, but must be {requirement}", words::flag(name))
            }
            DataError::Unused { option, .. } | DataError::UnusedForSet { option, .. } => {
                error.to_string().replacen(option, &words::reading_flag(option), 1)
            }
            other => other.to_string(),
        };
        Self::new(kind, text)
    }
}

/// Names under which errors speak of a file's content, not of a flag.
const IN_DATA: [&str; 3] = ["samples", "label", "number of labels"];

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Error;

    fn broken(fix: &'static str, kind: ErrorKind) -> DataError {
        DataError::Io { file: "a".into(), source: kind.into(), fix }
    }

    fn in_class(source: LkdlError) -> LkdlError {
        LkdlError::InClass { class: 1, source: Box::new(source) }
    }

    #[test]
    fn codes_follow_who_is_at_fault() {
        let codes = [
            (Failure::run("x"), 1),
            (Failure::usage("x"), 2),
            (Failure::input("x"), 3),
            (Failure::output(Path::new("a"), &Error::other("x")), 4),
            (Failure::output_exists(Path::new("a"), "--force"), 4),
            (Failure::stdout(&Error::other("x")), 4),
            (Failure::stdout(&ErrorKind::BrokenPipe.into()), 0),
            (LkdlError::parameter("rank", 0, "at least 1").into(), 2),
            (LkdlError::AllZero { what: "samples" }.into(), 3),
            (in_class(LkdlError::AllZero { what: "samples" }).into(), 3),
            (LkdlError::NoConvergence { what: "svd" }.into(), 1),
            (LkdlError::KernelOverflow { kernel: "x".into(), value: f64::INFINITY }.into(), 3),
            (LkdlError::Cancelled.into(), INTERRUPTED),
            (DataError::Exists { file: "a".into() }.into(), 4),
            (Failure::writing(broken("full", ErrorKind::StorageFull)), 4),
            (Failure::writing(broken("gone", ErrorKind::BrokenPipe)), 0),
            (broken("damaged", ErrorKind::UnexpectedEof).into(), 3),
            (lkdl_data::stratified_split(&[], 2.0, 0).unwrap_err().into(), 2),
        ];
        for (failure, code) in codes {
            assert_eq!(failure.code(), code, "{failure:?}");
        }
    }

    #[test]
    fn a_message_is_one_line() {
        assert_eq!(Failure::run("a\n  b\n").message, "a b");
        let long = Failure::run(format!("start {} end", "a,".repeat(100_000))).message;
        assert!(long.len() < 2000 && long.starts_with("start a,") && long.ends_with("a, end"));
        assert_eq!(Failure::run("a \x1b[2J b").message, "a \\u{1b}[2J b");
    }
}
