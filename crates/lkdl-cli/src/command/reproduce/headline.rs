//! The rows that stand for all in a README.

use lkdl_experiments::{Quantity, Record};

/// Experiment, method, how the variant starts, place, and what was measured.
type Pick = (&'static str, &'static str, &'static str, Option<f64>, Quantity);

const A: Quantity = Quantity::Accuracy;
const T: Quantity = Quantity::TrainSeconds;

const PICKS: &[Pick] = &[
    ("1b", "K-SVD", "program", None, A),
    ("1b", "kernel K-SVD", "program", None, A),
    ("1b", "LKDL coreset", "program", Some(20.0), A),
    ("1b", "LKDL k-means", "program", Some(20.0), A),
    ("1b", "LKDL hybrid", "beyond", Some(20.0), A),
    ("1b", "LKDL, automatic c and k", "beyond", None, A),
    ("2a", "K-SVD", "program", Some(1.0), A),
    ("2a", "kernel K-SVD", "program", Some(1.0), A),
    ("2a", "LKDL k-means", "program", Some(1.0), A),
    ("2b", "K-SVD", "program", Some(0.5), A),
    ("2b", "kernel K-SVD", "program", Some(0.5), A),
    ("2b", "LKDL k-means", "program", Some(0.5), A),
    ("3", "K-SVD", "program", Some(60_000.0), A),
    ("3", "kernel K-SVD", "program", Some(60_000.0), A),
    ("3", "LKDL k-means", "text", Some(60_000.0), A),
    ("3", "LKDL hybrid, c = 2,048", "beyond", Some(60_000.0), A),
    ("3", "kernel K-SVD", "program", Some(60_000.0), T),
    ("3", "LKDL k-means", "text", Some(60_000.0), T),
    ("3", "LKDL hybrid, c = 2,048", "beyond", Some(60_000.0), T),
    ("4a", "RFF", "program", Some(256.0), A),
    ("4a", "Fastfood", "program", Some(256.0), A),
    ("4a", "LKDL k-means", "program", Some(256.0), A),
    ("4b", "LKDL k-means", "program", Some(784.0), A),
    ("fddl", "FDDL", "program", None, A),
    ("fddl", "FDDL + LKDL", "program", None, A),
    ("yaleb", "LC-KSVD1", "as published", None, A),
    ("yaleb", "LC-KSVD1 + LKDL", "code, k = N", None, A),
    ("yaleb", "LC-KSVD2", "as published", None, A),
    ("yaleb", "LC-KSVD2 + LKDL", "code, k = N", None, A),
    ("ar", "LC-KSVD1", "", None, A),
    ("ar", "LC-KSVD1 + LKDL", "", None, A),
    ("ar", "LC-KSVD2", "", None, A),
    ("ar", "LC-KSVD2 + LKDL", "", None, A),
];

/// Those of the rows that are there; of faces those on random splits.
pub fn select(records: &[Record]) -> Vec<&Record> {
    let meant = |(id, method, variant, x, quantity): &Pick, record: &Record| {
        record.experiment == *id
            && record.method == *method
            && record.variant.starts_with(variant)
            && record.x == *x
            && record.quantity == *quantity
            && record.dataset != "yaleb"
    };
    let find = |pick: &Pick| records.iter().find(|record| meant(pick, record));
    PICKS.iter().filter_map(find).collect()
}
