//! `lkdl fit DATA -o MODEL`: learn a model, and say what it took.

mod stream;
mod stream_flags;

use crate::context::Context;
use crate::data_flags::{DATA_HELP, DataFlags};
use crate::failure::Failure;
use crate::folds::{Folds, check_classes, indices};
use crate::method::{MethodFlags, Precision};
use crate::model_file;
use crate::output;
use crate::precision::{check_range, into_precision};
use crate::scores::Spread;
use crate::stages::{StageTime, Stages};
use crate::words::{counted, of_error, shown, size};
use clap::Args;
use faer::MatRef;
use lkdl::stream::Drift;
use lkdl::{FeatureMap, LkdlError, MemoryPlan, StageMemory};
use lkdl_data::Dataset;
use lkdl_model::{Card, Classifier, DataRecord, Element, Pipeline};
use lkdl_recipe::{Recipe, Settings, class_sizes};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;
use stream_flags::StreamFlags;

const EXAMPLES: &str = "\
What is not said is chosen from the data: kernel and preparation by what samples look like, sparsity
and whether a kernel helps at all by held-out samples. DATA needs labels of two classes or more.

Examples:
  lkdl fit data.csv -o model.safetensors            a sound model without another flag
  lkdl fit digits --folds 5                         how good it will be, by cross-validation
  lkdl fit usps:train -o m.safetensors --kernel gaussian --sigma median --landmarks 20%
  lkdl fit huge.npz -o m.safetensors --stream --memory 1GB --checkpoint fit.ckpt --resume";

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
    #[command(flatten)]
    stream: StreamFlags,
}

#[derive(Serialize)]
struct Report {
    data: DataRecord,
    n_features: usize,
    class_names: Vec<String>,
    settings: BTreeMap<String, String>,
    /// What held-out samples decided, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<String>,
    /// How much landmarks miss of a source, where they were watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    drift: Option<DriftReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folds: Option<FoldReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<ModelReport>,
}

/// Residual energies as multiples of the pilot's.
#[derive(Serialize)]
struct DriftReport {
    level: f64,
    highest: f64,
    limit: f64,
    landmarks_added: usize,
}

impl From<Drift> for DriftReport {
    fn from(drift: Drift) -> Self {
        let Drift { level, highest, limit, n_grown: landmarks_added } = drift;
        Self { level, highest, limit, landmarks_added }
    }
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
    /// The most the fit could have come to, said beforehand.
    memory_at_most: u64,
    /// What it needs with the landmarks that were chosen.
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
        output::check(output, context)?;
    }
    if args.stream.stream {
        return stream::run(args, context);
    }
    let table = args.data.table(context)?;
    let (checksum, index_base) = (table.checksum(), table.index_base);
    let data = table.into_dataset()?;
    check_classes(&data)?;
    args.method.wishes().check_for(data.samples.as_ref())?;
    let record = DataRecord {
        name: args.data.data.to_string(),
        checksum,
        n_samples: data.n_samples(),
        feature_names: data.feature_names.clone(),
        image_shape: data.image_shape,
        index_base,
    };
    match args.method.precision {
        Precision::F32 => fit::<f32>(args, data, record, context),
        Precision::F64 => fit::<f64>(args, data, record, context),
    }
}

fn fit<T: Element>(
    args: &FitArgs,
    data: Dataset,
    record: DataRecord,
    context: &Context,
) -> Result<(), Failure> {
    check_range::<T>(data.samples.as_ref())?;
    let sizes = [
        counted(data.n_samples(), "sample"),
        counted(data.n_features(), "feature"),
        counted(data.n_classes(), "class"),
    ];
    say(context, "data", "", format!("{}: {}", args.data.data, sizes.join(", ")))?;
    let folds = match args.folds {
        Some(folds) => Some(cross_validate(&args.method, &data, folds, context)?),
        None => None,
    };
    let labels = indices(&data);
    let class_names = data.class_names;
    let samples = into_precision::<T>(data.samples);
    let start = Instant::now();
    let recipe = args.method.wishes().recipe(samples.as_ref(), &labels, context.seed)?;
    let choice = choice(&recipe);
    if let Some(choice) = &choice {
        say(context, "choose", &seconds(start.elapsed().as_secs_f64()), choice.clone())?;
    }
    let mut report = Report {
        data: record,
        n_features: samples.nrows(),
        class_names,
        settings: recipe.settings.clone(),
        choice,
        drift: None,
        folds,
        model: None,
    };
    if let Some(output) = &args.output {
        report.model =
            Some(fit_and_save(recipe, samples.as_ref(), &labels, output, &report, context)?);
    }
    if context.json { context.print_json(&report) } else { Ok(()) }
}

