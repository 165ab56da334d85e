//! LC-KSVD on Extended Yale B with fewer atoms, and with sparser codes: with LKDL, the paper says, 7
//! atoms per person do what 15 do without, one atom is some 20 points ahead, and 15 non-zeros beat
//! 30.

use crate::faces::{Row, Stage};
use crate::job::Job;
use crate::lc_ksvd_yaleb::{N_CLASSES, halves, rows};
use crate::scale::Scale;

/// Atoms per person.
const ATOMS: [f64; 8] = [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0];
/// Non-zeros per code.
const SPARSITIES: [f64; 8] = [2.0, 5.0, 8.0, 10.0, 15.0, 20.0, 25.0, 30.0];
/// What the other sweep keeps.
const ALL_ATOMS: usize = 15;
const ALL_NON_ZEROS: usize = 30;

pub(crate) fn atoms(scale: &Scale) -> Vec<Job> {
    jobs("atoms", scale, &scale.points(&ATOMS, &[1.0, 7.0, 15.0]), |x| (x as usize, ALL_NON_ZEROS))
}

pub(crate) fn sparsity(scale: &Scale) -> Vec<Job> {
    jobs("sparsity", scale, &scale.points(&SPARSITIES, &[5.0, 15.0, 30.0]), |x| {
        (ALL_ATOMS, x as usize)
    })
}

/// Every row that is worth repeating, on random halves, at every point.
fn jobs(
    experiment: &'static str,
    scale: &Scale,
    points: &[f64],
    sizes_at: impl Fn(f64) -> (usize, usize),
) -> Vec<Job> {
    let sizes = scale.faces;
    let stage = Stage { experiment, dataset: "yaleb-halves", n_classes: N_CLASSES, sizes };
    let at = |row: &Row, x: f64| {
        let (per_class, sparsity) = sizes_at(x);
        row.clone().with_sizes(per_class * N_CLASSES, sparsity).job(stage, Some(x), halves)
    };
    let rows: Vec<Row> = rows().into_iter().filter(|row| row.repeated).collect();
    rows.iter().flat_map(|row| points.iter().map(|x| at(row, *x))).collect()
}
