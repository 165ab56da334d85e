//! Sparse coding: LKDL Eq. (1), and its lasso relaxation.
//!
//! Constrained: min ‖x − Dγ‖² s.t. ‖γ‖₀ ≤ q. By error: min ‖γ‖₀ s.t. ‖x − Dγ‖ ≤ e.
//! Lasso: min ½‖x − Dγ‖² + λ‖γ‖₁.
//!
//! All coders return [`Encoded`]: sparse codes, never dense, and the squared residual of every
//! signal.

mod batch_omp;
mod codes;
mod entry;
pub(crate) mod greedy;
pub mod lasso;
mod matching_pursuit;
mod omp;
mod target;

pub use batch_omp::BatchOmp;
pub(crate) use batch_omp::Scratch;
pub use codes::{Codes, Encoded};
pub(crate) use entry::{check_range, exact_sq_residual};
pub use matching_pursuit::MatchingPursuitParams;
pub use omp::OmpParams;
pub(crate) use target::Limits;
pub use target::Target;

#[cfg(test)]
mod testing;
