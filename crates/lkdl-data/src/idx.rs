//! IDX, the format of MNIST: a big-endian header (two zero bytes, value type, number of axes, the
//! axes' lengths), then the values in row-major order.
//!
//! The header's claim is checked before a byte is read and memory grows with the bytes that really
//! come, so a false claim costs nothing.

use crate::compressed;
use crate::dataset::{Dataset, MAX_ENTRIES};
use crate::error::DataError;
use crate::labels::{LabelError, index_labels};
use faer::Mat;
use std::io::Read;
use std::path::Path;

pub(crate) mod rows;

const FETCH_AGAIN: &str = "the file may be truncated or damaged: fetch it again";
const RIGHT_FILE: &str = "is this an IDX file?";

/// The type of an array's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    U8,
    I8,
    I16,
    I32,
    F32,
    F64,
}

impl Kind {
    fn of(code: u8) -> Option<Self> {
        Some(match code {
            0x08 => Self::U8,
            0x09 => Self::I8,
            0x0b => Self::I16,
            0x0c => Self::I32,
            0x0d => Self::F32,
            0x0e => Self::F64,
            _ => return None,
        })
    }

    fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::I16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    fn value(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Self::U8, &[a]) => f64::from(a),
            (Self::I8, &[a]) => f64::from(a as i8),
            (Self::I16, &[a, b]) => f64::from(i16::from_be_bytes([a, b])),
            (Self::I32, &[a, b, c, d]) => f64::from(i32::from_be_bytes([a, b, c, d])),
            (Self::F32, &[a, b, c, d]) => f64::from(f32::from_be_bytes([a, b, c, d])),
            (Self::F64, &[a, b, c, d, e, f, g, h]) => f64::from_be_bytes([a, b, c, d, e, f, g, h]),
            _ => unreachable!("chunks have the length of the kind"),
        }
    }
}

/// What a file says of the values that follow.
struct IdxHeader {
    shape: Vec<usize>,
    kind: Kind,
    count: usize,
}

impl IdxHeader {
    fn read(reader: &mut impl Read, file: &Path) -> Result<Self, DataError> {
        let format = |problem: String, fix| DataError::format(file, problem, fix);
        let header = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => format("header is cut off".into(), FETCH_AGAIN),
            _ => DataError::reading(file, error),
        };
        let mut magic = [0; 4];
        reader.read_exact(&mut magic).map_err(header)?;
        let [0, 0, code, n_axes @ 1..=u8::MAX] = magic else {
            return Err(format(format!("starts with bytes {magic:02x?}"), RIGHT_FILE));
        };
        let Some(kind) = Kind::of(code) else {
            return Err(format(format!("value type is {code:#04x}"), RIGHT_FILE));
        };
        let mut shape = Vec::new();
        for _ in 0..n_axes {
            let mut length = [0; 4];
            reader.read_exact(&mut length).map_err(header)?;
            shape.push(u32::from_be_bytes(length) as usize);
        }
        let count = shape.iter().try_fold(1usize, |count, length| count.checked_mul(*length));
        match count {
            Some(0) => Err(format(format!("shape {shape:?} is empty"), FETCH_AGAIN)),
            Some(count) => Ok(Self { shape, kind, count }),
            None => {
                let problem = format!("header claims {shape:?}, more than {MAX_ENTRIES} values");
                Err(format(problem, "split the file, or fetch it again if damaged"))
            }
        }
    }
}

/// An array as the file holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct IdxArray {
    shape: Vec<usize>,
    kind: Kind,
    bytes: Vec<u8>,
}

impl IdxArray {
    /// Reads a file, plain or compressed.
    pub fn read_file(file: &Path) -> Result<Self, DataError> {
        Self::read(compressed::open(file)?, file)
    }

