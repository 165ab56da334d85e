//! HDF5 files: those of MATLAB 7.3, and arrays of numbers or texts from other programs.
//!
//! HDF5 names its axes slowest first, MATLAB fastest first, so a p×N matrix of MATLAB is N×p here;
//! the bytes are the same. In MATLAB's own files axes are spoken of as in MATLAB, in others as in
//! NumPy: one sample per row unless the labels' number says otherwise. Arrays in groups are named
//! `group/array`. MATLAB's cells are references to the arrays of the group `#refs#`.

use crate::dataset::MAX_ENTRIES;
use crate::error::DataError;
use crate::mapped::{self, Bytes};
use crate::options::ReadOptions;
use crate::table::Table;
use crate::variables::{self, Class, Content, Source, Variable, lines};
use hdf5_reader::{Dataset, Datatype, Hdf5File, OpenOptions, VarLenKind};
use std::collections::HashMap;
use std::path::Path;

const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";
/// MATLAB's own header comes first.
const USER_BLOCK: usize = 512;
/// Groups of MATLAB's own book-keeping begin so.
const INTERNAL: char = '#';
const REFERENCES: &str = "#refs#";
/// Deflate makes at most this many bytes of one; chunks that are not there are no reason for more.
const MAX_GROWTH: usize = 1032;
const MAX_HEADER_BYTES: usize = 1 << 20;

const DAMAGED: &str = "the file may be truncated or damaged: fetch it again";

/// Whether the bytes are HDF5, with or without MATLAB's header.
pub(crate) fn is_hdf5(bytes: &[u8]) -> bool {
    let behind = bytes.get(USER_BLOCK..).unwrap_or_default();
    bytes.starts_with(SIGNATURE) || behind.starts_with(SIGNATURE)
}

/// Reads samples and labels.
pub(crate) fn read(file: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    read_bytes(mapped::bytes(file)?, file, options)
}

/// Reads a file that is in memory already.
pub(crate) fn read_bytes(
    bytes: Bytes,
    file: &Path,
    options: &ReadOptions,
) -> Result<Table, DataError> {
    let source = Arrays::open(bytes, file)?;
    variables::read(&source, options, file)
}

/// The arrays of a file.
struct Arrays<'a> {
    file: &'a Path,
    hdf5: Hdf5File,
    datasets: Vec<Dataset>,
    variables: Vec<Variable>,
    from_matlab: bool,
}

impl<'a> Arrays<'a> {
    fn open(bytes: Bytes, file: &'a Path) -> Result<Self, DataError> {
        if !is_hdf5(&bytes) {
            return Err(DataError::format(file, "no HDF5 signature", "is this an HDF5 file?"));
        }
        let most = bytes.len().saturating_mul(MAX_GROWTH).min(MAX_ENTRIES * 8);
        let limits = OpenOptions::default()
            .with_max_read_bytes(most)
            .with_max_chunk_bytes(most)
            .with_max_object_header_bytes(MAX_HEADER_BYTES.min(bytes.len()))
            .with_chunk_cache_bytes(0);
        let header = bytes.starts_with(b"MATLAB ");
        let fault = |error| damaged(file, error);
        let hdf5 = Hdf5File::from_owner(bytes, limits).map_err(fault)?;
        let root = hdf5.root_group().map_err(fault)?;
        let mut this =
            Self { file, hdf5, datasets: Vec::new(), variables: Vec::new(), from_matlab: header };
        let (groups, datasets) = root.members().map_err(fault)?;
        datasets.into_iter().for_each(|dataset| this.push("", dataset));
        // deeper groups have no names that a caller would think of
        for group in groups.iter().filter(|group| !group.name().starts_with(INTERNAL)) {
            let datasets = group.datasets().map_err(fault)?;
            datasets.into_iter().for_each(|dataset| this.push(group.name(), dataset));
        }
        Ok(this)
    }

    fn push(&mut self, group: &str, dataset: Dataset) {
        let name = if group.is_empty() {
            dataset.name().to_string()
        } else {
            format!("{group}/{}", dataset.name())
        };
        let matlab = matlab_class(&dataset);
        self.from_matlab |= matlab.is_some();
        // a length beyond usize is refused by the limits when it is read
        let length = |length: &u64| usize::try_from(*length).unwrap_or(usize::MAX);
        let shape = dataset.shape().iter().rev().map(length).collect();
        let class = match (dataset.dtype(), matlab.as_deref()) {
            (Datatype::FixedPoint { size: 2, .. }, Some("char")) => Class::Text,
            (Datatype::Reference { .. }, Some("cell")) => Class::Cells,
            // one text per element, as cells have it
            (Datatype::String { .. }, _) => Class::Cells,
            (Datatype::VarLen { kind: VarLenKind::String, .. }, _) => Class::Cells,
            (Datatype::Compound { fields, .. }, _)
                if fields.iter().map(|f| f.name.as_str()).eq(["real", "imag"]) =>
            {
                Class::Complex
            }
            (datatype, _) if Number::of(datatype).is_some() => Class::Numbers,
            _ => Class::Other("of a kind that is neither number nor text"),
        };
        self.variables.push(Variable { name, shape, class });
        self.datasets.push(dataset);
    }

