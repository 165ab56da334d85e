//! A file of one JSON object per line, each appended and flushed to the disk as it is made, so that
//! work that was stopped goes on where it was.

use crate::failure::Failure;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// What lines are.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// How every line starts.
    pub first_words: &'static str,
    /// What a line is called.
    pub name: &'static str,
    /// What to do about a file of something else.
    pub fix: &'static str,
}

/// The file, open for appending.
#[derive(Debug)]
pub struct JsonLines {
    path: PathBuf,
    file: File,
    /// The last line lacks its line break.
    unended: bool,
}

/// What is in a file: its objects, and where a line that was cut off starts.
struct Content<T> {
    objects: Vec<T>,
    cut_at: Option<u64>,
    unended: bool,
}

impl JsonLines {
    /// Opens or creates the file; the objects in it. A last line that an interrupt cut off is
    /// dropped.
    pub fn open<T: DeserializeOwned>(path: &Path, kind: Kind) -> Result<(Self, Vec<T>), Failure> {
        let Content { objects, cut_at, unended } = content(path, kind)?;
        let failed = |error| Failure::output(path, &error);
        let file = OpenOptions::new().append(true).create(true).open(path).map_err(failed)?;
        if let Some(length) = cut_at {
            file.set_len(length).map_err(failed)?;
        }
        Ok((Self { path: path.into(), file, unended }, objects))
    }

    /// The objects of a file that is only read; none if there is no such file.
    pub fn read<T: DeserializeOwned>(path: &Path, kind: Kind) -> Result<Vec<T>, Failure> {
        Ok(content(path, kind)?.objects)
    }

    /// Adds an object, in one write.
    pub fn append(&mut self, object: &impl Serialize) -> Result<(), Failure> {
        let line = serde_json::to_string(object)
            .map_err(|error| Failure::run(format!("cannot write a result as JSON: {error}")))?;
        let start = if std::mem::take(&mut self.unended) { "\n" } else { "" };
        let bytes = format!("{start}{line}\n");
        self.file
            .write_all(bytes.as_bytes())
            .and_then(|()| self.file.sync_data())
            .map_err(|error| Failure::output(&self.path, &error))
    }
}

fn content<T: DeserializeOwned>(path: &Path, kind: Kind) -> Result<Content<T>, Failure> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            return Err(Failure::input(format!("{}: {error}; {}", path.display(), kind.fix)));
        }
    }
    // a line may have been torn inside a character
    let text = String::from_utf8_lossy(&bytes);
    let (mut objects, mut cut_at, mut start) = (Vec::new(), None, 0);
    for (i, line) in text.split_inclusive('\n').enumerate() {
        match serde_json::from_str::<T>(line) {
            Ok(object) => objects.push(object),
            Err(_) if line.trim().is_empty() => {}
            Err(_) if is_torn(line, kind) => cut_at = Some(start),
            Err(error) => {
                return Err(Failure::input(format!(
                    "{}, line {}: no {} ({error}); {}",
                    path.display(),
                    i + 1,
                    kind.name,
                    kind.fix
                )));
            }
        }
        start += line.len() as u64;
    }
    let unended = cut_at.is_none() && !text.is_empty() && !text.ends_with('\n');
    Ok(Content { objects, cut_at, unended })
}

/// Whether this is the start of an object that an interrupt cut off. It is made again; a line of
/// anything else is the user's, and stays.
fn is_torn(line: &str, kind: Kind) -> bool {
    let start = kind.first_words;
    !line.ends_with('\n') && (line.starts_with(start) || start.starts_with(line))
}