    /// Reads bytes; `file` is what messages call them.
    pub fn read(mut reader: impl Read, file: &Path) -> Result<Self, DataError> {
        let format = |problem: String, fix| DataError::format(file, problem, fix);
        let IdxHeader { shape, kind, count } = IdxHeader::read(&mut reader, file)?;
        if count > MAX_ENTRIES {
            let problem = format!("header claims {shape:?}, more than {MAX_ENTRIES} values");
            return Err(format(problem, "split the file, or fetch it again if damaged"));
        }
        let expected = count * kind.bytes();
        let mut bytes = Vec::new();
        let read = reader.by_ref().take(expected as u64).read_to_end(&mut bytes);
        read.map_err(|source| DataError::reading(file, source))?;
        if bytes.len() < expected {
            let problem = format!("{} of the {expected} bytes promised", bytes.len());
            return Err(format(problem, FETCH_AGAIN));
        }
        let mut more = [0];
        match reader.read(&mut more) {
            Ok(0) => Ok(Self { shape, kind, bytes }),
            Ok(_) => Err(format(format!("more than the {expected} bytes promised"), FETCH_AGAIN)),
            Err(source) => Err(DataError::reading(file, source)),
        }
    }

    /// The axes' lengths, slowest first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Rows and columns of the images in an array of three axes.
    pub fn image_shape(&self) -> Option<(usize, usize)> {
        match self.shape.as_slice() {
            &[_, rows, columns] => Some((rows, columns)),
            _ => None,
        }
    }

    /// The values in row-major order.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.bytes.chunks_exact(self.kind.bytes()).map(|bytes| self.kind.value(bytes))
    }

    /// The first axis counts samples; the others, flattened, are their features.
    pub fn samples(&self) -> Mat<f64> {
        let n_samples = self.shape[0];
        let n_features = self.shape[1..].iter().product::<usize>();
        let mut samples = Mat::zeros(n_features, n_samples);
        let mut values = self.values();
        for i in 0..n_samples {
            for (slot, value) in samples.col_as_slice_mut(i).iter_mut().zip(&mut values) {
                *slot = value;
            }
        }
        samples
    }
}

