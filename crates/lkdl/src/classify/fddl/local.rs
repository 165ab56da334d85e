//! The local rule: every class codes the sample with its own atoms, near its own mean code, and the
//! class that does so at the lowest price wins.
//!
//! ```math
//! \text{label}(y)=\arg\min_i\min_s\ \|y-D_is\|^2+g_1\|s\|_1+g_2\|s-m_i^i\|^2
//! ```
//! Half of it is a lasso: ½‖·‖² over [D_i; √g2·I] with λ = g1/2, that is G + g2·I, α0 + g2·m and
//! ρ0 + g2‖m‖². The path to λ is followed exactly (LARS), in `f64`: about m_i·|s|² flops per class.
//!
//! The published program minimises with ½‖·‖² but λ = g1 and scores without the ½, so that its
//! codes pay twice the penalty of the score: `compat`.

use super::model::Score;
use crate::linalg::{convert, gram, product_into};
use crate::matrix::columns_of;
use crate::pursuit::lasso::{Prepared, Problem, State, Stopping, solve};
use crate::real::Real;
use crate::vector::{axpy, norm_sq};
use faer::{Mat, MatRef};

/// Gap at which a code is good enough, as a share of ½‖y‖²: the score is off by no more.
pub(super) const STOPPING: Stopping = Stopping { tolerance: 1e-6, max_iters: 10_000 };

/// One class, ready to score.
#[derive(Debug, Clone)]
struct Class {
    /// D_i.
    D: Mat<f64>,
    /// D_iᵀD_i + g2·I.
    G: Mat<f64>,
    /// g2·m_i^i.
    pull: Vec<f64>,
    /// g2‖m_i^i‖².
    pull_energy: f64,
}

/// The rule over all classes.
#[derive(Debug, Clone)]
pub(super) struct Local {
    classes: Vec<Class>,
    l1_weight: f64,
    /// λ of the codes.
    lambda: f64,
}

impl Local {
    /// From the dictionaries and the mean code of each class over its own atoms.
    pub(super) fn new<T: Real>(
        dictionaries: &[Mat<T>],
        own_means: &[Vec<f64>],
        l1_weight: f64,
        mean_weight: f64,
        compat: bool,
    ) -> Self {
        let class = |(D, mean): (&Mat<T>, &Vec<f64>)| {
            let D = convert::<T, f64>(D.as_ref());
            let mut G = gram(D.as_ref());
            for j in 0..G.ncols() {
                G[(j, j)] += mean_weight;
            }
            let pull = mean.iter().map(|m| mean_weight * m).collect();
            Class { D, G, pull, pull_energy: mean_weight * norm_sq(mean) }
        };
        let classes = dictionaries.iter().zip(own_means).map(class).collect();
        let lambda = if compat { l1_weight } else { 0.5 * l1_weight };
        Self { classes, l1_weight, lambda }
    }
}

impl Score for Local {
    /// The prices of a block of samples: classes × samples.
    fn scores(&self, Y: MatRef<'_, f64>, sq_norms: &[f64]) -> Mat<f64> {
        let mut scores = Mat::zeros(self.classes.len(), Y.ncols());
        let mut state = State::default();
        for (l, class) in self.classes.iter().enumerate() {
            let mut alpha0 = Mat::zeros(class.D.ncols(), Y.ncols());
            product_into(alpha0.as_mut(), class.D.transpose(), Y);
            for (i, &sq_norm) in sq_norms.iter().enumerate() {
                let alpha0 = alpha0.col_as_slice_mut(i);
                axpy(alpha0, 1.0, &class.pull);
                let (G, rho0) = (columns_of(&class.G), sq_norm + class.pull_energy);
                let problem = Problem { G, alpha0, rho0, lambda: self.lambda };
                solve(&problem, Prepared::Lars, STOPPING, &mut state);
                let l1: f64 = state.gamma.iter().map(|v| v.abs()).sum();
                scores[(l, i)] = problem.sq_residual(&state) + self.l1_weight * l1;
            }
        }
        scores
    }
}
