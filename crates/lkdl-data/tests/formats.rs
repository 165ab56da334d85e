//! The same table through every format: bit-identical back, and never a panic or a large
//! allocation on a damaged file.

#![allow(clippy::unwrap_used)] // helpers outside #[test] functions

use faer::Mat;
use lkdl_data::{DataError, Format, Labels, ReadOptions, Table, labels_file, read, write};
use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Notes the largest single allocation.
struct Watching;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

/// More than any reader may ask for at once when given a file of a few hundred bytes. A Zstandard
/// frame may ask for a window of 100 MiB, an image for 64 MiB.
const MAX_ALLOCATION: usize = 160 << 20;

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static WATCHING: Watching = Watching;

fn assert_small_allocations() {
    let largest = LARGEST.load(Ordering::Relaxed);
    assert!(largest <= MAX_ALLOCATION, "{largest} bytes were asked for at once");
}

/// A directory that goes when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lkdl-formats-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Files that hold a table with labels.
const NAMES: [&str; 13] = [
    "t.npz",
    "t.csv",
    "t.csv.gz",
    "t.csv.zst",
    "t.tsv",
    "t.tsv.bz2",
    "t.svm",
    "t.svm.gz",
    "t.svm.zst",
    "t.idx",
    "t.idx.gz",
    "t.mat",
    "t.parquet",
];

fn is_numbers_only(name: &str) -> bool {
    name.contains(".svm") || name.contains(".idx")
}

fn example(p: usize, n: usize, labels: &[&str]) -> Table {
    let awkward = [0.1, -0.0, 1.0 / 3.0, f64::MAX, 5e-324, -7.0, 0.0, 1e16, 255.0, -1e-300];
    let samples = Mat::from_fn(p, n, |t, i| awkward[(3 * t + 7 * i) % awkward.len()]);
    let labels: Vec<&str> = (0..n).map(|i| labels[i % labels.len()]).collect();
    Table::new("t", samples, Some(Labels::from_texts(&labels))).unwrap()
}

