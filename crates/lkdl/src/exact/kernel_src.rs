//! Kernel SRC: SRC over Φ(X), exactly. The kernel matrix of all training samples is formed once, and
//! every new sample is compared with all of them.
//!
//! ```math
//! \text{label}(z)=\arg\min_l\|\Phi(z)-\Phi(X_l)\gamma_l\|^2,\qquad
//! \gamma=\arg\min\|\Phi(z)-\Phi(X)\gamma\|^2\ \text{s.t.}\ \|\gamma\|_0\le q
//! ```
//!
//! or γ by the lasso, every Φ(x) brought to unit norm: [`SRC`](crate::classify::sparse_representation)
//! in the kernel's space. [`GramSrc`] does it on kernel values alone.
//!
//! **When to use it.** A few thousand training samples at most, classes that no linear representation
//! separates, and no time to learn. Beyond, SRC on virtual samples (LKDL) needs no N×N matrix.
//!
//! **Cost.** N²p flops for K and N² values of memory; 2Np + N(q²−1) flops per decision by OMP.
//!
//! ```
//! use lkdl::exact::KernelSrcParams;
//! use lkdl::prelude::*;
//!
//! // Two rings, which no line through the origin tells apart.
//! let samples = faer::Mat::from_fn(2, 80, |t, i| {
//!     let (angle, radius) = (i as f64, 1.0 + (i % 2) as f64);
//!     radius * if t == 0 { angle.cos() } else { angle.sin() }
//! });
//! let labels: Vec<usize> = (0..80).map(|i| i % 2).collect();
//! let params = KernelSrcParams {
//!     kernel: Kernel::Gaussian { sigma: 0.5 },
//!     coding: SrcCoding::Omp { sparsity: 5 },
//! };
//! let (learn, test) = (samples.subcols(0, 40), samples.subcols(40, 40));
//! let model = params.train(learn, &labels[..40])?;
//! assert_eq!(model.classify(test)?.labels, labels[40..]);
//! # Ok::<(), LkdlError>(())
//! ```

use crate::classify::{Classify, GramSrc, Predictions, SrcCoding, Train};
use crate::error::LkdlError;
use crate::kernel::{Kernel, Panel};
use crate::linalg::convert;
use crate::matrix::{check_addressable, check_samples, matrix_bytes};
use crate::monitor::Monitor;
use crate::real::Real;
use faer::MatRef;

/// Samples compared with all training samples at a time.
const BATCH: usize = 2048;

/// Kernel SRC's parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelSrcParams {
    /// κ; not precomputed, for which there is [`GramSrc`].
    pub kernel: Kernel,
    /// How a sample is coded.
    pub coding: SrcCoding,
}

/// A trained kernel SRC.
#[derive(Debug, Clone)]
pub struct KernelSrc<T: Real> {
    panel: Panel<T>,
    core: GramSrc<T>,
}

impl<T: Real> Train<T> for KernelSrcParams {
    type Model = KernelSrc<T>;

    fn train_monitored(
        &self,
        samples: MatRef<'_, T>,
        labels: &[usize],
        monitor: &dyn Monitor,
    ) -> Result<Self::Model, LkdlError> {
        monitor.begin("learn", 0);
        check_samples(samples, "samples")?;
        if self.kernel == Kernel::Precomputed {
            return Err(LkdlError::Unsupported {
                what: "kernel SRC",
                problem: "needs k(z, z) of new samples, which a precomputed kernel does not have",
                fix: "use GramSrc, which takes it beside the kernel values",
            });
        }
        let need = Train::<T>::training_bytes(self, samples.nrows(), &[samples.ncols()], 1);
        check_addressable("the kernel matrix", need)?;
        KernelSrc::from_parts(Panel::new(&self.kernel, samples)?, labels, self.coding)
    }

    /// The samples, and K while it is evaluated, in `f64`, and normalised; the lasso widens it.
    fn training_bytes(&self, n_features: usize, class_sizes: &[usize], _threads: usize) -> u64 {
        let n = class_sizes.iter().sum();
        2 * matrix_bytes::<T>(n_features, n)
            + 2 * matrix_bytes::<T>(n, n)
            + matrix_bytes::<f64>(n, n)
    }
}

impl<T: Real> KernelSrc<T> {
    /// A model from its parts: the training samples with their kernel, their classes, and how a
    /// sample is coded. The kernel matrix is evaluated anew.
    pub fn from_parts(
        panel: Panel<T>,
        labels: &[usize],
        coding: SrcCoding,
    ) -> Result<Self, LkdlError> {
        let K = convert::<f64, T>(panel.gram()?.as_ref());
        let core = match panel.kernel().is_positive_semidefinite() {
            true => GramSrc::trusted(K.as_ref(), labels, coding)?,
            false => GramSrc::new(K.as_ref(), labels, coding)?,
        };
        Ok(Self { panel, core })
    }

