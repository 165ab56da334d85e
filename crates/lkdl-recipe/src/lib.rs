//! What a fit chooses when little is said: the same for every front.
//!
//! A caller fills in [`Wishes`] and leaves open what it does not care about. [`Wishes::recipe`] looks
//! at the data and decides the rest: kernel and preparation by what samples look like, width by their
//! distances, atoms by the sizes of classes, sparsity and whether a kernel helps at all by held-out
//! samples. The [`Recipe`] is what the engine runs, with the settings that would repeat it.
//!
//! ```
//! use lkdl_recipe::Wishes;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // two rings
//! let samples = faer::Mat::from_fn(2, 200, |row, i| {
//!     let (angle, radius) = (i as f64, 1.0 + (i % 2) as f64);
//!     radius * if row == 0 { angle.cos() } else { angle.sin() }
//! });
//! let labels: Vec<usize> = (0..200).map(|i| i % 2).collect();
//! let wishes = Wishes::from_settings([("atoms", "8"), ("landmarks", "20")])?;
//! let recipe = wishes.recipe(samples.as_ref(), &labels, 0)?;
//! assert_eq!(recipe.settings["kernel"], "gaussian");
//! let model = recipe.params.fit(samples.as_ref(), &labels)?;
//! assert!(model.predict(samples.as_ref())?.accuracy(&labels)? > 0.95);
//! # Ok(())
//! # }
//! ```

mod applies;
mod error;
mod held_out;
mod job;
mod kind;
mod methods;
mod names;
mod recipe;
mod settings;
mod stream;
mod trainer;
mod values;
mod wishes;

pub use applies::Chosen;
pub use error::{Fits, RecipeError};
pub use held_out::Verdict;
pub use job::{Labelled, Planned, Settled, Started, StreamJob, Surveyed, check_classes};
pub use kind::are_signals;
pub use names::{KernelName, MapName, Method, Named, RuleName};
pub use recipe::{Draft, Recipe, class_sizes};
pub use settings::Settings;
pub use stream::StreamRecipe;
pub use trainer::Trainer;
pub use values::{Bytes, Count, Width, indefinite, landmarks, variant};
pub use wishes::{KernelWishes, OwnWishes, Wishes};
