//! Batch-OMP: orthogonal matching pursuit of many signals over one dictionary, LKDL Eq. (1).
//!
//! Signals are taken in blocks: α = DᵀX_block by one product, then the pursuit of each column
//! while it is in cache (see `greedy.rs`). Rubinstein, Zibulevsky & Elad 2008.
//!
//! ```math
//! \min_\gamma\|x-D\gamma\|_2\quad\text{s.t.}\quad\|\gamma\|_0\le q
//! ```
//!
//! **When to use it.** Whenever many signals are coded over one dictionary of up to some thousand
//! atoms: the Gram matrix is paid for once. For more atoms than that, or few signals, see
//! [`omp`](super::omp).
//!
//! **Cost** 2kmN + m²k + Nm(q²−1) flops; memory the m×m Gram matrix.
//!
//! ```
//! use faer::mat;
//! use lkdl::pursuit::{BatchOmp, Target};
//!
//! let atoms = mat![[1.0, 0.0, 0.6], [0.0, 1.0, 0.8]];
//! let samples = mat![[3.0, 1.2], [0.1, 1.6]];
//! let encoded = BatchOmp::new(atoms.as_ref())?.encode(samples.as_ref(), Target::Sparsity(1))?;
//! assert_eq!(encoded.codes.signal(0), (&[0][..], &[3.0][..]));
//! let (atom, value) = encoded.codes.signal(1);
//! assert_eq!(atom, [2]);
//! assert!((value[0] - 2.0f64).abs() < 1e-12);
//! # Ok::<(), lkdl::LkdlError>(())
//! ```

use super::codes::{CodeBlock, Encoded};
use super::entry::{bad_value, check_range, check_shapes};
use super::greedy::{PaddedGram, Workspace};
use super::target::{Limits, Target};
use crate::error::LkdlError;
use crate::linalg::{gram, product_into};
use crate::matrix::{
    BLOCK, Columns, Contiguous, check_samples, col, column_sq_norms, columns_of, map_blocks_with,
    subcols,
};
use crate::real::Real;
use crate::vector::{norm_sq, padded};
use faer::{Mat, MatRef};
use pulp::{Arch, Simd, WithSimd};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Atoms whose squared norm is this many ε from 1 count as unit: coding them needs no rescaling.
const UNIT_NORM_SLACK: f64 = 256.0;

/// Whether an atom of this squared norm is unit, to rounding.
pub(crate) fn is_unit<T: Real>(sq_norm: f64) -> bool {
    (sq_norm - 1.0).abs() <= UNIT_NORM_SLACK * T::EPS
}

/// Whether atoms of these squared norms are all unit or zero.
fn all_unit<T: Real>(sq_norms: &[f64]) -> bool {
    sq_norms.iter().all(|&v| v == 0.0 || is_unit::<T>(v))
}

/// A dictionary made ready for Batch-OMP: its atoms and their Gram matrix G = DᵀD.
///
/// Atoms need not be unit: they are selected by |α_i|/‖d_i‖ and codes refer to the atoms as given.
/// Zero atoms are never selected.
#[derive(Debug, Clone)]
pub struct BatchOmp<T: Real> {
    /// Unit atoms (zero ones left zero).
    atoms: Mat<T>,
    gram: PaddedGram<T>,
    /// ‖d_i‖ of the atoms as given; empty if all were unit.
    norms: Vec<f64>,
}

impl<T: Real> BatchOmp<T> {
    /// Checks the dictionary and forms G.
    pub fn new(dictionary: MatRef<'_, T>) -> Result<Self, LkdlError> {
        check_samples(dictionary, "dictionary")?;
        check_range::<T>(&column_sq_norms(Contiguous::new(dictionary).columns()))?;
        Ok(Self::from_atoms(dictionary.to_owned()))
    }

