//! What a number measures.

use serde::{Deserialize, Serialize};

/// What a number measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Share of test samples whose class was found, %.
    Accuracy,
    /// ‖K − K̂‖_F/‖K‖_F.
    KernelError,
    /// Seconds to prepare, map and learn.
    TrainSeconds,
    /// Seconds to prepare, map and classify all test samples.
    TestSeconds,
    /// What training holds at its peak beside the samples, MB, by its memory plan.
    Memory,
    /// Share of the mass of codes, Σ|γ|, %.
    CodeShare,
    /// k, where the experiment chooses it.
    Rank,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Accuracy,
        Self::KernelError,
        Self::TrainSeconds,
        Self::TestSeconds,
        Self::Memory,
        Self::CodeShare,
        Self::Rank,
    ];

    /// As records name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::KernelError => "kernel-error",
            Self::TrainSeconds => "train-seconds",
            Self::TestSeconds => "test-seconds",
            Self::Memory => "memory",
            Self::CodeShare => "code-share",
            Self::Rank => "rank",
        }
    }

    /// In words, with its unit, for axes and heads of tables.
    pub fn label(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy, %",
            Self::KernelError => "‖K − K̂‖/‖K‖",
            Self::TrainSeconds => "training, s",
            Self::TestSeconds => "classifying, s",
            Self::Memory => "memory, MB",
            Self::CodeShare => "share of Σ|γ|, %",
            Self::Rank => "chosen rank k",
        }
    }

    /// Decimals worth reading.
    pub fn decimals(self) -> usize {
        match self {
            Self::KernelError => 4,
            Self::Memory | Self::Rank => 0,
            _ => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_records() {
        for quantity in Quantity::ALL {
            let written = serde_json::to_string(&quantity).unwrap();
            assert_eq!(written, format!("\"{}\"", quantity.name()));
        }
    }
}
