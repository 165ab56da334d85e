//! How fast each stage is, held against the machine's own product rate.
//!
//! ```text
//! cargo run --release -p lkdl --example roofline [-- --json] [--quick] [--full] [--stage NAME]…
//! ```
//!
//! The measuring is in the crate `lkdl-roofline`; `lkdl bench` prints the same table.
#![allow(clippy::print_stdout)] // its output is its purpose

use lkdl_roofline::{Options, RooflineError};
use std::process::ExitCode;

const USAGE: &str = "\
usage: roofline [--json] [--quick] [--full] [--stage NAME]...

  --json        one JSON array instead of the table
  --quick       smaller sizes, fewer repetitions: about a minute
  --full        also the eigen-solve of 9,000 landmarks, whose full solve takes minutes
  --stage NAME  only this stage (may be repeated)";

/// What the command line asks for.
#[derive(Debug, Default, PartialEq)]
struct Command {
    json: bool,
    help: bool,
    options: Options,
}

impl Command {
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut command = Self::default();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--json" => command.json = true,
                "--quick" => command.options.quick = true,
                "--full" => command.options.full = true,
                "--help" | "-h" => command.help = true,
                "--stage" => {
                    let name = args.next().ok_or("--stage needs a name")?;
                    let stage = name.parse().map_err(|error: RooflineError| error.to_string())?;
                    command.options.stages.push(stage);
                }
                other => return Err(format!("\"{other}\" is no option")),
            }
        }
        Ok(command)
    }
}

fn main() -> ExitCode {
    let command = match Command::parse(std::env::args().skip(1)) {
        Ok(command) => command,
        Err(error) => {
            eprintln!("error: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    if command.help {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match lkdl_roofline::run(&command.options, &mut |line| eprintln!("{line}")) {
        Ok(found) => {
            print!("{}", if command.json { found.json() } else { found.table() });
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lkdl_roofline::Stage;

    fn parse(args: &[&str]) -> Result<Command, String> {
        Command::parse(args.iter().map(|arg| arg.to_string()))
    }

    #[test]
    fn options_are_read_and_unknown_ones_named() {
        let command = parse(&["--quick", "--stage", "map", "--json", "--stage", "eigen"]).unwrap();
        assert!(command.json && command.options.quick && !command.options.full);
        assert_eq!(command.options.stages, [Stage::Map, Stage::Eigen]);
        assert_eq!(parse(&[]).unwrap(), Command::default());
        assert_eq!(parse(&["--fast"]).unwrap_err(), "\"--fast\" is no option");
        assert!(parse(&["--stage", "mapp"]).unwrap_err().contains("one of product, batch-omp"));
        assert!(parse(&["--stage"]).is_err());
    }
}
