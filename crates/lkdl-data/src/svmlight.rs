//! LIBSVM (SVMlight) text: one sample per line, `label index:value index:value …  # comment`.
//!
//! Indices start at 1 and ascend; features that are not written are zero. Files are read line by
//! line; memory is that of the entries written plus the dense matrix, at most
//! [`MAX_ENTRIES`] values.

use crate::compressed;
use crate::dataset::{Dataset, MAX_ENTRIES};
use crate::error::DataError;
use crate::labels::{LabelError, index_labels, number};
use crate::table::{Table, check_writable, set_name, write_number};
use faer::Mat;
use std::io::{BufRead, Read, Write};
use std::path::Path;

/// The longest line that is read: some 3 million features. More is not a text file.
const MAX_LINE: u64 = 64 << 20;

/// What a file cannot say about itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SvmlightParams {
    /// Number of features; without it, the largest index in the file.
    pub n_features: Option<usize>,
    /// The classes, as numbers, in the order of their indices; without them, the distinct labels
    /// of the file in ascending order. A test part needs those of its training part.
    pub class_names: Option<Vec<String>>,
}

/// The samples read so far.
#[derive(Default)]
struct Rows {
    labels: Vec<f64>,
    /// The line each sample stands on.
    lines: Vec<usize>,
    /// Sample i owns entries `ends[i - 1]..ends[i]`.
    ends: Vec<usize>,
    /// From 0.
    features: Vec<u32>,
    values: Vec<f64>,
    n_features: usize,
}

impl SvmlightParams {
    /// Reads a file, plain or compressed. Its name without endings names the set.
    pub fn read_file(&self, file: &Path) -> Result<Dataset, DataError> {
        self.read(compressed::open(file)?, file)
    }

    /// Reads text; `file` is what messages call it.
    pub fn read(&self, mut reader: impl BufRead, file: &Path) -> Result<Dataset, DataError> {
        let mut rows = Rows { n_features: self.n_features.unwrap_or(0), ..Rows::default() };
        let (mut buffer, mut line) = (Vec::new(), 0);
        loop {
            buffer.clear();
            let read = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut buffer);
            if read.map_err(|source| DataError::reading(file, source))? == 0 {
                break;
            }
            line += 1;
            self.add_line(&buffer, line, &mut rows).map_err(|(problem, fix)| {
                DataError::Format { file: file.into(), line: Some(line), problem, fix }
            })?;
        }
        self.finish(rows, file)
    }

    /// Reads one line, or says what is wrong with it and how to mend it.
    fn add_line(
        &self,
        bytes: &[u8],
        line: usize,
        rows: &mut Rows,
    ) -> Result<(), (String, &'static str)> {
        if bytes.len() as u64 == MAX_LINE && !bytes.ends_with(b"\n") {
            return Err((format!("longer than {MAX_LINE} bytes"), "is this a LIBSVM text file?"));
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|_| ("not text".to_string(), "is this a LIBSVM text file?"))?;
        let text = text.split('#').next().unwrap_or_default();
        let mut words = text.split_ascii_whitespace();
        let Some(label) = words.next() else { return Ok(()) };
        let Some(label) = finite(label) else {
            let fix = "start the line with the class as one number";
            return Err((format!("\"{label}\" is not a label"), fix));
        };
        let mut last = 0;
        for word in words {
            let (index, value) = entry(word)?;
            if index <= last {
                let fix = "sort each line by index and write each index once";
                return Err((format!("index {index} follows index {last}"), fix));
            }
            if let Some(n_features) = self.n_features.filter(|n| index as usize > *n) {
                let problem = format!("index {index} is beyond n_features = {n_features}");
                return Err((problem, "raise n_features or drop the entry"));
            }
            last = index;
            rows.features.push(index - 1);
            rows.values.push(value);
        }
        rows.labels.push(label);
        rows.lines.push(line);
        rows.ends.push(rows.values.len());
        rows.n_features = rows.n_features.max(last as usize);
        let entries = rows.labels.len().saturating_mul(rows.n_features.max(1));
        if entries > MAX_ENTRIES {
            let (n, p) = (rows.labels.len(), rows.n_features);
            let problem = format!("{n} samples of {p} features exceed {MAX_ENTRIES} values");
            return Err((problem, "split the file, or check the largest index"));
        }
        Ok(())
    }

    fn finish(&self, rows: Rows, file: &Path) -> Result<Dataset, DataError> {
        if rows.labels.is_empty() {
            return Err(DataError::format(file, "no sample", "is this the right file?"));
        }
        if rows.n_features == 0 {
            return Err(DataError::format(file, "no feature", "set n_features"));
        }
        let indexed = index_labels(&rows.labels, self.class_names.as_deref());
        let indexed = indexed.map_err(|error| match error {
            LabelError::Names(error) => error,
            LabelError::Unknown { i } => DataError::Format {
                file: file.into(),
                line: Some(rows.lines[i]),
                problem: format!("label {} is not among the class names", rows.labels[i]),
                fix: "add it to class_names or drop the line",
            },
        })?;
        let mut samples = Mat::zeros(rows.n_features, rows.labels.len());
        let mut start = 0;
        for (i, &end) in rows.ends.iter().enumerate() {
            let column = samples.col_as_slice_mut(i);
            for (t, value) in rows.features[start..end].iter().zip(&rows.values[start..end]) {
                column[*t as usize] = *value;
            }
            start = end;
        }
        Dataset::new(set_name(file), samples, indexed.labels, indexed.class_names)
    }
}

