//! Whole runs: fit and classification, with the paper's parameters.

use crate::data::{USPS_TEST, USPS_TRAIN, convert, decaying, indices, real};
use crate::flops::Sizes;
use crate::measure::{Effort, in_turn, time};
use crate::record::{Record, Value};
use crate::{RooflineError, Session, flops};
use faer::{Mat, MatRef};
use lkdl::Real;
use lkdl::prelude::*;
use lkdl_data::NamedSet;
use std::sync::{Mutex, PoisonError};

/// Samples to learn from and to classify, with labels.
struct Problem<'a, T: Real> {
    train: MatRef<'a, T>,
    labels: &'a [usize],
    test: MatRef<'a, T>,
    /// Those of `test`, if it is real.
    truth: Option<&'a [usize]>,
}

/// What a run says, and where its time went.
struct Outcome {
    predictions: Predictions,
    /// Preparation, landmarks, eigen-solve and virtual samples of the training set.
    map_seconds: f64,
    train_seconds: f64,
    /// Preparation and virtual samples of the test set.
    test_map_seconds: f64,
    classify_seconds: f64,
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

/// Fits and classifies.
fn run<T: Real>(
    sizes: &Sizes,
    prepare: &PrepareParams,
    problem: &Problem<'_, T>,
) -> Result<Outcome, LkdlError> {
    let method = ClassDictionariesParams {
        learner: KsvdParams {
            n_atoms: sizes.n_atoms,
            sparsity: sizes.sparsity,
            max_iters: sizes.n_iters,
            tol: 0.0,
            ..Default::default()
        },
        sparsity: sizes.sparsity,
    };
    let params = LkdlParams {
        prepare: prepare.clone(),
        map: MapParams::Nystroem(NystroemParams {
            kernel: Kernel::Polynomial { degree: 2.0, offset: 0.0 },
            sampler: Sampler::Uniform,
            n_landmarks: LandmarkCount::Exact(sizes.n_landmarks),
            rank: Rank::Exact(sizes.rank),
            ..Default::default()
        }),
        method: Timed(method),
        memory: None,
    };
    let (fit_seconds, model) = time(|| params.fit(problem.train, problem.labels));
    let model = model?;
    let (predict_seconds, predictions) = time(|| model.predict(problem.test));
    let TimedModel { train_seconds, classify_seconds, .. } = model.classifier();
    let classify_seconds = *classify_seconds.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Outcome {
        predictions: predictions?,
        map_seconds: fit_seconds - train_seconds,
        train_seconds: *train_seconds,
        test_map_seconds: predict_seconds - classify_seconds,
        classify_seconds,
    })
}

/// The record of a run, with its accuracy where labels are real.
fn record<T: Real>(
    stage: &'static str,
    sizes: &Sizes,
    problem: &Problem<'_, T>,
    seconds: f64,
    outcome: &Outcome,
) -> Result<Record, LkdlError> {
    let record = Record {
        stage,
        shape: sizes.to_string(),
        dtype: T::NAME,
        seconds,
        gflop: flops::run(sizes),
        ratio: None,
        extra: Vec::new(),
    }
    .with("map_seconds", Value::Number(outcome.map_seconds))
    .with("train_seconds", Value::Number(outcome.train_seconds))
    .with("test_map_seconds", Value::Number(outcome.test_map_seconds))
    .with("classify_seconds", Value::Number(outcome.classify_seconds));
    let Some(truth) = problem.truth else { return Ok(record) };
    Ok(record.with("accuracy", Value::Number(outcome.predictions.accuracy(truth)?)))
}

/// USPS with the paper's c = 1,458, and with c = k = 256, which classifies as well.
pub fn usps_run(session: &mut Session<'_>) -> Result<(), RooflineError> {
    let (train, labels, test, truth) = match real(session, NamedSet::Usps) {
        Some(set) => {
            let (labels, truth) = (indices(&set.train.labels), indices(&set.test.labels));
            (set.train.samples, labels, set.test.samples, Some(truth))
        }
        None => {
            session.note("  synthetic samples of the same shape instead");
            let (train, labels) = decaying(256, &USPS_TRAIN, 1);
            (train, labels, decaying(256, &USPS_TEST, 2).0, None)
        }
    };
    usps_in::<f64>(session, &train, &labels, &test, truth.as_deref())?;
    usps_in::<f32>(session, &train, &labels, &test, truth.as_deref())
}

