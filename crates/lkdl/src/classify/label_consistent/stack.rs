//! The stacked problem, and the way back from it.
//!
//! Rows of √αQ that belong to one class are equal, and so are those of √αA₀: every stacked vector is
//! [x; √αPy; √βy] for some y with L entries (a label, a column of Θ), where P repeats entry l for
//! the m_l atoms of class l. As ‖[√αPy; √βy]‖² = Σ_l (αm_l + β)y_l², the stack
//!
//! ```math
//! s=\begin{pmatrix}x\\Wy\end{pmatrix},\qquad W=\text{diag}\sqrt{\alpha m_l+\beta}
//! ```
//!
//! has the same inner products with p + L rows instead of p + m + L. K-SVD knows its samples by
//! their inner products alone, so it goes the same way, and A = PΘ′ where Θ′ are the lower parts.
//! (Hence LC-KSVD2 is a D-KSVD whose classes have weights: Kviatkovsky et al. 2017.)

use crate::dictionary::Candidates;
use crate::matrix::{Columns, col};
use crate::pursuit::BatchOmp;
use crate::real::Real;
use crate::vector::{norm_sq, normalize};
use faer::{Mat, MatRef};

/// The samples over their weighted labels.
pub(super) struct Stack<T: Real> {
    /// (p + L)×N; p×N if nothing is weighted. A zero sample has no label either: it must get the
    /// empty code.
    pub(super) samples: Mat<T>,
    /// The diagonal of W.
    weights: Vec<f64>,
    n_features: usize,
    /// The largest ‖x‖/‖s‖.
    largest_share: f64,
}

impl<T: Real> Stack<T> {
    pub(super) fn new(
        X: Columns<'_, T>,
        labels: &[usize],
        atom_classes: &[usize],
        alpha: f64,
        beta: f64,
    ) -> Self {
        let n_classes = atom_classes.last().map_or(0, |last| last + 1);
        let mut counts = vec![0usize; n_classes];
        atom_classes.iter().for_each(|&class| counts[class] += 1);
        let weights: Vec<f64> = if alpha + beta > 0.0 {
            counts.iter().map(|&count| (alpha * count as f64 + beta).sqrt()).collect()
        } else {
            Vec::new()
        };
        let (p, mut largest_share) = (X.nrows(), 0.0f64);
        let mut samples = Mat::zeros(p + weights.len(), X.ncols());
        for (i, &label) in labels.iter().enumerate() {
            let sq_norm = norm_sq(col(X, i));
            if sq_norm == 0.0 {
                continue;
            }
            let sample = samples.col_as_slice_mut(i);
            sample[..p].copy_from_slice(col(X, i));
            let weight = weights.get(label).copied().unwrap_or(0.0);
            if let Some(entry) = sample.get_mut(p + label) {
                *entry = T::of(weight);
            }
            largest_share = largest_share.max((sq_norm / (sq_norm + weight * weight)).sqrt());
        }
        Self { samples, weights, n_features: p, largest_share }
    }

    /// (D; WΘ): atoms stacked over columns of a classifier; not normalised.
    pub(super) fn atoms(&self, D: &Mat<T>, Theta: MatRef<'_, f64>) -> Mat<T> {
        let p = self.n_features;
        let mut atoms = Mat::zeros(self.samples.nrows(), D.ncols());
        for j in 0..D.ncols() {
            let atom = atoms.col_as_slice_mut(j);
            atom[..p].copy_from_slice(D.col_as_slice(j));
            for (l, weight) in self.weights.iter().enumerate() {
                atom[p + l] = T::of(weight * Theta[(l, j)]);
            }
        }
        atoms
    }

    /// D with unit columns and Θ′, the lower parts without their weights, both divided by the norms
    /// n_j of the upper parts: [x; Wy] = Σ_j s_jγ_j turns into x = D(n∘γ), y = Θ′(n∘γ).
    pub(super) fn split(
        &self,
        X: Columns<'_, T>,
        labels: &[usize],
        stacked: &Mat<T>,
        sparsity: usize,
    ) -> (Mat<T>, Mat<f64>) {
        let (p, m) = (self.n_features, stacked.ncols());
        let (mut D, mut lower) = (Mat::zeros(p, m), Mat::zeros(self.weights.len(), m));
        let mut lost = Vec::new();
        for j in 0..m {
            let (upper_part, lower_part) = stacked.col_as_slice(j).split_at(p);
            if norm_sq(upper_part).sqrt() <= T::VANISHED_ATOM * self.largest_share {
                lost.push(j);
                continue;
            }
            let atom = D.col_as_slice_mut(j);
            atom.copy_from_slice(upper_part);
            let norm = normalize(atom);
            for (l, (value, weight)) in lower_part.iter().zip(&self.weights).enumerate() {
                lower[(l, j)] = value.wide() / (weight * norm);
            }
        }
        self.replace(X, labels, &lost, sparsity, &mut D, &mut lower);
        (D, lower)
    }

    /// Atoms without an upper part become the samples that the others represent worst, with their
    /// labels: what the split of those stacked samples would be.
    fn replace(
        &self,
        X: Columns<'_, T>,
        labels: &[usize],
        lost: &[usize],
        sparsity: usize,
        D: &mut Mat<T>,
        lower: &mut Mat<f64>,
    ) {
        if lost.is_empty() {
            return;
        }
        // The lost atoms are zero, and a zero atom is never chosen.
        let sq_errors = BatchOmp::from_atoms(D.clone()).encode_sparsely(X, sparsity).sq_residuals;
        let mut candidates = Candidates::new(X);
        for &j in lost {
            let Some(i) = candidates.take_worst(&sq_errors) else { break };
            let atom = D.col_as_slice_mut(j);
            atom.copy_from_slice(col(X, i));
            let norm = normalize(atom);
            if labels[i] < lower.nrows() {
                lower[(labels[i], j)] = 1.0 / norm;
            }
        }
    }
}
