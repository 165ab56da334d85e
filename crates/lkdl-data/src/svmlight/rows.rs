//! LIBSVM text, line by line. Where the number of features is not said, it is found out by reading
//! the file once.

use super::{Rows as Lines, SvmlightParams, add_line};
use crate::compressed;
use crate::error::DataError;
use crate::lines;
use crate::options::ReadOptions;
use crate::source::Rows;
use std::io::BufRead;
use std::path::{Path, PathBuf};

struct SparseRows {
    file: PathBuf,
    lines: lines::Lines<Box<dyn BufRead + Send>>,
    entries: Lines,
    /// The first index.
    first: u32,
    n_features: usize,
}

/// Opens the file.
pub(crate) fn open(file: &Path, options: &ReadOptions) -> Result<Box<dyn Rows>, DataError> {
    let ReadOptions { n_features, index_base, .. } = *options;
    let params = SvmlightParams { n_features, index_base, ..SvmlightParams::default() };
    let mut lines = lines::Lines::new(compressed::open(file)?, file);
    let mut entries = Lines::default();
    let mut n_samples = 0;
    while let Some(line) = lines.next()? {
        let added = add_line(line, &mut entries).and_then(|()| params.check_rows(&entries));
        let number = lines.number();
        added.map_err(|(problem, fix)| lines.fault(number, problem, fix))?;
        n_samples += entries.labels.len();
        entries.clear();
    }
    let first = params.first(&entries);
    let n_features = n_features.unwrap_or(entries.n_features(first));
    if n_samples == 0 || n_features == 0 {
        return Err(DataError::format(file, "no sample or no feature", "is this the right file?"));
    }
    let lines = lines::Lines::new(compressed::open(file)?, file);
    Ok(Box::new(SparseRows { file: file.into(), lines, entries, first, n_features }))
}

impl Rows for SparseRows {
    fn file(&self) -> &Path {
        &self.file
    }

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn next(&mut self, values: &mut [f64], label: &mut String) -> Result<bool, DataError> {
        self.entries.clear();
        while self.entries.labels.is_empty() {
            let Some(line) = self.lines.next()? else { return Ok(false) };
            let added = add_line(line, &mut self.entries);
            let number = self.lines.number();
            added.map_err(|(problem, fix)| self.lines.fault(number, problem, fix))?;
        }
        for (index, value) in self.entries.indices.iter().zip(&self.entries.values) {
            let place = index.checked_sub(self.first).map(|place| place as usize);
            match place.filter(|place| *place < self.n_features) {
                Some(place) => values[place] = *value,
                None => {
                    let problem = format!("index {index}, which was not there before");
                    let fix = "the file has changed: start again";
                    return Err(self.lines.fault(self.lines.number(), problem, fix));
                }
            }
        }
        // + 0.0: −0 is written 0
        *label = (self.entries.labels[0] + 0.0).to_string();
        Ok(true)
    }

    fn rewind(&mut self) -> Result<(), DataError> {
        self.lines = lines::Lines::new(compressed::open(&self.file)?, &self.file);
        Ok(())
    }

    fn index_base(&self) -> Option<u32> {
        Some(self.first)
    }
}
