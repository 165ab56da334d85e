//! Which format a file is in: its name tells, and its first bytes tell where the name does not.
//!
//! A name and bytes that contradict each other are an error, not a guess.

use crate::compressed;
use crate::error::DataError;
use std::path::Path;
use std::str::FromStr;

/// The file formats that are read; all but [`Format::Hdf5`] are written too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// One NumPy array, `.npy`.
    Npy,
    /// NumPy arrays by name, `.npz`.
    Npz,
    /// Comma-separated text, `.csv`.
    Csv,
    /// Tab-separated text, `.tsv`.
    Tsv,
    /// LIBSVM (SVMlight) text, `.svm`, `.libsvm`, `.svmlight`.
    Svmlight,
    /// MATLAB, `.mat`: v5, v7 and v7.3.
    Matlab,
    /// HDF5, `.h5`, `.hdf5`.
    Hdf5,
    /// IDX, the format of MNIST: `.idx`, `…-idx3-ubyte`.
    Idx,
    /// Parquet, `.parquet`.
    Parquet,
    /// A folder with one sub-folder of images per class.
    Images,
}

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// `.gz`
    Gzip,
    /// `.bz2`
    Bzip2,
    /// `.zst`
    Zstd,
}

const ENDINGS: [(&str, Format); 16] = [
    ("npy", Format::Npy),
    ("npz", Format::Npz),
    ("csv", Format::Csv),
    ("tsv", Format::Tsv),
    ("tab", Format::Tsv),
    ("svm", Format::Svmlight),
    ("libsvm", Format::Svmlight),
    ("svmlight", Format::Svmlight),
    ("mat", Format::Matlab),
    ("h5", Format::Hdf5),
    ("hdf5", Format::Hdf5),
    ("idx", Format::Idx),
    ("idx1-ubyte", Format::Idx),
    ("idx3-ubyte", Format::Idx),
    ("parquet", Format::Parquet),
    ("pq", Format::Parquet),
];

/// How far into a file its format is looked for: a MATLAB 7.3 file is HDF5 after 512 bytes.
const MAGIC_BYTES: usize = 1024;

impl Format {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Npy,
        Self::Npz,
        Self::Csv,
        Self::Tsv,
        Self::Svmlight,
        Self::Matlab,
        Self::Hdf5,
        Self::Idx,
        Self::Parquet,
        Self::Images,
    ];

    /// The name it is asked for by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Svmlight => "svmlight",
            Self::Matlab => "mat",
            Self::Hdf5 => "hdf5",
            Self::Idx => "idx",
            Self::Parquet => "parquet",
            Self::Images => "images",
        }
    }

    /// Whether it can be written as well as read.
    pub fn is_written(self) -> bool {
        self != Self::Hdf5
    }

    /// The names of those that can be written.
    pub(crate) fn written() -> String {
        let written: Vec<_> = Self::ALL.into_iter().filter(|f| f.is_written()).collect();
        written.into_iter().map(Self::name).collect::<Vec<_>>().join(", ")
    }

    /// What a file's name says: its ending, before that of a compression.
    pub fn from_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name = match Compression::from_name(path) {
            Some(_) => name.rsplit_once('.')?.0,
            None => name.as_str(),
        };
        if let Some((_, ending)) = name.rsplit_once('.')
            && let Some((_, format)) = ENDINGS.iter().find(|(known, _)| *known == ending)
        {
            return Some(*format);
        }
        // train-images-idx3-ubyte, digits-labels-idx1
        let idx = name.rsplit_once("-idx").is_some_and(|(_, axes)| {
            let axes = axes.strip_suffix("-ubyte").unwrap_or(axes);
            !axes.is_empty() && axes.bytes().all(|byte| byte.is_ascii_digit())
        });
        idx.then_some(Self::Idx)
    }

    /// What a file's first bytes, decompressed, say.
    pub(crate) fn from_bytes(start: &[u8]) -> Option<Self> {
        const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";
        if start.starts_with(b"\x93NUMPY") {
            return Some(Self::Npy);
        } else if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
            return Some(Self::Npz);
        } else if start.starts_with(b"PAR1") {
            return Some(Self::Parquet);
        } else if start.starts_with(HDF5) {
            return Some(Self::Hdf5);
        } else if start.starts_with(b"MATLAB ")
            || matches!(start.get(126..128), Some(b"IM" | b"MI"))
        {
            return Some(Self::Matlab);
        } else if let [0, 0, 8 | 9 | 0xb..=0xe, 1..=8, ..] = start {
            return Some(Self::Idx);
        }
        Self::from_text(start)
    }

    /// What the first line with something in it looks like.
    fn from_text(start: &[u8]) -> Option<Self> {
        let mut lines = start.split(|byte| *byte == b'\n').filter_map(|line| {
            let line = line.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii();
            (!line.is_empty()).then_some(line)
        });
        let line = lines.next()?;
        // the last word may be cut off at the end of what was looked at
        let mut words = line.split(|byte| byte.is_ascii_whitespace()).skip(1);
        if line.iter().any(|byte| !(0x20..0x7f).contains(byte) && *byte != b'\t' && *byte < 0x80) {
            None
        } else if words.next().is_some_and(|word| word.contains(&b':')) {
            Some(Self::Svmlight)
        } else if line.contains(&b',') {
            Some(Self::Csv)
        } else if line.contains(&b'\t') {
            Some(Self::Tsv)
        } else if line.contains(&b';') || are_numbers(line) {
            Some(Self::Csv) // which finds its separator by itself
        } else {
            None
        }
    }

    /// Whether the first bytes of this format are its own, so that others contradict it.
    fn has_magic(self) -> bool {
        !matches!(self, Self::Csv | Self::Tsv | Self::Svmlight | Self::Images)
    }

    /// The format of the file or folder at `path`.
    pub fn detect(path: &Path) -> Result<Self, DataError> {
        if path.is_dir() {
            return Ok(Self::Images);
        }
        let by_name = Self::from_name(path);
        let start = compressed::start(path, MAGIC_BYTES)?;
        let by_bytes = Self::from_bytes(&start);
        match (by_name, by_bytes) {
            (Some(name), Some(bytes)) if contradict(name, bytes) => {
                let problem = format!("the name says {name}, the first bytes say {bytes}");
                let fix = "rename the file, or name its format (--format-in)";
                Err(DataError::format(path, problem, fix))
            }
            (Some(format), _) | (None, Some(format)) => Ok(format),
            (None, None) => {
                let known = Self::ALL.map(Self::name).join(", ");
                let problem = format!("neither the name nor the first bytes tell which of {known}");
                Err(DataError::format(path, problem, "name the format (--format-in)"))
            }
        }
    }
}

