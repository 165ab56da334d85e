//! A fit from a source while it runs: preparation stands, the map may grow, dictionaries move, and
//! all of it can be kept between any two blocks.

use super::drift::{Drift, Watch};
use super::plan::Sizes;
use super::saved_map::{restore_map, save_map};
use super::survey::Pilot;
use super::tally::Tally;
use super::{Keeper, StreamParams, Whole};
use crate::blocks::{Block, Source, for_each_block};
use crate::classify::{ClassDictionaries, in_class};
use crate::dictionary::{Fed, PerPass, StreamLearner};
use crate::error::{LkdlError, Warning};
use crate::matrix::{columns_of, gather};
use crate::monitor::Monitor;
use crate::pipeline::{FeatureMap, Lkdl, MapParams};
use crate::prepare::Preparation;
use crate::real::Real;
use crate::state::{Saved, Saving, unfit};
use faer::Mat;
use rayon::prelude::*;

/// A fit from a source, between two blocks.
#[derive(Debug, Clone)]
pub struct StreamFit<T: Real> {
    learner: StreamLearner<T>,
    sparsity: usize,
    preparation: Preparation<T>,
    map: FeatureMap<T>,
    /// How much of the samples the map misses, where it can.
    watch: Option<Watch>,
    /// One dictionary per class.
    classes: Vec<Fed<T>>,
    /// Samples of the pilot, and beside it.
    n_pilot: usize,
    n_held_out: usize,
    /// What the first pass saw.
    first: Tally,
    /// What this pass has seen so far.
    seen: Tally,
    /// Passes that are done.
    n_passes: usize,
    /// Samples that preparation has made zero, in the first pass that learned.
    n_zero: usize,
    warnings: Vec<Warning>,
}

impl<T: Real> StreamParams<T> {
    /// Fits preparation and map on the pilot and what was gathered from all samples, and starts a
    /// dictionary for every class.
    pub fn start(
        &self,
        pilot: Pilot<T>,
        whole: Whole<T>,
        monitor: &dyn Monitor,
    ) -> Result<StreamFit<T>, LkdlError> {
        let map_params = self.checked_map(&pilot)?;
        let mut warnings: Vec<Warning> = pilot.warning().into_iter().collect();
        monitor.begin("prepare", 0);
        let Pilot { samples, labels, indices, held_out, tally } = pilot;
        let (n_pilot, n_held_out) = (labels.len(), held_out.ncols());
        let preparation = whole.preparation(&self.prepare, samples.as_ref())?;
        let prepared = preparation.apply_in_place(samples)?.samples;
        monitor.check()?;
        monitor.begin("landmarks", 0);
        let (map, of_map) = whole.map(&map_params, prepared.as_ref(), &indices)?;
        warnings.extend(of_map);
        drop(whole);
        monitor.check()?;
        monitor.begin("map", 0);
        let held_out =
            if n_held_out == 0 { held_out } else { preparation.apply_in_place(held_out)?.samples };
        let (F, watch) = self.map_pilot(&map, prepared, held_out, tally.n_samples)?;
        let classes = self.start_classes(&F, &labels, &tally)?;
        Ok(StreamFit {
            learner: self.method.learner.clone(),
            sparsity: self.method.sparsity,
            preparation,
            map,
            watch,
            classes,
            n_pilot,
            n_held_out,
            first: tally,
            seen: Tally::default(),
            n_passes: 0,
            n_zero: 0,
            warnings,
        })
    }

    /// The map's parameters within the budget, if all parameters are as they should be and the fit
    /// will not need more than it may use.
    pub(super) fn checked_map(&self, pilot: &Pilot<T>) -> Result<MapParams, LkdlError> {
        self.map.check_preparation(&self.prepare)?;
        self.drift.check(&self.map)?;
        if self.method.sparsity == 0 {
            return Err(LkdlError::parameter("sparsity", 0, "at least 1"));
        }
        pilot.tally.check_whole()?;
        let sizes = Sizes::from(pilot);
        let map = self.stream_map(&sizes)?;
        if let Some(budget) = self.memory {
            let threads = rayon::current_num_threads();
            self.plan_streaming(&map, &sizes, threads)?.check(budget)?;
        }
        Ok(map)
    }

    /// Virtual samples of the prepared pilot, and how much the map misses of the `n_samples` that it
    /// and the held-out samples stand for.
    fn map_pilot(
        &self,
        map: &FeatureMap<T>,
        pilot: Mat<T>,
        held_out: Mat<T>,
        n_samples: usize,
    ) -> Result<(Mat<T>, Option<Watch>), LkdlError> {
        let (FeatureMap::Nystroem(nystroem), MapParams::Nystroem(params)) = (map, &self.map) else {
            return Ok((map.consume(pilot)?, None));
        };
        let F = nystroem.transform(pilot.as_ref())?;
        let rest = match held_out.ncols() {
            0 => Mat::new(),
            _ => nystroem.transform(held_out.as_ref())?,
        };
        let parts = [(pilot.as_ref(), F.as_ref()), (held_out.as_ref(), rest.as_ref())];
        let watch = Watch::start(&self.drift, nystroem, params.seed, parts, n_samples)?;
        Ok((F, watch))
    }

