//! Data and comparisons shared by the integration tests.

use faer::{Mat, MatRef};
use lkdl::prelude::*;
use lkdl::sampling::Seeding;
use lkdl_data::Corruption;

/// A p×n matrix of independent standard normals.
pub fn normal<T: Real>(p: usize, n: usize, seed: u64) -> Mat<T> {
    let mut X = Mat::zeros(p, n);
    Corruption::GaussianNoise { sigma: 1.0 }.apply(&mut X, seed).unwrap();
    X
}

/// Non-negative samples in `n_classes` clouds, the classes in turn.
pub fn clouds<T: Real>(p: usize, n: usize, n_classes: usize, seed: u64) -> (Mat<T>, Vec<usize>) {
    let (centres, noise) = (normal::<f64>(p, n_classes, 7), normal::<f64>(p, n, seed));
    let X = Mat::from_fn(p, n, |r, i| {
        T::of((centres[(r, i % n_classes)].abs() + 0.25 * noise[(r, i)]).abs())
    });
    (X, (0..n).map(|i| i % n_classes).collect())
}

/// Every sampler with a name, and one of each other kind of draw.
pub fn samplers() -> Vec<Sampler> {
    let mut all: Vec<Sampler> = Sampler::names().map(|name| name.parse().unwrap()).collect();
    let by_diagonal = Sampler::Diagonal { squared: false };
    all.extend([
        Sampler::Given(vec![0]),
        Sampler::ColumnNorm { rows: Some(1) },
        Sampler::k_means(Seeding::RpCholesky),
        Sampler::WithReplacement(Box::new(by_diagonal)),
        Sampler::WithReplacement(Box::new(Sampler::CoresetConstant)),
    ]);
    all
}

/// A small pipeline on the given kernel: c landmarks, rank k, m atoms per class, q of them.
pub fn pipeline<T: Real>(kernel: Kernel, [c, k, m, q]: [usize; 4]) -> Params<T> {
    LkdlParams {
        prepare: PrepareParams::default(),
        map: MapParams::Nystroem(NystroemParams {
            kernel,
            n_landmarks: LandmarkCount::Exact(c),
            rank: Rank::Exact(k),
            ..Default::default()
        }),
        method: ClassDictionariesParams {
            learner: KsvdParams { n_atoms: m, sparsity: q, max_iters: 2, ..Default::default() },
            sparsity: q,
        },
        memory: None,
    }
}

/// Every bit of a matrix.
pub fn bits<T: Real>(X: MatRef<'_, T>) -> Vec<u64> {
    X.col_iter().flat_map(|x| x.iter().map(|v| v.wide().to_bits()).collect::<Vec<_>>()).collect()
}

/// Labels within the classes, finite scores, margins between 0 and 1.
#[track_caller]
pub fn assert_sound(predictions: &Predictions, n_samples: usize, n_classes: usize) {
    assert_eq!((predictions.labels.len(), predictions.margins.len()), (n_samples, n_samples));
    assert_eq!((predictions.scores.nrows(), predictions.scores.ncols()), (n_classes, n_samples));
    assert!(predictions.labels.iter().all(|&l| l < n_classes));
    assert!(predictions.scores.col_iter().all(|r| r.iter().all(|v| v.is_finite() && *v >= 0.0)));
    assert!(predictions.margins.iter().all(|m| (0.0..=1.0).contains(m)));
}

/// What [`pipeline`] makes.
pub type Params<T> = LkdlParams<ClassDictionariesParams<KsvdParams<T>>>;

/// The map's parameters of a [`pipeline`].
pub fn map_of<T: Real>(params: &Params<T>) -> NystroemParams {
    match &params.map {
        MapParams::Nystroem(map) => map.clone(),
        other => panic!("{other:?}"),
    }
}
