//! Folders of images: PNG, JPEG, BMP and PNM, by their first bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lkdl_data::{Format, ReadOptions};
use lkdl_fuzz::{folder, sound};

fuzz_target!(|data: &[u8]| {
    let images = folder().join("images/class");
    std::fs::create_dir_all(&images).expect("a folder of images");
    std::fs::write(images.join("t.png"), data).expect("a file for the input");
    let options = ReadOptions { format: Some(Format::Images), ..ReadOptions::default() };
    let folder = folder().join("images");
    sound(&folder, lkdl_data::read(&folder, &options));
});
