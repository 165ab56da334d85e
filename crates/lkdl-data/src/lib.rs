//! Data for linearized kernel dictionary learning: readers, an embedded set of digits, corruption
//! of samples and stratified splits.
//!
//! [`read`] and [`write`] move a [`Table`] (samples as columns in `f64`, class names) between
//! files; a [`Dataset`] is a table whose labels are known to be there, as class indices.
//! [`Dataset::convert`] rounds the samples to the precision a fit works in.
//!
//! ```
//! # fn main() -> Result<(), lkdl_data::DataError> {
//! let digits = lkdl_data::digits()?;
//! let split = lkdl_data::stratified_split(&digits.labels, 0.25, 7)?;
//! let (train, test) = (digits.subset(&split.train)?, digits.subset(&split.test)?);
//! assert_eq!((train.n_features(), train.n_samples() + test.n_samples()), (64, 1797));
//! # Ok(())
//! # }
//! ```

pub mod atomic;
pub mod compressed;
mod corrupt;
mod dataset;
mod digits;
mod error;
mod file;
mod format;
pub mod idx;
mod labels;
mod named;
mod options;
mod random;
#[cfg(test)]
mod scratch;
mod split;
pub mod svmlight;
mod table;

pub use corrupt::Corruption;
pub use dataset::{Dataset, MAX_ENTRIES, TrainTest};
pub use digits::digits;
pub use error::DataError;
pub use file::{read, write};
pub use format::{Compression, Format};
pub use named::{DATA_DIR, NamedSet, data_dir};
pub use options::{Layout, ReadOptions};
pub use split::{Split, stratified_folds, stratified_split};
pub use table::{Labels, Table};
