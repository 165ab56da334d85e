//! Drift of a source: samples of which the landmarks miss more than of the pilot, and maps that grow
//! by some of them.
//!
//! The pilot is drawn from all of the source, but a part of it that is small and lies elsewhere has
//! few landmarks. Where the source brings that part in one piece, the running residual energy
//! ([`DriftMonitor`]) shows it, against that of all samples. Of the pilot, which has the landmarks in
//! it and was looked at to choose them, less is missed than of the rest, however they were chosen: the
//! rest is judged by the samples that the survey held out. A map that may grow then takes landmarks
//! from the block that came last ([`NystroemMap::grow`]): virtual samples gain rows, atoms are padded
//! with zeros, learning goes on. Watching costs O((p + k)n) per block, growing O(n²(p + k)) for n
//! candidates.

use crate::error::{LkdlError, Warning};
use crate::kernel::Panel;
use crate::map::nystroem::NystroemMap;
use crate::map::{DriftMonitor, USUAL_LIMIT, USUAL_WINDOW};
use crate::matrix::{Contiguous, gather, matrix_bytes};
use crate::pipeline::MapParams;
use crate::real::Real;
use crate::state::{Saved, Saving, unfit};
use faer::MatRef;

/// Samples of a block that new landmarks are chosen among, at most, unless there are to be more than
/// half as many: n² kernel values are formed.
const CANDIDATES: usize = 1024;
/// More landmarks than any map could be given.
const MOST_GROWN: usize = 1 << 20;
/// How often a map grows, unless it is said.
const USUAL_GROWTHS: usize = 4;

/// What a fit does about samples that its landmarks miss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriftParams {
    /// Drift is when recent samples are missed this many times as much as all are; above 1.
    pub limit: f64,
    /// Landmarks to add then; with 0 the map stays as it is.
    pub grow: usize,
    /// How often at most, so that memory has a bound.
    pub max_growths: usize,
}

impl Default for DriftParams {
    fn default() -> Self {
        Self { limit: USUAL_LIMIT, grow: 0, max_growths: USUAL_GROWTHS }
    }
}

impl DriftParams {
    pub(super) fn check(&self, map: &MapParams) -> Result<(), LkdlError> {
        if !(self.limit > 1.0 && self.limit.is_finite()) {
            return Err(LkdlError::parameter("drift limit", self.limit, "a finite number above 1"));
        }
        if self.most_grown() > MOST_GROWN {
            let (name, most) = ("grow times max_growths", format!("at most {MOST_GROWN}"));
            return Err(LkdlError::parameter(name, self.most_grown(), most));
        }
        let refused = |problem, fix| {
            Err(LkdlError::Unsupported { what: "a map that grows on drift", problem, fix })
        };
        match map {
            _ if self.grow == 0 => Ok(()),
            MapParams::Nystroem(params) if params.centered => refused(
                "cannot be centred, because growing would move its mean",
                "use a map that is not centred",
            ),
            MapParams::Nystroem(params) if !params.kernel.is_positive_semidefinite() => refused(
                "needs a kernel that is positive semi-definite, of which a part can be missed",
                "choose another kernel, or let the map stay as it is",
            ),
            MapParams::Nystroem(_) => Ok(()),
            _ => refused(
                "must have landmarks",
                "choose the Nyström map, or let the map stay as it is",
            ),
        }
    }

    /// Landmarks that may be added in all, each of which adds a dimension at most.
    pub(super) fn most_grown(&self) -> usize {
        self.grow.saturating_mul(self.max_growths)
    }

    /// Samples of a block that new landmarks are chosen among.
    fn n_candidates(&self, block: usize) -> usize {
        CANDIDATES.max(self.grow.saturating_mul(2)).min(block)
    }

    /// Bytes of choosing landmarks in a block: candidates, their virtual samples, and their kernel
    /// matrix with and without what the map holds of it.
    pub(super) fn growing_bytes<T: Real>(&self, p: usize, k: usize, block: usize) -> u64 {
        let n = self.n_candidates(block);
        let matrices = 3 * matrix_bytes::<f64>(n, n) + 2 * matrix_bytes::<T>(n, n);
        matrices + 2 * (matrix_bytes::<T>(p, n) + matrix_bytes::<f64>(k, n))
    }
}

/// How much of the samples the landmarks have missed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// The residual energy of the last samples, as a multiple of that of all, as the pilot and samples
    /// beside it tell it.
    pub level: f64,
    /// At its highest, after any block.
    pub highest: f64,
    /// What it should not exceed.
    pub limit: f64,
    /// Landmarks that were added because it did.
    pub n_grown: usize,
}

/// The drift of a fit while it runs.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    params: DriftParams,
    seed: u64,
    monitor: DriftMonitor,
    highest: f64,
    /// How often the map has tried to grow.
    n_growths: usize,
    n_grown: usize,
}

impl Watch {
    /// From the prepared pilot and held-out samples beside it, with their virtual samples, of a source
    /// of `n_samples`. A kernel that may be indefinite promises no part that is missed: there is
    /// nothing to watch.
    pub(super) fn start<T: Real>(
        params: &DriftParams,
        map: &NystroemMap<T>,
        seed: u64,
        [pilot, held_out]: [(MatRef<'_, T>, MatRef<'_, T>); 2],
        n_samples: usize,
    ) -> Result<Option<Self>, LkdlError> {
        if !map.panel().kernel().is_positive_semidefinite() {
            return Ok(None);
        }
        let mut energies = map.energies(pilot.0, pilot.1)?;
        if held_out.0.ncols() > 0 {
            energies = of_all(energies, map.energies(held_out.0, held_out.1)?, n_samples);
        }
        let (missed, whole) = energies;
        let monitor = DriftMonitor::new(&missed, &whole, USUAL_WINDOW)?.with_limit(params.limit)?;
        let params = *params;
        Ok(Some(Self { params, seed, monitor, highest: 0.0, n_growths: 0, n_grown: 0 }))
    }

