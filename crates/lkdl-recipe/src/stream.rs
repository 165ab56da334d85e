//! The recipe of a fit from blocks: what the pilot suggests, said in full, so that an interrupted
//! fit can be resumed without it.

use crate::applies::Chosen;
use crate::error::{Fits, RecipeError};
use crate::held_out::Verdict;
use crate::methods::{Common, online, optimal_directions, rls, stream_batch};
use crate::names::{KernelName, MapName, Method, Named};
use crate::recipe::USUAL_TOL;
use crate::settings::{Settings, Sizes};
use crate::wishes::Wishes;
use faer::{Mat, MatRef};
use lkdl::prelude::*;
use lkdl::stream::{DriftParams, StreamParams};
use lkdl_model::Element;

/// Parameters of a fit from blocks, and the settings that they follow from.
pub struct StreamRecipe<T: Element> {
    /// What the engine runs.
    pub params: StreamParams<T>,
    /// Option and value of everything that was said or chosen.
    pub settings: Settings,
    /// What held-out samples of the pilot decided.
    pub verdict: Option<Verdict>,
}

impl Wishes {
    /// The parameters for a source of which these samples are the pilot. A map that shall grow has
    /// landmarks, unless another was asked for.
    pub fn stream_recipe<T: Element>(
        &self,
        pilot: MatRef<'_, T>,
        labels: &[usize],
        drift: DriftParams,
        seed: u64,
    ) -> Result<StreamRecipe<T>, RecipeError> {
        self.check_streamed()?;
        self.check_growing(&drift)?;
        let mut wishes = self.clone();
        if drift.grow > 0 {
            wishes.map = Some(MapName::Nystroem);
        }
        let mut recipe = wishes.recipe(pilot, labels, seed)?;
        recipe.settings.extend(drift_settings(&drift));
        say_batch(&mut recipe.settings, self.method);
        let of = StreamRecipe::of(recipe.settings, self.kernel.custom.clone(), seed)?;
        Ok(StreamRecipe { verdict: recipe.verdict, ..of })
    }

    /// Refuses a map that cannot grow where it should.
    pub fn check_growing(&self, drift: &DriftParams) -> Result<(), RecipeError> {
        match self.map {
            Some(map) if drift.grow > 0 && map != MapName::Nystroem => {
                let fits = Fits::Values("map", vec![MapName::Nystroem.name()]);
                let (option, with) = (GROW, ("map", map.name()));
                Err(RecipeError::Misplaced { option, value: None, with, note: "", fits })
            }
            _ => Ok(()),
        }
    }

    /// Refuses what cannot be learned from blocks.
    pub fn check_streamed(&self) -> Result<(), RecipeError> {
        let misplaced = |with, fits| {
            Err(RecipeError::Misplaced { option: "stream", value: None, with, note: "", fits })
        };
        if !Method::STREAMED.contains(&self.method) {
            let names = Method::STREAMED.iter().map(|method| method.name()).collect();
            return misplaced(("method", self.method.name()), Fits::Values("method", names));
        }
        if self.is_precomputed() {
            let fits = Fits::Advice("choose a {kernel} of samples");
            return misplaced(("kernel", KernelName::Precomputed.name()), fits);
        }
        Ok(())
    }
}

