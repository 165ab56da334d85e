//! Invariants of SRC (part 6).

use super::*;
use crate::testing::{
    bits, close, random_matrix, random_unit_columns, same_for_any_thread_count, tolerance,
};

const OMP: SrcCoding = SrcCoding::Omp { sparsity: 4 };
const LASSO: SrcCoding = SrcCoding::Lasso { relative_penalty: 0.1 };

/// OMP with and without the Gram matrix, and the lasso.
fn all() -> [SrcParams; 3] {
    [
        SrcParams { coding: OMP, ..Default::default() },
        SrcParams { coding: OMP, max_gram: 0 },
        SrcParams { coding: LASSO, ..Default::default() },
    ]
}

fn clouds<T: Real>(p: usize, n: usize, seed: u64) -> (Mat<T>, Vec<usize>) {
    let (centres, noise) = (random_unit_columns::<T>(p, 3, 5), random_matrix::<T>(p, n, seed));
    let X = Mat::from_fn(p, n, |t, i| {
        let scale = 0.5 + (i % 4) as f64;
        T::of(scale * (centres[(t, i % 3)].wide() + 0.1 * noise[(t, i)].wide()))
    });
    (X, (0..n).map(|i| i % 3).collect())
}

fn own_class<T: Real>() {
    // Labels without any structure: nothing but the sample itself can tell its class.
    let X = random_matrix::<T>(6, 50, 1);
    let labels: Vec<usize> = (0..50).map(|i| (i * i + i / 7) % 4).collect();
    for params in all() {
        let model = params.train(X.as_ref(), &labels).unwrap();
        let predictions = model.classify(X.as_ref()).unwrap();
        assert_eq!(predictions.labels, labels, "{params:?}");
        let codes = model.encode(X.as_ref()).unwrap();
        for i in 0..50 {
            let (atoms, values) = codes.signal(i);
            let sq_norm = X.col(i).squared_norm_l2().wide();
            // OMP takes the sample itself and is done. The lasso takes (1 − λ′) of it: then every
            // other atom correlates with what is left no more than it does.
            let kept = if params.coding == LASSO { 0.9 } else { 1.0 };
            assert_eq!(atoms, [i as u32], "{params:?}");
            assert!((values[0].wide() - kept * sq_norm.sqrt()).abs() < 1e-4 * sq_norm.sqrt());
            let left = (1.0 - kept) * (1.0 - kept) * sq_norm;
            let own = predictions.scores[(labels[i], i)];
            assert!((own - left).abs() <= 1e-4 * sq_norm, "{own} {left}");
        }
    }
}

#[test]
fn a_training_sample_is_given_its_own_class() {
    own_class::<f64>();
    own_class::<f32>();
}

fn scores_by_definition<T: Real>() {
    let ((X, labels), new) = (clouds::<T>(7, 40, 2), random_matrix::<T>(7, 270, 3));
    for params in all() {
        let model = params.train(X.as_ref(), &labels).unwrap();
        let codes = model.encode(new.as_ref()).unwrap().to_dense();
        let predictions = model.classify(new.as_ref()).unwrap();
        for i in 0..270 {
            let sq_norm = new.col(i).squared_norm_l2().wide();
            for l in 0..3 {
                let left = |t: usize| {
                    let part: f64 = (0..40)
                        .filter(|&j| labels[j] == l)
                        .map(|j| model.dictionary()[(t, j)].wide() * codes[(j, i)].wide())
                        .sum();
                    new[(t, i)].wide() - part
                };
                let naive: f64 = (0..7).map(|t| left(t).powi(2)).sum();
                let gap = (predictions.scores[(l, i)] - naive).abs();
                assert!(gap <= tolerance::<T>(7) * (sq_norm + naive), "{params:?}: {gap:e}");
            }
        }
    }
}

#[test]
fn scores_are_the_residuals_of_every_class_part_of_the_code() {
    scores_by_definition::<f64>();
    scores_by_definition::<f32>();
}

#[test]
fn with_and_without_the_gram_matrix_it_is_the_same() {
    let ((X, labels), new) = (clouds::<f64>(9, 60, 4), random_matrix::<f64>(9, 300, 5));
    let [with, without, _] = all();
    let classify = |params: &SrcParams| {
        params.train(X.as_ref(), &labels).unwrap().classify(new.as_ref()).unwrap()
    };
    let (a, b) = (classify(&with), classify(&without));
    assert_eq!(a.labels, b.labels);
    close(a.scores.as_ref(), b.scores.as_ref(), 1e-12);
}

