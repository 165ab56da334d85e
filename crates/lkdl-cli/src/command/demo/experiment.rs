//! The experiment: three methods on random splits of the digits, learned from clean samples and
//! tested on corrupted ones (the paper's robustness experiment, its Figure 2).
//!
//! All get the same preparation, atoms, sparsity and iterations, chosen by their accuracy on clean
//! samples; the kernel is the only difference, and whether it is approximated. How much hangs on the
//! sparsity is measured too.

use crate::failure::Failure;
use crate::folds::indices;
use faer::Mat;
use lkdl::prelude::*;
use lkdl_data::{Corruption, Dataset, Labels, Table, digits, stratified_split};
use lkdl_model::Classifier;
use serde::Serialize;
use std::time::Instant;

use super::gallery::Gallery;

/// Levels of noise and of missing pixels; 0 is clean.
const NOISE: [f64; 5] = [0.0, 0.3, 0.6, 0.9, 1.2];
const MISSING: [f64; 4] = [0.0, 0.3, 0.5, 0.7];
/// Atoms per code, for the question how much hangs on it.
const SPARSITIES: [usize; 6] = [1, 2, 3, 4, 5, 6];
/// The levels that question is asked at.
const SPARSITY_LEVELS: [Condition; 3] =
    [Condition::noise(0.0), Condition::noise(0.9), Condition::missing(0.7)];
/// What a missing pixel holds: mid-grey of pixels in [−1, 1].
const MISSING_VALUE: f64 = 0.0;
/// Grey values of the digits: 0..16.
const LARGEST_GREY: f64 = 16.0;

/// A trained pipeline.
pub type Model = Lkdl<f32, Classifier<f32>>;

/// Everything that was chosen.
#[derive(Debug, Clone, Serialize)]
pub struct Parameters {
    pub test_share: f64,
    pub prepare: &'static str,
    pub atoms_per_class: usize,
    pub sparsity: usize,
    pub iterations: usize,
    pub kernel: &'static str,
    pub degree: f64,
    pub landmarks: usize,
    pub rank: usize,
    pub precision: &'static str,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            test_share: 0.25,
            prepare: "center,l2",
            atoms_per_class: 30,
            sparsity: 3,
            iterations: 10,
            kernel: "polynomial",
            degree: 2.0,
            landmarks: 256,
            rank: 128,
            precision: "f32",
        }
    }
}

/// The methods: the subject first, then what it is held against, then what it approximates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Lkdl,
    Linear,
    Kernel,
}

impl Method {
    pub const ALL: [Self; 3] = [Self::Lkdl, Self::Linear, Self::Kernel];

    pub fn name(self) -> &'static str {
        match self {
            Self::Lkdl => "LKDL",
            Self::Linear => "linear K-SVD",
            Self::Kernel => "kernel K-SVD",
        }
    }

    /// What it is tried with; the exact kernel method goes as LKDL does, and takes its time.
    fn sparsities(self, usual: usize) -> Vec<usize> {
        match self {
            Self::Lkdl | Self::Linear => SPARSITIES.to_vec(),
            Self::Kernel => vec![usual],
        }
    }
}

/// A kind of corruption at a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Condition {
    pub kind: &'static str,
    pub level: f64,
}

impl Condition {
    pub const fn noise(level: f64) -> Self {
        Self { kind: "noise", level }
    }

    pub const fn missing(level: f64) -> Self {
        Self { kind: "missing", level }
    }

    /// All that are measured, in the order of the results.
    pub fn all() -> impl Iterator<Item = Self> {
        NOISE.into_iter().map(Self::noise).chain(MISSING.into_iter().map(Self::missing))
    }

    /// The samples as the methods get to see them.
    pub fn apply(self, test: &Dataset, seed: u64) -> Result<Mat<f32>, Failure> {
        let corruption = match self.kind {
            "noise" => Corruption::GaussianNoise { sigma: self.level },
            _ => Corruption::MissingPixels { fraction: self.level, value: MISSING_VALUE },
        };
        let mut samples = test.convert::<f32>();
        corruption.apply(&mut samples, seed)?;
        Ok(samples)
    }
}

/// One accuracy.
#[derive(Debug, Clone, Copy)]
pub struct Measurement {
    pub method: Method,
    pub sparsity: usize,
    pub condition: Condition,
    pub accuracy: f64,
    /// Seconds to classify the test samples.
    pub seconds: f64,
}

/// The stages of a fit, in seconds.
#[derive(Debug, Clone, Copy)]
pub struct FitSeconds {
    pub method: Method,
    pub map: f64,
    pub learn: f64,
}

/// What one split gave.
pub struct Record {
    pub measurements: Vec<Measurement>,
    pub fits: Vec<FitSeconds>,
    /// Pictures, of the first split only.
    pub gallery: Option<Gallery>,
}