/// Whether a line is several numbers between blanks; the last may be cut off.
fn are_numbers(line: &[u8]) -> bool {
    let words: Vec<&str> =
        std::str::from_utf8(line).unwrap_or_default().split_ascii_whitespace().collect();
    words.len() > 1 && words[..words.len() - 1].iter().all(|word| word.parse::<f64>().is_ok())
}

/// Whether a file of format `name` cannot start as one of format `bytes` does.
fn contradict(name: Format, bytes: Format) -> bool {
    match (name, bytes) {
        // MATLAB 7.3 is HDF5, with MATLAB's own header before it or, from other writers, without
        (Format::Matlab, Format::Hdf5) | (Format::Hdf5, Format::Matlab) => false,
        _ => name != bytes && bytes.has_magic(),
    }
}

impl Compression {
    /// What a file's last ending says.
    pub fn from_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "gz" => Some(Self::Gzip),
            "bz2" => Some(Self::Bzip2),
            "zst" => Some(Self::Zstd),
            _ => None,
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = DataError;

    /// A format's name, or an ending it is known by.
    fn from_str(text: &str) -> Result<Self, DataError> {
        let text_lower = text.to_ascii_lowercase();
        let by_name = Self::ALL.into_iter().find(|format| format.name() == text_lower);
        let by_ending =
            || ENDINGS.iter().find(|(ending, _)| *ending == text_lower).map(|(_, format)| *format);
        by_name.or_else(by_ending).or((text_lower == "matlab").then_some(Self::Matlab)).ok_or_else(
            || {
                let known = format!("one of {}", Self::ALL.map(Self::name).join(", "));
                DataError::parameter("format", format!("\"{text}\""), known)
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_through_compression_and_case() {
        for (name, format) in [
            ("a/b.npz", Some(Format::Npz)),
            ("b.CSV.gz", Some(Format::Csv)),
            ("b.tab.bz2", Some(Format::Tsv)),
            ("usps.libsvm.zst", Some(Format::Svmlight)),
            ("train-images-idx3-ubyte.gz", Some(Format::Idx)),
            ("digits-labels-idx1", Some(Format::Idx)),
            ("x-idx", None),
            ("usps.bz2", None),
            ("noending", None),
            ("a.csv.old", None),
        ] {
            assert_eq!(Format::from_name(Path::new(name)), format, "{name}");
        }
    }

    #[test]
    fn first_bytes_tell() {
        for (bytes, format) in [
            (&b"\x93NUMPY\x01\x00"[..], Some(Format::Npy)),
            (b"PK\x03\x04", Some(Format::Npz)),
            (b"PAR1", Some(Format::Parquet)),
            (b"\x89HDF\r\n\x1a\n", Some(Format::Hdf5)),
            (b"MATLAB 5.0 MAT-file", Some(Format::Matlab)),
            (&[0, 0, 8, 3, 0, 0], Some(Format::Idx)),
            (b"# note\n\n+1 1:0.5 2:1", Some(Format::Svmlight)),
            (b"a,b,c\n1,2,3", Some(Format::Csv)),
            (b"1\t2\n", Some(Format::Tsv)),
            (b"a;b;c\n1;2;3", Some(Format::Csv)),
            (b"# note\n1 2.5e-3 3\n", Some(Format::Csv)),
            (b"1 2 cat\n", Some(Format::Csv)),
            (b"some words\n", None),
            (b"1\n2\n", None),
            (b"", None),
            (&[0; 40], None),
        ] {
            assert_eq!(Format::from_bytes(bytes), format, "{bytes:?}");
        }
    }

    #[test]
    fn names_are_read_back_as_written() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        }
        assert_eq!("libsvm".parse::<Format>().unwrap(), Format::Svmlight);
        assert_eq!("MATLAB".parse::<Format>().unwrap(), Format::Matlab);
        let error = "xls".parse::<Format>().unwrap_err().to_string();
        assert!(error.starts_with("format is \"xls\", but must be one of npy, "), "{error}");
    }
}
