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

use crate::Options;
use crate::error::ExperimentError;
use crate::faces::{Row, WHOLE_RANK};
use crate::record::Record;
use lkdl::prelude::{LcKsvdParams, LcVariant};
use lkdl_data::{NamedSet, TrainTest, stratified_split};

const ID: &str = "lc-ksvd-yaleb";

/// The stored split once, then random halves, one per seed.
pub(crate) fn run(options: &Options) -> Result<Vec<Record>, ExperimentError> {
    let stored = [NamedSet::YaleB.load(&options.data_dir)?];
    let rows = rows();
    let mut records =
        rows.iter().map(|row| row.run(ID, "yaleb", &stored)).collect::<Result<Vec<_>, _>>()?;
    let halves = random_halves(options)?;
    for row in rows.iter().filter(|row| row.repeated) {
        records.push(row.run(ID, "yaleb-halves", &halves)?);
    }
    Ok(records)
}

fn rows() -> Vec<Row> {
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
        let published = match (variant, kernel) {
            (LcVariant::Lc1, None) => 94.49,
            (_, None) => 94.99,
            _ => 96.33,
        };
        Row::new(settings, kernel, params, published)
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

pub(crate) fn random_halves(options: &Options) -> Result<Vec<TrainTest>, ExperimentError> {
    let all = NamedSet::YaleB.table(None, Some(&options.data_dir))?.into_dataset()?;
    let half = |seed| {
        let split = stratified_split(&all.labels, 0.5, seed)?;
        Ok(TrainTest { train: all.subset(&split.train)?, test: all.subset(&split.test)? })
    };
    (0..options.runs as u64).map(half).collect()
}