    /// The next samples, and their virtual samples.
    pub(super) fn observe<T: Real>(
        &mut self,
        map: &NystroemMap<T>,
        samples: MatRef<'_, T>,
        F: MatRef<'_, T>,
    ) -> Result<(), LkdlError> {
        let (missed, whole) = map.energies(samples, F)?;
        self.monitor.observe(&missed, &whole)?;
        self.highest = self.highest.max(self.monitor.level());
        Ok(())
    }

    /// The map with landmarks from this block, whose first sample is number `first` of the source,
    /// if the block has drifted, the map may grow, and the block tells it something new.
    pub(super) fn grown<T: Real>(
        &mut self,
        map: &NystroemMap<T>,
        block: MatRef<'_, T>,
        first: usize,
    ) -> Result<Option<NystroemMap<T>>, LkdlError> {
        let may_grow = self.params.grow > 0 && self.n_growths < self.params.max_growths;
        if !may_grow || !self.monitor.has_drifted() {
            return Ok(None);
        }
        self.n_growths += 1;
        let (n, count) = (block.ncols(), self.params.n_candidates(block.ncols()));
        let candidates: Vec<usize> = (0..count).map(|i| i * n / count).collect();
        let recent = gather(Contiguous::new(block).columns(), &candidates);
        // another draw every time
        let seed = self.seed.wrapping_add(self.n_growths as u64);
        let chosen = map.missed_landmarks(recent.as_ref(), self.params.grow.min(count), seed)?;
        if chosen.points.ncols() == 0 {
            return Ok(None);
        }
        let grown = map.grow(chosen.points.as_ref())?;
        if grown.rank() == map.rank() {
            return Ok(None);
        }
        self.n_grown += chosen.points.ncols();
        self.monitor.restart();
        let in_source = |i: &usize| first + candidates[*i];
        let new: Vec<usize> = chosen.indices.iter().flatten().map(in_source).collect();
        with_indices(map, grown, &new).map(Some)
    }

    /// How much has been missed so far.
    pub(super) fn report(&self) -> Drift {
        let (level, limit) = (self.monitor.level(), self.params.limit);
        Drift { level, highest: self.highest, limit, n_grown: self.n_grown }
    }

    /// The warning that belongs to a limit that was exceeded.
    pub(super) fn warning(&self) -> Option<Warning> {
        let drifted = Warning::Drifted { level: self.highest, n_grown: self.n_grown };
        (self.highest > self.params.limit).then_some(drifted)
    }

    pub(super) fn save<T: Real>(&self, to: &mut Saving<'_, T>) {
        to.counts(DRIFT, "n", [self.n_growths, self.n_grown]);
        let numbers = self.monitor.to_numbers().into_iter().chain([self.highest]);
        to.numbers(DRIFT, "numbers", numbers);
    }

    /// The watch that was saved, if there was one.
    pub(super) fn restore<T: Real>(
        params: &DriftParams,
        map: &MapParams,
        from: &mut Saved<T>,
    ) -> Result<Option<Self>, LkdlError> {
        let MapParams::Nystroem(map) = map else { return Ok(None) };
        if !map.kernel.is_positive_semidefinite() {
            return Ok(None);
        }
        let [n_growths, n_grown] = from.counts(DRIFT, "n")?;
        let &[share, residual, total, highest] = from.numbers(DRIFT, "numbers")?.as_slice() else {
            return Err(unfit(DRIFT, "numbers", "has another length"));
        };
        let monitor = DriftMonitor::from_numbers([share, residual, total], USUAL_WINDOW)
            .ok_or_else(|| unfit(DRIFT, "numbers", "holds what is no energy"))?
            .with_limit(params.limit)?;
        let (params, seed) = (*params, map.seed);
        Ok(Some(Self { params, seed, monitor, highest, n_growths, n_grown }))
    }
}

const DRIFT: &str = "drift";

/// Residual energies and κ(x, x).
type Energies = (Vec<f64>, Vec<f64>);

/// The energies of the pilot and of held-out samples, weighed so that their mean is that of all
/// `n_samples`: the pilot stands for itself, the others for the rest.
fn of_all(pilot: Energies, held_out: Energies, n_samples: usize) -> Energies {
    let (n_pilot, n_held_out) = (pilot.0.len() as f64, held_out.0.len() as f64);
    let scale = (n_pilot + n_held_out) / n_samples as f64;
    let rest = scale * (n_samples as f64 - n_pilot) / n_held_out;
    let weighed = |of_pilot: Vec<f64>, of_rest: Vec<f64>| {
        let of_pilot = of_pilot.into_iter().map(|energy| scale * energy);
        of_pilot.chain(of_rest.into_iter().map(|energy| rest * energy)).collect()
    };
    (weighed(pilot.0, held_out.0), weighed(pilot.1, held_out.1))
}

/// The grown map with the numbers of all landmarks, where those of the first ones are known.
fn with_indices<T: Real>(
    map: &NystroemMap<T>,
    grown: NystroemMap<T>,
    new: &[usize],
) -> Result<NystroemMap<T>, LkdlError> {
    let Some(old) = map.panel().indices() else { return Ok(grown) };
    let indices = Some([old, new].concat());
    let panel = grown.panel();
    let panel = Panel::from_parts(panel.kernel(), panel.points(), indices, panel.n_rows())?;
    NystroemMap::from_parts(panel, grown.projection(), grown.mean(), grown.eigenvalues())
}
