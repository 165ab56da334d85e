//! `lkdl tune DATA`: search for the settings that classify best, and write them for `fit`.

use crate::context::{Context, quoted};
use crate::data_flags::{DATA_HELP, DataFlags};
use crate::failure::Failure;
use crate::folds::Folds;
use crate::method::Precision;
use crate::output;
use crate::precision::check_range;
use crate::scores::Spread;
use crate::table::{Align, Table};
use crate::tune::fixed::{Fixed, method_flags};
use crate::tune::log::{Key, Log, Trial};
use crate::tune::space::{Limits, Settings, Space};
use crate::tune::{Budget, End, Session, Tuned};
use clap::Args;
use indicatif::ProgressBar;
use lkdl_recipe::are_signals;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  lkdl tune digits --budget 30                      settings for digits, in tuned.toml
  lkdl fit digits -o m.safetensors --config tuned.toml
  lkdl tune data.csv --kernel gaussian --minutes 10 --out gaussian.toml";

const SEARCH: &str = "Search";

/// Search for good settings by cross-validation
///
/// Tries kernels with their width or degree and no kernel at all, then preparations, landmarks,
/// rank, atoms and sparsity, coarse steps first, each on the same stratified folds. Prints all trials and writes the best as a config that
/// `fit` takes. Every trial is logged as it ends: the same command again goes on where it stopped.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{DATA_HELP}"))]
pub struct TuneArgs {
    #[command(flatten)]
    data: DataFlags,
    /// Folds of the cross-validation
    #[arg(help_heading = SEARCH, long, value_name = "N", default_value_t = 5)]
    folds: usize,
    /// Trials at most, those of the log included
    #[arg(help_heading = SEARCH, long, value_name = "N", default_value_t = 40)]
    budget: usize,
    /// Begin no trial after so many minutes
    #[arg(help_heading = SEARCH, long, value_name = "X", value_parser = minutes)]
    minutes: Option<Duration>,
    /// Where the best settings go
    #[arg(help_heading = SEARCH, long, short, value_name = "FILE", default_value = "tuned.toml")]
    out: PathBuf,
    /// Where trials are logged, one JSON object per line [default: beside --out]
    #[arg(help_heading = SEARCH, long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Kernels to try, joined by commas [default: linear,polynomial,gaussian]
    #[arg(help_heading = SEARCH, long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "kernel")]
    kernels: Vec<String>,
    /// Flags of `fit` that are not searched.
    #[command(flatten)]
    fixed: Fixed,
}

fn minutes(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|v| *v > 0.0).map(|v| 60.0 * v);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| "must be a number above 0".into())
}

/// Searches, prints, and writes the config.
pub fn run(args: TuneArgs, context: &Context) -> Result<(), Failure> {
    // what would fail in the end fails before the work
    output::check(&args.out, context)?;
    let log_path = args.log.unwrap_or_else(|| args.out.with_extension("trials.jsonl"));
    if is_same_file(&log_path, &args.out) {
        let message = format!("--log and --out are both {}; choose two", log_path.display());
        return Err(Failure::usage(message));
    }
    if args.budget == 0 {
        return Err(Failure::usage("--budget is 0, but must be at least 1, a trial"));
    }
    let precision = method_flags(&args.fixed.0)?.precision;
    let table = args.data.table(context)?;
    let key = Key { data: table.checksum(), folds: args.folds, seed: context.seed };
    let set = table.into_dataset()?;
    match precision {
        Precision::F32 => check_range::<f32>(set.samples.as_ref())?,
        Precision::F64 => check_range::<f64>(set.samples.as_ref())?,
    }
    let folds = Folds::new(&set, args.folds, context.seed)?;
    let limits = Limits {
        n_samples: folds.n_training(),
        n_features: set.n_features(),
        class_size: folds.class_size(),
        are_signals: are_signals(set.samples.as_ref()),
    };
    let space = Space::new(&args.kernels, args.fixed.0, limits)?;
    let (log, logged) = Log::open(&log_path, &key)?;

    let bar = context.progress("trials", args.budget as u64);
    let unseen = ProgressBar::hidden(); // the bar counts trials
    let evaluate = |settings: &Settings| folds.accuracies(&method_flags(settings)?, &unseen);
    let report = |number: usize, trial: &Trial, logged: bool| {
        let from = if logged { ", from the log" } else { "" };
        bar.suspend(|| context.note(format!("trial {number}: {}{from}", line(trial))));
        bar.inc(1);
    };
    let budget = Budget {
        trials: args.budget,
        deadline: args.minutes.and_then(|time| Instant::now().checked_add(time)),
    };
    let session = Session {
        space: &space,
        key: key.clone(),
        log: Some(log),
        logged,
        budget,
        evaluate: &evaluate,
        report: &report,
    };
    let tuned = session.run()?;
    bar.finish_and_clear();

    let best = &tuned.trials[tuned.best];
    write_config(&args.out, best, context)?;
    if context.json {
        return context.print_json(&Report::new(
            args.data.data.to_string(),
            &key,
            &tuned,
            &args.out,
        ));
    }
    context.print(trials_table(&tuned))?;
    context.note(match tuned.end {
        End::Complete => "no neighbour of the best is better".to_string(),
        End::Budget => {
            format!("the budget is used up; a larger one goes on from {}", log_path.display())
        }
    });
    context.note(format!(
        "use it: lkdl fit {}{} -o model.safetensors --config {}",
        quoted(&args.data.data.to_string()),
        args.data.read.again(),
        quoted(&args.out.display().to_string())
    ));
    Ok(())
}

