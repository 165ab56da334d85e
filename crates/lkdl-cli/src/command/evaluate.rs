//! `lkdl evaluate MODEL DATA`: how good a model is on labelled data.

use crate::context::Context;
use crate::data_flags::DATA_HELP;
use crate::failure::Failure;
use crate::model_file::ModelAndData;
use crate::precision::{in_its_precision, into_precision};
use crate::scores::{ClassScore, Confusion};
use crate::table::{Align, Table as TextTable};
use clap::Args;
use lkdl_data::Table;
use lkdl_model::{Element, SavedModel};
use serde::Serialize;
use std::time::Instant;

/// Classes of which a confusion matrix is still readable on a terminal.
const MAX_SHOWN: usize = 20;
/// Classes of which one fits in memory.
const MAX_COUNTED: usize = 10_000;

const EXAMPLES: &str = "\
Example: lkdl evaluate model.safetensors usps:test --json";

/// Accuracy of a model on labelled data
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{DATA_HELP}"))]
pub struct EvaluateArgs {
    #[command(flatten)]
    input: ModelAndData,
}

#[derive(Serialize)]
struct Report {
    model: String,
    data: String,
    n_samples: usize,
    accuracy: f64,
    n_wrong: usize,
    classes: Vec<ClassScore>,
    /// Rows: true class; columns: predicted class; both in the order of `classes`.
    confusion: Confusion,
    seconds: f64,
}

/// Evaluates and prints.
pub fn run(args: &EvaluateArgs, context: &Context) -> Result<(), Failure> {
    let (model, table) = args.input.open(None, context)?;
    let report = in_its_precision!(&model, model => evaluate(args, model, table)?);
    if context.json {
        return context.print_json(&report);
    }
    context.print(format!(
        "accuracy {:.2} % ({} of {} wrong, {:.3} s)\n\n{}",
        100.0 * report.accuracy,
        report.n_wrong,
        report.n_samples,
        report.seconds,
        class_table(&report.classes),
    ))?;
    if report.classes.len() <= MAX_SHOWN {
        context.print(format!("\n{}", confusion_table(&report)))?;
    }
    Ok(())
}

fn evaluate<T: Element>(
    args: &EvaluateArgs,
    model: &SavedModel<T>,
    table: Table,
) -> Result<Report, Failure> {
    let data = table.into_dataset()?;
    let truth = known_labels(&data.class_names, &data.labels, &model.card.class_names)?;
    let n_samples = data.n_samples();
    let samples = into_precision::<T>(data.samples);
    let start = Instant::now();
    let predictions = model.pipeline.predict(samples.as_ref())?;
    let seconds = start.elapsed().as_secs_f64();
    let names = &model.card.class_names;
    if names.len() > MAX_COUNTED {
        let message =
            format!("a model of {} classes has no confusion matrix to count", names.len());
        return Err(Failure::input(message + "; use `lkdl predict`"));
    }
    let pairs = truth.iter().copied().zip(predictions.labels.iter().copied());
    let n_wrong = pairs.clone().filter(|(truth, said)| truth != said).count();
    let confusion = Confusion::new(names.len(), pairs);
    Ok(Report {
        model: args.input.model.display().to_string(),
        data: args.input.data.data.to_string(),
        n_samples,
        accuracy: confusion.accuracy(),
        n_wrong,
        classes: confusion.classes(names),
        confusion,
        seconds,
    })
}

/// The data's labels as the model counts its classes.
fn known_labels(
    data_names: &[String],
    labels: &[u32],
    model_names: &[String],
) -> Result<Vec<usize>, Failure> {
    let index = |name: &String| model_names.iter().position(|known| known == name);
    let indices: Vec<Option<usize>> = data_names.iter().map(index).collect();
    labels
        .iter()
        .enumerate()
        .map(|(i, &label)| {
            indices[label as usize].ok_or_else(|| {
                Failure::input(format!(
                    "sample {i} is of class \"{}\", which the model was not trained on (it knows \
                     {}); drop such samples, or train with them",
                    data_names[label as usize],
                    model_names.join(", ")
                ))
            })
        })
        .collect()
}

fn class_table(classes: &[ClassScore]) -> TextTable {
    let mut table = TextTable::new([
        ("class", Align::Left),
        ("samples", Align::Right),
        ("recall %", Align::Right),
        ("precision %", Align::Right),
    ]);
    let percent =
        |share: Option<f64>| share.map_or("-".to_string(), |share| format!("{:.2}", 100.0 * share));
    for class in classes {
        table.row([
            class.name.clone(),
            class.samples.to_string(),
            percent(class.recall),
            percent(class.precision),
        ]);
    }
    table
}

fn confusion_table(report: &Report) -> TextTable {
    let names: Vec<&str> = report.classes.iter().map(|class| class.name.as_str()).collect();
    let first = ("true \\ predicted", Align::Left);
    let columns = std::iter::once(first).chain(names.iter().map(|name| (*name, Align::Right)));
    let mut table = TextTable::new(columns);
    for (name, row) in names.iter().zip(&report.confusion.counts) {
        let cells =
            row.iter().map(|&count| if count == 0 { "·".into() } else { count.to_string() });
        table.row(std::iter::once(name.to_string()).chain(cells));
    }
    table
}
