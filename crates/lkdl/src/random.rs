//! One seeded generator, split into independent streams.
//!
//! Every random choice draws from the stream of its (stage, class, block). A stream depends on the
//! seed and on these three numbers only, so no result depends on the order in which threads run.

use chacha20::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};

/// What a stream of random numbers is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Stage {
    Landmarks = 1,
    Seeds = 2,
    Proposals = 3,
    Pilot = 4,
    KernelWidth = 5,
    EigenStart = 6,
    Features = 7,
    InitialAtoms = 8,
    AtomOrder = 9,
    ColumnNorms = 10,
    Leverage = 11,
    Batches = 12,
    Survey = 13,
}

/// The stream of one (stage, class, block).
pub(crate) fn stream(seed: u64, stage: Stage, class: usize, block: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((stage as u64) << 56 | (class as u64 & 0xff_ffff) << 32 | block as u64);
    rng
}

/// `count` distinct indices below `n`, in the order drawn (partial Fisher–Yates).
pub(crate) fn sample_without_replacement(rng: &mut impl Rng, n: usize, count: usize) -> Vec<usize> {
    debug_assert!(count <= n);
    let mut pool: Vec<usize> = (0..n).collect();
    for i in 0..count {
        pool.swap(i, rng.random_range(i..n));
    }
    pool.truncate(count);
    pool
}

/// A random permutation of `0..n`.
pub(crate) fn permutation(rng: &mut impl Rng, n: usize) -> Vec<usize> {
    sample_without_replacement(rng, n, n)
}

/// One index with probability proportional to `weights` (`total` is their sum, > 0).
///
/// Rounding may carry the draw past the last positive weight; that last one is then taken.
pub(crate) fn draw_weighted(rng: &mut impl Rng, weights: &[f64], total: f64) -> Option<usize> {
    let mut target = rng.random::<f64>() * total;
    let mut last = None;
    for (i, &w) in weights.iter().enumerate() {
        if w > 0.0 {
            last = Some(i);
            target -= w;
            if target < 0.0 {
                break;
            }
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_reproducible_and_distinct() {
        let draw = |stage, class, block| stream(7, stage, class, block).random::<u64>();
        assert_eq!(draw(Stage::Seeds, 1, 2), draw(Stage::Seeds, 1, 2));
        assert_ne!(draw(Stage::Seeds, 1, 2), draw(Stage::Seeds, 2, 1));
        assert_ne!(draw(Stage::Seeds, 1, 2), draw(Stage::Pilot, 1, 2));
    }

    #[test]
    fn sampling_without_replacement_never_repeats() {
        let mut rng = stream(1, Stage::Landmarks, 0, 0);
        for n in [1, 2, 7, 50] {
            let mut picked = sample_without_replacement(&mut rng, n, n);
            picked.sort_unstable();
            assert_eq!(picked, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn weighted_draws_follow_the_weights_and_skip_zeros() {
        let (weights, mut counts) = ([0.0, 1.0, 3.0, 0.0], [0usize; 4]);
        let mut rng = stream(3, Stage::Proposals, 0, 0);
        for _ in 0..4000 {
            counts[draw_weighted(&mut rng, &weights, 4.0).unwrap()] += 1;
        }
        assert_eq!((counts[0], counts[3]), (0, 0));
        assert!((counts[2] as f64 / 4000.0 - 0.75).abs() < 0.03);
        assert_eq!(draw_weighted(&mut rng, &[0.0], 1.0), None);
    }
}
