//! What all targets share: bytes become a file, the file is read, and what comes of it must be an
//! error that names the file or a sound table, without much memory.
//!
//! A target is one reader. Its seeds are `seeds/` and the fixtures of `lkdl-data`'s tests.

use lkdl_data::{DataError, Format, Header, IndexBase, Layout, ReadOptions, Table};
use std::alloc::{GlobalAlloc, System};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The most that may be asked for at once: a Zstandard window of 100 MiB, an image of 64 MiB, or
/// what the inputs, which are short, can grow to.
const MAX_ALLOCATION: usize = 160 << 20;

/// Ends the process where a reader asks for too much: the fuzzer keeps the input.
struct Bounded;

fn check(size: usize) {
    if size > MAX_ALLOCATION {
        eprintln!("{size} bytes were asked for at once");
        std::process::abort();
    }
}

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        check(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: std::alloc::Layout) -> *mut u8 {
        check(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: std::alloc::Layout, size: usize) -> *mut u8 {
        check(size);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: std::alloc::Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Bounded = Bounded;

/// A folder of this process, in memory where the system has such a place.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.into() } else { std::env::temp_dir() };
        let folder = base.join(format!("lkdl-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for inputs");
        folder
    })
}

/// Reads `data` as the file `name` in `format`, in every way that options can ask for.
pub fn read_as(name: &str, format: Format, data: &[u8]) {
    let path = folder().join(name);
    std::fs::write(&path, data).expect("a file for the input");
    let format = Some(format);
    let label = |label: &str| Some(label.to_string());
    let default = ReadOptions { format, ..ReadOptions::default() };
    for options in [
        default.clone(),
        ReadOptions { unlabelled: true, layout: Layout::Rows, ..default.clone() },
        ReadOptions { label: label("-1"), layout: Layout::Columns, ..default.clone() },
        ReadOptions { label: label("y"), header: Header::Yes, ..default.clone() },
        ReadOptions {
            header: Header::No,
            n_features: Some(100),
            index_base: IndexBase::Zero,
            ..default
        },
    ] {
        sound(&path, lkdl_data::read(&path, &options));
    }
}

/// Checks what came of reading `path`.
pub fn sound(path: &Path, read: Result<Table, DataError>) {
    let table = match read {
        Ok(table) => table,
        Err(error) => {
            let message = error.to_string();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let of_label = message.contains("No such file");
            assert!(message.contains(name) || of_label, "{message} does not name {name}");
            return;
        }
    };
    let (p, n) = (table.n_features(), table.n_samples());
    assert!(p > 0 && n > 0);
    assert!((0..n).all(|i| table.samples.col_as_slice(i).iter().all(|value| value.is_finite())));
    assert!(table.feature_names.as_ref().is_none_or(|names| names.len() == p));
    assert!(table.image_shape.is_none_or(|(rows, columns)| rows * columns == p));
    if let Some(labels) = &table.labels {
        assert_eq!(labels.indices.len(), n);
        let classes = labels.class_names.len();
        assert!(labels.indices.iter().all(|index| (*index as usize) < classes));
    }
}

/// Writes a table as CSV and reads it back: what the writer takes, the reader must give.
pub fn survives_csv(table: &Table) {
    let mut text = Vec::new();
    // names and labels that CSV cannot hold are refused
    if lkdl_data::write_to(&mut text, table, Format::Csv).is_err() {
        return;
    }
    let path = folder().join("back.csv");
    std::fs::write(&path, text).expect("a file for the table");
    let unlabelled = table.labels.is_none();
    let options = ReadOptions { unlabelled, ..ReadOptions::default() };
    let back = lkdl_data::read(&path, &options).expect("what was written is read");
    assert_eq!(back.checksum(), table.checksum());
}
