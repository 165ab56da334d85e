//! Coreset weights: how badly one common direction represents a sample. O(Np).
//!
//! Against the mean μ of the samples (the paper):
//! ```math
//! w_i=\min_g\|x_i-g\mu\|^2=\|x_i\|^2-(x_i^\top\mu)^2/\|\mu\|^2,\qquad \mu=0:\ w_i=\|x_i\|^2
//! ```
//! Against the constant image (the published program): w_i = ‖x_i − mean(x_i)·1‖², the same with
//! 1 in place of μ. After centring and normalising each sample all of these are equal, and the
//! draw is uniform.

use crate::matrix::{Columns, col, frobenius_sq};
use crate::real::Real;
use rayon::prelude::*;

/// Weights against the mean of the samples. A mean at the samples' own rounding (centred data)
/// points nowhere and counts as 0.
pub(super) fn against_mean<T: Real>(X: Columns<'_, T>) -> Vec<f64> {
    // The sum serves as the mean: only the direction counts.
    let mut mean = vec![0.0; X.nrows()];
    for i in 0..X.ncols() {
        for (m, v) in mean.iter_mut().zip(col(X, i)) {
            *m += v.wide();
        }
    }
    let total_sq: f64 = mean.iter().map(|m| m * m).sum();
    if total_sq <= X.ncols() as f64 * T::EPS * T::EPS * frobenius_sq(X) {
        mean.fill(0.0);
    }
    against(X, &mean)
}

/// Weights against the constant image.
pub(super) fn against_constant<T: Real>(X: Columns<'_, T>) -> Vec<f64> {
    against(X, &vec![1.0; X.nrows()])
}

/// min_g ‖x_i − g·u‖² of every sample; u of any length, 0 included.
///
/// The residual is formed, not the difference of squares, so a multiple of u comes out at rounding
/// level, and what is at rounding level is 0: otherwise noise would be drawn by its size.
fn against<T: Real>(X: Columns<'_, T>, u: &[f64]) -> Vec<f64> {
    let u_sq: f64 = u.iter().map(|v| v * v).sum();
    let rounding = (X.nrows() as f64 * f64::EPSILON).powi(2);
    let weight = |i: usize| {
        let x = col(X, i);
        let (mut x_u, mut x_sq) = (0.0, 0.0);
        for (v, u) in x.iter().zip(u) {
            x_u += v.wide() * u;
            x_sq += v.wide() * v.wide();
        }
        let g = if u_sq > 0.0 { x_u / u_sq } else { 0.0 };
        let residual: f64 = x.iter().zip(u).map(|(v, u)| (v.wide() - g * u).powi(2)).sum();
        if residual > rounding * x_sq { residual } else { 0.0 }
    };
    (0..X.ncols()).into_par_iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::columns_of;
    use crate::testing::random_matrix;
    use faer::Mat;

    #[test]
    fn weights_are_the_least_squares_residuals() {
        let X = random_matrix::<f64>(5, 40, 3);
        let mean: Vec<f64> =
            (0..5).map(|r| (0..40).map(|i| X[(r, i)]).sum::<f64>() / 40.0).collect();
        let formula = |i: usize, u: &[f64]| {
            let dot: f64 = (0..5).map(|r| X[(r, i)] * u[r]).sum();
            let (x, u): (f64, f64) =
                ((0..5).map(|r| X[(r, i)].powi(2)).sum(), u.iter().map(|v| v * v).sum());
            x - dot * dot / u
        };
        let (by_mean, by_one) = (against_mean(columns_of(&X)), against_constant(columns_of(&X)));
        for i in 0..40 {
            assert!((by_mean[i] - formula(i, &mean)).abs() < 1e-12);
            assert!((by_one[i] - formula(i, &[1.0; 5])).abs() < 1e-12);
        }
    }

    #[test]
    fn multiples_of_the_mean_weigh_nothing_and_a_zero_mean_leaves_the_norm() {
        let line = Mat::from_fn(3, 7, |r, i| 0.1 * (r as f32 + 0.7) * (i as f32));
        assert!(
            against_constant(columns_of(&Mat::from_fn(3, 2, |_, i| 0.3 * i as f32)))
                .iter()
                .all(|&w| w == 0.0)
        );
        let residuals = against_mean(columns_of(&line));
        assert!(residuals.iter().all(|&w| w < 1e-12), "{residuals:?}");
        let pair = Mat::from_fn(2, 2, |r, i| if i == 0 { 1.0 + r as f64 } else { -1.0 - r as f64 });
        assert_eq!(against_mean(columns_of(&pair)), [5.0, 5.0]);
        let mut centred = random_matrix::<f32>(3, 50, 1);
        for r in 0..3 {
            let mean = (0..50).map(|i| centred[(r, i)]).sum::<f32>() / 50.0;
            (0..50).for_each(|i| centred[(r, i)] -= mean);
        }
        let norms = crate::matrix::column_sq_norms(columns_of(&centred));
        for (weight, norm) in against_mean(columns_of(&centred)).iter().zip(norms) {
            assert!((weight / norm - 1.0).abs() < 1e-12);
        }
    }
}
