//! Invariants of ALGORITHMS part 6 (FDDL), against the definitions written out.

mod objective;
mod refusals;
mod rules;
mod training;

use super::*;
use crate::classify::{Classify, Predictions, Train};
use crate::dictionary::InitialAtoms;
use crate::real::Real;
use crate::testing::{random_matrix, random_unit_columns};
use faer::Mat;

/// Three clouds around random directions, and their labels, in turn.
fn clouds<T: Real>(p: usize, n: usize, seed: u64) -> (Mat<T>, Vec<usize>) {
    let (centres, noise) = (random_unit_columns::<f64>(p, 3, 77), random_matrix::<f64>(p, n, seed));
    let X = Mat::from_fn(p, n, |r, i| T::of(centres[(r, i % 3)] + 0.15 * noise[(r, i)]));
    (X, (0..n).map(|i| i % 3).collect())
}

fn global() -> FddlRule {
    FddlRule::Global { l1_weight: 0.1, mean_weight: 0.01 }
}

fn params<T: Real>(form: FddlForm, rule: FddlRule) -> FddlParams<T> {
    FddlParams {
        form,
        rule,
        n_atoms: 4,
        max_iters: 3,
        initial: InitialAtoms::FirstSamples,
        ..Default::default()
    }
}

fn both_forms_and_rules<T: Real>() -> Vec<FddlParams<T>> {
    let forms = [FddlForm::Full, FddlForm::Simplified];
    let rules = [FddlRule::default(), global()];
    forms.iter().flat_map(|&form| rules.map(|rule| params(form, rule))).collect()
}

fn classify<T: Real>(params: &FddlParams<T>, X: &Mat<T>, y: &[usize], new: &Mat<T>) -> Predictions {
    params.train(X.as_ref(), y).unwrap().classify(new.as_ref()).unwrap()
}
