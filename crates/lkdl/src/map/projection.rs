//! F = PᵀCᵀ by tiles: the c×B tile Cᵀ[:, block] is formed, used and forgotten in cache, so the
//! N×c matrix C never exists. Cost 2Nc(p + k) flops, memory O(B·c) per thread.

use crate::error::LkdlError;
use crate::kernel::Panel;
use crate::linalg::{convert, product_into};
use crate::matrix::{Columns, map_blocks_with, matrix_bytes, subcols};
use crate::real::Real;
use crate::vector;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::ops::Range;

/// Bytes a tile should take: wide enough that packing the landmarks is paid for by arithmetic,
/// small enough to stay in the outer caches between the two products.
const TILE_BYTES: usize = 4 << 20;
/// Samples per tile, at least and at most.
const MIN_TILE: usize = 128;
const MAX_TILE: usize = 512;
/// Samples per step of [`cross_sums`].
const GRAM_STEP: usize = 1024;
/// Columns per task of [`cross_sums`].
const GRAM_PANEL: usize = 64;

/// Share of a memory budget that one tile may take. Not divided by the threads, so that the tiles,
/// and with them the bits, do not depend on how many there are.
const TILE_SHARE: u64 = 32;
/// Samples per tile when memory is short.
const SCANT_TILE: usize = 16;

/// Samples per tile for c landmarks, within a budget.
pub(crate) fn tile_width<T: Real>(n_landmarks: usize, memory: Option<u64>) -> usize {
    let column = size_of::<T>() * n_landmarks.max(1);
    let usual = (TILE_BYTES / column).clamp(MIN_TILE, MAX_TILE);
    let affordable = memory.map_or(u64::MAX, |bytes| bytes / TILE_SHARE / column as u64);
    usual.min(usize::try_from(affordable).unwrap_or(usize::MAX).max(SCANT_TILE))
}

/// P, c×k, by groups of columns with no more rows than hold values: of a triangular P, which the
/// Cholesky variant makes, the products need little more than half.
#[derive(Debug, Clone)]
pub(super) struct Projection<T: Real> {
    P: Mat<T>,
    /// Columns, and the rows from the first to the last that is not zero in all of them.
    groups: Vec<(Range<usize>, usize)>,
}

impl<T: Real> Projection<T> {
    /// Columns of a group: enough to pay for packing the tile again.
    const GROUP: usize = 256;

    pub(super) fn new(P: Mat<T>) -> Self {
        let height = |columns: &Range<usize>| {
            let tall = columns.clone().map(|j| P.col_as_slice(j)).map(|column| {
                column.iter().rposition(|v| v.wide() != 0.0).map_or(0, |last| last + 1)
            });
            tall.max().unwrap_or(0)
        };
        let mut groups: Vec<(Range<usize>, usize)> = Vec::new();
        for start in (0..P.ncols()).step_by(Self::GROUP) {
            let columns = start..(start + Self::GROUP).min(P.ncols());
            let height = height(&columns);
            match groups.last_mut() {
                Some((last, same)) if *same == height => last.end = columns.end,
                _ => groups.push((columns, height)),
            }
        }
        Self { P, groups }
    }

    /// P.
    pub(super) fn matrix(&self) -> &Mat<T> {
        &self.P
    }

    /// out = Pᵀ·tile, sequential.
    fn apply(&self, mut out: MatMut<'_, T>, tile: MatRef<'_, T>) {
        for (columns, height) in &self.groups {
            let (first, width) = (columns.start, columns.len());
            let P = self.P.subcols(first, width).subrows(0, *height);
            let rows = out.as_mut().subrows_mut(first, width);
            product_into(rows, P.transpose(), tile.subrows(0, *height));
        }
    }
}

/// F = PᵀCᵀ: LKDL Eqs. (23), (24).
pub(super) fn project_into<T: Real>(
    F: MatMut<'_, T>,
    panel: &Panel<T>,
    P: &Projection<T>,
    X: Columns<'_, T>,
    width: usize,
) -> Result<(), LkdlError> {
    let blocks: Vec<_> = F.par_col_chunks_mut(width).enumerate().collect();
    blocks.into_par_iter().try_for_each_init(
        || (Mat::<T>::zeros(panel.len(), width), Vec::new()),
        |(tile, scratch), (t, mut out)| {
            let n = out.ncols();
            let block = subcols(X, t * width..t * width + n);
            panel.kernel().check_domain(block.as_dyn_stride(), t * width)?;
            panel.tile(block, tile.as_mut().subcols_mut(0, n), scratch)?;
            P.apply(out.as_mut(), tile.subcols(0, n));
            finite_or_overflow(panel, out.as_ref())
        },
    )
}

