//! Work that is done once per seed and saved whole: one method of an experiment, trained once,
//! measured at one or more places.

use crate::error::ExperimentError;
use crate::quantity::Quantity;
use crate::record::Value;
use crate::sets::Sets;
use crate::trial::Trial;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Parameters in words.
pub type Params = BTreeMap<String, String>;

/// All that the runs of a job have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Which experiment.
    pub experiment: String,
    /// Which of several ways to run it: `program` and `text` are those of the paper, `beyond` is
    /// not in it.
    pub variant: String,
    /// What is trained.
    pub method: String,
    /// On which samples.
    pub dataset: String,
    /// Everything else that is chosen.
    pub params: Params,
}

impl Setting {
    /// A setting without parameters.
    pub fn new(
        experiment: &str,
        variant: impl Into<String>,
        method: impl Into<String>,
        dataset: &str,
    ) -> Self {
        Self {
            experiment: experiment.into(),
            variant: variant.into(),
            method: method.into(),
            dataset: dataset.into(),
            params: Params::new(),
        }
    }

    /// The same setting with a parameter named.
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.params.insert(name.into(), value.to_string());
        self
    }
}

/// What is measured where.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// What.
    pub quantity: Quantity,
    /// Where on the horizontal axis.
    pub x: Option<f64>,
}

impl Place {
    /// An accuracy.
    pub fn accuracy(x: Option<f64>) -> Self {
        Self { quantity: Quantity::Accuracy, x }
    }
}

/// One seed of a job, as it is saved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The program that made it: another may give other numbers.
    pub version: String,
    /// Its setting.
    #[serde(flatten)]
    pub setting: Setting,
    /// Sizes were smaller than the paper's.
    #[serde(default)]
    pub reduced: bool,
    /// Its seed.
    pub seed: u64,
    /// One value per place.
    pub values: Vec<Value>,
    /// Why there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

type Work = Box<dyn Fn(&Sets, u64) -> Result<Vec<Trial>, ExperimentError>>;

/// Work that is done once per seed.
pub struct Job {
    /// What its runs have in common.
    pub setting: Setting,
    /// What it measures.
    pub places: Vec<Place>,
    /// Seeds 0, 1, … of this many runs.
    pub runs: usize,
    /// Seconds that a run takes, about, on two cores.
    pub estimate: f64,
    /// Sizes are smaller than the paper's.
    pub reduced: bool,
    work: Work,
}

impl Job {
    /// A job of one run at paper size; the work gives one trial per place.
    pub fn new(
        setting: Setting,
        places: Vec<Place>,
        work: impl Fn(&Sets, u64) -> Result<Vec<Trial>, ExperimentError> + 'static,
    ) -> Self {
        Self { setting, places, runs: 1, estimate: 1.0, reduced: false, work: Box::new(work) }
    }

    /// A job whose one trial says what a method costs: accuracy, times and memory at one place.
    pub(crate) fn of_costs(
        setting: Setting,
        x: Option<f64>,
        work: impl Fn(&Sets, u64) -> Result<Trial, ExperimentError> + 'static,
    ) -> Self {
        use Quantity::{Accuracy, Memory, TestSeconds, TrainSeconds};
        let quantities = [Accuracy, TrainSeconds, TestSeconds, Memory];
        let places = quantities.map(|quantity| Place { quantity, x }).to_vec();
        Self::new(setting, places, move |sets, seed| {
            let trial = work(sets, seed)?;
            let values = [trial.value, trial.train, trial.test, trial.memory as f64 / 1e6];
            Ok(values.map(|value| Trial { value, ..trial }).to_vec())
        })
    }

    /// The same job with so many seeds.
    pub fn runs(self, runs: usize) -> Self {
        Self { runs, ..self }
    }

    /// The same job, which takes about so many seconds for a seed.
    pub fn estimate(self, estimate: f64) -> Self {
        Self { estimate, ..self }
    }

    /// The same job, with the sizes it runs at.
    pub fn reduced(self, reduced: bool) -> Self {
        Self { reduced, ..self }
    }

