//! Fastfood: random Fourier features whose frequencies are never stored as a matrix.
//! ```math
//! V=\frac{1}{\sigma\sqrt d}\,S\,H\,G\,\Pi\,H\,B,\qquad f(x)=\sqrt{2/k}\,[\cos(Vx);\ \sin(Vx)]
//! ```
//! Le, Sarlós & Smola 2013. Samples are padded by zeros to d = 2^l features; H is the unnormalised
//! d×d Walsh–Hadamard matrix, B random signs, Π a permutation, G a Gaussian diagonal and
//! S_ii = χ_d/‖G‖ gives every row the length of a Gaussian vector. Each row of V is N(0, σ⁻²I), so
//! inner products are unbiased; rows of one block are dependent. ⌈k/2d⌉ independent blocks are
//! stacked and cut to k/2 rows.
//!
//! **When to use it.** As [random Fourier features](super::fourier), where samples have hundreds of
//! features or more: k/2×p frequencies are neither stored nor multiplied by.
//!
//! **Cost.** Fit and memory O(k + d); transform O((k + d)·log d) per sample, and k waves.
//!
//! ```
//! use faer::Mat;
//! use lkdl::map::fastfood::FastfoodParams;
//!
//! let samples = Mat::from_fn(3, 2, |t, i| (t + 2 * i) as f64 / 4.0);
//! let map = FastfoodParams { sigma: 1.0, rank: 4096, seed: 0 }.fit::<f64>(3)?;
//! let f = map.transform(samples.as_ref())?;
//! let product = (f.col(0).transpose() * f.col(1)) as f64;
//! let sq_distance: f64 = 3.0 * 0.25;
//! assert!((product - (-0.5 * sq_distance).exp()).abs() < 0.05);
//! # Ok::<(), lkdl::LkdlError>(())
//! ```

use super::fourier::{check_params, wave_features};
use crate::error::LkdlError;
use crate::matrix::{Columns, check_size, col};
use crate::random::{Stage, permutation, stream};
use crate::real::Real;
use faer::{Mat, MatMut, MatRef};
use pulp::{Arch, Simd, WithSimd};
use rand::RngExt;
use rand_distr::{ChiSquared, Distribution, StandardNormal};

/// Samples transformed side by side: every butterfly works on whole vectors, whatever its span.
const LANES: usize = 16;

/// Parameters of Fastfood features.
#[derive(Debug, Clone, PartialEq)]
pub struct FastfoodParams {
    /// Width σ of the Gaussian kernel.
    pub sigma: f64,
    /// Output dimension k, even: a cosine and a sine for each of the k/2 frequencies.
    pub rank: usize,
    /// Seed of the blocks.
    pub seed: u64,
}

/// One block of d frequencies.
#[derive(Debug, Clone, PartialEq)]
pub struct FastfoodBlock<T: Real> {
    /// B, each +1 or −1.
    pub signs: Vec<T>,
    /// Π: entry r of the permuted vector is entry `permutation[r]` of the given one.
    pub permutation: Vec<u32>,
    /// G.
    pub gaussian: Vec<T>,
    /// S/(σ√d).
    pub scale: Vec<T>,
}

/// A drawn map.
#[derive(Debug, Clone, PartialEq)]
pub struct FastfoodMap<T: Real> {
    n_features: usize,
    rank: usize,
    blocks: Vec<FastfoodBlock<T>>,
}

impl FastfoodParams {
    /// Draws the blocks, each from a stream of its own: those of a smaller rank come first.
    pub fn fit<T: Real>(&self, n_features: usize) -> Result<FastfoodMap<T>, LkdlError> {
        check_params(self.sigma, self.rank, n_features)?;
        let d = padded_features(n_features)?;
        let blocks = (0..(self.rank / 2).div_ceil(d)).map(|b| self.draw(d, b)).collect();
        FastfoodMap::from_parts(n_features, self.rank, blocks)
    }

