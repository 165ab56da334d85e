//! Thrift's compact protocol, in which Parquet writes its headers: fields by number, integers of
//! variable length.
//!
//! What is read becomes a tree of values; every node stands for at least one byte, so the tree is
//! bounded by the header's real size. Depth is limited.

/// Parquet's own headers nest 6 deep.
const MAX_DEPTH: usize = 16;

/// A value of any type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'a> {
    Bool(bool),
    Integer(i64),
    Bytes(&'a [u8]),
    List(Vec<Value<'a>>),
    Struct(Fields<'a>),
    /// Doubles and maps, which no header that is used here has.
    Other,
}

/// The fields of a structure, by number.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Fields<'a>(Vec<(i16, Value<'a>)>);

impl<'a> Fields<'a> {
    pub(super) fn get(&self, id: i16) -> Option<&Value<'a>> {
        self.0.iter().find(|field| field.0 == id).map(|field| &field.1)
    }

    pub(super) fn integer(&self, id: i16) -> Option<i64> {
        match self.get(id) {
            Some(Value::Integer(value)) => Some(*value),
            _ => None,
        }
    }

    /// An integer that counts something.
    pub(super) fn size(&self, id: i16) -> Option<usize> {
        self.integer(id).and_then(|value| usize::try_from(value).ok())
    }

    pub(super) fn bytes(&self, id: i16) -> Option<&'a [u8]> {
        match self.get(id) {
            Some(Value::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }

    pub(super) fn structure(&self, id: i16) -> Option<&Fields<'a>> {
        match self.get(id) {
            Some(Value::Struct(fields)) => Some(fields),
            _ => None,
        }
    }

    /// The structures of a list.
    pub(super) fn structures(&self, id: i16) -> Option<Vec<&Fields<'a>>> {
        let Some(Value::List(values)) = self.get(id) else { return None };
        let mut fields = Vec::with_capacity(values.len());
        for value in values {
            let Value::Struct(structure) = value else { return None };
            fields.push(structure);
        }
        Some(fields)
    }

    /// The number of the first field that is there.
    pub(super) fn first(&self) -> Option<i16> {
        self.0.first().map(|field| field.0)
    }
}

/// A position in bytes; every step is `None` past their end.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.bytes.split_at_checked(count)?;
        self.bytes = tail;
        Some(head)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1).and_then(<[u8]>::first).copied()
    }

    /// Seven bits a byte, lowest first.
    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// One structure.
    pub(super) fn structure(&mut self) -> Option<Fields<'a>> {
        self.fields(0)
    }

    fn fields(&mut self, depth: usize) -> Option<Fields<'a>> {
        let (mut fields, mut id) = (Vec::new(), 0i16);
        if depth > MAX_DEPTH {
            return None;
        }
        loop {
            let header = self.byte()?;
            let (step, kind) = (i16::from(header >> 4), header & 0xf);
            if kind == STOP {
                return Some(Fields(fields));
            }
            id = match step {
                0 => i16::try_from(self.zigzag()?).ok()?,
                _ => id.checked_add(step)?,
            };
            let value = match kind {
                TRUE => Value::Bool(true),
                FALSE => Value::Bool(false),
                _ => self.value(kind, depth)?,
            };
            fields.push((id, value));
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<Value<'a>> {
        Some(match kind {
            // within a list
            TRUE | FALSE => Value::Bool(self.byte()? == TRUE),
            BYTE => Value::Integer(i64::from(self.byte()? as i8)),
            I16 | I32 | I64 => Value::Integer(self.zigzag()?),
            DOUBLE => {
                self.take(8)?;
                Value::Other
            }
            BINARY => {
                let size = usize::try_from(self.varint()?).ok()?;
                Value::Bytes(self.take(size)?)
            }
            LIST | SET => {
                let header = self.byte()?;
                let count = match header >> 4 {
                    15 => self.varint()?,
                    count => u64::from(count),
                };
                if depth > MAX_DEPTH {
                    return None;
                }
                let mut values = Vec::new();
                for _ in 0..count {
                    values.push(self.value(header & 0xf, depth + 1)?);
                }
                Value::List(values)
            }
            MAP => {
                let count = self.varint()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                if depth > MAX_DEPTH {
                    return None;
                }
                for _ in 0..count {
                    self.value(kinds >> 4, depth + 1)?;
                    self.value(kinds & 0xf, depth + 1)?;
                }
                Value::Other
            }
            STRUCT => Value::Struct(self.fields(depth + 1)?),
            _ => return None,
        })
    }
}

