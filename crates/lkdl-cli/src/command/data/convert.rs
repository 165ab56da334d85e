//! `lkdl data convert IN OUT`: from any format to any other.

use crate::context::Context;
use crate::data_flags::{DATA_HELP, DataFlags};
use crate::failure::Failure;
use clap::Args;
use lkdl_data::Format;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Convert between formats
#[derive(Debug, Args)]
#[command(after_help = DATA_HELP)]
pub struct ConvertArgs {
    #[command(flatten)]
    data: DataFlags,
    /// The file to write; its ending tells the format
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// The format to write, where the name does not tell
    #[arg(long, value_name = "FORMAT", help_heading = "Writing files")]
    format_out: Option<Format>,
}

#[derive(Serialize)]
struct Report<'a> {
    data: String,
    out: &'a Path,
    samples: usize,
    features: usize,
    classes: Option<usize>,
    checksum: String,
}

/// Reads and writes.
pub fn run(args: &ConvertArgs, context: &Context) -> Result<(), Failure> {
    if args.out.is_file() && !context.force {
        // before the work, not after it
        return Err(lkdl_data::DataError::Exists { file: args.out.clone() }.into());
    }
    let table = args.data.table(context)?;
    lkdl_data::write(&args.out, &table, args.format_out, context.force)
        .map_err(Failure::writing)?;
    let report = Report {
        data: args.data.data.to_string(),
        out: &args.out,
        samples: table.n_samples(),
        features: table.n_features(),
        classes: table.labels.as_ref().map(|labels| labels.class_names.len()),
        checksum: table.checksum(),
    };
    if context.json {
        return context.print_json(&report);
    }
    let (samples, features, out) = (report.samples, report.features, args.out.display());
    context.note(format_args!("{samples} samples of {features} features in {out}"));
    Ok(())
}
