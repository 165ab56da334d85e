//! How fast each stage of the engine is, held against the machine's own product rate.
//!
//! Large products set the pace: what a matrix product reaches on this machine, no stage can beat.
//! For every stage there is its time, its floating-point operations, their rate as a share of the
//! product rate, and its time over that of the bare product of the same operands, measured in turn
//! with it. Real sets are used where `LKDL_DATA_DIR` names their directory.
//!
//! Stages return [`Record`]s and print nothing; what they do meanwhile is told to the caller line by
//! line. Figures mean something in a release build alone.
#![allow(non_snake_case)] // letters as in the library

mod data;
mod eigen;
mod flops;
mod kernels;
mod measure;
mod methods;
mod record;
mod runs;
mod streams;
mod whole;

pub use measure::Rates;
pub use record::{Record, Value};

use lkdl::LkdlError;
use measure::Effort;
use std::str::FromStr;

/// Why a measurement ended early.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RooflineError {
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] LkdlError),
    /// The full eigen-solve, which the engine's own is held against, failed.
    #[error("the full solve failed: {problem}")]
    FullSolve {
        /// What the solver said.
        problem: String,
    },
    /// No stage has this name.
    #[error("stage is \"{name}\", but must be one of {known}")]
    Stage {
        /// The name.
        name: String,
        /// Those there are.
        known: String,
    },
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The product rate itself, which every run measures.
    Product,
    /// Batch-OMP.
    BatchOmp,
    /// Virtual samples.
    Map,
    /// One iteration of K-SVD.
    KsvdIteration,
    /// The leading eigenpairs of a kernel matrix.
    Eigen,
    /// USPS, fitted and classified.
    UspsRun,
    /// MNIST, fitted and classified.
    MnistRun,
    /// LC-KSVD2 on Extended Yale B.
    LcKsvd,
    /// Simplified FDDL on USPS.
    Fddl,
    /// Exact kernel K-SVD on USPS.
    KernelKsvdUsps,
    /// Exact kernel K-SVD on 10,000 samples of MNIST.
    KernelKsvdMnist,
    /// Fits from blocks of MNIST enlarged ninefold.
    Stream,
}

impl Stage {
    /// All of them, in the order they run.
    pub const ALL: [Self; 12] = [
        Self::Product,
        Self::BatchOmp,
        Self::Map,
        Self::KsvdIteration,
        Self::Eigen,
        Self::UspsRun,
        Self::MnistRun,
        Self::LcKsvd,
        Self::Fddl,
        Self::KernelKsvdUsps,
        Self::KernelKsvdMnist,
        Self::Stream,
    ];

    /// Whether it runs by name alone: methods that LKDL is measured against or carried into, and
    /// data that take minutes.
    fn is_by_name_alone(self) -> bool {
        matches!(
            self,
            Self::LcKsvd | Self::Fddl | Self::KernelKsvdUsps | Self::KernelKsvdMnist | Self::Stream
        )
    }

    /// The name it is asked for by, and its records bear.
    pub fn name(self) -> &'static str {
        match self {
            Self::Product => "product",
            Self::BatchOmp => "batch-omp",
            Self::Map => "map",
            Self::KsvdIteration => "ksvd-iteration",
            Self::Eigen => "eigen",
            Self::UspsRun => "usps-run",
            Self::MnistRun => "mnist-run",
            Self::LcKsvd => "lc-ksvd",
            Self::Fddl => "fddl",
            Self::KernelKsvdUsps => "kernel-ksvd-usps",
            Self::KernelKsvdMnist => "kernel-ksvd-mnist",
            Self::Stream => "stream",
        }
    }

    fn measure(self, session: &mut Session<'_>) -> Result<(), RooflineError> {
        match self {
            // measured before, between and after all stages: nothing is left to do at its turn
            Self::Product => Ok(()),
            Self::BatchOmp => kernels::batch_omp(session),
            Self::Map => kernels::map(session),
            Self::KsvdIteration => kernels::ksvd_iteration(session),
            Self::Eigen => eigen::eigen(session),
            Self::UspsRun => runs::usps_run(session),
            Self::MnistRun => runs::mnist_run(session),
            Self::LcKsvd => methods::lc_ksvd(session),
            Self::Fddl => methods::fddl(session),
            Self::KernelKsvdUsps => methods::kernel_ksvd_usps(session),
            Self::KernelKsvdMnist => methods::kernel_ksvd_mnist(session),
            Self::Stream => streams::stream(session),
        }
    }
}

