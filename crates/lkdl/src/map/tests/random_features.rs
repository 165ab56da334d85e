//! What every map onto random cosines and sines of the Gaussian kernel does.

use crate::map::fastfood::FastfoodParams;
use crate::map::fourier::FourierParams;
use crate::real::Real;
use crate::testing::{close, random_matrix, same_for_any_thread_count};
use crate::vector::norm_sq;
use faer::Mat;

trait RandomMap {
    /// Two ranks a factor 16 apart. Fastfood's are whole blocks (of 1 or 8 rows below), so that
    /// both have the same dependence inside one.
    const RANKS: [usize; 2];
    fn transform<T: Real>(sigma: f64, rank: usize, seed: u64, X: &Mat<T>) -> Mat<T>;
}

struct Fourier;

impl RandomMap for Fourier {
    const RANKS: [usize; 2] = [4, 64];
    fn transform<T: Real>(sigma: f64, rank: usize, seed: u64, X: &Mat<T>) -> Mat<T> {
        let map = FourierParams { sigma, rank, seed }.fit(X.nrows()).unwrap();
        map.transform(X.as_ref()).unwrap()
    }
}

struct Fastfood;

impl RandomMap for Fastfood {
    const RANKS: [usize; 2] = [16, 256];
    fn transform<T: Real>(sigma: f64, rank: usize, seed: u64, X: &Mat<T>) -> Mat<T> {
        let map = FastfoodParams { sigma, rank, seed }.fit(X.nrows()).unwrap();
        map.transform(X.as_ref()).unwrap()
    }
}

const SIGMA: f64 = 1.5;
const SEEDS: u64 = 400;

/// Few samples, at distances around σ.
fn points(p: usize) -> Mat<f64> {
    let X = random_matrix::<f64>(p, 7, 3);
    Mat::from_fn(p, 7, |t, i| X[(t, i)] / (p as f64).sqrt())
}

fn kernel_matrix(X: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(X.ncols(), X.ncols(), |i, j| {
        let sq: f64 = (0..X.nrows()).map(|t| (X[(t, i)] - X[(t, j)]).powi(2)).sum();
        (-sq / (2.0 * SIGMA * SIGMA)).exp()
    })
}

/// Mean of FᵀF over seeds − K, largest entry; and the root mean square of FᵀF − K.
fn bias_and_error<M: RandomMap>(X: &Mat<f64>, rank: usize) -> (f64, f64) {
    let K = kernel_matrix(X);
    let (mut mean, mut squares) = (Mat::<f64>::zeros(7, 7), 0.0);
    for seed in 0..SEEDS {
        let F = M::transform(SIGMA, rank, seed, X);
        let gap = F.transpose() * &F - &K;
        squares += gap.squared_norm_l2();
        mean += gap;
    }
    (mean.norm_max() / SEEDS as f64, (squares / (49 * SEEDS) as f64).sqrt())
}

fn unbiased_with_falling_error<M: RandomMap>() {
    for p in [1, 6] {
        let X = points(p);
        let [few, many] = M::RANKS.map(|rank| {
            let (bias, error) = bias_and_error::<M>(&X, rank);
            // The largest of the 21 pairs' means stays within 6 standard deviations of a mean.
            assert!(bias < 6.0 * error / (SEEDS as f64).sqrt(), "bias {bias}, error {error}");
            error
        });
        let ratio = few / many;
        assert!((3.6..4.4).contains(&ratio), "16 times the rank: error over {ratio}, not 4");
    }
}

#[test]
fn inner_products_are_unbiased_and_their_error_falls_like_one_over_root_rank() {
    unbiased_with_falling_error::<Fourier>();
    unbiased_with_falling_error::<Fastfood>();
}

fn unit_norms<M: RandomMap, T: Real>() {
    for (p, rank) in [(1, 2), (6, 64), (30, 1024)] {
        let F = M::transform(0.3, rank, 1, &random_matrix::<T>(p, 20, 4));
        for i in 0..20 {
            let gap = norm_sq(F.col_as_slice(i)) - 1.0;
            assert!(gap.abs() <= 16.0 * T::EPS, "squared norm off by {gap:e}");
        }
    }
}

#[test]
fn virtual_samples_have_unit_norm() {
    unit_norms::<Fourier, f64>();
    unit_norms::<Fourier, f32>();
    unit_norms::<Fastfood, f64>();
    unit_norms::<Fastfood, f32>();
}

fn only_the_share_of_sigma_counts<M: RandomMap>() {
    let X = random_matrix::<f64>(5, 9, 6);
    let doubled = Mat::from_fn(5, 9, |t, i| 2.0 * X[(t, i)]);
    let F = M::transform(0.8, 32, 2, &X);
    assert_eq!(M::transform(1.6, 32, 2, &doubled), F);
    assert_ne!(M::transform(1.6, 32, 2, &X), F);
}

#[test]
fn scaling_samples_and_sigma_together_changes_nothing() {
    only_the_share_of_sigma_counts::<Fourier>();
    only_the_share_of_sigma_counts::<Fastfood>();
}

fn precisions_agree<M: RandomMap>() {
    let X = random_matrix::<f64>(20, 40, 6);
    let narrow = Mat::from_fn(20, 40, |t, i| X[(t, i)] as f32);
    let G = M::transform(3.0, 128, 2, &narrow);
    let G = Mat::from_fn(128, 40, |t, i| f64::from(G[(t, i)]));
    close(G.as_ref(), M::transform(3.0, 128, 2, &X).as_ref(), 1e-5);
}

#[test]
fn both_precisions_agree() {
    precisions_agree::<Fourier>();
    precisions_agree::<Fastfood>();
}

#[test]
fn no_bit_depends_on_the_thread_count() {
    fn check<M: RandomMap, T: Real>() {
        let X = random_matrix::<T>(9, 1500, 6);
        same_for_any_thread_count(|| M::transform(1.0, 50, 3, &X));
    }
    check::<Fourier, f64>();
    check::<Fourier, f32>();
    check::<Fastfood, f64>();
    check::<Fastfood, f32>();
}
