//! From wishes and data to the engine's parameters: what the caller left open is chosen here, by
//! rules that look at the data once, and written down so that a model can say what it was made
//! with.

use crate::applies::Chosen;
use crate::error::RecipeError;
use crate::held_out::{self, Verdict};
use crate::kind::{Kind, thinned};
use crate::methods::Common;
use crate::names::{KernelName, MapName, Method};
use crate::settings::{Resolved, Settings, Sizes, settings};
use crate::trainer::Trainer;
use crate::values::{Count, Width};
use crate::wishes::Wishes;
use faer::MatRef;
use lkdl::map::fastfood::FastfoodParams;
use lkdl::map::fourier::FourierParams;
use lkdl::prelude::*;
use lkdl_model::Element;

/// Atoms per class at most, unless asked for: the most the paper takes, for thousands of samples.
const MAX_ATOMS: usize = 700;
/// Classes up to this size keep all their samples as atoms.
const SMALL_CLASS: usize = 50;
/// Output dimension of random features when none is said.
const RANDOM_FEATURES: usize = 512;
/// The paper's sparsity for kernel dictionaries of 300 atoms, kept for smaller ones.
const MIN_SPARSITY: usize = 5;
/// The paper's sparsity for 700 atoms.
const MAX_SPARSITY: usize = 11;
/// Atoms of a class for each of a code between these two: a large dictionary that is learned with
/// few atoms at a time learns its samples by heart.
const ATOMS_PER_NONZERO: usize = 60;
/// The paper's sparsity for codes over the atoms of all classes.
const SHARED_SPARSITY: usize = 30;
/// Features for each atom of such a code, as the paper's faces have them (504 for 30).
const FEATURES_PER_ATOM: usize = 10;
/// An iteration that gains less than this share has little left to gain.
pub(crate) const USUAL_TOL: f64 = 1e-4;
/// The paper's degree.
const USUAL_DEGREE: f64 = 2.0;

/// Parameters of a fit, and the settings that describe them.
pub struct Recipe<T: Element> {
    /// What the engine runs.
    pub params: LkdlParams<Trainer<T>>,
    /// Option and value of everything that was said or chosen.
    pub settings: Settings,
    /// What held-out samples decided.
    pub verdict: Option<Verdict>,
}

impl<T: Element> Recipe<T> {
    /// Whether the number of landmarks is found out by the fit.
    pub fn counts_landmarks(&self) -> bool {
        matches!(&self.params.map, MapParams::Nystroem(map)
            if matches!(map.n_landmarks, LandmarkCount::Auto { .. }))
    }

    /// The same parameters with the landmarks and the rank of this map.
    pub fn with_landmarks(self, map: &NystroemMap<T>) -> LkdlParams<Trainer<T>> {
        let mut params = self.params;
        if let MapParams::Nystroem(nystroem) = &mut params.map {
            nystroem.n_landmarks = LandmarkCount::Exact(map.n_landmarks());
            nystroem.rank = Rank::Exact(map.rank());
        }
        params
    }
}

/// Samples of every class.
pub fn class_sizes(labels: &[usize]) -> Vec<usize> {
    let mut sizes = vec![0; labels.iter().max().map_or(0, |largest| largest + 1)];
    for &label in labels {
        sizes[label] += 1;
    }
    sizes
}

/// What held-out samples decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draft {
    /// The map to make.
    pub map: MapName,
    /// Atoms that may represent a sample, if that was open and is not to be the usual number.
    pub sparsity: Option<usize>,
}

impl Wishes {
    /// The parameters for these samples (one per column) of these classes.
    pub fn recipe<T: Element>(
        &self,
        samples: MatRef<'_, T>,
        labels: &[usize],
        seed: u64,
    ) -> Result<Recipe<T>, RecipeError> {
        let maps = self.maps();
        let usual = Draft { map: maps[0], sparsity: None };
        let open = self.method.has_class_dictionaries();
        let verdict = open.then(|| held_out::judge(self, maps, samples, labels, seed)).flatten();
        let draft = verdict.as_ref().map_or(usual, |verdict| verdict.draft);
        let recipe = self.follow(draft, samples, labels, seed)?;
        Ok(Recipe { verdict, ..recipe })
    }

