//! A panel of right-hand points, and the tile of kernel values it makes with a block of samples.
//!
//! The tile is product first, elementwise function second, both while the block is in cache:
//! Cᵀ[:, block] = κ(X_R, X_block), LKDL Eq. (12) one block at a time.

use super::Kernel;
use crate::error::LkdlError;
use crate::linalg::product_into;
use crate::matrix::{
    BLOCK, Columns, Contiguous, check_samples, check_size, col, columns_of, gather, subcols,
};
use crate::real::Real;
use crate::vector::{all_finite, map_in_place, norm_sq, normalize, sum_zip, zip_in_place};
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// Points y_1 … y_c ready to be compared with blocks of samples.
#[derive(Debug, Clone)]
pub struct Panel<T: Real> {
    kernel: Kernel,
    /// The points themselves; for a precomputed kernel their c×c kernel matrix.
    points: Mat<T>,
    /// Which training samples the points are; always there for a precomputed kernel.
    indices: Option<Vec<usize>>,
    /// Rows a sample has: features, or for a precomputed kernel one value per training sample.
    n_rows: usize,
    /// Mean of the points: distances are computed about it, which avoids cancellation.
    shift: Vec<T>,
    /// What the product is taken with in place of the points: the points about the mean (distance
    /// kernels) or of unit norm (cosine).
    adapted: Option<Mat<T>>,
    /// ‖y_j‖² about the mean (distance kernels only).
    sq_norms: Vec<T>,
    /// 1/√κ(y_j, y_j) of the inner kernel (normalized only).
    scales: Vec<T>,
}

impl<T: Real> Panel<T> {
    /// A panel of free points (for example k-means centres).
    pub fn new(kernel: &Kernel, points: MatRef<'_, T>) -> Result<Self, LkdlError> {
        if let Kernel::Precomputed = kernel {
            return Err(LkdlError::Unsupported {
                what: "a precomputed kernel",
                problem: "knows no points",
                fix: "give landmarks by index",
            });
        }
        Self::build(kernel, points.to_owned(), None, points.nrows())
    }

    /// A panel from its parts, as a model file keeps them: [`Panel::points`], [`Panel::indices`]
    /// and [`Panel::n_rows`].
    pub fn from_parts(
        kernel: &Kernel,
        points: MatRef<'_, T>,
        indices: Option<Vec<usize>>,
        n_rows: usize,
    ) -> Result<Self, LkdlError> {
        if let Some(indices) = &indices {
            check_size("landmark indices", indices.len(), points.ncols())?;
        }
        match (kernel, &indices) {
            (Kernel::Precomputed, None) => return Self::new(kernel, points),
            (Kernel::Precomputed, Some(indices)) => {
                check_size("landmark kernel rows", points.nrows(), points.ncols())?;
                check_indices(indices, n_rows)?;
            }
            _ => check_size("landmarks' n_features", points.nrows(), n_rows)?,
        }
        Self::build(kernel, points.to_owned(), indices, n_rows)
    }

    /// The panel of the samples at `indices`.
    pub fn of_samples(
        kernel: &Kernel,
        samples: MatRef<'_, T>,
        indices: &[usize],
    ) -> Result<Self, LkdlError> {
        check_indices(indices, samples.ncols())?;
        let X = Contiguous::new(samples);
        let mut points = gather(X.columns(), indices);
        if let Kernel::Precomputed = kernel {
            check_size("precomputed kernel rows", samples.nrows(), samples.ncols())?;
            points = Mat::from_fn(indices.len(), indices.len(), |i, j| points[(indices[i], j)]);
        }
        Self::build(kernel, points, Some(indices.to_vec()), samples.nrows())
    }

    fn build(
        kernel: &Kernel,
        points: Mat<T>,
        indices: Option<Vec<usize>>,
        n_rows: usize,
    ) -> Result<Self, LkdlError> {
        kernel.check()?;
        check_samples(points.as_ref(), "landmarks")?;
        kernel.check_domain(points.as_ref(), 0)?;
        let mut panel = Self {
            kernel: kernel.clone(),
            points,
            indices,
            n_rows,
            shift: Vec::new(),
            adapted: None,
            sq_norms: Vec::new(),
            scales: Vec::new(),
        };
        panel.prepare(kernel)?;
        Ok(panel)
    }

