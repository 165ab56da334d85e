//! What a fit from a source needs: set by the pilot, the block and the dictionaries, not by N.

use super::StreamParams;
use super::survey::Pilot;
use super::tally::Tally;
use crate::error::LkdlError;
use crate::map::fastfood::FastfoodParams;
use crate::map::fourier::FourierParams;
use crate::map::plan::{cut_landmarks, nystroem_stages};
use crate::map::tile_width;
use crate::matrix::matrix_bytes;
use crate::memory::{MemoryPlan, StageMemory};
use crate::pipeline::MapParams;
use crate::real::Real;

/// The sizes that the need of a fit depends on.
pub(super) struct Sizes<'a> {
    pub(super) n_pilot: usize,
    pub(super) tally: &'a Tally,
}

impl<'a, T: Real> From<&'a Pilot<T>> for Sizes<'a> {
    fn from(pilot: &'a Pilot<T>) -> Self {
        Self { n_pilot: pilot.samples.ncols(), tally: &pilot.tally }
    }
}

impl<T: Real> StreamParams<T> {
    /// What a fit from this pilot's source needs, stage by stage, blocks and pilot included. With
    /// an automatic landmark count this is the most it can come to.
    pub fn stream_plan(&self, pilot: &Pilot<T>) -> Result<MemoryPlan, LkdlError> {
        self.drift.check(&self.map)?;
        let sizes = Sizes::from(pilot);
        let map = self.stream_map(&sizes)?;
        self.plan_streaming(&map, &sizes, rayon::current_num_threads())
    }

    /// The map's parameters, adapted to the budget where they leave room for it.
    pub(super) fn stream_map(&self, sizes: &Sizes<'_>) -> Result<MapParams, LkdlError> {
        let (MapParams::Nystroem(params), Some(budget)) = (&self.map, self.memory) else {
            return Ok(self.map.clone());
        };
        let pilot = matrix_bytes::<T>(sizes.tally.n_features, sizes.n_pilot);
        let left = budget.saturating_sub(2 * pilot);
        let mut within = params.clone();
        within.memory = Some(params.memory.unwrap_or(left).min(left));
        let fits = |params: &crate::map::NystroemParams| {
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
        let mut stages = vec![
            StageMemory { stage: "survey", bytes: 2 * (pilot + block) },
            StageMemory { stage: "prepare", bytes: 2 * pilot },
        ];
        let (k, held) = match map {
            MapParams::None => (p, 0),
            MapParams::Nystroem(params) => {
                let (more, k) = nystroem_stages::<T>(params, p, sizes.n_pilot, pilot, threads)?;
                // the map itself and its tiles, which stay while blocks come and go
                let virtual_samples = matrix_bytes::<T>(k, sizes.n_pilot);
                let held = more.last().map_or(0, |stage| stage.bytes) - pilot - virtual_samples;
                stages.extend(more);
                let c = params.landmarks().limit(sizes.n_pilot)?;
                (k, held + self.growth_bytes(p, c, k, largest_block, threads))
            }
            MapParams::Fourier(FourierParams { rank, .. })
            | MapParams::Fastfood(FastfoodParams { rank, .. }) => {
                let F = matrix_bytes::<T>(*rank, sizes.n_pilot);
                stages.push(StageMemory { stage: "map", bytes: pilot + F });
                (*rank, matrix_bytes::<T>(p, *rank))
            }
        };
        let k = k + self.drift.most_grown();
        let learner = self.method.learner.feeding_bytes(k, n_blocks);
        let learners = learner.saturating_mul(class_counts.len() as u64);
        // a block as it came, prepared, mapped, and sorted by class
        let blocks = 2 * block + 2 * matrix_bytes::<T>(k, largest_block);
        let learn = held + blocks + learners;
        stages.push(StageMemory { stage: "learn", bytes: learn });
        if self.drift.most_grown() > 0 {
            // the map as it was, and as it will be
            let grow = held + self.drift.growing_bytes::<T>(p, k, largest_block);
            stages.push(StageMemory { stage: "grow", bytes: learn + grow });
        }
        Ok(MemoryPlan { stages })
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
