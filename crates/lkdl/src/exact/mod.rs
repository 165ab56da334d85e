//! Exact kernel methods on samples: what LKDL approximates, run in the same pipeline.
//!
//! The learners of [`dictionary`](crate::dictionary) and the rules of [`classify`](crate::classify)
//! take Gram matrices and know no kernel; here they are given one. A method of this module is a
//! [`Train`](crate::classify::Train) like any other and runs in [`LkdlParams`](crate::LkdlParams)
//! with [`MapParams::None`](crate::MapParams::None): preparation, batches and the memory plan are
//! those of the pipeline.
//!
//! It pays for the kernel matrix: n² values per class to train, n kernel values per sample and class
//! to classify, where LKDL takes c landmarks.

pub mod kernel_dictionaries;
pub mod kernel_src;

pub use kernel_dictionaries::{KernelClass, KernelDictionaries, KernelDictionariesParams};
pub use kernel_src::{KernelSrc, KernelSrcParams};
