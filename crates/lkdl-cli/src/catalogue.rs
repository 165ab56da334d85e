//! The sets that have a name: their measures, the terms they come under, and their public homes.
//!
//! Files and their SHA-256 are known to `lkdl_data`. A download that differs in one byte is
//! refused, so a home needs no trust.

use lkdl_data::NamedSet;

/// What is known of a set without reading it.
#[derive(Debug)]
pub struct Entry {
    /// The set; none for the built-in digits.
    pub set: Option<NamedSet>,
    /// Number of samples, all parts together.
    pub samples: usize,
    /// Number of features.
    pub features: usize,
    /// Number of classes.
    pub classes: usize,
    /// Under which terms its owners give it out.
    pub terms: &'static str,
    /// How to come by it.
    pub source: Source,
}

/// How to come by a set.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// It is part of the program.
    BuiltIn,
    /// Anyone may download it.
    Public {
        /// The exact length of every file, in the order of [`NamedSet::files`].
        bytes: &'static [u64],
        /// Addresses that a file's name is appended to, the first tried first.
        homes: &'static [&'static str],
    },
    /// Its owners want to be asked.
    OnRequest {
        /// What to do.
        advice: &'static str,
    },
}

impl Entry {
    /// The name it is asked for by.
    pub fn name(&self) -> &'static str {
        self.set.map_or("digits", NamedSet::name)
    }

    /// The set called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        CATALOGUE.iter().find(|entry| entry.name() == name)
    }
}

/// All of them.
pub static CATALOGUE: [Entry; 6] = [
    Entry {
        set: None,
        samples: 1797,
        features: 64,
        classes: 10,
        terms: "CC BY 4.0 (UCI, Alpaydin & Kaynak)",
        source: Source::BuiltIn,
    },
    Entry {
        set: Some(NamedSet::Usps),
        samples: 9298,
        features: 256,
        classes: 10,
        terms: "public for research (LIBSVM page)",
        source: Source::Public {
            bytes: &[6_579_383, 1_831_726],
            homes: &["https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass"],
        },
    },
    Entry {
        set: Some(NamedSet::UspsEsl),
        samples: 9298,
        features: 256,
        classes: 10,
        terms: "public for research (ESL page)",
        source: Source::Public {
            bytes: &[1_829_071, 439_208],
            homes: &["https://hastie.su.domains/ElemStatLearn/datasets"],
        },
    },
    Entry {
        set: Some(NamedSet::Mnist),
        samples: 70_000,
        features: 784,
        classes: 10,
        terms: "CC BY-SA 3.0",
        source: Source::Public {
            bytes: &[9_912_422, 28_881, 1_648_877, 4_542],
            homes: &[
                "https://ossci-datasets.s3.amazonaws.com/mnist",
                "https://storage.googleapis.com/cvdf-datasets/mnist",
            ],
        },
    },
    Entry {
        set: Some(NamedSet::YaleB),
        samples: 2414,
        features: 504,
        classes: 38,
        terms: "research, with citation",
        source: Source::OnRequest {
            advice: "ask for the Extended Yale Face Database B (Georghiades et al. 2001; Lee, Ho, \
                     Kriegman 2005), which is free for research with citation",
        },
    },
    Entry {
        set: Some(NamedSet::Ar),
        samples: 2600,
        features: 540,
        classes: 100,
        terms: "research only, from its owners",
        source: Source::OnRequest {
            advice: "ask the owners of the AR face database (Martinez & Benavente 1998), who give \
                     it out for research only",
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use lkdl_data::{DataArgument, ReadOptions};

    #[test]
    fn every_named_set_is_listed_once() {
        for set in NamedSet::ALL {
            let listed = CATALOGUE.iter().filter(|entry| entry.set == Some(set));
            assert_eq!(listed.count(), 1, "{set}");
        }
    }

    #[test]
    fn every_public_file_has_a_size_and_every_home_is_encrypted() {
        for entry in &CATALOGUE {
            let Source::Public { bytes, homes } = entry.source else { continue };
            assert_eq!(bytes.len(), entry.set.unwrap().files().len(), "{}", entry.name());
            assert!(homes.iter().all(|home| home.starts_with("https://") && !home.ends_with('/')));
        }
    }

    #[test]
    fn measures_and_sizes_are_those_of_the_files_at_hand() {
        let data = |name: &str| DataArgument::parse(name).unwrap();
        let options = ReadOptions::default();
        for entry in &CATALOGUE {
            // large and slow to parse without optimisation; its files are checked all the same
            if entry.set != Some(NamedSet::Mnist)
                && let Ok(table) = data(entry.name()).load(None, &options)
            {
                let classes = table.labels.as_ref().unwrap().class_names.len();
                let found = (table.n_samples(), table.n_features(), classes);
                assert_eq!(
                    found,
                    (entry.samples, entry.features, entry.classes),
                    "{}",
                    entry.name()
                );
            } else {
                println!("{} is not at hand: its measures were not checked", entry.name());
            }
            let (Source::Public { bytes, .. }, Some(set)) = (entry.source, entry.set) else {
                continue;
            };
            let Ok(folder) = lkdl_data::data_dir() else { continue };
            for (file, bytes) in set.files().iter().zip(bytes) {
                let path = folder.join(file.path);
                assert_eq!(std::fs::metadata(&path).unwrap().len(), *bytes, "{path:?}");
                assert_eq!(crate::fetch::sha256(&path).unwrap(), file.sha256, "{path:?}");
            }
        }
    }
}
