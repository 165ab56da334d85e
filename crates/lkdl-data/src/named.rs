//! Sets that are known by name and found under one directory, as their distributors name the files.
//!
//! | name | files | samples | values |
//! |---|---|---|---|
//! | `usps` | `usps/usps.bz2`, `usps/usps.t.bz2` (LIBSVM; label = digit + 1) | 16×16 digits, smoothed | −1 to 1 |
//! | `usps-esl` | `usps/zip.train.gz`, `usps/zip.test.gz` (text) | the same, not smoothed | −1 to 1 |
//! | `mnist` | `mnist/{train,t10k}-{images-idx3,labels-idx1}-ubyte.gz` | 28×28 digits | 0 to 255 |
//! | `yaleb` | `yaleb/featurevectors_rebuilt.mat` | 504 random projections of faces | about ±10³ |
//! | `ar` | `ar/randomfaces4ar_rebuilt.mat`; not split | 540 random projections of faces | about ±10³ |

use crate::dataset::{Dataset, TrainTest};
use crate::error::DataError;
use crate::esl;
use crate::file::read;
use crate::folders::data_dirs;
use crate::format::Format;
use crate::idx;
use crate::options::{IndexBase, Layout, ReadOptions};
use crate::svmlight::SvmlightParams;
use crate::table::{Labels, Table};
use faer::Mat;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A set known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NamedSet {
    /// US Postal Service digits, 16×16, smoothed: 7,291 to learn from, 2,007 to test.
    Usps,
    /// The same digits as "The Elements of Statistical Learning" gives them, not smoothed.
    UspsEsl,
    /// MNIST digits, 28×28: 60,000 to learn from, 10,000 to test.
    Mnist,
    /// Extended Yale B faces, 38 persons: 1,216 to learn from, 1,198 to test.
    YaleB,
    /// AR faces, 100 persons, 2,600 in all.
    Ar,
}

/// One part of a set that comes in two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// To learn from.
    Train,
    /// To be judged by.
    Test,
}

/// A file of a named set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedFile {
    /// Where it is, relative to the directory of data.
    pub path: &'static str,
    /// Its SHA-256, in hexadecimal.
    pub sha256: &'static str,
}

const fn file(path: &'static str, sha256: &'static str) -> NamedFile {
    NamedFile { path, sha256 }
}

const USPS: [NamedFile; 2] = [
    file("usps/usps.bz2", "3771e9dd6ba685185f89867b6e249233dd74652389f263963b3b741e994b034f"),
    file("usps/usps.t.bz2", "a9c0164e797d60142a50604917f0baa604f326e9a689698763793fa5d12ffc4e"),
];
const USPS_ESL: [NamedFile; 2] = [
    file("usps/zip.train.gz", "66ebf231ab51f2cf6ac1a892d0f98ccffee1079d7a5db638c1f11f366046ca16"),
    file("usps/zip.test.gz", "8dacc3c6e136af6c3488de9e5113a7daf140c8c2f1f0b61c54ee02f03f1a962f"),
];
const MNIST: [NamedFile; 4] = [
    file(
        "mnist/train-images-idx3-ubyte.gz",
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    ),
    file(
        "mnist/train-labels-idx1-ubyte.gz",
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    ),
    file(
        "mnist/t10k-images-idx3-ubyte.gz",
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    ),
    file(
        "mnist/t10k-labels-idx1-ubyte.gz",
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    ),
];
const YALEB: [NamedFile; 1] = [file(
    "yaleb/featurevectors_rebuilt.mat",
    "66b5a60e6d4b28f5b82a86d64fb5d135ca69376e45e797cbf8f7a2206a4996df",
)];
const AR: [NamedFile; 1] = [file(
    "ar/randomfaces4ar_rebuilt.mat",
    "6922127ae3d3e06c013d6cb2018886a52e25503be35729160d23518604b33c4f",
)];

impl Part {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Train, Self::Test];

    /// The name it is asked for by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
        }
    }
}

