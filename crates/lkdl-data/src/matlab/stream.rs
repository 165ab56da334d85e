//! The bytes of one MAT-file element, plain or inflated on the way: tags, payloads, numbers.
//!
//! A tag is eight bytes, type and size, then the payload padded to eight. Where the upper half of
//! the first word is not 0 it is the size, and the payload is the second word itself. Every size is
//! held against the bytes that really come; memory grows with those.

use crate::error::DataError;
use std::io::Read;
use std::path::Path;

pub(super) const FETCH_AGAIN: &str = "the file may be truncated or damaged: fetch it again";

/// Bytes read at a time: a multiple of every width, small enough for the cache.
const BLOCK: usize = 1 << 16;
/// Deflate turns one byte into at most this many; larger claims are false.
const MAX_DEFLATE_RATIO: u64 = 1032;

/// What the payload of an element is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
    Utf8,
    Utf16,
    Utf32,
    Matrix,
    Compressed,
}

impl Storage {
    pub(super) fn of(code: u32) -> Option<Self> {
        Some(match code {
            1 => Self::I8,
            2 => Self::U8,
            3 => Self::I16,
            4 => Self::U16,
            5 => Self::I32,
            6 => Self::U32,
            7 => Self::F32,
            9 => Self::F64,
            12 => Self::I64,
            13 => Self::U64,
            14 => Self::Matrix,
            15 => Self::Compressed,
            16 => Self::Utf8,
            17 => Self::Utf16,
            18 => Self::Utf32,
            _ => return None,
        })
    }

    /// Bytes of one number.
    pub(super) fn width(self) -> Option<usize> {
        match self {
            Self::I8 | Self::U8 => Some(1),
            Self::I16 | Self::U16 => Some(2),
            Self::I32 | Self::U32 | Self::F32 => Some(4),
            Self::I64 | Self::U64 | Self::F64 => Some(8),
            _ => None,
        }
    }
}

/// A tag; `inline` is the payload of a small element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag {
    pub(super) code: u32,
    pub(super) size: usize,
    inline: Option<[u8; 4]>,
}

/// Numbers as they are stored: 64-bit integers exactly, all others as the `f64` that equals them.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Numbers {
    Real(Vec<f64>),
    Integers(Vec<i64>),
    Unsigned(Vec<u64>),
}

/// Bytes still to come of one element.
pub(super) struct Stream<'a> {
    source: Box<dyn Read + 'a>,
    left: usize,
    big_endian: bool,
    file: &'a Path,
}

impl<'a> Stream<'a> {
    /// The payload of a top-level element that stands in the file as it is.
    pub(super) fn plain(bytes: &'a [u8], big_endian: bool, file: &'a Path) -> Self {
        Self { source: Box::new(bytes), left: bytes.len(), big_endian, file }
    }

    /// The one element that a compressed one holds.
    pub(super) fn inflated(
        bytes: &'a [u8],
        big_endian: bool,
        file: &'a Path,
    ) -> Result<Self, DataError> {
        let source = Box::new(flate2::bufread::ZlibDecoder::new(bytes));
        let mut stream = Self { source, left: 8, big_endian, file };
        let tag = stream.tag()?;
        if Storage::of(tag.code) != Some(Storage::Matrix) {
            return Err(stream.fault(format!("compressed element of type {}", tag.code)));
        }
        if tag.size as u64 > (bytes.len() as u64).saturating_mul(MAX_DEFLATE_RATIO) {
            let problem = format!("{} bytes claimed to inflate to {}", bytes.len(), tag.size);
            return Err(stream.fault(problem));
        }
        stream.left = tag.size;
        Ok(stream)
    }

    pub(super) fn fault(&self, problem: impl Into<String>) -> DataError {
        DataError::format(self.file, problem, FETCH_AGAIN)
    }

    pub(super) fn big_endian(&self) -> bool {
        self.big_endian
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left == 0
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), DataError> {
        if bytes.len() > self.left {
            return Err(self.fault("an element ends before its parts do"));
        }
        self.source.read_exact(bytes).map_err(|error| DataError::reading(self.file, error))?;
        self.left -= bytes.len();
        Ok(())
    }

