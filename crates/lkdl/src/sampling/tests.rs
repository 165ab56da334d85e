//! What every sampler must do, whatever its way of choosing.

use super::*;
use crate::linalg::full_eigen;
use crate::matrix::col;
use crate::testing::{random_matrix, same_for_any_thread_count};

const GAUSSIAN: Kernel = Kernel::Gaussian { sigma: 1.5 };

/// Every sampler with a name, settings that no name stands for, and draws with replacement.
fn all_samplers() -> Vec<Sampler> {
    let mut all: Vec<Sampler> = Sampler::names().map(|name| name.parse().unwrap()).collect();
    all.extend([
        Sampler::Diagonal { squared: false },
        Sampler::ColumnNorm { rows: Some(1) },
        Sampler::k_means(Seeding::RpCholesky),
    ]);
    let drawn = ["uniform", "diagonal", "column-norm", "coreset", "coreset-constant"];
    all.extend(drawn.map(|name| Sampler::WithReplacement(Box::new(name.parse().unwrap()))));
    all
}

fn params(sampler: &Sampler, n_landmarks: usize, seed: u64) -> LandmarkParams {
    let n_landmarks = LandmarkCount::Exact(n_landmarks);
    LandmarkParams { sampler: sampler.clone(), n_landmarks, seed, memory: None }
}

fn select<T: Real>(sampler: &Sampler, X: &Mat<T>, c: usize, seed: u64) -> Landmarks<T> {
    params(sampler, c, seed).select(&GAUSSIAN, X.as_ref()).unwrap()
}

/// Everything chosen, comparable whatever the shapes.
fn chosen<T: Real>(sampler: &Sampler, X: &Mat<T>, c: usize, seed: u64) -> (Vec<T>, Vec<Warning>) {
    let landmarks = select(sampler, X, c, seed);
    let points = landmarks.points.col_iter().flat_map(|x| x.iter().copied()).collect();
    (points, landmarks.warnings)
}

/// tr(K − CW†Cᵀ)/tr K, with W's eigenvalues below rounding left out.
fn trace_error(kernel: &Kernel, X: &Mat<f64>, landmarks: &Landmarks<f64>) -> f64 {
    let panel = landmarks.panel(kernel, X.as_ref()).unwrap();
    let C = panel.evaluate(X.as_ref()).unwrap();
    let W = full_eigen(panel.gram().unwrap().as_ref()).unwrap();
    let VC = W.vectors.transpose() * &C;
    let diag = kernel.diagonal(X.as_ref()).unwrap();
    let captured: f64 = (0..VC.nrows())
        .filter(|&j| W.values[j] > 1e-12 * W.values[0])
        .map(|j| VC.row(j).iter().map(|v| v * v).sum::<f64>() / W.values[j])
        .sum();
    1.0 - captured / diag.iter().sum::<f64>()
}

/// No two equal points, indices that match, and a warning exactly when some are missing.
fn is_sound<T: Real>(landmarks: &Landmarks<T>, X: &Mat<T>, wanted: usize) {
    let got = landmarks.points.ncols();
    assert!(got >= 1 && got <= wanted);
    assert_eq!(distinct(columns_of(&landmarks.points)).len(), got);
    assert!(landmarks.points.col_iter().all(|x| x.iter().all(|v| v.is_finite())));
    if let Some(indices) = &landmarks.indices {
        assert_eq!(indices.len(), got);
        for (j, &i) in indices.iter().enumerate() {
            assert_eq!(landmarks.points.col_as_slice(j), col(columns_of(X), i));
        }
    }
    let fewer = Warning::FewerLandmarks { wanted, got };
    assert_eq!(landmarks.warnings.contains(&fewer), got < wanted);
}

#[test]
fn landmarks_are_distinct_and_as_many_as_asked_for() {
    let X = random_matrix::<f64>(3, 150, 1);
    for sampler in all_samplers() {
        let landmarks = select(&sampler, &X, 40, 3);
        is_sound(&landmarks, &X, 40);
        if !matches!(sampler, Sampler::WithReplacement(_)) {
            assert_eq!(landmarks.points.ncols(), 40, "{sampler:?}");
        }
    }
}