impl<T: Element> StreamRecipe<T> {
    /// The recipe of these settings, which leave nothing open, and of the caller's own kernel if
    /// there is one: settings have its name alone.
    pub fn of(settings: Settings, custom: Option<Kernel>, seed: u64) -> Result<Self, RecipeError> {
        let is_wish = |option: &str| match option {
            "precision" | "seed" | GROW | DRIFT_LIMIT => false,
            "kernel" => custom.is_none(),
            _ => true,
        };
        let all = settings.iter().map(|(option, value)| (option.as_str(), value.as_str()));
        let mut wishes = Wishes::from_settings(all.filter(|(option, _)| is_wish(option)))?;
        if custom.is_some() {
            (wishes.kernel.kernel, wishes.kernel.custom) = (Some(KernelName::Custom), custom);
        }
        let chosen = Chosen {
            method: wishes.method,
            map: wishes.map.unwrap_or(MapName::None),
            kernel: wishes.kernel.kernel,
            kernel_is_said: true,
        };
        // widths are said: there is nothing to be looked up in samples
        let map = wishes.map_params(&chosen, Mat::<T>::new().as_ref(), seed)?;
        let sparsity = wishes.sparsity.unwrap_or(1);
        let common = Common {
            sizes: Sizes {
                n_atoms: wishes.atoms.unwrap_or(1),
                sparsity,
                learning: wishes.learning_sparsity.unwrap_or(sparsity),
            },
            n_classes: 0,
            iters: wishes.iters,
            tol: wishes.tol.unwrap_or(USUAL_TOL),
            batch: wishes.batch,
            exact_update: false,
            kernel: None,
            memory: wishes.memory,
            seed,
        };
        let learner = match wishes.method {
            Method::Mod => StreamLearner::Mod(optimal_directions(&common)),
            Method::Rls => StreamLearner::Rls(rls(&common)),
            _ => StreamLearner::Online(online(&common)),
        };
        let prepare = wishes.prepare.clone().unwrap_or_default();
        let method = ClassDictionariesParams { learner, sparsity };
        let (memory, drift) = (wishes.memory, drift_of(&settings)?);
        let params = StreamParams { prepare, map, method, memory, drift };
        Ok(Self { params, settings, verdict: None })
    }
}

/// Says what a mini-batch is, where there are any.
fn say_batch(settings: &mut Settings, method: Method) {
    if method == Method::Mod {
        return;
    }
    let n_atoms = settings.get("atoms").and_then(|atoms| atoms.parse().ok());
    let batch = stream_batch(n_atoms.unwrap_or(1));
    settings.entry(BATCH.into()).or_insert_with(|| batch.to_string());
}

const BATCH: &str = "batch";
const GROW: &str = "grow";
const DRIFT_LIMIT: &str = "drift-limit";

/// What was said about drift, as far as it is not the usual.
fn drift_settings(drift: &DriftParams) -> Settings {
    let usual = DriftParams::default();
    let mut settings = Settings::new();
    if drift.grow != usual.grow {
        settings.insert(GROW.into(), drift.grow.to_string());
    }
    if drift.limit != usual.limit {
        settings.insert(DRIFT_LIMIT.into(), drift.limit.to_string());
    }
    settings
}

