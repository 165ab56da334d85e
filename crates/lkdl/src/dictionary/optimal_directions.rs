//! MOD, the method of optimal directions: LKDL Eqs. (3), (4); Engan et al. 1999.
//!
//! Code every sample, then refit all atoms at once:
//!
//! ```math
//! D=\arg\min_D\|X-D\Gamma\|_F^2=X\Gamma^T(\Gamma\Gamma^T+\delta I)^{-1}
//! ```
//!
//! with δ at the level of rounding, then d_j to unit norm and row j of Γ by as much longer. The two
//! sums A = ΓΓᵀ and B = XΓᵀ are formed atom by atom from the sparse codes, so they cost q² and 2kq
//! per signal and parallelise over atoms without any merging.
//!
//! **When to use it.** As K-SVD ([`KsvdParams`](super::KsvdParams)), where atoms are few or samples
//! come in parts: the sums of parts add up to those of the whole. It takes more iterations.
//!
//! **Cost** per iteration: the coding of K-SVD, q²N + 2kqN for the sums, m³/3 + 2km² to solve.
//!
//! ```
//! use faer::Mat;
//! use lkdl::dictionary::{Learner, ModParams};
//!
//! let samples = Mat::from_fn(5, 80, |t, i| ((t + 1) as f64 * (i % 8) as f64).sin());
//! let params = ModParams { n_atoms: 6, sparsity: 2, max_iters: 15, ..Default::default() };
//! let learned = params.fit(samples.as_ref())?;
//! assert!(learned.errors.last() < learned.errors.first());
//! # Ok::<(), lkdl::LkdlError>(())
//! ```

use super::clean::set_atom;
use super::regression::divide;
use super::{
    Candidates, InitialAtoms, Learned, Learner, Stop, alternating_bytes, check_problem, residuals,
    zero_samples,
};
use crate::error::LkdlError;
use crate::matrix::matrix_bytes;
use crate::matrix::{Columns, Contiguous, col, columns_of, frobenius_sq};
use crate::monitor::Monitor;
use crate::pursuit::{BatchOmp, Codes, Encoded};
use crate::real::Real;
use crate::vector::{axpy_wide, norm_sq};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// δ as a share of tr(ΓΓᵀ)/m: invisible in the result, enough for the factorisation.
const RIDGE: f64 = 1e-10;

/// MOD's parameters.
#[derive(Debug, Clone)]
pub struct ModParams<T: Real> {
    /// m.
    pub n_atoms: usize,
    /// q.
    pub sparsity: usize,
    /// The iterations at most.
    pub max_iters: usize,
    /// Stop when the relative error falls by less than this share twice in a row; 0 never stops.
    pub tol: f64,
    /// Where the dictionary starts.
    pub initial: InitialAtoms<T>,
    /// Seed of the initial atoms.
    pub seed: u64,
}

impl<T: Real> Default for ModParams<T> {
    fn default() -> Self {
        Self {
            n_atoms: 100,
            sparsity: 5,
            max_iters: 10,
            tol: 1e-4,
            initial: InitialAtoms::default(),
            seed: 0,
        }
    }
}

impl<T: Real> Learner<T> for ModParams<T> {
    fn learn_monitored(
        &self,
        samples: MatRef<'_, T>,
        class: usize,
        monitor: &dyn Monitor,
    ) -> Result<Learned<T>, LkdlError> {
        check_problem(samples, self.n_atoms, self.sparsity, self.max_iters, self.tol)?;
        let X = Contiguous::new(samples);
        let X = X.columns();
        let (mut D, mut warnings) = self.initial.draw(X, self.n_atoms, self.seed, class)?;
        warnings.extend(zero_samples(X));
        let sq_norm = frobenius_sq(X);
        let (mut errors, mut n_replaced) = (Vec::new(), 0);
        let stop = loop {
            let coder = BatchOmp::from_atoms(D);
            let Encoded { mut codes, sq_residuals } = coder.encode_sparsely(X, self.sparsity);
            D = coder.into_atoms();
            let used = update(X, &mut D, &mut codes)?;
            let E = residuals(X, &D, &codes);
            errors.push((frobenius_sq(columns_of(&E)) / sq_norm).sqrt());
            n_replaced += replace_unused(X, &mut D, &sq_residuals, &used);
            monitor.iterated(class, errors.last().copied().unwrap_or(1.0));
            if let Some(stop) = Stop::reached(&errors, self.tol, self.max_iters) {
                break stop;
            }
            monitor.check()?;
        };
        Ok(Learned { dictionary: D, errors, stop, n_replaced, warnings })
    }

    fn steps(&self) -> usize {
        self.max_iters
    }

    fn learning_bytes(&self, n_features: usize, n_samples: usize) -> u64 {
        alternating_bytes::<T>(n_features, n_samples, self.n_atoms, self.sparsity)
            + 3 * matrix_bytes::<f64>(self.n_atoms, self.n_atoms)
    }
}

