//! A fit from samples that no memory holds: a few passes over a [`Source`], memory that does not
//! grow with it, and a pipeline at the end like any other.
//!
//! 1. **Survey** ([`SurveyParams`]): one pass counts samples and classes, and draws a pilot. The
//!    caller may look at it before choosing parameters. It refuses to hold more than
//!    it may ([`SurveyParams::memory`]).
//! 2. **Gather** ([`StreamParams::gather`]): what depends on all samples comes from all of them, by
//!    one more pass for each thing that the parameters ask for. A `standardize` step needs their
//!    moments; the diagonal sampler draws landmarks from them; the optimal variant, a rank by trace
//!    and a centred map need their sums. Other parameters need no pass, and a pilot that holds all
//!    samples needs none either.
//! 3. **Start** ([`StreamParams::start`]): preparation, landmarks and map are made of what was
//!    gathered, and all else of the pilot; starting atoms are drawn from it.
//! 4. **Passes** ([`StreamFit::run`]): every block is prepared, mapped and fed to the dictionaries of
//!    its classes ([`StreamLearner`]), then forgotten.
//!
//! While blocks are mapped, a monitor watches how much of them the landmarks miss, against what they
//! miss of the pilot and of samples that the survey held out beside it ([`Drift`]). A fit whose
//! [`DriftParams`] say so answers drift with more landmarks, taken from the block that came last, and
//! goes on with what it has learned.
//!
//! The samples come in the order of the source, which should be mixed: online learners that see one
//! class after the other learn each of them well, but one that sees the easy samples of a class
//! first has forgotten them by the end.
//!
//! Between any two blocks the fit can lend all that it remembers to a [`Keeper`]
//! ([`Saving`]). A fit that goes on from there ([`StreamParams::resume`]) ends
//! in the same bits as one that was never interrupted, and gathers nothing again. One that is
//! interrupted before its first pass that learns starts anew. Every pass must see what the first one
//! saw: a source that shrinks, grows or changes is [`LkdlError::SourceChanged`].
//!
//! ```
//! use lkdl::blocks::{Block, Source};
//! use lkdl::monitor::Silent;
//! use lkdl::prelude::*;
//! use lkdl::stream::{DriftParams, KeepNothing, StreamParams, SurveyParams};
//!
//! /// Two rings, 50 samples at a time.
//! struct Rings(usize);
//!
//! impl Source<f64> for Rings {
//!     fn next_block(&mut self) -> Result<Option<Block<f64>>, LkdlError> {
//!         let first = 50 * self.0;
//!         self.0 += 1;
//!         let samples = faer::Mat::from_fn(2, 50, |row, i| {
//!             let (angle, radius) = ((first + i) as f64, 1.0 + (i % 2) as f64);
//!             radius * if row == 0 { angle.cos() } else { angle.sin() }
//!         });
//!         let labels = (0..50).map(|i| i % 2).collect();
//!         Ok((first < 1000).then_some(Block { samples, labels }))
//!     }
//!
//!     fn rewind(&mut self) -> Result<(), LkdlError> {
//!         self.0 = 0;
//!         Ok(())
//!     }
//! }
//!
//! let params = StreamParams {
//!     prepare: PrepareParams::default(),
//!     map: MapParams::Nystroem(NystroemParams {
//!         kernel: Kernel::Polynomial { degree: 2.0, offset: 1.0 },
//!         rank: Rank::Exact(6),
//!         ..Default::default()
//!     }),
//!     method: ClassDictionariesParams {
//!         learner: StreamLearner::Online(OnlineParams {
//!             n_atoms: 8,
//!             coding: OnlineCoding::Omp { sparsity: 3 },
//!             max_iters: 2,
//!             ..Default::default()
//!         }),
//!         sparsity: 3,
//!     },
//!     memory: Some(8_000_000),
//!     drift: DriftParams::default(),
//! };
//! let mut source = Rings(0);
//! let pilot = SurveyParams { n_pilot: 200, ..Default::default() }.survey(&mut source, &Silent)?;
//! assert_eq!(pilot.tally.class_counts, [500, 500]);
//! let whole = params.gather(&pilot, &mut source, &Silent)?;
//! let fit = params.start(pilot, whole, &Silent)?;
//! let model = fit.run(&mut source, &mut KeepNothing, &Silent)?;
//! source.rewind()?;
//! let block = source.next_block()?.unwrap();
//! assert!(model.predict(block.samples.as_ref())?.accuracy(&block.labels)? > 0.95);
//! # Ok::<(), LkdlError>(())
//! ```
//!
//! [`LkdlError::SourceChanged`]: crate::LkdlError::SourceChanged
//! [`Source`]: crate::blocks::Source

mod drift;
mod fit;
mod gather;
mod keys;
mod plan;
mod saved_map;
mod survey;
mod tally;
#[cfg(test)]
mod tests;
mod whole;

pub use drift::{Drift, DriftParams};
pub use fit::StreamFit;
pub use gather::Gather;
pub use keys::survey_keys;
pub use survey::{Pilot, SurveyParams};
pub use tally::Tally;
pub use whole::Whole;

use crate::classify::ClassDictionariesParams;
use crate::dictionary::StreamLearner;
use crate::error::LkdlError;
use crate::pipeline::MapParams;
use crate::prepare::PrepareParams;
use crate::real::Real;
use crate::state::Saving;

/// A pipeline whose dictionaries are learned from a source:
/// [`LkdlParams`](crate::pipeline::LkdlParams) and what to do about drift.
#[derive(Debug, Clone)]
pub struct StreamParams<T: Real> {
    /// What is done to every sample first.
    pub prepare: PrepareParams,
    /// The map to virtual samples.
    pub map: MapParams,
    /// The dictionaries.
    pub method: ClassDictionariesParams<StreamLearner<T>>,
    /// Bytes the fit may use, blocks and pilot included; `None` for no limit.
    pub memory: Option<u64>,
    /// What to do about samples that the landmarks miss.
    pub drift: DriftParams,
}

/// Keeps what a fit remembers, so that it can be resumed.
pub trait Keeper<T: Real>: Send {
    /// Asked after every block: whether [`Keeper::keep`] shall be called now.
    fn is_due(&mut self) -> bool;

    /// Keeps the state, in the place of any before. The first call is before the first block.
    fn keep(&mut self, state: &Saving<'_, T>) -> Result<(), LkdlError>;
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeepNothing;

impl<T: Real> Keeper<T> for KeepNothing {
    fn is_due(&mut self) -> bool {
        false
    }

    fn keep(&mut self, _: &Saving<'_, T>) -> Result<(), LkdlError> {
        Ok(())
    }
}
