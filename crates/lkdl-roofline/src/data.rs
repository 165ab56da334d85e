//! Operands: random ones where only shapes matter, real or realistic ones where values do.

use crate::Session;
use chacha20::ChaCha8Rng;
use faer::Mat;
use lkdl::Real;
use lkdl_data::{DATA_DIR, NamedSet, TrainTest, data_dir};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

/// Samples of each digit in the USPS training and test sets.
pub const USPS_TRAIN: [usize; 10] = [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644];
const USPS_TEST: [usize; 10] = [359, 264, 198, 166, 200, 160, 170, 147, 166, 177];

/// Share of a synthetic sample that all samples of its class have in common.
const CLASS_PART: f64 = 1.0;
/// Deviations of synthetic features fall as t to this power, like the principal components of
/// small images.
const DECAY: f64 = -0.75;

/// Independent normal entries, columns scaled to unit norm.
pub fn unit_columns<T: Real>(n_rows: usize, n_cols: usize, seed: u64) -> Mat<T> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut X = Mat::from_fn(n_rows, n_cols, |_, _| StandardNormal.sample(&mut rng));
    scale_to_unit(&mut X);
    Mat::from_fn(n_rows, n_cols, |t, i| T::of(X[(t, i)]))
}

/// Unit samples whose kernel matrices have a decaying spectrum, and their classes.
pub fn decaying(n_features: usize, class_sizes: &[usize], seed: u64) -> (Mat<f64>, Vec<usize>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = || -> Vec<f64> {
        let scale = |t: usize| ((t + 1) as f64).powf(DECAY);
        (0..n_features)
            .map(|t| scale(t) * Distribution::<f64>::sample(&StandardNormal, &mut rng))
            .collect()
    };
    let centres: Vec<Vec<f64>> = class_sizes.iter().map(|_| draw()).collect();
    let labels: Vec<usize> =
        class_sizes.iter().enumerate().flat_map(|(l, &size)| vec![l; size]).collect();
    let mut X = Mat::zeros(n_features, labels.len());
    for (i, &l) in labels.iter().enumerate() {
        for ((x, own), common) in X.col_as_slice_mut(i).iter_mut().zip(draw()).zip(&centres[l]) {
            *x = own + CLASS_PART * common;
        }
    }
    scale_to_unit(&mut X);
    (X, labels)
}

fn scale_to_unit(X: &mut Mat<f64>) {
    for i in 0..X.ncols() {
        let x = X.col_as_slice_mut(i);
        let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
        x.iter_mut().for_each(|v| *v /= norm);
    }
}

/// The samples in another precision.
pub fn convert<T: Real>(X: &Mat<f64>) -> Mat<T> {
    Mat::from_fn(X.nrows(), X.ncols(), |t, i| T::of(X[(t, i)]))
}

/// Labels as class indices.
pub fn indices(labels: &[u32]) -> Vec<usize> {
    labels.iter().map(|&label| label as usize).collect()
}

/// A real set, or `None` with a word about why.
pub fn real(session: &mut Session<'_>, set: NamedSet) -> Option<TrainTest> {
    let Ok(directory) = data_dir() else {
        session.note(&format!("  {DATA_DIR} is not set: no {set}"));
        return None;
    };
    set.load(&directory).map_err(|error| session.note(&format!("  no {set}: {error}"))).ok()
}

/// USPS, or samples of the same shape without test labels: training samples and their classes, test
/// samples and theirs.
pub fn usps(session: &mut Session<'_>) -> (Mat<f64>, Vec<usize>, Mat<f64>, Option<Vec<usize>>) {
    match real(session, NamedSet::Usps) {
        Some(set) => {
            let (labels, truth) = (indices(&set.train.labels), indices(&set.test.labels));
            (set.train.samples, labels, set.test.samples, Some(truth))
        }
        None => {
            session.note("  synthetic samples of the same shape instead");
            let (train, labels) = decaying(256, &USPS_TRAIN, 1);
            (train, labels, decaying(256, &USPS_TEST, 2).0, None)
        }
    }
}
