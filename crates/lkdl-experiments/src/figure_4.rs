//! Figure 4: random features against LKDL for a Gaussian kernel, σ = 1, by their number k: USPS (a)
//! with 1,458 k-means landmarks, MNIST (b) with 2,048; linear and exact kernel K-SVD as horizontal
//! lines.

use crate::class_ksvd::{Line, Recipe, Space};
use crate::figure_1b::LINEAR_SPARSITY;
use crate::job::Job;
use crate::scale::Scale;
use lkdl::map::fastfood::FastfoodParams;
use lkdl::map::fourier::FourierParams;
use lkdl::prelude::*;
use lkdl::sampling::Seeding;

const SIGMA: f64 = 1.0;
const KERNEL: Kernel = Kernel::Gaussian { sigma: SIGMA };
const RANKS: [f64; 7] = [64.0, 128.0, 256.0, 512.0, 784.0, 1024.0, 2048.0];

pub(crate) fn usps(scale: &Scale) -> Vec<Job> {
    let recipe = Recipe::usps(scale);
    let linear = recipe.clone().with_sparsity(LINEAR_SPARSITY);
    let c = 1458.min(recipe.n_train());
    jobs("4a", &recipe, &linear, c, &ranks(scale, &RANKS[..6], scale.usps.rank))
}

pub(crate) fn mnist(scale: &Scale) -> Vec<Job> {
    let recipe = Recipe::mnist(scale);
    let c = 2048.min(recipe.n_train());
    jobs("4b", &recipe, &recipe, c, &ranks(scale, &RANKS, scale.mnist.rank))
}

/// The numbers of features that are run, none beyond `most`.
fn ranks(scale: &Scale, all: &[f64], most: usize) -> Vec<usize> {
    let chosen = scale.points(all, &[64.0, 256.0, 1024.0]).into_iter().map(|k| k as usize);
    let within: Vec<usize> = chosen.filter(|k| *k <= most).collect();
    if within.is_empty() { vec![most] } else { within }
}

fn jobs(id: &'static str, recipe: &Recipe, linear: &Recipe, c: usize, ranks: &[usize]) -> Vec<Job> {
    let kernel = Space::Kernel { kernel: KERNEL, update: KernelUpdate::Reference };
    let mut jobs = vec![
        linear.accuracy(Line::new(id, "program", "K-SVD", Space::Linear), None),
        recipe.accuracy(Line::new(id, "program", "kernel K-SVD", kernel), None),
    ];
    for &rank in ranks {
        for (method, variant, map) in maps(rank, c) {
            let line = Line::new(id, variant, method, Space::Virtual(map));
            jobs.push(recipe.accuracy(line, Some(rank as f64)));
        }
    }
    jobs
}

fn maps(rank: usize, c: usize) -> [(&'static str, &'static str, MapParams); 4] {
    let nystroem = |sampler| {
        MapParams::Nystroem(NystroemParams {
            kernel: KERNEL,
            sampler,
            n_landmarks: LandmarkCount::Exact(c),
            rank: Rank::Exact(rank.min(c)),
            ..Default::default()
        })
    };
    let fourier = MapParams::Fourier(FourierParams { sigma: SIGMA, rank, seed: 0 });
    let fastfood = MapParams::Fastfood(FastfoodParams { sigma: SIGMA, rank, seed: 0 });
    [
        ("RFF", "program", fourier),
        ("Fastfood", "program", fastfood),
        ("LKDL k-means", "program", nystroem(Sampler::k_means(Seeding::Uniform))),
        ("LKDL hybrid", "beyond", nystroem(Sampler::default())),
    ]
}
