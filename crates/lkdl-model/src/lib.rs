//! The model file: a fitted pipeline as one [safetensors](https://github.com/huggingface/safetensors)
//! file that any program with a safetensors reader can open.
//!
//! | tensor | shape | what |
//! |---|---|---|
//! | `preparation.<i>.mean`, `preparation.<i>.scale` | p | a `standardize` step |
//! | `landmarks` | c × p | X_R, one landmark per row (kernel values for a precomputed kernel) |
//! | `landmark_indices` | c | which training samples they are, if they are samples |
//! | `projection` | k × c | Pᵀ: a virtual sample is `projection @ kernel(landmarks, x) - mean` |
//! | `mean` | k | the mean virtual sample of a centred map |
//! | `eigenvalues` | k | those the map kept, `f64` |
//! | `frequencies` | k/2 × p | of random Fourier features |
//! | `fastfood.<b>.…` | | the blocks of a Fastfood map |
//! | `dictionary.<l>` | m × k | the atoms of class l, one per row (`class-dictionaries`, `fddl`) |
//! | `mean_codes` | L × M | the mean code of every class over all atoms, `f64` (`fddl`) |
//! | `dictionary` | m × k | the atoms of all classes (`lc-ksvd`), or the training samples (`src`) |
//! | `atom_classes` | m | the class of each of them |
//! | `classifier`, `consistency` | m × L | linear maps of codes (`lc-ksvd`) |
//! | `samples.<l>`, `atom_weights.<l>` | n × p, m × n | samples that atoms of class l combine, and how (`kernel-dictionaries`) |
//! | `samples`, `sample_classes` | N × p, N | the training samples (`kernel-src`) |
//!
//! Everything else is one JSON text under the metadata key `lkdl`: `{"checksum": …, "model": …}`
//! with the [`Card`] and what the tensors mean. Its keys are sorted and the tensors written in a
//! fixed order, so that equal models are equal files. The checksum (SHA-256) covers the metadata
//! and every tensor; a byte that flipped on the way is found.
//!
//! A file says which [`FORMAT_VERSION`] it has. Later versions of this library read it, or say
//! precisely why not.

#![allow(non_snake_case)] // X is the matrix of samples

mod card;
mod checkpoint;
mod classifier;
mod element;
mod error;
mod keeper;
mod read;
mod tensors;
mod write;

pub use card::{Card, ClassHistory, DataRecord};
pub use checkpoint::{Checkpoint, CheckpointError, read_checkpoint, write_checkpoint};
pub use classifier::Classifier;
pub use element::Element;
pub use error::ModelError;
pub use keeper::{Every, FileKeeper, Note, ResumeError, Run, load_checkpoint};
pub use read::{AnyModel, SavedModel, from_bytes, from_bytes_with_kernel};
pub use write::{custom_kernel, to_bytes, to_bytes_without_kernel};

/// The version of the layout above that this library writes, and the newest it reads.
pub const FORMAT_VERSION: u32 = 1;

/// A fitted pipeline that ends in a classifier of any method a file can hold.
pub type Pipeline<T> = lkdl::Lkdl<T, Classifier<T>>;

#[cfg(test)]
mod tests;
