//! `lkdl transform MODEL DATA -o OUT`: samples as virtual samples, for any other program.

use crate::context::Context;
use crate::data_flags::DATA_HELP;
use crate::failure::Failure;
use crate::model_file::{self, ModelAndData};
use crate::precision::{in_its_precision, into_precision};
use crate::words::counted;
use clap::Args;
use faer::Mat;
use lkdl_data::{Format, Table};
use lkdl_model::{Element, SavedModel};
use serde::Serialize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Inner products of virtual samples are kernel values: any linear method on them is a kernel method.
Labels travel along.

Example: lkdl transform model.safetensors usps:train -o virtual.npz";

/// Virtual samples of a model's kernel map
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{DATA_HELP}"))]
pub struct TransformArgs {
    /// The file to write; its ending says how (.npy, .npz, .csv, .mat, .parquet, …; not .h5)
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    input: ModelAndData,
}

#[derive(Serialize)]
struct Report {
    file: String,
    n_samples: usize,
    rank: usize,
}

/// Maps and writes.
pub fn run(args: &TransformArgs, context: &Context) -> Result<(), Failure> {
    if Format::from_name(&args.output).is_none() {
        let file = args.output.display();
        let endings = ".npy, .npz, .csv, .tsv, .svm, .mat, .idx or .parquet";
        return Err(Failure::usage(format!("{file}: end the output in {endings}")));
    }
    let (model, table) = args.input.open(Some(&args.output), context)?;
    let Table { name, samples, labels, .. } = table;
    let samples = in_its_precision!(&model, model => transform(model, samples)?);
    let (rank, n_samples) = (samples.nrows(), samples.ncols());
    let mut table = Table::new(name, samples, labels)?;
    if Format::from_name(&args.output) == Some(Format::Npy) && table.labels.take().is_some() {
        context.note("npy holds one array: labels are left out (npz holds both)");
    }
    lkdl_data::write(&args.output, &table, None, context.force).map_err(Failure::writing)?;
    let file = args.output.display().to_string();
    if context.json {
        return context.print_json(&Report { file, n_samples, rank });
    }
    let samples = counted(n_samples, "virtual sample");
    context.print(format!("{file}: {samples} of dimension {rank}"))
}

fn transform<T: Element>(model: &SavedModel<T>, samples: Mat<f64>) -> Result<Mat<f64>, Failure> {
    let classifier = model.pipeline.classifier();
    if classifier.kernel().is_some() {
        let method = model_file::method(model);
        let problem = "works in the kernel's space itself and has no virtual samples";
        return Err(Failure::usage(format!("a model of --method {method} {problem}")));
    }
    let mapped = model.pipeline.transform(into_precision::<T>(samples).as_ref())?;
    Ok(Mat::from_fn(mapped.nrows(), mapped.ncols(), |t, i| mapped[(t, i)].wide()))
}
