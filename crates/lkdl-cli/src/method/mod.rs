//! The method of a fit, as flags say it and as the engine takes it.

mod flags;
mod recipe;
mod values;

pub use flags::{MethodFlags, Precision};
