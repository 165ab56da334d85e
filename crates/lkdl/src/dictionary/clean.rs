//! Cleaning: atoms that are near-duplicates of another or hardly used make way for the signals
//! that the dictionary represents worst.

use crate::error::LkdlError;
use crate::linalg::product_into;
use crate::pursuit::Codes;
use crate::real::Real;
use crate::vector::normalize;
use faer::Mat;

/// A coefficient must exceed this share of the largest sample's norm to count as a use.
const USE_THRESHOLD: f64 = 1e-7;

/// When an atom is replaced at the end of an iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cleaning {
    /// Replace atom j if |d_iᵀd_j| exceeds this for some other atom i.
    pub max_coherence: f64,
    /// Replace atom j if fewer signals use it.
    pub min_uses: usize,
}

impl Default for Cleaning {
    /// The values of the published experiments.
    fn default() -> Self {
        Self { max_coherence: 0.99, min_uses: 4 }
    }
}

impl Cleaning {
    pub(super) fn check(&self) -> Result<(), LkdlError> {
        if self.max_coherence > 0.0 {
            return Ok(());
        }
        let range = "above 0 (1 or more keeps all near-duplicates)";
        Err(LkdlError::parameter("cleaning max_coherence", self.max_coherence, range))
    }

    /// Whether atom j, used so often and with these inner products d_iᵀd_j, has to go.
    pub(super) fn is_faulty<T: Real>(&self, uses: usize, products: &[T], j: usize) -> bool {
        let mut others = products.iter().enumerate().filter(|(i, _)| *i != j);
        uses < self.min_uses || others.any(|(_, g)| g.wide().abs() > self.max_coherence)
    }
}

/// Replaces atoms in ascending order, skipping those `replaced` already, by the signals that `worst`
/// yields, and keeps G = DᵀD in step. Returns how many were replaced.
pub(super) fn clean<'a, T: Real>(
    rule: Cleaning,
    D: &mut Mat<T>,
    G: &mut Mat<T>,
    codes: &Codes<T>,
    replaced: &[bool],
    max_norm: f64,
    mut worst: impl FnMut() -> Option<&'a [T]>,
) -> usize {
    let uses = count_uses(codes, max_norm);
    let mut n_replaced = 0;
    for j in (0..D.ncols()).filter(|&j| !replaced[j]) {
        if !rule.is_faulty(uses[j], G.col_as_slice(j), j) {
            continue;
        }
        let Some(x) = worst() else { break };
        set_atom(D, j, x);
        refresh_gram(D, G, j);
        n_replaced += 1;
    }
    n_replaced
}

/// d_j ← x/‖x‖.
pub(super) fn set_atom<T: Real>(D: &mut Mat<T>, j: usize, x: &[T]) {
    let atom = D.col_as_slice_mut(j);
    atom.copy_from_slice(x);
    normalize(atom);
}

/// Row and column j of G = DᵀD after atom j has changed.
fn refresh_gram<T: Real>(D: &Mat<T>, G: &mut Mat<T>, j: usize) {
    let mut column = Mat::zeros(D.ncols(), 1);
    product_into(column.as_mut(), D.transpose(), D.subcols(j, 1));
    G.col_as_slice_mut(j).copy_from_slice(column.col_as_slice(0));
    for i in 0..D.ncols() {
        G[(j, i)] = column[(i, 0)];
    }
}

/// How many signals use each atom, `max_norm` being the norm of the largest.
pub(super) fn count_uses<T: Real>(codes: &Codes<T>, max_norm: f64) -> Vec<usize> {
    let threshold = USE_THRESHOLD * max_norm;
    let (_, atoms, values) = codes.parts();
    let mut uses = vec![0; codes.n_atoms()];
    for (&j, value) in atoms.iter().zip(values) {
        if value.wide().abs() > threshold {
            uses[j as usize] += 1;
        }
    }
    uses
}
