//! The state that the kernel learners share: A, KA, G = AᵀKA, Γ and the squared residuals.
//!
//! E = I − AΓ, the residuals as combinations of samples, is n×n and never formed. All that an update
//! asks of it are inner products: with KA and G at hand, those of a residual are sums over the few
//! atoms in its code, and the products of a new atom a = Σ_i v_i e_i − Σ_l w_l a_l are the same sum
//! of known columns,
//!
//! ```math
//! Ka=\sum_iv_iK_{:i}-\sum_lw_l(KA)_{:l},\qquad A^TKa=\sum_iv_i(KA)_{i:}^T-\sum_lw_lG_{:l}
//! ```
//!
//! so no update multiplies by K. Once per iteration KA = K·A and G = Aᵀ·KA are formed anew by
//! products, which keeps the rounding of the sums from adding up: 2n²m + 2nm² flops.

use super::clean::{Cleaning, count_uses};
use super::{Candidates, Warning};
use crate::error::LkdlError;
use crate::linalg::{mirror_lower, par_product};
use crate::matrix::{BLOCK, Columns, add_columns, col, columns_of, map_blocks, matrix_bytes};
use crate::pursuit::{Codes, encode_products};
use crate::real::Real;
use crate::vector::scale;
use faer::Mat;

/// A squared norm at or below this many ε of the largest K_ii is rounding: the atom has vanished.
const VANISHED: f64 = 64.0;
/// A column of A with fewer non-zeros than this share of n is multiplied as a sum of columns of K.
const SPARSE_SHARE: usize = 8;

pub(super) struct KernelState<'a, T: Real> {
    pub(super) K: Columns<'a, T>,
    /// K_ii, clamped at 0.
    pub(super) diag: Vec<f64>,
    /// max K_ii.
    pub(super) max_diag: f64,
    pub(super) A: Mat<T>,
    /// K·A, n×m.
    pub(super) KA: Mat<T>,
    /// Its transpose, m×n: column i holds α of sample i, its inner products with the atoms.
    pub(super) alpha: Mat<T>,
    /// AᵀKA.
    pub(super) G: Mat<T>,
    pub(super) codes: Codes<T>,
    /// ‖φ(x_i) − φ(X)Aγ_i‖².
    pub(super) sq_errors: Vec<f64>,
    candidates: Candidates,
    pub(super) replaced: Vec<bool>,
    pub(super) n_replaced: usize,
}

impl<'a, T: Real> KernelState<'a, T> {
    /// Scales the columns of A to aᵀKa = 1.
    pub(super) fn new(K: Columns<'a, T>, A: Mat<T>) -> Result<Self, LkdlError> {
        let diag: Vec<f64> = (0..K.ncols()).map(|i| K[(i, i)].wide().max(0.0)).collect();
        let m = A.ncols();
        let mut state = Self {
            max_diag: diag.iter().copied().fold(0.0, f64::max),
            KA: Mat::new(),
            alpha: Mat::new(),
            G: Mat::new(),
            codes: Codes::empty(m),
            sq_errors: Vec::new(),
            candidates: Candidates::of_norms(&[]),
            replaced: vec![false; m],
            n_replaced: 0,
            K,
            diag,
            A,
        };
        state.multiply();
        for j in 0..m {
            let sq = state.G[(j, j)].wide();
            // the squared norm of its samples, had they all been orthogonal
            let weights = state.A.col_as_slice(j).iter().zip(&state.diag);
            let apart: f64 = weights.map(|(a, diag)| a.wide() * a.wide() * diag).sum();
            if sq.is_nan() || sq <= VANISHED * T::EPS * apart {
                return Err(LkdlError::AllZero { what: "an initial atom" });
            }
        }
        state.normalize_atoms();
        Ok(state)
    }

    /// Samples of zero norm, which no atom can represent and no dictionary is learned from.
    pub(super) fn zero_samples(&self) -> Option<Warning> {
        let count = self.diag.iter().filter(|&&v| v == 0.0).count();
        (count > 0).then_some(Warning::ZeroSamples { count })
    }

    /// KA, its transpose and G anew from A, atoms scaled to unit norm. Returns the norms they had;
    /// an atom of norm 0 becomes zero.
    pub(super) fn refresh(&mut self) -> Vec<f64> {
        self.multiply();
        self.normalize_atoms()
    }

    fn multiply(&mut self) {
        self.KA = weighted(self.K, &self.A);
        self.alpha = self.KA.transpose().to_owned();
        self.G = par_product(self.A.transpose(), self.KA.as_ref());
        mirror_lower(&mut self.G);
    }

    fn normalize_atoms(&mut self) -> Vec<f64> {
        let m = self.A.ncols();
        let norms: Vec<f64> = (0..m).map(|j| self.G[(j, j)].wide().max(0.0).sqrt()).collect();
        let inverse: Vec<f64> =
            norms.iter().map(|&norm| if norm > 0.0 { 1.0 / norm } else { 0.0 }).collect();
        for (j, &factor) in inverse.iter().enumerate() {
            scale(self.A.col_as_slice_mut(j), T::of(factor));
            scale(self.KA.col_as_slice_mut(j), T::of(factor));
            for (g, other) in self.G.col_as_slice_mut(j).iter_mut().zip(&inverse) {
                *g = T::of(g.wide() * factor * other);
            }
        }
        for i in 0..self.alpha.ncols() {
            for (v, factor) in self.alpha.col_as_slice_mut(i).iter_mut().zip(&inverse) {
                *v = T::of(v.wide() * factor);
            }
        }
        norms
    }

