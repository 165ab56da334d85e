//! The three solvers against the optimality conditions, each other, and awkward input.

use super::*;
use crate::pursuit::testing::residuals;
use crate::testing::{close, random_matrix, random_unit_columns, same_for_any_thread_count};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const SOLVERS: [Solver; 3] = [Solver::Lars, Solver::CoordinateDescent, Solver::Fista];

/// Solved as far as `f64` allows.
fn tight(solver: Solver, penalty: Penalty) -> LassoParams {
    LassoParams { penalty, solver, tolerance: 1e-12, max_iters: 100_000 }
}

fn lambda_of(penalty: Penalty, largest: f64) -> f64 {
    match penalty {
        Penalty::Absolute(lambda) => lambda,
        Penalty::Relative(share) => share * largest,
    }
}

/// ½‖x − Dγ‖² + λ‖γ‖₁ of every signal, by the definition.
fn values<T: Real>(D: &Mat<T>, X: &Mat<T>, codes: &LassoEncoded<T>, penalty: Penalty) -> Vec<f64> {
    let R = residuals(D.as_ref(), X.as_ref(), &codes.encoded.codes);
    let alpha0 = convert::<T, f64>(D.transpose()) * convert::<T, f64>(X.as_ref());
    let value = |i: usize| {
        let l1: f64 = codes.encoded.codes.signal(i).1.iter().map(|v| v.wide().abs()).sum();
        let lambda = lambda_of(penalty, max_abs(alpha0.col_as_slice(i)));
        0.5 * R.col(i).squared_norm_l2() + lambda * l1
    };
    (0..X.ncols()).map(value).collect()
}

/// |d_jᵀr| ≤ λ for all atoms, d_jᵀr = λ·sign(γ_j) for those used; up to tol·‖x‖·max‖d‖.
#[track_caller]
fn optimality_holds<T: Real>(
    D: &Mat<T>,
    X: &Mat<T>,
    codes: &LassoEncoded<T>,
    penalty: Penalty,
    tol: f64,
) {
    let (wide_D, wide_X) = (convert::<T, f64>(D.as_ref()), convert::<T, f64>(X.as_ref()));
    let alpha0 = wide_D.transpose() * &wide_X;
    let alpha = wide_D.transpose() * residuals(D.as_ref(), X.as_ref(), &codes.encoded.codes);
    let Gamma = codes.encoded.codes.to_dense();
    let atom = (0..D.ncols()).map(|j| wide_D.col(j).norm_l2()).fold(0.0, f64::max);
    for i in 0..X.ncols() {
        let lambda = lambda_of(penalty, max_abs(alpha0.col_as_slice(i)));
        let slack = tol * atom * wide_X.col(i).norm_l2();
        for j in 0..D.ncols() {
            let (alpha, gamma) = (alpha[(j, i)], Gamma[(j, i)].wide());
            assert!(alpha.abs() <= lambda + slack, "signal {i}, atom {j}: {alpha} > {lambda}");
            if gamma != 0.0 {
                let off = (alpha - lambda * gamma.signum()).abs();
                assert!(off <= slack, "signal {i}, atom {j}: off by {off:e}, allowed {slack:e}");
            }
        }
    }
}

fn optimal_for_many_shapes<T: Real>(tol: f64) {
    let penalties = [Penalty::Relative(0.1), Penalty::Relative(0.5), Penalty::Absolute(0.3)];
    for (k, m, n) in [(12, 30, 20), (20, 8, 10), (1, 1, 1), (1, 6, 3), (6, 1, 2), (10, 64, 1)] {
        // Atoms of many norms, one of them zero where there are several.
        let mut D = random_matrix::<T>(k, m, 1);
        if m > 2 {
            D.col_as_slice_mut(2).fill(T::of(0.0));
        }
        let X = random_matrix::<T>(k, n, 2);
        for penalty in penalties {
            for solver in SOLVERS {
                let codes = tight(solver, penalty).encode(D.as_ref(), X.as_ref()).unwrap();
                assert_eq!(codes.n_unconverged, 0, "{solver:?} {penalty:?} {k}x{m}");
                optimality_holds(&D, &X, &codes, penalty, tol);
                let R = residuals(D.as_ref(), X.as_ref(), &codes.encoded.codes);
                for i in 0..n {
                    let sq_signal = crate::vector::norm_sq(X.col_as_slice(i));
                    let off = R.col(i).squared_norm_l2() - codes.encoded.sq_residuals[i];
                    assert!(off.abs() <= tol * sq_signal);
                }
            }
        }
    }
}

