//! Every failure as one Python exception, `lkdl.LkdlError`, a `ValueError` with the library's text.

use lkdl::LkdlError as EngineError;
use lkdl_data::DataError;
use lkdl_model::{ModelError, ResumeError};
use lkdl_recipe::RecipeError;
use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};

pyo3::create_exception!(
    lkdl,
    LkdlError,
    PyValueError,
    "What lkdl cannot do, with the value that was given and the fix."
);

/// What can go wrong on the way.
pub enum Failure {
    /// The engine refuses.
    Engine(EngineError),
    /// The options make no sense together.
    Recipe(RecipeError),
    /// A model file cannot be read or written.
    Model(ModelError),
    /// A file of data cannot be read.
    Data(DataError),
    /// A checkpoint is not one to go on from.
    Resume(ResumeError),
    /// Code of the user raised this.
    Raised(PyErr),
    /// An argument of the call itself.
    Argument(String),
    /// A defect of lkdl, caught before it could end the interpreter.
    Panic(String),
}

impl Failure {
    /// An argument with a problem, in words.
    pub fn argument(message: impl Into<String>) -> Self {
        Self::Argument(message.into())
    }
}

macro_rules! from {
    ($($variant:ident($error:ty)),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        }
    )*};
}

from!(
    Engine(EngineError),
    Recipe(RecipeError),
    Model(ModelError),
    Data(DataError),
    Resume(ResumeError)
);

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Engine(error) => LkdlError::new_err(in_python(&error.to_string())),
            Failure::Recipe(RecipeError::OneClass { .. }) => LkdlError::new_err(ONE_CLASS),
            Failure::Recipe(error) => {
                let text = error.spelled(&|option| argument(option).to_string());
                LkdlError::new_err(in_python(&text))
            }
            Failure::Model(error) => LkdlError::new_err(error.to_string()),
            Failure::Data(error @ DataError::Io { .. }) => PyOSError::new_err(error.to_string()),
            Failure::Data(error) => LkdlError::new_err(error.to_string()),
            Failure::Resume(error @ ResumeError::Unreadable { .. }) => {
                PyOSError::new_err(error.to_string())
            }
            Failure::Resume(error) => LkdlError::new_err(error.to_string()),
            Failure::Raised(error) => error,
            Failure::Argument(message) => LkdlError::new_err(message),
            Failure::Panic(message) => PyRuntimeError::new_err(format!(
                "defect in lkdl: {message}; please report it with the data that show it"
            )),
        }
    }
}

/// As the estimators say it of labels in memory.
const ONE_CLASS: &str = "y has 1 class, so there is nothing to tell apart; give at least two";

/// Options of the recipe by the argument that sets them.
const ARGUMENTS: [(&str, &str); 5] = [
    ("atoms", "n_atoms"),
    ("landmarks", "n_landmarks"),
    ("iters", "max_iter"),
    ("learning-sparsity", "learning_sparsity"),
    ("exact-update", "exact_update"),
];

/// The argument that sets an option.
pub(crate) fn argument(option: &str) -> String {
    let known = ARGUMENTS.iter().find(|(known, _)| *known == option);
    known.map_or_else(|| option.replace('-', "_"), |(_, argument)| (*argument).to_string())
}

/// The library's names for what Python calls otherwise.
fn in_python(text: &str) -> String {
    text.replace("max_iters", "max_iter")
}
