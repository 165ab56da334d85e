//! Files as sources of blocks: read from their beginning to their end, as often as asked, in memory
//! that does not grow with them.
//!
//! Several files, one after the other, are one source; they have the same features, and a block may
//! reach from one into the next. Read are `.npy`, `.npz`, CSV, TSV, LIBSVM, IDX and Parquet, as
//! [`read`](crate::read()) reads them, but for what only the whole of a file can tell: where no column
//! is named as the label, the last one is if its first cell is no number. A Parquet file is read row
//! group by row group. Named sets are held in memory, and so are images to be shifted.
//!
//! A class gets its index when its name is first met. When the first pass is over, all are known:
//! [`BlockSource::settle`] puts them into the order that [`Labels`] have, and from then on a name that
//! was not met before is an error. Files must stay as they are, from when they are opened to the end of
//! the last pass.

mod array;
mod rows;
mod shifted;
mod stamp;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use array::{ArrayRows, ArrayStream, Decode, LabelStream};
pub(crate) use rows::{ByteRows, Opener, Rows};
pub use shifted::SHIFTS;
pub(crate) use stamp::Stamp;

use crate::argument::DataArgument;
use crate::error::DataError;
use crate::format::Format;
use crate::options::ReadOptions;
use crate::table::{Labels, Table};
use crate::{delimited, idx, npy, npz, parquet, svmlight};
use faer::Mat;
use lkdl::blocks::{Block, Source};
use lkdl::{LkdlError, Real};
use shifted::ShiftedImages;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::path::Path;
use table::TableRows;

/// Samples of the largest block: its memory is taken at once.
const MAX_BLOCK: usize = 1 << 20;
/// More names of classes than any data set has: labels that are measurements.
const MAX_NAMES: usize = 1 << 16;

/// Data in blocks.
pub struct BlockSource<T: Real> {
    files: Vec<Box<dyn Rows>>,
    /// Those on disk, as they were when they were opened.
    stamps: Vec<Stamp>,
    /// The file that is being read.
    current: usize,
    n_features: usize,
    block_size: usize,
    classes: Classes,
    precision: PhantomData<T>,
}

/// Names and indices of classes.
#[derive(Default)]
struct Classes {
    /// Every name as it is written, in the order it was met.
    names: Vec<String>,
    places: HashMap<String, usize>,
    /// What place means which class, once all are known.
    settled: Option<Vec<usize>>,
}

impl<T: Real> BlockSource<T> {
    /// Opens the data; blocks will have `block_size` samples, the last one what is left.
    pub fn open(
        data: &[DataArgument],
        directory: Option<&Path>,
        options: &ReadOptions,
        block_size: usize,
    ) -> Result<Self, DataError> {
        let open = |argument: &DataArgument| match argument {
            DataArgument::File(path) => open_file(path, argument, options),
            set => Ok(Box::new(TableRows::new(set.load(directory, options)?)?) as Box<dyn Rows>),
        };
        Self::of(data.iter().map(open).collect::<Result<_, _>>()?, block_size)
    }

    /// Every image and its eight shifts by one pixel, in an order that `seed` tells: nine times as
    /// many samples as `images` has, none of which is held.
    pub fn shifted(images: Table, seed: u64, block_size: usize) -> Result<Self, DataError> {
        Self::of(vec![Box::new(ShiftedImages::new(images, seed)?)], block_size)
    }

    /// Samples that memory holds, as a source like any other.
    pub fn of_table(samples: Table, block_size: usize) -> Result<Self, DataError> {
        Self::of(vec![Box::new(TableRows::new(samples)?)], block_size)
    }

    fn of(files: Vec<Box<dyn Rows>>, block_size: usize) -> Result<Self, DataError> {
        let n_features = files.iter().map(|rows| rows.n_features()).max().unwrap_or(0);
        files
            .iter()
            .try_for_each(|rows| check_alike(rows.as_ref(), files[0].as_ref(), n_features))?;
        let on_disk = files.iter().flat_map(|rows| rows.files()).map(Stamp::of);
        let stamps = on_disk.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        let mut source = Self {
            files,
            stamps,
            current: 0,
            n_features,
            block_size: 1,
            classes: Classes::default(),
            precision: PhantomData,
        };
        source.cut_into(block_size)?;
        Ok(source)
    }

