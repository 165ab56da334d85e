//! LC-KSVD and D-KSVD: one dictionary for all classes, learned together with a linear classifier of
//! its codes.
//!
//! Every atom belongs to a class. H (L×N) holds the labels, one-hot, and Q (m×N) says which atoms a
//! sample should use: Q_ji = 1 where atom j and sample i share a class. LC-KSVD1, LKDL Eq. (8), asks
//! that a linear transform A of the codes resembles Q, and LC-KSVD2, LKDL Eq. (9), also that a
//! linear classifier Θ of them gives the labels:
//!
//! ```math
//! \min_{D,A,\Theta,\Gamma}\|X-D\Gamma\|_F^2+\alpha\|Q-A\Gamma\|_F^2+\beta\|H-\Theta\Gamma\|_F^2
//! \quad\text{s.t.}\quad\|\gamma_i\|_0\le q
//! ```
//!
//! which is K-SVD on stacked samples and atoms, LKDL Eq. (10):
//!
//! ```math
//! \min\left\|\begin{pmatrix}X\\\sqrt\alpha Q\\\sqrt\beta H\end{pmatrix}
//! -\begin{pmatrix}D\\\sqrt\alpha A\\\sqrt\beta\Theta\end{pmatrix}\Gamma\right\|_F^2
//! ```
//!
//! LC-KSVD1 leaves the last block out and fits Θ to the final codes by ridge regression; D-KSVD
//! leaves the middle one out. The steps:
//!
//! 1. D₀: K-SVD of every class by itself, from its first samples.
//! 2. K-SVD of all samples from D₀, only to get codes Z; A₀ = QZᵀ(ZZᵀ + λI)⁻¹, Θ₀ = HZᵀ(ZZᵀ + λI)⁻¹.
//! 3. K-SVD of the stack from (D₀, √αA₀, √βΘ₀), atoms in order.
//! 4. Split: with n_j the norm of an atom's upper part, D_j, A_j and Θ_j are its parts divided by
//!    n_j, n_j√α and n_j√β. An atom without an upper part becomes the sample that D represents worst.
//! 5. Decide: code a sample over D, label = argmax Θγ.
//!
//! Rows of Q that belong to one class are equal, so are those of A, and the stack can be turned into
//! one of p + L rows instead of p + m + L with the same inner products: that is what is learned from
//! (see `stack.rs`). The published weights are √α and √β, and so are the parameters here. They count
//! against the norms of the samples, with √(αm_l + β) for a class of m_l atoms: 4 and 2 suit faces
//! with norms of about 2,000, and leave nothing of unit samples, for which 0.001 to 0.05 do.
//!
//! **When to use it.** Many classes with few samples each: all share one dictionary, and a decision
//! costs one pursuit, whatever the number of classes. With one large set per class,
//! [`ClassDictionaries`](super::ClassDictionaries) is simpler and as good.
//!
//! **Cost** per iteration that of K-SVD on p + L rows: 2m(p+L)N + m²(p+L) + Nm(q²−1) to code,
//! 10(p+L)Nq to update; a decision 2mp + m(q²−1) + 2Lq. Memory: two matrices of (p+L)×N.
//! Jiang, Lin & Davis 2011, 2013; Zhang & Li 2010.
//!
//! ```
//! use faer::Mat;
//! use lkdl::prelude::*;
//!
//! // Three classes, each around a direction of its own.
//! let samples = Mat::from_fn(6, 90, |t, i| {
//!     let noise = ((7 * i + 3 * t) % 11) as f64 / 40.0;
//!     noise + if t / 2 == i % 3 { 1.0 } else { 0.0 }
//! });
//! let labels: Vec<usize> = (0..90).map(|i| i % 3).collect();
//!
//! let params = LcKsvdParams {
//!     variant: LcVariant::Lc2,
//!     n_atoms: 12,
//!     sparsity: 3,
//!     sqrt_alpha: 0.5,
//!     sqrt_beta: 0.5,
//!     ..Default::default()
//! };
//! let model = params.train(samples.as_ref(), &labels)?;
//! assert_eq!(model.atom_classes(), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
//! assert_eq!(model.classify(samples.as_ref())?.labels, labels);
//! # Ok::<(), LkdlError>(())
//! ```

