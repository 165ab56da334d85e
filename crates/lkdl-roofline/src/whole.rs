//! One whole run, fit and classification, and where its time goes.

use crate::measure::time;
use crate::record::{Record, Value};
use faer::MatRef;
use lkdl::Real;
use lkdl::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Samples to learn from and to classify, with labels.
pub struct Problem<'a, T: Real> {
    /// To learn from.
    pub train: MatRef<'a, T>,
    /// Their classes.
    pub labels: &'a [usize],
    /// To classify.
    pub test: MatRef<'a, T>,
    /// Their classes, if they are real.
    pub truth: Option<&'a [usize]>,
}

/// What a run says, and where its time went.
pub struct Outcome<R = ()> {
    /// What was asked of the trained method.
    pub fact: R,
    /// What it says of the test set.
    pub predictions: Predictions,
    /// Preparation, landmarks, eigen-solve and virtual samples of the training set.
    pub map_seconds: f64,
    /// The method, on what it is given.
    pub train_seconds: f64,
    /// Preparation and virtual samples of the test set.
    pub test_map_seconds: f64,
    /// The method's decisions.
    pub classify_seconds: f64,
}

/// A method with a stopwatch. The pipeline kernelizes it like any other.
struct Timed<M>(M);

struct TimedModel<C> {
    classifier: C,
    train_seconds: f64,
    classify_seconds: Mutex<f64>,
}

impl<T: Real, M: Train<T>> Train<T> for Timed<M> {
    type Model = TimedModel<M::Model>;

    fn train_monitored(
        &self,
        samples: MatRef<'_, T>,
        labels: &[usize],
        monitor: &dyn Monitor,
    ) -> Result<Self::Model, LkdlError> {
        let (train_seconds, classifier) = time(|| self.0.train_monitored(samples, labels, monitor));
        Ok(TimedModel { classifier: classifier?, train_seconds, classify_seconds: Mutex::new(0.0) })
    }
}

impl<T: Real, C: Classify<T>> Classify<T> for TimedModel<C> {
    fn classify(&self, samples: MatRef<'_, T>) -> Result<Predictions, LkdlError> {
        let (seconds, predictions) = time(|| self.classifier.classify(samples));
        *self.classify_seconds.lock().unwrap_or_else(PoisonError::into_inner) += seconds;
        predictions
    }
}

/// Fits and classifies; of the trained method only what `ask` takes from it is kept.
pub fn run<T: Real, M: Train<T>, R>(
    prepare: &PrepareParams,
    map: MapParams,
    method: M,
    problem: &Problem<'_, T>,
    ask: impl FnOnce(&M::Model) -> R,
) -> Result<Outcome<R>, LkdlError> {
    let params = LkdlParams { prepare: prepare.clone(), map, method: Timed(method), memory: None };
    let (fit_seconds, model) = time(|| params.fit(problem.train, problem.labels));
    let model = model?;
    let (predict_seconds, predictions) = time(|| model.predict(problem.test));
    let TimedModel { classifier, train_seconds, classify_seconds } = model.classifier();
    let classify_seconds = *classify_seconds.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Outcome {
        fact: ask(classifier),
        predictions: predictions?,
        map_seconds: fit_seconds - train_seconds,
        train_seconds: *train_seconds,
        test_map_seconds: predict_seconds - classify_seconds,
        classify_seconds,
    })
}

impl<R> Outcome<R> {
    /// Adds to a record what the run says and where its time went.
    pub fn tell(&self, record: Record, truth: Option<&[usize]>) -> Result<Record, LkdlError> {
        let record = record
            .with("map_seconds", Value::Number(self.map_seconds))
            .with("train_seconds", Value::Number(self.train_seconds))
            .with("test_map_seconds", Value::Number(self.test_map_seconds))
            .with("classify_seconds", Value::Number(self.classify_seconds));
        let Some(truth) = truth else { return Ok(record) };
        Ok(record.with("accuracy", Value::Number(self.predictions.accuracy(truth)?)))
    }
}
