//! Linearized kernel dictionary learning.
#![allow(non_snake_case)]
pub mod classify;
pub mod dictionary;
pub mod error;
pub mod kernel;
mod linalg;
pub mod map;
mod matrix;
pub mod prepare;
pub mod pursuit;
mod random;
mod real;
pub mod sampling;
#[cfg(test)]
mod testing;
mod vector;

pub use error::{LkdlError, Warning};
pub use kernel::{Kernel, Panel};
pub use real::Real;
pub use sampling::{LandmarkParams, Landmarks, Sampler, Seeding};
