//! Downloading a named set: every file from the first home that has it whole, checked by SHA-256,
//! and under its name only once it is right.

mod download;
#[cfg(test)]
mod tests;

use crate::catalogue::{CATALOGUE, Entry, Source};
use crate::context::Context;
use crate::failure::Failure;
pub use download::Patience;
use download::{Broken, Client};
use lkdl_data::NamedSet;
use sha2::{Digest, Sha256};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How often a download that broke off is taken up again at one home.
const MAX_RESUMES: usize = 4;

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It was there already.
    Present,
    /// It is there now.
    Fetched,
}

/// One file of the set on this machine.
#[derive(Debug, serde::Serialize)]
pub struct Fetched {
    /// Where it is.
    pub file: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: &'static str,
    /// Whether it had to be fetched.
    pub outcome: Outcome,
}

/// A file as its distributor publishes it.
#[derive(Debug)]
struct RemoteFile<'a> {
    /// Its name, at home and here.
    name: &'a str,
    /// Its exact length.
    bytes: u64,
    /// Its SHA-256 in hexadecimal.
    sha256: &'static str,
}

/// Where to fetch from and to.
#[derive(Debug)]
pub struct Fetch<'a> {
    /// The folder of all sets.
    pub directory: &'a Path,
    /// A home to try before the known ones.
    pub mirror: Option<&'a str>,
    /// When to give up.
    pub patience: Patience,
}

impl Fetch<'_> {
    /// Fetches all files of the set called `name`.
    pub fn set(&self, name: &str, context: &Context) -> Result<Vec<Fetched>, Failure> {
        let Some(entry) = Entry::find(name) else {
            let known: Vec<_> = CATALOGUE.iter().map(Entry::name).collect();
            let known = known.join(", ");
            return Err(Failure::usage(format!(
                "no data set is called {name}; choose from {known}"
            )));
        };
        let files = entry.set.map_or(&[][..], NamedSet::files);
        let (bytes, homes) = match entry.source {
            Source::Public { bytes, homes } => (bytes, homes),
            Source::BuiltIn => {
                return Err(Failure::usage(format!("{name} is built in; use it as it is")));
            }
            Source::OnRequest { advice } => {
                let paths = files.iter().map(|file| self.directory.join(file.path));
                let paths: Vec<_> = paths.map(|path| path.display().to_string()).collect();
                return Err(Failure::usage(format!(
                    "{name} may not be redistributed; {advice}, and put {} there",
                    paths.join(" and ")
                )));
            }
        };
        let homes: Vec<&str> = self.mirror.iter().chain(homes).copied().collect();
        let files = files.iter().zip(bytes).map(|(file, bytes)| {
            let name = file.path.rsplit('/').next().unwrap_or(file.path);
            let remote = RemoteFile { name, bytes: *bytes, sha256: file.sha256 };
            self.file(&remote, &homes, &self.directory.join(file.path), context)
        });
        files.collect()
    }

    /// Fetches one file to `target`, from the first of `homes` that has it.
    fn file(
        &self,
        file: &RemoteFile<'_>,
        homes: &[&str],
        target: &Path,
        context: &Context,
    ) -> Result<Fetched, Failure> {
        let done = |outcome| {
            let (bytes, sha256) = (file.bytes, file.sha256);
            Ok(Fetched { file: target.into(), bytes, sha256, outcome })
        };
        if target.exists() {
            if sha256(target).is_ok_and(|sum| sum == file.sha256) {
                return done(Outcome::Present);
            }
            if !context.force {
                return Err(Failure::run(format!(
                    "{} is not the file that is distributed under this name; give --force to \
                     replace it",
                    target.display()
                )));
            }
        }
        let folder = target.parent().unwrap_or(self.directory);
        std::fs::create_dir_all(folder).map_err(|error| Failure::output(folder, &error))?;
        let part = folder.join(format!("{}.part", file.name));
        let bar = context.progress_bytes(file.name, file.bytes);
        let client = Client::new(self.patience);
        let mut reasons = Vec::new();
        for home in homes {
            let url = format!("{}/{}", home.trim_end_matches('/'), file.name);
            match whole(&client, &url, file, &part, &|have| bar.set_position(have)) {
                Ok(()) => {
                    std::fs::rename(&part, target)
                        .map_err(|error| Failure::output(target, &error))?;
                    bar.finish_and_clear();
                    return done(Outcome::Fetched);
                }
                Err(Unfit::Broken(Broken::Disk(error))) => {
                    return Err(Failure::output(&part, &error));
                }
                Err(reason) => reasons.push(format!("{url}: {reason}")),
            }
        }
        bar.finish_and_clear();
        Err(Failure::run(format!(
            "cannot fetch {} ({}); check the network, name another home with --mirror, or put the \
             file at {}",
            file.name,
            reasons.join("; "),
            target.display()
        )))
    }
}

/// Why a home is given up.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("{0}")]
    Broken(#[from] Broken),
    #[error("what came has another SHA-256 than the file, and was deleted")]
    Corrupt,
}

/// Completes and checks the `.part` file, taking up broken downloads again.
fn whole(
    client: &Client,
    url: &str,
    file: &RemoteFile<'_>,
    part: &Path,
    progress: &dyn Fn(u64),
) -> Result<(), Unfit> {
    let mut resumes = 0;
    loop {
        let found = std::fs::metadata(part).map_or(0, |part| part.len());
        match client.complete(url, part, file.bytes, progress) {
            Ok(()) => {}
            Err(Broken::Truncated(_)) if resumes < MAX_RESUMES => {
                resumes += 1;
                continue;
            }
            Err(broken) => return Err(broken.into()),
        }
        if sha256(part).map_err(Broken::Disk)? == file.sha256 {
            return Ok(());
        }
        std::fs::remove_file(part).map_err(Broken::Disk)?;
        // an older beginning may be what was wrong: once more from this home, all of it
        if found == 0 || resumes == MAX_RESUMES {
            return Err(Unfit::Corrupt);
        }
        resumes = MAX_RESUMES;
    }
}

/// The SHA-256 of a file, in hexadecimal.
pub fn sha256(path: &Path) -> io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let (mut hash, mut chunk) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            read => hash.update(&chunk[..read]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
