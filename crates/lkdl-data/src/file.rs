//! Reading and writing a [`Table`] in any format: one module each does the work.

use crate::error::DataError;
use crate::format::{Compression, Format};
use crate::options::ReadOptions;
use crate::svmlight::SvmlightParams;
use crate::table::Table;
use std::path::Path;

/// Reads the file, or folder of images, at `path`.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    let format = match options.format {
        Some(format) => format,
        None => Format::detect(path)?,
    };
    match format {
        Format::Svmlight => Ok(SvmlightParams::default().read_file(path)?.into()),
        _ => Err(DataError::Unsupported { file: path.into(), format, action: "read" }),
    }
}

/// Writes `table` to `path`, whole or not at all. The name tells the format where `format` does
/// not, and the compression; a file that is there already is replaced only with `overwrite`.
pub fn write(
    path: &Path,
    table: &Table,
    format: Option<Format>,
    overwrite: bool,
) -> Result<(), DataError> {
    let Some(format) = format.or_else(|| Format::from_name(path)) else {
        let known = Format::ALL.map(Format::name).join(", ");
        let problem = format!("the name does not tell which of {known}");
        return Err(DataError::format(
            path,
            problem,
            "give the file a known ending or name its format",
        ));
    };
    let _ = (table, Compression::from_name(path), overwrite);
    Err(DataError::Unsupported { file: path.into(), format, action: "written" })
}
