//! Where a kernel dictionary φ(X)A starts: m distinct samples of non-zero norm, a = e_i/√K_ii, or
//! weights given by the caller. The draws are those of [`InitialAtoms`](super::InitialAtoms), so
//! that a kernel learner and a linear one on virtual samples start alike.

use crate::error::{LkdlError, Warning};
use crate::matrix::{Columns, check_samples, check_size};
use crate::random::{Stage, permutation, stream};
use crate::real::Real;
use faer::Mat;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Two samples whose squared distance is within this many ε of their squared norms are copies: the
/// rounding of K separates them no better.
const COPY: f64 = 64.0;

/// Starting weights.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum InitialWeights<T: Real> {
    /// Random distinct samples of non-zero norm; if there are too few, mixtures of random pairs of
    /// them fill up, with [`Warning::MixedAtoms`].
    #[default]
    Samples,
    /// The first distinct samples of non-zero norm, in order; filled up likewise.
    FirstSamples,
    /// The caller's own A, n×m; its columns are scaled to aᵀKa = 1.
    Given(Mat<T>),
    /// A for every class, in the order of the class indices; scaled likewise.
    PerClass(Vec<Mat<T>>),
}

impl<T: Real> InitialWeights<T> {
    /// A_0, its columns not yet scaled, and what was odd about it.
    pub(super) fn draw(
        &self,
        K: Columns<'_, T>,
        n_atoms: usize,
        seed: u64,
        class: usize,
    ) -> Result<(Mat<T>, Vec<Warning>), LkdlError> {
        let given = match self {
            Self::Samples => {
                let mut rng = stream(seed, Stage::InitialAtoms, class, 0);
                let order = permutation(&mut rng, K.ncols());
                return from_samples(K, n_atoms, &order, seed, class);
            }
            Self::FirstSamples => {
                let order: Vec<usize> = (0..K.ncols()).collect();
                return from_samples(K, n_atoms, &order, seed, class);
            }
            Self::Given(weights) => weights,
            Self::PerClass(classes) => classes.get(class).ok_or_else(|| {
                let needed = format!("one matrix per class, so more than {class}");
                LkdlError::parameter("initial weights per class", classes.len(), needed)
            })?,
        };
        check_samples(given.as_ref(), "initial weights")?;
        check_size("initial weights' rows", given.nrows(), K.ncols())?;
        check_size("initial weights' count", given.ncols(), n_atoms)?;
        Ok((given.clone(), Vec::new()))
    }
}

/// The first `n_atoms` distinct samples in the given order, then pair mixtures.
fn from_samples<T: Real>(
    K: Columns<'_, T>,
    n_atoms: usize,
    order: &[usize],
    seed: u64,
    class: usize,
) -> Result<(Mat<T>, Vec<Warning>), LkdlError> {
    let norm = |i: usize| K[(i, i)].wide().max(0.0).sqrt();
    let mut chosen: Vec<usize> = Vec::with_capacity(n_atoms.min(order.len()));
    for &i in order {
        if chosen.len() == n_atoms {
            break;
        }
        if norm(i) > 0.0 && !chosen.iter().any(|&s| is_copy(K, i, s)) {
            chosen.push(i);
        }
    }
    if chosen.is_empty() {
        return Err(LkdlError::AllZero { what: "Gram matrix" });
    }
    let n_drawn = chosen.len();
    let n_made = if n_drawn == 1 { 1 } else { n_atoms };
    let mut A = Mat::zeros(K.ncols(), n_made);
    for (j, &i) in chosen.iter().enumerate() {
        A[(i, j)] = T::of(1.0 / norm(i));
    }
    if n_drawn == n_atoms {
        return Ok((A, Vec::new()));
    }
    if n_drawn == 1 {
        return Ok((A, vec![Warning::FewerAtoms { wanted: n_atoms, got: 1 }]));
    }
    fill_with_mixtures(K, &chosen, &mut A, seed, class);
    Ok((A, vec![Warning::MixedAtoms { wanted: n_atoms, from_samples: n_drawn }]))
}

/// ‖φ(x_i) − φ(x_s)‖² at rounding level.
fn is_copy<T: Real>(K: Columns<'_, T>, i: usize, s: usize) -> bool {
    let (own, other) = (K[(i, i)].wide(), K[(s, s)].wide());
    own + other - 2.0 * K[(i, s)].wide() <= COPY * T::EPS * (own + other)
}

/// Columns from `chosen.len()` on: random mixtures of two chosen samples, scaled to unit norm.
fn fill_with_mixtures<T: Real>(
    K: Columns<'_, T>,
    chosen: &[usize],
    A: &mut Mat<T>,
    seed: u64,
    class: usize,
) {
    let n = chosen.len();
    let mut rng = stream(seed, Stage::InitialAtoms, class, 1);
    for j in n..A.ncols() {
        let first = rng.random_range(0..n);
        let second = (first + rng.random_range(1..n)) % n;
        let (a, b): (f64, f64) = (StandardNormal.sample(&mut rng), StandardNormal.sample(&mut rng));
        let (f, s) = (chosen[first], chosen[second]);
        let (norm_f, norm_s) = (K[(f, f)].wide().sqrt(), K[(s, s)].wide().sqrt());
        let sq = a * a + b * b + 2.0 * a * b * K[(f, s)].wide() / (norm_f * norm_s);
        if sq > COPY * T::EPS * (a * a + b * b) {
            A[(f, j)] = T::of(a / (norm_f * sq.sqrt()));
            A[(s, j)] = T::of(b / (norm_s * sq.sqrt()));
        } else {
            A[(f, j)] = T::of(1.0 / norm_f); // opposite samples in equal parts
        }
    }
}
