//! Files that may be compressed: gzip, bzip2 and Zstandard are known by their first bytes when
//! read, whatever the name, and by the name's ending when written.
//!
//! What comes out of a small file is bounded: see `Limit`.

use crate::error::DataError;
use crate::format::Compression;
use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

const GZIP: &[u8] = &[0x1f, 0x8b];
const BZIP2: &[u8] = b"BZh";
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// What any file may decompress to: 16 bytes for each of the values a reader will build.
const MAX_DECOMPRESSED: u64 = 16 * crate::MAX_ENTRIES as u64;
/// What a file may decompress to for each of its bytes. Images of digits as text come to 20.
const MAX_RATIO: u64 = 1000;
/// What the smallest file may decompress to: a table of zeros is short, and is no attack.
const SMALL: u64 = 256 << 20;

/// How many bytes a compressed source may give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit {
    bytes: u64,
}

impl Limit {
    /// For a source of `size` bytes.
    pub(crate) fn of(size: u64) -> Self {
        Self { bytes: size.saturating_mul(MAX_RATIO).clamp(SMALL, MAX_DECOMPRESSED) }
    }

    #[cfg(test)]
    pub(crate) fn exactly(bytes: u64) -> Self {
        Self { bytes }
    }

    /// `reader`, failing once it gives more than this.
    pub(crate) fn on<R: Read>(self, reader: R) -> Limited<R> {
        Limited { reader, left: self.bytes, limit: self.bytes }
    }
}

/// A reader that fails rather than give more than its limit.
pub(crate) struct Limited<R> {
    reader: R,
    left: u64,
    limit: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            io::Error::other(format!(
                "decompresses to more than {} bytes, as no table of its size does",
                self.limit
            ))
        })?;
        Ok(count)
    }
}

/// Opens a file for reading, decompressed on the way.
pub fn open(file: &Path) -> Result<Box<dyn BufRead + Send>, DataError> {
    let (plain, size) = open_plain(file)?;
    limited(BufReader::new(plain), Limit::of(size))
        .map_err(|source| DataError::reading(file, source))
}

/// Opens a file as it is, with its size; a folder is an error.
pub(crate) fn open_plain(file: &Path) -> Result<(File, u64), DataError> {
    let fix = "check the path and its permissions";
    let failed = |source| DataError::Io { file: file.into(), source, fix };
    let plain = File::open(file).map_err(failed)?;
    let metadata = plain.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    Ok((plain, metadata.len()))
}

/// The first bytes of a file, decompressed: at most `count` of them. None of a pipe, which would not
/// give them again.
pub(crate) fn start(file: &Path, count: usize) -> Result<Vec<u8>, DataError> {
    if file.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        return Ok(Vec::new());
    }
    let mut bytes = Vec::with_capacity(count);
    let read = open(file)?.take(count as u64).read_to_end(&mut bytes);
    read.map_err(|source| DataError::reading(file, source))?;
    Ok(bytes)
}

/// Decompresses `reader` if its first bytes say so.
pub fn decode<'a>(reader: impl BufRead + Send + 'a) -> io::Result<Box<dyn BufRead + Send + 'a>> {
    limited(reader, Limit { bytes: MAX_DECOMPRESSED })
}

pub(crate) fn limited<'a>(
    mut reader: impl BufRead + Send + 'a,
    limit: Limit,
) -> io::Result<Box<dyn BufRead + Send + 'a>> {
    Ok(match compression(reader.fill_buf()?) {
        Some(Compression::Gzip) => Box::new(BufReader::new(limit.on(MultiGzDecoder::new(reader)))),
        Some(Compression::Bzip2) => Box::new(BufReader::new(limit.on(MultiBzDecoder::new(reader)))),
        Some(Compression::Zstd) => Box::new(BufReader::new(limit.on(ZstdReader::new(reader)))),
        None => Box::new(reader),
    })
}

/// What the first bytes of a file say.
pub(crate) fn compression(start: &[u8]) -> Option<Compression> {
    if start.starts_with(GZIP) {
        Some(Compression::Gzip)
    } else if start.starts_with(BZIP2) {
        Some(Compression::Bzip2)
    } else if start.starts_with(ZSTD) {
        Some(Compression::Zstd)
    } else {
        None
    }
}

/// What the decoder found, without the names of its own types.
fn damaged(error: &FrameDecoderError) -> io::Error {
    io::Error::other(match error {
        FrameDecoderError::ReadFrameHeaderError(_) | FrameDecoderError::FrameHeaderError(_) => {
            "damaged Zstandard data (a header is cut off or wrong)"
        }
        FrameDecoderError::WindowSizeTooBig { .. } => {
            "damaged Zstandard data (a window larger than any table needs)"
        }
        _ => "damaged Zstandard data (a block is cut off or wrong)",
    })
}

/// Zstandard frames, one after the other, each checked against its checksum if it has one.
struct ZstdReader<R: BufRead> {
    reader: R,
    /// Of the frame being read; none between frames.
    frame: Option<Box<FrameDecoder>>,
}

impl<R: BufRead> ZstdReader<R> {
    fn new(reader: R) -> Self {
        Self { reader, frame: None }
    }