    fn fault(&self, problem: String, fix: &'static str) -> DataError {
        DataError::format(self.file, problem, fix)
    }

    /// The texts of a cell array.
    fn cells(&self, cells: &Dataset) -> Result<Vec<String>, DataError> {
        let fault = |error| damaged(self.file, error);
        let references = self.hdf5.root_group().and_then(|root| root.group(REFERENCES));
        let targets = references.and_then(|group| group.datasets()).map_err(fault)?;
        let targets: HashMap<u64, &Dataset> = targets.iter().map(|t| (t.address(), t)).collect();
        let addresses = cells.read_native_bytes().map_err(fault)?;
        let text = |(place, address): (usize, &[u8; 8])| {
            let target = targets.get(&u64::from_ne_bytes(*address));
            let lines = match target.filter(|t| matlab_class(t).as_deref() == Some("char")) {
                Some(target) => characters(target).map_err(fault)?,
                None => None,
            };
            match lines.as_deref() {
                Some([]) => Ok(String::new()),
                Some([line]) => Ok(line.clone()),
                _ => {
                    let problem =
                        format!("cell {} of {} is not one line of text", place + 1, cells.name());
                    Err(self.fault(problem, "name a variable of numbers or texts"))
                }
            }
        };
        addresses.as_chunks().0.iter().enumerate().map(text).collect()
    }
}

impl Source for Arrays<'_> {
    fn variables(&self) -> &[Variable] {
        &self.variables
    }

    fn last_axis_first(&self) -> bool {
        !self.from_matlab
    }

    fn load(&self, index: usize) -> Result<Content, DataError> {
        let (dataset, variable) = (&self.datasets[index], &self.variables[index]);
        let fault = |error| damaged(self.file, error);
        match variable.class {
            Class::Numbers => {
                let Some(number) = Number::of(dataset.dtype()) else {
                    return Err(self.unusable(index));
                };
                if dataset.num_elements().map_err(fault)? > MAX_ENTRIES as u64 {
                    let problem = format!("{} has more than {MAX_ENTRIES} values", variable.name);
                    return Err(self.fault(problem, "split the file"));
                }
                Ok(number.values(&dataset.read_native_bytes().map_err(fault)?))
            }
            Class::Text => {
                let text = characters(dataset).map_err(fault)?;
                text.map(Content::Text).ok_or_else(|| self.unusable(index))
            }
            Class::Cells if matches!(dataset.dtype(), Datatype::Reference { .. }) => {
                self.cells(dataset).map(Content::Text)
            }
            Class::Cells => Ok(Content::Text(dataset.read_strings().map_err(fault)?)),
            Class::Complex | Class::Other(_) => Err(self.unusable(index)),
        }
    }
}

impl Arrays<'_> {
    fn unusable(&self, index: usize) -> DataError {
        let variable = &self.variables[index];
        let problem = format!("variable {} is {}", variable.name, variable.class);
        self.fault(problem, "name a variable of numbers or texts")
    }
}

fn damaged(file: &Path, error: hdf5_reader::error::Error) -> DataError {
    DataError::format(file, error.to_string(), DAMAGED)
}

/// What MATLAB says an array is.
fn matlab_class(dataset: &Dataset) -> Option<String> {
    dataset.attribute("MATLAB_class").ok()?.read_string().ok()
}

/// The rows of an array of UTF-16 units; `None` where they are not text.
fn characters(dataset: &Dataset) -> Result<Option<Vec<String>>, hdf5_reader::error::Error> {
    // an empty text is stored as its shape
    if dataset.attribute("MATLAB_empty").is_ok() {
        return Ok(Some(Vec::new()));
    }
    let &[_, n_rows] = dataset.shape() else { return Ok(None) };
    let bytes = dataset.read_native_bytes()?;
    let units = bytes.as_chunks().0.iter().map(|unit| u16::from_ne_bytes(*unit));
    let letters: Result<Vec<char>, _> = char::decode_utf16(units).collect();
    Ok(letters.ok().and_then(|letters| lines(&letters, usize::try_from(n_rows).ok()?)))
}

/// The kinds of numbers that are read.
#[derive(Debug, Clone, Copy)]
enum Number {
    Signed(u8),
    Unsigned(u8),
    Float(u8),
}