/// Reads a file of samples and the file of their labels; `class_names` as in
/// [`SvmlightParams`](crate::svmlight::SvmlightParams).
pub fn read_pair(
    name: &str,
    samples_file: &Path,
    labels_file: &Path,
    class_names: Option<&[String]>,
) -> Result<Dataset, DataError> {
    let labels = IdxArray::read_file(labels_file)?;
    let samples = IdxArray::read_file(samples_file)?;
    let (n, fix) = (samples.shape[0], "give the two files of one set, in the right order");
    if labels.shape != [n] {
        let problem = format!("labels of shape {:?} for {n} samples", labels.shape);
        return Err(DataError::format(labels_file, problem, fix));
    }
    let values: Vec<f64> = labels.values().collect();
    if let Some(i) = values.iter().position(|value| !value.is_finite()) {
        let problem = format!("label of sample {i} is {}", values[i]);
        return Err(DataError::format(labels_file, problem, FETCH_AGAIN));
    }
    let indexed = index_labels(&values, class_names).map_err(|error| match error {
        LabelError::Names(error) => error,
        LabelError::Unknown { i } => DataError::format(
            labels_file,
            format!("label {} of sample {i} is not among the class names", values[i]),
            "add it to class_names or drop the sample",
        ),
    })?;
    let image_shape = samples.image_shape();
    let samples = samples.samples();
    let bad = (0..n).find(|&i| samples.col_as_slice(i).iter().any(|value| !value.is_finite()));
    if let Some(i) = bad {
        let problem = format!("sample {i} holds a value that is not finite");
        return Err(DataError::format(samples_file, problem, "replace or drop such values"));
    }
    let set = Dataset::new(name, samples, indexed.labels, indexed.class_names)?;
    Ok(Dataset { image_shape, ..set })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn encode(code: u8, shape: &[u32], values: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0, 0, code, shape.len() as u8];
        bytes.extend(shape.iter().flat_map(|length| length.to_be_bytes()));
        bytes.extend(values);
        bytes
    }

    fn read(bytes: &[u8]) -> Result<IdxArray, DataError> {
        IdxArray::read(bytes, Path::new("x.idx"))
    }

    fn fault(bytes: &[u8]) -> String {
        let error = read(bytes).unwrap_err();
        assert!(matches!(error, DataError::Format { line: None, .. }), "{error}");
        error.to_string()
    }

    #[test]
    fn an_array_of_images_becomes_columns() {
        let bytes: Vec<u8> = (0..12).map(|v| v * 20).collect();
        let array = read(&encode(8, &[3, 2, 2], &bytes)).unwrap();
        assert_eq!(array.shape(), [3, 2, 2]);
        assert_eq!(array.samples(), Mat::from_fn(4, 3, |t, i| 20.0 * (4 * i + t) as f64));
    }

    #[test]
    fn every_value_type_is_read() {
        let values = |code, bytes: &[u8], size| {
            let array = read(&encode(code, &[(bytes.len() / size) as u32], bytes)).unwrap();
            array.values().collect::<Vec<_>>()
        };
        assert_eq!(values(0x08, &[200, 1], 1), [200.0, 1.0]);
        assert_eq!(values(0x09, &[200, 1], 1), [-56.0, 1.0]);
        assert_eq!(values(0x0b, &(-300i16).to_be_bytes(), 2), [-300.0]);
        assert_eq!(values(0x0c, &(-70_000i32).to_be_bytes(), 4), [-70_000.0]);
        assert_eq!(values(0x0d, &0.1f32.to_be_bytes(), 4), [f64::from(0.1f32)]);
        assert_eq!(values(0x0e, &0.1f64.to_be_bytes(), 8), [0.1]);
    }

    #[test]
    fn every_false_byte_is_an_error() {
        let good = encode(8, &[2, 3], &[0; 6]);
        assert!(read(&good).is_ok());
        for end in 0..good.len() {
            assert!(read(&good[..end]).is_err(), "cut after {end} bytes");
        }
        assert!(fault(&good[..good.len() - 1]).contains("5 of the 6 bytes promised"));
        assert!(fault(&good[..6]).contains("header is cut off"));
        assert!(fault(&[good.clone(), vec![0]].concat()).contains("more than the 6 bytes"));
        assert!(fault(b"PK\x03\x04 and so on").contains("starts with bytes"));
        assert!(fault(&encode(0x0a, &[1], &[0])).contains("value type is 0x0a"));
        assert!(fault(&encode(8, &[], &[])).contains("starts with bytes"));
        assert!(fault(&encode(8, &[2, 0], &[])).contains("is empty"));
    }

    #[test]
    fn a_huge_claim_is_refused_and_a_large_one_takes_no_memory() {
        assert!(fault(&encode(8, &[u32::MAX; 4], &[0; 9])).contains("header claims"));
        assert!(fault(&encode(8, &[u32::MAX, 1000], &[0; 9])).contains("header claims"));
        // within the limit, 4 GiB claimed, 9 bytes there
        assert!(fault(&encode(0x0e, &[1 << 29], &[0; 9])).contains("9 of the 4294967296 bytes"));
    }

    #[test]
    fn samples_and_labels_make_a_set() {
        let scratch = Scratch::new("idx-pair");
        let images = scratch.file("images", &encode(8, &[3, 2], &[1, 2, 3, 4, 5, 6]));
        let labels = scratch.file("labels", &encode(8, &[3], &[7, 2, 7]));
        let set = read_pair("tiny", &images, &labels, None).unwrap();
        assert_eq!((set.labels, set.class_names), (vec![1, 0, 1], vec!["2".into(), "7".into()]));
        assert_eq!(set.samples[(1, 2)], 6.0);

        let names = ["7".to_string()];
        let message =
            |a: &Path, b: &Path, names| read_pair("tiny", a, b, names).unwrap_err().to_string();
        let unknown = message(&images, &labels, Some(&names));
        assert!(unknown.contains("label 2 of sample 1"), "{unknown}");
        let swapped = message(&labels, &images, None);
        assert!(swapped.contains("labels of shape [3, 2] for 3 samples"), "{swapped}");
        let nan = [1.0f32.to_be_bytes(), f32::NAN.to_be_bytes(), 2f32.to_be_bytes()].concat();
        let nan = scratch.file("nan", &encode(0x0d, &[3], &nan));
        assert!(message(&images, &nan, None).contains("label of sample 1 is NaN"));
        assert!(message(&nan, &labels, None).contains("sample 1 holds a value that is not finite"));
    }
}
