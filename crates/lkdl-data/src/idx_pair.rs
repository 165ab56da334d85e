//! A table as two IDX files: the samples, and beside them their labels.
//!
//! The labels of `train-images-idx3-ubyte.gz` are in `train-labels-idx1-ubyte.gz`, as MNIST has
//! it; those of any other file, `digits.idx.gz`, in `digits-labels-idx1.gz`. A file without such a
//! sibling is unlabelled. Samples are written as bytes if all are whole numbers of 0 to 255,
//! otherwise as `f64`, with the axes N, p, or N, rows, columns if they are images or the name says
//! `idx3` (then of √p × √p where nothing else is known); labels as bytes or 32-bit numbers. Arrays
//! of three axes are read as images.

use crate::atomic::{Written, publish};
use crate::compressed;
use crate::error::DataError;
use crate::format::Compression;
use crate::idx::{self, IdxArray};
use crate::options::ReadOptions;
use crate::table::{Labels, Table, set_name};
use std::io::Write;
use std::path::{Path, PathBuf};

const BYTES: u8 = 0x08;
const INTEGERS: u8 = 0x0c;
const FLOATS: u8 = 0x0e;

/// Where the labels of the samples in `file` are.
pub fn labels_file(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    if let Some((front, back)) = name.split_once("-images-idx") {
        let back = back.trim_start_matches(|c: char| c.is_ascii_digit());
        return file.with_file_name(format!("{front}-labels-idx1{back}"));
    }
    let ending = match Compression::from_name(file) {
        Some(_) => name.rsplit_once('.').map_or("", |(_, ending)| ending),
        None => "",
    };
    let dot = if ending.is_empty() { "" } else { "." };
    file.with_file_name(format!("{}-labels-idx1{dot}{ending}", set_name(file)))
}

/// Reads samples, and labels if there are such beside them.
pub(crate) fn read(file: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    let labels = labels_file(file);
    if !options.unlabelled && labels != file && labels.is_file() {
        return Ok(idx::read_pair(&set_name(file), file, &labels, None)?.into());
    }
    let array = IdxArray::read_file(file)?;
    Ok(Table::from_file(file, array.samples(), None)?.with_image_shape(array.image_shape()))
}

/// The labels in a file of their own.
pub(crate) fn read_labels(file: &Path) -> Result<Labels, DataError> {
    let array = IdxArray::read_file(file)?;
    if array.shape().len() > 1 {
        let problem = format!("labels of shape {:?}", array.shape());
        return Err(DataError::format(file, problem, "give one label per sample"));
    }
    let values: Vec<f64> = array.values().collect();
    Labels::from_numbers(&values).map_err(|error| error.in_file(file))
}

/// Writes both files, or the first alone if there are no labels; they appear together, the labels
/// first, so that samples are never without them.
pub(crate) fn write(file: &Path, table: &Table, overwrite: bool) -> Result<(), DataError> {
    let labels_file = labels_file(file);
    if !overwrite && let Some(old) = [file, &labels_file].into_iter().find(|path| path.exists()) {
        return Err(DataError::Exists { file: old.into() });
    }
    let shape = shape(file, table)?;
    let put = |path: &Path, fill: &dyn Fn(&mut dyn Write) -> std::io::Result<()>| {
        let compression = Compression::from_name(path);
        Written::new(path, overwrite, |out| {
            compressed::encode(out, compression, |out| fill(out).map_err(DataError::output))
        })
    };
    let labels = match &table.labels {
        Some(labels) => {
            let classes = classes(labels)?;
            put(&labels_file, &|out| write_labels(out, labels, &classes))?
        }
        None => None,
    };
    let samples = put(file, &|out| write_samples(out, table, &shape))?;
    if table.labels.is_none() && labels_file.is_file() {
        // labels of what was there before would be taken for those of the new samples
        let removed = std::fs::remove_file(&labels_file);
        removed.map_err(|source| DataError::writing(&labels_file, source))?;
    }
    publish([labels, samples].into_iter().flatten().collect(), overwrite)
}

