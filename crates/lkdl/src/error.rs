//! The library's one error type, and the warnings that travel with results.
//!
//! An error names the value that was given and what would have been accepted. A warning is an
//! outcome: the fit went on by a documented rule, and its result says so.

use thiserror::Error;

/// What went wrong, with the offending value and the fix.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LkdlError {
    /// A matrix or list that must hold something is empty.
    #[error("{what} is empty ({rows} x {cols}); at least one row and one column are needed")]
    Empty {
        /// Which argument.
        what: &'static str,
        /// Its number of rows.
        rows: usize,
        /// Its number of columns.
        cols: usize,
    },
    /// A value is NaN or infinite.
    #[error("{what} holds {value} at {}; replace or drop non-finite values", place(what, *row, *col))]
    NonFinite {
        /// Which argument.
        what: &'static str,
        /// Row (feature) of the first such value.
        row: usize,
        /// Column (sample) of the first such value.
        col: usize,
        /// The value.
        value: f64,
    },
    /// Every entry is zero where something must be learned.
    #[error("{what} is all zero; there is nothing to learn from")]
    AllZero {
        /// Which argument.
        what: &'static str,
    },
    /// Two shapes do not fit together.
    #[error("{what} has size {got}, but must be {expected}")]
    Shape {
        /// Which argument and axis.
        what: &'static str,
        /// The size that was needed.
        expected: usize,
        /// The size that was given.
        got: usize,
    },
    /// A parameter is out of range.
    #[error("{name} is {value}, but must be {requirement}")]
    Parameter {
        /// The parameter's public name.
        name: &'static str,
        /// The value given.
        value: String,
        /// What is accepted.
        requirement: String,
    },
    /// A χ² kernel met a negative feature.
    #[error(
        "feature {row} of sample {col} is {value}, but the chi-squared kernels need values >= 0; \
         shift or clip the data, or choose another kernel"
    )]
    NegativeFeature {
        /// Feature.
        row: usize,
        /// Sample.
        col: usize,
        /// The value.
        value: f64,
    },
    /// A kernel evaluated to NaN or infinity on finite data.
    #[error(
        "kernel {kernel} gave {value}; scale the samples (for example to unit norm) or change its \
         parameters"
    )]
    KernelOverflow {
        /// The kernel, printed.
        kernel: String,
        /// The value it gave.
        value: f64,
    },
    /// The kernel matrix has negative eigenvalues beyond rounding.
    #[error(
        "the kernel is indefinite: negative eigenvalues hold {share:.2e} of the spectrum's mass; \
         choose another kernel or the policy clip, flip or shift"
    )]
    Indefinite {
        /// Σ|negative eigenvalues| / Σ|eigenvalues|.
        share: f64,
    },
    /// A matrix of inner products is none: not symmetric, or not positive semi-definite.
    #[error("{what} is no matrix of inner products: {problem}")]
    NotGram {
        /// Which argument.
        what: &'static str,
        /// The entries that show it, and the fix.
        problem: String,
    },
    /// No eigenvalue rose above rounding: the landmarks carry no kernel mass.
    #[error("the kernel matrix of the {n_landmarks} landmarks is zero; check the kernel's width")]
    ZeroKernel {
        /// How many landmarks were tried.
        n_landmarks: usize,
    },
    /// Training failed on the samples of one class.
    #[error("class {class}: {source}")]
    InClass {
        /// The class index.
        class: usize,
        /// What went wrong there.
        source: Box<LkdlError>,
    },
    /// Something is wrong with one block of the samples.
    #[error("block {block}{}: {source}", begin(*first))]
    InBlock {
        /// The block's number, from 0.
        block: usize,
        /// The number of its first sample among all, by which `source` counts, where it is known.
        first: Option<usize>,
        /// What went wrong there.
        source: Box<LkdlError>,
    },
    /// A block was added to a sum that has it already.
    #[error("block {block} is in the sum already; give every block a number of its own")]
    RepeatedBlock {
        /// The block's number, from 0.
        block: usize,
    },
    /// A sum over blocks lacks one of them.
    #[error(
        "block {block} is missing from the sum, but later ones are there; add it, or its shard"
    )]
    MissingBlock {
        /// The block's number, from 0.
        block: usize,
    },
    /// A source of samples failed.
    #[error("the source of samples failed: {message}")]
    Source {
        /// What it said.
        message: String,
    },
    /// A source gave something else than in its first pass.
    #[error(
        "the source of samples has changed since its first pass: {change}; start again on data \
         that stay as they are"
    )]
    SourceChanged {
        /// What is different.
        change: String,
    },
    /// Whoever keeps the state of a fit could not.
    #[error("the state of the fit could not be kept: {message}")]
    NotKept {
        /// What it said.
        message: String,
    },
    /// What was kept of an interrupted fit is not what the fit remembered.
    #[error("the state kept of the fit is not whole: {name} {problem}; start the fit anew")]
    SavedState {
        /// Which array.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A class label has no sample.
    #[error("class {class} has no sample; drop the label or give it samples")]
    EmptyClass {
        /// The class index.
        class: usize,
    },
    /// The run would need more memory than the budget.
    #[error(
        "{stage} needs {need} bytes, but the memory budget is {budget} bytes; raise the budget, \
         or lower n_landmarks, rank or n_atoms"
    )]
    Memory {
        /// The stage with the largest need.
        stage: &'static str,
        /// Bytes needed.
        need: u64,
        /// Bytes allowed.
        budget: u64,
    },
    /// The first pass over a source would hold more than the budget.
    #[error(
        "the survey holds {n_kept} samples, some of each of {n_classes} classes, and needs {need} \
         bytes, but the memory budget is {budget} bytes; raise the budget, take a smaller pilot, or \
         check that the labels are classes"
    )]
    SurveyMemory {
        /// Samples that are held.
        n_kept: usize,
        /// Classes so far.
        n_classes: usize,
        /// Bytes needed.
        need: u64,
        /// Bytes allowed.
        budget: u64,
    },
    /// A method was asked to run on data it cannot use.
    #[error("{what} {problem}; {fix}")]
    Unsupported {
        /// The method.
        what: &'static str,
        /// Why it cannot run.
        problem: &'static str,
        /// What to do instead.
        fix: &'static str,
    },
    /// An iterative factorisation gave up.
    #[error("{what} did not converge; check the samples' scale (values near overflow?)")]
    NoConvergence {
        /// The factorisation.
        what: &'static str,
    },
    /// The user's own kernel reported a failure.
    #[error("custom kernel {name}: {message}")]
    CustomKernel {
        /// The kernel's name.
        name: String,
        /// Its message.
        message: String,
    },
    /// A monitor asked the fit to stop.
    #[error("stopped on request")]
    Cancelled,
}

