//! `lkdl data …`: what is there, what is in it, how to get it, how to change its format.

mod convert;
mod fetch;
mod info;
mod list;

use crate::context::Context;
use crate::failure::Failure;
use clap::{Args, Subcommand};

/// List, describe, fetch and convert data sets
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct DataArgs {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Debug, Subcommand)]
enum DataCommand {
    List(list::ListArgs),
    Info(info::InfoArgs),
    Fetch(fetch::FetchArgs),
    Convert(convert::ConvertArgs),
}

/// Hands on to the command.
pub fn run(args: &DataArgs, context: &Context) -> Result<(), Failure> {
    match &args.command {
        DataCommand::List(args) => list::run(args, context),
        DataCommand::Info(args) => info::run(args, context),
        DataCommand::Convert(args) => convert::run(args, context),
        DataCommand::Fetch(args) => fetch::run(args, context),
    }
}
