//! The global rule: one code over the atoms of all classes; the class whose part of it represents
//! the sample, and whose mean code is near, wins.
//!
//! ```math
//! \gamma=\arg\min\|y-D\gamma\|^2+g_1\|\gamma\|_1,\qquad
//! \text{label}(y)=\arg\min_i\ \|y-D_i\gamma^i\|^2+w\|\gamma-m_i\|^2
//! ```
//! The code is a lasso with λ = g1/2 over m atoms, by its path (LARS) in `f64`: about m·|γ|² flops,
//! and m² values of DᵀD are held.

use super::local::STOPPING;
use super::model::Score;
use crate::linalg::{convert, gram, product_into};
use crate::matrix::columns_of;
use crate::pursuit::lasso::{Prepared, Problem, State, solve};
use crate::real::Real;
use crate::vector::{axpy, norm_sq, sum_zip};
use faer::{Mat, MatRef};
use std::ops::Range;

/// The rule over all classes.
#[derive(Debug, Clone)]
pub(super) struct Global {
    /// D, of all classes.
    D: Mat<f64>,
    /// DᵀD.
    G: Mat<f64>,
    atoms: Vec<Range<usize>>,
    /// m_i, one column per class.
    means: Mat<f64>,
    /// g1/2.
    lambda: f64,
    mean_weight: f64,
}

impl Global {
    /// From the dictionaries and the mean codes of the classes over all atoms.
    pub(super) fn new<T: Real>(
        dictionaries: &[Mat<T>],
        atoms: Vec<Range<usize>>,
        means: &Mat<f64>,
        l1_weight: f64,
        mean_weight: f64,
    ) -> Self {
        let m = atoms.last().map_or(0, |last| last.end);
        let mut D = Mat::zeros(dictionaries.first().map_or(0, Mat::nrows), m);
        for (own, range) in dictionaries.iter().zip(&atoms) {
            let own = convert::<T, f64>(own.as_ref());
            D.as_mut().subcols_mut(range.start, range.len()).copy_from(&own);
        }
        let G = gram(D.as_ref());
        Self { D, G, atoms, means: means.clone(), lambda: 0.5 * l1_weight, mean_weight }
    }

    /// ‖y − D_iγ^i‖² + w‖γ − m_i‖².
    fn price(&self, class: usize, y: &[f64], gamma: &[f64]) -> f64 {
        let mut left = y.to_vec();
        for j in self.atoms[class].clone().filter(|&j| gamma[j] != 0.0) {
            axpy(&mut left, -gamma[j], self.D.col_as_slice(j));
        }
        let mean = self.means.col_as_slice(class);
        let away = sum_zip(gamma, mean, |a, b| (a - b) * (a - b));
        norm_sq(&left) + self.mean_weight * away
    }
}

impl Score for Global {
    fn scores(&self, Y: MatRef<'_, f64>, sq_norms: &[f64]) -> Mat<f64> {
        let mut alpha0 = Mat::zeros(self.D.ncols(), Y.ncols());
        product_into(alpha0.as_mut(), self.D.transpose(), Y);
        let mut scores = Mat::zeros(self.atoms.len(), Y.ncols());
        let mut state = State::default();
        for (i, &rho0) in sq_norms.iter().enumerate() {
            let (G, alpha0) = (columns_of(&self.G), alpha0.col_as_slice(i));
            let problem = Problem { G, alpha0, rho0, lambda: self.lambda };
            solve(&problem, Prepared::Lars, STOPPING, &mut state);
            let y: Vec<f64> = Y.col(i).iter().copied().collect();
            for l in 0..self.atoms.len() {
                scores[(l, i)] = self.price(l, &y, &state.gamma);
            }
        }
        scores
    }
}
