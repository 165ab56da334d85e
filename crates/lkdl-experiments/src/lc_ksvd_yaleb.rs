//! LC-KSVD on Extended Yale B, linearly and on virtual samples: 570 atoms, 30 non-zeros.
//!
//! The features as they are, with norms of about 2,000, are what √α = 4 and √β = 2 were chosen for:
//! on unit samples the same weights drown the samples in their labels (19 to 44 % are left). LKDL
//! takes unit samples, and weights a thousand times smaller.
//!
//! The paper's text and the program give different settings for LKDL. On these rebuilt features the
//! text's σ = 1 and k = 400 gain nothing over the linear method, the program's σ = 2 and k = 504
//! little; the program's with the whole rank gain what was published. That rank was found by looking
//! at the stored test part; the rows on random halves, one per seed, are the fairer measure.
//!
//! On the stored split nothing is drawn at random: every training sample is a landmark, and LC-KSVD
//! starts from the first samples of each class. Hence one run, and no spread. Rounding alone, `f32`
//! for `f64`, moves a single row by up to a point.

use crate::error::ExperimentError;
use crate::faces::{Row, Stage, WHOLE_RANK};
use crate::job::Job;
use crate::scale::{Scale, Sizes};
use crate::sets::Sets;
use lkdl::prelude::{LcKsvdParams, LcVariant};
use lkdl_data::{NamedSet, TrainTest};

pub(crate) const N_CLASSES: usize = 38;

/// The stored split once, then random halves, one per seed.
pub(crate) fn jobs(scale: &Scale) -> Vec<Job> {
    let (sizes, once) = (scale.faces, Sizes { runs: 1, ..scale.faces });
    let stage =
        |dataset, sizes| Stage { experiment: "yaleb", dataset, n_classes: N_CLASSES, sizes };
    let rows = rows();
    let repeated = rows.iter().filter(|row| row.repeated);
    let stored = rows.iter().map(|row| row.job(stage("yaleb", once), None, stored));
    stored.chain(repeated.map(|row| row.job(stage("yaleb-halves", sizes), None, halves))).collect()
}

/// The split that was published, whatever the seed.
pub(crate) fn stored(sets: &Sets, _: u64) -> Result<TrainTest, ExperimentError> {
    Ok(sets.parts(NamedSet::YaleB)?.as_ref().clone())
}

/// The random half of a seed, the other half to test.
pub(crate) fn halves(sets: &Sets, seed: u64) -> Result<TrainTest, ExperimentError> {
    sets.random_split(NamedSet::YaleB, 0.5, seed)
}

pub(crate) fn rows() -> Vec<Row> {
    let plain = (4.0, 2.0);
    let row = |variant, settings, kernel, (sqrt_alpha, sqrt_beta)| {
        let params = LcKsvdParams {
            variant,
            n_atoms: 570,
            sparsity: 30,
            sqrt_alpha,
            sqrt_beta,
            ..Default::default()
        };
        Row::new(settings, kernel, params)
    };
    let (lc1, lc2) = (LcVariant::Lc1, LcVariant::Lc2);
    vec![
        row(lc1, "as published", None, plain).repeated(),
        row(lc2, "as published", None, plain).repeated(),
        row(lc1, "paper", Some((1.0, 400)), (1.0 / 30.0, 0.0)),
        row(lc2, "paper", Some((1.0, 400)), (1.0 / 30.0, 1.0 / 91.0)),
        row(lc1, "code", Some((2.0, 504)), (1.0 / 200.0, 0.0)),
        row(lc2, "code", Some((2.0, 504)), (1.0 / 600.0, 1.0 / 900.0)),
        row(lc1, "code, k = N", Some((2.0, WHOLE_RANK)), (1.0 / 200.0, 0.0)).repeated(),
        row(lc2, "code, k = N", Some((2.0, WHOLE_RANK)), (1.0 / 600.0, 1.0 / 900.0)).repeated(),
    ]
}