    /// [`BatchOmp::new`] for atoms known to be finite.
    pub(crate) fn from_atoms(mut atoms: Mat<T>) -> Self {
        let sq_norms: Vec<f64> =
            (0..atoms.ncols()).map(|j| norm_sq(atoms.col_as_slice(j))).collect();
        let mut norms = Vec::new();
        if !all_unit::<T>(&sq_norms) {
            norms = sq_norms.iter().map(|v| v.sqrt()).collect();
            for (j, &norm) in norms.iter().enumerate() {
                if norm > 0.0 {
                    for v in atoms.col_as_slice_mut(j) {
                        *v = T::of(v.wide() / norm);
                    }
                }
            }
        }
        let gram = gram(atoms.as_ref());
        Self { norms, ..Self::with_gram(atoms, gram) }
    }

    /// For atoms whose G is at hand: scaled to unit G_jj, but for zero atoms.
    pub(super) fn from_gram(mut atoms: Mat<T>, mut G: Mat<T>) -> Self {
        let m = G.ncols();
        let sq_norms: Vec<f64> = (0..m).map(|j| G[(j, j)].wide().max(0.0)).collect();
        let mut norms = Vec::new();
        if !all_unit::<T>(&sq_norms) {
            norms = sq_norms.iter().map(|v| v.sqrt()).collect();
            let inverse = |j: usize| if norms[j] > 0.0 { 1.0 / norms[j] } else { 0.0 };
            for j in 0..m {
                for v in atoms.col_as_slice_mut(j) {
                    *v = T::of(v.wide() * inverse(j));
                }
                for i in 0..m {
                    G[(i, j)] = T::of(G[(i, j)].wide() * inverse(i) * inverse(j));
                }
            }
        }
        Self { norms, ..Self::with_gram(atoms, G) }
    }

    /// For unit (or zero) atoms whose G is at hand.
    pub(crate) fn with_gram(atoms: Mat<T>, G: Mat<T>) -> Self {
        Self { atoms, gram: PaddedGram::new(G.as_ref()), norms: Vec::new() }
    }

    /// The unit atoms back.
    pub(crate) fn into_atoms(self) -> Mat<T> {
        self.atoms
    }

    /// The unit atoms.
    pub(crate) fn atoms(&self) -> &Mat<T> {
        &self.atoms
    }

    pub(crate) fn gram(&self) -> &PaddedGram<T> {
        &self.gram
    }

    /// Number of atoms, m.
    pub fn n_atoms(&self) -> usize {
        self.atoms.ncols()
    }

    /// Codes every column of `samples`.
    pub fn encode(&self, samples: MatRef<'_, T>, target: Target) -> Result<Encoded<T>, LkdlError> {
        check_shapes(self.atoms.as_ref(), samples)?;
        let limits = target.limits(self.atoms.nrows(), self.n_atoms())?;
        let X = Contiguous::new(samples);
        // Values are checked block by block, by the norms that the pursuit needs anyway: a pass of
        // their own over all samples would cost as much as a fifth of the product.
        let sound = AtomicBool::new(true);
        let encoded = self.encode_signals(X.columns(), limits, |range| {
            let signals = self.signals(X.columns(), range);
            if check_range::<T>(&signals.sq_norms).is_err() {
                sound.store(false, Ordering::Relaxed);
            }
            signals
        });
        if sound.into_inner() { Ok(encoded) } else { Err(bad_value(samples, X.columns())) }
    }

    /// At most `sparsity` atoms per signal, for samples already checked.
    pub(crate) fn encode_sparsely(&self, X: Columns<'_, T>, sparsity: usize) -> Encoded<T> {
        let limits = Limits { max_atoms: sparsity.min(self.n_atoms()), sq_error: None };
        self.encode_signals(X, limits, |range| self.signals(X, range))
    }

    /// A block of signals, measured.
    fn signals<'a>(&'a self, X: Columns<'a, T>, range: Range<usize>) -> Samples<'a, T> {
        let X = subcols(X, range);
        let sq_norms = (0..X.ncols()).map(|i| norm_sq(col(X, i))).collect();
        Samples { atoms: columns_of(&self.atoms), X, sq_norms }
    }

