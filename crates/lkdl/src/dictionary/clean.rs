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
    let (mut n_replaced, mut spares) = (0, Spares::none());
    for j in (0..D.ncols()).filter(|&j| !replaced[j]) {
        if !rule.is_faulty(uses[j], G.col_as_slice(j), j) {
            continue;
        }
        if spares.is_empty() {
            spares = Spares::draw(D, &mut worst);
        }
        if !spares.replace(j, D, G) {
            break;
        }
        n_replaced += 1;
    }
    n_replaced
}

/// d_j ← x/‖x‖.
pub(crate) fn set_atom<T: Real>(D: &mut Mat<T>, j: usize, x: &[T]) {
    let atom = D.col_as_slice_mut(j);
    atom.copy_from_slice(x);
    normalize(atom);
}

/// Atoms in waiting, with what they will bring to G: as products, since their columns of G one by
/// one would cost more than the rest of an iteration where many atoms are replaced.
struct Spares<T: Real> {
    /// Z, unit columns.
    atoms: Mat<T>,
    /// DᵀZ, as D is now.
    cross: Mat<T>,
    /// ZᵀZ.
    own: Mat<T>,
    /// How many are atoms by now.
    used: usize,
}

impl<T: Real> Spares<T> {
    /// Drawn at a time.
    const BATCH: usize = 16;

    fn none() -> Self {
        Self { atoms: Mat::new(), cross: Mat::new(), own: Mat::new(), used: 0 }
    }

    /// The next signals of `worst`, as atoms; none if it yields none.
    fn draw<'a>(D: &Mat<T>, worst: &mut impl FnMut() -> Option<&'a [T]>) -> Self {
        let signals: Vec<&[T]> = std::iter::from_fn(worst).take(Self::BATCH).collect();
        let mut atoms = Mat::zeros(D.nrows(), signals.len());
        for (slot, x) in signals.iter().enumerate() {
            set_atom(&mut atoms, slot, x);
        }
        let mut cross = Mat::zeros(D.ncols(), signals.len());
        product_into(cross.as_mut(), D.transpose(), atoms.as_ref());
        let mut own = Mat::zeros(signals.len(), signals.len());
        product_into(own.as_mut(), atoms.transpose(), atoms.as_ref());
        Self { atoms, cross, own, used: 0 }
    }

    fn is_empty(&self) -> bool {
        self.used == self.atoms.ncols()
    }

    /// Makes the next one atom j of D, and row and column j of G; `false` if there is none.
    fn replace(&mut self, j: usize, D: &mut Mat<T>, G: &mut Mat<T>) -> bool {
        if self.is_empty() {
            return false;
        }
        let slot = self.used;
        self.used += 1;
        D.col_as_slice_mut(j).copy_from_slice(self.atoms.col_as_slice(slot));
        for later in slot..self.atoms.ncols() {
            self.cross[(j, later)] = self.own[(slot, later)];
        }
        G.col_as_slice_mut(j).copy_from_slice(self.cross.col_as_slice(slot));
        for i in 0..G.ncols() {
            G[(j, i)] = self.cross[(i, slot)];
        }
        true
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::gram;
    use crate::matrix::columns_of;
    use crate::pursuit::BatchOmp;
    use crate::testing::{close, random_matrix, random_unit_columns, tolerance};

    /// Cleans a dictionary with many copies, over more than one batch of spares; `n_spares` signals
    /// may replace atoms.
    fn cleaned<T: Real>(n_spares: usize) -> (Mat<T>, Mat<T>, usize) {
        let (mut D, X) = (random_unit_columns::<T>(12, 60, 1), random_matrix::<T>(12, 200, 2));
        for j in 0..60 {
            if j % 3 == 2 {
                let copy = D.col_as_slice(j - 1).to_vec();
                D.col_as_slice_mut(j).copy_from_slice(&copy);
            }
        }
        let coder = BatchOmp::from_atoms(D.clone());
        let codes = coder.encode_sparsely(columns_of(&X), 3).codes;
        let mut G = gram(D.as_ref());
        let mut next = 0..n_spares;
        let worst = || next.next().map(|i| X.col_as_slice(i));
        let rule = Cleaning { max_coherence: 0.99, min_uses: 1 };
        let n = clean(rule, &mut D, &mut G, &codes, &[false; 60], 1.0, worst);
        (D, G, n)
    }

    fn gram_is_kept_in_step<T: Real>() {
        for n_spares in [0, 1, 16, 17, 200] {
            let (D, G, n) = cleaned::<T>(n_spares);
            close(G.as_ref(), gram(D.as_ref()).as_ref(), tolerance::<T>(12));
            // first an atom goes for its copy, then the copy, which nobody uses
            assert_eq!(n, n_spares.min(40));
            let coherent = |j: usize| (0..60).any(|i| i != j && G[(i, j)].wide().abs() > 0.99);
            assert_eq!((0..60).filter(|&j| coherent(j)).count(), 40 - 2 * n.div_ceil(2));
        }
    }

    #[test]
    fn copies_make_way_and_the_gram_matrix_stays_that_of_the_atoms() {
        gram_is_kept_in_step::<f64>();
        gram_is_kept_in_step::<f32>();
    }
}