/// The axes to write.
fn shape(file: &Path, table: &Table) -> Result<Vec<u32>, DataError> {
    let (n, p) = (table.n_samples(), table.n_features());
    let is_stack = file.to_string_lossy().contains("-idx3");
    let square = (p.isqrt(), p.isqrt());
    let lengths = match table.image_shape.filter(|(rows, columns)| rows * columns == p) {
        Some((rows, columns)) => vec![n, rows, columns],
        None if !is_stack => vec![n, p],
        None if square.0 * square.1 == p => vec![n, square.0, square.1],
        None => {
            let requirement = "a square for a name with idx3; choose another name";
            return Err(DataError::parameter("n_features", p, requirement));
        }
    };
    let length = |length: usize| {
        u32::try_from(length)
            .map_err(|_| DataError::parameter("length of an axis", length, "below 2^32 in IDX"))
    };
    lengths.into_iter().map(length).collect()
}

/// The class names as whole numbers.
fn classes(labels: &Labels) -> Result<Vec<i32>, DataError> {
    let integers = labels.integers().unwrap_or_default();
    let classes: Vec<i32> = integers.iter().filter_map(|v| i32::try_from(*v).ok()).collect();
    if classes.len() == labels.class_names.len() {
        return Ok(classes);
    }
    let fault = labels.class_names.iter().find(|name| name.parse::<i32>().is_err());
    let value = fault.map_or(String::new(), |name| format!("{name:?}"));
    let requirement = "a whole number of 32 bits to be written as IDX; write CSV or npz instead";
    Err(DataError::parameter("label", value, requirement))
}

fn write_header(out: &mut dyn Write, kind: u8, shape: &[u32]) -> std::io::Result<()> {
    out.write_all(&[0, 0, kind, shape.len() as u8])?;
    shape.iter().try_for_each(|length| out.write_all(&length.to_be_bytes()))
}

/// The value as a byte, if it is one; −0 is not.
fn byte(value: f64) -> Option<u8> {
    let byte = value as u8;
    (f64::from(byte).to_bits() == value.to_bits()).then_some(byte)
}

fn write_samples(out: &mut dyn Write, table: &Table, shape: &[u32]) -> std::io::Result<()> {
    let columns = || (0..table.n_samples()).map(|i| table.samples.col_as_slice(i));
    let are_bytes = columns().flatten().all(|value| byte(*value).is_some());
    write_header(out, if are_bytes { BYTES } else { FLOATS }, shape)?;
    let mut buffer = Vec::new();
    for column in columns() {
        buffer.clear();
        if are_bytes {
            buffer.extend(column.iter().map(|value| *value as u8));
        } else {
            buffer.extend(column.iter().flat_map(|value| value.to_be_bytes()));
        }
        out.write_all(&buffer)?;
    }
    Ok(())
}

