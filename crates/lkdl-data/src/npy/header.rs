//! The header of a `.npy` file: read from the bytes that are there, and written.

use super::{FETCH_AGAIN, Kind};
use crate::options::Layout;

/// What the header says of the values that follow it.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) item_bytes: usize,
    pub(super) big_endian: bool,
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
    pub(super) n_values: usize,
}

type Fault = (String, &'static str);

const RIGHT_FILE: &str = "is this a .npy file?";
const SAVE_AGAIN: &str = "save a plain array of numbers with numpy.save";
/// NumPy's own bound on axes.
const MAX_AXES: usize = 64;

impl Header {
    /// The axis that counts samples.
    pub(super) fn sample_axis(&self, layout: Layout) -> usize {
        if layout == Layout::Columns { self.shape.len().saturating_sub(1) } else { 0 }
    }

    /// Rows and columns of the images in a stack.
    pub(super) fn image_shape(&self, layout: Layout) -> Option<(usize, usize)> {
        let &[a, b, c] = self.shape.as_slice() else { return None };
        Some(if self.sample_axis(layout) == 0 { (b, c) } else { (a, b) })
    }

    /// How many values apart neighbours along each axis are.
    pub(super) fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.shape.len()];
        let mut step = 1;
        let mut set = |axis: usize| {
            strides[axis] = step;
            step *= self.shape[axis];
        };
        if self.fortran {
            (0..self.shape.len()).for_each(&mut set);
        } else {
            (0..self.shape.len()).rev().for_each(&mut set);
        }
        strides
    }
}

/// The header, and the bytes after it.
pub(super) fn parse(bytes: &[u8]) -> Result<(Header, &[u8]), Fault> {
    let Some(rest) = bytes.strip_prefix(b"\x93NUMPY") else {
        return Err(("the first bytes are not those of a .npy file".into(), RIGHT_FILE));
    };
    let cut = || ("the header is cut off".to_string(), FETCH_AGAIN);
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
    let (length, rest) = match version {
        [1, 0] => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        [2 | 3, 0] => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        [major, minor] => {
            return Err((format!("version {major}.{minor} of the format"), SAVE_AGAIN));
        }
    };
    let (text, data) = rest.split_at_checked(length).ok_or_else(cut)?;
    let text = std::str::from_utf8(text)
        .map_err(|_| ("the header is not text".to_string(), FETCH_AGAIN))?;
    let header = dictionary(text).ok_or_else(|| {
        let shown: String = text.trim().chars().take(80).collect();
        (format!("the header {shown:?} is not one of an array"), SAVE_AGAIN)
    })?;
    Ok((describe(header)?, data))
}

/// `descr`, `fortran_order` and `shape`, as written.
struct Raw<'a> {
    descr: &'a str,
    fortran: bool,
    shape: Vec<usize>,
}

/// Reads `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
fn dictionary(text: &str) -> Option<Raw<'_>> {
    let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    while !rest.is_empty() {
        let (key, after) = quoted(rest)?;
        let after = after.trim_start().strip_prefix(':')?.trim_start();
        rest = match key {
            "descr" => {
                let (text, after) = quoted(after)?;
                descr = Some(text);
                after
            }
            "fortran_order" => {
                fortran = Some(after.starts_with("True"));
                after.strip_prefix("True").or_else(|| after.strip_prefix("False"))?
            }
            "shape" => {
                let (inside, after) = after.strip_prefix('(')?.split_once(')')?;
                shape = Some(lengths(inside)?);
                after
            }
            _ => return None,
        };
        rest = rest.trim_start();
        rest = match rest.strip_prefix(',') {
            Some(after) => after.trim_start(),
            None if rest.is_empty() => rest,
            None => return None,
        };
    }
    Some(Raw { descr: descr?, fortran: fortran?, shape: shape? })
}

/// A text in quotes, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

fn lengths(inside: &str) -> Option<Vec<usize>> {
    let inside = inside.trim().trim_end_matches(',').trim();
    if inside.is_empty() {
        return Some(Vec::new());
    }
    // Python 2 wrote 3L
    let length = |word: &str| word.trim().trim_end_matches('L').parse().ok();
    inside.split(',').map(length).collect::<Option<Vec<_>>>().filter(|l| l.len() <= MAX_AXES)
}

fn describe(raw: Raw<'_>) -> Result<Header, Fault> {
    let fault = || {
        let problem = format!("values of type '{}' are not numbers or texts", raw.descr);
        (problem, SAVE_AGAIN)
    };
    let (order, code) = match raw.descr.as_bytes() {
        [order @ (b'<' | b'>' | b'|' | b'='), code, ..] => (*order, *code),
        _ => return Err(fault()),
    };
    let size: usize = raw.descr.get(2..).and_then(|size| size.parse().ok()).ok_or_else(fault)?;
    let (kind, item_bytes) = match (code, size) {
        (b'b', 1) => (Kind::Bool, 1),
        (b'i', 1 | 2 | 4 | 8) => (Kind::Int, size),
        (b'u', 1 | 2 | 4 | 8) => (Kind::Uint, size),
        (b'f', 4 | 8) => (Kind::Float, size),
        (b'U', 1..) => (Kind::Text, size.checked_mul(4).ok_or_else(fault)?),
        (b'S', 1..) => (Kind::Ascii, size),
        _ => return Err(fault()),
    };
    let n_values = raw.shape.iter().try_fold(1usize, |count, length| count.checked_mul(*length));
    let n_values = n_values
        .ok_or_else(|| (format!("the header claims shape {:?}", raw.shape), FETCH_AGAIN))?;
    Ok(Header {
        kind,
        item_bytes,
        big_endian: order == b'>',
        fortran: raw.fortran,
        shape: raw.shape,
        n_values,
    })
}

/// A header of version 1.0, in C order, filled up so that values start at a multiple of 64 bytes.
pub(crate) fn bytes(descr: &str, shape: &[usize]) -> Vec<u8> {
    let lengths: String = shape.iter().map(|length| format!("{length}, ")).collect();
    let dictionary =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({lengths}), }}");
    const FRONT: usize = 10;
    let total = (FRONT + dictionary.len() + 1).next_multiple_of(64);
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(((total - FRONT) as u16).to_le_bytes());
    bytes.extend(dictionary.as_bytes());
    bytes.resize(total - 1, b' ');
    bytes.push(b'\n');
    bytes
}
