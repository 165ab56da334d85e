//! What a long fit remembers, as named arrays: enough to go on from there after an interruption, to
//! the same bits.
//!
//! The library writes no file. A fit in progress lends its arrays to whoever keeps them
//! ([`Saving`]), without a copy, and takes them back from whoever has kept them ([`Saved`]).

use crate::error::{LkdlError, Warning};
use crate::real::Real;
use faer::Mat;
use std::collections::BTreeMap;

/// An array on its way out, column by column.
#[derive(Debug, Clone)]
pub enum Lent<'a, T> {
    /// A matrix in the working precision.
    Real {
        /// Its rows.
        n_rows: usize,
        /// Its columns.
        columns: Vec<&'a [T]>,
    },
    /// A matrix of sums.
    Wide {
        /// Its rows.
        n_rows: usize,
        /// Its columns.
        columns: Vec<&'a [f64]>,
    },
    /// Counts, and the bits of single numbers.
    Counts(Vec<u64>),
}

/// Everything a fit remembers at one moment, by name.
#[derive(Debug, Clone)]
pub struct Saving<'a, T> {
    arrays: BTreeMap<String, Lent<'a, T>>,
}

impl<T> Default for Saving<'_, T> {
    fn default() -> Self {
        Self { arrays: BTreeMap::new() }
    }
}

impl<'a, T: Real> Saving<'a, T> {
    /// The arrays, in the order of their names.
    pub fn arrays(&self) -> impl ExactSizeIterator<Item = (&str, &Lent<'a, T>)> {
        self.arrays.iter().map(|(name, array)| (name.as_str(), array))
    }

    pub(crate) fn columns(
        &mut self,
        at: &str,
        name: &str,
        n_rows: usize,
        columns: impl Iterator<Item = &'a [T]>,
    ) {
        let lent = Lent::Real { n_rows, columns: columns.collect() };
        self.arrays.insert(place(at, name), lent);
    }

    pub(crate) fn matrix(&mut self, at: &str, name: &str, X: &'a Mat<T>) {
        self.columns(at, name, X.nrows(), (0..X.ncols()).map(|j| X.col_as_slice(j)));
    }

    pub(crate) fn wide(&mut self, at: &str, name: &str, X: &'a Mat<f64>) {
        let columns = (0..X.ncols()).map(|j| X.col_as_slice(j)).collect();
        self.arrays.insert(place(at, name), Lent::Wide { n_rows: X.nrows(), columns });
    }

    pub(crate) fn counts(&mut self, at: &str, name: &str, counts: impl IntoIterator<Item = usize>) {
        self.words(at, name, counts.into_iter().map(|count| count as u64));
    }

    pub(crate) fn numbers(&mut self, at: &str, name: &str, numbers: impl IntoIterator<Item = f64>) {
        self.words(at, name, numbers.into_iter().map(f64::to_bits));
    }

    /// Bits that mean no number.
    pub(crate) fn words(&mut self, at: &str, name: &str, words: impl IntoIterator<Item = u64>) {
        self.arrays.insert(place(at, name), Lent::Counts(words.into_iter().collect()));
    }

    pub(crate) fn warnings(&mut self, at: &str, warnings: &[Warning]) {
        self.words(at, WARNINGS, warnings.iter().flat_map(Warning::to_numbers));
    }
}

/// An array that was kept.
#[derive(Debug, Clone, PartialEq)]
pub enum Kept<T> {
    /// See [`Lent::Real`].
    Real(Mat<T>),
    /// See [`Lent::Wide`].
    Wide(Mat<f64>),
    /// See [`Lent::Counts`].
    Counts(Vec<u64>),
}

/// Everything a fit remembered, handed back.
#[derive(Debug, Clone, PartialEq)]
pub struct Saved<T> {
    arrays: BTreeMap<String, Kept<T>>,
}

impl<T> FromIterator<(String, Kept<T>)> for Saved<T> {
    fn from_iter<I: IntoIterator<Item = (String, Kept<T>)>>(arrays: I) -> Self {
        Self { arrays: arrays.into_iter().collect() }
    }
}

/// A copy of what is lent, for keepers in memory.
impl<T: Real> From<&Saving<'_, T>> for Saved<T> {
    fn from(saving: &Saving<'_, T>) -> Self {
        let kept = |lent: &Lent<'_, T>| match lent {
            Lent::Real { n_rows, columns } => {
                Kept::Real(Mat::from_fn(*n_rows, columns.len(), |t, i| columns[i][t]))
            }
            Lent::Wide { n_rows, columns } => {
                Kept::Wide(Mat::from_fn(*n_rows, columns.len(), |t, i| columns[i][t]))
            }
            Lent::Counts(counts) => Kept::Counts(counts.clone()),
        };
        saving.arrays().map(|(name, lent)| (name.to_string(), kept(lent))).collect()
    }
}

impl<T: Real> Saved<T> {
    pub(crate) fn has(&self, at: &str, name: &str) -> bool {
        self.arrays.contains_key(&place(at, name))
    }

    pub(crate) fn matrix(&mut self, at: &str, name: &str) -> Result<Mat<T>, LkdlError> {
        match self.take(at, name)? {
            Kept::Real(X) => Ok(X),
            _ => Err(unfit(at, name, "is no matrix of samples")),
        }
    }

    pub(crate) fn wide(&mut self, at: &str, name: &str) -> Result<Mat<f64>, LkdlError> {
        match self.take(at, name)? {
            Kept::Wide(X) => Ok(X),
            _ => Err(unfit(at, name, "is no matrix of sums")),
        }
    }

    pub(crate) fn list(&mut self, at: &str, name: &str) -> Result<Vec<usize>, LkdlError> {
        let counts = self.words(at, name)?;
        let index =
            |count: u64| usize::try_from(count).map_err(|_| unfit(at, name, "is too large"));
        counts.into_iter().map(index).collect()
    }

