//! The dictionary for fixed codes, class by class, one atom at a time.
//!
//! As a function of D_i, with all else fixed, J is a constant plus tr(D_iᵀD_iA) − 2tr(D_iᵀB), where
//! Z = [Γ^i, Γ_i^i, Γ_j^i …], Λ = [X − Σ_{j≠i}D_jΓ^j, X_i, 0 …], A = ZZᵀ and B = ΛZᵀ. The last two
//! parts of Z are all columns of Γ^i once more, so with E = X − DΓ at hand
//!
//! ```math
//! A=(1+w)\Gamma^i\Gamma^{iT},\qquad B=E\Gamma^{iT}+D_i\Gamma^i\Gamma^{iT}+wX_i\Gamma_i^{iT},
//! \qquad d_j\leftarrow\frac u{\|u\|},\ u=B_j-D_iA_j+A_{jj}d_j
//! ```
//! w = 1, or 0 without the terms of the class's own atoms. The update is the minimiser among unit
//! atoms. Per class 6km_iN flops for A, B and E, and 2km_i² for the sweep, which is in `f64`.

use super::UnusedAtoms;
use super::layout::{Layout, Run};
use crate::dictionary::{Candidates, set_atom, sweep_atoms};
use crate::linalg::{add_product, convert, product_into};
use crate::matrix::{Columns, col, column_sq_norms, columns_of, subcols};
use crate::real::Real;
use crate::vector::{axpy, norm_sq, normalize};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// An atom has vanished when ‖u‖ is at most this share of ‖its coefficients‖·max‖x‖: whatever
/// direction it took, J would be the same. Unused atoms are the common case.
const VANISHED: f64 = 1e-6;

/// The atoms of a class that vanished in its sweep, as columns of D.
type Vanished = Vec<usize>;

/// Sweeps over the dictionaries of all classes. Codes of vanished atoms become zero, which does not
/// raise J; with [`UnusedAtoms::Reseed`] the atoms become the samples of their class that are
/// represented worst. Returns the atoms that vanished.
pub(super) fn update<T: Real>(
    X: Columns<'_, T>,
    D: &mut Mat<T>,
    gamma: &mut [Mat<T>],
    layout: &Layout,
    own_weight: f64,
    unused: UnusedAtoms,
) -> Vanished {
    let max_norm = column_sq_norms(X).into_iter().fold(0.0, f64::max).sqrt();
    let mut E = residuals(X, D, gamma, layout);
    let mut vanished = Vec::new();
    for class in 0..layout.atoms.len() {
        let atoms = layout.atoms[class].clone();
        let (A, B) = sums(X, D, gamma, &E, layout, class, own_weight);
        let old = D.subcols(atoms.start, atoms.len()).to_owned();
        let mut fresh = convert::<T, f64>(old.as_ref());
        let gone = sweep(&mut fresh, &A, &B, max_norm);
        let rounded = convert::<f64, T>(fresh.as_ref());
        D.as_mut().subcols_mut(atoms.start, atoms.len()).copy_from(&rounded);
        let moved = Mat::from_fn(old.nrows(), old.ncols(), |t, j| rounded[(t, j)] - old[(t, j)]);
        E.par_iter_mut().zip(gamma.par_iter_mut()).for_each(|(E, gamma)| {
            let own = gamma.subrows(atoms.start, atoms.len());
            add_product(E.as_mut(), -1.0, moved.as_ref(), own);
            for &j in &gone {
                silence(E, gamma, atoms.start + j, rounded.col_as_slice(j));
            }
        });
        if unused == UnusedAtoms::Reseed && !gone.is_empty() {
            reseed(X, D, &E, layout, class, &gone);
        }
        vanished.extend(gone.iter().map(|j| atoms.start + j));
    }
    vanished
}