/// What held-out samples decided, in words.
fn choice<T: Element>(recipe: &Recipe<T>) -> Option<String> {
    let verdict = recipe.verdict.as_ref();
    verdict.map(|verdict| chosen(&recipe.settings, &verdict.to_string()))
}

/// The flags that a verdict on held-out samples is about, and the verdict.
fn chosen(settings: &Settings, verdict: &str) -> String {
    let setting = |flag: &str| settings.get(flag).map_or("", String::as_str);
    format!("--map {} --sparsity {}: {verdict}", setting("map"), setting("sparsity"))
}

fn fit_and_save<T: Element>(
    recipe: Recipe<T>,
    samples: MatRef<'_, T>,
    labels: &[usize],
    output: &Path,
    report: &Report,
    context: &Context,
) -> Result<ModelReport, Failure> {
    let sizes = class_sizes(labels);
    let limit = recipe.params.memory_plan::<T>(samples.nrows(), &sizes)?;
    say(context, "memory", "", planned(&limit, recipe.counts_landmarks()))?;
    let stages = Stages::new(context);
    let model = recipe
        .params
        .fit_monitored(samples, labels, &stages)
        .map_err(|error| named(error, &report.class_names))?;
    let stages = stages.finish();
    for stage in &stages {
        if let Some(text) = outcome(stage.stage, &model, &report.settings) {
            say(context, stage.stage, &seconds(stage.seconds), text)?;
        }
    }
    let mut plan = limit.clone();
    if recipe.counts_landmarks()
        && let FeatureMap::Nystroem(map) = model.map()
    {
        plan = recipe.with_landmarks(map).memory_plan::<T>(samples.nrows(), &sizes)?;
        let landmarks = counted(map.n_landmarks(), "landmark");
        let peak = size(plan.peak().bytes);
        say(context, "memory", "", format!("{peak} were enough for the {landmarks} chosen"))?;
    }
    let memory = Memory { at_most: limit.peak().bytes, plan: planned_stages(&plan) };
    save(&model, output, report, stages, memory, context)
}

/// What a fit may need, and by stage.
struct Memory {
    at_most: u64,
    plan: Vec<PlannedStage>,
}

fn planned_stages(plan: &MemoryPlan) -> Vec<PlannedStage> {
    let stage = |stage: &StageMemory| PlannedStage { stage: stage.stage, bytes: stage.bytes };
    plan.stages.iter().map(stage).collect()
}

