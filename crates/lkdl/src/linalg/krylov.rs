//! The k leading eigenpairs of a large symmetric matrix by a randomised block Krylov method.
//!
//! An orthonormal basis Q of span{Ω, AΩ, A²Ω, …} grows block by block with full
//! re-orthogonalisation; the Ritz pairs of T = QᵀAQ converge to the leading eigenpairs. Every
//! large step is a product, so the method runs at product speed where the full solve cannot.
//!
//! Stop: the trace that the k leading Ritz values still miss, extrapolated from what the last two
//! blocks gained, is below [`TRACE_TOLERANCE`] of the trace beyond rank k. Cost 2n²M + 4nM² flops
//! for a basis of M columns (M ≈ 2–2.5k on kernel matrices), against ≈ 4/3n³ at a fraction of that
//! speed.

use super::{Cholesky, Eigen, full_eigen, par_product, par_product_by_rows};
use crate::error::LkdlError;
use crate::random::{Stage, stream};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj,
};
use faer::linalg::qr::no_pivoting::factor::{
    qr_in_place, qr_in_place_scratch, recommended_block_size,
};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Conj, Mat, MatRef, Par};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// Above these shares of n, k eigenpairs cost more by iteration than by the full solve: the first
/// for n below [`LARGE`], where the full solve is quick, the second from there on.
const ITERATIVE_MAX_SHARE: [f64; 2] = [0.1, 0.25];
const LARGE: usize = 1200;
/// Below this size the full solve is always the faster one.
const ITERATIVE_MIN_SIZE: usize = 384;
/// Stop when the trace still to be captured (bounded from above) falls below this share of the
/// trace beyond rank k.
const TRACE_TOLERANCE: f64 = 2e-3;
/// Beyond this share of n the basis has lost its point: solve fully.
const MAX_BASIS_SHARE: f64 = 0.7;
/// The basis is first looked at when it has this multiple of k columns, then after every second
/// block.
const FIRST_CHECK: f64 = 2.0;
/// Columns per block of the basis.
const MIN_BLOCK: usize = 16;
const MAX_BLOCK: usize = 128;
/// Rows per task when a tall block is orthonormalised.
const ROW_PANEL: usize = 512;

/// The `k` leading eigenpairs of A, by iteration where that pays and fully where not.
///
/// The iteration sees the largest eigenvalues only: for a kernel that may be indefinite call
/// [`full_eigen`], which shows the negative ones too.
pub(crate) fn leading_eigen(A: MatRef<'_, f64>, k: usize, seed: u64) -> Result<Eigen, LkdlError> {
    let n = A.nrows();
    if is_iterative(n, k)
        && let Some(pairs) = block_krylov(A, k, seed)?
    {
        return Ok(pairs);
    }
    let Eigen { mut values, vectors } = full_eigen(A)?;
    values.truncate(k);
    Ok(Eigen { values, vectors: vectors.subcols(0, k.min(n)).to_owned() })
}

/// Bytes that [`leading_eigen`] needs beside A.
pub(crate) fn eigen_bytes(n: usize, k: usize) -> u64 {
    let (n, k) = (n as u64, k as u64);
    if is_iterative(n as usize, k as usize) {
        // Q and two blocks of its width, T and the Ritz vectors, and the result
        let basis = 3 * k;
        return 8 * (n * basis + 3 * basis * basis + n * k);
    }
    8 * 3 * n * n
}

/// Whether k of n eigenpairs are found by iteration.
fn is_iterative(n: usize, k: usize) -> bool {
    let share = ITERATIVE_MAX_SHARE[usize::from(n >= LARGE)];
    n >= ITERATIVE_MIN_SIZE && k as f64 <= share * n as f64
}