/// Writes and reads; `None` where a format is not built in.
fn round_trip(path: &Path, table: &Table, options: &ReadOptions) -> Option<Table> {
    match write(path, table, None, true) {
        Ok(()) => {}
        Err(DataError::Unsupported { .. }) => return None,
        Err(error) => panic!("{}: {error}", path.display()),
    }
    match read(path, options) {
        Ok(table) => Some(table),
        Err(DataError::Unsupported { .. }) => None,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

#[test]
fn every_format_gives_back_the_same_bits_and_labels() {
    let scratch = Scratch::new("round");
    let options = ReadOptions::default();
    for (p, n) in [(1, 1), (1, 5), (4, 1), (3, 7), (16, 20)] {
        for labels in [&["3", "10", "-2"][..], &["b", "ä ö", "007"], &["1.5", "2"]] {
            let table = example(p, n, labels);
            let is_text = !table.labels.as_ref().unwrap().are_integers();
            for name in NAMES {
                if is_text && is_numbers_only(name) {
                    continue;
                }
                if let Some(back) = round_trip(&scratch.0.join(name), &table, &options) {
                    assert_eq!(back.checksum(), table.checksum(), "{name}, {p} x {n}, {labels:?}");
                    assert_eq!(back.labels, table.labels, "{name}");
                }
            }
        }
    }
}

#[test]
fn every_format_gives_back_an_unlabelled_table() {
    let scratch = Scratch::new("unlabelled");
    for (p, n) in [(1, 1), (2, 5), (3, 1)] {
        let table = Table { labels: None, ..example(p, n, &["1"]) };
        for name in ["t.npy", "t.npz", "t.csv", "t.tsv.gz", "t.idx", "t.mat", "t.parquet"] {
            for unlabelled in [false, true] {
                let options = ReadOptions { unlabelled, ..ReadOptions::default() };
                if let Some(back) = round_trip(&scratch.0.join(name), &table, &options) {
                    assert_eq!(back.checksum(), table.checksum(), "{name}, {p} x {n}");
                }
            }
        }
    }
}

#[test]
fn nothing_is_written_over_without_being_asked() {
    let scratch = Scratch::new("exists");
    let table = example(2, 3, &["1", "2"]);
    for name in NAMES {
        let path = scratch.0.join(name);
        if round_trip(&path, &table, &ReadOptions::default()).is_some() {
            let before = std::fs::read(&path).unwrap();
            let again = write(&path, &example(3, 4, &["7"]), None, false);
            assert!(matches!(again, Err(DataError::Exists { .. })), "{name}");
            assert_eq!(std::fs::read(&path).unwrap(), before);
        }
    }
    let strange = write(&scratch.0.join("t.xyz"), &table, None, false).unwrap_err().to_string();
    assert!(strange.contains("known ending"), "{strange}");
    assert!(write(&scratch.0.join("t.npz.gz"), &table, None, false).is_err());
    assert!(
        std::fs::read_dir(&scratch.0)
            .unwrap()
            .all(|entry| { !entry.unwrap().file_name().to_string_lossy().ends_with(".tmp") })
    );
}

#[test]
fn formats_are_found_by_their_bytes_when_names_do_not_tell() {
    let scratch = Scratch::new("detect");
    let table = example(3, 8, &["1", "2"]);
    for name in NAMES {
        let path = scratch.0.join(name);
        if round_trip(&path, &table, &ReadOptions::default()).is_none() {
            continue;
        }
        let unnamed = scratch.0.join("unnamed");
        std::fs::copy(&path, &unnamed).unwrap();
        let found = Format::detect(&unnamed).unwrap();
        assert_eq!(Some(found), Format::from_name(&path), "{name}");
        // a name that says otherwise
        let wrong = scratch.0.join(if name == "t.npz" { "wrong.npy" } else { "wrong.npz" });
        std::fs::copy(&path, &wrong).unwrap();
        assert!(read(&wrong, &ReadOptions::default()).is_err(), "{name}");
    }
}

/// Reads `bytes` as the file `path` in every way that makes sense; only a panic fails.
fn read_damaged(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
    let _ = read(path, &ReadOptions::default());
    if let Some(format) = Format::from_name(path) {
        let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
        let _ = read(path, &options);
    }
}

#[test]
fn damaged_files_are_errors_or_tables_but_never_panics() {
    let scratch = Scratch::new("damage");
    let table = example(2, 3, &["1", "2"]);
    let mut files: Vec<PathBuf> = NAMES.iter().map(|name| scratch.0.join(name)).collect();
    files.retain(|path| round_trip(path, &table, &ReadOptions::default()).is_some());
    let bare = scratch.0.join("t.npy");
    write(&bare, &Table { labels: None, ..table }, None, false).unwrap();
    files.push(bare);
    // damaged labels beside good samples
    files.push(labels_file(&scratch.0.join("t.idx")));
    for path in files {
        let good = std::fs::read(&path).unwrap();
        for end in 0..good.len() {
            read_damaged(&path, &good[..end]);
        }
        for place in 0..good.len() {
            for change in [1, 0x80, 0xff] {
                let mut bytes = good.clone();
                bytes[place] ^= change;
                read_damaged(&path, &bytes);
            }
        }
        read_damaged(&path, &[good.as_slice(), &good].concat());
        std::fs::write(&path, &good).unwrap();
    }
    assert_small_allocations();
}

#[test]
fn damaged_images_are_errors_or_tables_but_never_panics() {
    let scratch = Scratch::new("damaged-images");
    let folder = scratch.0.join("set");
    let samples = Mat::from_fn(9, 1, |t, _| (25 * t) as f64);
    let table = Table::new("set", samples, Some(Labels::from_texts(&["1"]))).unwrap();
    write(&folder, &table, Some(Format::Images), false).unwrap();
    let png = std::fs::read(folder.join("1/0.png")).unwrap();
    std::fs::remove_file(folder.join("1/0.png")).unwrap();
    // 2 x 2 pixels of 24 bits
    let mut bmp =
        b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\0\0\0\x02\0\0\0\x01\0\x18\0".to_vec();
    bmp.resize(0x46, 0);
    let pgm = b"P2 2 2 255 0 9 80 255\n".to_vec();
    for (name, good) in [("a.png", png), ("a.bmp", bmp), ("a.pgm", pgm)] {
        let path = folder.join("1").join(name);
        let damaged = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            read(&folder, &ReadOptions::default())
        };
        assert!(damaged(&good).is_ok(), "{name}");
        for place in 0..good.len() {
            let _ = damaged(&good[..place]);
            for change in [1, 0x80, 0xff] {
                let mut bytes = good.clone();
                bytes[place] ^= change;
                let _ = damaged(&bytes);
            }
        }
        std::fs::remove_file(&path).unwrap();
    }
    assert_small_allocations();
}

#[test]
fn a_file_cut_short_is_an_error_where_the_format_can_tell() {
    let scratch = Scratch::new("cut");
    let table = example(2, 3, &["1", "2"]);
    for name in ["t.npz", "t.idx", "t.csv.gz", "t.tsv.bz2", "t.svm.zst", "t.mat", "t.parquet"] {
        let path = scratch.0.join(name);
        if round_trip(&path, &table, &ReadOptions::default()).is_none() {
            continue;
        }
        let good = std::fs::read(&path).unwrap();
        for end in 0..good.len() {
            std::fs::write(&path, &good[..end]).unwrap();
            assert!(read(&path, &ReadOptions::default()).is_err(), "{name} cut after {end}");
        }
    }
}

#[test]
fn a_folder_or_nothing_in_place_of_a_file_is_an_error() {
    let scratch = Scratch::new("folder");
    for format in Format::ALL {
        let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
        assert!(read(&scratch.0, &options).is_err(), "{format}");
        assert!(read(&scratch.0.join("no"), &options).is_err(), "{format}");
        let empty = scratch.0.join("empty");
        std::fs::write(&empty, "").unwrap();
        assert!(read(&empty, &options).is_err(), "{format}");
        std::fs::remove_file(empty).unwrap();
    }
    assert!(read(&scratch.0.join("no"), &ReadOptions::default()).is_err());
}

#[test]
fn a_compressed_stream_that_never_ends_is_refused() {
    let scratch = Scratch::new("bomb");
    // comments of 1 MiB, each some 50 bytes when compressed: nothing but the limit stops a reader
    let path = scratch.0.join("t.svm.bz2");
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    let comment = [vec![b'#'; 1 << 20], vec![b'\n']].concat();
    std::io::Write::write_all(&mut encoder, &comment).unwrap();
    std::fs::write(&path, encoder.finish().unwrap().repeat(300)).unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    assert!(size < 100_000, "{size}");
    let error = read(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("decompresses to more than"), "{error}");
}

fn tables() -> impl Strategy<Value = Table> {
    let value = prop_oneof![
        any::<f64>().prop_filter("finite", |v| v.is_finite()),
        (0u8..=255).prop_map(f64::from)
    ];
    (1usize..6, 1usize..9).prop_flat_map(move |(p, n)| {
        let values = proptest::collection::vec(value.clone(), p * n);
        let labels = prop_oneof![
            proptest::collection::vec("-?[1-9][0-9]{0,3}", n),
            proptest::collection::vec("[a-zA-Zé,;\"'#:][ -~]{0,4}[a-z\"]", n)
        ];
        (values, labels).prop_map(move |(values, labels)| {
            let samples = Mat::from_fn(p, n, |t, i| values[p * i + t]);
            Table::new("t", samples, Some(Labels::from_texts(&labels))).unwrap()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_table_survives_every_format(table in tables()) {
        let scratch = Scratch::new("any");
        let is_text = !table.labels.as_ref().unwrap().are_integers();
        for name in NAMES {
            if is_text && is_numbers_only(name) {
                continue;
            }
            if let Some(back) = round_trip(&scratch.0.join(name), &table, &ReadOptions::default()) {
                prop_assert_eq!(back.checksum(), table.checksum(), "{}", name);
            }
        }
    }

    #[test]
    fn any_bytes_are_an_error_or_a_table(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let scratch = Scratch::new("bytes");
        for name in NAMES {
            read_damaged(&scratch.0.join(name), &bytes);
        }
        assert_small_allocations();
    }

    #[test]
    fn any_text_is_an_error_or_a_table(text in "[0-9a-z,:;\t\n\"'# .eE+-]{0,200}") {
        let scratch = Scratch::new("text");
        for name in ["t.csv", "t.tsv", "t.svm", "t.txt"] {
            read_damaged(&scratch.0.join(name), text.as_bytes());
        }
        assert_small_allocations();
    }
}
