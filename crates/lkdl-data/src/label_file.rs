//! Labels in a file of their own: one per line of text, or one array of `.npy`, `.npz` or IDX.
//!
//! A text may be compressed, hold comments (`#`) and quotes, and have one line more than there are
//! samples: then the first is a header.

use crate::delimited::records::{Record, Records};
use crate::delimited::separator::Separator;
use crate::error::DataError;
use crate::format::Format;
use crate::source::LabelStream;
use crate::table::Labels;
use crate::{compressed, idx, idx_pair, npy, npz};
use std::path::Path;

/// The bytes of a file that tell its format.
const MAGIC_BYTES: usize = 1024;

/// The labels of `n_samples` samples.
pub(crate) fn read(file: &Path, n_samples: usize) -> Result<Labels, DataError> {
    let labels = match Format::from_bytes(&compressed::start(file, MAGIC_BYTES)?) {
        Some(Format::Npy) => npy::read_labels(file)?,
        Some(Format::Npz) => npz::read_labels(file)?,
        Some(Format::Idx) => idx_pair::read_labels(file)?,
        Some(format @ (Format::Matlab | Format::Hdf5 | Format::Parquet)) => {
            let problem = format!("labels are not read from {format}");
            return Err(DataError::format(file, problem, "save them as text, npy, npz or IDX"));
        }
        _ => text(file, n_samples)?,
    };
    let n = labels.indices.len();
    if n != n_samples {
        let problem = format!("{n} labels for {n_samples} samples");
        return Err(DataError::format(file, problem, "give one label per sample"));
    }
    Ok(labels)
}

/// The labels of `n_samples` samples, one after the other: arrays as they are read, others from
/// memory.
pub(crate) fn stream(file: &Path, n_samples: usize) -> Result<LabelStream, DataError> {
    let labels = match Format::from_bytes(&compressed::start(file, MAGIC_BYTES)?) {
        Some(Format::Npy) => npy::rows::labels(file)?,
        Some(Format::Idx) => idx::rows::labels(file)?,
        _ => LabelStream::Whole { labels: read(file, n_samples)?, next: 0 },
    };
    labels.check(n_samples)?;
    Ok(labels)
}

fn text(file: &Path, n_samples: usize) -> Result<Labels, DataError> {
    let separator = Separator::Character(',');
    let mut records = Records::with(compressed::open(file)?, file, separator);
    let (mut record, mut texts) = (Record::default(), Vec::new());
    while records.next(&mut record)? {
        let mut cells = record.cells.iter();
        match (cells.next(), cells.next()) {
            (Some(cell), None) => texts.push(cell.trim().to_string()),
            _ => {
                let problem = format!("{} columns of labels", record.cells.len());
                return Err(records.fault(record.line, problem, "give a file of one column"));
            }
        }
        // a header and one label for each; what is beyond is not kept
        if texts.len() > n_samples.saturating_add(1) {
            let problem = format!("more than one label for each of {n_samples} samples");
            return Err(records.fault(record.line, problem, "give one label per sample"));
        }
    }
    let header = usize::from(texts.len() == n_samples.saturating_add(1));
    Ok(Labels::from_texts(&texts[header..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use crate::table::Table;
    use crate::{ReadOptions, write};
    use faer::Mat;

    const NAMES: [&str; 4] = ["3", "1", "3", "2"];

    fn names(file: &Path) -> Result<Vec<String>, DataError> {
        Ok(read(file, 4)?.names().map(String::from).collect())
    }

    #[test]
    fn labels_are_read_from_text_and_arrays() {
        let scratch = Scratch::new("label-file");
        for (name, text) in [
            ("a.txt", "3\n1\n3\n2\n"),
            ("b.csv", "digit\n3\n1\n3\n2"),
            ("c", "# note\r\n3\r\n1\r\n\r\n\"3\"\r\n2.0\r\n"),
        ] {
            assert_eq!(names(&scratch.file(name, text.as_bytes())).unwrap(), NAMES, "{name}");
        }
        let words = scratch.file("w.txt", b"Homo sapiens\nPan: troglodytes\na\nb; c\n");
        assert_eq!(names(&words).unwrap()[..2], ["Homo sapiens", "Pan: troglodytes"]);
        let labels = Labels::from_texts(&NAMES);
        let mut npy = Vec::new();
        npy::write_labels(&mut npy, &labels).unwrap();
        assert_eq!(names(&scratch.file("y.npy", &npy)).unwrap(), NAMES);
        let table = Table::new("t", Mat::zeros(1, 4), Some(labels)).unwrap();
        for name in ["t.npz", "t.idx"] {
            write(&scratch.0.join(name), &table, None, false).unwrap();
        }
        assert_eq!(names(&scratch.0.join("t.npz")).unwrap(), NAMES);
        assert_eq!(names(&scratch.0.join("t-labels-idx1")).unwrap(), NAMES);
        // beside samples of any format
        let path = scratch.file("x.csv", b"u,v\n1,2\n3,4\n5,6\n7,8\n");
        let label = Some(scratch.0.join("a.txt").to_str().unwrap().to_string());
        let options = ReadOptions { label, ..ReadOptions::default() };
        let table = crate::read(&path, &options).unwrap();
        assert_eq!((table.n_features(), table.labels.unwrap().names().count()), (2, 4));
    }

    #[test]
    fn what_is_not_one_label_per_sample_is_refused() {
        let scratch = Scratch::new("label-file-bad");
        for (text, fault) in [
            (&b"1\n2\n"[..], "2 labels for 4 samples"),
            (b"1\n2\n3\n4\n5\n6\n", "line 6: more than one label for each of 4 samples"),
            (b"1,2\n1,2\n1,2\n1,2\n", "line 1: 2 columns of labels"),
            (b"PAR1", "labels are not read from parquet"),
            (b"\xff\n\n", "not text"),
            (b"", "0 labels for 4 samples"),
        ] {
            let message = names(&scratch.file("y", text)).unwrap_err().to_string();
            assert!(message.contains(fault), "{message}");
        }
        assert!(names(&scratch.0.join("no")).is_err());
    }
}
