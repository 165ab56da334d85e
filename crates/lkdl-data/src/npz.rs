//! NumPy's `.npz`: a ZIP archive of `.npy` files, stored or deflated.
//!
//! Samples are the array named `X`, `x`, `data` or `samples`, otherwise the only one with two or
//! more axes; labels the array named `y`, `Y`, `labels`, `label` or `target`, if there is one.
//! [`ReadOptions`] can name others. Written are `X`, (N, p) `float64`, and `y`, `int64` or text.

use crate::compressed::Limit;
use crate::error::DataError;
use crate::mapped;
use crate::npy::{self, Array};
use crate::options::ReadOptions;
use crate::table::Table;
use std::io::{Cursor, Read, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

const SAMPLES: [&str; 4] = ["X", "x", "data", "samples"];
const LABELS: [&str; 5] = ["y", "Y", "labels", "label", "target"];
/// The bytes of an entry that tell an array's axes: a header is rarely longer.
const HEADER_BYTES: u64 = 4096;

/// An archive of arrays.
struct Arrays<'a> {
    file: &'a Path,
    archive: ZipArchive<Cursor<&'a [u8]>>,
    limit: Limit,
}

impl<'a> Arrays<'a> {
    fn open(bytes: &'a [u8], file: &'a Path) -> Result<Self, DataError> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(file, error))?;
        Ok(Self { file, archive, limit: Limit::of(bytes.len() as u64) })
    }

    /// The arrays' names, in order.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .archive
            .file_names()
            .filter_map(|name| name.strip_suffix(".npy"))
            .map(String::from)
            .collect();
        names.sort_unstable();
        names
    }

    /// The bytes of one array: all of them, or the first `count`.
    fn bytes(&mut self, name: &str, count: u64) -> Result<Vec<u8>, DataError> {
        let entry = self.archive.by_name(&format!("{name}.npy"));
        let entry = entry.map_err(|error| damaged(self.file, error))?;
        let mut bytes = Vec::new();
        let read = self.limit.on(entry).take(count).read_to_end(&mut bytes);
        read.map_err(|source| DataError::reading(self.file, source))?;
        Ok(bytes)
    }

    /// Whether an array has two axes or more, as its header says.
    fn is_matrix(&mut self, name: &str) -> Result<bool, DataError> {
        let start = self.bytes(name, HEADER_BYTES)?;
        Ok(npy::n_axes(&start).is_some_and(|n_axes| n_axes >= 2))
    }
}

fn damaged(file: &Path, error: zip::result::ZipError) -> DataError {
    let fix = "the file may be truncated or damaged, or not an .npz: fetch it again";
    DataError::format(file, format!("not a readable ZIP archive ({error})"), fix)
}

pub(crate) fn read(file: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    let bytes = mapped::bytes(file)?;
    let mut arrays = Arrays::open(&bytes, file)?;
    let names = arrays.names();
    let known = |wanted: &str| names.iter().any(|name| name == wanted);
    let missing = |wanted: &str| {
        let problem = format!("no array {wanted}, only {}", names.join(", "));
        DataError::format(file, problem, "name one of these arrays")
    };
    let samples = match &options.samples {
        Some(name) if known(name) => name.clone(),
        Some(name) => return Err(missing(name)),
        None => match SAMPLES.into_iter().find(|name| known(name)) {
            Some(name) => name.to_string(),
            None => only_matrix(&mut arrays, &names, options)?,
        },
    };
    let label = match &options.label {
        _ if options.unlabelled => None,
        Some(name) if known(name) => Some(name.as_str()),
        Some(name) => return Err(missing(name)),
        None => LABELS.into_iter().find(|name| known(name)),
    };
    let labels = match label {
        None => None,
        Some(name) => {
            let bytes = arrays.bytes(name, u64::MAX)?;
            Some(Array::parse(&bytes, file)?.labels(file)?)
        }
    };
    let bytes = arrays.bytes(&samples, u64::MAX)?;
    let samples = Array::parse(&bytes, file)?.samples(options.layout, file)?;
    Table::from_file(file, samples, labels)
}

/// The one array that can be the samples.
fn only_matrix(
    arrays: &mut Arrays<'_>,
    names: &[String],
    options: &ReadOptions,
) -> Result<String, DataError> {
    let mut found = Vec::new();
    for name in names {
        if options.label.as_ref() != Some(name) && arrays.is_matrix(name)? {
            found.push(name.clone());
        }
    }
    match found.as_slice() {
        [only] => Ok(only.clone()),
        _ => {
            let problem = format!(
                "{} of the arrays ({}) could be the samples",
                found.len(),
                names.join(", ")
            );
            Err(DataError::format(arrays.file, problem, "name the array that holds the samples"))
        }
    }
}

pub(crate) fn write(out: &mut dyn Write, table: &Table) -> Result<(), DataError> {
    fill(out, table).map_err(|error| match error {
        zip::result::ZipError::Io(source) => DataError::output(source),
        other => DataError::output(std::io::Error::other(other)),
    })
}

fn fill(out: &mut dyn Write, table: &Table) -> Result<(), zip::result::ZipError> {
    // stored, as numpy.savez does; large: sizes may pass 4 GiB
    let options =
        SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    let mut archive = ZipWriter::new_stream(out);
    archive.start_file("X.npy", options)?;
    npy::write_samples(&mut archive, table)?;
    if let Some(labels) = &table.labels {
        archive.start_file("y.npy", options)?;
        npy::write_labels(&mut archive, labels)?;
    }
    archive.finish()?.into_inner().flush()?;
    Ok(())
}
