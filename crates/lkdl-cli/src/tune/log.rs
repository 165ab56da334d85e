//! Trials on disk: one JSON object per line, appended as each trial ends, so that a search that was
//! stopped goes on where it was.

use super::space::Settings;
use crate::failure::Failure;
use crate::jsonl::{JsonLines, Kind};
use crate::scores::Spread;
use serde::{Deserialize, Serialize};
use std::path::Path;

const TRIALS: Kind =
    Kind { first_words: "{\"data\":\"", name: "trial", fix: "choose another --log" };

/// What accuracies depend on beside the settings: trials with another of these are not comparable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// SHA-256 of samples and labels.
    pub data: String,
    /// Number of folds.
    pub folds: usize,
    /// Of folds, landmarks and dictionaries.
    pub seed: u64,
}

/// One setting, tried on all folds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// On what.
    #[serde(flatten)]
    pub key: Key,
    /// The flags of `fit`.
    pub settings: Settings,
    /// The accuracy of every fold; empty if the setting failed.
    pub accuracies: Vec<f64>,
    /// Time of all folds.
    pub seconds: f64,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Trial {
    /// Mean accuracy over folds.
    pub fn mean(&self) -> Option<f64> {
        self.spread().map(|spread| spread.mean)
    }

    /// Mean and standard deviation over folds; `None` if the setting failed.
    pub fn spread(&self) -> Option<Spread> {
        (!self.accuracies.is_empty()).then(|| Spread::of(&self.accuracies))
    }
}

/// The file, open for appending.
#[derive(Debug)]
pub struct Log(JsonLines);

impl Log {
    /// Opens or creates the file; the trials in it that have this key.
    pub fn open(path: &Path, key: &Key) -> Result<(Self, Vec<Trial>), Failure> {
        let (lines, mut trials) = JsonLines::open::<Trial>(path, TRIALS)?;
        trials.retain(|trial| trial.key == *key);
        Ok((Self(lines), trials))
    }

    /// Adds a trial, in one write.
    pub fn append(&mut self, trial: &Trial) -> Result<(), Failure> {
        self.0.append(trial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn key(seed: u64) -> Key {
        Key { data: "ab".into(), folds: 3, seed }
    }

    fn trial(seed: u64, atoms: &str, accuracies: &[f64]) -> Trial {
        Trial {
            key: key(seed),
            settings: [("atoms".to_string(), atoms.to_string())].into(),
            accuracies: accuracies.to_vec(),
            seconds: 0.5,
            error: None,
        }
    }

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("lkdl-log-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    #[test]
    fn trials_of_the_same_key_come_back() {
        let path = scratch("back");
        let (mut log, trials) = Log::open(&path, &key(1)).unwrap();
        assert!(trials.is_empty());
        let failed = Trial { error: Some("no".into()), ..trial(1, "9", &[]) };
        for trial in [trial(1, "5", &[0.1, 0.2, 1.0 / 3.0]), trial(2, "6", &[0.5]), failed.clone()]
        {
            log.append(&trial).unwrap();
        }
        let (_, trials) = Log::open(&path, &key(1)).unwrap();
        assert_eq!(trials, [trial(1, "5", &[0.1, 0.2, 1.0 / 3.0]), failed]);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_line_cut_off_anywhere_is_dropped_and_the_log_goes_on() {
        let path = scratch("torn");
        let whole = serde_json::to_string(&trial(1, "5", &[0.5])).unwrap() + "\n";
        for cut in 1..whole.len() {
            std::fs::write(&path, format!("{whole}{}", &whole[..cut])).unwrap();
            let (mut log, trials) = Log::open(&path, &key(1)).unwrap();
            // all but the line break is a whole trial
            assert_eq!(trials.len(), if cut + 1 == whole.len() { 2 } else { 1 });
            log.append(&trial(1, "6", &[0.25])).unwrap();
            let (_, trials) = Log::open(&path, &key(1)).unwrap();
            assert_eq!(trials.last(), Some(&trial(1, "6", &[0.25])));
        }
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_that_is_no_log_is_refused_untouched() {
        let path = scratch("csv");
        for text in ["a,b\n1,2\n", "a,b", "{}\n", "{\"data\":1}"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(Log::open(&path, &key(1)).unwrap_err().code(), 3);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        std::fs::remove_file(path).unwrap();
        assert_eq!(Log::open(Path::new("/nowhere/at/all"), &key(1)).unwrap_err().code(), 4);
        assert_eq!(Log::open(&std::env::temp_dir(), &key(1)).unwrap_err().code(), 3);
    }
}
