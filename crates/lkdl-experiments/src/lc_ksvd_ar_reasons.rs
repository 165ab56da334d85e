//! Why LC-KSVD stays behind the published numbers on AR: the same splits as
//! [`lc_ksvd_ar`](crate::lc_ksvd_ar), one thing changed at a time.
//!
//! - **The features.** SRC learns nothing, so only the features decide: with 30 non-zeros, and with 50.
//! - **The weight of the labels.** Unit samples, √α from nothing to where labels drown the samples.
//! - **The codes.** The same dictionary, learned with 30 non-zeros, and decisions with fewer and with
//!   more of them; then 50 and 75 in training too, on the features as they are, and with LKDL.
//!
//! With 20 iterations on the stack instead of 50. What came out stands in `docs/experiments.md`.

use crate::faces::{Row, Stage};
use crate::job::{Job, Place, Setting};
use crate::lc_ksvd_ar::{split, stage};
use crate::scale::Scale;
use crate::sets::Sets;
use crate::trial::run;
use lkdl::prelude::*;

const UNIT: &str = "l2";
const AS_THEY_ARE: &str = "none";
/// σ and k, and √α and √β, of the published program's LKDL.
const LKDL_KERNEL: (f64, usize) = (0.5, 540);
const LKDL_WEIGHTS: (f64, f64) = (1.0 / 15.0, 1.0 / 17.0);
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
    let decisions = [10, 20, 50, 100].map(|sparsity| {
        let decision_sparsity = Some(sparsity);
        let params =
            LcKsvdParams { sqrt_alpha: 0.02, decision_sparsity, ..lc_ksvd(LcVariant::Lc1) };
        let variant = format!("unit samples, √α = 0.02, decides with {sparsity} non-zeros");
        lc(stage, variant, UNIT, params)
    });
    let (lc1, lc2) = (LcVariant::Lc1, LcVariant::Lc2);
    let codes = [(50, lc1), (50, lc2), (75, lc1), (75, lc2)].map(|(sparsity, variant)| {
        let (sqrt_alpha, sqrt_beta) = (4.0, 2.0);
        let params = LcKsvdParams { sparsity, sqrt_alpha, sqrt_beta, ..lc_ksvd(variant) };
        lc(stage, format!("{sparsity} non-zeros"), AS_THEY_ARE, params)
    });
    let virtual_codes = [lc1, lc2].map(|variant| {
        let (sqrt_alpha, sqrt_beta) = LKDL_WEIGHTS;
        let params = LcKsvdParams { sparsity: 75, sqrt_alpha, sqrt_beta, ..lc_ksvd(variant) };
        Row::new("code, 75 non-zeros", Some(LKDL_KERNEL), params).job(stage, None, split)
    });
    let rows = features.into_iter().chain(weights).chain(decisions).chain(codes);
    rows.chain(virtual_codes).collect()
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
