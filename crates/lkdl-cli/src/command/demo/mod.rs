//! `lkdl demo`: LKDL against linear and exact kernel K-SVD on the embedded digits, clean and
//! corrupted; a table, and a page to open in a browser.

mod experiment;
mod gallery;
mod summary;

use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use clap::Args;
use experiment::{Experiment, Record};
use lkdl_report::{DemoReport, ReportError};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Compare with linear and kernel K-SVD on digits: a table and a page
#[derive(Debug, Args)]
#[command(after_help = "Example: lkdl demo && xdg-open lkdl-demo.html")]
pub struct DemoArgs {
    /// Random splits to repeat everything on
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: u16,
    /// The page to write
    #[arg(long, short, value_name = "FILE", default_value = "lkdl-demo.html")]
    out: PathBuf,
    /// Write the plots as SVG files into this folder, too; with --force also where it has some
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
    output::check(&args.out, context)?;
    if let Some(folder) = &args.svg {
        check_folder(folder, context)?;
    }
    let experiment = Experiment::new()?;
    let runs = usize::from(args.runs);
    let bar = context.progress("learning", (runs * experiment.fits_per_run()) as u64);
    let mut records: Vec<Record> = Vec::with_capacity(runs);
    for run in 0..runs as u64 {
        let seed = context.seed.wrapping_add(run);
        records.push(experiment.run(seed, records.is_empty(), &|| bar.inc(1))?);
    }
    bar.finish_and_clear();

    let report = summary::report(&experiment, &records, context)?;
    let page = report.to_html().map_err(drawing)?;
    output::write(&args.out, page.as_bytes(), context)?;
    if let Some(folder) = &args.svg {
        for (name, svg) in report.svgs().map_err(drawing)? {
            let file = folder.join(format!("{name}.svg"));
            output::write(&file, svg.as_bytes(), context)?;
        }
    }
    if context.json {
        let parameters = experiment::Parameters::default();
        return context.print_json(&Body { page: &args.out, parameters, report: &report });
    }
    context.print(summary::table(&report))?;
    context.note(format_args!("The page: {}", args.out.display()));
    Ok(())
}

/// Makes the folder; one that holds plots already is an error, before the work and not after it.
fn check_folder(folder: &Path, context: &Context) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::output(folder, &error);
    std::fs::create_dir_all(folder).map_err(failed)?;
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == "svg") {
            output::check(&path, context)?;
        }
    }
    output::check(&folder.join("plot.svg"), context)
}

fn drawing(error: ReportError) -> Failure {
    Failure::run(format!("cannot draw the page: {error}"))
}
