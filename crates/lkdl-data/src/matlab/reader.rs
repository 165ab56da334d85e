//! The variables of a MAT-file, version 5 or 7: listed first, decoded when asked for.
//!
//! After a header of 128 bytes come elements, each a matrix or a zlib stream of one matrix. A matrix
//! is its flags, dimensions and name, then what its class asks for: real and imaginary part, row
//! indices and column starts, characters, or further matrices as cells. Structures, objects and
//! functions are listed and passed over.

use super::stream::{FETCH_AGAIN, Numbers, Storage, Stream, Tag};
use crate::dataset::{MAX_ENTRIES, MAX_SPARSE_GROWTH};
use crate::error::DataError;
use crate::variables::{Class, Content, Source, Variable, lines};
use std::path::Path;

/// Text, subsystem offset, version, byte order.
pub(super) const HEADER: usize = 128;
const VERSION: u16 = 0x0100;
/// Names in MATLAB have at most 63 letters; other writers are given some room.
const MAX_NAME: usize = 4096;
const MAX_AXES: usize = 32;
/// One label, in bytes.
const MAX_TEXT: usize = 1 << 20;

const COMPLEX: u32 = 0x0800;

/// A file whose elements have been found.
pub(super) struct MatFile<'a> {
    file: &'a Path,
    bytes: &'a [u8],
    big_endian: bool,
    elements: Vec<Element>,
    variables: Vec<Variable>,
}

/// Where a variable stands.
struct Element {
    start: usize,
    end: usize,
    compressed: bool,
}

/// What comes before a matrix's values.
struct Matrix {
    class: u32,
    complex: bool,
    shape: Vec<usize>,
    name: String,
}

impl<'a> MatFile<'a> {
    /// Finds the variables of a whole file.
    pub(super) fn open(bytes: &'a [u8], file: &'a Path) -> Result<Self, DataError> {
        let big_endian = byte_order(bytes, file)?;
        let mut this =
            Self { file, bytes, big_endian, elements: Vec::new(), variables: Vec::new() };
        let mut at = HEADER;
        while at < bytes.len() {
            at = this.element(at)?;
        }
        Ok(this)
    }

    /// Notes the element at `at`; where the next one begins.
    fn element(&mut self, at: usize) -> Result<usize, DataError> {
        let fault = |problem: String| DataError::format(self.file, problem, FETCH_AGAIN);
        let Some(&[a, b, c, d, e, f, g, h]) = self.bytes.get(at..).and_then(<[u8]>::first_chunk)
        else {
            return Err(fault(format!("ends within the tag at byte {at}")));
        };
        let word = if self.big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
        let (code, size) = (word([a, b, c, d]), word([e, f, g, h]) as usize);
        let start = at + 8;
        if code >> 16 != 0 {
            return Ok(start); // a small element holds no matrix
        }
        let left = self.bytes.len() - start;
        if size > left {
            return Err(fault(format!("{size} bytes promised at byte {at}, {left} are there")));
        }
        let end = start + size;
        let compressed = match Storage::of(code) {
            Some(Storage::Matrix) => false,
            Some(Storage::Compressed) => true,
            Some(_) => return Ok(padded(end, self.bytes.len())),
            None => return Err(fault(format!("element type {code} at byte {at}"))),
        };
        let element = Element { start, end, compressed };
        let mut stream = self.stream(&element)?;
        if !stream.is_empty() {
            let matrix = header(&mut stream)?;
            // what has no name belongs to MATLAB's own book-keeping
            if !matrix.name.is_empty() {
                let class = matrix.class();
                self.variables.push(Variable { name: matrix.name, shape: matrix.shape, class });
                self.elements.push(element);
            }
        }
        Ok(if compressed { end } else { padded(end, self.bytes.len()) })
    }

    fn stream(&self, element: &Element) -> Result<Stream<'a>, DataError> {
        let bytes = &self.bytes[element.start..element.end];
        if element.compressed {
            Stream::inflated(bytes, self.big_endian, self.file)
        } else {
            Ok(Stream::plain(bytes, self.big_endian, self.file))
        }
    }
}

