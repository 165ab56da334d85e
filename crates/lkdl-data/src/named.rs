//! Sets that are known by name and found under one directory, as their distributors name the files.
//!
//! | name | files | values |
//! |---|---|---|
//! | `usps` | `usps/usps.bz2`, `usps/usps.t.bz2` (LIBSVM; label = digit + 1) | −1 to 1 |
//! | `mnist` | `mnist/{train,t10k}-{images-idx3,labels-idx1}-ubyte.gz` | 0 to 255 |

use crate::dataset::{Dataset, TrainTest};
use crate::error::DataError;
use crate::idx;
use crate::svmlight::SvmlightParams;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The environment variable that names the directory of data.
pub const DATA_DIR: &str = "LKDL_DATA_DIR";

/// A set with a traditional split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NamedSet {
    /// US Postal Service digits, 16×16: 7,291 to learn from, 2,007 to test.
    Usps,
    /// MNIST digits, 28×28: 60,000 to learn from, 10,000 to test.
    Mnist,
}

impl NamedSet {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Usps, Self::Mnist];

    /// The name it is asked for by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usps => "usps",
            Self::Mnist => "mnist",
        }
    }

    /// Reads both parts from the files under `directory`.
    pub fn load(self, directory: &Path) -> Result<TrainTest, DataError> {
        match self {
            Self::Usps => Ok(TrainTest {
                train: self.usps(directory, "usps.bz2")?,
                test: self.usps(directory, "usps.t.bz2")?,
            }),
            Self::Mnist => Ok(TrainTest {
                train: self.mnist(directory, "train")?,
                test: self.mnist(directory, "t10k")?,
            }),
        }
    }

    fn usps(self, directory: &Path, file: &str) -> Result<Dataset, DataError> {
        // the file counts digits from 1
        let in_file = (1..=10).map(|label| label.to_string()).collect();
        let params = SvmlightParams { n_features: Some(256), class_names: Some(in_file) };
        let set = params.read_file(&self.find(directory, file)?)?;
        Ok(Dataset { name: self.name().into(), class_names: ten_digits(), ..set })
    }

    fn mnist(self, directory: &Path, part: &str) -> Result<Dataset, DataError> {
        let images = self.find(directory, &format!("{part}-images-idx3-ubyte.gz"))?;
        let labels = self.find(directory, &format!("{part}-labels-idx1-ubyte.gz"))?;
        idx::read_pair(self.name(), &images, &labels, Some(&ten_digits()))
    }

    fn find(self, directory: &Path, file: &str) -> Result<PathBuf, DataError> {
        let file = Path::new(self.name()).join(file);
        let path = directory.join(&file);
        if path.is_file() {
            Ok(path)
        } else {
            Err(DataError::Missing { set: self.name(), file, directory: directory.into() })
        }
    }
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
            let known = Self::ALL.map(Self::name).join(" or ");
            DataError::parameter("data set", format!("\"{name}\""), known)
        })
    }
}

/// The directory that [`DATA_DIR`] names.
pub fn data_dir() -> Result<PathBuf, DataError> {
    match std::env::var_os(DATA_DIR) {
        Some(directory) if !directory.is_empty() => Ok(directory.into()),
        _ => Err(DataError::NoDataDir),
    }
}

fn ten_digits() -> Vec<String> {
    (0..10).map(|digit| digit.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The real files, or `None` with a note where they are not at hand.
    fn real(set: NamedSet) -> Option<TrainTest> {
        let Ok(directory) = data_dir() else {
            println!("{DATA_DIR} is not set: the check of {set} against its files did not run");
            return None;
        };
        Some(set.load(&directory).unwrap())
    }

    /// Test samples whose nearest training sample (Euclidean) has another label.
    fn nearest_neighbour_errors(set: &TrainTest) -> usize {
        let products = set.train.samples.transpose() * &set.test.samples;
        let sq_norms: Vec<f64> = (0..set.train.n_samples())
            .map(|j| set.train.samples.col(j).squared_norm_l2())
            .collect();
        let wrong = (0..set.test.n_samples()).filter(|&i| {
            let distances =
                products.col_as_slice(i).iter().zip(&sq_norms).map(|(xy, y)| y - 2.0 * xy);
            let nearest = distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
            set.train.labels[nearest] != set.test.labels[i]
        });
        wrong.count()
    }

    #[test]
    fn usps_is_the_known_set() {
        let Some(set) = real(NamedSet::Usps) else { return };
        assert_eq!(set.train.class_counts(), [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]);
        assert_eq!(set.test.class_counts(), [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]);
        assert_eq!((set.train.n_features(), set.test.n_features()), (256, 256));
        assert_eq!(set.train.class_names, ten_digits());
        let (mut lowest, mut highest) = (f64::MAX, f64::MIN);
        for i in 0..set.train.n_samples() {
            for &v in set.train.samples.col_as_slice(i) {
                (lowest, highest) = (lowest.min(v), highest.max(v));
            }
        }
        assert!(lowest >= -1.0 && highest <= 1.0 && lowest < -0.99 && highest > 0.99);
        // 4.98 % of 2,007
        assert_eq!(nearest_neighbour_errors(&set), 100);
    }

    #[test]
    fn mnist_is_the_known_set() {
        let Some(set) = real(NamedSet::Mnist) else { return };
        let train = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949];
        assert_eq!(set.train.class_counts(), train);
        let test = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009];
        assert_eq!(set.test.class_counts(), test);
        assert_eq!((set.train.n_features(), set.test.n_features()), (784, 784));
        let sum: f64 =
            (0..60_000).map(|i| set.train.samples.col_as_slice(i).iter().sum::<f64>()).sum();
        assert!((sum / (784.0 * 60_000.0) - 33.3184).abs() < 5e-5);
    }

    #[test]
    fn a_missing_file_is_named_with_the_place_it_was_looked_for() {
        for (set, file) in [
            (NamedSet::Usps, "usps/usps.bz2"),
            (NamedSet::Mnist, "mnist/train-images-idx3-ubyte.gz"),
        ] {
            let message = set.load(Path::new("/no/such/place")).unwrap_err().to_string();
            assert!(message.contains(file) && message.contains("/no/such/place"), "{message}");
        }
    }

    #[test]
    fn names_are_read_back_as_written() {
        for set in NamedSet::ALL {
            assert_eq!(set.to_string().parse::<NamedSet>().unwrap(), set);
        }
        let error = "uspz".parse::<NamedSet>().unwrap_err();
        assert_eq!(error.to_string(), "data set is \"uspz\", but must be usps or mnist");
    }
}
