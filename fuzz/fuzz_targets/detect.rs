//! Files whose name tells nothing: any format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lkdl_data::ReadOptions;
use lkdl_fuzz::{folder, sound};

fuzz_target!(|data: &[u8]| {
    let path = folder().join("unnamed");
    std::fs::write(&path, data).expect("a file for the input");
    sound(&path, lkdl_data::read(&path, &ReadOptions::default()));
});
