//! Why LC-KSVD stays behind the published numbers on AR: the same splits as
//! [`lc_ksvd_ar`](crate::lc_ksvd_ar), one thing changed at a time.
//!
//! - **The features.** SRC learns nothing, so only the features decide: with all training images, and
//!   with the first five of every person.
//! - **The weight of the labels.** Unit samples, √α from nothing to where labels drown the samples.
//! - **The codes.** The same dictionary, learned with 30 non-zeros; decisions with more of them.
//!
//! In `f32`, and with 20 iterations on the stack instead of 50. What came out stands in
//! `docs/experiments.md`.

use crate::Options;
use crate::error::ExperimentError;
use crate::lc_ksvd_ar::splits;
use crate::record::{Published, Record};
use crate::repeat::{Trial, repeat};
use lkdl::prelude::*;
use lkdl_data::TrainTest;

const ID: &str = "lc-ksvd-ar-reasons";
/// SRC with all training images, in the table of LC-KSVD's authors.
const SRC: Published = Published { value: 97.5, tolerance: 1.5 };
/// Atoms of a person, and training images in the smaller SRC.
const PER_PERSON: usize = 5;

/// Every row on the same random splits, one per seed.
pub(crate) fn run(options: &Options) -> Result<Vec<Record>, ExperimentError> {
    let sets = splits(options)?;
    let few = sets.iter().map(first_of_every_person).collect::<Result<Vec<_>, _>>()?;
    let mut records = vec![
        src(&sets, Some(SRC))?.variant("all images"),
        src(&few, None)?.variant("five a person"),
    ];
    for sqrt_alpha in [0.0, 0.02, 0.07, 0.2] {
        let record = lc_ksvd(&sets, sqrt_alpha, None)?;
        records.push(record.variant(format!("weight {sqrt_alpha}")));
    }
    for sparsity in [50, 100] {
        let record = lc_ksvd(&sets, 0.02, Some(sparsity))?;
        records.push(record.variant(format!("decide q={sparsity}")));
    }
    Ok(records)
}

fn first_of_every_person(set: &TrainTest) -> Result<TrainTest, ExperimentError> {
    let labels = &set.train.labels;
    let mut counts = vec![0; set.train.class_names.len()];
    let is_early = |&i: &usize| {
        let count = &mut counts[labels[i] as usize];
        *count += 1;
        *count <= PER_PERSON
    };
    let kept: Vec<usize> = (0..labels.len()).filter(is_early).collect();
    Ok(TrainTest { train: set.train.subset(&kept)?, test: set.test.clone() })
}

fn src(sets: &[TrainTest], published: Option<Published>) -> Result<Record, ExperimentError> {
    let params = SrcParams::default();
    let outcome =
        repeat(sets.len(), |seed| Trial::run::<f32, _>(&unit(params.clone())?, at(sets, seed)))?;
    let coding = format!("{:?}", params.coding);
    Ok(Record::new(ID, "SRC", "ar", &outcome, published).with("coding", coding))
}

fn lc_ksvd(
    sets: &[TrainTest],
    sqrt_alpha: f64,
    decision_sparsity: Option<usize>,
) -> Result<Record, ExperimentError> {
    let params = LcKsvdParams {
        variant: LcVariant::Lc1,
        n_atoms: 100 * PER_PERSON,
        sparsity: 30,
        decision_sparsity,
        sqrt_alpha,
        max_iters: 20,
        ..Default::default()
    };
    let outcome = repeat(sets.len(), |seed| {
        let method = LcKsvdParams { seed, ..params.clone() };
        Trial::run::<f32, _>(&unit(method)?, at(sets, seed))
    })?;
    Ok(Record::new(ID, "LC-KSVD1", "ar", &outcome, None)
        .with("atoms", params.n_atoms)
        .with("sparsity", params.sparsity)
        .with("sqrt_alpha", sqrt_alpha))
}

fn at(sets: &[TrainTest], seed: u64) -> &TrainTest {
    &sets[seed as usize]
}

/// On samples of unit norm, without a map.
fn unit<M>(method: M) -> Result<LkdlParams<M>, ExperimentError> {
    Ok(LkdlParams { prepare: "l2".parse()?, map: MapParams::None, method, memory: None })
}
