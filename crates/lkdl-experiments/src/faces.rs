//! What the LC-KSVD experiments on faces have in common: one row of the table, run once per seed.

use crate::error::ExperimentError;
use crate::record::{Published, Record};
use crate::repeat::{Trial, repeat};
use lkdl::prelude::*;
use lkdl_data::TrainTest;

/// Points that an accuracy may be from the published one: features are rebuilt with another
/// projection, and splits differ.
const TOLERANCE: f64 = 1.5;

/// All the rank there is.
pub(crate) const WHOLE_RANK: usize = usize::MAX;

/// One row: how samples are prepared and mapped, and what is learned from them.
pub(crate) struct Row {
    /// Whose settings.
    settings: &'static str,
    /// σ and k (at most N) of a Gaussian map whose landmarks are all training samples.
    kernel: Option<(f64, usize)>,
    params: LcKsvdParams,
    /// The published accuracy in %.
    published: f64,
    /// Whether it is worth running on random splits too.
    pub(crate) repeated: bool,
}

impl Row {
    /// On the features as they are, or by LKDL on unit samples.
    pub(crate) fn new(
        settings: &'static str,
        kernel: Option<(f64, usize)>,
        params: LcKsvdParams,
        published: f64,
    ) -> Self {
        Self { settings, kernel, params, published, repeated: false }
    }

    /// The same row, marked.
    pub(crate) fn repeated(self) -> Self {
        Self { repeated: true, ..self }
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
    pub(crate) fn run(
        &self,
        experiment: &'static str,
        dataset: &'static str,
        sets: &[TrainTest],
    ) -> Result<Record, ExperimentError> {
        let outcome = repeat(sets.len(), |seed| {
            let set = &sets[seed as usize];
            Trial::run::<f64, _>(&self.pipeline(set.train.n_samples(), seed)?, set)
        })?;
        let published = Published { value: self.published, tolerance: TOLERANCE };
        let map = match self.kernel {
            Some((sigma, WHOLE_RANK)) => format!("gaussian(sigma={sigma}), c = k = N"),
            Some((sigma, rank)) => format!("gaussian(sigma={sigma}), c = N, k = {rank}"),
            None => "none".into(),
        };
        Ok(Record::new(experiment, self.method(), dataset, &outcome, Some(published))
            .variant(self.settings)
            .with("prepare", self.prepare())
            .with("map", map)
            .with("atoms", self.params.n_atoms)
            .with("sparsity", self.params.sparsity)
            .with("sqrt_alpha", self.params.sqrt_alpha)
            .with("sqrt_beta", self.params.sqrt_beta))
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
