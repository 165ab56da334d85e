//! Files that appear whole or not at all.
//!
//! Bytes go to a temporary file in the target's folder, are flushed to the disk, and then the
//! file takes the target's name in one step. Whatever fails, the temporary file is removed; a
//! program that ends on Ctrl-C calls [`remove_temporaries`] first. What one that was killed has left is
//! removed when the next one writes to the same folder.

use crate::error::DataError;
use crate::leftovers;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Temporary files and folders that exist now.
static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static COUNTER: AtomicU64 = AtomicU64::new(0);
/// Folders that leftovers of other programs have been removed from.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// How often a new temporary name is tried: only files left by a killed program can be in the way.
const MAX_TRIES: usize = 1000;

/// Writes the file at `path` through `fill`, whole or not at all.
///
/// Without `overwrite`, a file that is there already is an error, even one that appears while
/// `fill` runs. What is neither file nor folder (`/dev/stdout`, a pipe) is written to directly.
pub fn write_file(
    path: &Path,
    overwrite: bool,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    write_with(path, overwrite, |out| fill(out).map_err(DataError::output))
}

/// [`write_file`] for writers that can refuse what they are given: a [`DataError::Output`] is
/// completed by the path, any other error is handed on.
pub(crate) fn write_with(
    path: &Path,
    overwrite: bool,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), DataError>,
) -> Result<(), DataError> {
    publish(Written::new(path, overwrite, fill)?.into_iter().collect(), overwrite)
}

/// What is in a file that has no name yet.
pub(crate) struct Written {
    temporary: Temporary,
    target: PathBuf,
}

impl Written {
    /// Writes all that is to be the file at `path`; `None` where that is no file, and has been
    /// written to directly.
    pub(crate) fn new(
        path: &Path,
        overwrite: bool,
        fill: impl FnOnce(&mut dyn Write) -> Result<(), DataError>,
    ) -> Result<Option<Self>, DataError> {
        let old = fs::metadata(path).ok();
        check_free(path, old.as_ref(), overwrite)?;
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let file = OpenOptions::new().write(true).open(path);
            let mut out = BufWriter::new(file.map_err(|source| DataError::writing(path, source))?);
            fill(&mut out).map_err(|error| error.written_to(path))?;
            out.flush().map_err(|source| DataError::writing(path, source))?;
            return Ok(None);
        }
        let failed = |source| DataError::writing(path, source);
        let (temporary, file) = Temporary::file(path).map_err(failed)?;
        let mut out = BufWriter::new(file);
        fill(&mut out).map_err(|error| error.written_to(path))?;
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        if let Some(old) = old {
            // who could read the old file can read the new one
            let _ = file.set_permissions(old.permissions());
        }
        file.sync_all().map_err(failed)?;
        Ok(Some(Self { temporary, target: path.into() }))
    }
}

/// Gives all files their names, in this order; if one cannot have its own, none of those that are
/// new keeps it. Ctrl-C comes before or after, not between.
pub(crate) fn publish(files: Vec<Written>, overwrite: bool) -> Result<(), DataError> {
    // who removes temporaries waits for this
    let live = live();
    let mut published: Vec<&Path> = Vec::new();
    for file in &files {
        let is_new = !file.target.exists();
        if let Err(error) = file.temporary.publish(&file.target, overwrite) {
            published.iter().for_each(|path| remove(path));
            drop(live); // dropping the files asks for it
            return Err(error);
        }
        if is_new {
            published.push(&file.target);
        }
    }
    drop(live);
    Ok(())
}

/// Whether [`write_file`] would refuse before it is given anything to write: for long work, before
/// it starts. An empty temporary file shows that the folder takes files, and is removed at once.
pub fn check_file(path: &Path, overwrite: bool) -> Result<(), DataError> {
    let old = fs::metadata(path).ok();
    check_free(path, old.as_ref(), overwrite)?;
    // a pipe may have no reader yet: it is opened when there is something to write
    if old.is_none_or(|old| old.is_file()) {
        Temporary::file(path).map_err(|source| DataError::writing(path, source))?;
    }
    Ok(())
}

