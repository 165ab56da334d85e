//! Random draws of samples by weight.
//!
//! Without replacement by exponential keys: the c smallest E_i/w_i with E_i ~ Exp(1), which is the
//! law of drawing one after the other; O(N). With replacement as the published program does it,
//! for comparisons only: the inverse of a cumulative sum, exact or on a grid.

use crate::random::{Stage, stream};
use chacha20::ChaCha8Rng;
use rand::{Rng, RngExt};

/// Points of the published program's inverse-distribution grid.
const GRID: usize = 10_000;

/// `count` distinct indices, the first drawn first; fewer if fewer weights are positive.
pub(super) fn without_replacement(rng: &mut impl Rng, weights: &[f64], count: usize) -> Vec<usize> {
    let mut keys: Vec<(f64, usize)> = Vec::with_capacity(weights.len());
    for (i, &w) in weights.iter().enumerate() {
        // One draw per sample, used or not: the others' keys do not depend on this weight.
        let drawn = exponential(rng);
        if w > 0.0 {
            keys.push((drawn / w, i));
        }
    }
    let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if count < keys.len() {
        keys.select_nth_unstable_by(count, order);
        keys.truncate(count);
    }
    keys.sort_unstable_by(order);
    keys.into_iter().map(|(_, i)| i).collect()
}

/// E ~ Exp(1).
pub(super) fn exponential(rng: &mut impl Rng) -> f64 {
    -(-rng.random::<f64>()).ln_1p()
}

/// The draws of landmarks from sample number `first` on: every sample has one of its own.
pub(super) fn landmark_stream(seed: u64, first: usize) -> ChaCha8Rng {
    let mut rng = stream(seed, Stage::Landmarks, 0, 0);
    rng.set_word_pos(WORDS_PER_DRAW * first as u128);
    rng
}

/// 32-bit words of a number between 0 and 1.
const WORDS_PER_DRAW: u128 = 2;

/// Cumulative sums of weights, for many draws with replacement.
pub(super) struct Cumulative {
    sums: Vec<f64>,
}

impl Cumulative {
    /// `None` if no weight is positive.
    pub(super) fn new(weights: &[f64]) -> Option<Self> {
        let mut total = 0.0;
        let sums: Vec<f64> = weights
            .iter()
            .map(|w| {
                total += w.max(0.0);
                total
            })
            .collect();
        (total > 0.0).then_some(Self { sums })
    }

    /// One index, with probability proportional to its weight.
    pub(super) fn draw(&self, rng: &mut impl Rng) -> usize {
        let total = self.sums.last().copied().unwrap_or_default();
        let target = rng.random::<f64>() * total;
        // The first sum above the target belongs to a positive weight; rounding may carry the
        // target to the total itself, which the last positive weight reaches first.
        match self.sums.partition_point(|&s| s <= target) {
            i if i < self.sums.len() => i,
            _ => self.sums.partition_point(|&s| s < total),
        }
    }
}

/// The published program's draws for diagonal and column-norm weights: the weights as a
/// piecewise linear density on [0, N−1] tabulated at 10,000 points, its distribution inverted by
/// interpolation, the position rounded. The first and the last index get half their weight.
pub(super) fn on_grid(rng: &mut impl Rng, weights: &[f64], count: usize) -> Vec<usize> {
    let last = weights.len() - 1;
    let step = last as f64 / (GRID - 1) as f64;
    let density = |g: usize| {
        let position = g as f64 * step;
        let left = (position as usize).min(last);
        let share = position - left as f64;
        (1.0 - share) * weights[left] + share * weights[(left + 1).min(last)]
    };
    let trapezoids: Vec<f64> = (1..GRID).map(|g| 0.5 * (density(g - 1) + density(g))).collect();
    let Some(cumulative) = Cumulative::new(&trapezoids) else { return vec![0; count] };
    let total = cumulative.sums[GRID - 2];
    (0..count)
        .map(|_| {
            let target = rng.random::<f64>() * total;
            let cell = cumulative.sums.partition_point(|&s| s <= target).min(GRID - 2);
            let below = if cell == 0 { 0.0 } else { cumulative.sums[cell - 1] };
            let share = (target - below) / (cumulative.sums[cell] - below).max(f64::MIN_POSITIVE);
            (((cell as f64 + share.clamp(0.0, 1.0)) * step).round() as usize).min(last)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 20_000;

    fn frequencies(n: usize, mut draw: impl FnMut(&mut ChaCha8Rng) -> usize) -> Vec<f64> {
        let mut rng = stream(5, Stage::Landmarks, 0, 0);
        let mut counts = vec![0.0; n];
        for _ in 0..DRAWS {
            counts[draw(&mut rng)] += 1.0 / DRAWS as f64;
        }
        counts
    }

    #[test]
    fn first_and_second_draws_follow_the_weights() {
        let weights = [1.0, 0.0, 2.0, 5.0];
        let first = frequencies(4, |rng| without_replacement(rng, &weights, 1)[0]);
        let second = frequencies(4, |rng| without_replacement(rng, &weights, 2)[1]);
        let exact = |i: usize| -> f64 {
            let others = |j: usize| weights[j] / 8.0 * weights[i] / (8.0 - weights[j]);
            (0..4).filter(|&j| j != i).map(others).sum()
        };
        for i in 0..4 {
            assert!((first[i] - weights[i] / 8.0).abs() < 0.015, "{first:?}");
            assert!((second[i] - exact(i)).abs() < 0.015, "{second:?}");
        }
    }

    #[test]
    fn zero_weights_are_never_drawn_and_too_few_positive_ones_give_fewer() {
        let mut rng = stream(5, Stage::Landmarks, 0, 0);
        let mut drawn = without_replacement(&mut rng, &[0.0, 1e-300, 0.0, 1e300, -1.0], 4);
        drawn.sort_unstable();
        assert_eq!(drawn, [1, 3]);
        assert!(Cumulative::new(&[0.0, 0.0]).is_none());
        let both_ends_zero = Cumulative::new(&[0.0, 2.0, 0.0]).unwrap();
        assert!((0..100).all(|_| both_ends_zero.draw(&mut rng) == 1));
    }

    #[test]
    fn a_sample_has_its_own_draw_wherever_one_begins() {
        let all: Vec<f64> = {
            let mut rng = stream(7, Stage::Landmarks, 0, 0);
            (0..100).map(|_| exponential(&mut rng)).collect()
        };
        for first in [0, 1, 7, 8, 63] {
            let mut rng = landmark_stream(7, first);
            assert!(all[first..].iter().all(|drawn| *drawn == exponential(&mut rng)), "{first}");
        }
    }

    #[test]
    fn cumulative_draws_follow_the_weights() {
        let cumulative = Cumulative::new(&[3.0, 0.0, 1.0]).unwrap();
        let share = frequencies(3, |rng| cumulative.draw(rng));
        assert!((share[0] - 0.75).abs() < 0.015 && share[1] == 0.0, "{share:?}");
    }

    #[test]
    fn on_the_grid_the_first_and_last_index_have_half_weight() {
        let share = frequencies(5, |rng| on_grid(rng, &[1.0; 5], 1)[0]);
        for (share, exact) in share.iter().zip([0.125, 0.25, 0.25, 0.25, 0.125]) {
            assert!((share - exact).abs() < 0.015, "{share} {exact}");
        }
        assert_eq!(on_grid(&mut stream(5, Stage::Landmarks, 0, 0), &[2.0], 3), [0, 0, 0]);
    }
}
