//! Columns of a Parquet file: the footer's schema and row groups, then the pages of each column.
//!
//! Sizes are claims: each is held against the file's length, against what its compression can
//! make of it, and against [`MAX_GROWTH`], before memory is taken.

use super::thrift::{Cursor, Fields, Value};
use super::values::{self, Physical, Values};
use crate::compressed;
use crate::dataset::MAX_ENTRIES;
use crate::error::DataError;
use std::io::Read;
use std::path::Path;

pub(super) const MAGIC: &[u8; 4] = b"PAR1";
/// Length of the footer and magic, at the end.
const TAIL: usize = 8;
/// The most values for each byte of the file: a column that repeats one value is very short.
const MAX_GROWTH: usize = 1 << 14;
/// Snappy makes at most 64 bytes of three.
const MAX_SNAPPY_RATIO: usize = 32;

const FETCH_AGAIN: &str = "the file may be truncated or damaged: fetch it again";

/// What is wrong, and the fix.
type Fault = (String, &'static str);

fn damaged(what: &str) -> Fault {
    (what.into(), FETCH_AGAIN)
}

/// A column of the schema.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    pub(super) name: String,
    /// What it holds; or why that cannot be used.
    pub(super) physical: Result<Physical, &'static str>,
    may_be_null: bool,
}

/// Where a column's part in one row group stands.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    start: usize,
    end: usize,
    codec: i64,
    n_rows: usize,
}

/// A file whose footer has been read.
pub(super) struct ParquetFile<'a> {
    file: &'a Path,
    bytes: &'a [u8],
    pub(super) columns: Vec<Column>,
    pub(super) n_rows: usize,
    /// The note that pandas leaves on its table, in JSON.
    pub(super) pandas: Option<&'a [u8]>,
    /// By row group, then by column.
    groups: Vec<Vec<Chunk>>,
}

impl<'a> ParquetFile<'a> {
    pub(super) fn open(bytes: &'a [u8], file: &'a Path) -> Result<Self, DataError> {
        footer(bytes, file).map_err(|(problem, fix)| DataError::format(file, problem, fix))
    }

    /// All values of one column.
    pub(super) fn read(&self, index: usize) -> Result<Values, DataError> {
        self.read_groups(index, &self.groups)
    }

    pub(super) fn n_groups(&self) -> usize {
        self.groups.len()
    }

    pub(super) fn group_rows(&self, group: usize) -> usize {
        self.groups[group].first().map_or(0, |chunk| chunk.n_rows)
    }

    /// The values of one column in one row group.
    pub(super) fn read_group(&self, index: usize, group: usize) -> Result<Values, DataError> {
        self.read_groups(index, &self.groups[group..=group])
    }

    /// Whether memory can hold the whole table.
    pub(super) fn check_size(&self) -> Result<(), DataError> {
        if self.n_rows.saturating_mul(self.columns.len()) <= MAX_ENTRIES {
            return Ok(());
        }
        let problem = format!("{} rows of {} columns", self.n_rows, self.columns.len());
        Err(DataError::format(self.file, problem, "split the file"))
    }

    fn read_groups(&self, index: usize, groups: &[Vec<Chunk>]) -> Result<Values, DataError> {
        let column = &self.columns[index];
        let name = &column.name;
        self.column(column, index, groups).map_err(|(problem, fix)| {
            DataError::format(self.file, format!("column {index} ({name}): {problem}"), fix)
        })
    }

    fn column(
        &self,
        column: &Column,
        index: usize,
        groups: &[Vec<Chunk>],
    ) -> Result<Values, Fault> {
        let physical = column.physical.map_err(|what| (what.to_string(), "drop the column"))?;
        let mut all = Values::none(physical);
        for group in groups {
            let chunk = group[index];
            self.append_chunk(&mut all, column, physical, chunk)?;
        }
        Ok(all)
    }

