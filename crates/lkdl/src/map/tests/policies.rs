//! Kernels that are not semi-definite, through the whole map; parameters that are refused.

use super::*;
use crate::error::{LkdlError, Warning};

const SIGMOID: Kernel = Kernel::Sigmoid { scale: 0.6, offset: -1.0 };

fn policy(indefinite: Indefinite, variant: Variant) -> NystroemParams {
    NystroemParams { indefinite, variant, ..params(&SIGMOID, 25, 25) }
}

/// The landmarks' spectrum and its negative share.
fn spectrum(X: &Mat<f64>, params: &NystroemParams) -> (Mat<f64>, Vec<f64>, f64) {
    let clip = NystroemParams { indefinite: Indefinite::Clip, ..params.clone() };
    let map = clip.fit(X.as_ref()).unwrap();
    let values = full_eigen(map.panel().gram().unwrap().as_ref()).unwrap().values;
    let negative: f64 = values.iter().filter(|v| **v < 0.0).map(|v| -v).sum();
    let share = negative / values.iter().map(|v| v.abs()).sum::<f64>();
    (map.panel().points().to_owned(), values, share)
}

#[test]
fn an_indefinite_kernel_is_refused_by_default_with_its_share() {
    fn check<T: Real>() {
        let X = random_matrix::<T>(5, 80, 1);
        let wide = convert::<T, f64>(X.as_ref());
        for variant in VARIANTS {
            let params = policy(Indefinite::Reject, variant);
            let (_, _, exact) = spectrum(&wide, &policy(Indefinite::Clip, Variant::Standard));
            assert!(exact > 0.01);
            match params.fit(X.as_ref()) {
                Err(LkdlError::Indefinite { share }) => {
                    assert!((share - exact).abs() < 1e-4, "{share} {exact}");
                }
                other => panic!("{variant:?}: {:?}", other.map(|map| map.rank())),
            }
        }
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn each_policy_gives_the_dense_matrix_it_names() {
    let X = random_matrix::<f64>(5, 80, 1);
    for variant in VARIANTS {
        for indefinite in [Indefinite::Clip, Indefinite::Flip, Indefinite::Shift] {
            let params = policy(indefinite, variant);
            let (points, values, share) = spectrum(&X, &params);
            let lowest = *values.last().unwrap();
            let repaired = |v: f64| match indefinite {
                Indefinite::Clip => v,
                Indefinite::Flip => v.abs(),
                _ => v - lowest,
            };
            let inverse = |_, v| if repaired(v) > 1e-11 { 1.0 / repaired(v) } else { 0.0 };
            let reference = naive(&SIGMOID, &X, points.as_ref(), inverse);
            let (map, F) = params.fit_transform(X.as_ref()).unwrap();
            let what = format!("{indefinite:?} {variant:?}");
            near(&inner_products(F.as_ref()), &reference, 1e-8, &what);
            let warned = map.warnings().iter().any(|w| match w {
                Warning::IndefiniteRepaired { share: s } => (s - share).abs() < 1e-9,
                _ => false,
            });
            assert!(warned, "{what}: {:?}", map.warnings());
            assert!(F.col_iter().all(|f| f.iter().all(|v| v.is_finite())));
        }
    }
}

#[test]
fn a_truncated_flip_keeps_the_largest_magnitudes() {
    let X = random_matrix::<f64>(5, 80, 1);
    let full = policy(Indefinite::Flip, Variant::Standard);
    let (points, values, _) = spectrum(&X, &full);
    let mut magnitudes: Vec<f64> = values.iter().map(|v| v.abs()).collect();
    magnitudes.sort_by(|a, b| b.total_cmp(a));
    let params = NystroemParams { rank: Rank::Exact(6), ..full };
    let inverse = |_, v: f64| if v.abs() >= magnitudes[5] { 1.0 / v.abs() } else { 0.0 };
    let reference = naive(&SIGMOID, &X, points.as_ref(), inverse);
    near(&approximation(&params, &X), &reference, 1e-8, "flip");
}

#[test]
fn policies_leave_a_semidefinite_kernel_alone() {
    let X = samples::<f64>(5, 60, 2);
    let custom = Kernel::custom("min", |x, y| x.iter().zip(y).map(|(a, b)| a.min(*b)).sum());
    let of = |indefinite| {
        let params = NystroemParams { indefinite, ..params(&custom, 20, 20) };
        let (map, F) = params.fit_transform(X.as_ref()).unwrap();
        assert!(map.warnings().is_empty());
        inner_products(F.as_ref())
    };
    let rejected = of(Indefinite::Reject);
    for indefinite in [Indefinite::Clip, Indefinite::Flip, Indefinite::Shift] {
        near(&of(indefinite), &rejected, 1e-14, format!("{indefinite:?}"));
    }
}

#[test]
fn ranks_out_of_range_are_named() {
    let X = samples::<f64>(5, 60, 3);
    let error = |params: NystroemParams| params.fit(X.as_ref()).unwrap_err().to_string();
    let text = error(params(&GAUSSIAN, 10, 11));
    assert_eq!(text, "rank is 11, but must be between 1 and n_landmarks = 10");
    assert_eq!(error(params(&GAUSSIAN, 10, 0)), "rank is 0, but must be at least 1");
    for share in [0.0, 1.0, -0.5, f64::NAN] {
        let rank = Rank::Trace(share);
        let text = error(NystroemParams { rank, ..params(&GAUSSIAN, 10, 1) });
        assert!(text.starts_with(&format!("rank trace share is {share}, but must be")), "{text}");
    }
}

#[test]
fn a_rank_beyond_the_landmarks_found_is_reduced_with_a_warning() {
    let X = samples::<f64>(5, 60, 3);
    let reduced = |params: NystroemParams| {
        let map = params.fit(X.as_ref()).unwrap();
        let got = map.rank();
        map.warnings()
            .iter()
            .any(|w| matches!(w, Warning::RankReduced { wanted: 40, got: g } if *g == got))
    };
    let share =
        NystroemParams { n_landmarks: LandmarkCount::Share(0.5), ..params(&GAUSSIAN, 1, 40) };
    assert!(reduced(share.clone()));
    let given = NystroemParams { sampler: Sampler::Given((0..30).collect()), ..share };
    let error = given.fit(X.as_ref()).unwrap_err().to_string();
    assert_eq!(error, "rank is 40, but must be between 1 and n_landmarks = 30");
    // Given landmarks need no count: one that is out of range is not looked at.
    let given =
        NystroemParams { n_landmarks: LandmarkCount::Exact(1000), rank: Rank::Exact(30), ..given };
    assert_eq!(given.fit(X.as_ref()).unwrap().n_landmarks(), 30);
}

#[test]
fn the_cholesky_variant_refuses_a_smaller_rank() {
    let X = samples::<f64>(5, 60, 3);
    let of = |rank| NystroemParams { rank, variant: Variant::Cholesky, ..params(&GAUSSIAN, 10, 1) };
    let error = of(Rank::Exact(4)).fit(X.as_ref()).unwrap_err().to_string();
    assert_eq!(error, "rank is 4, but must be n_landmarks = 10 in the cholesky variant");
    assert!(matches!(of(Rank::Trace(0.1)).fit(X.as_ref()), Err(LkdlError::Unsupported { .. })));
    assert_eq!(of(Rank::Standard).fit(X.as_ref()).unwrap().rank(), 10);
}

#[test]
fn a_budget_bounds_landmarks_and_factorisation() {
    let X = samples::<f64>(5, 600, 3);
    let sampler = Sampler::Uniform;
    let of =
        |memory| NystroemParams { memory, sampler: sampler.clone(), ..params(&GAUSSIAN, 100, 20) };
    let error = of(Some(100_000)).fit(X.as_ref()).unwrap_err();
    assert!(matches!(error, LkdlError::Memory { budget: 100_000, .. }), "{error}");
    // smaller tiles, the same map up to rounding
    let (roomy, scant) = (of(None), of(Some(2_000_000)));
    near(&approximation(&scant, &X), &approximation(&roomy, &X), 1e-12, "budget");
}

#[test]
fn the_standard_rank_is_256_or_all_landmarks() {
    let X = samples::<f64>(12, 300, 4);
    let rank = |c| {
        let params = NystroemParams { rank: Rank::Standard, ..params(&GAUSSIAN, c, 1) };
        params.fit(X.as_ref()).unwrap().rank()
    };
    assert_eq!((rank(30), rank(280)), (30, 256));
}

#[test]
fn a_kernel_without_mass_is_an_error() {
    let zeros = Mat::<f64>::zeros(3, 20);
    for variant in VARIANTS {
        let params = NystroemParams { variant, ..params(&Kernel::Linear, 5, 5) };
        let error = params.fit(zeros.as_ref()).unwrap_err();
        assert!(matches!(error, LkdlError::ZeroKernel { .. }), "{variant:?}: {error}");
    }
}

#[test]
fn kernel_values_beyond_the_range_are_an_overflow_error() {
    let mut X = samples::<f32>(5, 60, 5);
    for variant in VARIANTS {
        for kernel in [SQUARE, Kernel::Polynomial { degree: 9.0, offset: 0.0 }] {
            let params = NystroemParams { variant, ..params(&kernel, 10, 10) };
            let map = params.fit(X.as_ref()).unwrap();
            X[(2, 7)] = 1e30;
            assert!(matches!(map.transform(X.as_ref()), Err(LkdlError::KernelOverflow { .. })));
            let (sampler, rank) = (Sampler::Given(vec![7, 8]), Rank::Standard);
            let given = NystroemParams { sampler, rank, ..params };
            let error = given.fit(X.as_ref()).unwrap_err();
            assert!(matches!(error, LkdlError::KernelOverflow { .. }), "{variant:?}: {error}");
            X[(2, 7)] = 1.0;
        }
    }
}

#[test]
fn errors_of_kernels_near_the_ends_of_the_range_are_numbers_or_an_error() {
    let X = samples::<f64>(4, 30, 6);
    let at = |size: f64| Mat::from_fn(4, 30, |r, i| size * X[(r, i)]);
    let best = |size| best_rank_errors(&Kernel::Linear, at(size).as_ref(), &[2]).unwrap()[0];
    for size in [1e-120, 1e120] {
        assert!((best(size).frobenius - best(1.0).frobenius).abs() < 1e-12);
        assert!((best(size).trace - best(1.0).trace).abs() < 1e-12);
    }
    let huge = at(1e200);
    let error = relative_error(&Kernel::Linear, huge.as_ref(), X.as_ref()).unwrap_err();
    assert!(matches!(error, LkdlError::KernelOverflow { .. }));
}
