//! The objective, its gradient, and the two steps that minimise it.

use crate::classify::fddl::UnusedAtoms;
use crate::classify::fddl::codes::{Stopping, minimize};
use crate::classify::fddl::layout::{Layout, Run};
use crate::classify::fddl::objective::{Objective, Point, Weights};
use crate::classify::fddl::sweep::update;
use crate::matrix::columns_of;
use crate::pursuit::lasso::{LassoParams, Penalty, Solver};
use crate::real::Real;
use crate::testing::{close, random_matrix, random_unit_columns};
use faer::Mat;

const L1: f64 = 0.2;
const SCATTER: f64 = 0.05;
const ETA: f64 = 1.3;

/// A small problem: three classes, one of a single sample, of two, three and one atoms.
fn problem() -> (Mat<f64>, Mat<f64>, Layout) {
    let layout = Layout::new(&[5, 1, 7], &[2, 3, 1]);
    (random_unit_columns(4, 13, 1), random_unit_columns(4, 6, 2), layout)
}

fn cut<T: Real>(layout: &Layout, gamma: &Mat<T>) -> Vec<Mat<T>> {
    let run = |run: &Run| gamma.subcols(run.columns.start, run.columns.len()).to_owned();
    layout.runs.iter().map(run).collect()
}

fn join<T: Real>(layout: &Layout, runs: &[Mat<T>]) -> Mat<T> {
    let mut gamma = Mat::zeros(layout.n_atoms(), layout.n_samples());
    for (run, part) in layout.runs.iter().zip(runs) {
        gamma.as_mut().subcols_mut(run.columns.start, run.columns.len()).copy_from(part);
    }
    gamma
}

fn sq_norm(X: &Mat<f64>) -> f64 {
    X.squared_norm_l2()
}

fn mean(columns: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(columns.nrows(), 1, |j, _| {
        columns.row(j).iter().sum::<f64>() / columns.ncols() as f64
    })
}

/// J of the full form, term by term.
fn naive_full(X: &Mat<f64>, D: &Mat<f64>, gamma: &Mat<f64>, layout: &Layout, l1: f64) -> f64 {
    let (mut fidelity, mut within, mut between, mut first) = (0.0, 0.0, 0.0, 0);
    let all = mean(gamma);
    for (i, &n) in layout.class_sizes.iter().enumerate() {
        let own_X = X.subcols(first, n).to_owned();
        let own = gamma.subcols(first, n).to_owned();
        first += n;
        fidelity += sq_norm(&(&own_X - D * &own));
        for (j, atoms) in layout.atoms.iter().enumerate() {
            let part = D.subcols(atoms.start, atoms.len()) * own.subrows(atoms.start, atoms.len());
            fidelity += if i == j { sq_norm(&(&own_X - &part)) } else { sq_norm(&part) };
        }
        let own_mean = mean(&own);
        for column in 0..n {
            within += sq_norm(&(own.subcols(column, 1) - &own_mean));
        }
        between += n as f64 * sq_norm(&(&own_mean - &all));
    }
    fidelity + l1 * gamma.norm_l1_entries() + SCATTER * (within - between + ETA * sq_norm(gamma))
}

/// The simplified objective of one class.
fn naive_simplified(X: &Mat<f64>, D: &Mat<f64>, gamma: &Mat<f64>, l1: f64) -> f64 {
    let centre = mean(gamma);
    let spread: f64 = (0..gamma.ncols()).map(|i| sq_norm(&(gamma.subcols(i, 1) - &centre))).sum();
    sq_norm(&(X - D * gamma)) + l1 * gamma.norm_l1_entries() + SCATTER * spread
}

trait EntrySum {
    fn norm_l1_entries(&self) -> f64;
}

impl EntrySum for Mat<f64> {
    fn norm_l1_entries(&self) -> f64 {
        self.col_iter().map(|column| column.iter().map(|v| v.abs()).sum::<f64>()).sum()
    }
}

