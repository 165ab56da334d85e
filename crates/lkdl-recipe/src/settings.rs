//! What a fit was made with, as options and values that would repeat it.

use crate::names::MapName;
use crate::values::{indefinite_name, landmarks_text, variant_name};
use crate::wishes::Wishes;
use lkdl::map::fastfood::FastfoodParams;
use lkdl::map::fourier::FourierParams;
use lkdl::prelude::*;
use std::collections::BTreeMap;

/// Options and their values, as texts.
pub type Settings = BTreeMap<String, String>;

/// Atoms of each class, and how many of them make a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) n_atoms: usize,
    /// Of the decision.
    pub(crate) sparsity: usize,
    /// Of the codes that dictionaries are learned from.
    pub(crate) learning: usize,
}

/// What was chosen beside the wishes.
pub(crate) struct Resolved<'a> {
    pub(crate) map_name: MapName,
    pub(crate) prepare: &'a PrepareParams,
    pub(crate) map: &'a MapParams,
    /// Of a method that works in the kernel's space.
    pub(crate) kernel: Option<&'a Kernel>,
    pub(crate) sizes: Sizes,
    pub(crate) memory: Option<u64>,
    pub(crate) seed: u64,
}

/// Everything that was said or chosen, as a config file would hold it.
pub(crate) fn settings<T: Real>(wishes: &Wishes, chosen: &Resolved<'_>) -> Settings {
    let mut settings = Settings::new();
    let mut put = |flag: &str, value: String| {
        settings.insert(flag.to_string(), value);
    };
    put("method", wishes.method.to_string());
    put("map", chosen.map_name.to_string());
    put("prepare", chosen.prepare.to_string());
    method_settings(wishes, chosen, &mut put);
    put("precision", T::NAME.to_string());
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
    if let Some(kernel) = chosen.kernel {
        kernel_settings(kernel, &mut put);
    }
    settings
}

/// What the method takes, and its own options where they were given.
fn method_settings(wishes: &Wishes, chosen: &Resolved<'_>, put: &mut impl FnMut(&str, String)) {
    let Sizes { n_atoms, sparsity, learning } = chosen.sizes;
    let own = &wishes.own;
    let numbers = [
        ("sqrt-alpha", own.sqrt_alpha),
        ("sqrt-beta", own.sqrt_beta),
        ("lambda1", own.lambda1),
        ("lambda2", own.lambda2),
        ("lasso", own.lasso),
        ("tol", wishes.tol),
    ];
    for (flag, value) in numbers {
        if let Some(value) = value {
            put(flag, value.to_string());
        }
    }
    let counts = [
        ("atoms", Some(n_atoms)),
        ("sparsity", own.lasso.is_none().then_some(sparsity)),
        ("learning-sparsity", Some(learning)),
        ("iters", wishes.iters),
        ("decision-sparsity", own.decision_sparsity),
        ("batch", wishes.batch),
    ];
    for (flag, value) in counts {
        if let Some(value) = value.filter(|_| wishes.method.takes(flag)) {
            put(flag, value.to_string());
        }
    }
    let switches = [("exact-update", wishes.exact_update), ("compat", own.compat)];
    for (flag, _) in switches.into_iter().filter(|(_, given)| *given) {
        put(flag, "true".to_string());
    }
    if let Some(rule) = &own.rule {
        put("rule", rule.to_string());
    }
}

fn map_settings(map: &NystroemParams, put: &mut impl FnMut(&str, String)) {
    kernel_settings(&map.kernel, put);
    put("sampler", map.sampler.to_string());
    put("landmarks", landmarks_text(map.n_landmarks));
    put(
        "rank",
        match map.rank {
            Rank::Exact(rank) => rank.to_string(),
            _ => "auto".into(),
        },
    );
    put("variant", variant_name(map.variant).into());
    put("centered", map.centered.to_string());
    put("indefinite", indefinite_name(map.indefinite).into());
}

/// The kernel as wishes.
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
