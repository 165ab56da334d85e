//! Invariants of ALGORITHMS part 1: symmetry, tile = scalar loop, PSD, independence of blocks.
use super::*;
use crate::linalg::full_eigen;
use crate::testing::random_matrix;
use faer::Mat;

#[path = "../../tests/invariants/kernels.rs"]
mod list;
use list::kernels;

/// The definition, one pair at a time, in f64.
fn scalar(kernel: &Kernel, x: &[f64], y: &[f64]) -> f64 {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
    let sq = x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let terms = |f: &dyn Fn(f64, f64) -> f64| {
        x.iter().zip(y).map(|(&a, &b)| if a + b > 0.0 { f(a, b) } else { 0.0 }).sum::<f64>()
    };
    match kernel {
        Kernel::Linear => dot(x, y),
        Kernel::Polynomial { degree, offset } => (dot(x, y) + offset).powf(*degree),
        Kernel::Gaussian { sigma } => (-sq / (2.0 * sigma * sigma)).exp(),
        Kernel::Exponential { sigma } => (-sq.sqrt() / sigma).exp(),
        Kernel::Laplacian { rate } => {
            (-rate * x.iter().zip(y).map(|(a, b)| (a - b).abs()).sum::<f64>()).exp()
        }
        Kernel::Cosine => {
            let norms = (dot(x, x) * dot(y, y)).sqrt();
            if norms > 0.0 { dot(x, y) / norms } else { 0.0 }
        }
        Kernel::Sigmoid { scale, offset } => (scale * dot(x, y) + offset).tanh(),
        Kernel::Chi2Additive => terms(&|a, b| 2.0 * a * b / (a + b)),
        Kernel::Chi2Exponential { rate } => {
            (-rate * terms(&|a, b| (a - b) * (a - b) / (a + b))).exp()
        }
        Kernel::Normalized(inner) => {
            scalar(inner, x, y) / (scalar(inner, x, x) * scalar(inner, y, y)).sqrt()
        }
        Kernel::Custom(_) => x.iter().zip(y).map(|(a, b)| a.min(*b)).sum(),
        Kernel::Precomputed => unreachable!("not in the list"),
    }
}

fn histograms<T: Real>(p: usize, n: usize) -> Mat<T> {
    let X = random_matrix::<T>(p, n, 4);
    Mat::from_fn(p, n, |i, j| if (i + j) % 5 == 0 { T::of(0.0) } else { X[(i, j)].abs() })
}

fn as_wide<T: Real>(X: &Mat<T>, j: usize) -> Vec<f64> {
    X.col_as_slice(j).iter().map(|v| v.wide()).collect()
}

fn tile_equals_scalar_loop<T: Real>() {
    let (p, n, c) = (37, 300, 70);
    let X = histograms::<T>(p, n);
    let indices: Vec<usize> = (0..c).map(|j| 3 * j).collect();
    for kernel in kernels() {
        let panel = Panel::of_samples(&kernel, X.as_ref(), &indices).unwrap();
        let tile = panel.evaluate(X.as_ref()).unwrap();
        let scale = tile
            .as_ref()
            .col_iter()
            .flat_map(|c| c.iter())
            .fold(1.0, |m: f64, v| m.max(v.wide().abs()));
        for (j, &s) in indices.iter().enumerate() {
            for i in 0..n {
                let exact = scalar(&kernel, &as_wide(&X, s), &as_wide(&X, i));
                let mut tol = 10.0 * p as f64 * T::EPS * scale;
                if matches!(kernel, Kernel::Exponential { .. }) && s == i {
                    tol = T::EPS.sqrt() * 10.0;
                }
                let got = tile[(j, i)].wide();
                assert!((got - exact).abs() <= tol, "{kernel} {got} {exact} ({s}, {i})");
            }
        }
        let diag = kernel.diagonal(X.as_ref()).unwrap();
        for i in 0..n {
            let exact = scalar(&kernel, &as_wide(&X, i), &as_wide(&X, i));
            assert!((diag[i] - exact).abs() <= 10.0 * p as f64 * T::EPS * exact.abs().max(1.0));
        }
    }
}

#[test]
fn tile_and_diagonal_equal_the_scalar_loop() {
    tile_equals_scalar_loop::<f64>();
    tile_equals_scalar_loop::<f32>();
}

fn gram_is_sound<T: Real>() {
    let X = histograms::<T>(12, 60);
    let all: Vec<usize> = (0..60).collect();
    for kernel in kernels() {
        let panel = Panel::of_samples(&kernel, X.as_ref(), &all).unwrap();
        let W = panel.gram().unwrap();
        let (diag, tile) =
            (kernel.diagonal(X.as_ref()).unwrap(), panel.evaluate(X.as_ref()).unwrap());
        for j in 0..60 {
            assert_eq!(W[(j, j)], diag[j], "{kernel}");
            let root =
                if matches!(kernel, Kernel::Exponential { .. }) { T::EPS.sqrt() } else { 0.0 };
            let rounding = (120.0 * T::EPS).max(10.0 * root) * diag[j].abs().max(1.0);
            assert!((tile[(j, j)].wide() - diag[j]).abs() <= rounding, "{kernel}");
            for i in 0..60 {
                assert_eq!(W[(i, j)], W[(j, i)], "{kernel}");
            }
        }
        if kernel.is_positive_semidefinite() {
            let values = full_eigen(W.as_ref()).unwrap().values;
            assert!(values[59] >= -60.0 * T::EPS * values[0], "{kernel}: {}", values[59]);
        }
    }
}

