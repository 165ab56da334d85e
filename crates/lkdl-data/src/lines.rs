//! Text files line by line: lines are counted, their length is bounded, bytes that are no text are
//! an error.

use crate::error::DataError;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

/// The longest line that is read: some 1.5 million features. More is not a table in text.
pub(crate) const MAX_LINE: usize = 32 << 20;

/// The lines of a file.
pub(crate) struct Lines<R> {
    reader: R,
    file: PathBuf,
    number: usize,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// `file` is what messages call it.
    pub(crate) fn new(reader: R, file: &Path) -> Self {
        Self { reader, file: file.into(), number: 0, buffer: Vec::new() }
    }

    /// The next line without its `\n`; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<&str>, DataError> {
        self.buffer.clear();
        let most = MAX_LINE as u64 + 1;
        let read = self.reader.by_ref().take(most).read_until(b'\n', &mut self.buffer);
        if read.map_err(|source| DataError::reading(&self.file, source))? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
        } else if self.buffer.len() > MAX_LINE {
            let problem = format!("longer than {MAX_LINE} bytes");
            return Err(self.fault(self.number, problem, "is this a text file?"));
        }
        match std::str::from_utf8(&self.buffer) {
            Ok(line) => Ok(Some(line)),
            Err(_) => {
                let fix = "save the file as UTF-8 text";
                Err(self.fault(self.number, "not text in UTF-8".into(), fix))
            }
        }
    }

    /// The number, from 1, of the line that was read last.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// What is wrong in a line.
    pub(crate) fn fault(&self, line: usize, problem: String, fix: &'static str) -> DataError {
        DataError::Format { file: self.file.clone(), line: Some(line), problem, fix }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_and_end_where_they_should() {
        let mut lines = Lines::new(&b"a\r\n\nb"[..], Path::new("t"));
        for (number, text) in [(1, "a\r"), (2, ""), (3, "b")] {
            assert_eq!(lines.next().unwrap(), Some(text));
            assert_eq!(lines.number(), number);
        }
        assert_eq!(lines.next().unwrap(), None);
    }

    #[test]
    fn endless_lines_and_bytes_that_are_no_text_are_refused() {
        let endless = std::io::BufReader::new(std::io::repeat(b'1'));
        let error = Lines::new(endless, Path::new("t")).next().unwrap_err().to_string();
        assert!(error.contains("t, line 1: longer than 33554432 bytes"), "{error}");
        let mut lines = Lines::new(&b"a\n\xff\n"[..], Path::new("t"));
        lines.next().unwrap();
        let error = lines.next().unwrap_err().to_string();
        assert!(error.contains("t, line 2: not text"), "{error}");
        // as long as may be
        let longest = [vec![b'1'; MAX_LINE], vec![b'\n']].concat();
        let mut lines = Lines::new(&longest[..], Path::new("t"));
        assert_eq!(lines.next().unwrap().map(str::len), Some(MAX_LINE));
    }
}
