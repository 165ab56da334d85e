//! SRC, sparse representation based classification: the training samples themselves are the
//! dictionary, and the class whose samples represent a new one best wins.
//!
//! D holds all training samples, of unit norm; γ is one code over all of them, γ_l the part of it on
//! the samples of class l:
//!
//! ```math
//! \text{label}(x)=\arg\min_l\|x-D_l\gamma_l\|_2^2,\qquad
//! \gamma=\arg\min\|x-D\gamma\|_2^2\ \text{s.t.}\ \|\gamma\|_0\le q
//! \quad\text{or}\quad\arg\min\tfrac12\|x-D\gamma\|_2^2+\lambda\|\gamma\|_1
//! ```
//!
//! Wright et al. 2009. Nothing depends on the norm of x: the pursuit is scale-free, and λ is a share
//! of ‖Dᵀx‖∞.
//!
//! **When to use it.** Few training samples per class, and no time to learn: training is a copy.
//! Every decision pays for all N samples. [`GramSrc`](super::GramSrc) does the same on a kernel
//! matrix ([`KernelSrc`](crate::exact::KernelSrc) evaluates the kernel too), and on the virtual
//! samples of a centred Nyström map SRC is **KPCA-SRC**: kernel PCA, then SRC on its coordinates,
//! which SRC itself brings to unit norm (see the second example).
//!
//! **Cost.** OMP with the Gram matrix G = DᵀD pN² flops once and 2pN + N(q²−1) per sample; without
//! it 2pNq per sample. G takes N² values, so it is formed up to [`SrcParams::max_gram`] training
//! samples only. The lasso always works on G, in `f64`, and refuses more than [`MAX_LASSO_ATOMS`].
//!
//! ```
//! use faer::Mat;
//! use lkdl::prelude::*;
//!
//! let samples = Mat::from_fn(4, 30, |t, i| ((i * (t + 2)) as f64).sin() + if t == i % 2 { 3.0 } else { 0.0 });
//! let labels: Vec<usize> = (0..30).map(|i| i % 2).collect();
//! for coding in [SrcCoding::Omp { sparsity: 5 }, SrcCoding::Lasso { relative_penalty: 0.1 }] {
//!     let model = SrcParams { coding, ..Default::default() }.train(samples.as_ref(), &labels)?;
//!     assert_eq!(model.classify(samples.as_ref())?.labels, labels);
//! }
//! # Ok::<(), LkdlError>(())
//! ```
//!
//! KPCA-SRC:
//!
//! ```
//! use lkdl::prelude::*;
//!
//! // Two rings, which no line through the origin tells apart.
//! let samples = faer::Mat::from_fn(2, 80, |t, i| {
//!     let (angle, radius) = (i as f64, 1.0 + (i % 2) as f64);
//!     radius * if t == 0 { angle.cos() } else { angle.sin() }
//! });
//! let labels: Vec<usize> = (0..80).map(|i| i % 2).collect();
//! let params = LkdlParams {
//!     prepare: PrepareParams::default(),
//!     map: MapParams::Nystroem(NystroemParams {
//!         kernel: Kernel::Gaussian { sigma: 1.0 },
//!         n_landmarks: LandmarkCount::Exact(40),
//!         centered: true,
//!         ..Default::default()
//!     }),
//!     method: SrcParams { coding: SrcCoding::Omp { sparsity: 5 }, ..Default::default() },
//!     memory: None,
//! };
//! let model = params.fit(samples.as_ref(), &labels)?;
//! assert!(model.predict(samples.as_ref())?.accuracy(&labels)? > 0.95);
//! # Ok::<(), LkdlError>(())
//! ```

use super::{Classify, Predictions, Train, class_members, in_class, join_blocks};
use crate::error::{LkdlError, Warning};
use crate::matrix::{
    BLOCK, Columns, Contiguous, check_samples, check_size, col, column_sq_norms, columns_of,
    map_blocks, matrix_bytes,
};
use crate::monitor::Monitor;
use crate::pursuit::lasso::{LassoParams, Penalty};
use crate::pursuit::{BatchOmp, Codes, OmpParams, Target, check_range, exact_sq_residual, is_unit};
use crate::real::Real;
use crate::vector::{norm_sq, normalize, padded};
use faer::{Mat, MatRef};
use std::ops::Range;

/// The lasso holds N² values of 8 bytes: 2 GB at this many training samples.
pub const MAX_LASSO_ATOMS: usize = 16_384;

