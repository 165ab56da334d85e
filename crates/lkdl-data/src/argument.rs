//! What a person writes to name data: `digits`, `usps:train`, or a path.

use crate::digits::digits;
use crate::error::DataError;
use crate::file::read;
use crate::format::Format;
use crate::named::{NamedSet, Part};
use crate::options::ReadOptions;
use crate::table::Table;
use std::path::{Path, PathBuf};
use strsim::levenshtein;

/// The embedded set's name.
const DIGITS: &str = "digits";
/// How many letters of a name may be wrong for it to be guessed: this, and at most half of them.
const MAX_TYPING_ERRORS: usize = 2;

/// Data, by name or by path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataArgument {
    /// The embedded digits.
    Digits,
    /// A named set: one part of it, or all of it.
    Named {
        /// The set.
        set: NamedSet,
        /// The part; without it, all parts one after the other.
        part: Option<Part>,
    },
    /// A file, or a folder of images.
    File(PathBuf),
}

impl DataArgument {
    /// Reads `digits`, `SET`, `SET:train`, `SET:test` or a path. A name comes before a file of
    /// that name, which can be written `./usps`.
    pub fn parse(text: &str) -> Result<Self, DataError> {
        let (name, part) = match text.split_once(':') {
            Some((name, part)) => (name, Some(part)),
            None => (text, None),
        };
        if name == DIGITS {
            return match part {
                None => Ok(Self::Digits),
                Some(_) => Err(no_parts(text, DIGITS)),
            };
        }
        if let Some(set) = NamedSet::ALL.into_iter().find(|set| set.name() == name) {
            let Some(part) = part else { return Ok(Self::Named { set, part: None }) };
            if !set.has_parts() {
                return Err(no_parts(text, name));
            }
            let part: Part = part.parse().map_err(|_| {
                let requirement = format!("{name}, {name}:train or {name}:test");
                DataError::parameter("data", format!("\"{text}\""), requirement)
            })?;
            return Ok(Self::Named { set, part: Some(part) });
        }
        if text == "-" {
            let requirement = "a path or a name; for the standard input say /dev/stdin, and its \
                               format with --format-in";
            return Err(DataError::parameter("data", "\"-\"", requirement));
        }
        let looks_like_path = text.contains(['/', '\\', '.']);
        if looks_like_path || Path::new(text).exists() {
            return Ok(Self::File(text.into()));
        }
        let known: Vec<&str> =
            std::iter::once(DIGITS).chain(NamedSet::ALL.map(NamedSet::name)).collect();
        let nearest = known.iter().min_by_key(|known| levenshtein(known, name));
        let guess = nearest
            .filter(|known| levenshtein(known, name) <= MAX_TYPING_ERRORS.min(known.len() / 2));
        let requirement = match guess {
            Some(guess) => format!("the path of a file or a known set; did you mean {guess}?"),
            None => format!("the path of a file, or one of {}", known.join(", ")),
        };
        Err(DataError::parameter("data", format!("\"{text}\""), requirement))
    }

    /// The format of a file: the one that `options` name, or else what its name and first bytes
    /// say. Sets have none.
    pub fn format(&self, options: &ReadOptions) -> Result<Option<Format>, DataError> {
        match (self, options.format) {
            (Self::File(_), Some(format)) => Ok(Some(format)),
            (Self::File(path), None) => Format::detect(path).map(Some),
            _ => Ok(None),
        }
    }

    /// Reads the data. Named sets are looked for in `directory` first, then where
    /// [`data_dirs`](crate::data_dirs) says. Options that mean nothing to the data are errors.
    pub fn load(
        &self,
        directory: Option<&Path>,
        options: &ReadOptions,
    ) -> Result<Table, DataError> {
        if let Self::File(path) = self {
            let format = self.format(options)?;
            if let Some(format) = format {
                options.check(format, path)?;
            }
            return read(path, &ReadOptions { format, ..options.clone() });
        }
        if let Some(option) = options.about_files() {
            return Err(DataError::UnusedForSet { option, set: self.to_string() });
        }
        let set = match self {
            Self::Named { set, part } => set.table(*part, directory)?,
            _ => digits()?.into(),
        };
        let labels = set.labels.filter(|_| !options.unlabelled);
        Ok(Table { labels, ..set })
    }
}