/// Whether two names are of one file, which need not exist.
fn is_same_file(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize();
        folder.ok().zip(path.file_name().map(std::ffi::OsStr::to_owned))
    };
    a == b || (place(a).is_some() && place(a) == place(b))
}

/// Accuracy and settings of a trial in one line.
fn line(trial: &Trial) -> String {
    let flags: Vec<String> =
        trial.settings.iter().map(|(flag, value)| format!("--{flag} {value}")).collect();
    let result = match (&trial.error, trial.spread()) {
        (None, Some(Spread { mean, std })) => {
            format!("{:.2} ± {:.2} %", 100.0 * mean, 100.0 * std)
        }
        (error, _) => format!("failed ({})", error.as_deref().unwrap_or("no fold")),
    };
    format!("{result}, {:.1} s: {}", trial.seconds, flags.join(" "))
}

/// Columns of the table beside kernel, accuracy and time.
const SIZES: [&str; 4] = ["landmarks", "rank", "atoms", "sparsity"];

fn trials_table(tuned: &Tuned) -> Table {
    let sizes = SIZES.map(|name| (name, Align::Right));
    let columns = [("trial", Align::Right), ("kernel", Align::Left), ("prepare", Align::Left)]
        .into_iter()
        .chain(sizes)
        .chain([
            ("accuracy %", Align::Right),
            ("± %", Align::Right),
            ("time s", Align::Right),
            ("", Align::Left),
        ]);
    let mut table = Table::new(columns);
    for (i, trial) in tuned.trials.iter().enumerate() {
        let setting = |flag: &str| trial.settings.get(flag).cloned();
        let kernel: Vec<String> =
            ["kernel", "degree", "sigma"].into_iter().filter_map(setting).collect();
        let kernel = match setting("map") {
            Some(map) if map == "none" => "no map".to_string(),
            Some(map) => format!("{map} {}", kernel.join(" ")),
            None => kernel.join(" "),
        };
        let percent = |value: Option<f64>| value.map(|value| format!("{:.2}", 100.0 * value));
        let mut cells = vec![(i + 1).to_string(), kernel, setting("prepare").unwrap_or_default()];
        cells.extend(SIZES.map(|flag| setting(flag).unwrap_or_default()));
        cells.push(percent(trial.mean()).unwrap_or_else(|| "failed".into()));
        cells.push(percent(trial.spread().map(|spread| spread.std)).unwrap_or_default());
        cells.push(format!("{:.1}", trial.seconds));
        cells.push(if i == tuned.best { "best".into() } else { String::new() });
        table.row(cells);
    }
    table
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    data: String,
    checksum: &'a str,
    folds: usize,
    seed: u64,
    config: String,
    complete: bool,
    resumed: usize,
    best: Outcome<'a>,
    trials: Vec<Outcome<'a>>,
}

#[derive(Serialize)]
struct Outcome<'a> {
    settings: &'a Settings,
    accuracy_mean: Option<f64>,
    accuracy_std: Option<f64>,
    accuracies: &'a [f64],
    seconds: f64,
    error: Option<&'a str>,
}

