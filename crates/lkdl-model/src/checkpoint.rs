//! The checkpoint file: what a fit in progress remembers, in the container of the model file.
//!
//! Every array is a tensor, named by its kind (`real`, `wide`, `counts`) and its name; the caller's
//! note is one JSON text under the metadata key `lkdl-checkpoint`, with the version of the format
//! and of the library, and the SHA-256 of it all. Bits are promised by one version of the library
//! alone, so no other one goes on from a checkpoint.
//!
//! Arrays are written as they are lent, one column after the other: nothing is copied.

use crate::element::Element;
use crate::tensors::checksum;
use faer::Mat;
use lkdl::state::{Kept, Lent, Saved, Saving};
use safetensors::SafeTensors;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::Write;
use thiserror::Error;

/// The version of the layout above, and of what a fit remembers.
const VERSION: u64 = 4;
const KEY: &str = "lkdl-checkpoint";
const LIBRARY: &str = env!("CARGO_PKG_VERSION");

/// What is wrong with a checkpoint.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// Not a checkpoint at all.
    #[error("not a checkpoint of lkdl: {problem}; start the fit anew, without it")]
    NotACheckpoint {
        /// What was found instead.
        problem: String,
    },
    /// The bytes are not those that were written.
    #[error("the checkpoint is damaged: {problem}; start the fit anew, without it")]
    Damaged {
        /// What shows it.
        problem: String,
    },
    /// Made by another version.
    #[error(
        "the checkpoint is of lkdl {library} (format {version}), but this is lkdl {LIBRARY} \
         (format {VERSION}); resume it with that version, or start the fit anew"
    )]
    OtherVersion {
        /// The library that wrote it.
        library: String,
        /// The format's version.
        version: u64,
    },
    /// The output failed.
    #[error(transparent)]
    Output(#[from] std::io::Error),
}

/// Writes a checkpoint with the caller's note.
pub fn write_checkpoint<T: Element>(
    out: &mut dyn Write,
    state: &Saving<'_, T>,
    note: &Value,
) -> std::io::Result<()> {
    let mut arrays: Vec<Array<'_, T>> = state.arrays().map(Array::new).collect();
    arrays.sort_by(|a, b| a.name.cmp(&b.name));
    let inner = json!({ "version": VERSION, "library": LIBRARY, "note": note });
    let text = json!({ "checksum": sum(&inner, &arrays), "checkpoint": inner }).to_string();
    let mut header = serde_json::Map::new();
    header.insert("__metadata__".into(), json!({ KEY: text }));
    let mut start = 0;
    for array in &arrays {
        let offsets = [start, start + array.bytes()];
        let entry = json!({ "dtype": array.dtype, "shape": array.shape, "data_offsets": offsets });
        header.insert(array.name.clone(), entry);
        start = offsets[1];
    }
    let mut header = Value::Object(header).to_string().into_bytes();
    header.resize(header.len().next_multiple_of(8), b' ');
    out.write_all(&(header.len() as u64).to_le_bytes())?;
    out.write_all(&header)?;
    arrays.iter().try_for_each(|array| array.each_column(|bytes| out.write_all(bytes)))
}

/// An array on its way into the file.
struct Array<'a, T: Element> {
    name: String,
    dtype: &'static str,
    shape: Vec<usize>,
    lent: &'a Lent<'a, T>,
}

impl<'a, T: Element> Array<'a, T> {
    fn new((name, lent): (&str, &'a Lent<'a, T>)) -> Self {
        let real = if size_of::<T>() == 4 { "F32" } else { "F64" };
        let (kind, dtype, shape) = match lent {
            Lent::Real { n_rows, columns } => ("real", real, vec![columns.len(), *n_rows]),
            Lent::Wide { n_rows, columns } => ("wide", "F64", vec![columns.len(), *n_rows]),
            Lent::Counts(counts) => ("counts", "U64", vec![counts.len()]),
        };
        Self { name: format!("{kind}.{name}"), dtype, shape, lent }
    }

    fn bytes(&self) -> usize {
        let item = if self.dtype == "F32" { 4 } else { 8 };
        item * self.shape.iter().product::<usize>()
    }

