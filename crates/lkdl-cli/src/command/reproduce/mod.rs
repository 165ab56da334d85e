//! `lkdl reproduce`: the figures and tables of the paper, with error bars, beside the published
//! numbers.
//!
//! A run of every job and seed is one line of `runs.jsonl`, saved as soon as it is there; everything
//! else in the folder of results is made from these lines.

mod data;
mod fill;
mod headline;
mod list;
mod markdown;
mod page;
mod plan;
mod results;
mod setup;
mod summary;
mod work;

use crate::context::Context;
use crate::failure::Failure;
use clap::{Args, Subcommand};
use lkdl_experiments::{EXPERIMENTS, Experiment, ExperimentError, Scale};
use lkdl_recipe::Bytes;
use std::path::PathBuf;

/// Reproduce the paper's figures and tables beside its numbers
///
/// Writes a folder: report.html and figures/ to look at, summary.md to read, setup.md for the
/// machine and the data, runs.jsonl with every single run, records.jsonl with means, deviations and
/// the published numbers. With neither --quick nor --full: the paper's sizes, 3 seeds (MNIST 1).
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(arg_required_else_help = true)]
#[command(after_help = "\
Examples: lkdl reproduce list
          lkdl reproduce 2a 2b --quick --out quick
          lkdl reproduce all --full --out results/2016-jstsp --resume")]
pub struct ReproduceArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Debug, Args)]
struct RunArgs {
    /// Experiments, as `lkdl reproduce list` names them, or all
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// One seed, few points, and of MNIST and the faces a part: all in 10 minutes
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// The paper's sizes and enough seeds to be sure: 10, MNIST 3
    #[arg(long)]
    full: bool,
    /// Seeds of every experiment, from --seed on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: Option<u16>,
    /// The folder of results
    #[arg(long, short, value_name = "DIR", default_value = "lkdl-results")]
    out: PathBuf,
    /// Go on where a run was stopped; what is in DIR with the same parameters is not run again
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// What a fit may use beside its samples, such as 4GB; what needs more is skipped and said so
    #[arg(long, value_name = "SIZE")]
    memory: Option<Bytes>,
}

#[derive(Debug, Subcommand)]
enum Action {
    List(list::ListArgs),
    Summary(summary::SummaryArgs),
    Fill(fill::FillArgs),
}

/// Hands on to what was asked for.
pub fn run(args: &ReproduceArgs, context: &Context) -> Result<(), Failure> {
    match &args.action {
        Some(Action::List(_)) => list::run(context),
        Some(Action::Summary(args)) => summary::run(args, context),
        Some(Action::Fill(args)) => fill::run(args, context),
        None => work::run(&args.run, context),
    }
}

impl RunArgs {
    fn scale(&self) -> Scale {
        let mut scale = match (self.quick, self.full) {
            (true, _) => Scale::quick(),
            (_, true) => Scale::full(),
            _ => Scale::standard(),
        };
        scale.memory = self.memory.map(|bytes| bytes.0);
        self.runs.map_or(scale.clone(), |runs| scale.with_runs(runs.into()))
    }

    /// The experiments that are named, each once, in the paper's order.
    fn experiments(&self) -> Result<Vec<&'static Experiment>, Failure> {
        for id in self.ids.iter().filter(|id| *id != "all") {
            Experiment::find(id).ok_or_else(|| unknown(id))?;
        }
        let all = self.ids.iter().any(|id| id == "all");
        let is_meant = |experiment: &&Experiment| {
            let named = self.ids.iter().any(|id| id == experiment.id);
            // the rehearsal is not of the paper
            named || all && !experiment.sets.is_empty()
        };
        Ok(EXPERIMENTS.iter().filter(is_meant).collect())
    }
}

fn unknown(id: &str) -> Failure {
    let ids: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.id).collect();
    Failure::usage(format!("no experiment is called {id}; choose from all, {}", ids.join(", ")))
}

impl From<ExperimentError> for Failure {
    fn from(error: ExperimentError) -> Self {
        match error {
            ExperimentError::Data(error) => error.into(),
            ExperimentError::Engine(error) => error.into(),
            other => Self::run(other),
        }
    }
}