    /// Does the work for one seed. What does not fit the memory is skipped, with the reason.
    pub fn run(&self, sets: &Sets, seed: u64, version: &str) -> Result<Run, ExperimentError> {
        let (trials, skipped) = match (self.work)(sets, seed) {
            Ok(trials) => (trials, None),
            Err(error @ ExperimentError::DoesNotFit { .. }) => {
                (Vec::new(), Some(error.to_string()))
            }
            Err(error) => return Err(error),
        };
        debug_assert!(skipped.is_some() || trials.len() == self.places.len());
        let value = |(place, trial): (&Place, &Trial)| Value {
            quantity: place.quantity,
            x: place.x,
            value: trial.value,
            train: trial.train,
            test: trial.test,
        };
        Ok(Run {
            version: version.into(),
            setting: self.setting.clone(),
            reduced: self.reduced,
            seed,
            values: self.places.iter().zip(&trials).map(value).collect(),
            skipped,
        })
    }

    /// Whether a run that was saved is that of this job, this seed and this version. One of other
    /// parameters, or measured elsewhere, is not.
    pub fn is_done_by(&self, run: &Run, seed: u64, version: &str) -> bool {
        let places = run.values.iter().map(|value| Place { quantity: value.quantity, x: value.x });
        run.seed == seed
            && run.version == version
            && run.setting == self.setting
            && run.skipped.is_none()
            && places.eq(self.places.iter().copied())
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job")
            .field("setting", &self.setting)
            .field("places", &self.places)
            .field("runs", &self.runs)
            .field("estimate", &self.estimate)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::gather;

    fn job(n_atoms: usize) -> Job {
        let setting = Setting::new("x", "program", "K-SVD", "usps").with("atoms", n_atoms);
        let places = [None, Some(2.0)].map(Place::accuracy).to_vec();
        Job::new(setting, places, |_, seed| {
            let trial = |value| Trial { value, train: 1.0, test: 0.5, memory: 0 };
            Ok(vec![trial(90.0 + seed as f64), trial(80.0)])
        })
        .runs(3)
    }

    #[test]
    fn runs_become_records() {
        let (job, sets) = (job(5), Sets::default());
        let runs: Vec<Run> = (0..3).map(|seed| job.run(&sets, seed, "1").unwrap()).collect();
        let records = gather(&runs);
        assert_eq!(records.len(), 2);
        assert_eq!((records[0].mean, records[0].std, records[0].runs), (91.0, 1.0, 3));
        assert_eq!((records[1].x, records[1].mean), (Some(2.0), 80.0));
        assert_eq!(records[0].params["atoms"], "5");
    }

    #[test]
    fn a_saved_run_counts_for_its_own_parameters_seed_and_version_alone() {
        let (first, sets) = (job(5), Sets::default());
        let text = serde_json::to_string(&first.run(&sets, 1, "1").unwrap()).unwrap();
        let run: Run = serde_json::from_str(&text).unwrap();
        assert_eq!(run, first.run(&sets, 1, "1").unwrap());
        assert!(first.is_done_by(&run, 1, "1"));
        assert!(!first.is_done_by(&run, 2, "1") && !first.is_done_by(&run, 1, "2"));
        assert!(!job(6).is_done_by(&run, 1, "1"));
        let fewer = Job { places: vec![Place::accuracy(None)], ..job(5) };
        assert!(!fewer.is_done_by(&run, 1, "1"));
    }

    #[test]
    fn what_does_not_fit_is_skipped_with_the_reason() {
        let job = Job {
            work: Box::new(|_, _| Err(ExperimentError::DoesNotFit { need: 2_000_000, budget: 10 })),
            ..job(5)
        };
        let run = job.run(&Sets::default(), 0, "1").unwrap();
        assert!(run.skipped.as_ref().is_some_and(|why| why.contains("2.0 MB")), "{run:?}");
        assert!(!job.is_done_by(&run, 0, "1") && gather(&[run]).is_empty());
    }
}
