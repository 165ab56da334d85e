//! One row of a figure or table: what we measured beside what was published.

use crate::job::{Params, Run, Setting};
use crate::published::Published;
use crate::quantity::Quantity;
use crate::spread::Spread;
use serde::{Deserialize, Serialize};

/// One measured value, over all its runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Which experiment.
    pub experiment: String,
    /// Which of several ways to run it.
    pub variant: String,
    /// What was trained.
    pub method: String,
    /// On which samples.
    pub dataset: String,
    /// Everything else that was chosen, in words.
    pub params: Params,
    /// What was measured.
    pub quantity: Quantity,
    /// Where on the horizontal axis of a figure.
    pub x: Option<f64>,
    /// Mean over the runs, in the unit of the quantity.
    pub mean: f64,
    /// Standard deviation of the runs.
    pub std: f64,
    /// How many runs.
    pub runs: usize,
    /// The published value.
    pub published: Option<f64>,
    /// Mean less published.
    pub difference: Option<f64>,
    /// Whether the mean is as near to it as a reproduction should be; none where nothing was
    /// published or demanded, and where sizes were reduced.
    pub within_tolerance: Option<bool>,
    /// Sizes were smaller than the paper's.
    #[serde(default)]
    pub reduced: bool,
    /// Seconds to train and to test, means over the runs.
    pub seconds: Seconds,
}

/// Where the time of a run went.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Preparation, map and learning.
    pub train: f64,
    /// Preparation, map and classification of the test samples.
    pub test: f64,
}

/// One number of one run, with the time it took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// What was measured.
    pub quantity: Quantity,
    /// Where on the horizontal axis.
    pub x: Option<f64>,
    /// In the unit of the quantity.
    pub value: f64,
    /// Seconds to train.
    pub train: f64,
    /// Seconds to test.
    pub test: f64,
}

impl Record {
    /// A row from the values of all runs; `reduced` sizes are not held against the paper.
    pub fn new(setting: &Setting, values: &[Value], reduced: bool) -> Option<Self> {
        let Value { quantity, x, .. } = *values.first()?;
        let spread = |of: fn(&Value) -> f64| Spread::of(&values.iter().map(of).collect::<Vec<_>>());
        let Spread { mean, std } = spread(|v| v.value);
        let Setting { experiment, variant, method, dataset, params } = setting.clone();
        let published = Published::find(&experiment, quantity, &method, x);
        Some(Self {
            published: published.map(|p| p.value),
            difference: published.map(|p| mean - p.value),
            within_tolerance: published.filter(|_| !reduced).and_then(|p| p.admits(mean)),
            seconds: Seconds { train: spread(|v| v.train).mean, test: spread(|v| v.test).mean },
            runs: values.len(),
            experiment,
            variant,
            method,
            dataset,
            params,
            reduced,
            quantity,
            x,
            mean,
            std,
        })
    }
}

/// The rows that saved runs make, in the order of their first runs. A seed that was run again
/// counts once, with its last run; runs of an older version do not count beside those of a newer.
pub fn gather(runs: &[Run]) -> Vec<Record> {
    let mut groups: Vec<Vec<&Run>> = Vec::new();
    for run in runs.iter().filter(|run| run.skipped.is_none()) {
        match groups.iter_mut().find(|group| group[0].setting == run.setting) {
            Some(group) if group[0].version != run.version => *group = vec![run],
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups.iter().flat_map(|group| rows(group)).collect()
}

/// The rows of runs of one setting.
fn rows(runs: &[&Run]) -> Vec<Record> {
    let mut places: Vec<Vec<(u64, Value)>> = Vec::new();
    for run in runs {
        for value in &run.values {
            let same = |at: &Value| at.quantity == value.quantity && at.x == value.x;
            match places.iter_mut().find(|place| same(&place[0].1)) {
                Some(place) => match place.iter_mut().find(|(seed, _)| *seed == run.seed) {
                    Some(again) => again.1 = *value,
                    None => place.push((run.seed, *value)),
                },
                None => places.push(vec![(run.seed, *value)]),
            }
        }
    }
    let row = |place: Vec<(u64, Value)>| {
        let values: Vec<Value> = place.into_iter().map(|(_, value)| value).collect();
        Record::new(&runs[0].setting, &values, runs[0].reduced)
    };
    places.into_iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(setting: &Setting, version: &str, seed: u64, values: &[Value]) -> Run {
        Run {
            version: version.into(),
            setting: setting.clone(),
            reduced: false,
            seed,
            values: values.to_vec(),
            skipped: None,
        }
    }

    #[test]
    fn saved_runs_are_gathered_by_setting_place_and_seed() {
        let (a, b) =
            (Setting::new("1b", "", "K-SVD", "usps"), Setting::new("1b", "x", "K-SVD", "usps"));
        let elsewhere = Value { x: None, ..value(50.0) };
        let runs = [
            run(&a, "1", 0, &[value(10.0)]), // of an old version
            run(&a, "2", 0, &[value(90.0)]),
            run(&b, "2", 0, &[value(80.0)]),
            run(&a, "2", 1, &[value(91.0), elsewhere]),
            run(&a, "2", 0, &[value(93.0)]), // run again
            Run { skipped: Some("too large".into()), values: vec![], ..run(&b, "2", 1, &[]) },
        ];
        let records = gather(&runs);
        let found: Vec<_> =
            records.iter().map(|r| (r.variant.as_str(), r.x, r.mean, r.runs)).collect();
        let expected = [("", Some(20.0), 92.0, 2), ("", None, 50.0, 1), ("x", Some(20.0), 80.0, 1)];
        assert_eq!(found, expected);
    }

    fn value(value: f64) -> Value {
        Value { quantity: Quantity::Accuracy, x: Some(20.0), value, train: 2.0, test: 1.0 }
    }

    #[test]
    fn a_record_holds_the_runs_against_the_paper() {
        let setting = Setting::new("1b", "program", "LKDL uniform", "usps"); // 95.99 published
        let record = Record::new(&setting, &[value(95.8), value(96.0)], false).unwrap();
        assert!((record.mean - 95.9).abs() < 1e-9 && record.runs == 2);
        assert_eq!((record.published, record.within_tolerance), (Some(95.99), Some(true)));
        assert!((record.difference.unwrap() + 0.09).abs() < 1e-9);
        assert_eq!(record.seconds, Seconds { train: 2.0, test: 1.0 });
        let far = Record::new(&setting, &[value(95.7)], false).unwrap();
        assert_eq!((far.within_tolerance, far.std), (Some(false), 0.0));
    }

    #[test]
    fn reduced_sizes_and_methods_of_our_own_are_not_judged() {
        let setting = Setting::new("1b", "program", "LKDL uniform", "usps");
        let reduced = Record::new(&setting, &[value(90.0)], true).unwrap();
        assert_eq!((reduced.published, reduced.within_tolerance), (Some(95.99), None));
        let ours = Setting::new("1b", "beyond", "LKDL hybrid", "usps");
        let record = Record::new(&ours, &[value(96.0)], false).unwrap();
        assert_eq!((record.published, record.difference), (None, None));
        assert_eq!(Record::new(&ours, &[], false), None);
    }
}