fn write_labels(out: &mut dyn Write, labels: &Labels, classes: &[i32]) -> std::io::Result<()> {
    let are_bytes = classes.iter().all(|class| u8::try_from(*class).is_ok());
    let kind = if are_bytes { BYTES } else { INTEGERS };
    // the number of samples has been found to fit when their shape was
    write_header(out, kind, &[labels.indices.len() as u32])?;
    for class in labels.indices.iter().filter_map(|index| classes.get(*index as usize)) {
        match are_bytes {
            true => out.write_all(&[*class as u8])?,
            false => out.write_all(&class.to_be_bytes())?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use faer::Mat;

    fn table(samples: Mat<f64>, labels: &[&str]) -> Table {
        Table::new("t", samples, Some(Labels::from_texts(labels))).unwrap()
    }

    #[test]
    fn labels_stand_beside_their_samples() {
        for (samples, labels) in [
            ("a/train-images-idx3-ubyte.gz", "a/train-labels-idx1-ubyte.gz"),
            ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
            ("digits.idx", "digits-labels-idx1"),
            ("digits.idx.bz2", "digits-labels-idx1.bz2"),
        ] {
            assert_eq!(labels_file(Path::new(samples)), Path::new(labels));
        }
    }

    #[test]
    fn the_smallest_type_that_keeps_the_bits_is_written() {
        let scratch = Scratch::new("idx-types");
        let path = scratch.0.join("t.idx");
        for (value, labels, size, labels_size) in [
            (255.0, ["0", "255"], 12 + 8, 8 + 2),
            (0.5, ["-1", "300"], 12 + 64, 8 + 8),
            (-0.0, ["1", "2"], 12 + 64, 8 + 2),
            (256.0, ["1", "2"], 12 + 64, 8 + 2),
        ] {
            let samples = Mat::from_fn(4, 2, |t, i| if t == i { value } else { 7.0 });
            let table = table(samples, &labels);
            write(&path, &table, true).unwrap();
            assert_eq!(std::fs::metadata(&path).unwrap().len(), size);
            assert_eq!(std::fs::metadata(labels_file(&path)).unwrap().len(), labels_size);
            assert_eq!(read(&path, &ReadOptions::default()).unwrap().checksum(), table.checksum());
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let scratch = Scratch::new("idx-refused");
        let path = scratch.0.join("t.idx");
        let text = table(Mat::zeros(2, 2), &["a", "2"]);
        assert!(write(&path, &text, false).unwrap_err().to_string().contains("\"a\""));
        let large = table(Mat::zeros(2, 2), &["1", "3000000000"]);
        assert!(write(&path, &large, false).unwrap_err().to_string().contains("3000000000"));
        let good = table(Mat::zeros(2, 2), &["1", "2"]);
        let stack = scratch.0.join("t-images-idx3-ubyte");
        assert!(write(&stack, &good, false).unwrap_err().to_string().contains("square"));
        assert_eq!(std::fs::read_dir(&scratch.0).unwrap().count(), 0);
        // either file in the way
        std::fs::write(labels_file(&path), "").unwrap();
        assert!(matches!(write(&path, &good, false), Err(DataError::Exists { .. })));
    }

    #[test]
    fn images_keep_their_shape() {
        let scratch = Scratch::new("idx-images");
        let path = scratch.0.join("t.idx");
        let images = table(Mat::zeros(6, 2), &["1", "2"]).with_image_shape(Some((2, 3)));
        write(&path, &images, false).unwrap();
        assert_eq!(IdxArray::read_file(&path).unwrap().shape(), [2, 2, 3]);
        for unlabelled in [false, true] {
            let options = ReadOptions { unlabelled, ..ReadOptions::default() };
            assert_eq!(read(&path, &options).unwrap().image_shape, Some((2, 3)));
        }
    }

    #[test]
    fn neither_file_is_left_where_one_fails() {
        let scratch = Scratch::new("idx-together");
        let path = scratch.0.join("t.idx");
        let good = table(Mat::zeros(2, 2), &["1", "2"]);
        // the samples cannot take their name
        std::fs::create_dir(&path).unwrap();
        assert!(write(&path, &good, true).is_err());
        assert!(!labels_file(&path).exists());
        assert_eq!(std::fs::read_dir(&scratch.0).unwrap().count(), 1);
    }

    #[test]
    fn an_unlabelled_table_takes_away_the_labels_of_the_one_it_replaces() {
        let scratch = Scratch::new("idx-unlabelled");
        let path = scratch.0.join("t.idx");
        let labelled = table(Mat::zeros(4, 2), &["1", "2"]);
        write(&path, &labelled, false).unwrap();
        let bare = Table { labels: None, ..labelled };
        write(&path, &bare, true).unwrap();
        assert_eq!(read(&path, &ReadOptions::default()).unwrap(), bare);
    }
}
