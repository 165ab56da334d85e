//! Landmarks drawn by the kernel's diagonal from samples that come in blocks, on one machine or many.
//!
//! The c smallest of the keys E_i/w_i, E_i ~ Exp(1), are c draws without replacement by the weights
//! w_i = K_ii² or K_ii. A block keeps its c smallest, and of two blocks the c smallest of both: the
//! same landmarks whatever the blocks and whoever saw them. E_i comes from the sampler's stream at the
//! sample's own number, so that these are also the landmarks that the sampler would draw from the same
//! samples in memory, if no two are equal.
//!
//! Landmarks never repeat. Of equal samples the smallest key counts: to know which of them came first,
//! as the sampler in memory does, all would have to be held. So a point that is there twice is twice
//! as likely, and is taken once. O(np) for a block of n samples, c points of memory.

use super::draw::{exponential, landmark_stream};
use super::{LandmarkCount, LandmarkParams, Landmarks, Sampler};
use crate::blocks::Add;
use crate::distinct::hash;
use crate::error::{LkdlError, Warning};
use crate::kernel::Kernel;
use crate::matrix::{Contiguous, col};
use crate::real::Real;
use faer::{Mat, MatRef};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// How landmarks are drawn from all samples.
#[derive(Debug, Clone, PartialEq)]
pub struct DiagonalDraw {
    /// κ.
    pub kernel: Kernel,
    /// By K_ii² (the paper) rather than K_ii (its program).
    pub squared: bool,
    /// c.
    pub count: usize,
    /// Seed of the draws.
    pub seed: u64,
}

/// A sample that may be a landmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate<T> {
    /// E_i/w_i, or a number that is in the same order.
    pub key: f64,
    /// Its number among all samples.
    pub index: usize,
    /// The sample.
    pub point: Vec<T>,
}

/// The candidates of the smallest keys, in their order, no two of them equal.
#[derive(Debug, Clone, PartialEq)]
pub struct Reservoir<T> {
    count: usize,
    kept: Vec<Candidate<T>>,
}

impl LandmarkParams {
    /// Whether the sampler can draw from samples that no memory holds.
    pub(crate) fn draws_by_blocks(&self) -> bool {
        matches!(self.sampler, Sampler::Diagonal { .. })
    }

    /// How the sampler draws from samples that no memory holds, if it can: as many landmarks as for
    /// these samples, a pilot of all.
    pub(crate) fn diagonal_draw<T: Real>(
        &self,
        kernel: &Kernel,
        pilot: MatRef<'_, T>,
    ) -> Result<Option<DiagonalDraw>, LkdlError> {
        let Sampler::Diagonal { squared } = self.sampler else { return Ok(None) };
        self.check(kernel, pilot)?;
        let limit = self.limit(pilot.ncols())?;
        let count = match self.n_landmarks {
            LandmarkCount::Auto { trace_error, .. } => {
                let X = Contiguous::new(pilot);
                self.enough_pivots(kernel, X.columns(), limit, trace_error)?.points.ncols()
            }
            _ => limit,
        };
        Ok(Some(DiagonalDraw { kernel: kernel.clone(), squared, count, seed: self.seed }))
    }
}

impl DiagonalDraw {
    /// The candidates among these samples, the first of which is number `first` of all. A sample
    /// without weight is none.
    pub fn of<T: Real>(
        &self,
        first: usize,
        samples: MatRef<'_, T>,
    ) -> Result<Reservoir<T>, LkdlError> {
        let diagonal = self.kernel.diagonal(samples)?;
        let mut rng = landmark_stream(self.seed, first);
        let mut order: Vec<(f64, usize)> = Vec::with_capacity(diagonal.len());
        for (i, value) in diagonal.into_iter().enumerate() {
            let drawn = exponential(&mut rng);
            if self.squared && value != 0.0 {
                // the root of the key, which is in the same order and does not overflow
                order.push((drawn.sqrt() / value.abs(), i));
            } else if value > 0.0 {
                order.push((drawn / value, i));
            }
        }
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let X = Contiguous::new(samples);
        let X = X.columns();
        let candidate = |(key, i)| Candidate { key, index: first + i, point: col(X, i).to_vec() };
        Ok(Reservoir::of_sorted(self.count, order.into_iter().map(candidate)))
    }
}

