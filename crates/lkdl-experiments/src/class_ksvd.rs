//! What figures 1b to 4 share: K-SVD for each class, on the samples, on virtual samples, or exactly
//! in the kernel's space; the class that represents a test sample best wins. All in `f32`.

use crate::error::ExperimentError;
use crate::job::{Job, Place, Setting};
use crate::scale::{Scale, Sizes};
use crate::sets::Sets;
use crate::trial::{Trial, run_corrupted};
use lkdl::prelude::*;
use lkdl_data::{Corruption, NamedSet, TrainTest};

/// Multiplications and additions per second that a fit gets through on two cores, all stages
/// together: for estimates of time.
const PACE: f64 = 6e10;
/// Lloyd steps until k-means stops, about.
const LLOYD_STEPS: f64 = 20.0;

/// Data and parameters of a figure.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    pub(crate) set: NamedSet,
    pub(crate) sizes: Sizes,
    pub(crate) prepare: &'static str,
    /// m per class.
    pub(crate) n_atoms: usize,
    pub(crate) max_iters: usize,
    /// q.
    pub(crate) sparsity: usize,
    /// Bytes a fit may use.
    pub(crate) memory: Option<u64>,
    /// Sizes are smaller than the paper's.
    pub(crate) reduced: bool,
    /// N, test samples and p, to estimate times by.
    pub(crate) shape: (usize, usize, usize),
}

/// In which space dictionaries are learned.
#[derive(Debug, Clone)]
pub(crate) enum Space {
    /// That of the samples.
    Linear,
    /// That of the virtual samples.
    Virtual(MapParams),
    /// That of the kernel.
    Kernel { kernel: Kernel, update: KernelUpdate },
}

/// One line of a figure.
pub(crate) struct Line {
    pub(crate) experiment: &'static str,
    pub(crate) variant: String,
    pub(crate) method: String,
    pub(crate) space: Space,
}

impl Line {
    pub(crate) fn new(
        experiment: &'static str,
        variant: impl Into<String>,
        method: impl Into<String>,
        space: Space,
    ) -> Self {
        Self { experiment, variant: variant.into(), method: method.into(), space }
    }
}

impl Recipe {
    /// USPS: 300 atoms per class, 5 iterations, 5 non-zeros, every image centred.
    pub(crate) fn usps(scale: &Scale) -> Self {
        Self {
            set: NamedSet::Usps,
            sizes: scale.usps,
            prepare: "center,l2",
            n_atoms: scale.usps.atoms.min(300),
            max_iters: 5,
            sparsity: 5,
            memory: scale.memory,
            reduced: !scale.usps.is_paper(),
            shape: (scale.usps.train.min(7291), scale.usps.test.min(2007), 256),
        }
    }

    /// MNIST: 700 atoms per class, 2 iterations, 11 non-zeros.
    pub(crate) fn mnist(scale: &Scale) -> Self {
        Self {
            set: NamedSet::Mnist,
            sizes: scale.mnist,
            prepare: "l2",
            n_atoms: scale.mnist.atoms.min(700),
            max_iters: 2,
            sparsity: 11,
            memory: scale.memory,
            reduced: !scale.mnist.is_paper(),
            shape: (scale.mnist.train.min(60_000), scale.mnist.test.min(10_000), 784),
        }
    }

    /// The same with so many training samples, at most.
    pub(crate) fn with_train(mut self, n_train: usize) -> Self {
        self.sizes.train = self.sizes.train.min(n_train);
        self.shape.0 = self.shape.0.min(n_train);
        self
    }

    /// The same with so many non-zeros.
    pub(crate) fn with_sparsity(self, sparsity: usize) -> Self {
        Self { sparsity, ..self }
    }

    /// N.
    pub(crate) fn n_train(&self) -> usize {
        self.shape.0
    }

    /// A line's accuracy on clean test samples, at one place.
    pub(crate) fn accuracy(&self, line: Line, x: Option<f64>) -> Job {
        self.job(line, vec![(Place::accuracy(x), None)])
    }