impl FromStr for Stage {
    type Err = RooflineError;

    fn from_str(name: &str) -> Result<Self, RooflineError> {
        Self::ALL.into_iter().find(|stage| stage.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            RooflineError::Stage { name: name.into(), known }
        })
    }
}

/// What to measure, and how long.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// Smaller sizes, fewer repetitions: about a minute.
    pub quick: bool,
    /// Also the eigen-solve of 9,000 landmarks, whose full solve takes minutes.
    pub full: bool,
    /// Which stages; empty for all of LKDL itself. Those of other methods run by name alone.
    pub stages: Vec<Stage>,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Roofline {
    /// The product rates first, then the stages in the order they ran.
    pub records: Vec<Record>,
    /// What they are held against.
    pub rates: Rates,
}

impl Roofline {
    /// An aligned table for people.
    pub fn table(&self) -> String {
        record::table(&self.records, &self.rates)
    }

    /// A JSON array of one object per record.
    pub fn json(&self) -> String {
        record::json(&self.records, &self.rates)
    }
}

/// What was asked for, and what was found so far.
struct Session<'a> {
    quick: bool,
    full: bool,
    effort: Effort,
    rates: Rates,
    records: Vec<Record>,
    report: &'a mut dyn FnMut(&str),
}

impl Session<'_> {
    /// Tells the caller what is going on.
    fn note(&mut self, line: &str) {
        (self.report)(line);
    }

    /// Keeps a record and reports it.
    fn push(&mut self, record: Record) {
        let Record { stage, shape, dtype, seconds, ratio, .. } = &record;
        let ratio = ratio.map_or(String::new(), |ratio| format!(", {ratio:.2} x the product"));
        self.note(&format!("  {stage} {shape} {dtype}: {seconds:.5} s{ratio}"));
        self.records.push(record);
    }

    /// Order of the products that set the pace.
    fn product_size(&self) -> usize {
        if self.quick { 1536 } else { 2048 }
    }

    /// The product rates as records, ahead of all others: what they are held against.
    fn record_products(&mut self) {
        let n = self.product_size();
        let gflop = flops::product(n, n, n);
        let products = ["f64", "f32"].map(|dtype| Record {
            stage: Stage::Product.name(),
            shape: format!("{n}x{n}x{n}"),
            dtype,
            seconds: gflop / self.rates.of(dtype),
            gflop,
            ratio: Some(1.0),
            extra: Vec::new(),
        });
        self.records.splice(0..0, products);
    }
}

/// Measures the stages asked for, in the threads of the current pool; `report` is told, line by
/// line, what goes on.
pub fn run(options: &Options, report: &mut dyn FnMut(&str)) -> Result<Roofline, RooflineError> {
    let quick = options.quick;
    let effort = if quick {
        Effort { seconds: 0.3, min_reps: 2, max_reps: 10 }
    } else {
        Effort { seconds: 3.0, min_reps: 3, max_reps: 30 }
    };
    let mut session = Session {
        quick,
        full: options.full,
        effort,
        rates: Rates::default(),
        records: Vec::new(),
        report,
    };
    let (threads, version) = (rayon::current_num_threads(), env!("CARGO_PKG_VERSION"));
    session.note(&format!("{threads} threads, version {version}"));
    session.rates.refresh(session.product_size(), if quick { 2 } else { 5 });
    let wanted = |stage: &Stage| match options.stages.is_empty() {
        true => !stage.is_by_name_alone(),
        false => options.stages.contains(stage),
    };
    for stage in Stage::ALL.into_iter().filter(wanted) {
        session.note(stage.name());
        stage.measure(&mut session)?;
        // a rate that was held down when it was first measured is found here
        session.rates.refresh(session.product_size(), 1);
    }
    session.record_products();
    Ok(Roofline { records: session.records, rates: session.rates })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_known_by_name_and_unknown_ones_named() {
        for stage in Stage::ALL {
            assert_eq!(stage.name().parse(), Ok(stage));
        }
        let error = "mapp".parse::<Stage>().unwrap_err().to_string();
        assert!(error.starts_with("stage is \"mapp\", but must be one of product, batch-omp"));
    }
}
