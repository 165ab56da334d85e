//! The records of a text of cells: quotes, lines inside quotes, comments, empty lines.
//!
//! Lines that are empty, or start with `#`, are passed over. A cell may stand in quotes, which hide
//! separators and ends of lines; a quote inside is written twice. A quote that is never closed is
//! an error that names the line it stands in.

use super::separator::Separator;
use crate::error::DataError;
use crate::lines::{Lines, MAX_LINE};
use std::collections::VecDeque;
use std::io::BufRead;
use std::path::Path;

/// How many bytes, and lines, are looked at for the separator.
const LOOK_AHEAD_BYTES: usize = 1 << 20;
const LOOK_AHEAD_LINES: usize = 50;

/// Many texts in one: the cells of a record, or of a column.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    text: String,
    ends: Vec<usize>,
}

impl Cells {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.end();
    }

    /// Ends a cell whose text is there already.
    fn end(&mut self) {
        self.ends.push(self.text.len());
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| &self.text[*start..*end])
    }
}

/// One sample's cells, and the line that they start in.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) cells: Cells,
    pub(crate) line: usize,
}

/// A file's records, one after the other.
pub(crate) struct Records<R> {
    lines: Lines<R>,
    /// Lines that were read to find the separator, with their numbers.
    ahead: VecDeque<(usize, String)>,
    separator: Separator,
}

impl<R: BufRead> Records<R> {
    /// Finds the separator, `usual` where the first lines do not tell.
    pub(crate) fn new(reader: R, file: &Path, usual: char) -> Result<Self, DataError> {
        let mut this = Self::with(reader, file, Separator::Character(usual));
        let mut n_bytes = 0;
        while n_bytes <= LOOK_AHEAD_BYTES && this.ahead.len() < LOOK_AHEAD_LINES {
            let Some(line) = this.lines.next()? else { break };
            // before the first record nothing can be inside quotes
            if this.ahead.is_empty() && is_passed_over(line) {
                continue;
            }
            let is_second = !this.ahead.is_empty() && !is_passed_over(line);
            n_bytes += line.len();
            let line = line.to_string();
            this.ahead.push_back((this.lines.number(), line));
            if is_second {
                break;
            }
        }
        let mut found = this.ahead.iter().map(|(_, line)| line.as_str());
        if let Some(first) = found.next() {
            let second = found.find(|line| !is_passed_over(line));
            this.separator = Separator::of(start(first), second, usual);
        }
        Ok(this)
    }

    /// Takes `separator` for granted.
    pub(crate) fn with(reader: R, file: &Path, separator: Separator) -> Self {
        Self { lines: Lines::new(reader, file), ahead: VecDeque::new(), separator }
    }

    pub(crate) fn separator(&self) -> Separator {
        self.separator
    }

    pub(crate) fn fault(&self, line: usize, problem: String, fix: &'static str) -> DataError {
        self.lines.fault(line, problem, fix)
    }

    /// The next line, with its number.
    fn line(&mut self) -> Result<Option<(usize, String)>, DataError> {
        if let Some(line) = self.ahead.pop_front() {
            return Ok(Some(line));
        }
        let line = self.lines.next()?.map(String::from);
        Ok(line.map(|line| (self.lines.number(), line)))
    }

    /// Reads the next record; `false` at the end.
    pub(crate) fn next(&mut self, record: &mut Record) -> Result<bool, DataError> {
        record.cells.clear();
        loop {
            let Some((number, line)) = self.line()? else { return Ok(false) };
            if is_passed_over(&line) {
                continue;
            }
            record.line = number;
            match self.separator {
                Separator::Blanks => {
                    line.split_ascii_whitespace().for_each(|word| record.cells.push(word));
                }
                Separator::Character(separator) => self.split(line, separator, record)?,
            }
            return Ok(true);
        }
    }

    /// Splits a line, and those that its quotes reach into, at the separator.
    fn split(
        &mut self,
        mut line: String,
        separator: char,
        record: &mut Record,
    ) -> Result<(), DataError> {
        let mut at = if record.line == 1 { line.len() - start(&line).len() } else { 0 };
        loop {
            let rest = &line[at..];
            let blanks = rest.len() - rest.trim_start_matches(' ').len();
            if rest[blanks..].starts_with('"') {
                at = self.quoted(&mut line, at + blanks + 1, record)?;
                let after = line[at..].trim_start_matches([' ', '\r']);
                at = line.len() - after.len();
                if !after.is_empty() && !after.starts_with(separator) {
                    let shown: String = after.chars().take(20).collect();
                    let problem = format!("{shown:?} follows a closing quote");
                    let fix = "close the quote at the end of its cell; write a quote inside twice";
                    return Err(self.fault(record.line, problem, fix));
                }
            } else {
                let size = rest.find(separator).unwrap_or(rest.len());
                record.cells.text.push_str(&rest[..size]);
                at += size;
            }
            record.cells.end();
            if at == line.len() {
                return Ok(());
            }
            at += separator.len_utf8();
        }
    }