/// The iteration; `None` if the basis would grow past [`MAX_BASIS_SHARE`].
fn block_krylov(A: MatRef<'_, f64>, k: usize, seed: u64) -> Result<Option<Eigen>, LkdlError> {
    let n = A.nrows();
    let b = (k / 4).clamp(MIN_BLOCK, MAX_BLOCK);
    let limit = (MAX_BASIS_SHARE * n as f64) as usize;
    let mut capacity = (2 * k + 2 * b).min(limit + b);
    let mut Q = Mat::<f64>::zeros(n, capacity);
    let mut T = Mat::<f64>::zeros(capacity, capacity);

    let mut rng = stream(seed, Stage::EigenStart, 0, 0);
    let start = Mat::from_fn(n, b, |_, _| StandardNormal.sample(&mut rng));
    Q.as_mut().subcols_mut(0, b).copy_from(orthonormalize(start));

    let trace: f64 = (0..n).map(|i| A[(i, i)]).sum();
    let (mut size, mut next_check) = (b, (FIRST_CHECK * k as f64) as usize);
    loop {
        // Y = A·Q_last; its coefficients on the basis are the new columns of T = QᵀAQ.
        let last = size - b;
        let mut Y = par_product_by_rows(A, Q.subcols(last, b));
        let basis = Q.subcols(0, size);
        let H = remove_components(basis, &mut Y);
        T.as_mut().submatrix_mut(0, last, size, b).copy_from(&H);
        if size >= next_check || size + b > limit {
            if let Some(ritz) = converged_ritz_pairs(T.submatrix(0, 0, size, size), b, k, trace)? {
                let vectors = par_product_by_rows(basis, ritz.vectors.subcols(0, k));
                return Ok(Some(Eigen { values: ritz.values[..k].to_vec(), vectors }));
            }
            next_check = size + 2 * b;
        }
        if size + b > limit {
            return Ok(None);
        }
        // Twice is enough: what rounding left of the basis in Y goes with the second pass.
        let mut fresh = orthonormalize(Y);
        remove_components(basis, &mut fresh);
        let fresh = orthonormalize(fresh);
        if size + b > capacity {
            capacity = (capacity + k).min(limit + b);
            Q.resize_with(n, capacity, |_, _| 0.0);
            T.resize_with(capacity, capacity, |_, _| 0.0);
        }
        Q.as_mut().subcols_mut(size, b).copy_from(fresh);
        size += b;
    }
}

/// Y −= Q(QᵀY); returns QᵀY.
fn remove_components(Q: MatRef<'_, f64>, Y: &mut Mat<f64>) -> Mat<f64> {
    let H = par_product_by_rows(Q.transpose(), Y.as_ref());
    super::par_product_by_rows_into(Y.as_mut(), Accum::Add, -1.0, Q, H.as_ref());
    H
}

/// The Ritz pairs, if the basis captures all but a negligible part of the leading trace. The gains
/// of successive blocks fall at least geometrically, so the last two bound what is to come.
fn converged_ritz_pairs(
    T: MatRef<'_, f64>,
    b: usize,
    k: usize,
    trace: f64,
) -> Result<Option<Eigen>, LkdlError> {
    let size = T.nrows();
    if size < k + 2 * b {
        return Ok(None);
    }
    // The eigen-solve reads the lower half; T was filled by columns of the upper.
    let ritz = full_eigen(T.transpose())?;
    let S = ritz.vectors.subcols(0, k);
    let (Some(gain), Some(two_gains)) = (gain_of_last(T, S, b), gain_of_last(T, S, 2 * b)) else {
        return Ok(None);
    };
    let ratio = (gain / (two_gains - gain).max(f64::MIN_POSITIVE)).clamp(0.0, 0.9);
    let captured: f64 = ritz.values.iter().take(k).sum();
    let tail = (trace - captured).max(size as f64 * f64::EPSILON * trace);
    Ok((gain * ratio / (1.0 - ratio) <= TRACE_TOLERANCE * tail).then_some(ritz))
}

/// At most this much of the captured trace came with the last `count` columns of the basis.
///
/// With T = [T₁₁ T₁₂; · T₂₂] and the Ritz vectors S = [U; V] cut alike, the span of U captures
/// tr((UᵀU)⁻¹UᵀT₁₁U) without those columns. TS = SΘ turns the difference to tr Θ into
/// tr((I − VᵀV)⁻¹UᵀT₁₂V), a few products. `None` if the last columns carry a Ritz vector alone.
fn gain_of_last(T: MatRef<'_, f64>, S: MatRef<'_, f64>, count: usize) -> Option<f64> {
    let (kept, k) = (T.nrows() - count, S.ncols());
    let (U, V) = (S.subrows(0, kept), S.subrows(kept, count));
    let mut UtU = par_product(V.transpose(), V);
    for j in 0..k {
        for i in 0..k {
            UtU[(i, j)] = f64::from(i == j) - UtU[(i, j)];
        }
    }
    let T12V = par_product(T.submatrix(0, kept, kept, count), V);
    let mut M = par_product(U.transpose(), T12V.as_ref());
    Cholesky::new(UtU.as_ref())?.solve(M.as_mut());
    Some((0..k).map(|j| M[(j, j)]).sum::<f64>().max(0.0))
}

