//! k-means landmarks are centres, not samples (Zhang, Tsang & Kwok 2008).
//!
//! Centres need ~20 samples each, not all of them: larger data is thinned first ([`Sample`]). The
//! steps themselves are those of [`lloyd`](crate::lloyd).

use crate::matrix::{Columns, columns_of, gather};
use crate::random::{Stage, sample_without_replacement, stream};
use crate::real::Real;
use faer::Mat;

/// Samples per centre beyond which more of them do not move the centres visibly.
const SAMPLES_PER_CENTRE: usize = 20;
/// Up to this many samples Lloyd steps cost so little that none are left out.
const ALWAYS_ALL: usize = 10_000;

/// The samples Lloyd steps run on: all, or a uniform draw of max(20c, 10,000).
pub(super) enum Sample<'a, T: Real> {
    All(Columns<'a, T>),
    Drawn(Mat<T>),
}

impl<'a, T: Real> Sample<'a, T> {
    pub(super) fn new(X: Columns<'a, T>, n_centres: usize, seed: u64) -> Self {
        let drawn = samples_drawn(X.ncols(), n_centres);
        if drawn == 0 {
            return Self::All(X);
        }
        let mut rng = stream(seed, Stage::Pilot, 0, 1);
        Self::Drawn(gather(X, &sample_without_replacement(&mut rng, X.ncols(), drawn)))
    }

    pub(super) fn columns(&self) -> Columns<'_, T> {
        match self {
            Self::All(columns) => *columns,
            Self::Drawn(owned) => columns_of(owned),
        }
    }
}

/// How many samples are drawn (and copied); 0 if all are used in place.
pub(super) fn samples_drawn(n_samples: usize, n_centres: usize) -> usize {
    let enough = ALWAYS_ALL.max(SAMPLES_PER_CENTRE * n_centres);
    if n_samples <= enough { 0 } else { enough }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_matrix;

    #[test]
    fn large_data_is_thinned_and_small_data_is_not() {
        let X = random_matrix::<f32>(1, ALWAYS_ALL + 1, 1);
        assert_eq!(Sample::new(columns_of(&X), 10, 0).columns().ncols(), ALWAYS_ALL);
        assert!(matches!(Sample::new(columns_of(&X), 501, 0), Sample::All(_)));
    }
}