/// How a sample is coded over the training samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SrcCoding {
    /// Orthogonal matching pursuit.
    Omp {
        /// q ≥ 1; of fewer training samples than that, all may be used.
        sparsity: usize,
    },
    /// The lasso.
    Lasso {
        /// λ as a share of ‖Dᵀx‖∞, between 0 and 1 (from 1 on every code is empty).
        relative_penalty: f64,
    },
}

impl Default for SrcCoding {
    /// OMP with 30 non-zeros.
    fn default() -> Self {
        Self::Omp { sparsity: 30 }
    }
}

/// SRC's parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct SrcParams {
    /// How a sample is coded.
    pub coding: SrcCoding,
    /// OMP forms the Gram matrix of at most so many training samples; beyond, and with 0 always, it
    /// works from the samples.
    pub max_gram: usize,
}

impl Default for SrcParams {
    /// The Gram matrix of up to 4,096 training samples, 128 MB in `f64`: beyond, it leaves the cache
    /// and takes more memory than most samples.
    fn default() -> Self {
        Self { coding: SrcCoding::default(), max_gram: 4096 }
    }
}

/// A trained SRC: all training samples and their classes.
#[derive(Debug, Clone)]
pub struct Src<T: Real> {
    coder: Coder<T>,
    atom_classes: Vec<usize>,
    n_classes: usize,
    params: SrcParams,
    warnings: Vec<Warning>,
}

/// D, with its Gram matrix where that pays.
#[derive(Debug, Clone)]
enum Coder<T: Real> {
    WithGram(BatchOmp<T>),
    Atoms(Mat<T>),
}

impl SrcCoding {
    pub(super) fn check(&self, n_atoms: usize) -> Result<(), LkdlError> {
        match *self {
            Self::Omp { sparsity: 0 } => Err(LkdlError::parameter("sparsity", 0, "at least 1")),
            Self::Omp { .. } => Ok(()),
            Self::Lasso { relative_penalty } => {
                if !(relative_penalty > 0.0 && relative_penalty < 1.0) {
                    let range = "above 0 and below 1, from where on every code is empty";
                    return Err(LkdlError::parameter("relative_penalty", relative_penalty, range));
                }
                if n_atoms > MAX_LASSO_ATOMS {
                    return Err(LkdlError::Unsupported {
                        what: "SRC by the lasso",
                        problem: "holds a matrix of all pairs of training samples, more than 2 GB \
                                  beyond 16,384 of them",
                        fix: "code by OMP, or train on fewer samples",
                    });
                }
                Ok(())
            }
        }
    }
}

/// The lasso of a relative penalty, all else as usual.
pub(super) fn lasso(relative_penalty: f64) -> LassoParams {
    LassoParams { penalty: Penalty::Relative(relative_penalty), ..Default::default() }
}

impl<T: Real> Train<T> for SrcParams {
    type Model = Src<T>;

    fn train_monitored(
        &self,
        samples: MatRef<'_, T>,
        labels: &[usize],
        monitor: &dyn Monitor,
    ) -> Result<Self::Model, LkdlError> {
        monitor.begin("learn", 0);
        Src::from_parts(samples.to_owned(), labels.to_vec(), self.clone())
    }

    /// The samples once more, and G; for the lasso what a decision will need.
    fn training_bytes(&self, n_features: usize, class_sizes: &[usize], _threads: usize) -> u64 {
        let n = class_sizes.iter().sum();
        let atoms = matrix_bytes::<T>(n_features, n);
        atoms
            + match self.coding {
                // while it is made, G is there with and without padding
                SrcCoding::Omp { .. } if n <= self.max_gram => {
                    matrix_bytes::<T>(n, n) + matrix_bytes::<T>(padded::<T>(n), n)
                }
                SrcCoding::Omp { .. } => 0,
                SrcCoding::Lasso { .. } => {
                    matrix_bytes::<f64>(n_features, n) + matrix_bytes::<f64>(n, n)
                }
            }
    }
}

