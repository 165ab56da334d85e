//! One row of a figure or table: what we measured beside what was published.

use crate::repeat::Outcome;
use serde::Serialize;
use std::collections::BTreeMap;

/// A number of the paper, and how far a reproduction may be from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// In %.
    pub value: f64,
    /// In points.
    pub tolerance: f64,
}

/// One measured value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    /// Which experiment.
    pub experiment: &'static str,
    /// Which of several ways to run it.
    pub variant: String,
    /// What was trained.
    pub method: String,
    /// On which samples.
    pub dataset: &'static str,
    /// Parameters in words.
    pub params: BTreeMap<String, String>,
    /// Where on the horizontal axis of a figure.
    pub x: Option<f64>,
    /// Accuracy in %, mean over the runs.
    pub mean: f64,
    /// Its standard deviation.
    pub std: f64,
    /// How many runs.
    pub runs: usize,
    /// The published accuracy in %.
    pub published: Option<f64>,
    /// Whether the mean is as near to it as a reproduction should be.
    pub within_tolerance: Option<bool>,
    /// Seconds to train and to test, means over the runs.
    pub seconds: Seconds,
}

/// Where the time of a run went.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Seconds {
    /// Preparation, map and learning.
    pub train: f64,
    /// Preparation, map and classification of the test samples.
    pub test: f64,
}

impl Record {
    /// A row from the runs of one method.
    pub fn new(
        experiment: &'static str,
        method: impl Into<String>,
        dataset: &'static str,
        outcome: &Outcome,
        published: Option<Published>,
    ) -> Self {
        let (mean, std) = (100.0 * outcome.accuracy.mean, 100.0 * outcome.accuracy.std);
        Self {
            experiment,
            variant: String::new(),
            method: method.into(),
            dataset,
            params: BTreeMap::new(),
            x: None,
            mean,
            std,
            runs: outcome.runs,
            published: published.map(|p| p.value),
            within_tolerance: published.map(|p| (mean - p.value).abs() <= p.tolerance),
            seconds: Seconds { train: outcome.train.mean, test: outcome.test.mean },
        }
    }

    /// The same row with a parameter named.
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.params.insert(name.into(), value.to_string());
        self
    }

    /// The same row as one of several variants.
    pub fn variant(mut self, variant: impl Into<String>) -> Self {
        self.variant = variant.into();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spread::Spread;

    #[test]
    fn tolerance_is_judged_in_points() {
        let spread = |mean| Spread { mean, std: 0.001 };
        let outcome =
            Outcome { accuracy: spread(0.9575), train: spread(2.0), test: spread(1.0), runs: 5 };
        let record = |value| {
            let published = Published { value, tolerance: 0.25 };
            Record::new("1b", "K-SVD", "usps", &outcome, Some(published)).within_tolerance
        };
        assert_eq!((record(95.6), record(95.4)), (Some(true), Some(false)));
        let free = Record::new("1b", "K-SVD", "usps", &outcome, None).with("q", 3);
        assert_eq!((free.within_tolerance, free.params["q"].as_str()), (None, "3"));
    }
}
