//! Feature maps: samples in, virtual samples out.
pub mod fastfood;
pub mod fourier;
