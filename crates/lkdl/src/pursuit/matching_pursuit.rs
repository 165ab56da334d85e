//! Matching pursuit: the best atom takes its whole correlation, and may be chosen again.
//!
//! ```math
//! s=\arg\max_j\frac{|\alpha_j|}{\sqrt{G_{jj}}},\qquad \gamma_s\mathrel{+}=\frac{\alpha_s}{G_{ss}},
//! \qquad \alpha\mathrel{-}=\frac{\alpha_s}{G_{ss}}G_{:s},\qquad \rho\mathrel{-}=\frac{\alpha_s^2}{G_{ss}}
//! ```
//! with G = DᵀD, α = Dᵀr and ρ = ‖r‖² throughout: ‖x‖² is the energy of the steps plus ρ.
//!
//! **When to use it.** Where a step must cost as little as it can, or as the pursuit of
//! [kernel matching pursuit](super::EmpiricalMap::matching_pursuit). For the same number of atoms
//! [OMP](super::BatchOmp) leaves less of a signal.
//!
//! **Cost.** km² once for G, then 2km and 2m per step for every signal.
//!
//! ```
//! use faer::mat;
//! use lkdl::pursuit::MatchingPursuitParams;
//!
//! let dictionary = mat![[1.0, 0.6], [0.0, 0.8]];
//! let signal = mat![[3.0], [0.5]];
//! let params = MatchingPursuitParams { max_steps: 1, error_norm: 0.0 };
//! let encoded = params.encode(dictionary.as_ref(), signal.as_ref())?;
//! assert_eq!(encoded.codes.signal(0), (&[0][..], &[3.0][..]));
//! # Ok::<(), lkdl::LkdlError>(())
//! ```

use super::codes::{CodeBlock, Encoded};
use super::entry::{Norms, best_atom, check_problem, encode_blocks, exact_sq_residual};
use super::target::check_error_norm;
use crate::error::LkdlError;
use crate::linalg::{gram, product_into};
use crate::matrix::{BLOCK, Columns, col, columns_of};
use crate::real::Real;
use crate::vector::axpy;
use faer::{Mat, MatRef};

/// Matching pursuit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MatchingPursuitParams {
    /// Steps per signal at most; one step adds at most one non-zero.
    pub max_steps: usize,
    /// Stops as soon as ‖x − Dγ‖ is at most this; 0 runs all steps.
    pub error_norm: f64,
}

impl MatchingPursuitParams {
    /// Codes every column of `samples` over the columns of `dictionary`, which need not have unit
    /// norm; zero atoms are never chosen and a zero signal gets the empty code.
    ///
    /// A pursuit also ends when the residual is rounding. Errors: empty, non-finite, mismatched or
    /// overflowing input; `max_steps` 0; an error norm that is negative or not finite.
    pub fn encode<T: Real>(
        &self,
        dictionary: MatRef<'_, T>,
        samples: MatRef<'_, T>,
    ) -> Result<Encoded<T>, LkdlError> {
        check_problem(dictionary, samples)?;
        check_error_norm(self.error_norm)?;
        if self.max_steps == 0 {
            return Err(LkdlError::parameter("max_steps", 0, "at least 1"));
        }
        let G = gram(dictionary);
        encode_blocks(dictionary, samples, BLOCK, |D, X, sq_signals, norms| {
            self.encode_block(D, X, columns_of(&G), sq_signals, norms)
        })
    }

