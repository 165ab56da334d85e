//! Reading and writing a [`Table`] in any format: one module each does the work.

use crate::error::DataError;
use crate::format::{Compression, Format};
use crate::options::ReadOptions;
use crate::svmlight::{self, SvmlightParams};
use crate::table::Table;
use crate::{
    atomic, compressed, delimited, hdf5, idx_pair, images, label_file, matlab, npy, npz, parquet,
};
use std::io::Write;
use std::path::Path;

/// Reads the file, or folder of images, at `path`.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    let format = match options.format {
        Some(format) => format,
        None => Format::detect(path)?,
    };
    let Some(labels_file) = options.labels_file(format) else {
        return read_as(format, path, options);
    };
    let bare = ReadOptions { label: None, unlabelled: true, ..options.clone() };
    let table = read_as(format, path, &bare)?;
    let labels = label_file::read(labels_file, table.n_samples())?;
    Ok(Table { labels: Some(labels), ..table })
}

fn read_as(format: Format, path: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    match format {
        Format::Npy => npy::read(path, options),
        Format::Npz => npz::read(path, options),
        Format::Csv => delimited::read(path, ',', options),
        Format::Tsv => delimited::read(path, '\t', options),
        Format::Svmlight => {
            let ReadOptions { n_features, index_base, .. } = *options;
            let params = SvmlightParams { n_features, index_base, ..SvmlightParams::default() };
            let table = params.read_table(path)?;
            let labels = table.labels.filter(|_| !options.unlabelled);
            Ok(Table { labels, ..table })
        }
        Format::Idx => idx_pair::read(path, options),
        Format::Images => images::read(path, options),
        Format::Matlab => matlab::read(path, options),
        Format::Hdf5 => hdf5::read(path, options),
        Format::Parquet => parquet::read(path, options),
    }
}

/// The format that the name of an output asks for, unless `format` does; an error if it cannot be
/// written. To be asked before the work whose result is written.
pub fn output_format(path: &Path, format: Option<Format>) -> Result<Format, DataError> {
    match format.or_else(|| Format::from_name(path)) {
        Some(format) if format.is_written() => Ok(format),
        Some(format) => Err(DataError::Unsupported { file: path.into(), format }),
        None => {
            let problem = format!("the name does not tell which of {}", Format::written());
            let fix = "give the file a known ending or name its format";
            Err(DataError::format(path, problem, fix))
        }
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
    let format = output_format(path, format)?;
    let compression = Compression::from_name(path);
    let fill = |out: &mut dyn Write| write_to(out, table, format);
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

/// Writes `table` to a stream, such as the standard output. Formats of several files are refused.
pub fn write_to(out: &mut dyn Write, table: &Table, format: Format) -> Result<(), DataError> {
    match format {
        Format::Npy => npy::write(out, table),
        Format::Npz => npz::write(out, table),
        Format::Csv => delimited::write(out, table, b','),
        Format::Tsv => delimited::write(out, table, b'\t'),
        Format::Svmlight => svmlight::write(out, table),
        Format::Matlab => matlab::write(out, table),
        Format::Parquet => parquet::write(out, table),
        Format::Idx | Format::Images => Err(DataError::parameter(
            "format of a stream",
            format,
            "one of a single file: csv, tsv, svmlight, npy, npz, mat or parquet",
        )),
        Format::Hdf5 => Err(DataError::Unsupported { file: "stream".into(), format }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::IndexBase;
    use crate::scratch::Scratch;
    use faer::Mat;

    #[test]
    fn a_format_that_is_only_read_is_refused_with_those_that_are_written() {
        let scratch = Scratch::new("write-hdf5");
        let table = Table::new("t", Mat::zeros(2, 2), None).unwrap();
        let path = scratch.0.join("t.h5");
        let error = write(&path, &table, None, false).unwrap_err();
        assert!(matches!(error, DataError::Unsupported { .. }));
        let message = error.to_string();
        assert!(message.contains("hdf5 cannot be written; write npy, npz, csv, "), "{message}");
        assert!(!path.exists());
        assert!(write_to(&mut Vec::new(), &table, Format::Hdf5).is_err());
        let message = output_format(Path::new("t.xyz"), None).unwrap_err().to_string();
        assert!(message.contains("which of npy") && !message.contains("hdf5"), "{message}");
    }

    #[test]
    fn streams_take_formats_of_one_file() {
        let table = Table::new("t", Mat::zeros(4, 2), None).unwrap();
        let mut out = Vec::new();
        write_to(&mut out, &table, Format::Csv).unwrap();
        assert_eq!(out, b"f0,f1,f2,f3\n0,0,0,0\n0,0,0,0\n");
        for format in [Format::Idx, Format::Images] {
            let message = write_to(&mut Vec::new(), &table, format).unwrap_err().to_string();
            assert!(message.contains("a single file: csv"), "{message}");
        }
    }

    #[test]
    fn libsvm_files_say_that_more_features_may_follow() {
        let scratch = Scratch::new("write-svm");
        let path = scratch.file("t.svm", b"1 2:1\n2 1:3\n");
        let table = read(&path, &ReadOptions::default()).unwrap();
        assert_eq!((table.n_features(), table.may_be_padded), (2, true));
        let options = ReadOptions { n_features: Some(4), ..ReadOptions::default() };
        let table = read(&path, &options).unwrap();
        assert_eq!((table.n_features(), table.may_be_padded), (4, false));
        assert_eq!(table.index_base, Some(1));
        let options = ReadOptions { index_base: IndexBase::Zero, ..ReadOptions::default() };
        let table = read(&path, &options).unwrap();
        assert_eq!((table.n_features(), table.index_base), (3, Some(0)));
    }
}
