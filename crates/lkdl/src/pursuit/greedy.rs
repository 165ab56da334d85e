//! One signal of Batch-OMP in its orthogonalised-correlation form.
//!
//! ```text
//! S = ∅; for t = 0 .. q−1:
//!   s = argmax|α_i|, i ∉ S          stop if α_s² ≤ floor·ρ₀, or ρ ≤ e²
//!   l_j = V_j[s] (j < t);  π² = G_ss − Σ l_j²     stop if π² ≤ pivot·G_ss (dependent atom)
//!   v = (G[:,s] − Σ l_j V_j)/π;  z = α_s/π;  α −= z·v;  ρ −= z²
//! solve Lᵀγ_S = z
//! ```
//!
//! v = Dᵀ(new orthonormal direction), so α stays Dᵀ(residual) and ρ the squared residual, with no
//! solve inside the loop. Only G = DᵀD, α = Dᵀx and ρ₀ = ‖x‖² are needed, so the same loop serves
//! signals, virtual samples and kernel dictionaries. Cost m(q²−1) flops per signal.
//!
//! Memory layout: V is cut into chunks of [`UNROLL`] SIMD vectors and stored chunk by chunk, all t
//! directions of a chunk side by side, so the fused pass streams through it.

use super::entry::TIE_EPS;
use super::target::Limits;
use crate::real::Real;
use crate::vector::{UNROLL, padded};
use faer::{Mat, MatRef};
use num_traits::Float;
use pulp::Simd;

/// G with every column padded by zeros to whole steps of the pursuit loop.
#[derive(Debug, Clone)]
pub(crate) struct PaddedGram<T: Real> {
    columns: Mat<T>,
}

impl<T: Real> PaddedGram<T> {
    pub(crate) fn new(G: MatRef<'_, T>) -> Self {
        let m = G.ncols();
        let mut columns = Mat::zeros(padded::<T>(m), m);
        columns.as_mut().subrows_mut(0, m).copy_from(G);
        Self { columns }
    }

    /// G_ij.
    pub(crate) fn entry(&self, i: usize, j: usize) -> T {
        self.columns[(i, j)]
    }
}

/// The buffers of one task, reused for all its signals.
pub(crate) struct Workspace<T: Real> {
    /// V, chunk-major; see the module's header.
    directions: Mat<T>,
    /// −l of the current step, in the working type.
    negated_row: Vec<T>,
    /// Rows of L, packed: row t holds l_0 … l_{t−1}, π.
    rows: Vec<f64>,
    /// z, the coordinates of x in the orthonormal directions.
    pub(crate) coordinates: Vec<f64>,
    /// S, in the order chosen.
    pub(crate) chosen: Vec<usize>,
    /// γ_S, in the order chosen.
    pub(crate) solution: Vec<f64>,
    max_atoms: usize,
}

impl<T: Real> Workspace<T> {
    pub(crate) fn new(n_atoms: usize, max_atoms: usize) -> Self {
        Self {
            directions: Mat::zeros(padded::<T>(n_atoms) * max_atoms, 1),
            negated_row: Vec::with_capacity(max_atoms),
            rows: Vec::with_capacity(max_atoms * (max_atoms + 1) / 2),
            coordinates: Vec::with_capacity(max_atoms),
            chosen: Vec::with_capacity(max_atoms),
            solution: Vec::with_capacity(max_atoms),
            max_atoms,
        }
    }

    /// Runs the loop on α (padded, overwritten by Dᵀ(residual)) and returns ρ. `refresh` is asked
    /// for the residual once the recursion has lost its digits (error target only).
    #[inline(always)]
    pub(crate) fn pursue<S: Simd>(
        &mut self,
        simd: S,
        gram: &PaddedGram<T>,
        alpha: &mut [T],
        rho0: f64,
        limits: Limits,
        mut refresh: impl FnMut(&[usize], &[f64]) -> f64,
    ) -> f64 {
        self.chosen.clear();
        self.rows.clear();
        self.coordinates.clear();
        let (floor, mut rho) = (T::PURSUIT_FLOOR * rho0, rho0);
        let mut peak = largest_magnitude(simd, alpha);
        while !limits.reached(self.chosen.len(), rho) {
            let Some(s) = self.locate(simd, alpha, peak) else { break };
            let alpha_s = alpha[s].wide();
            if alpha_s * alpha_s <= floor {
                break;
            }
            let Some(pivot) = self.append_row::<S>(gram, s) else { break };
            let z = alpha_s / pivot;
            self.chosen.push(s);
            self.coordinates.push(z);
            rho = (rho - z * z).max(0.0);
            if limits.sq_error.is_some() && rho < T::RESIDUAL_REFRESH * rho0 {
                self.solve();
                rho = refresh(&self.chosen, &self.solution);
            }
            if self.chosen.len() == limits.max_atoms {
                break; // the last direction and correlations would never be read
            }
            peak = self.advance(simd, gram.columns.col_as_slice(s), pivot, z, alpha);
            for &i in &self.chosen {
                alpha[i] = T::of(0.0);
            }
        }
        rho
    }

