//! Cholesky factors A = LLᵀ in `f64`, and the triangular solves that use them.

use crate::error::LkdlError;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{self, LltRegularization};
use faer::linalg::cholesky::llt_pivoting;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Mat, MatMut, MatRef, Par};

/// First diagonal shift tried on a singular matrix, as a multiple of ε·tr(A).
const FIRST_JITTER: f64 = 10.0;
/// Growth of the shift after each failure; 14 tries reach beyond tr(A)·1e-1.
const JITTER_GROWTH: f64 = 10.0;
const JITTER_TRIES: usize = 14;

/// The lower factor of A = LLᵀ.
#[derive(Debug, Clone)]
pub(crate) struct Cholesky {
    /// L; the upper half is zero.
    pub(crate) lower: Mat<f64>,
}

impl Cholesky {
    /// Factors a symmetric positive definite matrix (lower half read); `None` if it is not one.
    pub(crate) fn new(A: MatRef<'_, f64>) -> Option<Self> {
        let n = A.nrows();
        let mut lower = A.to_owned();
        let scratch = factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default());
        let done = factor::cholesky_in_place(
            lower.as_mut(),
            LltRegularization::default(),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
            Default::default(),
        );
        done.ok()?;
        for j in 0..n {
            lower.col_as_slice_mut(j)[..j].fill(0.0);
        }
        Some(Self { lower })
    }

    /// Factors the part of a positive semi-definite matrix whose pivots, each the largest that is left,
    /// exceed `floor`: its rows and columns, in the order of the pivots, and their factor; `None`
    /// if a diagonal entry is negative or no number.
    pub(crate) fn pivoted(A: MatRef<'_, f64>, floor: f64) -> Option<(Vec<usize>, Self)> {
        let n = A.nrows();
        let mut lower = A.to_owned();
        let (mut order, mut inverse) = (vec![0usize; n], vec![0usize; n]);
        let scratch = llt_pivoting::factor::cholesky_in_place_scratch::<usize, f64>(
            n,
            Par::Seq,
            Default::default(),
        );
        let done = llt_pivoting::factor::cholesky_in_place(
            lower.as_mut(),
            &mut order,
            &mut inverse,
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
            Default::default(),
        );
        let (info, _) = done.ok()?;
        let rank = (0..info.rank).take_while(|&j| lower[(j, j)].powi(2) > floor).count();
        order.truncate(rank);
        let lower = Mat::from_fn(rank, rank, |i, j| if i >= j { lower[(i, j)] } else { 0.0 });
        Some((order, Self { lower }))
    }

    /// B ← L⁻¹B.
    pub(crate) fn solve_lower(&self, B: MatMut<'_, f64>) {
        solve_lower_triangular_in_place(self.lower.as_ref(), B, Par::Seq);
    }

    /// B ← L⁻ᵀB.
    pub(crate) fn solve_lower_transpose(&self, B: MatMut<'_, f64>) {
        solve_upper_triangular_in_place(self.lower.transpose(), B, Par::Seq);
    }

    /// L⁻ᵀ.
    pub(crate) fn inverse_transpose(&self) -> Mat<f64> {
        let mut inverse = Mat::identity(self.lower.nrows(), self.lower.nrows());
        self.solve_lower_transpose(inverse.as_mut());
        inverse
    }

    /// B ← A⁻¹B.
    pub(crate) fn solve(&self, mut B: MatMut<'_, f64>) {
        self.solve_lower(B.as_mut());
        self.solve_lower_transpose(B);
    }
}

/// Factors A, adding 10·ε·tr(A) to the diagonal and ten times more after each failure.
pub(crate) fn cholesky_with_jitter(A: MatRef<'_, f64>) -> Result<Cholesky, LkdlError> {
    if let Some(factor) = Cholesky::new(A) {
        return Ok(factor);
    }
    let trace: f64 = (0..A.nrows()).map(|i| A[(i, i)].abs()).sum();
    let mut jitter = FIRST_JITTER * f64::EPSILON * trace;
    for _ in 0..JITTER_TRIES {
        let mut shifted = A.to_owned();
        for i in 0..A.nrows() {
            shifted[(i, i)] += jitter;
        }
        if let Some(factor) = Cholesky::new(shifted.as_ref()) {
            return Ok(factor);
        }
        jitter *= JITTER_GROWTH;
    }
    Err(LkdlError::NoConvergence { what: "Cholesky factorisation" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::gram;
    use crate::testing::{close, random_matrix};

    #[test]
    fn factor_and_solves_invert_the_matrix() {
        let A = gram(random_matrix::<f64>(20, 12, 3).as_ref());
        let factor = Cholesky::new(A.as_ref()).unwrap();
        close((&factor.lower * factor.lower.transpose()).as_ref(), A.as_ref(), 1e-13);
        let mut B = A.clone();
        factor.solve(B.as_mut());
        close(B.as_ref(), Mat::<f64>::identity(12, 12).as_ref(), 1e-10);
    }

    #[test]
    fn pivots_leave_out_what_depends_on_others() {
        let X = random_matrix::<f64>(5, 9, 3);
        let A = gram(X.as_ref());
        let (order, factor) = Cholesky::pivoted(A.as_ref(), 1e-10).unwrap();
        assert_eq!(order.len(), 5);
        let part = Mat::from_fn(5, 5, |i, j| A[(order[i], order[j])]);
        close((&factor.lower * factor.lower.transpose()).as_ref(), part.as_ref(), 1e-13);
        for j in 1..5 {
            assert!(factor.lower[(j, j)] <= factor.lower[(j - 1, j - 1)]);
        }
        let (few, _) = Cholesky::pivoted(A.as_ref(), factor.lower[(2, 2)].powi(2)).unwrap();
        assert_eq!(few, order[..2]);
        let nothing = Cholesky::pivoted(Mat::zeros(3, 3).as_ref(), 0.0);
        assert!(nothing.is_none_or(|(which, _)| which.is_empty()));
    }

    #[test]
    fn singular_matrices_are_shifted_and_indefinite_or_nan_ones_refused() {
        let A = gram(random_matrix::<f64>(3, 8, 3).as_ref());
        assert!(Cholesky::new(A.as_ref()).is_none());
        let factor = cholesky_with_jitter(A.as_ref()).unwrap();
        close((&factor.lower * factor.lower.transpose()).as_ref(), A.as_ref(), 1e-10);
        let bad = Mat::from_fn(2, 2, |i, j| if i == j { -1.0 } else { f64::NAN });
        assert!(cholesky_with_jitter(bad.as_ref()).is_err());
    }
}
