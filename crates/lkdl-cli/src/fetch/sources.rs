//! Where named sets come from: files, sizes, SHA-256 and public homes. A download that differs in
//! one byte is refused, so a mirror needs no trust.

/// One file of a set as its distributor publishes it.
#[derive(Debug, Clone, Copy)]
pub struct RemoteFile {
    /// Its name, at home and here.
    pub name: &'static str,
    /// Its exact length.
    pub bytes: u64,
    /// Its SHA-256 in hexadecimal.
    pub sha256: &'static str,
}

/// How to come by a set.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// Anyone may download it.
    Public {
        /// All its files.
        files: &'static [RemoteFile],
        /// Addresses that a file's name is appended to, the first tried first.
        homes: &'static [&'static str],
    },
    /// Its owners want to be asked.
    OnRequest {
        /// What to do.
        advice: &'static str,
    },
    /// It is part of the program.
    BuiltIn,
}

/// All sets by name, each with the folder its files are looked for in.
const SOURCES: [(&str, &str, Source); 6] = [
    ("digits", "", Source::BuiltIn),
    (
        "usps",
        "usps",
        Source::Public {
            files: &[
                RemoteFile {
                    name: "usps.bz2",
                    bytes: 6_579_383,
                    sha256: "3771e9dd6ba685185f89867b6e249233dd74652389f263963b3b741e994b034f",
                },
                RemoteFile {
                    name: "usps.t.bz2",
                    bytes: 1_831_726,
                    sha256: "a9c0164e797d60142a50604917f0baa604f326e9a689698763793fa5d12ffc4e",
                },
            ],
            homes: &["https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass"],
        },
    ),
    (
        "usps-esl",
        "usps",
        Source::Public {
            files: &[
                RemoteFile {
                    name: "zip.train.gz",
                    bytes: 1_829_071,
                    sha256: "66ebf231ab51f2cf6ac1a892d0f98ccffee1079d7a5db638c1f11f366046ca16",
                },
                RemoteFile {
                    name: "zip.test.gz",
                    bytes: 439_208,
                    sha256: "8dacc3c6e136af6c3488de9e5113a7daf140c8c2f1f0b61c54ee02f03f1a962f",
                },
            ],
            homes: &["https://hastie.su.domains/ElemStatLearn/datasets"],
        },
    ),
    (
        "mnist",
        "mnist",
        Source::Public {
            files: &[
                RemoteFile {
                    name: "train-images-idx3-ubyte.gz",
                    bytes: 9_912_422,
                    sha256: "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                },
                RemoteFile {
                    name: "train-labels-idx1-ubyte.gz",
                    bytes: 28_881,
                    sha256: "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                },
                RemoteFile {
                    name: "t10k-images-idx3-ubyte.gz",
                    bytes: 1_648_877,
                    sha256: "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                },
                RemoteFile {
                    name: "t10k-labels-idx1-ubyte.gz",
                    bytes: 4_542,
                    sha256: "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
                },
            ],
            homes: &[
                "https://ossci-datasets.s3.amazonaws.com/mnist",
                "https://storage.googleapis.com/cvdf-datasets/mnist",
            ],
        },
    ),
    (
        "yaleb",
        "yaleb",
        Source::OnRequest {
            advice: "ask for the Extended Yale Face Database B (Georghiades et al. 2001; Lee, Ho, \
                     Kriegman 2005), which is free for research with citation",
        },
    ),
    (
        "ar",
        "ar",
        Source::OnRequest {
            advice: "ask the owners of the AR face database (Martinez & Benavente 1998), who give \
                     it out for research only",
        },
    ),
];

/// The names `lkdl data fetch` knows.
pub fn names() -> impl Iterator<Item = &'static str> {
    SOURCES.iter().map(|(name, _, _)| *name)
}

/// The folder and source of a set.
pub fn source(name: &str) -> Option<(&'static str, Source)> {
    let found = SOURCES.iter().find(|(known, _, _)| *known == name);
    found.map(|(_, folder, source)| (*folder, *source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_can_be_checked_and_every_home_is_encrypted() {
        for (name, _, source) in SOURCES {
            let Source::Public { files, homes } = source else { continue };
            assert!(!files.is_empty() && !homes.is_empty(), "{name}");
            assert!(homes.iter().all(|home| home.starts_with("https://") && !home.ends_with('/')));
            for file in files {
                assert_eq!(file.sha256.len(), 64, "{}", file.name);
                assert!(
                    file.sha256.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
                );
            }
        }
    }

    #[test]
    fn sizes_and_sums_are_those_of_the_files_at_hand() {
        let Ok(directory) = lkdl_data::data_dir() else {
            println!("{} is not set: sizes and sums were not checked", lkdl_data::DATA_DIR);
            return;
        };
        for (_, folder, source) in SOURCES {
            let Source::Public { files, .. } = source else { continue };
            for file in files {
                let path = directory.join(folder).join(file.name);
                assert_eq!(std::fs::metadata(&path).unwrap().len(), file.bytes, "{path:?}");
                assert_eq!(crate::fetch::sha256(&path).unwrap(), file.sha256, "{path:?}");
            }
        }
    }
}