/// The digits, ready.
pub struct Experiment {
    pub parameters: Parameters,
    /// Pixels scaled to [−1, 1].
    pub set: Dataset,
    /// SHA-256 of the digits as they are embedded.
    pub checksum: String,
}

impl Experiment {
    pub fn new() -> Result<Self, Failure> {
        let set = digits()?;
        let labels = Labels { indices: set.labels.clone(), class_names: set.class_names.clone() };
        let table = Table::new(set.name.clone(), set.samples.clone(), Some(labels))?;
        let scaled = |t, i| set.samples[(t, i)] / (LARGEST_GREY / 2.0) - 1.0;
        let samples = Mat::from_fn(set.n_features(), set.n_samples(), scaled);
        let checksum = table.checksum();
        Ok(Self { parameters: Parameters::default(), set: Dataset { samples, ..set }, checksum })
    }

    /// Steps of progress in one run.
    pub fn fits_per_run(&self) -> usize {
        let usual = self.parameters.sparsity;
        Method::ALL.iter().map(|method| method.sparsities(usual).len()).sum()
    }

    /// Everything on one split. The seed decides the split, the landmarks, the first atoms and the
    /// corruption. `done` is called after every fit.
    pub fn run(&self, seed: u64, with_gallery: bool, done: &dyn Fn()) -> Result<Record, Failure> {
        let split = stratified_split(&self.set.labels, self.parameters.test_share, seed)?;
        let (train, test) = (self.set.subset(&split.train)?, self.set.subset(&split.test)?);
        let mut record = Record { measurements: Vec::new(), fits: Vec::new(), gallery: None };
        let mut models = Vec::new();
        for method in Method::ALL {
            for sparsity in method.sparsities(self.parameters.sparsity) {
                let (model, seconds) = self.fit(method, sparsity, &train, seed)?;
                let own = sparsity == self.parameters.sparsity;
                let more = Condition::all().filter(|c| own && !SPARSITY_LEVELS.contains(c));
                for condition in SPARSITY_LEVELS.into_iter().chain(more) {
                    let samples = condition.apply(&test, seed)?;
                    let start = Instant::now();
                    let predictions = model.predict(samples.as_ref())?;
                    let seconds = start.elapsed().as_secs_f64();
                    let accuracy = predictions.accuracy(&indices(&test))?;
                    record.measurements.push(Measurement {
                        method,
                        sparsity,
                        condition,
                        accuracy,
                        seconds,
                    });
                }
                if own {
                    record.fits.push(seconds);
                    models.push((method, model));
                }
                done();
            }
        }
        if with_gallery {
            record.gallery = Some(Gallery::new(&models, &test, seed)?);
        }
        Ok(record)
    }

    /// A fit in parts, so that each can be timed.
    fn fit(
        &self,
        method: Method,
        sparsity: usize,
        train: &Dataset,
        seed: u64,
    ) -> Result<(Model, FitSeconds), Failure> {
        let chosen = &self.parameters;
        let kernel = Kernel::Polynomial { degree: chosen.degree, offset: 0.0 };
        let map = match method {
            Method::Linear | Method::Kernel => MapParams::None,
            Method::Lkdl => MapParams::Nystroem(NystroemParams {
                kernel: kernel.clone(),
                n_landmarks: LandmarkCount::Exact(chosen.landmarks),
                rank: Rank::Exact(chosen.rank),
                seed,
                ..Default::default()
            }),
        };
        let (n_atoms, max_iters) = (chosen.atoms_per_class, chosen.iterations);

        let start = Instant::now();
        let samples = train.convert::<f32>();
        let preparation = chosen.prepare.parse::<PrepareParams>()?.fit(samples.as_ref())?;
        let prepared = preparation.apply(samples.as_ref())?.samples;
        let map = map.fit(prepared.as_ref())?;
        let virtual_samples = map.transform(prepared.as_ref())?;
        let mapped = Instant::now();
        let (samples, labels) = (virtual_samples.as_ref(), indices(train));
        let classifier: Classifier<f32> = if method == Method::Kernel {
            let learner =
                KernelKsvdParams { n_atoms, sparsity, max_iters, seed, ..Default::default() };
            let exact = KernelDictionariesParams { kernel, learner, sparsity, memory: None };
            exact.train(samples, &labels)?.into()
        } else {
            let learner = KsvdParams { n_atoms, sparsity, max_iters, seed, ..Default::default() };
            ClassDictionariesParams { learner, sparsity }.train(samples, &labels)?.into()
        };
        let seconds = FitSeconds {
            method,
            map: (mapped - start).as_secs_f64(),
            learn: mapped.elapsed().as_secs_f64(),
        };
        Ok((Lkdl::from_parts(preparation, map, classifier), seconds))
    }
}
