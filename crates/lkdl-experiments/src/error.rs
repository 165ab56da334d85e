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
}