    /// A line's accuracies under several conditions, trained once.
    pub(crate) fn job(&self, line: Line, tests: Vec<(Place, Option<Corruption>)>) -> Job {
        let (places, conditions): (Vec<_>, Vec<_>) = tests.into_iter().unzip();
        let estimate = self.seconds(&line.space, conditions.len());
        let (setting, recipe, space) = (self.setting(&line), self.clone(), line.space);
        Job::new(setting, places, move |sets, seed| recipe.run(&space, sets, &conditions, seed))
            .runs(self.sizes.runs)
            .estimate(estimate)
            .reduced(self.reduced)
    }

    /// A line's accuracy, times and memory at one place.
    pub(crate) fn costs(&self, line: Line, x: f64) -> Job {
        let estimate = self.seconds(&line.space, 1);
        let (setting, recipe, space) = (self.setting(&line), self.clone(), line.space);
        let work = move |sets: &Sets, seed| Ok(recipe.run(&space, sets, &[None], seed)?[0]);
        Job::of_costs(setting, Some(x), work)
            .runs(self.sizes.runs)
            .estimate(estimate)
            .reduced(self.reduced)
    }

    fn run(
        &self,
        space: &Space,
        sets: &Sets,
        conditions: &[Option<Corruption>],
        seed: u64,
    ) -> Result<Vec<Trial>, ExperimentError> {
        let set = sets.parts(self.set)?;
        let set = self.sizes.cut(&set)?;
        let (n_atoms, sparsity, max_iters, tol) =
            (self.n_atoms, self.sparsity, self.max_iters, 0.0);
        match space {
            Space::Linear | Space::Virtual(_) => {
                let learner = KsvdParams::<f32> {
                    n_atoms,
                    sparsity,
                    max_iters,
                    tol,
                    seed,
                    ..Default::default()
                };
                let map = match space {
                    Space::Virtual(map) => seeded(map.clone(), seed),
                    _ => MapParams::None,
                };
                self.measure(
                    ClassDictionariesParams { learner, sparsity },
                    map,
                    &set,
                    conditions,
                    seed,
                )
            }
            Space::Kernel { kernel, update } => {
                let learner = KernelKsvdParams::<f32> {
                    n_atoms,
                    sparsity,
                    max_iters,
                    tol,
                    update: *update,
                    seed,
                    ..Default::default()
                };
                let (kernel, memory) = (kernel.clone(), None);
                let method = KernelDictionariesParams { kernel, learner, sparsity, memory };
                self.measure(method, MapParams::None, &set, conditions, seed)
            }
        }
    }

    fn measure<M: Train<f32>>(
        &self,
        method: M,
        map: MapParams,
        set: &TrainTest,
        conditions: &[Option<Corruption>],
        seed: u64,
    ) -> Result<Vec<Trial>, ExperimentError> {
        let params = LkdlParams { prepare: self.prepare.parse()?, map, method, memory: None };
        if let Some(budget) = self.memory {
            let sizes = set.train.class_counts();
            let need = params.memory_plan::<f32>(set.train.n_features(), &sizes)?.peak().bytes;
            if need > budget {
                return Err(ExperimentError::DoesNotFit { need, budget });
            }
        }
        Ok(run_corrupted(&params, set, conditions, seed)?.1)
    }

    fn setting(&self, line: &Line) -> Setting {
        let setting = Setting::new(line.experiment, &line.variant, &line.method, self.set.name())
            .with("prepare", self.prepare)
            .with("atoms", self.n_atoms)
            .with("iterations", self.max_iters)
            .with("sparsity", self.sparsity)
            .with("train", self.shape.0)
            .with("test", self.shape.1)
            .with("precision", "f32");
        match &line.space {
            Space::Linear => setting,
            Space::Virtual(map) => described(setting, map),
            Space::Kernel { kernel, update } => {
                setting.with("kernel", kernel).with("update", format!("{update:?}").to_lowercase())
            }
        }
    }

