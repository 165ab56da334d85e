//! Sparse coding: LKDL Eq. (1), and its lasso relaxation.
//!
//! Constrained: min ‖x − Dγ‖² s.t. ‖γ‖₀ ≤ q. By error: min ‖γ‖₀ s.t. ‖x − Dγ‖ ≤ e.
//! Lasso: min ½‖x − Dγ‖² + λ‖γ‖₁.
//!
//! All coders return [`Encoded`]: sparse codes, never dense, and the squared residual of every
//! signal.

mod codes;
pub mod lasso;
mod matching_pursuit;
mod omp;

pub use codes::{Codes, Encoded};

#[cfg(test)]
mod testing;
