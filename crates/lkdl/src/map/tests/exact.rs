//! Where the Nyström matrix is the kernel matrix, or two ways to it must agree.

use super::*;
use crate::error::{LkdlError, Warning};
use crate::testing::{bits, close, random_unit_columns, same_for_any_thread_count};

fn all_landmarks_reproduce_the_kernel<T: Real>() {
    let X = samples::<T>(6, 45, 1);
    for kernel in semidefinite_kernels() {
        let K = dense(&kernel, &X);
        for variant in VARIANTS {
            let params = NystroemParams { variant, ..params(&kernel, 45, 45) };
            let what = format!("{kernel} {variant:?} {}", T::NAME);
            let (map, F) = params.fit_transform(X.as_ref()).unwrap();
            // Where directions below τ are cut, their eigenvalues are missing too.
            let tol = if map.rank() < 45 { 2.0 } else { 1.0 } * identity::<T>();
            near(&inner_products(F.as_ref()), &K, of_kernel::<T>(tol, &kernel), what);
        }
    }
}

#[test]
fn with_all_samples_as_landmarks_inner_products_are_the_kernel() {
    all_landmarks_reproduce_the_kernel::<f64>();
    all_landmarks_reproduce_the_kernel::<f32>();
}

fn landmarks_keep_their_inner_products<T: Real>() {
    let X = samples::<T>(6, 120, 2);
    for kernel in semidefinite_kernels() {
        for variant in VARIANTS {
            let params = NystroemParams { variant, ..params(&kernel, 25, 25) };
            let (map, F) = params.fit_transform(X.as_ref()).unwrap();
            let indices = map.panel().indices().unwrap().to_vec();
            let at = Mat::from_fn(F.nrows(), 25, |r, j| F[(r, indices[j])]);
            let points = Mat::from_fn(6, 25, |r, j| X[(r, indices[j])]);
            let what = format!("{kernel} {variant:?} {}", T::NAME);
            let W = dense(&kernel, &points);
            near(&inner_products(at.as_ref()), &W, of_kernel::<T>(identity::<T>(), &kernel), what);
        }
    }
}

#[test]
fn landmarks_reproduce_their_own_kernel_matrix() {
    landmarks_keep_their_inner_products::<f64>();
    landmarks_keep_their_inner_products::<f32>();
}

#[test]
fn every_rank_equals_the_dense_pseudo_inverse() {
    let X = samples::<f64>(5, 90, 3);
    for kernel in semidefinite_kernels() {
        for rank in [1, 2, 7, 20, 30] {
            let params = params(&kernel, 30, rank);
            let (map, F) = params.fit_transform(X.as_ref()).unwrap();
            let reference = naive_nystroem(&kernel, &X, map.panel().points(), map.rank());
            let what = format!("{kernel} rank {rank}");
            near(&inner_products(F.as_ref()), &reference, 1e-8, what);
        }
    }
}

fn a_sample_alone_is_mapped_as_in_training<T: Real>() {
    // More samples than one tile, so that the first, a middle and the last tile are met.
    let X = samples::<T>(7, 700, 4);
    for variant in VARIANTS {
        for centered in [false, true] {
            let params = NystroemParams { variant, centered, ..params(&GAUSSIAN, 20, 20) };
            let (map, F) = params.fit_transform(X.as_ref()).unwrap();
            for i in [0, 255, 511, 512, 699] {
                let alone = map.transform(X.subcols(i, 1)).unwrap();
                close(alone.as_ref(), F.subcols(i, 1), tolerance::<T>());
            }
            let reversed = map.transform(X.as_ref().reverse_cols()).unwrap();
            close(reversed.as_ref().reverse_cols(), F.as_ref(), tolerance::<T>());
        }
    }
}

#[test]
fn mapping_a_training_sample_again_gives_its_training_column() {
    a_sample_alone_is_mapped_as_in_training::<f64>();
    a_sample_alone_is_mapped_as_in_training::<f32>();
}

