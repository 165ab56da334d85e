//! Pre-images: samples whose images in the kernel's space come closest to given vectors there, such
//! as atoms.
//!
//! Such a vector is an expansion Σ_s a_sΦ(x_s) over some samples: the landmarks of a map, or the
//! training samples that an atom of a kernel dictionary combines. Its pre-image is
//!
//! ```math
//! \min_z \Big\|\Phi(z)-\sum_s a_s\Phi(x_s)\Big\|^2
//!   = \min_z\;\kappa(z,z)-2\sum_s a_s\kappa(z,x_s)+\text{const}
//! ```
//!
//! Atoms have no sign, so −Φ(z) will do as well as Φ(z).
//!
//! | kernel | how | result |
//! |---|---|---|
//! | linear, polynomial of degree 1 | z = Σ a_s x_s | exact |
//! | degree 2, offset 0 | leading eigenpair of Σ a_s x_s x_sᵀ | exact |
//! | Gaussian, integer degree | fixed point from several points | a local optimum |
//! | others on vectors | ridge regression from the kernel's space to samples | a picture, not an optimum |
//!
//! Pre-images live where the points do: after preparation. All work is in `f64`. Cost per atom over
//! c points: 2cp for the closed forms (r²c + eig(r), r = min(c, p), at degree 2), 4cp per step of a
//! fixed point; the regression solves one c×c system for all.

mod climb;
mod gaussian;
mod polynomial;

use super::{Kernel, Panel};
use crate::error::LkdlError;
use crate::linalg::{cholesky_with_jitter, convert, householder_basis, par_product};
use crate::matrix::{Columns, check_samples, check_size, col, columns_of};
use crate::real::Real;
use crate::vector::{all_finite, axpy};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Points from which a fixed point starts: those with the largest |a_s|.
const STARTS: usize = 5;
/// δ of the regression, as a share of the mean κ(x, x) of the points: little beside the directions
/// that they use, and it keeps those they hardly use from being stretched.
const RIDGE: f64 = 1e-3;

/// Σ_s a_sΦ(x_s).
#[derive(Clone, Copy)]
struct Expansion<'a> {
    /// The x_s, p×c.
    points: Columns<'a, f64>,
    /// a.
    weights: &'a [f64],
}

/// The pre-image of one expansion.
type Finder<'a> = &'a (dyn Fn(Expansion<'_>) -> Result<Vec<f64>, LkdlError> + Sync);

impl Expansion<'_> {
    /// Σ_s w_s x_s.
    fn combine(&self, weights: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.points.nrows()];
        for (s, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
            axpy(&mut sum, weight, col(self.points, s));
        }
        sum
    }

    /// The points of the largest |a_s|, those of no weight left out.
    fn starts(&self) -> Vec<usize> {
        let mut order: Vec<usize> =
            (0..self.weights.len()).filter(|&s| self.weights[s] != 0.0).collect();
        order.sort_by(|&s, &t| self.weights[t].abs().total_cmp(&self.weights[s].abs()));
        order.truncate(STARTS);
        order
    }
}

/// A candidate pre-image and its κ(z,z) − 2|Σ_s a_sκ(z,x_s)|.
struct Candidate {
    z: Vec<f64>,
    objective: f64,
}

/// The best of the candidates, the first of equals; zero if there is none.
fn best(candidates: impl Iterator<Item = Candidate>, n_features: usize) -> Vec<f64> {
    let better = |a: Candidate, b: Candidate| if b.objective < a.objective { b } else { a };
    candidates.reduce(better).map_or_else(|| vec![0.0; n_features], |found| found.z)
}

impl<T: Real> Panel<T> {
    /// Samples, one per column, whose images come closest to the vectors Σ_s a_sΦ(x_s) of the
    /// kernel's space, or to their negatives: the x_s are this panel's points, and every column of
    /// `weights` holds the a_s of one vector. The pre-image of a zero vector is zero.
    ///
    /// Kernels that know no vector space (precomputed, custom) have no pre-images.
    ///
    /// ```
    /// use lkdl::prelude::*;
    /// let points = faer::Mat::from_fn(2, 6, |row, s| if row == 0 { s as f64 } else { 1.0 });
    /// let panel = Panel::new(&Kernel::Gaussian { sigma: 0.5 }, points.as_ref())?;
    /// // each point's own image
    /// let weights = faer::Mat::<f64>::identity(6, 6);
    /// let back = panel.pre_images(weights.as_ref())?;
    /// assert!((&back - &points).norm_max() < 1e-6);
    /// # Ok::<(), LkdlError>(())
    /// ```
    pub fn pre_images(&self, weights: MatRef<'_, T>) -> Result<Mat<T>, LkdlError> {
        check_samples(weights, "weights")?;
        check_size("weights' rows", weights.nrows(), self.len())?;
        self.pre_images_of(convert::<T, f64>(weights).as_ref())
    }