impl LkdlError {
    /// A parameter error: `name` is `value`, but must be `requirement`.
    pub fn parameter(
        name: &'static str,
        value: impl ToString,
        requirement: impl Into<String>,
    ) -> Self {
        Self::Parameter { name, value: value.to_string(), requirement: requirement.into() }
    }

    /// This error, of block number `block`, unless it names one.
    pub(crate) fn in_block(self, block: usize) -> Self {
        match self {
            Self::InBlock { .. } => self,
            error => Self::InBlock { block, first: None, source: Box::new(error) },
        }
    }

    /// This error, of block number `block` whose first sample is number `first` of all, with samples
    /// counted from there.
    pub(crate) fn in_block_from(self, block: usize, first: usize) -> Self {
        match self {
            Self::InBlock { .. } => self,
            error => Self::InBlock {
                block,
                first: Some(first),
                source: Box::new(error.counted_from(first)),
            },
        }
    }

    /// This error of samples of which the first is number `first`, counted as the caller does.
    pub(crate) fn counted_from(mut self, first: usize) -> Self {
        if let Self::NonFinite { col, .. } | Self::NegativeFeature { col, .. } = &mut self {
            *col += first;
        }
        self
    }
}

/// Where a value is: samples are columns here and rows elsewhere, so that they are called by name.
fn place(what: &str, row: usize, col: usize) -> String {
    if what.contains("samples") {
        format!("feature {row} of sample {col}")
    } else {
        format!("row {row}, column {col}")
    }
}

