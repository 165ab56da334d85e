//! Whether the first line of a table in text is a header.

use super::records::Record;
use crate::label_column::{column_number, is_usual};
use crate::options::{Header, ReadOptions};

/// Fewer numbers in a row are not said to count: 0, 1 may well be a sample.
const MIN_COUNTING: usize = 3;

/// The column in which a text says nothing about the line: that of the label if it was given by
/// its number, otherwise the last of several.
pub(super) fn free_column(n_columns: usize, options: &ReadOptions) -> Option<usize> {
    let named = options.label.as_deref();
    match named.and_then(|label| column_number(label, n_columns)) {
        _ if options.unlabelled => None,
        Some(column) => Some(column),
        // an only column is a feature
        None => n_columns.checked_sub(1).filter(|last| *last > 0),
    }
}

/// Whether the first line is a header, by the rules of the module `delimited`.
pub(super) fn is_header(first: &Record, second: Option<&Record>, options: &ReadOptions) -> bool {
    match options.header {
        Header::Yes => return true,
        Header::No => return false,
        Header::Auto => {}
    }
    let free = free_column(first.cells.len(), options);
    let is_text = |cell: &str| cell.trim().parse::<f64>().is_err();
    let cells = || first.cells.iter().enumerate();
    // 1: a text where numbers should be
    if cells().any(|(column, cell)| Some(column) != free && is_text(cell)) {
        return true;
    }
    // 2: the name of a label column
    let free_cell = |record: &'_ Record| {
        free.and_then(|column| record.cells.iter().nth(column)).map(|cell| cell.trim().to_string())
    };
    let given = options.label.as_deref();
    let names_labels = |cell: &str| {
        is_usual(cell)
            || (is_text(cell) && given.is_some_and(|name| name.eq_ignore_ascii_case(cell)))
    };
    let label = free_cell(first);
    if label.as_deref().is_some_and(names_labels) {
        return true;
    }
    let Some(second) = second.filter(|second| second.cells.len() == first.cells.len()) else {
        return false;
    };
    // 3: a text above a number
    let below = free_cell(second);
    if label.as_deref().is_some_and(is_text) && below.is_some_and(|cell| !is_text(&cell)) {
        return true;
    }
    // 4: a line that counts above one that does not
    let free = free.filter(|_| label.as_deref().is_some_and(is_text));
    counts_from(first, free).is_some_and(|start| start == 0.0 || start == 1.0)
        && counts_from(second, free).is_none()
}

/// The number from which the cells of a line, but for the free one, count upwards.
fn counts_from(record: &Record, free: Option<usize>) -> Option<f64> {
    let others = record.cells.iter().enumerate().filter(|(column, _)| Some(*column) != free);
    let numbers: Option<Vec<f64>> = others.map(|(_, cell)| cell.trim().parse().ok()).collect();
    let numbers = numbers.filter(|numbers| numbers.len() >= MIN_COUNTING)?;
    let counts =
        numbers[0].fract() == 0.0 && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0);
    counts.then_some(numbers[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(line: &str) -> Record {
        let mut record = Record::default();
        line.split(',').for_each(|cell| record.cells.push(cell));
        record
    }

    fn found(first: &str, second: &str, options: &ReadOptions) -> bool {
        is_header(&record(first), Some(&record(second)), options)
    }

    #[test]
    fn headers_of_names_and_of_numbers_are_told_from_samples() {
        let options = ReadOptions::default();
        for (first, second, header) in [
            ("a,b,c", "1,2,3", true),
            ("a,1,2", "1,2,3", true),
            ("1,2,x", "1,2,y", false),
            // what pandas makes of columns without names
            ("0,1,label", "5,7,x", true),
            ("0,1,2,3,target", "5,7,1,2,0", true),
            ("0,1,2,3", "5,7,1,2", true),
            ("0,1,2,kind", "5,7,9,cat", true),
            ("0,1,2,kind", "5,7,9,1", true),
            ("1,2,3,4", "0,0,0,0", true),
            // wavelengths above numbers
            ("400.5,401,kind", "0.1,0.2,1", true),
            // samples
            ("1,2,3", "4,5,6", false),
            ("0,1,2", "1,2,3", false),
            ("0,1,cat", "5,7,dog", false),
            ("0,1", "5,7", false),
            ("0,1,3", "5,7,1", false),
            ("0,1,2,7", "5,7,1,2", false),
            ("2,3,4", "5,7,1", false),
            ("5,7,1", "0,1,2", false),
        ] {
            assert_eq!(found(first, second, &options), header, "{first} above {second}");
        }
        // nothing below
        assert!(!is_header(&record("0,1,2"), None, &options));
        assert!(is_header(&record("0,1,y"), None, &options));
    }

    #[test]
    fn options_decide_and_help() {
        let with = |header| ReadOptions { header, ..ReadOptions::default() };
        assert!(found("5,7", "1,2", &with(Header::Yes)));
        assert!(!found("a,b,c", "1,2,3", &with(Header::No)));
        let label = |label: &str| ReadOptions { label: Some(label.into()), ..Default::default() };
        assert!(found("5,7,Kind", "1,2,x", &label("kind")));
        assert!(!found("kind,5,7", "x,1,2", &label("0")));
        assert!(found("label,5,7", "x,1,2", &label("0")));
        // a number is a place, not a name
        assert!(!found("5,7,2", "1,2,0", &label("2")));
        let unlabelled = ReadOptions { unlabelled: true, ..ReadOptions::default() };
        assert!(found("0,1,label", "5,7,1", &unlabelled));
    }
}
