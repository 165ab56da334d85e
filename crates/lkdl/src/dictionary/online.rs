//! Online dictionary learning: Mairal, Bach, Ponce & Sapiro 2010.
//!
//! Per mini-batch t: code it, add its products to the fading sums A and B with β = (1 − 1/t)^ρ, and
//! move every atom to where the quadratic form of the sums has its minimum, one after the other:
//!
//! ```math
//! u=\frac{b_j-Da_j}{A_{jj}}+d_j,\qquad d_j\leftarrow\frac u{\max(1,\|u\|)}
//! ```
//!
//! With codes of a fixed number of atoms there is no penalty that a longer atom would evade, so
//! d_j = u/‖u‖, and the sums are brought to the new unit: row and column j of A and column j of B
//! are multiplied by ‖u‖. Cost per batch of b samples: the codes, and 2km² for the sweep.

use super::coordinates::sweep_atoms;
use super::incremental::{
    BatchReport, BatchUpdate, FadingSums, Incremental, Passes, incremental_bytes, learn_in_memory,
    pad_rows,
};
use super::{Candidates, InitialAtoms, Learned, Learner, check_counts, check_problem, set_atom};
use crate::error::LkdlError;
use crate::matrix::{Contiguous, col};
use crate::monitor::Monitor;
use crate::pursuit::lasso::{LassoParams, Penalty};
use crate::pursuit::{BatchOmp, Encoded};
use crate::real::Real;
use crate::state::{Saved, Saving};
use crate::vector::{norm_sq, normalize, scale};
use faer::{Mat, MatRef};

/// An atom whose A_jj is below this share of the mean has no users, now or in the past.
const UNUSED: f64 = 1e-10;

/// How a mini-batch is coded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OnlineCoding {
    /// By orthogonal matching pursuit, with so many atoms at most.
    Omp {
        /// q.
        sparsity: usize,
    },
    /// By the lasso.
    Lasso {
        /// λ.
        penalty: Penalty,
    },
}

/// Online dictionary learning's parameters.
#[derive(Debug, Clone)]
pub struct OnlineParams<T: Real> {
    /// m.
    pub n_atoms: usize,
    /// How a mini-batch is coded.
    pub coding: OnlineCoding,
    /// b, the samples of a mini-batch.
    pub batch_size: usize,
    /// ρ: how fast the past fades; 0 keeps it all.
    pub fading: f64,
    /// Passes over samples in memory at most.
    pub max_iters: usize,
    /// Stop when the relative error of a pass falls by less than this share twice in a row; 0 never
    /// stops.
    pub tol: f64,
    /// Where the dictionary starts.
    pub initial: InitialAtoms<T>,
    /// Seed of the initial atoms and of the order of samples in memory.
    pub seed: u64,
}

impl<T: Real> Default for OnlineParams<T> {
    fn default() -> Self {
        Self {
            n_atoms: 100,
            coding: OnlineCoding::Omp { sparsity: 5 },
            batch_size: 256,
            fading: 1.5,
            max_iters: 10,
            tol: 1e-4,
            initial: InitialAtoms::default(),
            seed: 0,
        }
    }
}

impl<T: Real> OnlineParams<T> {
    /// A learner to be fed; starting atoms are drawn from `pilot`, which it does not learn from.
    pub fn start(
        &self,
        pilot: MatRef<'_, T>,
        stream: usize,
    ) -> Result<Incremental<T, OnlineDictionary<T>>, LkdlError> {
        self.check(pilot)?;
        let X = Contiguous::new(pilot);
        let (D, warnings) = self.initial.draw(X.columns(), self.n_atoms, self.seed, stream)?;
        let state = OnlineDictionary {
            sums: FadingSums::zeros(D.nrows(), D.ncols()),
            D,
            coding: self.coding,
            fading: self.fading,
            n_batches: 0,
        };
        Ok(Incremental::new(state, self.batch_size, warnings))
    }

    /// The learner that was saved under `at` while it was fed with the same parameters.
    pub fn resume(
        &self,
        at: &str,
        from: &mut Saved<T>,
    ) -> Result<Incremental<T, OnlineDictionary<T>>, LkdlError> {
        let D = from.matrix(at, "D")?;
        let [n_batches] = from.counts(at, "batches")?;
        let sums = FadingSums::restore(&D, at, from)?;
        let (coding, fading) = (self.coding, self.fading);
        let state = OnlineDictionary { D, sums, coding, fading, n_batches };
        Incremental::restore(state, self.batch_size, at, from)
    }

