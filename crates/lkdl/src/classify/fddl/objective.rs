//! The objective J as a function of the codes, its value and gradient. LKDL Eqs. (5)–(7):
//!
//! ```math
//! J=\sum_i\Big[\|X_i-D\Gamma_i\|^2+\|X_i-D_i\Gamma_i^i\|^2+\sum_{j\ne i}\|D_j\Gamma_i^j\|^2\Big]
//! +\lambda_1\|\Gamma\|_1+\lambda_2\big[\operatorname{tr}(S_W-S_B)+\eta\|\Gamma\|^2\big]
//! ```
//! The fidelity is a quadratic form, and the scatters depend on the codes' energy and means alone:
//!
//! ```math
//! \tfrac12\nabla=\underbrace{H\Gamma-T}_{\text{raw}}+\lambda_2(bM-a\hat M),\qquad
//! \operatorname{tr}(S_W-S_B)+\eta\|\Gamma\|^2=e\|\Gamma\|^2-a\sum_in_i\|m_i\|^2+bN\|m\|^2
//! ```
//! with H = 𝓜(DᵀD) + λ2·e·I, T = 𝓜(DᵀX), m_i the mean code of class i (repeated in M̂), m that of
//! all (in M); e = 1 + η, a = 2, b = 1. Simplified FDDL is the same form on one class without the
//! term of its own atoms: e = 1, a = 1, b = 0. The raw part of a sample needs no other sample, so
//! codes are stepped, multiplied and compared run by run while they are in cache, and means are
//! put right afterwards.

use super::hessian::Hessian;
use super::layout::{Layout, Run};
use crate::linalg::product_into;
use crate::matrix::{Columns, frobenius_sq, subcols};
use crate::real::Real;
use crate::vector::{dot_wide, norm_sq, zip_in_place};
use faer::Mat;
use rayon::prelude::*;

/// The weights that make the objective.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weights {
    /// λ1.
    pub(super) l1: f64,
    /// λ2.
    pub(super) scatter: f64,
    /// Of the terms of a class's own atoms: 1, or 0 without them.
    pub(super) own: f64,
    /// e, of ‖Γ‖².
    pub(super) energy: f64,
    /// a, of the class means.
    pub(super) class_means: f64,
    /// b, of the mean of all.
    pub(super) global_mean: f64,
}

impl Weights {
    /// FDDL.
    pub(super) fn full(l1: f64, scatter: f64, eta: f64) -> Self {
        let (energy, class_means, global_mean) = (1.0 + eta, 2.0, 1.0);
        Self { l1, scatter, own: 1.0, energy, class_means, global_mean }
    }

    /// ‖X − DA‖² + λ1‖A‖₁ + λ2‖A − mean(A)‖².
    pub(super) fn simplified(l1: f64, scatter: f64) -> Self {
        Self { l1, scatter, own: 0.0, energy: 1.0, class_means: 1.0, global_mean: 0.0 }
    }
}

/// m_i of every class and m of all.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Means {
    pub(super) classes: Vec<Vec<f64>>,
    pub(super) all: Vec<f64>,
}

impl Means {
    fn zeros(layout: &Layout) -> Self {
        let zeros = vec![0.0; layout.n_atoms()];
        Self { classes: vec![zeros.clone(); layout.class_sizes.len()], all: zeros }
    }

    /// From the sums of the codes of every run.
    pub(super) fn new(layout: &Layout, run_sums: &[Vec<f64>]) -> Self {
        let mut means = Self::zeros(layout);
        for (run, sum) in layout.runs.iter().zip(run_sums) {
            add(&mut means.classes[run.class], sum);
        }
        for sum in &means.classes {
            add(&mut means.all, sum);
        }
        let divide = |sum: &mut [f64], n: usize| sum.iter_mut().for_each(|v| *v /= n as f64);
        for (sum, &n) in means.classes.iter_mut().zip(&layout.class_sizes) {
            divide(sum, n);
        }
        divide(&mut means.all, layout.n_samples());
        means
    }
}

fn add(to: &mut [f64], from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}

/// Codes with what is known of them; one matrix per run of the layout.
#[derive(Debug, Clone)]
pub(super) struct Point<T: Real> {
    /// Γ.
    pub(super) gamma: Vec<Mat<T>>,
    /// HΓ − T.
    pub(super) raw: Vec<Mat<T>>,
    pub(super) means: Means,
}

impl<T: Real> Point<T> {
    /// Γ = 0, with nothing else worth reading.
    pub(super) fn blank(layout: &Layout) -> Self {
        let m = layout.n_atoms();
        Self { gamma: layout.zeros(m), raw: layout.zeros(m), means: Means::zeros(layout) }
    }
}

/// J over the codes, for one dictionary.
pub(super) struct Objective<'a, T: Real> {
    pub(super) layout: &'a Layout,
    pub(super) weights: Weights,
    hessian: Hessian<T>,
    /// T.
    target: Vec<Mat<T>>,
    /// J of the empty code.
    sq_samples: f64,
}