    /// The next blocks have so many samples.
    pub fn cut_into(&mut self, block_size: usize) -> Result<(), DataError> {
        if !(1..=MAX_BLOCK).contains(&block_size) {
            let requirement = format!("between 1 and {MAX_BLOCK}");
            return Err(DataError::parameter("block_size", block_size, requirement));
        }
        self.block_size = block_size;
        Ok(())
    }

    /// Number of features, p.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// What the first file calls its features.
    pub fn feature_names(&self) -> Option<Vec<String>> {
        self.files.first().and_then(|rows| rows.feature_names())
    }

    /// Rows and columns of the images that the samples are.
    pub fn image_shape(&self) -> Option<(usize, usize)> {
        let shape = self.files.first().and_then(|rows| rows.image_shape());
        shape.filter(|(rows, columns)| rows.checked_mul(*columns) == Some(self.n_features))
    }

    /// The number from which features are counted (LIBSVM).
    pub fn index_base(&self) -> Option<u32> {
        self.files.first().and_then(|rows| rows.index_base())
    }

    /// All classes have been met: the names of those there are, in their order, and which of them
    /// every index of the first pass means. Blocks have the new indices from now on.
    pub fn settle(&mut self) -> (Vec<String>, Vec<usize>) {
        let labels = Labels::from_texts(&self.classes.names);
        let classes: Vec<usize> = labels.indices.iter().map(|&class| class as usize).collect();
        self.classes.settled = Some(classes.clone());
        (labels.class_names, classes)
    }

    /// Every name as it is written, in the order it was met: what [`BlockSource::settle_as`] takes.
    pub fn written_names(&self) -> &[String] {
        &self.classes.names
    }

    /// Takes the names that an earlier source has met for all that there are.
    pub fn settle_as(&mut self, written_names: &[String]) {
        self.classes.names = written_names.to_vec();
        self.classes.places = written_names.iter().cloned().zip(0..).collect();
        self.settle();
    }

    /// Refuses files that are not as they were when they were opened.
    fn check_files(&self) -> Result<(), DataError> {
        self.stamps.iter().try_for_each(Stamp::check)
    }

    /// The next block; after the last, and where reading fails, files that have changed are named
    /// first.
    fn read_checked(&mut self) -> Result<Option<Block<T>>, DataError> {
        let read = self.read_block();
        if !matches!(read, Ok(Some(_))) {
            self.check_files()?;
        }
        read
    }

    fn read_block(&mut self) -> Result<Option<Block<T>>, DataError> {
        let p = self.n_features;
        let mut samples = Mat::zeros(p, self.block_size);
        let (mut labels, mut name) = (Vec::new(), String::new());
        let mut values = vec![0.0; p];
        while labels.len() < self.block_size && self.current < self.files.len() {
            let rows = &mut self.files[self.current];
            values.fill(0.0);
            if !rows.next(&mut values, &mut name)? {
                self.current += 1;
                continue;
            }
            let column = samples.col_as_slice_mut(labels.len());
            column.iter_mut().zip(&values).for_each(|(to, from)| *to = T::of(*from));
            labels.push(self.classes.index(&name, rows.file())?);
        }
        samples.truncate(p, labels.len());
        Ok((!labels.is_empty()).then_some(Block { samples, labels }))
    }
}

impl Classes {
    fn index(&mut self, name: &str, file: &Path) -> Result<usize, DataError> {
        let place = match (self.places.get(name), &self.settled) {
            (Some(place), _) => *place,
            (None, Some(_)) => {
                let problem = format!("class {name:?}, which was not there in the first pass");
                return Err(DataError::format(file, problem, "the file has changed: start again"));
            }
            (None, None) if self.names.len() >= MAX_NAMES => {
                let problem = format!("more than {MAX_NAMES} different labels");
                return Err(DataError::format(file, problem, "name the column of the classes"));
            }
            (None, None) => {
                self.places.insert(name.to_string(), self.names.len());
                self.names.push(name.to_string());
                self.names.len() - 1
            }
        };
        Ok(self.settled.as_ref().map_or(place, |classes| classes[place]))
    }
}

