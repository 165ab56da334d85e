//! Train and test once per seed, on the clock.

use crate::error::ExperimentError;
use crate::spread::Spread;
use lkdl::Real;
use lkdl::prelude::{Classify, Lkdl, LkdlParams, Train};
use lkdl_data::{Dataset, TrainTest};
use std::time::Instant;

/// What one run of one method gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// Share of test samples whose class was found.
    pub accuracy: f64,
    /// Seconds to fit.
    pub train: f64,
    /// Seconds to classify the test samples.
    pub test: f64,
}

/// What all runs of one method gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Share of test samples whose class was found.
    pub accuracy: Spread,
    /// Seconds to fit.
    pub train: Spread,
    /// Seconds to classify the test samples.
    pub test: Spread,
    /// How many runs.
    pub runs: usize,
}

impl Trial {
    /// Fits on one part of a set, tests on the other.
    pub fn run<T: Real, M: Train<T>>(
        params: &LkdlParams<M>,
        set: &TrainTest,
    ) -> Result<Self, ExperimentError> {
        let (train, test) = (set.train.convert::<T>(), set.test.convert::<T>());
        let start = Instant::now();
        let model: Lkdl<T, M::Model> = params.fit(train.as_ref(), &labels(&set.train))?;
        let fitted = start.elapsed().as_secs_f64();
        Self::of(&model, &test, &set.test, fitted)
    }

    fn of<T: Real, C: Classify<T>>(
        model: &Lkdl<T, C>,
        samples: &faer::Mat<T>,
        test: &Dataset,
        train: f64,
    ) -> Result<Self, ExperimentError> {
        let start = Instant::now();
        let predictions = model.predict(samples.as_ref())?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Self { accuracy: predictions.accuracy(&labels(test))?, train, test: seconds })
    }
}

/// One trial for each seed 0 … runs−1.
pub fn repeat(
    runs: usize,
    trial: impl Fn(u64) -> Result<Trial, ExperimentError>,
) -> Result<Outcome, ExperimentError> {
    let trials = (0..runs as u64).map(trial).collect::<Result<Vec<_>, _>>()?;
    let spread = |of: fn(&Trial) -> f64| Spread::of(&trials.iter().map(of).collect::<Vec<_>>());
    Ok(Outcome {
        accuracy: spread(|t| t.accuracy),
        train: spread(|t| t.train),
        test: spread(|t| t.test),
        runs,
    })
}

/// Class indices as the engine takes them.
pub fn labels(data: &Dataset) -> Vec<usize> {
    data.labels.iter().map(|&label| label as usize).collect()
}
