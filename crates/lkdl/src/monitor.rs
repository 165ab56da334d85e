//! Watching a fit and stopping it. The library prints nothing and reads no clock: whoever calls it
//! may pass a [`Monitor`] that draws a progress bar, measures stages, or answers Ctrl-C.

use crate::error::LkdlError;

/// Told of a fit's progress, from any thread; asked whether to go on.
pub trait Monitor: Sync {
    /// A stage begins (`prepare`, `landmarks`, `map` or `learn`, and of a fit from blocks `survey`,
    /// `moments`, `draw` and `sums` before them); it will make so many steps, or
    /// fewer if it converges early. 0: it cannot say.
    fn begin(&self, stage: &'static str, steps: usize) {
        let _ = (stage, steps);
    }

    /// So many steps of the stage are done.
    fn advance(&self, steps: usize) {
        let _ = steps;
    }

    /// One step of the stage is done: an iteration of the learner of class `class`, which left this
    /// relative error.
    fn iterated(&self, class: usize, error: f64) {
        let _ = (class, error);
        self.advance(1);
    }

    /// Whether the fit shall stop, with [`LkdlError::Cancelled`]. Asked between stages and between
    /// iterations of every learner.
    fn cancelled(&self) -> bool {
        false
    }

    /// [`Monitor::cancelled`] as an error.
    fn check(&self) -> Result<(), LkdlError> {
        if self.cancelled() { Err(LkdlError::Cancelled) } else { Ok(()) }
    }
}

/// Watches nothing and never stops.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Monitor for Silent {}
