//! Files that commands write: looked at before the work, written whole or not at all.

use crate::context::Context;
use crate::failure::Failure;
use lkdl_data::atomic;
use std::path::Path;

/// Refuses an output that could not be written, before any work is done for it: one that exists, or
/// whose folder is missing or may not be written to.
pub fn check(path: &Path, context: &Context) -> Result<(), Failure> {
    atomic::check_file(path, context.force).map_err(Failure::writing)
}

/// Writes a file.
pub fn write(path: &Path, bytes: &[u8], context: &Context) -> Result<(), Failure> {
    atomic::write_file(path, context.force, |out| out.write_all(bytes)).map_err(Failure::writing)
}