    pub(crate) fn counts<const N: usize>(
        &mut self,
        at: &str,
        name: &str,
    ) -> Result<[usize; N], LkdlError> {
        let counts = self.list(at, name)?;
        counts.try_into().map_err(|_| unfit(at, name, "has another length"))
    }

    pub(crate) fn numbers(&mut self, at: &str, name: &str) -> Result<Vec<f64>, LkdlError> {
        Ok(self.words(at, name)?.into_iter().map(f64::from_bits).collect())
    }

    pub(crate) fn warnings(&mut self, at: &str) -> Result<Vec<Warning>, LkdlError> {
        let numbers = self.words(at, WARNINGS)?;
        let (triples, []) = numbers.as_chunks::<3>() else {
            return Err(unfit(at, WARNINGS, "has another length"));
        };
        let warning = |numbers: &[u64; 3]| {
            Warning::from_numbers(*numbers)
                .ok_or_else(|| unfit(at, WARNINGS, "holds an unknown one"))
        };
        triples.iter().map(warning).collect()
    }

    pub(crate) fn words(&mut self, at: &str, name: &str) -> Result<Vec<u64>, LkdlError> {
        match self.take(at, name)? {
            Kept::Counts(counts) => Ok(counts),
            _ => Err(unfit(at, name, "is no list of counts")),
        }
    }

    fn take(&mut self, at: &str, name: &str) -> Result<Kept<T>, LkdlError> {
        self.arrays.remove(&place(at, name)).ok_or_else(|| unfit(at, name, "is missing"))
    }
}

const WARNINGS: &str = "warnings";

fn place(at: &str, name: &str) -> String {
    format!("{at}.{name}")
}

/// An array that is not what the fit lent.
pub(crate) fn unfit(at: &str, name: &str, problem: &'static str) -> LkdlError {
    LkdlError::SavedState { name: place(at, name), problem }
}

impl Warning {
    /// Which warning, and its two values.
    fn to_numbers(&self) -> [u64; 3] {
        let pair = |kind, a: usize, b: usize| [kind, a as u64, b as u64];
        match *self {
            Self::FewerLandmarks { wanted, got } => pair(0, wanted, got),
            Self::RankReduced { wanted, got } => pair(1, wanted, got),
            Self::PilotSample { used, of } => pair(2, used, of),
            Self::MixedAtoms { wanted, from_samples } => pair(3, wanted, from_samples),
            Self::FewerAtoms { wanted, got } => pair(4, wanted, got),
            Self::ZeroSamples { count } => pair(5, count, 0),
            Self::IndefiniteRepaired { share } => [6, share.to_bits(), 0],
            Self::Drifted { level, n_grown } => [7, level.to_bits(), n_grown as u64],
            Self::Pilot { used, of } => pair(8, used, of),
        }
    }

    fn from_numbers([kind, a, b]: [u64; 3]) -> Option<Self> {
        let (first, second) = (usize::try_from(a), usize::try_from(b));
        let (first, second) = (first.unwrap_or(usize::MAX), second.unwrap_or(usize::MAX));
        Some(match kind {
            0 => Self::FewerLandmarks { wanted: first, got: second },
            1 => Self::RankReduced { wanted: first, got: second },
            2 => Self::PilotSample { used: first, of: second },
            3 => Self::MixedAtoms { wanted: first, from_samples: second },
            4 => Self::FewerAtoms { wanted: first, got: second },
            5 => Self::ZeroSamples { count: first },
            6 => Self::IndefiniteRepaired { share: f64::from_bits(a) },
            7 => Self::Drifted { level: f64::from_bits(a), n_grown: second },
            8 => Self::Pilot { used: first, of: second },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lent_comes_back_and_what_is_not_there_is_named() {
        let X = Mat::from_fn(3, 2, |t, i| (t + 10 * i) as f32);
        let sums = Mat::from_fn(2, 2, |t, i| (t * i) as f64 + 0.5);
        let warnings = [
            Warning::FewerLandmarks { wanted: 5, got: 4 },
            Warning::RankReduced { wanted: 9, got: 8 },
            Warning::PilotSample { used: 1, of: 2 },
            Warning::Pilot { used: 3, of: 4 },
            Warning::MixedAtoms { wanted: 3, from_samples: 2 },
            Warning::FewerAtoms { wanted: 3, got: 1 },
            Warning::ZeroSamples { count: 7 },
            Warning::IndefiniteRepaired { share: 0.1 },
            Warning::Drifted { level: 2.5, n_grown: 30 },
        ];
        let mut saving = Saving::default();
        saving.matrix("a", "X", &X);
        saving.wide("a", "sums", &sums);
        saving.counts("a", "sizes", [1, 2]);
        saving.numbers("a", "errors", [0.25, f64::INFINITY]);
        saving.warnings("a", &warnings);
        let mut saved = Saved::from(&saving);
        assert_eq!(saved.matrix("a", "X").unwrap(), X);
        assert_eq!(saved.wide("a", "sums").unwrap(), sums);
        assert_eq!(saved.clone().counts::<2>("a", "sizes").unwrap(), [1, 2]);
        assert_eq!(saved.numbers("a", "errors").unwrap(), [0.25, f64::INFINITY]);
        assert_eq!(saved.warnings("a").unwrap(), warnings);
        let missing = saved.matrix("a", "X").unwrap_err().to_string();
        assert!(missing.contains("a.X is missing"), "{missing}");
        let other = saved.clone().wide("a", "sizes").unwrap_err();
        assert!(matches!(other, LkdlError::SavedState { .. }), "{other}");
        assert!(saved.counts::<3>("a", "sizes").is_err());
    }
}
