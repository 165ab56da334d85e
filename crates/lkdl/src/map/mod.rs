//! Feature maps: samples in, virtual samples out.
//!
//! A map turns samples X into virtual samples F with FᵀF ≈ K, the kernel matrix. From then on a
//! linear method on F is a kernel method on X.

pub mod certificate;
pub mod fastfood;
pub mod fourier;
pub mod nystroem;
mod projection;
mod spectrum;

pub use certificate::{best_rank_errors, relative_error};
pub use nystroem::{NystroemMap, NystroemParams, Rank, Variant};
pub(crate) use projection::tile_width;
pub use spectrum::Indefinite;

#[cfg(test)]
mod tests;