impl Number {
    fn of(datatype: &Datatype) -> Option<Self> {
        match datatype {
            Datatype::FixedPoint { size: size @ (1 | 2 | 4 | 8), signed: true, .. } => {
                Some(Self::Signed(*size))
            }
            Datatype::FixedPoint { size: size @ (1 | 2 | 4 | 8), signed: false, .. } => {
                Some(Self::Unsigned(*size))
            }
            Datatype::FloatingPoint { size: size @ (4 | 8), .. } => Some(Self::Float(*size)),
            // truth values, as h5py writes them
            Datatype::Enum { base, .. } => match **base {
                Datatype::FixedPoint { size: 1, .. } => Self::of(base),
                _ => None,
            },
            _ => None,
        }
    }

    /// Numbers of this kind from bytes in the machine's order.
    fn values(self, bytes: &[u8]) -> Content {
        macro_rules! each {
            ($number:ty) => {{
                let parts = bytes.as_chunks().0.iter();
                Content::Real(
                    parts.map(|part| f64::from(<$number>::from_ne_bytes(*part))).collect(),
                )
            }};
        }
        match self {
            Self::Signed(1) => each!(i8),
            Self::Signed(2) => each!(i16),
            Self::Signed(4) => each!(i32),
            Self::Unsigned(1) => each!(u8),
            Self::Unsigned(2) => each!(u16),
            Self::Unsigned(4) => each!(u32),
            Self::Float(4) => each!(f32),
            Self::Float(_) => each!(f64),
            Self::Signed(_) => {
                let parts = bytes.as_chunks().0.iter();
                Content::Integers(parts.map(|part| i64::from_ne_bytes(*part)).collect())
            }
            Self::Unsigned(_) => {
                let parts = bytes.as_chunks().0.iter();
                Content::Unsigned(parts.map(|part| u64::from_ne_bytes(*part)).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Layout;
    use faer::Mat;
    use std::path::PathBuf;

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
    }

    fn expected() -> Mat<f64> {
        Mat::from_fn(3, 5, |t, i| (10 * t + i) as f64 / 4.0 - 3.0)
    }

    #[test]
    fn what_h5py_writes_is_read() {
        for (name, labels) in [
            ("plain.h5", ["3", "1", "3", "2", "1"]),
            ("strings.h5", ["cat", "ant", "cat", "bär", "ant"]),
            ("matlab_v73.mat", ["cat", "ant", "cat", "bär", "ant"]),
        ] {
            let table = read(&fixture(name), &ReadOptions::default()).unwrap();
            // strings.h5 holds them as int16
            let rounded = Mat::from_fn(3, 5, |t, i| match name {
                "strings.h5" => expected()[(t, i)].trunc(),
                _ => expected()[(t, i)],
            });
            assert_eq!(table.samples, rounded, "{name}");
            assert_eq!(table.labels.unwrap().names().collect::<Vec<_>>(), labels, "{name}");
        }
        // through the MATLAB reader, which a .mat file comes to
        let table = crate::matlab::read(&fixture("matlab_v73.mat"), &ReadOptions::default());
        assert_eq!(table.unwrap().samples, expected());
    }

    #[test]
    fn rows_are_meant_as_the_files_users_see_them() {
        for (name, layout, n) in [
            ("plain.h5", Layout::Auto, 5),
            ("plain.h5", Layout::Rows, 5),
            ("plain.h5", Layout::Columns, 3),
            ("matlab_v73.mat", Layout::Auto, 5),
            ("matlab_v73.mat", Layout::Columns, 5),
            ("matlab_v73.mat", Layout::Rows, 3),
        ] {
            let options = ReadOptions { layout, unlabelled: true, ..Default::default() };
            assert_eq!(read(&fixture(name), &options).unwrap().n_samples(), n, "{name} {layout}");
        }
        let shapes = |name| {
            let options = ReadOptions { samples: Some("none".into()), ..Default::default() };
            read(&fixture(name), &options).unwrap_err().to_string()
        };
        let message = shapes("plain.h5");
        assert!(message.contains("found data (5 x 3), labels (5), text ("), "{message}");
        let message = shapes("matlab_v73.mat");
        assert!(
            message.contains("found X (3 x 5), y (5 x 1 cells), record/a (1 x 1)"),
            "{message}"
        );
    }

    #[test]
    fn integers_of_64_bits_are_kept_exactly() {
        let (large, bytes) = (u64::MAX, u64::MAX.to_ne_bytes());
        assert_eq!(Number::Unsigned(8).values(&bytes), Content::Unsigned(vec![large]));
        assert_eq!(Number::Signed(8).values(&bytes), Content::Integers(vec![-1]));
    }

    #[test]
    fn what_is_not_hdf5_is_told() {
        for bytes in [&b""[..], &[0; 600], SIGNATURE] {
            let error =
                read_bytes(Bytes::Read(bytes.to_vec()), Path::new("x.h5"), &ReadOptions::default());
            assert!(matches!(error, Err(DataError::Format { .. })));
        }
    }
}
