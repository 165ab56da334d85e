//! Basis pursuit: of all codes that rebuild a signal, the one of least ℓ1 norm.
//!
//! ```math
//! \min_\gamma\|\gamma\|_1\quad\text{s.t.}\quad D\gamma=x
//! ```
//! Chen, Donoho & Saunders 1998. The limit of the [lasso](super::lasso) as λ → 0: its path is
//! followed to a λ that only rounding tells from 0, and the atoms in use there are refitted without
//! penalty. A signal outside the span of D has no such code; it gets the limit all the same, a least
//! squares fit, and its squared residual says so.
//!
//! **When to use it.** Where a sparse code must be exact; where signals carry noise, the lasso or OMP.
//!
//! **Cost.** D is k×m: km² once for G = DᵀD, 2km per signal, then m|A| + |A|² per bend of the path, of
//! which there are at least as many as atoms in use.
//!
//! ```
//! use faer::mat;
//! use lkdl::pursuit::BasisPursuitParams;
//!
//! // (1, 1) is the third atom, and also the first two together; the third alone is shorter.
//! let dictionary = mat![[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]];
//! let signal = mat![[1.0], [1.0]];
//! let codes = BasisPursuitParams::default().encode(dictionary.as_ref(), signal.as_ref())?;
//! assert_eq!(codes.encoded.codes.signal(0).0, [2]);
//! # Ok::<(), lkdl::LkdlError>(())
//! ```

use super::codes::{CodeBlock, Encoded};
use super::entry::{Norms, check_problem, exact_sq_residual};
use super::lasso::{Prepared, Problem, State, Stopping, max_abs, solve};
use crate::error::LkdlError;
use crate::linalg::{Cholesky, convert, gram, product_into};
use crate::matrix::{Columns, Contiguous, col, columns_of, map_blocks, subcols};
use crate::real::Real;
use faer::{Mat, MatRef};

/// Signals per task, as for the lasso.
const BLOCK: usize = 64;

/// The last λ, as a share of ‖Dᵀx‖∞: the path below it is a straight line but for events that
/// rounding decides.
const LAST_PENALTY: f64 = 1e-10;

/// The lasso's duality gap at the last λ, as a share of ½‖x‖²: that of an exact path.
const GAP: f64 = 1e-8;

/// Basis pursuit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BasisPursuitParams {
    /// Bends of the path at most, per signal.
    pub max_iters: usize,
    /// A signal counts as rebuilt if ‖x − Dγ‖ ≤ this share of ‖x‖.
    pub tolerance: f64,
}

impl Default for BasisPursuitParams {
    /// 10,000 bends, 1e-6.
    fn default() -> Self {
        Self { max_iters: 10_000, tolerance: 1e-6 }
    }
}

/// Codes of least ℓ1 norm, and how many of them do not rebuild their signal.
#[derive(Debug, Clone, PartialEq)]
pub struct BasisPursuitEncoded<T: Real> {
    /// Γ and the squared residuals.
    pub encoded: Encoded<T>,
    /// Signals outside the span of the dictionary, or cut short at `max_iters`.
    pub n_infeasible: usize,
}