fn usps_in<T: Real>(
    session: &mut Session<'_>,
    train: &Mat<f64>,
    labels: &[usize],
    test: &Mat<f64>,
    truth: Option<&[usize]>,
) -> Result<(), RooflineError> {
    let (train, test) = (convert::<T>(train), convert::<T>(test));
    let problem = Problem { train: train.as_ref(), labels, test: test.as_ref(), truth };
    let prepare: PrepareParams = "center,l2".parse()?;
    let paper = Sizes {
        n_features: train.nrows(),
        n_samples: train.ncols(),
        n_test: test.ncols(),
        n_landmarks: 1458,
        rank: 256,
        n_atoms: 300,
        sparsity: 5,
        n_iters: 5,
        n_classes: 10,
    };
    let variants = [paper, Sizes { n_landmarks: 256, ..paper }];
    let results = in_turn(session.effort, &variants, |sizes| Ok(run(sizes, &prepare, &problem)?))?;
    for (sizes, (seconds, outcome)) in variants.iter().zip(&results) {
        session.push(record("usps-run", sizes, &problem, *seconds, outcome)?);
    }
    Ok(())
}

/// MNIST with half of its samples and with all, in `f32`; the time of all over that of half, and
/// the memory the run takes. Run alone (`--stage mnist-run`), or an earlier stage's peak counts.
pub fn mnist_run(session: &mut Session<'_>) -> Result<(), RooflineError> {
    let Some(set) = real(session, NamedSet::Mnist) else { return Ok(()) };
    let (labels, truth) = (indices(&set.train.labels), indices(&set.test.labels));
    // each part in f64 goes as soon as it is there in f32
    let train = { set.train }.convert::<f32>();
    let test = { set.test }.convert::<f32>();
    let (n, n_test) = if session.quick { (8000, 2000) } else { (train.ncols(), test.ncols()) };
    let loaded_peak = peak_bytes();
    reset_peak();

    let problem = |n| Problem {
        train: train.subcols(0, n),
        labels: &labels[..n],
        test: test.subcols(0, n_test),
        truth: Some(&truth[..n_test]),
    };
    let all = Sizes {
        n_features: train.nrows(),
        n_samples: n,
        n_test,
        n_landmarks: 2048,
        rank: 784,
        n_atoms: 700,
        sparsity: 11,
        n_iters: 2,
        n_classes: 10,
    };
    let variants = [Sizes { n_samples: n / 2, ..all }, all];
    let prepare: PrepareParams = "l2".parse()?;
    let reps = if session.quick { 1 } else { 2 };
    let effort = Effort { seconds: 0.0, min_reps: reps, max_reps: reps };
    let results =
        in_turn(effort, &variants, |sizes| Ok(run(sizes, &prepare, &problem(sizes.n_samples))?))?;
    let run_peak = peak_bytes();
    let doubling = results[1].0 / results[0].0;
    for (sizes, (seconds, outcome)) in variants.iter().zip(&results) {
        let mut row = record("mnist-run", sizes, &problem(sizes.n_samples), *seconds, outcome)?;
        if sizes.n_samples == n {
            row = row.with("doubling", Value::Number(doubling));
            if let (Some(loaded), Some(run)) = (loaded_peak, run_peak) {
                row = row
                    .with("peak_bytes", Value::Count(loaded.max(run)))
                    .with("run_peak_bytes", Value::Count(run));
            }
        }
        session.push(row);
    }
    Ok(())
}

/// The most memory this process has had at a time, where the system tells.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Lets [`peak_bytes`] count from here, so that reading the files is not taken for the run. Where
/// the system refuses, the later peak holds the earlier one.
fn reset_peak() {
    _ = std::fs::write("/proc/self/clear_refs", "5");
}
