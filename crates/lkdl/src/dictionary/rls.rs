//! Mini-batch RLS-DLA, recursive least squares dictionary learning: Skretting & Engan 2010.
//!
//! Per mini-batch: code it, let the past fade and refit all atoms to what is remembered of it,
//!
//! ```math
//! A\leftarrow\lambda^bA+\Gamma\Gamma^T,\quad B\leftarrow\lambda^bB+X\Gamma^T,\quad D=BA^{-1},\qquad
//! \lambda_t=1-(1-\lambda_0)\Bigl(1-\frac ta\Bigr)^2\ \ (t<a),\ 1\ \text{after}
//! ```
//!
//! with t the samples seen and a nine tenths of all that will be: forgetting is strong while the
//! dictionary is young. Atoms are brought to unit norm, D ← DS⁻¹, and what is remembered to the same
//! unit, A ← SAS, B ← BS. It starts as if from a past in which every atom of D₀ was used alike, by
//! samples like those of the first batch: A = s·I, B = s·D₀ with s their mean squared norm (1 for
//! samples of unit norm). Cost per batch: the codes, and m³/3 + 2km² for the solve, in `f64`.

use super::incremental::{
    BatchReport, BatchUpdate, FadingSums, Incremental, Passes, incremental_bytes, learn_in_memory,
    pad_rows,
};
use super::optimal_directions::{refit, solve_for_atoms};
use super::{InitialAtoms, Learned, Learner, check_counts, check_problem};
use crate::error::LkdlError;
use crate::matrix::{Contiguous, frobenius_sq};
use crate::monitor::Monitor;
use crate::pursuit::BatchOmp;
use crate::real::Real;
use crate::state::{Saved, Saving};
use faer::{Mat, MatRef};

/// The share of all samples after which nothing is forgotten any more.
const SETTLED: f64 = 0.9;

/// RLS-DLA's parameters.
#[derive(Debug, Clone)]
pub struct RlsParams<T: Real> {
    /// m.
    pub n_atoms: usize,
    /// q.
    pub sparsity: usize,
    /// b, the samples of a mini-batch.
    pub batch_size: usize,
    /// λ₀, between 0 and 1; 1 forgets nothing.
    pub forgetting: f64,
    /// All samples that will be seen, counting each pass; `None`: those of all passes in memory.
    pub total: Option<usize>,
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

impl<T: Real> Default for RlsParams<T> {
    fn default() -> Self {
        Self {
            n_atoms: 100,
            sparsity: 5,
            batch_size: 50,
            forgetting: 1.0,
            total: None,
            max_iters: 10,
            tol: 1e-4,
            initial: InitialAtoms::default(),
            seed: 0,
        }
    }
}

impl<T: Real> RlsParams<T> {
    /// A learner to be fed; starting atoms are drawn from `pilot`, which it does not learn from.
    /// Where it forgets ([`RlsParams::forgetting`] below 1), [`RlsParams::total`] must be given.
    pub fn start(
        &self,
        pilot: MatRef<'_, T>,
        stream: usize,
    ) -> Result<Incremental<T, RlsDictionary<T>>, LkdlError> {
        self.check(pilot)?;
        if self.forgetting < 1.0 && self.total.is_none() {
            return Err(LkdlError::parameter("total", "not given", "given where λ₀ is below 1"));
        }
        let X = Contiguous::new(pilot);
        let (D, warnings) = self.initial.draw(X.columns(), self.n_atoms, self.seed, stream)?;
        let state = RlsDictionary {
            sums: FadingSums::zeros(D.nrows(), D.ncols()),
            D,
            sparsity: self.sparsity,
            forgetting: self.forgetting,
            settled: self.settled(),
            n_seen: 0,
            started: false,
        };
        Ok(Incremental::new(state, self.batch_size, warnings))
    }

