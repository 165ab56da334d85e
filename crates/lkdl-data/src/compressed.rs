//! Files that may be compressed: gzip and bzip2 are known by their first bytes, whatever the name.

use crate::error::DataError;
use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

const GZIP: &[u8] = &[0x1f, 0x8b];
const BZIP2: &[u8] = b"BZh";

/// Opens a file for reading, decompressed on the way.
pub fn open(file: &Path) -> Result<Box<dyn BufRead>, DataError> {
    let plain = File::open(file).map_err(|source| DataError::Io {
        file: file.into(),
        source,
        fix: "check the path and its permissions",
    })?;
    decode(BufReader::new(plain)).map_err(|source| DataError::reading(file, source))
}

/// The first bytes of a file, decompressed: at most `count` of them.
pub(crate) fn start(file: &Path, count: usize) -> Result<Vec<u8>, DataError> {
    let mut bytes = Vec::with_capacity(count);
    let read = open(file)?.take(count as u64).read_to_end(&mut bytes);
    read.map_err(|source| DataError::reading(file, source))?;
    Ok(bytes)
}

/// Decompresses `reader` if its first bytes say so.
pub fn decode<'a>(mut reader: impl BufRead + 'a) -> std::io::Result<Box<dyn BufRead + 'a>> {
    let start = reader.fill_buf()?;
    Ok(if start.starts_with(GZIP) {
        Box::new(BufReader::new(MultiGzDecoder::new(reader)))
    } else if start.starts_with(BZIP2) {
        Box::new(BufReader::new(MultiBzDecoder::new(reader)))
    } else {
        Box::new(reader)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const TEXT: &[u8] = b"1 1:0.5\n2 1:0.25\n";

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn bzip2(data: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn decoded(data: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut out = Vec::new();
        decode(data)?.read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn the_first_bytes_decide() {
        for data in [TEXT.to_vec(), gzip(TEXT), bzip2(TEXT)] {
            assert_eq!(decoded(&data).unwrap(), TEXT);
        }
        assert_eq!(decoded(b"").unwrap(), b"");
        assert_eq!(decoded(b"B").unwrap(), b"B");
    }

    #[test]
    fn parts_written_one_after_the_other_are_all_read() {
        let twice = [TEXT, TEXT].concat();
        assert_eq!(decoded(&[gzip(TEXT), gzip(TEXT)].concat()).unwrap(), twice);
        assert_eq!(decoded(&[bzip2(TEXT), bzip2(TEXT)].concat()).unwrap(), twice);
    }

    #[test]
    fn damage_is_an_error_not_a_short_text() {
        for data in [gzip(TEXT), bzip2(TEXT)] {
            assert!(decoded(&data[..data.len() - 3]).is_err());
            let mut flipped = data.clone();
            flipped[data.len() / 2] ^= 0x10;
            assert!(decoded(&flipped).is_err());
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let Err(error) = open(Path::new("/no/such/file.gz")) else { panic!() };
        assert!(error.to_string().starts_with("/no/such/file.gz: "), "{error}");
    }
}