    fn draw<T: Real>(&self, d: usize, block: usize) -> FastfoodBlock<T> {
        // class 1: not the streams of plain Fourier features
        let mut rng = stream(self.seed, Stage::Features, 1, block);
        let sign = |negative: bool| T::of(if negative { -1.0 } else { 1.0 });
        let signs = (0..d).map(|_| sign(rng.random())).collect();
        let permutation = permutation(&mut rng, d).iter().map(|&t| t as u32).collect();
        let gaussian: Vec<f64> = (0..d).map(|_| StandardNormal.sample(&mut rng)).collect();
        // a zero vector has probability zero; were it drawn, the rows would be zero, not NaN
        let sq_norm = gaussian.iter().map(|g| g * g).sum::<f64>().max(f64::MIN_POSITIVE);
        let chi_squared = match ChiSquared::new(d as f64) {
            Ok(distribution) => distribution,
            Err(_) => unreachable!("d is at least 1"),
        };
        let scale = (0..d).map(|_| {
            let chi_sq: f64 = chi_squared.sample(&mut rng);
            T::of((chi_sq / sq_norm).sqrt() / (self.sigma * (d as f64).sqrt()))
        });
        FastfoodBlock {
            signs,
            permutation,
            scale: scale.collect(),
            gaussian: gaussian.into_iter().map(T::of).collect(),
        }
    }
}

impl<T: Real> FastfoodMap<T> {
    /// Rebuilds a saved map.
    pub fn from_parts(
        n_features: usize,
        rank: usize,
        blocks: Vec<FastfoodBlock<T>>,
    ) -> Result<Self, LkdlError> {
        check_params(1.0, rank, n_features)?; // σ is part of the scales
        let d = padded_features(n_features)?;
        check_size("number of fastfood blocks", blocks.len(), (rank / 2).div_ceil(d))?;
        for block in &blocks {
            block.check(d)?;
        }
        Ok(Self { n_features, rank, blocks })
    }

    /// The blocks, in the order of their frequencies.
    pub fn blocks(&self) -> &[FastfoodBlock<T>] {
        &self.blocks
    }

    /// Output dimension k.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Number of features p.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// F, k×N: the k/2 cosines of every sample, then its k/2 sines.
    pub fn transform(&self, samples: MatRef<'_, T>) -> Result<Mat<T>, LkdlError> {
        wave_features(samples, self.n_features, self.rank, |X, angles| self.angles(X, angles))
    }

    /// out = V·X.
    fn angles(&self, X: Columns<'_, T>, mut out: MatMut<'_, T>) {
        let d = self.n_features.next_power_of_two();
        let zero = [T::of(0.0); LANES];
        let (mut x, mut z, mut work) = (vec![zero; d], vec![zero; d], vec![zero; d]);
        for start in (0..X.ncols()).step_by(LANES) {
            // lanes past the last sample keep what they held, and are not written
            let width = LANES.min(X.ncols() - start);
            for lane in 0..width {
                for (row, v) in x.iter_mut().zip(col(X, start + lane)) {
                    row[lane] = *v;
                }
            }
            for (b, block) in self.blocks.iter().enumerate() {
                Arch::new().dispatch(Project { block, x: &x, work: &mut work, out: &mut z });
                let n_rows = d.min(out.nrows() - b * d);
                for lane in 0..width {
                    let column = out.as_mut().col_mut(start + lane).subrows_mut(b * d, n_rows);
                    for (angle, z) in column.iter_mut().zip(&z) {
                        *angle = z[lane];
                    }
                }
            }
        }
    }
}

impl<T: Real> FastfoodBlock<T> {
    fn check(&self, d: usize) -> Result<(), LkdlError> {
        check_size("fastfood signs", self.signs.len(), d)?;
        check_size("fastfood permutation", self.permutation.len(), d)?;
        check_size("fastfood gaussian", self.gaussian.len(), d)?;
        check_size("fastfood scale", self.scale.len(), d)?;
        if let Some(sign) = self.signs.iter().find(|v| v.wide().abs() != 1.0) {
            return Err(LkdlError::parameter("fastfood signs", sign.wide(), "1 or -1"));
        }
        let mut seen = vec![false; d];
        for &t in &self.permutation {
            match seen.get_mut(t as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    let requirement = format!("every index below {d} once");
                    return Err(LkdlError::parameter("fastfood permutation", t, requirement));
                }
            }
        }
        match self.gaussian.iter().chain(&self.scale).find(|v| !v.is_finite()) {
            Some(bad) => {
                let requirement = "finite; choose a wider kernel or f64";
                Err(LkdlError::parameter("fastfood frequency", bad.wide(), requirement))
            }
            None => Ok(()),
        }
    }
}

/// out = S·H·G·Π·H·B·x/(σ√d) for [`LANES`] samples.
struct Project<'a, T: Real> {
    block: &'a FastfoodBlock<T>,
    x: &'a [[T; LANES]],
    work: &'a mut [[T; LANES]],
    out: &'a mut [[T; LANES]],
}