fn repeated_landmarks_change_nothing<T: Real>() {
    let X = samples::<T>(6, 80, 5);
    let once = X.subcols(0, 15).to_owned();
    let repeated = Mat::from_fn(6, 40, |r, j| once[(r, (j * j) % 15)]);
    let distinct = Mat::from_fn(6, 6, |r, j| once[(r, [0, 1, 4, 6, 9, 10][j])]);
    for kernel in semidefinite_kernels() {
        for variant in VARIANTS {
            let of = |points: &Mat<T>| {
                let c = points.ncols();
                let params = NystroemParams { variant, ..params(&kernel, c, c) };
                let landmarks = Landmarks::from_points(points.as_ref());
                let map = params.fit_landmarks(X.as_ref(), &landmarks).unwrap();
                inner_products(map.transform(X.as_ref()).unwrap().as_ref())
            };
            let what = format!("{kernel} {variant:?} {}", T::NAME);
            let tol = of_kernel::<T>(tolerance::<T>(), &kernel);
            near(&of(&repeated), &of(&distinct), tol, what);
        }
    }
}

#[test]
fn repeated_landmarks_give_the_same_approximation() {
    repeated_landmarks_change_nothing::<f64>();
    repeated_landmarks_change_nothing::<f32>();
}

#[test]
fn a_singular_landmark_matrix_reduces_the_rank_with_a_warning() {
    let X = samples::<f64>(4, 60, 6);
    for variant in [Variant::Standard, Variant::Optimal] {
        let params = NystroemParams { variant, ..params(&Kernel::Linear, 12, 9) };
        let map = params.fit(X.as_ref()).unwrap();
        assert_eq!(map.rank(), 4);
        assert_eq!(map.warnings(), [Warning::RankReduced { wanted: 9, got: 4 }], "{variant:?}");
    }
}

fn linear_kernel_is_the_data<T: Real>() {
    let X = random_matrix::<T>(9, 200, 7);
    let exact = inner_products(X.as_ref());
    for variant in VARIANTS {
        let params = NystroemParams { variant, ..params(&Kernel::Linear, 9, 9) };
        near(&approximation(&params, &X), &exact, identity::<T>(), T::NAME);
    }
}

#[test]
fn a_linear_kernel_with_spanning_landmarks_keeps_all_inner_products() {
    linear_kernel_is_the_data::<f64>();
    linear_kernel_is_the_data::<f32>();
}

#[test]
fn the_degree_2_kernel_is_exact_from_p_p_plus_1_over_2_landmarks_on() {
    // Its feature space has p(p+1)/2 dimensions.
    let X = random_matrix::<f64>(5, 150, 8);
    let exact = dense(&SQUARE, &X);
    near(&approximation(&params(&SQUARE, 15, 15), &X), &exact, 1e-8, "15 landmarks");
    let short = approximation(&params(&SQUARE, 14, 14), &X);
    assert!((&short - &exact).norm_l2() > 1e-3 * exact.norm_l2());
}

