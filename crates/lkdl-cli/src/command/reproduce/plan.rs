//! What is going to be done, and how long it may take.

use super::results::Results;
use crate::table::{Align, Table};
use lkdl_experiments::{Experiment, Job, Scale};

/// The jobs of one experiment.
pub struct Planned {
    pub experiment: &'static Experiment,
    pub jobs: Vec<Job>,
}

/// All that is to be done.
pub struct Plan {
    pub experiments: Vec<Planned>,
    /// The first seed.
    pub seed: u64,
}

impl Plan {
    pub fn new(experiments: Vec<&'static Experiment>, scale: &Scale, seed: u64) -> Self {
        let planned = |experiment: &'static Experiment| Planned {
            experiment,
            jobs: (experiment.jobs)(scale),
        };
        Self { experiments: experiments.into_iter().map(planned).collect(), seed }
    }

    /// Estimated seconds of what is not done yet.
    pub fn seconds(&self, results: &Results) -> f64 {
        self.experiments.iter().map(|planned| self.left(planned, results).1).sum()
    }

    /// Runs and seconds that are left of an experiment.
    fn left(&self, planned: &Planned, results: &Results) -> (usize, f64) {
        let mut left = (0, 0.0);
        for job in &planned.jobs {
            let open = (0..job.runs as u64)
                .filter(|run| results.find(job, self.seed.wrapping_add(*run)).is_none());
            let open = open.count();
            left = (left.0 + open, left.1 + open as f64 * job.estimate);
        }
        left
    }

    /// The plan as a table, with the time it may take.
    pub fn table(&self, results: &Results) -> String {
        let heads = [("experiment", Align::Left), ("lines", Align::Right)];
        let more = [("runs", Align::Right), ("left", Align::Right), ("time", Align::Right)];
        let mut table = Table::new(heads.into_iter().chain(more));
        for planned in &self.experiments {
            let runs: usize = planned.jobs.iter().map(|job| job.runs).sum();
            let (left, seconds) = self.left(planned, results);
            table.row([
                planned.experiment.id.to_owned(),
                planned.jobs.len().to_string(),
                runs.to_string(),
                left.to_string(),
                duration(seconds),
            ]);
        }
        format!("{table}about {} in all, on two cores", duration(self.seconds(results)))
    }
}

/// Seconds as a person reads them.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => format!("{:.0} s", s.ceil()),
        s if s < 3600.0 => format!("{:.0} min", (s / 60.0).ceil()),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_suits_them() {
        assert_eq!(
            [0.2, 59.0, 61.0, 3599.0, 5400.0].map(duration),
            ["1 s", "59 s", "2 min", "60 min", "1.5 h"]
        );
    }
}
