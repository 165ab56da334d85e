//! When a greedy pursuit stops.
use crate::error::LkdlError;

/// When a greedy pursuit stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// At most this many atoms (q).
    Sparsity(usize),
    /// Once ‖x − Dγ‖ ≤ `norm`.
    Error {
        /// e.
        norm: f64,
        /// Cap on the atoms.
        max_atoms: Option<usize>,
    },
}

impl Target {
    pub(crate) fn check(&self, _n_atoms: usize) -> Result<(), LkdlError> {
        Ok(())
    }
}
