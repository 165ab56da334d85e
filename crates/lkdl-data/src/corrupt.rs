//! Corruption of samples: Gaussian noise and missing pixels, as in the paper's Figure 2.
//!
//! Applied to test samples before anything else is done to them. Every sample draws from a stream
//! of its own, so sample i is corrupted alike whatever else the set holds, and a larger fraction
//! removes the pixels of a smaller one and more.

use crate::error::DataError;
use crate::random::{Stage, draw_to_front, normal_pair, stream};
use faer::Mat;
use lkdl::Real;

/// What is done to the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Corruption {
    /// Adds independent normal values.
    GaussianNoise {
        /// Their standard deviation, at least 0.
        sigma: f64,
    },
    /// Sets ⌈fraction·p⌉ random pixels of every sample to a value.
    MissingPixels {
        /// From 0 to 1.
        fraction: f64,
        /// What a missing pixel holds; 0 is mid-grey in USPS.
        value: f64,
    },
}

impl Corruption {
    /// Corrupts the samples (columns) in place.
    pub fn apply<T: Real>(&self, samples: &mut Mat<T>, seed: u64) -> Result<(), DataError> {
        self.check()?;
        let p = samples.nrows();
        match *self {
            Self::GaussianNoise { sigma } => {
                for i in 0..samples.ncols() {
                    let mut rng = stream(seed, Stage::Noise, i);
                    for pair in samples.col_as_slice_mut(i).chunks_mut(2) {
                        let (a, b) = normal_pair(&mut rng);
                        for (v, noise) in pair.iter_mut().zip([a, b]) {
                            *v = T::of(v.wide() + sigma * noise);
                        }
                    }
                }
            }
            Self::MissingPixels { fraction, value } => {
                let count = ceil_share(fraction, p);
                let mut pixels: Vec<usize> = Vec::with_capacity(p);
                for i in 0..samples.ncols() {
                    pixels.clear();
                    pixels.extend(0..p);
                    draw_to_front(&mut stream(seed, Stage::MissingPixels, i), &mut pixels, count);
                    let column = samples.col_as_slice_mut(i);
                    for &t in &pixels[..count] {
                        column[t] = T::of(value);
                    }
                }
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), DataError> {
        match *self {
            Self::GaussianNoise { sigma } if !(sigma >= 0.0 && sigma.is_finite()) => {
                Err(DataError::parameter("noise sigma", sigma, "a finite number >= 0"))
            }
            Self::MissingPixels { fraction, .. } if !(0.0..=1.0).contains(&fraction) => {
                Err(DataError::parameter("missing fraction", fraction, "between 0 and 1"))
            }
            Self::MissingPixels { value, .. } if !value.is_finite() => {
                Err(DataError::parameter("missing value", value, "finite"))
            }
            _ => Ok(()),
        }
    }
}

/// ⌈fraction·p⌉, where a product that rounding lifted just above a whole number counts as whole
/// (0.28·25 is 7.000000000000001).
fn ceil_share(fraction: f64, p: usize) -> usize {
    const SLACK: f64 = 4.0 * f64::EPSILON;
    ((fraction * p as f64 * (1.0 - SLACK)).ceil() as usize).min(p)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrupted<T: Real>(corruption: Corruption, p: usize, n: usize, seed: u64) -> Mat<T> {
        let mut samples = Mat::from_fn(p, n, |_, _| T::of(0.25));
        corruption.apply(&mut samples, seed).unwrap();
        samples
    }

    #[test]
    fn noise_has_mean_0_and_the_deviation_asked_for() {
        let samples = corrupted::<f64>(Corruption::GaussianNoise { sigma: 0.4 }, 255, 300, 1);
        let noise: Vec<f64> = (0..300)
            .flat_map(|i| samples.col_as_slice(i).iter().map(|v| v - 0.25).collect::<Vec<_>>())
            .collect();
        let n = noise.len() as f64;
        let mean = noise.iter().sum::<f64>() / n;
        let deviation = (noise.iter().map(|v| v * v).sum::<f64>() / n).sqrt();
        // 5 standard deviations of each over 76,500 draws
        assert!(mean.abs() < 5.0 * 0.4 / n.sqrt(), "{mean}");
        assert!((deviation / 0.4 - 1.0).abs() < 5.0 / (2.0 * n).sqrt(), "{deviation}");
        // neighbours are not correlated
        let lag: f64 = noise.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / (n * 0.16);
        assert!(lag.abs() < 5.0 / n.sqrt(), "{lag}");
    }

    #[test]
    fn exactly_the_share_asked_for_goes_missing() {
        for (p, fraction, count) in [
            (256, 0.5, 128),
            (256, 0.1, 26),
            (25, 0.28, 7),
            (10, 0.7, 7),
            (3, 0.01, 1),
            (1, 1.0, 1),
        ] {
            let samples =
                corrupted::<f64>(Corruption::MissingPixels { fraction, value: -9.0 }, p, 20, 1);
            for i in 0..20 {
                let missing = samples.col_as_slice(i).iter().filter(|v| **v == -9.0).count();
                assert_eq!(missing, count, "{fraction} of {p}");
            }
        }
    }

    #[test]
    fn every_pixel_goes_missing_equally_often() {
        let (p, n) = (16, 4000);
        let samples =
            corrupted::<f32>(Corruption::MissingPixels { fraction: 0.25, value: 0.0 }, p, n, 2);
        for t in 0..p {
            let share = samples.row(t).iter().filter(|v| **v == 0.0).count() as f64 / n as f64;
            assert!((share - 0.25).abs() < 5.0 * (0.25 * 0.75 / n as f64).sqrt(), "{t}: {share}");
        }
    }

    #[test]
    fn a_larger_fraction_removes_more_of_the_same() {
        let at = |fraction| {
            corrupted::<f64>(Corruption::MissingPixels { fraction, value: 0.0 }, 40, 9, 5)
        };
        let (few, many) = (at(0.2), at(0.6));
        assert!((0..9).all(|i| (0..40).all(|t| few[(t, i)] != 0.0 || many[(t, i)] == 0.0)));
    }

    #[test]
    fn a_sample_is_corrupted_alike_alone_and_in_company() {
        for corruption in [
            Corruption::GaussianNoise { sigma: 1.0 },
            Corruption::MissingPixels { fraction: 0.5, value: 7.0 },
        ] {
            let many = corrupted::<f64>(corruption, 30, 10, 3);
            assert_eq!(
                corrupted::<f64>(corruption, 30, 4, 3).as_ref(),
                many.as_ref().subcols(0, 4)
            );
            assert_ne!(many.col(0), many.col(1));
            assert_ne!(corrupted::<f64>(corruption, 30, 10, 4), many);
        }
    }

    #[test]
    fn nothing_changes_at_strength_0() {
        let untouched = Mat::from_fn(8, 3, |_, _| 0.25f32);
        for corruption in [
            Corruption::GaussianNoise { sigma: 0.0 },
            Corruption::MissingPixels { fraction: 0.0, value: 7.0 },
        ] {
            assert_eq!(corrupted::<f32>(corruption, 8, 3, 3), untouched);
        }
    }

    #[test]
    fn bad_strengths_are_errors() {
        let fails =
            |corruption: Corruption| corruption.apply(&mut Mat::<f64>::zeros(2, 2), 0).is_err();
        for sigma in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(fails(Corruption::GaussianNoise { sigma }));
        }
        for (fraction, value) in [(-0.1, 0.0), (1.1, 0.0), (f64::NAN, 0.0), (0.5, f64::NAN)] {
            assert!(fails(Corruption::MissingPixels { fraction, value }));
        }
    }
}
