//! Why a model file cannot be written or read, and the fix.

use lkdl::LkdlError;
use thiserror::Error;

/// What is wrong with a model file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Not a safetensors file, or one of another program.
    #[error("not a model file of lkdl: {problem}; make one with `lkdl fit`")]
    NotAModel {
        /// What was found instead.
        problem: String,
    },
    /// The bytes are not those that were written.
    #[error("the model file is damaged: {problem}; copy it again from where it was made")]
    Damaged {
        /// What shows it.
        problem: String,
    },
    /// A layout this version does not know.
    #[error(
        "the model file has format version {found}, written by lkdl {library}, but this lkdl \
         {} reads up to version {}; upgrade lkdl",
        env!("CARGO_PKG_VERSION"),
        crate::FORMAT_VERSION
    )]
    NewerVersion {
        /// The file's version.
        found: u64,
        /// The library that wrote it.
        library: String,
    },
    /// The metadata says something this library cannot follow.
    #[error("the model file's {field} is {value}, which this lkdl does not know; upgrade lkdl")]
    Unknown {
        /// Which entry.
        field: &'static str,
        /// Its value.
        value: String,
    },
    /// A tensor is missing, or has another shape or type than the metadata says.
    #[error("the model file's tensor {name} {problem}; make the model again with `lkdl fit`")]
    Tensor {
        /// Its name.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// The kernel is a function that was kept elsewhere.
    #[error("the model's kernel is the function {function}, which is not in its bytes; give it")]
    MissingKernel {
        /// What it is called.
        function: String,
    },
    /// A model that a file cannot hold.
    #[error("{what} cannot be saved; {fix}")]
    Unsaveable {
        /// What stands in the way.
        what: String,
        /// What to do instead.
        fix: &'static str,
    },
    /// The parts do not make a model.
    #[error("the model file's contents do not fit together: {0}")]
    Engine(#[from] LkdlError),
}
