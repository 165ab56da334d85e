use super::*;
use crate::matrix::col;
use crate::testing::{close, random_matrix, same_for_any_thread_count, tolerance};

fn prepare<T: Real>(steps: &str, X: &Mat<T>) -> Prepared<T> {
    let params: PrepareParams = steps.parse().unwrap();
    params.fit(X.as_ref()).unwrap().apply(X.as_ref()).unwrap()
}

/// Features with means 3t and deviations about 2^t.
fn uneven<T: Real>(p: usize, n: usize) -> Mat<T> {
    let Z = random_matrix::<T>(p, n, 5);
    Mat::from_fn(p, n, |t, i| T::of(3.0 * t as f64 + (1 << t) as f64 * Z[(t, i)].wide()))
}

fn centred_samples_sum_to_zero_in<T: Real>() {
    for (p, n) in [(1, 1), (1, 5), (7, 1), (64, 300)] {
        let X = prepare("center", &uneven::<T>(p.min(20), n)).samples;
        for i in 0..n {
            let x = columns_of(&X).col(i).as_slice();
            let size: f64 = x.iter().map(|v| v.wide().abs()).sum();
            let sum: f64 = x.iter().map(|v| v.wide()).sum();
            assert!(sum.abs() <= tolerance::<T>(1) * size.max(1.0), "{sum} of {size}");
        }
    }
}

#[test]
fn centred_samples_sum_to_zero() {
    centred_samples_sum_to_zero_in::<f64>();
    centred_samples_sum_to_zero_in::<f32>();
}

fn l2_gives_unit_norms_in<T: Real>() {
    let X = prepare("center,l2", &uneven::<T>(9, 300)).samples;
    for i in 0..300 {
        assert!((vector::norm_sq(col(columns_of(&X), i)) - 1.0).abs() <= tolerance::<T>(1));
    }
    close(prepare("l2", &X).samples.as_ref(), X.as_ref(), 2.0 * T::EPS);
}

#[test]
fn l2_gives_unit_norms_and_is_idempotent() {
    l2_gives_unit_norms_in::<f64>();
    l2_gives_unit_norms_in::<f32>();
}

#[test]
fn l2_reaches_samples_whose_squares_leave_the_range() {
    for size in [1e-200, 1e200, f64::MIN_POSITIVE * 1e-10, f64::MAX] {
        let X = prepare("l2", &Mat::from_fn(4, 1, |_, _| size));
        assert_eq!(X.n_zero, 0);
        assert!(X.samples.col(0).iter().all(|v| (v - 0.5).abs() < 1e-15), "{size}");
    }
    let X = prepare("l2", &Mat::from_fn(4, 1, |_, _| f32::MIN_POSITIVE));
    assert!(X.samples.col(0).iter().all(|v| (v - 0.5).abs() < 1e-6));
}

#[test]
fn zero_and_constant_samples_become_zero_and_are_counted() {
    // 0.1 · 7 / 7 ≠ 0.1 in floating point: a naive mean leaves a residue that l2 would blow up
    let mut X = Mat::from_fn(7, 4, |_, i| 0.1 * i as f64);
    X[(3, 2)] = 9.0;
    let prepared = prepare("center,l2", &X);
    assert_eq!(prepared.n_zero, 3);
    assert_eq!(prepared.warning(), Some(Warning::ZeroSamples { count: 3 }));
    for i in [0, 1, 3] {
        assert!(prepared.samples.col(i).iter().all(|v| *v == 0.0));
    }
    assert_eq!(prepare("l2", &X).n_zero, 1);
    assert_eq!(prepare("l2", &Mat::from_fn(2, 3, |_, _| 1.0f32)).warning(), None);
}

fn standardised_features_in<T: Real>() {
    let (p, n) = (9, 700);
    let X = prepare("standardize", &uneven::<T>(p, n)).samples;
    for t in 0..p {
        let sum: f64 = X.row(t).iter().map(|v| v.wide()).sum();
        let squares: f64 = X.row(t).iter().map(|v| v.wide() * v.wide()).sum();
        assert!((sum / n as f64).abs() <= tolerance::<T>(p), "feature {t}: {sum}");
        assert!((squares / n as f64 - 1.0).abs() <= tolerance::<T>(p), "feature {t}");
    }
}

#[test]
fn standardised_features_have_mean_0_and_variance_1() {
    standardised_features_in::<f64>();
    standardised_features_in::<f32>();
}

#[test]
fn constant_features_keep_scale_1_and_become_0() {
    let mut X = uneven::<f64>(3, 300);
    let wobble = 1e6 * f64::EPSILON; // one unit in the last place of 1e6, or nearly
    for i in 0..300 {
        X[(1, i)] = 0.1;
        X[(2, i)] = 1e6 + if i % 2 == 0 { wobble } else { 0.0 };
    }
    let fitted = PrepareParams { steps: vec![Step::Standardize] }.fit(X.as_ref()).unwrap();
    let [FittedStep::Standardize { mean, scale }] = fitted.steps() else { panic!() };
    assert_eq!((mean[1], &scale[1..]), (0.1, &[1.0, 1.0][..]));
    let prepared = fitted.apply(X.as_ref()).unwrap().samples;
    assert!(prepared.row(1).iter().all(|v| *v == 0.0));
    assert!(prepared.row(2).iter().all(|v| v.abs() <= 2.0 * wobble));
    // one sample: every feature is constant
    let one = uneven::<f32>(5, 1);
    assert_eq!(prepare("standardize", &one).n_zero, 1);
}

