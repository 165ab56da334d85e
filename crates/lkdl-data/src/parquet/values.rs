//! The values of one page: definition levels, then values plain, by dictionary, in runs, or split
//! into byte streams.
//!
//! Every function is `None` where the bytes do not hold what the header says.

use super::thrift::Cursor;

/// Bytes of text that one page of a column may unfold to.
const MAX_TEXT: usize = 1 << 28;

/// What a column holds, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Physical {
    Boolean,
    Int32 { signed: bool },
    Int64 { signed: bool },
    Float,
    Double,
    Text,
}

/// Values that were read: the file's order, no nulls.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    Real(Vec<f64>),
    Integers(Vec<i64>),
    Unsigned(Vec<u64>),
    Text(Vec<String>),
}

impl Values {
    /// None yet, of the kind that `physical` gives.
    pub(super) fn none(physical: Physical) -> Self {
        match physical {
            Physical::Int64 { signed: true } => Self::Integers(Vec::new()),
            Physical::Int64 { signed: false } => Self::Unsigned(Vec::new()),
            Physical::Text => Self::Text(Vec::new()),
            _ => Self::Real(Vec::new()),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Real(values) => values.len(),
            Self::Integers(values) => values.len(),
            Self::Unsigned(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// All as numbers; texts, which are not asked for, as none.
    pub(super) fn into_numbers(self) -> Vec<f64> {
        match self {
            Self::Real(values) => values,
            Self::Integers(values) => values.iter().map(|value| *value as f64).collect(),
            Self::Unsigned(values) => values.iter().map(|value| *value as f64).collect(),
            Self::Text(_) => Vec::new(),
        }
    }

    /// One of them as the name of a class.
    pub(super) fn label(&self, place: usize) -> String {
        match self {
            // + 0.0: −0 is written 0
            Self::Real(values) => (values[place] + 0.0).to_string(),
            Self::Integers(values) => values[place].to_string(),
            Self::Unsigned(values) => values[place].to_string(),
            Self::Text(values) => values[place].clone(),
        }
    }

    pub(super) fn append(&mut self, more: Self) -> Option<()> {
        match (self, more) {
            (Self::Real(values), Self::Real(more)) => values.extend(more),
            (Self::Integers(values), Self::Integers(more)) => values.extend(more),
            (Self::Unsigned(values), Self::Unsigned(more)) => values.extend(more),
            (Self::Text(values), Self::Text(more)) => values.extend(more),
            _ => return None,
        }
        Some(())
    }

    /// The values at `places`.
    fn look_up(&self, places: &[u32]) -> Option<Self> {
        fn pick<T: Clone>(values: &[T], places: &[u32]) -> Option<Vec<T>> {
            places.iter().map(|place| values.get(*place as usize).cloned()).collect()
        }
        Some(match self {
            Self::Real(values) => Self::Real(pick(values, places)?),
            Self::Integers(values) => Self::Integers(pick(values, places)?),
            Self::Unsigned(values) => Self::Unsigned(pick(values, places)?),
            Self::Text(values) => {
                let size = |place: &u32| values.get(*place as usize).map(String::len);
                let total: usize = places.iter().map(size).sum::<Option<usize>>()?;
                if total > MAX_TEXT {
                    return None; // one long text, repeated by a few bytes
                }
                Self::Text(pick(values, places)?)
            }
        })
    }
}

/// `count` values one after the other.
pub(super) fn plain(bytes: &[u8], physical: Physical, count: usize) -> Option<Values> {
    fn parts<const W: usize>(bytes: &[u8], count: usize) -> Option<impl Iterator<Item = [u8; W]>> {
        bytes.as_chunks().0.get(..count).map(|parts| parts.iter().copied())
    }
    Some(match physical {
        Physical::Boolean => {
            let bits = bytes.get(..count.div_ceil(8))?;
            Values::Real((0..count).map(|i| f64::from(bits[i / 8] >> (i % 8) & 1)).collect())
        }
        Physical::Int32 { signed: true } => Values::Real(
            parts(bytes, count)?.map(|part| f64::from(i32::from_le_bytes(part))).collect(),
        ),
        Physical::Int32 { signed: false } => Values::Real(
            parts(bytes, count)?.map(|part| f64::from(u32::from_le_bytes(part))).collect(),
        ),
        Physical::Int64 { signed: true } => {
            Values::Integers(parts(bytes, count)?.map(i64::from_le_bytes).collect())
        }
        Physical::Int64 { signed: false } => {
            Values::Unsigned(parts(bytes, count)?.map(u64::from_le_bytes).collect())
        }
        Physical::Float => Values::Real(
            parts(bytes, count)?.map(|part| f64::from(f32::from_le_bytes(part))).collect(),
        ),
        Physical::Double => Values::Real(parts(bytes, count)?.map(f64::from_le_bytes).collect()),
        Physical::Text => {
            let (mut cursor, mut texts) = (Cursor::new(bytes), Vec::new());
            for _ in 0..count {
                let size = u32::from_le_bytes(*cursor.take(4)?.first_chunk()?);
                let text = std::str::from_utf8(cursor.take(size as usize)?).ok()?;
                texts.push(text.to_string());
            }
            Values::Text(texts)
        }
    })
}

/// `count` values by their places in a dictionary: the width of a place, then runs.
pub(super) fn by_dictionary(bytes: &[u8], dictionary: &Values, count: usize) -> Option<Values> {
    let (width, runs) = bytes.split_first()?;
    dictionary.look_up(&hybrid(runs, *width, count)?)
}

/// `count` truth values in runs, whose size comes first.
pub(super) fn runs_of_truth(bytes: &[u8], count: usize) -> Option<Values> {
    let mut cursor = Cursor::new(bytes);
    let size = u32::from_le_bytes(*cursor.take(4)?.first_chunk()?);
    let values = hybrid(cursor.take(size as usize)?, 1, count)?;
    Some(Values::Real(values.into_iter().map(f64::from).collect()))
}

/// `count` values whose first bytes come first, then all second bytes, and so on.
pub(super) fn byte_streams(bytes: &[u8], physical: Physical, count: usize) -> Option<Values> {
    let width = match physical {
        Physical::Int32 { .. } | Physical::Float => 4,
        Physical::Int64 { .. } | Physical::Double => 8,
        Physical::Boolean | Physical::Text => return None,
    };
    let bytes = bytes.get(..count.checked_mul(width)?)?;
    let mut joined = Vec::with_capacity(bytes.len());
    for i in 0..count {
        joined.extend((0..width).map(|stream| bytes[stream * count + i]));
    }
    plain(&joined, physical, count)
}

/// `count` numbers of `width` bits in Parquet's hybrid of repeats and packed groups of eight.
pub(super) fn hybrid(bytes: &[u8], width: u8, count: usize) -> Option<Vec<u32>> {
    if width > 32 {
        return None;
    }
    let (mut cursor, mut values) = (Cursor::new(bytes), Vec::new());
    let width = usize::from(width);
    while values.len() < count {
        let header = cursor.varint()?;
        let left = count - values.len();
        let length = usize::try_from(header >> 1).ok()?;
        if header & 1 == 0 {
            let mut word = [0; 4];
            let bytes = cursor.take(width.div_ceil(8))?;
            word[..bytes.len()].copy_from_slice(bytes);
            let value = u32::from_le_bytes(word);
            values.resize(values.len() + length.min(left), value);
        } else {
            let groups = length.min(left.div_ceil(8));
            let bytes = cursor.take(groups.checked_mul(width)?)?;
            let taken = groups.checked_mul(8)?.min(left);
            values.extend((0..taken).map(|i| bits(bytes, i * width, width)));
            // of a longer run, nothing more is needed
            if length > groups {
                break;
            }
        }
    }
    (values.len() == count).then_some(values)
}

/// `width` ≤ 32 bits from bit `start` on, lowest first.
fn bits(bytes: &[u8], start: usize, width: usize) -> u32 {
    let mut word = [0; 8];
    let from = &bytes[(start / 8).min(bytes.len())..];
    let size = from.len().min(8);
    word[..size].copy_from_slice(&from[..size]);
    let mask = (1u64 << width) - 1;
    (u64::from_le_bytes(word) >> (start % 8) & mask) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_and_packed_groups_are_read() {
        // the format's own example: 0 to 7 in three bits
        assert_eq!(hybrid(&[0x03, 0x88, 0xc6, 0xfa], 3, 8).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(hybrid(&[0x03, 0x88, 0xc6, 0xfa], 3, 3).unwrap(), [0, 1, 2]);
        assert_eq!(hybrid(&[0x0a, 0x01, 0x03, 0b101], 1, 8).unwrap(), [1, 1, 1, 1, 1, 1, 0, 1]);
        assert_eq!(hybrid(&[0x04, 0xe8, 0x03], 10, 2).unwrap(), [1000, 1000]);
        assert_eq!(hybrid(&[0x06], 0, 3).unwrap(), [0, 0, 0]);
        let wide = [0x03, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(hybrid(&wide, 32, 2), None);
        let wide: Vec<u8> = std::iter::once(3).chain((0..32).map(|b| b + 1)).collect();
        assert_eq!(hybrid(&wide, 32, 2).unwrap(), [0x0403_0201, 0x0807_0605]);
        assert!(hybrid(&[], 3, 0).unwrap().is_empty());
        for bad in [&[][..], &[0x03], &[0x02], &[0, 0, 0, 0], &[0xff; 20]] {
            assert_eq!(hybrid(bad, 3, 8), None);
        }
        assert_eq!(hybrid(&[0x03, 0x88, 0xc6, 0xfa], 33, 8), None);
    }

    #[test]
    fn a_false_count_takes_no_memory() {
        assert_eq!(plain(&[0; 9], Physical::Double, usize::MAX), None);
        assert_eq!(plain(&[0; 9], Physical::Boolean, usize::MAX), None);
        assert_eq!(plain(&[0xff; 9], Physical::Text, usize::MAX), None);
        assert_eq!(byte_streams(&[0; 9], Physical::Double, usize::MAX), None);
        assert_eq!(hybrid(&[0x03, 1, 2, 3], 3, usize::MAX), None);
    }

    #[test]
    fn split_streams_are_joined() {
        let values = [0.1f64, -2.5, 1e300];
        let streams: Vec<u8> =
            (0..8).flat_map(|b| values.map(|value| value.to_le_bytes()[b])).collect();
        assert_eq!(
            byte_streams(&streams, Physical::Double, 3).unwrap(),
            Values::Real(values.into())
        );
    }
}
