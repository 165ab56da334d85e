//! How fast each stage is, held against the machine's own product rate.
//!
//! ```text
//! cargo run --release -p lkdl --example roofline [-- --json] [--quick] [--full] [--stage NAME]…
//! ```
//!
//! Large products set the pace: what a matrix product reaches on this machine, no stage can beat.
//! For every stage the table gives its time, its floating-point operations, their rate as a share
//! of the product rate, and its time over that of the bare product of the same operands, measured
//! in turn with it. Real sets are used where `LKDL_DATA_DIR` names their directory.
#![allow(non_snake_case)] // letters as in the library
#![allow(clippy::print_stdout)]

mod data;
mod eigen;
mod flops;
mod kernels;
mod measure;
mod record;
mod runs;

use measure::{Effort, Rates};
use record::Record;
use std::error::Error;
use std::process::ExitCode;

const USAGE: &str = "\
usage: roofline [--json] [--quick] [--full] [--stage NAME]...

  --json        one JSON array instead of the table
  --quick       smaller sizes, fewer repetitions: about a minute
  --full        also the eigen-solve of 9,000 landmarks, whose full solve takes minutes
  --stage NAME  only this stage (may be repeated)";

type Stage = fn(&mut Session) -> Result<(), Box<dyn Error>>;

/// The stages, in the order they run.
const STAGES: [(&str, Stage); 7] = [
    ("product", product),
    ("batch-omp", kernels::batch_omp),
    ("map", kernels::map),
    ("ksvd-iteration", kernels::ksvd_iteration),
    ("eigen", eigen::eigen),
    ("usps-run", runs::usps_run),
    ("mnist-run", runs::mnist_run),
];

/// What was asked for, and what was found so far.
struct Session {
    quick: bool,
    full: bool,
    effort: Effort,
    rates: Rates,
    records: Vec<Record>,
}

impl Session {
    /// Keeps a record and reports it.
    fn push(&mut self, record: Record) {
        let Record { stage, shape, dtype, seconds, ratio, .. } = &record;
        let ratio = ratio.map_or(String::new(), |ratio| format!(", {ratio:.2} x the product"));
        eprintln!("  {stage} {shape} {dtype}: {seconds:.5} s{ratio}");
        self.records.push(record);
    }

    /// Order of the products that set the pace.
    fn product_size(&self) -> usize {
        if self.quick { 1536 } else { 2048 }
    }
}

/// Command-line options.
#[derive(Debug, Default, PartialEq)]
struct Options {
    json: bool,
    quick: bool,
    full: bool,
    help: bool,
    /// Empty: all.
    stages: Vec<String>,
}

impl Options {
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--json" => options.json = true,
                "--quick" => options.quick = true,
                "--full" => options.full = true,
                "--help" | "-h" => options.help = true,
                "--stage" => {
                    let name = args.next().ok_or("--stage needs a name")?;
                    if !STAGES.iter().any(|stage| stage.0 == name) {
                        let known = STAGES.map(|stage| stage.0).join(", ");
                        return Err(format!("stage is \"{name}\", but must be one of {known}"));
                    }
                    options.stages.push(name);
                }
                other => return Err(format!("\"{other}\" is no option")),
            }
        }
        Ok(options)
    }

    fn wants(&self, stage: &str) -> bool {
        self.stages.is_empty() || self.stages.iter().any(|name| name == stage)
    }
}

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("error: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    if options.help {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let quick = options.quick;
    let effort = if quick {
        Effort { seconds: 0.3, min_reps: 2, max_reps: 10 }
    } else {
        Effort { seconds: 3.0, min_reps: 3, max_reps: 30 }
    };
    let mut session =
        Session { quick, full: options.full, effort, rates: Rates::default(), records: Vec::new() };
    eprintln!("{} threads, version {}", rayon::current_num_threads(), env!("CARGO_PKG_VERSION"));
    session.rates.refresh(session.product_size(), if quick { 2 } else { 5 });
    for (name, stage) in STAGES.into_iter().filter(|stage| options.wants(stage.0)) {
        eprintln!("{name}");
        stage(&mut session)?;
        // a rate that was held down when it was first measured is found here
        session.rates.refresh(session.product_size(), 1);
    }
    record_products(&mut session);
    let render = if options.json { record::json } else { record::table };
    print!("{}", render(&session.records, &session.rates));
    Ok(())
}

/// The product rate is measured before, between and after all stages, so there is nothing left to
/// do at its turn.
fn product(_: &mut Session) -> Result<(), Box<dyn Error>> {
    Ok(())
}

/// The product rates as records, ahead of all others: what they are held against.
fn record_products(session: &mut Session) {
    let n = session.product_size();
    let gflop = flops::product(n, n, n);
    let products = ["f64", "f32"].map(|dtype| Record {
        stage: "product",
        shape: format!("{n}x{n}x{n}"),
        dtype,
        seconds: gflop / session.rates.of(dtype),
        gflop,
        ratio: Some(1.0),
        extra: Vec::new(),
    });
    session.records.splice(0..0, products);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options, String> {
        Options::parse(args.iter().map(|arg| arg.to_string()))
    }

    #[test]
    fn options_are_read_and_unknown_ones_named() {
        let options = parse(&["--quick", "--stage", "map", "--json", "--stage", "eigen"]).unwrap();
        assert!(options.quick && options.json && !options.full);
        assert!(options.wants("map") && options.wants("eigen") && !options.wants("batch-omp"));
        assert!(parse(&[]).unwrap().wants("batch-omp"));
        assert_eq!(parse(&["--fast"]).unwrap_err(), "\"--fast\" is no option");
        assert!(parse(&["--stage", "mapp"]).unwrap_err().contains("one of product, batch-omp"));
        assert!(parse(&["--stage"]).is_err());
    }
}
