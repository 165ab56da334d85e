//! What a pass over a source has seen: counts, and a digest of every value and label. Passes over
//! data that stay as they are see the same; anything else is an error, never another model.

use crate::blocks::Block;
use crate::error::LkdlError;
use crate::matrix::{check_samples, check_size};
use crate::real::Real;
use crate::state::{Saved, Saving, unfit};
use rayon::prelude::*;

/// The counts of one pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Blocks, empty ones too.
    pub n_blocks: usize,
    /// N.
    pub n_samples: usize,
    /// p; 0 before the first sample.
    pub n_features: usize,
    /// Samples of every class.
    pub class_counts: Vec<usize>,
    /// Samples in the largest block.
    pub largest_block: usize,
    /// Of every value, in their order.
    digest: u64,
    /// Of every class, which samples it has: sums, so that they stay true when classes get other
    /// numbers, or two of them one.
    class_digests: Vec<u64>,
}

impl Tally {
    /// The counts of a pass that others have made, each over a part of the samples. Without a digest
    /// they are enough to start a fit, but not to notice that a later pass sees other samples.
    pub fn counted(
        n_blocks: usize,
        n_features: usize,
        class_counts: Vec<usize>,
        largest_block: usize,
    ) -> Self {
        let class_digests = vec![0; class_counts.len()];
        let n_samples = class_counts.iter().sum();
        Self {
            n_blocks,
            n_samples,
            n_features,
            class_counts,
            largest_block,
            digest: 0,
            class_digests,
        }
    }

    /// Counts the next block, if it is as it should be; an error names the block.
    pub(super) fn add<T: Real>(&mut self, block: &Block<T>) -> Result<(), LkdlError> {
        self.check(block).map_err(|error| error.in_block_from(self.n_blocks, self.n_samples))?;
        self.n_blocks += 1;
        let n = block.samples.ncols();
        if n == 0 {
            return Ok(());
        }
        self.n_features = block.samples.nrows();
        self.largest_block = self.largest_block.max(n);
        let digests: Vec<u64> =
            (0..n).into_par_iter().map(|i| digest(block.samples.col_as_slice(i))).collect();
        for (&class, digest) in block.labels.iter().zip(digests) {
            if class >= self.class_counts.len() {
                self.class_counts.resize(class + 1, 0);
                self.class_digests.resize(class + 1, 0);
            }
            self.class_counts[class] += 1;
            let place = mix(0, self.n_samples as u64 + 1);
            self.class_digests[class] = self.class_digests[class].wrapping_add(place);
            self.digest = mix(self.digest, digest);
            self.n_samples += 1;
        }
        Ok(())
    }

    fn check<T: Real>(&self, block: &Block<T>) -> Result<(), LkdlError> {
        let samples = block.samples.as_ref();
        check_size("labels' length", block.labels.len(), samples.ncols())?;
        if samples.ncols() == 0 {
            return Ok(());
        }
        if self.n_samples > 0 {
            check_size("samples' n_features", samples.nrows(), self.n_features)?;
        }
        check_samples(samples, "samples")?;
        match block.labels.iter().find(|&&class| class >= MAX_CLASSES) {
            Some(class) => {
                Err(LkdlError::parameter("class index", class, format!("below {MAX_CLASSES}")))
            }
            None => Ok(()),
        }
    }

    /// A digest of every value, in their order.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Whether every sample was this one, as far as digests tell.
    pub(super) fn repeats<T: Real>(&self, sample: &[T]) -> bool {
        let one = digest(sample);
        (0..self.n_samples).fold(0, |hash, _| mix(hash, one)) == self.digest
    }

    /// Counts the next block of a later pass, if the first one can have seen it.
    pub(super) fn add_again<T: Real>(
        &mut self,
        block: &Block<T>,
        first: &Self,
    ) -> Result<(), LkdlError> {
        self.add(block)?;
        self.check_within(first)?;
        let p = block.samples.nrows();
        if block.samples.ncols() == 0 || p == first.n_features {
            return Ok(());
        }
        let change = format!("it has {p} features, not {}", first.n_features);
        Err(LkdlError::SourceChanged { change })
    }

