//! The first pass over a source: how many samples of which classes there are, and a pilot, a sample
//! of them that memory holds.
//!
//! Every sample draws a random key from a stream that depends on the seed and on its number alone.
//! The pilot are the samples with the smallest keys: a uniform sample without replacement, whatever
//! the blocks, and the same one whoever looks. Of every class the few smallest are kept beside it,
//! so that a class of ten samples among millions has some to start its atoms from.
//!
//! The samples with the largest keys, a uniform sample of all that are not in the pilot, are held out:
//! nothing is learned from them, so that they tell how well what the pilot taught fits the rest.

use super::keys::Keys;
use super::tally::Tally;
use crate::blocks::{Block, Source, for_each_block};
use crate::error::{LkdlError, Warning};
use crate::matrix::matrix_bytes;
use crate::monitor::Monitor;
use crate::real::Real;
use faer::Mat;
use std::collections::BTreeMap;

/// Samples beside the pilot that are held out at most: their mean then varies by a few hundredths.
const HELD_OUT: usize = 500;

/// How large the pilot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SurveyParams {
    /// Samples of the uniform pilot at most.
    pub n_pilot: usize,
    /// Samples kept of every class at least, as far as it has them.
    pub per_class: usize,
    /// Seed of the keys.
    pub seed: u64,
    /// Bytes the survey may use, its blocks included; `None` for no limit. With many classes, what is
    /// kept of each of them comes to more than the pilot.
    pub memory: Option<u64>,
}

impl Default for SurveyParams {
    fn default() -> Self {
        Self { n_pilot: 20_000, per_class: 50, seed: 0, memory: None }
    }
}

/// What the first pass found.
#[derive(Debug, Clone)]
pub struct Pilot<T: Real> {
    /// p×n, in the order of the source.
    pub samples: Mat<T>,
    /// Their class indices.
    pub labels: Vec<usize>,
    /// Their numbers in the source.
    pub indices: Vec<usize>,
    /// p×n, other samples, of which nothing is to be learned; none if the pilot is all.
    pub held_out: Mat<T>,
    /// Counts of the whole pass.
    pub tally: Tally,
}

impl<T: Real> Pilot<T> {
    /// The same with other class indices: class l becomes `classes[l]`, as when names are put in
    /// order once all of them are known. Two classes may become one.
    pub fn relabel(&mut self, classes: &[usize]) -> Result<(), LkdlError> {
        let n_classes = self.tally.class_counts.len();
        if classes.len() != n_classes {
            let (expected, got) = (n_classes, classes.len());
            return Err(LkdlError::Shape { what: "new class indices", expected, got });
        }
        self.labels.iter_mut().for_each(|label| *label = classes[*label]);
        self.tally.relabel(classes);
        self.tally.check_whole()
    }

    /// Whether these are all samples, so that there is nothing more to be known.
    pub fn is_whole(&self) -> bool {
        self.samples.ncols() >= self.tally.n_samples
    }

    /// Whether all samples of the source, not of the pilot alone, are the same.
    pub fn is_constant(&self) -> bool {
        let columns = || (0..self.samples.ncols()).map(|i| self.samples.col_as_slice(i));
        let Some(first) = columns().next() else { return false };
        columns().all(|sample| sample == first) && (self.is_whole() || self.tally.repeats(first))
    }

    /// The warning that belongs to a pilot that is not all.
    pub(super) fn warning(&self) -> Option<Warning> {
        let (used, of) = (self.samples.ncols(), self.tally.n_samples);
        (!self.is_whole()).then_some(Warning::Pilot { used, of })
    }
}

impl SurveyParams {
    /// Goes through `source` once, from its beginning.
    pub fn survey<T: Real>(
        &self,
        source: &mut dyn Source<T>,
        monitor: &dyn Monitor,
    ) -> Result<Pilot<T>, LkdlError> {
        if self.n_pilot == 0 {
            return Err(LkdlError::parameter("n_pilot", 0, "at least 1"));
        }
        monitor.begin("survey", 0);
        source.rewind()?;
        let mut survey = Survey::new(*self);
        for_each_block(source, |block| {
            survey.add_block(&block)?;
            monitor.advance(1);
            monitor.check()
        })?;
        survey.finish()
    }
}

