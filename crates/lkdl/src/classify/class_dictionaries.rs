//! One dictionary per class; the class that represents a sample best wins. LKDL Eq. (25):
//!
//! ```math
//! \text{label}(f)=\arg\min_l\ \|f-D_l\gamma_l\|_2^2,\qquad \|\gamma_l\|_0\le q
//! ```
//!
//! The residual comes out of the pursuit itself (ρ), so no code is solved for and no signal is
//! reconstructed. Training is any [`Learner`], once per class, in parallel over classes.
//!
//! **When to use it.** As the paper's first choice: classes of some hundred samples or more, each near
//! few subspaces. With few samples per class, one dictionary of all
//! ([`LC-KSVD`](super::label_consistent)) or the samples themselves
//! ([`SRC`](super::sparse_representation)) do better.
//!
//! **Cost.** The learner's for each class; classifying 2LmkN + LNm(q²−1) flops.
//!
//! ```
//! use lkdl::prelude::*;
//!
//! // Two classes around two directions.
//! let samples = faer::Mat::from_fn(3, 40, |t, i| {
//!     f64::from(u8::from(t == i % 2)) + 0.1 * ((7 * i + t) as f64).sin()
//! });
//! let labels: Vec<usize> = (0..40).map(|i| i % 2).collect();
//! let learner = KsvdParams { n_atoms: 4, sparsity: 1, ..Default::default() };
//! let model = ClassDictionariesParams { learner, sparsity: 1 }.train(samples.as_ref(), &labels)?;
//! assert_eq!(model.classify(samples.as_ref())?.labels, labels);
//! # Ok::<(), LkdlError>(())
//! ```

use super::residuals::{join_blocks, largest_needs, residuals_over};
use super::{Classify, Predictions, Train, class_members};
use crate::dictionary::{Learned, Learner};
use crate::error::{LkdlError, Warning};
use crate::matrix::matrix_bytes;
use crate::matrix::{
    BLOCK, Columns, Contiguous, check_samples, check_size, col, column_sq_norms, gather,
    map_blocks_with, subcols,
};
use crate::monitor::Monitor;
use crate::pursuit::{BatchOmp, Scratch, check_range};
use crate::real::Real;
use crate::vector::norm_sq;
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// A learner for the dictionaries and the sparsity of the decision.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassDictionariesParams<P> {
    /// Learns the dictionary of each class.
    pub learner: P,
    /// q, the atoms each class may use to represent a sample.
    pub sparsity: usize,
}

/// The trained rule: one dictionary per class.
#[derive(Debug, Clone)]
pub struct ClassDictionaries<T: Real> {
    /// Training history of each class, with its dictionary.
    learned: Vec<Learned<T>>,
    coders: Vec<BatchOmp<T>>,
    sparsity: usize,
}

impl<T: Real, P: Learner<T>> Train<T> for ClassDictionariesParams<P> {
    type Model = ClassDictionaries<T>;

    fn train_monitored(
        &self,
        samples: MatRef<'_, T>,
        labels: &[usize],
        monitor: &dyn Monitor,
    ) -> Result<Self::Model, LkdlError> {
        check_samples(samples, "samples")?;
        if self.sparsity == 0 {
            return Err(LkdlError::parameter("sparsity", 0, "at least 1"));
        }
        let members = class_members(labels, samples.ncols())?;
        monitor.begin("learn", members.len().saturating_mul(self.learner.steps()));
        let X = Contiguous::new(samples);
        let X = X.columns();
        check_range::<T>(&column_sq_norms(X))?;
        let learned: Vec<Result<Learned<T>, LkdlError>> = members
            .par_iter()
            .enumerate()
            .map(|(class, members)| {
                self.learner
                    .learn_monitored(gather(X, members).as_ref(), class, monitor)
                    .map_err(|error| in_class(class, error))
            })
            .collect();
        // the error of the lowest class, whichever thread met one first
        let learned = learned.into_iter().collect::<Result<Vec<_>, _>>()?;
        ClassDictionaries::new(learned, self.sparsity)
    }