impl<T: Real> Reservoir<T> {
    /// The `count` candidates of the smallest keys, of equal keys those that come first.
    pub fn new(count: usize, mut candidates: Vec<Candidate<T>>) -> Self {
        candidates.sort_unstable_by(Candidate::order);
        Self::of_sorted(count, candidates)
    }

    fn of_sorted(count: usize, candidates: impl IntoIterator<Item = Candidate<T>>) -> Self {
        let mut kept: Vec<Candidate<T>> = Vec::new();
        let mut by_hash: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for candidate in candidates {
            if kept.len() == count {
                break;
            }
            let alike = by_hash.entry(hash(&candidate.point)).or_default();
            if alike.iter().all(|&j| kept[j].point != candidate.point) {
                alike.push(kept.len());
                kept.push(candidate);
            }
        }
        Self { count, kept }
    }

    /// How many are wanted.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The candidates, the smallest key first.
    pub fn candidates(&self) -> &[Candidate<T>] {
        &self.kept
    }

    /// The landmarks, once all samples have been seen; `None` if no sample has weight.
    pub fn landmarks(&self) -> Option<Landmarks<T>> {
        let n_features = self.kept.first()?.point.len();
        let (wanted, got) = (self.count, self.kept.len());
        let warnings =
            if got < wanted { vec![Warning::FewerLandmarks { wanted, got }] } else { Vec::new() };
        let points = Mat::from_fn(n_features, got, |t, j| self.kept[j].point[t]);
        let indices = Some(self.kept.iter().map(|candidate| candidate.index).collect());
        Some(Landmarks { points, indices, trace_error: None, warnings })
    }
}

impl<T> Candidate<T> {
    fn order(&self, other: &Self) -> Ordering {
        self.key.total_cmp(&other.key).then(self.index.cmp(&other.index))
    }
}

