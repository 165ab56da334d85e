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

/// Blocks of samples are made on one thread and let go on another. The C library's allocator keeps what
/// was freed for the thread that made it, and a fit from blocks holds twice what it needs, more with
/// every block; this one gives it back (docs/scale.md).
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

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
