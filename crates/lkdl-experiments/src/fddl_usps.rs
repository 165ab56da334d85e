//! FDDL on USPS, plain and on virtual samples (ALGORITHMS part 7, row FDDL).
//!
//! 300 atoms per class, 5 iterations from k-means centres, λ1 = .1, λ2 = .001; LKDL with k-means
//! landmarks (20 %), k = 256. The published numbers come from a program that trains every class
//! alone (simplified FDDL), judges by the local rule with g1 = .1, g2 = .005 and codes with twice the
//! penalty it scores with; its kernel is (xᵀy)², where the text says (xᵀy)³ and g2 = .001. All of
//! these are rows here. The full objective is run with 30 atoms per class, which is feasible.

use crate::Options;
use crate::error::ExperimentError;
use crate::record::{Published, Record};
use crate::repeat::{Trial, repeat};
use lkdl::classify::fddl::UnusedAtoms;
use lkdl::prelude::*;
use lkdl::sampling::Seeding;
use lkdl_data::{NamedSet, TrainTest};

const ID: &str = "fddl-usps";
const TOLERANCE: f64 = 0.5;
const PLAIN: Option<Published> = Some(Published { value: 95.79, tolerance: TOLERANCE });
const WITH_LKDL: Option<Published> = Some(Published { value: 96.03, tolerance: TOLERANCE });

/// The rule of the published program.
const PROGRAM: FddlRule = FddlRule::Local { l1_weight: 0.1, mean_weight: 0.005, compat: true };
/// The rule of the text.
const TEXT: FddlRule = FddlRule::Local { l1_weight: 0.1, mean_weight: 0.001, compat: false };

/// Runs all rows.
pub fn run(options: &Options) -> Result<Vec<Record>, ExperimentError> {
    let set = NamedSet::Usps.load(&options.data_dir)?;
    let full = |rule, seed| FddlParams { form: FddlForm::Full, n_atoms: 30, ..fddl(rule, seed) };
    let rows: [Row; 8] = [
        Row::new("FDDL", "program", PLAIN, |seed| (None, fddl(PROGRAM, seed))),
        Row::new("FDDL + LKDL, degree 2", "program", WITH_LKDL, |seed| {
            (Some(2.0), fddl(PROGRAM, seed))
        }),
        Row::new("FDDL + LKDL, degree 3", "program", WITH_LKDL, |seed| {
            (Some(3.0), fddl(PROGRAM, seed))
        }),
        Row::new("FDDL", "text", PLAIN, |seed| (None, fddl(TEXT, seed))),
        Row::new("FDDL + LKDL, degree 2", "text", WITH_LKDL, |seed| (Some(2.0), fddl(TEXT, seed))),
        Row::new("FDDL + LKDL, degree 3", "text", WITH_LKDL, |seed| (Some(3.0), fddl(TEXT, seed))),
        Row::new("full FDDL, 30 atoms", "text", None, |seed| (None, full(TEXT, seed))),
        Row::new("full FDDL, 30 atoms + LKDL", "text", None, |seed| (Some(2.0), full(TEXT, seed))),
    ];
    rows.iter().map(|row| row.record(options.runs, &set)).collect()
}

/// One line of the table.
struct Row<'a> {
    method: &'static str,
    variant: &'static str,
    published: Option<Published>,
    params: Box<Seeded<'a>>,
}

/// The kernel's degree (`None`: no map) and the method, for a seed.
type Seeded<'a> = dyn Fn(u64) -> (Option<f64>, FddlParams<f32>) + 'a;

impl<'a> Row<'a> {
    fn new(
        method: &'static str,
        variant: &'static str,
        published: Option<Published>,
        params: impl Fn(u64) -> (Option<f64>, FddlParams<f32>) + 'a,
    ) -> Self {
        Self { method, variant, published, params: Box::new(params) }
    }

    fn record(&self, runs: usize, set: &TrainTest) -> Result<Record, ExperimentError> {
        let outcome = repeat(runs, |seed| {
            let (degree, method) = (self.params)(seed);
            let map = degree.map_or(MapParams::None, |degree| virtual_samples(degree, seed));
            let prepare = "center,l2".parse()?;
            Trial::run(&LkdlParams { prepare, map, method, memory: None }, set)
        })?;
        let (_, params) = (self.params)(0);
        Ok(Record::new(ID, self.method, "usps", &outcome, self.published)
            .variant(self.variant)
            .with("form", format!("{:?}", params.form))
            .with("n_atoms", params.n_atoms)
            .with("rule", format!("{:?}", params.rule)))
    }
}

/// Simplified FDDL as published.
fn fddl(rule: FddlRule, seed: u64) -> FddlParams<f32> {
    FddlParams {
        form: FddlForm::Simplified,
        n_atoms: 300,
        l1_weight: 0.1,
        scatter_weight: 0.001,
        max_iters: 5,
        initial: InitialAtoms::KMeans { max_iters: 100, tol: 0.0 },
        unused: UnusedAtoms::Drop,
        rule,
        seed,
        ..Default::default()
    }
}

fn virtual_samples(degree: f64, seed: u64) -> MapParams {
    MapParams::Nystroem(NystroemParams {
        kernel: Kernel::Polynomial { degree, offset: 0.0 },
        sampler: Sampler::k_means(Seeding::Uniform),
        n_landmarks: LandmarkCount::Share(0.2),
        rank: Rank::Exact(256),
        seed,
        ..Default::default()
    })
}