impl BasisPursuitParams {
    /// Codes every column of `samples` over the columns of `dictionary`, which need not have unit
    /// norm; zero atoms are never used and a zero signal gets the empty code.
    ///
    /// Errors: empty, non-finite, mismatched or overflowing input; a tolerance that is not positive
    /// and finite; `max_iters` 0.
    pub fn encode<T: Real>(
        &self,
        dictionary: MatRef<'_, T>,
        samples: MatRef<'_, T>,
    ) -> Result<BasisPursuitEncoded<T>, LkdlError> {
        check_problem(dictionary, samples)?;
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(LkdlError::parameter("tolerance", self.tolerance, "finite and above 0"));
        }
        if self.max_iters == 0 {
            return Err(LkdlError::parameter("max_iters", 0, "at least 1"));
        }
        let (narrow_D, X) = (Contiguous::new(dictionary), Contiguous::new(samples));
        let sq_signals = Norms::new(narrow_D.columns(), X.columns())?.sq_signals;
        let D = convert::<T, f64>(dictionary);
        let G = gram(D.as_ref());
        let blocks = map_blocks(samples.ncols(), BLOCK, |range| {
            let rho0 = &sq_signals[range.clone()];
            self.encode_block(&D, &G, subcols(X.columns(), range), rho0)
        });
        let encoded = Encoded::join(D.ncols(), blocks);
        let left = |(rho, rho0): (&f64, &f64)| *rho > self.tolerance * self.tolerance * rho0;
        let residuals = encoded.sq_residuals.iter().zip(&sq_signals);
        let n_infeasible = residuals.filter(|pair| left(*pair)).count();
        Ok(BasisPursuitEncoded { encoded, n_infeasible })
    }

    fn encode_block<T: Real>(
        &self,
        D: &Mat<f64>,
        G: &Mat<f64>,
        X: Columns<'_, T>,
        sq_signals: &[f64],
    ) -> CodeBlock<T> {
        let X = convert::<T, f64>(X.as_dyn_stride());
        let mut alpha0 = Mat::zeros(D.ncols(), X.ncols());
        product_into(alpha0.as_mut(), D.transpose(), X.as_ref());
        let stopping = Stopping { tolerance: GAP, max_iters: self.max_iters };
        let (mut state, mut scratch) = (State::default(), Vec::new());
        let mut block = CodeBlock::default();
        for (i, &rho0) in sq_signals.iter().enumerate() {
            let alpha0 = alpha0.col_as_slice(i);
            let lambda = LAST_PENALTY * max_abs(alpha0);
            let problem = Problem { G: columns_of(G), alpha0, rho0, lambda };
            solve(&problem, Prepared::Lars, stopping, &mut state);
            remove_penalty(&problem, &mut state.gamma);
            let used = state.gamma.iter().enumerate().filter(|entry| *entry.1 != 0.0);
            let mut entries: Vec<(u32, T)> =
                used.map(|(j, &value)| (j as u32, T::of(value))).collect();
            let rounded = entries.iter().map(|&(j, value)| (j as usize, value.wide()));
            let x = col(columns_of(&X), i);
            let rho = exact_sq_residual(columns_of(D), x, rounded, &mut scratch);
            block.push(&mut entries, rho);
        }
        block
    }
}

