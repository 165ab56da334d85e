//! Mini-batches: MNIST enlarged to 540,000 samples by one-pixel shifts, learned from blocks that are
//! forgotten again. κ = (xᵀy)², 700 atoms per class, 11 non-zeros, k = 784, images centred.
//!
//! The published program cuts the samples into nine parts, takes 1,000 k-means landmarks of each, and
//! shows RLS-DLA (λ₀ = 1) 12,000 vectors per class and part. Here the landmarks are 1,000 centres of
//! a pilot as large as a part, since virtual samples of nine maps would have nothing in common; two
//! passes show every class as many vectors, in batches of 256 instead of 20 and 50, each of which is a
//! solve for all atoms. Beyond it: online learning and MOD from sums with 2,048 landmarks of the
//! default sampler, and what the same settings give on the 60,000 images alone.

use crate::class_ksvd::{described, seeded};
use crate::error::ExperimentError;
use crate::figure_1b::SQUARE;
use crate::job::{Job, Setting};
use crate::scale::Scale;
use crate::sets::Sets;
use crate::trial::{Trial, labels, tested};
use lkdl::monitor::Silent;
use lkdl::prelude::*;
use lkdl::sampling::Seeding;
use lkdl::stream::{DriftParams, KeepNothing, StreamParams, SurveyParams};
use lkdl_data::{BlockSource, NamedSet, Table, TrainTest};
use std::time::Instant;

const ID: &str = "batch";
const PREPARE: &str = "center,l2";
const SPARSITY: usize = 11;
const RANK: usize = 784;
/// Samples of a part, and so of the pilot: a ninth of all.
const PART: usize = 60_000;
const BLOCK: usize = 4096;
/// Seconds of a run on two cores, about.
const SECONDS: f64 = 120.0;

/// Which samples a row learns from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Enlarged {
    /// The images, and each moved by one pixel in eight directions.
    NineTimes,
    /// The images.
    No,
}

pub(crate) fn jobs(scale: &Scale) -> Vec<Job> {
    let program = Sampler::k_means(Seeding::Uniform);
    let beyond = Sampler::default;
    use Enlarged::{NineTimes, No};
    vec![
        job(scale, "program", "RLS-DLA", NineTimes, &map(scale, program, 1000), rls(scale)),
        job(scale, "beyond", "online", NineTimes, &map(scale, beyond(), 2048), online(scale)),
        job(scale, "beyond", "MOD", NineTimes, &map(scale, beyond(), 2048), by_sums(scale)),
        job(scale, "60,000 images", "MOD", No, &map(scale, beyond(), 2048), by_sums(scale)),
    ]
}

fn map(scale: &Scale, sampler: Sampler, c: usize) -> MapParams {
    let c = c.min(scale.mnist.train);
    MapParams::Nystroem(NystroemParams {
        kernel: SQUARE,
        sampler,
        n_landmarks: LandmarkCount::Exact(c),
        rank: Rank::Exact(RANK.min(scale.mnist.rank).min(c)),
        ..Default::default()
    })
}

fn n_atoms(scale: &Scale) -> usize {
    scale.mnist.atoms.min(700)
}

/// As the program has it: every vector twice, nothing forgotten.
fn rls(scale: &Scale) -> StreamLearner<f32> {
    StreamLearner::Rls(RlsParams {
        n_atoms: n_atoms(scale),
        sparsity: SPARSITY,
        batch_size: 256,
        max_iters: 2,
        tol: 0.0,
        ..Default::default()
    })
}

fn online(scale: &Scale) -> StreamLearner<f32> {
    StreamLearner::Online(OnlineParams {
        n_atoms: n_atoms(scale),
        coding: OnlineCoding::Omp { sparsity: SPARSITY },
        max_iters: 1,
        tol: 0.0,
        ..Default::default()
    })
}

fn by_sums(scale: &Scale) -> StreamLearner<f32> {
    StreamLearner::Mod(ModParams {
        n_atoms: n_atoms(scale),
        sparsity: SPARSITY,
        max_iters: 2,
        tol: 0.0,
        ..Default::default()
    })
}

fn job(
    scale: &Scale,
    variant: &str,
    method: &str,
    enlarged: Enlarged,
    map: &MapParams,
    learner: StreamLearner<f32>,
) -> Job {
    let setting = Setting::new(ID, variant, format!("{method} + LKDL"), "mnist")
        .with("prepare", PREPARE)
        .with("atoms", n_atoms(scale))
        .with("sparsity", SPARSITY)
        .with("passes", learner.max_passes())
        .with("shifts", if enlarged == Enlarged::NineTimes { "9" } else { "1" })
        .with("precision", "f32");
    let setting = described(setting, map);
    let (map, sizes) = (map.clone(), scale.mnist);
    let work = move |sets: &Sets, seed| {
        let set = sets.parts(NamedSet::Mnist)?;
        let params = StreamParams {
            prepare: PREPARE.parse()?,
            map: seeded(map.clone(), seed),
            method: ClassDictionariesParams {
                learner: with_seed(learner.clone(), seed),
                sparsity: SPARSITY,
            },
            memory: None,
            drift: DriftParams::default(),
        };
        run(&params, &*sizes.cut(&set)?, enlarged, seed)
    };
    Job::of_costs(setting, None, work)
        .runs(sizes.runs)
        .estimate(if sizes.is_paper() { SECONDS } else { SECONDS / 100.0 })
        .reduced(!sizes.is_paper())
}

fn with_seed(mut learner: StreamLearner<f32>, seed: u64) -> StreamLearner<f32> {
    match &mut learner {
        StreamLearner::Online(params) => params.seed = seed,
        StreamLearner::Rls(params) => params.seed = seed,
        StreamLearner::Mod(params) => params.seed = seed,
    }
    learner
}

/// Survey, gathering, start, passes and test; images are read from memory, so that no disk is on the clock.
fn run(
    params: &StreamParams<f32>,
    set: &TrainTest,
    enlarged: Enlarged,
    seed: u64,
) -> Result<Trial, ExperimentError> {
    let images = Table::from(set.train.clone());
    let mut source = match enlarged {
        Enlarged::NineTimes => BlockSource::<f32>::shifted(images, seed, BLOCK)?,
        Enlarged::No => BlockSource::of_table(images, BLOCK)?,
    };
    source.settle_as(&set.train.class_names);
    let start = Instant::now();
    let survey = SurveyParams { n_pilot: PART, seed, ..Default::default() };
    let pilot = survey.survey(&mut source, &Silent)?;
    let memory = params.stream_plan(&pilot)?.peak().bytes;
    let whole = params.gather(&pilot, &mut source, &Silent)?;
    let fit = params.start(pilot, whole, &Silent)?;
    let model = fit.run(&mut source, &mut KeepNothing, &Silent)?;
    let train = start.elapsed().as_secs_f64();
    let cost = Trial { value: 0.0, train, test: 0.0, memory };
    tested(&model, set.test.convert::<f32>().as_ref(), &labels(&set.test), cost)
}
