//! Whether a file is still the one that was opened: its size and when it was last written to.
//!
//! Both are looked at when a pass begins, when it ends, and when reading fails. What stays unseen is a
//! change within the pass that is undone before its end, or one of the same size within a tick of the
//! file system's clock (milliseconds); the engine's own digest of all values finds those that matter.
//! Nothing can be found by a program that has been ended: a Parquet file is mapped to memory, and one
//! that another program cuts short while a row group is decoded ends this one by a signal (SIGBUS), as
//! with any mapped file.

use crate::error::DataError;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file as it was.
pub(crate) struct Stamp {
    file: PathBuf,
    size: u64,
    written: Option<SystemTime>,
}

impl Stamp {
    /// As the file is now; `None` of what is no file but a pipe, which has no size.
    pub(crate) fn of(file: &Path) -> Result<Option<Self>, DataError> {
        let metadata = file.metadata().map_err(|error| DataError::reading(file, error))?;
        let (size, written) = (metadata.len(), metadata.modified().ok());
        Ok(metadata.is_file().then(|| Self { file: file.into(), size, written }))
    }

    /// Refuses a file that is not as it was.
    pub(crate) fn check(&self) -> Result<(), DataError> {
        let changed = |change| Err(DataError::Changed { file: self.file.clone(), change });
        match Self::of(&self.file)? {
            Some(now) if now.size != self.size => {
                changed(format!("it has {} bytes, not {}", now.size, self.size))
            }
            Some(now) if now.written == self.written => Ok(()),
            Some(_) => changed("it has been written to".into()),
            None => changed("it is no file any more".into()),
        }
    }
}
