//! Linearized kernel dictionary learning.
#![allow(non_snake_case)]
pub mod classify;
pub mod dictionary;
mod distinct;
pub mod error;
pub mod kernel;
mod linalg;
pub mod map;
mod matrix;
mod memory;
mod pipeline;
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
pub use memory::{MemoryPlan, StageMemory};
pub use pipeline::{FeatureMap, Lkdl, LkdlParams, MapParams};
pub use real::Real;

/// What most programs need.
pub mod prelude {
    pub use crate::classify::{
        ClassDictionaries, ClassDictionariesParams, Classify, Predictions, Train,
    };
    pub use crate::dictionary::{InitialAtoms, KsvdParams, Learned, Learner, ModParams};
    pub use crate::error::{LkdlError, Warning};
    pub use crate::kernel::{Kernel, Panel};
    pub use crate::map::{NystroemMap, NystroemParams, Rank, Variant};
    pub use crate::memory::{MemoryPlan, StageMemory};
    pub use crate::pipeline::{FeatureMap, Lkdl, LkdlParams, MapParams};
    pub use crate::prepare::{Preparation, PrepareParams, Step};
    pub use crate::pursuit::{BatchOmp, Codes, Encoded, Target};
    pub use crate::real::Real;
    pub use crate::sampling::{LandmarkCount, LandmarkParams, Landmarks, Sampler};
}