impl<'a> Outcome<'a> {
    fn new(trial: &'a Trial) -> Self {
        Self {
            settings: &trial.settings,
            accuracy_mean: trial.mean(),
            accuracy_std: trial.spread().map(|spread| spread.std),
            accuracies: &trial.accuracies,
            seconds: trial.seconds,
            error: trial.error.as_deref(),
        }
    }
}

impl<'a> Report<'a> {
    fn new(data: String, key: &'a Key, tuned: &'a Tuned, config: &Path) -> Self {
        Self {
            data,
            checksum: &key.data,
            folds: key.folds,
            seed: key.seed,
            config: config.display().to_string(),
            complete: tuned.end == End::Complete,
            resumed: tuned.resumed,
            best: Outcome::new(&tuned.trials[tuned.best]),
            trials: tuned.trials.iter().map(Outcome::new).collect(),
        }
    }
}

/// The best settings under `[fit]`, with where they come from.
fn write_config(path: &Path, best: &Trial, context: &Context) -> Result<(), Failure> {
    let text = config(best, context.seed, &context.command_line());
    output::write(path, text.as_bytes(), context)
}

fn config(best: &Trial, seed: u64, command: &str) -> String {
    let mut fit = toml::Table::new();
    for (flag, value) in &best.settings {
        let value = match (value.parse::<i64>(), value.as_str()) {
            (Ok(number), _) => number.into(),
            (_, "true") => true.into(),
            (_, text) => text.into(),
        };
        fit.insert(flag.clone(), value);
    }
    // TOML has no number beyond i64; as a text the flag reads it all the same
    fit.insert("seed".into(), i64::try_from(seed).map_or(seed.to_string().into(), Into::into));
    let table = toml::Table::from_iter([("fit".to_string(), toml::Value::Table(fit))]);
    let Spread { mean, std } = Spread::of(&best.accuracies);
    let (folds, command) = (best.key.folds, command.replace(char::is_control, " "));
    format!(
        "# {command}\n# accuracy {:.2} ± {:.2} % over {folds} folds\n{table}",
        100.0 * mean,
        100.0 * std,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(settings: &[(&str, &str)], accuracies: &[f64]) -> Trial {
        let pairs = settings.iter().map(|(flag, value)| (flag.to_string(), value.to_string()));
        Trial {
            key: Key { data: "x".into(), folds: 2, seed: 7 },
            settings: pairs.collect(),
            accuracies: accuracies.to_vec(),
            seconds: 1.25,
            error: None,
        }
    }

    #[test]
    fn the_config_holds_flags_of_fit_as_toml_has_them() {
        let best =
            trial(&[("atoms", "30"), ("normalized", "true"), ("sigma", "0.5median")], &[0.5, 0.75]);
        assert_eq!(
            config(&best, 7, "lkdl tune a\nb"),
            "# lkdl tune a b\n# accuracy 62.50 ± 17.68 % over 2 folds\n[fit]\natoms = 30\n\
             normalized = true\nseed = 7\nsigma = \"0.5median\"\n"
        );
        assert!(config(&best, u64::MAX, "").contains("seed = \"18446744073709551615\""));
    }

    #[test]
    fn the_table_marks_the_best_and_shows_failures() {
        let failed = Trial { error: Some("no".into()), ..trial(&[("kernel", "cosine")], &[]) };
        let good =
            trial(&[("kernel", "gaussian"), ("sigma", "2median"), ("atoms", "9")], &[1.0, 0.5]);
        let tuned = Tuned { trials: vec![failed, good], best: 1, resumed: 0, end: End::Complete };
        let text = trials_table(&tuned).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[2].contains("cosine") && lines[2].contains("failed"), "{text}");
        assert!(lines[3].contains("gaussian 2median") && lines[3].ends_with("best"), "{text}");
        assert!(lines[3].contains("75.00  35.36"), "{text}");
    }

    #[test]
    fn minutes_are_positive() {
        assert_eq!(minutes("0.5"), Ok(Duration::from_secs(30)));
        for bad in ["0", "-1", "nan", "inf", "1e300", "soon"] {
            assert!(minutes(bad).is_err(), "{bad}");
        }
    }
}
