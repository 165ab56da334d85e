//! The lasso problem of one signal in terms of inner products, and the duality gap that tells how
//! far a code is from the minimum.
//!
//! With G = DᵀD, α0 = Dᵀx, ρ0 = ‖x‖² and, for a code γ with residual r, α = Dᵀr = α0 − Gγ:
//! ```math
//! P(\gamma)=\tfrac12\|r\|^2+\lambda\|\gamma\|_1,\qquad \|r\|^2=\rho_0-\gamma^T(\alpha_0+\alpha)
//! ```
//! The dual is max ½‖x‖² − ½‖x − θ‖² s.t. ‖Dᵀθ‖∞ ≤ λ. At θ = τr, τ = min(1, λ/‖α‖∞), the gap is
//! ```math
//! P(\gamma)-\text{dual}(\theta)=\tfrac12(1-\tau)^2\|r\|^2
//!   +\sum_j\left(\lambda|\gamma_j|-\tau\gamma_j\alpha_j\right)
//! ```
//! a sum of terms none of which is negative, so it keeps its digits where the difference of the
//! two values would not. Cost O(m).
//!
//! Ridge terms fit in: G + gI, α0 + g·μ and ρ0 + g‖μ‖² are the problem with ½g‖γ − μ‖² added.

use crate::matrix::{Columns, col};
use crate::vector::{axpy, dot};

/// The lasso of one signal. Everything is `f64`: a gap of 1e-6 is within the rounding of `f32`.
#[derive(Clone, Copy)]
pub(crate) struct Problem<'a> {
    /// G, m×m, symmetric positive semi-definite.
    pub(crate) G: Columns<'a, f64>,
    /// Dᵀx.
    pub(crate) alpha0: &'a [f64],
    /// ‖x‖².
    pub(crate) rho0: f64,
    /// λ > 0.
    pub(crate) lambda: f64,
}

/// A code and its correlations, the state all solvers share; buffers are kept between signals.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    /// γ.
    pub(crate) gamma: Vec<f64>,
    /// α = α0 − Gγ.
    pub(crate) alpha: Vec<f64>,
}

impl State {
    /// γ = 0.
    pub(crate) fn start(&mut self, problem: &Problem<'_>) {
        self.gamma.clear();
        self.gamma.resize(problem.alpha0.len(), 0.0);
        self.alpha.clear();
        self.alpha.extend_from_slice(problem.alpha0);
    }
}

/// max|v_j|.
pub(crate) fn max_abs(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |largest, v| v.abs().max(largest))
}

/// sign(v)·max(|v| − by, 0).
#[inline(always)]
pub(crate) fn soft_threshold(v: f64, by: f64) -> f64 {
    (v - by).max(0.0) + (v + by).min(0.0)
}

impl Problem<'_> {
    /// α ← α0 − Gγ from scratch, O(m·‖γ‖₀).
    pub(crate) fn correlations_into(&self, gamma: &[f64], alpha: &mut [f64]) {
        alpha.copy_from_slice(self.alpha0);
        for (j, &value) in gamma.iter().enumerate().filter(|entry| *entry.1 != 0.0) {
            axpy(alpha, -value, col(self.G, j));
        }
    }

    /// ‖r‖², clamped at 0.
    pub(crate) fn sq_residual(&self, state: &State) -> f64 {
        let explained = dot(&state.gamma, self.alpha0) + dot(&state.gamma, &state.alpha);
        (self.rho0 - explained).max(0.0)
    }

    /// The duality gap, an upper bound of P(γ) − min P.
    pub(crate) fn gap(&self, state: &State) -> f64 {
        let largest = max_abs(&state.alpha);
        let shrink = if largest > self.lambda { self.lambda / largest } else { 1.0 };
        let mut gap = 0.5 * (1.0 - shrink).powi(2) * self.sq_residual(state);
        for (&gamma, &alpha) in state.gamma.iter().zip(&state.alpha) {
            gap += self.lambda * gamma.abs() - shrink * gamma * alpha;
        }
        gap
    }

    /// The gap as a share of ½‖x‖², the value of the empty code (ρ0 > 0).
    pub(crate) fn relative_gap(&self, state: &State) -> f64 {
        self.gap(state) / (0.5 * self.rho0)
    }

    /// P(γ).
    #[cfg(test)]
    pub(crate) fn value(&self, state: &State) -> f64 {
        let l1: f64 = state.gamma.iter().map(|v| v.abs()).sum();
        0.5 * self.sq_residual(state) + self.lambda * l1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::gram;
    use crate::matrix::columns_of;
    use crate::testing::{random_matrix, random_unit_columns};

    #[test]
    fn gap_is_the_difference_of_the_two_values() {
        let (D, x) = (random_unit_columns::<f64>(8, 13, 1), random_matrix::<f64>(8, 1, 2));
        let (G, alpha0) = (gram(D.as_ref()), D.transpose() * &x);
        let rho0 = x.squared_norm_l2();
        for (seed, lambda) in [(3, 0.05), (4, 0.5), (5, 50.0)] {
            let gamma = random_matrix::<f64>(13, 1, seed);
            let problem =
                Problem { G: columns_of(&G), alpha0: alpha0.col_as_slice(0), rho0, lambda };
            let mut state = State::default();
            state.start(&problem);
            state.gamma.copy_from_slice(gamma.col_as_slice(0));
            problem.correlations_into(gamma.col_as_slice(0), &mut state.alpha);
            let r = &x - &D * &gamma;
            let primal = 0.5 * r.squared_norm_l2() + lambda * gamma.norm_l1();
            let theta = &r * faer::Scale((lambda / (D.transpose() * &r).norm_max()).min(1.0));
            let dual = 0.5 * rho0 - 0.5 * (&x - &theta).squared_norm_l2();
            assert!((problem.value(&state) - primal).abs() < 1e-12 * primal);
            assert!((problem.gap(&state) - (primal - dual)).abs() < 1e-12 * primal);
        }
    }

    #[test]
    fn soft_threshold_shrinks_towards_zero() {
        let cases = [(3.0, 2.0), (-3.0, -2.0), (0.5, 0.0), (-0.5, 0.0), (0.0, 0.0)];
        for (v, expected) in cases {
            assert_eq!(soft_threshold(v, 1.0), expected);
        }
    }
}
