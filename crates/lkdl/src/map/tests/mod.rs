//! Invariants of the Nyström map (ALGORITHMS part 3), against a dense reference in `f64`.

mod exact;
mod policies;
mod random_features;
mod statistics;
mod truncated;

use super::*;
use crate::kernel::{Kernel, Panel};
use crate::linalg::{convert, full_eigen};
use crate::real::Real;
use crate::sampling::{LandmarkCount, Landmarks, Sampler};
use crate::testing::random_matrix;
use faer::{Mat, MatRef};

const GAUSSIAN: Kernel = Kernel::Gaussian { sigma: 1.5 };
const SQUARE: Kernel = Kernel::Polynomial { degree: 2.0, offset: 0.0 };
const VARIANTS: [Variant; 3] = [Variant::Standard, Variant::Cholesky, Variant::Optimal];

/// Every kernel that theory calls semi-definite, on data of any sign or of one.
fn semidefinite_kernels() -> Vec<Kernel> {
    vec![
        Kernel::Linear,
        SQUARE,
        Kernel::Polynomial { degree: 3.0, offset: 1.0 },
        GAUSSIAN,
        Kernel::Exponential { sigma: 2.0 },
        Kernel::Laplacian { rate: 0.3 },
        Kernel::Cosine,
        Kernel::Chi2Additive,
        Kernel::Chi2Exponential { rate: 0.5 },
        Kernel::Normalized(Box::new(Kernel::Polynomial { degree: 3.0, offset: 1.0 })),
    ]
}

/// Non-negative samples, so that every kernel can be used.
fn samples<T: Real>(p: usize, n: usize, seed: u64) -> Mat<T> {
    let X = random_matrix::<T>(p, n, seed);
    Mat::from_fn(p, n, |r, i| T::of(X[(r, i)].wide().abs()))
}

fn params(kernel: &Kernel, n_landmarks: usize, rank: usize) -> NystroemParams {
    NystroemParams {
        kernel: kernel.clone(),
        sampler: Sampler::Uniform,
        n_landmarks: LandmarkCount::Exact(n_landmarks),
        rank: Rank::Exact(rank),
        seed: 5,
        ..Default::default()
    }
}

/// [`params`] of one variant; Cholesky keeps all landmarks, whatever the rank.
fn variant_params(
    variant: Variant,
    kernel: &Kernel,
    n_landmarks: usize,
    rank: usize,
) -> NystroemParams {
    let rank = if variant == Variant::Cholesky { n_landmarks } else { rank };
    NystroemParams { variant, ..params(kernel, n_landmarks, rank) }
}

/// K in `f64`, whatever the samples' type.
fn dense<T: Real>(kernel: &Kernel, X: &Mat<T>) -> Mat<f64> {
    let X = convert::<T, f64>(X.as_ref());
    let all: Vec<usize> = (0..X.ncols()).collect();
    Panel::of_samples(kernel, X.as_ref(), &all).unwrap().gram().unwrap()
}

/// FᵀF in `f64`.
fn inner_products<T: Real>(F: MatRef<'_, T>) -> Mat<f64> {
    let F = convert::<T, f64>(F);
    F.transpose() * &F
}

/// K̂ of a fitted map.
fn approximation<T: Real>(params: &NystroemParams, X: &Mat<T>) -> Mat<f64> {
    inner_products(params.fit_transform(X.as_ref()).unwrap().1.as_ref())
}

/// C·g(W)·Cᵀ with W = VΣVᵀ the kernel matrix of the landmarks and g(W) = V g(Σ) Vᵀ: the textbook
/// Nyström matrix for g(σ) = 1/σ on the eigenvalues that are kept.
fn naive(
    kernel: &Kernel,
    X: &Mat<f64>,
    points: MatRef<'_, f64>,
    g: impl Fn(usize, f64) -> f64,
) -> Mat<f64> {
    let panel = Panel::new(kernel, points).unwrap();
    let W = full_eigen(panel.gram().unwrap().as_ref()).unwrap();
    let VC = W.vectors.transpose() * panel.evaluate(X.as_ref()).unwrap();
    let scaled = Mat::from_fn(VC.nrows(), VC.ncols(), |i, j| g(i, W.values[i]) * VC[(i, j)]);
    VC.transpose() * scaled
}

/// [`naive`] with the `rank` leading eigenvalues above rounding.
fn naive_nystroem(kernel: &Kernel, X: &Mat<f64>, points: MatRef<'_, f64>, rank: usize) -> Mat<f64> {
    naive(kernel, X, points, |i, v| if i < rank && v > 1e-11 { 1.0 / v } else { 0.0 })
}

fn trace(A: &Mat<f64>) -> f64 {
    (0..A.nrows()).map(|i| A[(i, i)]).sum()
}

/// ‖A − B‖_F ≤ tol·‖B‖_F.
#[track_caller]
fn near(A: &Mat<f64>, B: &Mat<f64>, tol: f64, what: impl std::fmt::Display) {
    let gap = (A - B).norm_l2();
    assert!(gap <= tol * B.norm_l2(), "{what}: {gap:e} of {:e}", B.norm_l2());
}

/// What compares two maps or single values is asserted to 1e-8 in `f64`, 2e-5 in `f32`: there C, P
/// and F are each rounded to 6e-8, and directions near the threshold τ are stretched by up to 1/√τ.
fn tolerance<T: Real>() -> f64 {
    if T::EPS < 1e-10 { 1e-8 } else { 2e-5 }
}

/// FᵀF = K as a whole, where it must be: 1e-8·‖K‖ in `f64`, 1e-6·‖K‖ in `f32`.
fn identity<T: Real>() -> f64 {
    if T::EPS < 1e-10 { 1e-8 } else { 1e-6 }
}

/// A tolerance, or √ε for the exponential kernel, whose distance of coincident samples is the root
/// of a rounding error.
fn of_kernel<T: Real>(tol: f64, kernel: &Kernel) -> f64 {
    let root = if matches!(kernel, Kernel::Exponential { .. }) { T::EPS.sqrt() } else { 0.0 };
    tol.max(root)
}
