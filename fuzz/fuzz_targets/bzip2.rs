//! Text under bzip2: the input is what follows the first bytes, and the whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lkdl_data::Format;
use lkdl_fuzz::read_as;

fuzz_target!(|data: &[u8]| {
    read_as("t.svm.bz2", Format::Svmlight, data);
    read_as("t.svm.bz2", Format::Svmlight, &[&b"\x42\x5a\x68"[..], data].concat());
});