mod model;
mod stack;

pub use model::{LcKsvd, LcKsvdParts};

use super::{Train, class_members, in_class};
use crate::dictionary::{AtomOrder, InitialAtoms, KsvdParams, Learned, Learner, ridge_regression};
use crate::error::{LkdlError, Warning};
use crate::linalg::convert;
use crate::matrix::{
    Columns, Contiguous, check_samples, column_sq_norms, columns_of, gather, matrix_bytes,
};
use crate::monitor::Monitor;
use crate::pursuit::{BatchOmp, Codes, check_range};
use crate::real::Real;
use faer::{Mat, MatRef};
use rayon::prelude::*;
use stack::Stack;

/// Which blocks are stacked under the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LcVariant {
    /// LC-KSVD1: √αQ.
    Lc1,
    /// LC-KSVD2: √αQ and √βH.
    #[default]
    Lc2,
    /// D-KSVD: √βH.
    Discriminative,
}

/// Parameters of LC-KSVD and D-KSVD.
#[derive(Debug, Clone, PartialEq)]
pub struct LcKsvdParams {
    /// Which blocks are stacked.
    pub variant: LcVariant,
    /// m, the atoms of all classes together. Each class gets m/L of them, the first ones get the
    /// remainder.
    pub n_atoms: usize,
    /// q of training; of fewer atoms or features than that, no more are used.
    pub sparsity: usize,
    /// q of decisions, if another than that of training. Where Θ is fitted to final codes, those
    /// have as many non-zeros.
    pub decision_sparsity: Option<usize>,
    /// √α, the weight of label consistency; 0 leaves its block out. D-KSVD has none.
    pub sqrt_alpha: f64,
    /// √β, the weight of the classifier; 0 leaves its block out, and Θ is then fitted to the final
    /// codes. LC-KSVD1 has none.
    pub sqrt_beta: f64,
    /// Iterations of each class's own K-SVD (step 1).
    pub class_iters: usize,
    /// Iterations of the K-SVD that gives the starting codes (step 2).
    pub shared_iters: usize,
    /// Iterations on the stack (step 3).
    pub max_iters: usize,
    /// λ > 0 of the ridge regressions.
    pub ridge: f64,
    /// Takes the codes that K-SVD leaves behind, stale where atoms were replaced and, in step 4, in
    /// the scale of the stack, as the published program does; else samples are coded anew.
    pub compat: bool,
    /// Seed of the mixtures that fill up a class with fewer samples than atoms; nothing else is
    /// drawn.
    pub seed: u64,
}

impl Default for LcKsvdParams {
    /// The published iterations and ridge, and the paper's weights for unit samples.
    fn default() -> Self {
        Self {
            variant: LcVariant::default(),
            n_atoms: 500,
            sparsity: 30,
            decision_sparsity: None,
            sqrt_alpha: 1.0 / 30.0,
            sqrt_beta: 1.0 / 91.0,
            class_iters: 20,
            shared_iters: 20,
            max_iters: 50,
            ridge: 1.0,
            compat: false,
            seed: 0,
        }
    }
}

/// Step 1: the atoms of all classes side by side.
struct Start<T: Real> {
    /// D₀.
    D: Mat<T>,
    atom_classes: Vec<usize>,
    warnings: Vec<(usize, Warning)>,
}

impl<T: Real> Train<T> for LcKsvdParams {
    type Model = LcKsvd<T>;

