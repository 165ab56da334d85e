//! Tables as CSV or TSV text.

use super::is_missing;
use crate::error::DataError;
use crate::label_column::{LABEL, column_names};
use crate::table::{Table, check_writable, write_number};
use std::io::Write;

/// Writes the table with `separator` between cells.
pub(crate) fn write(out: &mut dyn Write, table: &Table, separator: u8) -> Result<(), DataError> {
    let survives = |name: &str| name.trim() == name && !is_missing(name);
    check_writable(table, survives, "a text that starts and ends with neither blank nor is NaN")?;
    let names = column_names(table)?;
    let are_numbers = names.iter().all(|name| name.trim().parse::<f64>().is_ok());
    if table.labels.is_none() && table.feature_names.is_some() && are_numbers {
        let requirement = "texts, to be told from values: name one of them so";
        return Err(DataError::parameter("feature names", "numbers", requirement));
    }
    let header: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    let labels = table.labels.iter().flat_map(|labels| &labels.class_names);
    let labels: Vec<String> = labels.map(|name| quoted(name)).collect();
    fill(out, table, separator, &header, &labels).map_err(DataError::output)
}

/// A text as a cell, in quotes if it needs them.
fn quoted(text: &str) -> String {
    // any separator: the first line tells a reader which one it is
    let needs = text.contains(['"', '\n', '\r', ',', ';', '\t']) || text.starts_with('#');
    if needs || text.is_empty() {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

/// `header` and `labels` are cells.
fn fill(
    out: &mut dyn Write,
    table: &Table,
    separator: u8,
    header: &[String],
    labels: &[String],
) -> std::io::Result<()> {
    let mut line = Vec::new();
    for name in header {
        line.extend_from_slice(name.as_bytes());
        line.push(separator);
    }
    end_line(&mut line, table.labels.is_some().then_some(LABEL));
    out.write_all(&line)?;
    for i in 0..table.n_samples() {
        line.clear();
        for value in table.samples.col_as_slice(i) {
            write_number(&mut line, *value)?;
            line.push(separator);
        }
        let class = table.labels.as_ref().and_then(|labels| labels.indices.get(i));
        let label = class.and_then(|class| labels.get(*class as usize));
        end_line(&mut line, label.map(String::as_str));
        out.write_all(&line)?;
    }
    Ok(())
}

/// Ends a line whose cells are each followed by a separator with a last cell, or without one.
fn end_line(line: &mut Vec<u8>, last: Option<&str>) {
    match last {
        Some(last) => line.extend_from_slice(last.as_bytes()),
        None => {
            line.pop();
        }
    }
    line.push(b'\n');
}
