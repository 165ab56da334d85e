//! The ways to choose landmarks that the figures compare.

use lkdl::prelude::Sampler;
use lkdl::sampling::Seeding;

/// A sampler under the name of a figure's line.
pub(crate) struct NamedSampler {
    /// The line.
    pub(crate) method: &'static str,
    /// Whose reading of it: the published `program`, the paper's `text`, or `beyond` both.
    pub(crate) variant: &'static str,
    /// How it draws.
    pub(crate) sampler: Sampler,
}

fn named(method: &'static str, variant: &'static str, sampler: Sampler) -> NamedSampler {
    NamedSampler { method, variant, sampler }
}

/// As the published program draws: coreset, diagonal and column norms with replacement, coreset
/// weights against the constant image, K_ii not squared.
pub(crate) fn program() -> Vec<NamedSampler> {
    let repeated = |sampler| Sampler::WithReplacement(Box::new(sampler));
    vec![
        named("LKDL coreset", "program", repeated(Sampler::CoresetConstant)),
        named("LKDL uniform", "program", Sampler::Uniform),
        named("LKDL k-means", "program", Sampler::k_means(Seeding::Uniform)),
        named("LKDL diagonal", "program", repeated(Sampler::Diagonal { squared: false })),
        named("LKDL column-norm", "program", repeated(Sampler::ColumnNorm { rows: None })),
    ]
}

/// As the paper's text describes those that the program does otherwise.
pub(crate) fn text() -> Vec<NamedSampler> {
    vec![
        named("LKDL coreset", "text", Sampler::CoresetMean),
        named("LKDL diagonal", "text", Sampler::Diagonal { squared: true }),
        named("LKDL column-norm", "text", Sampler::ColumnNorm { rows: None }),
    ]
}

/// Those that came after the paper.
pub(crate) fn beyond() -> Vec<NamedSampler> {
    vec![
        named("LKDL RPCholesky", "beyond", Sampler::RpCholesky),
        named("LKDL hybrid", "beyond", Sampler::default()),
    ]
}
