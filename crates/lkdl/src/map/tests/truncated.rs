//! How good the approximation is, and what tells it.

use super::*;
use crate::error::Warning;
use crate::sampling::Seeding;
use crate::testing::same_for_any_thread_count;

/// The smallest eigenvalue of a symmetric matrix.
fn lowest(A: &Mat<f64>) -> f64 {
    *full_eigen(A.as_ref()).unwrap().values.last().unwrap()
}

/// The singular values of a symmetric matrix, descending.
fn magnitudes(A: &Mat<f64>) -> Vec<f64> {
    let values = full_eigen(A.as_ref()).unwrap().values;
    let mut values: Vec<f64> = values.into_iter().map(f64::abs).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

fn approximation_is_from_below<T: Real>() {
    let X = samples::<T>(5, 80, 1);
    for kernel in semidefinite_kernels() {
        let K = dense(&kernel, &X);
        let peak = (0..80).map(|i| K[(i, i)]).fold(0.0, f64::max);
        for variant in VARIANTS {
            for rank in [3, 20] {
                let params = variant_params(variant, &kernel, 20, rank);
                let left = &K - &approximation(&params, &X);
                // τ of the spectrum's cut; rounding of F adds up over its N columns.
                let tau = 30.0 * 80f64.sqrt() * T::EPS * peak;
                let low = lowest(&left);
                assert!(low >= -tau, "{kernel} {variant:?} {}: {low:e} < {:e}", T::NAME, -tau);
            }
        }
    }
}

#[test]
fn what_is_left_of_the_kernel_matrix_is_semidefinite() {
    approximation_is_from_below::<f64>();
    approximation_is_from_below::<f32>();
}

#[test]
fn the_error_never_rises_with_the_rank() {
    let X = samples::<f64>(5, 120, 2);
    for kernel in semidefinite_kernels() {
        let K = dense(&kernel, &X);
        for variant in [Variant::Standard, Variant::Optimal] {
            let mut before = K.clone();
            let mut error_before = f64::INFINITY;
            for rank in [1, 2, 4, 8, 16, 30] {
                let params = NystroemParams { variant, ..params(&kernel, 30, rank) };
                let left = &K - &approximation(&params, &X);
                let error = trace(&left);
                assert!(error <= error_before + 1e-9 * trace(&K), "{kernel} {variant:?} {rank}");
                // A further direction takes away a semi-definite part.
                let taken = lowest(&(&before - &left));
                assert!(taken >= -1e-9 * trace(&K), "{kernel} {variant:?} {rank}: {taken:e}");
                (before, error_before) = (left, error);
            }
        }
    }
}

fn optimal_is_the_best_of_its_rank<T: Real>() {
    let X = samples::<T>(6, 150, 3);
    for kernel in [GAUSSIAN, SQUARE, Kernel::Exponential { sigma: 2.0 }] {
        let whole = approximation(&params(&kernel, 30, 30), &X);
        let spectrum = full_eigen(whole.as_ref()).unwrap().values;
        for rank in [1, 5, 12, 20] {
            let of = |variant| {
                let params = NystroemParams { variant, ..params(&kernel, 30, rank) };
                params.fit_transform(X.as_ref()).unwrap()
            };
            let ((map, F), (_, standard)) = (of(Variant::Optimal), of(Variant::Standard));
            let left = |F: &Mat<T>| &whole - &inner_products(F.as_ref());
            let slack = tolerance::<T>() * trace(&whole);
            let what = format!("{kernel} rank {rank} {}", T::NAME);
            // No singular value of what it leaves is larger, hence no unitarily invariant norm.
            let (best, other) = (magnitudes(&left(&F)), magnitudes(&left(&standard)));
            for (t, (best, other)) in best.iter().zip(&other).enumerate() {
                assert!(best <= &(other + slack), "{what}, {t}: {best} {other}");
            }
            assert!(trace(&left(&F)) <= trace(&left(&standard)) + slack, "{what}");
            let tail: f64 = spectrum[rank..].iter().sum();
            assert!((trace(&left(&F)) - tail).abs() <= slack, "{what}");
            // FFᵀ = diag(λ).
            let F = convert::<T, f64>(F.as_ref());
            let FFt = &F * F.transpose();
            for i in 0..rank {
                for j in 0..rank {
                    let expected = if i == j { spectrum[i] } else { 0.0 };
                    assert!((FFt[(i, j)] - expected).abs() <= slack, "{what}: ({i}, {j})");
                }
                assert!((map.eigenvalues()[i] - spectrum[i]).abs() <= slack, "{what}");
            }
        }
    }
}

#[test]
fn optimal_is_the_best_rank_k_factor_with_orthogonal_rows() {
    optimal_is_the_best_of_its_rank::<f64>();
    optimal_is_the_best_of_its_rank::<f32>();
}

fn certificates_agree_with_the_dense_errors<T: Real>() {
    let X = samples::<T>(6, 300, 4);
    let tol = tolerance::<T>();
    for kernel in semidefinite_kernels() {
        let K = dense(&kernel, &X);
        for centered in [false, true] {
            let params = NystroemParams { centered, ..params(&kernel, 25, 18) };
            let (map, F) = params.fit_transform(X.as_ref()).unwrap();
            let uncentered = NystroemParams { centered: false, ..params };
            let F_plain = uncentered.fit_transform(X.as_ref()).unwrap().1;
            let left = &K - &inner_products(F_plain.as_ref());
            let energy = map.residual_energy(X.as_ref(), F.as_ref()).unwrap();
            for i in 0..300 {
                assert!(energy[i] >= 0.0);
                assert!((energy[i] - left[(i, i)]).abs() <= tol * K[(i, i)].max(1.0), "{kernel}");
            }
            let error = map.trace_error(X.as_ref(), F.as_ref()).unwrap();
            let sum = energy.iter().sum::<f64>() / trace(&K);
            assert!(
                (error - sum).abs() <= 1e-12 && (error - trace(&left) / trace(&K)).abs() <= tol
            );
            if !centered {
                let relative = relative_error(&kernel, X.as_ref(), F.as_ref()).unwrap();
                let exact = left.norm_l2() / K.norm_l2();
                assert!((relative - exact).abs() <= 10.0 * tol, "{kernel}: {relative} {exact}");
            }
        }
    }
}

#[test]
fn residual_energies_and_errors_are_those_of_the_dense_matrices() {
    certificates_agree_with_the_dense_errors::<f64>();
    certificates_agree_with_the_dense_errors::<f32>();
}

#[test]
fn a_landmark_has_no_residual_energy_and_a_stranger_has_nearly_all() {
    let X = random_matrix::<f64>(4, 60, 5);
    let map = params(&GAUSSIAN, 60, 60).fit(X.as_ref()).unwrap();
    let known = map.residual_energy(X.as_ref(), map.transform(X.as_ref()).unwrap().as_ref());
    assert!(known.unwrap().iter().all(|e| *e < 1e-9));
    let far = Mat::from_fn(4, 1, |_, _| 50.0);
    let energy = map.residual_energy(far.as_ref(), map.transform(far.as_ref()).unwrap().as_ref());
    assert!(energy.unwrap()[0] > 0.999);
}

#[test]
fn certificates_refuse_sizes_that_do_not_fit() {
    let X = samples::<f64>(4, 30, 6);
    let (map, F) = params(&GAUSSIAN, 8, 8).fit_transform(X.as_ref()).unwrap();
    assert!(map.residual_energy(X.as_ref(), F.as_ref().subcols(0, 29)).is_err());
    assert!(map.residual_energy(X.as_ref(), F.as_ref().subrows(0, 7)).is_err());
    assert!(relative_error(&GAUSSIAN, X.as_ref(), F.as_ref().subcols(0, 29)).is_err());
    assert!(best_rank_errors(&GAUSSIAN, X.as_ref(), &[31]).is_err());
    let zeros = Mat::<f64>::zeros(4, 30);
    assert!(best_rank_errors(&Kernel::Linear, zeros.as_ref(), &[1]).is_err());
    assert!(relative_error(&Kernel::Linear, zeros.as_ref(), zeros.as_ref()).is_err());
}

#[test]
fn no_sampler_beats_the_best_rank_errors() {
    let X = samples::<f64>(4, 130, 7);
    let ranks = [4, 10, 25];
    for kernel in [GAUSSIAN, Kernel::Polynomial { degree: 3.0, offset: 1.0 }] {
        let best = best_rank_errors(&kernel, X.as_ref(), &ranks).unwrap();
        assert!(
            best.windows(2).all(|w| w[1].frobenius < w[0].frobenius && w[1].trace < w[0].trace)
        );
        for sampler in [
            Sampler::Uniform,
            Sampler::Diagonal { squared: true },
            Sampler::ColumnNorm { rows: None },
            Sampler::k_means(Seeding::Uniform),
            Sampler::KMeansPlusPlus { kernel_distance: true },
            Sampler::CoresetMean,
            Sampler::GreedyCholesky,
            Sampler::RpCholesky,
            Sampler::LeverageScores,
            Sampler::default(),
        ] {
            for (&rank, best) in ranks.iter().zip(&best) {
                let params =
                    NystroemParams { sampler: sampler.clone(), ..params(&kernel, rank, rank) };
                let (map, F) = params.fit_transform(X.as_ref()).unwrap();
                let frobenius = relative_error(&kernel, X.as_ref(), F.as_ref()).unwrap();
                let trace = map.trace_error(X.as_ref(), F.as_ref()).unwrap();
                let what = format!("{sampler:?} {kernel} c = {rank}");
                assert!(frobenius >= best.frobenius - 1e-9 && frobenius < 1.0, "{what}");
                assert!(trace >= best.trace - 1e-9 && trace < 1.0, "{what}");
            }
        }
    }
}

#[test]
fn best_rank_errors_are_those_of_the_eigenvalues() {
    let X = samples::<f64>(4, 40, 8);
    let best = best_rank_errors(&GAUSSIAN, X.as_ref(), &[0, 7, 40]).unwrap();
    let values = full_eigen(dense(&GAUSSIAN, &X).as_ref()).unwrap().values;
    let tail_sq: f64 = values[7..].iter().map(|v| v * v).sum();
    let total_sq: f64 = values.iter().map(|v| v * v).sum();
    assert_eq!((best[0].frobenius, best[0].rank), (1.0, 0));
    assert!((best[1].frobenius - (tail_sq / total_sq).sqrt()).abs() < 1e-12);
    assert!((best[1].trace - values[7..].iter().sum::<f64>() / 40.0).abs() < 1e-12);
    assert_eq!((best[2].frobenius, best[2].trace), (0.0, 0.0));
}

#[test]
fn rank_by_trace_is_the_smallest_that_leaves_the_share() {
    fn check<T: Real>() {
        let X = samples::<T>(5, 150, 9);
        for kernel in [GAUSSIAN, Kernel::Polynomial { degree: 3.0, offset: 1.0 }] {
            let whole = approximation(&params(&kernel, 40, 40), &X);
            let spectrum = full_eigen(whole.as_ref()).unwrap().values;
            let total = trace(&dense(&kernel, &X));
            for share in [0.3, 0.05, 0.01] {
                for variant in [Variant::Standard, Variant::Optimal] {
                    let rank = Rank::Trace(share);
                    let params = NystroemParams { rank, variant, ..params(&kernel, 40, 40) };
                    let k = params.fit(X.as_ref()).unwrap().rank();
                    let tail = |k: usize| spectrum[k..].iter().sum::<f64>() / total;
                    let slack = tolerance::<T>();
                    assert!(tail(k) <= share + slack, "{kernel} {share}: {k}");
                    assert!(k == 1 || tail(k - 1) > share - slack, "{kernel} {share}: {k}");
                }
            }
        }
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn the_automatic_landmark_count_reaches_its_trace_error() {
    let X = samples::<f64>(6, 400, 10);
    let mut counts = Vec::new();
    for trace_error in [0.3, 0.02, 1e-6] {
        let auto = NystroemParams {
            sampler: Sampler::RpCholesky,
            n_landmarks: LandmarkCount::Auto { trace_error, max: 400 },
            rank: Rank::Exact(usize::MAX),
            ..params(&GAUSSIAN, 1, 1)
        };
        let (map, F) = auto.fit_transform(X.as_ref()).unwrap();
        let error = map.trace_error(X.as_ref(), F.as_ref()).unwrap();
        assert!(error <= trace_error + 1e-9, "{error} > {trace_error}");
        let indices = map.panel().indices().unwrap();
        counts.push(indices.len());
        if indices.len() == 256 {
            continue; // the fewest it chooses
        }
        // One pivot fewer would not have reached it.
        let fewer = Sampler::Given(indices[..indices.len() - 1].to_vec());
        let rank = Rank::Exact(indices.len() - 1);
        let fewer = NystroemParams { sampler: fewer, rank, ..auto };
        let (map, F) = fewer.fit_transform(X.as_ref()).unwrap();
        assert!(map.trace_error(X.as_ref(), F.as_ref()).unwrap() > trace_error);
        assert_eq!(map.rank(), indices.len() - 1);
    }
    assert!(counts[0] == 256 && counts[2] > 256, "{counts:?}");
    let hybrid = NystroemParams {
        sampler: Sampler::default(),
        n_landmarks: LandmarkCount::Auto { trace_error: 0.1, max: 400 },
        rank: Rank::Exact(usize::MAX),
        ..params(&GAUSSIAN, 1, 1)
    };
    let (map, F) = hybrid.fit_transform(X.as_ref()).unwrap();
    assert!(map.trace_error(X.as_ref(), F.as_ref()).unwrap() < 0.1);
}

/// 500 landmarks and rank 90: eigenpairs come from the iteration. A custom kernel promises no
/// semi-definiteness, so the same values go through the full solve.
#[test]
fn the_iterative_eigen_solve_gives_the_approximation_of_the_full_one() {
    let X = samples::<f64>(8, 900, 11);
    let full = Kernel::custom("full", |x, y| {
        let sq: f64 = x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum();
        (-sq / 4.5).exp()
    });
    let fit = |kernel: &Kernel| params(kernel, 500, 90).fit_transform(X.as_ref()).unwrap();
    let ((iterative, F), (exact, G)) = (fit(&GAUSSIAN), fit(&full));
    assert_eq!((iterative.rank(), exact.rank()), (90, 90));
    let error =
        |map: &NystroemMap<f64>, F: &Mat<f64>| map.trace_error(X.as_ref(), F.as_ref()).unwrap();
    let (mine, theirs) = (error(&iterative, &F), error(&exact, &G));
    assert!((mine / theirs - 1.0).abs() < 2e-3, "{mine} against {theirs}");
    near(&inner_products(F.as_ref()), &inner_products(G.as_ref()), 5e-3, "K̂");
    same_for_any_thread_count(|| iterative_bits(&X));
    let optimal = NystroemParams { variant: Variant::Optimal, ..params(&GAUSSIAN, 500, 90) };
    let (map, F) = optimal.fit_transform(X.as_ref()).unwrap();
    assert!(error(&map, &F) <= mine * (1.0 + 2e-3));
}

fn iterative_bits(X: &Mat<f64>) -> Vec<u64> {
    crate::testing::bits(&params(&GAUSSIAN, 500, 90).fit_transform(X.as_ref()).unwrap().1)
}

#[test]
fn fewer_distinct_samples_than_landmarks_is_a_warning_not_an_error() {
    let base = samples::<f64>(3, 7, 12);
    let X = Mat::from_fn(3, 50, |r, i| base[(r, i % 7)]);
    let map = params(&GAUSSIAN, 20, 15).fit(X.as_ref()).unwrap();
    assert_eq!((map.n_landmarks(), map.rank()), (7, 7));
    assert_eq!(map.warnings()[0], Warning::FewerLandmarks { wanted: 20, got: 7 });
}
