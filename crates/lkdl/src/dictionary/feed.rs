//! The learners that can be fed block by block, whichever it is: the dictionary of one class moves
//! along a stream of samples, can be kept at any block, and goes on from there to the same bits.

use super::incremental::{Incremental, incremental_bytes};
use super::online::{OnlineDictionary, OnlineParams};
use super::passes::MultiPassMod;
use super::rls::{RlsDictionary, RlsParams};
use super::{Learned, ModParams, Stop};
use crate::error::LkdlError;
use crate::real::Real;
use crate::state::{Saved, Saving};
use faer::MatRef;

/// A learner for samples that come in blocks. Passes are its `max_iters`.
#[derive(Debug, Clone)]
pub enum StreamLearner<T: Real> {
    /// Online learning: moves after every mini-batch.
    Online(OnlineParams<T>),
    /// RLS-DLA: refits all atoms after every mini-batch, and forgets.
    Rls(RlsParams<T>),
    /// MOD: refits all atoms after every pass.
    Mod(ModParams<T>),
}

/// The dictionary of one class while it is fed.
#[derive(Debug, Clone)]
pub(crate) enum Fed<T: Real> {
    Online(Incremental<T, OnlineDictionary<T>>),
    Rls(Incremental<T, RlsDictionary<T>>),
    Mod(MultiPassMod<T>),
}

impl<T: Real> StreamLearner<T> {
    /// A learner of class `class`, of which every pass brings `n_samples`; starting atoms are drawn
    /// from `pilot`.
    pub(crate) fn start(
        &self,
        pilot: MatRef<'_, T>,
        class: usize,
        n_samples: usize,
    ) -> Result<Fed<T>, LkdlError> {
        Ok(match self {
            Self::Online(params) => Fed::Online(params.start(pilot, class)?),
            Self::Rls(params) => Fed::Rls(of_total(params, n_samples).start(pilot, class)?),
            Self::Mod(params) => Fed::Mod(params.start(pilot, class)?),
        })
    }

    /// The learner that was saved under `at`.
    pub(crate) fn resume(
        &self,
        at: &str,
        n_samples: usize,
        from: &mut Saved<T>,
    ) -> Result<Fed<T>, LkdlError> {
        Ok(match self {
            Self::Online(params) => Fed::Online(params.resume(at, from)?),
            Self::Rls(params) => Fed::Rls(of_total(params, n_samples).resume(at, from)?),
            Self::Mod(params) => Fed::Mod(params.resume(at, from)?),
        })
    }

    /// Passes at most.
    pub fn max_passes(&self) -> usize {
        match self {
            Self::Online(params) => params.max_iters,
            Self::Rls(params) => params.max_iters,
            Self::Mod(params) => params.max_iters,
        }
    }

    /// Whether the errors of the passes so far end the learning of a class.
    pub(crate) fn stop(&self, errors: &[f64]) -> Option<Stop> {
        let tol = match self {
            Self::Online(params) => params.tol,
            Self::Rls(params) => params.tol,
            Self::Mod(params) => params.tol,
        };
        Stop::reached(errors, tol, self.max_passes())
    }

    /// Bytes of one class while it is fed with samples of so many features in so many blocks.
    pub(crate) fn feeding_bytes(&self, n_features: usize, n_blocks: usize) -> u64 {
        let incremental =
            |n_atoms, batch_size| incremental_bytes::<T>(n_features, n_atoms, batch_size);
        match self {
            Self::Online(params) => incremental(params.n_atoms, params.batch_size),
            Self::Rls(params) => incremental(params.n_atoms, params.batch_size),
            Self::Mod(params) => params.feeding_bytes(n_features, n_blocks),
        }
    }
}

/// All that will be seen is all passes over the class, unless it is said.
fn of_total<T: Real>(params: &RlsParams<T>, n_samples: usize) -> RlsParams<T> {
    let all = n_samples.saturating_mul(params.max_iters);
    RlsParams { total: params.total.or(Some(all)), ..params.clone() }
}

impl<T: Real> Fed<T> {
    /// The samples of block number `block`, of which there may be none.
    pub(crate) fn add_block(
        &mut self,
        block: usize,
        samples: MatRef<'_, T>,
    ) -> Result<(), LkdlError> {
        match self {
            Self::Mod(learner) => learner.add_block(block, samples),
            _ if samples.ncols() == 0 => Ok(()),
            Self::Online(learner) => learner.add_block(samples),
            Self::Rls(learner) => learner.add_block(samples),
        }
    }

    /// All samples have been seen once more; returns the relative error.
    pub(crate) fn end_pass(&mut self) -> Result<f64, LkdlError> {
        match self {
            Self::Online(learner) => learner.end_pass(),
            Self::Rls(learner) => learner.end_pass(),
            Self::Mod(learner) => learner.end_pass(),
        }
    }

    /// The relative error of every pass so far.
    pub(crate) fn errors(&self) -> &[f64] {
        match self {
            Self::Online(learner) => learner.errors(),
            Self::Rls(learner) => learner.errors(),
            Self::Mod(learner) => learner.errors(),
        }
    }

    /// The dictionary, unit columns.
    pub(crate) fn finish(self) -> Result<Learned<T>, LkdlError> {
        match self {
            Self::Online(learner) => learner.finish(),
            Self::Rls(learner) => learner.finish(),
            Self::Mod(learner) => Ok(learner.finish()),
        }
    }

    /// Lends all that the learner remembers, under names that begin with `at`.
    pub(crate) fn save<'a>(&'a self, at: &str, to: &mut Saving<'a, T>) {
        match self {
            Self::Online(learner) => learner.save(at, to),
            Self::Rls(learner) => learner.save(at, to),
            Self::Mod(learner) => learner.save(at, to),
        }
    }
}
