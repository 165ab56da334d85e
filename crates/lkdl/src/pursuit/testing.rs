//! Naive references for the tests of the pursuits, in `f64` and by the textbook definitions.

use crate::linalg::{Cholesky, convert, full_eigen, gram};
use crate::pursuit::Codes;
use crate::real::Real;
use crate::testing::random_matrix;
use faer::{Mat, MatRef};

/// Below this share of ‖x‖ a residual is rounding: the reference stops.
const ROUNDING: f64 = 1e-7;
/// Scores this close (relative) are tied.
const TIE: f64 = 1e-14;

/// OMP by its definition: pick the atom most correlated with the residual (lowest index on ties,
/// correlations divided by atom norms), then solve the normal equations over all chosen atoms anew.
/// (atom, value) pairs in the order chosen.
pub(crate) fn naive_omp<T: Real>(D: MatRef<'_, T>, x: &[T], q: usize) -> Vec<(usize, f64)> {
    let D = convert::<T, f64>(D);
    let x = Mat::from_fn(x.len(), 1, |i, _| x[i].wide());
    let (mut chosen, mut values, mut residual) = (Vec::<usize>::new(), Vec::new(), x.clone());
    while chosen.len() < q && residual.norm_l2() > ROUNDING * x.norm_l2() {
        let alpha = D.transpose() * &residual;
        let mut best = (None, 0.0);
        for j in (0..D.ncols()).filter(|j| !chosen.contains(j)) {
            let norm = D.col(j).norm_l2();
            let score = if norm > 0.0 { alpha[(j, 0)].abs() / norm } else { 0.0 };
            if score > best.1 * (1.0 + TIE) {
                best = (Some(j), score);
            }
        }
        let Some(j) = best.0 else { break };
        chosen.push(j);
        let D_chosen = Mat::from_fn(D.nrows(), chosen.len(), |i, t| D[(i, chosen[t])]);
        let Some(factor) = Cholesky::new((D_chosen.transpose() * &D_chosen).as_ref()) else {
            chosen.pop();
            break;
        };
        let mut gamma = D_chosen.transpose() * &x;
        factor.solve(gamma.as_mut());
        residual = &x - &D_chosen * &gamma;
        values = (0..chosen.len()).map(|t| gamma[(t, 0)]).collect();
    }
    chosen.into_iter().zip(values).collect()
}

/// x_i − Dγ_i of every signal, in `f64`.
pub(crate) fn residuals<T: Real>(D: MatRef<'_, T>, X: MatRef<'_, T>, codes: &Codes<T>) -> Mat<f64> {
    let Gamma = convert::<T, f64>(codes.to_dense().as_ref());
    convert::<T, f64>(X) - convert::<T, f64>(D) * Gamma
}

/// Asserts |d_jᵀ(x_i − Dγ_i)| ≤ tol·‖x_i‖·‖d_j‖ for every atom j in the code of signal i.
#[track_caller]
pub(crate) fn residual_is_orthogonal_to_chosen_atoms<T: Real>(
    D: MatRef<'_, T>,
    X: MatRef<'_, T>,
    codes: &Codes<T>,
    tol: f64,
) {
    let R = residuals(D, X, codes);
    let (D, X) = (convert::<T, f64>(D), convert::<T, f64>(X));
    for i in 0..X.ncols() {
        for &j in codes.signal(i).0 {
            let d = D.col(j as usize);
            let inner = (d.transpose() * R.col(i)).abs();
            let allowed = tol * X.col(i).norm_l2() * d.norm_l2();
            assert!(inner <= allowed, "signal {i}, atom {j}: {inner:e} > {allowed:e}");
        }
    }
}

/// The tolerance of orthogonality tests: 1e-10, in `f32` 1e-5.
pub(crate) fn orthogonality<T: Real>() -> f64 {
    if T::NAME == "f32" { 1e-5 } else { 1e-10 }
}

/// A random orthonormal basis.
pub(crate) fn orthonormal(n: usize, seed: u64) -> Mat<f64> {
    full_eigen(gram(random_matrix::<f64>(n, n, seed).as_ref()).as_ref()).unwrap().vectors
}

/// [I, Hadamard/√k], k a power of 2: coherence 1/√k.
pub(crate) fn spikes_and_waves<T: Real>(k: usize) -> Mat<T> {
    let wave = |i: usize, j: usize| [1.0, -1.0][(i & j).count_ones() as usize % 2];
    Mat::from_fn(k, 2 * k, |i, j| {
        T::of(if j < k { f64::from(i == j) } else { wave(i, j - k) / (k as f64).sqrt() })
    })
}