    /// The lowest index outside S with the largest |α|, `peak` as found by the last pass.
    #[inline(always)]
    fn locate<S: Simd>(&self, simd: S, alpha: &[T], peak: T) -> Option<usize> {
        if peak <= T::of(0.0) {
            return None;
        }
        // Chosen entries were zeroed after the pass: a peak that was rounding noise on one of
        // them is not found again, and the search starts over.
        let found = first_with_magnitude(simd, alpha, peak);
        if found.is_some() {
            return found;
        }
        let peak = largest_magnitude(simd, alpha);
        if peak > T::of(0.0) { first_with_magnitude(simd, alpha, peak) } else { None }
    }

    /// l_j = V_j[s] and π; `None` if atom s depends on those chosen.
    #[inline(always)]
    fn append_row<S: Simd>(&mut self, gram: &PaddedGram<T>, s: usize) -> Option<f64> {
        let t = self.chosen.len();
        let diagonal = gram.columns[(s, s)].wide();
        let mut pivot_sq = diagonal;
        self.negated_row.clear();
        let start = self.rows.len();
        for j in 0..t {
            let l = self.direction_entry::<S>(j, s);
            self.negated_row.push(T::of(0.0) - l);
            self.rows.push(l.wide());
            pivot_sq -= l.wide() * l.wide();
        }
        if pivot_sq <= T::DEPENDENT_PIVOT * diagonal {
            self.rows.truncate(start);
            return None;
        }
        let pivot = pivot_sq.sqrt();
        self.rows.push(pivot);
        Some(pivot)
    }

    /// V_j[s] in the chunked layout.
    #[inline(always)]
    fn direction_entry<S: Simd>(&self, j: usize, s: usize) -> T {
        let chunk = UNROLL * lanes::<T, S>();
        let (block, within) = (s / chunk, s % chunk);
        self.directions.col_as_slice(0)[(block * self.max_atoms + j) * chunk + within]
    }

    /// v = (G_s − Σ l_j V_j)/π, stored; α −= z·v; returns the new max|α|. One fused pass.
    #[inline(always)]
    fn advance<S: Simd>(
        &mut self,
        simd: S,
        gram_column: &[T],
        pivot: f64,
        z: f64,
        alpha: &mut [T],
    ) -> T {
        let ctx = &T::simd_ctx(simd);
        let t = self.negated_row.len();
        let scale = T::simd_splat(ctx, &T::of(1.0 / pivot));
        let minus_z = T::simd_splat(ctx, &T::of(-z));
        let mut peaks = [T::simd_splat(ctx, &T::of(0.0)); UNROLL];

        let (gram_column, _) = T::as_simd::<S>(gram_column);
        let (alpha, _) = T::as_simd_mut::<S>(alpha);
        let (V, _) = T::as_simd_mut::<S>(self.directions.col_as_slice_mut(0));
        let gram_chunks = gram_column.as_chunks::<UNROLL>().0;
        let alpha_chunks = alpha.as_chunks_mut::<UNROLL>().0;
        let V_chunks = V.chunks_exact_mut(UNROLL * self.max_atoms);
        for ((g, a), V) in gram_chunks.iter().zip(alpha_chunks).zip(V_chunks) {
            let (earlier, rest) = V.as_chunks_mut::<UNROLL>().0.split_at_mut(t);
            let mut v = *g;
            for (V_j, minus_l) in earlier.iter().zip(&self.negated_row) {
                let minus_l = T::simd_splat(ctx, minus_l);
                for u in 0..UNROLL {
                    v[u] = T::simd_mul_add(ctx, minus_l, V_j[u], v[u]);
                }
            }
            for u in 0..UNROLL {
                v[u] = T::simd_mul(ctx, v[u], scale);
                a[u] = T::simd_mul_add(ctx, minus_z, v[u], a[u]);
                let magnitude = T::simd_abs1(ctx, a[u]);
                let larger = T::simd_greater_than(ctx, magnitude, peaks[u]);
                peaks[u] = T::simd_select(ctx, larger, magnitude, peaks[u]);
            }
            if let Some(slot) = rest.first_mut() {
                *slot = v;
            }
        }
        reduce_peaks(simd, peaks)
    }

