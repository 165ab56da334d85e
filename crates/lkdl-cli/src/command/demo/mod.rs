//! `lkdl demo`: linear K-SVD against LKDL on the embedded digits, clean and corrupted; a table, and
//! a page to open in a browser.

mod experiment;
mod gallery;
mod summary;

use crate::context::Context;
use crate::failure::Failure;
use clap::Args;
use experiment::{Experiment, Record};
use lkdl_data::{DataError, atomic};
use lkdl_report::{DemoReport, ReportError};
use serde::Serialize;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Compare with linear K-SVD on handwritten digits: a table and a page
#[derive(Debug, Args)]
#[command(after_help = "Example: lkdl demo && xdg-open lkdl-demo.html")]
pub struct DemoArgs {
    /// Random splits to repeat everything on
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: u16,
    /// The page to write
    #[arg(long, short, value_name = "FILE", default_value = "lkdl-demo.html")]
    out: PathBuf,
    /// Write the plots as SVG files into this folder, too
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Body<'a> {
    /// Where the page is.
    page: &'a Path,
    parameters: experiment::Parameters,
    #[serde(flatten)]
    report: &'a DemoReport,
}

/// Runs it all.
pub fn run(args: &DemoArgs, context: &Context) -> Result<(), Failure> {
    check_free(&args.out, context.force)?;
    if let Some(folder) = &args.svg {
        std::fs::create_dir_all(folder).map_err(|error| Failure::output(folder, &error))?;
    }
    let experiment = Experiment::new()?;
    let runs = usize::from(args.runs);
    let bar = context.progress("learning", (runs * Experiment::fits_per_run()) as u64);
    let mut records: Vec<Record> = Vec::with_capacity(runs);
    for run in 0..runs as u64 {
        let seed = context.seed.wrapping_add(run);
        records.push(experiment.run(seed, records.is_empty(), &|| bar.inc(1))?);
    }
    bar.finish_and_clear();

    let report = summary::report(&experiment, &records, context)?;
    let page = report.to_html().map_err(drawing)?;
    write(&args.out, context.force, &page)?;
    if let Some(folder) = &args.svg {
        for (name, svg) in report.svgs().map_err(drawing)? {
            write(&folder.join(format!("{name}.svg")), context.force, &svg)?;
        }
    }
    if context.json {
        let parameters = experiment::Parameters::default();
        return context.print_json(&Body { page: &args.out, parameters, report: &report });
    }
    context.print(summary::table(&report))?;
    context.note(format_args!("\nThe page: {}", args.out.display()));
    Ok(())
}

/// An error if the page cannot be put there: found out before the work, not after it.
fn check_free(path: &Path, overwrite: bool) -> Result<(), Failure> {
    match path.metadata() {
        // a pipe or /dev/stdout has nothing to overwrite
        Ok(there) if there.is_file() && !overwrite => {
            return Err(DataError::Exists { file: path.into() }.into());
        }
        Ok(there) if there.is_dir() => {
            return Err(Failure::output(path, &ErrorKind::IsADirectory.into()));
        }
        _ => {}
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(Failure::output(path, &ErrorKind::NotFound.into()))
        }
        _ => Ok(()),
    }
}

fn write(path: &Path, overwrite: bool, text: &str) -> Result<(), Failure> {
    atomic::write_file(path, overwrite, |out| out.write_all(text.as_bytes()))
        .map_err(Failure::writing)
}

fn drawing(error: ReportError) -> Failure {
    Failure::run(format!("cannot draw the page: {error}"))
}
