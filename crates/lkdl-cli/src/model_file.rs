//! Model files on disk.

use crate::context::Context;
use crate::failure::Failure;
use lkdl_model::{AnyModel, Card, Element, Pipeline};
use std::io::Write;
use std::path::Path;

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
    lkdl_data::atomic::write_file(path, context.force, |out: &mut dyn Write| out.write_all(&bytes))
        .map_err(Failure::writing)?;
    Ok(bytes.len())
}

/// Refuses an output that exists, before any work is done for it.
pub fn check_output(path: &Path, context: &Context) -> Result<(), Failure> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() && !context.force => {
            Err(lkdl_data::DataError::Exists { file: path.into() }.into())
        }
        _ => Ok(()),
    }
}
