//! What the other atoms leave of the samples that use atom j, as inner products.
//!
//! With E_j = I − Σ_{l≠j} a_l γ^l restricted to the users I of atom j, column i of φ(X)E_j is the
//! residual of sample i without that atom. Its inner products with the other atoms and with other
//! residuals are sums over short codes:
//!
//! ```math
//! M=E_j^TKE_j,\qquad
//! M_{ab}=K_{ab}-\sum_{l\ne j}(KA)_{al}\gamma_{lb}
//!   -\sum_{l\ne j}\gamma_{la}\Big((KA)_{bl}-\sum_{l'\ne j}G_{ll'}\gamma_{l'b}\Big)
//! ```
//!
//! O(|I|²q) for M, and E_j itself is never formed.

use super::kernel_state::KernelState;
use crate::linalg::mirror_lower;
use crate::real::Real;
use faer::Mat;

/// The users of one atom.
pub(super) struct Users<'a, T: Real> {
    state: &'a KernelState<'a, T>,
    j: usize,
    /// I, as (sample, position of the entry in Γ).
    list: &'a [(usize, usize)],
}

/// A combination Σ_i v_i e_i − Σ_l w_l a_l of residuals, by its terms.
pub(super) struct Combination<T> {
    /// (i, v_i).
    pub(super) samples: Vec<(usize, T)>,
    /// (l, −w_l).
    pub(super) atoms: Vec<(usize, T)>,
    /// ‖v‖².
    pub(super) sq_weights: f64,
}

impl<'a, T: Real> Users<'a, T> {
    pub(super) fn new(state: &'a KernelState<'a, T>, j: usize, list: &'a [(usize, usize)]) -> Self {
        Self { state, j, list }
    }

    /// g, the coefficients of atom j.
    pub(super) fn coefficients(&self) -> Vec<f64> {
        let (_, _, values) = self.state.codes.parts();
        self.list.iter().map(|&(_, position)| values[position].wide()).collect()
    }

    /// The code of a user without atom j.
    fn others(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (atoms, values) = self.state.codes.signal(i);
        let entries = atoms.iter().zip(values).map(|(&l, v)| (l as usize, v.wide()));
        entries.filter(|&(l, _)| l != self.j)
    }

    /// aᵀK e_i over the residuals e_i without atom j, a given by (Ka)_I and AᵀKa.
    pub(super) fn products_with(&self, Ka: &[T], products: &[T]) -> Vec<f64> {
        let product = |&(i, _): &(usize, usize)| {
            let explained: f64 = self.others(i).map(|(l, v)| v * products[l].wide()).sum();
            Ka[i].wide() - explained
        };
        self.list.iter().map(product).collect()
    }

    /// M_ii of every user, from its residual with atom j: ‖e‖² + 2g·b − g², b = a_jᵀK(residual
    /// without atom j).
    pub(super) fn energies(&self, g: &[f64]) -> Vec<f64> {
        let (KA, G) = (self.state.KA.col_as_slice(self.j), self.state.G.col_as_slice(self.j));
        let along = self.products_with(KA, G);
        let energy = |((&(i, _), g), b): ((&(usize, usize), &f64), f64)| {
            (self.state.sq_errors[i] + 2.0 * g * b - g * g).max(0.0)
        };
        self.list.iter().zip(g).zip(along).map(energy).collect()
    }

    /// The atoms in the users' codes but j, ascending.
    fn support(&self) -> Vec<usize> {
        let mut support: Vec<usize> =
            self.list.iter().flat_map(|&(i, _)| self.others(i).map(|(l, _)| l)).collect();
        support.sort_unstable();
        support.dedup();
        support
    }

    /// M.
    pub(super) fn inner_products(&self) -> Mat<f64> {
        let KernelState { K, alpha, G, .. } = self.state;
        let (support, u) = (self.support(), self.list.len());
        let mut slot = vec![0usize; G.ncols()];
        for (at, &l) in support.iter().enumerate() {
            slot[l] = at;
        }
        // Column b: (KA)_bl − Σ G_ll' γ_l'b, the inner products of residual b with the atoms.
        let mut correlations = Mat::<f64>::zeros(support.len(), u);
        let mut M = Mat::<f64>::zeros(u, u);
        for (b, &(i_b, _)) in self.list.iter().enumerate() {
            let column = correlations.col_as_slice_mut(b);
            for (value, &l) in column.iter_mut().zip(&support) {
                *value = alpha[(l, i_b)].wide();
            }
            for (l, gamma) in self.others(i_b) {
                let g = G.col_as_slice(l);
                for (value, &l) in column.iter_mut().zip(&support) {
                    *value -= gamma * g[l].wide();
                }
            }
            for (a, &(i_a, _)) in self.list.iter().enumerate().skip(b) {
                let alpha_a = alpha.col_as_slice(i_a);
                let of_b: f64 = self.others(i_b).map(|(l, v)| v * alpha_a[l].wide()).sum();
                let of_a: f64 = self.others(i_a).map(|(l, v)| v * column[slot[l]]).sum();
                M[(a, b)] = K[(i_a, i_b)].wide() - of_b - of_a;
            }
        }
        mirror_lower(&mut M);
        M
    }

    /// E_j v.
    pub(super) fn combination(&self, v: &[f64]) -> Combination<T> {
        let mut weights = vec![0.0f64; self.state.G.ncols()];
        for (&(i, _), v) in self.list.iter().zip(v) {
            for (l, gamma) in self.others(i) {
                weights[l] += v * gamma;
            }
        }
        let samples = self.list.iter().zip(v).map(|(&(i, _), &v)| (i, T::of(v))).collect();
        let used = weights.iter().enumerate().filter(|(_, w)| **w != 0.0);
        let atoms = used.map(|(l, &w)| (l, T::of(-w))).collect();
        Combination { samples, atoms, sq_weights: v.iter().map(|v| v * v).sum() }
    }
}
