//! `lkdl fit DATA -o MODEL`: learn a model, and say what it took.

use crate::context::Context;
use crate::data_flags::{DATA_HELP, DataFlags};
use crate::failure::Failure;
use crate::folds::{Folds, indices};
use crate::method::{MethodFlags, Precision};
use crate::model_file;
use crate::scores::Spread;
use crate::stages::{StageTime, Stages};
use clap::Args;
use lkdl::{FeatureMap, LkdlError, MemoryPlan};
use lkdl_data::Dataset;
use lkdl_model::{Card, DataRecord, Element, Pipeline};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

const EXAMPLES: &str = "\
Examples:
  lkdl fit data.csv -o model.safetensors            a sound model without another flag
  lkdl fit digits --folds 5                         how good it will be, by cross-validation
  lkdl fit usps:train -o m.safetensors --kernel gaussian --sigma median --landmarks 20%";

/// Learn a model from labelled data
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{DATA_HELP}"))]
pub struct FitArgs {
    /// The model file to write
    #[arg(long, short, value_name = "MODEL", required_unless_present = "folds")]
    output: Option<PathBuf>,
    /// First estimate the accuracy by cross-validation on so many folds
    #[arg(long, value_name = "N")]
    folds: Option<usize>,
    #[command(flatten)]
    data: DataFlags,
    #[command(flatten)]
    method: MethodFlags,
}

#[derive(Serialize)]
struct Report {
    data: DataRecord,
    n_features: usize,
    class_names: Vec<String>,
    settings: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folds: Option<FoldReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<ModelReport>,
}

#[derive(Serialize)]
struct FoldReport {
    folds: usize,
    accuracy_mean: f64,
    accuracy_std: f64,
    accuracies: Vec<f64>,
    seconds: f64,
}

