//! The method of a fit, as flags say it and as the engine takes it.

mod applies;
mod flags;
mod held_out;
mod kind;
mod own;
mod recipe;
mod settings;
mod trainer;
mod values;

pub use applies::Chosen;
pub use flags::{KernelName, MapName, Method, MethodFlags, Precision};
pub use kind::are_signals;
pub use recipe::{Recipe, class_sizes};
pub use values::Bytes;
