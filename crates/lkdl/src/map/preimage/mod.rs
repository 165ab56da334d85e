//! Pre-images: samples whose virtual samples come closest to given virtual vectors, such as atoms.
//!
//! A virtual vector d stands for the expansion Σ_s a_sΦ(x_s) over the landmarks, a = Pd, so its
//! pre-image is
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
//! | Gaussian, integer degree | fixed point from several landmarks | a local optimum |
//! | others on vectors | ridge regression from virtual samples to samples | a picture, not an optimum |
//!
//! Pre-images live where the map's samples do: after preparation. All work is in `f64`. Cost per
//! atom: 2cp for the closed forms (r²c + eig(r), r = min(c, p), at degree 2), 4cp per step of a fixed
//! point.

mod climb;
mod gaussian;
mod polynomial;

use super::nystroem::NystroemMap;
use crate::error::LkdlError;
use crate::kernel::Kernel;
use crate::linalg::{cholesky_with_jitter, convert, gram, householder_basis, par_product};
use crate::matrix::{Columns, check_samples, check_size, col, columns_of};
use crate::real::Real;
use crate::vector::{all_finite, axpy};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Landmarks from which a fixed point starts: those with the largest |a_s|.
const STARTS: usize = 5;
/// δ of the regression, as a share of the mean diagonal of FFᵀ: little beside the directions that
/// the landmarks use, and it keeps those they hardly use from being stretched.
const RIDGE: f64 = 1e-3;

/// Σ_s a_sΦ(x_s).
#[derive(Clone, Copy)]
struct Expansion<'a> {
    /// X_R, p×c.
    landmarks: Columns<'a, f64>,
    /// a.
    weights: &'a [f64],
}

/// The pre-image of one expansion.
type Finder<'a> = &'a (dyn Fn(Expansion<'_>) -> Result<Vec<f64>, LkdlError> + Sync);

impl Expansion<'_> {
    /// Σ_s w_s x_s.
    fn combine(&self, weights: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.landmarks.nrows()];
        for (s, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
            axpy(&mut sum, weight, col(self.landmarks, s));
        }
        sum
    }

    /// The landmarks of the largest |a_s|, those of no weight left out.
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

impl<T: Real> NystroemMap<T> {
    /// Samples, one per column, whose virtual samples come closest to these virtual vectors or to
    /// their negatives. The pre-image of a zero vector is zero, unless the map is centred.
    ///
    /// Kernels that know no vector space (precomputed, custom) have no pre-images.
    ///
    /// ```
    /// use lkdl::prelude::*;
    /// let samples = faer::Mat::from_fn(2, 6, |row, i| if row == 0 { i as f64 } else { 1.0 });
    /// let params = NystroemParams {
    ///     kernel: Kernel::Gaussian { sigma: 0.5 },
    ///     n_landmarks: LandmarkCount::Exact(6),
    ///     ..Default::default()
    /// };
    /// let (map, virtual_samples) = params.fit_transform(samples.as_ref())?;
    /// let back = map.pre_images(virtual_samples.as_ref())?;
    /// assert!((&back - &samples).norm_max() < 1e-6);
    /// # Ok::<(), LkdlError>(())
    /// ```
    pub fn pre_images(&self, atoms: MatRef<'_, T>) -> Result<Mat<T>, LkdlError> {
        check_samples(atoms, "atoms")?;
        check_size("atoms' rank", atoms.nrows(), self.rank())?;
        let kernel = self.panel().kernel();
        if !kernel.is_on_vectors() {
            return Err(LkdlError::Unsupported {
                what: "a pre-image",
                problem: "needs a kernel on vectors, not a precomputed or custom one",
                fix: "show the training samples nearest to the atom instead",
            });
        }
        let mut D = convert::<T, f64>(atoms);
        for j in 0..D.ncols() {
            // a centred map subtracted the mean from every virtual sample
            for (d, mean) in D.col_as_slice_mut(j).iter_mut().zip(self.mean()) {
                *d += mean.wide();
            }
        }
        let P = convert::<T, f64>(self.projection());
        let points = convert::<T, f64>(self.panel().points());
        let A = par_product(P.as_ref(), D.as_ref());
        let each = |landmarks: &Mat<f64>, find: Finder<'_>| {
            let X = columns_of(landmarks);
            let expansion = |j| Expansion { landmarks: X, weights: A.col_as_slice(j) };
            let found: Vec<Result<Vec<f64>, LkdlError>> =
                (0..A.ncols()).into_par_iter().map(|j| find(expansion(j))).collect();
            side_by_side(X.nrows(), found)
        };
        let Z = match *kernel {
            Kernel::Linear => par_product(points.as_ref(), A.as_ref()),
            Kernel::Polynomial { degree: 1.0, .. } => par_product(points.as_ref(), A.as_ref()),
            // the answer is a combination of the landmarks: where those are fewer than the
            // features, it is looked for in their span
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
            _ => self.regress(D.as_ref(), P.as_ref(), points.as_ref())?,
        };
        let Z = convert::<f64, T>(Z.as_ref());
        let bad = (0..Z.ncols()).find(|&j| !all_finite(Z.col_as_slice(j)));
        bad.map_or(Ok(Z), |_| Err(self.panel().overflow(f64::INFINITY)))
    }

    /// Z = X_R Fᵀ(FFᵀ + δI)⁻¹D with F = PᵀW, the landmarks' own virtual samples.
    fn regress(
        &self,
        D: MatRef<'_, f64>,
        P: MatRef<'_, f64>,
        points: MatRef<'_, f64>,
    ) -> Result<Mat<f64>, LkdlError> {
        let Ft = par_product(self.panel().gram()?.as_ref(), P);
        let mut M = gram(Ft.as_ref());
        let k = M.nrows();
        let delta = RIDGE * (0..k).map(|i| M[(i, i)]).sum::<f64>() / k as f64;
        for i in 0..k {
            M[(i, i)] += delta;
        }
        let mut B = D.to_owned();
        cholesky_with_jitter(M.as_ref())?.solve(B.as_mut());
        Ok(par_product(points, par_product(Ft.as_ref(), B.as_ref()).as_ref()))
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
