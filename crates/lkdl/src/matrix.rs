//! Views of samples: contiguous columns, entry checks, and blocks of fixed size.

use crate::error::LkdlError;
use crate::real::Real;
use crate::vector;
use faer::{ContiguousFwd, Mat, MatRef};
use rayon::prelude::*;
use std::ops::Range;

/// A matrix whose columns are contiguous: one sample, one slice.
pub(crate) type Columns<'a, T> = MatRef<'a, T, usize, usize, ContiguousFwd>;

/// Samples per block of a parallel pass. Fixed, so that sums over blocks have one order.
pub(crate) const BLOCK: usize = 256;

/// Samples with contiguous columns: the caller's own memory where it is laid out so (a NumPy
/// C-order `(N, p)` array is), a copy otherwise.
pub(crate) enum Contiguous<'a, T: Real> {
    Borrowed(Columns<'a, T>),
    Copied(Mat<T>),
}

impl<'a, T: Real> Contiguous<'a, T> {
    /// Borrows if it can, copies if it must.
    pub(crate) fn new(X: MatRef<'a, T>) -> Self {
        match X.try_as_col_major() {
            Some(columns) => Self::Borrowed(columns),
            None => Self::Copied(X.to_owned()),
        }
    }

    /// The columns.
    pub(crate) fn columns(&self) -> Columns<'_, T> {
        match self {
            Self::Borrowed(columns) => *columns,
            Self::Copied(owned) => columns_of(owned),
        }
    }
}

/// The columns of an owned matrix, which are always contiguous.
pub(crate) fn columns_of<T: Real>(X: &Mat<T>) -> Columns<'_, T> {
    match X.try_as_col_major() {
        Some(columns) => columns,
        None => unreachable!("owned matrices are column-major"),
    }
}

/// Column `i` as a slice.
#[inline(always)]
pub(crate) fn col<'a, T>(X: Columns<'a, T>, i: usize) -> &'a [T] {
    X.col(i).as_slice()
}

/// The columns `range` of X.
pub(crate) fn subcols<'a, T>(X: Columns<'a, T>, range: Range<usize>) -> Columns<'a, T> {
    X.subcols(range.start, range.len())
}

/// The columns named by `indices`, copied side by side.
pub(crate) fn gather<T: Real>(X: Columns<'_, T>, indices: &[usize]) -> Mat<T> {
    let mut out = Mat::zeros(X.nrows(), indices.len());
    for (j, &i) in indices.iter().enumerate() {
        out.col_as_slice_mut(j).copy_from_slice(col(X, i));
    }
    out
}

/// out += Σ (weight)·(column of X), four columns to a pass over `out`.
pub(crate) fn add_columns<T: Real>(out: &mut [T], X: Columns<'_, T>, terms: &[(usize, T)]) {
    let (fours, rest) = terms.as_chunks::<4>();
    for four in fours {
        let weights = four.map(|(_, weight)| weight);
        vector::add_four(out, weights, four.map(|(i, _)| col(X, i)));
    }
    for &(i, weight) in rest {
        vector::axpy(out, weight, col(X, i));
    }
}

/// Rejects an empty matrix and the first NaN or infinity.
pub(crate) fn check_samples<T: Real>(
    X: MatRef<'_, T>,
    what: &'static str,
) -> Result<(), LkdlError> {
    if X.nrows() == 0 || X.ncols() == 0 {
        return Err(LkdlError::Empty { what, rows: X.nrows(), cols: X.ncols() });
    }
    let bad = map_blocks(X.ncols(), BLOCK, |range| {
        range.into_iter().find_map(|i| {
            let x = X.col(i);
            if x.try_as_col_major().is_some_and(|x| vector::all_finite(x.as_slice())) {
                return None;
            }
            x.iter().position(|v| !v.is_finite()).map(|row| (row, i))
        })
    });
    match bad.into_iter().flatten().next() {
        Some((row, col)) => {
            Err(LkdlError::NonFinite { what, row, col, value: X[(row, col)].wide() })
        }
        None => Ok(()),
    }
}

/// Rejects a size that is not the expected one.
pub(crate) fn check_size(what: &'static str, got: usize, expected: usize) -> Result<(), LkdlError> {
    if got == expected { Ok(()) } else { Err(LkdlError::Shape { what, expected, got }) }
}