impl Source for MatFile<'_> {
    fn variables(&self) -> &[Variable] {
        &self.variables
    }

    fn load(&self, index: usize) -> Result<Content, DataError> {
        let mut stream = self.stream(&self.elements[index])?;
        let matrix = header(&mut stream)?;
        let count = count(&matrix.shape, &stream)?;
        match matrix.class() {
            Class::Text => Ok(Content::Text(characters(&mut stream, &matrix.shape)?)),
            Class::Cells => Ok(Content::Text(cells(&mut stream, count, &matrix.name)?)),
            Class::Numbers if matrix.class == SPARSE => sparse(&mut stream, &matrix, count),
            Class::Numbers => {
                let tag = stream.tag()?;
                Ok(match stream.numbers(tag, count)? {
                    Numbers::Real(values) => Content::Real(values),
                    Numbers::Integers(values) => Content::Integers(values),
                    Numbers::Unsigned(values) => Content::Unsigned(values),
                })
            }
            class @ (Class::Complex | Class::Other(_)) => {
                let problem = format!("variable {} is {class}", matrix.name);
                Err(DataError::format(self.file, problem, "name a variable of real numbers"))
            }
        }
    }
}

const CELL: u32 = 1;
const CHAR: u32 = 4;
const SPARSE: u32 = 5;
const U64: u32 = 15;
const OPAQUE: u32 = 17;

impl Matrix {
    fn class(&self) -> Class {
        match self.class {
            SPARSE..=U64 if self.complex => Class::Complex,
            SPARSE..=U64 => Class::Numbers,
            CHAR => Class::Text,
            CELL => Class::Cells,
            2 => Class::Other("a structure"),
            3 | OPAQUE => Class::Other("an object"),
            16 => Class::Other("a function"),
            _ => Class::Other("of an unknown class"),
        }
    }
}

/// True for big-endian files.
fn byte_order(bytes: &[u8], file: &Path) -> Result<bool, DataError> {
    let not_mat = "is this a MATLAB file of version 5, 7 or 7.3? Version 4 must be saved again";
    let Some(header) = bytes.first_chunk::<HEADER>() else {
        let problem = format!("{} bytes, shorter than a MATLAB header", bytes.len());
        return Err(DataError::format(file, problem, not_mat));
    };
    let version = [header[124], header[125]];
    let (big_endian, version) = match &header[126..] {
        b"IM" => (false, u16::from_le_bytes(version)),
        b"MI" => (true, u16::from_be_bytes(version)),
        other => {
            let problem = format!("byte order mark {other:02x?} in the header");
            return Err(DataError::format(file, problem, not_mat));
        }
    };
    if version != VERSION {
        return Err(DataError::format(file, format!("MATLAB version {version:#06x}"), not_mat));
    }
    Ok(big_endian)
}

fn padded(end: usize, file_end: usize) -> usize {
    end.next_multiple_of(8).min(file_end)
}

/// Flags, dimensions, name.
fn header(stream: &mut Stream<'_>) -> Result<Matrix, DataError> {
    let tag = stream.tag()?;
    let flags = stream.words(tag, 2)?;
    let &[flags, _] = flags.as_slice() else {
        return Err(stream.fault(format!("{} words of array flags, not 2", flags.len())));
    };
    let (class, complex) = (flags & 0xff, flags & COMPLEX != 0);
    let mut shape = Vec::new();
    // an object of the newer kind has no dimensions of its own
    if class != OPAQUE {
        let tag = stream.tag()?;
        for length in stream.words(tag, MAX_AXES)? {
            // stored signed; below 0 is damage
            if length > i32::MAX as u32 {
                return Err(stream.fault(format!("dimension {}", length as i32)));
            }
            shape.push(length as usize);
        }
        if shape.len() < 2 {
            return Err(stream.fault(format!("{} dimensions", shape.len())));
        }
    }
    let tag = stream.tag()?;
    let name = stream.short(tag, MAX_NAME)?;
    let name = String::from_utf8_lossy(&name).trim_end_matches('\0').to_string();
    Ok(Matrix { class, complex, shape, name })
}

/// How many values a shape holds.
fn count(shape: &[usize], stream: &Stream<'_>) -> Result<usize, DataError> {
    let count = shape.iter().try_fold(1usize, |count, length| count.checked_mul(*length));
    match count {
        Some(count) if count <= MAX_ENTRIES => Ok(count),
        _ => Err(stream.fault(format!("shape {shape:?}, more than {MAX_ENTRIES} values"))),
    }
}