    /// [`Panel::pre_images`] of weights A (c×m), which are finite and fit.
    pub(crate) fn pre_images_of(&self, A: MatRef<'_, f64>) -> Result<Mat<T>, LkdlError> {
        if !self.kernel().is_on_vectors() {
            return Err(LkdlError::Unsupported {
                what: "a pre-image",
                problem: "needs a kernel on vectors, not a precomputed or custom one",
                fix: "show the training samples nearest to the atom instead",
            });
        }
        let points = convert::<T, f64>(self.points());
        let A = A.to_owned();
        let each = |points: &Mat<f64>, find: Finder<'_>| {
            let X = columns_of(points);
            let expansion = |j| Expansion { points: X, weights: A.col_as_slice(j) };
            let found: Vec<Result<Vec<f64>, LkdlError>> =
                (0..A.ncols()).into_par_iter().map(|j| find(expansion(j))).collect();
            side_by_side(X.nrows(), found)
        };
        let Z = match *self.kernel() {
            Kernel::Linear => par_product(points.as_ref(), A.as_ref()),
            Kernel::Polynomial { degree: 1.0, .. } => par_product(points.as_ref(), A.as_ref()),
            // the answer is a combination of the points: where those are fewer than the features,
            // it is looked for in their span
            Kernel::Polynomial { degree: 2.0, offset: 0.0 } if points.ncols() < points.nrows() => {
                let Q = householder_basis(points.clone());
                let coordinates = par_product(Q.transpose(), points.as_ref());
                par_product(Q.as_ref(), each(&coordinates, &polynomial::square)?.as_ref())
            }
            Kernel::Polynomial { degree: 2.0, offset: 0.0 } => each(&points, &polynomial::square)?,
            Kernel::Polynomial { degree, offset } if is_power(degree) => {
                let find = |expansion: Expansion<'_>| {
                    Ok(polynomial::pre_image(expansion, degree as i32, offset))
                };
                each(&points, &find)?
            }
            Kernel::Gaussian { sigma } => {
                each(&points, &|expansion| Ok(gaussian::pre_image(expansion, sigma)))?
            }
            _ => self.regress(A.as_ref(), points.as_ref())?,
        };
        let Z = convert::<f64, T>(Z.as_ref());
        let bad = (0..Z.ncols()).find(|&j| !all_finite(Z.col_as_slice(j)));
        bad.map_or(Ok(Z), |_| Err(self.overflow(f64::INFINITY)))
    }

    /// Z = X(W + δI)⁻¹WA: the ridge regression from Φ(x_s) to x_s, at Φ(X)A.
    fn regress(&self, A: MatRef<'_, f64>, points: MatRef<'_, f64>) -> Result<Mat<f64>, LkdlError> {
        let mut W = self.gram()?;
        let mut B = par_product(W.as_ref(), A);
        let c = W.nrows();
        let delta = RIDGE * (0..c).map(|s| W[(s, s)]).sum::<f64>() / c as f64;
        for s in 0..c {
            W[(s, s)] += delta;
        }
        cholesky_with_jitter(W.as_ref())?.solve(B.as_mut());
        Ok(par_product(points, B.as_ref()))
    }
}

/// An integer degree that `powi` can raise to.
fn is_power(degree: f64) -> bool {
    degree.fract() == 0.0 && degree >= 1.0 && degree <= f64::from(i32::MAX)
}

/// Vectors of one length as the columns of a matrix.
fn side_by_side(
    n_rows: usize,
    columns: Vec<Result<Vec<f64>, LkdlError>>,
) -> Result<Mat<f64>, LkdlError> {
    let mut out = Mat::zeros(n_rows, columns.len());
    for (j, column) in columns.into_iter().enumerate() {
        out.col_as_slice_mut(j).copy_from_slice(&column?);
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