    fn start_classes(
        &self,
        F: &Mat<T>,
        labels: &[usize],
        tally: &Tally,
    ) -> Result<Vec<Fed<T>>, LkdlError> {
        let members = members(labels, tally.class_counts.len());
        let start = |class: usize| {
            let pilot = gather(columns_of(F), &members[class]);
            let fed = self.method.learner.start(pilot.as_ref(), class, per_pass(tally, class));
            fed.map_err(|error| in_class(class, error))
        };
        let started: Vec<Result<Fed<T>, LkdlError>> =
            (0..members.len()).into_par_iter().map(start).collect();
        started.into_iter().collect()
    }

    /// The fit that was saved, with the parameters it was started with.
    pub fn resume(&self, mut from: Saved<T>) -> Result<StreamFit<T>, LkdlError> {
        self.drift.check(&self.map)?;
        let from = &mut from;
        let watch = Watch::restore(&self.drift, &self.map, from)?;
        let (preparation, map) = restore_map(&self.prepare, &self.map, from)?;
        let first = Tally::restore(FIRST, from)?;
        let resume =
            |class| self.method.learner.resume(&class_place(class), per_pass(&first, class), from);
        let classes = (0..first.class_counts.len()).map(resume).collect::<Result<Vec<_>, _>>()?;
        let [n_passes, n_zero, n_pilot, n_held_out] = from.counts(FIT, "n")?;
        let seen = Tally::restore(SEEN, from)?;
        if classes.is_empty() || seen.check_within(&first).is_err() {
            return Err(unfit(SEEN, "n", "does not fit the first pass"));
        }
        Ok(StreamFit {
            learner: self.method.learner.clone(),
            sparsity: self.method.sparsity,
            preparation,
            map,
            watch,
            classes,
            n_pilot,
            n_held_out,
            first,
            seen,
            n_passes,
            n_zero,
            warnings: from.warnings(FIT)?,
        })
    }
}

const FIT: &str = "fit";
const FIRST: &str = "first";
const SEEN: &str = "seen";

fn class_place(class: usize) -> String {
    format!("class.{class}")
}

/// What every pass over the source brings of a class.
fn per_pass(tally: &Tally, class: usize) -> PerPass {
    PerPass { n_samples: tally.class_counts[class], n_blocks: tally.n_blocks }
}

/// The places of every class.
fn members(labels: &[usize], n_classes: usize) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); n_classes];
    for (i, &label) in labels.iter().enumerate() {
        members[label].push(i);
    }
    members
}

impl<T: Real> StreamFit<T> {
    /// Goes on over `source` until the passes are done, lending its memory to `keeper` whenever it
    /// asks.
    pub fn run(
        mut self,
        source: &mut dyn Source<T>,
        keeper: &mut dyn Keeper<T>,
        monitor: &dyn Monitor,
    ) -> Result<Lkdl<T, ClassDictionaries<T>>, LkdlError> {
        self.run_passes(source, keeper, monitor)?;
        self.finish()
    }

    /// [`StreamFit::run`] without its end, for those who want to look before [`StreamFit::finish`].
    pub fn run_passes(
        &mut self,
        source: &mut dyn Source<T>,
        keeper: &mut dyn Keeper<T>,
        monitor: &dyn Monitor,
    ) -> Result<(), LkdlError> {
        let per_pass = self.first.n_blocks;
        monitor.begin("learn", per_pass.saturating_mul(self.learner.max_passes()));
        monitor.advance(self.n_passes.saturating_mul(per_pass) + self.seen.n_blocks);
        keeper.keep(&self.save())?;
        while !self.is_done() {
            source.rewind()?;
            self.check_seen(source)?;
            for_each_block(source, |block| {
                self.add_block(block)?;
                monitor.advance(1);
                monitor.check()?;
                if keeper.is_due() { keeper.keep(&self.save()) } else { Ok(()) }
            })?;
            self.end_pass()?;
        }
        Ok(())
    }

    /// Goes past the blocks that this pass has seen before it was interrupted, which must be those
    /// that come now.
    fn check_seen(&self, source: &mut dyn Source<T>) -> Result<(), LkdlError> {
        let mut again = Tally::default();
        while again.n_blocks < self.seen.n_blocks {
            let Some(block) = source.next_block()? else { break };
            again.add(&block)?;
        }
        if again == self.seen {
            return Ok(());
        }
        again.check_within(&self.first)?;
        let change = "its first blocks are not those that the checkpoint has learned".into();
        Err(LkdlError::SourceChanged { change })
    }

    /// Whether every class has converged or used up its passes.
    pub fn is_done(&self) -> bool {
        self.classes.iter().all(|class| self.learner.stop(class.errors()).is_some())
    }

