//! The command `lkdl`: parse, call the library, print.

mod catalogue;
mod cli;
mod command;
mod config;
mod context;
mod data_flags;
mod failure;
mod fetch;
mod folds;
mod interrupt;
mod jsonl;
mod method;
mod model_file;
mod output;
mod precision;
mod scores;
mod stages;
mod table;
mod tune;
mod words;

use clap::{ColorChoice, FromArgMatches};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run() -> Result<(), Failure> {
    interrupt::install()?;
    let arguments = config::expand(std::env::args_os().collect())?;
    let colour = if arguments.no_color() { ColorChoice::Never } else { ColorChoice::Auto };
    let cli = cli::command()
        .color(colour)
        .try_get_matches_from(&arguments.list)
        .and_then(|matches| cli::Cli::from_arg_matches(&matches))
        .map_err(|error| Failure::parsing(&error, &arguments))?;
    let context = context::Context::new(cli.shared)?;
    command::run(cli.command, &context)
}
