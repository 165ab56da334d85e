//! LC-KSVD + LKDL on halves of Extended Yale B with a rank that no test sample has seen: of the ranks
//! of the paper, of the program and the whole one, the best on a quarter of the training samples that
//! was held out; then all training samples are learned with it. Width and weights are the program's.

use crate::error::ExperimentError;
use crate::faces::{Row, Stage, WHOLE_RANK};
use crate::job::{Job, Place, Setting};
use crate::lc_ksvd_yaleb::{N_CLASSES, halves, rows};
use crate::quantity::Quantity;
use crate::scale::Scale;
use crate::sets::{Sets, split};
use crate::trial::Trial;
use lkdl_data::TrainTest;
use std::time::Instant;

const RANKS: [usize; 3] = [400, 504, WHOLE_RANK];
const HELD_OUT: f64 = 0.25;

/// Both methods with LKDL on random halves, one per seed.
pub(crate) fn jobs(scale: &Scale) -> Vec<Job> {
    let stage = Stage {
        experiment: "yaleb-held-out",
        dataset: "yaleb-halves",
        n_classes: N_CLASSES,
        sizes: scale.faces,
    };
    let program = rows().into_iter().filter(|row| row.settings == "code");
    program.map(|row| job(row.on(stage), stage)).collect()
}

/// The accuracy, and the rank that was chosen. The time to choose is time to train.
fn job(row: Row, stage: Stage) -> Job {
    let setting = Setting { variant: "code, k held out".into(), ..row.setting(stage) }
        .with("map", "gaussian(sigma=2), c = N, k of 400, 504, N")
        .with("held_out", HELD_OUT);
    let places = vec![Place::accuracy(None), Place { quantity: Quantity::Rank, x: None }];
    let estimate = row.seconds() * (1 + RANKS.len()) as f64;
    let work = move |sets: &Sets, seed| {
        let half = halves(sets, seed)?;
        let half = stage.sizes.cut(&half)?;
        let start = Instant::now();
        let rank = best_rank(&row, &half, seed)?;
        let choosing = start.elapsed().as_secs_f64();
        let (_, trial) = row.clone().with_rank(rank).trained(&half, seed)?;
        let accuracy = Trial { train: choosing + trial.train, ..trial };
        let value = rank.min(half.train.n_samples()) as f64;
        Ok(vec![accuracy, Trial { value, ..accuracy }])
    };
    Job::new(setting, places, work)
        .runs(stage.sizes.runs)
        .estimate(estimate)
        .reduced(!stage.sizes.is_paper())
}

/// The rank of the highest accuracy on held-out training samples, the first of equals.
fn best_rank(row: &Row, half: &TrainTest, seed: u64) -> Result<usize, ExperimentError> {
    let inner = split(&half.train, HELD_OUT, seed)?;
    let mut best = (f64::NEG_INFINITY, RANKS[0]);
    for rank in RANKS {
        let (_, trial) = row.clone().with_rank(rank).trained(&inner, seed)?;
        if trial.value > best.0 {
            best = (trial.value, rank);
        }
    }
    Ok(best.1)
}
