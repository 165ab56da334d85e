//! The bytes of a whole file: mapped into memory where the file is plain, read where it is not.

use crate::compressed;
use crate::error::DataError;
use memmap2::Mmap;
use std::io::{BufReader, Read, Seek};
use std::ops::Deref;
use std::path::Path;

/// A file's bytes, decompressed.
pub(crate) enum Bytes {
    Mapped(Mmap),
    Read(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Read(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// The bytes of `file`, plain or compressed.
pub(crate) fn bytes(file: &Path) -> Result<Bytes, DataError> {
    let (mut plain, size) = compressed::open_plain(file)?;
    let failed = |source| DataError::reading(file, source);
    let is_file = plain.metadata().is_ok_and(|metadata| metadata.is_file());
    if is_file && size > 0 {
        let mut start = [0; 4];
        let count = (&mut plain).take(4).read(&mut start).map_err(failed)?;
        if compressed::compression(&start[..count]).is_none() {
            // SAFETY: the map is only read, as bytes, for which any content is valid. A program
            // that shortens the file meanwhile ends this one by a signal, as with any mapped
            // file; none of ours does, since files are replaced whole (`atomic`).
            let map = unsafe { Mmap::map(&plain) }.map_err(failed)?;
            return Ok(Bytes::Mapped(map));
        }
        plain.rewind().map_err(failed)?;
    }
    let mut bytes = Vec::new();
    let mut reader =
        compressed::limited(BufReader::new(plain), compressed::Limit::of(size)).map_err(failed)?;
    reader.read_to_end(&mut bytes).map_err(failed)?;
    Ok(Bytes::Read(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::io::Write;

    #[test]
    fn plain_compressed_and_empty_files_give_their_bytes() {
        let scratch = Scratch::new("mapped");
        let plain = scratch.file("plain", b"some bytes");
        assert!(matches!(bytes(&plain).unwrap(), Bytes::Mapped(_)));
        assert_eq!(&*bytes(&plain).unwrap(), b"some bytes");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(b"some bytes").unwrap();
        let gzip = scratch.file("gzip", &encoder.finish().unwrap());
        assert_eq!(&*bytes(&gzip).unwrap(), b"some bytes");
        assert_eq!(&*bytes(&scratch.file("empty", b"")).unwrap(), b"");
        assert!(bytes(&scratch.0).is_err());
        assert!(bytes(Path::new("/no/such/file")).is_err());
    }
}