    /// The training samples with their kernel.
    pub fn panel(&self) -> &Panel<T> {
        &self.panel
    }

    /// The rule on kernel values, with classes and coding.
    pub fn core(&self) -> &GramSrc<T> {
        &self.core
    }
}

impl<T: Real> Classify<T> for KernelSrc<T> {
    fn classify(&self, samples: MatRef<'_, T>) -> Result<Predictions, LkdlError> {
        check_samples(samples, "samples")?;
        let batch = |start: usize| {
            let samples = samples.subcols(start, BATCH.min(samples.ncols() - start));
            let cross = self.panel.evaluate(samples)?;
            self.core.classify(cross.as_ref(), &self.panel.kernel().diagonal(samples)?)
        };
        let batches = (0..samples.ncols()).step_by(BATCH).map(batch);
        Predictions::join(batches.collect::<Result<_, _>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::{Src, SrcParams};
    use crate::matrix::columns_of;
    use crate::testing::{close, random_matrix, same_for_any_thread_count};
    use faer::Mat;

    const OMP: SrcCoding = SrcCoding::Omp { sparsity: 4 };
    const LASSO: SrcCoding = SrcCoding::Lasso { relative_penalty: 0.2 };

    fn data<T: Real>() -> (Mat<T>, Vec<usize>, Mat<T>) {
        let labels = (0..40).map(|i| (i / 3) % 3).collect();
        (random_matrix(6, 40, 1), labels, random_matrix(6, 300, 2))
    }

    fn linear_is_src<T: Real>(tol: f64) {
        let (X, labels, new) = data::<T>();
        for coding in [OMP, LASSO] {
            let src: Src<T> =
                SrcParams { coding, ..Default::default() }.train(X.as_ref(), &labels).unwrap();
            let expected = src.classify(new.as_ref()).unwrap();
            for kernel in [Kernel::Linear, Kernel::Normalized(Box::new(Kernel::Linear))] {
                let normalized = kernel != Kernel::Linear;
                let model = KernelSrcParams { kernel, coding }.train(X.as_ref(), &labels).unwrap();
                let got = model.classify(new.as_ref()).unwrap();
                let mut scores = expected.scores.clone();
                for (i, sq) in crate::matrix::column_sq_norms(columns_of(&new)).iter().enumerate() {
                    for l in 0..3 {
                        // with a normalised kernel the new sample has unit norm too
                        scores[(l, i)] /= if normalized { *sq } else { 1.0 };
                    }
                }
                close(got.scores.as_ref(), scores.as_ref(), tol);
                let differ = got.labels.iter().zip(&expected.labels).filter(|(a, b)| a != b);
                assert!(differ.count() <= if T::NAME == "f64" { 0 } else { 3 });
            }
        }
    }

    #[test]
    fn with_a_linear_kernel_it_is_src() {
        linear_is_src::<f64>(1e-9);
        linear_is_src::<f32>(1e-3);
    }

    #[test]
    fn training_samples_keep_their_class_under_any_kernel() {
        let (X, labels, _) = data::<f64>();
        let kernels = [
            Kernel::Gaussian { sigma: 1.0 },
            Kernel::Polynomial { degree: 2.0, offset: 1.0 },
            Kernel::Laplacian { rate: 0.5 },
        ];
        for kernel in kernels {
            for coding in [OMP, LASSO] {
                let params = KernelSrcParams { kernel: kernel.clone(), coding };
                let model = params.train(X.as_ref(), &labels).unwrap();
                assert_eq!(model.classify(X.as_ref()).unwrap().labels, labels, "{params:?}");
            }
        }
    }

    #[test]
    fn bits_do_not_depend_on_the_thread_count() {
        let (X, labels, new) = data::<f32>();
        same_for_any_thread_count(|| {
            [OMP, LASSO].map(|coding| {
                let params = KernelSrcParams { kernel: Kernel::Gaussian { sigma: 2.0 }, coding };
                let model = params.train(X.as_ref(), &labels).unwrap();
                crate::testing::bits(&model.classify(new.as_ref()).unwrap().scores)
            })
        });
    }

    #[test]
    fn kernels_that_cannot_be_used_are_refused() {
        let (X, labels, _) = data::<f64>();
        let error = |kernel| {
            KernelSrcParams { kernel, coding: OMP }.train(X.as_ref(), &labels).unwrap_err()
        };
        assert!(matches!(error(Kernel::Precomputed), LkdlError::Unsupported { .. }));
        let indefinite = Kernel::custom("indefinite", |x, y| if x == y { 1.0 } else { -0.9 });
        assert!(matches!(error(indefinite), LkdlError::NotGram { .. }));
        assert!(matches!(error(Kernel::Gaussian { sigma: -1.0 }), LkdlError::Parameter { .. }));
    }
}