#[test]
fn gram_is_symmetric_with_exact_diagonal_and_semidefinite_where_promised() {
    gram_is_sound::<f64>();
    gram_is_sound::<f32>();
}

fn blocks_do_not_matter<T: Real>() {
    let p = 16;
    let X = histograms::<T>(p, 530);
    let Y = X.subcols(0, 40).to_owned();
    for kernel in kernels() {
        let panel = Panel::new(&kernel, Y.as_ref()).unwrap();
        let whole = panel.evaluate(X.as_ref()).unwrap();
        for i in [0, 255, 256, 529] {
            let alone = panel.evaluate(X.subcols(i, 1)).unwrap();
            for j in 0..40 {
                let (a, b) = (alone[(j, 0)].wide(), whole[(j, i)].wide());
                // coincident samples: the root of a rounding error
                let near = matches!(kernel, Kernel::Exponential { .. }) && i == j;
                let relative = if near { T::EPS.sqrt() } else { p as f64 * T::EPS };
                assert!((a - b).abs() <= 10.0 * relative * b.abs().max(1.0), "{kernel}: {a} {b}");
            }
        }
    }
}

#[test]
fn result_does_not_depend_on_the_block() {
    blocks_do_not_matter::<f64>();
    blocks_do_not_matter::<f32>();
}

#[test]
fn coincident_points_far_from_the_origin_keep_their_distance() {
    // Without the shift by the mean ‖x‖²+‖y‖²−2xᵀy loses all digits here.
    let X = Mat::from_fn(2, 2, |i, j| 1e4f32 + (i + j) as f32);
    let panel = Panel::of_samples(&Kernel::Gaussian { sigma: 1.0 }, X.as_ref(), &[0, 1]).unwrap();
    let tile = panel.evaluate(X.as_ref()).unwrap();
    assert!((tile[(0, 1)] - (-1.0f32).exp()).abs() < 1e-6);
}

#[test]
fn bad_parameters_and_domains_are_typed_errors() {
    let X = random_matrix::<f64>(3, 4, 1);
    let bad = [
        Kernel::Gaussian { sigma: 0.0 },
        Kernel::Gaussian { sigma: f64::NAN },
        Kernel::Polynomial { degree: -1.0, offset: 0.0 },
        Kernel::Laplacian { rate: -2.0 },
        Kernel::Normalized(Box::new(Kernel::Exponential { sigma: -1.0 })),
    ];
    for kernel in bad {
        let error = Panel::new(&kernel, X.as_ref()).unwrap_err();
        assert!(matches!(error, LkdlError::Parameter { .. }), "{kernel}: {error}");
    }
    let error = Panel::new(&Kernel::Chi2Additive, X.as_ref()).unwrap_err();
    assert!(matches!(error, LkdlError::NegativeFeature { .. }));
    let ok = Panel::new(&Kernel::Chi2Additive, histograms::<f64>(3, 4).as_ref()).unwrap();
    assert!(matches!(ok.evaluate(X.as_ref()), Err(LkdlError::NegativeFeature { .. })));
    let fractional = Kernel::Polynomial { degree: 1.5, offset: 0.0 };
    let panel = Panel::new(&fractional, X.as_ref()).unwrap();
    assert!(matches!(panel.evaluate(X.as_ref()), Err(LkdlError::Parameter { .. })));
    let panel = Panel::new(&Kernel::Linear, X.as_ref()).unwrap();
    let other = random_matrix::<f64>(5, 2, 1);
    assert!(matches!(panel.evaluate(other.as_ref()), Err(LkdlError::Shape { .. })));
    let error = Panel::of_samples(&Kernel::Linear, X.as_ref(), &[4]).unwrap_err();
    assert!(error.to_string().contains("landmark index is 4"), "{error}");
}

#[test]
fn precomputed_rows_are_looked_up() {
    let X = random_matrix::<f64>(5, 9, 2);
    let K = X.transpose() * &X;
    let panel = Panel::of_samples(&Kernel::Precomputed, K.as_ref(), &[7, 2]).unwrap();
    let tile = panel.evaluate(K.as_ref()).unwrap();
    for i in 0..9 {
        assert_eq!((tile[(0, i)], tile[(1, i)]), (K[(7, i)], K[(2, i)]));
    }
    let W = panel.gram().unwrap();
    assert_eq!((W[(0, 0)], W[(1, 0)]), (K[(7, 7)], 0.5 * (K[(2, 7)] + K[(7, 2)])));
    assert!(matches!(
        Panel::of_samples(&Kernel::Precomputed, X.as_ref(), &[0]),
        Err(LkdlError::Shape { .. })
    ));
}