    /// Codes signals of which α = (atoms)ᵀX is known, and by `signals` the rest, block by block.
    pub(super) fn encode_signals<S: Signals>(
        &self,
        X: Columns<'_, T>,
        limits: Limits,
        signals: impl Fn(Range<usize>) -> S + Sync,
    ) -> Encoded<T> {
        let (gram, norms) = (&self.gram, self.norms.as_slice());
        let scratch = || Scratch::new(self.n_atoms(), limits.max_atoms);
        let blocks = map_blocks_with(X.ncols(), BLOCK, scratch, |scratch, range| {
            let (n, signals) = (range.len(), signals(range.clone()));
            scratch.correlate_with(self, subcols(X, range));
            Arch::new().dispatch(EncodeBlock { gram, norms, n, signals, scratch, limits })
        });
        Encoded::join(self.n_atoms(), blocks)
    }
}

/// Codes from inner products alone, at most `sparsity` atoms per signal: G of unit atoms, column i
/// of `alpha` = Dᵀx_i and `sq_norms[i]` = ‖x_i‖².
pub(crate) fn encode_products<T: Real>(
    G: MatRef<'_, T>,
    alpha: Columns<'_, T>,
    sq_norms: &[f64],
    sparsity: usize,
) -> Encoded<T> {
    let limits = Limits { max_atoms: sparsity.min(G.ncols()), sq_error: None };
    encode_given(&PaddedGram::new(G), &[], alpha, limits, |range| SqNorms(&sq_norms[range]))
}

/// Codes of signals whose α is given, column by column, for unit atoms; `norms` are those that codes
/// are divided by, none if all are 1.
pub(super) fn encode_given<T: Real, S: Signals>(
    gram: &PaddedGram<T>,
    norms: &[f64],
    alpha: Columns<'_, T>,
    limits: Limits,
    signals: impl Fn(Range<usize>) -> S + Sync,
) -> Encoded<T> {
    let m = alpha.nrows();
    let scratch = || Scratch::new(m, limits.max_atoms);
    let blocks = map_blocks_with(alpha.ncols(), BLOCK, scratch, |scratch, range| {
        scratch.take_products(subcols(alpha, range.clone()));
        let (n, signals) = (range.len(), signals(range));
        Arch::new().dispatch(EncodeBlock { gram, norms, n, signals, scratch, limits })
    });
    Encoded::join(m, blocks)
}

/// What a pursuit asks of the signals of a block beside α.
pub(super) trait Signals {
    /// ρ₀ = ‖x_i‖².
    fn sq_norm(&self, i: usize) -> f64;
    /// ‖x_i − Σ γ_j d_j‖² by its definition, of unit atoms.
    fn sq_residual(&self, i: usize, chosen: &[usize], values: &[f64]) -> f64;
}

/// Signals that are vectors.
struct Samples<'a, T: Real> {
    atoms: Columns<'a, T>,
    X: Columns<'a, T>,
    sq_norms: Vec<f64>,
}

impl<T: Real> Signals for Samples<'_, T> {
    #[inline(always)]
    fn sq_norm(&self, i: usize) -> f64 {
        self.sq_norms[i]
    }

    fn sq_residual(&self, i: usize, chosen: &[usize], values: &[f64]) -> f64 {
        sq_residual(self.atoms, col(self.X, i), chosen, values)
    }
}

/// Signals known by their norms, coded by sparsity: no residual is ever asked for.
struct SqNorms<'a>(&'a [f64]);

impl Signals for SqNorms<'_> {
    #[inline(always)]
    fn sq_norm(&self, i: usize) -> f64 {
        self.0[i]
    }

    fn sq_residual(&self, _: usize, _: &[usize], _: &[f64]) -> f64 {
        debug_assert!(false, "only an error target asks for residuals");
        0.0
    }
}