#[test]
fn codes_satisfy_the_optimality_conditions() {
    optimal_for_many_shapes::<f64>(1e-6); // a gap of 1e-12 bounds ‖r − r*‖ by 1e-6·‖x‖
    optimal_for_many_shapes::<f32>(1e-5);
}

#[test]
fn lars_satisfies_the_optimality_conditions_to_rounding() {
    let (D, X) = (random_unit_columns::<f64>(20, 60, 1), random_matrix::<f64>(20, 50, 2));
    let penalty = Penalty::Relative(0.05);
    let codes = tight(Solver::Lars, penalty).encode(D.as_ref(), X.as_ref()).unwrap();
    optimality_holds(&D, &X, &codes, penalty, 1e-12);
}

fn solvers_agree<T: Real>(tol: f64) {
    let (D, X) = (random_unit_columns::<T>(20, 50, 1), random_matrix::<T>(20, 40, 2));
    for penalty in [Penalty::Relative(0.1), Penalty::Absolute(0.4)] {
        let codes = SOLVERS.map(|solver| {
            let codes = tight(solver, penalty).encode(D.as_ref(), X.as_ref()).unwrap();
            assert_eq!(codes.n_unconverged, 0);
            codes.encoded.codes.to_dense()
        });
        close(codes[1].as_ref(), codes[0].as_ref(), tol);
        close(codes[2].as_ref(), codes[0].as_ref(), tol);
        // At the default gap the objectives agree to that gap.
        let objective = |solver| {
            let params = LassoParams { penalty, solver, ..LassoParams::default() };
            let codes = params.encode(D.as_ref(), X.as_ref()).unwrap();
            assert_eq!(codes.n_unconverged, 0);
            values(&D, &X, &codes, penalty)
        };
        let values = SOLVERS.map(objective);
        for i in 0..40 {
            let allowed = 1e-6 * 0.5 * crate::vector::norm_sq(X.col_as_slice(i));
            assert!((values[1][i] - values[0][i]).abs() <= allowed);
            assert!((values[2][i] - values[0][i]).abs() <= allowed);
        }
    }
}

#[test]
fn the_three_solvers_agree() {
    solvers_agree::<f64>(1e-6);
    solvers_agree::<f32>(1e-6);
}

#[test]
fn orthonormal_atoms_give_soft_thresholding() {
    let (D, X) = (Mat::<f64>::identity(9, 9), random_matrix::<f64>(9, 4, 1));
    for solver in SOLVERS {
        let codes = tight(solver, Penalty::Absolute(0.5)).encode(D.as_ref(), X.as_ref()).unwrap();
        let expected = Mat::from_fn(9, 4, |j, i| gap::soft_threshold(X[(j, i)], 0.5));
        close(codes.encoded.codes.to_dense().as_ref(), expected.as_ref(), 1e-6);
    }
}

#[test]
fn penalties_from_the_largest_correlation_on_give_empty_codes() {
    let (D, mut X) = (random_unit_columns::<f64>(7, 12, 1), random_matrix::<f64>(7, 5, 2));
    X.col_as_slice_mut(3).fill(0.0);
    let largest = (D.transpose() * &X).norm_max();
    for solver in SOLVERS {
        for penalty in [Penalty::Relative(1.0), Penalty::Relative(3.0), Penalty::Absolute(largest)]
        {
            let codes = tight(solver, penalty).encode(D.as_ref(), X.as_ref()).unwrap();
            assert_eq!((codes.encoded.codes.nnz(), codes.n_unconverged), (0, 0));
            for i in 0..5 {
                let sq_signal = X.col(i).squared_norm_l2();
                assert!((codes.encoded.sq_residuals[i] - sq_signal).abs() <= 1e-14 * sq_signal);
            }
        }
        // Just below, something enters; the zero signal stays empty.
        let codes = tight(solver, Penalty::Relative(0.99)).encode(D.as_ref(), X.as_ref()).unwrap();
        for i in 0..5 {
            assert_eq!(codes.encoded.codes.signal(i).0.is_empty(), i == 3);
        }
        assert_eq!(codes.encoded.sq_residuals[3], 0.0);
    }
}