    /// Refuses options that mean nothing beside the others and these samples.
    pub fn check_for<T: Real>(&self, samples: MatRef<'_, T>) -> Result<(), RecipeError> {
        self.check(&self.chosen(self.maps()[0], Kind::of(thinned(samples).as_ref())))
    }

    /// The map that was said, or those that are open, the usual one first.
    fn maps(&self) -> &'static [MapName] {
        match self.map {
            None if self.method.is_exact() => &[MapName::None],
            Some(MapName::Nystroem) => &[MapName::Nystroem],
            Some(MapName::Fourier) => &[MapName::Fourier],
            Some(MapName::Fastfood) => &[MapName::Fastfood],
            Some(MapName::None) => &[MapName::None],
            // who speaks of a kernel or of landmarks wants them
            None if self.kernel.says_anything() => &[MapName::Nystroem],
            None => &[MapName::Nystroem, MapName::None],
        }
    }

    /// [`Wishes::recipe`] with nothing left open.
    pub(crate) fn follow<T: Element>(
        &self,
        draft: Draft,
        samples: MatRef<'_, T>,
        labels: &[usize],
        seed: u64,
    ) -> Result<Recipe<T>, RecipeError> {
        let look = thinned(samples);
        let kind = Kind::of(look.as_ref());
        let chosen = self.chosen(draft.map, kind);
        self.check(&chosen)?;
        let prepare = self.preparation(kind, chosen.kernel);
        let prepared = prepare.fit(look.as_ref())?.apply_in_place(look)?.samples;
        let map = self.map_params(&chosen, prepared.as_ref(), seed)?;
        let kernel = match chosen.kernel {
            Some(kernel) if self.method.is_exact() => {
                Some(self.kernel(kernel, prepared.as_ref(), seed)?)
            }
            _ => None,
        };
        let class_sizes = class_sizes(labels);
        let sizes = self.sizes(draft, samples.nrows(), &class_sizes);
        let memory = self.memory;
        let settings = {
            let (map_name, prepare, map, kernel) = (draft.map, &prepare, &map, kernel.as_ref());
            settings::<T>(self, &Resolved { map_name, prepare, map, kernel, sizes, memory, seed })
        };
        let common = Common {
            sizes,
            n_classes: class_sizes.len(),
            iters: self.iters,
            tol: self.tol.unwrap_or(USUAL_TOL),
            batch: self.batch,
            exact_update: self.exact_update,
            kernel,
            memory,
            seed,
        };
        let method = self.own.trainer::<T>(self.method, &common);
        Ok(Recipe { params: LkdlParams { prepare, map, method, memory }, settings, verdict: None })
    }

    /// What options depend on.
    fn chosen(&self, map: MapName, kind: Kind) -> Chosen {
        let kernel = match map {
            MapName::None if self.method.is_exact() => {
                Some(self.kernel.kernel.unwrap_or(kind.kernel()))
            }
            MapName::None => None,
            MapName::Fourier | MapName::Fastfood => Some(KernelName::Gaussian),
            MapName::Nystroem => Some(self.kernel.kernel.unwrap_or(kind.kernel())),
        };
        let kernel_is_said = self.kernel.kernel.is_some();
        Chosen { method: self.method, map, kernel, kernel_is_said }
    }

    /// Refuses options that mean nothing beside the others.
    fn check(&self, chosen: &Chosen) -> Result<(), RecipeError> {
        chosen.check_map()?;
        chosen.check_kernel(self.kernel.kernel)?;
        self.given().try_for_each(|option| chosen.check(option))
    }

    fn preparation(&self, kind: Kind, kernel: Option<KernelName>) -> PrepareParams {
        match (&self.prepare, kernel) {
            (Some(prepare), _) => prepare.clone(),
            // no features; values that must stay positive; samples as their kernel expects them
            (None, Some(KernelName::Precomputed | KernelName::Custom)) => PrepareParams::default(),
            (None, Some(KernelName::Chi2 | KernelName::Chi2Additive)) => PrepareParams::default(),
            (None, _) => kind.preparation(),
        }
    }

    fn n_atoms(&self, class_sizes: &[usize]) -> usize {
        let suggested = || suggested_atoms(class_sizes).max(self.sparsity.unwrap_or(1));
        self.atoms.unwrap_or_else(suggested)
    }

    /// Atoms that represent a sample where a class has its own, unless something is said or decided.
    pub(crate) fn usual_sparsity(&self, class_sizes: &[usize]) -> usize {
        (self.n_atoms(class_sizes) / ATOMS_PER_NONZERO).clamp(MIN_SPARSITY, MAX_SPARSITY)
    }

    fn sizes(&self, draft: Draft, n_features: usize, class_sizes: &[usize]) -> Sizes {
        let said = self.sparsity;
        let n_atoms = self.n_atoms(class_sizes);
        let of_class = self.usual_sparsity(class_sizes);
        let shared = match draft.map {
            // many atoms, of whatever classes, represent any sample of few features
            MapName::None if !self.method.is_exact() => {
                (n_features / FEATURES_PER_ATOM).clamp(MIN_SPARSITY, SHARED_SPARSITY)
            }
            _ => SHARED_SPARSITY,
        };
        // what is said is checked by the engine, what is chosen fits
        let (usual, most) = match self.method {
            // as many atoms as dimensions represent any sample, of whatever class
            method if method.has_class_dictionaries() && draft.map == MapName::None => {
                (of_class, n_atoms.min(n_features.saturating_sub(1)))
            }
            Method::KernelKsvd | Method::KernelMod => (of_class, n_atoms),
            method if method.has_class_dictionaries() => (of_class, n_atoms),
            // codes over the samples of all classes
            Method::Src | Method::KernelSrc => (shared, class_sizes.iter().sum()),
            // codes over the atoms of all classes
            _ => (shared, n_atoms.saturating_mul(class_sizes.len())),
        };
        let chosen = |sparsity: usize| sparsity.min(most).max(1);
        let sparsity = said.unwrap_or(chosen(draft.sparsity.unwrap_or(usual)));
        let learning = self.learning_sparsity.or(said);
        Sizes { n_atoms, sparsity, learning: learning.unwrap_or(chosen(usual)) }
    }

    pub(crate) fn map_params<T: Real>(
        &self,
        chosen: &Chosen,
        prepared: MatRef<'_, T>,
        seed: u64,
    ) -> Result<MapParams, RecipeError> {
        let wishes = &self.kernel;
        let random_features = || -> Result<(f64, usize), RecipeError> {
            let rank = match wishes.rank {
                Some(Count::Exact(rank)) => rank,
                _ => RANDOM_FEATURES,
            };
            Ok((width(wishes.sigma, prepared, seed)?, rank))
        };
        Ok(match (chosen.map, chosen.kernel) {
            (MapName::None, _) => MapParams::None,
            (MapName::Nystroem, kernel) => MapParams::Nystroem(NystroemParams {
                kernel: self.kernel(kernel.unwrap_or(KernelName::Polynomial), prepared, seed)?,
                sampler: wishes.sampler.clone().unwrap_or_default(),
                n_landmarks: wishes.landmarks.unwrap_or_default(),
                rank: match wishes.rank {
                    Some(Count::Exact(rank)) => Rank::Exact(rank),
                    // A rank cut to what the trace needs can fall to the sparsity, where every
                    // class represents every sample.
                    _ => Rank::Standard,
                },
                variant: wishes.variant.unwrap_or_default(),
                centered: wishes.centered,
                indefinite: wishes.indefinite.unwrap_or_default(),
                memory: None,
                seed,
            }),
            (MapName::Fourier, _) => {
                let (sigma, rank) = random_features()?;
                MapParams::Fourier(FourierParams { sigma, rank, seed })
            }
            (MapName::Fastfood, _) => {
                let (sigma, rank) = random_features()?;
                MapParams::Fastfood(FastfoodParams { sigma, rank, seed })
            }
        })
    }

    fn kernel<T: Real>(
        &self,
        name: KernelName,
        prepared: MatRef<'_, T>,
        seed: u64,
    ) -> Result<Kernel, RecipeError> {
        let wishes = &self.kernel;
        let with_rate = |kernel: Kernel, of: fn(f64) -> Kernel| match wishes.rate {
            Some(rate) => Ok(of(rate)),
            None => kernel.with_median_width(prepared, seed),
        };
        let offset = wishes.offset.unwrap_or(0.0);
        let kernel = match name {
            KernelName::Linear => Kernel::Linear,
            KernelName::Polynomial => {
                Kernel::Polynomial { degree: wishes.degree.unwrap_or(USUAL_DEGREE), offset }
            }
            KernelName::Gaussian => {
                Kernel::Gaussian { sigma: width(wishes.sigma, prepared, seed)? }
            }
            KernelName::Exponential => {
                Kernel::Exponential { sigma: width(wishes.sigma, prepared, seed)? }
            }
            KernelName::Laplacian => {
                with_rate(Kernel::Laplacian { rate: 1.0 }, |rate| Kernel::Laplacian { rate })?
            }
            KernelName::Cosine => Kernel::Cosine,
            KernelName::Sigmoid => Kernel::Sigmoid { scale: wishes.rate.unwrap_or(1.0), offset },
            KernelName::Chi2 => {
                let of = |rate| Kernel::Chi2Exponential { rate };
                with_rate(Kernel::Chi2Exponential { rate: 1.0 }, of)?
            }
            KernelName::Chi2Additive => Kernel::Chi2Additive,
            KernelName::Precomputed => Kernel::Precomputed,
            KernelName::Custom => wishes.custom.clone().unwrap_or(Kernel::Linear),
        };
        let kernel = if wishes.normalized { Kernel::Normalized(Box::new(kernel)) } else { kernel };
        kernel.check()?;
        Ok(kernel)
    }
}

