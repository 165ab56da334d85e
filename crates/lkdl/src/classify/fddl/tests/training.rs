//! Whole models: what they tell apart, and what must not change them.

use super::*;
use crate::error::Warning;
use crate::linalg::{convert, full_eigen, gram};
use crate::testing::{bits, close, same_for_any_thread_count};
use proptest::prelude::*;

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