    fn check(&self, samples: MatRef<'_, T>) -> Result<(), LkdlError> {
        let sparsity = match self.coding {
            OnlineCoding::Omp { sparsity } => sparsity,
            OnlineCoding::Lasso { penalty } => {
                LassoParams { penalty, ..Default::default() }.check()?;
                1
            }
        };
        check_counts(self.n_atoms, sparsity, self.max_iters, self.tol)?;
        if self.batch_size == 0 {
            return Err(LkdlError::parameter("batch_size", 0, "at least 1"));
        }
        if !(self.fading >= 0.0 && self.fading.is_finite()) {
            return Err(LkdlError::parameter("fading", self.fading, "a finite number >= 0"));
        }
        check_problem(samples, self.n_atoms, sparsity, self.max_iters, self.tol)
    }
}

impl<T: Real> Learner<T> for OnlineParams<T> {
    fn learn_monitored(
        &self,
        samples: MatRef<'_, T>,
        class: usize,
        monitor: &dyn Monitor,
    ) -> Result<Learned<T>, LkdlError> {
        let X = Contiguous::new(samples);
        let passes = Passes { max: self.max_iters, tol: self.tol, seed: self.seed, class };
        learn_in_memory(self.start(samples, class)?, X.columns(), &passes, monitor)
    }

    fn steps(&self) -> usize {
        self.max_iters
    }

    fn learning_bytes(&self, n_features: usize, _: usize) -> u64 {
        incremental_bytes::<T>(n_features, self.n_atoms, self.batch_size)
    }
}

/// The dictionary of [`OnlineParams`], and what it remembers.
#[derive(Debug, Clone)]
pub struct OnlineDictionary<T: Real> {
    D: Mat<T>,
    sums: FadingSums,
    coding: OnlineCoding,
    fading: f64,
    n_batches: usize,
}

impl<T: Real> OnlineDictionary<T> {
    fn encode(&self, batch: MatRef<'_, T>) -> Result<Encoded<T>, LkdlError> {
        match self.coding {
            OnlineCoding::Omp { sparsity } => {
                let coder = BatchOmp::from_atoms(self.D.clone());
                let sparsity = sparsity.min(self.D.ncols());
                Ok(coder.encode_sparsely(Contiguous::new(batch).columns(), sparsity))
            }
            OnlineCoding::Lasso { penalty } => {
                let params = LassoParams { penalty, ..Default::default() };
                Ok(params.encode(self.D.as_ref(), batch)?.encoded)
            }
        }
    }

    /// One Gauss–Seidel sweep over the atoms; returns those without users, and those whose u is zero,
    /// which stay as they are.
    fn sweep(&mut self) -> Vec<usize> {
        let FadingSums { A, B, .. } = &self.sums;
        let m = self.D.ncols();
        let trace: f64 = (0..m).map(|j| A[(j, j)]).sum();
        let is_unit = matches!(self.coding, OnlineCoding::Omp { .. });
        let mut unused = Vec::new();
        sweep_atoms(&mut self.D, A, B, |j, u| {
            let norm = norm_sq(u).sqrt();
            let in_use = A[(j, j)] > UNUSED * trace / m as f64 && norm > 0.0;
            if !in_use {
                unused.push(j);
            } else if !is_unit {
                scale(u, T::of(1.0 / norm.max(1.0)));
            }
            in_use
        });
        if is_unit {
            // only now: a move does not depend on the units of the other atoms
            let norms: Vec<f64> = (0..m).map(|j| normalize(self.D.col_as_slice_mut(j))).collect();
            self.sums.rescale(&norms);
        }
        unused
    }
}

impl<T: Real> BatchUpdate<T> for OnlineDictionary<T> {
    fn update(&mut self, batch: MatRef<'_, T>) -> Result<BatchReport, LkdlError> {
        let encoded = self.encode(batch)?;
        let X = Contiguous::new(batch);
        let X = X.columns();
        self.n_batches += 1;
        let beta = (1.0 - 1.0 / self.n_batches as f64).powf(self.fading);
        self.sums.add(beta, X, &encoded.codes);
        let mut candidates = Candidates::new(X);
        let mut n_replaced = 0;
        for j in self.sweep() {
            let Some(i) = candidates.take_worst(&encoded.sq_residuals) else { break };
            set_atom(&mut self.D, j, col(X, i));
            self.sums.forget(j);
            n_replaced += 1;
        }
        Ok(BatchReport { sq_error: encoded.sq_residuals.iter().sum(), n_replaced })
    }

    fn dictionary(&self) -> &Mat<T> {
        &self.D
    }

    fn pad(&mut self, n_features: usize) {
        pad_rows(&mut self.D, n_features);
        self.sums.pad(n_features);
    }

    fn save<'a>(&'a self, at: &str, to: &mut Saving<'a, T>) {
        to.matrix(at, "D", &self.D);
        self.sums.save(at, to);
        to.counts(at, "batches", [self.n_batches]);
    }
}
