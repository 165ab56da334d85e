//! Random features against LKDL on USPS (ALGORITHMS part 7, Fig. 4a at k = 256).
//!
//! Gaussian kernel, σ = 1. K-SVD with 300 atoms per class, 5 iterations, q = 5, on 256 random
//! Fourier features, 256 Fastfood features, or 256 virtual samples from 1,458 k-means landmarks.

use crate::Options;
use crate::error::ExperimentError;
use crate::record::{Published, Record};
use crate::repeat::{Trial, repeat};
use lkdl::map::fastfood::FastfoodParams;
use lkdl::map::fourier::FourierParams;
use lkdl::prelude::*;
use lkdl::sampling::Seeding;
use lkdl_data::NamedSet;

const ID: &str = "random-features-usps";
const RANK: usize = 256;
const SIGMA: f64 = 1.0;
const TOLERANCE: f64 = 0.25;

/// A map for a seed.
type SeededMap = fn(u64) -> MapParams;

/// Runs the three maps.
pub fn run(options: &Options) -> Result<Vec<Record>, ExperimentError> {
    let set = NamedSet::Usps.load(&options.data_dir)?;
    let maps: [(&'static str, f64, SeededMap); 3] = [
        ("RFF + K-SVD", 95.83, fourier),
        ("Fastfood + K-SVD", 95.72, fastfood),
        ("LKDL", 95.96, nystroem),
    ];
    let record = |(method, value, map): (&'static str, f64, SeededMap)| {
        let outcome = repeat(options.runs, |seed| {
            let prepare = "center,l2".parse()?;
            let params =
                LkdlParams { prepare, map: map(seed), method: class_ksvd(seed), memory: None };
            Trial::run::<f32, _>(&params, &set)
        })?;
        let published = Some(Published { value, tolerance: TOLERANCE });
        Ok(Record::new(ID, method, "usps", &outcome, published)
            .with("rank", RANK)
            .with("sigma", SIGMA))
    };
    maps.into_iter().map(record).collect()
}

fn fourier(seed: u64) -> MapParams {
    MapParams::Fourier(FourierParams { sigma: SIGMA, rank: RANK, seed })
}

fn fastfood(seed: u64) -> MapParams {
    MapParams::Fastfood(FastfoodParams { sigma: SIGMA, rank: RANK, seed })
}

fn nystroem(seed: u64) -> MapParams {
    MapParams::Nystroem(NystroemParams {
        kernel: Kernel::Gaussian { sigma: SIGMA },
        sampler: Sampler::k_means(Seeding::Uniform),
        n_landmarks: LandmarkCount::Exact(1458),
        rank: Rank::Exact(RANK),
        seed,
        ..Default::default()
    })
}

fn class_ksvd(seed: u64) -> ClassDictionariesParams<KsvdParams<f32>> {
    let learner = KsvdParams {
        n_atoms: 300,
        sparsity: 5,
        max_iters: 5,
        tol: 0.0,
        seed,
        ..Default::default()
    };
    ClassDictionariesParams { learner, sparsity: 5 }
}
