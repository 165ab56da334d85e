//! The decision rules, against plain proximal steps.

use super::*;
use crate::linalg::full_eigen;

/// min ½‖x − Ds‖² + ½g‖s − m‖² + λ‖s‖₁ by many plain proximal steps.
fn naive_lasso(D: &Mat<f64>, x: &[f64], g: f64, m: &[f64], lambda: f64) -> Vec<f64> {
    let G = D.transpose() * D;
    let rate = 1.0 / (full_eigen(G.as_ref()).unwrap().values[0] + g);
    let mut s = vec![0.0f64; D.ncols()];
    for _ in 0..20_000 {
        let left: Vec<f64> = (0..D.nrows())
            .map(|t| x[t] - (0..s.len()).map(|j| D[(t, j)] * s[j]).sum::<f64>())
            .collect();
        for j in 0..s.len() {
            let slope: f64 =
                (0..D.nrows()).map(|t| -D[(t, j)] * left[t]).sum::<f64>() + g * (s[j] - m[j]);
            let v = s[j] - rate * slope;
            s[j] = v.signum() * (v.abs() - rate * lambda).max(0.0);
        }
    }
    s
}

fn sq_left(D: &Mat<f64>, x: &[f64], s: &[f64]) -> f64 {
    let left = |t: usize| x[t] - (0..s.len()).map(|j| D[(t, j)] * s[j]).sum::<f64>();
    (0..x.len()).map(|t| left(t).powi(2)).sum()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

#[test]
fn the_local_score_is_the_minimum_of_its_problem() {
    let dictionaries = vec![random_unit_columns::<f64>(6, 5, 1), random_unit_columns(6, 9, 2)];
    let means = Mat::from_fn(14, 2, |j, l| 0.1 * ((j + 3 * l) as f64).sin());
    let X = random_matrix::<f64>(6, 70, 3);
    let (g1, g2) = (0.3, 0.2);
    for compat in [false, true] {
        let rule = FddlRule::Local { l1_weight: g1, mean_weight: g2, compat };
        let model =
            Fddl::from_parts(dictionaries.clone(), means.clone(), rule, FddlTraining::default());
        let scores = model.unwrap().classify(X.as_ref()).unwrap().scores;
        for (l, D) in dictionaries.iter().enumerate() {
            let own = &means.col_as_slice(l)[if l == 0 { 0..5 } else { 5..14 }];
            for i in (0..70).step_by(9) {
                let x = X.col_as_slice(i);
                let lambda = if compat { g1 } else { 0.5 * g1 };
                let s = naive_lasso(D, x, g2, own, lambda);
                let l1: f64 = s.iter().map(|v| v.abs()).sum();
                let value = sq_left(D, x, &s) + g1 * l1 + g2 * distance(&s, own);
                assert!((scores[(l, i)] - value).abs() < 1e-6 * value, "{l} {i}");
            }
        }
    }
}

#[test]
fn the_global_score_is_that_of_one_code_over_all_atoms() {
    let dictionaries = vec![random_unit_columns::<f64>(9, 3, 1), random_unit_columns(9, 4, 2)];
    let D = Mat::from_fn(9, 7, |t, j| {
        if j < 3 { dictionaries[0][(t, j)] } else { dictionaries[1][(t, j - 3)] }
    });
    let means = Mat::from_fn(7, 2, |j, l| 0.1 * ((j + 3 * l) as f64).sin());
    let X = random_matrix::<f64>(9, 40, 3);
    let rule = FddlRule::Global { l1_weight: 0.3, mean_weight: 0.5 };
    let model =
        Fddl::from_parts(dictionaries.clone(), means.clone(), rule, FddlTraining::default());
    let scores = model.unwrap().classify(X.as_ref()).unwrap().scores;
    for i in (0..40).step_by(7) {
        let x = X.col_as_slice(i);
        let gamma = naive_lasso(&D, x, 0.0, &[0.0; 7], 0.15);
        for (l, part) in [&gamma[..3], &gamma[3..]].into_iter().enumerate() {
            let value =
                sq_left(&dictionaries[l], x, part) + 0.5 * distance(&gamma, means.col_as_slice(l));
            assert!((scores[(l, i)] - value).abs() < 1e-3 * value, "{l} {i}");
        }
    }
}
