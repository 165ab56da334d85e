//! Writes a table as a MAT-file of version 5, uncompressed: `X` (p×N double) and, before it, `y`
//! (N×1).
//!
//! Whole-number class names become doubles, or `int64` where a double cannot hold them; others
//! become cells of texts.

use super::reader::HEADER;
use crate::error::DataError;
use crate::table::{Labels, Table};
use std::io::Write;

/// The largest variable that MATLAB itself loads from such a file.
const MAX_VARIABLE: usize = (1 << 31) - 1;
/// Whole numbers up to here are exact in a double.
const MAX_EXACT: u64 = 1 << 53;
/// Bytes of flags and dimensions, with their tags.
const FLAGS_AND_SHAPE: usize = 32;

const MI_INT8: u32 = 1;
const MI_INT32: u32 = 5;
const MI_UINT32: u32 = 6;
const MI_DOUBLE: u32 = 9;
const MI_INT64: u32 = 12;
const MI_MATRIX: u32 = 14;
const MI_UTF8: u32 = 16;

const CELL: u32 = 1;
const CHAR: u32 = 4;
const DOUBLE: u32 = 6;
const INT64: u32 = 14;

/// Writes samples and labels.
pub(crate) fn write(out: &mut dyn Write, table: &Table) -> Result<(), DataError> {
    let (p, n) = (table.n_features(), table.n_samples());
    // checked before the first byte: half a file helps nobody
    let x = numbers("X", DOUBLE, MI_DOUBLE, [p, n])?;
    let y = table.labels.as_ref().map(encode).transpose()?;
    let mut header = [b' '; HEADER];
    let text = b"MATLAB 5.0 MAT-file, written by lkdl";
    header[..text.len()].copy_from_slice(text);
    header[116..124].fill(0);
    header[124..].copy_from_slice(&[0x00, 0x01, b'I', b'M']);
    let mut put = |bytes: &[u8]| out.write_all(bytes).map_err(DataError::output);
    put(&header)?;
    // labels first: a file cut off between its variables is then no table at all
    put(&y.unwrap_or_default())?;
    put(&x)?;
    let mut column = Vec::with_capacity(8 * p);
    for i in 0..n {
        column.clear();
        column.extend(table.samples.col_as_slice(i).iter().flat_map(|v| v.to_le_bytes()));
        put(&column)?;
    }
    Ok(())
}

/// `y`, whole.
fn encode(labels: &Labels) -> Result<Vec<u8>, DataError> {
    let n = labels.indices.len();
    let Some(classes) = labels.integers() else { return cells(labels) };
    let exact = classes.iter().all(|class| class.unsigned_abs() <= MAX_EXACT);
    let values = labels.indices.iter().map(|index| classes.get(*index as usize).copied());
    let values = values.map(Option::unwrap_or_default);
    if exact {
        let mut bytes = numbers("y", DOUBLE, MI_DOUBLE, [n, 1])?;
        bytes.extend(values.flat_map(|value| (value as f64).to_le_bytes()));
        Ok(bytes)
    } else {
        let mut bytes = numbers("y", INT64, MI_INT64, [n, 1])?;
        bytes.extend(values.flat_map(i64::to_le_bytes));
        Ok(bytes)
    }
}

/// A column of cells, one text each. UTF-8, lengths in letters: SciPy misreads 16-bit units that
/// are not marked as UTF-16.
fn cells(labels: &Labels) -> Result<Vec<u8>, DataError> {
    let mut cells = Vec::new();
    for name in labels.names() {
        let length = name.chars().count();
        // the padding of the text counts as part of the cell
        let bytes = name.len().next_multiple_of(8);
        cells.extend(start("", CHAR, [usize::from(length > 0), length], 8 + bytes)?);
        cells.extend(tag(MI_UTF8, name.len())?);
        cells.extend(name.as_bytes());
        cells.resize(cells.len().next_multiple_of(8), 0);
    }
    let mut bytes = start("y", CELL, [labels.indices.len(), 1], cells.len())?;
    bytes.extend(cells);
    Ok(bytes)
}

/// All of a matrix of 8-byte numbers but the numbers.
pub(super) fn numbers(
    name: &str,
    class: u32,
    kind: u32,
    shape: [usize; 2],
) -> Result<Vec<u8>, DataError> {
    let size = shape[0].saturating_mul(shape[1]).saturating_mul(8);
    let mut bytes = start(name, class, shape, size.saturating_add(8))?;
    bytes.extend(tag(kind, size)?);
    Ok(bytes)
}

/// Tag, flags, dimensions and name of a matrix; `rest` bytes will follow.
fn start(name: &str, class: u32, shape: [usize; 2], rest: usize) -> Result<Vec<u8>, DataError> {
    let mut name_part = if name.is_empty() {
        tag(MI_INT8, 0)?.to_vec()
    } else {
        // one letter, in its own tag
        [&(MI_INT8 | (name.len() as u32) << 16).to_le_bytes(), name.as_bytes()].concat()
    };
    name_part.resize(8, 0);
    let size = (FLAGS_AND_SHAPE + name_part.len()).saturating_add(rest);
    let mut bytes = tag(MI_MATRIX, size)?.to_vec();
    bytes.extend(tag(MI_UINT32, 8)?);
    bytes.extend([class.to_le_bytes(), [0; 4]].concat());
    bytes.extend(tag(MI_INT32, 8)?);
    for length in shape {
        bytes.extend(word(length)?);
    }
    bytes.extend(name_part);
    Ok(bytes)
}

fn tag(kind: u32, size: usize) -> Result<[u8; 8], DataError> {
    let ([a, b, c, d], [e, f, g, h]) = (kind.to_le_bytes(), word(size)?);
    Ok([a, b, c, d, e, f, g, h])
}

fn word(value: usize) -> Result<[u8; 4], DataError> {
    match i32::try_from(value) {
        Ok(value) => Ok(value.to_le_bytes()),
        Err(_) => {
            let requirement =
                format!("at most {MAX_VARIABLE} in a MATLAB file: write another format");
            Err(DataError::parameter("size of a variable", value, requirement))
        }
    }
}
