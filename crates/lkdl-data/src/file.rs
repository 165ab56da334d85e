//! Reading and writing a [`Table`] in any format: one module each does the work.

use crate::error::DataError;
use crate::format::{Compression, Format};
use crate::options::ReadOptions;
use crate::svmlight::{self, SvmlightParams};
use crate::table::Table;
use crate::{atomic, compressed, delimited, hdf5, idx_pair, images, matlab, npy, npz, parquet};
use std::io::Write;
use std::path::Path;

/// Reads the file, or folder of images, at `path`.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    let format = match options.format {
        Some(format) => format,
        None => Format::detect(path)?,
    };
    match format {
        Format::Npy => npy::read(path, options),
        Format::Npz => npz::read(path, options),
        Format::Csv => delimited::read(path, b',', options),
        Format::Tsv => delimited::read(path, b'\t', options),
        Format::Svmlight => {
            let table = Table::from(SvmlightParams::default().read_file(path)?);
            Ok(if options.unlabelled { Table { labels: None, ..table } } else { table })
        }
        Format::Idx => idx_pair::read(path, options),
        Format::Images => images::read(path, options),
        Format::Matlab => matlab::read(path, options),
        Format::Hdf5 => hdf5::read(path, options),
        Format::Parquet => parquet::read(path, options),
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
        let fix = "give the file a known ending or name its format";
        return Err(DataError::format(path, problem, fix));
    };
    let compression = Compression::from_name(path);
    let fill = |out: &mut dyn Write| match format {
        Format::Npy => npy::write(out, table),
        Format::Npz => npz::write(out, table),
        Format::Csv => delimited::write(out, table, b','),
        Format::Tsv => delimited::write(out, table, b'\t'),
        Format::Svmlight => svmlight::write(out, table),
        Format::Matlab => matlab::write(out, table),
        Format::Parquet => parquet::write(out, table),
        _ => Err(DataError::Unsupported { file: path.into(), format, action: "written" }),
    };
    match format {
        Format::Images => images::write(path, table),
        Format::Idx => idx_pair::write(path, table, overwrite),
        Format::Csv | Format::Tsv | Format::Svmlight => {
            atomic::write_with(path, overwrite, |out| compressed::encode(out, compression, fill))
        }
        _ if compression.is_some() => {
            let problem = format!("{format} is not written compressed from outside");
            Err(DataError::format(path, problem, "leave the compression's ending away"))
        }
        _ => atomic::write_with(path, overwrite, fill),
    }
}
