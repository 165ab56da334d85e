//! Cholesky factors A = LLᵀ in `f64`, and the triangular solves that use them.

use crate::error::LkdlError;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{self, LltRegularization};
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

    /// B ← L⁻¹B.
    pub(crate) fn solve_lower(&self, B: MatMut<'_, f64>) {
        solve_lower_triangular_in_place(self.lower.as_ref(), B, Par::Seq);
    }

    /// B ← L⁻ᵀB.
    pub(crate) fn solve_lower_transpose(&self, B: MatMut<'_, f64>) {
        solve_upper_triangular_in_place(self.lower.transpose(), B, Par::Seq);
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
    fn singular_matrices_are_shifted_and_indefinite_or_nan_ones_refused() {
        let A = gram(random_matrix::<f64>(3, 8, 3).as_ref());
        assert!(Cholesky::new(A.as_ref()).is_none());
        let factor = cholesky_with_jitter(A.as_ref()).unwrap();
        close((&factor.lower * factor.lower.transpose()).as_ref(), A.as_ref(), 1e-10);
        let bad = Mat::from_fn(2, 2, |i, j| if i == j { -1.0 } else { f64::NAN });
        assert!(cholesky_with_jitter(bad.as_ref()).is_err());
    }
}
