//! LC-KSVD on AR, linearly and on virtual samples: 500 atoms, 30 non-zeros, 20 images of every
//! person to learn from and 6 to test, drawn anew for every seed.
//!
//! **The published accuracies do not come out**: all four rows are 3 to 7 points below them, though
//! LKDL gains about 4 points where 1 to 1.5 were published. What was tried (`f32`; five seeds unless
//! said), without finding the cause:
//!
//! - The weights of the linear rows were not published. √α of 4, 30 and 100 (√β half of it) give
//!   86.7 to 87.5 %, 300 gives 80 to 82 %, 600 72 to 74 %; without any, 86.7 % (one seed). On unit
//!   samples weights of 1/120 give 89.0 % (one seed).
//! - Training samples in random order, so that a class does not start from its first, undisguised
//!   images: no change linearly, 91.6 and 92.4 % with LKDL.
//! - The stale codes of the published program, the whole rank, other widths and weights of LKDL (the
//!   text's 1/150 and 1/120 with σ = 1 among them): none better (one seed each).
//!
//! The features are rebuilt from other copies of the images, and no split was published. SRC on them
//! reaches 95.7 % (OMP, 30 non-zeros, one seed), so the classes are there to be told apart.

use crate::faces::{Row, Stage};
use crate::job::Job;
use crate::scale::Scale;
use crate::sets::Sets;
use lkdl::prelude::{LcKsvdParams, LcVariant};
use lkdl_data::NamedSet;

/// Six of the 26 images of a person.
const TEST_FRACTION: f64 = 6.0 / 26.0;

/// Every row on the same random splits, one per seed.
pub(crate) fn jobs(scale: &Scale) -> Vec<Job> {
    let stage = Stage { experiment: "ar", dataset: "ar", n_classes: 100, sizes: scale.faces };
    let split = |sets: &Sets, seed| sets.random_split(NamedSet::Ar, TEST_FRACTION, seed);
    rows().iter().map(|row| row.job(stage, None, split)).collect()
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
