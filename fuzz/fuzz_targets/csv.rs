//! Text of cells: separators, headers, quotes, labels; and the way back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lkdl_data::{Format, ReadOptions};
use lkdl_fuzz::{folder, read_as, survives_csv};

fuzz_target!(|data: &[u8]| {
    read_as("t.csv", Format::Csv, data);
    if let Ok(table) = lkdl_data::read(&folder().join("t.csv"), &ReadOptions::default()) {
        survives_csv(&table);
    }
});
