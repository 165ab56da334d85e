//! Γ, the m×N matrix of codes, stored sparsely: per signal its atoms (ascending) and values.

use crate::error::LkdlError;
use crate::matrix::{BLOCK, check_size, col, columns_of, map_blocks};
use crate::real::Real;
use crate::vector::axpy;
use faer::{Mat, MatRef};

/// Sparse codes of N signals over m atoms (compressed by signal).
#[derive(Debug, Clone, PartialEq)]
pub struct Codes<T: Real> {
    n_atoms: usize,
    /// Signal i owns entries `offsets[i]..offsets[i + 1]`.
    offsets: Vec<usize>,
    atoms: Vec<u32>,
    values: Vec<T>,
}

/// Codes and what they leave of every signal.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded<T: Real> {
    /// Γ.
    pub codes: Codes<T>,
    /// ‖x_i − Dγ_i‖² of every signal.
    pub sq_residuals: Vec<f64>,
}

/// Codes of consecutive signals while one task writes them.
#[derive(Debug, Default)]
pub(crate) struct CodeBlock<T> {
    pub(crate) counts: Vec<usize>,
    pub(crate) atoms: Vec<u32>,
    pub(crate) values: Vec<T>,
    pub(crate) sq_residuals: Vec<f64>,
}

impl<T: Real> CodeBlock<T> {
    /// Appends the code of the next signal, given in any order; exact zeros are dropped.
    pub(crate) fn push(&mut self, entries: &mut [(u32, T)], sq_residual: f64) {
        entries.sort_unstable_by_key(|entry| entry.0);
        let before = self.atoms.len();
        for &(atom, value) in entries.iter().filter(|entry| entry.1 != T::of(0.0)) {
            self.atoms.push(atom);
            self.values.push(value);
        }
        self.counts.push(self.atoms.len() - before);
        self.sq_residuals.push(sq_residual);
    }
}

impl<T: Real> Encoded<T> {
    /// Joins the blocks of a parallel pass, in order.
    pub(crate) fn join(n_atoms: usize, blocks: Vec<CodeBlock<T>>) -> Self {
        let nnz = blocks.iter().map(|b| b.atoms.len()).sum();
        let mut codes = Codes {
            n_atoms,
            offsets: vec![0],
            atoms: Vec::with_capacity(nnz),
            values: Vec::with_capacity(nnz),
        };
        let (mut sq_residuals, mut end) = (Vec::new(), 0);
        for block in blocks {
            for count in block.counts {
                end += count;
                codes.offsets.push(end);
            }
            codes.atoms.extend(block.atoms);
            codes.values.extend(block.values);
            sq_residuals.extend(block.sq_residuals);
        }
        Self { codes, sq_residuals }
    }
}

impl<T: Real> Codes<T> {
    /// Codes of no signal.
    pub(crate) fn empty(n_atoms: usize) -> Self {
        Self { n_atoms, offsets: vec![0], atoms: Vec::new(), values: Vec::new() }
    }

    /// Number of signals, N.
    pub fn n_signals(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of atoms, m.
    pub fn n_atoms(&self) -> usize {
        self.n_atoms
    }

    /// Stored entries over all signals.
    pub fn nnz(&self) -> usize {
        self.atoms.len()
    }

    /// Atoms (ascending) and values of signal i.
    pub fn signal(&self, i: usize) -> (&[u32], &[T]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.atoms[range.clone()], &self.values[range])
    }

    /// Offsets, atoms and values: the three arrays of a compressed sparse row matrix whose rows
    /// are signals.
    pub fn parts(&self) -> (&[usize], &[u32], &[T]) {
        (&self.offsets, &self.atoms, &self.values)
    }

    /// The value of stored entry `position` (its place in [`Codes::parts`]), to be rewritten.
    pub(crate) fn value_mut(&mut self, position: usize) -> &mut T {
        &mut self.values[position]
    }

    /// For every atom the (signal, position of the entry) pairs that use it, signals ascending:
    /// a counting sort, O(nnz + m).
    pub(crate) fn users(&self) -> Vec<Vec<(usize, usize)>> {
        let mut counts = vec![0usize; self.n_atoms];
        for &atom in &self.atoms {
            counts[atom as usize] += 1;
        }
        let mut users: Vec<Vec<_>> = counts.into_iter().map(Vec::with_capacity).collect();
        for i in 0..self.n_signals() {
            for position in self.offsets[i]..self.offsets[i + 1] {
                users[self.atoms[position] as usize].push((i, position));
            }
        }
        users
    }

    /// DΓ, one column per signal.
    pub fn reconstruct(&self, dictionary: MatRef<'_, T>) -> Result<Mat<T>, LkdlError> {
        check_size("dictionary's n_atoms", dictionary.ncols(), self.n_atoms)?;
        let D = dictionary.to_owned();
        let blocks = map_blocks(self.n_signals(), BLOCK, |range| {
            let mut out = Mat::zeros(D.nrows(), range.len());
            for (slot, i) in range.enumerate() {
                let (atoms, values) = self.signal(i);
                for (&j, &value) in atoms.iter().zip(values) {
                    axpy(out.col_as_slice_mut(slot), value, col(columns_of(&D), j as usize));
                }
            }
            out
        });
        let mut out = Mat::zeros(D.nrows(), self.n_signals());
        let mut start = 0;
        for block in blocks {
            out.as_mut().subcols_mut(start, block.ncols()).copy_from(&block);
            start += block.ncols();
        }
        Ok(out)
    }

    /// Γ as a dense m×N matrix, for small problems and tests.
    pub fn to_dense(&self) -> Mat<T> {
        let mut out = Mat::zeros(self.n_atoms, self.n_signals());
        for i in 0..self.n_signals() {
            let (atoms, values) = self.signal(i);
            for (&j, &value) in atoms.iter().zip(values) {
                out[(j as usize, i)] = value;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Codes<f64> {
        let mut first = CodeBlock::default();
        first.push(&mut [(4, 2.0), (1, -1.0)], 0.5);
        first.push(&mut [], 1.0);
        let mut second = CodeBlock::default();
        second.push(&mut [(1, 3.0), (0, 0.0)], 0.25);
        let encoded = Encoded::join(5, vec![first, second]);
        assert_eq!(encoded.sq_residuals, [0.5, 1.0, 0.25]);
        encoded.codes
    }

    #[test]
    fn entries_are_ascending_and_zeros_dropped() {
        let codes = example();
        assert_eq!(codes.signal(0), (&[1, 4][..], &[-1.0, 2.0][..]));
        assert_eq!(codes.signal(1), (&[][..], &[][..]));
        assert_eq!((codes.nnz(), codes.n_signals(), codes.n_atoms()), (3, 3, 5));
        assert_eq!(codes.users()[1], [(0, 0), (2, 2)]);
    }

    #[test]
    fn reconstruction_equals_the_dense_product() {
        let codes = example();
        let D = Mat::from_fn(3, 5, |i, j| (i * 5 + j) as f64);
        let dense = &D * codes.to_dense();
        assert!(codes.reconstruct(D.subcols(0, 4)).is_err());
        crate::testing::close(
            codes.reconstruct(D.as_ref()).unwrap().as_ref(),
            dense.as_ref(),
            1e-15,
        );
    }
}