    fn each_column<E>(&self, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut bytes = Vec::new();
        match self.lent {
            Lent::Real { columns, .. } => {
                for column in columns {
                    bytes.clear();
                    column.iter().for_each(|value| value.write(&mut bytes));
                    take(&bytes)?;
                }
            }
            Lent::Wide { columns, .. } => {
                for column in columns {
                    bytes.clear();
                    column.iter().for_each(|value| value.write(&mut bytes));
                    take(&bytes)?;
                }
            }
            Lent::Counts(counts) => {
                bytes.extend(counts.iter().flat_map(|count| count.to_le_bytes()));
                take(&bytes)?;
            }
        }
        Ok(())
    }
}

/// As [`checksum`], of arrays that are not in memory as bytes.
fn sum<T: Element>(inner: &Value, arrays: &[Array<'_, T>]) -> String {
    let mut hash = Sha256::new();
    let part = |hash: &mut Sha256, bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(&mut hash, inner.to_string().as_bytes());
    for array in arrays {
        part(&mut hash, array.name.as_bytes());
        part(&mut hash, format!("{}{:?}", array.dtype, array.shape).as_bytes());
        hash.update((array.bytes() as u64).to_le_bytes());
        let _ = array.each_column(|bytes| {
            hash.update(bytes);
            Ok::<(), std::convert::Infallible>(())
        });
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A checkpoint that is whole.
#[derive(Debug)]
pub struct Checkpoint<'a> {
    /// The caller's note.
    pub note: Value,
    tensors: SafeTensors<'a>,
}

/// Opens the bytes of a checkpoint, of which every one must be as it was written.
pub fn read_checkpoint(bytes: &[u8]) -> Result<Checkpoint<'_>, CheckpointError> {
    let not_one = |problem: String| CheckpointError::NotACheckpoint { problem };
    let damaged = |problem: &str| CheckpointError::Damaged { problem: problem.into() };
    let (_, header) =
        SafeTensors::read_metadata(bytes).map_err(|error| not_one(error.to_string()))?;
    let text = header.metadata().as_ref().and_then(|entries| entries.get(KEY));
    let text = text.ok_or_else(|| not_one(format!("it has no metadata entry \"{KEY}\"")))?;
    let mut outer: Value =
        serde_json::from_str(text).map_err(|_| damaged("its metadata is no JSON"))?;
    let inner = outer["checkpoint"].take();
    let (version, library) = (inner["version"].as_u64(), inner["library"].as_str());
    if (version, library) != (Some(VERSION), Some(LIBRARY)) {
        let library = library.unwrap_or("of unknown version").into();
        return Err(CheckpointError::OtherVersion { library, version: version.unwrap_or(0) });
    }
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| damaged(&error.to_string()))?;
    let views =
        tensors.names().into_iter().filter_map(|name| Some((name, tensors.tensor(name).ok()?)));
    let actual = checksum(&inner.to_string(), views);
    if outer["checksum"].as_str() != Some(actual.as_str()) {
        return Err(damaged("its checksum does not match its contents"));
    }
    Ok(Checkpoint { note: inner["note"].clone(), tensors })
}

impl Checkpoint<'_> {
    /// The arrays, in the precision they were lent in.
    pub fn state<T: Element>(&self) -> Result<Saved<T>, CheckpointError> {
        let names = self.tensors.names();
        names.into_iter().map(|name| self.array(name)).collect()
    }

    fn array<T: Element>(&self, name: &str) -> Result<(String, Kept<T>), CheckpointError> {
        let unfit = |what| {
            let problem = format!("array {name} {what}");
            CheckpointError::Damaged { problem }
        };
        let view = self.tensors.tensor(name).map_err(|_| unfit("is missing"))?;
        let Some((kind, own)) = name.split_once('.') else { return Err(unfit("has no kind")) };
        let kept = match kind {
            "real" => matrix(&view).map(Kept::Real),
            "wide" => matrix(&view).map(Kept::Wide),
            "counts" => {
                let (words, _) = view.data().as_chunks::<8>();
                Some(Kept::Counts(words.iter().map(|word| u64::from_le_bytes(*word)).collect()))
            }
            _ => None,
        };
        Ok((own.into(), kept.ok_or_else(|| unfit("is of another type or precision"))?))
    }
}

