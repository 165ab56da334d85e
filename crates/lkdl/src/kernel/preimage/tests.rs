use super::*;
use crate::testing::{close, random_matrix, random_unit_columns};
use crate::vector::{dot, norm_sq};

const SQUARE: Kernel = Kernel::Polynomial { degree: 2.0, offset: 0.0 };

fn own_images_come_back<T: Real>(tol: f64) {
    let X = random_unit_columns::<T>(6, 12, 3);
    for kernel in [
        Kernel::Linear,
        Kernel::Gaussian { sigma: 0.8 },
        SQUARE,
        Kernel::Polynomial { degree: 3.0, offset: 0.5 },
    ] {
        let panel = Panel::new(&kernel, X.as_ref()).unwrap();
        let weights = Mat::from_fn(12, 12, |s, j| T::of(f64::from(u8::from(s == j))));
        close(panel.pre_images(weights.as_ref()).unwrap().as_ref(), X.as_ref(), tol);
    }
}

#[test]
fn the_pre_image_of_a_points_own_image_is_that_point() {
    own_images_come_back::<f64>(1e-8);
    own_images_come_back::<f32>(2e-3);
}

/// |Σ_s a_sκ(z, x_s)|²/κ(z, z), how much of the vector Φ(z) meets: the best length is then a detail.
fn met(panel: &Panel<f64>, z: &[f64], weights: &[f64]) -> f64 {
    let z = Mat::from_fn(z.len(), 1, |t, _| z[t]);
    let values = panel.evaluate(z.as_ref()).unwrap();
    let own = panel.kernel().diagonal(z.as_ref()).unwrap()[0];
    dot(values.col_as_slice(0), weights).powi(2) / own
}

#[test]
fn no_other_sample_comes_closer_than_an_exact_pre_image() {
    let (X, A) = (random_matrix::<f64>(4, 9, 5), random_matrix::<f64>(9, 5, 2));
    let others = random_unit_columns::<f64>(4, 200, 7);
    for kernel in [Kernel::Linear, SQUARE] {
        let panel = Panel::new(&kernel, X.as_ref()).unwrap();
        let Z = panel.pre_images(A.as_ref()).unwrap();
        for j in 0..5 {
            let best = met(&panel, Z.col_as_slice(j), A.col_as_slice(j));
            for i in 0..200 {
                let other = met(&panel, others.col_as_slice(i), A.col_as_slice(j));
                assert!(other <= best * (1.0 + 1e-10), "{kernel}: {other} {best}");
            }
        }
    }
}

/// More features than points: the square kernel's answer comes out of the points' span, and is
/// that of the p×p problem.
#[test]
fn in_the_span_of_few_points_the_answer_is_that_of_all_features() {
    let (p, c) = (30, 9);
    let mut X = random_unit_columns::<f64>(p, c, 3);
    // two points that almost coincide, where a basis from XᵀX would lose its digits
    for (r, tiny) in random_matrix::<f64>(p, 1, 4).col_as_slice(0).iter().enumerate() {
        X[(r, 8)] = X[(r, 7)] + 1e-7 * tiny;
    }
    let A = random_matrix::<f64>(c, 20, 5);
    let Z = Panel::new(&SQUARE, X.as_ref()).unwrap().pre_images(A.as_ref()).unwrap();
    for j in 0..20 {
        let expansion = Expansion { points: columns_of(&X), weights: A.col_as_slice(j) };
        let expected = polynomial::square(expansion).unwrap();
        let norm = norm_sq(&expected).sqrt();
        for r in 0..p {
            assert!((Z[(r, j)] - expected[r]).abs() <= 1e-9 * norm, "atom {j}, feature {r}");
        }
    }
}

#[test]
fn weights_that_cancel_at_the_start_are_climbed_by_gradient() {
    // g = κ(z, −1) − κ(z, 1) vanishes halfway: from there the fixed point is 1/0
    let points = Mat::from_fn(1, 2, |_, s| if s == 0 { -1.0 } else { 1.0 });
    let weights = [1.0, -1.0];
    let expansion = Expansion { points: columns_of(&points), weights: &weights };
    let z = gaussian::pre_image(expansion, 1.0);
    assert!(z[0].is_finite() && z[0].abs() > 1.0, "{z:?}");
}

#[test]
fn bad_weights_and_kernels_without_vectors_are_refused() {
    let X = random_matrix::<f64>(3, 8, 4);
    let panel = Panel::new(&Kernel::Gaussian { sigma: 1.0 }, X.as_ref()).unwrap();
    let shape = panel.pre_images(Mat::<f64>::zeros(7, 2).as_ref()).unwrap_err();
    assert_eq!(shape, LkdlError::Shape { what: "weights' rows", expected: 8, got: 7 });
    let nan = panel.pre_images(Mat::<f64>::full(8, 1, f64::NAN).as_ref()).unwrap_err();
    assert!(matches!(nan, LkdlError::NonFinite { what: "weights", .. }));
    let own = Kernel::custom("dot", |x, y| x.iter().zip(y).map(|(a, b)| a * b).sum());
    let panel = Panel::new(&own, X.as_ref()).unwrap();
    let error = panel.pre_images(Mat::<f64>::zeros(8, 1).as_ref()).unwrap_err();
    assert!(matches!(error, LkdlError::Unsupported { what: "a pre-image", .. }));
}
