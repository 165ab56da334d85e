//! `lkdl encode MODEL DATA -o codes.npz`: sparse codes, as SciPy reads them.

use crate::context::Context;
use crate::data_flags::DATA_HELP;
use crate::failure::Failure;
use crate::model_file::{self, ModelAndData};
use crate::precision::{in_its_precision, into_precision};
use crate::words::{counted, shown};
use clap::Args;
use faer::Mat;
use lkdl::prelude::{BatchOmp, Target};
use lkdl_data::{SparseRows, Table};
use lkdl_model::{Element, SavedModel};
use serde::Serialize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
One row per sample, one column per atom: the atoms of all classes side by side in the order of
`lkdl inspect`, or those of one class. In Python: scipy.sparse.load_npz(\"codes.npz\").

Example: lkdl encode model.safetensors usps:test -o codes.npz";

/// Sparse codes over a model's dictionaries
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{DATA_HELP}"))]
pub struct EncodeArgs {
    /// The .npz file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Code over the dictionary of this class alone
    #[arg(long, value_name = "NAME")]
    class: Option<String>,
    /// Atoms per code [default: the model's sparsity]
    #[arg(long, value_name = "Q")]
    sparsity: Option<usize>,
    #[command(flatten)]
    input: ModelAndData,
}

#[derive(Serialize)]
struct Report {
    file: String,
    n_samples: usize,
    n_atoms: usize,
    nnz: usize,
    /// ‖f − Dγ‖ / ‖f‖ over all samples together.
    relative_error: f64,
}

/// Codes and writes.
pub fn run(args: &EncodeArgs, context: &Context) -> Result<(), Failure> {
    if args.output.extension().is_none_or(|ending| ending != "npz") {
        let file = args.output.display();
        let problem = "codes are sparse, and written as .npz for SciPy; end the output in .npz";
        return Err(Failure::usage(format!("{file}: {problem}")));
    }
    let (model, table) = args.input.open(Some(&args.output), context)?;
    let report = in_its_precision!(&model, model => encode(args, model, table, context)?);
    if context.json {
        return context.print_json(&report);
    }
    context.print(format!(
        "{}: codes of {} over {}, {}, relative error {:.4}",
        report.file,
        counted(report.n_samples, "sample"),
        counted(report.n_atoms, "atom"),
        counted(report.nnz, "value"),
        report.relative_error
    ))
}

fn encode<T: Element>(
    args: &EncodeArgs,
    model: &SavedModel<T>,
    table: Table,
    context: &Context,
) -> Result<Report, Failure> {
    let dictionary = dictionary(args, model)?;
    let classifier = model.pipeline.classifier();
    let usual = classifier.sparsity().map(|sparsity| sparsity.min(dictionary.ncols()));
    let sparsity = args.sparsity.or(usual).ok_or_else(|| {
        let method = model_file::method(model);
        Failure::usage(format!("a model of --method {method} has no sparsity; say --sparsity"))
    })?;
    let virtual_samples = model.pipeline.transform(into_precision::<T>(table.samples).as_ref())?;
    let coder = BatchOmp::new(dictionary.as_ref())?;
    let encoded = coder.encode(virtual_samples.as_ref(), Target::Sparsity(sparsity))?;
    let (offsets, columns, values) = encoded.codes.parts();
    let rows = SparseRows { n_columns: coder.n_atoms(), offsets, columns, values };
    rows.write(&args.output, context.force).map_err(Failure::writing)?;
    let left: f64 = encoded.sq_residuals.iter().sum();
    let whole: f64 =
        virtual_samples.col_iter().map(|f| f.iter().map(|v| v.wide().powi(2)).sum::<f64>()).sum();
    Ok(Report {
        file: args.output.display().to_string(),
        n_samples: encoded.codes.n_signals(),
        n_atoms: coder.n_atoms(),
        nnz: encoded.codes.nnz(),
        relative_error: if whole > 0.0 { (left / whole).sqrt() } else { 0.0 },
    })
}

/// The atoms of one class, or of all side by side.
fn dictionary<T: Element>(args: &EncodeArgs, model: &SavedModel<T>) -> Result<Mat<T>, Failure> {
    let classifier = model.pipeline.classifier();
    let all = classifier.class_atoms().ok_or_else(|| {
        let method = model_file::method(model);
        Failure::usage(format!("a model of --method {method} has no dictionary to code over"))
    })?;
    let names = &model.card.class_names;
    let chosen = match &args.class {
        None => all,
        Some(class) => match names.iter().position(|name| name == class) {
            Some(index) => vec![all[index]],
            None => {
                let known: Vec<String> = names.iter().map(|name| shown(name)).collect();
                let known = known.join(", ");
                let message = format!("--class is \"{class}\", but must be one of {known}");
                return Err(Failure::usage(message));
            }
        },
    };
    let n_atoms = chosen.iter().map(|class| class.ncols()).sum();
    let mut atoms = Mat::zeros(classifier.n_features(), n_atoms);
    let mut start = 0;
    for class in chosen {
        atoms.as_mut().subcols_mut(start, class.ncols()).copy_from(class);
        start += class.ncols();
    }
    Ok(atoms)
}
