//! One kernel dictionary per class, from Gram matrices: LKDL Eq. (25) in the kernel's own space.
//!
//! ```math
//! \text{label}(z)=\arg\min_l\ \|\phi(z)-\phi(X_l)A_l\gamma_l\|^2
//!   =\arg\min_l\ \left(\kappa(z,z)-2\gamma_l^T\alpha_l+\gamma_l^TG_l\gamma_l\right)
//! ```
//!
//! with α_l = A_lᵀκ(X_l, z) and G_l = A_lᵀK_lA_l. Only the diagonal blocks K_l of K are read.
//!
//! **When to use it.** With a kernel that is known by its values only (a precomputed matrix); for
//! one that can be evaluated, [`exact`](crate::exact) forms the blocks itself and runs in the
//! pipeline. **Cost** per sample: 2nm flops for all α_l (n samples, m atoms per class), and the
//! pursuits.
//!
//! ```
//! use lkdl::classify::GramDictionariesParams;
//! use lkdl::dictionary::KernelKsvdParams;
//!
//! // Two rings, the kernel (xᵀy + 1)².
//! let point = |i: usize| {
//!     let (angle, radius) = (0.7 * i as f64, 1.0 + (i % 2) as f64);
//!     [radius * angle.cos(), radius * angle.sin()]
//! };
//! let kernel = |x: [f64; 2], y: [f64; 2]| (x[0] * y[0] + x[1] * y[1] + 1.0).powi(2);
//! let gram = faer::Mat::from_fn(60, 60, |i, j| kernel(point(i), point(j)));
//! let labels: Vec<usize> = (0..60).map(|i| i % 2).collect();
//! let params = GramDictionariesParams {
//!     learner: KernelKsvdParams::<f64> { n_atoms: 6, sparsity: 3, ..Default::default() },
//!     sparsity: 3,
//! };
//! let model = params.train(gram.as_ref(), &labels)?;
//!
//! // New points: their kernel values with the training samples, and with themselves.
//! let cross = faer::Mat::from_fn(60, 9, |i, z| kernel(point(i), point(100 + z)));
//! let own: Vec<f64> = (0..9).map(|z| kernel(point(100 + z), point(100 + z))).collect();
//! let predictions = model.classify(cross.as_ref(), &own)?;
//! assert_eq!(predictions.labels, [0, 1, 0, 1, 0, 1, 0, 1, 0]);
//! # Ok::<(), lkdl::LkdlError>(())
//! ```

use super::class_dictionaries::in_class;
use super::residuals::{join_blocks, residuals_over};
use super::{Predictions, class_members};
use crate::dictionary::{KernelLearned, KernelLearner};
use crate::error::{LkdlError, Warning};
use crate::matrix::{
    BLOCK, Columns, Contiguous, check_samples, check_size, map_blocks_with, subcols,
};
use crate::monitor::{Monitor, Silent};
use crate::pursuit::{KernelOmp, Scratch, check_gram, check_self_values};
use crate::real::Real;
use faer::{Mat, MatRef};

/// A learner for the kernel dictionaries and the sparsity of the decision.
#[derive(Debug, Clone, PartialEq)]
pub struct GramDictionariesParams<P> {
    /// Learns the dictionary of each class.
    pub learner: P,
    /// q, the atoms each class may use to represent a sample.
    pub sparsity: usize,
}

/// The trained rule: one kernel dictionary per class.
#[derive(Debug, Clone)]
pub struct GramDictionaries<T: Real> {
    n_samples: usize,
    classes: Vec<GramClass<T>>,
    sparsity: usize,
}

#[derive(Debug, Clone)]
struct GramClass<T: Real> {
    /// Which training samples are in the class.
    members: Vec<usize>,
    learned: KernelLearned<T>,
    coder: KernelOmp<T>,
}

impl<P> GramDictionariesParams<P> {
    /// Trains on the N×N inner products of all training samples, with class indices `labels`. Each
    /// class's block must be positive semi-definite ([`check_gram`]).
    pub fn train<T: Real>(
        &self,
        gram: MatRef<'_, T>,
        labels: &[usize],
    ) -> Result<GramDictionaries<T>, LkdlError>
    where
        P: KernelLearner<T>,
    {
        self.train_monitored(gram, labels, &Silent)
    }

