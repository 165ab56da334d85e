//! Figure 1b: accuracy on USPS against the number of landmarks, with linear and exact kernel K-SVD
//! as horizontal lines. κ = (xᵀy)², k = 256.
//!
//! At 20 % of the samples also what paper and program disagree on: the degree of the kernel, the
//! sparsity of linear K-SVD (the text has one q for all, the program 3), centring, the smoothing of
//! the images, what a coreset is; and what came later: other samplers, the optimal rank-k factor, c
//! and k chosen by the data.

use crate::class_ksvd::{Line, Recipe, Space};
use crate::figure_1a::{FEW_SHARES, SHARES};
use crate::job::Job;
use crate::samplers;
use crate::scale::Scale;
use lkdl::prelude::*;
use lkdl_data::NamedSet;

const ID: &str = "1b";
/// Where variants are compared, c/N in %.
const SHARE: f64 = 20.0;
/// k.
pub(crate) const RANK: usize = 256;
/// Non-zeros of linear K-SVD in the published program.
pub(crate) const LINEAR_SPARSITY: usize = 3;
pub(crate) const SQUARE: Kernel = Kernel::Polynomial { degree: 2.0, offset: 0.0 };

pub(crate) fn jobs(scale: &Scale) -> Vec<Job> {
    let recipe = Recipe::usps(scale);
    let mut jobs = references(ID, &recipe);
    let shares = scale.points(&SHARES, &FEW_SHARES);
    for named in samplers::program().into_iter().chain(samplers::beyond()) {
        for &share in &shares {
            let map = nystroem(scale, named.sampler.clone(), share);
            let line = Line::new(ID, named.variant, named.method, Space::Virtual(map));
            jobs.push(recipe.accuracy(line, Some(share)));
        }
    }
    jobs.extend(variants(scale, &recipe));
    jobs
}

/// Linear and exact kernel K-SVD, and their variants.
fn references(id: &'static str, recipe: &Recipe) -> Vec<Job> {
    let linear = |variant: &str| Line::new(id, variant, "K-SVD", Space::Linear);
    let kernel = |variant: &str, update| {
        let space = Space::Kernel { kernel: SQUARE, update };
        recipe.accuracy(Line::new(id, variant, "kernel K-SVD", space), None)
    };
    vec![
        recipe.clone().with_sparsity(LINEAR_SPARSITY).accuracy(linear("program"), None),
        recipe.accuracy(linear("text, q = 5"), None),
        kernel("program", KernelUpdate::Reference),
        kernel("approximate update", KernelUpdate::Approximate),
        kernel("exact update", KernelUpdate::Exact),
    ]
}

/// LKDL otherwise than the program, at one number of landmarks.
fn variants(scale: &Scale, recipe: &Recipe) -> Vec<Job> {
    let mut jobs = Vec::new();
    for named in samplers::text() {
        let map = nystroem(scale, named.sampler, SHARE);
        let line = Line::new(ID, named.variant, named.method, Space::Virtual(map));
        jobs.push(recipe.accuracy(line, Some(SHARE)));
    }
    let uniform = |variant: &str, recipe: &Recipe, change: &dyn Fn(&mut NystroemParams)| {
        let MapParams::Nystroem(mut map) = nystroem(scale, Sampler::Uniform, SHARE) else {
            unreachable!("nystroem makes a Nyström map")
        };
        change(&mut map);
        let line = Line::new(ID, variant, "LKDL uniform", Space::Virtual(MapParams::Nystroem(map)));
        recipe.accuracy(line, Some(SHARE))
    };
    let degree = |map: &mut NystroemParams, degree, rank: usize| {
        map.kernel = Kernel::Polynomial { degree, offset: 0.0 };
        map.rank = Rank::Exact(rank.min(scale.usps.rank));
    };
    let same = |_: &mut NystroemParams| {};
    let not_centred = Recipe { prepare: "l2", ..recipe.clone() };
    let not_smoothed = Recipe { set: NamedSet::UspsEsl, ..recipe.clone() };
    jobs.push(uniform("text, degree 4, k = 256", recipe, &|map| degree(map, 4.0, RANK)));
    jobs.push(uniform("text, degree 4, k = 1024", recipe, &|map| degree(map, 4.0, 1024)));
    jobs.push(uniform("text, not centred", &not_centred, &same));
    jobs.push(uniform("not smoothed", &not_smoothed, &same));
    jobs.push(uniform("beyond, optimal rank k", recipe, &|map| map.variant = Variant::Optimal));
    let automatic = MapParams::Nystroem(NystroemParams {
        kernel: SQUARE,
        rank: Rank::Trace(0.05),
        ..Default::default()
    });
    let line = Line::new(ID, "beyond", "LKDL, automatic c and k", Space::Virtual(automatic));
    jobs.push(recipe.accuracy(line, None));
    jobs
}

/// LKDL's map of figures 1b and 2.
pub(crate) fn nystroem(scale: &Scale, sampler: Sampler, share: f64) -> MapParams {
    MapParams::Nystroem(NystroemParams {
        kernel: SQUARE,
        sampler,
        n_landmarks: LandmarkCount::Share(share / 100.0),
        rank: Rank::Exact(RANK.min(scale.usps.rank)),
        ..Default::default()
    })
}
