//! The default width of a kernel: the median distance between random pairs of samples.

use super::Kernel;
use super::panel::{chi2_term, norm};
use crate::error::LkdlError;
use crate::matrix::{Columns, Contiguous, check_samples, col};
use crate::random::{Stage, stream};
use crate::real::Real;
use faer::MatRef;
use rand::RngExt;

/// Pairs drawn for the median.
const PAIRS: usize = 1000;

/// The median ℓ2 distance over 1,000 random pairs, those that coincide left out; 1 if all do.
pub fn median_distance<T: Real>(samples: MatRef<'_, T>, seed: u64) -> Result<f64, LkdlError> {
    check_samples(samples, "samples")?;
    let X = Contiguous::new(samples);
    Ok(median_over_pairs(X.columns(), seed, |x, y| {
        norm(&x.iter().zip(y).map(|(a, b)| a.wide() - b.wide()).collect::<Vec<_>>())
    }))
}

/// Σ_t term(x_t, y_t) in `f64`, whose range the sums of few samples do not leave.
fn sum<T: Real>(x: &[T], y: &[T], term: impl Fn(f64, f64) -> f64) -> f64 {
    x.iter().zip(y).map(|(a, b)| term(a.wide(), b.wide())).sum()
}

/// The median of the positive values of `distance` over random pairs; 1 if there is none.
fn median_over_pairs<T: Real>(
    X: Columns<'_, T>,
    seed: u64,
    distance: impl Fn(&[T], &[T]) -> f64,
) -> f64 {
    let n = X.ncols();
    let mut rng = stream(seed, Stage::KernelWidth, 0, 0);
    let mut distances: Vec<f64> = (0..PAIRS)
        .map(|_| (rng.random_range(0..n), rng.random_range(0..n)))
        .filter(|(i, j)| i != j)
        .map(|(i, j)| distance(col(X, i), col(X, j)))
        .filter(|d| *d > 0.0 && d.is_finite())
        .collect();
    distances.sort_unstable_by(f64::total_cmp);
    distances.get(distances.len() / 2).copied().unwrap_or(1.0)
}

impl Kernel {
    /// The same kernel with its width set from the data: σ = median distance (Gaussian,
    /// exponential), rate = 1/median (Laplacian, exponential χ², each with its own distance).
    /// Kernels without a width come back unchanged.
    pub fn with_median_width<T: Real>(
        &self,
        samples: MatRef<'_, T>,
        seed: u64,
    ) -> Result<Self, LkdlError> {
        check_samples(samples, "samples")?;
        self.check_domain(samples, 0)?;
        let X = Contiguous::new(samples);
        Ok(match self {
            Self::Gaussian { .. } => Self::Gaussian { sigma: median_distance(samples, seed)? },
            Self::Exponential { .. } => {
                Self::Exponential { sigma: median_distance(samples, seed)? }
            }
            Self::Laplacian { .. } => Self::Laplacian {
                rate: 1.0
                    / median_over_pairs(X.columns(), seed, |x, y| sum(x, y, |a, b| (a - b).abs())),
            },
            Self::Chi2Exponential { .. } => Self::Chi2Exponential {
                rate: 1.0 / median_over_pairs(X.columns(), seed, |x, y| sum(x, y, chi2_term)),
            },
            Self::Normalized(inner) => {
                Self::Normalized(Box::new(inner.with_median_width(samples, seed)?))
            }
            other => other.clone(),
        })
    }
}