#[test]
fn classes_are_told_apart_and_permuting_labels_permutes_predictions() {
    fn check<T: Real>() {
        let ((X, labels), (new, truth)) = (clouds::<T>(8, 60, 6), clouds::<T>(8, 300, 7));
        let permutation = [2, 0, 1];
        let permuted: Vec<usize> = labels.iter().map(|&l| permutation[l]).collect();
        for params in all() {
            let classify = |labels: &[usize]| {
                params.train(X.as_ref(), labels).unwrap().classify(new.as_ref()).unwrap()
            };
            let (a, b) = (classify(&labels), classify(&permuted));
            assert_eq!(a.labels, truth, "{params:?}");
            assert_eq!(a.labels.iter().map(|&l| permutation[l]).collect::<Vec<_>>(), b.labels);
            assert_eq!(a.margins, b.margins);
            for i in 0..300 {
                for l in 0..3 {
                    assert_eq!(a.scores[(l, i)], b.scores[(permutation[l], i)]);
                }
            }
        }
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn the_norm_of_samples_does_not_matter() {
    let ((X, labels), new) = (clouds::<f64>(8, 40, 8), random_matrix::<f64>(8, 60, 9));
    let scaled = |X: &Mat<f64>| {
        Mat::from_fn(X.nrows(), X.ncols(), |t, i| X[(t, i)] * 10f64.powi(i as i32 % 7 - 3))
    };
    for params in all() {
        let model = params.train(X.as_ref(), &labels).unwrap();
        let other = params.train(scaled(&X).as_ref(), &labels).unwrap();
        close(other.dictionary(), model.dictionary(), 1e-14);
        let (a, b) =
            (model.classify(new.as_ref()).unwrap(), model.classify(scaled(&new).as_ref()).unwrap());
        assert_eq!(a.labels, b.labels);
        for (a, b) in a.margins.iter().zip(&b.margins) {
            assert!((a - b).abs() < 1e-5, "{a} {b}"); // the lasso's gap
        }
    }
}

#[test]
fn bits_do_not_depend_on_the_thread_count() {
    fn check<T: Real>() {
        let ((X, labels), new) = (clouds::<T>(8, 70, 1), random_matrix::<T>(8, 600, 2));
        same_for_any_thread_count(|| {
            all().map(|params| {
                let model = params.train(X.as_ref(), &labels).unwrap();
                bits(&model.classify(new.as_ref()).unwrap().scores)
            })
        });
    }
    check::<f64>();
    check::<f32>();
}

fn awkward<T: Real>() {
    for params in all() {
        let sound = |X: &Mat<T>, labels: &[usize]| {
            let model = params.train(X.as_ref(), labels).unwrap();
            let predictions = model.classify(X.as_ref()).unwrap();
            let finite = |v: &f64| v.is_finite() && *v >= 0.0;
            assert!(predictions.scores.col_iter().all(|s| s.iter().all(finite)));
            assert!(predictions.margins.iter().all(|m| (0.0..=1.0).contains(m)));
            (model, predictions)
        };
        // one sample, one feature, one class; fewer samples than the sparsity
        sound(&random_matrix::<T>(5, 1, 1), &[0]);
        sound(&random_matrix::<T>(1, 20, 1), &[0, 1].repeat(10));
        let (_, one) = sound(&random_matrix::<T>(4, 3, 1), &[0; 3]);
        assert_eq!((one.labels, one.margins), (vec![0; 3], vec![1.0; 3]));
        // a class of one sample, copies and zeros
        let (mut X, mut labels) = clouds::<T>(5, 30, 3);
        labels[29] = 3;
        let copy = X.col_as_slice(0).to_vec();
        X.col_as_slice_mut(3).copy_from_slice(&copy);
        (9..12).for_each(|i| X.col_as_slice_mut(i).fill(T::of(0.0)));
        let (model, predictions) = sound(&X, &labels);
        assert_eq!(model.warnings(), [Warning::ZeroSamples { count: 3 }]);
        assert_eq!((predictions.n_zero_samples, predictions.labels[10]), (3, 0));
        assert_eq!((predictions.labels[29], model.n_classes()), (3, 4));
    }
}

#[test]
fn awkward_samples_are_classified_around() {
    awkward::<f64>();
    awkward::<f32>();
}

#[test]
fn bad_parameters_and_samples_are_named() {
    let (X, labels) = clouds::<f64>(5, 30, 1);
    let error = |coding| {
        let params = SrcParams { coding, ..Default::default() };
        params.train(X.as_ref(), &labels).unwrap_err().to_string()
    };
    assert_eq!(error(SrcCoding::Omp { sparsity: 0 }), "sparsity is 0, but must be at least 1");
    for relative_penalty in [0.0, -1.0, 1.0, f64::NAN] {
        let text = error(SrcCoding::Lasso { relative_penalty });
        assert!(text.starts_with("relative_penalty is"), "{text}");
    }
    let mut zero = X.clone();
    (1..30).step_by(3).for_each(|i| zero.col_as_slice_mut(i).fill(0.0));
    let text = SrcParams::default().train(zero.as_ref(), &labels).unwrap_err().to_string();
    assert_eq!(text, "class 1: samples is all zero; there is nothing to learn from");
    let model = SrcParams::default().train(X.as_ref(), &labels).unwrap();
    assert!(model.classify(random_matrix::<f64>(4, 2, 1).as_ref()).is_err());
    let many = Mat::<f32>::from_fn(1, MAX_LASSO_ATOMS + 1, |_, _| 1.0);
    let params = SrcParams { coding: LASSO, ..Default::default() };
    let error = params.train(many.as_ref(), &vec![0; many.ncols()]).unwrap_err();
    assert!(matches!(error, LkdlError::Unsupported { .. }), "{error}");
}

#[test]
fn the_plan_counts_the_gram_matrix_only_where_it_is_formed() {
    let bytes = |params: &SrcParams, n| Train::<f64>::training_bytes(params, 10, &[n, n], 2);
    let [with, without, lasso] = all();
    assert_eq!(bytes(&without, 1000), 10 * 2000 * 8);
    assert!(bytes(&with, 1000) >= (10 * 2000 + 2 * 2000 * 2000) * 8);
    assert_eq!(bytes(&with, 4000), bytes(&without, 4000));
    assert_eq!(bytes(&lasso, 1000), (2 * 10 * 2000 + 2000 * 2000) * 8);
}
