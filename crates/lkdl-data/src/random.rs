//! Seeded streams of random numbers, one per (use, index), so that no draw depends on another.

use chacha20::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};

/// What a stream is used for. Numbered apart from the stages of the library, so that one seed may
/// serve both without a draw being used twice.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(crate) enum Stage {
    Noise = 0x81,
    MissingPixels = 0x82,
    Split = 0x83,
    Folds = 0x84,
    Shifts = 0x85,
}

/// The stream of one (stage, index).
pub(crate) fn stream(seed: u64, stage: Stage, index: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((stage as u64) << 56 | index as u64);
    rng
}

/// Moves `count` entries, drawn without replacement, to the front (partial Fisher–Yates).
pub(crate) fn draw_to_front(rng: &mut impl Rng, pool: &mut [usize], count: usize) {
    for i in 0..count {
        pool.swap(i, rng.random_range(i..pool.len()));
    }
}

/// Two independent standard normals (Box–Muller).
pub(crate) fn normal_pair(rng: &mut impl Rng) -> (f64, f64) {
    // 1 − u lies in (0, 1], where the logarithm is finite
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    let (sin, cos) = (std::f64::consts::TAU * rng.random::<f64>()).sin_cos();
    (radius * cos, radius * sin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_have_the_moments_of_the_normal_law() {
        let mut rng = stream(1, Stage::Noise, 0);
        let (mut sums, mut cross, n) = ([0.0f64; 4], 0.0, 40_000);
        for _ in 0..n {
            let (a, b) = normal_pair(&mut rng);
            for v in [a, b] {
                for (power, sum) in sums.iter_mut().enumerate() {
                    *sum += v.powi(power as i32 + 1) / f64::from(2 * n);
                }
            }
            cross += a * b / f64::from(n);
        }
        for (moment, expected) in sums.iter().zip([0.0, 1.0, 0.0, 3.0]) {
            assert!((moment - expected).abs() < 0.12, "{sums:?}");
        }
        assert!(sums[0].abs() < 0.02 && (sums[1] - 1.0).abs() < 0.02 && cross.abs() < 0.02);
    }

    #[test]
    fn streams_are_reproducible_and_distinct() {
        let draw = |seed, stage, index| stream(seed, stage, index).random::<u64>();
        assert_eq!(draw(1, Stage::Split, 2), draw(1, Stage::Split, 2));
        assert_ne!(draw(1, Stage::Split, 2), draw(1, Stage::Folds, 2));
        assert_ne!(draw(1, Stage::Split, 2), draw(1, Stage::Split, 3));
        assert_ne!(draw(1, Stage::Split, 2), draw(2, Stage::Split, 2));
    }
}
