//! Feature maps: samples in, virtual samples out.
//!
//! A map turns samples X into virtual samples F with FᵀF ≈ K, the kernel matrix: inner products of
//! virtual samples are kernel values, LKDL Eq. (29). From then on a linear method on F is a kernel
//! method on X.
//!
//! | map | kernel | learns from the data | cost per sample |
//! |---|---|---|---|
//! | [`nystroem`] | any | landmarks and P | 2c(p + k) |
//! | [`fourier`] | Gaussian | nothing | kp + k waves |
//! | [`fastfood`] | Gaussian | nothing | O((k + p)·log p) |
//!
//! [`certificate`] measures how close FᵀF is to K; [`NystroemMap::pre_images`] leads back to samples.

pub mod certificate;
mod drift;
pub mod fastfood;
pub mod fourier;
mod grow;
pub mod nystroem;
pub(crate) mod plan;
mod preimage;
mod projection;
mod spectrum;
mod statistics;

pub use certificate::{best_rank_errors, relative_error};
pub(crate) use drift::USUAL_LIMIT;
pub use drift::{DriftMonitor, USUAL_WINDOW};
pub use nystroem::{NystroemMap, NystroemParams, Rank, Variant};
pub(crate) use projection::{cross_bytes, tile_width};
pub use spectrum::Indefinite;
pub use statistics::{MapStatistics, MapSums};

#[cfg(test)]
mod tests;
