//! LIBSVM (SVMlight) text: one sample per line, `label index:value index:value …  # comment`.
//!
//! Indices ascend; features that are not written are zero. Indices start where [`IndexBase`] says:
//! without word at 1, in a file that mentions index 0 anywhere at 0. (A file that counts from 0 and
//! never mentions the first feature cannot be told from one that counts from 1.) What was found is
//! kept in [`Table::index_base`], so that the other part of a set is read alike. The query `qid:…` of
//! a ranking set is passed over.
//!
//! Files are read line by line; memory is that of the entries written plus the dense matrix, at
//! most [`MAX_ENTRIES`] values and, unless the number of features is given, at most 65,536 for each
//! entry written.

use crate::compressed;
use crate::dataset::{Dataset, MAX_ENTRIES, MAX_SPARSE_GROWTH};
use crate::error::{DataError, excerpt};
use crate::labels::{LabelError, index_labels, number};
use crate::lines::Lines;
use crate::options::IndexBase;
use crate::table::{Table, check_writable, set_name, write_number};
use faer::Mat;
use std::io::{BufRead, Write};
use std::path::Path;

pub(crate) mod rows;

/// What a file cannot say about itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SvmlightParams {
    /// Number of features; without it, the largest index in the file.
    pub n_features: Option<usize>,
    /// What indices count from.
    pub index_base: IndexBase,
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
    /// As the file counts them.
    indices: Vec<u32>,
    values: Vec<f64>,
    largest: u32,
    /// Whether index 0 was seen.
    mentions_zero: bool,
}