fn drift_of(settings: &Settings) -> Result<DriftParams, RecipeError> {
    let mut drift = DriftParams::default();
    let unreadable = |option: &str, requirement: &str| RecipeError::Unreadable {
        option: option.into(),
        value: settings[option].clone(),
        requirement: requirement.into(),
    };
    if let Some(text) = settings.get(GROW) {
        drift.grow = text.parse().map_err(|_| unreadable(GROW, "must be a count"))?;
    }
    if let Some(text) = settings.get(DRIFT_LIMIT) {
        drift.limit = text.parse().map_err(|_| unreadable(DRIFT_LIMIT, "must be a number"))?;
    }
    Ok(drift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rings() -> (Mat<f64>, Vec<usize>) {
        let samples = Mat::from_fn(2, 300, |row, i| {
            let (angle, radius) = (i as f64, 1.0 + (i % 2) as f64);
            radius * if row == 0 { angle.cos() } else { angle.sin() }
        });
        (samples, (0..300).map(|i| i % 2).collect())
    }

    #[test]
    fn the_recipe_of_its_settings_is_the_same_recipe() {
        let (samples, labels) = rings();
        for settings in [
            &[("method", "online"), ("batch", "32")][..],
            &[("method", "rls"), ("map", "fourier"), ("sigma", "0.7median"), ("atoms", "20")],
            &[("method", "mod"), ("kernel", "gaussian"), ("landmarks", "20"), ("iters", "3")],
            &[("method", "mod"), ("map", "none"), ("prepare", "center,l2")],
        ] {
            let wishes = Wishes::from_settings(settings.iter().copied()).unwrap();
            let in_memory = wishes.recipe(samples.as_ref(), &labels, 5).unwrap();
            let drift = DriftParams::default();
            let recipe = wishes.stream_recipe(samples.as_ref(), &labels, drift, 5).unwrap();
            assert_eq!(recipe.params.map, in_memory.params.map);
            assert_eq!(recipe.params.prepare, in_memory.params.prepare);
            let again = StreamRecipe::<f64>::of(recipe.settings.clone(), None, 5).unwrap();
            assert_eq!(format!("{:?}", again.params), format!("{:?}", recipe.params));
            let atoms: usize = recipe.settings["atoms"].parse().unwrap();
            assert!(format!("{:?}", recipe.params).contains(&format!("n_atoms: {atoms},")));
        }
    }

    #[test]
    fn mini_batches_have_as_many_samples_as_atoms_and_settings_say_so() {
        let (samples, labels) = rings();
        let batch = |settings: &[(&str, &str)]| {
            let wishes = Wishes::from_settings(settings.iter().copied()).unwrap();
            let drift = DriftParams::default();
            let recipe = wishes.stream_recipe(samples.as_ref(), &labels, drift, 5).unwrap();
            recipe.settings.get("batch").cloned()
        };
        let online = |atoms| [("method", "online"), ("map", "none"), ("atoms", atoms)];
        assert_eq!(batch(&online("20")).as_deref(), Some("256"));
        assert_eq!(batch(&online("700")).as_deref(), Some("700"));
        let said = [&online("700")[..], &[("batch", "32")]].concat();
        assert_eq!(batch(&said).as_deref(), Some("32"));
        assert_eq!(batch(&[("method", "mod")]), None);
    }

    #[test]
    fn a_map_that_shall_grow_has_landmarks_and_settings_say_so() {
        let (samples, labels) = rings();
        let wishes = Wishes { method: Method::Online, ..Wishes::default() };
        let drift = DriftParams { grow: 7, limit: 2.5, ..DriftParams::default() };
        let recipe = wishes.stream_recipe(samples.as_ref(), &labels, drift, 5).unwrap();
        assert!(matches!(recipe.params.map, MapParams::Nystroem(_)));
        assert_eq!(recipe.params.drift, drift);
        let again = StreamRecipe::<f64>::of(recipe.settings.clone(), None, 5).unwrap();
        assert_eq!(again.params.drift, drift);
        let linear = Wishes { map: Some(MapName::None), ..wishes };
        let text = linear.check_growing(&drift).unwrap_err().to_string();
        assert_eq!(text, "grow does not go with map none; it is for map nystroem");
        assert!(linear.check_growing(&DriftParams::default()).is_ok());
        let damaged = [("grow".to_string(), "many".to_string())].into();
        let text = StreamRecipe::<f64>::of(damaged, None, 5).map(|_| ()).unwrap_err().to_string();
        assert_eq!(text, "grow is \"many\", but must be a count");
    }

    #[test]
    fn a_kernel_of_the_caller_is_kept() {
        #[derive(Debug)]
        struct Own;
        impl lkdl::kernel::CustomKernel for Own {
            fn name(&self) -> &str {
                "own"
            }

            fn block(
                &self,
                x: MatRef<'_, f64>,
                y: MatRef<'_, f64>,
                mut out: faer::MatMut<'_, f64>,
            ) -> Result<(), LkdlError> {
                out.copy_from(x.transpose() * y);
                Ok(())
            }
        }
        let (samples, labels) = rings();
        let mut wishes = Wishes { method: Method::Mod, ..Wishes::default() };
        let own = Kernel::Custom(std::sync::Arc::new(Own));
        wishes.kernel.kernel = Some(KernelName::Custom);
        wishes.kernel.custom = Some(own.clone());
        let drift = DriftParams::default();
        let recipe = wishes.stream_recipe(samples.as_ref(), &labels, drift, 5).unwrap();
        let MapParams::Nystroem(map) = recipe.params.map else { panic!("no landmarks") };
        assert_eq!(map.kernel, own);
    }

    #[test]
    fn what_cannot_be_streamed_is_refused_with_what_can() {
        let wishes = Wishes::from_settings([("method", "ksvd")]).unwrap();
        let text = wishes.check_streamed().unwrap_err().to_string();
        assert_eq!(
            text,
            "stream does not go with method ksvd; it is for method online or rls or mod"
        );
    }
}
