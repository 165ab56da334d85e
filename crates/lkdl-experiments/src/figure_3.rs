//! Figure 3: accuracy, time and memory on MNIST, from 10,000 to 60,000 samples to learn from.
//! κ = (xᵀy)², k = 784. The program takes 9,000 landmarks at every N, the text 15 % of the samples;
//! beyond the paper, 2,048 landmarks of the default sampler.

use crate::class_ksvd::{Line, Recipe, Space};
use crate::figure_1b::SQUARE;
use crate::job::Job;
use crate::samplers::{self, NamedSampler};
use crate::scale::Scale;
use lkdl::prelude::*;

const ID: &str = "3";
const RANK: usize = 784;
const SIZES: [f64; 6] = [10_000.0, 20_000.0, 30_000.0, 40_000.0, 50_000.0, 60_000.0];

pub(crate) fn jobs(scale: &Scale) -> Vec<Job> {
    let mut sizes = scale.points(&SIZES, &[10_000.0, 60_000.0]);
    sizes.retain(|n| *n as usize <= scale.mnist.train);
    if sizes.is_empty() {
        sizes.push(scale.mnist.train as f64);
    }
    sizes.into_iter().flat_map(|n| at(scale, n)).collect()
}

fn at(scale: &Scale, n: f64) -> Vec<Job> {
    let recipe = Recipe::mnist(scale).with_train(n as usize);
    let kernel = Space::Kernel { kernel: SQUARE, update: KernelUpdate::Reference };
    let beyond = Space::Kernel { kernel: SQUARE, update: KernelUpdate::Approximate };
    let mut lines = vec![
        Line::new(ID, "program", "K-SVD", Space::Linear),
        Line::new(ID, "program", "kernel K-SVD", kernel),
        Line::new(ID, "approximate update", "kernel K-SVD", beyond),
    ];
    let map = |sampler: &Sampler, c: f64| {
        let c = (c.round() as usize).min(recipe.n_train());
        Space::Virtual(MapParams::Nystroem(NystroemParams {
            kernel: SQUARE,
            sampler: sampler.clone(),
            n_landmarks: LandmarkCount::Exact(c),
            rank: Rank::Exact(RANK.min(scale.mnist.rank).min(c)),
            ..Default::default()
        }))
    };
    let both = ["LKDL coreset", "LKDL k-means"];
    for NamedSampler { method, sampler, .. } in
        samplers::program().into_iter().filter(|named| both.contains(&named.method))
    {
        lines.push(Line::new(ID, "text, c = 15 %", method, map(&sampler, 0.15 * n)));
        if n < 60_000.0 && scale.mnist.is_paper() {
            lines.push(Line::new(ID, "program, c = 9,000", method, map(&sampler, 9_000.0)));
        }
    }
    lines.push(Line::new(ID, "beyond", "LKDL hybrid, c = 2,048", map(&Sampler::default(), 2048.0)));
    lines.into_iter().map(|line| recipe.costs(line, n)).collect()
}
