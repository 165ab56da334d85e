//! A fit's stages: how long each took, and a progress bar while it runs.

use crate::context::Context;
use indicatif::ProgressBar;
use lkdl::monitor::Monitor;
use serde::Serialize;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The time of one stage.
#[derive(Debug, Clone, Serialize)]
pub struct StageTime {
    /// Its name.
    pub stage: &'static str,
    /// Seconds.
    pub seconds: f64,
}

/// Watches a fit.
pub struct Stages<'a> {
    context: &'a Context,
    running: Mutex<Option<(&'static str, Instant, ProgressBar)>>,
    done: Mutex<Vec<StageTime>>,
}

impl<'a> Stages<'a> {
    /// Nothing has begun.
    pub fn new(context: &'a Context) -> Self {
        Self { context, running: Mutex::new(None), done: Mutex::new(Vec::new()) }
    }

    /// Ends the running stage and gives the times of all.
    pub fn finish(self) -> Vec<StageTime> {
        self.end();
        self.done.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        let ended = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((stage, start, bar)) = ended {
            bar.finish_and_clear();
            let seconds = start.elapsed().as_secs_f64();
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push(StageTime { stage, seconds });
        }
    }
}

impl Monitor for Stages<'_> {
    fn begin(&self, stage: &'static str, steps: usize) {
        self.end();
        let bar = self.context.progress(stage, steps as u64);
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        *running = Some((stage, Instant::now(), bar));
    }

    fn advance(&self, steps: usize) {
        if let Some((_, _, bar)) = &*self.running.lock().unwrap_or_else(PoisonError::into_inner) {
            bar.inc(steps as u64);
        }
    }
}
