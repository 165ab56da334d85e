//! The commands, one file each: its flags, and `run`. A new command is a file here, a variant of
//! [`Command`], an arm of [`run`], a name in `cli::GROUPS`, and its help under snapshot
//! (`UPDATE_SNAPSHOTS=1 cargo test -p lkdl-cli --test help`).

mod bench;
mod completions;
mod data;
mod demo;
mod encode;
mod evaluate;
mod fit;
mod inspect;
mod man;
mod predict;
mod reproduce;
mod transform;
mod tune;

use crate::context::Context;
use crate::failure::Failure;
use clap::Subcommand;

/// What `lkdl` can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    Bench(bench::BenchArgs),
    Data(data::DataArgs),
    Fit(Box<fit::FitArgs>),
    Tune(tune::TuneArgs),
    Evaluate(evaluate::EvaluateArgs),
    Predict(predict::PredictArgs),
    Transform(transform::TransformArgs),
    Encode(encode::EncodeArgs),
    Inspect(inspect::InspectArgs),
    Completions(completions::CompletionsArgs),
    Demo(demo::DemoArgs),
    Man(man::ManArgs),
    Reproduce(reproduce::ReproduceArgs),
}

/// Does it.
pub fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Bench(args) => bench::run(args, context),
        Command::Data(args) => data::run(&args, context),
        Command::Fit(args) => fit::run(&args, context),
        Command::Tune(args) => tune::run(args, context),
        Command::Evaluate(args) => evaluate::run(&args, context),
        Command::Predict(args) => predict::run(&args, context),
        Command::Transform(args) => transform::run(&args, context),
        Command::Encode(args) => encode::run(&args, context),
        Command::Inspect(args) => inspect::run(&args, context),
        Command::Completions(args) => completions::run(&args, context),
        Command::Demo(args) => demo::run(&args, context),
        Command::Man(args) => man::run(&args, context),
        Command::Reproduce(args) => reproduce::run(&args, context),
    }
}