    /// As many classes as there are threads are learned at a time.
    fn training_bytes(&self, n_features: usize, class_sizes: &[usize], threads: usize) -> u64 {
        let need = |&n: &usize| {
            matrix_bytes::<T>(n_features, n) + self.learner.learning_bytes(n_features, n)
        };
        largest_needs(class_sizes.iter().map(need).collect(), threads)
    }
}

/// The error of one class's samples names the class; a wrong parameter is the same for all.
pub(crate) fn in_class(class: usize, error: LkdlError) -> LkdlError {
    match error {
        LkdlError::AllZero { .. } | LkdlError::NoConvergence { .. } => {
            LkdlError::InClass { class, source: Box::new(error) }
        }
        error => error,
    }
}

impl<T: Real> ClassDictionaries<T> {
    /// A rule from dictionaries that are already learned, class by class.
    pub fn new(learned: Vec<Learned<T>>, sparsity: usize) -> Result<Self, LkdlError> {
        let Some(first) = learned.first() else {
            return Err(LkdlError::Empty { what: "class dictionaries", rows: 0, cols: 0 });
        };
        if sparsity == 0 {
            return Err(LkdlError::parameter("sparsity", 0, "at least 1"));
        }
        let n_features = first.dictionary.nrows();
        let coders = learned
            .iter()
            .map(|class| {
                check_size("class dictionary's n_features", class.dictionary.nrows(), n_features)?;
                BatchOmp::new(class.dictionary.as_ref())
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self { learned, coders, sparsity })
    }

    /// Number of classes, L.
    pub fn n_classes(&self) -> usize {
        self.learned.len()
    }

    /// The dimension of the samples, k.
    pub fn n_features(&self) -> usize {
        self.learned[0].dictionary.nrows()
    }

    pub(super) fn coders(&self) -> &[BatchOmp<T>] {
        &self.coders
    }

    /// The training history and dictionary of each class.
    pub fn learned(&self) -> &[Learned<T>] {
        &self.learned
    }

    /// q.
    pub fn sparsity(&self) -> usize {
        self.sparsity
    }

    /// Warnings of all classes, with the class index.
    pub fn warnings(&self) -> impl Iterator<Item = (usize, &Warning)> {
        self.learned.iter().enumerate().flat_map(|(l, c)| c.warnings.iter().map(move |w| (l, w)))
    }

    /// r_l² of a block of samples for all classes: L×B.
    fn block_residuals(&self, scratch: &mut Scratch<T>, X: Columns<'_, T>) -> Mat<f64> {
        let sq_norms: Vec<f64> = (0..X.ncols()).map(|i| norm_sq(col(X, i))).collect();
        let mut residuals = Mat::zeros(self.n_classes(), X.ncols());
        for (l, coder) in self.coders.iter().enumerate() {
            let rho = residuals_over(coder, scratch, X, &sq_norms, self.sparsity);
            for (i, rho) in rho.into_iter().enumerate() {
                residuals[(l, i)] = rho;
            }
        }
        residuals
    }
}

impl<T: Real> Classify<T> for ClassDictionaries<T> {
    fn classify(&self, samples: MatRef<'_, T>) -> Result<Predictions, LkdlError> {
        check_samples(samples, "samples")?;
        check_size("samples' n_features", samples.nrows(), self.n_features())?;
        let X = Contiguous::new(samples);
        let X = X.columns();
        let sq_norms = column_sq_norms(X);
        check_range::<T>(&sq_norms)?;
        let n_atoms = self.coders.iter().map(BatchOmp::n_atoms).max().unwrap_or(0);
        let scratch = || Scratch::new(n_atoms, self.sparsity.min(n_atoms));
        let blocks = map_blocks_with(X.ncols(), BLOCK, scratch, |scratch, range| {
            self.block_residuals(scratch, subcols(X, range))
        });
        Predictions::from_scores(join_blocks(self.n_classes(), X.ncols(), &blocks), &sq_norms)
    }
}
