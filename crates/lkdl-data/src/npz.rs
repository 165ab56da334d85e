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
use crate::table::{Labels, Table};
use std::io::{Cursor, Read, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

pub(crate) mod rows;

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
    let (samples, label) = choose(&mut arrays, options)?;
    let labels = match label {
        None => None,
        Some(name) => {
            let bytes = arrays.bytes(&name, u64::MAX)?;
            Some(Array::parse(&bytes, file)?.labels(file)?)
        }
    };
    let bytes = arrays.bytes(&samples, u64::MAX)?;
    let array = Array::parse(&bytes, file)?;
    let table = Table::from_file(file, array.samples(options.layout, file)?, labels)?;
    Ok(table.with_image_shape(array.image_shape(options.layout)))
}

/// The names of the samples and of the labels, if there are such.
fn choose(
    arrays: &mut Arrays<'_>,
    options: &ReadOptions,
) -> Result<(String, Option<String>), DataError> {
    let names = arrays.names();
    let known = |wanted: &str| names.iter().any(|name| name == wanted);
    let file = arrays.file;
    let missing = |wanted: &str| {
        let problem = format!("no array {wanted}, only {}", names.join(", "));
        DataError::format(file, problem, "name one of these arrays")
    };
    let samples = match &options.samples {
        Some(name) if known(name) => name.clone(),
        Some(name) => return Err(missing(name)),
        None => match SAMPLES.into_iter().find(|name| known(name)) {
            Some(name) => name.to_string(),
            None => only_matrix(arrays, &names, options)?,
        },
    };
    let label = match &options.label {
        _ if options.unlabelled => None,
        Some(name) if known(name) => Some(name.clone()),
        Some(name) => return Err(missing(name)),
        None => LABELS.into_iter().find(|name| known(name)).map(String::from),
    };
    Ok((samples, label))
}

/// The labels in a file of their own: the array with a usual name, or the only one.
pub(crate) fn read_labels(file: &Path) -> Result<Labels, DataError> {
    let bytes = mapped::bytes(file)?;
    let mut arrays = Arrays::open(&bytes, file)?;
    let names = arrays.names();
    let usual = LABELS.into_iter().find(|usual| names.iter().any(|name| name == usual));
    let name = match (usual, names.as_slice()) {
        (Some(name), _) => name,
        (None, [only]) => only,
        _ => {
            let problem = format!("no array of labels among {}", names.join(", "));
            return Err(DataError::format(file, problem, "call it y, or save it alone"));
        }
    };
    Array::parse(&arrays.bytes(name, u64::MAX)?, file)?.labels(file)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use faer::Mat;

    fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let deflated = SimpleFileOptions::default();
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in entries {
            writer.start_file(*name, deflated).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn array(table: &Table) -> Vec<u8> {
        let mut bytes = Vec::new();
        npy::write_samples(&mut bytes, table).unwrap();
        bytes
    }

    #[test]
    fn arrays_are_found_by_name_or_by_being_the_only_matrix() {
        let scratch = Scratch::new("npz-names");
        let table = Table::new("t", Mat::from_fn(2, 3, |t, i| (t + i) as f64), None).unwrap();
        let samples = array(&table);
        let mut labels = Vec::new();
        npy::write_labels(&mut labels, &Labels::from_texts(&["a", "b", "a"])).unwrap();
        let path = scratch.file("t.npz", &archive(&[("z.npy", &samples), ("kind.npy", &labels)]));
        let options = ReadOptions::default();
        assert_eq!(read(&path, &options).unwrap(), table);
        let named = ReadOptions {
            samples: Some("z".into()),
            label: Some("kind".into()),
            ..ReadOptions::default()
        };
        let read_labels = read(&path, &named).unwrap().labels.unwrap();
        assert_eq!(read_labels.names().collect::<Vec<_>>(), ["a", "b", "a"]);
        let missing = ReadOptions { label: Some("no".into()), ..ReadOptions::default() };
        let message = read(&path, &missing).unwrap_err().to_string();
        assert!(message.contains("no array no, only kind, z"), "{message}");
        let two = scratch.file("two.npz", &archive(&[("a.npy", &samples), ("b.npy", &samples)]));
        let message = read(&two, &options).unwrap_err().to_string();
        assert!(message.contains("2 of the arrays (a, b)"), "{message}");
        let none = scratch.file("none.npz", &archive(&[("readme.txt", b"")]));
        assert!(read(&none, &options).unwrap_err().to_string().contains("0 of the arrays"));
        // one label too few
        let wrong = [("X.npy", &array(&table)[..]), ("y.npy", &array(&table)[..])];
        assert!(read(&scratch.file("w.npz", &archive(&wrong)), &options).is_err());
    }

    #[test]
    fn an_entry_that_swells_is_refused() {
        let bytes = archive(&[("X.npy", &vec![0; 100_000])]);
        assert!(bytes.len() < 1000);
        let mut arrays = Arrays::open(&bytes, Path::new("t.npz")).unwrap();
        assert_eq!(arrays.bytes("X", u64::MAX).unwrap().len(), 100_000);
        arrays.limit = Limit::exactly(50_000);
        let message = arrays.bytes("X", u64::MAX).unwrap_err().to_string();
        assert!(message.contains("decompresses to more than 50000 bytes"), "{message}");
    }
}