type Fault = (String, &'static str);

impl Rows {
    /// Number of features that the indices tell, of which `first` is the first.
    fn n_features(&self, first: u32) -> usize {
        (self.largest as usize + 1).saturating_sub(first as usize)
    }

    /// Forgets the samples, but not what their indices told.
    fn clear(&mut self) {
        self.labels.clear();
        self.lines.clear();
        self.ends.clear();
        self.indices.clear();
        self.values.clear();
    }
}

impl SvmlightParams {
    /// Reads a file, plain or compressed. Its name without endings names the set.
    pub fn read_file(&self, file: &Path) -> Result<Dataset, DataError> {
        self.read(compressed::open(file)?, file)
    }

    /// Reads text; `file` is what messages call it.
    pub fn read(&self, reader: impl BufRead, file: &Path) -> Result<Dataset, DataError> {
        self.read_with_base(reader, file).map(|(set, _)| set)
    }

    /// A file, and the number from which its indices count.
    pub(crate) fn read_table(&self, file: &Path) -> Result<Table, DataError> {
        let (set, first) = self.read_with_base(compressed::open(file)?, file)?;
        let may_be_padded = self.n_features.is_none();
        Ok(Table { index_base: Some(first), may_be_padded, ..set.into() })
    }

    fn read_with_base(
        &self,
        reader: impl BufRead,
        file: &Path,
    ) -> Result<(Dataset, u32), DataError> {
        let (mut rows, mut lines) = (Rows::default(), Lines::new(reader, file));
        while let Some(line) = lines.next()? {
            let added = add_line(line, &mut rows).and_then(|()| self.check_rows(&rows));
            let number = lines.number();
            added.map_err(|(problem, fix)| lines.fault(number, problem, fix))?;
            rows.lines.resize(rows.labels.len(), number);
        }
        let first = self.first(&rows);
        Ok((self.finish(rows, file)?, first))
    }

    /// The first index that can be, as far as is known.
    fn first(&self, rows: &Rows) -> u32 {
        self.index_base.first().unwrap_or(u32::from(!rows.mentions_zero))
    }

    /// Whether the samples so far are as they should be and can be held.
    fn check_rows(&self, rows: &Rows) -> Result<(), Fault> {
        if self.index_base == IndexBase::One && rows.mentions_zero {
            let fix = "count from 1, or say that indices start at 0 (--index-base 0), where a \
                       model is fitted and where it is used";
            return Err(("index 0, where indices are to start at 1".into(), fix));
        }
        let found = rows.n_features(self.first(rows));
        if let Some(n_features) = self.n_features.filter(|n| found > *n) {
            let largest = rows.largest;
            let problem = format!("index {largest} is beyond n_features = {n_features}");
            return Err((problem, "raise n_features or drop the entry"));
        }
        let (n, p) = (rows.labels.len(), self.n_features.unwrap_or(found).max(1));
        if n.saturating_mul(p) > MAX_ENTRIES {
            let problem = format!("{n} samples of {p} features exceed {MAX_ENTRIES} values");
            return Err((problem, "split the file, or check the largest index"));
        }
        Ok(())
    }

    fn finish(&self, rows: Rows, file: &Path) -> Result<Dataset, DataError> {
        if rows.labels.is_empty() {
            return Err(DataError::format(file, "no sample", "is this the right file?"));
        }
        if rows.values.is_empty() && self.n_features.is_none() {
            return Err(DataError::format(file, "no feature", "set n_features"));
        }
        let first = self.first(&rows);
        let (n, p) = (rows.labels.len(), self.n_features.unwrap_or(rows.n_features(first)));
        let most = (rows.values.len() + n).saturating_mul(MAX_SPARSE_GROWTH);
        if self.n_features.is_none() && n * p > most {
            let problem = format!("{} entries in {n} samples of {p} features", rows.values.len());
            let fix = "check the largest index, or set n_features";
            return Err(DataError::format(file, problem, fix));
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
        let mut samples = Mat::zeros(p, n);
        let mut start = 0;
        for (i, &end) in rows.ends.iter().enumerate() {
            let column = samples.col_as_slice_mut(i);
            for (index, value) in rows.indices[start..end].iter().zip(&rows.values[start..end]) {
                column[(index - first) as usize] = *value;
            }
            start = end;
        }
        let set = Dataset::new(set_name(file), samples, indexed.labels, indexed.class_names);
        set.map_err(|error| error.in_file(file))
    }
}

/// Reads one line, or says what is wrong with it and how to mend it.
fn add_line(line: &str, rows: &mut Rows) -> Result<(), Fault> {
    let text = line.split('#').next().unwrap_or_default();
    let mut words = text.split_ascii_whitespace().peekable();
    let Some(label) = words.next() else { return Ok(()) };
    let Some(label) = finite(label) else {
        let fix = "start the line with the class as one number";
        return Err((format!("{} is not a label", excerpt(label)), fix));
    };
    words.next_if(|word| word.starts_with("qid:"));
    let mut last = None;
    for word in words {
        let (index, value) = entry(word)?;
        if let Some(last) = last.filter(|last| index <= *last) {
            let fix = "sort each line by index and write each index once";
            return Err((format!("index {index} follows index {last}"), fix));
        }
        last = Some(index);
        rows.indices.push(index);
        rows.values.push(value);
        rows.mentions_zero |= index == 0;
    }
    rows.largest = rows.largest.max(last.unwrap_or(0));
    rows.labels.push(label);
    rows.ends.push(rows.values.len());
    Ok(())
}

/// One `index:value`.
fn entry(word: &str) -> Result<(u32, f64), Fault> {
    let Some((index, value)) = word.split_once(':') else {
        return Err((
            format!("{} is not index:value", excerpt(word)),
            "write every feature as index:value",
        ));
    };
    let Ok(index) = index.parse::<u32>() else {
        let fix = "write a whole number before the colon";
        return Err((format!("{} is not an index", excerpt(index)), fix));
    };
    match finite(value) {
        Some(value) => Ok((index, value)),
        None => {
            let fix = "replace or drop values that are not finite numbers";
            Err((format!("{} is not a finite number", excerpt(value)), fix))
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
        let params = SvmlightParams {
            n_features: Some(4),
            class_names: Some(class_names),
            ..SvmlightParams::default()
        };
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
            ("1 0:1 0:1", "index 0 follows index 0"),
            ("1 2:1 1:1", "index 1 follows index 2"),
            ("1 2:1 2:1", "index 2 follows index 2"),
            ("1 2", "\"2\" is not index:value"),
            ("1 a:2", "\"a\" is not an index"),
            ("1 -1:2", "\"-1\" is not an index"),
            ("1 1:2 qid:3", "\"qid\" is not an index"),
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

    /// A binary file is one word of any length.
    #[test]
    fn a_message_does_not_repeat_the_file() {
        let word = "x".repeat(100_000);
        for text in
            [word.clone(), format!("1 {word}"), format!("1 {word}:1"), format!("1 1:{word}")]
        {
            let message = read_plain(&text).unwrap_err().to_string();
            assert!(message.contains("xxx…\"") && message.len() < 200, "{}", message.len());
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
    fn a_file_that_mentions_index_0_counts_from_there() {
        let set = read_plain("1 1:5 2:6\n2 0:4\n").unwrap();
        assert_eq!(
            set.samples,
            Mat::from_fn(3, 2, |t, i| [[0.0, 4.0], [5.0, 0.0], [6.0, 0.0]][t][i])
        );
        let fixed = SvmlightParams { n_features: Some(3), ..SvmlightParams::default() };
        assert_eq!(read(&fixed, "1 2:6\n2 0:4\n").unwrap().n_features(), 3);
        assert_eq!(read(&fixed, "1 3:6\n2 1:4\n").unwrap().n_features(), 3);
        let error = read(&fixed, "1 2:6\n2 0:4 3:1\n").unwrap_err().to_string();
        assert!(error.contains("line 2: index 3 is beyond n_features = 3"), "{error}");
        let error = read(&fixed, "1 3:6\n2 0:4\n").unwrap_err().to_string();
        assert!(error.contains("line 2: index 3 is beyond n_features = 3"), "{error}");
    }

    #[test]
    fn the_base_is_as_said_and_kept() {
        let with = |index_base| SvmlightParams { index_base, ..SvmlightParams::default() };
        let text = "1 1:5 2:6\n2 2:4\n";
        for (base, p, first) in
            [(IndexBase::Auto, 2, 1), (IndexBase::One, 2, 1), (IndexBase::Zero, 3, 0)]
        {
            let read = with(base).read_with_base(text.as_bytes(), Path::new("t")).unwrap();
            assert_eq!((read.0.n_features(), read.1), (p, first), "{base}");
            assert_eq!(read.0.samples[(p - 1, 0)], 6.0);
        }
        let zero = with(IndexBase::Auto).read_with_base(&b"1 0:5\n"[..], Path::new("t")).unwrap();
        assert_eq!(zero.1, 0);
        let error = read(&with(IndexBase::One), "1 1:5\n2 0:4\n").unwrap_err().to_string();
        assert!(error.contains("line 2: index 0, where indices are to start at 1; "), "{error}");
        assert!(error.contains("--index-base 0"), "{error}");
    }

    #[test]
    fn queries_of_ranking_sets_are_passed_over() {
        let set = read_plain("1 qid:7 1:0.5\n0 qid:8 2:1 # note\n0 qid:9\n").unwrap();
        assert_eq!((set.n_samples(), set.n_features()), (3, 2));
        assert_eq!(set.samples.col_as_slice(0), [0.5, 0.0]);
    }

    #[test]
    fn a_lone_large_index_takes_no_memory() {
        let error = read_plain("1 500000000:1\n").unwrap_err().to_string();
        assert!(error.contains("1 entries in 1 samples of 500000000 features"), "{error}");
        assert!(read_plain("1 100000:1\n").is_ok());
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