/// ½∇ of the smooth part.
fn gradient(objective: &Objective<'_, f64>, point: &Point<f64>) -> Mat<f64> {
    let means = objective.mean_gradient(&point.means);
    let mut all = join(objective.layout, &point.raw);
    for run in &objective.layout.runs {
        for i in run.columns.clone() {
            for (value, mean) in all.col_as_slice_mut(i).iter_mut().zip(&means[run.class]) {
                *value += mean;
            }
        }
    }
    all
}

/// Value and gradient agree with the definition `naive` (of codes and λ1).
fn agrees(objective: &Objective<'_, f64>, naive: impl Fn(&Mat<f64>, f64) -> f64) {
    let layout = objective.layout;
    let gamma = random_matrix::<f64>(layout.n_atoms(), layout.n_samples(), 3);
    let point = objective.point(cut(layout, &gamma));
    let value = naive(&gamma, L1);
    assert!((objective.value(&point) - value).abs() < 1e-12 * value);
    let analytic = gradient(objective, &point);
    let step = 1e-4;
    for i in 0..gamma.ncols() {
        for j in 0..gamma.nrows() {
            let at = |by: f64| {
                let mut moved = gamma.clone();
                moved[(j, i)] += by;
                naive(&moved, 0.0)
            };
            // exact for a quadratic, up to rounding
            let difference = (at(step) - at(-step)) / (2.0 * step);
            assert!((0.5 * difference - analytic[(j, i)]).abs() < 1e-8, "({j}, {i})");
        }
    }
}

#[test]
fn value_and_gradient_are_those_of_the_definition() {
    let (X, D, layout) = problem();
    let weights = Weights::full(L1, SCATTER, ETA);
    let objective = Objective::new(columns_of(&X), &D, &layout, weights);
    agrees(&objective, |gamma, l1| naive_full(&X, &D, gamma, &layout, l1));
    // Many atoms in few dimensions: H in parts.
    let layout = Layout::new(&[5, 1, 7], &[6, 7, 5]);
    let D = random_unit_columns(4, 18, 2);
    let objective = Objective::new(columns_of(&X), &D, &layout, weights);
    agrees(&objective, |gamma, l1| naive_full(&X, &D, gamma, &layout, l1));
    let layout = Layout::new(&[13], &[6]);
    let D = random_unit_columns(4, 6, 2);
    let weights = Weights::simplified(L1, SCATTER);
    let objective = Objective::new(columns_of(&X), &D, &layout, weights);
    agrees(&objective, |gamma, l1| naive_simplified(&X, &D, gamma, l1));
}

#[test]
fn no_code_step_raises_the_objective_and_the_end_is_the_minimum() {
    let (X, D, layout) = problem();
    let weights = Weights::full(L1, SCATTER, ETA);
    let objective = Objective::new(columns_of(&X), &D, &layout, weights);
    let mut last = f64::INFINITY;
    for max_iters in 0..60 {
        let mut point = objective.point(layout.zeros(6));
        let (value, n_steps) = minimize(&objective, &mut point, Stopping { max_iters, tol: 0.0 });
        assert_eq!(n_steps, max_iters);
        let naive = naive_full(&X, &D, &join(&layout, &point.gamma), &layout, L1);
        assert!((value - naive).abs() < 1e-10 * naive, "{value} {naive}");
        assert!(naive <= last * (1.0 + 1e-14), "step {max_iters}: {last} to {naive}");
        last = naive;
    }
    // Optimality: |½∇| ≤ λ1/2 where the code is zero, = λ1/2 against its sign elsewhere.
    let mut point = objective.point(layout.zeros(6));
    minimize(&objective, &mut point, Stopping { max_iters: 20_000, tol: 0.0 });
    let (gamma, half) = (join(&layout, &point.gamma), gradient(&objective, &point));
    for i in 0..13 {
        for j in 0..6 {
            let (code, slope) = (gamma[(j, i)], half[(j, i)]);
            if code == 0.0 {
                assert!(slope.abs() <= 0.5 * L1 + 1e-7);
            } else {
                assert!((slope + 0.5 * L1 * code.signum()).abs() < 1e-7, "{slope} at {code}");
            }
        }
    }
}

