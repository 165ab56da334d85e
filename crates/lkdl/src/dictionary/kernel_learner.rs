//! Dictionary learning in the space of a kernel, LKDL Eq. (15), from inner products alone.
//!
//! ```math
//! \min_{A,\Gamma}\|\phi(X)-\phi(X)A\Gamma\|_F^2
//!   =\operatorname{tr}\left((I-A\Gamma)^TK(I-A\Gamma)\right)
//!   \quad\text{s.t.}\quad\|\gamma_i\|_0\le q,\ a_j^TKa_j=1
//! ```
//!
//! The dictionary is φ(X)A: its atoms are combinations of the samples, and A (n×m) is what is
//! learned. A learner sees the n×n Gram matrix K = φ(X)ᵀφ(X) and nothing of the kernel.

use super::{Stop, Warning};
use crate::error::LkdlError;
use crate::matrix::{check_addressable, matrix_bytes};
use crate::monitor::{Monitor, Silent};
use crate::pursuit::{Encoded, KernelOmp, Target, check_entries, check_gram, check_range};
use crate::real::Real;
use faer::{Mat, MatRef};

/// A way to learn one kernel dictionary from one Gram matrix.
pub trait KernelLearner<T: Real>: Sync {
    /// Learns from the n×n inner products of the samples. `stream` tells apart dictionaries that are
    /// learned with one seed, such as those of several classes. A learner with iterations reports
    /// each to `monitor`, and stops when asked.
    ///
    /// Symmetry and pairs of samples are checked; that no eigenvalue is negative is the caller's
    /// claim, or [`check_gram`]'s.
    fn learn_monitored(
        &self,
        gram: MatRef<'_, T>,
        stream: usize,
        monitor: &dyn Monitor,
    ) -> Result<KernelLearned<T>, LkdlError>;

    /// [`KernelLearner::learn_monitored`], unwatched.
    fn learn(&self, gram: MatRef<'_, T>, stream: usize) -> Result<KernelLearned<T>, LkdlError> {
        self.learn_monitored(gram, stream, &Silent)
    }

    /// [`KernelLearner::learn`] of a dictionary that is the only one, from inner products that must
    /// be positive semi-definite ([`check_gram`]).
    fn fit(&self, gram: MatRef<'_, T>) -> Result<KernelLearned<T>, LkdlError> {
        check_gram(gram)?;
        self.learn(gram, 0)
    }

    /// Steps that [`KernelLearner::learn_monitored`] reports at most; 0 if it reports none.
    fn steps(&self) -> usize {
        0
    }

    /// Atoms that are learned from n samples at most, for the memory plan. Unless a learner says
    /// otherwise: one per sample.
    fn n_atoms(&self, n_samples: usize) -> usize {
        n_samples
    }

    /// Bytes that learning from n samples needs beside K at most, for the memory plan. Unless a
    /// learner says otherwise: another matrix of that size.
    fn learning_bytes(&self, n_samples: usize) -> u64 {
        matrix_bytes::<T>(n_samples, n_samples)
    }
}

/// A learner chosen at run time.
impl<T: Real, L: KernelLearner<T> + ?Sized> KernelLearner<T> for Box<L> {
    fn learn_monitored(
        &self,
        gram: MatRef<'_, T>,
        stream: usize,
        monitor: &dyn Monitor,
    ) -> Result<KernelLearned<T>, LkdlError> {
        self.as_ref().learn_monitored(gram, stream, monitor)
    }

    fn steps(&self) -> usize {
        self.as_ref().steps()
    }

    fn n_atoms(&self, n_samples: usize) -> usize {
        self.as_ref().n_atoms(n_samples)
    }

    fn learning_bytes(&self, n_samples: usize) -> u64 {
        self.as_ref().learning_bytes(n_samples)
    }
}

/// A learned kernel dictionary φ(X)A.
#[derive(Debug, Clone)]
pub struct KernelLearned<T: Real> {
    /// A, n×m; every column has aᵀKa = 1.
    pub atom_weights: Mat<T>,
    /// ‖φ(X) − φ(X)AΓ‖_F / ‖φ(X)‖_F after the dictionary update of each iteration.
    pub errors: Vec<f64>,
    /// Why the iteration ended.
    pub stop: Stop,
    /// Atoms replaced over all iterations because unused, rarely used or near-duplicates.
    pub n_replaced: usize,
    /// What the caller may want to know.
    pub warnings: Vec<Warning>,
}

impl<T: Real> KernelLearned<T> {
    /// Γ for any signals over the final dictionary: `gram` is K as learned from, column i of `cross`
    /// is κ(X, z_i) and `self_values[i]` = κ(z_i, z_i).
    pub fn encode(
        &self,
        gram: MatRef<'_, T>,
        cross: MatRef<'_, T>,
        self_values: &[f64],
        target: Target,
    ) -> Result<Encoded<T>, LkdlError> {
        KernelOmp::new(gram, self.atom_weights.as_ref())?.encode(cross, self_values, target)
    }
}

/// What every kernel learner checks first: a usable K, and counts in range.
pub(super) fn check_kernel_problem<T: Real>(
    K: MatRef<'_, T>,
    n_atoms: usize,
    sparsity: usize,
    max_iters: usize,
    tol: f64,
) -> Result<(), LkdlError> {
    super::check_counts(n_atoms, sparsity, max_iters, tol)?;
    check_entries(K)?;
    check_addressable("the dictionary", matrix_bytes::<T>(K.nrows().max(n_atoms), n_atoms))?;
    check_range::<T>(&(0..K.ncols()).map(|i| K[(i, i)].wide()).collect::<Vec<_>>())
}