    fn train_monitored(
        &self,
        samples: MatRef<'_, T>,
        labels: &[usize],
        monitor: &dyn Monitor,
    ) -> Result<Self::Model, LkdlError> {
        check_samples(samples, "samples")?;
        let members = class_members(labels, samples.ncols())?;
        self.check(members.len())?;
        let X = Contiguous::new(samples);
        let X = X.columns();
        check_range::<T>(&column_sq_norms(X))?;
        let class_steps = members.len().saturating_mul(self.class_iters);
        monitor.begin("learn", class_steps.saturating_add(self.shared_iters + self.max_iters));

        let Start { D, atom_classes, warnings } = self.class_atoms(X, &members, monitor)?;
        let H = one_hot::<T>(labels, members.len());
        let Z = self.shared_codes(X, &D, monitor)?;
        let Theta = ridge_regression(columns_of(&H), &Z, self.ridge)?;

        let (alpha, beta) = self.weights();
        let stack = Stack::new(X, labels, &atom_classes, alpha, beta);
        let initial = InitialAtoms::Given(stack.atoms(&D, Theta.as_ref()));
        let learner = self.learner(D.ncols(), X.nrows(), self.max_iters, initial);
        let decision_sparsity =
            self.decision_sparsity.map_or(learner.sparsity, |sparsity| sparsity.min(D.ncols()));
        let (stacked, stale) = learner.learn_with_codes(stack.samples.as_ref(), 0, monitor)?;

        let (D, label_rows) = stack.split(X, labels, &stacked.dictionary, learner.sparsity);
        let Theta = if beta > 0.0 {
            label_rows.clone()
        } else {
            let fresh = || code(X, D.clone(), decision_sparsity);
            let codes = if self.compat { stale } else { fresh() };
            ridge_regression(columns_of(&H), &codes, self.ridge)?
        };
        let parts = LcKsvdParts {
            learned: Learned { dictionary: D, ..stacked },
            atom_classes,
            consistency: (alpha > 0.0).then(|| convert(label_rows.as_ref())),
            classifier: convert(Theta.as_ref()),
            sparsity: decision_sparsity,
            warnings,
        };
        LcKsvd::from_parts(parts)
    }

    fn training_bytes(&self, n_features: usize, class_sizes: &[usize], _threads: usize) -> u64 {
        let (n, rows) = (class_sizes.iter().sum(), n_features + class_sizes.len());
        let initial = InitialAtoms::default();
        let learner = self.learner::<T>(self.n_atoms, n_features, self.max_iters, initial);
        // the stack and its K-SVD, the labels, and a regression: two sums and a factor
        matrix_bytes::<T>(rows, n)
            + learner.learning_bytes(rows, n)
            + matrix_bytes::<T>(class_sizes.len(), n)
            + 3 * matrix_bytes::<f64>(self.n_atoms, self.n_atoms)
    }
}

impl LcKsvdParams {
    fn check(&self, n_classes: usize) -> Result<(), LkdlError> {
        for (name, weight) in [("sqrt_alpha", self.sqrt_alpha), ("sqrt_beta", self.sqrt_beta)] {
            if !(weight >= 0.0 && weight.is_finite()) {
                return Err(LkdlError::parameter(name, weight, "a finite number >= 0"));
            }
        }
        if !(self.ridge > 0.0 && self.ridge.is_finite()) {
            return Err(LkdlError::parameter("ridge", self.ridge, "a finite number > 0"));
        }
        if self.n_atoms < n_classes {
            let needed = format!("at least 1 for each of the {n_classes} classes");
            return Err(LkdlError::parameter("n_atoms", self.n_atoms, needed));
        }
        if !(1..=self.n_atoms).contains(&self.sparsity) {
            let range = format!("between 1 and n_atoms = {}", self.n_atoms);
            return Err(LkdlError::parameter("sparsity", self.sparsity, range));
        }
        if self.decision_sparsity == Some(0) {
            return Err(LkdlError::parameter("decision_sparsity", 0, "at least 1"));
        }
        let iterations = [
            ("class_iters", self.class_iters),
            ("shared_iters", self.shared_iters),
            ("max_iters", self.max_iters),
        ];
        match iterations.into_iter().find(|(_, count)| *count == 0) {
            Some((name, count)) => Err(LkdlError::parameter(name, count, "at least 1")),
            None => Ok(()),
        }
    }