/// Writes the model and says what came of the fit.
fn save<T: Element>(
    model: &Pipeline<T>,
    output: &Path,
    report: &Report,
    stages: Vec<StageTime>,
    memory: Memory,
    context: &Context,
) -> Result<ModelReport, Failure> {
    let warnings = warnings(model, &report.class_names);
    warnings.iter().for_each(|warning| context.warn(warning));
    let card = Card {
        class_names: report.class_names.clone(),
        seed: context.seed,
        data: report.data.clone(),
        settings: report.settings.clone(),
    };
    let bytes = model_file::save(output, model, &card, context)?;
    say(context, "model", "", format!("{} ({})", output.display(), size(bytes as u64)))?;
    let classifier = model.classifier();
    Ok(ModelReport {
        file: output.display().to_string(),
        bytes,
        memory_at_most: memory.at_most,
        memory_plan: memory.plan,
        stages,
        n_landmarks: n_landmarks(model),
        rank: classifier.n_features(),
        n_atoms: classifier.n_atoms(),
        errors: last_errors(classifier),
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
    let time = start.elapsed().as_secs_f64();
    let (percent, spread) = (100.0 * mean, 100.0 * std);
    let text = format!("accuracy {percent:.2} ± {spread:.2} % over {count} folds");
    say(context, "folds", &seconds(time), text)?;
    Ok(FoldReport {
        folds: count,
        accuracy_mean: mean,
        accuracy_std: std,
        accuracies,
        seconds: time,
    })
}

/// The error of a class, by its name and not by its index.
fn named(error: LkdlError, class_names: &[String]) -> Failure {
    match &error {
        LkdlError::InClass { class, source } => {
            let name = class_names.get(*class).map_or("?", String::as_str);
            Failure::input(format!("class \"{}\": {}", shown(name), of_error(source)))
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

/// The most a fit can come to, stage by stage.
fn planned(plan: &MemoryPlan, counts_landmarks: bool) -> String {
    let stages: Vec<String> =
        plan.stages.iter().map(|s| format!("{} {}", s.stage, size(s.bytes))).collect();
    let condition = if counts_landmarks { ", however many landmarks it takes" } else { "" };
    format!("at most {}{condition} ({})", size(plan.peak().bytes), stages.join(", "))
}

fn n_landmarks<T: Element>(model: &Pipeline<T>) -> Option<usize> {
    match model.map() {
        FeatureMap::Nystroem(map) => Some(map.n_landmarks()),
        _ => None,
    }
}

/// What a stage made; nothing to tell of landmarks where there are none, nor of no map.
fn outcome<T: Element>(
    stage: &str,
    model: &Pipeline<T>,
    settings: &BTreeMap<String, String>,
) -> Option<String> {
    let setting = |flag: &str| settings.get(flag).map_or("", String::as_str);
    match (stage, model.map()) {
        ("prepare", _) => Some(setting("prepare").to_string()),
        ("landmarks", FeatureMap::Nystroem(map)) => {
            let kernel = map.panel().kernel();
            let landmarks = counted(map.n_landmarks(), "landmark");
            Some(format!("{landmarks} by {}, {kernel}", setting("sampler")))
        }
        ("landmarks", _) | ("map", FeatureMap::Identity) => None,
        ("map", map) => {
            let by = match map {
                FeatureMap::Nystroem(_) => String::new(),
                _ => format!(", {} features", setting("map")),
            };
            Some(format!("virtual samples of dimension {}{by}", model.classifier().n_features()))
        }
        ("learn", _) => Some(learned(model.classifier())),
        _ => Some(String::new()),
    }
}

/// What training made, as far as the method has it.
fn learned<T: Element>(classifier: &Classifier<T>) -> String {
    let mut parts = vec![counted(classifier.n_classes(), "class")];
    parts.extend(classifier.kernel().map(|kernel| format!("{kernel} exactly")));
    let atoms = classifier.n_atoms();
    if let (Some(least), Some(most)) = (atoms.iter().min(), atoms.iter().max()) {
        let range = if least < most { format!("{least} to {most}") } else { most.to_string() };
        parts.push(if *most == 1 { "1 atom each".into() } else { format!("{range} atoms each") });
    }
    parts.extend(classifier.sparsity().map(|sparsity| format!("sparsity {sparsity}")));
    let iterations = classifier.history().iter().map(|history| history.errors.len()).max();
    parts.extend(iterations.map(|iterations| counted(iterations, "iteration")));
    let errors = last_errors(classifier);
    if !errors.is_empty() {
        parts.push(format!("relative error {:.3}", Spread::of(&errors).mean));
    }
    parts.join(", ")
}

/// The relative error each history ends with.
fn last_errors<T: Element>(classifier: &Classifier<T>) -> Vec<f64> {
    classifier.history().iter().filter_map(|history| history.errors.last().copied()).collect()
}

fn warnings<T: Element>(model: &Pipeline<T>, class_names: &[String]) -> Vec<String> {
    let of_fit = model.warnings().iter().map(ToString::to_string);
    let of_classes = model.classifier().warnings().into_iter().map(|(class, warning)| {
        let name = class_names.get(class).map_or("?", String::as_str);
        format!("class {}: {warning}", shown(name))
    });
    of_fit.chain(of_classes).collect()
}
