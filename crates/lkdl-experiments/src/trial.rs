//! One fit and its tests, on the clock.

use crate::error::ExperimentError;
use faer::MatRef;
use lkdl::Real;
use lkdl::prelude::{Classify, Lkdl, LkdlParams, Train};
use lkdl_data::{Corruption, Dataset, TrainTest};
use std::time::Instant;

/// One number, and what it cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// The number: an accuracy in %, if nothing else is said.
    pub value: f64,
    /// Seconds to fit.
    pub train: f64,
    /// Seconds to classify the test samples.
    pub test: f64,
    /// Bytes that the fit holds at its peak beside the samples, by its memory plan.
    pub memory: u64,
}

/// Fits on one part of a set, tests on the other.
pub fn run<T: Real, M: Train<T>>(
    params: &LkdlParams<M>,
    set: &TrainTest,
) -> Result<Trial, ExperimentError> {
    let (_, trials) = run_corrupted::<T, M>(params, set, &[None], 0)?;
    Ok(trials[0])
}

/// The same, tested once per condition: on clean samples (`None`) or on corrupted ones, drawn by
/// `seed`.
#[allow(clippy::type_complexity)] // a model and its trials
pub fn run_corrupted<T: Real, M: Train<T>>(
    params: &LkdlParams<M>,
    set: &TrainTest,
    conditions: &[Option<Corruption>],
    seed: u64,
) -> Result<(Lkdl<T, M::Model>, Vec<Trial>), ExperimentError> {
    let sizes = set.train.class_counts();
    let memory = params.memory_plan::<T>(set.train.n_features(), &sizes)?.peak().bytes;
    let (samples, classes) = (set.train.convert::<T>(), labels(&set.train));
    let start = Instant::now();
    let model = params.fit(samples.as_ref(), &classes)?;
    let train = start.elapsed().as_secs_f64();
    drop(samples);
    let cost = Trial { value: 0.0, train, test: 0.0, memory };
    let test = |corruption: &Option<Corruption>| {
        let mut samples = set.test.convert::<T>();
        if let Some(corruption) = corruption {
            corruption.apply(&mut samples, seed)?;
        }
        tested(&model, samples.as_ref(), &labels(&set.test), cost)
    };
    let trials = conditions.iter().map(test).collect::<Result<_, ExperimentError>>()?;
    Ok((model, trials))
}

/// What a fit of this cost is worth: its accuracy on these samples, and the time they take.
pub(crate) fn tested<T: Real, C: Classify<T>>(
    model: &Lkdl<T, C>,
    samples: MatRef<'_, T>,
    truth: &[usize],
    fit: Trial,
) -> Result<Trial, ExperimentError> {
    let start = Instant::now();
    let predictions = model.predict(samples)?;
    let test = start.elapsed().as_secs_f64();
    Ok(Trial { value: 100.0 * predictions.accuracy(truth)?, test, ..fit })
}

/// Class indices as the engine takes them.
pub fn labels(data: &Dataset) -> Vec<usize> {
    data.labels.iter().map(|&label| label as usize).collect()
}
