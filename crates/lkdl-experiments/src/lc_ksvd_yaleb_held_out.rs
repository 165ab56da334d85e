//! LC-KSVD + LKDL on halves of Extended Yale B with a rank that no test sample has seen: of the ranks
//! of the paper, of the program and the whole one, the best on a quarter of the training samples that
//! was held out; then all training samples are learned with it. Width and weights are the program's.

use crate::Options;
use crate::error::ExperimentError;
use crate::faces::WHOLE_RANK;
use crate::lc_ksvd_yaleb::random_halves;
use crate::record::{Published, Record};
use crate::repeat::{Trial, repeat};
use lkdl::prelude::*;
use lkdl_data::{TrainTest, stratified_split};
use std::cell::RefCell;

const ID: &str = "lc-ksvd-yaleb-held-out";
const PUBLISHED: Published = Published { value: 96.33, tolerance: 1.5 };
const RANKS: [usize; 3] = [400, 504, WHOLE_RANK];
const HELD_OUT: f64 = 0.25;

/// Both variants on random halves, one per seed.
pub(crate) fn run(options: &Options) -> Result<Vec<Record>, ExperimentError> {
    let halves = random_halves(options)?;
    let variants = [
        ("LC-KSVD1 + LKDL", LcVariant::Lc1, (1.0 / 200.0, 0.0)),
        ("LC-KSVD2 + LKDL", LcVariant::Lc2, (1.0 / 600.0, 1.0 / 900.0)),
    ];
    variants
        .map(|(name, variant, weights)| record(name, variant, weights, &halves))
        .into_iter()
        .collect()
}

fn record(
    name: &'static str,
    variant: LcVariant,
    (sqrt_alpha, sqrt_beta): (f64, f64),
    halves: &[TrainTest],
) -> Result<Record, ExperimentError> {
    let method = LcKsvdParams {
        variant,
        n_atoms: 570,
        sparsity: 30,
        sqrt_alpha,
        sqrt_beta,
        ..Default::default()
    };
    let chosen = RefCell::new(Vec::new());
    let outcome = repeat(halves.len(), |seed| {
        let half = &halves[seed as usize];
        let rank = best_rank(&method, half, seed)?;
        chosen.borrow_mut().push(if rank == WHOLE_RANK { "N".into() } else { rank.to_string() });
        Trial::run::<f32, _>(&pipeline(&method, rank, half, seed)?, half)
    })?;
    Ok(Record::new(ID, name, "yaleb-halves", &outcome, Some(PUBLISHED))
        .variant("k held out")
        .with("ranks", chosen.into_inner().join(", "))
        .with("sqrt_alpha", sqrt_alpha)
        .with("sqrt_beta", sqrt_beta))
}

/// The rank of the highest accuracy on held-out training samples, the first of equals.
fn best_rank(method: &LcKsvdParams, half: &TrainTest, seed: u64) -> Result<usize, ExperimentError> {
    let split = stratified_split(&half.train.labels, HELD_OUT, seed)?;
    let inner = TrainTest {
        train: half.train.subset(&split.train)?,
        test: half.train.subset(&split.test)?,
    };
    let mut best = (f64::NEG_INFINITY, RANKS[0]);
    for rank in RANKS {
        let trial = Trial::run::<f32, _>(&pipeline(method, rank, &inner, seed)?, &inner)?;
        if trial.accuracy > best.0 {
            best = (trial.accuracy, rank);
        }
    }
    Ok(best.1)
}

/// Every training sample a landmark.
fn pipeline(
    method: &LcKsvdParams,
    rank: usize,
    set: &TrainTest,
    seed: u64,
) -> Result<LkdlParams<LcKsvdParams>, ExperimentError> {
    let n = set.train.n_samples();
    Ok(LkdlParams {
        prepare: "l2".parse()?,
        map: MapParams::Nystroem(NystroemParams {
            kernel: Kernel::Gaussian { sigma: 2.0 },
            sampler: Sampler::Uniform,
            n_landmarks: LandmarkCount::Exact(n),
            rank: Rank::Exact(rank.min(n)),
            seed,
            ..Default::default()
        }),
        method: LcKsvdParams { seed, ..method.clone() },
        memory: None,
    })
}