/// Row indices, column starts, values; written out with the zeros, column by column.
fn sparse(stream: &mut Stream<'_>, matrix: &Matrix, count: usize) -> Result<Content, DataError> {
    let &[n_rows, n_columns] = matrix.shape.as_slice() else {
        return Err(stream.fault(format!("sparse matrix {} with more than 2 axes", matrix.name)));
    };
    let tag = stream.tag()?;
    let rows = stream.words(tag, MAX_ENTRIES)?;
    let tag = stream.tag()?;
    let starts = stream.words(tag, n_columns + 1)?;
    let tag = stream.tag()?;
    let wrong = format!("sparse matrix {} whose indices do not fit together", matrix.name);
    let stored = starts.last().map_or(0, |last| *last as usize);
    if starts.len() != n_columns + 1 || stored > rows.len() || !starts.is_sorted() {
        return Err(stream.fault(wrong));
    }
    if count > (stored + n_columns + 1).saturating_mul(MAX_SPARSE_GROWTH) {
        let problem = format!("sparse matrix of {stored} values and shape {:?}", matrix.shape);
        return Err(stream.fault(problem));
    }
    let values = match stream.numbers(tag, stored_count(tag))? {
        Numbers::Real(values) => values,
        Numbers::Integers(values) => values.iter().map(|value| *value as f64).collect(),
        Numbers::Unsigned(values) => values.iter().map(|value| *value as f64).collect(),
    };
    if values.len() < stored {
        return Err(stream.fault(wrong));
    }
    let mut dense = vec![0.0; count];
    for (column, range) in dense.chunks_exact_mut(n_rows.max(1)).zip(starts.windows(2)) {
        for at in range[0] as usize..range[1] as usize {
            match column.get_mut(rows[at] as usize) {
                Some(slot) => *slot = values[at],
                None => return Err(stream.fault(wrong)),
            }
        }
    }
    Ok(Content::Real(dense))
}

/// A writer may keep room for more values than the last column start says.
fn stored_count(tag: Tag) -> usize {
    let width = Storage::of(tag.code).and_then(Storage::width);
    width.map_or(0, |width| tag.size / width)
}

/// Labels that a cell array may hold: an empty cell takes a few bytes in a file and many in memory.
const MAX_CELLS: usize = 1 << 26;

/// Cells that hold one text each.
fn cells(stream: &mut Stream<'_>, count: usize, name: &str) -> Result<Vec<String>, DataError> {
    let not_text = |place: usize, stream: &Stream<'_>| {
        stream.fault(format!("cell {} of {name} is not one line of text", place + 1))
    };
    if count > MAX_CELLS {
        return Err(stream.fault(format!("{name} claims {count} cells, more than {MAX_CELLS}")));
    }
    let mut texts = Vec::new();
    for place in 0..count {
        let tag = stream.tag()?;
        if Storage::of(tag.code) != Some(Storage::Matrix) {
            return Err(not_text(place, stream));
        }
        if tag.size == 0 {
            texts.push(String::new());
            continue;
        }
        let cell = header(stream)?;
        if cell.class != CHAR {
            return Err(not_text(place, stream));
        }
        let mut lines = characters(stream, &cell.shape)?;
        match (lines.pop(), lines.is_empty()) {
            (Some(line), true) => texts.push(line),
            (None, _) => texts.push(String::new()),
            _ => return Err(not_text(place, stream)),
        }
    }
    Ok(texts)
}

/// The rows of a matrix of characters.
fn characters(stream: &mut Stream<'_>, shape: &[usize]) -> Result<Vec<String>, DataError> {
    let count = count(shape, stream)?;
    let tag = stream.tag()?;
    let most = if shape[0] == 1 { MAX_TEXT } else { MAX_ENTRIES };
    let (storage, big) = (Storage::of(tag.code), stream.big_endian());
    let bytes = stream.short(tag, most)?;
    let letters: Option<Vec<char>> = match storage {
        // 8-bit letters are Latin-1 where they are not marked as UTF-8
        Some(Storage::I8 | Storage::U8) => Some(bytes.iter().map(|b| char::from(*b)).collect()),
        Some(Storage::Utf8) => String::from_utf8(bytes).ok().map(|text| text.chars().collect()),
        Some(Storage::I16 | Storage::U16 | Storage::Utf16) => {
            let units = bytes.as_chunks().0.iter().map(|unit| {
                if big { u16::from_be_bytes(*unit) } else { u16::from_le_bytes(*unit) }
            });
            char::decode_utf16(units).collect::<Result<_, _>>().ok()
        }
        Some(Storage::Utf32) => {
            let points = bytes.as_chunks().0.iter().map(|point| {
                let point =
                    if big { u32::from_be_bytes(*point) } else { u32::from_le_bytes(*point) };
                char::from_u32(point)
            });
            points.collect()
        }
        _ => None,
    };
    let Some(letters) = letters else {
        return Err(stream.fault(format!("text of element type {} that is no text", tag.code)));
    };
    let (found, n_rows) = (letters.len(), shape[0]);
    match lines(&letters, n_rows) {
        Some(lines) if n_rows <= 1 || found == count => Ok(lines),
        _ => Err(stream.fault(format!("{found} letters in a text of shape {shape:?}"))),
    }
}
