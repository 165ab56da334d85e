//! A table in memory, sample by sample: named sets, which are small.

use super::Rows;
use crate::error::DataError;
use crate::table::{Labels, Table};
use std::path::{Path, PathBuf};

pub(super) struct TableRows {
    table: Table,
    labels: Labels,
    file: PathBuf,
    next: usize,
}

impl TableRows {
    pub(super) fn new(mut table: Table) -> Result<Self, DataError> {
        let Some(labels) = table.labels.take() else {
            return Err(DataError::Unlabelled { name: table.name });
        };
        let file = PathBuf::from(&table.name);
        Ok(Self { table, labels, file, next: 0 })
    }
}

impl Rows for TableRows {
    fn file(&self) -> &Path {
        &self.file
    }

    fn files(&self) -> Vec<&Path> {
        Vec::new() // it is all in memory
    }

    fn n_features(&self) -> usize {
        self.table.n_features()
    }

    fn next(&mut self, values: &mut [f64], label: &mut String) -> Result<bool, DataError> {
        if self.next == self.table.n_samples() {
            return Ok(false);
        }
        let sample = self.table.samples.col_as_slice(self.next);
        values[..sample.len()].copy_from_slice(sample);
        label.clone_from(&self.labels.class_names[self.labels.indices[self.next] as usize]);
        self.next += 1;
        Ok(true)
    }

    fn rewind(&mut self) -> Result<(), DataError> {
        self.next = 0;
        Ok(())
    }

    fn feature_names(&self) -> Option<Vec<String>> {
        self.table.feature_names.clone()
    }

    fn image_shape(&self) -> Option<(usize, usize)> {
        self.table.image_shape
    }

    fn index_base(&self) -> Option<u32> {
        self.table.index_base
    }
}
