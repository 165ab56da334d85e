//! The random keys of the samples of a source: of the seed and a sample's number alone, so that
//! whoever holds a part of the samples draws the same pilot as one who sees all.

use crate::random::{Stage, stream};
use chacha20::ChaCha8Rng;
use rand::RngExt;

/// Samples that share a stream of keys: any sample's key costs so many draws at most.
const KEYS_PER_STREAM: usize = 4096;

/// The keys of one sample after the other.
pub(super) struct Keys {
    seed: u64,
    /// The sample that is next.
    index: usize,
    stream: ChaCha8Rng,
}

impl Keys {
    /// From sample number `first` on.
    pub(super) fn new(seed: u64, first: usize) -> Self {
        let mut stream = stream(seed, Stage::Survey, 0, first / KEYS_PER_STREAM);
        (0..first % KEYS_PER_STREAM).for_each(|_| {
            stream.random::<u64>();
        });
        Self { seed, index: first, stream }
    }

    /// The key of the next sample.
    pub(super) fn draw(&mut self) -> u64 {
        if self.index.is_multiple_of(KEYS_PER_STREAM) {
            self.stream = stream(self.seed, Stage::Survey, 0, self.index / KEYS_PER_STREAM);
        }
        self.index += 1;
        self.stream.random()
    }
}

/// The keys of `count` samples from number `first` on. The pilot of a survey with this seed are the
/// samples of the smallest keys, of equal ones those that come first.
pub fn survey_keys(seed: u64, first: usize, count: usize) -> Vec<u64> {
    let mut keys = Keys::new(seed, first);
    (0..count).map(|_| keys.draw()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_samples_has_the_keys_it_has_in_the_whole() {
        let whole = survey_keys(5, 0, 3 * KEYS_PER_STREAM);
        for first in [0, 1, 100, 4095, 4096, 4097, 8000] {
            assert_eq!(survey_keys(5, first, 300), whole[first..first + 300]);
        }
        assert_ne!(survey_keys(6, 0, 10), whole[..10]);
        assert!(survey_keys(5, 7, 0).is_empty());
        let mut distinct = whole.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), whole.len());
    }
}
