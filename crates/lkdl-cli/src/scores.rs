//! Figures about predictions: mean and spread, per-class counts, the confusion matrix.

pub use lkdl_experiments::Spread;
use serde::Serialize;

/// How often each class was taken for each.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Confusion {
    /// `counts[truth][prediction]`.
    pub counts: Vec<Vec<usize>>,
}

/// How well one class was told from the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassScore {
    /// Its name.
    pub name: String,
    /// Samples of it.
    pub samples: usize,
    /// Share of its samples that were found.
    pub recall: Option<f64>,
    /// Share of the samples said to be of it that are.
    pub precision: Option<f64>,
}

impl Confusion {
    /// Counts pairs of true and predicted class index, all below `n_classes`.
    pub fn new(n_classes: usize, pairs: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut counts = vec![vec![0; n_classes]; n_classes];
        for (truth, prediction) in pairs {
            counts[truth][prediction] += 1;
        }
        Self { counts }
    }

    /// The share of samples whose class was found.
    pub fn accuracy(&self) -> f64 {
        let total: usize = self.counts.iter().flatten().sum();
        let right: usize = (0..self.counts.len()).map(|l| self.counts[l][l]).sum();
        right as f64 / total.max(1) as f64
    }

    /// Figures of each class; recall of an absent class and precision of one never predicted are
    /// unknown.
    pub fn classes(&self, names: &[String]) -> Vec<ClassScore> {
        let share = |part: usize, whole: usize| (whole > 0).then(|| part as f64 / whole as f64);
        let class = |(l, name): (usize, &String)| {
            let samples = self.counts[l].iter().sum();
            let predicted = self.counts.iter().map(|row| row[l]).sum();
            let right = self.counts[l][l];
            let (recall, precision) = (share(right, samples), share(right, predicted));
            ClassScore { name: name.clone(), samples, recall, precision }
        };
        names.iter().enumerate().map(class).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_follow_from_the_counts() {
        let pairs = [(0, 0), (0, 0), (0, 1), (1, 1), (1, 0)];
        let confusion = Confusion::new(3, pairs.into_iter());
        assert_eq!(confusion.counts, [[2, 1, 0], [1, 1, 0], [0, 0, 0]]);
        assert_eq!(confusion.accuracy(), 0.6);
        let classes = confusion.classes(&["a".into(), "b".into(), "c".into()]);
        assert_eq!((classes[0].samples, classes[0].recall), (3, Some(2.0 / 3.0)));
        assert_eq!((classes[1].precision, classes[2].precision), (Some(0.5), None));
    }
}
