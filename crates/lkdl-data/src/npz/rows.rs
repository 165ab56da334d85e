//! The samples and labels of an archive, row by row, from where their bytes are in the file.

use super::{Arrays, choose, damaged};
use crate::error::DataError;
use crate::label_file;
use crate::mapped;
use crate::npy;
use crate::options::{Layout, ReadOptions};
use crate::source::{ArrayRows, LabelStream, Opener, Rows};
use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use zip::CompressionMethod;

/// Opens samples and labels.
pub(crate) fn open(
    file: &Path,
    labels_file: Option<&Path>,
    options: &ReadOptions,
) -> Result<Box<dyn Rows>, DataError> {
    let bytes = mapped::bytes(file)?;
    let mut arrays = Arrays::open(&bytes, file)?;
    let beside = ReadOptions { unlabelled: labels_file.is_some(), ..options.clone() };
    let (samples, label) = choose(&mut arrays, &beside)?;
    let (samples, image_shape) =
        npy::rows::stream(file, entry(&mut arrays, &samples)?, options.layout)?;
    let labels = match (labels_file, label) {
        (Some(labels), _) => label_file::stream(labels, samples.rows.n_rows)?,
        (None, Some(label)) => {
            let open = entry(&mut arrays, &label)?;
            LabelStream::Array(npy::rows::array(file, open, Layout::Auto)?.0)
        }
        (None, None) => return Err(DataError::Unlabelled { name: file.display().to_string() }),
    };
    labels.check(samples.rows.n_rows)?;
    Ok(Box::new(ArrayRows { samples, labels, image_shape }))
}

/// Opens one array, stored or deflated.
fn entry(arrays: &mut Arrays<'_>, name: &str) -> Result<Opener, DataError> {
    let file = PathBuf::from(arrays.file);
    let found = arrays.archive.by_name(&format!("{name}.npy"));
    let found = found.map_err(|error| damaged(&file, error))?;
    let (start, size, method) = (found.data_start(), found.compressed_size(), found.compression());
    let (limit, checksum) = (arrays.limit, found.crc32());
    if !matches!(method, CompressionMethod::Stored | CompressionMethod::Deflated) {
        let problem = format!("array {name} is compressed by {method}");
        return Err(DataError::format(&file, problem, "save it with numpy.savez"));
    }
    let Some(start) = start else {
        let problem = format!("array {name} has no place in the archive");
        return Err(DataError::format(&file, problem, "save it again with numpy.savez"));
    };
    Ok(Box::new(move || {
        let failed = |source| DataError::reading(&file, source);
        let mut plain = File::open(&file).map_err(failed)?;
        plain.seek(SeekFrom::Start(start)).map_err(failed)?;
        let bytes = BufReader::new(plain).take(size);
        Ok(match method {
            CompressionMethod::Stored => Box::new(Checked::new(bytes, checksum)),
            _ => Box::new(Checked::new(limit.on(DeflateDecoder::new(bytes)), checksum)),
        })
    }))
}

/// Bytes that are held against their checksum when they have all been read.
struct Checked<R> {
    bytes: R,
    sum: Crc,
    expected: u32,
}

impl<R: Read> Checked<R> {
    fn new(bytes: R, expected: u32) -> Self {
        Self { bytes, sum: Crc::new(), expected }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.sum.update(&buffer[..count]);
        if count == 0 && !buffer.is_empty() && self.sum.sum() != self.expected {
            return Err(std::io::Error::other("the checksum does not match: fetch the file again"));
        }
        Ok(count)
    }
}
