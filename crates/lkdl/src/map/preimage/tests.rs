use super::*;
use crate::kernel::Kernel;
use crate::map::{NystroemParams, Rank, Variant};
use crate::sampling::{LandmarkCount, Sampler};
use crate::testing::{bits, close, random_matrix, random_unit_columns, same_for_any_thread_count};
use crate::vector::{all_finite, dot, norm_sq};

const SQUARE: Kernel = Kernel::Polynomial { degree: 2.0, offset: 0.0 };

fn polynomial(degree: f64, offset: f64) -> Kernel {
    Kernel::Polynomial { degree, offset }
}

/// The kernels whose pre-images are optimal, locally at least.
fn optimal_kernels() -> Vec<Kernel> {
    vec![
        Kernel::Gaussian { sigma: 0.8 },
        SQUARE,
        polynomial(3.0, 0.0),
        polynomial(4.0, 0.0),
        polynomial(2.0, 1.0),
        polynomial(3.0, 0.5),
        polynomial(4.0, 0.3),
    ]
}

fn all_landmarks(kernel: &Kernel, count: usize) -> NystroemParams {
    NystroemParams {
        kernel: kernel.clone(),
        sampler: Sampler::Uniform,
        n_landmarks: LandmarkCount::Exact(count),
        rank: Rank::Exact(count),
        ..Default::default()
    }
}

fn landmarks_come_back<T: Real>(tol: f64) {
    let X = random_unit_columns::<T>(6, 12, 3);
    for kernel in optimal_kernels() {
        for variant in [Variant::Standard, Variant::Cholesky] {
            for centered in [false, true] {
                let params = NystroemParams { variant, centered, ..all_landmarks(&kernel, 12) };
                let (map, F) = params.fit_transform(X.as_ref()).unwrap();
                assert_eq!(map.rank(), 12, "{kernel}: the test needs W of full rank");
                let Z = map.pre_images(F.as_ref()).unwrap();
                close(Z.as_ref(), X.as_ref(), tol);
            }
        }
    }
}

#[test]
fn the_pre_image_of_a_landmark_is_that_landmark() {
    landmarks_come_back::<f64>(1e-8);
    landmarks_come_back::<f32>(2e-3);
}

#[test]
fn with_the_linear_kernel_every_sample_comes_back() {
    let X = random_matrix::<f64>(4, 30, 1);
    for kernel in [Kernel::Linear, polynomial(1.0, 0.0)] {
        let (map, F) = all_landmarks(&kernel, 4).fit_transform(X.as_ref()).unwrap();
        close(map.pre_images(F.as_ref()).unwrap().as_ref(), X.as_ref(), 1e-10);
    }
}

#[test]
fn a_pre_image_has_no_sign() {
    let X = random_matrix::<f64>(5, 12, 3);
    for kernel in optimal_kernels() {
        let (map, F) = all_landmarks(&kernel, 12).fit_transform(X.as_ref()).unwrap();
        let negative = Mat::from_fn(12, 12, |i, j| -F[(i, j)]);
        let Z = map.pre_images(negative.as_ref()).unwrap();
        // of odd degree and no offset, −Φ(z) = Φ(−z) is met exactly
        let odd = matches!(kernel, Kernel::Polynomial { degree: 3.0, offset: 0.0 });
        let expected = Mat::from_fn(5, 12, |i, j| if odd { -X[(i, j)] } else { X[(i, j)] });
        close(Z.as_ref(), expected.as_ref(), 1e-8);
    }
}

/// |⟨Φ(z), d⟩| of any z, through the map itself.
fn agreement(map: &NystroemMap<f64>, z: &[f64], d: &[f64]) -> f64 {
    let z = Mat::from_fn(z.len(), 1, |i, _| z[i]);
    let f = map.transform(z.as_ref()).unwrap();
    dot(f.col_as_slice(0), d).abs()
}

#[test]
fn gaussian_pre_images_are_local_optima_no_worse_than_any_start() {
    let X = random_matrix::<f64>(3, 20, 5);
    let map = all_landmarks(&Kernel::Gaussian { sigma: 1.0 }, 20).fit(X.as_ref()).unwrap();
    let D = random_unit_columns::<f64>(map.rank(), 6, 9);
    let Z = map.pre_images(D.as_ref()).unwrap();
    for j in 0..6 {
        let (z, d) = (Z.col_as_slice(j), D.col_as_slice(j));
        let reached = agreement(&map, z, d);
        for row in 0..3 {
            for step in [-1e-3, 1e-3] {
                let mut near = z.to_vec();
                near[row] += step;
                assert!(agreement(&map, &near, d) <= reached + 1e-12);
            }
        }
        let A = map.projection();
        let weight = |s: usize| -> f64 { (0..map.rank()).map(|r| A[(s, r)] * d[r]).sum() };
        let heaviest = (0..20).max_by(|&s, &t| weight(s).abs().total_cmp(&weight(t).abs()));
        let start = map.panel().points().col(heaviest.unwrap()).iter().copied().collect::<Vec<_>>();
        assert!(reached >= agreement(&map, &start, d) - 1e-12);
    }
}