/// D = B(A + δI)⁻¹ with unit columns, rows of Γ scaled inversely so that DΓ is unchanged by the
/// normalisation. Returns which atoms are in use; the others are left as they were.
pub(crate) fn update<T: Real>(
    X: Columns<'_, T>,
    D: &mut Mat<T>,
    codes: &mut Codes<T>,
) -> Result<Vec<bool>, LkdlError> {
    let fresh = solve_for_atoms(code_products(codes), sample_products(X, codes))?;
    let users = codes.users();
    let norms = refit(D, &fresh, |j| !users[j].is_empty());
    for (users, norm) in users.iter().zip(&norms) {
        for &(_, position) in users {
            let value = codes.value_mut(position);
            *value = T::of(value.wide() * norm);
        }
    }
    Ok(norms.iter().map(|&norm| norm > 0.0).collect())
}

/// The atoms in use become the columns of `fresh`, brought to unit norm. Returns the norms they had;
/// 0 where an atom is not in use or its column is no direction, and stays as it was.
pub(super) fn refit<T: Real>(
    D: &mut Mat<T>,
    fresh: &Mat<f64>,
    in_use: impl Fn(usize) -> bool,
) -> Vec<f64> {
    let refit_atom = |j: usize| {
        let norm = norm_sq(fresh.col_as_slice(j)).sqrt();
        if !(in_use(j) && norm > 0.0 && norm.is_finite()) {
            return 0.0;
        }
        for (to, from) in D.col_as_slice_mut(j).iter_mut().zip(fresh.col_as_slice(j)) {
            *to = T::of(from / norm);
        }
        norm
    };
    (0..fresh.ncols()).map(refit_atom).collect()
}

/// A = ΓΓᵀ (m×m) in `f64`.
pub(super) fn code_products<T: Real>(codes: &Codes<T>) -> Mat<f64> {
    let m = codes.n_atoms();
    let mut A = Mat::zeros(m, m);
    add_code_products(&mut A, 1.0, codes);
    A
}

/// B = XΓᵀ (k×m) in `f64`.
pub(super) fn sample_products<T: Real>(X: Columns<'_, T>, codes: &Codes<T>) -> Mat<f64> {
    let mut B = Mat::zeros(X.nrows(), codes.n_atoms());
    add_sample_products(&mut B, 1.0, X, codes);
    B
}

/// A += w·ΓΓᵀ: column j is a sum over the users of atom j.
pub(super) fn add_code_products<T: Real>(A: &mut Mat<f64>, weight: f64, codes: &Codes<T>) {
    let users = codes.users();
    for_each_atom(A, |j, a| add_codes_of(a, weight, &users[j], codes));
}

/// Calls `f(j, column j)` for every atom, on all threads.
pub(super) fn for_each_atom(sum: &mut Mat<f64>, f: impl Fn(usize, &mut [f64]) + Sync) {
    sum.as_mut().par_col_iter_mut().enumerate().for_each(|(j, column)| {
        let Some(column) = column.try_as_col_major_mut() else {
            unreachable!("columns of an owned matrix are contiguous")
        };
        f(j, column.as_slice_mut());
    });
}

/// The part of ΓΓᵀ that belongs to one atom.
pub(super) fn add_codes_of<T: Real>(
    a: &mut [f64],
    weight: f64,
    users: &[(usize, usize)],
    codes: &Codes<T>,
) {
    let (_, _, values) = codes.parts();
    for &(i, position) in users {
        let value = weight * values[position].wide();
        let (atoms, others) = codes.signal(i);
        for (&other, o) in atoms.iter().zip(others) {
            a[other as usize] += value * o.wide();
        }
    }
}

/// B += w·XΓᵀ, likewise.
pub(super) fn add_sample_products<T: Real>(
    B: &mut Mat<f64>,
    weight: f64,
    X: Columns<'_, T>,
    codes: &Codes<T>,
) {
    let users = codes.users();
    for_each_atom(B, |j, b| add_samples_of(b, weight, X, &users[j], codes));
}

/// The part of XΓᵀ that belongs to one atom.
pub(super) fn add_samples_of<T: Real>(
    b: &mut [f64],
    weight: f64,
    X: Columns<'_, T>,
    users: &[(usize, usize)],
    codes: &Codes<T>,
) {
    let (_, _, values) = codes.parts();
    for &(i, position) in users {
        axpy_wide(b, weight * values[position].wide(), col(X, i));
    }
}

/// B(A + δI)⁻¹.
pub(super) fn solve_for_atoms(mut A: Mat<f64>, B: Mat<f64>) -> Result<Mat<f64>, LkdlError> {
    let m = A.ncols();
    let trace: f64 = (0..m).map(|j| A[(j, j)]).sum();
    for j in 0..m {
        // An unused atom has a zero row: give it a pivot of its own.
        A[(j, j)] += if A[(j, j)] > 0.0 { RIDGE * trace / m as f64 } else { trace.max(1.0) };
    }
    divide(A.as_ref(), B.as_ref())
}

/// Unused atoms become the signals that were represented worst when coded. Returns how many.
fn replace_unused<T: Real>(
    X: Columns<'_, T>,
    D: &mut Mat<T>,
    sq_residuals: &[f64],
    used: &[bool],
) -> usize {
    let mut candidates = Candidates::new(X);
    let mut n_replaced = 0;
    for j in (0..D.ncols()).filter(|&j| !used[j]) {
        let Some(i) = candidates.take_worst(sq_residuals) else { break };
        set_atom(D, j, col(X, i));
        n_replaced += 1;
    }
    n_replaced
}
