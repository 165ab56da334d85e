//! Ctrl-C, and a request to end from the system: no half-written file stays, exit 130.

use crate::failure::{Failure, INTERRUPTED};

/// From here on an interrupt removes temporary files and ends the program.
pub fn install() -> Result<(), Failure> {
    let end = || {
        lkdl_data::atomic::remove_temporaries();
        std::process::exit(INTERRUPTED.into());
    };
    ctrlc::set_handler(end)
        .map_err(|error| Failure::run(format!("cannot listen for Ctrl-C: {error}")))
}
