//! Random Fourier features: virtual samples of the Gaussian kernel without landmarks.
//! ```math
//! f(x)=\sqrt{2/k}\,[\cos(Wx);\ \sin(Wx)],\qquad w_r\sim N(0,\sigma^{-2}I),\quad r=1..k/2
//! ```
//! Rahimi & Recht 2007. E fᵀf' = exp(−‖x−x'‖²/(2σ²)) and ‖f‖ = 1; the error falls like k^{-1/2}.
//!
//! **When to use it.** With the Gaussian kernel, where nothing may be learned from the data (streams,
//! shards that must agree). At the same k, Nyström ([`nystroem`](super::nystroem)) is closer to K.
//!
//! **Cost.** W is k/2×p. Fit O(kp); transform kp flops per sample, one product per block, and k waves.
//!
//! ```
//! use faer::Mat;
//! use lkdl::map::fourier::FourierParams;
//!
//! let samples = Mat::from_fn(3, 2, |t, i| (t + 2 * i) as f64 / 4.0);
//! let map = FourierParams { sigma: 1.0, rank: 4096, seed: 0 }.fit::<f64>(3)?;
//! let f = map.transform(samples.as_ref())?;
//! let product = (f.col(0).transpose() * f.col(1)) as f64;
//! let sq_distance: f64 = 3.0 * 0.25;
//! assert!((product - (-0.5 * sq_distance).exp()).abs() < 0.05);
//! # Ok::<(), lkdl::LkdlError>(())
//! ```
//!
//! The angles Wx carry the rounding of the working type: in f32, keep ‖x‖/σ below about 10⁴.

use crate::error::LkdlError;
use crate::kernel::Kernel;
use crate::linalg::product_into;
use crate::matrix::{BLOCK, Columns, Contiguous, check_samples, check_size, subcols};
use crate::random::{Stage, stream};
use crate::real::Real;
use faer::{Mat, MatMut, MatRef};
use num_traits::Float;
use pulp::{Arch, Simd, WithSimd};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// Parameters of random Fourier features.
#[derive(Debug, Clone, PartialEq)]
pub struct FourierParams {
    /// Width σ of the Gaussian kernel.
    pub sigma: f64,
    /// Output dimension k, even: a cosine and a sine for each of the k/2 frequencies.
    pub rank: usize,
    /// Seed of the frequencies.
    pub seed: u64,
}

/// A drawn map.
#[derive(Debug, Clone, PartialEq)]
pub struct FourierMap<T: Real> {
    /// W, one frequency per row.
    frequencies: Mat<T>,
}

impl FourierParams {
    /// Draws the frequencies. Those of a smaller rank are the first of a larger one.
    pub fn fit<T: Real>(&self, n_features: usize) -> Result<FourierMap<T>, LkdlError> {
        check_params(self.sigma, self.rank, n_features)?;
        let mut frequencies = Mat::zeros(self.rank / 2, n_features);
        for r in 0..frequencies.nrows() {
            let mut rng = stream(self.seed, Stage::Features, 0, r);
            for t in 0..n_features {
                let normal: f64 = StandardNormal.sample(&mut rng);
                frequencies[(r, t)] = T::of(normal / self.sigma);
            }
        }
        FourierMap::from_parts(frequencies)
    }
}

impl<T: Real> FourierMap<T> {
    /// Rebuilds a saved map from its frequencies, one per row.
    pub fn from_parts(frequencies: Mat<T>) -> Result<Self, LkdlError> {
        check_samples(frequencies.as_ref(), "frequencies")?;
        Ok(Self { frequencies })
    }

    /// W, k/2×p: one frequency per row.
    pub fn frequencies(&self) -> MatRef<'_, T> {
        self.frequencies.as_ref()
    }

    /// Output dimension k.
    pub fn rank(&self) -> usize {
        2 * self.frequencies.nrows()
    }

    /// Number of features p.
    pub fn n_features(&self) -> usize {
        self.frequencies.ncols()
    }

    /// F, k×N: the k/2 cosines of every sample, then its k/2 sines.
    pub fn transform(&self, samples: MatRef<'_, T>) -> Result<Mat<T>, LkdlError> {
        wave_features(samples, self.n_features(), self.rank(), |X, angles| {
            product_into(angles, self.frequencies.as_ref(), X.as_dyn_stride());
        })
    }
}

/// The checks that the maps of this kind share.
pub(super) fn check_params(sigma: f64, rank: usize, n_features: usize) -> Result<(), LkdlError> {
    Kernel::Gaussian { sigma }.check()?;
    // 1/σ must be a number too
    if !(1.0 / sigma).is_finite() {
        return Err(LkdlError::parameter("kernel sigma", sigma, "above 1e-307"));
    }
    if rank == 0 || !rank.is_multiple_of(2) {
        return Err(LkdlError::parameter(
            "rank",
            rank,
            "even and at least 2: cosines and sines come in pairs",
        ));
    }
    if n_features == 0 {
        return Err(LkdlError::parameter("n_features", n_features, "at least 1"));
    }
    Ok(())
}