/// A sample that may be in the pilot.
struct Candidate<T> {
    label: usize,
    sample: Vec<T>,
}

/// The candidates with the smallest keys, by key and number.
struct Smallest<T> {
    capacity: usize,
    kept: BTreeMap<(u64, usize), Candidate<T>>,
}

impl<T: Real> Smallest<T> {
    fn new(capacity: usize) -> Self {
        Self { capacity, kept: BTreeMap::new() }
    }

    fn offer(&mut self, key: (u64, usize), label: usize, sample: &[T]) {
        let is_full = self.kept.len() == self.capacity;
        if is_full && self.kept.last_key_value().is_none_or(|(largest, _)| key > *largest) {
            return;
        }
        if is_full {
            self.kept.pop_last();
        }
        self.kept.insert(key, Candidate { label, sample: sample.to_vec() });
    }
}

/// The first pass while it runs.
struct Survey<T: Real> {
    params: SurveyParams,
    tally: Tally,
    keys: Keys,
    all: Smallest<T>,
    classes: Vec<Smallest<T>>,
    /// Those with the largest keys.
    last: Smallest<T>,
}

impl<T: Real> Survey<T> {
    fn new(params: SurveyParams) -> Self {
        Self {
            params,
            tally: Tally::default(),
            keys: Keys::new(params.seed, 0),
            all: Smallest::new(params.n_pilot),
            classes: Vec::new(),
            last: Smallest::new(params.n_pilot.min(HELD_OUT)),
        }
    }

    fn add_block(&mut self, block: &Block<T>) -> Result<(), LkdlError> {
        let first = self.tally.n_samples;
        self.tally.add(block)?;
        let per_class = self.params.per_class;
        self.classes.resize_with(self.tally.class_counts.len(), || Smallest::new(per_class));
        for (i, &label) in block.labels.iter().enumerate() {
            let index = first + i;
            let key = (self.keys.draw(), index);
            let sample = block.samples.col_as_slice(i);
            self.all.offer(key, label, sample);
            self.last.offer((!key.0, index), label, sample);
            self.classes[label].offer(key, label, sample);
        }
        self.check_memory(block.samples.ncols())
    }

    /// Refuses to go on when what is held and the next block are more than the budget allows.
    fn check_memory(&self, block: usize) -> Result<(), LkdlError> {
        let Some(budget) = self.params.memory else { return Ok(()) };
        let of_classes = self.classes.iter().map(|smallest| smallest.kept.len());
        let n_kept = self.all.kept.len() + self.last.kept.len() + of_classes.sum::<usize>();
        // blocks come in pairs: one is read while the one before it is let go
        let need = matrix_bytes::<T>(self.tally.n_features, n_kept.saturating_add(2 * block));
        if need <= budget {
            return Ok(());
        }
        Err(LkdlError::SurveyMemory { n_kept, n_classes: self.classes.len(), need, budget })
    }

    fn finish(self) -> Result<Pilot<T>, LkdlError> {
        self.tally.check_whole()?;
        let mut kept = BTreeMap::new();
        for smallest in self.classes.into_iter().chain([self.all]) {
            kept.extend(
                smallest.kept.into_iter().map(|((_, index), candidate)| (index, candidate)),
            );
        }
        let last = self.last.kept.into_iter().map(|((_, index), candidate)| (index, candidate));
        let held_out: BTreeMap<_, _> =
            last.filter(|(index, _)| !kept.contains_key(index)).collect();
        let labels = kept.values().map(|candidate| candidate.label).collect();
        let indices = kept.keys().copied().collect();
        let p = self.tally.n_features;
        let (samples, held_out) = (side_by_side(p, kept), side_by_side(p, held_out));
        Ok(Pilot { samples, labels, indices, held_out, tally: self.tally })
    }
}

/// The samples as columns, in the order of the source.
fn side_by_side<T: Real>(p: usize, kept: BTreeMap<usize, Candidate<T>>) -> Mat<T> {
    let mut samples = Mat::zeros(p, kept.len());
    for (slot, candidate) in kept.into_values().enumerate() {
        samples.col_as_slice_mut(slot).copy_from_slice(&candidate.sample);
    }
    samples
}