    /// Seconds that a fit and `tests` tests take, from their operations.
    fn seconds(&self, space: &Space, tests: usize) -> f64 {
        let [n, t, p] = [self.shape.0, self.shape.1, self.shape.2].map(|v| v as f64);
        let [m, q, iterations] = [self.n_atoms, self.sparsity, self.max_iters].map(|v| v as f64);
        let (classes, tests) = (10.0, tests as f64);
        let pursuit = m * (q * q - 1.0);
        let linear = |k: f64| {
            let iteration = n * (2.0 * m * k + pursuit + 10.0 * k * q) + classes * m * m * k;
            iterations * iteration + tests * t * classes * (2.0 * m * k + pursuit)
        };
        let flops = match space {
            Space::Linear => linear(p),
            Space::Virtual(MapParams::Nystroem(map)) => {
                let c = landmarks(map, self.shape.0) as f64;
                let k = rank(map).min(c as usize) as f64;
                let select = match map.sampler {
                    Sampler::KMeans { .. } => LLOYD_STEPS * 2.0 * n * c * p,
                    Sampler::RpCholesky => n * c * c,
                    Sampler::Hybrid { .. } => n * c * c + 10.0 * n * c * p,
                    _ => 2.0 * n * p,
                };
                // an iterative eigen-solve in f64, at half the pace
                let factor = c * c * (p + 16.0 * k);
                select + factor + 2.0 * (n + tests * t) * c * (p + k) + linear(k)
            }
            Space::Virtual(MapParams::Fourier(map)) => {
                map.rank as f64 * p * (n + tests * t) + linear(map.rank as f64)
            }
            Space::Virtual(MapParams::Fastfood(map)) => linear(map.rank as f64),
            Space::Virtual(_) => linear(p),
            Space::Kernel { .. } => {
                let train = 2.0 * n * n / classes * (p + m * (1.0 + iterations));
                train + tests * 2.0 * n * t * (p + m)
            }
        };
        flops / PACE
    }
}

/// The map with all its draws from `seed`.
pub(crate) fn seeded(mut map: MapParams, seed: u64) -> MapParams {
    match &mut map {
        MapParams::Nystroem(params) => params.seed = seed,
        MapParams::Fourier(params) => params.seed = seed,
        MapParams::Fastfood(params) => params.seed = seed,
        _ => {}
    }
    map
}

/// The setting with a map in words.
pub(crate) fn described(setting: Setting, map: &MapParams) -> Setting {
    match map {
        MapParams::Nystroem(map) => {
            let c = match map.n_landmarks {
                LandmarkCount::Exact(c) => c.to_string(),
                LandmarkCount::Share(share) => format!("{}%", (1e4 * share).round() / 1e2),
                LandmarkCount::Auto { trace_error, .. } => format!("auto({trace_error})"),
            };
            let k = match map.rank {
                Rank::Standard => "standard".into(),
                Rank::Exact(k) => k.to_string(),
                Rank::Trace(share) => format!("auto({share})"),
            };
            let setting = setting
                .with("map", "nystroem")
                .with("kernel", &map.kernel)
                .with("sampler", &map.sampler)
                .with("landmarks", c)
                .with("rank", k);
            match map.variant {
                Variant::Standard => setting,
                other => setting.with("factor", format!("{other:?}").to_lowercase()),
            }
        }
        MapParams::Fourier(map) => {
            setting.with("map", "rff").with("sigma", map.sigma).with("rank", map.rank)
        }
        MapParams::Fastfood(map) => {
            setting.with("map", "fastfood").with("sigma", map.sigma).with("rank", map.rank)
        }
        _ => setting,
    }
}

fn landmarks(map: &NystroemParams, n_train: usize) -> usize {
    match map.n_landmarks {
        LandmarkCount::Exact(c) => c,
        LandmarkCount::Share(share) => (share * n_train as f64) as usize,
        LandmarkCount::Auto { .. } => 512, // what it comes to on digits, about
    }
}

fn rank(map: &NystroemParams) -> usize {
    match map.rank {
        Rank::Exact(k) => k,
        _ => 256,
    }
}