    /// A column's part in one row group.
    fn append_chunk(
        &self,
        all: &mut Values,
        column: &Column,
        physical: Physical,
        chunk: Chunk,
    ) -> Result<(), Fault> {
        let bytes = self.bytes.get(chunk.start..chunk.end);
        let mut cursor = Cursor::new(bytes.ok_or_else(|| damaged("lies outside the file"))?);
        let first = all.len();
        let mut dictionary = None;
        while all.len() - first < chunk.n_rows {
            let row = all.len();
            let page = Page::read(&mut cursor, chunk.codec)?;
            if page.kind == DICTIONARY_PAGE {
                let values = page.dictionary(physical);
                dictionary = Some(values.ok_or_else(|| damaged("its dictionary is damaged"))?);
                continue;
            }
            if page.kind != DATA_PAGE && page.kind != DATA_PAGE_V2 {
                continue; // indices, which are not needed
            }
            let left = chunk.n_rows - (row - first);
            if page.count > left {
                return Err(damaged("it has more values than the file has rows"));
            }
            if let Some(null) = page.first_null(column.may_be_null)? {
                let problem = format!("row {} is null", row + null);
                return Err((problem, "replace nulls, or drop their rows"));
            }
            let values = page.values(physical, dictionary.as_ref(), column.may_be_null)?;
            all.append(values).ok_or_else(|| damaged("its pages differ in type"))?;
        }
        Ok(())
    }
}

const DATA_PAGE: i64 = 0;
const DICTIONARY_PAGE: i64 = 2;
const DATA_PAGE_V2: i64 = 3;

/// A page, decompressed.
struct Page {
    kind: i64,
    /// Rows, or entries of a dictionary.
    count: usize,
    encoding: i64,
    /// How definition levels are written, in pages of the first version.
    level_encoding: i64,
    /// Bytes of definition levels, in pages of the second version.
    levels: usize,
    bytes: Vec<u8>,
}

const PLAIN: i64 = 0;
const PLAIN_DICTIONARY: i64 = 2;
const RLE: i64 = 3;
const RLE_DICTIONARY: i64 = 8;
const BYTE_STREAM_SPLIT: i64 = 9;

impl Page {
    fn read(cursor: &mut Cursor<'_>, codec: i64) -> Result<Self, Fault> {
        let broken = || damaged("a page's header is damaged or missing");
        let header = cursor.structure().ok_or_else(broken)?;
        let kind = header.integer(1).ok_or_else(broken)?;
        let (size, packed) =
            (header.size(2).ok_or_else(broken)?, header.size(3).ok_or_else(broken)?);
        let packed = cursor.take(packed).ok_or_else(|| damaged("a page is cut off"))?;
        if let Some(crc) = header.integer(4) {
            let mut actual = flate2::Crc::new();
            actual.update(packed);
            if crc as u32 != actual.sum() {
                return Err(damaged("a page's checksum is wrong"));
            }
        }
        let empty = Fields::default();
        let own = |id| header.structure(id).ok_or_else(broken);
        let (fields, encoding_field) = match kind {
            DATA_PAGE => (own(5)?, 2),
            DICTIONARY_PAGE => (own(7)?, 2),
            DATA_PAGE_V2 => (own(8)?, 4),
            _ => (&empty, 0),
        };
        let mut page = Self {
            kind,
            count: fields.size(1).unwrap_or(0),
            encoding: fields.integer(encoding_field).unwrap_or(PLAIN),
            level_encoding: RLE,
            levels: 0,
            bytes: Vec::new(),
        };
        let (mut plain, mut rest, mut codec) = (&packed[..0], packed, codec);
        match kind {
            DATA_PAGE => page.level_encoding = fields.integer(3).unwrap_or(RLE),
            DATA_PAGE_V2 => {
                // levels come first, never compressed; repetitions there are none
                page.levels = fields.size(5).ok_or_else(broken)?;
                (plain, rest) = packed.split_at_checked(page.levels).ok_or_else(broken)?;
                if fields.get(7) == Some(&Value::Bool(false)) {
                    codec = UNCOMPRESSED;
                }
            }
            _ => {}
        }
        let size = size.checked_sub(plain.len()).ok_or_else(broken)?;
        page.bytes = plain.to_vec();
        page.bytes.extend(decompress(rest, size, codec)?);
        Ok(page)
    }

    fn dictionary(&self, physical: Physical) -> Option<Values> {
        // its entries are plain, under either name
        matches!(self.encoding, PLAIN | PLAIN_DICTIONARY).then_some(())?;
        values::plain(&self.bytes, physical, self.count)
    }

    /// The definition levels, and what follows them.
    fn split(&self, may_be_null: bool) -> Option<(&[u8], &[u8])> {
        if self.kind == DATA_PAGE_V2 {
            return self.bytes.split_at_checked(self.levels);
        } else if !may_be_null {
            return Some((&[], &self.bytes));
        }
        let mut cursor = Cursor::new(&self.bytes);
        let size = u32::from_le_bytes(*cursor.take(4)?.first_chunk()?);
        Some((cursor.take(size as usize)?, cursor.rest()))
    }