/// γ_S = G_SS⁻¹α0_S on the atoms S in use: the rest of the path to λ = 0. Where the atoms depend on
/// each other or a sign would turn, the code stays as it is: λ has no visible share in it.
fn remove_penalty(problem: &Problem<'_>, gamma: &mut [f64]) {
    let support: Vec<usize> = (0..gamma.len()).filter(|&j| gamma[j] != 0.0).collect();
    let s = support.len();
    let G = Mat::from_fn(s, s, |a, b| problem.G[(support[a], support[b])]);
    let Some(factor) = Cholesky::new(G.as_ref()) else { return };
    let mut fresh = Mat::from_fn(s, 1, |a, _| problem.alpha0[support[a]]);
    factor.solve(fresh.as_mut());
    let keeps_signs = support.iter().enumerate().all(|(a, &j)| fresh[(a, 0)] * gamma[j] > 0.0);
    if keeps_signs {
        for (a, &j) in support.iter().enumerate() {
            gamma[j] = fresh[(a, 0)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random_matrix, random_unit_columns, same_for_any_thread_count};

    fn encode<T: Real>(D: &Mat<T>, X: &Mat<T>) -> BasisPursuitEncoded<T> {
        BasisPursuitParams::default().encode(D.as_ref(), X.as_ref()).unwrap()
    }

    /// k-dimensional signals, each of q of m atoms.
    fn planted(k: usize, m: usize, q: usize, n: usize) -> (Mat<f64>, Mat<f64>) {
        let (D, weights) = (random_unit_columns::<f64>(k, m, 1), random_matrix::<f64>(q, n, 2));
        let mut Gamma = Mat::zeros(m, n);
        for i in 0..n {
            for t in 0..q {
                // steps of a number coprime to m: q different atoms
                Gamma[((7 * i + 13 * t + 1) % m, i)] = 1.0 + weights[(t, i)].abs();
            }
        }
        (D, Gamma)
    }

    #[test]
    fn planted_sparse_codes_are_recovered() {
        // 40 equations, 4 of 80 atoms: well inside what least ℓ1 norm recovers.
        let (D, Gamma) = planted(40, 80, 4, 50);
        let X = &D * &Gamma;
        let found = encode(&D, &X);
        assert_eq!(found.n_infeasible, 0);
        crate::testing::close(found.encoded.codes.to_dense().as_ref(), Gamma.as_ref(), 1e-8);
    }

    #[test]
    fn the_code_is_exact_and_a_dual_vector_proves_that_none_is_shorter() {
        // Dense signals: no code is sparse, but one is shortest. It rebuilds x with k atoms or
        // fewer, and θ with Dᵀθ = sign(γ) on its atoms and |Dᵀθ| ≤ 1 elsewhere has θᵀx = ‖γ‖₁.
        let (D, X) = (random_unit_columns::<f64>(10, 30, 3), random_matrix::<f64>(10, 40, 4));
        let found = encode(&D, &X);
        assert_eq!(found.n_infeasible, 0);
        for i in 0..40 {
            let (atoms, values) = found.encoded.codes.signal(i);
            assert_eq!(atoms.len(), 10, "signal {i}");
            let chosen = Mat::from_fn(10, 10, |r, t| D[(r, atoms[t] as usize)]);
            let signs = Mat::from_fn(10, 1, |t, _| values[t].signum());
            // θ = D_S(D_SᵀD_S)⁻¹ signs
            let factor = Cholesky::new((chosen.transpose() * &chosen).as_ref()).unwrap();
            let mut inner = signs.clone();
            factor.solve(inner.as_mut());
            let theta = &chosen * &inner;
            let bound = (D.transpose() * &theta).norm_max();
            assert!(bound <= 1.0 + 1e-6, "signal {i}: {bound}");
            let l1: f64 = values.iter().map(|v| v.abs()).sum();
            let dual = theta.col(0).transpose() * X.col(i);
            assert!((dual - l1).abs() < 1e-6 * l1, "signal {i}: {dual} {l1}");
        }
    }

    #[test]
    fn single_precision_finds_the_same_atoms() {
        let (D, Gamma) = planted(40, 80, 3, 20);
        let X = &D * &Gamma;
        let (D, X) = (convert::<f64, f32>(D.as_ref()), convert::<f64, f32>(X.as_ref()));
        let found = encode(&D, &X);
        for i in 0..20 {
            let (atoms, values) = found.encoded.codes.signal(i);
            for j in 0..80 {
                let at = atoms.iter().position(|&a| a as usize == j);
                let value = at.map_or(0.0, |t| f64::from(values[t]));
                assert!((value - Gamma[(j, i)]).abs() < 1e-4, "signal {i}, atom {j}");
            }
        }
    }

    #[test]
    fn what_the_atoms_cannot_rebuild_is_counted_and_zeros_are_empty() {
        let D = Mat::from_fn(3, 2, |i, j| f64::from(i == j));
        let X = Mat::from_fn(3, 3, |i, j| [[1.0, 2.0, 0.0], [1.0, 0.0, 1.0], [0.0; 3]][j][i]);
        let found = encode(&D, &X);
        assert_eq!(found.n_infeasible, 1);
        assert!((found.encoded.sq_residuals[1] - 1.0).abs() < 1e-12);
        assert!(found.encoded.codes.signal(2).0.is_empty());
    }

    #[test]
    fn bad_parameters_are_refused() {
        let D = random_unit_columns::<f64>(5, 4, 1);
        let default = BasisPursuitParams::default();
        let bad = [
            BasisPursuitParams { max_iters: 0, ..default },
            BasisPursuitParams { tolerance: 0.0, ..default },
            BasisPursuitParams { tolerance: f64::NAN, ..default },
        ];
        for params in bad {
            let error = params.encode(D.as_ref(), D.as_ref()).unwrap_err();
            assert!(matches!(error, LkdlError::Parameter { .. }), "{error}");
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        fn check<T: Real>() {
            let (D, X) = (random_unit_columns::<T>(12, 30, 1), random_matrix::<T>(12, 300, 2));
            same_for_any_thread_count(|| encode(&D, &X));
        }
        check::<f64>();
        check::<f32>();
    }
}
