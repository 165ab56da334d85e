//! Kernel SRC on matrices: the residuals by their definition, and what it refuses.

use super::*;
use crate::classify::{Classify, SrcParams, Train};
use crate::linalg::gram;
use crate::matrix::column_sq_norms;
use crate::testing::{close, random_matrix};

const OMP: SrcCoding = SrcCoding::Omp { sparsity: 3 };
const LASSO: SrcCoding = SrcCoding::Lasso { relative_penalty: 0.15 };

fn inner_products_are_enough<T: Real>(tol: f64) {
    let (X, new) = (random_matrix::<T>(7, 30, 1), random_matrix::<T>(7, 40, 2));
    let labels: Vec<usize> = (0..30).map(|i| i % 3).collect();
    let (K, cross) = (gram(X.as_ref()), X.transpose() * &new);
    let sq_norms = column_sq_norms(columns_of(&new));
    for coding in [OMP, LASSO] {
        let model = GramSrc::new(K.as_ref(), &labels, coding).unwrap();
        let got = model.classify(cross.as_ref(), &sq_norms).unwrap();
        let params = SrcParams { coding, ..Default::default() };
        let src = params.train(X.as_ref(), &labels).unwrap().classify(new.as_ref()).unwrap();
        close(got.scores.as_ref(), src.scores.as_ref(), tol);
    }
}

#[test]
fn on_inner_products_of_vectors_it_is_src() {
    inner_products_are_enough::<f64>(1e-9);
    inner_products_are_enough::<f32>(1e-3);
}

#[test]
fn zero_samples_are_never_used_and_zero_signals_get_the_lowest_class() {
    let mut X = random_matrix::<f64>(5, 12, 3);
    X.col_as_slice_mut(4).fill(0.0);
    let labels: Vec<usize> = (0..12).map(|i| i % 2).collect();
    let K = gram(X.as_ref());
    let self_values: Vec<f64> = (0..12).map(|i| K[(i, i)]).collect();
    for coding in [OMP, LASSO] {
        let model = GramSrc::new(K.as_ref(), &labels, coding).unwrap();
        let predictions = model.classify(K.as_ref(), &self_values).unwrap();
        for i in (0..12).filter(|&i| i != 4) {
            assert_eq!(predictions.labels[i], labels[i]);
        }
        assert_eq!((predictions.labels[4], predictions.n_zero_samples), (0, 1));
    }
    assert!(GramSrc::new(Mat::<f64>::zeros(3, 3).as_ref(), &[0, 0, 1], OMP).is_err());
}

#[test]
fn matrices_that_are_none_of_inner_products_are_refused() {
    let K = gram(random_matrix::<f64>(5, 6, 3).as_ref());
    let labels = [0, 1, 0, 1, 0, 1];
    let mut skew = K.clone();
    skew[(1, 3)] += 0.5;
    assert!(GramSrc::new(skew.as_ref(), &labels, OMP).is_err());
    let indefinite = Mat::from_fn(6, 6, |i, j| if i == j { 1.0 } else { -0.9 });
    assert!(GramSrc::new(indefinite.as_ref(), &labels, OMP).is_err());
    assert!(GramSrc::new(K.as_ref().subcols(0, 5), &labels, OMP).is_err());
    assert!(GramSrc::new(K.as_ref(), &labels[..5], OMP).is_err());
    assert!(GramSrc::new(K.as_ref(), &labels, SrcCoding::Omp { sparsity: 0 }).is_err());
    let model = GramSrc::new(K.as_ref(), &labels, OMP).unwrap();
    assert!(model.classify(K.as_ref().subrows(0, 5), &[1.0; 6]).is_err());
    assert!(model.classify(K.as_ref(), &[1.0; 5]).is_err());
    assert!(model.classify(K.as_ref(), &[-1.0; 6]).is_err());
}
