//! What the LC-KSVD experiments on faces have in common: one row of the table, run once per seed.

use crate::error::ExperimentError;
use crate::job::{Job, Place, Setting};
use crate::scale::Sizes;
use crate::sets::Sets;
use crate::trial::{Trial, run_corrupted};
use lkdl::prelude::*;
use lkdl_data::TrainTest;

/// All the rank there is.
pub(crate) const WHOLE_RANK: usize = usize::MAX;
/// Seconds that a row of 570 atoms takes on two cores, about.
const SECONDS: f64 = 12.0;

/// One row: how samples are prepared and mapped, and what is learned from them.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// Whose settings.
    pub(crate) settings: &'static str,
    /// σ and k (at most N) of a Gaussian map whose landmarks are all training samples.
    kernel: Option<(f64, usize)>,
    params: LcKsvdParams,
    /// Whether it is worth running on random splits too.
    pub(crate) repeated: bool,
}

/// Where a row is run: an experiment, its set with so many classes, and how much of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stage {
    pub(crate) experiment: &'static str,
    pub(crate) dataset: &'static str,
    pub(crate) n_classes: usize,
    pub(crate) sizes: Sizes,
}

impl Stage {
    /// A part of the classes has its part of the atoms.
    pub(crate) fn n_atoms(&self, of_all_classes: usize) -> usize {
        of_all_classes * self.n_classes.min(self.sizes.classes) / self.n_classes
    }

    /// Seconds that a dictionary of so many atoms takes, about.
    pub(crate) fn seconds(n_atoms: usize) -> f64 {
        SECONDS * (n_atoms as f64 / 570.0).powi(2)
    }
}

impl Row {
    /// On the features as they are, or by LKDL on unit samples.
    pub(crate) fn new(
        settings: &'static str,
        kernel: Option<(f64, usize)>,
        params: LcKsvdParams,
    ) -> Self {
        Self { settings, kernel, params, repeated: false }
    }

    /// The same row, marked.
    pub(crate) fn repeated(self) -> Self {
        Self { repeated: true, ..self }
    }

    /// The same row with another dictionary.
    pub(crate) fn with_sizes(mut self, n_atoms: usize, sparsity: usize) -> Self {
        (self.params.n_atoms, self.params.sparsity) = (n_atoms, sparsity);
        self
    }

    /// The same row with another rank of its map.
    pub(crate) fn with_rank(mut self, rank: usize) -> Self {
        self.kernel = self.kernel.map(|(sigma, _)| (sigma, rank));
        self
    }

    /// The same row with the part of the atoms that a stage has.
    pub(crate) fn on(self, stage: Stage) -> Self {
        let n_atoms = stage.n_atoms(self.params.n_atoms);
        let sparsity = self.params.sparsity.min(n_atoms);
        self.with_sizes(n_atoms, sparsity)
    }

    /// Seconds that a run takes, about.
    pub(crate) fn seconds(&self) -> f64 {
        Stage::seconds(self.params.n_atoms)
    }

    fn method(&self) -> String {
        let variant = match self.params.variant {
            LcVariant::Lc1 => "LC-KSVD1",
            LcVariant::Lc2 => "LC-KSVD2",
            LcVariant::Discriminative => "D-KSVD",
        };
        format!("{variant}{}", if self.kernel.is_some() { " + LKDL" } else { "" })
    }

    fn prepare(&self) -> &'static str {
        if self.kernel.is_some() { "l2" } else { "none" }
    }

    /// Trains and tests once per seed on the set of that seed.
    pub(crate) fn job(
        &self,
        stage: Stage,
        x: Option<f64>,
        set: impl Fn(&Sets, u64) -> Result<TrainTest, ExperimentError> + 'static,
    ) -> Job {
        self.measured(stage, vec![Place::accuracy(x)], set, |_, _, accuracy| Ok(vec![accuracy]))
    }

    /// The same with other measurements of the trained model.
    pub(crate) fn measured(
        &self,
        stage: Stage,
        places: Vec<Place>,
        set: impl Fn(&Sets, u64) -> Result<TrainTest, ExperimentError> + 'static,
        measure: impl Fn(&Model, &TrainTest, Trial) -> Result<Vec<Trial>, ExperimentError> + 'static,
    ) -> Job {
        let sizes = stage.sizes;
        let row = self.clone().on(stage);
        let (setting, seconds) = (row.setting(stage), row.seconds());
        let work = move |sets: &Sets, seed| {
            let set = set(sets, seed)?;
            let set = sizes.cut(&set)?;
            let (model, accuracy) = row.trained(&set, seed)?;
            measure(&model, &set, accuracy)
        };
        Job::new(setting, places, work)
            .runs(sizes.runs)
            .estimate(seconds)
            .reduced(!sizes.is_paper())
    }

    /// Trains and tests once.
    pub(crate) fn trained(
        &self,
        set: &TrainTest,
        seed: u64,
    ) -> Result<(Model, Trial), ExperimentError> {
        let params = self.pipeline(set.train.n_samples(), seed)?;
        let (model, trials) = run_corrupted(&params, set, &[None], seed)?;
        Ok((model, trials[0]))
    }

    pub(crate) fn setting(&self, stage: Stage) -> Setting {
        let map = match self.kernel {
            Some((sigma, WHOLE_RANK)) => format!("gaussian(sigma={sigma}), c = k = N"),
            Some((sigma, rank)) => format!("gaussian(sigma={sigma}), c = N, k = {rank}"),
            None => "none".into(),
        };
        Setting::new(stage.experiment, self.settings, self.method(), stage.dataset)
            .with("prepare", self.prepare())
            .with("map", map)
            .with("classes", stage.n_classes.min(stage.sizes.classes))
            .with("atoms", self.params.n_atoms)
            .with("sparsity", self.params.sparsity)
            .with("sqrt_alpha", self.params.sqrt_alpha)
            .with("sqrt_beta", self.params.sqrt_beta)
            .with("precision", "f64")
    }

    fn pipeline(
        &self,
        n_samples: usize,
        seed: u64,
    ) -> Result<LkdlParams<LcKsvdParams>, ExperimentError> {
        let gaussian = |(sigma, rank): (f64, usize)| {
            MapParams::Nystroem(NystroemParams {
                kernel: Kernel::Gaussian { sigma },
                sampler: Sampler::Uniform,
                n_landmarks: LandmarkCount::Exact(n_samples),
                rank: Rank::Exact(rank.min(n_samples)),
                seed,
                ..Default::default()
            })
        };
        Ok(LkdlParams {
            prepare: self.prepare().parse()?,
            map: self.kernel.map_or(MapParams::None, gaussian),
            method: LcKsvdParams { seed, ..self.params.clone() },
            memory: None,
        })
    }
}

/// A trained row.
pub(crate) type Model = Lkdl<f64, LcKsvd<f64>>;