/// The rows of a tensor as columns.
fn matrix<T: Element>(view: &TensorView<'_>) -> Option<Mat<T>> {
    let &[n, p] = view.shape() else { return None };
    let (size, data) = (size_of::<T>(), view.data());
    (view.dtype() == T::DTYPE)
        .then(|| Mat::from_fn(p, n, |t, i| T::read(&data[(i * p + t) * size..])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lkdl::blocks::{Block, Source};
    use lkdl::monitor::Silent;
    use lkdl::prelude::*;
    use lkdl::stream::{DriftParams, Keeper, StreamParams, SurveyParams};

    struct Two(usize);

    impl Source<f32> for Two {
        fn next_block(&mut self) -> Result<Option<Block<f32>>, LkdlError> {
            self.0 += 1;
            let samples = Mat::from_fn(4, 30, |t, i| ((t + 1) * (i + 7 * self.0)) as f32);
            let labels = (0..30).map(|i| i % 2).collect();
            Ok((self.0 <= 3).then_some(Block { samples, labels }))
        }

        fn rewind(&mut self) -> Result<(), LkdlError> {
            self.0 = 0;
            Ok(())
        }
    }

    /// Files after every block.
    struct Files(Vec<Vec<u8>>);

    impl Keeper<f32> for Files {
        fn is_due(&mut self) -> bool {
            true
        }

        fn keep(&mut self, state: &Saving<'_, f32>) -> Result<(), LkdlError> {
            let mut bytes = Vec::new();
            write_checkpoint(&mut bytes, state, &json!({ "block": self.0.len() })).unwrap();
            assert_eq!(
                read_checkpoint(&bytes).unwrap().state::<f32>().unwrap(),
                Saved::from(state)
            );
            self.0.push(bytes);
            Ok(())
        }
    }

    fn files() -> Vec<Vec<u8>> {
        let learner = ModParams { n_atoms: 3, sparsity: 1, max_iters: 2, ..Default::default() };
        let params = StreamParams {
            prepare: "standardize".parse().unwrap(),
            map: MapParams::None,
            method: ClassDictionariesParams { learner: StreamLearner::Mod(learner), sparsity: 1 },
            memory: None,
            drift: DriftParams::default(),
        };
        let mut files = Files(Vec::new());
        let pilot = SurveyParams::default().survey(&mut Two(0), &Silent).unwrap();
        let whole = params.gather(&pilot, &mut Two(0), &Silent).unwrap();
        let fit = params.start(pilot, whole, &Silent).unwrap();
        fit.run(&mut Two(0), &mut files, &Silent).unwrap();
        files.0
    }

    #[test]
    fn a_state_comes_back_as_it_was_lent_with_the_note() {
        let files = files();
        assert_eq!(files.len(), 7);
        let checkpoint = read_checkpoint(&files[4]).unwrap();
        assert_eq!(checkpoint.note, json!({ "block": 4 }));
        let error = checkpoint.state::<f64>().unwrap_err();
        assert!(error.to_string().contains("another type or precision"), "{error}");
    }

    #[test]
    fn every_flipped_byte_and_every_cut_is_found() {
        let bytes = &files()[2];
        for place in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[place] ^= 0x10;
            assert!(read_checkpoint(&flipped).is_err(), "byte {place} of {}", bytes.len());
        }
        for end in (0..bytes.len()).step_by(97) {
            assert!(read_checkpoint(&bytes[..end]).is_err());
        }
    }

    #[test]
    fn another_version_and_another_file_are_refused() {
        let text = String::from_utf8_lossy(&files()[0]).into_owned();
        assert!(text.contains(r#"\"version\":4"#));
        let mut bytes = files()[0].clone();
        let place = bytes.windows(13).position(|w| w == br#"\"version\":4"#).unwrap();
        bytes[place + 12] = b'5';
        let error = read_checkpoint(&bytes).unwrap_err();
        assert!(matches!(error, CheckpointError::OtherVersion { version: 5, .. }), "{error}");
        let error = read_checkpoint(b"something else entirely").unwrap_err();
        assert!(matches!(error, CheckpointError::NotACheckpoint { .. }), "{error}");
    }
}
