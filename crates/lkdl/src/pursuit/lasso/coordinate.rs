//! The lasso by coordinate descent: minimise over one coefficient at a time, exactly.
//!
//! ```math
//! \gamma_j\leftarrow\frac{\operatorname{soft}(\alpha_j+G_{jj}\gamma_j,\lambda)}{G_{jj}}
//! ```
//! with α = Dᵀr maintained. A sweep over all atoms finds who enters; the atoms in use are then
//! swept alone, over their own rows of G, until they settle.
//!
//! Cost: m per sweep plus m per changed coefficient; |S|² per sweep of the atoms in use.

use super::Stopping;
use super::gap::{Problem, State, soft_threshold};
use crate::matrix::col;
use crate::vector::axpy;

/// Sweeps over the atoms in use between two sweeps over all: they cost |S|² each, a sweep over all
/// and its fresh α m|S|, so correlated atoms are worth many.
const SUPPORT_SWEEPS: usize = 200;

/// The atoms in use have settled when a sweep's decrease of the objective, as a share of ½‖x‖², is
/// below this share of the gap's tolerance. Correlated atoms gain little per sweep while far from
/// the minimum, hence a small share.
const SETTLED: f64 = 1e-6;

/// Improves the code in `state` (whose α must be α0 − Gγ) until the gap or the number of sweeps
/// over all atoms is reached.
pub(crate) fn solve(problem: &Problem<'_>, stopping: Stopping, state: &mut State) {
    for _ in 0..stopping.max_iters {
        sweep(problem, state);
        settle_support(problem, stopping, state);
        if problem.relative_gap(state) <= stopping.tolerance {
            break;
        }
    }
}

/// One pass over all atoms; atoms of zero norm stay unused.
fn sweep(problem: &Problem<'_>, state: &mut State) {
    for j in 0..state.gamma.len() {
        let column = col(problem.G, j);
        let (diagonal, old) = (column[j], state.gamma[j]);
        if diagonal <= 0.0 {
            continue;
        }
        let new = soft_threshold(state.alpha[j] + diagonal * old, problem.lambda) / diagonal;
        if new != old {
            axpy(&mut state.alpha, old - new, column);
            state.gamma[j] = new;
        }
    }
}

/// Sweeps over the atoms in use with their own Gram matrix, then recomputes α from scratch, which
/// also removes the rounding that the updates gathered.
fn settle_support(problem: &Problem<'_>, stopping: Stopping, state: &mut State) {
    let support: Vec<usize> = (0..state.gamma.len()).filter(|&j| state.gamma[j] != 0.0).collect();
    let n = support.len();
    let G: Vec<f64> =
        support.iter().flat_map(|&j| support.iter().map(move |&i| problem.G[(i, j)])).collect();
    let mut gamma: Vec<f64> = support.iter().map(|&j| state.gamma[j]).collect();
    let mut alpha: Vec<f64> = support.iter().map(|&j| state.alpha[j]).collect();
    let settled = SETTLED * stopping.tolerance * 0.5 * problem.rho0;
    for _ in 0..SUPPORT_SWEEPS {
        let mut decrease = 0.0;
        for j in 0..n {
            let column = &G[j * n..][..n];
            let old = gamma[j];
            gamma[j] = soft_threshold(alpha[j] + column[j] * old, problem.lambda) / column[j];
            let change = gamma[j] - old;
            if change != 0.0 {
                for (alpha, g) in alpha.iter_mut().zip(column) {
                    *alpha -= change * g;
                }
                decrease += 0.5 * column[j] * change * change; // a lower bound of it
            }
        }
        if decrease <= settled {
            break;
        }
    }
    for (&j, &value) in support.iter().zip(&gamma) {
        state.gamma[j] = value;
    }
    problem.correlations_into(&state.gamma, &mut state.alpha);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::gram;
    use crate::matrix::columns_of;
    use crate::testing::{random_matrix, random_unit_columns};

    #[test]
    fn every_pass_lowers_the_objective_and_keeps_the_correlations() {
        let (D, x) = (random_unit_columns::<f64>(10, 40, 1), random_matrix::<f64>(10, 1, 2));
        let (G, alpha0) = (gram(D.as_ref()), D.transpose() * &x);
        let (alpha0, rho0) = (alpha0.col_as_slice(0), x.squared_norm_l2());
        let problem = Problem { G: columns_of(&G), alpha0, rho0, lambda: 0.1 };
        let stopping = Stopping { tolerance: 1e-6, max_iters: 1 };
        let (mut state, mut last) = (State::default(), 0.5 * rho0);
        state.start(&problem);
        for pass in 0..20 {
            if pass % 2 == 0 {
                sweep(&problem, &mut state);
            } else {
                settle_support(&problem, stopping, &mut state);
            }
            let value = problem.value(&state);
            assert!(value <= last + 1e-14 * rho0, "pass {pass}: {last} to {value}");
            last = value;
            let mut fresh = vec![0.0; 40];
            problem.correlations_into(&state.gamma, &mut fresh);
            for j in 0..40 {
                assert!((state.alpha[j] - fresh[j]).abs() < 1e-12);
            }
        }
        assert!(problem.relative_gap(&state) < 1e-6);
    }
}