impl NamedSet {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Usps, Self::UspsEsl, Self::Mnist, Self::YaleB, Self::Ar];

    /// The name it is asked for by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usps => "usps",
            Self::UspsEsl => "usps-esl",
            Self::Mnist => "mnist",
            Self::YaleB => "yaleb",
            Self::Ar => "ar",
        }
    }

    /// Whether it comes in a part to learn from and one to test.
    pub fn has_parts(self) -> bool {
        self != Self::Ar
    }

    /// Rows and columns of its images, if it holds such.
    fn image_shape(self) -> Option<(usize, usize)> {
        match self {
            Self::Usps | Self::UspsEsl => Some((16, 16)),
            Self::Mnist => Some((28, 28)),
            Self::YaleB | Self::Ar => None,
        }
    }

    /// The files it is made of.
    pub fn files(self) -> &'static [NamedFile] {
        match self {
            Self::Usps => &USPS,
            Self::UspsEsl => &USPS_ESL,
            Self::Mnist => &MNIST,
            Self::YaleB => &YALEB,
            Self::Ar => &AR,
        }
    }

    /// Reads both parts from the files under `directory`.
    pub fn load(self, directory: &Path) -> Result<TrainTest, DataError> {
        let part = |part| self.part(Some(part), &[directory.into()])?.into_dataset();
        Ok(TrainTest { train: part(Part::Train)?, test: part(Part::Test)? })
    }

    /// Reads one part, or all of it, from the first of the folders that has the files:
    /// `directory`, then those of [`data_dirs`].
    pub fn table(self, part: Option<Part>, directory: Option<&Path>) -> Result<Table, DataError> {
        let directories = data_dirs(directory);
        if part.is_some() || !self.has_parts() {
            return self.part(part, &directories);
        }
        let train = self.part(Some(Part::Train), &directories)?;
        join(train, self.part(Some(Part::Test), &directories)?)
    }

    /// One part; the whole of a set that has none.
    fn part(self, part: Option<Part>, directories: &[PathBuf]) -> Result<Table, DataError> {
        let find = |file: &NamedFile| self.find(file, directories);
        let table = match (self, part) {
            (Self::Usps, Some(Part::Train)) => usps(&find(&USPS[0])?)?,
            (Self::Usps, Some(Part::Test)) => usps(&find(&USPS[1])?)?,
            (Self::UspsEsl, Some(Part::Train)) => esl::read(&find(&USPS_ESL[0])?, 256)?,
            (Self::UspsEsl, Some(Part::Test)) => esl::read(&find(&USPS_ESL[1])?, 256)?,
            (Self::Mnist, Some(part)) => {
                let [train_images, train_labels, test_images, test_labels] = &MNIST;
                let (images, labels) = match part {
                    Part::Train => (train_images, train_labels),
                    Part::Test => (test_images, test_labels),
                };
                let names = ten_digits();
                idx::read_pair(self.name(), &find(images)?, &find(labels)?, Some(&names))?.into()
            }
            (Self::YaleB, Some(Part::Train)) => {
                matlab(&find(&YALEB[0])?, "training_feats", "H_train")?
            }
            (Self::YaleB, Some(Part::Test)) => {
                matlab(&find(&YALEB[0])?, "testing_feats", "H_test")?
            }
            (Self::Ar, None) => matlab(&find(&AR[0])?, "featureMat", "labelMat")?,
            (Self::Ar, Some(_)) => {
                return Err(DataError::parameter("part of ar", "given", "left out: ar has none"));
            }
            (_, None) => return Err(DataError::parameter("part", "none", "train or test")),
        };
        Ok(Table { name: self.name().into(), ..table.with_image_shape(self.image_shape()) })
    }

    fn find(self, file: &NamedFile, directories: &[PathBuf]) -> Result<PathBuf, DataError> {
        if directories.is_empty() {
            return Err(DataError::NoDataDir);
        }
        let places = directories.iter().map(|directory| directory.join(file.path));
        places.into_iter().find(|path| path.is_file()).ok_or_else(|| DataError::Missing {
            set: self.name(),
            file: file.path.into(),
            directories: directories.to_vec(),
        })
    }
}

/// LIBSVM text that counts digits from 1.
fn usps(file: &Path) -> Result<Table, DataError> {
    let in_file = (1..=10).map(|label| label.to_string()).collect();
    let params = SvmlightParams {
        n_features: Some(256),
        index_base: IndexBase::One,
        class_names: Some(in_file),
    };
    Ok(Dataset { class_names: ten_digits(), ..params.read_file(file)? }.into())
}

/// Two variables of a MATLAB file: samples as columns, classes one-hot.
fn matlab(file: &Path, samples: &str, label: &str) -> Result<Table, DataError> {
    let options = ReadOptions {
        format: Some(Format::Matlab),
        samples: Some(samples.into()),
        label: Some(label.into()),
        layout: Layout::Columns,
        ..ReadOptions::default()
    };
    read(file, &options)
}

/// The samples of `train`, then those of `test`.
fn join(train: Table, test: Table) -> Result<Table, DataError> {
    let (p, n) = (train.n_features(), train.n_samples());
    if test.n_features() != p {
        let requirement = format!("{p}, as in the other part");
        return Err(DataError::parameter("n_features", test.n_features(), requirement));
    }
    let samples = Mat::from_fn(p, n + test.n_samples(), |t, i| match i.checked_sub(n) {
        None => train.samples[(t, i)],
        Some(i) => test.samples[(t, i)],
    });
    let names = |table: &Table| -> Vec<String> {
        table.labels.iter().flat_map(Labels::names).map(String::from).collect()
    };
    let labels = Labels::from_texts(&[names(&train), names(&test)].concat());
    let table = Table::new(train.name, samples, Some(labels))?;
    Ok(table.with_image_shape(train.image_shape))
}

impl std::fmt::Display for NamedSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for NamedSet {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Self, DataError> {
        Self::ALL.into_iter().find(|set| set.name() == name).ok_or_else(|| {
            let known = format!("one of {}", Self::ALL.map(Self::name).join(", "));
            DataError::parameter("data set", format!("\"{name}\""), known)
        })
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Part {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Self, DataError> {
        Self::ALL
            .into_iter()
            .find(|part| part.name() == name)
            .ok_or_else(|| DataError::parameter("part", format!("\"{name}\""), "train or test"))
    }
}

fn ten_digits() -> Vec<String> {
    (0..10).map(|digit| digit.to_string()).collect()
}

#[cfg(test)]
mod tests;