#[test]
fn cholesky_and_eigen_factors_give_the_same_approximation_at_full_rank() {
    fn check<T: Real>() {
        let X = samples::<T>(6, 150, 9);
        for kernel in [GAUSSIAN, SQUARE, Kernel::Laplacian { rate: 0.3 }] {
            let [standard, cholesky, optimal] = VARIANTS.map(|variant| {
                approximation(&NystroemParams { variant, ..params(&kernel, 18, 18) }, &X)
            });
            near(&cholesky, &standard, tolerance::<T>(), &kernel);
            near(&optimal, &standard, tolerance::<T>(), &kernel);
        }
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn a_precomputed_kernel_gives_the_map_of_its_vectors() {
    let (X, new) = (samples::<f64>(6, 70, 10), samples::<f64>(6, 30, 11));
    let panel = Panel::new(&GAUSSIAN, X.as_ref()).unwrap();
    let K = panel.evaluate(X.as_ref()).unwrap();
    let K_new = panel.evaluate(new.as_ref()).unwrap();
    for variant in VARIANTS {
        for centered in [false, true] {
            let given = Sampler::Given((0..70).step_by(4).collect());
            let on = |kernel: &Kernel| NystroemParams {
                sampler: given.clone(),
                centered,
                ..variant_params(variant, kernel, 18, 12)
            };
            let (vectors, F) = on(&GAUSSIAN).fit_transform(X.as_ref()).unwrap();
            let (matrix, G) = on(&Kernel::Precomputed).fit_transform(K.as_ref()).unwrap();
            near(&inner_products(G.as_ref()), &inner_products(F.as_ref()), 1e-10, "training");
            let f = vectors.transform(new.as_ref()).unwrap();
            let g = matrix.transform(K_new.as_ref()).unwrap();
            near(&inner_products(g.as_ref()), &inner_products(f.as_ref()), 1e-10, "new samples");
        }
    }
    let hybrid = NystroemParams { sampler: Sampler::default(), ..params(&GAUSSIAN, 10, 10) };
    let from_matrix = NystroemParams { kernel: Kernel::Precomputed, ..hybrid };
    let map = from_matrix.fit(K.as_ref()).unwrap();
    assert!(map.panel().indices().is_some_and(|indices| indices.len() == 10));
    // 5 rows cannot hold the landmarks' values of a new sample.
    assert!(matches!(map.transform(K_new.as_ref().subrows(0, 5)), Err(LkdlError::Shape { .. })));
}

#[test]
fn a_custom_kernel_gives_the_map_of_the_built_in_one() {
    fn check<T: Real>() {
        let X = samples::<T>(6, 150, 12);
        let custom = Kernel::custom("gaussian", |x, y| {
            let sq: f64 = x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum();
            (-sq / 4.5).exp()
        });
        for variant in VARIANTS {
            let of = |kernel: &Kernel| approximation(&variant_params(variant, kernel, 20, 12), &X);
            near(&of(&custom), &of(&GAUSSIAN), 10.0 * tolerance::<T>(), format!("{variant:?}"));
        }
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn normalizing_the_kernel_is_normalizing_the_samples_of_a_homogeneous_one() {
    let mut X = random_matrix::<f64>(6, 90, 13);
    let unit = random_unit_columns::<f64>(6, 90, 13);
    X.col_as_slice_mut(3).fill(0.0);
    let mut unit_or_zero = unit;
    unit_or_zero.col_as_slice_mut(3).fill(0.0);
    let normalized = Kernel::Normalized(Box::new(SQUARE));
    for variant in VARIANTS {
        let of = |kernel: &Kernel, X: &Mat<f64>| {
            approximation(&NystroemParams { variant, ..params(kernel, 15, 15) }, X)
        };
        let by_kernel = of(&normalized, &X);
        near(&by_kernel, &of(&SQUARE, &unit_or_zero), 1e-9, format!("{variant:?}"));
        assert_eq!(by_kernel[(3, 3)], 0.0);
    }
}

#[test]
fn centring_equals_centring_the_approximation() {
    fn check<T: Real>() {
        let X = samples::<T>(6, 300, 14);
        for variant in VARIANTS {
            let plain = NystroemParams { variant, ..params(&GAUSSIAN, 20, 20) };
            let centered = NystroemParams { centered: true, ..plain.clone() };
            let K = approximation(&plain, &X);
            let (map, F) = centered.fit_transform(X.as_ref()).unwrap();
            for row in convert::<T, f64>(F.as_ref()).row_iter() {
                let mean = row.iter().sum::<f64>() / 300.0;
                assert!(mean.abs() < 32.0 * T::EPS, "{mean:e}");
            }
            assert_eq!(map.mean().len(), map.rank());
            // HKH with H = I − 11ᵀ/N.
            let rows: Vec<f64> = K.row_iter().map(|r| r.iter().sum::<f64>() / 300.0).collect();
            let all = rows.iter().sum::<f64>() / 300.0;
            let doubly = Mat::from_fn(300, 300, |i, j| K[(i, j)] - rows[i] - rows[j] + all);
            near(&inner_products(F.as_ref()), &doubly, tolerance::<T>(), format!("{variant:?}"));
        }
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn a_map_is_rebuilt_from_its_parts() {
    let X = samples::<f32>(6, 100, 15);
    let params = NystroemParams { centered: true, ..params(&GAUSSIAN, 20, 12) };
    let (map, F) = params.fit_transform(X.as_ref()).unwrap();
    let panel = map.panel().clone();
    let again =
        NystroemMap::from_parts(panel.clone(), map.projection(), map.mean(), map.eigenvalues())
            .unwrap();
    assert_eq!(again.eigenvalues(), map.eigenvalues());
    assert_eq!(bits(&again.transform(X.as_ref()).unwrap()), bits(&F));
    let short = map.projection().subrows(0, 19);
    assert!(matches!(
        NystroemMap::from_parts(panel.clone(), short, &[], &[]),
        Err(LkdlError::Shape { expected: 20, got: 19, .. })
    ));
    let mean = &map.mean()[1..];
    assert!(NystroemMap::from_parts(panel, map.projection(), mean, &[]).is_err());
}

#[test]
fn a_precomputed_map_is_rebuilt_from_its_parts_and_checks_its_rows() {
    let X = samples::<f64>(6, 60, 17);
    let all: Vec<usize> = (0..60).collect();
    let K = Panel::of_samples(&GAUSSIAN, X.as_ref(), &all).unwrap().evaluate(X.as_ref()).unwrap();
    let params =
        NystroemParams { sampler: Sampler::RpCholesky, ..params(&Kernel::Precomputed, 12, 8) };
    let (map, F) = params.fit_transform(K.as_ref()).unwrap();
    let panel = map.panel();
    let indices = panel.indices().map(<[usize]>::to_vec);
    let again =
        Panel::from_parts(panel.kernel(), panel.points(), indices.clone(), panel.n_rows()).unwrap();
    let again = NystroemMap::from_parts(again, map.projection(), &[], &[]).unwrap();
    assert_eq!(bits(&again.transform(K.as_ref()).unwrap()), bits(&F));
    let error = again.transform(K.subrows(0, 59)).unwrap_err();
    assert!(matches!(error, LkdlError::Shape { expected: 60, got: 59, .. }), "{error}");
    let longer = Mat::<f64>::zeros(61, 1);
    assert!(matches!(again.transform(longer.as_ref()), Err(LkdlError::Shape { .. })));
    assert!(Panel::from_parts(panel.kernel(), panel.points(), None, 60).is_err());
    assert!(Panel::from_parts(panel.kernel(), panel.points(), indices, 5).is_err());

    let mut skewed = K.clone();
    skewed[(3, 5)] += 0.5;
    let error =
        NystroemParams { sampler: Sampler::Given(vec![3, 5]), rank: Rank::Standard, ..params }
            .fit(skewed.as_ref())
            .unwrap_err();
    assert!(matches!(error, LkdlError::Unsupported { .. }), "{error}");
}

#[test]
fn bits_do_not_depend_on_the_thread_count() {
    fn check<T: Real>() {
        let X = samples::<T>(8, 1300, 16);
        for variant in VARIANTS {
            for centered in [false, true] {
                let params =
                    NystroemParams { centered, ..variant_params(variant, &SQUARE, 150, 30) };
                same_for_any_thread_count(|| {
                    let (map, F) = params.fit_transform(X.as_ref()).unwrap();
                    (bits(&F), map.mean().iter().map(|v| v.wide()).collect::<Vec<_>>())
                });
            }
        }
        let by_trace = NystroemParams { rank: Rank::Trace(0.1), ..params(&GAUSSIAN, 150, 1) };
        same_for_any_thread_count(|| bits(&by_trace.fit_transform(X.as_ref()).unwrap().1));
    }
    check::<f64>();
    check::<f32>();
}
