//! A `.npy` array row by row, in the order of its bytes.

use super::header::{self, Header};
use super::no_column;
use crate::compressed;
use crate::error::DataError;
use crate::label_column::column_number;
use crate::label_file;
use crate::options::{Layout, ReadOptions};
use crate::source::{ArrayRows, ArrayStream, ByteRows, Decode, LabelStream, Opener, Rows};
use std::io::Read;
use std::path::{Path, PathBuf};

impl Decode for Header {
    fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    fn number(&self, item: &[u8]) -> f64 {
        Self::number(self, item)
    }

    fn label(&self, item: &[u8]) -> String {
        Self::label(self, item)
    }
}

/// Opens samples; labels are a column of them, or in a file of their own.
pub(crate) fn open(
    file: &Path,
    labels_file: Option<&Path>,
    options: &ReadOptions,
) -> Result<Box<dyn Rows>, DataError> {
    let (samples, image_shape) = stream(file, plain(file), options.layout)?;
    let labels = match (labels_file, &options.label) {
        (Some(labels), _) => label_file::stream(labels, samples.rows.n_rows)?,
        (None, Some(label)) => {
            let width = samples.width;
            let column = column_number(label, width).filter(|_| width > 1);
            LabelStream::Column(column.ok_or_else(|| no_column(file, label, width))?)
        }
        (None, None) => return Err(DataError::Unlabelled { name: file.display().to_string() }),
    };
    Ok(Box::new(ArrayRows { samples, labels, image_shape }))
}

/// Labels in a file of their own.
pub(crate) fn labels(file: &Path) -> Result<LabelStream, DataError> {
    Ok(LabelStream::Array(array(file, plain(file), Layout::Auto)?.0))
}

/// The bytes of a file that holds one array.
fn plain(file: &Path) -> Opener {
    let file = PathBuf::from(file);
    Box::new(move || Ok(Box::new(compressed::open(&file)?)))
}

/// Samples, and the size of the images that they are.
pub(crate) fn stream(
    file: &Path,
    open: Opener,
    layout: Layout,
) -> Result<(ArrayStream, Option<(usize, usize)>), DataError> {
    let (stream, is_text, image_shape) = array(file, open, layout)?;
    if is_text {
        let problem = "the samples are texts";
        return Err(DataError::format(file, problem, "give an array of numbers"));
    }
    Ok((stream, image_shape))
}

type Found = (ArrayStream, bool, Option<(usize, usize)>);

/// The array whose header `open` begins with, whether it holds texts, and the size of images.
pub(crate) fn array(file: &Path, open: Opener, layout: Layout) -> Result<Found, DataError> {
    let start = header_bytes(&mut open()?, file)?;
    let fault = |(problem, fix): (String, _)| DataError::format(file, problem, fix);
    let (header, _) = header::parse(&start).map_err(fault)?;
    let (shape, axis) = (&header.shape, header.sample_axis(layout));
    if shape.is_empty() || header.n_values == 0 {
        let problem = format!("shape {shape:?} holds no sample");
        return Err(DataError::format(file, problem, "give a 2-D array"));
    }
    let (n_rows, width) = (shape[axis], header.n_values / shape[axis]);
    let in_order = if header.fortran { shape.len() <= 2 } else { axis == 0 };
    if width > 1 && (header.strides()[axis] != width || !in_order) {
        let problem = "the values of a sample are not next to each other";
        let fix = "save the array with samples as rows, in C order: numpy.ascontiguousarray";
        return Err(DataError::format(file, problem, fix));
    }
    let row_bytes = width.saturating_mul(header.item_bytes);
    let rows = ByteRows::new(file, open, start.len() as u64, n_rows, row_bytes);
    let (is_text, image_shape) = (header.is_text(), header.image_shape(layout));
    Ok((ArrayStream { rows, decode: Box::new(header), width }, is_text, image_shape))
}

/// The bytes up to the first value.
fn header_bytes(reader: &mut dyn Read, file: &Path) -> Result<Vec<u8>, DataError> {
    let mut bytes = Vec::new();
    let mut more = |bytes: &mut Vec<u8>, count: u64| {
        let read = reader.take(count).read_to_end(bytes);
        read.map(|_| ()).map_err(|source| DataError::reading(file, source))
    };
    more(&mut bytes, 10)?;
    let length = match bytes.as_slice() {
        [.., 1, 0, a, b] => u64::from(u16::from_le_bytes([*a, *b])),
        [.., _, _, a, b] => {
            let (a, b) = (*a, *b);
            more(&mut bytes, 2)?;
            match bytes.as_slice() {
                [.., c, d] if bytes.len() == 12 => u64::from(u32::from_le_bytes([a, b, *c, *d])),
                _ => 0,
            }
        }
        _ => 0,
    };
    // what is cut off is found out by who reads the header
    more(&mut bytes, length)?;
    Ok(bytes)
}