/// Where a block begins, if it is known.
fn begin(first: Option<usize>) -> String {
    first.map_or(String::new(), |first| format!(" (from sample {first} on)"))
}

/// Something a fit did that the caller may want to know; the result is valid.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// Fewer distinct landmarks existed than were asked for.
    FewerLandmarks {
        /// Asked for.
        wanted: usize,
        /// Returned.
        got: usize,
    },
    /// The kernel matrix of the landmarks has fewer usable directions than the rank asked for.
    RankReduced {
        /// Asked for.
        wanted: usize,
        /// Kept.
        got: usize,
    },
    /// Landmarks were chosen on a random pilot sample, to stay within the memory budget.
    PilotSample {
        /// Samples in the pilot.
        used: usize,
        /// Samples given.
        of: usize,
    },
    /// Of a source, a pilot alone was looked at where samples are needed side by side.
    Pilot {
        /// Samples in the pilot.
        used: usize,
        /// Samples of the source.
        of: usize,
    },
    /// A class has fewer non-zero distinct samples than atoms; the rest are pair mixtures.
    MixedAtoms {
        /// Atoms asked for.
        wanted: usize,
        /// Atoms that are samples.
        from_samples: usize,
    },
    /// A class has a single distinct non-zero sample, which is its only atom.
    FewerAtoms {
        /// Atoms asked for.
        wanted: usize,
        /// Atoms made.
        got: usize,
    },
    /// Samples of zero norm: left zero, coded as empty, labelled by the lowest index.
    ZeroSamples {
        /// How many.
        count: usize,
    },
    /// The indefinite part of the kernel was repaired by the chosen policy.
    IndefiniteRepaired {
        /// Σ|negative eigenvalues| / Σ|eigenvalues|.
        share: f64,
    },
    /// Samples came of which the landmarks miss much more than of the average one.
    Drifted {
        /// The residual energy of recent samples at its highest, as a multiple of that of the average one.
        level: f64,
        /// Landmarks that were added on the way.
        n_grown: usize,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::FewerLandmarks { wanted, got } => {
                write!(f, "distinct landmarks found: {got} of the {wanted} asked for")
            }
            Self::RankReduced { wanted, got } => {
                write!(f, "rank reduced from {wanted} to {got}, the numerical rank of the kernel")
            }
            Self::PilotSample { used, of } => {
                write!(f, "landmarks chosen on {used} of {of} samples to stay within the budget")
            }
            Self::Pilot { used, of } => write!(
                f,
                "choices, starting atoms and landmarks that are not drawn block by block are by a \
                 pilot of {used} of {of} samples; a larger one sees more"
            ),
            Self::MixedAtoms { wanted, from_samples } => write!(
                f,
                "{from_samples} of {wanted} starting atoms are samples, the rest pair mixtures"
            ),
            Self::FewerAtoms { wanted, got } => {
                write!(f, "{got} of {wanted} atoms: there are no two distinct samples to mix")
            }
            Self::ZeroSamples { count: 1 } => write!(f, "1 sample has zero norm"),
            Self::ZeroSamples { count } => write!(f, "{count} samples have zero norm"),
            Self::IndefiniteRepaired { share } => {
                write!(f, "indefinite kernel repaired ({share:.2e} of the spectrum was negative)")
            }
            Self::Drifted { level, n_grown: 0 } => write!(
                f,
                "the data drift: the landmarks missed {level:.1} times as much of some samples as \
                 of the average one; let the map grow, mix the samples or take a larger pilot"
            ),
            Self::Drifted { level, n_grown } => write!(
                f,
                "the data drift: the landmarks missed up to {level:.1} times as much of some samples \
                 as of the average one; {n_grown} were added"
            ),
        }
    }
}