    /// The next block of a pass.
    pub fn add_block(&mut self, block: Block<T>) -> Result<(), LkdlError> {
        let (number, first) = (self.seen.n_blocks, self.seen.n_samples);
        self.seen.add_again(&block, &self.first)?;
        self.learn(number, block).map_err(|error| error.in_block_from(number, first))
    }

    fn learn(&mut self, number: usize, block: Block<T>) -> Result<(), LkdlError> {
        let members = members(&block.labels, self.classes.len());
        let F = if block.samples.ncols() == 0 {
            Mat::zeros(self.map.rank(self.first.n_features), 0)
        } else {
            let prepared = self.preparation.apply_in_place(block.samples)?;
            if self.n_passes == 0 {
                self.n_zero += prepared.n_zero;
            }
            self.map_block(prepared.samples)?
        };
        let learner = &self.learner;
        let learned: Vec<Result<(), LkdlError>> = self
            .classes
            .par_iter_mut()
            .zip(&members)
            .filter(|(class, _)| learner.stop(class.errors()).is_none())
            .map(|(class, members)| {
                class.add_block(number, gather(columns_of(&F), members).as_ref())
            })
            .collect();
        // the error of the lowest class, whichever thread met one first
        learned.into_iter().collect()
    }

    /// Virtual samples of a block that has been counted, by a map that grows if it may and must.
    fn map_block(&mut self, prepared: Mat<T>) -> Result<Mat<T>, LkdlError> {
        if self.watch.is_none() {
            return self.map.consume(prepared);
        }
        let F = self.map.transform(prepared.as_ref())?;
        let (Some(watch), FeatureMap::Nystroem(map)) = (&mut self.watch, &mut self.map) else {
            return Ok(F);
        };
        watch.observe(map, prepared.as_ref(), F.as_ref())?;
        let first = self.seen.n_samples - prepared.ncols();
        let Some(grown) = watch.grown(map, prepared.as_ref(), first)? else { return Ok(F) };
        drop(F);
        **map = grown;
        self.classes.iter_mut().try_for_each(|class| class.grow(map.rank()))?;
        let F = map.transform(prepared.as_ref())?;
        watch.observe(map, prepared.as_ref(), F.as_ref())?;
        Ok(F)
    }

    /// The source has come to its end.
    pub fn end_pass(&mut self) -> Result<(), LkdlError> {
        let seen = std::mem::take(&mut self.seen);
        seen.check_same(&self.first)?;
        let learner = &self.learner;
        let ended: Vec<Result<(), LkdlError>> = self
            .classes
            .par_iter_mut()
            .enumerate()
            .filter(|(_, class)| learner.stop(class.errors()).is_none())
            .map(|(l, class)| class.end_pass().map(|_| ()).map_err(|error| in_class(l, error)))
            .collect();
        ended.into_iter().collect::<Result<(), _>>()?;
        self.n_passes += 1;
        Ok(())
    }

    /// The fitted pipeline, as any other.
    pub fn finish(mut self) -> Result<Lkdl<T, ClassDictionaries<T>>, LkdlError> {
        if self.n_zero > 0 {
            self.warnings.insert(0, Warning::ZeroSamples { count: self.n_zero });
        }
        self.warnings.extend(self.watch.as_ref().and_then(Watch::warning));
        let mut learned = Vec::with_capacity(self.classes.len());
        for class in self.classes {
            let stop = self.learner.stop(class.errors());
            let mut class = class.finish()?;
            class.stop = stop.unwrap_or(class.stop);
            learned.push(class);
        }
        let classifier = ClassDictionaries::new(learned, self.sparsity)?;
        Ok(Lkdl::from_parts(self.preparation, self.map, classifier).with_warnings(self.warnings))
    }

    /// Lends all that the fit remembers.
    pub fn save(&self) -> Saving<'_, T> {
        let mut to = Saving::default();
        save_map(&self.preparation, &self.map, &mut to);
        if let Some(watch) = &self.watch {
            watch.save(&mut to);
        }
        self.first.save(FIRST, &mut to);
        self.seen.save(SEEN, &mut to);
        let counts = [self.n_passes, self.n_zero, self.n_pilot, self.n_held_out];
        to.counts(FIT, "n", counts);
        to.warnings(FIT, &self.warnings);
        for (l, class) in self.classes.iter().enumerate() {
            class.save(&class_place(l), &mut to);
        }
        to
    }

    /// How much of the samples the landmarks have missed so far; `None` of a map that has none, or
    /// of a kernel that may be indefinite.
    pub fn drift(&self) -> Option<Drift> {
        self.watch.as_ref().map(Watch::report)
    }

    /// The fitted map.
    pub fn map(&self) -> &FeatureMap<T> {
        &self.map
    }

    /// What the first pass saw.
    pub fn first_pass(&self) -> &Tally {
        &self.first
    }

    pub(super) fn sizes(&self) -> Sizes<'_> {
        Sizes { n_pilot: self.n_pilot, n_held_out: self.n_held_out, tally: &self.first }
    }

    /// Passes that are done, and blocks of the one that runs.
    pub fn progress(&self) -> (usize, usize) {
        (self.n_passes, self.seen.n_blocks)
    }
}
