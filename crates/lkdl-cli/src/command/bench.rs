//! `lkdl bench`: the roofline table of the engine on this machine.

use crate::context::Context;
use crate::failure::Failure;
use clap::Args;
use lkdl_roofline::{Options, Rates, RooflineError, Stage};
use serde::Serialize;

/// Measure the engine against this machine's product rate
///
/// Large matrix products set the pace: what they reach, no stage can beat. The table gives every
/// stage's time, its floating-point operations, their rate as a share of the product rate, and its
/// time over that of the bare product of the same operands, measured in turn with it.
#[derive(Debug, Args)]
#[command(after_help = "Example: lkdl bench --quick --stage map --stage batch-omp")]
pub struct BenchArgs {
    /// Smaller sizes, fewer repetitions: about a minute
    #[arg(long)]
    quick: bool,
    /// Also the eigen-solve of 9,000 landmarks, whose full solve takes minutes
    #[arg(long)]
    full: bool,
    /// Only this stage (may be repeated): product, batch-omp, map, ksvd-iteration, eigen, usps-run,
    /// mnist-run; by name alone also lc-ksvd, fddl, kernel-ksvd-usps, kernel-ksvd-mnist and
    /// stream
    #[arg(long = "stage", value_name = "NAME", value_parser = stage)]
    stages: Vec<Stage>,
}

fn stage(name: &str) -> Result<Stage, String> {
    name.parse().map_err(|error: RooflineError| error.to_string())
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    threads: usize,
    /// What a percentage of the product rate refers to.
    product_gflop_per_second: Pace,
    records: serde_json::Value,
}

#[derive(Serialize)]
struct Pace {
    f32: f64,
    f64: f64,
}

/// Measures and prints.
pub fn run(args: BenchArgs, context: &Context) -> Result<(), Failure> {
    if cfg!(debug_assertions) {
        context.warn("this is not a release build: its figures say little");
    }
    let options = Options { quick: args.quick, full: args.full, stages: args.stages };
    let found = lkdl_roofline::run(&options, &mut |line| context.note(line));
    let found = found.map_err(|error| match error {
        RooflineError::Engine(error) => error.into(),
        other => Failure::run(other),
    })?;
    if !context.json {
        return context.print(found.table());
    }
    let Rates { f32, f64 } = found.rates;
    let records = serde_json::from_str(&found.json())
        .map_err(|error| Failure::run(format!("cannot write the records as JSON: {error}")))?;
    context.print_json(&Report {
        threads: context.threads,
        product_gflop_per_second: Pace { f32, f64 },
        records,
    })
}
