//! `lkdl reproduce summary DIR`: what a folder of results says.

use super::markdown;
use super::results::{self, Results};
use crate::context::Context;
use crate::failure::Failure;
use clap::Args;
use std::path::PathBuf;

/// Print the results in a folder: a table, Markdown, or with --json one record per line
#[derive(Debug, Args)]
pub struct SummaryArgs {
    /// A folder that `lkdl reproduce ID… --out` has made
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// As Markdown
    #[arg(long)]
    markdown: bool,
    /// Only this part, as Markdown: verdict, headline, outside, an ID, or one place of it (1b@20)
    #[arg(long, value_name = "NAME")]
    block: Option<String>,
}

/// Prints it.
pub fn run(args: &SummaryArgs, context: &Context) -> Result<(), Failure> {
    let runs = Results::read(&args.folder)?;
    let records = results::records(&runs);
    if context.json {
        return context.print_bytes(results::lines(&records)?.as_bytes());
    }
    match &args.block {
        Some(name) => {
            let block = markdown::block(name, &records);
            context.print(block.ok_or_else(|| unknown_block(name))?)
        }
        None if args.markdown => context.print(markdown::summary(&records, &runs)),
        None => {
            context.print(markdown::table(&records))?;
            context.print(markdown::verdict(&records))
        }
    }
}

pub fn unknown_block(name: &str) -> Failure {
    Failure::usage(format!(
        "no part of a summary is called {name}; choose verdict, headline, outside, the ID of an \
         experiment, or a place of it, as 1b@20"
    ))
}