#[test]
fn the_degree_2_pre_image_beats_random_directions() {
    let X = random_matrix::<f64>(4, 9, 5);
    let map = all_landmarks(&SQUARE, 9).fit(X.as_ref()).unwrap();
    let D = random_unit_columns::<f64>(9, 5, 2);
    let Z = map.pre_images(D.as_ref()).unwrap();
    let others = random_unit_columns::<f64>(4, 200, 7);
    for j in 0..5 {
        let (z, d) = (Z.col_as_slice(j), D.col_as_slice(j));
        let found = agreement(&map, z, d) / norm_sq(z);
        for i in 0..200 {
            assert!(agreement(&map, others.col_as_slice(i), d) <= found * (1.0 + 1e-10));
        }
        // t² = |g(u)| for the unit direction: the length is the best one too
        assert!((norm_sq(z) - found).abs() < 1e-10);
    }
}

#[test]
fn pre_images_of_other_kernels_look_like_their_landmarks() {
    let X = random_matrix::<f64>(5, 40, 3);
    let X = Mat::from_fn(5, 40, |i, j| X[(i, j)].abs());
    for kernel in [
        Kernel::Laplacian { rate: 0.2 },
        Kernel::Exponential { sigma: 3.0 },
        Kernel::Chi2Additive,
        Kernel::Chi2Exponential { rate: 0.3 },
        polynomial(2.5, 1.0),
        Kernel::Normalized(Box::new(polynomial(2.0, 1.0))),
    ] {
        let (map, F) = all_landmarks(&kernel, 30).fit_transform(X.as_ref()).unwrap();
        let Z = map.pre_images(F.as_ref()).unwrap();
        let gap = (&Z - &X).norm_l2() / X.norm_l2();
        assert!(gap < 0.3, "{kernel}: {gap}");
    }
}

fn zero_and_tiny_atoms_are_finite<T: Real>() {
    let X = random_matrix::<T>(4, 9, 1);
    let mut kernels = optimal_kernels();
    kernels.extend([Kernel::Linear, Kernel::Cosine, Kernel::Exponential { sigma: 1.0 }]);
    for kernel in kernels {
        let map = NystroemParams { rank: Rank::Standard, ..all_landmarks(&kernel, 9) };
        let map = map.fit(X.as_ref()).unwrap();
        let atoms = Mat::from_fn(map.rank(), 2, |_, j| T::of(if j == 0 { 0.0 } else { 1e-30 }));
        let Z = map.pre_images(atoms.as_ref()).unwrap();
        assert!(Z.col_as_slice(0).iter().all(|v| *v == T::of(0.0)), "{kernel}");
        assert!(all_finite(Z.col_as_slice(1)), "{kernel}");
    }
}

#[test]
fn zero_atoms_have_zero_pre_images() {
    zero_and_tiny_atoms_are_finite::<f64>();
    zero_and_tiny_atoms_are_finite::<f32>();
}

#[test]
fn zero_landmarks_and_one_feature_are_no_trouble() {
    let X = Mat::from_fn(1, 3, |_, i| i as f64);
    for kernel in optimal_kernels() {
        let params = NystroemParams { rank: Rank::Standard, ..all_landmarks(&kernel, 3) };
        let (map, F) = params.fit_transform(X.as_ref()).unwrap();
        let Z = map.pre_images(F.as_ref()).unwrap();
        assert!((0..3).all(|j| all_finite(Z.col_as_slice(j))), "{kernel}");
    }
}

#[test]
fn threads_do_not_change_pre_images() {
    let X = random_matrix::<f32>(6, 50, 4);
    for kernel in [Kernel::Gaussian { sigma: 1.5 }, SQUARE, polynomial(3.0, 1.0), Kernel::Cosine] {
        let params = NystroemParams { rank: Rank::Standard, ..all_landmarks(&kernel, 15) };
        let map = params.fit(X.as_ref()).unwrap();
        let D = random_unit_columns::<f32>(map.rank(), 20, 8);
        same_for_any_thread_count(|| bits(&map.pre_images(D.as_ref()).unwrap()));
    }
}

#[test]
fn bad_atoms_and_kernels_without_vectors_are_refused() {
    let X = random_matrix::<f64>(3, 8, 4);
    let map = all_landmarks(&Kernel::Gaussian { sigma: 1.0 }, 8).fit(X.as_ref()).unwrap();
    let shape = map.pre_images(Mat::<f64>::zeros(7, 2).as_ref()).unwrap_err();
    assert_eq!(shape, LkdlError::Shape { what: "atoms' rank", expected: 8, got: 7 });
    let empty = map.pre_images(Mat::<f64>::zeros(8, 0).as_ref()).unwrap_err();
    assert!(matches!(empty, LkdlError::Empty { what: "atoms", .. }));
    let nan = map.pre_images(Mat::<f64>::full(8, 1, f64::NAN).as_ref()).unwrap_err();
    assert!(matches!(nan, LkdlError::NonFinite { what: "atoms", .. }));

    let own = Kernel::custom("dot", |x, y| x.iter().zip(y).map(|(a, b)| a * b).sum());
    let map = all_landmarks(&own, 3).fit(X.as_ref()).unwrap();
    let atoms = Mat::<f64>::zeros(map.rank(), 1);
    let error = map.pre_images(atoms.as_ref()).unwrap_err();
    assert!(matches!(error, LkdlError::Unsupported { what: "a pre-image", .. }));
    let gram = X.transpose() * &X;
    let map = all_landmarks(&Kernel::Precomputed, 3).fit(gram.as_ref()).unwrap();
    let atoms = Mat::<f64>::zeros(map.rank(), 1);
    assert!(matches!(map.pre_images(atoms.as_ref()), Err(LkdlError::Unsupported { .. })));
}
