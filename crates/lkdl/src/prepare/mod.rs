//! Preparation of samples: a chain of steps fitted on training data, saved with the model and
//! applied again to every new sample.
//!
//! | step | sample x becomes | learned |
//! |---|---|---|
//! | `center` | x − mean(x)·1 | nothing |
//! | `l2` | x/‖x‖₂ | nothing |
//! | `standardize` | (x − μ)/s, per feature | μ = mean, s = standard deviation over samples |
//!
//! The published experiments: `center,l2` on USPS (the paper's text names `l2` alone), `l2` on
//! MNIST. A sample that a step turns into zero stays zero and is counted. Means, deviations and norms
//! are `f64`; one pass over the samples per step, O(pN), two for fitting `standardize`. Samples that
//! come in blocks are standardised by their [`Moments`], which add.

mod moments;
#[cfg(test)]
mod tests;

pub use moments::Moments;

use crate::error::{LkdlError, Warning};
use crate::matrix::{BLOCK, Contiguous, check_samples, check_size, columns_of};
use crate::real::Real;
use crate::vector;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;
use std::str::FromStr;

/// ‖x‖² outside this range has lost digits to underflow, or overflowed: rescale x first.
const SAFE_SQ_NORM: std::ops::RangeInclusive<f64> = 1e-280..=1e300;

/// One step of a preparation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Subtracts every sample's own mean (an image's mean grey).
    CenterSample,
    /// Scales every sample to unit ℓ2 norm.
    UnitNorm,
    /// Shifts and scales every feature to mean 0 and variance 1 over the training samples.
    Standardize,
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::CenterSample => "center",
            Self::UnitNorm => "l2",
            Self::Standardize => "standardize",
        })
    }
}

impl FromStr for Step {
    type Err = LkdlError;

    fn from_str(name: &str) -> Result<Self, LkdlError> {
        match name.trim() {
            "center" => Ok(Self::CenterSample),
            "l2" => Ok(Self::UnitNorm),
            "standardize" => Ok(Self::Standardize),
            other => Err(LkdlError::parameter(
                "preparation step",
                format!("\"{other}\""),
                "center, l2 or standardize, joined by commas, or none alone",
            )),
        }
    }
}

/// Which steps, in order; no step by default. Written `center,l2`, or `none`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrepareParams {
    /// The steps, first one first.
    pub steps: Vec<Step>,
}

impl std::fmt::Display for PrepareParams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.steps.is_empty() {
            return f.write_str("none");
        }
        for (t, step) in self.steps.iter().enumerate() {
            write!(f, "{}{step}", if t > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl FromStr for PrepareParams {
    type Err = LkdlError;

    fn from_str(names: &str) -> Result<Self, LkdlError> {
        if names.trim() == "none" {
            return Ok(Self::default());
        }
        Ok(Self { steps: names.split(',').map(str::parse).collect::<Result<_, _>>()? })
    }
}

/// A step with what it learned.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FittedStep<T: Real> {
    /// See [`Step::CenterSample`].
    CenterSample,
    /// See [`Step::UnitNorm`].
    UnitNorm,
    /// See [`Step::Standardize`].
    Standardize {
        /// μ, one per feature.
        mean: Vec<T>,
        /// s > 0, one per feature; 1 for a constant feature.
        scale: Vec<T>,
    },
}

/// A fitted chain of steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation<T: Real> {
    n_features: usize,
    steps: Vec<FittedStep<T>>,
}

/// Samples after preparation.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared<T: Real> {
    /// The prepared samples, one per column.
    pub samples: Mat<T>,
    /// How many of them are zero.
    pub n_zero: usize,
}

impl<T: Real> Prepared<T> {
    /// The warning that belongs to zero samples, if there are any.
    pub fn warning(&self) -> Option<Warning> {
        (self.n_zero > 0).then_some(Warning::ZeroSamples { count: self.n_zero })
    }
}

impl PrepareParams {
    /// Learns every step on the samples as the steps before it leave them.
    pub fn fit<T: Real>(&self, samples: MatRef<'_, T>) -> Result<Preparation<T>, LkdlError> {
        check_samples(samples, "samples")?;
        let mut fitted = Preparation { n_features: samples.nrows(), steps: Vec::new() };
        for step in &self.steps {
            let step = match step {
                Step::CenterSample => FittedStep::CenterSample,
                Step::UnitNorm => FittedStep::UnitNorm,
                Step::Standardize if fitted.steps.is_empty() => {
                    Moments::of_columns(Contiguous::new(samples).columns()).standardize()?
                }
                Step::Standardize => {
                    let so_far = fitted.run(samples.to_owned())?.samples;
                    Moments::of_columns(columns_of(&so_far)).standardize()?
                }
            };
            fitted.steps.push(step);
        }
        Ok(fitted)
    }

    /// The chain for samples of so many features whose moments are known: of every `standardize` step
    /// in turn, those of the samples as the steps before it leave them. It ends before the first
    /// `standardize` that has none yet, whose moments are then those of the samples that it prepares.
    pub fn by_moments<T: Real>(
        &self,
        n_features: usize,
        moments: &[Moments],
    ) -> Result<Preparation<T>, LkdlError> {
        let (mut steps, mut known) = (Vec::new(), moments.iter());
        for step in &self.steps {
            steps.push(match step {
                Step::CenterSample => FittedStep::CenterSample,
                Step::UnitNorm => FittedStep::UnitNorm,
                Step::Standardize => match known.next() {
                    Some(moments) => moments.standardize()?,
                    None => break,
                },
            });
        }
        check_size("moments of all samples", moments.len(), moments.len() - known.len())?;
        Preparation::from_parts(n_features, steps)
    }

