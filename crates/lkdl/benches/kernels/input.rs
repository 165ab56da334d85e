//! Operands, made outside the timed closures.

use chacha20::ChaCha8Rng;
use faer::Mat;
use lkdl::Real;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

/// Deviations of features fall as t to this power, like the principal components of small images:
/// kernel matrices then have a decaying spectrum.
const DECAY: f64 = -0.75;

/// Columns of unit norm with features of falling deviation.
pub fn samples<T: Real>(n_features: usize, n_samples: usize, seed: u64) -> Mat<T> {
    unit_columns(n_features, n_samples, seed, DECAY)
}

/// Columns of unit norm in random directions.
pub fn directions<T: Real>(n_rows: usize, n_cols: usize, seed: u64) -> Mat<T> {
    unit_columns(n_rows, n_cols, seed, 0.0)
}

fn unit_columns<T: Real>(n_rows: usize, n_cols: usize, seed: u64, decay: f64) -> Mat<T> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut X = Mat::<f64>::from_fn(n_rows, n_cols, |t, _| {
        let z: f64 = StandardNormal.sample(&mut rng);
        z * ((t + 1) as f64).powf(decay)
    });
    for i in 0..n_cols {
        let x = X.col_as_slice_mut(i);
        let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
        x.iter_mut().for_each(|v| *v /= norm);
    }
    Mat::from_fn(n_rows, n_cols, |t, i| T::of(X[(t, i)]))
}
