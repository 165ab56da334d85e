//! Samplers by name, as commands and model files write them.

use super::{Sampler, Seeding};
use crate::error::LkdlError;
use std::str::FromStr;

/// Every sampler that a name alone describes, with the settings the name stands for.
fn named() -> [(&'static str, Sampler); 12] {
    [
        ("hybrid", Sampler::default()),
        ("rpcholesky", Sampler::RpCholesky),
        ("greedy-cholesky", Sampler::GreedyCholesky),
        ("k-means", Sampler::k_means(Seeding::Uniform)),
        ("k-means++", Sampler::KMeansPlusPlus { kernel_distance: false }),
        ("uniform", Sampler::Uniform),
        ("diagonal", Sampler::Diagonal { squared: true }),
        ("column-norm", Sampler::ColumnNorm { rows: None }),
        ("coreset", Sampler::CoresetMean),
        ("coreset-constant", Sampler::CoresetConstant),
        ("leverage", Sampler::LeverageScores),
        ("kernel-k-means++", Sampler::KMeansPlusPlus { kernel_distance: true }),
    ]
}

impl Sampler {
    /// The names that [`Sampler::from_str`] knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        named().into_iter().map(|(name, _)| name)
    }
}

impl FromStr for Sampler {
    type Err = LkdlError;

    fn from_str(name: &str) -> Result<Self, LkdlError> {
        let found = named().into_iter().find(|(known, _)| *known == name);
        found.map(|(_, sampler)| sampler).ok_or_else(|| {
            let known: Vec<&str> = Self::names().collect();
            LkdlError::parameter("sampler", format!("\"{name}\""), known.join(", "))
        })
    }
}

impl std::fmt::Display for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some((name, _)) = named().iter().find(|(_, sampler)| sampler == self) {
            return f.write_str(name);
        }
        match self {
            Self::Hybrid { lloyd_steps } => write!(f, "hybrid(lloyd_steps={lloyd_steps})"),
            Self::KMeans { max_iters, seeding, .. } => {
                write!(f, "k-means(max_iters={max_iters}, seeding={seeding:?})")
            }
            Self::Diagonal { .. } => write!(f, "diagonal(squared=false)"),
            Self::ColumnNorm { rows: Some(rows) } => write!(f, "column-norm(rows={rows})"),
            Self::Given(indices) => write!(f, "given({} samples)", indices.len()),
            Self::WithReplacement(inner) => write!(f, "with-replacement({inner})"),
            other => write!(f, "{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_as_written() {
        for name in Sampler::names() {
            assert_eq!(name.parse::<Sampler>().unwrap().to_string(), name);
        }
        let error = "kmeans".parse::<Sampler>().unwrap_err().to_string();
        assert!(error.starts_with("sampler is \"kmeans\", but must be hybrid, "), "{error}");
        let other = Sampler::WithReplacement(Box::new(Sampler::Hybrid { lloyd_steps: 2 }));
        assert_eq!(other.to_string(), "with-replacement(hybrid(lloyd_steps=2))");
    }
}
