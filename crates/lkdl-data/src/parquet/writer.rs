//! Writes a table as Parquet: required columns, plain pages under Snappy with checksums.

use super::reader::MAGIC;
use super::thrift::Writer;
use crate::error::DataError;
use crate::label_column::{LABEL, column_names};
use crate::table::{Labels, Table};
use std::io::Write;

/// Values of a row group: 32 MiB, so that a reader may take one at a time.
const GROUP_VALUES: usize = 1 << 22;
/// Rows of a row group, and so of a page: at most 512 KiB of doubles.
const MAX_GROUP_ROWS: usize = 1 << 16;

const INT64: i32 = 2;
const DOUBLE: i32 = 5;
const BYTE_ARRAY: i32 = 6;
const UTF8: i32 = 0;
const REQUIRED: i32 = 0;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const SNAPPY: i32 = 1;
const DATA_PAGE: i32 = 0;

/// What a column holds: a feature, or the label of each sample.
enum Column<'a> {
    Feature(usize, String),
    Integers(&'a Labels, Vec<i64>),
    Texts(&'a Labels),
}

impl Column<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Feature(_, name) => name,
            Self::Integers(..) | Self::Texts(_) => LABEL,
        }
    }

    fn physical(&self) -> i32 {
        match self {
            Self::Feature(..) => DOUBLE,
            Self::Integers(..) => INT64,
            Self::Texts(_) => BYTE_ARRAY,
        }
    }

    fn schema(&self) -> Writer {
        let element = Writer::new().i32(1, self.physical()).i32(3, REQUIRED).text(4, self.name());
        match self {
            // text, said the old way and the new
            Self::Texts(_) => {
                element.i32(6, UTF8).structure(10, Writer::new().structure(1, Writer::new()))
            }
            _ => element,
        }
    }

    /// The values of some rows, plain.
    fn values(&self, table: &Table, rows: std::ops::Range<usize>) -> Vec<u8> {
        let names = |labels: &Labels, i: usize| labels.indices.get(i).map_or(0, |l| *l as usize);
        match self {
            Self::Feature(t, _) => {
                rows.flat_map(|i| table.samples[(*t, i)].to_le_bytes()).collect()
            }
            Self::Integers(labels, classes) => rows
                .flat_map(|i| classes.get(names(labels, i)).copied().unwrap_or(0).to_le_bytes())
                .collect(),
            Self::Texts(labels) => {
                let mut bytes = Vec::new();
                for i in rows {
                    let name = labels.class_names.get(names(labels, i)).map_or("", String::as_str);
                    bytes.extend((name.len() as u32).to_le_bytes());
                    bytes.extend(name.as_bytes());
                }
                bytes
            }
        }
    }
}

/// Writes samples and labels.
pub(crate) fn write(out: &mut dyn Write, table: &Table) -> Result<(), DataError> {
    let n = table.n_samples();
    let label = table.labels.iter().map(|labels| match labels.integers() {
        Some(classes) => Column::Integers(labels, classes),
        None => Column::Texts(labels),
    });
    let features = column_names(table)?.into_iter().enumerate();
    let features = features.map(|(t, name)| Column::Feature(t, name));
    let columns: Vec<Column<'_>> = features.chain(label).collect();
    let mut put = |bytes: &[u8]| out.write_all(bytes).map_err(DataError::output);
    put(MAGIC)?;
    let mut place = MAGIC.len();
    let mut groups = Vec::new();
    let group_rows = (GROUP_VALUES / columns.len().max(1)).clamp(1, MAX_GROUP_ROWS);
    for start in (0..n).step_by(group_rows) {
        let rows = start..n.min(start + group_rows);
        let (group_place, mut chunks) = (place, Vec::new());
        for column in &columns {
            let values = column.values(table, rows.clone());
            let (header, body) = page(&values, rows.len())?;
            put(&header)?;
            put(&body)?;
            let size = header.len() + body.len();
            let metadata = Writer::new()
                .i32(1, column.physical())
                .integers(2, &[PLAIN, RLE])
                .texts(3, &[column.name()])
                .i32(4, SNAPPY)
                .i64(5, rows.len() as i64)
                .i64(6, (header.len() + values.len()) as i64)
                .i64(7, size as i64)
                .i64(9, place as i64);
            chunks.push(Writer::new().i64(2, place as i64).structure(3, metadata));
            place += size;
        }
        groups.push(
            Writer::new()
                .structures(1, chunks)
                .i64(2, (place - group_place) as i64)
                .i64(3, rows.len() as i64),
        );
    }
    let root = Writer::new().text(4, "schema").i32(5, columns.len() as i32);
    let schema = std::iter::once(root).chain(columns.iter().map(Column::schema)).collect();
    let footer = Writer::new()
        .i32(1, 1)
        .structures(2, schema)
        .i64(3, n as i64)
        .structures(4, groups)
        .text(6, concat!("lkdl version ", env!("CARGO_PKG_VERSION")))
        .finish();
    put(&footer)?;
    put(&word(footer.len())?.to_le_bytes())?;
    put(MAGIC)
}

/// Header and body of a page.
fn page(values: &[u8], n_rows: usize) -> Result<(Vec<u8>, Vec<u8>), DataError> {
    let too_large = |error| DataError::output(std::io::Error::other(error));
    let body = snap::raw::Encoder::new().compress_vec(values).map_err(too_large)?;
    let mut crc = flate2::Crc::new();
    crc.update(&body);
    let own = Writer::new().i32(1, word(n_rows)?).i32(2, PLAIN).i32(3, RLE).i32(4, RLE);
    let header = Writer::new()
        .i32(1, DATA_PAGE)
        .i32(2, word(values.len())?)
        .i32(3, word(body.len())?)
        .i32(4, crc.sum() as i32)
        .structure(5, own);
    Ok((header.finish(), body))
}

fn word(value: usize) -> Result<i32, DataError> {
    let limit = || DataError::parameter("size of a part", value, "below 2^31 in a Parquet file");
    i32::try_from(value).map_err(|_| limit())
}