/// A folder in the way, or a file that may not be replaced, is an error.
fn check_free(path: &Path, old: Option<&fs::Metadata>, overwrite: bool) -> Result<(), DataError> {
    match old {
        Some(old) if old.is_dir() => Err(DataError::writing(path, ErrorKind::IsADirectory.into())),
        Some(old) if old.is_file() && !overwrite => Err(DataError::Exists { file: path.into() }),
        _ => Ok(()),
    }
}

/// Removes the temporary files that exist now. For the thread that handles Ctrl-C, just before
/// the program ends: writers still at work then fail.
pub fn remove_temporaries() {
    for path in std::mem::take(&mut *live()) {
        remove(&path);
    }
}

fn live() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remove(path: &Path) {
    // nothing is left to be done where removing fails
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

/// Removes leftovers of other programs from a folder, the first time it is written to.
fn sweep(folder: &Path) {
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if swept.insert(folder.into()) {
        let live = live(); // no other thread makes a file meanwhile
        leftovers::remove_from(folder);
        drop(live);
    }
}

/// The folder a file is in; that of a bare name is the current one.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A temporary file or folder, removed when dropped unless it has been published.
pub(crate) struct Temporary {
    path: PathBuf,
    /// Shows other programs that it is in use.
    _lock: Option<File>,
}

impl Temporary {
    fn file(target: &Path) -> io::Result<(Self, File)> {
        Self::create(target, |path| OpenOptions::new().write(true).create_new(true).open(path))
    }

    /// A folder beside `target`.
    pub(crate) fn folder(target: &Path) -> io::Result<Self> {
        Ok(Self::create(target, |path| fs::create_dir(path))?.0)
    }

    fn create<T>(target: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(Self, T)> {
        let mut tries = 0;
        sweep(folder(target));
        loop {
            let count = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = folder(target).join(leftovers::name(count));
            // registered while the lock is held, so that none is created and not known
            let mut live = live();
            match make(&path) {
                Ok(made) => {
                    live.insert(path.clone());
                    let _lock = leftovers::hold(&path);
                    return Ok((Self { path, _lock }, made));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists && tries < MAX_TRIES => {
                    tries += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives a file its name.
    fn publish(&self, target: &Path, overwrite: bool) -> Result<(), DataError> {
        let failed = |source| DataError::writing(target, source);
        if overwrite {
            fs::rename(&self.path, target).map_err(failed)?;
        } else {
            // a second name fails if it is taken, a renaming does not
            match fs::hard_link(&self.path, target) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    return Err(DataError::Exists { file: target.into() });
                }
                // no hard links on this file system: take the name with an empty file first
                Err(_) => {
                    let taken = OpenOptions::new().write(true).create_new(true).open(target);
                    taken.map_err(|source| match source.kind() {
                        ErrorKind::AlreadyExists => DataError::Exists { file: target.into() },
                        _ => failed(source),
                    })?;
                    if let Err(source) = fs::rename(&self.path, target) {
                        remove(target);
                        return Err(failed(source));
                    }
                }
            }
        }
        sync_folder(target);
        Ok(())
    }

    /// Gives a folder its name, which must be free or that of an empty folder.
    pub(crate) fn publish_folder(self, target: &Path) -> Result<(), DataError> {
        if target.is_dir() {
            // fails unless empty
            let removed = fs::remove_dir(target);
            removed.map_err(|_| DataError::Exists { file: target.into() })?;
        }
        fs::rename(&self.path, target).map_err(|source| DataError::writing(target, source))?;
        sync_folder(target);
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // after a renaming there is nothing of this name
        if live().remove(&self.path) {
            remove(&self.path);
        }
    }
}

/// Makes the new name last through a power cut, where the system can.
fn sync_folder(target: &Path) {
    if cfg!(unix) {
        let _ = File::open(folder(target)).and_then(|folder| folder.sync_all());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn entries(scratch: &Scratch) -> usize {
        fs::read_dir(&scratch.0).unwrap().count()
    }

    #[test]
    fn a_file_is_written_and_replaced_only_when_asked() {
        let scratch = Scratch::new("atomic-replace");
        let path = scratch.0.join("a.txt");
        write_file(&path, false, |out| out.write_all(b"one")).unwrap();
        let error = write_file(&path, false, |out| out.write_all(b"two")).unwrap_err();
        assert!(matches!(error, DataError::Exists { .. }));
        assert!(error.to_string().contains("--force"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"one");
        write_file(&path, true, |out| out.write_all(b"two")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(entries(&scratch), 1);
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_kept() {
        let scratch = Scratch::new("atomic-race");
        let path = scratch.0.join("a.txt");
        let written = write_file(&path, false, |out| {
            fs::write(&path, "theirs")?;
            out.write_all(b"ours")
        });
        assert!(matches!(written, Err(DataError::Exists { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(entries(&scratch), 1);
    }

    #[test]
    fn a_failure_leaves_nothing_and_the_old_file() {
        let scratch = Scratch::new("atomic-fail");
        let path = scratch.0.join("a.txt");
        let fail = |out: &mut dyn Write| {
            out.write_all(b"half")?;
            Err(ErrorKind::StorageFull.into())
        };
        let error = write_file(&path, false, fail).unwrap_err().to_string();
        assert!(error.contains("a.txt") && error.contains("free some space"), "{error}");
        assert_eq!(entries(&scratch), 0);
        fs::write(&path, "old").unwrap();
        assert!(write_file(&path, true, fail).is_err());
        assert_eq!((fs::read(&path).unwrap(), entries(&scratch)), (b"old".to_vec(), 1));
    }

    #[test]
    fn no_folder_and_a_folder_in_the_way_are_errors() {
        let scratch = Scratch::new("atomic-folder");
        let missing = write_file(&scratch.0.join("no/a.txt"), false, |_| Ok(())).unwrap_err();
        assert!(missing.to_string().contains("create the folder"), "{missing}");
        assert!(write_file(&scratch.0, true, |_| Ok(())).is_err());
        assert_eq!(entries(&scratch), 0);
    }

    #[test]
    fn what_could_not_be_written_is_known_beforehand() {
        let scratch = Scratch::new("atomic-check");
        let path = scratch.0.join("a.txt");
        check_file(&path, false).unwrap();
        assert_eq!(entries(&scratch), 0);
        let missing = check_file(&scratch.0.join("no/a.txt"), false).unwrap_err();
        assert!(missing.to_string().contains("create the folder"), "{missing}");
        assert!(check_file(&scratch.0, true).is_err());
        fs::write(&path, "old").unwrap();
        assert!(matches!(check_file(&path, false), Err(DataError::Exists { .. })));
        check_file(&path, true).unwrap();
        assert!(check_file(&path.join("b.txt"), true).is_err());
        assert_eq!((fs::read(&path).unwrap(), entries(&scratch)), (b"old".to_vec(), 1));
    }

    #[test]
    fn files_that_belong_together_appear_together() {
        let scratch = Scratch::new("atomic-group");
        let (a, b) = (scratch.0.join("a.txt"), scratch.0.join("b.txt"));
        let write = |path: &Path, overwrite| {
            let fill = |out: &mut dyn Write| out.write_all(b"new").map_err(DataError::output);
            Written::new(path, overwrite, fill).unwrap().unwrap()
        };
        // the second name is taken meanwhile: the first file goes again
        let files = vec![write(&a, false), write(&b, false)];
        fs::write(&b, "theirs").unwrap();
        assert!(matches!(publish(files, false), Err(DataError::Exists { .. })));
        assert_eq!(
            (a.exists(), fs::read(&b).unwrap(), entries(&scratch)),
            (false, b"theirs".to_vec(), 1)
        );
        publish(vec![write(&a, true), write(&b, true)], true).unwrap();
        assert_eq!((fs::read(&a).unwrap(), fs::read(&b).unwrap()), (b"new".into(), b"new".into()));
        assert_eq!(entries(&scratch), 2);
    }

    #[test]
    #[cfg(unix)]
    fn a_device_is_written_to_directly() {
        write_file(Path::new("/dev/null"), false, |out| out.write_all(b"gone")).unwrap();
        if Path::new("/dev/full").exists() {
            let full = write_file(Path::new("/dev/full"), false, |out| out.write_all(b"x"));
            assert!(full.unwrap_err().to_string().contains("free some space"));
        }
    }
}
