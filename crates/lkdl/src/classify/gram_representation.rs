//! SRC in the space of a kernel, from inner products alone: kernel SRC.
//!
//! The dictionary is Φ(X), every sample brought to unit norm: G = K normalised to unit diagonal, and
//! a new sample z is known by κ(X, z) and κ(z, z). Code γ over all samples, then
//!
//! ```math
//! \text{label}(z)=\arg\min_l\ \kappa(z,z)-2\gamma_l^T\alpha_l+\gamma_l^TG_{ll}\gamma_l,\qquad
//! \alpha=\text{diag}(K)^{-1/2}\kappa(X,z)
//! ```
//!
//! which is ‖Φ(z) − Φ(X_l)γ_l‖². [`KernelSrc`](crate::exact::KernelSrc) evaluates the kernel; this
//! core takes matrices, for kernels that are known by their values only.
//!
//! **When to use it.** As [`SRC`](super::sparse_representation), where no linear representation
//! separates the classes and N is small. Memory N² values. **Cost** per sample N kernel values,
//! N(q²−1) flops by OMP.
//!
//! ```
//! use faer::Mat;
//! use lkdl::classify::{GramSrc, SrcCoding};
//!
//! // Samples on a line in turns of two classes; the kernel falls off with their distance.
//! let kernel = |a: f64, b: f64| (-(a - b).powi(2)).exp();
//! let points = [0.0, 1.0, 2.0, 3.0];
//! let gram = Mat::from_fn(4, 4, |i, j| kernel(points[i], points[j]));
//! let model = GramSrc::new(gram.as_ref(), &[0, 1, 0, 1], SrcCoding::Omp { sparsity: 2 })?;
//!
//! let cross = Mat::from_fn(4, 1, |i, _| kernel(points[i], 2.1));
//! assert_eq!(model.classify(cross.as_ref(), &[1.0])?.labels, [0]);
//! # Ok::<(), lkdl::LkdlError>(())
//! ```

use super::sparse_representation::{SrcCoding, for_each_class, lasso};
use super::{Predictions, class_members, join_blocks};
use crate::error::LkdlError;
use crate::linalg::convert;
use crate::matrix::{BLOCK, Columns, check_samples, check_size, columns_of, map_blocks};
use crate::pursuit::{Codes, check_gram, check_self_values, encode_products};
use crate::real::Real;
use faer::{Mat, MatRef};
use std::ops::Range;

/// A trained kernel SRC: the normalised kernel matrix of the training samples, and their classes.
#[derive(Debug, Clone)]
pub struct GramSrc<T: Real> {
    /// G, unit diagonal; rows and columns of samples with κ(x, x) = 0 are zero.
    gram: Mat<T>,
    /// 1/√κ(x, x), and 0 where that is 0.
    scales: Vec<f64>,
    atom_classes: Vec<usize>,
    n_classes: usize,
    coding: SrcCoding,
}

impl<T: Real> GramSrc<T> {
    /// From the kernel matrix of the training samples, which must be symmetric and positive
    /// semi-definite (checked by a Cholesky factorisation, N³/3 flops).
    pub fn new(
        gram: MatRef<'_, T>,
        labels: &[usize],
        coding: SrcCoding,
    ) -> Result<Self, LkdlError> {
        check_gram(gram)?;
        Self::trusted(gram, labels, coding)
    }

    /// [`GramSrc::new`] of a matrix that is known to be one of inner products.
    pub(crate) fn trusted(
        gram: MatRef<'_, T>,
        labels: &[usize],
        coding: SrcCoding,
    ) -> Result<Self, LkdlError> {
        let n_classes = class_members(labels, gram.ncols())?.len();
        coding.check(gram.ncols())?;
        let scale = |j: usize| {
            let value = gram[(j, j)].wide();
            if value > 0.0 { 1.0 / value.sqrt() } else { 0.0 }
        };
        let scales: Vec<f64> = (0..gram.ncols()).map(scale).collect();
        if scales.iter().all(|scale| *scale == 0.0) {
            return Err(LkdlError::AllZero { what: "kernel matrix" });
        }
        let normalized = |i, j| T::of(gram[(i, j)].wide() * scales[i] * scales[j]);
        let gram = Mat::from_fn(gram.nrows(), gram.ncols(), normalized);
        Ok(Self { gram, scales, atom_classes: labels.to_vec(), n_classes, coding })
    }

    /// Number of training samples, N.
    pub fn n_samples(&self) -> usize {
        self.gram.ncols()
    }

    /// Number of classes, L.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// The class of every training sample.
    pub fn atom_classes(&self) -> &[usize] {
        &self.atom_classes
    }

    /// How a sample is coded.
    pub fn coding(&self) -> SrcCoding {
        self.coding
    }

    /// Labels samples by their kernel values: column i of `cross` is κ(X, z_i) and `self_values[i]`
    /// is κ(z_i, z_i). Scores are squared residuals, margins are relative to κ(z, z).
    pub fn classify(
        &self,
        cross: MatRef<'_, T>,
        self_values: &[f64],
    ) -> Result<Predictions, LkdlError> {
        check_samples(cross, "kernel values")?;
        check_size("kernel values' rows", cross.nrows(), self.n_samples())?;
        check_self_values::<T>(self_values, cross.ncols())?;
        let alpha = Mat::from_fn(cross.nrows(), cross.ncols(), |j, i| {
            T::of(cross[(j, i)].wide() * self.scales[j])
        });
        let codes = self.encode(columns_of(&alpha), self_values)?;
        let blocks = map_blocks(cross.ncols(), BLOCK, |range| {
            self.class_residuals(columns_of(&alpha), self_values, &codes, range)
        });
        let scores = join_blocks(self.n_classes, cross.ncols(), &blocks);
        Predictions::from_scores(scores, self_values)
    }

    fn encode(&self, alpha: Columns<'_, T>, self_values: &[f64]) -> Result<Codes<T>, LkdlError> {
        Ok(match self.coding {
            SrcCoding::Omp { sparsity } => {
                encode_products(self.gram.as_ref(), alpha, self_values, sparsity).codes
            }
            SrcCoding::Lasso { relative_penalty } => {
                let G = convert::<T, f64>(self.gram.as_ref());
                lasso(relative_penalty)
                    .encode_products(columns_of(&G), alpha, self_values)?
                    .encoded
                    .codes
            }
        })
    }

    /// κ(z, z) − 2γ_lᵀα_l + γ_lᵀG_llγ_l of some samples for all classes, in `f64`.
    fn class_residuals(
        &self,
        alpha: Columns<'_, T>,
        self_values: &[f64],
        codes: &Codes<T>,
        range: Range<usize>,
    ) -> Mat<f64> {
        let mut residuals = Mat::zeros(self.n_classes, range.len());
        for (slot, i) in range.enumerate() {
            let residuals = residuals.col_as_slice_mut(slot);
            residuals.fill(self_values[i]); // of a class without a say
            for_each_class(&self.atom_classes, codes.signal(i), |class, entries| {
                for &(_, j, value) in entries {
                    let explained: f64 = entries
                        .iter()
                        .map(|&(_, l, other)| self.gram[(l, j)].wide() * other.wide())
                        .sum();
                    residuals[class] += value.wide() * (explained - 2.0 * alpha[(j, i)].wide());
                }
                residuals[class] = residuals[class].max(0.0);
            });
        }
        residuals
    }
}

#[cfg(test)]
mod tests;
