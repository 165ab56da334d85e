//! Dictionary learning: LKDL Eq. (2), min ‖X − DΓ‖_F² s.t. ‖γ_i‖₀ ≤ q, ‖d_j‖ = 1.
//!
//! The learners see a matrix of samples and nothing else. Whether its columns are pixels or
//! virtual samples of a kernel is not their concern; that is the whole point of LKDL, and why
//! nothing in this module imports the map.
//!
//! The exact kernel learners ([`KernelLearner`]), which LKDL replaces, see a Gram matrix and nothing
//! else.

mod clean;
mod coordinates;
mod feed;
mod incremental;
mod initial;
mod initial_weights;
pub mod kernel_ksvd;
mod kernel_learner;
pub mod kernel_mod;
mod kernel_reference;
mod kernel_residual;
mod kernel_state;
pub mod ksvd;
pub mod online;
pub mod optimal_directions;
mod passes;
mod refit;
mod regression;
pub mod rls;
mod statistics;

pub use clean::Cleaning;
pub(crate) use clean::set_atom;
pub(crate) use coordinates::sweep_atoms;
pub use feed::StreamLearner;
pub(crate) use feed::{Fed, PerPass};
pub use incremental::{BatchReport, BatchUpdate, Incremental};
pub use initial::InitialAtoms;
pub use initial_weights::InitialWeights;
pub use kernel_ksvd::{KernelKsvdParams, KernelUpdate};
pub use kernel_learner::{KernelLearned, KernelLearner};
pub use kernel_mod::KernelModParams;
pub use ksvd::{AtomOrder, AtomUpdate, KsvdParams};
pub use online::{OnlineCoding, OnlineDictionary, OnlineParams};
pub use optimal_directions::ModParams;
pub use passes::MultiPassMod;
pub(crate) use regression::ridge_regression;
pub use rls::{RlsDictionary, RlsParams};
pub use statistics::{DictionaryStatistics, DictionarySums, Updated, WorstSample};

use crate::error::{LkdlError, Warning};
use crate::matrix::{
    BLOCK, Columns, Contiguous, check_addressable, check_samples, col, column_sq_norms, columns_of,
    matrix_bytes,
};
use crate::monitor::{Monitor, Silent};
use crate::pursuit::{BatchOmp, Codes, Encoded, Target, check_range};
use crate::real::Real;
use crate::vector::axpy;
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// A way to learn one dictionary from one set of samples.
pub trait Learner<T: Real>: Sync {
    /// Learns from all columns of `samples`. `stream` tells apart dictionaries that are learned
    /// with one seed, such as those of several classes. A learner with iterations reports each to
    /// `monitor`, and stops when asked.
    fn learn_monitored(
        &self,
        samples: MatRef<'_, T>,
        stream: usize,
        monitor: &dyn Monitor,
    ) -> Result<Learned<T>, LkdlError>;

    /// [`Learner::learn_monitored`], unwatched.
    fn learn(&self, samples: MatRef<'_, T>, stream: usize) -> Result<Learned<T>, LkdlError> {
        self.learn_monitored(samples, stream, &Silent)
    }

    /// [`Learner::learn`] of a dictionary that is the only one.
    fn fit(&self, samples: MatRef<'_, T>) -> Result<Learned<T>, LkdlError> {
        self.learn(samples, 0)
    }

    /// Steps that [`Learner::learn_monitored`] reports at most; 0 if it reports none.
    fn steps(&self) -> usize {
        0
    }

    /// Bytes that learning from so many samples needs beside them, for the memory plan. Unless a
    /// learner says otherwise: one residual per sample.
    fn learning_bytes(&self, n_features: usize, n_samples: usize) -> u64 {
        matrix_bytes::<T>(n_features, n_samples)
    }
}

/// A learner chosen at run time.
impl<T: Real, L: Learner<T> + ?Sized> Learner<T> for Box<L> {
    fn learn_monitored(
        &self,
        samples: MatRef<'_, T>,
        stream: usize,
        monitor: &dyn Monitor,
    ) -> Result<Learned<T>, LkdlError> {
        self.as_ref().learn_monitored(samples, stream, monitor)
    }

    fn steps(&self) -> usize {
        self.as_ref().steps()
    }

    fn learning_bytes(&self, n_features: usize, n_samples: usize) -> u64 {
        self.as_ref().learning_bytes(n_features, n_samples)
    }
}

/// E, D, Gram matrices and the codes of a learner that alternates coding and update.
fn alternating_bytes<T: Real>(
    n_features: usize,
    n_samples: usize,
    n_atoms: usize,
    sparsity: usize,
) -> u64 {
    let entry = (size_of::<T>() + size_of::<u32>() + 2 * size_of::<usize>()) as u64;
    matrix_bytes::<T>(n_features, n_samples)
        + 2 * matrix_bytes::<T>(n_features, n_atoms)
        + 3 * matrix_bytes::<T>(n_atoms, n_atoms)
        + matrix_bytes::<T>(n_atoms, BLOCK)
        + matrix_bytes::<u8>(n_samples, sparsity) * entry
}

