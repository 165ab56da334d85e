//! `lkdl data convert IN OUT`: from any format to any other.

use crate::context::Context;
use crate::data_flags::{DATA_HELP, DataFlags};
use crate::failure::Failure;
use clap::Args;
use lkdl_data::{DataError, Format};
use serde::Serialize;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Features keep their names in CSV and Parquet, images their shape in IDX and folders of images.
HDF5 (.h5) and MATLAB 7.3 are read, not written: .mat is written as MATLAB 5.

Examples:
  lkdl data convert usps:train usps.parquet
  lkdl data convert train.svm.bz2 - --format-out csv | head";

/// The output that is no file.
const STDOUT: &str = "-";

/// Convert between formats
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{DATA_HELP}"))]
pub struct ConvertArgs {
    /// The file to write, whose ending tells the format; - is the standard output
    #[arg(value_name = "OUT", index = 2)]
    out: PathBuf,
    #[command(flatten)]
    data: DataFlags,
    /// The format to write, where the name does not tell; csv on the standard output
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
    if args.out.as_os_str() == STDOUT {
        return stream(args, context);
    }
    // before the work, not after it
    lkdl_data::output_format(&args.out, args.format_out).map_err(Failure::writing)?;
    if args.out.is_file() && !context.force {
        return Err(DataError::Exists { file: args.out.clone() }.into());
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

/// Writes to the standard output, which then holds the table and nothing else.
fn stream(args: &ConvertArgs, context: &Context) -> Result<(), Failure> {
    if context.json {
        let message = "--json reports on stdout, where the table goes; name a file to write";
        return Err(Failure::usage(message));
    }
    let format = args.format_out.unwrap_or(Format::Csv);
    if matches!(format, Format::Idx | Format::Images) || !format.is_written() {
        let message = format!(
            "{format} is not written to stdout; name a file, or say \
                               --format-out csv, tsv, svmlight, npy, npz, mat or parquet"
        );
        return Err(Failure::usage(message));
    }
    let table = args.data.table(context)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    lkdl_data::write_to(&mut out, &table, format).map_err(|error| match error {
        DataError::Output { source } => Failure::stdout(&source),
        other => Failure::writing(other),
    })?;
    out.flush().map_err(|error| Failure::stdout(&error))
}