#[derive(Serialize)]
struct ModelReport {
    file: String,
    bytes: usize,
    memory_plan: Vec<PlannedStage>,
    stages: Vec<StageTime>,
    n_landmarks: Option<usize>,
    rank: usize,
    n_atoms: Vec<usize>,
    errors: Vec<f64>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct PlannedStage {
    stage: &'static str,
    bytes: u64,
}

/// Fits, saves and reports.
pub fn run(args: &FitArgs, context: &Context) -> Result<(), Failure> {
    if let Some(output) = &args.output {
        model_file::check_output(output, context)?;
    }
    let table = args.data.table(context)?;
    let checksum = table.checksum();
    let data = table.into_dataset()?;
    let record =
        DataRecord { name: args.data.data.to_string(), checksum, n_samples: data.n_samples() };
    match args.method.precision {
        Precision::F32 => fit::<f32>(args, &data, record, context),
        Precision::F64 => fit::<f64>(args, &data, record, context),
    }
}

fn fit<T: Element>(
    args: &FitArgs,
    data: &Dataset,
    record: DataRecord,
    context: &Context,
) -> Result<(), Failure> {
    let (n, p, classes) = (data.n_samples(), data.n_features(), data.n_classes());
    let settings = args
        .method
        .recipe(data.convert::<T>().as_ref(), &data.class_counts(), context.seed)?
        .settings;
    let mut report = Report {
        data: record,
        n_features: p,
        class_names: data.class_names.clone(),
        settings,
        folds: None,
        model: None,
    };
    say(
        context,
        "data",
        "",
        format!("{}: {n} samples, {p} features, {classes} classes", args.data.data),
    )?;
    if let Some(folds) = args.folds {
        let folds = cross_validate(&args.method, data, folds, context)?;
        let (mean, std) = (100.0 * folds.accuracy_mean, 100.0 * folds.accuracy_std);
        let text = format!("accuracy {mean:.2} ± {std:.2} % over {} folds", folds.folds);
        say(context, "folds", &seconds(folds.seconds), text)?;
        report.folds = Some(folds);
    }
    if let Some(output) = &args.output {
        report.model = Some(fit_and_save::<T>(args, data, output, &mut report, context)?);
    }
    if context.json { context.print_json(&report) } else { Ok(()) }
}

fn fit_and_save<T: Element>(
    args: &FitArgs,
    data: &Dataset,
    output: &Path,
    report: &mut Report,
    context: &Context,
) -> Result<ModelReport, Failure> {
    let labels = indices(data);
    let samples = data.convert::<T>();
    let recipe = args.method.recipe(samples.as_ref(), &data.class_counts(), context.seed)?;
    let plan = recipe.params.memory_plan::<T>(data.n_features(), &data.class_counts())?;
    say(context, "memory", "", planned(&plan))?;
    let stages = Stages::new(context);
    let model = recipe
        .params
        .fit_monitored(samples.as_ref(), &labels, &stages)
        .map_err(|error| named(error, &data.class_names))?;
    let stages = stages.finish();
    for stage in &stages {
        let text = outcome(stage.stage, &model, &report.settings);
        say(context, stage.stage, &seconds(stage.seconds), text)?;
    }
    let warnings = warnings(&model, &data.class_names);
    warnings.iter().for_each(|warning| context.warn(warning));
    let card = Card {
        class_names: data.class_names.clone(),
        seed: context.seed,
        data: report.data.clone(),
        settings: report.settings.clone(),
    };
    let bytes = model_file::save(output, &model, &card, context)?;
    say(context, "model", "", format!("{} ({:.1} MB)", output.display(), bytes as f64 / 1e6))?;
    let learned = model.classifier().learned();
    Ok(ModelReport {
        file: output.display().to_string(),
        bytes,
        memory_plan: plan
            .stages
            .iter()
            .map(|stage| PlannedStage { stage: stage.stage, bytes: stage.bytes })
            .collect(),
        stages,
        n_landmarks: n_landmarks(&model),
        rank: learned[0].dictionary.nrows(),
        n_atoms: learned.iter().map(|class| class.dictionary.ncols()).collect(),
        errors: learned.iter().filter_map(|class| class.errors.last().copied()).collect(),
        warnings,
    })
}

/// Accuracy on each of `count` parts of the data by a model of the others.
fn cross_validate(
    method: &MethodFlags,
    data: &Dataset,
    count: usize,
    context: &Context,
) -> Result<FoldReport, Failure> {
    let start = Instant::now();
    let bar = context.progress("folds", count as u64);
    let accuracies = Folds::new(data, count, context.seed)?.accuracies(method, &bar)?;
    bar.finish_and_clear();
    let Spread { mean, std } = Spread::of(&accuracies);
    Ok(FoldReport {
        folds: count,
        accuracy_mean: mean,
        accuracy_std: std,
        accuracies,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// The error of a class, by its name and not by its index.
fn named(error: LkdlError, class_names: &[String]) -> Failure {
    match &error {
        LkdlError::InClass { class, source } => {
            let name = class_names.get(*class).map_or("?", String::as_str);
            Failure::input(format!("class \"{name}\": {source}"))
        }
        _ => error.into(),
    }
}

/// One line of the account: what, how long, what came of it.
fn say(context: &Context, what: &str, time: &str, text: String) -> Result<(), Failure> {
    if context.json {
        return Ok(());
    }
    match context.print(format!("{what:<10}{time:>9}   {text}")) {
        // nobody reads the account any more, but the model is still wanted
        Err(failure) if failure.is_silent() => Ok(()),
        said => said,
    }
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.3} s")
}

fn planned(plan: &MemoryPlan) -> String {
    let stages = plan.stages.iter().map(|s| format!("{} {:.1}", s.stage, s.bytes as f64 / 1e6));
    let stages: Vec<String> = stages.collect();
    format!("at most {:.1} MB ({} MB)", plan.peak().bytes as f64 / 1e6, stages.join(", "))
}

fn n_landmarks<T: Element>(model: &Pipeline<T>) -> Option<usize> {
    match model.map() {
        FeatureMap::Nystroem(map) => Some(map.n_landmarks()),
        _ => None,
    }
}

/// What a stage made.
fn outcome<T: Element>(
    stage: &str,
    model: &Pipeline<T>,
    settings: &BTreeMap<String, String>,
) -> String {
    let setting = |flag: &str| settings.get(flag).map_or("", String::as_str);
    let learned = model.classifier().learned();
    let rank = learned[0].dictionary.nrows();
    match stage {
        "prepare" => setting("prepare").to_string(),
        "landmarks" => match model.map() {
            FeatureMap::Nystroem(map) => {
                let kernel = map.panel().kernel();
                format!("{} landmarks by {}, {kernel}", map.n_landmarks(), setting("sampler"))
            }
            _ => format!("none: {} map", setting("map")),
        },
        "map" => format!("virtual samples of dimension {rank}"),
        "learn" => {
            let atoms: Vec<usize> = learned.iter().map(|class| class.dictionary.ncols()).collect();
            let (least, most) = (atoms.iter().min(), atoms.iter().max());
            let atoms = match (least, most) {
                (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
                (_, most) => most.copied().unwrap_or(0).to_string(),
            };
            let iterations = learned.iter().map(|class| class.errors.len()).max().unwrap_or(0);
            let errors: Vec<f64> =
                learned.iter().filter_map(|class| class.errors.last().copied()).collect();
            format!(
                "{} classes, {atoms} atoms each, sparsity {}, {iterations} iterations, \
                 relative error {:.3}",
                learned.len(),
                model.classifier().sparsity(),
                Spread::of(&errors).mean
            )
        }
        _ => String::new(),
    }
}

fn warnings<T: Element>(model: &Pipeline<T>, class_names: &[String]) -> Vec<String> {
    let of_fit = model.warnings().iter().map(ToString::to_string);
    let of_classes = model.classifier().warnings().map(|(class, warning)| {
        format!("class {}: {warning}", class_names.get(class).map_or("?", String::as_str))
    });
    of_fit.chain(of_classes).collect()
}
