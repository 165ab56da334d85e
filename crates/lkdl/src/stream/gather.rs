//! Passes over all samples, before those that learn, for what the pilot alone would get wrong.
//!
//! | pass | for | gives |
//! |---|---|---|
//! | moments | each `standardize` step | mean and deviation of every feature ([`Moments`]) |
//! | draw | the diagonal sampler | landmarks by weight ([`Reservoir`]) |
//! | sums | the optimal variant, a rank by trace, a centred map | P, its rank and the mean ([`MapSums`]) |
//!
//! Each is made only where the parameters ask for it, in this order, and none if the pilot holds all
//! samples. The other samplers choose from the pilot: uniformly, which a uniform sample of a uniform
//! sample is too, or by looking at all of them at once. What is gathered adds, so that [`Gather`] may
//! be one machine with a source or many with a part each, to the same bits for the same blocks.

use super::tally::Tally;
use super::whole::{chosen, panel};
use super::{Pilot, StreamParams, Whole};
use crate::blocks::{Add, BlockSums, Order, Source, for_each_block};
use crate::error::LkdlError;
use crate::kernel::Panel;
use crate::map::MapSums;
use crate::monitor::Monitor;
use crate::pipeline::MapParams;
use crate::prepare::{Moments, Preparation};
use crate::real::Real;
use crate::sampling::{DiagonalDraw, Reservoir};
use faer::{Mat, MatRef};

/// Whoever can go through all samples: each of these is one pass. Sums over blocks are added in the
/// [`Order`] of their number; blocks without samples count, and have no sum.
pub trait Gather<T: Real> {
    /// Moments of all samples after these steps.
    fn moments(&mut self, prepared: &Preparation<T>) -> Result<Moments, LkdlError>;

    /// The candidates for landmarks among all samples.
    fn candidates(
        &mut self,
        prepared: &Preparation<T>,
        draw: &DiagonalDraw,
    ) -> Result<Reservoir<T>, LkdlError>;

    /// Sums over all samples for the landmarks of `panel`.
    fn map_sums(
        &mut self,
        prepared: &Preparation<T>,
        panel: &Panel<T>,
    ) -> Result<MapSums, LkdlError>;
}

impl<T: Real> StreamParams<T> {
    /// What must be known of all samples before the fit can start, from `source`: no pass, or one for
    /// each thing.
    pub fn gather(
        &self,
        pilot: &Pilot<T>,
        source: &mut dyn Source<T>,
        monitor: &dyn Monitor,
    ) -> Result<Whole<T>, LkdlError> {
        self.gather_by(pilot, &mut Passes { source, first: &pilot.tally, monitor })
    }

    /// [`StreamParams::gather`] by someone else.
    pub fn gather_by(
        &self,
        pilot: &Pilot<T>,
        samples: &mut dyn Gather<T>,
    ) -> Result<Whole<T>, LkdlError> {
        let map = self.checked_map(pilot)?;
        let mut whole = Whole::default();
        if pilot.is_whole() {
            return Ok(whole);
        }
        let n_features = pilot.tally.n_features;
        for _ in 0..self.prepare.n_learned() {
            let so_far = self.prepare.by_moments(n_features, &whole.moments)?;
            whole.moments.push(samples.moments(&so_far)?);
        }
        let MapParams::Nystroem(map) = map else { return Ok(whole) };
        if !map.landmarks().draws_by_blocks() && !map.needs_sums() {
            return Ok(whole);
        }
        let preparation = self.prepare.by_moments(n_features, &whole.moments)?;
        let prepared = preparation.apply(pilot.samples.as_ref())?.samples;
        if let Some(draw) = map.landmarks().diagonal_draw(&map.kernel, prepared.as_ref())? {
            whole.landmarks = samples.candidates(&preparation, &draw)?.landmarks();
        }
        if map.needs_sums() {
            let landmarks = match whole.landmarks.take() {
                Some(landmarks) => landmarks,
                None => chosen(&map, prepared.as_ref(), &pilot.indices)?,
            };
            drop(prepared);
            let panel = panel(&map, &landmarks, n_features)?;
            whole.map_sums = Some(samples.map_sums(&preparation, &panel)?);
            whole.landmarks = Some(landmarks);
        }
        Ok(whole)
    }
}

/// One machine, and a source that must be what it was in the first pass.
struct Passes<'a, T: Real> {
    source: &'a mut dyn Source<T>,
    first: &'a Tally,
    monitor: &'a dyn Monitor,
}

impl<T: Real> Passes<'_, T> {
    /// Number, number of the first sample, and prepared samples of every block.
    fn pass(
        &mut self,
        stage: &'static str,
        preparation: &Preparation<T>,
        mut look: impl FnMut(usize, usize, MatRef<'_, T>) -> Result<(), LkdlError> + Send,
    ) -> Result<(), LkdlError> {
        self.monitor.begin(stage, self.first.n_blocks);
        self.source.rewind()?;
        let mut seen = Tally::default();
        let (of_first_pass, monitor) = (self.first, self.monitor);
        for_each_block(self.source, |block| {
            let (number, first) = (seen.n_blocks, seen.n_samples);
            seen.add_again(&block, of_first_pass)?;
            let prepared = if block.samples.ncols() == 0 {
                Ok(Mat::zeros(of_first_pass.n_features, 0))
            } else {
                preparation.apply_in_place(block.samples).map(|prepared| prepared.samples)
            };
            prepared
                .and_then(|prepared| look(number, first, prepared.as_ref()))
                .map_err(|error| error.in_block_from(number, first))?;
            monitor.advance(1);
            monitor.check()
        })?;
        seen.check_same(of_first_pass)
    }

    /// The sum over all blocks of what each of them gives.
    fn sum<S: Add + Send>(
        &mut self,
        stage: &'static str,
        preparation: &Preparation<T>,
        of_block: impl Fn(MatRef<'_, T>) -> Result<S, LkdlError> + Sync,
    ) -> Result<S, LkdlError> {
        let mut sums = BlockSums::new(Order::of(self.first.n_blocks));
        self.pass(stage, preparation, |number, _, samples| {
            let has_samples = samples.ncols() > 0;
            sums.add_block(number, has_samples.then(|| of_block(samples)).transpose()?)
        })?;
        let none = LkdlError::Empty { what: "samples", rows: self.first.n_features, cols: 0 };
        sums.finish()?.flatten().ok_or(none)
    }
}

impl<T: Real> Gather<T> for Passes<'_, T> {
    fn moments(&mut self, prepared: &Preparation<T>) -> Result<Moments, LkdlError> {
        self.sum("moments", prepared, |samples| Moments::of(samples))
    }

    fn candidates(
        &mut self,
        prepared: &Preparation<T>,
        draw: &DiagonalDraw,
    ) -> Result<Reservoir<T>, LkdlError> {
        // the smallest of all keys, in whatever order blocks are looked at: no tree is needed
        let mut all = Reservoir::new(draw.count, Vec::new());
        self.pass("draw", prepared, |_, first, samples| {
            if samples.ncols() > 0 {
                all.add(draw.of(first, samples)?);
            }
            Ok(())
        })?;
        Ok(all)
    }

    fn map_sums(
        &mut self,
        prepared: &Preparation<T>,
        panel: &Panel<T>,
    ) -> Result<MapSums, LkdlError> {
        self.sum("sums", prepared, |samples| MapSums::of(panel, samples))
    }
}
