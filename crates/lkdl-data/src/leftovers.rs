//! Temporary files of programs that were killed before they could remove them.
//!
//! A temporary file or folder is called `.lkdl-PID-N.tmp`, and its writer holds a lock on it
//! ([`hold`]), which the system lets go when the writer ends in whatever way. What has such a name, of
//! a process that is not there any more, and is not locked, is of no use to anyone. Both are asked: a
//! process of another container or of another machine is not seen but holds its lock, and on a file
//! system without locks nothing is removed.
//!
//! Only Linux tells which processes there are by files; elsewhere leftovers stay.

use std::fs::{self, DirEntry, File};
use std::path::Path;

/// The name of the temporary file number `count` of this process.
pub(crate) fn name(count: u64) -> String {
    of_process(std::process::id(), count)
}

fn of_process(process: u32, count: u64) -> String {
    format!(".lkdl-{process}-{count}.tmp")
}

/// Marks a temporary file or folder as in use until the result is dropped; `None` where the file
/// system knows no locks, or where a lock would keep its own writer out.
pub(crate) fn hold(path: &Path) -> Option<File> {
    if !cfg!(unix) {
        return None;
    }
    File::open(path).ok().filter(|file| file.try_lock().is_ok())
}

/// Removes what killed programs have left in `folder`. None of this process may be about to be made
/// meanwhile: its name is there before its lock.
pub(crate) fn remove_from(folder: &Path) {
    // without a list of processes every one of them would seem to have gone
    if !Path::new("/proc/self").exists() {
        return;
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(is_left).for_each(|entry| {
        // one that cannot be removed is in nobody's way
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let path = entry.path();
        let _ = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    });
}

/// Whether this is a temporary file or folder that nobody writes to any more.
fn is_left(entry: &DirEntry) -> bool {
    let file_name = entry.file_name();
    let Some(writer) = file_name.to_str().and_then(writer) else { return false };
    // of this process' own number are also those of one before it, as in containers
    let has_gone =
        writer == std::process::id() || !Path::new("/proc").join(writer.to_string()).exists();
    // what is neither is not ours, whatever it is called
    let is_ours = entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir());
    has_gone && is_ours && hold(&entry.path()).is_some()
}

/// The process that a temporary name is of; `None` of any other name.
fn writer(name: &str) -> Option<u32> {
    let (process, count) = name.strip_prefix(".lkdl-")?.strip_suffix(".tmp")?.split_once('-')?;
    let process: u32 = process.parse().ok()?;
    // signs and leading zeros are read as well, but never written
    (of_process(process, count.parse().ok()?) == name).then_some(process)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomic;
    use crate::scratch::Scratch;

    #[test]
    fn a_name_tells_its_process_and_no_other_name_does() {
        assert_eq!(writer(".lkdl-12-0.tmp"), Some(12));
        assert_eq!(writer(&name(7)), Some(std::process::id()));
        for other in [
            "lkdl-12-0.tmp",
            ".lkdl-12-0.tmp.gz",
            ".lkdl-12.tmp",
            ".lkdl-12-.tmp",
            ".lkdl-012-0.tmp",
            ".lkdl-+12-0.tmp",
            ".lkdl-12-0-1.tmp",
            ".lkdl-12-x.tmp",
            ".lkdl--12-0.tmp",
            ".LKDL-12-0.tmp",
        ] {
            assert_eq!(writer(other), None, "{other}");
        }
    }

    /// A number that no process has now.
    #[cfg(target_os = "linux")]
    fn process_that_has_gone() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_killed_programs_left_is_removed_by_the_next_write_and_nothing_else() {
        let scratch = Scratch::new("leftovers");
        let gone = process_that_has_gone();
        let file = |name: &str| scratch.file(name, b"half");
        let left = [of_process(gone, 0), of_process(gone, 17), name(999_999_999)];
        left.iter().for_each(|name| drop(file(name)));
        let folder = scratch.0.join(of_process(gone, 3));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("image.png"), "half").unwrap();
        let kept = [
            file(&of_process(1, 0)), // the first process never ends
            file(&format!(".lkdl-{gone}-0.tmp.csv")),
            file(&format!("lkdl-{gone}-0.tmp")),
            file("data.csv"),
        ];
        let locked = file(&of_process(gone, 5));
        let lock = hold(&locked).unwrap();
        let link = scratch.0.join(of_process(gone, 6));
        std::os::unix::fs::symlink(&kept[3], &link).unwrap();
        atomic::write_file(&scratch.0.join("a.txt"), false, |out| out.write_all(b"a")).unwrap();
        assert!(left.iter().all(|name| !scratch.0.join(name).exists()) && !folder.exists());
        assert!(kept.iter().chain([&locked, &link]).all(|path| path.exists()));
        drop(lock);
        remove_from(&scratch.0);
        assert!(!locked.exists() && link.exists());
    }

    #[test]
    fn a_file_that_is_being_written_is_not_left() {
        let scratch = Scratch::new("leftovers-live");
        let path = scratch.0.join("a.txt");
        atomic::write_file(&path, false, |out| {
            remove_from(&scratch.0);
            assert_eq!(fs::read_dir(&scratch.0)?.count(), 1);
            out.write_all(b"whole")
        })
        .unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1);
    }
}
