//! Who belongs where: samples sorted by class and cut into runs of one class, atoms class after
//! class. A run is the unit of parallel work, and no sum depends on who did it.

use crate::matrix::{Columns, gather};
use crate::real::Real;
use faer::Mat;
use rayon::prelude::*;
use std::ops::Range;

/// Samples per run at most: the codes of a run, their gradients and the last ones of both stay in
/// the second-level cache for a few hundred atoms.
const RUN: usize = 128;

/// Consecutive samples of one class.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) class: usize,
    /// Columns of the sorted samples.
    pub(super) columns: Range<usize>,
}

/// Runs of samples and ranges of atoms, class by class.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) runs: Vec<Run>,
    /// n_l.
    pub(super) class_sizes: Vec<usize>,
    /// Rows of the codes that belong to the atoms of each class.
    pub(super) atoms: Vec<Range<usize>>,
}

impl Layout {
    pub(super) fn new(class_sizes: &[usize], n_atoms: &[usize]) -> Self {
        let mut runs = Vec::new();
        for (class, columns) in consecutive(class_sizes).into_iter().enumerate() {
            for start in columns.clone().step_by(RUN) {
                runs.push(Run { class, columns: start..columns.end.min(start + RUN) });
            }
        }
        Self { runs, class_sizes: class_sizes.to_vec(), atoms: consecutive(n_atoms) }
    }

    /// N.
    pub(super) fn n_samples(&self) -> usize {
        self.class_sizes.iter().sum()
    }

    /// m, of all classes.
    pub(super) fn n_atoms(&self) -> usize {
        self.atoms.last().map_or(0, |last| last.end)
    }

    /// A matrix of zeros for every run, `rows` high.
    pub(super) fn zeros<T: Real>(&self, rows: usize) -> Vec<Mat<T>> {
        self.runs.iter().map(|run| Mat::zeros(rows, run.columns.len())).collect()
    }

    /// The sum of one matrix per run, those runs that have one: in parallel over runs, added in
    /// `f64` in their order.
    pub(super) fn sum<T: Real>(
        &self,
        rows: usize,
        cols: usize,
        of: impl Fn(usize, &Run) -> Option<Mat<T>> + Sync,
    ) -> Mat<f64> {
        let parts: Vec<Option<Mat<T>>> =
            self.runs.par_iter().enumerate().map(|(b, run)| of(b, run)).collect();
        let mut sum = Mat::<f64>::zeros(rows, cols);
        for part in parts.iter().flatten() {
            for j in 0..cols {
                let terms = part.col_as_slice(j);
                for (sum, term) in sum.col_as_slice_mut(j).iter_mut().zip(terms) {
                    *sum += term.wide();
                }
            }
        }
        sum
    }
}

/// 0..a, a..a+b, … for sizes a, b, ….
fn consecutive(sizes: &[usize]) -> Vec<Range<usize>> {
    let mut end = 0;
    let range = |&size: &usize| {
        let start = end;
        end += size;
        start..end
    };
    sizes.iter().map(range).collect()
}

/// The samples, class after class.
pub(super) fn sorted<T: Real>(X: Columns<'_, T>, members: &[Vec<usize>]) -> Mat<T> {
    gather(X, &members.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_every_sample_once_and_keep_to_one_class() {
        let layout = Layout::new(&[1, RUN, 2 * RUN + 5], &[2, 3, 1]);
        let covered: Vec<usize> = layout.runs.iter().flat_map(|run| run.columns.clone()).collect();
        assert_eq!(covered, (0..3 * RUN + 6).collect::<Vec<_>>());
        assert_eq!(layout.runs.iter().map(|run| run.class).collect::<Vec<_>>(), [0, 1, 2, 2, 2]);
        assert_eq!((layout.n_samples(), layout.n_atoms()), (3 * RUN + 6, 6));
        assert_eq!(layout.atoms, [0..2, 2..5, 5..6]);
    }
}