    /// How many steps learn from the samples.
    pub(crate) fn n_learned(&self) -> usize {
        self.steps.iter().filter(|step| **step == Step::Standardize).count()
    }
}

impl<T: Real> Preparation<T> {
    /// Rebuilds a saved preparation.
    pub fn from_parts(n_features: usize, steps: Vec<FittedStep<T>>) -> Result<Self, LkdlError> {
        if n_features == 0 {
            return Err(LkdlError::parameter("n_features", 0, "at least 1"));
        }
        for step in &steps {
            if let FittedStep::Standardize { mean, scale } = step {
                check_size("standardize mean", mean.len(), n_features)?;
                check_size("standardize scale", scale.len(), n_features)?;
                if let Some(bad) = mean.iter().find(|v| !v.is_finite()) {
                    return Err(LkdlError::parameter("standardize mean", bad.wide(), "finite"));
                }
                if let Some(bad) = scale.iter().find(|v| !(v.is_finite() && **v > T::of(0.0))) {
                    return Err(LkdlError::parameter(
                        "standardize scale",
                        bad.wide(),
                        "finite and > 0",
                    ));
                }
            }
        }
        Ok(Self { n_features, steps })
    }

    /// Number of features the chain was fitted on.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// The fitted steps, first one first.
    pub fn steps(&self) -> &[FittedStep<T>] {
        &self.steps
    }

    /// The parameters this was fitted with.
    pub fn params(&self) -> PrepareParams {
        let name = |step: &FittedStep<T>| match step {
            FittedStep::CenterSample => Step::CenterSample,
            FittedStep::UnitNorm => Step::UnitNorm,
            FittedStep::Standardize { .. } => Step::Standardize,
        };
        PrepareParams { steps: self.steps.iter().map(name).collect() }
    }

    /// Prepares a copy of the samples.
    pub fn apply(&self, samples: MatRef<'_, T>) -> Result<Prepared<T>, LkdlError> {
        self.check(samples)?;
        self.run(samples.to_owned())
    }

    /// Prepares the samples in their own memory.
    pub fn apply_in_place(&self, samples: Mat<T>) -> Result<Prepared<T>, LkdlError> {
        self.check(samples.as_ref())?;
        self.run(samples)
    }

    fn check(&self, samples: MatRef<'_, T>) -> Result<(), LkdlError> {
        check_size("n_features of samples", samples.nrows(), self.n_features)?;
        check_samples(samples, "samples")
    }

    /// Every step on every sample, blocks of samples in parallel.
    fn run(&self, mut samples: Mat<T>) -> Result<Prepared<T>, LkdlError> {
        let blocks: Vec<Result<usize, (usize, usize, T)>> = samples
            .as_mut()
            .par_col_chunks_mut(BLOCK)
            .enumerate()
            .map(|(t, block)| self.run_block(block).map_err(|(row, i, v)| (row, t * BLOCK + i, v)))
            .collect();
        let mut n_zero = 0;
        for block in blocks {
            n_zero += block.map_err(|(row, col, value)| LkdlError::NonFinite {
                what: "prepared samples (values near overflow)",
                row,
                col,
                value: value.wide(),
            })?;
        }
        Ok(Prepared { samples, n_zero })
    }

    /// Prepares one block; counts its zeros, or names the first (row, column, value) that
    /// overflowed.
    fn run_block(&self, block: MatMut<'_, T>) -> Result<usize, (usize, usize, T)> {
        let mut n_zero = 0;
        for (i, column) in block.col_iter_mut().enumerate() {
            let Some(column) = column.try_as_col_major_mut() else {
                unreachable!("columns of an owned matrix are contiguous")
            };
            let x = column.as_slice_mut();
            for step in &self.steps {
                match step {
                    FittedStep::CenterSample => center(x),
                    FittedStep::UnitNorm => unit_norm(x),
                    FittedStep::Standardize { mean, scale } => {
                        for ((v, mean), scale) in x.iter_mut().zip(mean).zip(scale) {
                            *v = T::of((v.wide() - mean.wide()) / scale.wide());
                        }
                    }
                }
            }
            if let Some(row) = x.iter().position(|v| !v.is_finite()) {
                return Err((row, i, x[row]));
            }
            n_zero += usize::from(x.iter().all(|v| *v == T::of(0.0)));
        }
        Ok(n_zero)
    }
}

/// x ← x − mean(x). Sums are taken relative to the first entry, so that a constant sample becomes
/// exactly zero and no later scaling can blow up its rounding errors.
fn center<T: Real>(x: &mut [T]) {
    // independent sums, so that additions need not wait for each other
    const LANES: usize = 8;
    let first = x[0].wide();
    let mut sums = [0.0f64; LANES];
    for chunk in x.chunks(LANES) {
        for (sum, v) in sums.iter_mut().zip(chunk) {
            *sum += v.wide() - first;
        }
    }
    let offset = sums.iter().sum::<f64>() / x.len() as f64;
    for v in x {
        *v = T::of((v.wide() - first) - offset);
    }
}

/// x ← x/‖x‖ for every non-zero x, however small or large.
fn unit_norm<T: Real>(x: &mut [T]) {
    if !SAFE_SQ_NORM.contains(&vector::norm_sq(x)) {
        let largest = x.iter().fold(0.0f64, |largest, v| largest.max(v.wide().abs()));
        if largest > 0.0 {
            for v in x.iter_mut() {
                *v = T::of(v.wide() / largest);
            }
        }
    }
    vector::normalize(x);
}
