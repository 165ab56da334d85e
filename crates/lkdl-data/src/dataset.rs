//! Labelled samples in memory.

use crate::error::DataError;
use crate::table::{check_labels, check_samples};
use faer::Mat;
use lkdl::Real;

/// The most entries (features × samples) a reader will build: 4 GiB of `f64`. A header, an index
/// or a compressed file can claim far more than it is worth.
pub const MAX_ENTRIES: usize = 1 << 29;
/// For each value that a sparse file stores, the most that are written out with its zeros: one
/// large index must not take gigabytes.
pub(crate) const MAX_SPARSE_GROWTH: usize = 1 << 16;

/// Samples, their classes, and a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// What the set is called in results.
    pub name: String,
    /// One sample per column.
    pub samples: Mat<f64>,
    /// The class of every sample, an index into `class_names`.
    pub labels: Vec<u32>,
    /// The classes as the source names them.
    pub class_names: Vec<String>,
    /// As [`Table::feature_names`](crate::Table::feature_names).
    pub feature_names: Option<Vec<String>>,
    /// As [`Table::image_shape`](crate::Table::image_shape).
    pub image_shape: Option<(usize, usize)>,
}

/// A set that comes in two parts. Both have the same features and classes.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainTest {
    /// To learn from.
    pub train: Dataset,
    /// To be judged by.
    pub test: Dataset,
}

impl Dataset {
    /// Checks that the parts fit together: at least one sample and feature, finite values, one
    /// known class per sample.
    pub fn new(
        name: impl Into<String>,
        samples: Mat<f64>,
        labels: Vec<u32>,
        class_names: Vec<String>,
    ) -> Result<Self, DataError> {
        check_samples(&samples)?;
        check_labels(&labels, &class_names, samples.ncols())?;
        let name = name.into();
        Ok(Self { name, samples, labels, class_names, feature_names: None, image_shape: None })
    }

    /// Number of samples, N.
    pub fn n_samples(&self) -> usize {
        self.samples.ncols()
    }

    /// Number of features, p.
    pub fn n_features(&self) -> usize {
        self.samples.nrows()
    }

    /// Number of classes, L.
    pub fn n_classes(&self) -> usize {
        self.class_names.len()
    }

    /// How many samples each class has.
    pub fn class_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.n_classes()];
        for &label in &self.labels {
            counts[label as usize] += 1;
        }
        counts
    }

    /// The samples in the precision a fit works in.
    pub fn convert<T: Real>(&self) -> Mat<T> {
        convert(&self.samples)
    }

    /// The samples named by `indices`, in that order; all names and the image shape are kept.
    pub fn subset(&self, indices: &[usize]) -> Result<Self, DataError> {
        if let Some(index) = indices.iter().find(|index| **index >= self.n_samples()) {
            let requirement = format!("below the number of samples, {}", self.n_samples());
            return Err(DataError::parameter("index", index, requirement));
        }
        let mut samples = Mat::zeros(self.n_features(), indices.len());
        for (slot, &i) in indices.iter().enumerate() {
            samples.col_as_slice_mut(slot).copy_from_slice(self.samples.col_as_slice(i));
        }
        let labels = indices.iter().map(|&i| self.labels[i]).collect();
        let part = Self::new(self.name.clone(), samples, labels, self.class_names.clone())?;
        let feature_names = self.feature_names.clone();
        Ok(Self { feature_names, image_shape: self.image_shape, ..part })
    }
}

/// Every value rounded to the precision `T`.
pub fn convert<T: Real>(samples: &Mat<f64>) -> Mat<T> {
    let mut out = Mat::zeros(samples.nrows(), samples.ncols());
    for i in 0..samples.ncols() {
        for (to, from) in out.col_as_slice_mut(i).iter_mut().zip(samples.col_as_slice(i)) {
            *to = T::of(*from);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Dataset {
        let samples = Mat::from_fn(2, 3, |t, i| (10 * t + i) as f64 + 0.1);
        Dataset::new("example", samples, vec![1, 0, 1], vec!["a".into(), "b".into()]).unwrap()
    }

    #[test]
    fn sizes_and_counts_are_those_of_the_parts() {
        let set = example();
        assert_eq!((set.n_samples(), set.n_features(), set.n_classes()), (3, 2, 2));
        assert_eq!(set.class_counts(), [1, 2]);
        assert_eq!(set.convert::<f64>(), set.samples);
        assert_eq!(set.convert::<f32>()[(1, 2)], 12.1f32);
    }

    #[test]
    fn a_subset_keeps_order_and_names() {
        let feature_names = Some(vec!["u".to_string(), "v".into()]);
        let image_shape = Some((2, 1));
        let named = Dataset { feature_names: feature_names.clone(), image_shape, ..example() };
        let part = named.subset(&[2, 0, 2]).unwrap();
        assert_eq!((&part.feature_names, part.image_shape), (&feature_names, image_shape));
        assert_eq!(part.labels, [1, 1, 1]);
        assert_eq!(part.samples.row(0).iter().copied().collect::<Vec<_>>(), [2.1, 0.1, 2.1]);
        assert_eq!(part.n_classes(), 2);
        assert!(example().subset(&[3]).is_err());
        assert!(example().subset(&[]).is_err());
    }

    #[test]
    fn parts_that_do_not_fit_are_errors() {
        let names = || vec!["a".to_string()];
        let build = |samples, labels| Dataset::new("x", samples, labels, names()).is_err();
        assert!(build(Mat::zeros(2, 2), vec![0]));
        assert!(build(Mat::zeros(2, 2), vec![0, 1]));
        assert!(build(Mat::zeros(0, 2), vec![0, 0]));
        assert!(build(Mat::zeros(2, 0), vec![]));
        assert!(build(Mat::from_fn(1, 1, |_, _| f64::NAN), vec![0]));
        assert!(!build(Mat::zeros(2, 2), vec![0, 0]));
    }
}
