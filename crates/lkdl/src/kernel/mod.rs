//! Kernels κ(x, y) = ⟨Φ(x), Φ(y)⟩: LKDL Eq. (11), evaluated in tiles, never as an N×N matrix.
//!
//! | kernel | formula | positive semi-definite |
//! |---|---|---|
//! | linear | xᵀy | always |
//! | polynomial | (xᵀy+b)ᵈ | b ≥ 0, d integer ≥ 1 |
//! | Gaussian | exp(−‖x−y‖²/(2σ²)) | always |
//! | exponential | exp(−‖x−y‖/σ) | always |
//! | Laplacian | exp(−γ‖x−y‖₁) | always |
//! | cosine | xᵀy/(‖x‖‖y‖), 0 for a zero vector | always |
//! | sigmoid | tanh(a·xᵀy+b) | in general not |
//! | additive χ² | Σ 2xy/(x+y), 0/0 = 0 | x, y ≥ 0 |
//! | exponential χ² | exp(−γ Σ (x−y)²/(x+y)) | x, y ≥ 0 |
//! | normalized | κ(x,y)/√(κ(x,x)κ(y,y)) of another | as the other |
//! | precomputed, custom | the caller's | the caller's claim, checked on the landmarks |
//!
//! A [`Panel`] holds the right-hand points (landmarks) with what can be computed once; its
//! tile turns a block of samples into kernel values at the cost of a product. The way back, from a
//! vector of the kernel's space to a sample, is [`Panel::pre_images`].

mod custom;
mod panel;
mod preimage;
mod width;

pub use custom::CustomKernel;
pub use panel::Panel;
pub use width::median_distance;

use crate::error::LkdlError;
use crate::matrix::{BLOCK, Columns, Contiguous, check_samples, col, map_blocks};
use crate::real::Real;
use crate::vector;
use faer::MatRef;
use std::sync::Arc;

/// The largest polynomial degree: far beyond any use, and its powers still end.
const MAX_DEGREE: f64 = 1000.0;

/// A kernel and its parameters.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Kernel {
    /// xᵀy.
    Linear,
    /// (xᵀy + offset)^degree.
    Polynomial {
        /// d > 0. An integer is applied by repeated multiplication; any other degree needs
        /// xᵀy + offset ≥ 0.
        degree: f64,
        /// b.
        offset: f64,
    },
    /// exp(−‖x−y‖²/(2σ²)).
    Gaussian {
        /// σ > 0.
        sigma: f64,
    },
    /// exp(−‖x−y‖₂/σ).
    Exponential {
        /// σ > 0.
        sigma: f64,
    },
    /// exp(−rate·‖x−y‖₁).
    Laplacian {
        /// γ > 0.
        rate: f64,
    },
    /// xᵀy/(‖x‖‖y‖).
    Cosine,
    /// tanh(scale·xᵀy + offset).
    Sigmoid {
        /// a.
        scale: f64,
        /// b.
        offset: f64,
    },
    /// Σ_t 2x_t y_t/(x_t + y_t).
    Chi2Additive,
    /// exp(−rate·Σ_t (x_t−y_t)²/(x_t+y_t)).
    Chi2Exponential {
        /// γ > 0.
        rate: f64,
    },
    /// κ(x,y)/√(κ(x,x)κ(y,y)) of the inner kernel; 0 where a diagonal is 0.
    Normalized(Box<Kernel>),
    /// The samples *are* kernel values: column i of the training matrix holds κ(x_j, x_i) for all
    /// training samples j (so it is N×N), and a new sample is the column of its N values.
    Precomputed,
    /// The user's own, over blocks.
    Custom(Arc<dyn CustomKernel>),
}

impl PartialEq for Kernel {
    /// Equal parameters; custom kernels are equal when they are the same object.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Custom(a), Self::Custom(b)) => Arc::ptr_eq(a, b),
            (Self::Custom(_), _) | (_, Self::Custom(_)) => false,
            (Self::Normalized(a), Self::Normalized(b)) => a == b,
            _ => self.to_string() == other.to_string(),
        }
    }
}