/// Where byte counts saturate: beyond any machine's memory, and low enough that sums and small
/// multiples of counts cannot overflow.
const BYTES_CEILING: u64 = 1 << 52;

/// Bytes of a rows×cols matrix of `T`.
pub(crate) fn matrix_bytes<T>(rows: usize, cols: usize) -> u64 {
    let entries = (rows as u64).saturating_mul(cols as u64);
    entries.saturating_mul(size_of::<T>() as u64).min(BYTES_CEILING)
}

/// Rejects a need that no address space holds, before an allocation would abort the process.
pub(crate) fn check_addressable(stage: &'static str, need: u64) -> Result<(), LkdlError> {
    let budget = 1 << 46;
    if need <= budget { Ok(()) } else { Err(LkdlError::Memory { stage, need, budget }) }
}

/// ‖x_i‖² of every column, in `f64`.
pub(crate) fn column_sq_norms<T: Real>(X: Columns<'_, T>) -> Vec<f64> {
    (0..X.ncols()).into_par_iter().map(|i| vector::norm_sq(col(X, i))).collect()
}

/// ‖X‖_F², summed in column order.
pub(crate) fn frobenius_sq<T: Real>(X: Columns<'_, T>) -> f64 {
    column_sq_norms(X).iter().sum()
}

/// Cuts `0..n` into blocks of `block`, runs `f` on each in parallel, returns results in order.
pub(crate) fn map_blocks<R: Send>(
    n: usize,
    block: usize,
    f: impl Fn(Range<usize>) -> R + Sync,
) -> Vec<R> {
    map_blocks_with(n, block, || (), |(), range| f(range))
}

/// [`map_blocks`] with scratch memory that a task hands on from block to block. `f` must not let
/// a result depend on what it finds there.
pub(crate) fn map_blocks_with<R: Send, W>(
    n: usize,
    block: usize,
    scratch: impl Fn() -> W + Sync + Send,
    f: impl Fn(&mut W, Range<usize>) -> R + Sync,
) -> Vec<R> {
    let starts: Vec<usize> = (0..n).step_by(block.max(1)).collect();
    starts
        .into_par_iter()
        .map_init(scratch, |scratch, start| f(scratch, start..n.min(start + block)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_major_input_is_copied_and_column_major_is_not() {
        let X = Mat::from_fn(3, 4, |i, j| (10 * i + j) as f64);
        assert!(matches!(Contiguous::new(X.as_ref()), Contiguous::Borrowed(_)));
        let copied = Contiguous::new(X.transpose());
        assert!(matches!(copied, Contiguous::Copied(_)));
        assert_eq!(col(copied.columns(), 1), &[10.0, 11.0, 12.0, 13.0]);
    }

    #[test]
    fn weighted_columns_add_up() {
        let X = Mat::from_fn(37, 9, |i, j| ((i * 9 + j) as f64 * 0.37).sin());
        for count in 0..9 {
            let terms: Vec<(usize, f64)> = (0..count).map(|t| (8 - t, t as f64 - 2.5)).collect();
            let mut out = vec![1.0; 37];
            add_columns(&mut out, columns_of(&X), &terms);
            for (i, v) in out.iter().enumerate() {
                let naive: f64 = terms.iter().map(|&(j, w)| w * X[(i, j)]).sum();
                assert!((v - 1.0 - naive).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn the_first_bad_value_is_named() {
        let mut X = Mat::<f32>::zeros(3, 600);
        assert_eq!(check_samples(X.as_ref(), "samples"), Ok(()));
        X[(2, 511)] = f32::NAN;
        X[(1, 300)] = f32::INFINITY;
        let expected =
            LkdlError::NonFinite { what: "samples", row: 1, col: 300, value: f64::INFINITY };
        assert_eq!(check_samples(X.as_ref(), "samples"), Err(expected));
        let empty = Mat::<f32>::zeros(3, 0);
        assert!(matches!(check_samples(empty.as_ref(), "x"), Err(LkdlError::Empty { .. })));
    }

    #[test]
    fn blocks_cover_every_index_once_and_in_order() {
        for (n, block) in [(0, 4), (1, 4), (8, 4), (9, 4)] {
            let seen: Vec<usize> =
                map_blocks(n, block, |r| r.collect::<Vec<_>>()).into_iter().flatten().collect();
            assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
    }
}
