//! Figure 2: accuracy on corrupted USPS digits, learned from clean ones. Noise (a) or missing pixels
//! (b) are put on the test images before anything else is done to them; as figure 1b, c = 20 %.

use crate::class_ksvd::{Line, Recipe, Space};
use crate::figure_1b::{LINEAR_SPARSITY, SQUARE, nystroem};
use crate::job::{Job, Place};
use crate::samplers;
use crate::scale::Scale;
use lkdl::prelude::KernelUpdate;
use lkdl_data::Corruption;

/// c/N in %.
const SHARE: f64 = 20.0;
/// σ of the noise, pixels in [−1, 1].
const NOISE: [f64; 11] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0];
/// Share of the pixels that are missing.
const MISSING: [f64; 10] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

pub(crate) fn noise(scale: &Scale) -> Vec<Job> {
    jobs("2a", scale, &scale.points(&NOISE, &[0.0, 1.0, 2.0]), |sigma| Corruption::GaussianNoise {
        sigma,
    })
}

pub(crate) fn missing(scale: &Scale) -> Vec<Job> {
    // mid-grey
    let levels = scale.points(&MISSING, &[0.0, 0.5, 0.9]);
    jobs("2b", scale, &levels, |fraction| Corruption::MissingPixels { fraction, value: 0.0 })
}

fn jobs(
    id: &'static str,
    scale: &Scale,
    levels: &[f64],
    corruption: impl Fn(f64) -> Corruption,
) -> Vec<Job> {
    let recipe = Recipe::usps(scale);
    let test = |level: f64| (Place::accuracy(Some(level)), Some(corruption(level)));
    let tests = || levels.iter().copied().map(test).collect();
    let linear = |variant: &str| Line::new(id, variant, "K-SVD", Space::Linear);
    let kernel = Space::Kernel { kernel: SQUARE, update: KernelUpdate::Reference };
    let mut jobs = vec![
        recipe.clone().with_sparsity(LINEAR_SPARSITY).job(linear("program"), tests()),
        recipe.job(linear("text, q = 5"), tests()),
        recipe.job(Line::new(id, "program", "kernel K-SVD", kernel), tests()),
    ];
    for named in samplers::program().into_iter().chain(samplers::beyond()) {
        let space = Space::Virtual(nystroem(scale, named.sampler, SHARE));
        jobs.push(recipe.job(Line::new(id, named.variant, named.method, space), tests()));
    }
    jobs
}