impl<T: Real> Src<T> {
    /// A model from its parts: samples (which are brought to unit norm), their classes, and the
    /// parameters.
    pub fn from_parts(
        mut dictionary: Mat<T>,
        atom_classes: Vec<usize>,
        params: SrcParams,
    ) -> Result<Self, LkdlError> {
        check_samples(dictionary.as_ref(), "samples")?;
        let members = class_members(&atom_classes, dictionary.ncols())?;
        params.coding.check(dictionary.ncols())?;
        check_range::<T>(&column_sq_norms(columns_of(&dictionary)))?;
        let mut is_zero = Vec::with_capacity(dictionary.ncols());
        for j in 0..dictionary.ncols() {
            let atom = dictionary.col_as_slice_mut(j);
            // What is unit already stays bit for bit: a model from a file is the model saved.
            is_zero.push(!is_unit::<T>(norm_sq(atom)) && normalize(atom) == 0.0);
        }
        for (class, members) in members.iter().enumerate() {
            if members.iter().all(|&j| is_zero[j]) {
                return Err(in_class(class, LkdlError::AllZero { what: "samples" }));
            }
        }
        let count = is_zero.iter().filter(|zero| **zero).count();
        let with_gram =
            matches!(params.coding, SrcCoding::Omp { .. }) && dictionary.ncols() <= params.max_gram;
        let coder = match with_gram {
            true => Coder::WithGram(BatchOmp::from_atoms(dictionary)),
            false => Coder::Atoms(dictionary),
        };
        let warnings = (count > 0).then_some(Warning::ZeroSamples { count }).into_iter().collect();
        Ok(Self { coder, atom_classes, n_classes: members.len(), params, warnings })
    }

    fn atoms(&self) -> &Mat<T> {
        match &self.coder {
            Coder::WithGram(coder) => coder.atoms(),
            Coder::Atoms(atoms) => atoms,
        }
    }

    /// D, all training samples, of unit norm.
    pub fn dictionary(&self) -> MatRef<'_, T> {
        self.atoms().as_ref()
    }

    /// The class of every training sample.
    pub fn atom_classes(&self) -> &[usize] {
        &self.atom_classes
    }

    /// Number of classes, L.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// What it was trained with.
    pub fn params(&self) -> &SrcParams {
        &self.params
    }

    /// What was odd in the training samples.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Codes over the training samples. A lasso code that ran out of iterations counts as it is.
    pub fn encode(&self, samples: MatRef<'_, T>) -> Result<Codes<T>, LkdlError> {
        let D = self.dictionary();
        let target = |sparsity: usize| Target::Sparsity(sparsity.min(D.ncols()));
        Ok(match (self.params.coding, &self.coder) {
            (SrcCoding::Omp { sparsity }, Coder::WithGram(coder)) => {
                coder.encode(samples, target(sparsity))?.codes
            }
            (SrcCoding::Omp { sparsity }, Coder::Atoms(_)) => {
                OmpParams { target: target(sparsity) }.encode(D, samples)?.codes
            }
            (SrcCoding::Lasso { relative_penalty }, _) => {
                lasso(relative_penalty).encode(D, samples)?.encoded.codes
            }
        })
    }

    /// ‖x − D_lγ_l‖² of some samples for all classes.
    fn class_residuals(
        &self,
        X: Columns<'_, T>,
        sq_norms: &[f64],
        codes: &Codes<T>,
        range: Range<usize>,
    ) -> Mat<f64> {
        let D = columns_of(self.atoms());
        let (mut residuals, mut scratch) = (Mat::zeros(self.n_classes, range.len()), Vec::new());
        for (slot, i) in range.enumerate() {
            let residuals = residuals.col_as_slice_mut(slot);
            residuals.fill(sq_norms[i]); // of a class without a say
            for_each_class(&self.atom_classes, codes.signal(i), |class, entries| {
                let entries = entries.iter().map(|&(_, j, value)| (j, value));
                residuals[class] = exact_sq_residual(D, col(X, i), entries, &mut scratch);
            });
        }
        residuals
    }
}

/// Calls `f` with each class that a code uses and its (class, atom, value) entries.
pub(super) fn for_each_class<T: Real>(
    classes: &[usize],
    (atoms, values): (&[u32], &[T]),
    mut f: impl FnMut(usize, &[(usize, usize, T)]),
) {
    let entry = |(&j, &value): (&u32, &T)| (classes[j as usize], j as usize, value);
    let mut entries: Vec<_> = atoms.iter().zip(values).map(entry).collect();
    entries.sort_by_key(|entry| entry.0);
    for entries in entries.chunk_by(|a, b| a.0 == b.0) {
        f(entries[0].0, entries);
    }
}

impl<T: Real> Classify<T> for Src<T> {
    fn classify(&self, samples: MatRef<'_, T>) -> Result<Predictions, LkdlError> {
        check_samples(samples, "samples")?;
        check_size("samples' n_features", samples.nrows(), self.atoms().nrows())?;
        let codes = self.encode(samples)?;
        let X = Contiguous::new(samples);
        let X = X.columns();
        let sq_norms = column_sq_norms(X);
        let blocks =
            map_blocks(X.ncols(), BLOCK, |range| self.class_residuals(X, &sq_norms, &codes, range));
        Predictions::from_scores(join_blocks(self.n_classes, X.ncols(), &blocks), &sq_norms)
    }
}

#[cfg(test)]
mod tests;
