//! Data for linearized kernel dictionary learning: readers, an embedded set of digits, corruption
//! of samples and stratified splits.
//!
//! Every reader gives a [`Dataset`]: samples as columns in `f64`, labels as class indices.
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

pub mod compressed;
mod corrupt;
mod dataset;
mod digits;
mod error;
pub mod idx;
mod labels;
mod named;
mod random;
mod split;
pub mod svmlight;

pub use corrupt::Corruption;
pub use dataset::{Dataset, MAX_ENTRIES, TrainTest};
pub use digits::digits;
pub use error::DataError;
pub use named::{DATA_DIR, NamedSet, data_dir};
pub use split::{Split, stratified_folds, stratified_split};
