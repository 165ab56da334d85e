//! The learners that can be fed block by block, whichever it is: the dictionary of one class moves
//! along a stream of samples, can be kept at any block, and goes on from there to the same bits.

use super::incremental::{Incremental, incremental_bytes};
use super::online::{OnlineDictionary, OnlineParams};
use super::passes::MultiPassMod;
use super::rls::{RlsDictionary, RlsParams};
use super::{Learned, ModParams, Stop};
use crate::blocks::Order;
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

/// What every pass brings of a class.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PerPass {
    pub(crate) n_samples: usize,
    pub(crate) n_blocks: usize,
}

/// The dictionary of one class while it is fed.
#[derive(Debug, Clone)]
pub(crate) enum Fed<T: Real> {
    Online(Incremental<T, OnlineDictionary<T>>),
    Rls(Incremental<T, RlsDictionary<T>>),
    Mod(MultiPassMod<T>),
}

impl<T: Real> StreamLearner<T> {
    /// A learner of class `class`; starting atoms are drawn from `pilot`.
    pub(crate) fn start(
        &self,
        pilot: MatRef<'_, T>,
        class: usize,
        pass: PerPass,
    ) -> Result<Fed<T>, LkdlError> {
        let order = Order::of(pass.n_blocks);
        Ok(match self {
            Self::Online(params) => Fed::Online(params.start(pilot, class)?),
            Self::Rls(params) => Fed::Rls(of_total(params, pass.n_samples).start(pilot, class)?),
            Self::Mod(params) => Fed::Mod(params.start(pilot, class, order)?),
        })
    }

    /// The learner that was saved under `at`.
    pub(crate) fn resume(
        &self,
        at: &str,
        pass: PerPass,
        from: &mut Saved<T>,
    ) -> Result<Fed<T>, LkdlError> {
        let order = Order::of(pass.n_blocks);
        Ok(match self {
            Self::Online(params) => Fed::Online(params.resume(at, from)?),
            Self::Rls(params) => Fed::Rls(of_total(params, pass.n_samples).resume(at, from)?),
            Self::Mod(params) => Fed::Mod(params.resume(at, order, from)?),
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

    /// Samples will have more features from now on: what is learned is padded with zeros.
    pub(crate) fn grow(&mut self, n_features: usize) -> Result<(), LkdlError> {
        match self {
            Self::Online(learner) => learner.grow(n_features),
            Self::Rls(learner) => learner.grow(n_features),
            Self::Mod(learner) => learner.grow(n_features),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::OnlineCoding;
    use crate::testing::{close, random_matrix};
    use faer::Mat;

    const PASS: PerPass = PerPass { n_samples: 240, n_blocks: 6 };

    fn learners() -> [StreamLearner<f64>; 3] {
        let (n_atoms, sparsity, max_iters, batch_size) = (7, 2, 2, 16);
        let coding = OnlineCoding::Omp { sparsity };
        let online = OnlineParams { n_atoms, coding, max_iters, batch_size, ..Default::default() };
        let rls = RlsParams { n_atoms, sparsity, max_iters, batch_size, ..Default::default() };
        let optimal = ModParams { n_atoms, sparsity, max_iters, ..Default::default() };
        [StreamLearner::Online(online), StreamLearner::Rls(rls), StreamLearner::Mod(optimal)]
    }

    /// Two passes over blocks of 40, of which the first three have zeros in the last three features
    /// in the first pass; without those features, if the learner is to grow.
    fn fed(learner: &StreamLearner<f64>, X: &Mat<f64>, grows: bool) -> Mat<f64> {
        let padded = |first: usize| {
            let known = Mat::from_fn(9, 40, |t, i| if t < 6 { X[(t, first + i)] } else { 0.0 });
            if grows { known.subrows(0, 6).to_owned() } else { known }
        };
        let mut fed = learner.start(padded(0).as_ref(), 0, PASS).unwrap();
        for pass in 0..2 {
            for block in 0..6 {
                if pass == 0 && block < 3 {
                    fed.add_block(block, padded(40 * block).as_ref()).unwrap();
                    continue;
                }
                if grows {
                    fed.grow(9).unwrap(); // the second time there is nothing to do
                }
                fed.add_block(block, X.subcols(40 * block, 40)).unwrap();
            }
            fed.end_pass().unwrap();
        }
        fed.finish().unwrap().dictionary
    }

    #[test]
    fn growing_is_as_if_samples_had_had_zeros_before() {
        let X = random_matrix::<f64>(9, 240, 3);
        for learner in learners() {
            let (grown, whole) = (fed(&learner, &X, true), fed(&learner, &X, false));
            close(grown.as_ref(), whole.as_ref(), 1e-9);
            let pilot = X.subcols(0, 40);
            assert!(learner.start(pilot, 0, PASS).unwrap().grow(8).is_err(), "no feature is taken");
        }
    }
}
