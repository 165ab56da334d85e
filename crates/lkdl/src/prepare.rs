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
//! MNIST. A sample that a step turns into zero stays zero and is counted. Means, deviations and norms are `f64`; one pass over the samples per step, O(pN),
//! two for fitting `standardize`.

use crate::error::{LkdlError, Warning};
use crate::matrix::{
    BLOCK, Columns, Contiguous, check_samples, check_size, col, columns_of, map_blocks,
};
use crate::real::Real;
use crate::vector;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;
use std::str::FromStr;

/// A feature whose deviation is below this many ε of its largest magnitude varies by rounding
/// alone: dividing by such a deviation would turn noise into data.
const CONSTANT_FEATURE: f64 = 8.0;

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
                    fit_standardize(Contiguous::new(samples).columns())?
                }
                Step::Standardize => {
                    fit_standardize(columns_of(&fitted.run(samples.to_owned())?.samples))?
                }
            };
            fitted.steps.push(step);
        }
        Ok(fitted)
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

/// Mean and standard deviation of every feature, in two passes; block sums are added in order.
fn fit_standardize<T: Real>(X: Columns<'_, T>) -> Result<FittedStep<T>, LkdlError> {
    let n = X.ncols() as f64;
    // relative to the first sample: exact for constant features
    let first: Vec<f64> = col(X, 0).iter().map(|v| v.wide()).collect();
    let offsets = feature_sums(X, &first, |d| d);
    let mean: Vec<f64> = first.iter().zip(&offsets).map(|(x, sum)| x + sum / n).collect();
    let squares = feature_sums(X, &mean, |d| d * d);
    if squares.iter().any(|v| !v.is_finite()) {
        return Err(LkdlError::Unsupported {
            what: "standardize",
            problem: "overflowed on features near the largest float",
            fix: "scale the samples first",
        });
    }
    let scale = squares.iter().zip(&mean).map(|(sum, mean)| {
        let deviation = (sum / n).sqrt();
        // |mean| + deviation bounds the magnitude of a feature that hardly varies
        let constant = deviation <= CONSTANT_FEATURE * T::EPS * (mean.abs() + deviation);
        // a deviation below the working type's range counts as none
        if constant || T::of(deviation) == T::of(0.0) { T::of(1.0) } else { T::of(deviation) }
    });
    Ok(FittedStep::Standardize {
        scale: scale.collect(),
        mean: mean.iter().map(|v| T::of(*v)).collect(),
    })
}

