//! From flags and data to the engine's parameters: what the user left open is chosen here, by
//! rules that look at the data once, and written down so that a model can say what it was made
//! with.

use super::flags::{KernelName, MapName, Method, MethodFlags};
use super::values::{Count, Width};
use crate::failure::Failure;
use faer::{Mat, MatRef};
use lkdl::dictionary::AtomUpdate;
use lkdl::map::fastfood::FastfoodParams;
use lkdl::map::fourier::FourierParams;
use lkdl::prelude::*;
use std::collections::BTreeMap;

/// Atoms per class at most, unless asked for: the paper's number for thousands of samples.
const MAX_ATOMS: usize = 300;
/// Classes up to this size keep all their samples as atoms.
const SMALL_CLASS: usize = 50;
/// Samples looked at where the data decide.
const LOOK_AT: usize = 2000;
/// Features from which on a sample may be a signal: centring fewer would take too much away.
const MANY_FEATURES: usize = 16;
/// Features whose deviations differ by more than this factor have different units.
const SAME_UNIT: f64 = 20.0;
/// Output dimension of random features when none is said.
const RANDOM_FEATURES: usize = 512;

/// Parameters of a fit, and the settings that describe them.
pub struct Recipe<T: Real> {
    /// What the engine runs.
    pub params: LkdlParams<ClassDictionariesParams<Box<dyn Learner<T> + Send>>>,
    /// Flag and value of everything that was said or chosen.
    pub settings: BTreeMap<String, String>,
}

impl MethodFlags {
    /// The parameters for these samples (one per column) of classes of these sizes.
    pub fn recipe<T: Real>(
        &self,
        samples: MatRef<'_, T>,
        class_sizes: &[usize],
        seed: u64,
    ) -> Result<Recipe<T>, Failure> {
        let look = thinned(samples);
        self.check_map()?;
        let kind = Kind::of(look.as_ref());
        let kernel = self.kernel.kernel.unwrap_or(kind.kernel());
        let prepare = match (&self.prepare, kernel) {
            (Some(prepare), _) => prepare.clone(),
            (None, KernelName::Precomputed) => PrepareParams::default(),
            // their values must stay positive
            (None, KernelName::Chi2 | KernelName::Chi2Additive) => PrepareParams::default(),
            (None, _) => kind.preparation(),
        };
        let prepared = prepare.fit(look.as_ref())?.apply_in_place(look)?.samples;
        let map = self.map_params(kernel, prepared.as_ref(), seed)?;
        let n_atoms = match self.atoms {
            Count::Exact(atoms) => atoms,
            Count::Auto => suggested_atoms(class_sizes).max(self.sparsity),
        };
        let memory = self.memory.map(|bytes| bytes.0).or_else(usual_budget);
        let mut settings = self.settings(&prepare, &map, n_atoms, seed);
        settings.extend(memory.map(|bytes| ("memory".to_string(), bytes.to_string())));
        let learner = self.learner::<T>(n_atoms, seed);
        let method = ClassDictionariesParams { learner, sparsity: self.sparsity };
        Ok(Recipe { params: LkdlParams { prepare, map, method, memory }, settings })
    }

    /// Whether samples are rows of a kernel matrix.
    pub fn is_precomputed(&self) -> bool {
        self.kernel.kernel == Some(KernelName::Precomputed)
    }

    /// Random features are of the Gaussian kernel, and no map has no kernel: a flag that asks for
    /// another is not passed over.
    fn check_map(&self) -> Result<(), Failure> {
        let Some(kernel) = self.kernel.kernel else { return Ok(()) };
        let name = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
        match self.map {
            MapName::Nystroem => Ok(()),
            MapName::Fourier | MapName::Fastfood if kernel == KernelName::Gaussian => Ok(()),
            map => Err(Failure::usage(format!(
                "--kernel {} does not go with --map {}; choose --map nystroem, or leave --kernel",
                name(&kernel),
                name(&map)
            ))),
        }
    }

    fn learner<T: Real>(&self, n_atoms: usize, seed: u64) -> Box<dyn Learner<T> + Send> {
        let (sparsity, max_iters, tol) = (self.sparsity, self.iters, self.tol);
        match self.method {
            Method::Ksvd => Box::new(KsvdParams {
                n_atoms,
                sparsity,
                max_iters,
                tol,
                update: if self.exact_update { AtomUpdate::Exact } else { AtomUpdate::Approximate },
                seed,
                ..Default::default()
            }),
            Method::Mod => Box::new(ModParams {
                n_atoms,
                sparsity,
                max_iters,
                tol,
                seed,
                ..Default::default()
            }),
        }
    }