const STOP: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// Writes one structure, fields in ascending order.
#[derive(Debug, Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    last: i16,
}

impl Writer {
    pub(super) fn new() -> Self {
        Self::default()
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn zigzag(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)) as u64);
    }

    fn field(&mut self, id: i16, kind: u8) {
        // every structure written here has fewer than 16 fields between two
        self.bytes.push(((id - self.last) as u8) << 4 | kind);
        self.last = id;
    }

    pub(super) fn i32(mut self, id: i16, value: i32) -> Self {
        self.field(id, I32);
        self.zigzag(value.into());
        self
    }

    pub(super) fn i64(mut self, id: i16, value: i64) -> Self {
        self.field(id, I64);
        self.zigzag(value);
        self
    }

    pub(super) fn text(mut self, id: i16, text: &str) -> Self {
        self.field(id, BINARY);
        self.varint(text.len() as u64);
        self.bytes.extend(text.as_bytes());
        self
    }

    pub(super) fn structure(mut self, id: i16, inner: Self) -> Self {
        self.field(id, STRUCT);
        self.bytes.extend(inner.finish());
        self
    }

    fn list(&mut self, id: i16, kind: u8, count: usize) {
        self.field(id, LIST);
        match u8::try_from(count) {
            Ok(count @ 0..=14) => self.bytes.push(count << 4 | kind),
            _ => {
                self.bytes.push(0xf0 | kind);
                self.varint(count as u64);
            }
        }
    }

    pub(super) fn structures(mut self, id: i16, inner: Vec<Self>) -> Self {
        self.list(id, STRUCT, inner.len());
        for structure in inner {
            self.bytes.extend(structure.finish());
        }
        self
    }

    pub(super) fn integers(mut self, id: i16, values: &[i32]) -> Self {
        self.list(id, I32, values.len());
        values.iter().for_each(|value| self.zigzag(i64::from(*value)));
        self
    }

    pub(super) fn texts(mut self, id: i16, texts: &[&str]) -> Self {
        self.list(id, BINARY, texts.len());
        for text in texts {
            self.varint(text.len() as u64);
            self.bytes.extend(text.as_bytes());
        }
        self
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(STOP);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let inner = || Writer::new().i32(1, -7).text(4, "name");
        let bytes = Writer::new()
            .i32(1, i32::MIN)
            .i64(2, i64::MAX)
            .structure(5, inner())
            .structures(7, (0..20).map(|_| inner()).collect())
            .integers(8, &[0, -1, 300])
            .texts(9, &["a", ""])
            .finish();
        let mut cursor = Cursor::new(&bytes);
        let fields = cursor.structure().unwrap();
        assert!(cursor.rest().is_empty());
        assert_eq!(fields.integer(1), Some(i32::MIN.into()));
        assert_eq!((fields.integer(2), fields.size(1)), (Some(i64::MAX), None));
        assert_eq!(fields.structure(5).unwrap().bytes(4), Some(&b"name"[..]));
        assert_eq!(fields.structures(7).unwrap().len(), 20);
        assert_eq!(fields.structures(7).unwrap()[19].integer(1), Some(-7));
        let integers = [0, -1, 300].map(Value::Integer).to_vec();
        assert_eq!(fields.get(8), Some(&Value::List(integers)));
        assert_eq!((fields.get(3), fields.first()), (None, Some(1)));
        for end in 0..bytes.len() {
            assert_eq!(Cursor::new(&bytes[..end]).structure(), None);
        }
    }

    #[test]
    fn endless_nesting_and_false_counts_end() {
        // a structure within a structure within …; a list of 2^63 structures
        assert_eq!(Cursor::new(&[0x1c; 1000]).structure(), None);
        assert_eq!(Cursor::new(&[0x19; 1000]).structure(), None);
        let list = [0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0];
        assert_eq!(Cursor::new(&list).structure(), None);
        assert_eq!(Cursor::new(&[0x16, 0xff, 0xff, 0xff]).structure(), None);
    }
}
