//! Invariants of ALGORITHMS part 6 (FDDL), against the definitions written out.

use super::codes::{Stopping, minimize};
use super::layout::{Layout, Run};
use super::objective::{Objective, Point, Weights};
use super::sweep::update;
use super::*;
use crate::classify::{Classify, Predictions, Train};
use crate::dictionary::InitialAtoms;
use crate::error::{LkdlError, Warning};
use crate::linalg::{convert, full_eigen, gram};
use crate::matrix::columns_of;
use crate::pursuit::lasso::{LassoParams, Penalty, Solver};
use crate::real::Real;
use crate::testing::{bits, close, random_matrix, random_unit_columns, same_for_any_thread_count};
use faer::Mat;
use proptest::prelude::*;

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
        let value = minimize(&objective, &mut point, Stopping { max_iters, tol: 0.0 });
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

/// Three clouds around random directions, and their labels, in turn.
fn clouds<T: Real>(p: usize, n: usize, seed: u64) -> (Mat<T>, Vec<usize>) {
    let (centres, noise) = (random_unit_columns::<f64>(p, 3, 77), random_matrix::<f64>(p, n, seed));
    let X = Mat::from_fn(p, n, |r, i| T::of(centres[(r, i % 3)] + 0.15 * noise[(r, i)]));
    (X, (0..n).map(|i| i % 3).collect())
}

fn global() -> FddlRule {
    FddlRule::Global { l1_weight: 0.1, mean_weight: 0.01 }
}

fn params<T: Real>(form: FddlForm, rule: FddlRule) -> FddlParams<T> {
    FddlParams {
        form,
        rule,
        n_atoms: 4,
        max_iters: 3,
        initial: InitialAtoms::FirstSamples,
        ..Default::default()
    }
}

fn both_forms_and_rules<T: Real>() -> Vec<FddlParams<T>> {
    let forms = [FddlForm::Full, FddlForm::Simplified];
    let rules = [FddlRule::default(), global()];
    forms.iter().flat_map(|&form| rules.map(|rule| params(form, rule))).collect()
}

fn classify<T: Real>(params: &FddlParams<T>, X: &Mat<T>, y: &[usize], new: &Mat<T>) -> Predictions {
    params.train(X.as_ref(), y).unwrap().classify(new.as_ref()).unwrap()
}

fn clouds_are_told_apart<T: Real>() {
    let ((X, y), (new, truth)) = (clouds::<T>(12, 90, 1), clouds::<T>(12, 200, 2));
    for params in both_forms_and_rules::<T>() {
        let model = params.train(X.as_ref(), &y).unwrap();
        let accuracy = model.classify(new.as_ref()).unwrap().accuracy(&truth).unwrap();
        assert!(accuracy > 0.97, "{:?} {:?}: {accuracy}", params.form, params.rule);
        let objectives = &model.training().objectives;
        assert_eq!(objectives.len(), 7);
        // Rounding, and where codes start from zero again their tolerance.
        let slack = if params.form == FddlForm::Full { 16.0 * T::EPS } else { 1e-4 };
        for pair in objectives.windows(2) {
            assert!(pair[1] <= pair[0] * (1.0 + slack), "{objectives:?}");
        }
    }
}

#[test]
fn clouds_are_told_apart_and_the_objective_falls() {
    clouds_are_told_apart::<f64>();
    clouds_are_told_apart::<f32>();
}

#[test]
fn both_precisions_agree() {
    let ((X, y), (new, _)) = (clouds::<f64>(12, 90, 1), clouds::<f64>(12, 60, 2));
    let narrow = |X: &Mat<f64>| convert::<f64, f32>(X.as_ref());
    for (wide, single) in both_forms_and_rules::<f64>().iter().zip(both_forms_and_rules::<f32>()) {
        // Codes at their minimum: where steps end early, precision decides where.
        let (max_iters, code_iters, code_tol) = (1, 5000, 1e-9);
        let wide = FddlParams { max_iters, code_iters, code_tol, ..wide.clone() };
        let single = FddlParams { max_iters, code_iters, code_tol, ..single };
        let a = wide.train(X.as_ref(), &y).unwrap();
        let b = single.train(narrow(&X).as_ref(), &y).unwrap();
        let last = |objectives: &[f64]| objectives[objectives.len() - 1];
        let (J, single_J) = (last(&a.training().objectives), last(&b.training().objectives));
        assert!((J - single_J).abs() < 1e-5 * J, "{J} {single_J}");
        let (a, b) =
            (a.classify(new.as_ref()).unwrap(), b.classify(narrow(&new).as_ref()).unwrap());
        close(a.scores.as_ref(), b.scores.as_ref(), 1e-3);
    }
}

