//! The lasso by accelerated proximal gradient steps (FISTA, Beck & Teboulle 2009) that never raise
//! the objective.
//!
//! ```math
//! \gamma^{t+1}=\operatorname{soft}\left(y+\tfrac1{\text{Lip}}D^T(x-Dy),\tfrac\lambda{\text{Lip}}\right),
//! \qquad y=\gamma^t+\beta_t(\gamma^t-\gamma^{t-1})
//! ```
//! α = Dᵀ(x − Dγ) is linear in γ, so that of y costs no product. A step that raises the objective
//! is thrown away and the momentum restarts from the last code; if a step without momentum raises
//! it, Lip was too small and doubles.
//!
//! Cost per step: m·‖γ‖₀.

use super::Stopping;
use super::gap::{Problem, State, soft_threshold};
use crate::matrix::{Columns, col};
use crate::random::{Stage, stream};
use crate::vector::{dot, normalize};
use rand_distr::{Distribution, StandardNormal};

/// The power iteration approaches λ_max from below; this covers its last change.
const LIPSCHITZ_MARGIN: f64 = 1.01;
/// Relative change of the estimate at which the power iteration stops.
const POWER_TOLERANCE: f64 = 1e-4;
/// Steps of the power iteration at most; if cut short, doubling repairs the estimate.
const POWER_STEPS: usize = 1000;
/// A rise of the objective below this share of ‖x‖² is rounding.
const RISE: f64 = 1e-15;

/// Lip of the lasso: [`largest_eigenvalue`] of G, m² per step.
pub(crate) fn lipschitz(G: Columns<'_, f64>) -> f64 {
    largest_eigenvalue(G.ncols(), |v| (0..G.ncols()).map(|j| dot(col(G, j), v)).collect())
}

/// 1.01 times the largest eigenvalue of the n×n positive semi-definite matrix that `apply`
/// multiplies by, from the power iteration.
///
/// The start is random (from a fixed stream): a constant one may be orthogonal to the eigenvector.
pub(crate) fn largest_eigenvalue(n: usize, apply: impl Fn(&[f64]) -> Vec<f64>) -> f64 {
    let mut rng = stream(0, Stage::EigenStart, 0, 0);
    let mut v: Vec<f64> = (0..n).map(|_| StandardNormal.sample(&mut rng)).collect();
    normalize(&mut v);
    let mut estimate = 0.0;
    for _ in 0..POWER_STEPS {
        v = apply(&v);
        let last = std::mem::replace(&mut estimate, normalize(&mut v));
        if (estimate - last).abs() <= POWER_TOLERANCE * estimate {
            break;
        }
    }
    LIPSCHITZ_MARGIN * estimate
}

/// Improves the code in `state` (whose α must be α0 − Gγ) until the gap or the number of steps is
/// reached.
pub(crate) fn solve(
    problem: &Problem<'_>,
    stopping: Stopping,
    mut lipschitz: f64,
    state: &mut State,
) {
    let (mut previous, mut candidate) = (state.clone(), state.clone());
    let mut t = 1.0f64; // 1 means no momentum
    for _ in 0..stopping.max_iters {
        if problem.relative_gap(state) <= stopping.tolerance {
            break;
        }
        let t_next = 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
        let beta = (t - 1.0) / t_next;
        for j in 0..state.gamma.len() {
            let y = state.gamma[j] + beta * (state.gamma[j] - previous.gamma[j]);
            let alpha_y = state.alpha[j] + beta * (state.alpha[j] - previous.alpha[j]);
            candidate.gamma[j] =
                soft_threshold(y + alpha_y / lipschitz, problem.lambda / lipschitz);
        }
        problem.correlations_into(&candidate.gamma, &mut candidate.alpha);
        if change_of_objective(problem, state, &candidate) > RISE * problem.rho0 {
            if beta == 0.0 {
                lipschitz *= 2.0;
            }
            t = 1.0;
            continue;
        }
        std::mem::swap(&mut previous, state);
        std::mem::swap(state, &mut candidate);
        t = t_next;
    }
}

/// P(γ') − P(γ) = Σ_j −½(γ'_j − γ_j)(α_j + α'_j) + λ(|γ'_j| − |γ_j|): exact for a quadratic, and
/// small terms only, where the difference of the two values would be lost in their size.
fn change_of_objective(problem: &Problem<'_>, from: &State, to: &State) -> f64 {
    let mut change = 0.0;
    for j in 0..from.gamma.len() {
        let (old, new) = (from.gamma[j], to.gamma[j]);
        change += problem.lambda * (new.abs() - old.abs());
        change -= 0.5 * (new - old) * (from.alpha[j] + to.alpha[j]);
    }
    change
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{full_eigen, gram};
    use crate::matrix::columns_of;
    use crate::testing::{random_matrix, random_unit_columns};
    use faer::Mat;

    #[test]
    fn lipschitz_bounds_the_largest_eigenvalue_closely() {
        for (k, m, seed) in [(10, 30, 1), (30, 10, 2), (1, 1, 3), (5, 200, 4)] {
            let G = gram(random_matrix::<f64>(k, m, seed).as_ref());
            let largest = full_eigen(G.as_ref()).unwrap().values[0];
            let estimate = lipschitz(columns_of(&G)) / largest;
            assert!((0.995..=1.01 + 1e-12).contains(&estimate), "{k}x{m}: {estimate}");
        }
        assert_eq!(lipschitz(columns_of(&Mat::zeros(3, 3))), 0.0);
    }

    #[test]
    fn no_step_raises_the_objective_even_from_a_bad_lipschitz_constant() {
        let (D, x) = (random_unit_columns::<f64>(10, 40, 1), random_matrix::<f64>(10, 1, 2));
        let (G, alpha0) = (gram(D.as_ref()), D.transpose() * &x);
        let (alpha0, rho0) = (alpha0.col_as_slice(0), x.squared_norm_l2());
        let problem = Problem { G: columns_of(&G), alpha0, rho0, lambda: 0.1 };
        for lipschitz in [lipschitz(columns_of(&G)), 0.05] {
            let (mut state, mut last) = (State::default(), 0.5 * rho0);
            for max_iters in 0..200 {
                state.start(&problem);
                solve(&problem, Stopping { tolerance: 1e-12, max_iters }, lipschitz, &mut state);
                let value = problem.value(&state);
                assert!(value <= last + 1e-14 * rho0, "step {max_iters}: {last} to {value}");
                last = value;
            }
            assert!(problem.relative_gap(&state) < 1e-3);
        }
    }

    #[test]
    fn change_of_objective_is_the_difference_of_the_values() {
        let D = random_unit_columns::<f64>(10, 15, 1);
        let (G, alpha0) = (gram(D.as_ref()), D.transpose() * D.col(3));
        let alpha0: Vec<f64> = alpha0.iter().copied().collect();
        let problem = Problem { G: columns_of(&G), alpha0: &alpha0, rho0: 1.0, lambda: 0.2 };
        let [a, b] = [1, 2].map(|seed| {
            let gamma = random_matrix::<f64>(15, 1, seed).col_as_slice(0).to_vec();
            let mut alpha = vec![0.0; 15];
            problem.correlations_into(&gamma, &mut alpha);
            State { gamma, alpha }
        });
        let difference = problem.value(&b) - problem.value(&a);
        assert!((change_of_objective(&problem, &a, &b) - difference).abs() < 1e-12);
    }
}
