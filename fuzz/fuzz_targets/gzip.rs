//! Text under gzip: the input is what follows the first bytes, and the whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lkdl_data::Format;
use lkdl_fuzz::read_as;

fuzz_target!(|data: &[u8]| {
    read_as("t.svm.gz", Format::Svmlight, data);
    read_as("t.svm.gz", Format::Svmlight, &[&b"\x1f\x8b"[..], data].concat());
});
