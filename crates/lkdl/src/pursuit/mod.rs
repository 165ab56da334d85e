//! Sparse coding: LKDL Eq. (1), and its lasso relaxation.
//!
//! Constrained: min ‖x − Dγ‖² s.t. ‖γ‖₀ ≤ q. By error: min ‖γ‖₀ s.t. ‖x − Dγ‖ ≤ e.
//! Lasso: min ½‖x − Dγ‖² + λ‖γ‖₁; basis pursuit: its limit λ → 0. Kernel pursuits run on inner
//! products or on kernel values, and take Gram matrices.
//!
//! All coders return [`Encoded`]: sparse codes, never dense, and the squared residual of every
//! signal.

pub mod basis_pursuit;
pub mod batch_omp;
mod codes;
pub mod empirical;
mod entry;
mod gram;
mod gram_omp;
pub(crate) mod greedy;
pub mod kernel_omp;
pub mod lasso;
pub mod matching_pursuit;
pub mod omp;
mod target;

pub use basis_pursuit::{BasisPursuitEncoded, BasisPursuitParams};
pub use batch_omp::BatchOmp;
pub(crate) use batch_omp::{Scratch, encode_products, is_unit};
pub use codes::{Codes, Encoded};
pub use empirical::EmpiricalMap;
pub(crate) use entry::{check_range, exact_sq_residual};
pub(crate) use gram::check_entries;
pub use gram::check_gram;
pub use gram_omp::GramOmp;
pub use kernel_omp::KernelOmp;
pub(crate) use kernel_omp::check_self_values;
pub use matching_pursuit::MatchingPursuitParams;
pub use omp::OmpParams;
pub(crate) use target::Limits;
pub use target::Target;

#[cfg(test)]
pub(crate) mod testing;
