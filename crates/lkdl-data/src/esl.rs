//! The text of the USPS digits as "The Elements of Statistical Learning" gives them: one sample
//! per line, the label first, numbers between blanks.

use crate::compressed;
use crate::error::DataError;
use crate::lines::Lines;
use crate::table::{Labels, Table};
use faer::Mat;
use std::path::Path;

/// Reads samples of `n_features` features.
pub(crate) fn read(file: &Path, n_features: usize) -> Result<Table, DataError> {
    let mut lines = Lines::new(compressed::open(file)?, file);
    let (mut labels, mut values) = (Vec::new(), Vec::new());
    while let Some(text) = lines.next()? {
        let mut numbers = text.split_ascii_whitespace().map(|word| {
            word.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(|| {
                let word: String = word.chars().take(40).collect();
                format!("\"{word}\" is not a finite number")
            })
        });
        let before = values.len();
        let add = || {
            let Some(label) = numbers.next() else { return Ok(()) };
            labels.push(label?);
            for number in numbers {
                values.push(number?);
            }
            match values.len() - before {
                count if count == n_features => Ok(()),
                count => Err(format!("{count} features, not {n_features}")),
            }
        };
        let added = add();
        let fix = "the file may be damaged: fetch it again";
        added.map_err(|problem| lines.fault(lines.number(), problem, fix))?;
    }
    let mut samples = Mat::zeros(n_features, labels.len());
    for (i, row) in values.chunks_exact(n_features.max(1)).enumerate() {
        samples.col_as_slice_mut(i).copy_from_slice(row);
    }
    let labels = Labels::from_numbers(&labels).map_err(|error| error.in_file(file))?;
    Table::from_file(file, samples, Some(labels))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn lines_are_labels_and_features() {
        let scratch = Scratch::new("esl");
        let read = |text: &str| read(&scratch.file("t", text.as_bytes()), 2);
        let table = read("6.0000 -1.0000 0.5 \n\n9 1 2").unwrap();
        assert_eq!(table.labels.unwrap().class_names, ["6", "9"]);
        assert_eq!(table.samples, Mat::from_fn(2, 2, |t, i| [[-1.0, 1.0], [0.5, 2.0]][t][i]));
        for (text, fault) in [
            ("1 2 3\n1 2\n", "line 2: 1 features, not 2"),
            ("1 2 3 4\n", "line 1: 3 features"),
            ("1 2 x\n", "line 1: \"x\""),
            ("nan 2 3\n", "line 1: \"nan\""),
            ("", "at least one"),
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(fault), "{message}");
        }
    }
}
