//! The residuals that per-class rules compare, and what such rules share.

use crate::matrix::{BLOCK, Columns};
use crate::pursuit::{BatchOmp, Limits, Scratch};
use crate::real::Real;
use faer::Mat;
use pulp::{Arch, Simd, WithSimd};

/// ρ of every signal of a block over one dictionary: X are the signals (or their kernel values,
/// over a kernel dictionary) and `sq_norms` their squared norms.
pub(crate) fn residuals_over<T: Real>(
    coder: &BatchOmp<T>,
    scratch: &mut Scratch<T>,
    X: Columns<'_, T>,
    sq_norms: &[f64],
    sparsity: usize,
) -> Vec<f64> {
    scratch.correlate_with(coder, X);
    let limits = Limits { max_atoms: sparsity.min(coder.n_atoms()), sq_error: None };
    Arch::new().dispatch(Residuals { coder, scratch, sq_norms, limits })
}

/// The pursuits of one block, compiled for each instruction set.
struct Residuals<'a, T: Real> {
    coder: &'a BatchOmp<T>,
    scratch: &'a mut Scratch<T>,
    sq_norms: &'a [f64],
    limits: Limits,
}

impl<T: Real> WithSimd for Residuals<'_, T> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let Scratch { alpha, work } = self.scratch;
        let gram = self.coder.gram();
        let never = |_: &[usize], _: &[f64]| 0.0;
        let mut residuals = Vec::with_capacity(self.sq_norms.len());
        // A plain loop: inside an iterator adapter the pursuit would be compiled without SIMD.
        for (i, &rho0) in self.sq_norms.iter().enumerate() {
            let alpha = alpha.col_as_slice_mut(i);
            residuals.push(work.pursue(simd, gram, alpha, rho0, self.limits, never));
        }
        residuals
    }
}

/// Scores of consecutive blocks of [`BLOCK`] samples side by side.
pub(crate) fn join_blocks(n_classes: usize, n_samples: usize, blocks: &[Mat<f64>]) -> Mat<f64> {
    let mut scores = Mat::zeros(n_classes, n_samples);
    for (t, block) in blocks.iter().enumerate() {
        scores.as_mut().subcols_mut(t * BLOCK, block.ncols()).copy_from(block);
    }
    scores
}

/// What so many classes at a time can need together: the sum of the largest.
pub(crate) fn largest_needs(mut needs: Vec<u64>, at_once: usize) -> u64 {
    needs.sort_unstable_by_key(|&need| std::cmp::Reverse(need));
    needs.iter().take(at_once).sum()
}
