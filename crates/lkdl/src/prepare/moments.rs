//! Mean and deviation of every feature, as sums that add: samples in blocks, on one machine or on
//! many, are standardised as those in memory are.
//!
//! A block's mean is kept as the offset from one of its samples, and squares are about the mean. Two
//! blocks add by the difference of their means (Chan, Golub & LeVeque 1983):
//!
//! ```math
//! \delta=\mu_b-\mu_a,\qquad \mu=\mu_a+\tfrac{n_b}{n}\,\delta,\qquad
//! M=M_a+M_b+\tfrac{n_an_b}{n}\,\delta^2
//! ```
//!
//! Origins are samples and differ by no more than the samples do, so δ keeps its digits where the
//! mean is far from zero and the spread is small: 10⁶ ± 10⁻³ loses none. O(pn) per block, 3p values.

use super::FittedStep;
use crate::blocks::Add;
use crate::error::LkdlError;
use crate::matrix::{BLOCK, Columns, Contiguous, check_samples, check_size, col, map_blocks};
use crate::real::Real;
use faer::MatRef;

/// A feature whose deviation is below this many ε of its largest magnitude varies by rounding
/// alone: dividing by such a deviation would turn noise into data.
const CONSTANT_FEATURE: f64 = 8.0;

/// Sums over samples: their number, and of every feature mean and squared deviations.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// N.
    pub n_samples: usize,
    /// One of the samples.
    pub origin: Vec<f64>,
    /// The mean, from the origin.
    pub offset: Vec<f64>,
    /// Σ(x − mean)².
    pub squares: Vec<f64>,
}

impl Moments {
    /// The moments of these samples, one per column.
    ///
    /// ```
    /// use lkdl::blocks::Add;
    /// use lkdl::prepare::{Moments, PrepareParams};
    ///
    /// let samples = faer::Mat::from_fn(3, 100, |t, i| 1e6 + ((t + 1) as f64 * i as f64).sin());
    /// let mut moments = Moments::of(samples.subcols(0, 40))?;
    /// moments.add(Moments::of(samples.subcols(40, 60))?);
    /// let standardize: PrepareParams = "standardize".parse()?;
    /// let by_blocks = standardize.by_moments::<f64>(3, &[moments])?.apply(samples.as_ref())?;
    /// let at_once = standardize.fit(samples.as_ref())?.apply(samples.as_ref())?;
    /// assert!((by_blocks.samples - at_once.samples).norm_max() < 1e-9);
    /// # Ok::<(), lkdl::LkdlError>(())
    /// ```
    pub fn of<T: Real>(samples: MatRef<'_, T>) -> Result<Self, LkdlError> {
        check_samples(samples, "samples")?;
        Ok(Self::of_columns(Contiguous::new(samples).columns()))
    }

    /// [`Moments::of`] at least one sample, unchecked.
    pub(super) fn of_columns<T: Real>(X: Columns<'_, T>) -> Self {
        let n_samples = X.ncols();
        // relative to the first sample: exact for constant features
        let origin: Vec<f64> = col(X, 0).iter().map(|v| v.wide()).collect();
        let none = vec![0.0; X.nrows()];
        let mut offset = feature_sums(X, &origin, &none, |d| d);
        offset.iter_mut().for_each(|sum| *sum /= n_samples as f64);
        let squares = feature_sums(X, &origin, &offset, |d| d * d);
        Self { n_samples, origin, offset, squares }
    }

