//! Whole runs: fit and classification, with the paper's parameters.

use crate::data::{convert, indices, real, usps};
use crate::flops::Sizes;
use crate::measure::{Effort, in_turn};
use crate::record::{Record, Value};
use crate::whole::{self, Outcome, Problem};
use crate::{RooflineError, Session, flops};
use faer::Mat;
use lkdl::Real;
use lkdl::prelude::*;
use lkdl_data::NamedSet;

/// LKDL by K-SVD per class.
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
    let map = MapParams::Nystroem(NystroemParams {
        kernel: Kernel::Polynomial { degree: 2.0, offset: 0.0 },
        sampler: Sampler::Uniform,
        n_landmarks: LandmarkCount::Exact(sizes.n_landmarks),
        rank: Rank::Exact(sizes.rank),
        ..Default::default()
    });
    whole::run(prepare, map, method, problem, |_| ())
}

/// The record of a run, with its accuracy where labels are real.
fn record<T: Real>(
    stage: &'static str,
    sizes: &Sizes,
    problem: &Problem<'_, T>,
    seconds: f64,
    outcome: &Outcome,
) -> Result<Record, LkdlError> {
    let (shape, dtype, gflop) = (sizes.to_string(), T::NAME, flops::run(sizes));
    let record = Record { stage, shape, dtype, seconds, gflop, ratio: None, extra: Vec::new() };
    outcome.tell(record, problem.truth)
}

/// USPS with the paper's c = 1,458, and with c = k = 256, which classifies as well.
pub fn usps_run(session: &mut Session<'_>) -> Result<(), RooflineError> {
    let (train, labels, test, truth) = usps(session);
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