    /// Appends what is quoted from `at` on; where it ends, in the line that `line` then is.
    fn quoted(
        &mut self,
        line: &mut String,
        mut at: usize,
        record: &mut Record,
    ) -> Result<usize, DataError> {
        loop {
            let rest = &line[at..];
            match rest.find('"') {
                Some(size) => {
                    record.cells.text.push_str(&rest[..size]);
                    at += size + 1;
                    if !line[at..].starts_with('"') {
                        return Ok(at);
                    }
                    record.cells.text.push('"');
                    at += 1;
                }
                None => {
                    record.cells.text.push_str(rest);
                    record.cells.text.push('\n');
                    let next = self.line()?.filter(|_| record.cells.text.len() <= MAX_LINE);
                    let Some((_, next)) = next else {
                        let problem = "a quote is opened and never closed".to_string();
                        return Err(self.fault(record.line, problem, "close it, or drop it"));
                    };
                    (*line, at) = (next, 0);
                }
            }
        }
    }
}

/// A line without the mark that some programs put at the start of UTF-8 text.
fn start(line: &str) -> &str {
    line.trim_start_matches('\u{feff}')
}

fn is_passed_over(line: &str) -> bool {
    let text = start(line).trim();
    text.is_empty() || text.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Result<Vec<(usize, Vec<String>)>, DataError> {
        let mut records = Records::new(text.as_bytes(), Path::new("t.csv"), ',')?;
        let (mut record, mut all) = (Record::default(), Vec::new());
        while records.next(&mut record)? {
            all.push((record.line, record.cells.iter().map(String::from).collect()));
        }
        Ok(all)
    }

    fn cells(text: &str) -> Vec<(usize, Vec<String>)> {
        records(text).unwrap()
    }

    fn expected(list: &[(usize, &[&str])]) -> Vec<(usize, Vec<String>)> {
        list.iter()
            .map(|(n, row)| (*n, row.iter().map(|cell| cell.to_string()).collect()))
            .collect()
    }

    #[test]
    fn quotes_hide_separators_quotes_and_ends_of_lines() {
        let text = "a,\"b, \"\"c\"\"\",d\n\n# note\n1, \"x\n\n#y\" ,\n5\" pipe,,\"\"\n";
        assert_eq!(
            cells(text),
            expected(&[
                (1, &["a", "b, \"c\"", "d"]),
                (4, &["1", "x\n\n#y", ""]),
                (7, &["5\" pipe", "", ""])
            ])
        );
    }

    #[test]
    fn comments_blanks_and_marks_are_passed_over() {
        let text = "\u{feff}# a, b\n\n  # c\n1 2   3\r\n#\n 4\t5 6";
        assert_eq!(cells(text), expected(&[(4, &["1", "2", "3"]), (6, &["4", "5", "6"])]));
        assert_eq!(cells("\u{feff}a;b\n1;2\n"), expected(&[(1, &["a", "b"]), (2, &["1", "2"])]));
        assert_eq!(cells("\u{feff}\"a\",b\n")[0].1, ["a", "b"]);
        assert_eq!(cells(""), []);
        assert_eq!(cells(&"#\n".repeat(1000)), []);
        let late = ["#\n".repeat(1000), "1;2\n".into(), "#\n".repeat(1000), "3;4".into()].concat();
        assert_eq!(cells(&late), expected(&[(1001, &["1", "2"]), (2002, &["3", "4"])]));
    }

    #[test]
    fn a_quote_that_is_not_closed_is_named() {
        for (text, fault) in [
            ("a,b\n1,\"2\n3,4\n5,6\n", "line 2: a quote is opened and never closed"),
            ("a,b\n1,\"2\n3,\"4\"\n", "line 2: \"4\\\"\" follows a closing quote"),
            ("\"", "line 1: a quote is opened"),
            ("1,\"2\"3\n", "line 1: \"3\" follows a closing quote"),
        ] {
            let message = records(text).unwrap_err().to_string();
            assert!(message.contains(fault), "{text:?} gives {message}");
        }
        let endless = ["1,\"".to_string(), "text\n".repeat(MAX_LINE / 4)].concat();
        assert!(records(&endless).unwrap_err().to_string().contains("line 1: a quote is opened"));
    }
}
