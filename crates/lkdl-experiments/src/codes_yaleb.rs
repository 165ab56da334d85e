//! Where the codes of one class live: Σ|γ| over the test samples of Extended Yale B's tenth person,
//! by atom and by the class of the atom, as a share of all. LC-KSVD gives every person 15 atoms, so
//! the mass should be on atoms 136 to 150 (the paper prints 139 to 150).

use crate::error::ExperimentError;
use crate::faces::{Model, Stage};
use crate::job::{Job, Place};
use crate::lc_ksvd_yaleb::{N_CLASSES, rows, stored};
use crate::quantity::Quantity;
use crate::scale::{Scale, Sizes};
use crate::trial::Trial;
use lkdl::prelude::{BatchOmp, Target};
use lkdl_data::TrainTest;

/// The tenth, counted from 0.
const CLASS: usize = 9;
const ATOMS_PER_CLASS: usize = 15;

/// LC-KSVD1 and LC-KSVD2, linearly and by LKDL with the settings that gain what was published. The
/// first place is the share of the class's own atoms, the others are the atoms.
pub(crate) fn jobs(scale: &Scale) -> Vec<Job> {
    let sizes = Sizes { runs: 1, ..scale.faces };
    let stage = Stage { experiment: "codes", dataset: "yaleb", n_classes: N_CLASSES, sizes };
    let n_atoms = ATOMS_PER_CLASS * N_CLASSES.min(sizes.classes);
    let atoms = (1..=n_atoms).map(|atom| Some(atom as f64));
    let places: Vec<Place> = std::iter::once(None)
        .chain(atoms)
        .map(|x| Place { quantity: Quantity::CodeShare, x })
        .collect();
    let repeated = rows().into_iter().filter(|row| row.repeated);
    repeated.map(|row| row.measured(stage, places.clone(), stored, shares)).collect()
}

fn shares(model: &Model, set: &TrainTest, trial: Trial) -> Result<Vec<Trial>, ExperimentError> {
    let classifier = model.classifier();
    let class = CLASS.min(classifier.n_classes() - 1);
    let members: Vec<usize> =
        (0..set.test.n_samples()).filter(|&i| set.test.labels[i] as usize == class).collect();
    let samples = model.transform(set.test.subset(&members)?.samples.as_ref())?;
    let coder = BatchOmp::new(classifier.dictionary())?;
    let codes = coder.encode(samples.as_ref(), Target::Sparsity(classifier.sparsity()))?.codes;
    let mut mass = vec![0.0; codes.n_atoms()];
    for i in 0..codes.n_signals() {
        let (atoms, values) = codes.signal(i);
        for (&atom, value) in atoms.iter().zip(values) {
            mass[atom as usize] += value.abs();
        }
    }
    let total: f64 = mass.iter().sum();
    let own = mass.iter().zip(classifier.atom_classes()).filter(|(_, of)| **of == class);
    let own: f64 = own.map(|(mass, _)| mass).sum();
    let share = |mass: f64| Trial { value: 100.0 * mass / total, ..trial };
    Ok(std::iter::once(own).chain(mass).map(share).collect())
}