    /// The step that gives every feature mean 0 and variance 1.
    pub(super) fn standardize<T: Real>(&self) -> Result<FittedStep<T>, LkdlError> {
        if self.n_samples == 0 {
            let (rows, cols) = (self.origin.len(), 0);
            return Err(LkdlError::Empty { what: "samples of the moments", rows, cols });
        }
        check_size("moments' offsets", self.offset.len(), self.origin.len())?;
        check_size("moments' squares", self.squares.len(), self.origin.len())?;
        if self.squares.iter().any(|v| !v.is_finite()) {
            return Err(LkdlError::Unsupported {
                what: "standardize",
                problem: "overflowed on features near the largest float",
                fix: "scale the samples first",
            });
        }
        let n = self.n_samples as f64;
        let mean: Vec<f64> = self.origin.iter().zip(&self.offset).map(|(x, d)| x + d).collect();
        let scale = self.squares.iter().zip(&mean).map(|(sum, mean)| {
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
}

impl Add for Moments {
    fn add(&mut self, later: Self) {
        let (a, b) = (self.n_samples as f64, later.n_samples as f64);
        let share = b / (a + b);
        for (t, (origin, offset)) in later.origin.iter().zip(&later.offset).enumerate() {
            let delta = (origin - self.origin[t]) + (offset - self.offset[t]);
            self.offset[t] += share * delta;
            self.squares[t] += later.squares[t] + a * share * delta * delta;
        }
        self.n_samples += later.n_samples;
    }
}

/// Σ_i f((x_ti − origin_t) − offset_t) for every feature t; block sums are added in order.
fn feature_sums<T: Real>(
    X: Columns<'_, T>,
    origin: &[f64],
    offset: &[f64],
    f: impl Fn(f64) -> f64 + Sync,
) -> Vec<f64> {
    let blocks = map_blocks(X.ncols(), BLOCK, |range| {
        let mut sums = vec![0.0; X.nrows()];
        for i in range {
            let about = origin.iter().zip(offset);
            for ((sum, v), (origin, offset)) in sums.iter_mut().zip(col(X, i)).zip(about) {
                *sum += f((v.wide() - origin) - offset);
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
    use crate::blocks::BlockSums;
    use crate::testing::{random_matrix, same_for_any_thread_count, tolerance};
    use faer::Mat;

    /// Means and deviations of all sizes: 10⁶ ± 10⁻³, constants, about zero.
    fn far<T: Real>(n: usize) -> Mat<T> {
        let Z = random_matrix::<f64>(5, n, 8);
        let of = [(1e6, 1e-3), (-1e6, 1e3), (0.1, 0.0), (0.0, 1.0), (1e-9, 1e-12)];
        Mat::from_fn(5, n, |t, i| T::of(of[t].0 + of[t].1 * Z[(t, i)]))
    }

    fn in_blocks<T: Real>(X: &Mat<T>, width: usize) -> Moments {
        let mut sums = BlockSums::default();
        for (block, first) in (0..X.ncols()).step_by(width).enumerate() {
            let n = width.min(X.ncols() - first);
            sums.add_block(block, Moments::of(X.subcols(first, n)).unwrap()).unwrap();
        }
        sums.finish().unwrap().unwrap()
    }

    fn columns<T: Real>(moments: &Moments) -> [Vec<f64>; 2] {
        let FittedStep::Standardize { mean, scale } = moments.standardize::<T>().unwrap() else {
            panic!("another step")
        };
        [mean, scale].map(|of| of.iter().map(|v| v.wide()).collect())
    }

    fn blocks_add_up_to_all_in<T: Real>(tol: f64) {
        let X = far::<T>(700);
        let whole = Moments::of(X.as_ref()).unwrap();
        for width in [1, 2, 7, 256, 300, 699] {
            let parts = in_blocks(&X, width);
            assert_eq!(parts.n_samples, 700);
            let pairs = columns::<T>(&parts).into_iter().zip(columns::<T>(&whole));
            for (a, b) in pairs.flat_map(|(a, b)| a.into_iter().zip(b)) {
                assert!((a - b).abs() <= tol * b.abs(), "{width}: {a} {b}");
            }
            // a constant feature has no deviation, by blocks of any size
            assert_eq!((parts.offset[2], parts.squares[2]), (0.0, 0.0));
        }
    }

    #[test]
    fn blocks_add_up_to_all_far_from_zero_and_hardly_spread() {
        blocks_add_up_to_all_in::<f64>(1e-12);
        blocks_add_up_to_all_in::<f32>(tolerance::<f32>(1));
    }

    #[test]
    fn moments_are_those_of_the_definition() {
        let X = far::<f64>(500);
        let moments = in_blocks(&X, 64);
        for t in [1, 3] {
            let mean: f64 = X.row(t).iter().sum::<f64>() / 500.0;
            let squares: f64 = X.row(t).iter().map(|v| (v - mean).powi(2)).sum();
            let got = moments.origin[t] + moments.offset[t];
            assert!((got - mean).abs() < 1e-12 * mean.abs().max(1.0), "{got} {mean}");
            assert!((moments.squares[t] / squares - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn no_bit_depends_on_the_thread_count() {
        let X = far::<f32>(2000);
        same_for_any_thread_count(|| in_blocks(&X, 600));
    }

    #[test]
    fn steps_take_the_moments_of_what_the_steps_before_leave() {
        let params: super::super::PrepareParams = "standardize,l2,standardize".parse().unwrap();
        let X = random_matrix::<f64>(4, 90, 3);
        let mut moments = Vec::new();
        for n_steps in [0, 2] {
            let so_far = params.by_moments::<f64>(4, &moments).unwrap();
            assert_eq!(so_far.steps().len(), n_steps);
            let prepared = so_far.apply(X.as_ref()).unwrap().samples;
            moments.push(Moments::of(prepared.as_ref()).unwrap());
        }
        let whole = params.by_moments::<f64>(4, &moments).unwrap();
        assert_eq!(whole, params.fit(X.as_ref()).unwrap());
    }

    #[test]
    fn moments_that_do_not_fit_are_typed_errors() {
        let params: super::super::PrepareParams = "standardize".parse().unwrap();
        let moments = Moments::of(far::<f64>(9).as_ref()).unwrap();
        let by = |moments: &[Moments]| params.by_moments::<f64>(5, moments);
        assert!(by(std::slice::from_ref(&moments)).is_ok());
        assert!(matches!(by(&[moments.clone(), moments.clone()]), Err(LkdlError::Shape { .. })));
        assert!(params.by_moments::<f64>(4, std::slice::from_ref(&moments)).is_err());
        let short = Moments { squares: vec![1.0; 4], ..moments.clone() };
        assert!(matches!(by(&[short]), Err(LkdlError::Shape { .. })));
        let none = Moments { n_samples: 0, ..moments.clone() };
        assert!(matches!(by(&[none]), Err(LkdlError::Empty { .. })));
        let mut huge = moments;
        huge.squares[1] = f64::INFINITY;
        assert!(matches!(by(&[huge]), Err(LkdlError::Unsupported { .. })));
        assert!(Moments::of(Mat::<f64>::zeros(3, 0).as_ref()).is_err());
    }
}