impl std::fmt::Display for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Linear => write!(f, "linear"),
            Self::Polynomial { degree, offset } => {
                write!(f, "polynomial(degree={degree}, offset={offset})")
            }
            Self::Gaussian { sigma } => write!(f, "gaussian(sigma={sigma})"),
            Self::Exponential { sigma } => write!(f, "exponential(sigma={sigma})"),
            Self::Laplacian { rate } => write!(f, "laplacian(rate={rate})"),
            Self::Cosine => write!(f, "cosine"),
            Self::Sigmoid { scale, offset } => {
                write!(f, "sigmoid(scale={scale}, offset={offset})")
            }
            Self::Chi2Additive => write!(f, "chi2-additive"),
            Self::Chi2Exponential { rate } => write!(f, "chi2-exponential(rate={rate})"),
            Self::Normalized(inner) => write!(f, "normalized({inner})"),
            Self::Precomputed => write!(f, "precomputed"),
            Self::Custom(kernel) => write!(f, "custom({})", kernel.name()),
        }
    }
}

impl Kernel {
    /// Rejects parameters outside their range.
    pub fn check(&self) -> Result<(), LkdlError> {
        let positive = |name, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(LkdlError::parameter(name, value, "a finite number > 0"))
            }
        };
        let finite = |name, value: f64| {
            if value.is_finite() {
                Ok(())
            } else {
                Err(LkdlError::parameter(name, value, "a finite number"))
            }
        };
        match self {
            Self::Polynomial { degree, offset } => {
                positive("kernel degree", *degree)?;
                if *degree > MAX_DEGREE {
                    let bound = format!("at most {MAX_DEGREE}");
                    return Err(LkdlError::parameter("kernel degree", degree, bound));
                }
                finite("kernel offset", *offset)
            }
            Self::Gaussian { sigma } | Self::Exponential { sigma } => {
                positive("kernel sigma", *sigma)
            }
            Self::Laplacian { rate } | Self::Chi2Exponential { rate } => {
                positive("kernel rate", *rate)
            }
            Self::Sigmoid { scale, offset } => {
                finite("kernel scale", *scale)?;
                finite("kernel offset", *offset)
            }
            Self::Normalized(inner) => match inner.as_ref() {
                Self::Precomputed => Err(LkdlError::Unsupported {
                    what: "normalized(precomputed)",
                    problem: "has no diagonal for new samples",
                    fix: "normalise the matrix before passing it",
                }),
                Self::Normalized(_) => Err(LkdlError::Unsupported {
                    what: "normalized(normalized)",
                    problem: "says the same twice",
                    fix: "normalise once",
                }),
                inner => inner.check(),
            },
            Self::Linear
            | Self::Cosine
            | Self::Chi2Additive
            | Self::Precomputed
            | Self::Custom(_) => Ok(()),
        }
    }

    /// Whether theory promises a positive semi-definite kernel matrix.
    pub fn is_positive_semidefinite(&self) -> bool {
        match self {
            Self::Polynomial { degree, offset } => degree.fract() == 0.0 && *offset >= 0.0,
            Self::Sigmoid { .. } | Self::Precomputed | Self::Custom(_) => false,
            Self::Normalized(inner) => inner.is_positive_semidefinite(),
            _ => true,
        }
    }

    /// Whether samples are points of a vector space, in which means (k-means centres) make sense.
    pub fn is_on_vectors(&self) -> bool {
        match self {
            Self::Precomputed | Self::Custom(_) => false,
            Self::Normalized(inner) => inner.is_on_vectors(),
            _ => true,
        }
    }

    fn is_chi2(&self) -> bool {
        match self {
            Self::Chi2Additive | Self::Chi2Exponential { .. } => true,
            Self::Normalized(inner) => inner.is_chi2(),
            _ => false,
        }
    }

    /// κ(x_i, x_i) of every column, in `f64`.
    ///
    /// For [`Kernel::Precomputed`] the matrix must be the square training one.
    pub fn diagonal<T: Real>(&self, samples: MatRef<'_, T>) -> Result<Vec<f64>, LkdlError> {
        self.check()?;
        check_samples(samples, "samples")?;
        self.check_domain(samples, 0)?;
        self.diag(Contiguous::new(samples).columns())
    }

    /// [`Kernel::diagonal`] without the checks.
    pub(crate) fn diag<T: Real>(&self, X: Columns<'_, T>) -> Result<Vec<f64>, LkdlError> {
        if let Self::Precomputed = self {
            crate::matrix::check_size("precomputed kernel rows", X.nrows(), X.ncols())?;
            return Ok((0..X.ncols()).map(|i| X[(i, i)].wide()).collect());
        }
        let blocks = map_blocks(X.ncols(), BLOCK, |range| {
            let mut out = vec![0.0; range.len()];
            self.diag_block(crate::matrix::subcols(X, range), &mut out).map(|()| out)
        });
        let mut diag = Vec::with_capacity(X.ncols());
        for block in blocks {
            diag.extend(block?);
        }
        match diag.iter().find(|v| !v.is_finite()) {
            Some(&value) => Err(LkdlError::KernelOverflow { kernel: self.to_string(), value }),
            None => Ok(diag),
        }
    }

    /// The diagonal of one block. A precomputed block carries no diagonal of its own.
    fn diag_block<T: Real>(&self, X: Columns<'_, T>, out: &mut [f64]) -> Result<(), LkdlError> {
        let each = |out: &mut [f64], f: &dyn Fn(&[T]) -> f64| {
            for (i, value) in out.iter_mut().enumerate() {
                *value = f(col(X, i));
            }
        };
        match self {
            Self::Linear => each(out, &|x| vector::norm_sq(x)),
            Self::Polynomial { degree, offset } => {
                let (degree, offset) = (*degree, *offset);
                each(out, &|x| panel::power(vector::norm_sq(x) + offset, degree));
            }
            Self::Gaussian { .. }
            | Self::Exponential { .. }
            | Self::Laplacian { .. }
            | Self::Chi2Exponential { .. } => out.fill(1.0),
            Self::Cosine => each(out, &|x| f64::from(x.iter().any(|v| *v != T::of(0.0)))),
            Self::Sigmoid { scale, offset } => {
                each(out, &|x| (scale * vector::norm_sq(x) + offset).tanh());
            }
            Self::Chi2Additive => each(out, &|x| x.iter().map(|v| v.wide()).sum()),
            Self::Normalized(inner) => {
                inner.diag_block(X, out)?;
                for value in out {
                    *value = f64::from(T::of(*value) > T::of(0.0));
                }
            }
            Self::Precomputed => out.fill(f64::NAN),
            Self::Custom(kernel) => {
                let mut values = vec![T::of(0.0); out.len()];
                T::custom_diag(kernel.as_ref(), X.as_dyn_stride(), &mut values)?;
                for (to, from) in out.iter_mut().zip(values) {
                    *to = from.wide();
                }
            }
        }
        Ok(())
    }

    /// χ² kernels need non-negative features; `first` is the index of the first sample.
    pub(crate) fn check_domain<T: Real>(
        &self,
        X: MatRef<'_, T>,
        first: usize,
    ) -> Result<(), LkdlError> {
        if !self.is_chi2() {
            return Ok(());
        }
        for i in 0..X.ncols() {
            if let Some(row) = X.col(i).iter().position(|v| *v < T::of(0.0)) {
                let value = X[(row, i)].wide();
                return Err(LkdlError::NegativeFeature { row, col: first + i, value });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
