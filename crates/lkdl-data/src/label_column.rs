//! Which of a table's named columns holds the labels, and what columns are called when written.

use crate::align::usual_name;
use crate::error::DataError;
use crate::options::ReadOptions;
use crate::table::Table;
use std::path::Path;

/// What the label column is called when written.
pub(crate) const LABEL: &str = "label";
/// What label columns are usually called, in any case.
const USUAL: [&str; 5] = [LABEL, "class", "target", "labels", "y"];
/// How many names a message shows.
const SHOWN: usize = 10;

/// The column that the options name, or count from 0 (−1 being the last); without them, one with a
/// usual name. `None` if there is none, or none is wanted. A file without header has no `names`.
pub(crate) fn label_column(
    names: Option<&[String]>,
    n_columns: usize,
    file: &Path,
    options: &ReadOptions,
) -> Result<Option<usize>, DataError> {
    let known = names.unwrap_or_default();
    let position = |wanted: &str| {
        let exact = known.iter().position(|name| name == wanted);
        exact.or_else(|| known.iter().position(|name| name.eq_ignore_ascii_case(wanted)))
    };
    if options.unlabelled {
        return Ok(None);
    }
    let Some(label) = &options.label else {
        return Ok(USUAL.iter().find_map(|name| position(name)));
    };
    let column = position(label).or_else(|| column_number(label, n_columns));
    column.map(Some).ok_or_else(|| {
        let among = match names {
            None => format!("a file of {n_columns} columns without header"),
            Some(names) => {
                // the last ones: labels are rarely among the first of many
                let shown = &names[names.len().saturating_sub(SHOWN)..];
                let dots = if names.len() > SHOWN { "…, " } else { "" };
                format!("the columns {dots}{}", shown.join(", "))
            }
        };
        let problem = format!("no label column {label} in {among}");
        DataError::format(file, problem, "name a column, or give its number from 0")
    })
}

/// An error that names a column whose name another one has too. Names that are empty are none.
pub(crate) fn check_distinct(names: &[String], file: &Path) -> Result<(), DataError> {
    let mut sorted: Vec<&String> = names.iter().filter(|name| !name.is_empty()).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            let problem = format!("two columns are called {:?}", pair[0]);
            let fix = "rename one or drop it; if the first line names no columns, say so";
            Err(DataError::format(file, problem, fix))
        }
        None => Ok(()),
    }
}

/// Whether labels are usually called so.
pub(crate) fn is_usual(name: &str) -> bool {
    USUAL.iter().any(|usual| usual.eq_ignore_ascii_case(name))
}

/// What the features of a table are called when written: their names, or `f0`, `f1`, …
pub(crate) fn column_names(table: &Table) -> Result<Vec<String>, DataError> {
    let p = table.n_features();
    let Some(names) = table.feature_names.as_ref().filter(|names| names.len() == p) else {
        return Ok((0..p).map(usual_name).collect());
    };
    let is_taken = |name: &&String| table.labels.is_some() && name.eq_ignore_ascii_case(LABEL);
    if let Some(name) = names.iter().find(is_taken) {
        let requirement = format!("other than {LABEL}, which is the label column's; rename it");
        return Err(DataError::parameter("feature name", format!("{name:?}"), requirement));
    }
    let is_lost = |name: &&String| name.is_empty() || name.trim() != *name;
    if let Some(name) = names.iter().find(is_lost) {
        let requirement = "a text that starts and ends with no blank; rename it";
        return Err(DataError::parameter("feature name", format!("{name:?}"), requirement));
    }
    Ok(names.clone())
}

/// A column's number from 0, or from the end if negative.
pub(crate) fn column_number(label: &str, n_columns: usize) -> Option<usize> {
    let number: isize = label.trim().parse().ok()?;
    let column = if number < 0 { n_columns.checked_add_signed(number)? } else { number as usize };
    (column < n_columns).then_some(column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(names: &[&str], label: Option<&str>) -> Result<Option<usize>, DataError> {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let options = ReadOptions { label: label.map(String::from), ..Default::default() };
        label_column(Some(&names), names.len(), Path::new("x"), &options)
    }

    #[test]
    fn a_name_that_two_columns_have_is_named() {
        let check = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            check_distinct(&names, Path::new("t.csv"))
        };
        assert!(check(&["a", "", "A", ""]).is_ok());
        let error = check(&["b", "a", "c", "a"]).unwrap_err().to_string();
        assert!(error.starts_with("t.csv: two columns are called \"a\"; "), "{error}");
    }

    #[test]
    fn names_go_before_numbers_and_numbers_count_from_either_end() {
        for (names, label, column) in [
            (&["a", "Class", "b"][..], None, Some(1)),
            (&["y", "label"], None, Some(1)),
            (&["a", "b"], None, None),
            (&["a", "b"], Some("B"), Some(1)),
            (&["B", "b"], Some("b"), Some(1)),
            (&["a", "b", "c"], Some("0"), Some(0)),
            (&["a", "b", "c"], Some("-1"), Some(2)),
            (&["1", "0"], Some("0"), Some(1)),
        ] {
            assert_eq!(choose(names, label).unwrap(), column, "{names:?} {label:?}");
        }
        for label in ["2", "-3", "z", ""] {
            let error = choose(&["a", "b"], Some(label)).unwrap_err().to_string();
            assert!(error.contains(&format!("no label column {label} in the columns a, b")));
        }
    }
}
