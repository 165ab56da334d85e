//! A rehearsal on the digits that are part of the program: the lines of figure 2a, in seconds and
//! without any file. Nothing was published for it.

use crate::error::ExperimentError;
use crate::job::{Job, Place, Setting};
use crate::scale::Scale;
use crate::sets::{Sets, split};
use crate::trial::run_corrupted;
use faer::Mat;
use lkdl::prelude::*;
use lkdl_data::{Corruption, Dataset, TrainTest, digits};

const NOISE: [f64; 5] = [0.0, 0.3, 0.6, 0.9, 1.2];
const N_ATOMS: usize = 30;
const SPARSITY: usize = 3;
const N_LANDMARKS: usize = 256;
const RANK: usize = 128;

pub(crate) fn jobs(scale: &Scale) -> Vec<Job> {
    let lkdl = MapParams::Nystroem(NystroemParams {
        n_landmarks: LandmarkCount::Exact(N_LANDMARKS),
        rank: Rank::Exact(RANK),
        ..Default::default()
    });
    [("LKDL hybrid", lkdl), ("K-SVD", MapParams::None)]
        .map(|(method, map)| job(scale, method, &map))
        .into()
}

fn job(scale: &Scale, method: &str, map: &MapParams) -> Job {
    let levels = scale.points(&NOISE, &[0.0, 0.9]);
    let places = levels.iter().map(|level| Place::accuracy(Some(*level))).collect();
    let setting = Setting::new("digits", "beyond", method, "digits")
        .with("atoms", N_ATOMS)
        .with("sparsity", SPARSITY)
        .with("precision", "f32");
    let setting = crate::class_ksvd::described(setting, map);
    let map = map.clone();
    let work = move |_: &Sets, seed| {
        let conditions: Vec<_> =
            levels.iter().map(|&sigma| Some(Corruption::GaussianNoise { sigma })).collect();
        let (n_atoms, sparsity) = (N_ATOMS, SPARSITY);
        let learner = KsvdParams::<f32> { n_atoms, sparsity, seed, ..Default::default() };
        let method = ClassDictionariesParams { learner, sparsity };
        let map = crate::class_ksvd::seeded(map.clone(), seed);
        let params = LkdlParams { prepare: "center,l2".parse()?, map, method, memory: None };
        Ok(run_corrupted(&params, &set(seed)?, &conditions, seed)?.1)
    };
    Job::new(setting, places, work).runs(scale.usps.runs).estimate(0.3)
}

/// Three quarters to learn from; grey values from 0…16 to −1…1, those of USPS.
fn set(seed: u64) -> Result<TrainTest, ExperimentError> {
    let mut all: Dataset = digits()?;
    all.samples =
        Mat::from_fn(all.n_features(), all.n_samples(), |t, i| all.samples[(t, i)] / 8.0 - 1.0);
    split(&all, 0.25, seed)
}
