//! Why LC-KSVD stays behind the published numbers on AR: the same splits as
//! [`lc_ksvd_ar`](crate::lc_ksvd_ar), one thing changed at a time.
//!
//! - **The features.** SRC learns nothing, so only the features decide: with 30 non-zeros, and with 50.
//! - **The weight of the labels.** Unit samples, √α from nothing to where labels drown the samples.
//! - **The codes.** The same dictionary, learned with 30 non-zeros, and decisions with more of them;
//!   then 75 in training too, on the features as they are.
//!
//! With 20 iterations on the stack instead of 50. What came out stands in `docs/experiments.md`.

use crate::faces::Stage;
use crate::job::{Job, Place, Setting};
use crate::lc_ksvd_ar::{split, stage};
use crate::scale::Scale;
use crate::sets::Sets;
use crate::trial::run;
use lkdl::prelude::*;

const UNIT: &str = "l2";
const AS_THEY_ARE: &str = "none";
/// Seconds that SRC takes for the test part, about.
const SRC_SECONDS: f64 = 12.0;

/// Every row on the same random splits, one per seed.
pub(crate) fn jobs(scale: &Scale) -> Vec<Job> {
    let stage = stage("ar-reasons", scale);
    let features = [30, 50].map(|sparsity| src(stage, sparsity));
    let weights = [0.0, 0.02, 0.07, 0.2].map(|sqrt_alpha| {
        let params = LcKsvdParams { sqrt_alpha, ..lc_ksvd(LcVariant::Lc1) };
        lc(stage, format!("unit samples, √α = {sqrt_alpha}"), UNIT, params)
    });
    let decisions = [50, 100].map(|sparsity| {
        let decision_sparsity = Some(sparsity);
        let params =
            LcKsvdParams { sqrt_alpha: 0.02, decision_sparsity, ..lc_ksvd(LcVariant::Lc1) };
        let variant = format!("unit samples, √α = 0.02, decides with {sparsity} non-zeros");
        lc(stage, variant, UNIT, params)
    });
    let codes = [LcVariant::Lc1, LcVariant::Lc2].map(|variant| {
        let (sqrt_alpha, sqrt_beta) = (4.0, 2.0);
        let params = LcKsvdParams { sparsity: 75, sqrt_alpha, sqrt_beta, ..lc_ksvd(variant) };
        lc(stage, "75 non-zeros".into(), AS_THEY_ARE, params)
    });
    features.into_iter().chain(weights).chain(decisions).chain(codes).collect()
}

/// Five atoms a person, 30 non-zeros.
fn lc_ksvd(variant: LcVariant) -> LcKsvdParams {
    LcKsvdParams { variant, n_atoms: 500, sparsity: 30, max_iters: 20, ..Default::default() }
}

fn src(stage: Stage, sparsity: usize) -> Job {
    let params = SrcParams { coding: SrcCoding::Omp { sparsity }, ..Default::default() };
    let setting =
        Setting::new(stage.experiment, format!("{sparsity} non-zeros"), "SRC", stage.dataset)
            .with("sparsity", sparsity);
    let share = stage.n_atoms(500) as f64 / 500.0;
    job(stage, setting, UNIT, params).estimate(SRC_SECONDS * share * share)
}

fn lc(stage: Stage, variant: String, prepare: &'static str, params: LcKsvdParams) -> Job {
    let n_atoms = stage.n_atoms(params.n_atoms);
    let params = LcKsvdParams { n_atoms, sparsity: params.sparsity.min(n_atoms), ..params };
    let method = if params.variant == LcVariant::Lc1 { "LC-KSVD1" } else { "LC-KSVD2" };
    let setting = Setting::new(stage.experiment, variant, method, stage.dataset)
        .with("atoms", n_atoms)
        .with("sparsity", params.sparsity)
        .with("decision_sparsity", params.decision_sparsity.unwrap_or(params.sparsity))
        .with("iterations", params.max_iters)
        .with("sqrt_alpha", params.sqrt_alpha)
        .with("sqrt_beta", params.sqrt_beta);
    job(stage, setting, prepare, params).estimate(Stage::seconds(n_atoms))
}

/// Nothing in these methods is drawn at random but the split.
fn job<M: Train<f64> + Clone + 'static>(
    stage: Stage,
    setting: Setting,
    prepare: &'static str,
    method: M,
) -> Job {
    let sizes = stage.sizes;
    let setting = setting
        .with("prepare", prepare)
        .with("classes", stage.n_classes.min(sizes.classes))
        .with("precision", "f64");
    let work = move |sets: &Sets, seed| {
        let set = split(sets, seed)?;
        let method = method.clone();
        let (prepare, map) = (prepare.parse()?, MapParams::None);
        let params = LkdlParams { prepare, map, method, memory: None };
        Ok(vec![run(&params, &*sizes.cut(&set)?)?])
    };
    Job::new(setting, vec![Place::accuracy(None)], work).runs(sizes.runs).reduced(!sizes.is_paper())
}