    /// The next frame; none at the end.
    fn next_frame(&mut self) -> io::Result<Option<Box<FrameDecoder>>> {
        while !self.reader.fill_buf()?.is_empty() {
            let mut frame = Box::new(FrameDecoder::new());
            match frame.init(&mut self.reader) {
                Ok(()) => return Ok(Some(frame)),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(&mut (&mut self.reader).take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(damaged(&error)),
            }
        }
        Ok(None)
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut frame = match self.frame.take() {
                Some(frame) => frame,
                None => match self.next_frame()? {
                    Some(frame) => frame,
                    None => return Ok(0),
                },
            };
            while frame.can_collect() == 0 && !frame.is_finished() {
                frame
                    .decode_blocks(&mut self.reader, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(|error| damaged(&error))?;
            }
            let count = frame.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                self.frame = Some(frame);
                return Ok(count);
            }
            let promised = frame.get_checksum_from_data();
            if promised.is_some() && promised != frame.get_calculated_checksum() {
                return Err(io::Error::other("the checksum of the data is wrong"));
            }
        }
    }
}

/// Runs `fill` on a writer that compresses into `out`.
pub(crate) fn encode(
    out: &mut dyn Write,
    compression: Option<Compression>,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), DataError>,
) -> Result<(), DataError> {
    match compression {
        None => fill(out),
        Some(Compression::Gzip) => {
            let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            fill(&mut encoder)?;
            encoder.finish().map(drop).map_err(DataError::output)
        }
        Some(Compression::Bzip2) => {
            let mut encoder = bzip2::write::BzEncoder::new(out, bzip2::Compression::default());
            fill(&mut encoder)?;
            encoder.finish().map(drop).map_err(DataError::output)
        }
        Some(Compression::Zstd) => {
            let mut encoder = ZstdWriter { out, pending: Vec::new() };
            fill(&mut encoder)?;
            encoder.frame().map_err(DataError::output)
        }
    }
}

/// Writes a Zstandard frame whenever enough has come.
struct ZstdWriter<'a> {
    out: &'a mut dyn Write,
    pending: Vec<u8>,
}

impl ZstdWriter<'_> {
    /// Bytes of text per frame: large enough to find repeats, small enough to hold.
    const FRAME: usize = 8 << 20;

    fn frame(&mut self) -> io::Result<()> {
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        let frame = ruzstd::encoding::compress_to_vec(self.pending.as_slice(), level);
        self.pending.clear();
        self.out.write_all(&frame)
    }
}

impl Write for ZstdWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= Self::FRAME {
            self.frame()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"1 1:0.5\n2 1:0.25\n";

    #[test]
    fn damage_is_told_in_words() {
        let mut bytes = Vec::new();
        let fill = |out: &mut dyn Write| out.write_all(TEXT).map_err(DataError::output);
        encode(&mut bytes, Some(Compression::Zstd), fill).unwrap();
        for end in 5..bytes.len() {
            let mut text = Vec::new();
            let read = decode(&bytes[..end]).and_then(|mut reader| reader.read_to_end(&mut text));
            let message = read.unwrap_err().to_string();
            assert!(message.starts_with("damaged Zstandard data ("), "{message}");
            assert!(!message.contains(['{', ':']), "{message}");
        }
    }

    const ALL: [Compression; 3] = [Compression::Gzip, Compression::Bzip2, Compression::Zstd];

    fn encoded(compression: Compression, data: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let fill = |out: &mut dyn Write| out.write_all(data).map_err(DataError::output);
        encode(&mut out, Some(compression), fill).unwrap();
        out
    }

    fn decoded(data: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        decode(data)?.read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn the_first_bytes_decide() {
        for compression in ALL {
            assert_eq!(decoded(&encoded(compression, TEXT)).unwrap(), TEXT);
        }
        assert_eq!(decoded(TEXT).unwrap(), TEXT);
        assert_eq!(decoded(b"").unwrap(), b"");
        assert_eq!(decoded(b"B").unwrap(), b"B");
    }

    #[test]
    fn parts_written_one_after_the_other_are_all_read() {
        let twice = [TEXT, TEXT].concat();
        for compression in ALL {
            let part = encoded(compression, TEXT);
            assert_eq!(decoded(&[part.clone(), part].concat()).unwrap(), twice);
        }
        // a frame that says of itself that it is to be skipped
        let skipped = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9];
        let zstd = encoded(Compression::Zstd, TEXT);
        assert_eq!(decoded(&[&zstd[..], &skipped, &zstd].concat()).unwrap(), twice);
    }

    #[test]
    fn damage_is_an_error_not_a_short_text() {
        for compression in ALL {
            let data = encoded(compression, TEXT);
            for end in 8..data.len() {
                assert!(decoded(&data[..end]).is_err(), "{compression:?} cut after {end}");
            }
            for place in 0..data.len() {
                let mut flipped = data.clone();
                flipped[place] ^= 0x10;
                // names, times and the first bytes are not under the checksum
                if let Ok(text) = decoded(&flipped) {
                    assert!(text == TEXT || place < 10, "{compression:?} flipped at {place}");
                }
            }
        }
    }

    #[test]
    fn more_than_a_file_can_honestly_hold_is_refused() {
        assert_eq!(Limit::of(10).bytes, SMALL);
        assert_eq!(Limit::of(1 << 20).bytes, 1000 << 20);
        assert_eq!(Limit::of(u64::MAX).bytes, MAX_DECOMPRESSED);
        let limit = Limit::exactly(1000);
        for compression in ALL {
            let size = |count: usize| {
                let data = encoded(compression, &vec![b'0'; count]);
                let mut out = Vec::new();
                limited(data.as_slice(), limit)?.read_to_end(&mut out)
            };
            assert_eq!(size(1000).unwrap(), 1000);
            assert!(size(1001).unwrap_err().to_string().contains("more than 1000 bytes"));
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let Err(error) = open(Path::new("/no/such/file.gz")) else { panic!() };
        assert!(error.to_string().starts_with("/no/such/file.gz: "), "{error}");
    }
}
