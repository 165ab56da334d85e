//! Data for linearized kernel dictionary learning: readers, an embedded set of digits, corruption
//! of samples and stratified splits.
//!
//! [`read`] and [`write()`] move a [`Table`] (samples as columns in `f64`, class names) between
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

mod align;
mod argument;
pub mod atomic;
pub mod compressed;
mod corrupt;
mod dataset;
mod delimited;
mod digits;
mod error;
mod esl;
mod file;
mod folders;
mod format;
mod hdf5;
pub mod idx;
mod idx_pair;
mod images;
mod label_column;
mod label_file;
mod labels;
mod leftovers;
mod lines;
mod mapped;
mod matlab;
mod named;
mod npy;
mod npz;
mod options;
mod parquet;
mod random;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod scratch;
mod source;
mod sparse;
mod split;
pub mod svmlight;
mod table;
mod variables;

pub use align::Matched;
pub use argument::DataArgument;
pub use corrupt::Corruption;
pub use dataset::{Dataset, MAX_ENTRIES, TrainTest, convert};
pub use delimited::MAX_CLASSES;
pub use digits::digits;
pub use error::DataError;
pub use file::{output_format, read, write, write_to};
pub use folders::{DATA_DIR, data_dir, data_dirs, platform_data_dir};
pub use format::{Compression, Format};
pub use idx_pair::labels_file;
pub use named::{NamedFile, NamedSet, Part};
pub use options::{Header, IndexBase, Layout, ReadOptions};
pub use source::{BlockSource, SHIFTS};
pub use sparse::SparseRows;
pub use split::{Split, stratified_folds, stratified_split};
pub use table::{Labels, Table};