/// A learned dictionary.
#[derive(Debug, Clone)]
pub struct Learned<T: Real> {
    /// D, unit columns.
    pub dictionary: Mat<T>,
    /// ‖X − DΓ‖_F / ‖X‖_F after the dictionary update of each iteration.
    pub errors: Vec<f64>,
    /// Why the iteration ended.
    pub stop: Stop,
    /// Atoms replaced over all iterations because unused, rarely used or near-duplicates.
    pub n_replaced: usize,
    /// What the caller may want to know.
    pub warnings: Vec<Warning>,
}

impl<T: Real> Learned<T> {
    /// Γ for any samples over the final dictionary (never the stale codes of training).
    pub fn encode(&self, samples: MatRef<'_, T>, target: Target) -> Result<Encoded<T>, LkdlError> {
        BatchOmp::new(self.dictionary.as_ref())?.encode(samples, target)
    }
}

/// Why an iteration ended: an outcome, not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The error fell by less than the tolerance twice in a row.
    Converged,
    /// All iterations were used.
    MaxIters,
}

impl Stop {
    /// Whether the errors so far end the iteration.
    fn reached(errors: &[f64], tol: f64, max_iters: usize) -> Option<Self> {
        let small = |w: &[f64]| w[0] - w[1] <= tol * w[0];
        let stalled =
            tol > 0.0 && errors.len() >= 3 && errors[errors.len() - 3..].windows(2).all(small);
        if stalled {
            Some(Self::Converged)
        } else {
            (errors.len() >= max_iters).then_some(Self::MaxIters)
        }
    }
}

/// What every learner checks first: usable samples, and counts in range.
fn check_problem<T: Real>(
    samples: MatRef<'_, T>,
    n_atoms: usize,
    sparsity: usize,
    max_iters: usize,
    tol: f64,
) -> Result<(), LkdlError> {
    check_samples(samples, "samples")?;
    let dictionary = matrix_bytes::<T>(samples.nrows().max(n_atoms), n_atoms);
    check_addressable("the dictionary", dictionary)?;
    check_range::<T>(&column_sq_norms(Contiguous::new(samples).columns()))?;
    check_counts(n_atoms, sparsity, max_iters, tol)
}

/// The parameters that all learners share.
fn check_counts(
    n_atoms: usize,
    sparsity: usize,
    max_iters: usize,
    tol: f64,
) -> Result<(), LkdlError> {
    if !(tol >= 0.0 && tol.is_finite()) {
        return Err(LkdlError::parameter("tol", tol, "a finite number >= 0"));
    }
    if n_atoms == 0 {
        return Err(LkdlError::parameter("n_atoms", n_atoms, "at least 1"));
    }
    if sparsity == 0 || sparsity > n_atoms {
        let range = format!("between 1 and n_atoms = {n_atoms}");
        return Err(LkdlError::parameter("sparsity", sparsity, range));
    }
    if max_iters == 0 {
        return Err(LkdlError::parameter("max_iters", max_iters, "at least 1"));
    }
    Ok(())
}

/// Samples that no atom can represent and no dictionary is learned from.
pub(crate) fn zero_samples<T: Real>(X: Columns<'_, T>) -> Option<Warning> {
    let count = column_sq_norms(X).into_iter().filter(|&norm| norm == 0.0).count();
    (count > 0).then_some(Warning::ZeroSamples { count })
}

/// E = X − DΓ, one contiguous column per signal.
fn residuals<T: Real>(X: Columns<'_, T>, D: &Mat<T>, codes: &Codes<T>) -> Mat<T> {
    let mut E = Mat::zeros(X.nrows(), X.ncols());
    residuals_into(&mut E, X, D, codes);
    E
}

/// [`residuals`] in memory that is there already.
fn residuals_into<T: Real>(E: &mut Mat<T>, X: Columns<'_, T>, D: &Mat<T>, codes: &Codes<T>) {
    let D = columns_of(D);
    E.as_mut().par_col_chunks_mut(BLOCK).enumerate().for_each(|(t, block)| {
        let Some(block) = block.try_as_col_major_mut() else { return };
        for (slot, e) in block.col_iter_mut().enumerate() {
            let i = t * BLOCK + slot;
            let (atoms, values) = codes.signal(i);
            let e = e.as_slice_mut();
            e.copy_from_slice(col(X, i));
            for (&j, &value) in atoms.iter().zip(values) {
                axpy(e, T::of(0.0) - value, col(D, j as usize));
            }
        }
    });
}

/// Signals that may replace an atom, each at most once per iteration.
#[derive(Clone)]
pub(crate) struct Candidates {
    taken: Vec<bool>,
}

impl Candidates {
    /// All non-zero signals.
    pub(crate) fn new<T: Real>(X: Columns<'_, T>) -> Self {
        Self::of_norms(&column_sq_norms(X))
    }

    /// All signals but those whose squared norm is 0.
    pub(crate) fn of_norms(sq_norms: &[f64]) -> Self {
        Self { taken: sq_norms.iter().map(|&norm| norm == 0.0).collect() }
    }

    /// Takes the signal with the largest error (lowest index on ties); `None` if none is left.
    pub(crate) fn take_worst(&mut self, sq_errors: &[f64]) -> Option<usize> {
        let mut worst: Option<usize> = None;
        for i in (0..sq_errors.len()).filter(|&i| !self.taken[i]) {
            if worst.is_none_or(|w| sq_errors[i] > sq_errors[w]) {
                worst = Some(i);
            }
        }
        if let Some(i) = worst {
            self.taken[i] = true;
        }
        worst
    }
}

#[cfg(test)]
mod tests;
