//! The only caller of products, factorisations and eigen-solves.
//!
//! Every faer call is sequential. Parallelism is ours: an output is cut into column panels of a
//! fixed width and each panel is one task, so no bit depends on the thread count.

mod cholesky;
mod eigen;
mod krylov;
mod leading;

pub(crate) use cholesky::{Cholesky, cholesky_with_jitter};
pub(crate) use eigen::{Eigen, full_eigen};
pub(crate) use krylov::{eigen_bytes, householder_basis, leading_eigen};
pub(crate) use leading::leading_pair;

use crate::real::Real;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Columns per task of a parallel product.
const PANEL: usize = 128;
/// Rows per task of a product with few columns.
const ROW_PANEL: usize = 256;
/// Columns per task of a Gram matrix, whose panels shrink: narrower ones balance better.
const GRAM_PANEL: usize = 48;

/// out = A·B, sequential.
#[inline]
pub(crate) fn product_into<T: Real>(out: MatMut<'_, T>, A: MatRef<'_, T>, B: MatRef<'_, T>) {
    matmul(out, Accum::Replace, A, B, T::of(1.0), Par::Seq);
}

/// out += alpha·A·B, sequential.
#[inline]
pub(crate) fn add_product<T: Real>(
    out: MatMut<'_, T>,
    alpha: f64,
    A: MatRef<'_, T>,
    B: MatRef<'_, T>,
) {
    matmul(out, Accum::Add, A, B, T::of(alpha), Par::Seq);
}

/// out ← (out) + alpha·A·B over panels of `width` columns in parallel.
fn par_panels_into<T: Real>(
    width: usize,
    out: MatMut<'_, T>,
    accumulate: Accum,
    alpha: f64,
    A: MatRef<'_, T>,
    B: MatRef<'_, T>,
) {
    out.par_col_chunks_mut(width).enumerate().for_each(|(t, mut panel)| {
        let B = B.subcols(t * width, panel.ncols());
        matmul(panel.as_mut(), accumulate, A, B, T::of(alpha), Par::Seq);
    });
}

/// out ← (out) + alpha·A·B over column panels in parallel.
pub(crate) fn par_product_into<T: Real>(
    out: MatMut<'_, T>,
    accumulate: Accum,
    alpha: f64,
    A: MatRef<'_, T>,
    B: MatRef<'_, T>,
) {
    par_panels_into(PANEL, out, accumulate, alpha, A, B);
}

/// A·B, in parallel.
pub(crate) fn par_product<T: Real>(A: MatRef<'_, T>, B: MatRef<'_, T>) -> Mat<T> {
    let mut out = Mat::zeros(A.nrows(), B.ncols());
    par_product_into(out.as_mut(), Accum::Replace, 1.0, A, B);
    out
}

/// out ← (out) + alpha·A·B over row panels in parallel, as outᵀ ← (outᵀ) + alpha·BᵀAᵀ: for few
/// columns and many rows.
pub(crate) fn par_product_by_rows_into<T: Real>(
    out: MatMut<'_, T>,
    accumulate: Accum,
    alpha: f64,
    A: MatRef<'_, T>,
    B: MatRef<'_, T>,
) {
    par_panels_into(
        ROW_PANEL,
        out.transpose_mut(),
        accumulate,
        alpha,
        B.transpose(),
        A.transpose(),
    );
}

/// A·B over row panels in parallel.
pub(crate) fn par_product_by_rows<T: Real>(A: MatRef<'_, T>, B: MatRef<'_, T>) -> Mat<T> {
    let mut out = Mat::zeros(A.nrows(), B.ncols());
    par_product_by_rows_into(out.as_mut(), Accum::Replace, 1.0, A, B);
    out
}

/// The symmetric product AᵀA: panels of the lower half in parallel, then mirrored.
pub(crate) fn gram<T: Real>(A: MatRef<'_, T>) -> Mat<T> {
    let m = A.ncols();
    let mut G = Mat::zeros(m, m);
    G.as_mut().par_col_chunks_mut(GRAM_PANEL).enumerate().for_each(|(t, panel)| {
        let (start, width) = (t * GRAM_PANEL, panel.ncols());
        let (_, below) = panel.split_at_row_mut(start);
        let own_and_later = A.subcols(start, m - start);
        product_into(below, own_and_later.transpose(), A.subcols(start, width));
    });
    mirror_lower(&mut G);
    G
}

/// Copies the lower half of a square matrix onto the upper.
pub(crate) fn mirror_lower<T: Real>(G: &mut Mat<T>) {
    // Square tiles keep both the rows read and the columns written in cache.
    const TILE: usize = 32;
    let n = G.nrows();
    for tile_j in (0..n).step_by(TILE) {
        for tile_i in (tile_j..n).step_by(TILE) {
            for j in tile_j..n.min(tile_j + TILE) {
                for i in tile_i.max(j + 1)..n.min(tile_i + TILE) {
                    G[(j, i)] = G[(i, j)];
                }
            }
        }
    }
}

/// Rounds or widens every entry.
pub(crate) fn convert<A: Real, B: Real>(X: MatRef<'_, A>) -> Mat<B> {
    Mat::from_fn(X.nrows(), X.ncols(), |i, j| B::of(X[(i, j)].wide()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{close, random_matrix};

    #[test]
    fn gram_equals_the_plain_product() {
        for (p, m) in [(3, 1), (20, 127), (20, 128), (7, 300)] {
            let A = random_matrix::<f64>(p, m, 1);
            let plain = A.transpose() * &A;
            close(gram(A.as_ref()).as_ref(), plain.as_ref(), 1e-14);
        }
    }

    #[test]
    fn parallel_products_equal_the_plain_product() {
        for (rows, cols) in [(40, 333), (700, 3), (1, 1)] {
            let (A, B) = (random_matrix::<f32>(rows, 30, 1), random_matrix::<f32>(30, cols, 2));
            let plain = &A * &B;
            close(par_product(A.as_ref(), B.as_ref()).as_ref(), plain.as_ref(), 1e-6);
            close(par_product_by_rows(A.as_ref(), B.as_ref()).as_ref(), plain.as_ref(), 1e-6);
            let mut left = plain.clone();
            par_product_by_rows_into(left.as_mut(), Accum::Add, -1.0, A.as_ref(), B.as_ref());
            close(left.as_ref(), Mat::zeros(rows, cols).as_ref(), 1e-5);
        }
    }
}
