//! The full symmetric eigen-decomposition A = VΣVᵀ in `f64`, eigenvalues descending.

use crate::error::LkdlError;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, MatRef, Par};

/// Eigenpairs of a symmetric matrix.
#[derive(Debug, Clone)]
pub(crate) struct Eigen {
    /// Descending.
    pub(crate) values: Vec<f64>,
    /// One eigenvector per column, in the order of the values.
    pub(crate) vectors: Mat<f64>,
}

/// All eigenpairs of a symmetric matrix (lower half read).
pub(crate) fn full_eigen(A: MatRef<'_, f64>) -> Result<Eigen, LkdlError> {
    let n = A.nrows();
    let mut ascending = faer::diag::Diag::<f64>::zeros(n);
    let mut vectors = Mat::<f64>::zeros(n, n);
    let scratch =
        self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    self_adjoint_evd(
        A,
        ascending.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|_| failed())?;
    let values = finite_descending(&ascending)?;
    let vectors = Mat::from_fn(n, n, |i, j| vectors[(i, n - 1 - j)]);
    Ok(Eigen { values, vectors })
}

/// faer answers NaN input with NaN output, not with an error.
fn finite_descending(ascending: &faer::diag::Diag<f64>) -> Result<Vec<f64>, LkdlError> {
    let values: Vec<f64> = ascending.column_vector().iter().rev().copied().collect();
    if values.iter().all(|v| v.is_finite()) { Ok(values) } else { Err(failed()) }
}

fn failed() -> LkdlError {
    LkdlError::NoConvergence { what: "symmetric eigen-decomposition" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::gram;
    use crate::testing::{close, random_matrix};

    #[test]
    fn eigenpairs_rebuild_the_matrix_in_descending_order() {
        let A = gram(random_matrix::<f64>(9, 14, 5).as_ref());
        let Eigen { values, vectors } = full_eigen(A.as_ref()).unwrap();
        assert!(values.windows(2).all(|w| w[0] >= w[1]));
        let scaled = Mat::from_fn(14, 14, |i, j| vectors[(i, j)] * values[j]);
        close((&scaled * vectors.transpose()).as_ref(), A.as_ref(), 1e-12);
    }

    #[test]
    fn nan_is_an_error() {
        let A = Mat::from_fn(3, 3, |_, _| f64::NAN);
        assert!(full_eigen(A.as_ref()).is_err());
    }
}
