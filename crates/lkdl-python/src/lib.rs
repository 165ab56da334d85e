//! The private module `lkdl._core`: array views, errors, threads and signals around the engine, and
//! no mathematics. Its classes and functions serve `python/lkdl`; `_core.pyi` there describes them.

#![allow(non_snake_case)] // X, Y and D: docs/notation.md

mod array;
mod caller;
mod checkpoint;
mod code;
mod data;
mod drift;
mod error;
mod gather;
mod incremental;
mod job;
mod kernel;
mod learn;
mod map;
mod model;
mod stream;
mod sums;

use pyo3::prelude::*;

/// As in the command: the C library's would keep blocks that one thread has made and another let go.
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[pymodule(gil_used = true)]
mod _core {
    #[pymodule_export]
    use crate::code::{lasso, omp, omp_gram};
    #[pymodule_export]
    use crate::data::read;
    #[pymodule_export]
    use crate::drift::Drift;
    #[pymodule_export]
    use crate::error::LkdlError;
    #[pymodule_export]
    use crate::gather::{add_gathered, gather_block};
    #[pymodule_export]
    use crate::incremental::PyIncremental;
    #[pymodule_export]
    use crate::kernel::{kernel_values, median_distance};
    #[pymodule_export]
    use crate::learn::learn;
    #[pymodule_export]
    use crate::map::{PyFeatureMap, landmarks};
    #[pymodule_export]
    use crate::model::{Model, write_file};
    #[pymodule_export]
    use crate::stream::{fit_blocks, fit_files, start_blocks, survey_keys};
    #[pymodule_export]
    use crate::sums::{dictionary_sums, group_size, map_by_sums, map_sums, update_atoms};
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