impl<'a, T: Real> Objective<'a, T> {
    /// For samples X, sorted by class as `layout` says, and a dictionary D.
    pub(super) fn new(X: Columns<'_, T>, D: &Mat<T>, layout: &'a Layout, weights: Weights) -> Self {
        let ridge = weights.scatter * weights.energy;
        let hessian = Hessian::new(D, &layout.atoms, weights.own, ridge);
        let target = |run: &Run| {
            let mut target = Mat::zeros(D.ncols(), run.columns.len());
            let samples = subcols(X, run.columns.clone()).as_dyn_stride();
            product_into(target.as_mut(), D.transpose(), samples);
            for i in 0..target.ncols() {
                for value in &mut target.col_as_slice_mut(i)[layout.atoms[run.class].clone()] {
                    *value = T::of((1.0 + weights.own) * value.wide());
                }
            }
            target
        };
        let target = layout.runs.par_iter().map(target).collect();
        let sq_samples = (1.0 + weights.own) * frobenius_sq(X);
        Self { layout, weights, hessian, target, sq_samples }
    }

    /// Lipschitz constant of ½∇. The mean terms take away from H's ridge, never add to it.
    pub(super) fn lipschitz(&self) -> f64 {
        self.hessian.lipschitz()
    }

    /// raw ← HΓ − T of run b.
    pub(super) fn raw_into(&self, b: usize, gamma: &Mat<T>, raw: &mut Mat<T>) {
        for i in 0..raw.ncols() {
            zip_in_place(raw.col_as_slice_mut(i), self.target[b].col_as_slice(i), |_, t| -t);
        }
        self.hessian.add_to(raw.as_mut(), gamma.as_ref());
    }

    /// The point of given codes.
    pub(super) fn point(&self, gamma: Vec<Mat<T>>) -> Point<T> {
        let (raw, sums): (Vec<_>, Vec<_>) = gamma
            .par_iter()
            .enumerate()
            .map(|(b, gamma)| {
                let mut raw = Mat::zeros(gamma.nrows(), gamma.ncols());
                self.raw_into(b, gamma, &mut raw);
                (raw, column_sum(gamma))
            })
            .unzip();
        Point { gamma, raw, means: Means::new(self.layout, &sums) }
    }

    /// λ2(b·m − a·m_i), the mean part of ½∇ for every class.
    pub(super) fn mean_gradient(&self, means: &Means) -> Vec<Vec<f64>> {
        let Weights { scatter, class_means, global_mean, .. } = self.weights;
        let of_class = |class: &Vec<f64>| {
            let pairs = class.iter().zip(&means.all);
            pairs.map(|(own, all)| scatter * (global_mean * all - class_means * own)).collect()
        };
        means.classes.iter().map(of_class).collect()
    }

    /// λ2(bN‖m‖² − aΣn_i‖m_i‖²).
    fn mean_value(&self, means: &Means) -> f64 {
        let Weights { scatter, class_means, global_mean, .. } = self.weights;
        let sizes = &self.layout.class_sizes;
        let classes: f64 =
            means.classes.iter().zip(sizes).map(|(mean, &n)| n as f64 * norm_sq(mean)).sum();
        let all = self.layout.n_samples() as f64 * norm_sq(&means.all);
        scatter * (global_mean * all - class_means * classes)
    }

    /// The change of [`Objective::mean_value`] as a sum of small terms.
    pub(super) fn mean_change(&self, from: &Means, to: &Means) -> f64 {
        // ‖b‖² − ‖a‖² = (b − a)ᵀ(b + a)
        let change =
            |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (b - a) * (b + a)).sum() };
        let Weights { scatter, class_means, global_mean, .. } = self.weights;
        let mut classes = 0.0;
        for (l, &n) in self.layout.class_sizes.iter().enumerate() {
            classes += n as f64 * change(&from.classes[l], &to.classes[l]);
        }
        let all = self.layout.n_samples() as f64 * change(&from.all, &to.all);
        scatter * (global_mean * all - class_means * classes)
    }

    /// J.
    pub(super) fn value(&self, point: &Point<T>) -> f64 {
        // γᵀ(raw − t) = γᵀHγ − 2γᵀt
        let of_run = |b: usize| -> f64 {
            let (gamma, raw, target) = (&point.gamma[b], &point.raw[b], &self.target[b]);
            let of_code = |i: usize| {
                let code = gamma.col_as_slice(i);
                let l1: f64 = code.iter().map(|v| v.wide().abs()).sum();
                let smooth =
                    dot_wide(code, raw.col_as_slice(i)) - dot_wide(code, target.col_as_slice(i));
                smooth + self.weights.l1 * l1
            };
            (0..gamma.ncols()).map(of_code).sum()
        };
        let runs: Vec<f64> = (0..point.gamma.len()).into_par_iter().map(of_run).collect();
        self.sq_samples + runs.iter().sum::<f64>() + self.mean_value(&point.means)
    }
}

/// Σ_i γ_i in `f64`.
pub(super) fn column_sum<T: Real>(gamma: &Mat<T>) -> Vec<f64> {
    let mut sum = vec![0.0; gamma.nrows()];
    for i in 0..gamma.ncols() {
        for (sum, v) in sum.iter_mut().zip(gamma.col_as_slice(i)) {
            *sum += v.wide();
        }
    }
    sum
}