#[test]
fn copies_of_atoms_and_dependent_atoms_do_not_break_down() {
    // Each atom three times (once negated), and sums of neighbours: rank 6 of 24 atoms.
    let base = random_unit_columns::<f64>(6, 6, 1);
    let D = Mat::from_fn(6, 24, |i, j| match j / 6 {
        0 | 1 => base[(i, j % 6)],
        2 => -base[(i, j % 6)],
        _ => 0.5 * (base[(i, j % 6)] + base[(i, (j + 1) % 6)]),
    });
    let X = random_matrix::<f64>(6, 30, 2);
    let penalty = Penalty::Relative(0.05);
    let [lars, descent, fista] = SOLVERS.map(|solver| {
        let codes = tight(solver, penalty).encode(D.as_ref(), X.as_ref()).unwrap();
        assert_eq!(codes.n_unconverged, 0, "{solver:?}");
        optimality_holds(&D, &X, &codes, penalty, 1e-6);
        codes
    });
    // Codes are not unique here; the minimum and the reconstruction are.
    let best = values(&D, &X, &lars, penalty);
    for other in [&descent, &fista] {
        let reconstruct =
            |codes: &LassoEncoded<f64>| codes.encoded.codes.reconstruct(D.as_ref()).unwrap();
        close(reconstruct(other).as_ref(), reconstruct(&lars).as_ref(), 1e-5);
        for (a, b) in values(&D, &X, other, penalty).iter().zip(&best) {
            assert!((a - b).abs() < 1e-10);
        }
    }
    // Of tied copies the path takes the lowest index only.
    assert!(lars.encoded.codes.parts().1.iter().all(|&j| !(6..18).contains(&j)));
}

#[test]
fn tied_independent_atoms_enter_together() {
    // x is symmetric in the first three atoms: all have the same correlation throughout.
    let D = Mat::<f64>::from_fn(4, 4, |i, j| f64::from(i == j) + if j < 3 { 0.2 } else { 0.0 });
    let X = Mat::from_fn(4, 1, |i, _| if i < 3 { 1.0 } else { 0.1 });
    let codes = tight(Solver::Lars, Penalty::Relative(0.5)).encode(D.as_ref(), X.as_ref()).unwrap();
    let (atoms, values) = codes.encoded.codes.signal(0);
    assert_eq!(atoms, [0, 1, 2]);
    assert!((values[0] - values[1]).abs() < 1e-12 && (values[0] - values[2]).abs() < 1e-12);
}

#[test]
fn ridge_terms_are_the_lasso_of_the_stacked_problem() {
    // G + gI, α + g·μ, ρ + g‖μ‖² = the lasso of [x; √g μ] over [D; √g I].
    let (D, x, mu) = (
        random_unit_columns::<f64>(8, 12, 1),
        random_matrix::<f64>(8, 1, 2),
        random_matrix::<f64>(12, 1, 3),
    );
    let (g, lambda) = (0.3f64, 0.2);
    let stacked = Mat::from_fn(20, 12, |i, j| match i {
        0..8 => D[(i, j)],
        _ => g.sqrt() * f64::from(i - 8 == j),
    });
    let signal =
        Mat::from_fn(20, 1, |i, _| if i < 8 { x[(i, 0)] } else { g.sqrt() * mu[(i - 8, 0)] });
    let mut G = gram(D.as_ref());
    let mut alpha0 = (D.transpose() * &x).col_as_slice(0).to_vec();
    for j in 0..12 {
        G[(j, j)] += g;
        alpha0[j] += g * mu[(j, 0)];
    }
    let rho0 = x.squared_norm_l2() + g * mu.squared_norm_l2();
    let problem = Problem { G: columns_of(&G), alpha0: &alpha0, rho0, lambda };
    let stopping = Stopping { tolerance: 1e-12, max_iters: 100_000 };
    for solver in SOLVERS {
        let mut state = State::default();
        let gap = solve(&problem, solver.prepare(columns_of(&G)), stopping, &mut state);
        assert!(gap <= 1e-12);
        let params = tight(solver, Penalty::Absolute(lambda));
        let codes = params.encode(stacked.as_ref(), signal.as_ref()).unwrap();
        let expected = codes.encoded.codes.to_dense();
        for j in 0..12 {
            assert!((state.gamma[j] - expected[(j, 0)]).abs() < 1e-6);
        }
        assert!((problem.sq_residual(&state) - codes.encoded.sq_residuals[0]).abs() < 1e-6);
    }
}