#[test]
fn a_step_learns_from_what_the_steps_before_it_leave() {
    let X = uneven::<f64>(6, 300);
    let whole = prepare("center,l2,standardize", &X).samples;
    let by_hand = prepare("standardize", &prepare("l2", &prepare("center", &X).samples).samples);
    assert_eq!(whole, by_hand.samples);
}

#[test]
fn new_samples_use_the_training_statistics() {
    let X = uneven::<f64>(4, 50);
    let fitted = PrepareParams { steps: vec![Step::Standardize] }.fit(X.as_ref()).unwrap();
    let all = fitted.apply(X.as_ref()).unwrap().samples;
    let one = fitted.apply(X.as_ref().subcols(7, 1)).unwrap().samples;
    assert_eq!(one.as_ref(), all.as_ref().subcols(7, 1));
    // row-major input gives the same values
    let rows = X.transpose().to_owned();
    assert_eq!(fitted.apply(rows.transpose()).unwrap().samples, all);
    assert_eq!(fitted.apply_in_place(X).unwrap().samples, all);
}

#[test]
fn an_empty_chain_changes_nothing() {
    let X = uneven::<f32>(4, 5);
    assert_eq!(prepare("none", &X), Prepared { samples: X, n_zero: 0 });
}

#[test]
fn names_are_read_back_as_written() {
    for names in ["none", "center", "l2", "standardize", "center,l2", "l2,standardize,l2"] {
        assert_eq!(names.parse::<PrepareParams>().unwrap().to_string(), names);
    }
    let spaced = "center, l2".parse::<PrepareParams>().unwrap();
    assert_eq!(spaced.steps, [Step::CenterSample, Step::UnitNorm]);
    for names in ["", "centre", "l2,", "none,l2"] {
        let error = names.parse::<PrepareParams>().unwrap_err();
        assert!(matches!(error, LkdlError::Parameter { name: "preparation step", .. }));
    }
}

#[test]
fn a_preparation_is_rebuilt_from_its_parts() {
    let params: PrepareParams = "center,standardize,l2".parse().unwrap();
    let fitted = params.fit(uneven::<f32>(5, 40).as_ref()).unwrap();
    let again = Preparation::from_parts(fitted.n_features(), fitted.steps().to_vec()).unwrap();
    assert_eq!(again, fitted);
    assert_eq!(again.params(), params);
}

#[test]
fn bad_parts_and_samples_are_typed_errors() {
    let step = |mean: &[f64], scale: &[f64]| FittedStep::Standardize {
        mean: mean.to_vec(),
        scale: scale.to_vec(),
    };
    assert!(Preparation::<f64>::from_parts(0, vec![]).is_err());
    for bad in [
        step(&[0.0], &[1.0, 1.0]),
        step(&[0.0, 0.0], &[1.0]),
        step(&[0.0, f64::NAN], &[1.0, 1.0]),
        step(&[0.0, 0.0], &[1.0, 0.0]),
        step(&[0.0, 0.0], &[f64::INFINITY, 1.0]),
    ] {
        assert!(Preparation::from_parts(2, vec![bad]).is_err());
    }
    let fitted = PrepareParams::default().fit(uneven::<f64>(5, 4).as_ref()).unwrap();
    assert_eq!(
        fitted.apply(uneven::<f64>(6, 4).as_ref()),
        Err(LkdlError::Shape { what: "n_features of samples", expected: 5, got: 6 })
    );
    let mut X = uneven::<f64>(5, 4);
    X[(2, 3)] = f64::NAN;
    assert!(matches!(fitted.apply_in_place(X), Err(LkdlError::NonFinite { row: 2, col: 3, .. })));
}

#[test]
fn overflow_is_an_error_not_a_nan() {
    let X = Mat::from_fn(2, 2, |t, i| if (t + i) % 2 == 0 { f64::MAX } else { -f64::MAX });
    let params = |names: &str| names.parse::<PrepareParams>().unwrap();
    assert!(matches!(
        params("standardize").fit(X.as_ref()),
        Err(LkdlError::Unsupported { what: "standardize", .. })
    ));
    let center = params("center").fit(X.as_ref()).unwrap();
    assert!(matches!(center.apply(X.as_ref()), Err(LkdlError::NonFinite { .. })));
}

#[test]
fn no_bit_depends_on_the_thread_count() {
    let X = uneven::<f32>(9, 2000);
    same_for_any_thread_count(|| {
        let fitted = "standardize,center,l2".parse::<PrepareParams>().unwrap();
        let fitted = fitted.fit(X.as_ref()).unwrap();
        let prepared = fitted.apply(X.as_ref()).unwrap();
        (fitted, prepared)
    });
}
