//! Where a dictionary starts: m distinct non-zero samples of the class, normalised (the paper's
//! choice), the centres of their k-means (its choice for FDDL), or atoms given by the caller, for
//! example those of an earlier model.

use crate::distinct::distinct;
use crate::error::{LkdlError, Warning};
use crate::lloyd::lloyd;
use crate::matrix::{Columns, check_samples, check_size, col, columns_of, gather};
use crate::random::{Stage, permutation, stream};
use crate::real::Real;
use crate::vector::{axpy, norm_sq, normalize, scale};
use faer::Mat;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Starting atoms.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum InitialAtoms<T: Real> {
    /// Random distinct non-zero samples; if there are too few, mixtures of random pairs of them
    /// fill up, with [`Warning::MixedAtoms`].
    #[default]
    Samples,
    /// The first distinct non-zero samples, in order; filled up likewise.
    FirstSamples,
    /// Centres of k-means on the samples of the class, started at random distinct non-zero samples;
    /// no more samples than atoms: as [`InitialAtoms::Samples`].
    KMeans {
        /// Most Lloyd steps.
        max_iters: usize,
        /// Stop when the inertia falls by less (relative).
        tol: f64,
    },
    /// The caller's own atoms, one per column; they are normalised.
    Given(Mat<T>),
    /// Atoms for every class, in the order of the class indices, for example those of an earlier
    /// model; they are normalised.
    PerClass(Vec<Mat<T>>),
}

impl<T: Real> InitialAtoms<T> {
    /// k-means with the usual stopping rule: 25 steps, or a relative fall below 10⁻⁴.
    pub fn k_means() -> Self {
        Self::KMeans { max_iters: 25, tol: 1e-4 }
    }

    /// D_0 with `n_atoms` unit columns, and what was odd about it.
    pub(crate) fn draw(
        &self,
        X: Columns<'_, T>,
        n_atoms: usize,
        seed: u64,
        class: usize,
    ) -> Result<(Mat<T>, Vec<Warning>), LkdlError> {
        match self {
            Self::Samples => {
                let order =
                    permutation(&mut stream(seed, Stage::InitialAtoms, class, 0), X.ncols());
                from_samples(X, n_atoms, &order, seed, class)
            }
            Self::FirstSamples => {
                let order: Vec<usize> = (0..X.ncols()).collect();
                from_samples(X, n_atoms, &order, seed, class)
            }
            Self::KMeans { max_iters, tol } => {
                check_k_means(*max_iters, *tol)?;
                let order =
                    permutation(&mut stream(seed, Stage::InitialAtoms, class, 0), X.ncols());
                let chosen = usable(X, &order, n_atoms + 1);
                if chosen.len() <= n_atoms {
                    return from_samples(X, n_atoms, &order, seed, class);
                }
                Ok((centres(X, &chosen[..n_atoms], *max_iters, *tol)?, Vec::new()))
            }
            Self::PerClass(classes) => match classes.get(class) {
                Some(atoms) => Self::Given(atoms.clone()).draw(X, n_atoms, seed, class),
                None => {
                    let needed = format!("one dictionary per class, so more than {class}");
                    Err(LkdlError::parameter("initial atoms per class", classes.len(), needed))
                }
            },
            Self::Given(atoms) => {
                check_samples(atoms.as_ref(), "initial atoms")?;
                check_size("initial atoms' n_features", atoms.nrows(), X.nrows())?;
                check_size("initial atoms' count", atoms.ncols(), n_atoms)?;
                let mut D = atoms.clone();
                for j in 0..n_atoms {
                    if normalize(D.col_as_slice_mut(j)) == 0.0 {
                        return Err(LkdlError::AllZero { what: "an initial atom" });
                    }
                }
                Ok((D, Vec::new()))
            }
        }
    }
}

fn check_k_means(max_iters: usize, tol: f64) -> Result<(), LkdlError> {
    if max_iters == 0 {
        return Err(LkdlError::parameter("k-means max_iters", 0, "at least 1"));
    }
    if !(tol >= 0.0 && tol.is_finite()) {
        return Err(LkdlError::parameter("k-means tol", tol, "a finite number >= 0"));
    }
    Ok(())
}

/// The first `count` distinct non-zero samples in the given order.
fn usable<T: Real>(X: Columns<'_, T>, order: &[usize], count: usize) -> Vec<usize> {
    let mut usable = vec![false; X.ncols()];
    for i in distinct(X) {
        usable[i] = norm_sq(col(X, i)) > 0.0;
    }
    order.iter().copied().filter(|&i| usable[i]).take(count).collect()
}

/// k-means centres from the given samples, normalised. Where a centre is zero or was dropped, the
/// sample it started from stays.
fn centres<T: Real>(
    X: Columns<'_, T>,
    start: &[usize],
    max_iters: usize,
    tol: f64,
) -> Result<Mat<T>, LkdlError> {
    let mut D = gather(X, start);
    let centres = lloyd(X, D.clone(), max_iters, tol)?;
    for j in 0..start.len() {
        let has_centre = j < centres.ncols() && norm_sq(centres.col_as_slice(j)) > 0.0;
        if has_centre {
            D.col_as_slice_mut(j).copy_from_slice(centres.col_as_slice(j));
        }
        normalize(D.col_as_slice_mut(j));
    }
    Ok(D)
}

/// The first `n_atoms` distinct non-zero samples in the given order, then pair mixtures.
fn from_samples<T: Real>(
    X: Columns<'_, T>,
    n_atoms: usize,
    order: &[usize],
    seed: u64,
    class: usize,
) -> Result<(Mat<T>, Vec<Warning>), LkdlError> {
    let chosen = usable(X, order, n_atoms);
    if chosen.is_empty() {
        return Err(LkdlError::AllZero { what: "samples" });
    }
    let mut D = gather(X, &chosen);
    for j in 0..chosen.len() {
        normalize(D.col_as_slice_mut(j));
    }
    if chosen.len() == n_atoms {
        return Ok((D, Vec::new()));
    }
    if chosen.len() == 1 {
        return Ok((D, vec![Warning::FewerAtoms { wanted: n_atoms, got: 1 }]));
    }
    let warning = Warning::MixedAtoms { wanted: n_atoms, from_samples: chosen.len() };
    Ok((with_mixtures(&D, n_atoms, seed, class), vec![warning]))
}

/// Fills up with random normalised mixtures of pairs of two or more samples.
fn with_mixtures<T: Real>(unit: &Mat<T>, n_atoms: usize, seed: u64, class: usize) -> Mat<T> {
    let n = unit.ncols();
    let mut rng = stream(seed, Stage::InitialAtoms, class, 1);
    let mut D = Mat::zeros(unit.nrows(), n_atoms);
    D.as_mut().subcols_mut(0, n).copy_from(unit);
    for j in n..n_atoms {
        let first = rng.random_range(0..n);
        let second = (first + rng.random_range(1..n)) % n;
        let (a, b): (f64, f64) = (StandardNormal.sample(&mut rng), StandardNormal.sample(&mut rng));
        let atom = D.col_as_slice_mut(j);
        atom.copy_from_slice(col(columns_of(unit), first));
        scale(atom, T::of(a));
        axpy(atom, T::of(b), col(columns_of(unit), second));
        if normalize(atom) == 0.0 {
            // opposite samples in equal parts: fall back to one of them
            atom.copy_from_slice(col(columns_of(unit), first));
        }
    }
    D
}