#[test]
fn signals_that_miss_the_gap_are_counted() {
    let (D, X) = (random_unit_columns::<f64>(10, 30, 1), random_matrix::<f64>(10, 100, 2));
    for solver in SOLVERS {
        let mut params = tight(solver, Penalty::Relative(0.01));
        params.max_iters = 1;
        let short = params.encode(D.as_ref(), X.as_ref()).unwrap();
        assert!(short.n_unconverged > 90, "{solver:?}: {}", short.n_unconverged);
        assert!(short.encoded.sq_residuals.iter().all(|v| v.is_finite()));
    }
}

#[test]
fn bad_parameters_are_refused() {
    let D = random_unit_columns::<f64>(5, 4, 1);
    let refused = |change: fn(&mut LassoParams)| {
        let mut params = LassoParams::default();
        change(&mut params);
        match params.encode(D.as_ref(), D.as_ref()) {
            Err(LkdlError::Parameter { name, .. }) => name,
            other => panic!("accepted: {other:?}"),
        }
    };
    assert_eq!(refused(|p| p.penalty = Penalty::Absolute(0.0)), "penalty");
    assert_eq!(refused(|p| p.penalty = Penalty::Relative(f64::NAN)), "relative penalty");
    assert_eq!(refused(|p| p.tolerance = -1.0), "tolerance");
    assert_eq!(refused(|p| p.max_iters = 0), "max_iters");
    let rows = LassoParams::default().encode(D.as_ref(), D.as_ref().subrows(0, 3));
    assert!(matches!(rows, Err(LkdlError::Shape { expected: 5, got: 3, .. })));
}

#[test]
fn threads_do_not_change_a_bit() {
    fn check<T: Real>() {
        let (D, X) = (random_unit_columns::<T>(15, 40, 1), random_matrix::<T>(15, 600, 2));
        for solver in SOLVERS {
            let params = LassoParams { solver, ..LassoParams::default() };
            same_for_any_thread_count(|| params.encode(D.as_ref(), X.as_ref()).unwrap());
        }
    }
    check::<f64>();
    check::<f32>();
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60, failure_persistence: None, rng_seed: RngSeed::Fixed(4), ..Default::default()
    })]
    #[test]
    fn any_shape_is_solved_to_the_optimality_conditions(
        k in 1usize..16, m in 1usize..30, n in 1usize..4, share in 0.02f64..1.2,
        seed in 0u64..1000, repeat in 1usize..4, solver in 0usize..3,
    ) {
        // Atoms repeat `repeat` times, with alternating sign and growing norm.
        let base = random_unit_columns::<f64>(k, m.div_ceil(repeat), seed);
        let D = Mat::from_fn(k, m, |i, j| {
            let sign = if j % 2 == 0 { 1.0 } else { -1.0 };
            base[(i, j / repeat)] * sign * (1.0 + (j % repeat) as f64 / 2.0)
        });
        let X = random_matrix::<f64>(k, n, seed + 1);
        let penalty = Penalty::Relative(share);
        let params = LassoParams { tolerance: 1e-10, ..tight(SOLVERS[solver], penalty) };
        let codes = params.encode(D.as_ref(), X.as_ref()).unwrap();
        prop_assert_eq!(codes.n_unconverged, 0);
        optimality_holds(&D, &X, &codes, penalty, 1e-5);
    }
}