/// A kernel value that overflowed shows in the virtual samples; it must not leave as NaN.
fn finite_or_overflow<T: Real>(panel: &Panel<T>, F: MatRef<'_, T>) -> Result<(), LkdlError> {
    for f in F.col_iter() {
        let finite = match f.try_as_col_major() {
            Some(f) => vector::all_finite(f.as_slice()),
            None => f.iter().all(|v| v.is_finite()),
        };
        if !finite {
            return Err(panel.overflow(f64::INFINITY));
        }
    }
    Ok(())
}

/// S = CᵀC (c×c, `f64`) and Cᵀ1, the sums over all samples of κ_xκ_xᵀ and κ_x with κ_x = κ(X_R, x):
/// they add across shards. Nc² flops by halves.
pub(super) fn cross_sums<T: Real>(
    panel: &Panel<T>,
    X: Columns<'_, T>,
) -> Result<(Mat<f64>, Vec<f64>), LkdlError> {
    let c = panel.len();
    let (mut S, mut sum) = (Mat::<f64>::zeros(c, c), vec![0.0; c]);
    let mut tiles = Mat::<T>::zeros(c, GRAM_STEP);
    for start in (0..X.ncols()).step_by(GRAM_STEP) {
        let n = GRAM_STEP.min(X.ncols() - start);
        let block = subcols(X, start..start + n);
        panel.kernel().check_domain(block.as_dyn_stride(), start)?;
        panel.evaluate_into(block, tiles.as_mut().subcols_mut(0, n))?;
        let C = tiles.subcols(0, n);
        for i in 0..n {
            sum.iter_mut().zip(tiles.col_as_slice(i)).for_each(|(sum, v)| *sum += v.wide());
        }
        // Each task owns a panel of S, so the sum over steps has one order.
        S.as_mut().par_col_chunks_mut(GRAM_PANEL).enumerate().for_each(|(t, panel)| {
            let (first, width) = (t * GRAM_PANEL, panel.ncols());
            let mut part = Mat::<T>::zeros(c - first, width);
            faer::linalg::matmul::matmul(
                part.as_mut(),
                Accum::Replace,
                C.subrows(first, c - first),
                C.subrows(first, width).transpose(),
                T::of(1.0),
                Par::Seq,
            );
            let mut below = panel.subrows_mut(first, c - first);
            below += convert::<T, f64>(part.as_ref());
        });
    }
    crate::linalg::mirror_lower(&mut S);
    Ok((S, sum))
}

/// Bytes of [`cross_sums`] beside the sums themselves: a step of C, and every thread's panel of S.
pub(crate) fn cross_bytes<T: Real>(n_landmarks: usize, threads: usize) -> u64 {
    let of_thread =
        matrix_bytes::<T>(n_landmarks, GRAM_PANEL) + matrix_bytes::<f64>(n_landmarks, GRAM_PANEL);
    matrix_bytes::<T>(n_landmarks, GRAM_STEP) + of_thread.saturating_mul(threads as u64)
}

/// The mean column of F, in `f64`, blocks summed in order.
pub(super) fn mean_virtual_sample<T: Real>(F: Columns<'_, T>) -> Vec<f64> {
    let sums = map_blocks_with(
        F.ncols(),
        crate::matrix::BLOCK,
        || (),
        |(), range| {
            let mut sum = vec![0.0; F.nrows()];
            for i in range {
                for (s, f) in sum.iter_mut().zip(crate::matrix::col(F, i)) {
                    *s += f.wide();
                }
            }
            sum
        },
    );
    let mut mean = vec![0.0; F.nrows()];
    for sum in sums {
        for (m, s) in mean.iter_mut().zip(sum) {
            *m += s / F.ncols() as f64;
        }
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{close, random_matrix};

    #[test]
    fn groups_of_columns_leave_out_zeros_only() {
        let c = 3 * Projection::<f64>::GROUP / 2 + 7;
        let tile = random_matrix::<f64>(c, 5, 1);
        let full = random_matrix::<f64>(c, c, 2);
        let triangular = Mat::from_fn(c, c, |i, j| if i <= j { full[(i, j)] } else { 0.0 });
        for (P, n_groups) in [(full, 1), (triangular, 2), (Mat::zeros(c, 300), 1)] {
            let expected = P.transpose() * &tile;
            let mut out = random_matrix::<f64>(P.ncols(), 5, 3);
            let P = Projection::new(P);
            P.apply(out.as_mut(), tile.as_ref());
            assert_eq!(P.groups.len(), n_groups);
            close(out.as_ref(), expected.as_ref(), 1e-12);
        }
    }
}
