//! Text tables: columns aligned, units in the header, no lines but the one under the header.

use crate::words;
use std::fmt;
use unicode_width::UnicodeWidthStr;

const GAP: &str = "  ";

/// On which side of a column its cells stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table in the making.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table. A header carries its unit: `("time s", Align::Right)`.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a str, Align)>) -> Self {
        let columns = columns.into_iter().map(|(header, align)| (words::shown(header), align));
        Self { columns: columns.collect(), rows: Vec::new() }
    }

    /// Adds a row; cells that are missing stay empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl ToString>) {
        self.rows.push(cells.into_iter().map(|cell| words::shown(&cell.to_string())).collect());
    }

    fn line(&self, cells: &[String], widths: &[usize], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = String::new();
        for (j, ((_, align), width)) in self.columns.iter().zip(widths).enumerate() {
            let cell = cells.get(j).map_or("", String::as_str);
            let blanks = " ".repeat(width.saturating_sub(cell.width()));
            let gap = if j == 0 { "" } else { GAP };
            match align {
                Align::Left => line.extend([gap, cell, &blanks]),
                Align::Right => line.extend([gap, &blanks, cell]),
            }
        }
        writeln!(f, "{}", line.trim_end())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<String> = self.columns.iter().map(|(header, _)| header.clone()).collect();
        let widths: Vec<usize> = (0..headers.len())
            .map(|j| {
                let cells = self.rows.iter().filter_map(|row| row.get(j));
                cells.chain([&headers[j]]).map(|cell| cell.width()).max().unwrap_or(0)
            })
            .collect();
        self.line(&headers, &widths, f)?;
        let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        self.line(&rules, &widths, f)?;
        self.rows.iter().try_for_each(|row| self.line(row, &widths, f))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new([("class", Align::Left), ("samples", Align::Right)]);
        table.row(["zero", "178"]);
        table.row(["七", "12345678"]);
        assert_eq!(
            table.to_string(),
            "class   samples\n─────  ────────\nzero        178\n七     12345678\n"
        );
    }

    #[test]
    fn a_label_cannot_move_the_cursor() {
        let mut table = Table::new([("a", Align::Left), ("b\x1b[2J", Align::Right)]);
        table.row(["x\ny", "1"]);
        let text = table.to_string();
        assert_eq!(text.lines().nth(2), Some("x\\ny           1"), "{text}");
        assert!(!text.contains('\x1b'), "{text:?}");
    }

    #[test]
    fn no_rows_and_short_rows_are_fine() {
        let mut table = Table::new([("a", Align::Left), ("b", Align::Right)]);
        assert_eq!(table.to_string(), "a  b\n─  ─\n");
        table.row(["x"]);
        assert_eq!(table.to_string(), "a  b\n─  ─\nx\n");
    }
}