impl<T: Real> Source<T> for BlockSource<T> {
    fn next_block(&mut self) -> Result<Option<Block<T>>, LkdlError> {
        self.read_checked().map_err(failed)
    }

    fn rewind(&mut self) -> Result<(), LkdlError> {
        self.current = 0;
        let rewound = self.files.iter_mut().try_for_each(|rows| rows.rewind());
        rewound.and_then(|()| self.check_files()).map_err(failed)
    }
}

/// Refuses a file that is not of one set with the first.
fn check_alike(rows: &dyn Rows, first: &dyn Rows, n_features: usize) -> Result<(), DataError> {
    let refused = |problem: String, fix| Err(DataError::format(rows.file(), problem, fix));
    let (found, base) = (rows.n_features(), rows.index_base());
    if found != n_features && base.is_none() {
        let problem = format!("{found} features, where another file has {n_features}");
        return refused(problem, "give files of one set");
    }
    let (here, there) = (rows.feature_names(), first.feature_names());
    if let (Some(here), Some(there)) = (here, there)
        && let Some(place) = (0..n_features).find(|&place| here.get(place) != there.get(place))
    {
        let named = |names: &[String]| names.get(place).cloned().unwrap_or_default();
        let (own, other) = (named(&here), named(&there));
        let problem = format!("feature {place} is {own:?}, where the first file has {other:?}");
        return refused(problem, "give files with the same columns in the same order");
    }
    if base != first.index_base() {
        let problem = "indices do not start where those of the first file do".to_string();
        return refused(problem, "say --index-base");
    }
    Ok(())
}

/// Refuses a number that is no class.
pub(crate) fn check_label(label: &str, file: &Path) -> Result<(), DataError> {
    if ["NaN", "inf", "-inf"].contains(&label) {
        let problem = format!("label is {label}, but must be finite");
        return Err(DataError::format(file, problem, "drop samples without a class"));
    }
    Ok(())
}

fn failed(error: DataError) -> LkdlError {
    match error {
        DataError::Changed { file, change } => {
            LkdlError::SourceChanged { change: format!("{}: {change}", file.display()) }
        }
        other => LkdlError::Source { message: other.to_string() },
    }
}

fn open_file(
    path: &Path,
    argument: &DataArgument,
    options: &ReadOptions,
) -> Result<Box<dyn Rows>, DataError> {
    if options.unlabelled {
        return Err(DataError::Unlabelled { name: path.display().to_string() });
    }
    let Some(format) = argument.format(options)? else {
        return Err(DataError::format(path, "no format", "name it with --format-in"));
    };
    options.check(format, path)?;
    let labels_file = options.labels_file(format);
    Ok(match format {
        Format::Npy => npy::rows::open(path, labels_file, options)?,
        Format::Npz => npz::rows::open(path, labels_file, options)?,
        Format::Idx => idx::rows::open(path, labels_file)?,
        Format::Csv | Format::Tsv | Format::Svmlight | Format::Parquet if labels_file.is_some() => {
            let problem = "labels in a file of their own are not read in blocks".to_string();
            return Err(DataError::format(path, problem, "put them into a column, or use .npy"));
        }
        Format::Csv => delimited::rows::open(path, ',', options)?,
        Format::Tsv => delimited::rows::open(path, '\t', options)?,
        Format::Svmlight => svmlight::rows::open(path, options)?,
        Format::Parquet => parquet::rows::open(path, options)?,
        Format::Matlab | Format::Hdf5 | Format::Images => {
            let problem = format!("{format} is not read in blocks");
            let fix = "convert it first: lkdl data convert FILE data.npz";
            return Err(DataError::format(path, problem, fix));
        }
    })
}