/// E = X − DΓ, run by run.
fn residuals<T: Real>(
    X: Columns<'_, T>,
    D: &Mat<T>,
    gamma: &[Mat<T>],
    layout: &Layout,
) -> Vec<Mat<T>> {
    let of_run = |(run, gamma): (&Run, &Mat<T>)| {
        let mut E = subcols(X, run.columns.clone()).to_owned();
        add_product(E.as_mut(), -1.0, D.as_ref(), gamma.as_ref());
        E
    };
    layout.runs.par_iter().zip(gamma).map(of_run).collect()
}

/// A and B of one class.
fn sums<T: Real>(
    X: Columns<'_, T>,
    D: &Mat<T>,
    gamma: &[Mat<T>],
    E: &[Mat<T>],
    layout: &Layout,
    class: usize,
    own_weight: f64,
) -> (Mat<f64>, Mat<f64>) {
    let atoms = layout.atoms[class].clone();
    let (k, m) = (D.nrows(), atoms.len());
    let own = |b: usize| gamma[b].subrows(atoms.start, m);
    let times = |left: MatRef<'_, T>, b: usize| {
        let mut out = Mat::zeros(left.nrows(), m);
        product_into(out.as_mut(), left, own(b).transpose());
        out
    };
    let mut A = layout.sum(m, m, |b, _| Some(times(own(b), b)));
    let mut B = layout.sum(k, m, |b, run| {
        let mut part = times(E[b].as_ref(), b);
        if own_weight != 0.0 && run.class == class {
            let samples = subcols(X, run.columns.clone()).as_dyn_stride();
            add_product(part.as_mut(), own_weight, samples, own(b).transpose());
        }
        Some(part)
    });
    let own_atoms = convert::<T, f64>(D.subcols(atoms.start, m));
    add_product(B.as_mut(), 1.0, own_atoms.as_ref(), A.as_ref());
    for j in 0..m {
        for value in A.col_as_slice_mut(j) {
            *value *= 1.0 + own_weight;
        }
    }
    (A, B)
}

/// One Gauss–Seidel sweep over the columns of D; returns those that vanished, which stay as they
/// are.
pub(super) fn sweep(D: &mut Mat<f64>, A: &Mat<f64>, B: &Mat<f64>, max_norm: f64) -> Vanished {
    let mut vanished = Vec::new();
    sweep_atoms(D, A, B, |j, u| {
        // ‖A_jj·u‖ against √A_jj, the norm of the atom's codes, times that of the largest sample
        let norm = A[(j, j)].max(0.0).sqrt() * norm_sq(u).sqrt();
        let has_vanished = norm <= VANISHED * max_norm || normalize(u) == 0.0;
        if has_vanished {
            vanished.push(j);
        }
        !has_vanished
    });
    vanished
}

/// Row j of the codes becomes zero, and E follows.
fn silence<T: Real>(E: &mut Mat<T>, gamma: &mut Mat<T>, j: usize, atom: &[T]) {
    for i in 0..gamma.ncols() {
        let value = std::mem::replace(&mut gamma[(j, i)], T::of(0.0));
        if value != T::of(0.0) {
            axpy(E.col_as_slice_mut(i), value, atom);
        }
    }
}

/// The vanished atoms of a class become its worst represented samples.
fn reseed<T: Real>(
    X: Columns<'_, T>,
    D: &mut Mat<T>,
    E: &[Mat<T>],
    layout: &Layout,
    class: usize,
    vanished: &[usize],
) {
    let runs = || layout.runs.iter().zip(E).filter(|(run, _)| run.class == class);
    let sq_errors: Vec<f64> = runs().flat_map(|(_, E)| column_sq_norms(columns_of(E))).collect();
    let Some(first) = runs().next().map(|(run, _)| run.columns.start) else { return };
    let samples = subcols(X, first..first + sq_errors.len());
    let mut candidates = Candidates::new(samples);
    for &j in vanished {
        let Some(i) = candidates.take_worst(&sq_errors) else { return };
        set_atom(D, layout.atoms[class].start + j, col(samples, i));
    }
}
