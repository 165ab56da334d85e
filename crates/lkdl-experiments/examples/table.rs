//! Runs experiments and prints their records: `table [ID …] [--runs N] [--json]`.
#![allow(clippy::print_stdout)] // its purpose

use lkdl_experiments::{EXPERIMENTS, Experiment, Options, Record};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let (mut ids, mut runs, mut json) = (Vec::new(), 5, false);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--json" => json = true,
            "--runs" => runs = args.next().ok_or("--runs needs a count")?.parse()?,
            id => ids.push(id.to_string()),
        }
    }
    let options = Options { data_dir: lkdl_data::data_dir()?, runs };
    for experiment in chosen(&ids)? {
        eprintln!("{}: {}, {runs} runs", experiment.id, experiment.about);
        for record in (experiment.run)(&options)? {
            println!("{}", if json { serde_json::to_string(&record)? } else { row(&record) });
        }
    }
    Ok(())
}

/// The experiments named, or all.
fn chosen(ids: &[String]) -> Result<Vec<&'static Experiment>, String> {
    if ids.is_empty() {
        return Ok(EXPERIMENTS.iter().collect());
    }
    let find = |id: &String| {
        EXPERIMENTS.iter().find(|experiment| experiment.id == id).ok_or_else(|| {
            let known: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.id).collect();
            format!("no experiment is called {id}; there are {}", known.join(", "))
        })
    };
    ids.iter().map(find).collect()
}

fn row(record: &Record) -> String {
    let published = match (record.published, record.within_tolerance) {
        (Some(value), Some(true)) => format!("{value:.2} (within)"),
        (Some(value), _) => format!("{value:.2} (OUTSIDE)"),
        (None, _) => "–".into(),
    };
    format!(
        "{:<10} {:<28} {:<14} {:>6.2} ± {:.2} %   published {published:<16} train {:.2} s, test {:.2} s",
        record.dataset,
        record.method,
        record.variant,
        record.mean,
        record.std,
        record.seconds.train,
        record.seconds.test
    )
}