impl<T: Real> Add for Reservoir<T> {
    fn add(&mut self, later: Self) {
        let mut all = std::mem::take(&mut self.kept);
        all.extend(later.kept);
        *self = Self::new(self.count, all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_matrix;

    fn draw(squared: bool, count: usize, seed: u64) -> DiagonalDraw {
        DiagonalDraw { kernel: Kernel::Linear, squared, count, seed }
    }

    /// Candidates of all samples, from blocks of this width, the last block first.
    fn in_blocks<T: Real>(draw: &DiagonalDraw, X: &Mat<T>, width: usize) -> Reservoir<T> {
        let mut all = Reservoir::new(draw.count, Vec::new());
        let firsts: Vec<usize> = (0..X.ncols()).step_by(width).collect();
        for first in firsts.into_iter().rev() {
            let n = width.min(X.ncols() - first);
            all.add(draw.of(first, X.subcols(first, n)).unwrap());
        }
        all
    }

    fn blocks_draw_what_the_sampler_draws_in_memory_in<T: Real>() {
        let X = random_matrix::<T>(3, 500, 6);
        for squared in [false, true] {
            let params = LandmarkParams {
                sampler: Sampler::Diagonal { squared },
                n_landmarks: LandmarkCount::Exact(40),
                seed: 9,
                memory: None,
            };
            let in_memory = params.select(&Kernel::Linear, X.as_ref()).unwrap();
            let draw = params.diagonal_draw(&Kernel::Linear, X.as_ref()).unwrap().unwrap();
            for width in [1, 7, 64, 500] {
                let landmarks = in_blocks(&draw, &X, width).landmarks().unwrap();
                assert_eq!(landmarks.indices, in_memory.indices, "{squared} {width}");
                assert_eq!(landmarks.points, in_memory.points);
                assert!(landmarks.warnings.is_empty());
            }
        }
    }

    #[test]
    fn blocks_draw_what_the_sampler_draws_in_memory() {
        blocks_draw_what_the_sampler_draws_in_memory_in::<f64>();
        blocks_draw_what_the_sampler_draws_in_memory_in::<f32>();
    }

    #[test]
    fn frequencies_follow_the_weights() {
        const DRAWS: u64 = 4000;
        // K_ii of 1, 0, 2 and 5, in two blocks
        let X = Mat::from_fn(1, 4, |_, i| [1.0, 0.0, 2.0, 5.0f64][i].sqrt());
        for (squared, weights) in [(false, [1.0, 0.0, 2.0, 5.0]), (true, [1.0, 0.0, 4.0, 25.0])] {
            let total: f64 = weights.iter().sum();
            let (mut first, mut second) = ([0.0; 4], [0.0; 4]);
            for seed in 0..DRAWS {
                let drawn = in_blocks(&draw(squared, 2, seed), &X, 3);
                first[drawn.candidates()[0].index] += 1.0 / DRAWS as f64;
                second[drawn.candidates()[1].index] += 1.0 / DRAWS as f64;
            }
            for i in 0..4 {
                let others = |j: usize| weights[j] / total * weights[i] / (total - weights[j]);
                let exact: f64 = (0..4).filter(|&j| j != i).map(others).sum();
                // four deviations of a share of 4000 draws are at most 0.032
                assert!((first[i] - weights[i] / total).abs() < 0.032, "{squared} {first:?}");
                assert!((second[i] - exact).abs() < 0.032, "{squared} {second:?}");
            }
        }
    }

    #[test]
    fn samples_without_weight_and_repeats_are_never_drawn() {
        // 60 points, five times each, a third of them zero
        let base = random_matrix::<f64>(2, 60, 4);
        let X = Mat::from_fn(2, 300, |t, i| if i % 3 == 0 { 0.0 } else { base[(t, i % 60)] });
        for width in [1, 45, 60, 300] {
            let all = in_blocks(&draw(true, 50, 3), &X, width);
            assert_eq!(all, in_blocks(&draw(true, 50, 3), &X, 300), "{width}");
            let landmarks = all.landmarks().unwrap();
            let chosen = landmarks.indices.unwrap();
            let mut points: Vec<usize> = chosen.iter().map(|i| i % 60).collect();
            points.sort_unstable();
            points.dedup();
            assert_eq!(points.len(), 40, "every point with weight, once");
            assert!(chosen.iter().all(|i| i % 3 != 0));
            assert_eq!(landmarks.warnings, [Warning::FewerLandmarks { wanted: 50, got: 40 }]);
        }
        let nothing = Mat::<f64>::zeros(2, 5);
        assert!(in_blocks(&draw(false, 3, 1), &nothing, 2).landmarks().is_none());
    }

    #[test]
    fn huge_diagonals_do_not_overflow_and_negative_ones_have_no_weight() {
        let X = Mat::from_fn(1, 3, |_, i| 1e150 * (1.0 + i as f64));
        let drawn = draw(true, 3, 2).of(0, X.as_ref()).unwrap();
        assert!(drawn.candidates().iter().all(|candidate| candidate.key > 0.0));
        let kernel = Kernel::Sigmoid { scale: 1.0, offset: -1.0 };
        let samples = Mat::from_fn(1, 2, |_, i| 2.0 * i as f64);
        for (squared, count) in [(false, 1), (true, 2)] {
            let draw = DiagonalDraw { kernel: kernel.clone(), ..draw(squared, 2, 2) };
            assert_eq!(draw.of(0, samples.as_ref()).unwrap().candidates().len(), count);
        }
    }
}
