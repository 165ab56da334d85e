//! A Parquet file, row group by row group.

use super::reader::ParquetFile;
use super::values::Values;
use super::{Layout, layout};
use crate::dataset::MAX_ENTRIES;
use crate::error::DataError;
use crate::mapped;
use crate::options::ReadOptions;
use crate::source::{Rows, Stamp, check_label};
use std::path::{Path, PathBuf};

/// The columns of one row group.
struct Group {
    features: Vec<Vec<f64>>,
    labels: Values,
    next: usize,
}

struct GroupRows {
    file: PathBuf,
    bytes: mapped::Bytes,
    /// As the file was when it was mapped.
    stamp: Option<Stamp>,
    layout: Layout,
    label: usize,
    next_group: usize,
    group: Option<Group>,
}

/// Opens the file.
pub(crate) fn open(file: &Path, options: &ReadOptions) -> Result<Box<dyn Rows>, DataError> {
    let stamp = Stamp::of(file)?;
    let bytes = mapped::bytes(file)?;
    let parquet = ParquetFile::open(&bytes, file)?;
    let layout = layout(&parquet, file, options)?;
    for group in 0..parquet.n_groups() {
        let n_rows = parquet.group_rows(group);
        if n_rows.saturating_mul(layout.columns.len()) > MAX_ENTRIES {
            let problem = format!("row group {group} has {n_rows} rows");
            return Err(DataError::format(file, problem, "write it with smaller row groups"));
        }
    }
    let Some(label) = layout.label else {
        return Err(DataError::Unlabelled { name: file.display().to_string() });
    };
    let file = PathBuf::from(file);
    Ok(Box::new(GroupRows { file, bytes, stamp, layout, label, next_group: 0, group: None }))
}

impl GroupRows {
    /// Reads row groups until one has a row left; `None` after the last.
    fn fill(&mut self) -> Result<Option<&mut Group>, DataError> {
        let parquet = || ParquetFile::open(&self.bytes, &self.file);
        while self.group.as_ref().is_none_or(|group| group.next == group.labels.len()) {
            self.group = None;
            // a map of a file that has become shorter cannot be read beyond its end
            self.stamp.as_ref().map_or(Ok(()), Stamp::check)?;
            let parquet = parquet()?;
            if self.next_group == parquet.n_groups() {
                return Ok(None);
            }
            let read =
                |place: usize| parquet.read_group(self.layout.columns[place], self.next_group);
            let features = self.layout.features().map(|place| Ok(read(place)?.into_numbers()));
            let features = features.collect::<Result<_, DataError>>()?;
            self.group = Some(Group { features, labels: read(self.label)?, next: 0 });
            self.next_group += 1;
        }
        Ok(self.group.as_mut())
    }
}

impl Rows for GroupRows {
    fn file(&self) -> &Path {
        &self.file
    }

    fn n_features(&self) -> usize {
        self.layout.columns.len() - 1
    }

    fn next(&mut self, values: &mut [f64], label: &mut String) -> Result<bool, DataError> {
        let Some(group) = self.fill()? else { return Ok(false) };
        for (value, feature) in values.iter_mut().zip(&group.features) {
            *value = feature[group.next];
        }
        *label = group.labels.label(group.next);
        group.next += 1;
        check_label(label, &self.file)?;
        Ok(true)
    }

    fn rewind(&mut self) -> Result<(), DataError> {
        (self.next_group, self.group) = (0, None);
        Ok(())
    }

    fn feature_names(&self) -> Option<Vec<String>> {
        Some(self.layout.features().map(|place| self.layout.names[place].clone()).collect())
    }
}