/// min ½‖x − Ds‖² + ½g‖s − m‖² + λ‖s‖₁ by many plain proximal steps.
fn naive_lasso(D: &Mat<f64>, x: &[f64], g: f64, m: &[f64], lambda: f64) -> Vec<f64> {
    let G = D.transpose() * D;
    let rate = 1.0 / (full_eigen(G.as_ref()).unwrap().values[0] + g);
    let mut s = vec![0.0f64; D.ncols()];
    for _ in 0..20_000 {
        let left: Vec<f64> = (0..D.nrows())
            .map(|t| x[t] - (0..s.len()).map(|j| D[(t, j)] * s[j]).sum::<f64>())
            .collect();
        for j in 0..s.len() {
            let slope: f64 =
                (0..D.nrows()).map(|t| -D[(t, j)] * left[t]).sum::<f64>() + g * (s[j] - m[j]);
            let v = s[j] - rate * slope;
            s[j] = v.signum() * (v.abs() - rate * lambda).max(0.0);
        }
    }
    s
}

fn sq_left(D: &Mat<f64>, x: &[f64], s: &[f64]) -> f64 {
    let left = |t: usize| x[t] - (0..s.len()).map(|j| D[(t, j)] * s[j]).sum::<f64>();
    (0..x.len()).map(|t| left(t).powi(2)).sum()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

#[test]
fn the_local_score_is_the_minimum_of_its_problem() {
    let dictionaries = vec![random_unit_columns::<f64>(6, 5, 1), random_unit_columns(6, 9, 2)];
    let means = Mat::from_fn(14, 2, |j, l| 0.1 * ((j + 3 * l) as f64).sin());
    let X = random_matrix::<f64>(6, 70, 3);
    let (g1, g2) = (0.3, 0.2);
    for compat in [false, true] {
        let rule = FddlRule::Local { l1_weight: g1, mean_weight: g2, compat };
        let model =
            Fddl::from_parts(dictionaries.clone(), means.clone(), rule, FddlTraining::default());
        let scores = model.unwrap().classify(X.as_ref()).unwrap().scores;
        for (l, D) in dictionaries.iter().enumerate() {
            let own = &means.col_as_slice(l)[if l == 0 { 0..5 } else { 5..14 }];
            for i in (0..70).step_by(9) {
                let x = X.col_as_slice(i);
                let lambda = if compat { g1 } else { 0.5 * g1 };
                let s = naive_lasso(D, x, g2, own, lambda);
                let l1: f64 = s.iter().map(|v| v.abs()).sum();
                let value = sq_left(D, x, &s) + g1 * l1 + g2 * distance(&s, own);
                assert!((scores[(l, i)] - value).abs() < 1e-6 * value, "{l} {i}");
            }
        }
    }
}

#[test]
fn the_global_score_is_that_of_one_code_over_all_atoms() {
    let dictionaries = vec![random_unit_columns::<f64>(9, 3, 1), random_unit_columns(9, 4, 2)];
    let D = Mat::from_fn(9, 7, |t, j| {
        if j < 3 { dictionaries[0][(t, j)] } else { dictionaries[1][(t, j - 3)] }
    });
    let means = Mat::from_fn(7, 2, |j, l| 0.1 * ((j + 3 * l) as f64).sin());
    let X = random_matrix::<f64>(9, 40, 3);
    let rule = FddlRule::Global { l1_weight: 0.3, mean_weight: 0.5 };
    let model =
        Fddl::from_parts(dictionaries.clone(), means.clone(), rule, FddlTraining::default());
    let scores = model.unwrap().classify(X.as_ref()).unwrap().scores;
    for i in (0..40).step_by(7) {
        let x = X.col_as_slice(i);
        let gamma = naive_lasso(&D, x, 0.0, &[0.0; 7], 0.15);
        for (l, part) in [&gamma[..3], &gamma[3..]].into_iter().enumerate() {
            let value =
                sq_left(&dictionaries[l], x, part) + 0.5 * distance(&gamma, means.col_as_slice(l));
            assert!((scores[(l, i)] - value).abs() < 1e-3 * value, "{l} {i}");
        }
    }
}

#[test]
fn permuting_the_labels_permutes_the_predictions() {
    let ((X, y), (new, _)) = (clouds::<f64>(8, 60, 1), clouds::<f64>(8, 150, 2));
    let permutation = [2, 0, 1];
    let permuted: Vec<usize> = y.iter().map(|&l| permutation[l]).collect();
    for params in both_forms_and_rules::<f64>() {
        let (a, b) = (classify(&params, &X, &y, &new), classify(&params, &X, &permuted, &new));
        for i in 0..150 {
            // The full form's sweep visits the classes in another order: near ties may tip.
            let clear = params.form == FddlForm::Simplified || a.margins[i] > 0.05;
            assert!(permutation[a.labels[i]] == b.labels[i] || !clear, "{}", a.margins[i]);
            for l in 0..3 {
                let (a, b) = (a.scores[(l, i)], b.scores[(permutation[l], i)]);
                match (params.form, params.rule) {
                    // Classes do not meet.
                    (FddlForm::Simplified, FddlRule::Local { .. }) => assert_eq!(a, b),
                    (FddlForm::Full, _) => assert!((a - b).abs() < 0.05, "{a} {b}"),
                    _ => assert!((a - b).abs() < 1e-6, "{a} {b}"),
                }
            }
        }
    }
}

#[test]
fn only_inner_products_matter() {
    let ((X, y), (new, _)) = (clouds::<f64>(8, 60, 1), clouds::<f64>(8, 90, 2));
    let Q = full_eigen(gram(random_matrix::<f64>(8, 8, 5).as_ref()).as_ref()).unwrap().vectors;
    for params in both_forms_and_rules::<f64>() {
        let plain = classify(&params, &X, &y, &new);
        let turned = classify(&params, &(&Q * &X), &y, &(&Q * &new));
        close(plain.scores.as_ref(), turned.scores.as_ref(), 1e-6);
        assert_eq!(plain.labels, turned.labels);
    }
}

#[test]
fn bits_do_not_depend_on_the_thread_count() {
    // More than one run per class.
    let ((X, y), (new, _)) = (clouds::<f32>(8, 600, 1), clouds::<f32>(8, 80, 2));
    for params in both_forms_and_rules::<f32>() {
        let params = FddlParams { initial: InitialAtoms::k_means(), ..params };
        same_for_any_thread_count(|| {
            let model = params.train(X.as_ref(), &y).unwrap();
            let dictionaries: Vec<_> = model.dictionaries().iter().map(bits).collect();
            let scores = model.classify(new.as_ref()).unwrap().scores;
            (dictionaries, model.training().clone(), bits(&scores), bits(model.mean_codes()))
        });
    }
}

#[test]
fn a_model_is_rebuilt_from_its_parts() {
    let ((X, y), (new, _)) = (clouds::<f64>(8, 60, 1), clouds::<f64>(8, 30, 2));
    for params in both_forms_and_rules::<f64>() {
        let model = params.train(X.as_ref(), &y).unwrap();
        let again = Fddl::from_parts(
            model.dictionaries().to_vec(),
            model.mean_codes().clone(),
            model.rule(),
            model.training().clone(),
        )
        .unwrap();
        let scores = |model: &Fddl<f64>| bits(&model.classify(new.as_ref()).unwrap().scores);
        assert_eq!(scores(&model), scores(&again));
        assert_eq!((again.n_classes(), again.rule()), (3, params.rule));
    }
    let D = || vec![random_unit_columns::<f64>(4, 3, 1), random_unit_columns(4, 2, 2)];
    let parts = |D, means, rule| Fddl::from_parts(D, means, rule, FddlTraining::default());
    assert!(parts(Vec::new(), Mat::zeros(0, 0), global()).is_err());
    assert!(parts(D(), Mat::zeros(4, 2), global()).is_err());
    assert!(parts(D(), Mat::zeros(5, 3), global()).is_err());
    let mut other = D();
    other[1] = random_unit_columns(3, 2, 2);
    assert!(parts(other, Mat::zeros(5, 2), global()).is_err());
    assert!(parts(D(), Mat::from_fn(5, 2, |_, _| f64::NAN), global()).is_err());
    let bad = FddlRule::Global { l1_weight: 0.0, mean_weight: 0.1 };
    assert!(parts(D(), Mat::zeros(5, 2), bad).is_err());
    assert!(parts(D(), Mat::zeros(5, 2), global()).is_ok());
}

#[test]
fn unused_atoms_are_dropped_or_reseeded() {
    // A penalty so large that no atom is ever used.
    let (X, y) = clouds::<f64>(8, 60, 1);
    for form in [FddlForm::Full, FddlForm::Simplified] {
        let huge = FddlParams { l1_weight: 1e3, ..params::<f64>(form, FddlRule::default()) };
        let dropped = FddlParams { unused: UnusedAtoms::Drop, ..huge.clone() };
        let model = dropped.train(X.as_ref(), &y).unwrap();
        assert!(model.dictionaries().iter().all(|D| D.ncols() == 1));
        assert_eq!(model.training().n_vanished, 3 * (4 + 1 + 1));
        let model = huge.train(X.as_ref(), &y).unwrap();
        assert!(model.dictionaries().iter().all(|D| D.ncols() == 4));
        assert_eq!(model.training().n_vanished, 3 * 3 * 4);
        let sq_samples = X.squared_norm_l2();
        let terms = if form == FddlForm::Full { 2.0 } else { 1.0 };
        for value in &model.training().objectives {
            assert!((value - terms * sq_samples).abs() < 1e-9 * sq_samples);
        }
    }
}

#[test]
fn small_classes_zero_samples_and_one_class_alone_are_learned_around() {
    let (mut X, mut y) = clouds::<f64>(6, 40, 1);
    y[39] = 3;
    X.col_as_slice_mut(6).fill(0.0);
    for params in both_forms_and_rules::<f64>() {
        for initial in [InitialAtoms::k_means(), InitialAtoms::Samples] {
            let params = FddlParams { initial, ..params.clone() };
            let model = params.train(X.as_ref(), &y).unwrap();
            let warnings = &model.training().warnings;
            assert!(warnings.contains(&(3, Warning::FewerAtoms { wanted: 4, got: 1 })));
            assert!(warnings.contains(&(0, Warning::ZeroSamples { count: 1 })));
            assert_eq!(model.dictionaries()[3].ncols(), 1);
            let predictions = model.classify(X.as_ref()).unwrap();
            assert_eq!((predictions.n_zero_samples, predictions.labels[6]), (1, 0));
        }
        let predictions = classify(&params, &X, &[0; 40], &X);
        assert!(predictions.labels.iter().all(|&l| l == 0));
        assert!(predictions.margins.iter().enumerate().all(|(i, &m)| i == 6 || m == 1.0));
    }
}

#[test]
fn bad_parameters_and_samples_are_typed_errors() {
    let (X, y) = clouds::<f64>(6, 30, 1);
    let refused = |change: &dyn Fn(&mut FddlParams<f64>)| {
        let mut params = params::<f64>(FddlForm::Full, FddlRule::default());
        change(&mut params);
        match params.train(X.as_ref(), &y) {
            Err(LkdlError::Parameter { name, .. }) => name,
            other => panic!("accepted: {other:?}"),
        }
    };
    assert_eq!(refused(&|p| p.n_atoms = 0), "n_atoms");
    assert_eq!(refused(&|p| p.max_iters = 0), "max_iters");
    assert_eq!(refused(&|p| p.code_iters = 0), "code_iters");
    assert_eq!(refused(&|p| p.l1_weight = -0.1), "l1_weight");
    assert_eq!(refused(&|p| p.l1_weight = f64::NAN), "l1_weight");
    assert_eq!(refused(&|p| p.scatter_weight = -1.0), "scatter_weight");
    assert_eq!(refused(&|p| p.scatter_weight = f64::INFINITY), "scatter_weight");
    assert_eq!(refused(&|p| p.energy_weight = 0.5), "energy_weight");
    assert_eq!(refused(&|p| p.code_tol = -1.0), "code_tol");
    let local = |l1_weight, mean_weight| FddlRule::Local { l1_weight, mean_weight, compat: false };
    assert_eq!(refused(&|p| p.rule = local(0.0, 0.1)), "rule's l1_weight");
    assert_eq!(refused(&|p| p.rule = local(0.1, -0.1)), "rule's mean_weight");
    let train = |params: FddlParams<f64>, X: &Mat<f64>, y: &[usize]| {
        params.train(X.as_ref(), y).map(|_| ()).unwrap_err()
    };
    let usual = || params::<f64>(FddlForm::Simplified, FddlRule::default());
    let huge = FddlParams { n_atoms: usize::MAX, ..usual() };
    assert!(matches!(train(huge, &X, &y), LkdlError::Memory { .. }));
    assert_eq!(train(usual(), &X, &[0, 2].repeat(15)), LkdlError::EmptyClass { class: 1 });
    assert!(matches!(train(usual(), &X, &y[..29]), LkdlError::Shape { .. }));
    let mut zero_class = X.clone();
    (0..30).step_by(3).for_each(|i| zero_class.col_as_slice_mut(i).fill(0.0));
    assert!(matches!(train(usual(), &zero_class, &y), LkdlError::InClass { class: 0, .. }));
    let mut broken = X.clone();
    broken[(1, 4)] = f64::NAN;
    assert!(matches!(train(usual(), &broken, &y), LkdlError::NonFinite { row: 1, col: 4, .. }));
    let model = usual().train(X.as_ref(), &y).unwrap();
    assert!(model.classify(broken.as_ref()).is_err());
    assert!(model.classify(X.as_ref().subrows(0, 5)).is_err());
}

#[test]
fn the_memory_plan_counts_the_dense_codes() {
    let full = FddlParams::<f32> { n_atoms: 300, ..Default::default() };
    let simplified = FddlParams { form: FddlForm::Simplified, ..full.clone() };
    let sizes = [700; 10];
    let codes = 5 * 300 * 7000 * 4;
    assert!(full.training_bytes(256, &sizes, 2) > 10 * codes);
    let need = simplified.training_bytes(256, &sizes, 2);
    assert!(need > codes && need < 4 * codes, "{need}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn awkward_problems_give_finite_scores(
        p in 1usize..6, n in 3usize..14, m in 1usize..7, seed in 0u64..500, which in 0usize..4,
        drop in proptest::bool::ANY, l1 in 0usize..3,
    ) {
        let mut X = random_matrix::<f32>(p, n, seed);
        let copy = X.col_as_slice(0).to_vec();
        X.col_as_slice_mut(1).copy_from_slice(&copy);
        let y: Vec<usize> = (0..n).map(|i| if i == 2 { 1 } else { 0 }).collect();
        let params = FddlParams {
            n_atoms: m,
            l1_weight: [0.0, 0.1, 3.0][l1],
            unused: if drop { UnusedAtoms::Drop } else { UnusedAtoms::Reseed },
            initial: if drop { InitialAtoms::k_means() } else { InitialAtoms::Samples },
            seed,
            ..both_forms_and_rules::<f32>()[which].clone()
        };
        let predictions = classify(&params, &X, &y, &X);
        for score in predictions.scores.col_iter().flat_map(|c| c.iter().copied().collect::<Vec<_>>()) {
            prop_assert!(score.is_finite() && score >= 0.0);
        }
    }
}