/// √(2/k)·[cos Z; sin Z], where `angles` writes the k/2×B matrix Z of one block of samples.
pub(super) fn wave_features<T: Real>(
    samples: MatRef<'_, T>,
    n_features: usize,
    rank: usize,
    angles: impl Fn(Columns<'_, T>, MatMut<'_, T>) + Sync,
) -> Result<Mat<T>, LkdlError> {
    check_size("n_features of samples", samples.nrows(), n_features)?;
    check_samples(samples, "samples")?;
    let X = Contiguous::new(samples);
    let scale = T::of((2.0 / rank as f64).sqrt());
    let mut F = Mat::zeros(rank, samples.ncols());
    let blocks: Vec<Option<T>> = F
        .as_mut()
        .par_col_chunks_mut(BLOCK)
        .enumerate()
        .map(|(t, mut block)| {
            let range = t * BLOCK..t * BLOCK + block.ncols();
            angles(subcols(X.columns(), range), block.as_mut().subrows_mut(0, rank / 2));
            finish_block(block, scale)
        })
        .collect();
    match blocks.into_iter().flatten().next() {
        Some(angle) => Err(LkdlError::KernelOverflow {
            kernel: "gaussian by random features (angle of a sample)".into(),
            value: angle.wide(),
        }),
        None => Ok(F),
    }
}

/// Turns the angles in the upper half of every column into scaled cosines above and sines below;
/// returns the first angle that is not finite.
fn finish_block<T: Real>(block: MatMut<'_, T>, scale: T) -> Option<T> {
    for column in block.col_iter_mut() {
        let Some(column) = column.try_as_col_major_mut() else {
            unreachable!("columns of an owned matrix are contiguous")
        };
        let f = column.as_slice_mut();
        let (upper, lower) = f.split_at_mut(f.len() / 2);
        if let Some(angle) = upper.iter().find(|z| !z.is_finite()) {
            return Some(*angle);
        }
        Arch::new().dispatch(Waves { upper, lower, scale });
    }
    None
}

/// upper, lower ← scale·cos(upper), scale·sin(upper).
struct Waves<'a, T> {
    upper: &'a mut [T],
    lower: &'a mut [T],
    scale: T,
}

impl<T: Real> WithSimd for Waves<'_, T> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (upper, lower) in self.upper.iter_mut().zip(self.lower) {
            let (cos, sin) = cos_sin(*upper);
            *upper = self.scale * cos;
            *lower = self.scale * sin;
        }
    }
}

/// 1/(2j)! with alternating signs, highest first: cos a = Σ c_j a^{2j}. At |a| ≤ π/4 the first term
/// left out is below half a unit in the last place of `f64`; the last 6 do for `f32`.
const COS: [f64; 9] = [
    4.779_477_332_387_385e-14,
    -1.147_074_559_772_972_5e-11,
    2.087_675_698_786_81e-9,
    -2.755_731_922_398_589e-7,
    2.480_158_730_158_73e-5,
    -1.388_888_888_888_889e-3,
    4.166_666_666_666_666_4e-2,
    -0.5,
    1.0,
];
/// 1/(2j+1)!, as [`COS`]: sin a = a·Σ s_j a^{2j}.
const SIN: [f64; 9] = [
    2.811_457_254_345_520_6e-15,
    -7.647_163_731_819_816e-13,
    1.605_904_383_682_161_3e-10,
    -2.505_210_838_544_172e-8,
    2.755_731_922_398_589e-6,
    -1.984_126_984_126_984e-4,
    8.333_333_333_333_333e-3,
    -1.666_666_666_666_666_6e-1,
    1.0,
];
/// Terms of [`COS`] and [`SIN`] that `f32` can do without.
const SPARED_BY_F32: usize = 3;

