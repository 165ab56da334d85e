//! MATLAB files, versions 5 and 7; those of 7.3 go on to HDF5.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lkdl_data::Format;
use lkdl_fuzz::read_as;

fuzz_target!(|data: &[u8]| read_as("t.mat", Format::Matlab, data));
