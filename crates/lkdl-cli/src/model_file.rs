//! Model files on disk, and the commands that hold samples against one.

use crate::context::Context;
use crate::data_flags::DataFlags;
use crate::failure::Failure;
use crate::output;
use crate::precision::check_range;
use clap::Args;
use lkdl_data::Table;
use lkdl_model::{AnyModel, Card, Element, Pipeline, SavedModel};
use std::path::{Path, PathBuf};

/// A model and samples for it: what `evaluate`, `predict`, `transform` and `encode` start with.
///
/// Flatten it after a command's own flags, which would else stand under its heading in the help.
#[derive(Debug, Args)]
pub struct ModelAndData {
    /// A model of `lkdl fit`
    pub model: PathBuf,
    #[command(flatten)]
    pub data: DataFlags,
}

impl ModelAndData {
    /// Looks whether `output` can be written, then reads both and looks whether the samples are
    /// within the range of the model's arithmetic.
    pub fn open(
        &self,
        output: Option<&Path>,
        context: &Context,
    ) -> Result<(AnyModel, Table), Failure> {
        if let Some(output) = output {
            output::check(output, context)?;
        }
        let model = load(&self.model)?;
        let table = self.data.table_for(&model, context)?;
        match model {
            AnyModel::F32(_) => check_range::<f32>(table.samples.as_ref())?,
            AnyModel::F64(_) => check_range::<f64>(table.samples.as_ref())?,
        }
        Ok((model, table))
    }
}

/// The method that made a model, as `fit --method` calls it.
pub fn method<T: Element>(model: &SavedModel<T>) -> &str {
    let said = model.card.settings.get("method");
    said.map_or(model.pipeline.classifier().method(), String::as_str)
}

/// Reads a model.
pub fn load(path: &Path) -> Result<AnyModel, Failure> {
    let bytes = std::fs::read(path).map_err(|error| {
        Failure::input(format!("{}: {error}; make a model with `lkdl fit`", path.display()))
    })?;
    lkdl_model::from_bytes(&bytes)
        .map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

/// Writes a model, whole or not at all; returns its size in bytes.
pub fn save<T: Element>(
    path: &Path,
    model: &Pipeline<T>,
    card: &Card,
    context: &Context,
) -> Result<usize, Failure> {
    let bytes = lkdl_model::to_bytes(model, card).map_err(Failure::run)?;
    output::write(path, &bytes, context)?;
    Ok(bytes.len())
}
