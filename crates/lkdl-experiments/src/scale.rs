//! How much of the paper is run: its sizes and points, or fewer.

use lkdl_data::{Dataset, TrainTest};
use std::borrow::Cow;

use crate::error::ExperimentError;

/// How much is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Its name: `quick`, `standard`, `full`.
    pub name: &'static str,
    /// Of the points of a horizontal axis, only those that tell most.
    pub few_points: bool,
    /// USPS and the embedded digits.
    pub usps: Sizes,
    /// MNIST.
    pub mnist: Sizes,
    /// Extended Yale B and AR.
    pub faces: Sizes,
    /// Bytes that a fit may use beside its samples; what needs more is skipped and said to be.
    pub memory: Option<u64>,
}

/// Seeds, and the most of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Seeds 0, 1, … of this many runs.
    pub runs: usize,
    /// Samples to learn from, at most.
    pub train: usize,
    /// Samples to test, at most.
    pub test: usize,
    /// Classes, at most.
    pub classes: usize,
    /// Atoms per class, at most.
    pub atoms: usize,
    /// k, at most.
    pub rank: usize,
}

impl Sizes {
    /// Those of the paper.
    pub const fn paper(runs: usize) -> Self {
        const ALL: usize = usize::MAX;
        Self { runs, train: ALL, test: ALL, classes: ALL, atoms: ALL, rank: ALL }
    }

    /// Whether they are those of the paper.
    pub fn is_paper(&self) -> bool {
        *self == Self::paper(self.runs)
    }

    /// The first samples of the first classes, as many as the sizes allow.
    pub fn cut<'a>(&self, set: &'a TrainTest) -> Result<Cow<'a, TrainTest>, ExperimentError> {
        if self.train >= set.train.n_samples()
            && self.test >= set.test.n_samples()
            && self.classes >= set.train.n_classes()
        {
            return Ok(Cow::Borrowed(set));
        }
        let part = |data: &Dataset, most: usize| -> Result<Dataset, ExperimentError> {
            let kept = (0..data.n_samples()).filter(|&i| (data.labels[i] as usize) < self.classes);
            let mut part = data.subset(&kept.take(most).collect::<Vec<_>>())?;
            part.class_names.truncate(self.classes);
            Ok(part)
        };
        let (train, test) = (part(&set.train, self.train)?, part(&set.test, self.test)?);
        Ok(Cow::Owned(TrainTest { train, test }))
    }
}

impl Scale {
    /// Every experiment in a few minutes: one seed, few points, and of MNIST and the faces a part.
    pub fn quick() -> Self {
        Self {
            name: "quick",
            few_points: true,
            usps: Sizes::paper(1),
            mnist: Sizes { train: 5_000, test: 2_000, atoms: 200, rank: 256, ..Sizes::paper(1) },
            faces: Sizes { classes: 10, ..Sizes::paper(1) },
            memory: None,
        }
    }

    /// The paper's sizes and points, with few seeds.
    pub fn standard() -> Self {
        Self { name: "standard", ..Self::at_paper_size(3, 1, 3) }
    }

    /// The paper's sizes and points, with enough seeds to be sure.
    pub fn full() -> Self {
        Self { name: "full", ..Self::at_paper_size(10, 3, 10) }
    }

    fn at_paper_size(usps: usize, mnist: usize, faces: usize) -> Self {
        Self {
            name: "",
            few_points: false,
            usps: Sizes::paper(usps),
            mnist: Sizes::paper(mnist),
            faces: Sizes::paper(faces),
            memory: None,
        }
    }

    /// The same with so many seeds everywhere.
    pub fn with_runs(self, runs: usize) -> Self {
        let with = |sizes| Sizes { runs, ..sizes };
        Self { usps: with(self.usps), mnist: with(self.mnist), faces: with(self.faces), ..self }
    }

    /// The points of an axis that are run: all, or the few that tell most.
    pub fn points(&self, all: &[f64], few: &[f64]) -> Vec<f64> {
        debug_assert!(few.iter().all(|point| all.contains(point)));
        if self.few_points { few.to_vec() } else { all.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn sizes_cut_samples_and_classes() {
        let labels: Vec<u32> = (0..12).map(|i| i % 3).collect();
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let samples = Mat::from_fn(1, 12, |_, i| i as f64);
        let data = Dataset::new("x", samples, labels, names).unwrap();
        let set = TrainTest { train: data.clone(), test: data };
        assert!(matches!(Sizes::paper(1).cut(&set).unwrap(), Cow::Borrowed(_)));
        let sizes = Sizes { train: 5, classes: 2, ..Sizes::paper(1) };
        let cut = sizes.cut(&set).unwrap();
        assert_eq!((cut.train.n_samples(), cut.test.n_samples()), (5, 8));
        assert_eq!(cut.train.n_classes(), 2);
        assert_eq!(
            cut.train.samples.row(0).iter().copied().collect::<Vec<_>>(),
            [0.0, 1.0, 3.0, 4.0, 6.0]
        );
        assert!(!sizes.is_paper() && Scale::full().mnist.is_paper());
    }
}