    /// [`GramDictionariesParams::train`] under watch. One class after the other, so that one block
    /// of K is copied at a time.
    pub fn train_monitored<T: Real>(
        &self,
        gram: MatRef<'_, T>,
        labels: &[usize],
        monitor: &dyn Monitor,
    ) -> Result<GramDictionaries<T>, LkdlError>
    where
        P: KernelLearner<T>,
    {
        check_samples(gram, "Gram matrix")?;
        check_size("Gram matrix's rows (it must be square)", gram.nrows(), gram.ncols())?;
        if self.sparsity == 0 {
            return Err(LkdlError::parameter("sparsity", 0, "at least 1"));
        }
        let members = class_members(labels, gram.ncols())?;
        monitor.begin("learn", members.len().saturating_mul(self.learner.steps()));
        let classes = members.into_iter().enumerate().map(|(class, members)| {
            self.learn_class(gram, class, members, monitor).map_err(|error| in_class(class, error))
        });
        let classes = classes.collect::<Result<Vec<_>, _>>()?;
        Ok(GramDictionaries { n_samples: gram.ncols(), classes, sparsity: self.sparsity })
    }

    fn learn_class<T: Real>(
        &self,
        gram: MatRef<'_, T>,
        class: usize,
        members: Vec<usize>,
        monitor: &dyn Monitor,
    ) -> Result<GramClass<T>, LkdlError>
    where
        P: KernelLearner<T>,
    {
        let n = members.len();
        let K = Mat::from_fn(n, n, |i, j| gram[(members[i], members[j])]);
        check_gram(K.as_ref())?;
        let learned = self.learner.learn_monitored(K.as_ref(), class, monitor)?;
        let coder = KernelOmp::new(K.as_ref(), learned.atom_weights.as_ref())?;
        Ok(GramClass { members, learned, coder })
    }
}

impl<T: Real> GramDictionaries<T> {
    /// Number of classes, L.
    pub fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// q.
    pub fn sparsity(&self) -> usize {
        self.sparsity
    }

    /// Which training samples the atoms of a class combine.
    pub fn members(&self, class: usize) -> &[usize] {
        &self.classes[class].members
    }

    /// The training history and the weights of a class.
    pub fn learned(&self, class: usize) -> &KernelLearned<T> {
        &self.classes[class].learned
    }

    /// Warnings of all classes, with the class index.
    pub fn warnings(&self) -> impl Iterator<Item = (usize, &Warning)> {
        self.classes
            .iter()
            .enumerate()
            .flat_map(|(l, class)| class.learned.warnings.iter().map(move |w| (l, w)))
    }

    /// Labels signals z: column i of `cross` holds κ(x, z_i) for all N training samples, and
    /// `self_values[i]` = κ(z_i, z_i).
    pub fn classify(
        &self,
        cross: MatRef<'_, T>,
        self_values: &[f64],
    ) -> Result<Predictions, LkdlError> {
        check_samples(cross, "cross Gram matrix")?;
        check_size("cross Gram matrix's rows", cross.nrows(), self.n_samples)?;
        check_self_values::<T>(self_values, cross.ncols())?;
        let cross = Contiguous::new(cross);
        let cross = cross.columns();
        let n_atoms = self.classes.iter().map(|class| class.coder.n_atoms()).max().unwrap_or(0);
        let scratch = || Scratch::new(n_atoms, self.sparsity.min(n_atoms));
        let blocks = map_blocks_with(cross.ncols(), BLOCK, scratch, |scratch, range| {
            self.block_residuals(scratch, subcols(cross, range.clone()), &self_values[range])
        });
        let scores = join_blocks(self.n_classes(), cross.ncols(), &blocks);
        Predictions::from_scores(scores, self_values)
    }

    fn block_residuals(
        &self,
        scratch: &mut Scratch<T>,
        cross: Columns<'_, T>,
        self_values: &[f64],
    ) -> Mat<f64> {
        let mut residuals = Mat::zeros(self.n_classes(), cross.ncols());
        for (l, class) in self.classes.iter().enumerate() {
            let members = &class.members;
            let own = Mat::from_fn(members.len(), cross.ncols(), |i, z| cross[(members[i], z)]);
            let (coder, own) = (class.coder.coder(), crate::matrix::columns_of(&own));
            let rho = residuals_over(coder, scratch, own, self_values, self.sparsity);
            for (i, rho) in rho.into_iter().enumerate() {
                residuals[(l, i)] = rho;
            }
        }
        residuals
    }
}
