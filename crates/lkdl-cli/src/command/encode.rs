//! `lkdl encode MODEL DATA -o codes.npz`: sparse codes, as SciPy reads them.

use crate::context::Context;
use crate::data_flags::{DATA_HELP, DataFlags};
use crate::failure::Failure;
use crate::model_file;
use clap::Args;
use faer::Mat;
use lkdl::prelude::{BatchOmp, Target};
use lkdl_data::{SparseRows, Table};
use lkdl_model::{AnyModel, Element, SavedModel};
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
    /// A model of `lkdl fit`
    model: PathBuf,
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
    data: DataFlags,
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
    model_file::check_output(&args.output, context)?;
    let model = model_file::load(&args.model)?;
    let table = args.data.table_for(&model, context)?;
    let report = match &model {
        AnyModel::F32(model) => encode(args, model, &table, context)?,
        AnyModel::F64(model) => encode(args, model, &table, context)?,
    };
    if context.json {
        return context.print_json(&report);
    }
    context.print(format!(
        "{}: codes of {} samples over {} atoms, {} values, relative error {:.4}",
        report.file, report.n_samples, report.n_atoms, report.nnz, report.relative_error
    ))
}

fn encode<T: Element>(
    args: &EncodeArgs,
    model: &SavedModel<T>,
    table: &Table,
    context: &Context,
) -> Result<Report, Failure> {
    let dictionary = dictionary(args, model)?;
    let usual = model.pipeline.classifier().sparsity().min(dictionary.ncols());
    let sparsity = args.sparsity.unwrap_or(usual);
    let virtual_samples = model.pipeline.transform(table.convert::<T>().as_ref())?;
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
    let learned = model.pipeline.classifier().learned();
    let names = &model.card.class_names;
    let chosen = match &args.class {
        None => learned.iter().collect::<Vec<_>>(),
        Some(class) => match names.iter().position(|name| name == class) {
            Some(index) => vec![&learned[index]],
            None => {
                let known = names.join(", ");
                let message = format!("--class is \"{class}\", but must be one of {known}");
                return Err(Failure::usage(message));
            }
        },
    };
    let n_atoms = chosen.iter().map(|class| class.dictionary.ncols()).sum();
    let mut atoms = Mat::zeros(chosen[0].dictionary.nrows(), n_atoms);
    let mut start = 0;
    for class in chosen {
        let width = class.dictionary.ncols();
        atoms.as_mut().subcols_mut(start, width).copy_from(&class.dictionary);
        start += width;
    }
    Ok(atoms)
}