    /// The first row that holds nothing.
    fn first_null(&self, may_be_null: bool) -> Result<Option<usize>, Fault> {
        if !may_be_null {
            return Ok(None);
        }
        if self.level_encoding != RLE {
            return Err(("nulls are marked in a way long out of use".into(), "write it again"));
        }
        let levels = self.split(true).and_then(|parts| values::hybrid(parts.0, 1, self.count));
        let levels = levels.ok_or_else(|| damaged("the marks of its nulls are damaged"))?;
        Ok(levels.iter().position(|level| *level == 0))
    }

    fn values(
        &self,
        physical: Physical,
        dictionary: Option<&Values>,
        may_be_null: bool,
    ) -> Result<Values, Fault> {
        let wrong = || damaged("a page does not hold the values it promises");
        let bytes = self.split(may_be_null).ok_or_else(wrong)?.1;
        let values = match self.encoding {
            PLAIN => values::plain(bytes, physical, self.count),
            PLAIN_DICTIONARY | RLE_DICTIONARY => {
                let dictionary = dictionary.ok_or_else(|| damaged("its dictionary is missing"))?;
                values::by_dictionary(bytes, dictionary, self.count)
            }
            RLE if physical == Physical::Boolean => values::runs_of_truth(bytes, self.count),
            BYTE_STREAM_SPLIT => values::byte_streams(bytes, physical, self.count),
            other => {
                let problem = format!("encoding {other} is not read");
                return Err((problem, "write the file with plain or dictionary encoding"));
            }
        };
        values.ok_or_else(wrong)
    }
}

const UNCOMPRESSED: i64 = 0;
const SNAPPY: i64 = 1;
const GZIP: i64 = 2;
const ZSTD: i64 = 6;

/// `size` bytes out of `packed`.
fn decompress(packed: &[u8], size: usize, codec: i64) -> Result<Vec<u8>, Fault> {
    let wrong = || damaged("a page does not decompress to its size");
    match codec {
        UNCOMPRESSED if packed.len() == size => Ok(packed.to_vec()),
        UNCOMPRESSED => Err(wrong()),
        // a page without values
        _ if size == 0 => Ok(Vec::new()),
        SNAPPY => {
            let possible = size <= packed.len().saturating_mul(MAX_SNAPPY_RATIO);
            if !possible || snap::raw::decompress_len(packed).ok() != Some(size) {
                return Err(wrong());
            }
            snap::raw::Decoder::new().decompress_vec(packed).map_err(|_| wrong())
        }
        GZIP | ZSTD => {
            let mut bytes = Vec::new();
            let reader = compressed::decode(packed);
            let read =
                reader.and_then(|reader| reader.take(size as u64 + 1).read_to_end(&mut bytes));
            // what is not marked as compressed comes through as it is, in the wrong size
            match read {
                Ok(count) if count == size => Ok(bytes),
                _ => Err(wrong()),
            }
        }
        _ => {
            let place = codec.checked_sub(3).and_then(|place| usize::try_from(place).ok());
            let names = ["lzo", "brotli", "lz4", "zstd", "lz4"];
            let name = place.and_then(|place| names.get(place));
            let problem = format!("compression {} is not read", name.unwrap_or(&"of unknown kind"));
            Err((problem, "write the file with snappy, gzip or zstd"))
        }
    }
}

