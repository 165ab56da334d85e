//! What a fit from a source needs: set by the pilot, the block and the dictionaries, not by N.

use super::survey::Pilot;
use super::tally::Tally;
use super::{StreamFit, StreamParams};
use crate::blocks::Order;
use crate::error::LkdlError;
use crate::map::fastfood::FastfoodParams;
use crate::map::fourier::FourierParams;
use crate::map::plan::{cut_landmarks, nystroem_stages};
use crate::map::{NystroemParams, cross_bytes, tile_width};
use crate::matrix::{BLOCK, matrix_bytes};
use crate::memory::{MemoryPlan, StageMemory};
use crate::pipeline::MapParams;
use crate::real::Real;

/// The sizes that the need of a fit depends on.
pub(super) struct Sizes<'a> {
    pub(super) n_pilot: usize,
    /// Samples beside the pilot that are held out.
    pub(super) n_held_out: usize,
    pub(super) tally: &'a Tally,
}

impl<'a, T: Real> From<&'a Pilot<T>> for Sizes<'a> {
    fn from(pilot: &'a Pilot<T>) -> Self {
        let (n_pilot, n_held_out) = (pilot.samples.ncols(), pilot.held_out.ncols());
        Self { n_pilot, n_held_out, tally: &pilot.tally }
    }
}

impl<T: Real> StreamParams<T> {
    /// What a fit from this pilot's source needs, stage by stage, blocks and pilot included. With
    /// an automatic landmark count this is the most it can come to.
    pub fn stream_plan(&self, pilot: &Pilot<T>) -> Result<MemoryPlan, LkdlError> {
        self.plan_of(&Sizes::from(pilot))
    }

    /// [`StreamParams::stream_plan`] of a fit that goes on from where it was kept.
    pub fn resumed_plan(&self, fit: &StreamFit<T>) -> Result<MemoryPlan, LkdlError> {
        self.plan_of(&fit.sizes())
    }

    fn plan_of(&self, sizes: &Sizes<'_>) -> Result<MemoryPlan, LkdlError> {
        self.drift.check(&self.map)?;
        let map = self.stream_map(sizes)?;
        self.plan_streaming(&map, sizes, rayon::current_num_threads())
    }

    /// The map's parameters, adapted to the budget where they leave room for it.
    pub(super) fn stream_map(&self, sizes: &Sizes<'_>) -> Result<MapParams, LkdlError> {
        let (MapParams::Nystroem(params), Some(budget)) = (&self.map, self.memory) else {
            return Ok(self.map.clone());
        };
        let looked_at = matrix_bytes::<T>(sizes.tally.n_features, sizes.n_pilot + sizes.n_held_out);
        let left = budget.saturating_sub(2 * looked_at);
        let mut within = params.clone();
        within.memory = Some(params.memory.unwrap_or(left).min(left));
        let fits = |params: &NystroemParams| {
            let map = MapParams::Nystroem(params.clone());
            // for one thread, so that the model does not depend on how many there are
            Ok(self.plan_streaming(&map, sizes, 1)?.check(budget).is_ok())
        };
        Ok(MapParams::Nystroem(cut_landmarks(&within, sizes.n_pilot, fits)?))
    }

    pub(super) fn plan_streaming(
        &self,
        map: &MapParams,
        sizes: &Sizes<'_>,
        threads: usize,
    ) -> Result<MemoryPlan, LkdlError> {
        let Tally { n_blocks, n_features: p, largest_block, ref class_counts, .. } = *sizes.tally;
        let pilot = matrix_bytes::<T>(p, sizes.n_pilot);
        let block = matrix_bytes::<T>(p, largest_block);
        let gathers = sizes.n_pilot < sizes.tally.n_samples;
        let mut stages = vec![StageMemory { stage: "survey", bytes: 2 * pilot + 3 * block }];
        if gathers && self.prepare.n_learned() > 0 {
            stages.push(StageMemory { stage: "moments", bytes: self.moments_bytes(sizes) });
        }
        stages.push(StageMemory { stage: "prepare", bytes: 2 * pilot });
        let (k, held) = match map {
            MapParams::None => (p, 0),
            MapParams::Nystroem(params) => {
                let (mut more, k) = nystroem_stages::<T>(params, p, sizes.n_pilot, pilot, threads)?;
                // the map itself and its tiles, which stay while blocks come and go
                let virtual_samples = matrix_bytes::<T>(k, sizes.n_pilot);
                let held = more.last().map_or(0, |stage| stage.bytes) - pilot - virtual_samples;
                let c = params.landmarks().limit(sizes.n_pilot)?;
                if gathers {
                    self.gather_for_map(params, sizes, c, threads, &mut more);
                }
                stages.extend(more);
                (k, held + self.growth_bytes(p, c, k, largest_block, threads))
            }
            MapParams::Fourier(FourierParams { rank, .. })
            | MapParams::Fastfood(FastfoodParams { rank, .. }) => {
                let F = matrix_bytes::<T>(*rank, sizes.n_pilot);
                stages.push(StageMemory { stage: "map", bytes: pilot + F });
                (*rank, matrix_bytes::<T>(p, *rank))
            }
        };
        // held-out samples wait, and are prepared and mapped
        let held_out = 2 * matrix_bytes::<T>(p, sizes.n_held_out);
        let held_out = held_out + matrix_bytes::<T>(k, sizes.n_held_out);
        stages.iter_mut().for_each(|stage| stage.bytes += held_out);
        let k = k + self.drift.most_grown();
        let learner = self.method.learner.feeding_bytes(k, n_blocks);
        let learners = learner.saturating_mul(class_counts.len() as u64);
        // a block as it came, prepared, mapped, and sorted by class; the next one as it comes
        let blocks = 3 * block + 2 * matrix_bytes::<T>(k, largest_block);
        let learn = held + blocks + learners;
        stages.push(StageMemory { stage: "learn", bytes: learn });
        if self.drift.most_grown() > 0 {
            // the map as it was, and as it will be
            let grow = held + self.drift.growing_bytes::<T>(p, k, largest_block);
            stages.push(StageMemory { stage: "grow", bytes: learn + grow });
        }
        Ok(MemoryPlan { stages })
    }