/// cos z and sin z in branch-free arithmetic, so that loops over it vectorise.
///
/// z is counted in quarter turns; the nearest integer n of them is exact to subtract, and n mod 4
/// says which of ±cos, ±sin of the rest is which. The error is that of rounding z to `T` once more.
#[inline(always)]
fn cos_sin<T: Real>(z: T) -> (T, T) {
    let quarters = z * T::of(std::f64::consts::FRAC_2_PI);
    let n = Float::floor(quarters + T::of(0.5));
    let a = (quarters - n) * T::of(std::f64::consts::FRAC_PI_2);
    let quadrant = n - T::of(4.0) * Float::floor(n * T::of(0.25));
    let spared = if T::EPS > 1e-10 { SPARED_BY_F32 } else { 0 };
    let square = a * a;
    let (mut cos, mut sin) = (T::of(COS[spared]), T::of(SIN[spared]));
    for j in spared + 1..COS.len() {
        cos = Float::mul_add(cos, square, T::of(COS[j]));
        sin = Float::mul_add(sin, square, T::of(SIN[j]));
    }
    sin *= a;
    let odd = quadrant == T::of(1.0) || quadrant == T::of(3.0);
    let (c, s) = if odd { (sin, cos) } else { (cos, sin) };
    (
        if quadrant == T::of(1.0) || quadrant == T::of(2.0) { -c } else { c },
        if quadrant >= T::of(2.0) { -s } else { s },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{close, random_matrix};

    fn map<T: Real>(p: usize, sigma: f64, rank: usize, seed: u64) -> FourierMap<T> {
        FourierParams { sigma, rank, seed }.fit(p).unwrap()
    }

    #[test]
    fn cos_and_sin_agree_with_the_standard_library() {
        for i in -60_000..60_000 {
            let z = f64::from(i) * 0.01;
            let (cos, sin) = cos_sin(z);
            let allowed = 2.0 * f64::EPSILON * (1.0 + z.abs());
            assert!((cos - z.cos()).abs() <= allowed && (sin - z.sin()).abs() <= allowed, "{z}");
            let z = z as f32;
            let (cos, sin) = cos_sin(z);
            let allowed = 2.0 * f32::EPSILON * (1.0 + z.abs());
            assert!((cos - z.cos()).abs() <= allowed && (sin - z.sin()).abs() <= allowed, "{z}");
        }
        assert_eq!((cos_sin(0.0f64), cos_sin(0.0f32)), ((1.0, 0.0), (1.0, 0.0)));
    }

    #[test]
    fn cos_and_sin_of_huge_angles_lie_on_the_circle() {
        for z in [1e8, -1e15, 1e17, -1e300, f64::MAX] {
            let (cos, sin) = cos_sin(z);
            assert!((cos * cos + sin * sin - 1.0).abs() < 1e-15, "{z}");
        }
        for z in [1e7, -1e9, f32::MAX] {
            let (cos, sin) = cos_sin(z);
            assert!((cos * cos + sin * sin - 1.0).abs() < 1e-6, "{z}");
        }
    }

    #[test]
    fn features_are_the_formula() {
        let (p, rank) = (5, 12);
        let fitted = map::<f64>(p, 0.7, rank, 1);
        let X = random_matrix::<f64>(p, 300, 2);
        let F = fitted.transform(X.as_ref()).unwrap();
        let Z = fitted.frequencies() * &X;
        let naive = Mat::from_fn(rank, 300, |r, i| {
            let z = Z[(r % (rank / 2), i)];
            (2.0 / rank as f64).sqrt() * if r < rank / 2 { z.cos() } else { z.sin() }
        });
        close(F.as_ref(), naive.as_ref(), 1e-13);
    }

    #[test]
    fn both_precisions_draw_the_same_map_and_small_ranks_come_first() {
        let (wide, narrow) = (map::<f64>(4, 1.0, 20, 3), map::<f32>(4, 1.0, 20, 3));
        let (wide_w, narrow_w) = (wide.frequencies(), narrow.frequencies());
        assert!((0..10).all(|r| (0..4).all(|t| wide_w[(r, t)] as f32 == narrow_w[(r, t)])));
        assert_eq!(map::<f64>(4, 1.0, 8, 3).frequencies(), wide_w.subrows(0, 4));
        assert_ne!(map::<f64>(4, 1.0, 20, 4), wide);
    }

    #[test]
    fn a_map_is_rebuilt_from_its_parts_and_maps_samples_alone_as_together() {
        let fitted = map::<f32>(5, 1.0, 16, 3);
        let again = FourierMap::from_parts(fitted.frequencies().to_owned()).unwrap();
        assert_eq!((again.rank(), again.n_features()), (16, 5));
        let X = random_matrix::<f32>(5, 600, 6);
        let F = fitted.transform(X.as_ref()).unwrap();
        assert_eq!(again.transform(X.as_ref()).unwrap(), F);
        let alone = fitted.transform(X.as_ref().subcols(599, 1)).unwrap();
        close(alone.as_ref(), F.as_ref().subcols(599, 1), 1e-6);
    }

    #[test]
    fn bad_input_is_a_typed_error() {
        let fit = |sigma, rank, p| FourierParams { sigma, rank, seed: 0 }.fit::<f64>(p);
        for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-310] {
            assert!(matches!(fit(sigma, 4, 3), Err(LkdlError::Parameter { .. })), "{sigma}");
        }
        for rank in [0, 1, 7] {
            assert!(matches!(fit(1.0, rank, 3), Err(LkdlError::Parameter { name: "rank", .. })));
        }
        assert!(fit(1.0, 4, 0).is_err());
        assert!(FourierMap::from_parts(Mat::<f64>::zeros(0, 3)).is_err());
        let fitted = fit(1.0, 4, 3).unwrap();
        assert_eq!(
            fitted.transform(Mat::zeros(4, 2).as_ref()),
            Err(LkdlError::Shape { what: "n_features of samples", expected: 3, got: 4 })
        );
        assert!(fitted.transform(Mat::zeros(3, 0).as_ref()).is_err());
        let huge = Mat::from_fn(3, 300, |t, i| if (t, i) == (1, 290) { 1e308 } else { 1.0 });
        let narrow = fit(1e-3, 4, 3).unwrap();
        assert!(matches!(narrow.transform(huge.as_ref()), Err(LkdlError::KernelOverflow { .. })));
    }
}
