//! The flags of a fit from blocks.

use clap::Args;
use lkdl::Real;
use lkdl::stream::DriftParams;
use lkdl_data::DataArgument;
use lkdl_model::Every;
use std::path::PathBuf;

/// Samples of a block, where the budget decides.
const BLOCK: std::ops::RangeInclusive<usize> = 256..=8192;
/// Samples of the pilot, where the budget decides.
const PILOT: std::ops::RangeInclusive<usize> = 1000..=20_000;
/// The shares of the budget that a block, and the pilot, may take.
const BLOCK_SHARE: u64 = 32;
const PILOT_SHARE: u64 = 8;

/// How data that memory does not hold are learned from.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data larger than memory")]
pub struct StreamFlags {
    /// Read the data in blocks, --iters times and once to look at them, and if they are more than the
    /// pilot once each for `--prepare standardize`, for `--sampler diagonal`, and for `--variant
    /// optimal` or --centered; --memory is then for all (methods online, rls and mod; .npy, .npz,
    /// .csv, .tsv, .svm, .idx, .parquet and named sets)
    #[arg(long, conflicts_with = "folds")]
    pub stream: bool,
    /// Another file of the same set, read after DATA; may be repeated
    #[arg(long, value_name = "DATA", requires = "stream")]
    pub more_data: Vec<DataArgument>,
    /// Learn from every image and its eight shifts by one pixel, in random order
    #[arg(long, requires = "stream", conflicts_with = "more_data")]
    pub shifts: bool,
    /// Samples of a block [default: as a 32nd of --memory holds, 256 to 8192]
    #[arg(long, value_name = "N", requires = "stream")]
    pub block: Option<usize>,
    /// Samples that are looked at together, to choose what is left open and landmarks [default: as
    /// an eighth of --memory holds, 1000 to 20000]
    #[arg(long, value_name = "N", requires = "stream")]
    pub pilot: Option<usize>,
    /// Add so many landmarks when the data drift, four times at most, taken from the block that shows
    /// it; the map is then nystroem [default: none, but drift is reported]
    #[arg(long, value_name = "N", requires = "stream")]
    pub grow: Option<usize>,
    /// The data drift when landmarks miss more than so many times as much of the last thousand
    /// samples as of the average one [default: 2]
    #[arg(long, value_name = "X", requires = "stream", value_parser = drift_limit)]
    pub drift_limit: Option<f64>,
    /// Keep the state of the fit in this file, which is removed when the model is written
    #[arg(long, value_name = "FILE", requires = "stream")]
    pub checkpoint: Option<PathBuf>,
    /// How often: every so many seconds (30s), minutes (5min) or blocks (100) [default: 60s]
    #[arg(long, value_name = "EVERY", requires = "checkpoint")]
    pub checkpoint_every: Option<Every>,
    /// Go on from the checkpoint, if there is one
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
}

impl StreamFlags {
    /// Samples of a block.
    pub fn block_size<T: Real>(&self, n_features: usize, budget: Option<u64>) -> usize {
        let share = within::<T>(n_features, budget, BLOCK_SHARE);
        // a power of two: a budget that differs a little cuts the same blocks
        let usual = 1 << share.max(1).ilog2();
        self.block.unwrap_or(usual.clamp(*BLOCK.start(), *BLOCK.end()))
    }

    /// What to do about drift.
    pub fn drift(&self) -> DriftParams {
        let usual = DriftParams::default();
        let (grow, limit) = (self.grow.unwrap_or(usual.grow), self.drift_limit);
        DriftParams { grow, limit: limit.unwrap_or(usual.limit), ..usual }
    }

    /// Samples of the pilot.
    pub fn n_pilot<T: Real>(&self, n_features: usize, budget: Option<u64>) -> usize {
        let share = within::<T>(n_features, budget, PILOT_SHARE);
        self.pilot.unwrap_or(share.clamp(*PILOT.start(), *PILOT.end()))
    }
}

/// A multiple of what is missed of the average sample.
fn drift_limit(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    let above = number.filter(|number| *number > 1.0 && number.is_finite());
    above.ok_or_else(|| "must be a number above 1".to_string())
}

/// Samples that a share of the budget holds.
fn within<T: Real>(n_features: usize, budget: Option<u64>, share: u64) -> usize {
    let sample = (n_features.max(1) * size_of::<T>()) as u64;
    usize::try_from(budget.unwrap_or(u64::MAX) / share / sample).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_pilots_are_what_the_budget_holds() {
        let flags = |block, pilot| StreamFlags {
            stream: true,
            more_data: Vec::new(),
            shifts: false,
            block,
            pilot,
            grow: None,
            drift_limit: None,
            checkpoint: None,
            checkpoint_every: None,
            resume: false,
        };
        let usual = flags(None, None);
        assert_eq!(usual.block_size::<f64>(784, Some(1_000_000_000)), 4096);
        assert_eq!(usual.n_pilot::<f64>(784, Some(1_000_000_000)), 19_929);
        assert_eq!(usual.block_size::<f32>(784, Some(1_000_000)), 256);
        let unbound = (usual.block_size::<f32>(0, None), usual.n_pilot::<f32>(0, None));
        assert_eq!(unbound, (8192, 20_000));
        let said = flags(Some(3), Some(9));
        assert_eq!((said.block_size::<f64>(784, None), said.n_pilot::<f64>(784, None)), (3, 9));
    }
}