    /// Bytes of the pass for `standardize`: the pilot, a block as it came and prepared, the next one,
    /// and sums of p features in threes.
    fn moments_bytes(&self, sizes: &Sizes<'_>) -> u64 {
        let Tally { n_features: p, largest_block, n_blocks, .. } = *sizes.tally;
        let samples = matrix_bytes::<T>(p, sizes.n_pilot) + 3 * matrix_bytes::<T>(p, largest_block);
        let of_block = matrix_bytes::<f64>(p, largest_block.div_ceil(BLOCK));
        samples + of_block + matrix_bytes::<f64>(3 * p, nodes(n_blocks))
    }

    /// Adds the passes that the map needs to its own stages, and to these what is held meanwhile.
    fn gather_for_map(
        &self,
        params: &NystroemParams,
        sizes: &Sizes<'_>,
        c: usize,
        threads: usize,
        stages: &mut Vec<StageMemory>,
    ) {
        let Tally { n_features: p, largest_block, n_blocks, .. } = *sizes.tally;
        let (pilot, points) = (matrix_bytes::<T>(p, sizes.n_pilot), matrix_bytes::<T>(p, c));
        let blocks = 3 * matrix_bytes::<T>(p, largest_block);
        let mut passes = Vec::new();
        if params.landmarks().draws_by_blocks() {
            // the pilot twice; candidates, those of a block with their keys, and landmarks
            let of_block = matrix_bytes::<T>(p, c.min(largest_block))
                + matrix_bytes::<[f64; 3]>(1, largest_block);
            let bytes = 2 * pilot + blocks + 2 * points + of_block;
            passes.push(StageMemory { stage: "draw", bytes });
        }
        if params.needs_sums() {
            let sums = matrix_bytes::<f64>(c, c + 1);
            // sums over the blocks so far, and the next one's while it is made
            let sums = sums.saturating_mul(nodes(n_blocks) as u64) + cross_bytes::<T>(c, threads);
            let bytes = pilot + blocks + 3 * points + sums;
            passes.push(StageMemory { stage: "sums", bytes });
        }
        if passes.is_empty() {
            return;
        }
        for StageMemory { stage, bytes } in stages.iter_mut() {
            *bytes += match *stage {
                // as it came, and prepared
                "landmarks" => pilot,
                // what was gathered
                "factor" => points + matrix_bytes::<f64>(c, c + 1),
                _ => 0,
            };
        }
        stages.splice(1..1, passes);
    }

    /// What a map of c landmarks and rank k comes to when it has grown as far as it may: more
    /// landmarks, a larger P, wider tiles.
    fn growth_bytes(&self, p: usize, c: usize, k: usize, block: usize, threads: usize) -> u64 {
        let more = self.drift.most_grown();
        let projection = |c: usize, k: usize| matrix_bytes::<T>(c, k) + matrix_bytes::<f64>(c, k);
        let width = tile_width::<T>(c + more, None);
        let n_tiles = threads.min(block.div_ceil(width)) as u64;
        2 * matrix_bytes::<T>(p, more) + projection(c + more, k + more) - projection(c, k)
            + n_tiles * matrix_bytes::<T>(more, width)
    }
}

/// Sums that are held at once while those of so many blocks are added up, and the next block's.
fn nodes(n_blocks: usize) -> usize {
    Order::of(n_blocks).n_held(n_blocks) + 1
}