/// Σ_i f(x_ti − origin_t) for every feature t.
fn feature_sums<T: Real>(
    X: Columns<'_, T>,
    origin: &[f64],
    f: impl Fn(f64) -> f64 + Sync,
) -> Vec<f64> {
    let blocks = map_blocks(X.ncols(), BLOCK, |range| {
        let mut sums = vec![0.0; X.nrows()];
        for i in range {
            for ((sum, v), origin) in sums.iter_mut().zip(col(X, i)).zip(origin) {
                *sum += f(v.wide() - origin);
            }
        }
        sums
    });
    let mut total = vec![0.0; X.nrows()];
    for block in blocks {
        for (sum, part) in total.iter_mut().zip(block) {
            *sum += part;
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{close, random_matrix, same_for_any_thread_count, tolerance};

    fn prepare<T: Real>(steps: &str, X: &Mat<T>) -> Prepared<T> {
        let params: PrepareParams = steps.parse().unwrap();
        params.fit(X.as_ref()).unwrap().apply(X.as_ref()).unwrap()
    }

    /// Features with means 3t and deviations about 2^t.
    fn uneven<T: Real>(p: usize, n: usize) -> Mat<T> {
        let Z = random_matrix::<T>(p, n, 5);
        Mat::from_fn(p, n, |t, i| T::of(3.0 * t as f64 + (1 << t) as f64 * Z[(t, i)].wide()))
    }

    fn centred_samples_sum_to_zero_in<T: Real>() {
        for (p, n) in [(1, 1), (1, 5), (7, 1), (64, 300)] {
            let X = prepare("center", &uneven::<T>(p.min(20), n)).samples;
            for i in 0..n {
                let x = columns_of(&X).col(i).as_slice();
                let size: f64 = x.iter().map(|v| v.wide().abs()).sum();
                let sum: f64 = x.iter().map(|v| v.wide()).sum();
                assert!(sum.abs() <= tolerance::<T>(1) * size.max(1.0), "{sum} of {size}");
            }
        }
    }

    #[test]
    fn centred_samples_sum_to_zero() {
        centred_samples_sum_to_zero_in::<f64>();
        centred_samples_sum_to_zero_in::<f32>();
    }

    fn l2_gives_unit_norms_in<T: Real>() {
        let X = prepare("center,l2", &uneven::<T>(9, 300)).samples;
        for i in 0..300 {
            assert!((vector::norm_sq(col(columns_of(&X), i)) - 1.0).abs() <= tolerance::<T>(1));
        }
        close(prepare("l2", &X).samples.as_ref(), X.as_ref(), 2.0 * T::EPS);
    }

    #[test]
    fn l2_gives_unit_norms_and_is_idempotent() {
        l2_gives_unit_norms_in::<f64>();
        l2_gives_unit_norms_in::<f32>();
    }

    #[test]
    fn l2_reaches_samples_whose_squares_leave_the_range() {
        for size in [1e-200, 1e200, f64::MIN_POSITIVE * 1e-10, f64::MAX] {
            let X = prepare("l2", &Mat::from_fn(4, 1, |_, _| size));
            assert_eq!(X.n_zero, 0);
            assert!(X.samples.col(0).iter().all(|v| (v - 0.5).abs() < 1e-15), "{size}");
        }
        let X = prepare("l2", &Mat::from_fn(4, 1, |_, _| f32::MIN_POSITIVE));
        assert!(X.samples.col(0).iter().all(|v| (v - 0.5).abs() < 1e-6));
    }

    #[test]
    fn zero_and_constant_samples_become_zero_and_are_counted() {
        // 0.1 · 7 / 7 ≠ 0.1 in floating point: a naive mean leaves a residue that l2 would blow up
        let mut X = Mat::from_fn(7, 4, |_, i| 0.1 * i as f64);
        X[(3, 2)] = 9.0;
        let prepared = prepare("center,l2", &X);
        assert_eq!(prepared.n_zero, 3);
        assert_eq!(prepared.warning(), Some(Warning::ZeroSamples { count: 3 }));
        for i in [0, 1, 3] {
            assert!(prepared.samples.col(i).iter().all(|v| *v == 0.0));
        }
        assert_eq!(prepare("l2", &X).n_zero, 1);
        assert_eq!(prepare("l2", &Mat::from_fn(2, 3, |_, _| 1.0f32)).warning(), None);
    }

    fn standardised_features_in<T: Real>() {
        let (p, n) = (9, 700);
        let X = prepare("standardize", &uneven::<T>(p, n)).samples;
        for t in 0..p {
            let sum: f64 = X.row(t).iter().map(|v| v.wide()).sum();
            let squares: f64 = X.row(t).iter().map(|v| v.wide() * v.wide()).sum();
            assert!((sum / n as f64).abs() <= tolerance::<T>(p), "feature {t}: {sum}");
            assert!((squares / n as f64 - 1.0).abs() <= tolerance::<T>(p), "feature {t}");
        }
    }

    #[test]
    fn standardised_features_have_mean_0_and_variance_1() {
        standardised_features_in::<f64>();
        standardised_features_in::<f32>();
    }

    #[test]
    fn constant_features_keep_scale_1_and_become_0() {
        let mut X = uneven::<f64>(3, 300);
        let wobble = 1e6 * f64::EPSILON; // one unit in the last place of 1e6, or nearly
        for i in 0..300 {
            X[(1, i)] = 0.1;
            X[(2, i)] = 1e6 + if i % 2 == 0 { wobble } else { 0.0 };
        }
        let fitted = PrepareParams { steps: vec![Step::Standardize] }.fit(X.as_ref()).unwrap();
        let [FittedStep::Standardize { mean, scale }] = fitted.steps() else { panic!() };
        assert_eq!((mean[1], &scale[1..]), (0.1, &[1.0, 1.0][..]));
        let prepared = fitted.apply(X.as_ref()).unwrap().samples;
        assert!(prepared.row(1).iter().all(|v| *v == 0.0));
        assert!(prepared.row(2).iter().all(|v| v.abs() <= 2.0 * wobble));
        // one sample: every feature is constant
        let one = uneven::<f32>(5, 1);
        assert_eq!(prepare("standardize", &one).n_zero, 1);
    }

    #[test]
    fn a_step_learns_from_what_the_steps_before_it_leave() {
        let X = uneven::<f64>(6, 300);
        let whole = prepare("center,l2,standardize", &X).samples;
        let by_hand =
            prepare("standardize", &prepare("l2", &prepare("center", &X).samples).samples);
        assert_eq!(whole, by_hand.samples);
    }

    #[test]
    fn new_samples_use_the_training_statistics() {
        let X = uneven::<f64>(4, 50);
        let fitted = PrepareParams { steps: vec![Step::Standardize] }.fit(X.as_ref()).unwrap();
        let all = fitted.apply(X.as_ref()).unwrap().samples;
        let one = fitted.apply(X.as_ref().subcols(7, 1)).unwrap().samples;
        assert_eq!(one.as_ref(), all.as_ref().subcols(7, 1));
        // row-major input gives the same values
        let rows = X.transpose().to_owned();
        assert_eq!(fitted.apply(rows.transpose()).unwrap().samples, all);
        assert_eq!(fitted.apply_in_place(X).unwrap().samples, all);
    }

    #[test]
    fn an_empty_chain_changes_nothing() {
        let X = uneven::<f32>(4, 5);
        assert_eq!(prepare("none", &X), Prepared { samples: X, n_zero: 0 });
    }

    #[test]
    fn names_are_read_back_as_written() {
        for names in ["none", "center", "l2", "standardize", "center,l2", "l2,standardize,l2"] {
            assert_eq!(names.parse::<PrepareParams>().unwrap().to_string(), names);
        }
        let spaced = "center, l2".parse::<PrepareParams>().unwrap();
        assert_eq!(spaced.steps, [Step::CenterSample, Step::UnitNorm]);
        for names in ["", "centre", "l2,", "none,l2"] {
            let error = names.parse::<PrepareParams>().unwrap_err();
            assert!(matches!(error, LkdlError::Parameter { name: "preparation step", .. }));
        }
    }

    #[test]
    fn a_preparation_is_rebuilt_from_its_parts() {
        let params: PrepareParams = "center,standardize,l2".parse().unwrap();
        let fitted = params.fit(uneven::<f32>(5, 40).as_ref()).unwrap();
        let again = Preparation::from_parts(fitted.n_features(), fitted.steps().to_vec()).unwrap();
        assert_eq!(again, fitted);
        assert_eq!(again.params(), params);
    }

    #[test]
    fn bad_parts_and_samples_are_typed_errors() {
        let step = |mean: &[f64], scale: &[f64]| FittedStep::Standardize {
            mean: mean.to_vec(),
            scale: scale.to_vec(),
        };
        assert!(Preparation::<f64>::from_parts(0, vec![]).is_err());
        for bad in [
            step(&[0.0], &[1.0, 1.0]),
            step(&[0.0, 0.0], &[1.0]),
            step(&[0.0, f64::NAN], &[1.0, 1.0]),
            step(&[0.0, 0.0], &[1.0, 0.0]),
            step(&[0.0, 0.0], &[f64::INFINITY, 1.0]),
        ] {
            assert!(Preparation::from_parts(2, vec![bad]).is_err());
        }
        let fitted = PrepareParams::default().fit(uneven::<f64>(5, 4).as_ref()).unwrap();
        assert_eq!(
            fitted.apply(uneven::<f64>(6, 4).as_ref()),
            Err(LkdlError::Shape { what: "n_features of samples", expected: 5, got: 6 })
        );
        let mut X = uneven::<f64>(5, 4);
        X[(2, 3)] = f64::NAN;
        assert!(matches!(
            fitted.apply_in_place(X),
            Err(LkdlError::NonFinite { row: 2, col: 3, .. })
        ));
    }

    #[test]
    fn overflow_is_an_error_not_a_nan() {
        let X = Mat::from_fn(2, 2, |t, i| if (t + i) % 2 == 0 { f64::MAX } else { -f64::MAX });
        let params = |names: &str| names.parse::<PrepareParams>().unwrap();
        assert!(matches!(
            params("standardize").fit(X.as_ref()),
            Err(LkdlError::Unsupported { what: "standardize", .. })
        ));
        let center = params("center").fit(X.as_ref()).unwrap();
        assert!(matches!(center.apply(X.as_ref()), Err(LkdlError::NonFinite { .. })));
    }

    #[test]
    fn no_bit_depends_on_the_thread_count() {
        let X = uneven::<f32>(9, 2000);
        same_for_any_thread_count(|| {
            let fitted = "standardize,center,l2".parse::<PrepareParams>().unwrap();
            let fitted = fitted.fit(X.as_ref()).unwrap();
            let prepared = fitted.apply(X.as_ref()).unwrap();
            (fitted, prepared)
        });
    }
}