#[test]
fn median_width_scales_with_the_data_and_survives_coincident_samples() {
    let X = random_matrix::<f64>(20, 200, 3);
    let base = Kernel::Gaussian { sigma: 1.0 };
    let width = |X: &Mat<f64>| match base.with_median_width(X.as_ref(), 5).unwrap() {
        Kernel::Gaussian { sigma } => sigma,
        other => panic!("{other}"),
    };
    let doubled = Mat::from_fn(20, 200, |i, j| 2.0 * X[(i, j)]);
    assert!((width(&doubled) / width(&X) - 2.0).abs() < 1e-12);
    assert!((width(&X) - 40f64.sqrt()).abs() < 1.0); // E‖x−y‖² = 2p
    assert_eq!(width(&Mat::zeros(3, 10)), 1.0);
}

#[test]
fn squares_that_overflow_are_an_error_and_never_a_kernel_value() {
    // The first two lie on one side of the mean: ∞ + ∞ − 2·∞ must not pass for coincidence.
    fn check<T: Real>(size: f64) {
        let X = Mat::from_fn(1, 3, |_, j| T::of([1.0, 3.0, 8.0][j] * size));
        for kernel in [
            Kernel::Linear,
            Kernel::Polynomial { degree: 2.0, offset: 0.0 },
            Kernel::Gaussian { sigma: 1.0 },
            Kernel::Exponential { sigma: 1.0 },
            Kernel::Normalized(Box::new(Kernel::Linear)),
        ] {
            let error = Panel::new(&kernel, X.as_ref())
                .and_then(|panel| panel.evaluate(X.as_ref()).and(panel.gram()).map(|W| W[(1, 0)]));
            assert!(matches!(error, Err(LkdlError::KernelOverflow { .. })), "{kernel}: {error:?}");
        }
    }
    check::<f64>(1e200);
    check::<f32>(1e25);
}

#[test]
fn cosine_and_chi_squared_kernels_do_not_depend_on_the_scale() {
    fn check<T: Real>(sizes: &[f64]) {
        let mut X = histograms::<f64>(9, 12);
        X.col_as_slice_mut(5).fill(0.0);
        let values = |kernel: &Kernel, size: f64| {
            let X = Mat::from_fn(9, 12, |r, i| T::of(X[(r, i)] * size));
            Panel::new(kernel, X.as_ref()).unwrap().gram().unwrap()
        };
        // Of degree 0 and 1 in the samples.
        for (kernel, degree) in [(Kernel::Cosine, 0), (Kernel::Chi2Additive, 1)] {
            let expected = values(&kernel, 1.0);
            for &size in sizes {
                let scaled = values(&kernel, size);
                for j in 0..12 {
                    for i in 0..12 {
                        let gap = scaled[(i, j)] / size.powi(degree) - expected[(i, j)];
                        assert!(gap.abs() < 200.0 * T::EPS, "{kernel} {size:e}: {gap:e}");
                    }
                }
            }
        }
    }
    check::<f64>(&[1e-200, 1e-100, 1e100, 1e200]);
    check::<f32>(&[1e-30, 1e-20, 1e20, 1e30]);
}

#[test]
fn a_diagonal_below_the_range_counts_as_zero_in_a_normalized_kernel() {
    let kernel = Kernel::Normalized(Box::new(Kernel::Polynomial { degree: 2.0, offset: 0.0 }));
    let X = Mat::from_fn(2, 2, |i, j| 1e-15 * (1 + i + j) as f32);
    let W = Panel::new(&kernel, X.as_ref()).unwrap().gram().unwrap();
    assert_eq!(W, Mat::<f64>::zeros(2, 2));
}

#[test]
fn normalized_custom_kernels_are_equal_only_when_the_same_object() {
    let custom = |_| Kernel::Normalized(Box::new(Kernel::custom("a", |x, y| x[0] * y[0])));
    let (one, other) = (custom(0), custom(1));
    assert_eq!(one, one.clone());
    assert_ne!(one, other);
}

#[test]
fn the_median_distance_of_huge_samples_is_a_number() {
    let X = random_matrix::<f32>(5, 40, 2);
    let at = |size: f32| Mat::from_fn(5, 40, |t, i| X[(t, i)] * size);
    let (one, huge) = (median_distance(at(1.0).as_ref(), 1), median_distance(at(1e30).as_ref(), 1));
    assert!((huge.unwrap() / one.unwrap() / 1e30 - 1.0).abs() < 1e-5);
}

#[test]
fn a_degree_without_end_is_refused() {
    let kernel = Kernel::Polynomial { degree: 1e10, offset: 0.0 };
    assert!(matches!(kernel.check(), Err(LkdlError::Parameter { .. })));
}