impl<T: Real> WithSimd for Project<'_, T> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { block, x, work, out } = self;
        for ((work, x), sign) in work.iter_mut().zip(x).zip(&block.signs) {
            *work = scaled(x, *sign);
        }
        walsh_hadamard(work);
        for ((out, t), g) in out.iter_mut().zip(&block.permutation).zip(&block.gaussian) {
            *out = scaled(&work[*t as usize], *g);
        }
        walsh_hadamard(out);
        for (out, scale) in out.iter_mut().zip(&block.scale) {
            *out = scaled(out, *scale);
        }
    }
}

#[inline(always)]
fn scaled<T: Real>(x: &[T; LANES], factor: T) -> [T; LANES] {
    let mut out = *x;
    for v in &mut out {
        *v *= factor;
    }
    out
}

/// x ← H·x per lane, in place: H_1 = 1, H_2d = [H_d H_d; H_d −H_d]. `x.len()` is a power of two.
#[inline(always)]
fn walsh_hadamard<T: Real>(x: &mut [[T; LANES]]) {
    let mut span = 1;
    while span < x.len() {
        for pair in x.chunks_exact_mut(2 * span) {
            let (upper, lower) = pair.split_at_mut(span);
            for (a, b) in upper.iter_mut().zip(lower) {
                for u in 0..LANES {
                    (a[u], b[u]) = (a[u] + b[u], a[u] - b[u]);
                }
            }
        }
        span *= 2;
    }
}