#[test]
fn repeated_samples_count_as_one() {
    fn check<T: Real>() {
        let base = random_matrix::<T>(3, 12, 1);
        let X = Mat::from_fn(3, 300, |r, i| base[(r, (i * i) % 12)]);
        let groups = distinct(columns_of(&X)).len();
        for sampler in all_samplers() {
            for c in [1, 3, groups, 30, 300] {
                let landmarks = select(&sampler, &X, c, 3);
                is_sound(&landmarks, &X, c);
                assert!(landmarks.points.ncols() <= groups, "{sampler:?}");
                if !matches!(
                    sampler,
                    Sampler::WithReplacement(_) | Sampler::KMeans { .. } | Sampler::Hybrid { .. }
                ) {
                    assert_eq!(landmarks.points.ncols(), c.min(groups), "{sampler:?} {c}");
                }
            }
        }
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn the_seed_decides_everything() {
    let X = random_matrix::<f32>(3, 200, 1);
    for sampler in all_samplers() {
        assert_eq!(chosen(&sampler, &X, 20, 3), chosen(&sampler, &X, 20, 3), "{sampler:?}");
        let moved = chosen(&sampler, &X, 20, 3).0 != chosen(&sampler, &X, 20, 4).0;
        assert_eq!(moved, sampler != Sampler::GreedyCholesky, "{sampler:?}");
    }
}

#[test]
fn bits_do_not_depend_on_the_thread_count() {
    let X = random_matrix::<f32>(4, 700, 1);
    for sampler in all_samplers() {
        same_for_any_thread_count(|| chosen(&sampler, &X, 70, 3));
    }
}

#[test]
fn no_sampler_beats_the_best_approximation_of_its_rank() {
    let X = random_matrix::<f64>(3, 160, 2);
    for kernel in [GAUSSIAN, Kernel::Polynomial { degree: 3.0, offset: 1.0 }] {
        let K = Panel::new(&kernel, X.as_ref()).unwrap().gram().unwrap();
        let spectrum = full_eigen(K.as_ref()).unwrap().values;
        let best = spectrum[12..].iter().sum::<f64>() / spectrum.iter().sum::<f64>();
        for sampler in all_samplers() {
            let landmarks = params(&sampler, 12, 5).select(&kernel, X.as_ref()).unwrap();
            let error = trace_error(&kernel, &X, &landmarks);
            assert!(error >= best - 1e-12 && error < 1.0, "{sampler:?}: {error} < {best}");
            if let Some(certificate) = landmarks.trace_error {
                assert!((certificate - error).abs() < 1e-9, "{sampler:?}: {certificate} {error}");
            }
        }
    }
}

#[test]
fn mean_error_falls_with_the_number_of_landmarks() {
    let X = random_matrix::<f64>(3, 160, 2);
    for sampler in all_samplers() {
        let mean = |c| -> f64 {
            (0..6).map(|s| trace_error(&GAUSSIAN, &X, &select(&sampler, &X, c, s))).sum::<f64>()
        };
        let errors = [4, 8, 16, 32].map(mean);
        assert!(errors.windows(2).all(|w| w[1] < w[0]), "{sampler:?}: {errors:?}");
    }
}

#[test]
fn adaptive_samplers_beat_uniform_where_a_cluster_dominates() {
    // 290 samples in one tight cluster, 10 spread out: uniform draws miss the latter.
    let noise = random_matrix::<f64>(2, 300, 4);
    let X = Mat::from_fn(2, 300, |r, i| noise[(r, i)] * if i < 290 { 0.1 } else { 8.0 });
    let mean = |sampler: &Sampler| -> f64 {
        (0..5).map(|s| trace_error(&GAUSSIAN, &X, &select(sampler, &X, 15, s))).sum::<f64>() / 5.0
    };
    let uniform = mean(&Sampler::Uniform);
    for sampler in [
        Sampler::RpCholesky,
        Sampler::GreedyCholesky,
        Sampler::LeverageScores,
        Sampler::default(),
        Sampler::KMeansPlusPlus { kernel_distance: true },
    ] {
        assert!(mean(&sampler) < 0.5 * uniform, "{sampler:?}: {} {uniform}", mean(&sampler));
    }
}

#[test]
fn draws_with_replacement_keep_the_published_share() {
    let X = random_matrix::<f64>(2, 1000, 2);
    for inner in [Sampler::Uniform, Sampler::Diagonal { squared: true }] {
        for c in [300, 1000] {
            let sampler = Sampler::WithReplacement(Box::new(inner.clone()));
            let kept = select(&sampler, &X, c, 1).points.ncols() as f64;
            let expected = 1000.0 * (1.0 - (-(c as f64) / 1000.0).exp());
            assert!((kept - expected).abs() < 40.0, "{inner:?}: {kept} {expected}");
        }
    }
}

#[test]
fn awkward_shapes_have_landmarks_too() {
    let one = random_matrix::<f64>(3, 1, 1);
    let line = random_matrix::<f64>(1, 30, 1);
    let zeros = Mat::<f64>::zeros(3, 30);
    let mut some_zeros = random_matrix::<f64>(3, 30, 1);
    some_zeros.as_mut().subcols_mut(0, 20).fill(0.0);
    for kernel in [GAUSSIAN, Kernel::Linear, Kernel::Cosine] {
        for sampler in all_samplers() {
            for (X, c) in [(&one, 1), (&line, 1), (&line, 7), (&zeros, 7), (&some_zeros, 11)] {
                let landmarks = params(&sampler, c, 2).select(&kernel, X.as_ref()).unwrap();
                is_sound(&landmarks, X, c);
            }
        }
    }
}

#[test]
fn as_many_landmarks_as_samples_takes_them_all() {
    let X = random_matrix::<f64>(3, 25, 1);
    for sampler in all_samplers() {
        let landmarks = select(&sampler, &X, 25, 1);
        if !matches!(sampler, Sampler::WithReplacement(_)) {
            assert_eq!(landmarks.indices, Some((0..25).collect()), "{sampler:?}");
            assert_eq!(landmarks.trace_error, Some(0.0));
        }
        for c in [0, 26] {
            let error = params(&sampler, c, 1).select(&GAUSSIAN, X.as_ref()).unwrap_err();
            let range = format!("n_landmarks is {c}, but must be between 1 and n_samples = 25");
            assert_eq!(error.to_string(), range);
        }
    }
}

#[test]
fn given_indices_are_used_without_repeats() {
    let X = random_matrix::<f64>(3, 9, 1);
    let landmarks = select(&Sampler::Given(vec![7, 2, 7]), &X, 5, 1);
    assert_eq!(landmarks.indices, Some(vec![7, 2]));
    assert_eq!(landmarks.warnings, [Warning::FewerLandmarks { wanted: 3, got: 2 }]);
    for bad in [vec![], vec![0, 9]] {
        assert!(params(&Sampler::Given(bad), 2, 1).select(&GAUSSIAN, X.as_ref()).is_err());
    }
}

#[test]
fn a_kernel_without_vectors_refuses_means_and_turns_hybrid_into_pivots() {
    let X = random_matrix::<f64>(3, 60, 1);
    let K = Panel::new(&GAUSSIAN, X.as_ref()).unwrap().evaluate(X.as_ref()).unwrap();
    for sampler in all_samplers() {
        let result = params(&sampler, 10, 1).select(&Kernel::Precomputed, K.as_ref());
        if sampler.needs_vectors() {
            assert!(matches!(result, Err(LkdlError::Unsupported { .. })), "{sampler:?}");
            continue;
        }
        let landmarks = result.unwrap();
        let (from_matrix, from_vectors) = (landmarks.indices.unwrap(), select(&sampler, &X, 10, 1));
        if let Some(indices) = from_vectors.indices {
            assert_eq!(from_matrix, indices, "{sampler:?}");
        }
    }
    let hybrid = params(&Sampler::default(), 10, 1).select(&Kernel::Precomputed, K.as_ref());
    assert_eq!(hybrid.unwrap().indices, select(&Sampler::RpCholesky, &X, 10, 1).indices);
    let flat = X.as_ref().subrows(0, 2);
    assert!(params(&Sampler::RpCholesky, 10, 1).select(&Kernel::Precomputed, flat).is_err());
}

#[test]
fn a_tight_budget_means_a_pilot_and_a_tighter_one_an_error() {
    let X = random_matrix::<f32>(3, 1000, 1);
    let with_budget = |memory| LandmarkParams {
        sampler: Sampler::RpCholesky,
        n_landmarks: LandmarkCount::Exact(10),
        seed: 1,
        memory: Some(memory),
    };
    // 32 bytes per sample and four copies of the landmarks, then the factor's rows.
    let fixed = |p: u64| 32 * 1000 + 4 * p * 10 * 4;
    let pilot_row = |p: u64| 10 * 4 + p * 4;
    let roomy = with_budget(fixed(3) + 1000 * 10 * 4).select(&GAUSSIAN, X.as_ref()).unwrap();
    assert!(roomy.warnings.is_empty() && roomy.trace_error.is_some());
    let pilot = with_budget(fixed(3) + 300 * pilot_row(3)).select(&GAUSSIAN, X.as_ref()).unwrap();
    assert_eq!(pilot.warnings, [Warning::PilotSample { used: 300, of: 1000 }]);
    assert_eq!((pilot.trace_error, pilot.points.ncols()), (None, 10));
    is_sound(&pilot, &X, 10);
    let tight = fixed(3) + 200 * pilot_row(3) - 1;
    let error = with_budget(tight).select(&GAUSSIAN, X.as_ref()).unwrap_err();
    let need = fixed(3) + 200 * pilot_row(3);
    assert_eq!(error, LkdlError::Memory { stage: "landmark selection", need, budget: tight });
    let budget = fixed(3) + 300 * pilot_row(3);
    let hybrid = LandmarkParams { sampler: Sampler::default(), ..with_budget(budget) };
    let warnings = hybrid.select(&GAUSSIAN, X.as_ref()).unwrap().warnings;
    assert_eq!(warnings, [Warning::PilotSample { used: 300, of: 1000 }]);
}

#[test]
fn bad_parameters_are_refused() {
    let X = random_matrix::<f64>(3, 30, 1);
    let k_means = |max_iters, tol| Sampler::KMeans { max_iters, tol, seeding: Seeding::Uniform };
    for sampler in [
        k_means(0, 0.1),
        k_means(5, -1.0),
        k_means(5, f64::NAN),
        Sampler::ColumnNorm { rows: Some(31) },
        Sampler::WithReplacement(Box::new(Sampler::RpCholesky)),
    ] {
        assert!(params(&sampler, 5, 1).select(&GAUSSIAN, X.as_ref()).is_err(), "{sampler:?}");
    }
    let own = Landmarks::from_points(X.subcols(0, 4));
    assert_eq!(own.panel(&GAUSSIAN, X.as_ref()).unwrap().len(), 4);
    assert!(own.panel(&Kernel::Precomputed, X.as_ref()).is_err());
}

#[test]
fn exact_pivots_are_not_moved_to_where_they_span_less() {
    // Centred samples: the means of their clusters, weighted, add up to zero.
    let mut X = random_matrix::<f64>(2, 60, 41);
    for t in 0..2 {
        let mean = (0..60).map(|i| X[(t, i)]).sum::<f64>() / 60.0;
        (0..60).for_each(|i| X[(t, i)] -= mean);
    }
    let params =
        LandmarkParams { n_landmarks: LandmarkCount::Exact(2), seed: 3, ..Default::default() };
    let landmarks = params.select(&Kernel::Linear, X.as_ref()).unwrap();
    assert_eq!(landmarks.points.ncols(), 2);
    let Y = &landmarks.points;
    let determinant = Y[(0, 0)] * Y[(1, 1)] - Y[(0, 1)] * Y[(1, 0)];
    assert!(determinant.abs() > 1e-3 * Y.squared_norm_l2(), "{Y:?}");
}
