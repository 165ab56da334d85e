//! Batch-OMP: orthogonal matching pursuit of many signals over one dictionary, LKDL Eq. (1).
//!
//! Signals are taken in blocks: α = DᵀX_block by one product, then the pursuit of each column
//! while it is in cache (see [`greedy`](super::greedy)). Cost 2kmN + m²k + Nm(q²−1) flops.
//! Rubinstein, Zibulevsky & Elad 2008.

use super::codes::{CodeBlock, Encoded};
use super::entry::{check_problem, check_range};
use super::greedy::{PaddedGram, Workspace};
use super::target::{Limits, Target};
use crate::error::LkdlError;
use crate::linalg::{gram, product_into};
use crate::matrix::{
    BLOCK, Columns, Contiguous, check_samples, col, column_sq_norms, columns_of, map_blocks_with, subcols,
};
use crate::real::Real;
use crate::vector::{norm_sq, padded};
use faer::{Mat, MatRef};
use pulp::{Arch, Simd, WithSimd};

/// Atoms whose squared norm is this many ε from 1 count as unit: coding them needs no rescaling.
const UNIT_NORM_SLACK: f64 = 256.0;

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
        Ok(Self::from_atoms(dictionary.to_owned()))
    }

    /// [`BatchOmp::new`] for atoms known to be finite.
    pub(crate) fn from_atoms(mut atoms: Mat<T>) -> Self {
        let sq_norms: Vec<f64> =
            (0..atoms.ncols()).map(|j| norm_sq(atoms.col_as_slice(j))).collect();
        let slack = UNIT_NORM_SLACK * T::EPS;
        let unit = sq_norms.iter().all(|&v| v == 0.0 || (v - 1.0).abs() <= slack);
        let mut norms = Vec::new();
        if !unit {
            norms = sq_norms.iter().map(|v| v.sqrt()).collect();
            for (j, &norm) in norms.iter().enumerate() {
                if norm > 0.0 {
                    for v in atoms.col_as_slice_mut(j) {
                        *v = T::of(v.wide() / norm);
                    }
                }
            }
        }
        let gram = PaddedGram::new(gram(atoms.as_ref()).as_ref());
        Self { atoms, gram, norms }
    }

    /// For unit (or zero) atoms whose G is at hand.
    pub(crate) fn with_gram(atoms: Mat<T>, G: Mat<T>) -> Self {
        Self { atoms, gram: PaddedGram::new(G.as_ref()), norms: Vec::new() }
    }

    /// The unit atoms back.
    pub(crate) fn into_atoms(self) -> Mat<T> {
        self.atoms
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
        check_problem(self.atoms.as_ref(), samples)?;
        let limits = target.limits(self.atoms.nrows(), self.n_atoms())?;
        let X = Contiguous::new(samples);
        check_range::<T>(&column_sq_norms(X.columns()))?;
        Ok(self.encode_columns(X.columns(), limits))
    }

    /// At most `sparsity` atoms per signal, for samples already checked.
    pub(crate) fn encode_sparsely(&self, X: Columns<'_, T>, sparsity: usize) -> Encoded<T> {
        let max_atoms = sparsity.min(self.n_atoms());
        self.encode_columns(X, Limits { max_atoms, sq_error: None })
    }

    fn encode_columns(&self, X: Columns<'_, T>, limits: Limits) -> Encoded<T> {
        let scratch = || Scratch::new(self.n_atoms(), limits.max_atoms);
        let blocks = map_blocks_with(X.ncols(), BLOCK, scratch, |scratch, range| {
            let X = subcols(X, range);
            scratch.correlate_with(self, X);
            Arch::new().dispatch(EncodeBlock { coder: self, X, scratch, limits })
        });
        Encoded::join(self.n_atoms(), blocks)
    }

    /// γ in terms of the atoms as given.
    fn unscaled(&self, atom: usize, value: f64) -> T {
        T::of(self.norms.get(atom).map_or(value, |norm| value / norm))
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
}

/// The pursuits of one block, compiled for each instruction set.
struct EncodeBlock<'a, T: Real> {
    coder: &'a BatchOmp<T>,
    X: Columns<'a, T>,
    scratch: &'a mut Scratch<T>,
    limits: Limits,
}

impl<T: Real> WithSimd for EncodeBlock<'_, T> {
    type Output = CodeBlock<T>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> CodeBlock<T> {
        let Self { coder, X, scratch: Scratch { alpha, work }, limits } = self;
        let (mut block, mut entries) = (CodeBlock::default(), Vec::new());
        for i in 0..X.ncols() {
            let x = col(X, i);
            let refresh = |chosen: &[usize], values: &[f64]| {
                sq_residual(columns_of(&coder.atoms), x, chosen, values)
            };
            let (rho0, alpha) = (norm_sq(x), alpha.col_as_slice_mut(i));
            let rho = work.pursue(simd, &coder.gram, alpha, rho0, limits, refresh);
            work.solve();
            entries.clear();
            for (&j, &value) in work.chosen.iter().zip(&work.solution) {
                entries.push((j as u32, coder.unscaled(j, value)));
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
