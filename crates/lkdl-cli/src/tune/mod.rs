//! Search for the settings of `fit` that classify best, by k-fold cross-validation.
//!
//! [`space`] says what can be tried and [`search`] in which order; [`Session`] tries it, and keeps
//! every trial in a [`log`] that a later run goes on from; [`folds`](crate::folds) fits and tests,
//! by the flags of `fit` ([`fixed`]).

pub mod fixed;
pub mod log;
pub mod search;
pub mod space;

use crate::failure::Failure;
use log::{Key, Log, Trial};
use search::{Best, Halt, search};
use space::{Point, Settings, Space};
use std::time::Instant;

/// The accuracy of every fold under some settings.
pub type Evaluate<'a> = &'a dyn Fn(&Settings) -> Result<Vec<f64>, Failure>;

/// How much a search may take.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Trials, those of the log included.
    pub trials: usize,
    /// No trial is begun later.
    pub deadline: Option<Instant>,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// No neighbour of the best is better.
    Complete,
    /// The budget was used up.
    Budget,
}

/// All that was tried.
#[derive(Debug)]
pub struct Tuned {
    /// In the order they were asked for, those of the log among them.
    pub trials: Vec<Trial>,
    /// The best one's place among them.
    pub best: usize,
    /// How many came from the log.
    pub resumed: usize,
    /// Why the search ended.
    pub end: End,
}

/// A search under way.
pub struct Session<'a> {
    pub space: &'a Space,
    pub key: Key,
    pub log: Option<Log>,
    /// Trials of earlier runs.
    pub logged: Vec<Trial>,
    pub budget: Budget,
    pub evaluate: Evaluate<'a>,
    /// Told of every trial as it ends: its number, and whether it comes from the log.
    pub report: &'a dyn Fn(usize, &Trial, bool),
}

impl Session<'_> {
    /// Searches; an error if no setting worked.
    pub fn run(mut self) -> Result<Tuned, Failure> {
        let (mut trials, mut resumed, mut best) = (Vec::new(), 0, None);
        let space = self.space;
        let mut trial = |point: &Point| self.trial(point, &mut trials, &mut resumed);
        let end = match search(space, &mut best, &mut trial) {
            Ok(()) => End::Complete,
            Err(Halt::Budget) => End::Budget,
            Err(Halt::Failed(failure)) => return Err(failure),
        };
        match place(space, &best, &trials) {
            Some(best) => Ok(Tuned { trials, best, resumed, end }),
            None => Err(nothing_worked(&trials)),
        }
    }

    /// The mean accuracy of a point: known, logged, or found out now.
    fn trial(
        &mut self,
        point: &Point,
        trials: &mut Vec<Trial>,
        resumed: &mut usize,
    ) -> Result<Option<f64>, Halt> {
        let settings = self.space.settings(point);
        if let Some(known) = trials.iter().find(|trial| trial.settings == settings) {
            return Ok(known.mean());
        }
        if trials.len() >= self.budget.trials {
            return Err(Halt::Budget);
        }
        let logged = self.logged.iter().find(|trial| trial.settings == settings).cloned();
        let is_logged = logged.is_some();
        let trial = match logged {
            Some(trial) => trial,
            None if self.budget.deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                return Err(Halt::Budget);
            }
            None => self.try_out(settings).map_err(Halt::Failed)?,
        };
        *resumed += usize::from(is_logged);
        (self.report)(trials.len() + 1, &trial, is_logged);
        let mean = trial.mean();
        trials.push(trial);
        Ok(mean)
    }

    /// A trial in earnest. Settings that fail are a trial too.
    fn try_out(&mut self, settings: Settings) -> Result<Trial, Failure> {
        let start = Instant::now();
        let outcome = (self.evaluate)(&settings);
        let (accuracies, error) = match outcome {
            Ok(accuracies) => (accuracies, None),
            Err(failure) => (Vec::new(), Some(failure.to_string())),
        };
        let seconds = start.elapsed().as_secs_f64();
        let trial = Trial { key: self.key.clone(), settings, accuracies, seconds, error };
        if let Some(log) = &mut self.log {
            log.append(&trial)?;
        }
        Ok(trial)
    }
}

fn place(space: &Space, best: &Best, trials: &[Trial]) -> Option<usize> {
    let settings = space.settings(&best.as_ref()?.1);
    trials.iter().position(|trial| trial.settings == settings)
}

fn nothing_worked(trials: &[Trial]) -> Failure {
    match trials.iter().find_map(|trial| trial.error.as_ref()) {
        Some(error) => Failure::run(format!("no setting worked; the first failed with: {error}")),
        None => Failure::usage("the budget allows no trial; give more trials or more minutes"),
    }
}

#[cfg(test)]
mod tests;