    /// Refuses a first pass that leaves nothing to learn.
    pub(super) fn check_whole(&self) -> Result<(), LkdlError> {
        if self.n_samples == 0 {
            return Err(LkdlError::Empty { what: "samples", rows: 0, cols: 0 });
        }
        match self.class_counts.iter().position(|count| *count == 0) {
            Some(class) => Err(LkdlError::EmptyClass { class }),
            None => Ok(()),
        }
    }

    /// Refuses a pass that has seen, so far, what the first one did not.
    pub(super) fn check_within(&self, first: &Self) -> Result<(), LkdlError> {
        let changed = |change: String| Err(LkdlError::SourceChanged { change });
        if self.class_counts.len() > first.class_counts.len() {
            let (class, known) = (self.class_counts.len() - 1, first.class_counts.len());
            let block = self.n_blocks - 1;
            return changed(format!("block {block} has class {class}, but there were {known}"));
        }
        if self.n_blocks > first.n_blocks || self.n_samples > first.n_samples {
            let (blocks, samples) = (first.n_blocks, first.n_samples);
            return changed(format!("it goes on after {samples} samples in {blocks} blocks"));
        }
        Ok(())
    }

    /// Refuses a pass that has not seen what the first one did.
    pub(super) fn check_same(&self, first: &Self) -> Result<(), LkdlError> {
        let changed = |change: String| Err(LkdlError::SourceChanged { change });
        if (self.n_blocks, self.n_samples) != (first.n_blocks, first.n_samples) {
            return changed(format!(
                "it ends after {} samples in {} blocks, not after {} in {}",
                self.n_samples, self.n_blocks, first.n_samples, first.n_blocks
            ));
        }
        if self != first {
            return changed("values or labels differ".into());
        }
        Ok(())
    }

    pub(super) fn save<'a, T: Real>(&self, at: &str, to: &mut Saving<'a, T>) {
        to.counts(at, "n", [self.n_blocks, self.n_samples, self.n_features, self.largest_block]);
        to.counts(at, "classes", self.class_counts.iter().copied());
        let digests = [self.digest].into_iter().chain(self.class_digests.iter().copied());
        to.words(at, "digests", digests);
    }

    pub(super) fn restore<T: Real>(at: &str, from: &mut Saved<T>) -> Result<Self, LkdlError> {
        let [n_blocks, n_samples, n_features, largest_block] = from.counts(at, "n")?;
        let class_counts = from.list(at, "classes")?;
        let digests = from.words(at, "digests")?;
        let [digest, class_digests @ ..] = digests.as_slice() else {
            return Err(unfit(at, "digests", "has another length"));
        };
        check_size("saved digests", class_digests.len(), class_counts.len())?;
        Ok(Self {
            n_blocks,
            n_samples,
            n_features,
            class_counts,
            largest_block,
            digest: *digest,
            class_digests: class_digests.to_vec(),
        })
    }

    /// The same counts for other class indices: class l becomes `classes[l]`.
    pub(super) fn relabel(&mut self, classes: &[usize]) {
        let n_classes = classes.iter().max().map_or(0, |largest| largest + 1);
        let (mut counts, mut digests) = (vec![0; n_classes], vec![0u64; n_classes]);
        let before = self.class_counts.iter().zip(&self.class_digests);
        for ((count, digest), &class) in before.zip(classes) {
            counts[class] += count;
            digests[class] = digests[class].wrapping_add(*digest);
        }
        (self.class_counts, self.class_digests) = (counts, digests);
    }
}

/// Of the values of one sample.
fn digest<T: Real>(sample: &[T]) -> u64 {
    sample.iter().fold(1, |hash, value| mix(hash, value.wide().to_bits()))
}

/// Order matters, and every bit: multiply and rotate, as hash tables do. It is no secret that is
/// kept, only a change that is noticed.
fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// More classes than any method here can hold dictionaries for.
const MAX_CLASSES: usize = 1 << 20;
