//! Figure 1a: how well c landmarks stand for the kernel matrix of 2,000 USPS samples, and the SVD
//! that no choice of landmarks can beat. κ = (xᵀy)², as the published program has it; the text says
//! degree 4. No truncation: k = c.
//!
//! The paper shows one draw. Ours are means over several random parts with all classes in
//! proportion, one draw each.
#![allow(non_snake_case)] // letters: docs/notation.md

use crate::error::ExperimentError;
use crate::job::{Job, Place, Setting};
use crate::quantity::Quantity;
use crate::samplers::{self, NamedSampler};
use crate::scale::Scale;
use crate::sets::{Sets, split};
use crate::trial::Trial;
use faer::Mat;
use lkdl::map::{best_rank_errors, relative_error};
use lkdl::prelude::*;
use lkdl_data::NamedSet;
use std::time::Instant;

const ID: &str = "1a";
const N_SAMPLES: usize = 2000;
const PREPARE: &str = "center,l2";
/// The kernel of the text.
const STEEPER: &str = "text, degree 4";
/// Seconds that a point takes on two cores, about.
const SECONDS: f64 = 0.5;
/// c/N in %.
pub(crate) const SHARES: [f64; 10] = [5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0];
pub(crate) const FEW_SHARES: [f64; 3] = [5.0, 20.0, 50.0];

pub(crate) fn jobs(scale: &Scale) -> Vec<Job> {
    let [square, fourth] = [2.0, 4.0].map(|degree| Kernel::Polynomial { degree, offset: 0.0 });
    let all = [samplers::program(), samplers::text(), samplers::beyond()];
    let curve = |kernel, named: NamedSampler| sampler_job(scale, kernel, named);
    let mut jobs: Vec<Job> = all.into_iter().flatten().map(|named| curve(&square, named)).collect();
    jobs.push(job(scale, &square, "SVD", "program", svd));
    let of_text = |named| NamedSampler { variant: STEEPER, ..named };
    jobs.extend(samplers::program().into_iter().map(|named| curve(&fourth, of_text(named))));
    jobs.push(job(scale, &fourth, "SVD", STEEPER, svd));
    jobs
}

fn sampler_job(scale: &Scale, kernel: &Kernel, named: NamedSampler) -> Job {
    let NamedSampler { method, variant, sampler } = named;
    let name = sampler.to_string();
    let errors = move |X: &Mat<f64>, kernel: &Kernel, counts: &[usize], seed| {
        let error = |c: &usize| {
            let params = NystroemParams {
                kernel: kernel.clone(),
                sampler: sampler.clone(),
                n_landmarks: LandmarkCount::Exact(*c),
                variant: Variant::Cholesky,
                seed,
                ..Default::default()
            };
            let F = params.fit_transform(X.as_ref())?.1;
            Ok(relative_error(kernel, X.as_ref(), F.as_ref())?)
        };
        counts.iter().map(error).collect()
    };
    let mut job = job(scale, kernel, method, variant, errors);
    job.setting = job.setting.with("sampler", name);
    job
}

fn svd(
    X: &Mat<f64>,
    kernel: &Kernel,
    counts: &[usize],
    _: u64,
) -> Result<Vec<f64>, ExperimentError> {
    let errors = best_rank_errors(kernel, X.as_ref(), counts)?;
    Ok(errors.iter().map(|error| error.frobenius).collect())
}

/// The curve of errors over the shares, on the random part of each seed.
fn job(
    scale: &Scale,
    kernel: &Kernel,
    method: &str,
    variant: &str,
    errors: impl Fn(&Mat<f64>, &Kernel, &[usize], u64) -> Result<Vec<f64>, ExperimentError> + 'static,
) -> Job {
    let (kernel, n) = (kernel.clone(), N_SAMPLES.min(scale.usps.train));
    let setting = Setting::new(ID, variant, method, "usps")
        .with("samples", n)
        .with("prepare", PREPARE)
        .with("kernel", &kernel)
        .with("precision", "f64");
    let shares = scale.points(&SHARES, &FEW_SHARES);
    let place = |x: &f64| Place { quantity: Quantity::KernelError, x: Some(*x) };
    let (places, estimate) = (shares.iter().map(place).collect(), SECONDS * shares.len() as f64);
    let work = move |sets: &Sets, seed| {
        let X = random_part(sets, n, seed)?;
        let count = |share: &f64| (share / 100.0 * X.ncols() as f64).round() as usize;
        let counts: Vec<usize> = shares.iter().map(count).collect();
        let start = Instant::now();
        let errors = errors(&X, &kernel, &counts, seed)?;
        let train = start.elapsed().as_secs_f64() / counts.len() as f64;
        let trial = |value| Trial { value, train, test: 0.0, memory: 0 };
        Ok(errors.into_iter().map(trial).collect())
    };
    Job::new(setting, places, work).runs(scale.usps.runs).estimate(estimate).reduced(n != N_SAMPLES)
}

/// n samples, prepared.
fn random_part(sets: &Sets, n: usize, seed: u64) -> Result<Mat<f64>, ExperimentError> {
    let all = sets.parts(NamedSet::Usps)?;
    let share = (n as f64 / all.train.n_samples() as f64).min(0.999);
    let part = split(&all.train, share, seed)?.test.samples;
    let prepare: PrepareParams = PREPARE.parse()?;
    Ok(prepare.fit(part.as_ref())?.apply(part.as_ref())?.samples)
}
