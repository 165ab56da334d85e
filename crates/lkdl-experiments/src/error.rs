//! Why an experiment cannot be run.

use lkdl::LkdlError;
use lkdl_data::DataError;
use thiserror::Error;

/// What stopped an experiment.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// Its data are missing or damaged.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] LkdlError),
    /// A method needs more memory than it may use.
    #[error("needs {:.1} MB, but may use {:.1} MB", *.need as f64 / 1e6, *.budget as f64 / 1e6)]
    DoesNotFit {
        /// Bytes it needs.
        need: u64,
        /// Bytes it may use.
        budget: u64,
    },
}