    fn map_params<T: Real>(
        &self,
        kernel: KernelName,
        prepared: MatRef<'_, T>,
        seed: u64,
    ) -> Result<MapParams, Failure> {
        let flags = &self.kernel;
        let rank = match flags.rank {
            Count::Exact(rank) => rank,
            Count::Auto => RANDOM_FEATURES,
        };
        Ok(match self.map {
            MapName::None => MapParams::None,
            MapName::Nystroem => MapParams::Nystroem(NystroemParams {
                kernel: self.kernel(kernel, prepared, seed)?,
                sampler: flags.sampler.clone(),
                n_landmarks: flags.landmarks,
                rank: match flags.rank {
                    Count::Exact(rank) => Rank::Exact(rank),
                    // A rank cut to what the trace needs can fall to the sparsity, where every
                    // class represents every sample.
                    Count::Auto => Rank::Standard,
                },
                variant: flags.variant,
                centered: flags.centered,
                indefinite: flags.indefinite,
                memory: None,
                seed,
            }),
            MapName::Fourier => {
                let sigma = width(flags.sigma, prepared, seed)?;
                MapParams::Fourier(FourierParams { sigma, rank, seed })
            }
            MapName::Fastfood => {
                let sigma = width(flags.sigma, prepared, seed)?;
                MapParams::Fastfood(FastfoodParams { sigma, rank, seed })
            }
        })
    }

    fn kernel<T: Real>(
        &self,
        name: KernelName,
        prepared: MatRef<'_, T>,
        seed: u64,
    ) -> Result<Kernel, Failure> {
        let flags = &self.kernel;
        let with_rate = |kernel: Kernel, of: fn(f64) -> Kernel| match flags.rate {
            Some(rate) => Ok(of(rate)),
            None => kernel.with_median_width(prepared, seed),
        };
        let kernel = match name {
            KernelName::Linear => Kernel::Linear,
            KernelName::Polynomial => {
                Kernel::Polynomial { degree: flags.degree, offset: flags.offset }
            }
            KernelName::Gaussian => Kernel::Gaussian { sigma: width(flags.sigma, prepared, seed)? },
            KernelName::Exponential => {
                Kernel::Exponential { sigma: width(flags.sigma, prepared, seed)? }
            }
            KernelName::Laplacian => {
                with_rate(Kernel::Laplacian { rate: 1.0 }, |rate| Kernel::Laplacian { rate })?
            }
            KernelName::Cosine => Kernel::Cosine,
            KernelName::Sigmoid => {
                Kernel::Sigmoid { scale: flags.rate.unwrap_or(1.0), offset: flags.offset }
            }
            KernelName::Chi2 => {
                let of = |rate| Kernel::Chi2Exponential { rate };
                with_rate(Kernel::Chi2Exponential { rate: 1.0 }, of)?
            }
            KernelName::Chi2Additive => Kernel::Chi2Additive,
            KernelName::Precomputed => Kernel::Precomputed,
        };
        let kernel = if flags.normalized { Kernel::Normalized(Box::new(kernel)) } else { kernel };
        kernel.check()?;
        Ok(kernel)
    }

