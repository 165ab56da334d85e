//! The method of a fit, as flags say it.

mod flags;
mod named;

pub use flags::{MethodFlags, Precision};