/// What a task reuses from block to block.
pub(crate) struct Scratch<T: Real> {
    /// α = DᵀX, columns padded for the pursuit loop; rows past m are zero.
    pub(crate) alpha: Mat<T>,
    pub(crate) work: Workspace<T>,
}

impl<T: Real> Scratch<T> {
    pub(crate) fn new(n_atoms: usize, max_atoms: usize) -> Self {
        Self {
            alpha: Mat::zeros(padded::<T>(n_atoms), BLOCK),
            work: Workspace::new(n_atoms, max_atoms),
        }
    }

    /// α = DᵀX for a block of at most [`BLOCK`] signals, in the first columns of `alpha`.
    pub(crate) fn correlate_with(&mut self, coder: &BatchOmp<T>, X: Columns<'_, T>) {
        let m = coder.n_atoms();
        let padding = self.alpha.nrows() - m;
        self.alpha.as_mut().submatrix_mut(m, 0, padding, X.ncols()).fill(T::of(0.0));
        let alpha = self.alpha.as_mut().submatrix_mut(0, 0, m, X.ncols());
        product_into(alpha, coder.atoms.transpose(), X.as_dyn_stride());
    }

    /// α given: copied into the first columns of `alpha`.
    fn take_products(&mut self, products: Columns<'_, T>) {
        let m = products.nrows();
        for i in 0..products.ncols() {
            let (known, padding) = self.alpha.col_as_slice_mut(i).split_at_mut(m);
            known.copy_from_slice(col(products, i));
            padding.fill(T::of(0.0));
        }
    }
}

/// The pursuits of one block of n signals, compiled for each instruction set.
struct EncodeBlock<'a, T: Real, S> {
    gram: &'a PaddedGram<T>,
    /// Norms that codes are divided by; empty if all are 1.
    norms: &'a [f64],
    n: usize,
    signals: S,
    /// With α in place.
    scratch: &'a mut Scratch<T>,
    limits: Limits,
}

impl<T: Real, Sig: Signals> WithSimd for EncodeBlock<'_, T, Sig> {
    type Output = CodeBlock<T>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> CodeBlock<T> {
        let Self { gram, norms, n, signals, scratch: Scratch { alpha, work }, limits } = self;
        let (mut block, mut entries) = (CodeBlock::default(), Vec::new());
        for i in 0..n {
            let refresh = |chosen: &[usize], values: &[f64]| signals.sq_residual(i, chosen, values);
            let (rho0, alpha) = (signals.sq_norm(i), alpha.col_as_slice_mut(i));
            if rho0 == 0.0 {
                alpha.fill(T::of(0.0)); // what a kernel says of a zero signal may be rounding
            }
            let rho = work.pursue(simd, gram, alpha, rho0, limits, refresh);
            work.solve();
            entries.clear();
            for (&j, &value) in work.chosen.iter().zip(&work.solution) {
                // γ in terms of the atoms as given
                let value = norms.get(j).map_or(value, |norm| value / norm);
                entries.push((j as u32, T::of(value)));
            }
            block.push(&mut entries, rho);
        }
        block
    }
}