    fn encode_block<T: Real>(
        &self,
        D: Columns<'_, T>,
        X: Columns<'_, T>,
        G: Columns<'_, T>,
        sq_signals: &[f64],
        norms: &Norms<T>,
    ) -> CodeBlock<T> {
        let mut alpha = Mat::<T>::zeros(D.ncols(), X.ncols());
        product_into(alpha.as_mut(), D.transpose().as_dyn_stride(), X.as_dyn_stride());
        let mut gamma = vec![0.0f64; D.ncols()];
        let (mut chosen, mut scratch) = (Vec::new(), Vec::new());
        let mut block = CodeBlock::default();
        for (i, &sq_signal) in sq_signals.iter().enumerate() {
            let alpha = alpha.col_as_slice_mut(i);
            let (floor, refresh) = (T::PURSUIT_FLOOR * sq_signal, T::RESIDUAL_REFRESH * sq_signal);
            let mut sq_residual = sq_signal;
            for _ in 0..self.max_steps {
                if sq_residual <= self.error_norm * self.error_norm {
                    break;
                }
                let best = best_atom(alpha, &norms.inverse);
                let Some((s, _)) = best.filter(|(_, score)| score.wide().powi(2) > floor) else {
                    break;
                };
                let (alpha_s, sq_atom) = (alpha[s].wide(), norms.sq_atoms[s]);
                if !chosen.contains(&s) {
                    chosen.push(s);
                }
                gamma[s] += alpha_s / sq_atom;
                axpy(alpha, T::of(-alpha_s / sq_atom), col(G, s));
                sq_residual = (sq_residual - alpha_s * alpha_s / sq_atom).max(0.0);
                if sq_residual < refresh {
                    // The subtraction has lost its digits.
                    let entries = chosen.iter().map(|&j| (j, T::of(gamma[j])));
                    sq_residual = exact_sq_residual(D, col(X, i), entries, &mut scratch);
                }
            }
            let mut entries: Vec<(u32, T)> =
                chosen.iter().map(|&j| (j as u32, T::of(gamma[j]))).collect();
            block.push(&mut entries, sq_residual);
            for j in chosen.drain(..) {
                gamma[j] = 0.0;
            }
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pursuit::testing::residuals;
    use crate::testing::{
        random_matrix, random_unit_columns, same_for_any_thread_count, tolerance,
    };
    use crate::vector::norm_sq;

    fn steps(max_steps: usize) -> MatchingPursuitParams {
        MatchingPursuitParams { max_steps, error_norm: 0.0 }
    }

    /// MP by its definition: explicit residuals, returns the code and each step's α_s²/G_ss.
    fn naive(D: &Mat<f64>, x: &[f64], n_steps: usize) -> (Vec<f64>, Vec<f64>) {
        let mut r = x.to_vec();
        let (mut gamma, mut energies) = (vec![0.0; D.ncols()], Vec::new());
        for _ in 0..n_steps {
            let mut best = (0, 0.0, 0.0);
            for j in 0..D.ncols() {
                let d = D.col_as_slice(j);
                let inner: f64 = d.iter().zip(&r).map(|(a, b)| a * b).sum();
                let norm = norm_sq(d).sqrt();
                if norm > 0.0 && (inner / norm).abs() > best.2 {
                    best = (j, inner / norm_sq(d), (inner / norm).abs());
                }
            }
            gamma[best.0] += best.1;
            for (v, d) in r.iter_mut().zip(D.col_as_slice(best.0)) {
                *v -= best.1 * d;
            }
            energies.push(best.2 * best.2);
        }
        (gamma, energies)
    }

    fn equals_the_naive_reference<T: Real>(tol: f64) {
        // Atoms of many norms, the third zero; more steps than atoms, so atoms come again.
        let mut D = random_matrix::<T>(6, 9, 1);
        D.col_as_slice_mut(2).fill(T::of(0.0));
        let (X, n_steps) = (random_matrix::<T>(6, 20, 2), 14);
        let encoded = steps(n_steps).encode(D.as_ref(), X.as_ref()).unwrap();
        let (wide, Gamma) =
            (crate::linalg::convert::<T, f64>(D.as_ref()), encoded.codes.to_dense());
        let R = residuals(D.as_ref(), X.as_ref(), &encoded.codes);
        for i in 0..20 {
            let x: Vec<f64> = X.col_as_slice(i).iter().map(|v| v.wide()).collect();
            let (gamma, energies) = naive(&wide, &x, n_steps);
            for j in 0..9 {
                assert!((Gamma[(j, i)].wide() - gamma[j]).abs() <= tol, "signal {i}, atom {j}");
            }
            // ‖x‖² = Σ α_s²/G_ss + ‖r‖²
            let total: f64 = energies.iter().sum();
            assert!((norm_sq(&x) - total - encoded.sq_residuals[i]).abs() <= tol * norm_sq(&x));
            let direct = R.col(i).squared_norm_l2();
            assert!((direct - encoded.sq_residuals[i]).abs() <= tol * norm_sq(&x));
        }
    }

    #[test]
    fn codes_and_energies_equal_the_naive_reference() {
        equals_the_naive_reference::<f64>(1e-12);
        equals_the_naive_reference::<f32>(1e-4);
    }

    #[test]
    fn energy_falls_at_every_step() {
        let (D, X) = (random_unit_columns::<f64>(10, 25, 1), random_matrix::<f64>(10, 15, 2));
        let mut last: Vec<f64> = (0..15).map(|i| norm_sq(X.col_as_slice(i))).collect();
        for n in 1..30 {
            let encoded = steps(n).encode(D.as_ref(), X.as_ref()).unwrap();
            for i in 0..15 {
                assert!(encoded.sq_residuals[i] < last[i], "signal {i}, step {n}");
            }
            last = encoded.sq_residuals;
        }
    }

    fn stops_at_the_error<T: Real>() {
        let (D, X) = (random_unit_columns::<T>(8, 30, 1), random_matrix::<T>(8, 300, 2));
        for share in [0.5, 1e-2] {
            // 300 signals of norm about √8; the smaller error is below the refresh threshold.
            let params = MatchingPursuitParams { max_steps: 10_000, error_norm: share };
            let encoded = params.encode(D.as_ref(), X.as_ref()).unwrap();
            let R = residuals(D.as_ref(), X.as_ref(), &encoded.codes);
            for i in 0..300 {
                let sq_signal = norm_sq(X.col_as_slice(i));
                assert!(R.col(i).norm_l2() <= share + tolerance::<T>(8) * sq_signal.sqrt());
            }
        }
    }

    #[test]
    fn the_error_is_reached_given_enough_steps() {
        stops_at_the_error::<f64>();
        stops_at_the_error::<f32>();
    }

    #[test]
    fn duplicates_zero_signals_and_single_atoms_are_coded() {
        let base = random_unit_columns::<f64>(5, 4, 1);
        let D = Mat::from_fn(5, 12, |i, j| base[(i, j % 4)]);
        let mut X = random_matrix::<f64>(5, 3, 2);
        X.col_as_slice_mut(1).fill(0.0);
        let encoded = steps(50).encode(D.as_ref(), X.as_ref()).unwrap();
        assert!(encoded.codes.parts().1.iter().all(|&j| j < 4), "the lower index of each copy");
        assert!(encoded.codes.signal(1).0.is_empty());
        let one = Mat::from_fn(1, 1, |_, _| 2.0);
        let encoded = steps(3).encode(one.as_ref(), one.as_ref()).unwrap();
        assert_eq!(
            (encoded.codes.signal(0), encoded.sq_residuals[0]),
            ((&[0][..], &[1.0][..]), 0.0)
        );
    }

    #[test]
    fn bad_parameters_are_refused() {
        let D = random_unit_columns::<f64>(5, 4, 1);
        let code = |params: MatchingPursuitParams| params.encode(D.as_ref(), D.as_ref());
        assert!(matches!(code(steps(0)), Err(LkdlError::Parameter { name: "max_steps", .. })));
        let negative = MatchingPursuitParams { max_steps: 1, error_norm: -1.0 };
        assert!(matches!(code(negative), Err(LkdlError::Parameter { .. })));
        assert!(steps(1).encode(D.as_ref(), D.as_ref().subrows(0, 2)).is_err());
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        fn check<T: Real>() {
            let (D, X) = (random_unit_columns::<T>(20, 50, 1), random_matrix::<T>(20, 700, 2));
            same_for_any_thread_count(|| steps(8).encode(D.as_ref(), X.as_ref()).unwrap());
        }
        check::<f64>();
        check::<f32>();
    }
}
