//! Timed kernels. `cargo bench -p lkdl -- omp/` runs those whose id holds the text; ids name all
//! parameters.
//!
//! One binary for all: every binary compiles the generic library again for both precisions.
#![allow(missing_docs, non_snake_case)] // criterion's macros; the paper's letters
#![allow(clippy::unwrap_used)] // a benchmark of an error would be worthless

mod batch_omp;
mod input;
mod kernel_tile;
mod ksvd;
mod landmarks;
mod projection;

use criterion::{Criterion, criterion_group, criterion_main};
use std::time::Duration;

/// Few samples: each closure runs for milliseconds, so a second holds enough of them.
fn sampling() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
}

criterion_group!(
    name = kernels;
    config = sampling();
    targets = kernel_tile::kernel_tile, projection::projection, batch_omp::batch_omp, ksvd::ksvd,
        landmarks::landmarks
);
criterion_main!(kernels);
