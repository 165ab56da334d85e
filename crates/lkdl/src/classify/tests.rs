//! Invariants of the residual rule (ALGORITHMS part 5, distributive classification).

use super::*;
use crate::dictionary::{AtomOrder, InitialAtoms, KsvdParams, Learned, ModParams, Stop};
use crate::error::Warning;
use crate::pursuit::{BatchOmp, Target};
use crate::testing::{
    bits, random_matrix, random_unit_columns, same_for_any_thread_count, tolerance,
};

fn learned<T: Real>(dictionary: Mat<T>) -> Learned<T> {
    let (errors, stop, warnings) = (vec![0.0], Stop::MaxIters, Vec::new());
    Learned { dictionary, errors, stop, n_replaced: 0, warnings }
}

fn rule<T: Real>(dictionaries: Vec<Mat<T>>, sparsity: usize) -> ClassDictionaries<T> {
    ClassDictionaries::new(dictionaries.into_iter().map(learned).collect(), sparsity).unwrap()
}

fn params<T: Real>(n_atoms: usize, sparsity: usize) -> ClassDictionariesParams<KsvdParams<T>> {
    let learner = KsvdParams { n_atoms, sparsity, max_iters: 3, ..Default::default() };
    ClassDictionariesParams { learner, sparsity }
}

/// Three clouds around random directions, and their labels, in turn.
fn clouds<T: Real>(p: usize, n: usize, seed: u64) -> (Mat<T>, Vec<usize>) {
    let (centres, noise) = (random_unit_columns::<T>(p, 3, seed), random_matrix::<T>(p, n, seed));
    let X =
        Mat::from_fn(p, n, |r, i| T::of(centres[(r, i % 3)].wide() + 0.1 * noise[(r, i)].wide()));
    (X, (0..n).map(|i| i % 3).collect())
}

fn orthogonal_classes<T: Real>() {
    // Class l owns the coordinates 4l..4l+4, each with an overcomplete dictionary of its own.
    let block = |l: usize| {
        let own = random_unit_columns::<T>(4, 6, l as u64);
        Mat::from_fn(12, 6, |r, j| if r / 4 == l { own[(r % 4, j)] } else { T::of(0.0) })
    };
    let dictionaries: Vec<Mat<T>> = (0..3).map(block).collect();
    let weights = random_matrix::<T>(2, 90, 7);
    let X = Mat::from_fn(12, 90, |r, i| {
        let D = &dictionaries[i % 3];
        D[(r, i % 6)] * weights[(0, i)] + D[(r, (i + 1) % 6)] * weights[(1, i)]
    });
    let predictions = rule(dictionaries, 4).classify(X.as_ref()).unwrap();
    let truth: Vec<usize> = (0..90).map(|i| i % 3).collect();
    assert_eq!(predictions.labels, truth);
    assert_eq!(predictions.accuracy(&truth), Ok(1.0));
    for i in 0..90 {
        // The others' atoms are orthogonal to the sample: they leave all of it.
        assert!((predictions.margins[i] - 1.0).abs() <= tolerance::<T>(12), "{i}");
    }
}

#[test]
fn a_sample_of_a_class_is_assigned_to_it_when_class_dictionaries_are_orthogonal() {
    orthogonal_classes::<f64>();
    orthogonal_classes::<f32>();
}

#[test]
fn permuting_the_labels_permutes_the_predictions() {
    fn check<T: Real, P: crate::dictionary::Learner<T> + Clone>(learner: P) {
        let ((X, labels), (new, _)) = (clouds::<T>(8, 60, 1), clouds::<T>(8, 300, 2));
        let permutation = [2, 0, 1];
        let permuted: Vec<usize> = labels.iter().map(|&l| permutation[l]).collect();
        let params = ClassDictionariesParams { learner, sparsity: 2 };
        let classify = |labels: &[usize]| {
            params.train(X.as_ref(), labels).unwrap().classify(new.as_ref()).unwrap()
        };
        let (a, b) = (classify(&labels), classify(&permuted));
        assert_eq!(a.labels.iter().map(|&l| permutation[l]).collect::<Vec<_>>(), b.labels);
        assert_eq!(a.margins, b.margins);
        for i in 0..300 {
            for l in 0..3 {
                assert_eq!(a.scores[(l, i)], b.scores[(permutation[l], i)]);
            }
        }
    }
    // Learners that draw nothing at random: a class's stream depends on its index.
    let initial = InitialAtoms::FirstSamples;
    let (n_atoms, sparsity, order) = (6, 2, AtomOrder::Sequential);
    let initial64 = initial.clone();
    check::<f64, _>(KsvdParams { n_atoms, sparsity, initial, order, ..Default::default() });
    check::<f64, _>(ModParams { n_atoms, sparsity, initial: initial64, ..Default::default() });
    let initial = InitialAtoms::FirstSamples;
    check::<f32, _>(KsvdParams { n_atoms, sparsity, initial, order, ..Default::default() });
}