/// An orthonormal basis of the columns of Y: Cholesky of the Gram matrix, at product speed, and
/// Householder QR where the columns depend on each other.
fn orthonormalize(mut Y: Mat<f64>) -> Mat<f64> {
    let G = par_product(Y.transpose(), Y.as_ref());
    let well_conditioned = |factor: &Cholesky| {
        let pivots = (0..G.ncols()).map(|j| factor.lower[(j, j)].powi(2) / G[(j, j)]);
        pivots.fold(f64::INFINITY, f64::min) > 1e-10
    };
    match Cholesky::new(G.as_ref()).filter(well_conditioned) {
        Some(factor) => {
            // Y ← YL⁻ᵀ, that is L·Yᵀ_new = Yᵀ.
            Y.par_row_chunks_mut(ROW_PANEL).for_each(|rows| {
                solve_lower_triangular_in_place(
                    factor.lower.as_ref(),
                    rows.transpose_mut(),
                    Par::Seq,
                );
            });
            Y
        }
        None => householder_basis(Y),
    }
}

/// An orthonormal basis that contains the span of Y's columns (thin Householder QR).
pub(crate) fn householder_basis(mut Y: Mat<f64>) -> Mat<f64> {
    let (n, b) = (Y.nrows(), Y.ncols());
    let block = recommended_block_size::<f64>(n, b);
    let mut factors = Mat::<f64>::zeros(block, b);
    let scratch = qr_in_place_scratch::<f64>(n, b, block, Par::Seq, Default::default());
    qr_in_place(
        Y.as_mut(),
        factors.as_mut(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    );
    let mut Q = Mat::<f64>::identity(n, b);
    let scratch = apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(n, block, b);
    apply_block_householder_sequence_on_the_left_in_place_with_conj(
        Y.as_ref(),
        factors.as_ref(),
        Conj::No,
        Q.as_mut(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
    );
    Q
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_matrix;

    /// A symmetric matrix with the given eigenvalues.
    fn with_spectrum(values: &[f64]) -> Mat<f64> {
        let n = values.len();
        let V = orthonormalize(random_matrix::<f64>(n, n, 8));
        let scaled = Mat::from_fn(n, n, |i, j| V[(i, j)] * values[j]);
        &scaled * V.transpose()
    }

    fn trace_error_ratio(values: &[f64], k: usize) -> f64 {
        let A = with_spectrum(values);
        let ritz = leading_eigen(A.as_ref(), k, 1).unwrap();
        let total: f64 = values.iter().sum();
        let exact: f64 = total - values[..k].iter().sum::<f64>();
        (total - ritz.values.iter().sum::<f64>()) / exact
    }

    #[test]
    fn captured_trace_is_that_of_the_exact_truncation() {
        let slow: Vec<f64> = (1..=600).map(|i| 1.0 / f64::from(i)).collect();
        let fast: Vec<f64> = (1..=600).map(|i| 1.0 / f64::from(i * i)).collect();
        let flat = vec![1.0; 600];
        for values in [&slow, &fast, &flat] {
            let ratio = trace_error_ratio(values, 60);
            assert!((1.0 - 1e-9..1.002).contains(&ratio), "{ratio}");
        }
    }

    #[test]
    fn vectors_are_orthonormal_even_when_the_rank_is_below_k() {
        let low_rank: Vec<f64> = (0..500).map(|i| if i < 7 { 2.0 } else { 0.0 }).collect();
        let A = with_spectrum(&low_rank);
        let Eigen { values, vectors } = leading_eigen(A.as_ref(), 40, 3).unwrap();
        let VtV = vectors.transpose() * &vectors;
        crate::testing::close(VtV.as_ref(), Mat::<f64>::identity(40, 40).as_ref(), 1e-10);
        assert!(values[..7].iter().all(|v| (v - 2.0).abs() < 1e-9));
        assert!(values[7..].iter().all(|v| v.abs() < 1e-9));
    }

    #[test]
    fn bits_do_not_depend_on_the_thread_count() {
        let values: Vec<f64> = (1..=500).map(|i| 1.0 / f64::from(i)).collect();
        let A = with_spectrum(&values);
        assert!(is_iterative(500, 40));
        crate::testing::same_for_any_thread_count(|| {
            let Eigen { values, vectors } = leading_eigen(A.as_ref(), 40, 3).unwrap();
            (crate::testing::bits(&vectors), values)
        });
    }
}