    /// γ_S from Lᵀγ_S = z, in `f64`.
    pub(crate) fn solve(&mut self) -> &[f64] {
        let t = self.chosen.len();
        self.solution.clear();
        self.solution.extend_from_slice(&self.coordinates);
        for i in (0..t).rev() {
            let start = i * (i + 1) / 2;
            let row = &self.rows[start..=start + i];
            self.solution[i] /= row[i];
            let value = self.solution[i];
            for j in 0..i {
                self.solution[j] -= row[j] * value;
            }
        }
        &self.solution
    }
}

/// Numbers per SIMD vector.
#[inline(always)]
const fn lanes<T: Real, S: Simd>() -> usize {
    size_of::<T::SimdVec<S>>() / size_of::<T>()
}

#[inline(always)]
fn reduce_peaks<T: Real, S: Simd>(simd: S, peaks: [T::SimdVec<S>; UNROLL]) -> T {
    let ctx = &T::simd_ctx(simd);
    let mut peak = T::of(0.0);
    for lane_peaks in peaks {
        let value = T::simd_reduce_max(ctx, lane_peaks);
        if value > peak {
            peak = value;
        }
    }
    peak
}

/// max|α_i|.
#[inline(always)]
pub(crate) fn largest_magnitude<T: Real, S: Simd>(simd: S, alpha: &[T]) -> T {
    let ctx = &T::simd_ctx(simd);
    let mut peaks = [T::simd_splat(ctx, &T::of(0.0)); UNROLL];
    for chunk in T::as_simd::<S>(alpha).0.as_chunks::<UNROLL>().0 {
        for u in 0..UNROLL {
            let magnitude = T::simd_abs1(ctx, chunk[u]);
            let larger = T::simd_greater_than(ctx, magnitude, peaks[u]);
            peaks[u] = T::simd_select(ctx, larger, magnitude, peaks[u]);
        }
    }
    reduce_peaks(simd, peaks)
}

/// Whether any lane is at least the threshold's. Only this is read from a mask: pulp 0.22 counts
/// the lanes of an AVX-512 mask from the wrong end, so the entry is looked up in memory.
#[inline(always)]
fn any_reaches<T: Real, S: Simd>(simd: S, values: T::SimdVec<S>, threshold: T::SimdVec<S>) -> bool {
    let ctx = &T::simd_ctx(simd);
    let reached = T::simd_greater_than_or_equal(ctx, values, threshold);
    T::simd_first_true_mask(ctx, reached) < lanes::<T, S>()
}

/// The lowest index with |α_i| = peak, up to the rounding that separates copies of an atom.
#[inline(always)]
fn first_with_magnitude<T: Real, S: Simd>(simd: S, alpha: &[T], peak: T) -> Option<usize> {
    let ctx = &T::simd_ctx(simd);
    let tied = T::of(peak.wide() * (1.0 - TIE_EPS * T::EPS));
    let threshold = T::simd_splat(ctx, &tied);
    let lanes = lanes::<T, S>();
    for (i, vectors) in T::as_simd::<S>(alpha).0.as_chunks::<UNROLL>().0.iter().enumerate() {
        let mut largest = T::simd_abs1(ctx, vectors[0]);
        for u in 1..UNROLL {
            let magnitude = T::simd_abs1(ctx, vectors[u]);
            let larger = T::simd_greater_than(ctx, magnitude, largest);
            largest = T::simd_select(ctx, larger, magnitude, largest);
        }
        if !any_reaches::<T, S>(simd, largest, threshold) {
            continue;
        }
        for u in 0..UNROLL {
            if any_reaches::<T, S>(simd, T::simd_abs1(ctx, vectors[u]), threshold) {
                let start = (i * UNROLL + u) * lanes;
                let vector = &alpha[start..start + lanes];
                return vector.iter().position(|v| Float::abs(*v) >= tied).map(|at| start + at);
            }
        }
    }
    None
}