/// ‖x − Σ γ_j d_j‖², in `f64`.
fn sq_residual<T: Real>(D: Columns<'_, T>, x: &[T], chosen: &[usize], values: &[f64]) -> f64 {
    let mut residual: Vec<f64> = x.iter().map(|v| v.wide()).collect();
    for (&j, &value) in chosen.iter().zip(values) {
        for (r, d) in residual.iter_mut().zip(col(D, j)) {
            *r -= value * d.wide();
        }
    }
    residual.iter().map(|r| r * r).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::convert;
    use crate::pursuit::testing::{
        naive_omp, orthogonality, orthonormal, residual_is_orthogonal_to_chosen_atoms, residuals,
        spikes_and_waves,
    };
    use crate::pursuit::{Codes, OmpParams};
    use crate::testing::{
        close, random_matrix, random_unit_columns, same_for_any_thread_count, tolerance,
    };
    use proptest::prelude::*;

    fn encode<T: Real>(D: &Mat<T>, X: &Mat<T>, q: usize) -> Encoded<T> {
        BatchOmp::new(D.as_ref()).unwrap().encode(X.as_ref(), Target::Sparsity(q)).unwrap()
    }

    /// Atoms in the order of the naive reference, sorted.
    fn naive_support<T: Real>(D: &Mat<T>, x: &[T], q: usize) -> Vec<u32> {
        let mut support: Vec<u32> =
            naive_omp(D.as_ref(), x, q).iter().map(|e| e.0 as u32).collect();
        support.sort_unstable();
        support
    }

    fn agrees_with_the_naive_reference<T: Real>() {
        for (k, m, q) in [(20, 50, 6), (64, 33, 4), (40, 130, 10), (5, 3, 3), (1, 1, 1)] {
            let (D, X) = (random_unit_columns::<T>(k, m, 1), random_matrix::<T>(k, 40, 2));
            let Encoded { codes, sq_residuals } = encode(&D, &X, q);
            residual_is_orthogonal_to_chosen_atoms(
                D.as_ref(),
                X.as_ref(),
                &codes,
                orthogonality::<T>(),
            );
            let R = residuals(D.as_ref(), X.as_ref(), &codes);
            for i in 0..X.ncols() {
                assert_eq!(codes.signal(i).0, naive_support(&D, X.col_as_slice(i), q));
                let (rho, rho0) = (R.col(i).squared_norm_l2(), norm_sq(X.col_as_slice(i)));
                assert!((sq_residuals[i] - rho).abs() <= tolerance::<T>(k) * rho0);
            }
        }
    }

    #[test]
    fn supports_and_residuals_are_those_of_the_naive_reference() {
        agrees_with_the_naive_reference::<f64>();
        agrees_with_the_naive_reference::<f32>();
    }

    fn plain_equals_batch<T: Real>(tol: f64) {
        let (D, X) = (random_unit_columns::<T>(30, 80, 3), random_matrix::<T>(30, 300, 4));
        let batch = encode(&D, &X, 7).codes;
        let plain =
            OmpParams { target: Target::Sparsity(7) }.encode(D.as_ref(), X.as_ref()).unwrap().codes;
        assert_eq!(batch.parts().1, plain.parts().1);
        for (a, b) in batch.parts().2.iter().zip(plain.parts().2) {
            assert!((a.wide() - b.wide()).abs() < tol, "{a:e} {b:e}");
        }
    }

    #[test]
    fn plain_and_batch_forms_give_the_same_codes() {
        plain_equals_batch::<f64>(1e-12);
        plain_equals_batch::<f32>(1e-4);
    }

    fn residual_falls_with_the_sparsity<T: Real>() {
        let (D, X) = (random_unit_columns::<T>(16, 40, 5), random_matrix::<T>(16, 60, 6));
        let mut before = vec![f64::INFINITY; 60];
        for q in 1..=16 {
            let after = encode(&D, &X, q).sq_residuals;
            for i in 0..60 {
                assert!(after[i] <= before[i]);
            }
            before = after;
        }
    }

    #[test]
    fn residual_never_rises_with_the_sparsity() {
        residual_falls_with_the_sparsity::<f64>();
        residual_falls_with_the_sparsity::<f32>();
    }

    fn orthonormal_dictionary_thresholds<T: Real>() {
        let D = convert::<f64, T>(orthonormal(12, 3).as_ref());
        let X = random_matrix::<T>(12, 30, 7);
        let alpha = convert::<T, f64>(D.transpose()) * convert::<T, f64>(X.as_ref());
        let codes = encode(&D, &X, 4).codes;
        for i in 0..30 {
            let alpha = |j: u32| alpha[(j as usize, i)];
            let mut order: Vec<u32> = (0..12).collect();
            order.sort_by(|&a, &b| alpha(b).abs().total_cmp(&alpha(a).abs()));
            order.truncate(4);
            order.sort_unstable();
            let (atoms, values) = codes.signal(i);
            assert_eq!(atoms, order);
            let close = |(&j, v): (&u32, &T)| (v.wide() - alpha(j)).abs() < tolerance::<T>(1);
            assert!(atoms.iter().zip(values).all(close));
        }
    }

    #[test]
    fn an_orthonormal_dictionary_keeps_the_largest_correlations() {
        orthonormal_dictionary_thresholds::<f64>();
        orthonormal_dictionary_thresholds::<f32>();
    }

    fn low_coherence_recovers<T: Real>() {
        // Spikes and a flat basis of a 64-point Hadamard matrix: coherence 1/8 < 1/(2q − 1), q = 4.
        let D = spikes_and_waves::<T>(64);
        let values = random_matrix::<T>(4, 50, 5);
        let support = |i: usize| [i % 64, (i + 20) % 64, 64 + i % 64, 64 + (i + 33) % 64];
        let mut Gamma = Mat::<T>::zeros(128, 50);
        for i in 0..50 {
            for (t, j) in support(i).into_iter().enumerate() {
                Gamma[(j, i)] = values[(t, i)];
            }
        }
        let codes = encode(&D, &(&D * &Gamma), 10).codes;
        for i in 0..50 {
            let mut expected = support(i).map(|j| j as u32);
            expected.sort_unstable();
            assert_eq!(codes.signal(i).0, expected, "and it stops at rounding level");
        }
        close(codes.to_dense().as_ref(), Gamma.as_ref(), tolerance::<T>(1));
    }

    #[test]
    fn sparse_signals_are_recovered_when_the_coherence_is_low() {
        low_coherence_recovers::<f64>();
        low_coherence_recovers::<f32>();
    }

    fn copies_do_no_harm<T: Real>() {
        let mut D = random_unit_columns::<T>(10, 24, 8);
        for j in 0..12 {
            let copy = D.col_as_slice(j).to_vec();
            D.col_as_slice_mut(j + 12).copy_from_slice(&copy);
        }
        let codes = encode(&D, &random_matrix(10, 50, 9), 10).codes;
        assert!(codes.parts().1.iter().all(|&j| j < 12));
    }

    #[test]
    fn copies_of_an_atom_do_no_harm_and_the_lower_index_is_used() {
        copies_do_no_harm::<f64>();
        copies_do_no_harm::<f32>();
    }

    #[test]
    fn atoms_of_any_norm_are_selected_by_angle_and_zero_atoms_never() {
        let unit = random_unit_columns::<f64>(14, 30, 10);
        let scales: Vec<f64> = (0..30).map(|j| if j == 5 { 0.0 } else { 0.1 + j as f64 }).collect();
        let D = Mat::from_fn(14, 30, |i, j| unit[(i, j)] * scales[j]);
        let mut without = unit.clone();
        without.col_as_slice_mut(5).fill(0.0);
        let X = random_matrix::<f64>(14, 40, 11);
        let (scaled, reference) = (encode(&D, &X, 5).codes, encode(&without, &X, 5).codes);
        assert_eq!(scaled.parts().1, reference.parts().1);
        for ((&j, a), b) in scaled.parts().1.iter().zip(scaled.parts().2).zip(reference.parts().2) {
            assert_ne!(j, 5);
            assert!((a * scales[j as usize] - b).abs() < 1e-10);
        }
    }

    fn error_target_is_met_with_the_fewest_steps<T: Real>() {
        let (D, X) = (random_unit_columns::<T>(24, 60, 12), random_unit_columns::<T>(24, 50, 13));
        let coder = BatchOmp::new(D.as_ref()).unwrap();
        for norm in [0.5, 0.1, 1e-3] {
            let target = Target::Error { norm, max_atoms: None };
            let Encoded { codes, sq_residuals } = coder.encode(X.as_ref(), target).unwrap();
            let R = residuals(D.as_ref(), X.as_ref(), &codes);
            for i in 0..50 {
                let q = codes.signal(i).0.len();
                let reached = R.col(i).norm_l2();
                assert!(reached <= norm * (1.0 + 1e-3) || q == 24, "{reached} > {norm}");
                assert!((sq_residuals[i].sqrt() - reached).abs() <= 1e-4 * norm.max(T::EPS.sqrt()));
                if q > 1 {
                    assert!(encode(&D, &X, q - 1).sq_residuals[i] > norm * norm * 0.999);
                }
            }
        }
    }

    #[test]
    fn error_mode_reaches_the_error_and_stops_there() {
        error_target_is_met_with_the_fewest_steps::<f64>();
        error_target_is_met_with_the_fewest_steps::<f32>();
    }

    #[test]
    fn codes_scale_with_the_signals() {
        let (D, X) = (random_unit_columns::<f64>(12, 30, 14), random_matrix::<f64>(12, 20, 15));
        let tiny = Mat::from_fn(12, 20, |i, j| X[(i, j)] * 1e-30);
        let (a, b) = (encode(&D, &X, 4).codes, encode(&D, &tiny, 4).codes);
        assert_eq!(a.parts().1, b.parts().1);
    }

    #[test]
    fn zero_signals_get_empty_codes_and_bad_input_is_named() {
        let D = random_unit_columns::<f64>(6, 9, 16);
        let mut X = random_matrix::<f64>(6, 3, 17);
        X.col_as_slice_mut(1).fill(0.0);
        let Encoded { codes, sq_residuals } = encode(&D, &X, 2);
        assert!(codes.signal(1).0.is_empty() && sq_residuals[1] == 0.0);
        let coder = BatchOmp::new(D.as_ref()).unwrap();
        for bad in [0, 10] {
            let error = coder.encode(X.as_ref(), Target::Sparsity(bad)).unwrap_err();
            assert!(matches!(error, LkdlError::Parameter { name: "sparsity", .. }));
        }
        X[(2, 2)] = f64::NAN;
        let error = coder.encode(X.as_ref(), Target::Sparsity(1)).unwrap_err();
        assert!(matches!(error, LkdlError::NonFinite { row: 2, col: 2, .. }));
        let huge = Mat::<f32>::from_fn(4, 1, |_, _| 1e25);
        assert!(matches!(BatchOmp::new(huge.as_ref()), Err(LkdlError::Unsupported { .. })));
        let coder = BatchOmp::new(Mat::<f32>::identity(4, 4).as_ref()).unwrap();
        assert!(matches!(
            coder.encode(huge.as_ref(), Target::Sparsity(1)),
            Err(LkdlError::Unsupported { .. })
        ));
    }

    #[test]
    fn bits_do_not_depend_on_the_thread_count() {
        fn check<T: Real>() {
            let (D, X) = (random_unit_columns::<T>(32, 90, 18), random_matrix::<T>(32, 1500, 19));
            same_for_any_thread_count(|| -> (Codes<T>, Vec<f64>) {
                let encoded = encode(&D, &X, 6);
                (encoded.codes, encoded.sq_residuals)
            });
        }
        check::<f64>();
        check::<f32>();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn awkward_shapes_keep_the_residual_orthogonal(
            k in 1usize..20, m in 1usize..40, n in 1usize..6, q in 1usize..12, seed in 0u64..1000,
        ) {
            let mut D = random_unit_columns::<f64>(k, m, seed);
            if m > 2 {
                let copy = D.col_as_slice(0).to_vec();
                D.col_as_slice_mut(m - 1).copy_from_slice(&copy);
                D.col_as_slice_mut(m / 2).fill(0.0);
            }
            let X = random_matrix::<f64>(k, n, seed + 1);
            let codes = encode(&D, &X, q.min(m)).codes;
            residual_is_orthogonal_to_chosen_atoms(D.as_ref(), X.as_ref(), &codes, 1e-10);
        }
    }
}
