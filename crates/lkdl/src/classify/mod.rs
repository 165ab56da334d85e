//! Decision rules over learned dictionaries.
//!
//! Like the learners, these see samples and class indices only: on raw samples they are the linear
//! method, on virtual samples the kernel one.

pub mod class_dictionaries;
pub mod fddl;
pub mod gram_dictionaries;
pub mod gram_representation;
pub mod label_consistent;
mod residuals;
pub mod sparse_representation;
mod sparsity_path;

pub(crate) use class_dictionaries::in_class;
pub use class_dictionaries::{ClassDictionaries, ClassDictionariesParams};
pub use fddl::{Fddl, FddlForm, FddlParams, FddlRule};
pub use gram_dictionaries::{GramDictionaries, GramDictionariesParams};
pub use gram_representation::GramSrc;
pub use label_consistent::{LcKsvd, LcKsvdParams, LcKsvdParts, LcVariant};
pub(crate) use residuals::{join_blocks, largest_needs, residuals_over};
pub use sparse_representation::{Src, SrcCoding, SrcParams};
pub use sparsity_path::SparsityPath;

use crate::error::LkdlError;
use crate::matrix::{check_samples, check_size, matrix_bytes};
use crate::monitor::{Monitor, Silent};
use crate::real::Real;
use faer::{Mat, MatRef};

/// A method that can be trained on labelled samples: all that [`Lkdl`](crate::Lkdl) needs to
/// kernelize it.
pub trait Train<T: Real> {
    /// The trained classifier.
    type Model: Classify<T>;

    /// Trains on `samples` (one per column) with class indices `labels` below the class count. A
    /// method with steps tells `monitor` when it begins ([`Monitor::begin`]) and of each of them,
    /// and stops when asked; one without may leave it alone.
    fn train_monitored(
        &self,
        samples: MatRef<'_, T>,
        labels: &[usize],
        monitor: &dyn Monitor,
    ) -> Result<Self::Model, LkdlError>;

    /// [`Train::train_monitored`], unwatched.
    fn train(&self, samples: MatRef<'_, T>, labels: &[usize]) -> Result<Self::Model, LkdlError> {
        self.train_monitored(samples, labels, &Silent)
    }

    /// Bytes that training on classes of these sizes needs beside the samples with so many threads,
    /// for the memory plan. Unless a method says otherwise: a copy of the samples.
    fn training_bytes(&self, n_features: usize, class_sizes: &[usize], threads: usize) -> u64 {
        let _ = threads;
        matrix_bytes::<T>(n_features, class_sizes.iter().sum())
    }
}

/// A trained classifier.
pub trait Classify<T: Real> {
    /// Labels every column of `samples`.
    fn classify(&self, samples: MatRef<'_, T>) -> Result<Predictions, LkdlError>;
}

/// What a classifier says of a set of samples.
#[derive(Debug, Clone)]
pub struct Predictions {
    /// The class index of every sample.
    pub labels: Vec<usize>,
    /// One score per class (rows) and sample (columns): the smaller, the better the class fits.
    /// For dictionaries the squared residual r_l², LKDL Eq. (25).
    pub scores: Mat<f64>,
    /// How clear each decision was, 0 (a tie) to 1: for dictionaries
    /// (r² of the runner-up − r² of the winner)/‖f‖²; 1 if there is one class only.
    pub margins: Vec<f64>,
    /// Samples of zero norm, which were given the lowest class index.
    pub n_zero_samples: usize,
}

impl Predictions {
    /// The smallest score wins, the lowest index on ties; `sq_norms` are ‖f‖² of the samples, to
    /// which the margin between winner and runner-up is relative.
    pub fn from_scores(scores: Mat<f64>, sq_norms: &[f64]) -> Result<Self, LkdlError> {
        check_samples(scores.as_ref(), "scores")?;
        check_size("squared norms", sq_norms.len(), scores.ncols())?;
        let (mut labels, mut margins) = (Vec::new(), Vec::new());
        for (i, &sq_norm) in sq_norms.iter().enumerate() {
            let r = scores.col_as_slice(i);
            let winner = (0..r.len()).fold(0, |best, l| if r[l] < r[best] { l } else { best });
            let runner_up =
                (0..r.len()).filter(|&l| l != winner).map(|l| r[l]).fold(f64::INFINITY, f64::min);
            let margin = if sq_norm > 0.0 { (runner_up - r[winner]) / sq_norm } else { 0.0 };
            labels.push(winner);
            margins.push(margin.clamp(0.0, 1.0));
        }
        let n_zero_samples = sq_norms.iter().filter(|&&sq_norm| sq_norm == 0.0).count();
        Ok(Self { labels, scores, margins, n_zero_samples })
    }

    /// Predictions of consecutive batches as one.
    pub(crate) fn join(batches: Vec<Self>) -> Result<Self, LkdlError> {
        let n: usize = batches.iter().map(|b| b.labels.len()).sum();
        let n_classes = batches.first().map_or(0, |b| b.scores.nrows());
        let mut joined = Self {
            labels: Vec::with_capacity(n),
            scores: Mat::zeros(n_classes, n),
            margins: Vec::with_capacity(n),
            n_zero_samples: 0,
        };
        for batch in batches {
            check_size("classifier's score rows", batch.scores.nrows(), n_classes)?;
            check_size("classifier's score columns", batch.scores.ncols(), batch.labels.len())?;
            let start = joined.labels.len();
            joined.scores.as_mut().subcols_mut(start, batch.labels.len()).copy_from(&batch.scores);
            joined.labels.extend(batch.labels);
            joined.margins.extend(batch.margins);
            joined.n_zero_samples += batch.n_zero_samples;
        }
        Ok(joined)
    }

    /// The share of samples whose label is the given one.
    pub fn accuracy(&self, labels: &[usize]) -> Result<f64, LkdlError> {
        check_size("labels' length", labels.len(), self.labels.len())?;
        let correct = self.labels.iter().zip(labels).filter(|(a, b)| a == b).count();
        Ok(correct as f64 / labels.len().max(1) as f64)
    }
}

/// The sample indices of each class, ascending; every class up to the largest label must have one.
pub fn class_members(labels: &[usize], n_samples: usize) -> Result<Vec<Vec<usize>>, LkdlError> {
    check_size("labels' length", labels.len(), n_samples)?;
    let largest = labels.iter().max();
    if largest.is_some_and(|&largest| largest >= n_samples) {
        // More classes than samples: some class below the largest label must be empty.
        let mut present = labels.to_vec();
        present.sort_unstable();
        present.dedup();
        let class = present.iter().enumerate().find(|(i, l)| i != *l).map_or(0, |(i, _)| i);
        return Err(LkdlError::EmptyClass { class });
    }
    let mut members = vec![Vec::new(); largest.map_or(0, |largest| largest + 1)];
    for (i, &label) in labels.iter().enumerate() {
        members[label].push(i);
    }
    match members.iter().position(Vec::is_empty) {
        Some(class) => Err(LkdlError::EmptyClass { class }),
        None => Ok(members),
    }
}

#[cfg(test)]
mod tests;