    fn word(&self, bytes: [u8; 4]) -> u32 {
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    pub(super) fn tag(&mut self) -> Result<Tag, DataError> {
        let (mut first, mut second) = ([0; 4], [0; 4]);
        self.fill(&mut first)?;
        self.fill(&mut second)?;
        let word = self.word(first);
        let tag = match (word >> 16) as usize {
            0 => Tag { code: word, size: self.word(second) as usize, inline: None },
            size @ 1..=4 => Tag { code: word & 0xffff, size, inline: Some(second) },
            size => return Err(self.fault(format!("a small element of {size} bytes"))),
        };
        // an inflated element's own tag is read before its size is known
        if tag.inline.is_none() && tag.size > self.left && self.left > 0 {
            let problem = format!("an element of {} bytes where {} are left", tag.size, self.left);
            return Err(self.fault(problem));
        }
        Ok(tag)
    }

    /// Hands the payload to `take` in blocks whose lengths, but for the last, are multiples of 8.
    pub(super) fn payload(
        &mut self,
        tag: Tag,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), DataError> {
        if let Some(inline) = tag.inline {
            take(&inline[..tag.size.min(inline.len())]);
            return Ok(());
        }
        let mut buffer = vec![0; tag.size.min(BLOCK)];
        let mut to_come = tag.size;
        while to_come > 0 {
            let block = &mut buffer[..to_come.min(BLOCK)];
            self.fill(block)?;
            take(block);
            to_come -= block.len();
        }
        // some writers leave out the padding of the last part
        let padding = (tag.size.wrapping_neg() % 8).min(self.left);
        self.fill(&mut [0; 8][..padding])
    }

    /// The payload of an element that should be short, `most` bytes at the largest.
    pub(super) fn short(&mut self, tag: Tag, most: usize) -> Result<Vec<u8>, DataError> {
        if tag.size > most {
            return Err(self.fault(format!("{} bytes where at most {most} make sense", tag.size)));
        }
        let mut bytes = Vec::with_capacity(tag.size);
        self.payload(tag, |block| bytes.extend_from_slice(block))?;
        Ok(bytes)
    }

    /// 32-bit numbers of one element, at most `most` of them.
    pub(super) fn words(&mut self, tag: Tag, most: usize) -> Result<Vec<u32>, DataError> {
        let whole = matches!(Storage::of(tag.code), Some(Storage::I32 | Storage::U32));
        if !whole || !tag.size.is_multiple_of(4) {
            let problem = format!("type {} of {} bytes for 32-bit integers", tag.code, tag.size);
            return Err(self.fault(problem));
        }
        let bytes = self.short(tag, most.saturating_mul(4))?;
        Ok(bytes.as_chunks().0.iter().map(|bytes| self.word(*bytes)).collect())
    }

    /// Exactly `count` numbers of one element.
    pub(super) fn numbers(&mut self, tag: Tag, count: usize) -> Result<Numbers, DataError> {
        let storage = Storage::of(tag.code);
        let Some((storage, width)) = storage.and_then(|s| Some((s, s.width()?))) else {
            return Err(self.fault(format!("element type {} where numbers belong", tag.code)));
        };
        if count.checked_mul(width) != Some(tag.size) {
            let problem = format!("{} bytes for {count} values of {width}", tag.size);
            return Err(self.fault(problem));
        }
        let big = self.big_endian;
        let bits = |bytes: &[u8; 8]| {
            if big { u64::from_be_bytes(*bytes) } else { u64::from_le_bytes(*bytes) }
        };
        if storage == Storage::I64 {
            let mut values = Vec::new();
            let signed = |bytes: &[u8; 8]| bits(bytes) as i64;
            self.payload(tag, |block| values.extend(block.as_chunks().0.iter().map(signed)))?;
            return Ok(Numbers::Integers(values));
        } else if storage == Storage::U64 {
            let mut values = Vec::new();
            self.payload(tag, |block| values.extend(block.as_chunks().0.iter().map(bits)))?;
            return Ok(Numbers::Unsigned(values));
        }
        let mut values = Vec::new();
        self.payload(tag, |block| extend(&mut values, storage, big, block))?;
        Ok(Numbers::Real(values))
    }
}

/// Appends a block of numbers of at most 32 bits, or `f64`, to `values`.
fn extend(values: &mut Vec<f64>, storage: Storage, big_endian: bool, block: &[u8]) {
    macro_rules! each {
        ($number:ty) => {{
            let parts = block.as_chunks().0.iter();
            if big_endian {
                values.extend(parts.map(|part| f64::from(<$number>::from_be_bytes(*part))));
            } else {
                values.extend(parts.map(|part| f64::from(<$number>::from_le_bytes(*part))));
            }
        }};
    }
    match storage {
        Storage::I8 => each!(i8),
        Storage::U8 => each!(u8),
        Storage::I16 => each!(i16),
        Storage::U16 => each!(u16),
        Storage::I32 => each!(i32),
        Storage::U32 => each!(u32),
        Storage::F32 => each!(f32),
        Storage::F64 => each!(f64),
        // not numbers, or read exactly by the caller
        _ => debug_assert!(false, "{storage:?}"),
    }
}
