//! Stratified splits: every part holds the classes in the proportions of the whole.
//!
//! Each class is shuffled by a stream of its own; indices come back ascending.

use crate::error::DataError;
use crate::random::{Stage, draw_to_front, stream};
use std::collections::BTreeMap;

/// Indices of samples to learn from and to test on; together all samples, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// To learn from, ascending.
    pub train: Vec<usize>,
    /// To test on, ascending.
    pub test: Vec<usize>,
}

/// Puts `test_fraction` of every class, rounded to whole samples, into the test part. A class of
/// two or more samples is in both parts; a single sample is for learning.
pub fn stratified_split(labels: &[u32], test_fraction: f64, seed: u64) -> Result<Split, DataError> {
    if !(test_fraction > 0.0 && test_fraction < 1.0) {
        return Err(DataError::parameter("test_fraction", test_fraction, "between 0 and 1"));
    }
    let mut in_test = vec![false; labels.len()];
    for members in shuffled_classes(labels, Stage::Split, seed) {
        let n = members.len();
        let share = (test_fraction * n as f64).round() as usize;
        let count = if n < 2 { 0 } else { share.clamp(1, n - 1) };
        for &i in &members[..count] {
            in_test[i] = true;
        }
    }
    let split = by_membership(&in_test);
    if split.test.is_empty() {
        let requirement = "such that one class at least has two samples";
        return Err(DataError::parameter("labels", "a list of single samples", requirement));
    }
    Ok(split)
}

/// Cuts the samples into `n_folds` test parts, each with the rest to learn from. Sizes of folds,
/// and of every class in them, differ by one at most.
pub fn stratified_folds(
    labels: &[u32],
    n_folds: usize,
    seed: u64,
) -> Result<Vec<Split>, DataError> {
    if n_folds < 2 || n_folds > labels.len() {
        let requirement = format!("between 2 and the number of samples, {}", labels.len());
        return Err(DataError::parameter("n_folds", n_folds, requirement));
    }
    // dealt like cards, the next class going on where the last one stopped
    let mut fold_of = vec![0; labels.len()];
    let order = shuffled_classes(labels, Stage::Folds, seed).into_iter().flatten();
    for (turn, i) in order.enumerate() {
        fold_of[i] = turn % n_folds;
    }
    let fold = |fold| by_membership(&fold_of.iter().map(|f| *f == fold).collect::<Vec<_>>());
    Ok((0..n_folds).map(fold).collect())
}

/// The members of every class, classes ascending, each in random order.
fn shuffled_classes(labels: &[u32], stage: Stage, seed: u64) -> Vec<Vec<usize>> {
    let mut classes = BTreeMap::<u32, Vec<usize>>::new();
    for (i, &label) in labels.iter().enumerate() {
        classes.entry(label).or_default().push(i);
    }
    let shuffle = |(label, mut members): (u32, Vec<usize>)| {
        let n = members.len();
        draw_to_front(&mut stream(seed, stage, label as usize), &mut members, n);
        members
    };
    classes.into_iter().map(shuffle).collect()
}

fn by_membership(in_test: &[bool]) -> Split {
    let (test, train) = (0..in_test.len()).partition(|&i| in_test[i]);
    Split { train, test }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classes of 26, 10, 3, 2 and 1 samples, mixed.
    fn labels() -> Vec<u32> {
        let sizes = [(0, 26), (1, 10), (5, 3), (7, 2), (9, 1)];
        let mut labels: Vec<u32> =
            sizes.iter().flat_map(|&(label, size)| vec![label; size]).collect();
        for i in 0..labels.len() {
            labels.swap(i, (i * 17 + 5) % 42);
        }
        labels
    }

    fn count(part: &[usize], label: u32) -> usize {
        let labels = labels();
        part.iter().filter(|&&i| labels[i] == label).count()
    }

    fn assert_partition(split: &Split, n: usize) {
        let mut all = [split.train.clone(), split.test.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..n).collect::<Vec<_>>());
        assert!(split.train.is_sorted() && split.test.is_sorted());
    }

    #[test]
    fn a_split_is_disjoint_complete_and_stratified() {
        let split = stratified_split(&labels(), 6.0 / 26.0, 1).unwrap();
        assert_partition(&split, 42);
        let counts = [0, 1, 5, 7, 9].map(|label| count(&split.test, label));
        assert_eq!(counts, [6, 2, 1, 1, 0]);
        let most = stratified_split(&labels(), 0.99, 1).unwrap();
        assert_eq!([0, 1, 5, 7, 9].map(|label| count(&most.train, label)), [1, 1, 1, 1, 1]);
    }

    #[test]
    fn folds_are_disjoint_complete_and_stratified() {
        for n_folds in [2, 3, 5, 42] {
            let folds = stratified_folds(&labels(), n_folds, 1).unwrap();
            assert_eq!(folds.len(), n_folds);
            let mut tested: Vec<usize> = folds.iter().flat_map(|fold| fold.test.clone()).collect();
            tested.sort_unstable();
            assert_eq!(tested, (0..42).collect::<Vec<_>>());
            for fold in &folds {
                assert_partition(fold, 42);
                assert!(fold.test.len().abs_diff(42 / n_folds) <= 1);
                for (label, size) in [(0, 26), (1, 10), (5, 3), (7, 2), (9, 1)] {
                    let n = count(&fold.test, label);
                    assert!(n == size / n_folds || n == size.div_ceil(n_folds), "{label}: {n}");
                }
            }
        }
    }

    #[test]
    fn the_seed_decides() {
        let labels = labels();
        assert_eq!(
            stratified_split(&labels, 0.5, 1).unwrap(),
            stratified_split(&labels, 0.5, 1).unwrap()
        );
        assert_ne!(
            stratified_split(&labels, 0.5, 1).unwrap(),
            stratified_split(&labels, 0.5, 2).unwrap()
        );
        assert_eq!(
            stratified_folds(&labels, 3, 1).unwrap(),
            stratified_folds(&labels, 3, 1).unwrap()
        );
        assert_ne!(
            stratified_folds(&labels, 3, 1).unwrap(),
            stratified_folds(&labels, 3, 2).unwrap()
        );
    }

    #[test]
    fn every_sample_is_tested_equally_often_over_seeds() {
        let mut counts = [0; 10];
        for seed in 0..2000 {
            for i in stratified_split(&[0; 10], 0.3, seed).unwrap().test {
                counts[i] += 1;
            }
        }
        // 600 expected, standard deviation 20.5
        assert!(counts.iter().all(|c| (500..700).contains(c)), "{counts:?}");
    }

    #[test]
    fn bad_requests_are_errors() {
        for fraction in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(stratified_split(&[0, 0], fraction, 1).is_err());
        }
        assert!(stratified_split(&[], 0.5, 1).is_err());
        assert!(stratified_split(&[0, 1, 2], 0.5, 1).is_err());
        assert!(stratified_folds(&[0, 0], 1, 1).is_err());
        assert!(stratified_folds(&[0, 0], 3, 1).is_err());
    }
}
