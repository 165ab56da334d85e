//! What is refused, and what memory is asked for.

use super::*;
use crate::error::LkdlError;

#[test]
fn bad_parameters_and_samples_are_typed_errors() {
    let (X, y) = clouds::<f64>(6, 30, 1);
    let refused = |change: &dyn Fn(&mut FddlParams<f64>)| {
        let mut params = params::<f64>(FddlForm::Full, FddlRule::default());
        change(&mut params);
        match params.train(X.as_ref(), &y) {
            Err(LkdlError::Parameter { name, .. }) => name,
            other => panic!("accepted: {other:?}"),
        }
    };
    assert_eq!(refused(&|p| p.n_atoms = 0), "n_atoms");
    assert_eq!(refused(&|p| p.max_iters = 0), "max_iters");
    assert_eq!(refused(&|p| p.code_iters = 0), "code_iters");
    assert_eq!(refused(&|p| p.l1_weight = -0.1), "l1_weight");
    assert_eq!(refused(&|p| p.l1_weight = f64::NAN), "l1_weight");
    assert_eq!(refused(&|p| p.scatter_weight = -1.0), "scatter_weight");
    assert_eq!(refused(&|p| p.scatter_weight = f64::INFINITY), "scatter_weight");
    assert_eq!(refused(&|p| p.energy_weight = 0.5), "energy_weight");
    assert_eq!(refused(&|p| p.code_tol = -1.0), "code_tol");
    let local = |l1_weight, mean_weight| FddlRule::Local { l1_weight, mean_weight, compat: false };
    assert_eq!(refused(&|p| p.rule = local(0.0, 0.1)), "rule's l1_weight");
    assert_eq!(refused(&|p| p.rule = local(0.1, -0.1)), "rule's mean_weight");
    let train = |params: FddlParams<f64>, X: &Mat<f64>, y: &[usize]| {
        params.train(X.as_ref(), y).map(|_| ()).unwrap_err()
    };
    let usual = || params::<f64>(FddlForm::Simplified, FddlRule::default());
    let huge = FddlParams { n_atoms: usize::MAX, ..usual() };
    assert!(matches!(train(huge, &X, &y), LkdlError::Memory { .. }));
    assert_eq!(train(usual(), &X, &[0, 2].repeat(15)), LkdlError::EmptyClass { class: 1 });
    assert!(matches!(train(usual(), &X, &y[..29]), LkdlError::Shape { .. }));
    let mut zero_class = X.clone();
    (0..30).step_by(3).for_each(|i| zero_class.col_as_slice_mut(i).fill(0.0));
    assert!(matches!(train(usual(), &zero_class, &y), LkdlError::InClass { class: 0, .. }));
    let mut broken = X.clone();
    broken[(1, 4)] = f64::NAN;
    assert!(matches!(train(usual(), &broken, &y), LkdlError::NonFinite { row: 1, col: 4, .. }));
    let model = usual().train(X.as_ref(), &y).unwrap();
    assert!(model.classify(broken.as_ref()).is_err());
    assert!(model.classify(X.as_ref().subrows(0, 5)).is_err());
}

#[test]
fn the_memory_plan_counts_the_dense_codes() {
    let full = FddlParams::<f32> { n_atoms: 300, ..Default::default() };
    let simplified = FddlParams { form: FddlForm::Simplified, ..full.clone() };
    let sizes = [700; 10];
    let codes = 5 * 300 * 7000 * 4;
    assert!(full.training_bytes(256, &sizes, 2) > 10 * codes);
    let need = simplified.training_bytes(256, &sizes, 2);
    assert!(need > codes && need < 4 * codes, "{need}");
}
