//! What holds across modules, through the public interface alone. One program, because the engine is
//! generic: every program that uses it compiles it anew.
#![allow(non_snake_case, clippy::unwrap_used)] // helpers of tests unwrap too

mod awkward_input;
mod bad_input;
mod common;
mod determinism;
mod extreme_input;
mod kernel_family;
mod kernels;
mod rotation;
mod supervised;

use lkdl::Kernel; // for `kernels`, which unit tests share