/// σ as said, or as a multiple of the median distance of the prepared samples.
fn width<T: Real>(
    width: Option<Width>,
    prepared: MatRef<'_, T>,
    seed: u64,
) -> Result<f64, RecipeError> {
    Ok(match width.unwrap_or(Width::Median(1.0)) {
        Width::Value(sigma) => sigma,
        Width::Median(factor) => factor * lkdl::kernel::median_distance(prepared, seed)?,
    })
}

/// Two thirds of the samples of the typical class, all of a small one, at most [`MAX_ATOMS`].
fn suggested_atoms(class_sizes: &[usize]) -> usize {
    let mut sizes = class_sizes.to_vec();
    sizes.sort_unstable();
    let typical = sizes.get(sizes.len() / 2).copied().unwrap_or(1);
    (typical * 2 / 3).max(typical.min(SMALL_CLASS)).clamp(1, MAX_ATOMS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparsity_that_is_chosen_fits_the_atoms_and_one_that_is_said_stays() {
        let sizes = |settings: &[(&str, &str)], chosen: Option<usize>| {
            let wishes = Wishes::from_settings(settings.iter().copied()).unwrap();
            let draft = Draft { map: MapName::None, sparsity: chosen };
            let Sizes { n_atoms, sparsity, learning } = wishes.sizes(draft, 64, &[40; 3]);
            (n_atoms, sparsity, learning)
        };
        assert_eq!(sizes(&[], None), (40, 5, 5));
        assert_eq!(sizes(&[], Some(12)), (40, 12, 5));
        assert_eq!(sizes(&[("atoms", "3")], None), (3, 3, 3));
        assert_eq!(sizes(&[("atoms", "3")], Some(12)), (3, 3, 3));
        assert_eq!(sizes(&[("sparsity", "7")], None), (40, 7, 7));
        assert_eq!(sizes(&[("atoms", "3"), ("sparsity", "4")], None), (3, 4, 4));
        assert_eq!(sizes(&[("learning-sparsity", "2")], Some(9)), (40, 9, 2));
        assert_eq!(sizes(&[("sparsity", "60")], None), (60, 60, 60));
    }

    #[test]
    fn a_sparsity_over_all_samples_is_at_most_their_number() {
        let wishes = Wishes { method: Method::Src, ..Wishes::default() };
        let draft = Draft { map: MapName::None, sparsity: None };
        assert_eq!(wishes.sizes(draft, 504, &[2, 9, 9]).sparsity, 20);
        assert_eq!(wishes.sizes(draft, 504, &[40; 3]).sparsity, 30);
    }

    #[test]
    fn a_sparsity_over_all_atoms_follows_the_features_where_there_is_no_map() {
        let sparsity = |method, map, n_features| {
            let wishes = Wishes { method, ..Wishes::default() };
            let draft = Draft { map, sparsity: None };
            wishes.sizes(draft, n_features, &[40; 3]).sparsity
        };
        for method in [Method::LcKsvd2, Method::DKsvd, Method::Src] {
            assert_eq!(sparsity(method, MapName::None, 4), 5);
            assert_eq!(sparsity(method, MapName::None, 64), 6);
            assert_eq!(sparsity(method, MapName::None, 504), 30);
            assert_eq!(sparsity(method, MapName::Nystroem, 64), 30);
        }
        assert_eq!(sparsity(Method::KernelSrc, MapName::None, 64), 30);
    }

    #[test]
    fn more_atoms_are_learned_with_more_of_them_at_a_time() {
        let sizes = |settings: &[(&str, &str)], class_size, chosen| {
            let wishes = Wishes::from_settings(settings.iter().copied()).unwrap();
            let draft = Draft { map: MapName::Nystroem, sparsity: chosen };
            let sizes = wishes.sizes(draft, 64, &[class_size; 3]);
            (sizes.sparsity, sizes.learning)
        };
        assert_eq!(sizes(&[], 100, None), (5, 5));
        assert_eq!(sizes(&[], 660, None), (7, 7)); // 440 atoms
        assert_eq!(sizes(&[], 5000, None), (11, 11));
        assert_eq!(sizes(&[], 5000, Some(8)), (8, 11));
        assert_eq!(sizes(&[("atoms", "9000")], 5000, None), (11, 11));
        assert_eq!(sizes(&[("atoms", "20")], 5000, None), (5, 5));
        assert_eq!(sizes(&[("sparsity", "6")], 5000, None), (6, 6));
    }

    #[test]
    fn linear_codes_have_fewer_atoms_than_dimensions() {
        let sizes = |map, n_features, sparsity| {
            let draft = Draft { map, sparsity };
            let sizes = Wishes::default().sizes(draft, n_features, &[40; 3]);
            (sizes.sparsity, sizes.learning)
        };
        assert_eq!(sizes(MapName::None, 3, None), (2, 2));
        assert_eq!(sizes(MapName::None, 1, Some(7)), (1, 1));
        assert_eq!(sizes(MapName::None, 10, Some(12)), (9, 5));
        assert_eq!(sizes(MapName::Nystroem, 3, None), (5, 5));
    }

    #[test]
    fn atoms_follow_the_typical_class() {
        assert_eq!(suggested_atoms(&[10, 200, 120]), 80);
        assert_eq!(suggested_atoms(&[20; 4]), 20);
        assert_eq!(suggested_atoms(&[10_000; 3]), 700);
        assert_eq!(suggested_atoms(&[1]), 1);
    }
}
