//! The data that experiments need, checked before any of them starts: every file is there, and is
//! the one that is distributed under its name.

use crate::catalogue::{Entry, Source};
use crate::failure::Failure;
use crate::fetch::sha256;
use lkdl_data::{NamedSet, data_dirs};
use lkdl_experiments::Experiment;
use std::path::{Path, PathBuf};

/// The sets of these experiments, each once; a file that is missing or is not the right one is an
/// error with the places it was looked for in and the way to get it.
pub fn check(
    experiments: &[&Experiment],
    directory: Option<&Path>,
) -> Result<Vec<NamedSet>, Failure> {
    let directories = data_dirs(directory);
    let is_needed = |set: &NamedSet| experiments.iter().any(|e| e.sets.contains(set));
    let sets: Vec<NamedSet> = NamedSet::ALL.into_iter().filter(is_needed).collect();
    for set in &sets {
        for file in set.files() {
            let path = find(*set, file.path, &directories)?;
            let found = sha256(&path)
                .map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
            if found != file.sha256 {
                return Err(Failure::input(format!(
                    "{} is not the file that the published numbers go with: its SHA-256 is {found}, \
                     but must be {}; {}",
                    path.display(),
                    file.sha256,
                    how_to_get(*set)
                )));
            }
        }
    }
    Ok(sets)
}

fn find(set: NamedSet, file: &str, directories: &[PathBuf]) -> Result<PathBuf, Failure> {
    let found = directories.iter().map(|folder| folder.join(file)).find(|path| path.is_file());
    found.ok_or_else(|| {
        let places: Vec<_> = directories.iter().map(|d| d.display().to_string()).collect();
        let places = if places.is_empty() { "no folder".into() } else { places.join(" and ") };
        Failure::input(format!(
            "data set {set}: {file} is missing, looked for in {places}; {}, and name its folder by \
             --data-dir or LKDL_DATA_DIR",
            how_to_get(set)
        ))
    })
}

fn how_to_get(set: NamedSet) -> String {
    match Entry::find(set.name()).map(|entry| entry.source) {
        Some(Source::OnRequest { advice }) => advice.to_owned(),
        _ => format!("get it by `lkdl data fetch {set}`"),
    }
}