/// One `index:value`.
fn entry(word: &str) -> Result<(u32, f64), (String, &'static str)> {
    let Some((index, value)) = word.split_once(':') else {
        return Err((
            format!("\"{word}\" is not index:value"),
            "write every feature as index:value",
        ));
    };
    let index = match index.parse::<u32>() {
        Ok(0) => return Err((format!("index 0 in \"{word}\""), "count indices from 1")),
        Ok(index) => index,
        Err(_) => {
            let fix = "write a whole number before the colon";
            return Err((format!("\"{index}\" is not an index"), fix));
        }
    };
    match finite(value) {
        Some(value) => Ok((index, value)),
        None => {
            let fix = "replace or drop values that are not finite numbers";
            Err((format!("\"{value}\" is not a finite number"), fix))
        }
    }
}

fn finite(word: &str) -> Option<f64> {
    word.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// Writes the table. Zeros are left out, except the last feature of the first sample, which tells
/// the number of features. Only numbers are labels here, and every sample needs one.
pub(crate) fn write(out: &mut dyn Write, table: &Table) -> Result<(), DataError> {
    let Some(labels) = &table.labels else {
        return Err(DataError::Unlabelled { name: table.name.clone() });
    };
    check_writable(table, |name| number(name).is_some(), "a number")?;
    let mut line = Vec::new();
    for (i, label) in labels.names().enumerate() {
        line.clear();
        line.extend_from_slice(label.as_bytes());
        for (t, value) in table.samples.col_as_slice(i).iter().enumerate() {
            let tells_size = i == 0 && t + 1 == table.n_features();
            // the bits, so that −0 is kept
            if value.to_bits() != 0 || tells_size {
                write!(line, " {}:", t + 1)
                    .and_then(|()| write_number(&mut line, *value))
                    .map_err(DataError::output)?;
            }
        }
        line.push(b'\n');
        out.write_all(&line).map_err(DataError::output)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(params: &SvmlightParams, text: &str) -> Result<Dataset, DataError> {
        params.read(text.as_bytes(), Path::new("some/set.txt.gz"))
    }

    fn read_plain(text: &str) -> Result<Dataset, DataError> {
        read(&SvmlightParams::default(), text)
    }

    #[test]
    fn a_file_is_read_as_written() {
        let text = "# a comment\n+1 1:0.5 3:-2e-1 \r\n\n-1 2:7 # another\n+1\n10 3:1";
        let set = read_plain(text).unwrap();
        assert_eq!(set.name, "set");
        assert_eq!(set.class_names, ["-1", "1", "10"]);
        assert_eq!(set.labels, [1, 0, 1, 2]);
        let expected = [[0.5, 0.0, 0.0, 0.0], [0.0, 7.0, 0.0, 0.0], [-0.2, 0.0, 0.0, 1.0]];
        assert_eq!(set.samples, Mat::from_fn(3, 4, |t, i| expected[t][i]));
    }

    #[test]
    fn features_and_classes_may_be_fixed() {
        let class_names = ["3", "2", "1"].map(String::from).to_vec();
        let params = SvmlightParams { n_features: Some(4), class_names: Some(class_names) };
        let set = read(&params, "1 2:1\n3\n").unwrap();
        assert_eq!((set.n_features(), set.labels), (4, vec![2, 0]));
        let message = |text| read(&params, text).unwrap_err().to_string();
        assert!(message("1 4:1\n1 5:1\n").contains("line 2: index 5 is beyond n_features = 4"));
        assert!(message("1\n\n\n7\n").contains("line 4: label 7 is not among the class names"));
    }

    #[test]
    fn every_bad_line_is_named_with_its_fault() {
        for (bad, fault) in [
            ("x 1:1", "\"x\" is not a label"),
            ("nan 1:1", "\"nan\" is not a label"),
            ("1,2 1:1", "\"1,2\" is not a label"),
            ("1 0:1", "index 0"),
            ("1 2:1 1:1", "index 1 follows index 2"),
            ("1 2:1 2:1", "index 2 follows index 2"),
            ("1 2", "\"2\" is not index:value"),
            ("1 a:2", "\"a\" is not an index"),
            ("1 -1:2", "\"-1\" is not an index"),
            ("1 qid:3 1:2", "\"qid\" is not an index"),
            ("1 99999999999:2", "is not an index"),
            ("1 1:", "\"\" is not a finite number"),
            ("1 1:0.5.5", "\"0.5.5\" is not a finite number"),
            ("1 1:nan", "\"nan\" is not a finite number"),
            ("1 1:-inf", "\"-inf\" is not a finite number"),
            ("1 1:1e999", "\"1e999\" is not a finite number"),
            ("1 4294967295:2", "exceed"),
        ] {
            let error = read_plain(&format!("1 1:1\n{bad}\n1 1:1\n")).unwrap_err();
            assert!(matches!(error, DataError::Format { line: Some(2), .. }), "{error}");
            assert!(error.to_string().contains(fault), "{error}");
        }
    }

    #[test]
    fn files_without_samples_or_text_are_errors() {
        assert!(read_plain("").unwrap_err().to_string().contains("no sample"));
        assert!(read_plain("# only this\n\n").unwrap_err().to_string().contains("no sample"));
        assert!(read_plain("1\n2\n").unwrap_err().to_string().contains("no feature"));
        let bytes: &[u8] = b"1 1:1\n\xff\xfe\n";
        let error = SvmlightParams::default().read(bytes, Path::new("x")).unwrap_err();
        assert!(matches!(error, DataError::Format { line: Some(2), .. }), "{error}");
    }

    #[test]
    fn an_endless_line_is_refused_without_being_kept() {
        let endless = std::io::BufReader::new(std::io::repeat(b'1'));
        let error = SvmlightParams::default().read(endless, Path::new("x")).unwrap_err();
        assert!(error.to_string().contains("longer than"), "{error}");
    }

    #[test]
    fn what_is_written_is_read_back_bit_for_bit() {
        let samples = Mat::from_fn(3, 2, |t, i| [[0.1, 0.0], [-0.0, 1e300], [0.0, 0.0]][t][i]);
        let labels = crate::Labels::from_texts(&["2.5", "-1"]);
        let table = Table::new("set", samples, Some(labels)).unwrap();
        let mut bytes = Vec::new();
        write(&mut bytes, &table).unwrap();
        assert_eq!(String::from_utf8_lossy(&bytes), "2.5 1:0.1 2:-0 3:0\n-1 2:1e300\n");
        let read = read_plain(std::str::from_utf8(&bytes).unwrap()).unwrap();
        assert_eq!(Table::from(read).checksum(), table.checksum());
        let text = Table { labels: Some(crate::Labels::from_texts(&["a", "b"])), ..table.clone() };
        assert!(write(&mut Vec::new(), &text).unwrap_err().to_string().contains("a number"));
        assert!(write(&mut Vec::new(), &Table { labels: None, ..table }).is_err());
    }
}
