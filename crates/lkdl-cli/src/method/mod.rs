//! The method of a fit, as flags say it and as the engine takes it.

mod applies;
mod flags;
mod kind;
mod recipe;
mod settings;
mod trainer;
mod values;

pub use flags::{MethodFlags, Precision};
pub use recipe::{Recipe, class_sizes};