/// Schema and row groups.
fn footer<'a>(bytes: &'a [u8], file: &'a Path) -> Result<ParquetFile<'a>, Fault> {
    let not_parquet = || ("no Parquet magic at its ends".to_string(), "is this a Parquet file?");
    let body = bytes.strip_prefix(MAGIC).and_then(|bytes| bytes.strip_suffix(MAGIC));
    let (body, size) = body.and_then(<[u8]>::split_last_chunk).ok_or_else(not_parquet)?;
    let size = u32::from_le_bytes(*size) as usize;
    let Some(start) = body.len().checked_sub(size) else {
        let problem = format!("a footer of {size} bytes in a file of {}", bytes.len());
        return Err((problem, FETCH_AGAIN));
    };
    let broken = || damaged("its footer is damaged");
    let metadata = Cursor::new(&body[start..]).structure().ok_or_else(broken)?;
    let columns = schema(&metadata.structures(2).ok_or_else(broken)?)?;
    if columns.is_empty() {
        return Err(damaged("it has no columns"));
    }
    let data_end = bytes.len() - TAIL - size;
    let (mut groups, mut n_rows) = (Vec::new(), 0usize);
    for group in metadata.structures(4).ok_or_else(broken)? {
        let rows = group.size(3).ok_or_else(broken)?;
        n_rows = n_rows.checked_add(rows).ok_or_else(broken)?;
        let chunks = group.structures(1).ok_or_else(broken)?;
        if chunks.len() != columns.len() {
            return Err(broken());
        }
        let chunks =
            chunks.into_iter().map(|fields| chunk(fields, rows, data_end).ok_or_else(broken));
        groups.push(chunks.collect::<Result<_, _>>()?);
    }
    if metadata.size(3) != Some(n_rows) {
        return Err(damaged("its row groups do not add up to its rows"));
    }
    let n_values = n_rows.saturating_mul(columns.len());
    if n_values > bytes.len().saturating_mul(MAX_GROWTH) {
        let problem =
            format!("{n_rows} rows of {} columns in {} bytes", columns.len(), bytes.len());
        return Err((problem, "split the file, or fetch it again if damaged"));
    }
    let notes = metadata.structures(5).unwrap_or_default();
    let pandas = notes.into_iter().find(|note| note.bytes(1) == Some(b"pandas"));
    let pandas = pandas.and_then(|note| note.bytes(2));
    Ok(ParquetFile { file, bytes, columns, n_rows, pandas, groups })
}

/// Where one column's pages are.
fn chunk(fields: &Fields<'_>, n_rows: usize, data_end: usize) -> Option<Chunk> {
    let metadata = fields.structure(3)?;
    let data = metadata.size(9)?;
    // a dictionary comes before the data; some writers give 0 where there is none
    let start = metadata.size(11).filter(|start| (1..data).contains(start)).unwrap_or(data);
    let end = start.checked_add(metadata.size(7)?)?;
    let flat = metadata.size(5)? == n_rows;
    (flat && end <= data_end).then_some(Chunk { start, end, codec: metadata.integer(4)?, n_rows })
}

/// The columns below the root.
fn schema(elements: &[&Fields<'_>]) -> Result<Vec<Column>, Fault> {
    let broken = || damaged("its schema is damaged");
    let (root, elements) = elements.split_first().ok_or_else(broken)?;
    let name = |fields: &Fields<'_>| {
        let name = fields.bytes(4).and_then(|name| std::str::from_utf8(name).ok());
        name.map(String::from).ok_or_else(broken)
    };
    let mut columns = Vec::new();
    for element in elements {
        let name = name(element)?;
        let repeated = element.integer(3) == Some(REPEATED);
        if element.size(5).unwrap_or(0) > 0 || repeated {
            let problem = format!("column {} ({name}) is nested", columns.len());
            return Err((problem, "give every column one value per row"));
        }
        let may_be_null = element.integer(3) == Some(OPTIONAL);
        columns.push(Column { name, physical: physical(element), may_be_null });
    }
    if root.size(5) != Some(columns.len()) {
        return Err(broken());
    }
    Ok(columns)
}

const OPTIONAL: i64 = 1;
const REPEATED: i64 = 2;

/// What a schema element stores.
fn physical(element: &Fields<'_>) -> Result<Physical, &'static str> {
    // what the integers mean: nothing in particular, or integers of a size
    let (converted, logical) = (element.integer(6), element.structure(10).and_then(Fields::first));
    let whole = matches!(converted, None | Some(11..=18)) && matches!(logical, None | Some(10));
    let signed = !matches!(converted, Some(11..=14));
    match element.integer(1) {
        Some(0) => Ok(Physical::Boolean),
        Some(1 | 2) if !whole => Err("dates, times and decimals are not read"),
        Some(1) => Ok(Physical::Int32 { signed }),
        Some(2) => Ok(Physical::Int64 { signed }),
        Some(4) => Ok(Physical::Float),
        Some(5) => Ok(Physical::Double),
        Some(6) if converted == Some(5) => Err("decimals are not read"),
        Some(6) => Ok(Physical::Text),
        _ => Err("values of this type are not read"),
    }
}