#[test]
fn every_atom_update_is_the_best_unit_atom_and_never_raises_the_objective() {
    let (X, D, layout) = problem();
    for own in [1.0, 0.0] {
        let layout = if own == 0.0 { Layout::new(&[13], &[6]) } else { layout.clone() };
        let gamma = random_matrix::<f64>(6, 13, 4);
        let naive = |D: &Mat<f64>| match own {
            0.0 => naive_simplified(&X, D, &gamma, L1),
            _ => naive_full(&X, D, &gamma, &layout, L1),
        };
        let (mut fresh, mut runs) = (D.clone(), cut(&layout, &gamma));
        let vanished =
            update(columns_of(&X), &mut fresh, &mut runs, &layout, own, UnusedAtoms::Reseed);
        assert!(vanished.is_empty());
        // The sweep's states: the first j + 1 atoms are new.
        let mut state = D.clone();
        let mut last = naive(&state);
        for j in 0..6 {
            state.col_as_slice_mut(j).copy_from_slice(fresh.col_as_slice(j));
            let value = naive(&state);
            assert!(value <= last * (1.0 + 1e-14), "atom {j}: {last} to {value}");
            for seed in 0..20 {
                let mut other = state.clone();
                let mut atom = random_unit_columns::<f64>(4, 1, seed);
                for (a, b) in atom.col_as_slice_mut(0).iter_mut().zip(state.col_as_slice(j)) {
                    *a = 0.1 * *a + b;
                }
                crate::vector::normalize(atom.col_as_slice_mut(0));
                other.col_as_slice_mut(j).copy_from_slice(atom.col_as_slice(0));
                assert!(naive(&other) >= value * (1.0 - 1e-14), "atom {j}, seed {seed}");
            }
            last = value;
        }
        assert!(last < naive(&D));
    }
}

#[test]
fn codes_of_vanished_atoms_become_zero_without_raising_the_objective() {
    let (X, D, layout) = problem();
    let mut gamma = random_matrix::<f64>(6, 13, 4);
    for i in 0..13 {
        gamma[(1, i)] = 0.0;
        gamma[(3, i)] = 0.0;
    }
    for unused in [UnusedAtoms::Reseed, UnusedAtoms::Drop] {
        let (mut fresh, mut runs) = (D.clone(), cut(&layout, &gamma));
        let vanished = update(columns_of(&X), &mut fresh, &mut runs, &layout, 1.0, unused);
        assert_eq!(vanished, [1, 3]);
        let after = naive_full(&X, &fresh, &join(&layout, &runs), &layout, L1);
        assert!(after <= naive_full(&X, &D, &gamma, &layout, L1));
        let is_sample = |j: usize, mut samples: std::ops::Range<usize>| {
            samples.any(|i| (0..4).all(|t| (fresh[(t, j)] - X[(t, i)]).abs() < 1e-12))
        };
        let reseeded = unused == UnusedAtoms::Reseed;
        assert_eq!((is_sample(1, 0..5), is_sample(3, 5..6)), (reseeded, reseeded));
    }
}

#[test]
fn one_class_without_scatter_is_lasso_dictionary_learning() {
    // J = 2‖X − DΓ‖² + λ1‖Γ‖₁ = 4(½‖X − DΓ‖² + ¼λ1‖Γ‖₁).
    let (X, D) = (random_unit_columns::<f64>(8, 40, 1), random_unit_columns::<f64>(8, 6, 2));
    let layout = Layout::new(&[40], &[6]);
    let objective = Objective::new(columns_of(&X), &D, &layout, Weights::full(0.4, 0.0, 1.0));
    let mut point = objective.point(layout.zeros(6));
    minimize(&objective, &mut point, Stopping { max_iters: 20_000, tol: 0.0 });
    let lasso = LassoParams {
        penalty: Penalty::Absolute(0.1),
        solver: Solver::Lars,
        tolerance: 1e-12,
        max_iters: 10_000,
    };
    let expected = lasso.encode(D.as_ref(), X.as_ref()).unwrap().encoded.codes.to_dense();
    close(join(&layout, &point.gamma).as_ref(), expected.as_ref(), 1e-6);
}
