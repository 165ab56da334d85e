//! Text under zstd: the input is what follows the first bytes, and the whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lkdl_data::Format;
use lkdl_fuzz::read_as;

fuzz_target!(|data: &[u8]| {
    read_as("t.svm.zst", Format::Svmlight, data);
    read_as("t.svm.zst", Format::Svmlight, &[&b"\x28\xb5\x2f\xfd"[..], data].concat());
});
