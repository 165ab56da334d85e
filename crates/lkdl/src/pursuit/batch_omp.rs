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
mod tests;
