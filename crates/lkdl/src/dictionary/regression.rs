//! Least squares over sparse codes: the matrix M that turns codes into targets, Y ≈ MΓ.
//!
//! ```math
//! M=Y\Gamma^T(\Gamma\Gamma^T+\lambda I)^{-1}
//! ```
//!
//! With samples as targets this is MOD's update, with labels a linear classifier of codes. The two
//! sums are MOD's; the solve costs m³/3 + 2km² flops for k rows of Y. All in `f64`.

use super::optimal_directions::{code_products, sample_products};
use crate::error::LkdlError;
use crate::linalg::cholesky_with_jitter;
use crate::matrix::Columns;
use crate::pursuit::Codes;
use crate::real::Real;
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Right-hand sides per task.
const PANEL: usize = 64;

/// M = YΓᵀ(ΓΓᵀ + λI)⁻¹ for λ > 0.
pub(crate) fn ridge_regression<T: Real>(
    Y: Columns<'_, T>,
    codes: &Codes<T>,
    ridge: f64,
) -> Result<Mat<f64>, LkdlError> {
    let (mut A, B) = (code_products(codes), sample_products(Y, codes));
    for j in 0..A.ncols() {
        A[(j, j)] += ridge;
    }
    divide(A.as_ref(), B.as_ref())
}

/// BA⁻¹ for a symmetric positive definite A.
pub(super) fn divide(A: MatRef<'_, f64>, B: MatRef<'_, f64>) -> Result<Mat<f64>, LkdlError> {
    let factor = cholesky_with_jitter(A)?;
    let mut transposed = B.transpose().to_owned();
    transposed.as_mut().par_col_chunks_mut(PANEL).for_each(|panel| factor.solve(panel));
    Ok(transposed.transpose().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::columns_of;
    use crate::pursuit::{BatchOmp, Target};
    use crate::testing::{close, random_matrix, random_unit_columns, tolerance};

    /// (Y − MΓ)Γᵀ = λM: the gradient of ‖Y − MΓ‖² + λ‖M‖² vanishes.
    fn gradient_vanishes<T: Real>() {
        let (D, X) = (random_unit_columns::<T>(9, 14, 1), random_matrix::<T>(9, 40, 2));
        let coder = BatchOmp::new(D.as_ref()).unwrap();
        let codes = coder.encode(X.as_ref(), Target::Sparsity(3)).unwrap().codes;
        let Y = random_matrix::<T>(5, 40, 3);
        let M = ridge_regression(columns_of(&Y), &codes, 0.7).unwrap();
        let wide = |A: &Mat<T>| Mat::from_fn(A.nrows(), A.ncols(), |i, j| A[(i, j)].wide());
        let Gamma = wide(&codes.to_dense());
        let gradient = (wide(&Y) - &M * &Gamma) * Gamma.transpose();
        let pull = Mat::from_fn(5, 14, |i, j| 0.7 * M[(i, j)]);
        close(gradient.as_ref(), pull.as_ref(), tolerance::<f64>(40));
    }

    #[test]
    fn the_gradient_of_the_ridge_problem_vanishes() {
        gradient_vanishes::<f64>();
        gradient_vanishes::<f32>();
    }
}
