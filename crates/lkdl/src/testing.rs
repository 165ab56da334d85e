//! Helpers of the unit tests: random matrices, the one tolerance, naive references.

use crate::random::{Stage, stream};
use crate::real::Real;
use faer::{Mat, MatRef};
use rand_distr::{Distribution, StandardNormal};

/// A p×n matrix of independent standard normals.
pub(crate) fn random_matrix<T: Real>(p: usize, n: usize, seed: u64) -> Mat<T> {
    let mut rng = stream(seed, Stage::Features, 0xabcd, 0);
    Mat::from_fn(p, n, |_, _| T::of(StandardNormal.sample(&mut rng)))
}

/// [`random_matrix`] with unit columns.
pub(crate) fn random_unit_columns<T: Real>(p: usize, n: usize, seed: u64) -> Mat<T> {
    let mut X = random_matrix::<T>(p, n, seed);
    for j in 0..n {
        crate::vector::normalize(X.col_as_slice_mut(j));
    }
    X
}

/// Equality tolerance for sums over `dim` terms: 128·ε·dim, relative.
pub(crate) fn tolerance<T: Real>(dim: usize) -> f64 {
    128.0 * T::EPS * dim as f64
}

/// Asserts max|A − B| ≤ tol·max(1, max|B|).
#[track_caller]
pub(crate) fn close<T: Real>(A: MatRef<'_, T>, B: MatRef<'_, T>, tol: f64) {
    assert_eq!((A.nrows(), A.ncols()), (B.nrows(), B.ncols()));
    let (mut worst, mut scale) = (0.0f64, 1.0f64);
    for j in 0..A.ncols() {
        for i in 0..A.nrows() {
            let gap = (A[(i, j)].wide() - B[(i, j)].wide()).abs();
            assert!(!gap.is_nan(), "NaN at ({i}, {j})");
            worst = worst.max(gap);
            scale = scale.max(B[(i, j)].wide().abs());
        }
    }
    assert!(worst <= tol * scale, "differ by {worst:e}, allowed {:e}", tol * scale);
}

/// Every bit of a matrix, for exact comparison whatever the shapes.
pub(crate) fn bits<T: Real>(X: &Mat<T>) -> Vec<u64> {
    (0..X.ncols()).flat_map(|j| X.col_as_slice(j).iter().map(|v| v.wide().to_bits())).collect()
}

/// Runs `f` in pools of 1, 2, 3 and 8 threads and asserts that all results are equal.
#[track_caller]
pub(crate) fn same_for_any_thread_count<R: PartialEq + Send + std::fmt::Debug>(
    f: impl Fn() -> R + Send + Sync,
) {
    let run =
        |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&f);
    let one = run(1);
    for threads in [2, 3, 8] {
        assert!(run(threads) == one, "{threads} threads give other bits than 1");
    }
}
