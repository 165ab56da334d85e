//! What a Gram matrix K = φ(X)ᵀφ(X) must be before anything is learned from it: square, finite,
//! symmetric and positive semi-definite, each up to the rounding of whoever computed it.

use crate::error::LkdlError;
use crate::linalg::{Cholesky, convert};
use crate::matrix::{BLOCK, check_samples, check_size, map_blocks};
use crate::real::Real;
use faer::MatRef;

/// Two entries K_ij, K_ji may differ by √ε of the largest: other programs compute the halves apart.
fn symmetry_slack<T: Real>() -> f64 {
    T::EPS.sqrt()
}

/// |K_ij| may exceed √(K_ii K_jj) by this many √ε·max K_ii: products of thousands of features
/// round by far less, an indefinite kernel overshoots by far more.
const MINOR_SLACK: f64 = 1.0;

/// Eigenvalues down to −30√n·ε·max K_ii are the spread of n×n rounding noise.
const EIGENVALUE_SLACK: f64 = 30.0;

/// Rejects a matrix that is empty, not square, not finite, not symmetric, or that two samples show
/// to be indefinite (K_ii < 0, K_ij² > K_ii K_jj). O(n²), and part of every learner's own checks.
pub(crate) fn check_entries<T: Real>(K: MatRef<'_, T>) -> Result<(), LkdlError> {
    check_samples(K, "Gram matrix")?;
    check_size("Gram matrix's rows (it must be square)", K.nrows(), K.ncols())?;
    let n = K.ncols();
    let diag: Vec<f64> = (0..n).map(|i| K[(i, i)].wide()).collect();
    let peak = diag.iter().fold(0.0, |peak: f64, v| peak.max(v.abs()));
    if let Some(i) = diag.iter().position(|&v| v < -symmetry_slack::<T>() * peak) {
        return Err(not_gram(format!(
            "entry ({i}, {i}) is {:e}, and no sample has a negative inner product with itself",
            diag[i]
        )));
    }
    let slack = symmetry_slack::<T>() * peak;
    let faults = map_blocks(n, BLOCK, |range| {
        range.into_iter().find_map(|j| (0..j).find_map(|i| fault(K, &diag, slack, i, j)))
    });
    faults.into_iter().flatten().next().map_or(Ok(()), Err)
}

/// What is wrong with one pair of samples.
fn fault<T: Real>(
    K: MatRef<'_, T>,
    diag: &[f64],
    slack: f64,
    i: usize,
    j: usize,
) -> Option<LkdlError> {
    let (upper, lower) = (K[(i, j)].wide(), K[(j, i)].wide());
    let bound = (diag[i].max(0.0) * diag[j].max(0.0)).sqrt();
    if (upper - lower).abs() > slack.max(symmetry_slack::<T>() * upper.abs()) {
        return Some(not_gram(format!(
            "entry ({i}, {j}) is {upper:e} but entry ({j}, {i}) is {lower:e}; pass K with \
             K[i][j] = K[j][i]"
        )));
    }
    if upper.abs() > bound + MINOR_SLACK * slack {
        return Some(not_gram(format!(
            "entry ({i}, {j}) is {upper:e}, beyond sqrt(K_ii K_jj) = {bound:e}; choose a positive \
             semi-definite kernel"
        )));
    }
    None
}

/// Rejects what is not a Gram matrix: `NaN`, wrong shape, asymmetry, negative eigenvalues.
///
/// Positive semi-definite means here that K + τI has a Cholesky factor, τ = 30√n·ε·max K_ii (ε of
/// the type in which K was computed): n³/3 flops, about as many as one iteration of learning.
pub fn check_gram<T: Real>(gram: MatRef<'_, T>) -> Result<(), LkdlError> {
    check_entries(gram)?;
    let n = gram.ncols();
    let mut shifted = convert::<T, f64>(gram);
    let peak = (0..n).map(|i| shifted[(i, i)]).fold(0.0, f64::max);
    let tau = EIGENVALUE_SLACK * (n as f64).sqrt() * T::EPS * peak;
    if peak == 0.0 {
        return Ok(()); // all zero: the bounds above leave nothing else
    }
    for i in 0..n {
        shifted[(i, i)] += tau;
    }
    match Cholesky::new(shifted.as_ref()) {
        Some(_) => Ok(()),
        None => Err(not_gram(format!(
            "an eigenvalue is below -{tau:.1e}, beyond rounding; choose a positive semi-definite \
             kernel"
        ))),
    }
}

fn not_gram(problem: String) -> LkdlError {
    LkdlError::NotGram { what: "Gram matrix", problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::gram;
    use crate::testing::random_matrix;
    use faer::Mat;

    fn inner_products_pass<T: Real>() {
        // Rank 3 of 40, repeated and zero samples: eigenvalues at and below zero by rounding.
        let mut X = random_matrix::<T>(3, 40, 1);
        X.col_as_slice_mut(7).fill(T::of(0.0));
        let copy = X.col_as_slice(1).to_vec();
        X.col_as_slice_mut(20).copy_from_slice(&copy);
        assert_eq!(check_gram(gram(X.as_ref()).as_ref()), Ok(()));
        assert_eq!(check_gram(Mat::<T>::zeros(4, 4).as_ref()), Ok(()));
    }

    #[test]
    fn gram_matrices_pass_whatever_their_rank() {
        inner_products_pass::<f64>();
        inner_products_pass::<f32>();
    }

    #[test]
    fn every_fault_is_named() {
        let K = gram(random_matrix::<f64>(6, 5, 2).as_ref());
        let text = |K: &Mat<f64>| check_gram(K.as_ref()).unwrap_err().to_string();
        assert!(text(&Mat::zeros(0, 0)).contains("empty"));
        let wide = K.subrows(0, 4).to_owned();
        assert!(matches!(check_gram(wide.as_ref()), Err(LkdlError::Shape { .. })));
        let with = |i: usize, j: usize, value: f64| {
            let mut K = K.clone();
            K[(i, j)] = value;
            K
        };
        assert!(matches!(
            check_gram(with(1, 2, f64::NAN).as_ref()),
            Err(LkdlError::NonFinite { row: 1, col: 2, .. })
        ));
        assert!(text(&with(1, 2, 0.25)).contains("entry (1, 2)"));
        assert!(text(&with(3, 3, -1.0)).contains("entry (3, 3) is -1e0"));
        let mut beyond = with(0, 4, 100.0);
        beyond[(4, 0)] = 100.0;
        assert!(text(&beyond).contains("beyond sqrt"));
        // Every pair is possible, the three together are not: eigenvalue 1 − 2·0.9.
        let apart = Mat::from_fn(3, 3, |i, j| if i == j { 1.0 } else { -0.9 });
        assert!(check_entries(apart.as_ref()).is_ok());
        assert!(text(&apart).contains("eigenvalue"));
    }
}