    /// Γ by Batch-OMP on G and α, and a new iteration's book of replacements.
    pub(super) fn code(&mut self, sparsity: usize) {
        let alpha = columns_of(&self.alpha);
        let encoded = encode_products(self.G.as_ref(), alpha, &self.diag, sparsity);
        (self.codes, self.sq_errors) = (encoded.codes, encoded.sq_residuals);
        self.candidates = Candidates::of_norms(&self.diag);
        self.replaced.fill(false);
        self.n_replaced = 0;
    }

    /// ‖φ(X) − φ(X)AΓ‖_F / ‖φ(X)‖_F.
    pub(super) fn relative_error(&self) -> f64 {
        let total: f64 = self.diag.iter().sum();
        let left: f64 = self.sq_errors.iter().sum();
        if total == 0.0 { 0.0 } else { (left / total).sqrt() }
    }

    /// The residual energies of all samples anew: K_ii − 2γᵀα + γᵀGγ.
    pub(super) fn measure_errors(&mut self) {
        let blocks = map_blocks(self.diag.len(), BLOCK, |range| {
            range.map(|i| self.sq_error(i)).collect::<Vec<_>>()
        });
        self.sq_errors = blocks.concat();
    }

    fn sq_error(&self, i: usize) -> f64 {
        let (atoms, values) = self.codes.signal(i);
        let alpha = self.alpha.col_as_slice(i);
        let mut sq = self.diag[i];
        for (&j, value) in atoms.iter().zip(values) {
            let g = self.G.col_as_slice(j as usize);
            let fitted: f64 =
                atoms.iter().zip(values).map(|(&l, v)| g[l as usize].wide() * v.wide()).sum();
            sq += value.wide() * (fitted - 2.0 * alpha[j as usize].wide());
        }
        sq.max(0.0)
    }

    /// Whether a combination Σ v_i e_i − … of squared norm `sq` is rounding.
    pub(super) fn has_vanished(&self, sq: f64, sq_weights: f64) -> bool {
        sq.is_nan() || sq <= VANISHED * T::EPS * self.max_diag * sq_weights
    }

    /// Writes atom j: its weights, K·a and AᵀKa (entry j of which is not read), each divided by
    /// `norm`.
    pub(super) fn set_atom(&mut self, j: usize, a: &[T], Ka: &[T], products: &[T], norm: f64) {
        let divided = |v: &T| T::of(v.wide() / norm);
        for (to, from) in self.A.col_as_slice_mut(j).iter_mut().zip(a) {
            *to = divided(from);
        }
        for (i, (to, from)) in self.KA.col_as_slice_mut(j).iter_mut().zip(Ka).enumerate() {
            *to = divided(from);
            self.alpha[(j, i)] = *to;
        }
        for (l, from) in products.iter().enumerate().filter(|(l, _)| *l != j) {
            self.G[(l, j)] = divided(from);
            self.G[(j, l)] = self.G[(l, j)];
        }
        self.G[(j, j)] = T::of(1.0);
    }

    /// Atom j becomes the worst represented sample not yet taken; `false` if none is left.
    pub(super) fn replace(&mut self, j: usize) -> bool {
        let Some(i) = self.candidates.take_worst(&self.sq_errors) else { return false };
        let mut a = vec![T::of(0.0); self.A.nrows()];
        a[i] = T::of(1.0);
        let products = self.alpha.col_as_slice(i).to_vec();
        let norm = self.diag[i].sqrt();
        self.set_atom(j, &a, col(self.K, i), &products, norm);
        self.replaced[j] = true;
        self.n_replaced += 1;
        true
    }

    /// Cleaning by the rule of linear K-SVD.
    pub(super) fn clean(&mut self, rule: Option<Cleaning>) {
        let Some(rule) = rule else { return };
        let uses = count_uses(&self.codes, self.max_diag.sqrt());
        let swept = self.replaced.clone();
        for j in (0..self.A.ncols()).filter(|&j| !swept[j]) {
            if rule.is_faulty(uses[j], self.G.col_as_slice(j), j) && !self.replace(j) {
                break;
            }
        }
    }
}

/// K·A: columns of few non-zeros as sums, the rest by a product.
fn weighted<T: Real>(K: Columns<'_, T>, A: &Mat<T>) -> Mat<T> {
    let is_used = |v: &T| *v != T::of(0.0);
    let n_used: usize =
        (0..A.ncols()).map(|j| A.col_as_slice(j).iter().filter(|v| is_used(v)).count()).sum();
    if n_used * SPARSE_SHARE > A.nrows() * A.ncols() {
        return par_product(K.as_dyn_stride(), A.as_ref());
    }
    let mut out = Mat::zeros(A.nrows(), A.ncols());
    for j in 0..A.ncols() {
        let entries = A.col_as_slice(j).iter().copied().enumerate();
        let terms: Vec<(usize, T)> = entries.filter(|(_, v)| is_used(v)).collect();
        add_columns(out.col_as_slice_mut(j), K, &terms);
    }
    out
}

/// A, KA twice, G three times and the codes; with `refit`, the largest matrix of inner products that
/// an exact update can meet.
pub(super) fn state_bytes<T: Real>(
    n_samples: usize,
    n_atoms: usize,
    sparsity: usize,
    refit: bool,
) -> u64 {
    let entry = (size_of::<T>() + size_of::<u32>() + 2 * size_of::<usize>()) as u64;
    let users = if refit { matrix_bytes::<f64>(n_samples, n_samples) } else { 0 };
    4 * matrix_bytes::<T>(n_samples, n_atoms)
        + 3 * matrix_bytes::<T>(n_atoms, n_atoms)
        + matrix_bytes::<T>(n_atoms, BLOCK)
        + matrix_bytes::<u8>(n_samples, sparsity) * entry
        + users
}
