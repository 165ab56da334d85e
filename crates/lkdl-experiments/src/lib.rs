//! The experiments of the paper, one file each: every figure and table, beside the numbers that were
//! published, with what paper and program disagree on and what came later as further lines.
//!
//! An experiment is a list of [`Job`]s. A job is done once per seed; each [`Run`] can be saved as soon
//! as it is there, and the runs of a job make its [`Record`]s. Nothing is printed.
//!
//! ```console
//! $ lkdl reproduce list
//! $ lkdl reproduce 2a --data-dir … --out results
//! ```

mod class_ksvd;
mod codes_yaleb;
mod digits;
mod error;
mod faces;
mod fddl_usps;
mod figure_1a;
mod figure_1b;
mod figure_2;
mod figure_3;
mod figure_4;
mod job;
mod lc_ksvd_ar;
mod lc_ksvd_ar_reasons;
mod lc_ksvd_yaleb;
mod lc_ksvd_yaleb_held_out;
mod mini_batches;
mod published;
mod quantity;
mod record;
mod samplers;
mod scale;
mod sets;
mod spread;
mod sweeps_yaleb;
mod trial;

pub use error::ExperimentError;
pub use job::{Job, Params, Place, Run, Setting};
pub use published::Published;
pub use quantity::Quantity;
pub use record::{Record, Seconds, Value, gather};
pub use scale::{Scale, Sizes};
pub use sets::Sets;
pub use spread::Spread;
pub use trial::{Trial, labels};

use lkdl_data::NamedSet;

/// One figure or table.
pub struct Experiment {
    /// What it is called on the command line.
    pub id: &'static str,
    /// What it is called in the paper.
    pub title: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// What its horizontal axis is, with the unit; empty for a table.
    pub x_label: &'static str,
    /// The sets it needs.
    pub sets: &'static [NamedSet],
    /// What is to be done.
    pub jobs: fn(&Scale) -> Vec<Job>,
}

impl Experiment {
    /// The experiment called `id`.
    pub fn find(id: &str) -> Option<&'static Self> {
        EXPERIMENTS.iter().find(|experiment| experiment.id == id)
    }
}

/// All experiments, in the paper's order.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "1a",
        title: "Figure 1a",
        about: "kernel approximation error on USPS, by sampler and number of landmarks",
        x_label: "landmarks c/N, %",
        sets: &[NamedSet::Usps],
        jobs: figure_1a::jobs,
    },
    Experiment {
        id: "1b",
        title: "Figure 1b",
        about: "accuracy on USPS, by sampler and number of landmarks",
        x_label: "landmarks c/N, %",
        sets: &[NamedSet::Usps, NamedSet::UspsEsl],
        jobs: figure_1b::jobs,
    },
    Experiment {
        id: "2a",
        title: "Figure 2a",
        about: "accuracy on USPS with noise",
        x_label: "noise σ, pixels in [−1, 1]",
        sets: &[NamedSet::Usps],
        jobs: figure_2::noise,
    },
    Experiment {
        id: "2b",
        title: "Figure 2b",
        about: "accuracy on USPS with missing pixels",
        x_label: "missing share of pixels",
        sets: &[NamedSet::Usps],
        jobs: figure_2::missing,
    },
    Experiment {
        id: "3",
        title: "Figure 3",
        about: "accuracy, time and memory on MNIST, by number of samples",
        x_label: "training samples N",
        sets: &[NamedSet::Mnist],
        jobs: figure_3::jobs,
    },
    Experiment {
        id: "4a",
        title: "Figure 4a",
        about: "random features against LKDL on USPS, Gaussian kernel",
        x_label: "dimension k",
        sets: &[NamedSet::Usps],
        jobs: figure_4::usps,
    },
    Experiment {
        id: "4b",
        title: "Figure 4b",
        about: "random features against LKDL on MNIST, Gaussian kernel",
        x_label: "dimension k",
        sets: &[NamedSet::Mnist],
        jobs: figure_4::mnist,
    },
    Experiment {
        id: "fddl",
        title: "Table: FDDL",
        about: "FDDL on USPS, plain and on virtual samples, simplified and full",
        x_label: "",
        sets: &[NamedSet::Usps],
        jobs: fddl_usps::jobs,
    },
    Experiment {
        id: "yaleb",
        title: "Table: Extended Yale B",
        about: "LC-KSVD1 and LC-KSVD2 on faces, with and without LKDL",
        x_label: "",
        sets: &[NamedSet::YaleB],
        jobs: lc_ksvd_yaleb::jobs,
    },
    Experiment {
        id: "yaleb-held-out",
        title: "Table: Extended Yale B, rank held out",
        about: "LC-KSVD + LKDL with a rank chosen on held-out training samples",
        x_label: "",
        sets: &[NamedSet::YaleB],
        jobs: lc_ksvd_yaleb_held_out::jobs,
    },
    Experiment {
        id: "codes",
        title: "Figure: concentration of codes",
        about: "whose atoms the codes of one person use",
        x_label: "atom",
        sets: &[NamedSet::YaleB],
        jobs: codes_yaleb::jobs,
    },
    Experiment {
        id: "atoms",
        title: "Figure: number of atoms",
        about: "LC-KSVD on Extended Yale B with fewer atoms",
        x_label: "atoms per class",
        sets: &[NamedSet::YaleB],
        jobs: sweeps_yaleb::atoms,
    },
    Experiment {
        id: "sparsity",
        title: "Figure: sparsity",
        about: "LC-KSVD on Extended Yale B with sparser codes",
        x_label: "non-zeros per code",
        sets: &[NamedSet::YaleB],
        jobs: sweeps_yaleb::sparsity,
    },
    Experiment {
        id: "ar",
        title: "Table: AR",
        about: "LC-KSVD1 and LC-KSVD2 on faces, with and without LKDL",
        x_label: "",
        sets: &[NamedSet::Ar],
        jobs: lc_ksvd_ar::jobs,
    },
    Experiment {
        id: "ar-reasons",
        title: "Reasons: AR",
        about: "why LC-KSVD stays behind on AR: features, weights, sparsity of the decision",
        x_label: "",
        sets: &[NamedSet::Ar],
        jobs: lc_ksvd_ar_reasons::jobs,
    },
    Experiment {
        id: "batch",
        title: "Mini-batches",
        about: "540,000 shifted MNIST digits, learned from blocks",
        x_label: "",
        sets: &[NamedSet::Mnist],
        jobs: mini_batches::jobs,
    },
    Experiment {
        id: "digits",
        title: "Rehearsal",
        about: "noise on the digits that are part of the program; needs no data",
        x_label: "noise σ, pixels in [−1, 1]",
        sets: &[],
        jobs: digits::jobs,
    },
];