    /// All steps learn alike: in order, to the last iteration. A code of more atoms than features
    /// would represent its sample exactly and go on to fit the label, which a new sample does not
    /// bring: such codes say nothing of it.
    fn learner<T: Real>(
        &self,
        n_atoms: usize,
        n_features: usize,
        max_iters: usize,
        initial: InitialAtoms<T>,
    ) -> KsvdParams<T> {
        KsvdParams {
            n_atoms,
            sparsity: self.sparsity.min(n_atoms).min(n_features),
            max_iters,
            tol: 0.0,
            order: AtomOrder::Sequential,
            initial,
            seed: self.seed,
            ..Default::default()
        }
    }

    /// Step 1: D₀, every class by itself.
    fn class_atoms<T: Real>(
        &self,
        X: Columns<'_, T>,
        members: &[Vec<usize>],
        monitor: &dyn Monitor,
    ) -> Result<Start<T>, LkdlError> {
        let learn = |(class, samples): (usize, &Vec<usize>)| {
            let n_atoms = atoms_of_class(self.n_atoms, members.len(), class);
            self.learner(n_atoms, X.nrows(), self.class_iters, InitialAtoms::FirstSamples)
                .learn_monitored(gather(X, samples).as_ref(), class, monitor)
                .map_err(|error| in_class(class, error))
        };
        let learned: Vec<Result<Learned<T>, LkdlError>> =
            members.par_iter().enumerate().map(learn).collect();
        // the error of the lowest class, whichever thread met one first
        let learned = learned.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(Start::join(X.nrows(), learned))
    }

    /// Step 2: Z. The dictionary that K-SVD reaches on the way is not used.
    fn shared_codes<T: Real>(
        &self,
        X: Columns<'_, T>,
        D: &Mat<T>,
        monitor: &dyn Monitor,
    ) -> Result<Codes<T>, LkdlError> {
        let initial = InitialAtoms::Given(D.clone());
        let learner = self.learner(D.ncols(), X.nrows(), self.shared_iters, initial);
        let (learned, stale) = learner.learn_with_codes(X.as_dyn_stride(), 0, monitor)?;
        Ok(if self.compat { stale } else { code(X, learned.dictionary, learner.sparsity) })
    }

    /// α and β of the blocks that this variant has.
    fn weights(&self) -> (f64, f64) {
        let (alpha, beta) = (self.sqrt_alpha.powi(2), self.sqrt_beta.powi(2));
        match self.variant {
            LcVariant::Lc1 => (alpha, 0.0),
            LcVariant::Lc2 => (alpha, beta),
            LcVariant::Discriminative => (0.0, beta),
        }
    }
}

impl<T: Real> Start<T> {
    fn join(n_features: usize, learned: Vec<Learned<T>>) -> Self {
        let n_atoms = learned.iter().map(|class| class.dictionary.ncols()).sum();
        let mut D = Mat::zeros(n_features, n_atoms);
        let (mut atom_classes, mut warnings) = (Vec::new(), Vec::new());
        for (class, learned) in learned.into_iter().enumerate() {
            let (first, count) = (atom_classes.len(), learned.dictionary.ncols());
            D.as_mut().subcols_mut(first, count).copy_from(&learned.dictionary);
            atom_classes.extend(std::iter::repeat_n(class, count));
            warnings.extend(learned.warnings.into_iter().map(|warning| (class, warning)));
        }
        Self { D, atom_classes, warnings }
    }
}

/// m/L, and one more for the first classes until the remainder is used up.
fn atoms_of_class(n_atoms: usize, n_classes: usize, class: usize) -> usize {
    n_atoms / n_classes + usize::from(class < n_atoms % n_classes)
}

/// H, L×N.
fn one_hot<T: Real>(labels: &[usize], n_classes: usize) -> Mat<T> {
    let mut H = Mat::zeros(n_classes, labels.len());
    for (i, &label) in labels.iter().enumerate() {
        H[(label, i)] = T::of(1.0);
    }
    H
}

/// Codes over a dictionary that is final.
fn code<T: Real>(X: Columns<'_, T>, D: Mat<T>, sparsity: usize) -> Codes<T> {
    BatchOmp::from_atoms(D).encode_sparsely(X, sparsity).codes
}

#[cfg(test)]
mod tests;
