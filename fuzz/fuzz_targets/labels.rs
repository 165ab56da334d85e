//! Files of labels beside samples.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lkdl_data::ReadOptions;
use lkdl_fuzz::{folder, sound};

fuzz_target!(|data: &[u8]| {
    let (samples, labels) = (folder().join("t.csv"), folder().join("t.csv.labels"));
    std::fs::write(&samples, "1,2\n3,4\n5,6\n").expect("a file of samples");
    std::fs::write(&labels, data).expect("a file for the input");
    let label = labels.to_str().map(String::from);
    let options = ReadOptions { label, ..ReadOptions::default() };
    sound(&samples, lkdl_data::read(&samples, &options));
});
