//! `lkdl predict MODEL DATA`: the class of every sample, and how sure the model is.

use crate::context::Context;
use crate::data_flags::DATA_HELP;
use crate::failure::Failure;
use crate::model_file::ModelAndData;
use crate::output;
use crate::precision::{in_its_precision, into_precision};
use crate::words::counted;
use clap::{Args, ValueEnum};
use faer::Mat;
use lkdl::prelude::Predictions;
use lkdl_data::{Format, Table};
use lkdl_model::{Element, SavedModel};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;

const EXAMPLES: &str = "\
CSV and JSON lines (--json): index, label, margin (0: a tie, 1: certain) and the squared residual
of every class; the smallest wins. npy: one row per sample, class index, margin and residuals.

Examples:
  lkdl predict model.safetensors new.csv --unlabelled > labels.csv
  lkdl predict model.safetensors new.npy --format jsonl -o labels.jsonl";

/// Label samples
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{DATA_HELP}"))]
pub struct PredictArgs {
    /// Where to write [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How to write [default: from the output's ending, or csv]
    #[arg(long, value_enum)]
    format: Option<Shape>,
    #[command(flatten)]
    input: ModelAndData,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shape {
    /// Comma-separated values
    Csv,
    /// One JSON object per line
    Jsonl,
    /// A NumPy array
    Npy,
}

#[derive(Serialize)]
struct Line<'a> {
    index: usize,
    label: &'a str,
    margin: f64,
    residuals: &'a [f64],
}

/// Predicts and writes.
pub fn run(args: &PredictArgs, context: &Context) -> Result<(), Failure> {
    let shape = args.shape(context)?;
    args.check_json(shape, context)?;
    let (model, table) = args.input.open(args.output.as_deref(), context)?;
    let (predictions, names) =
        in_its_precision!(&model, model => (predict(model, table)?, &model.card.class_names));
    if predictions.n_zero_samples > 0 {
        let samples = counted(predictions.n_zero_samples, "sample");
        context.warn(format!("zero after preparation, and given the first class: {samples}"));
    }
    let Some(output) = &args.output else {
        return context.print_bytes(text(&predictions, names, shape)?.as_bytes());
    };
    if shape == Shape::Npy {
        let name = args.input.data.data.to_string();
        let table = Table::new(name, rows(&predictions), None)?;
        lkdl_data::write(output, &table, Some(Format::Npy), context.force)
            .map_err(Failure::writing)?;
    } else {
        output::write(output, text(&predictions, names, shape)?.as_bytes(), context)?;
    }
    let n_samples = predictions.labels.len();
    if context.json {
        let (file, n_zero_samples) = (output.display().to_string(), predictions.n_zero_samples);
        return context.print_json(&Report { file, n_samples, n_zero_samples });
    }
    context.note(format!("{}: {}", output.display(), counted(n_samples, "prediction")));
    Ok(())
}

/// What `--json` prints of predictions that went to a file.
#[derive(Serialize)]
struct Report {
    file: String,
    n_samples: usize,
    n_zero_samples: usize,
}

impl PredictArgs {
    /// Without a file, the predictions themselves are what `--json` is about.
    fn check_json(&self, shape: Shape, context: &Context) -> Result<(), Failure> {
        if !context.json || self.output.is_some() || shape == Shape::Jsonl {
            return Ok(());
        }
        let message = "--json prints predictions as JSON lines, but --format says otherwise; leave \
                       one of them away, or write to a file with --output";
        Err(Failure::usage(message))
    }

    fn shape(&self, context: &Context) -> Result<Shape, Failure> {
        let ending = self.output.as_deref().and_then(|path| path.extension()?.to_str());
        let shape = match (self.format, ending) {
            (Some(format), _) => format,
            (None, Some("npy")) => Shape::Npy,
            (None, Some("jsonl" | "ndjson" | "json")) => Shape::Jsonl,
            (None, Some("csv")) => Shape::Csv,
            (None, Some(ending)) => {
                let message = format!(
                    "predictions are not written as .{ending}; end the output \
                                       in .csv, .jsonl or .npy, or say --format"
                );
                return Err(Failure::usage(message));
            }
            (None, None) if context.json => Shape::Jsonl,
            (None, None) => Shape::Csv,
        };
        if shape == Shape::Npy && self.output.is_none() {
            return Err(Failure::usage("--format npy needs --output FILE; stdout takes text only"));
        }
        Ok(shape)
    }
}

fn predict<T: Element>(model: &SavedModel<T>, table: Table) -> Result<Predictions, Failure> {
    Ok(model.pipeline.predict(into_precision::<T>(table.samples).as_ref())?)
}

/// Class index, margin and residuals, one column per sample.
fn rows(predictions: &Predictions) -> Mat<f64> {
    let scores = &predictions.scores;
    Mat::from_fn(2 + scores.nrows(), scores.ncols(), |t, i| match t {
        0 => predictions.labels[i] as f64,
        1 => predictions.margins[i],
        _ => scores[(t - 2, i)],
    })
}

fn text(predictions: &Predictions, names: &[String], shape: Shape) -> Result<String, Failure> {
    let mut text = String::new();
    if shape == Shape::Csv {
        text += "index,label,margin";
        names.iter().for_each(|name| text += &format!(",{}", quoted(&format!("residual_{name}"))));
        text.push('\n');
    }
    for (index, (&label, &margin)) in
        predictions.labels.iter().zip(&predictions.margins).enumerate()
    {
        let (label, residuals) = (&names[label], predictions.scores.col_as_slice(index));
        if shape == Shape::Jsonl {
            let line = Line { index, label, margin, residuals };
            text += &serde_json::to_string(&line).map_err(Failure::run)?;
        } else {
            let _ = write!(text, "{index},{},{margin}", quoted(label));
            residuals.iter().for_each(|residual| text += &format!(",{residual}"));
        }
        text.push('\n');
    }
    Ok(text)
}

/// A CSV cell.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_string()
    }
}
