//! Damaged MATLAB, HDF5 and Parquet files: cut at every byte, and with every byte changed. Each is
//! read or refused, quickly and without asking for more memory than a small file is worth.

use lkdl_data::{ReadOptions, read};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The largest single request for memory since it was last set to 0.
static LARGEST: AtomicUsize = AtomicUsize::new(0);

struct Watched;

// SAFETY: every call is handed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the promises of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Ordering::Relaxed);
        // SAFETY: the caller keeps the promises of `realloc`.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the promises of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// The fixtures are at most 11 KB, and deflate can make 1032 bytes of one.
const MOST_MEMORY: usize = 16 << 20;
const MOST_TIME: Duration = Duration::from_secs(2);

/// All bits, one bit, the sign bit.
const FLIPS: [u8; 3] = [0xff, 0x01, 0x80];

/// A directory that goes when the test ends.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn no_damage_does_harm() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let scratch = std::env::temp_dir().join(format!("lkdl-damaged-tables-{}", std::process::id()));
    fs::create_dir_all(&scratch).unwrap();
    let scratch = Scratch(scratch);
    for name in [
        "columns_v5.mat",
        "columns_v7.mat",
        "rows.mat",
        "one_hot.mat",
        "kinds.mat",
        "matlab_v73.mat",
        "plain.h5",
        "strings.h5",
        "numbers.parquet",
        "zstd.parquet",
        "version2.parquet",
        "strings.parquet",
        "kinds.parquet",
        "null.parquet",
        "index.parquet",
        "unsigned.parquet",
    ] {
        let good = fs::read(fixtures.join(name)).unwrap();
        let path = scratch.0.join(name);
        fs::write(&path, &good).unwrap();
        let mut file = OpenOptions::new().write(true).open(&path).unwrap();
        let check = |damage: &dyn Fn() -> String| {
            LARGEST.store(0, Ordering::Relaxed);
            let start = Instant::now();
            let result = read(&path, &ReadOptions::default());
            let (memory, time) = (LARGEST.load(Ordering::Relaxed), start.elapsed());
            assert!(memory <= MOST_MEMORY, "{name} {}: {memory} bytes", damage());
            assert!(time <= MOST_TIME, "{name} {}: {time:?}", damage());
            if let Err(error) = &result {
                assert!(error.to_string().contains(name), "{name} {}: {error}", damage());
            }
            result.is_ok()
        };
        let mut put = |place: usize, byte: u8| {
            file.seek(SeekFrom::Start(place as u64)).unwrap();
            file.write_all(&[byte]).unwrap();
        };
        // HDF5 files are ten times as large as the others
        let flips =
            if name.ends_with("parquet") || good.len() < 2000 { &FLIPS[..] } else { &FLIPS[..1] };
        for (place, byte) in good.iter().enumerate() {
            for flip in flips {
                put(place, byte ^ flip);
                check(&|| format!("byte {place} ^ {flip:#04x}"));
            }
            put(place, *byte);
        }
        for end in (0..good.len()).rev() {
            file.set_len(end as u64).unwrap();
            let whole = check(&|| format!("cut after {end}"));
            // a MATLAB file may end after any variable, an HDF5 file with what nobody reads
            assert!(!whole || !name.ends_with("parquet"), "{name} cut after {end}");
        }
    }
}
