//! The experiments of the paper, one file each. An experiment trains and tests with one seed after
//! the other and returns [`Record`]s that stand beside the published numbers; it prints nothing.
//!
//! ```console
//! $ LKDL_DATA_DIR=… cargo run --release -p lkdl-experiments --example table -- --runs 5
//! ```

mod error;
mod faces;
mod fddl_usps;
mod kernel_ksvd;
mod lc_ksvd_ar;
mod lc_ksvd_ar_reasons;
mod lc_ksvd_yaleb;
mod lc_ksvd_yaleb_held_out;
mod random_features_usps;
mod record;
mod repeat;
mod spread;

pub use error::ExperimentError;
pub use record::{Published, Record};
pub use repeat::{Outcome, Trial, labels, repeat};
pub use spread::Spread;

use std::path::PathBuf;

/// What an experiment is run with.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the named sets are.
    pub data_dir: PathBuf,
    /// Seeds 0, 1, … of this many runs.
    pub runs: usize,
}

/// One figure or table.
pub struct Experiment {
    /// What it is called on the command line.
    pub id: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// Runs it.
    pub run: fn(&Options) -> Result<Vec<Record>, ExperimentError>,
}

/// All experiments, in the paper's order.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "kernel-ksvd-usps",
        about: "exact kernel K-SVD on USPS, the lines of figures 1b and 2",
        run: kernel_ksvd::usps,
    },
    Experiment {
        id: "kernel-ksvd-mnist",
        about: "exact kernel K-SVD on MNIST, figure 3 at 10,000 samples",
        run: kernel_ksvd::mnist,
    },
    Experiment {
        id: "random-features-usps",
        about: "RFF and Fastfood against LKDL at k = 256 on USPS (Fig. 4a)",
        run: random_features_usps::run,
    },
    Experiment {
        id: "fddl-usps",
        about: "FDDL on USPS, plain and on virtual samples",
        run: fddl_usps::run,
    },
    Experiment {
        id: "lc-ksvd-yaleb",
        about: "LC-KSVD1 and LC-KSVD2 on Extended Yale B, with and without LKDL",
        run: lc_ksvd_yaleb::run,
    },
    Experiment {
        id: "lc-ksvd-yaleb-held-out",
        about: "LC-KSVD + LKDL on Extended Yale B, its rank chosen on held-out training samples",
        run: lc_ksvd_yaleb_held_out::run,
    },
    Experiment {
        id: "lc-ksvd-ar",
        about: "LC-KSVD1 and LC-KSVD2 on AR, with and without LKDL",
        run: lc_ksvd_ar::run,
    },
    Experiment {
        id: "lc-ksvd-ar-reasons",
        about: "why LC-KSVD stays behind on AR: features, weights, sparsity of the decision",
        run: lc_ksvd_ar_reasons::run,
    },
];