    /// Flags and values, as a config file would hold them.
    fn settings(
        &self,
        prepare: &PrepareParams,
        map: &MapParams,
        n_atoms: usize,
        seed: u64,
    ) -> BTreeMap<String, String> {
        let name = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
        let mut settings: BTreeMap<String, String> = [
            ("method", name(&self.method)),
            ("map", name(&self.map)),
            ("prepare", prepare.to_string()),
            ("atoms", n_atoms.to_string()),
            ("sparsity", self.sparsity.to_string()),
            ("iters", self.iters.to_string()),
            ("tol", self.tol.to_string()),
            ("exact-update", self.exact_update.to_string()),
            ("precision", name(&self.precision)),
            ("seed", seed.to_string()),
        ]
        .into_iter()
        .map(|(flag, value)| (flag.to_string(), value))
        .collect();
        let mut put = |flag: &str, value: String| {
            settings.insert(flag.to_string(), value);
        };
        match map {
            MapParams::Nystroem(map) => {
                kernel_settings(&map.kernel, &mut put);
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
                put("variant", name(&map.variant));
                put("centered", map.centered.to_string());
                put("indefinite", name(&map.indefinite));
            }
            MapParams::Fourier(FourierParams { sigma, rank, .. })
            | MapParams::Fastfood(FastfoodParams { sigma, rank, .. }) => {
                put("sigma", sigma.to_string());
                put("rank", rank.to_string());
            }
            _ => {}
        }
        settings
    }
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

/// σ as said, or as a multiple of the median distance of the prepared samples.
fn width<T: Real>(width: Width, prepared: MatRef<'_, T>, seed: u64) -> Result<f64, Failure> {
    Ok(match width {
        Width::Value(sigma) => sigma,
        Width::Median(factor) => factor * lkdl::kernel::median_distance(prepared, seed)?,
    })
}

/// Every so many samples, so that at most [`LOOK_AT`] are looked at.
fn thinned<T: Real>(samples: MatRef<'_, T>) -> Mat<T> {
    let step = samples.ncols().div_ceil(LOOK_AT).max(1);
    Mat::from_fn(samples.nrows(), samples.ncols().div_ceil(step), |t, i| samples[(t, i * step)])
}

/// What samples look like, where the user does not say how to treat them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Many features of one unit: images, spectra, signals. Their mean level and their strength say
    /// little, so each is centred and scaled, and the paper's kernel compares their shapes.
    Signals,
    /// Few features, or features of different units: measurements.
    Measurements,
}

impl Kind {
    fn of<T: Real>(look: MatRef<'_, T>) -> Self {
        let n = look.ncols() as f64;
        let deviation = |t: usize| {
            let mean = look.row(t).iter().map(|v| v.wide()).sum::<f64>() / n;
            let square = |v: &T| (v.wide() - mean).powi(2);
            (look.row(t).iter().map(square).sum::<f64>() / n).sqrt()
        };
        let mut deviations: Vec<f64> =
            (0..look.nrows()).map(deviation).filter(|deviation| *deviation > 0.0).collect();
        deviations.sort_by(f64::total_cmp);
        let typical = deviations.get(deviations.len() / 2).copied().unwrap_or(1.0);
        let largest = deviations.last().copied().unwrap_or(1.0);
        if look.nrows() >= MANY_FEATURES && largest <= SAME_UNIT * typical {
            Self::Signals
        } else {
            Self::Measurements
        }
    }

    fn preparation(self) -> PrepareParams {
        PrepareParams {
            steps: match self {
                Self::Signals => vec![Step::CenterSample, Step::UnitNorm],
                Self::Measurements => vec![Step::Standardize],
            },
        }
    }

    fn kernel(self) -> KernelName {
        match self {
            Self::Signals => KernelName::Polynomial,
            Self::Measurements => KernelName::Gaussian,
        }
    }
}

/// Half the samples of the typical class, all of a small one, at most [`MAX_ATOMS`].
fn suggested_atoms(class_sizes: &[usize]) -> usize {
    let mut sizes = class_sizes.to_vec();
    sizes.sort_unstable();
    let typical = sizes.get(sizes.len() / 2).copied().unwrap_or(1);
    (typical / 2).max(typical.min(SMALL_CLASS)).clamp(1, MAX_ATOMS)
}

/// The largest power of two that is at most half the machine's memory, where the system tells. Not
/// what is free at the moment: a budget can change which landmarks are chosen, and the same command
/// must give the same model.
fn usual_budget() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    (kib / 2).checked_ilog2().map(|log| 1024 << log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_told_from_measurements() {
        let one_unit = Mat::from_fn(20, 50, |t, i| ((7 * i + 3 * t) % 13) as f64);
        assert_eq!(Kind::of(one_unit.as_ref()), Kind::Signals);
        let units = Mat::from_fn(20, 50, |t, i| one_unit[(t, i)] * 2f64.powi(t as i32));
        assert_eq!(Kind::of(units.as_ref()), Kind::Measurements);
        assert_eq!(Kind::of(one_unit.subrows(0, 15)), Kind::Measurements);
        let constant = Mat::<f64>::full(20, 50, 3.0);
        assert_eq!(Kind::of(constant.as_ref()), Kind::Signals);
    }

    #[test]
    fn atoms_follow_the_typical_class() {
        assert_eq!(suggested_atoms(&[10, 200, 120]), 60);
        assert_eq!(suggested_atoms(&[20; 4]), 20);
        assert_eq!(suggested_atoms(&[10_000; 3]), 300);
        assert_eq!(suggested_atoms(&[1]), 1);
    }
}