    /// What can be computed once per panel.
    fn prepare(&mut self, kernel: &Kernel) -> Result<(), LkdlError> {
        let points = columns_of(&self.points);
        match kernel {
            Kernel::Gaussian { .. } | Kernel::Exponential { .. } => {
                let shift = column_mean(points);
                let mut shifted = self.points.clone();
                for j in 0..shifted.ncols() {
                    zip_in_place(shifted.col_as_slice_mut(j), &shift, |y, mean| y - mean);
                }
                self.sq_norms = sq_norms(columns_of(&shifted));
                (self.shift, self.adapted) = (shift, Some(shifted));
            }
            Kernel::Cosine => {
                let mut unit = self.points.clone();
                for j in 0..unit.ncols() {
                    normalize(unit.col_as_slice_mut(j));
                }
                self.adapted = Some(unit);
            }
            Kernel::Normalized(inner) => {
                let diag = inner.diag(points)?;
                self.scales = diag.iter().map(|&v| T::of(inverse_sqrt::<T>(v))).collect();
                self.prepare(&inner.as_ref().clone())?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Number of points, c.
    pub fn len(&self) -> usize {
        self.points.ncols()
    }

    /// Whether there is no point (never, for a panel that was built).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The points, one per column; for a precomputed kernel their kernel matrix.
    pub fn points(&self) -> MatRef<'_, T> {
        self.points.as_ref()
    }

    /// Which training samples the points are, if they are samples.
    pub fn indices(&self) -> Option<&[usize]> {
        self.indices.as_deref()
    }

    /// Rows a sample has: features, or for a precomputed kernel the number of training samples.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn check_rows(&self, n_rows: usize) -> Result<(), LkdlError> {
        let what = match self.kernel {
            Kernel::Precomputed => "precomputed kernel rows",
            _ => "samples' n_features",
        };
        check_size(what, n_rows, self.n_rows)
    }

    /// κ(y_j, x_i) for all points j (rows) and samples i (columns): a c×N matrix, for small N.
    pub fn evaluate(&self, samples: MatRef<'_, T>) -> Result<Mat<T>, LkdlError> {
        check_samples(samples, "samples")?;
        self.check_rows(samples.nrows())?;
        self.kernel.check_domain(samples, 0)?;
        let X = Contiguous::new(samples);
        let mut out = Mat::zeros(self.len(), samples.ncols());
        self.evaluate_into(X.columns(), out.as_mut())?;
        match first_non_finite(&out) {
            Some(value) => Err(self.overflow(value)),
            None => Ok(out),
        }
    }

    /// [`Panel::evaluate`] into a given c×N matrix, blocks in parallel, samples unchecked.
    pub(crate) fn evaluate_into(
        &self,
        X: Columns<'_, T>,
        out: MatMut<'_, T>,
    ) -> Result<(), LkdlError> {
        out.par_col_chunks_mut(BLOCK).enumerate().try_for_each(|(t, mut tile)| {
            let range = t * BLOCK..t * BLOCK + tile.ncols();
            self.tile(subcols(X, range), tile.as_mut(), &mut Vec::new())
        })
    }

    /// The c×c kernel matrix W of the points, symmetric, in `f64`, with an exact diagonal.
    pub fn gram(&self) -> Result<Mat<f64>, LkdlError> {
        let c = self.len();
        let points = columns_of(&self.points);
        let mut tile = Mat::<T>::zeros(c, c);
        let diag = match self.kernel {
            Kernel::Precomputed => {
                self.check_symmetry()?;
                tile.copy_from(&self.points);
                (0..c).map(|j| self.points[(j, j)].wide()).collect()
            }
            _ => {
                self.evaluate_into(points, tile.as_mut())?;
                self.kernel.diag(points)?
            }
        };
        let mut W = symmetrized(&tile);
        for (j, &value) in diag.iter().enumerate() {
            W[(j, j)] = value;
        }
        match first_non_finite(&W) {
            Some(value) => Err(self.overflow(value)),
            None => Ok(W),
        }
    }

    /// A kernel matrix handed in must be symmetric, up to the rounding of whoever made it.
    fn check_symmetry(&self) -> Result<(), LkdlError> {
        let W = &self.points;
        let peak = W.norm_max().wide();
        let allowed = T::EPS.sqrt() * peak;
        let differs = |i: usize, j: usize| (W[(i, j)].wide() - W[(j, i)].wide()).abs() > allowed;
        if (0..W.ncols()).any(|j| (0..j).any(|i| differs(i, j))) {
            return Err(LkdlError::Unsupported {
                what: "a precomputed kernel matrix",
                problem: "must be symmetric, and this one is not",
                fix: "pass K with K[i][j] = K[j][i], training samples against themselves",
            });
        }
        Ok(())
    }

    /// The error for a value that is not finite.
    pub(crate) fn overflow(&self, value: f64) -> LkdlError {
        LkdlError::KernelOverflow { kernel: self.kernel.to_string(), value }
    }

    /// One tile: `out[(j, i)]` = κ(y_j, x_i). `scratch` is reused between tiles of one task.
    pub(crate) fn tile(
        &self,
        X: Columns<'_, T>,
        out: MatMut<'_, T>,
        scratch: &mut Vec<T>,
    ) -> Result<(), LkdlError> {
        self.check_rows(X.nrows())?;
        self.fill(&self.kernel, X, out, scratch)
    }

    fn fill(
        &self,
        kernel: &Kernel,
        X: Columns<'_, T>,
        mut out: MatMut<'_, T>,
        scratch: &mut Vec<T>,
    ) -> Result<(), LkdlError> {
        let two = T::of(2.0);
        match kernel {
            Kernel::Linear => product_into(out, self.points.transpose(), X.as_dyn_stride()),
            Kernel::Polynomial { degree, offset } => {
                let offset = T::of(*offset);
                product_into(out.as_mut(), self.points.transpose(), X.as_dyn_stride());
                if degree.fract() != 0.0 {
                    self.check_base(out.as_ref(), *degree, offset)?;
                }
                for_columns(out, |_, tile| raise(tile, offset, *degree));
            }
            Kernel::Sigmoid { scale, offset } => {
                let (scale, offset) = (T::of(*scale), T::of(*offset));
                product_into(out.as_mut(), self.points.transpose(), X.as_dyn_stride());
                for_columns(out, |_, tile| {
                    for v in tile {
                        *v = (scale * *v + offset).tanh();
                    }
                });
            }
            Kernel::Cosine => {
                // Only one of the two lengths is in the product, and the other is divided out in
                // f64: neither their squares nor their product can leave the range.
                product_into(out.as_mut(), self.adapted().transpose(), X.as_dyn_stride());
                for_columns(out, |i, tile| {
                    let x = norm(col(X, i));
                    let scale = if x > 0.0 { 1.0 / x } else { 0.0 };
                    map_in_place(tile, |v| T::of(v.wide() * scale));
                });
            }
            Kernel::Gaussian { sigma } => {
                let rate = T::of(-0.5 / (sigma * sigma));
                let x_norms = self.shifted_product(X, out.as_mut(), scratch);
                for_columns(out, |i, tile| {
                    let x = x_norms[i];
                    zip_in_place(tile, &self.sq_norms, |v, y| {
                        (rate * at_least_zero(x + y - two * v)).fast_exp()
                    });
                });
            }
            Kernel::Exponential { sigma } => {
                let rate = T::of(-1.0 / sigma);
                let x_norms = self.shifted_product(X, out.as_mut(), scratch);
                for_columns(out, |i, tile| {
                    let x = x_norms[i];
                    zip_in_place(tile, &self.sq_norms, |v, y| {
                        (rate * at_least_zero(x + y - two * v).sqrt()).fast_exp()
                    });
                });
            }
            Kernel::Laplacian { rate } => {
                let rate = T::of(-rate);
                self.pairwise(X, out, |x, y| sum_zip(x, y, |a, b| (a - b).abs()), |sum| rate * sum);
            }
            Kernel::Chi2Additive => self.pairwise_plain(X, out, |x, y| {
                let zero = T::of(0.0);
                sum_zip(x, y, |a, b| if a + b > zero { two * a * (b / (a + b)) } else { a + b })
            }),
            Kernel::Chi2Exponential { rate } => {
                let rate = T::of(-rate);
                self.pairwise(X, out, |x, y| sum_zip(x, y, chi2_term), |sum| rate * sum);
            }
            Kernel::Normalized(inner) => {
                self.fill(inner, X, out.as_mut(), scratch)?;
                let mut diag = vec![0.0; X.ncols()];
                inner.diag_block(X, &mut diag)?;
                for_columns(out, |i, tile| {
                    let x = T::of(inverse_sqrt::<T>(diag[i]));
                    zip_in_place(tile, &self.scales, |v, y| v * x * y);
                });
            }
            Kernel::Precomputed => {
                let indices = self.indices.as_deref().unwrap_or_default();
                for_columns(out, |i, tile| {
                    let x = col(X, i);
                    for (value, &j) in tile.iter_mut().zip(indices) {
                        *value = x[j];
                    }
                });
            }
            Kernel::Custom(kernel) => {
                T::custom_block(kernel.as_ref(), self.points(), X.as_dyn_stride(), out)?;
            }
        }
        Ok(())
    }

    /// out = (Y−μ)ᵀ(X−μ); returns ‖x_i−μ‖².
    fn shifted_product(
        &self,
        X: Columns<'_, T>,
        out: MatMut<'_, T>,
        scratch: &mut Vec<T>,
    ) -> Vec<T> {
        let (p, n) = (X.nrows(), X.ncols());
        scratch.resize(p * n, T::of(0.0));
        let mut norms = Vec::with_capacity(n);
        for (i, shifted) in scratch.chunks_exact_mut(p.max(1)).take(n).enumerate() {
            shifted.copy_from_slice(col(X, i));
            zip_in_place(shifted, &self.shift, |x, mean| x - mean);
            norms.push(T::of(norm_sq(shifted)));
        }
        let X = MatRef::from_column_major_slice(&scratch[..p * n], p, n);
        product_into(out, self.adapted().transpose(), X);
        norms
    }

    fn adapted(&self) -> &Mat<T> {
        self.adapted.as_ref().unwrap_or(&self.points)
    }

    /// exp(link(distance(x_i, y_j))) for kernels that are no product.
    fn pairwise(
        &self,
        X: Columns<'_, T>,
        out: MatMut<'_, T>,
        distance: impl Fn(&[T], &[T]) -> T,
        link: impl Fn(T) -> T,
    ) {
        self.pairwise_plain(X, out, |x, y| link(distance(x, y)).fast_exp());
    }

    /// value(x_i, y_j) for all pairs.
    fn pairwise_plain(
        &self,
        X: Columns<'_, T>,
        out: MatMut<'_, T>,
        value: impl Fn(&[T], &[T]) -> T,
    ) {
        for_columns(out, |i, tile| {
            let x = col(X, i);
            for (j, v) in tile.iter_mut().enumerate() {
                *v = value(x, self.points.col_as_slice(j));
            }
        });
    }

    /// A fractional power needs a non-negative base.
    fn check_base(&self, tile: MatRef<'_, T>, degree: f64, offset: T) -> Result<(), LkdlError> {
        let zero = T::of(0.0);
        match tile.col_iter().flat_map(|c| c.iter().copied()).find(|&v| v + offset < zero) {
            None => Ok(()),
            Some(v) => Err(LkdlError::parameter(
                "kernel degree",
                degree,
                format!(
                    "an integer, because x'y + offset is negative for some samples ({})",
                    (v + offset).wide()
                ),
            )),
        }
    }
}

/// Rejects indices that name no training sample.
fn check_indices(indices: &[usize], n_samples: usize) -> Result<(), LkdlError> {
    match indices.iter().find(|&&i| i >= n_samples) {
        None => Ok(()),
        Some(&bad) => {
            let bound = format!("below n_samples = {n_samples}");
            Err(LkdlError::parameter("landmark index", bad, bound))
        }
    }
}

/// (a−b)²/(a+b), one term of the χ² distance; 0/0 = 0.
#[inline(always)]
pub(super) fn chi2_term<T: Real>(a: T, b: T) -> T {
    if a + b > T::of(0.0) { (a - b) * (a - b) / (a + b) } else { a + b }
}

/// ½(A + Aᵀ) in `f64`, in square tiles that keep both halves in cache.
fn symmetrized<T: Real>(A: &Mat<T>) -> Mat<f64> {
    const TILE: usize = 32;
    let c = A.ncols();
    let mut W = Mat::<f64>::zeros(c, c);
    W.par_col_chunks_mut(TILE).enumerate().for_each(|(t, mut columns)| {
        for start in (0..c).step_by(TILE) {
            for slot in 0..columns.ncols() {
                let j = t * TILE + slot;
                for i in start..c.min(start + TILE) {
                    columns[(i, slot)] = 0.5 * (A[(i, j)].wide() + A[(j, i)].wide());
                }
            }
        }
    });
    W
}

/// Calls `f(i, column i)` on every column.
fn for_columns<T: Real>(out: MatMut<'_, T>, mut f: impl FnMut(usize, &mut [T])) {
    if let Some(out) = out.try_as_col_major_mut() {
        for (i, column) in out.col_iter_mut().enumerate() {
            f(i, column.as_slice_mut());
        }
    }
}

/// max(x, 0), but NaN (∞ − ∞, from squares that overflowed) stays NaN: it must not pass for the
/// distance of coincident samples.
#[inline(always)]
fn at_least_zero<T: Real>(x: T) -> T {
    if x < T::of(0.0) { T::of(0.0) } else { x }
}

/// The first value of a matrix that is NaN or infinite.
fn first_non_finite<T: Real>(X: &Mat<T>) -> Option<f64> {
    let bad = |j: &usize| !all_finite(X.col_as_slice(*j));
    let j = (0..X.ncols()).into_par_iter().find_first(bad)?;
    X.col_as_slice(j).iter().map(|v| v.wide()).find(|v| !v.is_finite())
}

/// 1/√x; 0 for a diagonal that is 0 in the working type, as the values beside it then are.
fn inverse_sqrt<T: Real>(x: f64) -> f64 {
    if T::of(x) > T::of(0.0) { 1.0 / x.sqrt() } else { 0.0 }
}

/// ‖x‖, also where its square leaves the range of `f64`.
pub(super) fn norm<T: Real>(x: &[T]) -> f64 {
    const SAFE: std::ops::Range<f64> = 1e-280..1e300;
    let sq = norm_sq(x);
    if SAFE.contains(&sq) { sq.sqrt() } else { normalize(&mut x.to_vec()) }
}

fn sq_norms<T: Real>(X: Columns<'_, T>) -> Vec<T> {
    (0..X.ncols()).map(|j| T::of(norm_sq(col(X, j)))).collect()
}

fn column_mean<T: Real>(X: Columns<'_, T>) -> Vec<T> {
    let mut sum = vec![0.0f64; X.nrows()];
    for j in 0..X.ncols() {
        for (s, v) in sum.iter_mut().zip(col(X, j)) {
            *s += v.wide();
        }
    }
    sum.iter().map(|s| T::of(s / X.ncols() as f64)).collect()
}

/// base^degree: repeated multiplication for an integer degree (never `powf`).
pub(super) fn power(base: f64, degree: f64) -> f64 {
    if degree.fract() != 0.0 {
        return base.powf(degree);
    }
    integer_power(base, degree as u32)
}

/// v ← (v + offset)^degree.
fn raise<T: Real>(tile: &mut [T], offset: T, degree: f64) {
    if degree.fract() != 0.0 {
        for v in tile {
            *v = T::of((*v + offset).wide().powf(degree));
        }
        return;
    }
    match degree as u32 {
        1 => map_in_place(tile, |v| v + offset),
        2 => map_in_place(tile, |v| (v + offset) * (v + offset)),
        3 => map_in_place(tile, |v| (v + offset) * ((v + offset) * (v + offset))),
        d => map_in_place(tile, |v| integer_power(v + offset, d)),
    }
}

/// Square-and-multiply.
#[inline(always)]
fn integer_power<T: Real>(base: T, degree: u32) -> T {
    let (mut result, mut square, mut d) = (T::of(1.0), base, degree);
    while d > 0 {
        if d & 1 == 1 {
            result *= square;
        }
        square *= square;
        d >>= 1;
    }
    result
}
