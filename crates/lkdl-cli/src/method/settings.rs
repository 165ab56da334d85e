//! What a fit was made with, as flags and values that would repeat it.

use super::applies::name;
use super::flags::{MapName, MethodFlags};
use lkdl::map::fastfood::FastfoodParams;
use lkdl::map::fourier::FourierParams;
use lkdl::map::{Indefinite, Variant};
use lkdl::prelude::*;
use std::collections::BTreeMap;

/// Flags without dashes, and their values.
pub type Settings = BTreeMap<String, String>;

/// Atoms of each class, and how many of them make a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    pub n_atoms: usize,
    /// Of the decision.
    pub sparsity: usize,
    /// Of the codes that dictionaries are learned from.
    pub learning: usize,
}

/// What was chosen beside the flags.
pub struct Resolved<'a> {
    pub map_name: MapName,
    pub prepare: &'a PrepareParams,
    pub map: &'a MapParams,
    pub sizes: Sizes,
    pub memory: Option<u64>,
    pub seed: u64,
}

/// Everything that was said or chosen, as a config file would hold it.
pub fn settings(flags: &MethodFlags, chosen: &Resolved<'_>) -> Settings {
    let mut settings = Settings::new();
    let mut put = |flag: &str, value: String| {
        settings.insert(flag.to_string(), value);
    };
    put("method", name(&flags.method));
    put("map", name(&chosen.map_name));
    put("prepare", chosen.prepare.to_string());
    put("atoms", chosen.sizes.n_atoms.to_string());
    put("sparsity", chosen.sizes.sparsity.to_string());
    put("learning-sparsity", chosen.sizes.learning.to_string());
    put("iters", flags.iters.to_string());
    put("tol", flags.tol.to_string());
    put("exact-update", flags.exact_update.to_string());
    put("precision", name(&flags.precision));
    put("seed", chosen.seed.to_string());
    if let Some(bytes) = chosen.memory {
        put("memory", bytes.to_string());
    }
    match chosen.map {
        MapParams::Nystroem(map) => map_settings(map, &mut put),
        MapParams::Fourier(FourierParams { sigma, rank, .. })
        | MapParams::Fastfood(FastfoodParams { sigma, rank, .. }) => {
            put("sigma", sigma.to_string());
            put("rank", rank.to_string());
        }
        _ => {}
    }
    settings
}

fn map_settings(map: &NystroemParams, put: &mut impl FnMut(&str, String)) {
    kernel_settings(&map.kernel, put);
    put("sampler", map.sampler.to_string());
    put(
        "landmarks",
        match map.n_landmarks {
            LandmarkCount::Exact(count) => count.to_string(),
            LandmarkCount::Share(share) => format!("{}%", 100.0 * share),
            LandmarkCount::Auto { .. } => "auto".into(),
        },
    );
    put(
        "rank",
        match map.rank {
            Rank::Exact(rank) => rank.to_string(),
            _ => "auto".into(),
        },
    );
    put(
        "variant",
        match map.variant {
            Variant::Standard => "standard",
            Variant::Cholesky => "cholesky",
            Variant::Optimal => "optimal",
        }
        .into(),
    );
    put("centered", map.centered.to_string());
    put(
        "indefinite",
        match map.indefinite {
            Indefinite::Reject => "reject",
            Indefinite::Clip => "clip",
            Indefinite::Flip => "flip",
            Indefinite::Shift => "shift",
        }
        .into(),
    );
}

/// The kernel as flags.
fn kernel_settings(kernel: &Kernel, put: &mut impl FnMut(&str, String)) {
    let mut all = |name: &str, values: &[(&str, f64)]| {
        put("kernel", name.to_string());
        for (flag, value) in values {
            put(flag, value.to_string());
        }
    };
    match kernel {
        Kernel::Polynomial { degree, offset } => {
            all("polynomial", &[("degree", *degree), ("offset", *offset)]);
        }
        Kernel::Gaussian { sigma } => all("gaussian", &[("sigma", *sigma)]),
        Kernel::Exponential { sigma } => all("exponential", &[("sigma", *sigma)]),
        Kernel::Laplacian { rate } => all("laplacian", &[("rate", *rate)]),
        Kernel::Sigmoid { scale, offset } => {
            all("sigmoid", &[("rate", *scale), ("offset", *offset)]);
        }
        Kernel::Chi2Exponential { rate } => all("chi2", &[("rate", *rate)]),
        Kernel::Normalized(inner) => {
            put("normalized", "true".to_string());
            kernel_settings(inner, put);
        }
        other => all(&other.to_string(), &[]),
    }
}
