//! `lkdl data fetch NAME`: a named set from its public home.

use crate::context::Context;
use crate::failure::Failure;
use crate::fetch::{Fetch, Fetched, Outcome, Patience};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// Time for a connection.
const CONNECT: Duration = Duration::from_secs(15);

/// Download a named set from its public home
#[derive(Debug, Args)]
#[command(after_help = "\
A download that broke off is resumed; what is there already is left alone; every file is checked
by SHA-256, whichever home or mirror it came from.

Example: lkdl data fetch usps && lkdl data info usps:train")]
pub struct FetchArgs {
    /// The set: usps, usps-esl or mnist
    name: String,
    /// The folder of all sets [default: --data-dir or the platform's]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// An address to try before the known homes; file names are appended
    #[arg(long, value_name = "URL")]
    mirror: Option<String>,
    /// Seconds without a byte after which a server is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    timeout: f64,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds is needed".to_owned())?;
    match seconds {
        0.001..=86_400.0 => Ok(seconds),
        _ => Err("must be between 0.001 and 86400".to_owned()),
    }
}

#[derive(Serialize)]
struct Report<'a> {
    set: &'a str,
    files: Vec<Fetched>,
}

/// Fetches and says where the files are.
pub fn run(args: &FetchArgs, context: &Context) -> Result<(), Failure> {
    let given = args.out.as_deref().or(context.data_dir.as_deref());
    let directory = lkdl_data::data_dirs(given).into_iter().next();
    let directory = directory.ok_or(lkdl_data::DataError::NoDataDir)?;
    let stall = Duration::from_secs_f64(args.timeout);
    let patience = Patience { connect: CONNECT.min(stall), stall };
    let fetch = Fetch { directory: &directory, mirror: args.mirror.as_deref(), patience };
    let files = fetch.set(&args.name, context)?;
    if context.json {
        return context.print_json(&Report { set: &args.name, files });
    }
    for file in &files {
        let outcome = match file.outcome {
            Outcome::Present => "present",
            Outcome::Fetched => "fetched",
        };
        context.print(format_args!("{outcome}  {}", file.file.display()))?;
    }
    Ok(())
}