    /// The learner that was saved under `at` while it was fed with the same parameters.
    pub fn resume(
        &self,
        at: &str,
        from: &mut Saved<T>,
    ) -> Result<Incremental<T, RlsDictionary<T>>, LkdlError> {
        let D = from.matrix(at, "D")?;
        let [n_seen, started] = from.counts(at, "seen")?;
        let state = RlsDictionary {
            sums: FadingSums::restore(&D, at, from)?,
            D,
            sparsity: self.sparsity,
            forgetting: self.forgetting,
            settled: self.settled(),
            n_seen,
            started: started > 0,
        };
        Incremental::restore(state, self.batch_size, at, from)
    }

    /// a.
    fn settled(&self) -> f64 {
        SETTLED * self.total.unwrap_or(0) as f64
    }

    fn check(&self, samples: MatRef<'_, T>) -> Result<(), LkdlError> {
        check_counts(self.n_atoms, self.sparsity, self.max_iters, self.tol)?;
        if self.batch_size == 0 {
            return Err(LkdlError::parameter("batch_size", 0, "at least 1"));
        }
        if !(0.0..=1.0).contains(&self.forgetting) {
            return Err(LkdlError::parameter("forgetting", self.forgetting, "between 0 and 1"));
        }
        check_problem(samples, self.n_atoms, self.sparsity, self.max_iters, self.tol)
    }
}

impl<T: Real> Learner<T> for RlsParams<T> {
    fn learn_monitored(
        &self,
        samples: MatRef<'_, T>,
        class: usize,
        monitor: &dyn Monitor,
    ) -> Result<Learned<T>, LkdlError> {
        let X = Contiguous::new(samples);
        let all = samples.ncols().saturating_mul(self.max_iters);
        let learner = Self { total: self.total.or(Some(all)), ..self.clone() };
        let passes = Passes { max: self.max_iters, tol: self.tol, seed: self.seed, class };
        learn_in_memory(learner.start(samples, class)?, X.columns(), &passes, monitor)
    }

    fn steps(&self) -> usize {
        self.max_iters
    }

    fn learning_bytes(&self, n_features: usize, _: usize) -> u64 {
        incremental_bytes::<T>(n_features, self.n_atoms, self.batch_size)
    }
}

/// The dictionary of [`RlsParams`], and what it remembers.
#[derive(Debug, Clone)]
pub struct RlsDictionary<T: Real> {
    D: Mat<T>,
    sums: FadingSums,
    sparsity: usize,
    /// λ₀.
    forgetting: f64,
    /// a.
    settled: f64,
    /// t.
    n_seen: usize,
    /// Whether a batch that is not all zero has been seen.
    started: bool,
}

impl<T: Real> RlsDictionary<T> {
    /// λ_t.
    fn lambda(&self) -> f64 {
        let t = self.n_seen as f64;
        if t >= self.settled {
            return 1.0;
        }
        1.0 - (1.0 - self.forgetting) * (1.0 - t / self.settled).powi(2)
    }
}

impl<T: Real> BatchUpdate<T> for RlsDictionary<T> {
    fn update(&mut self, batch: MatRef<'_, T>) -> Result<BatchReport, LkdlError> {
        let X = Contiguous::new(batch);
        let X = X.columns();
        let mean_sq_norm = frobenius_sq(X) / X.ncols() as f64;
        if !self.started && mean_sq_norm > 0.0 {
            self.sums = FadingSums::of_atoms(&self.D, mean_sq_norm);
            self.started = true;
        }
        let coder = BatchOmp::from_atoms(self.D.clone());
        let encoded = coder.encode_sparsely(X, self.sparsity.min(self.D.ncols()));
        self.n_seen += X.ncols();
        self.sums.add(self.lambda().powf(X.ncols() as f64), X, &encoded.codes);
        let fresh = solve_for_atoms(self.sums.A.clone(), self.sums.B.clone())?;
        let A = &self.sums.A;
        let mut norms = refit(&mut self.D, &fresh, |j| A[(j, j)] > 0.0);
        // an atom that stayed as it was has been divided by nothing
        norms.iter_mut().filter(|norm| **norm == 0.0).for_each(|norm| *norm = 1.0);
        self.sums.rescale(&norms);
        Ok(BatchReport { sq_error: encoded.sq_residuals.iter().sum(), n_replaced: 0 })
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
        to.counts(at, "seen", [self.n_seen, usize::from(self.started)]);
    }
}