fn scores_are_the_pursuit_residuals<T: Real>() {
    // Dictionaries of unequal size, one smaller than the sparsity, one with atoms of any norm.
    let p = 10;
    let mut dictionaries: Vec<Mat<T>> = [(1, 20), (2, 3), (3, 1), (4, 70)]
        .iter()
        .map(|&(seed, m)| random_unit_columns::<T>(p, m, seed))
        .collect();
    for j in 0..20 {
        for v in dictionaries[0].col_as_slice_mut(j) {
            *v *= T::of(0.3 + j as f64);
        }
    }
    // Past two blocks of signals.
    let X = random_matrix::<T>(p, 530, 9);
    let sparsity = 5;
    let predictions = rule(dictionaries.clone(), sparsity).classify(X.as_ref()).unwrap();
    for (l, D) in dictionaries.iter().enumerate() {
        let target = Target::Sparsity(sparsity.min(D.ncols()));
        let encoded = BatchOmp::new(D.as_ref()).unwrap().encode(X.as_ref(), target).unwrap();
        let left = &X - &encoded.codes.reconstruct(D.as_ref()).unwrap();
        for i in 0..530 {
            let sq_norm = X.col(i).squared_norm_l2().wide();
            let explicit = left.col(i).squared_norm_l2().wide();
            let gap = (predictions.scores[(l, i)] - explicit).abs();
            assert!(gap <= tolerance::<T>(p) * sq_norm, "class {l}, sample {i}: {gap:e}");
        }
    }
    for i in 0..530 {
        let r: Vec<f64> = (0..4).map(|l| predictions.scores[(l, i)]).collect();
        let mut sorted = r.clone();
        sorted.sort_by(f64::total_cmp);
        assert_eq!(r[predictions.labels[i]], sorted[0]);
        let margin = (sorted[1] - sorted[0]) / X.col(i).squared_norm_l2().wide();
        assert!((predictions.margins[i] - margin).abs() <= tolerance::<T>(p));
        assert!((0.0..=1.0).contains(&predictions.margins[i]));
    }
}

#[test]
fn scores_are_the_squared_residuals_of_the_codes() {
    scores_are_the_pursuit_residuals::<f64>();
    scores_are_the_pursuit_residuals::<f32>();
}

#[test]
fn equal_dictionaries_tie_and_the_lowest_index_wins() {
    let D = random_unit_columns::<f64>(6, 8, 1);
    let X = random_matrix::<f64>(6, 20, 2);
    let predictions = rule(vec![D.clone(), D.clone(), D], 2).classify(X.as_ref()).unwrap();
    assert!(predictions.labels.iter().all(|&l| l == 0));
    assert!(predictions.margins.iter().all(|&m| m == 0.0));
}

#[test]
fn zero_samples_get_the_lowest_class_no_margin_and_are_counted() {
    let dictionaries = vec![random_unit_columns::<f32>(6, 8, 1), random_unit_columns(6, 8, 2)];
    let mut X = random_matrix::<f32>(6, 300, 3);
    for i in [0, 5, 299] {
        X.col_as_slice_mut(i).fill(0.0);
    }
    let predictions = rule(dictionaries, 2).classify(X.as_ref()).unwrap();
    assert_eq!(predictions.n_zero_samples, 3);
    for i in [0, 5, 299] {
        assert_eq!((predictions.labels[i], predictions.margins[i]), (0, 0.0));
        assert_eq!((predictions.scores[(0, i)], predictions.scores[(1, i)]), (0.0, 0.0));
    }
}

