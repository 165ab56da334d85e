//! Choosing landmarks, by the ways that cost something.

use crate::input::samples;
use criterion::Criterion;
use lkdl::prelude::*;
use lkdl::sampling::Seeding;

/// Both precisions.
pub fn landmarks(criterion: &mut Criterion) {
    run::<f64>(criterion);
    run::<f32>(criterion);
}

fn run<T: Real>(criterion: &mut Criterion) {
    let (p, n, c) = (256, 2048, 128);
    let X = samples::<T>(p, n, 1);
    let kernel = Kernel::Polynomial { degree: 2.0, offset: 0.0 };
    for (name, sampler) in [
        ("uniform", Sampler::Uniform),
        ("coreset", Sampler::CoresetMean),
        ("column-norm", Sampler::ColumnNorm { rows: None }),
        ("k-means++", Sampler::KMeansPlusPlus { kernel_distance: false }),
        ("k-means", Sampler::KMeans { max_iters: 5, tol: 0.0, seeding: Seeding::Uniform }),
        ("leverage", Sampler::LeverageScores),
        ("rpcholesky", Sampler::RpCholesky),
        ("hybrid", Sampler::default()),
    ] {
        let params =
            LandmarkParams { sampler, n_landmarks: LandmarkCount::Exact(c), ..Default::default() };
        let id = format!("landmarks/{name},p={p},n={n},c={c},{}", T::NAME);
        criterion.bench_function(&id, |bencher| {
            bencher.iter(|| params.select(&kernel, X.as_ref()).unwrap())
        });
    }
}
