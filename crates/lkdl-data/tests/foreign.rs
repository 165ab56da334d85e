//! Files that other programs wrote: `fixtures/` was made with NumPy 2 and python-zstandard.
//!
//! `X = numpy.arange(12).reshape(4, 3) / 7` in each; labels as each test says.

#![allow(clippy::unwrap_used)] // helpers outside #[test] functions

use faer::Mat;
use lkdl_data::{Layout, ReadOptions, Table, read};
use std::path::Path;

fn fixture(name: &str, options: &ReadOptions) -> Table {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    read(&folder.join(name), options).unwrap()
}

fn names(table: &Table) -> Vec<&str> {
    table.labels.as_ref().unwrap().names().collect()
}

#[test]
fn a_compressed_npz_with_text_labels() {
    let table = fixture("compressed.npz", &ReadOptions::default());
    assert_eq!(table.samples, Mat::from_fn(3, 4, |t, i| (3 * i + t) as f64 / 7.0));
    assert_eq!(names(&table), ["cat", "dög", "cat", "emu"]);
}

#[test]
fn a_stack_of_images_with_short_integers() {
    // 4 images of 2 x 3 bytes under a name of its own, labels in `target`
    let table = fixture("stack.npz", &ReadOptions::default());
    assert_eq!(table.samples, Mat::from_fn(6, 4, |t, i| (6 * i + t) as f64));
    assert_eq!(names(&table), ["3", "-1", "3", "10"]);
    assert_eq!(table.labels.unwrap().class_names, ["-1", "3", "10"]);
}

#[test]
fn an_npy_in_fortran_order_and_big_endian_floats() {
    let table = fixture("fortran.npy", &ReadOptions::default());
    let expected = Mat::from_fn(3, 4, |t, i| f64::from(((3 * i + t) as f64 / 7.0) as f32));
    assert_eq!(table.samples, expected);
    let options = ReadOptions { layout: Layout::Columns, ..ReadOptions::default() };
    assert_eq!(fixture("fortran.npy", &options).samples, expected.transpose());
}

#[test]
fn a_zstandard_file_with_checksum() {
    let table = fixture("table.csv.zst", &ReadOptions::default());
    assert_eq!((table.n_samples(), table.n_features()), (40, 2));
    assert_eq!(table.samples[(0, 5)], 5.0 / 7.0);
    assert_eq!(names(&table)[..4], ["c0", "c1", "c2", "c0"]);
}