#[test]
fn one_class_always_wins_with_full_margin() {
    let X = random_matrix::<f64>(6, 30, 1);
    let model = params(8, 2).train(X.as_ref(), &[0; 30]).unwrap();
    let mut new = random_matrix::<f64>(6, 9, 2);
    new.col_as_slice_mut(4).fill(0.0);
    let predictions = model.classify(new.as_ref()).unwrap();
    assert_eq!((model.n_classes(), model.sparsity()), (1, 2));
    assert_eq!(predictions.labels, [0; 9]);
    for (i, &margin) in predictions.margins.iter().enumerate() {
        assert_eq!(margin, if i == 4 { 0.0 } else { 1.0 });
    }
}

#[test]
fn classes_of_any_size_are_learned_and_small_ones_warn() {
    fn check<T: Real>() {
        // 40, 3 and 1 samples; 10 atoms asked for.
        let X = random_matrix::<T>(7, 44, 4);
        let labels: Vec<usize> =
            (0..44).map(|i| [0, 1, 2][usize::from(i >= 40) + usize::from(i == 43)]).collect();
        let model = params(10, 3).train(X.as_ref(), &labels).unwrap();
        let sizes: Vec<usize> = model.learned().iter().map(|c| c.dictionary.ncols()).collect();
        assert_eq!(sizes, [10, 10, 1]);
        let mixed = |from_samples| Warning::MixedAtoms { wanted: 10, from_samples };
        let warnings: Vec<(usize, Warning)> =
            model.warnings().map(|(l, w)| (l, w.clone())).collect();
        assert_eq!(warnings, [(1, mixed(3)), (2, Warning::FewerAtoms { wanted: 10, got: 1 })]);
        let predictions = model.classify(X.as_ref()).unwrap();
        assert_eq!(predictions.labels[43], 2);
        assert!(predictions.scores.col_iter().all(|r| r.iter().all(|v| v.is_finite())));
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn sparsity_beyond_the_atoms_uses_them_all() {
    let (X, labels) = clouds::<f64>(8, 30, 5);
    let trained = params(4, 2).train(X.as_ref(), &labels).unwrap();
    let classify = |sparsity| {
        ClassDictionaries::new(trained.learned().to_vec(), sparsity)
            .unwrap()
            .classify(X.as_ref())
            .unwrap()
    };
    assert_eq!(bits(&classify(1000).scores), bits(&classify(4).scores));
}

#[test]
fn bad_labels_and_parameters_are_named() {
    let X = random_matrix::<f64>(5, 12, 6);
    let train = |labels: &[usize]| params(3, 2).train(X.as_ref(), labels).map(|m| m.n_classes());
    let gap: Vec<usize> = (0..12).map(|i| if i % 2 == 0 { 0 } else { 2 }).collect();
    assert_eq!(train(&gap), Err(LkdlError::EmptyClass { class: 1 }));
    let mut far = vec![0; 12];
    for largest in [12, 99, usize::MAX] {
        far[3] = largest;
        assert_eq!(train(&far), Err(LkdlError::EmptyClass { class: 1 }), "{largest}");
    }
    assert_eq!(train(&[1; 12]), Err(LkdlError::EmptyClass { class: 0 }));
    assert!(matches!(train(&[0; 11]), Err(LkdlError::Shape { expected: 12, got: 11, .. })));
    let zero = ClassDictionariesParams { sparsity: 0, ..params::<f64>(3, 2) };
    let error = zero.train(X.as_ref(), &[0; 12]).unwrap_err();
    assert_eq!(error.to_string(), "sparsity is 0, but must be at least 1");
    let error = params::<f64>(3, 4).train(X.as_ref(), &[0; 12]).unwrap_err();
    assert_eq!(error.to_string(), "sparsity is 4, but must be between 1 and n_atoms = 3");
}

#[test]
fn a_class_of_zeros_has_nothing_to_learn_from() {
    let mut X = random_matrix::<f64>(5, 12, 6);
    (6..12).for_each(|i| X.col_as_slice_mut(i).fill(0.0));
    let labels: Vec<usize> = (0..12).map(|i| i / 6).collect();
    let error = params::<f64>(3, 2).train(X.as_ref(), &labels).unwrap_err();
    assert_eq!(error.to_string(), "class 1: samples is all zero; there is nothing to learn from");
}

#[test]
fn rules_from_parts_that_do_not_fit_are_refused() {
    let D = random_unit_columns::<f64>(6, 8, 1);
    assert!(matches!(ClassDictionaries::<f64>::new(vec![], 1), Err(LkdlError::Empty { .. })));
    assert!(ClassDictionaries::new(vec![learned(D.clone())], 0).is_err());
    let other = learned(random_unit_columns::<f64>(5, 8, 1));
    let error = ClassDictionaries::new(vec![learned(D.clone()), other], 2).unwrap_err();
    assert!(matches!(error, LkdlError::Shape { expected: 6, got: 5, .. }));
    let rule = rule(vec![D], 2);
    let X = random_matrix::<f64>(5, 3, 1);
    assert!(matches!(rule.classify(X.as_ref()), Err(LkdlError::Shape { .. })));
    let X = random_matrix::<f64>(6, 3, 1);
    assert!(rule.classify(X.as_ref()).unwrap().accuracy(&[0, 0]).is_err());
}

#[test]
fn samples_beyond_the_range_of_squares_are_an_error_not_nan() {
    let model = rule(vec![random_unit_columns::<f64>(6, 8, 1), random_unit_columns(6, 8, 2)], 2);
    let mut X = random_matrix::<f64>(6, 4, 3);
    X[(1, 2)] = 1e200;
    assert!(matches!(model.classify(X.as_ref()), Err(LkdlError::Unsupported { .. })));
    let error = params(2, 1).train(X.as_ref(), &[0, 0, 1, 1]).map(|m| m.n_classes());
    assert!(matches!(error, Err(LkdlError::Unsupported { .. })), "{error:?}");
    let model = rule(vec![random_unit_columns::<f32>(6, 8, 1), random_unit_columns(6, 8, 2)], 2);
    let X = Mat::from_fn(6, 1, |_, _| 1e25f32);
    assert!(matches!(model.classify(X.as_ref()), Err(LkdlError::Unsupported { .. })));
}

#[test]
fn bits_do_not_depend_on_the_thread_count() {
    fn check<T: Real>() {
        let ((X, labels), (new, _)) = (clouds::<T>(16, 400, 7), clouds::<T>(16, 900, 8));
        same_for_any_thread_count(|| {
            let model = params(30, 4).train(X.as_ref(), &labels).unwrap();
            let atoms: Vec<_> = model.learned().iter().map(|c| bits(&c.dictionary)).collect();
            let predictions = model.classify(new.as_ref()).unwrap();
            (atoms, predictions.labels, bits(&predictions.scores), predictions.margins)
        });
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn batches_join_in_order() {
    let dictionaries = vec![random_unit_columns::<f64>(6, 8, 1), random_unit_columns(6, 8, 2)];
    let model = rule(dictionaries, 2);
    let mut X = random_matrix::<f64>(6, 40, 3);
    X.col_as_slice_mut(39).fill(0.0);
    let whole = model.classify(X.as_ref()).unwrap();
    let parts =
        [0..15, 15..16, 16..40].map(|r| model.classify(X.subcols(r.start, r.len())).unwrap());
    let other = rule(vec![random_unit_columns::<f64>(6, 8, 1)], 2).classify(X.as_ref()).unwrap();
    assert!(Predictions::join(vec![parts[0].clone(), other]).is_err());
    let joined = Predictions::join(parts.into()).unwrap();
    assert_eq!((&joined.labels, joined.n_zero_samples), (&whole.labels, 1));
    for (a, b) in joined.margins.iter().zip(&whole.margins) {
        assert!((a - b).abs() < 1e-12);
    }
    assert_eq!((joined.scores.nrows(), joined.scores.ncols()), (2, 40));
    crate::testing::close(joined.scores.as_ref(), whole.scores.as_ref(), 1e-12);
}