impl std::fmt::Display for DataArgument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Digits => f.write_str(DIGITS),
            Self::Named { set, part: None } => write!(f, "{set}"),
            Self::Named { set, part: Some(part) } => write!(f, "{set}:{part}"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl std::str::FromStr for DataArgument {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        Self::parse(text)
    }
}

fn no_parts(text: &str, name: &str) -> DataError {
    let requirement = format!("{name}, which has no parts; split it as you like");
    DataError::parameter("data", format!("\"{text}\""), requirement)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn names_parts_and_paths_are_told_apart() {
        let named = |set, part| DataArgument::Named { set, part };
        for (text, argument) in [
            ("digits", DataArgument::Digits),
            ("usps", named(NamedSet::Usps, None)),
            ("usps-esl:test", named(NamedSet::UspsEsl, Some(Part::Test))),
            ("mnist:train", named(NamedSet::Mnist, Some(Part::Train))),
            ("ar", named(NamedSet::Ar, None)),
            ("./usps", DataArgument::File("./usps".into())),
            ("a.csv", DataArgument::File("a.csv".into())),
            ("C:\\a.csv", DataArgument::File("C:\\a.csv".into())),
        ] {
            assert_eq!(DataArgument::parse(text).unwrap(), argument);
            assert_eq!(argument.to_string(), text);
        }
    }

    #[test]
    fn misspelt_names_are_guessed_and_bad_parts_named() {
        for (text, words) in [
            ("uspz", "did you mean usps?"),
            ("dgits", "did you mean digits?"),
            ("minst:train", "did you mean mnist?"),
            ("something", "one of digits, usps, "),
            ("", "one of digits"),
            ("usps:tset", "usps, usps:train or usps:test"),
            ("digits:train", "digits, which has no parts"),
            ("-", "/dev/stdin"),
            ("ar:train", "ar, which has no parts"),
        ] {
            let message = DataArgument::parse(text).unwrap_err().to_string();
            assert!(message.starts_with(&format!("data is \"{text}\", but must be ")), "{message}");
            assert!(message.contains(words), "{message}");
        }
    }

    #[test]
    fn digits_and_files_are_loaded() {
        let options = ReadOptions::default();
        let digits = DataArgument::Digits.load(None, &options).unwrap();
        assert_eq!((digits.n_samples(), digits.n_features()), (1797, 64));
        let scratch = Scratch::new("argument");
        let path = scratch.file("t.csv", b"f0,label\n1,a\n");
        let file = DataArgument::parse(path.to_str().unwrap()).unwrap();
        assert_eq!(file.load(None, &options).unwrap().name, "t");
        let bare = ReadOptions { unlabelled: true, ..ReadOptions::default() };
        assert_eq!(DataArgument::Digits.load(None, &bare).unwrap().labels, None);
        let missing = DataArgument::parse("no/such.csv").unwrap().load(None, &options);
        assert!(missing.unwrap_err().to_string().starts_with("no/such.csv: "));
    }

    #[test]
    fn options_that_mean_nothing_to_the_data_are_refused() {
        let scratch = Scratch::new("argument-options");
        let path = scratch.file("t.csv", b"f0,label\n1,a\n");
        let file = DataArgument::File(path);
        let sized = ReadOptions { n_features: Some(1), ..ReadOptions::default() };
        let error = file.load(None, &sized).unwrap_err();
        assert!(matches!(error, DataError::Unused { option: "n_features", .. }), "{error}");
        for options in [
            sized,
            ReadOptions { label: Some("y".into()), ..ReadOptions::default() },
            ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() },
        ] {
            let error = DataArgument::Digits.load(None, &options).unwrap_err();
            assert!(matches!(error, DataError::UnusedForSet { .. }), "{error}");
        }
    }
}
