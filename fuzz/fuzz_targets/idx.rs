//! IDX arrays.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lkdl_data::Format;
use lkdl_fuzz::read_as;

fuzz_target!(|data: &[u8]| read_as("t.idx", Format::Idx, data));