/// d, the power of two to which samples are padded; its indices must fit the stored permutation.
fn padded_features(n_features: usize) -> Result<usize, LkdlError> {
    const MOST: usize = 1 << 31;
    if n_features > MOST {
        return Err(LkdlError::parameter("n_features", n_features, format!("at most {MOST}")));
    }
    Ok(n_features.next_power_of_two())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{close, random_matrix};

    fn map<T: Real>(p: usize, sigma: f64, rank: usize, seed: u64) -> FastfoodMap<T> {
        FastfoodParams { sigma, rank, seed }.fit(p).unwrap()
    }

    /// H_rt = (−1)^{number of bits that r and t share}.
    fn hadamard(d: usize) -> Mat<f64> {
        Mat::from_fn(d, d, |r, t| if (r & t).count_ones() % 2 == 0 { 1.0 } else { -1.0 })
    }

    /// V of one block as a dense matrix.
    fn dense(block: &FastfoodBlock<f64>) -> Mat<f64> {
        let d = block.signs.len();
        let diagonal = |v: &[f64]| Mat::from_fn(d, d, |r, t| if r == t { v[r] } else { 0.0 });
        let shuffle = Mat::from_fn(d, d, |r, t| f64::from(block.permutation[r] as usize == t));
        let inner = diagonal(&block.gaussian) * shuffle * hadamard(d) * diagonal(&block.signs);
        diagonal(&block.scale) * hadamard(d) * inner
    }

    #[test]
    fn the_fast_transform_is_the_dense_one() {
        for d in [1, 2, 4, 32] {
            let X = random_matrix::<f64>(d, LANES, 1);
            let mut fast: Vec<[f64; LANES]> =
                (0..d).map(|t| std::array::from_fn(|lane| X[(t, lane)])).collect();
            walsh_hadamard(&mut fast);
            let fast = Mat::from_fn(d, LANES, |t, lane| fast[t][lane]);
            close(fast.as_ref(), (hadamard(d) * &X).as_ref(), 1e-14 * d as f64);
        }
    }

    #[test]
    fn features_are_the_formula_with_padding_and_a_cut_last_block() {
        // p = 1; no padding; padding; less than a block; several blocks, the last one cut
        for (p, rank) in [(1, 2), (1, 6), (8, 16), (5, 16), (5, 4), (5, 44), (12, 70)] {
            let fitted = map::<f64>(p, 0.7, rank, 1);
            let d = p.next_power_of_two();
            let X = random_matrix::<f64>(p, 275, 2);
            let padded = Mat::from_fn(d, 275, |t, i| if t < p { X[(t, i)] } else { 0.0 });
            let Z: Vec<Mat<f64>> = fitted.blocks().iter().map(|b| dense(b) * &padded).collect();
            let naive = Mat::from_fn(rank, 275, |r, i| {
                let row = r % (rank / 2);
                let z = Z[row / d][(row % d, i)];
                (2.0 / rank as f64).sqrt() * if r < rank / 2 { z.cos() } else { z.sin() }
            });
            close(fitted.transform(X.as_ref()).unwrap().as_ref(), naive.as_ref(), 1e-12);
        }
    }

    #[test]
    fn frequencies_have_the_lengths_of_gaussian_vectors() {
        // ‖row‖²·σ² is χ²_d: mean d, variance 2d
        let (d, sigma, n_blocks) = (16, 0.5, 400);
        let fitted = map::<f64>(d, sigma, 2 * d * n_blocks, 3);
        let lengths: Vec<f64> = fitted
            .blocks()
            .iter()
            .flat_map(|b| {
                let V = dense(b);
                (0..d).map(move |r| V.row(r).squared_norm_l2() * sigma * sigma).collect::<Vec<_>>()
            })
            .collect();
        let n = lengths.len() as f64;
        let mean = lengths.iter().sum::<f64>() / n;
        let variance = lengths.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / n;
        assert!((mean / 16.0 - 1.0).abs() < 0.02, "{mean}");
        assert!((variance / 32.0 - 1.0).abs() < 0.1, "{variance}");
    }

    #[test]
    fn a_map_is_rebuilt_from_its_parts_and_maps_samples_alone_as_together() {
        let fitted = map::<f32>(5, 1.0, 30, 3);
        assert_eq!((fitted.rank(), fitted.n_features(), fitted.blocks().len()), (30, 5, 2));
        let again = FastfoodMap::from_parts(5, 30, fitted.blocks().to_vec()).unwrap();
        assert_eq!(again, fitted);
        let X = random_matrix::<f32>(5, 600, 6);
        let F = fitted.transform(X.as_ref()).unwrap();
        for i in [0, 17, 599] {
            let alone = fitted.transform(X.as_ref().subcols(i, 1)).unwrap();
            assert_eq!(alone.as_ref(), F.as_ref().subcols(i, 1));
        }
    }

    #[test]
    fn seeds_decide_and_small_ranks_come_first() {
        let fitted = map::<f64>(8, 1.0, 64, 3);
        assert_eq!(map::<f64>(8, 1.0, 64, 3), fitted);
        assert_ne!(map::<f64>(8, 1.0, 64, 4), fitted);
        assert_eq!(map::<f64>(8, 1.0, 32, 3).blocks(), &fitted.blocks()[..2]);
    }

    #[test]
    fn bad_input_is_a_typed_error() {
        let fit = |sigma, rank, p| FastfoodParams { sigma, rank, seed: 0 }.fit::<f64>(p);
        assert!(fit(0.0, 4, 3).is_err() && fit(f64::NAN, 4, 3).is_err() && fit(1.0, 4, 0).is_err());
        assert!(matches!(fit(1.0, 7, 3), Err(LkdlError::Parameter { name: "rank", .. })));
        assert!(fit(1.0, 4, usize::MAX).is_err());
        let fitted = fit(1.0, 4, 3).unwrap();
        assert!(matches!(
            fitted.transform(Mat::zeros(4, 2).as_ref()),
            Err(LkdlError::Shape { expected: 3, got: 4, .. })
        ));
        let huge = Mat::from_fn(3, 2, |_, _| 1e308);
        assert!(matches!(fitted.transform(huge.as_ref()), Err(LkdlError::KernelOverflow { .. })));
    }

    #[test]
    fn bad_parts_are_typed_errors() {
        let fitted = map::<f64>(3, 1.0, 8, 0);
        let rebuilt = |change: &dyn Fn(&mut FastfoodBlock<f64>)| {
            let mut blocks = fitted.blocks().to_vec();
            change(&mut blocks[0]);
            FastfoodMap::from_parts(3, 8, blocks)
        };
        assert!(rebuilt(&|_| ()).is_ok());
        assert!(rebuilt(&|b| b.signs[0] = 0.5).is_err());
        assert!(rebuilt(&|b| b.permutation[0] = b.permutation[1]).is_err());
        assert!(rebuilt(&|b| b.permutation[0] = 4).is_err());
        assert!(rebuilt(&|b| b.gaussian[0] = f64::NAN).is_err());
        assert!(rebuilt(&|b| b.scale.truncate(3)).is_err());
        assert!(FastfoodMap::from_parts(3, 10, fitted.blocks().to_vec()).is_err());
    }
}
