//! LC-KSVD on AR, linearly and on virtual samples: 500 atoms, 30 non-zeros, 20 images of every
//! person to learn from and 6 to test, drawn anew for every seed.
//!
//! **The published accuracies do not come out with 30 non-zeros**: all four rows are 3 to 7 points
//! below them, though LKDL gains about 4 points where 1 to 1.5 were published. Two things are behind
//! it, both measured by [`lc_ksvd_ar_reasons`](crate::lc_ksvd_ar_reasons); `docs/experiments.md` has
//! the figures.
//!
//! 1. 30 of 500 atoms are too few for these features. A dictionary learned with 30 non-zeros reaches
//!    the published accuracy as soon as decisions may use 50 to 100 of its atoms.
//! 2. No weight of the labels helps here. Those of the linear rows were not published; from nothing
//!    to where labels drown the samples, the best is within the spread of no weight at all. So what
//!    is left is K-SVD with a linear classifier, and its published accuracy on AR (86.5 % in the
//!    table of LC-KSVD's authors) is what comes out.
//!
//! The features are rebuilt from other copies of the images, and no split was published, but they are
//! not the reason: SRC, which learns nothing, reaches its published 97.5 % with 50 non-zeros, and is
//! two points behind with 30, too.
//!
//! Tried besides, without effect: training samples in random order, so that a class does not start
//! from its first, undisguised images; the stale codes of the published program; the whole rank and
//! other widths of LKDL.

use crate::error::ExperimentError;
use crate::faces::{Row, Stage};
use crate::job::Job;
use crate::scale::Scale;
use crate::sets::Sets;
use lkdl::prelude::{LcKsvdParams, LcVariant};
use lkdl_data::{NamedSet, TrainTest};

/// Six of the 26 images of a person.
const TEST_FRACTION: f64 = 6.0 / 26.0;

/// Every row on the same random splits, one per seed.
pub(crate) fn jobs(scale: &Scale) -> Vec<Job> {
    let stage = stage("ar", scale);
    rows().iter().map(|row| row.job(stage, None, split)).collect()
}

/// An experiment on all 100 persons, or on as many as the scale has.
pub(crate) fn stage(experiment: &'static str, scale: &Scale) -> Stage {
    Stage { experiment, dataset: "ar", n_classes: 100, sizes: scale.faces }
}

/// The random split of a seed.
pub(crate) fn split(sets: &Sets, seed: u64) -> Result<TrainTest, ExperimentError> {
    sets.random_split(NamedSet::Ar, TEST_FRACTION, seed)
}

fn rows() -> Vec<Row> {
    let plain = (4.0, 2.0);
    let row = |variant, settings, kernel, (sqrt_alpha, sqrt_beta)| {
        let params = LcKsvdParams {
            variant,
            n_atoms: 500,
            sparsity: 30,
            sqrt_alpha,
            sqrt_beta,
            ..Default::default()
        };
        Row::new(settings, kernel, params)
    };
    let (lc1, lc2) = (LcVariant::Lc1, LcVariant::Lc2);
    vec![
        row(lc1, "as Yale B", None, plain),
        row(lc2, "as Yale B", None, plain),
        row(lc1, "code", Some((0.5, 540)), (1.0 / 14.0, 0.0)),
        row(lc2, "code", Some((0.5, 540)), (1.0 / 15.0, 1.0 / 17.0)),
    ]
}
