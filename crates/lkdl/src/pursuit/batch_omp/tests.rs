//! Batch-OMP against plain OMP, its invariants, and awkward atoms.

use super::*;
use crate::linalg::convert;
use crate::pursuit::testing::{
    naive_omp, orthogonality, orthonormal, residual_is_orthogonal_to_chosen_atoms, residuals,
    spikes_and_waves,
};
use crate::pursuit::{Codes, OmpParams};
use crate::testing::{
    close, random_matrix, random_unit_columns, same_for_any_thread_count, tolerance,
};
use proptest::prelude::*;

fn encode<T: Real>(D: &Mat<T>, X: &Mat<T>, q: usize) -> Encoded<T> {
    BatchOmp::new(D.as_ref()).unwrap().encode(X.as_ref(), Target::Sparsity(q)).unwrap()
}

/// Atoms in the order of the naive reference, sorted.
fn naive_support<T: Real>(D: &Mat<T>, x: &[T], q: usize) -> Vec<u32> {
    let mut support: Vec<u32> = naive_omp(D.as_ref(), x, q).iter().map(|e| e.0 as u32).collect();
    support.sort_unstable();
    support
}

fn agrees_with_the_naive_reference<T: Real>() {
    for (k, m, q) in [(20, 50, 6), (64, 33, 4), (40, 130, 10), (5, 3, 3), (1, 1, 1)] {
        let (D, X) = (random_unit_columns::<T>(k, m, 1), random_matrix::<T>(k, 40, 2));
        let Encoded { codes, sq_residuals } = encode(&D, &X, q);
        residual_is_orthogonal_to_chosen_atoms(
            D.as_ref(),
            X.as_ref(),
            &codes,
            orthogonality::<T>(),
        );
        let R = residuals(D.as_ref(), X.as_ref(), &codes);
        for i in 0..X.ncols() {
            assert_eq!(codes.signal(i).0, naive_support(&D, X.col_as_slice(i), q));
            let (rho, rho0) = (R.col(i).squared_norm_l2(), norm_sq(X.col_as_slice(i)));
            assert!((sq_residuals[i] - rho).abs() <= tolerance::<T>(k) * rho0);
        }
    }
}

#[test]
fn supports_and_residuals_are_those_of_the_naive_reference() {
    agrees_with_the_naive_reference::<f64>();
    agrees_with_the_naive_reference::<f32>();
}

fn plain_equals_batch<T: Real>(tol: f64) {
    let (D, X) = (random_unit_columns::<T>(30, 80, 3), random_matrix::<T>(30, 300, 4));
    let batch = encode(&D, &X, 7).codes;
    let plain =
        OmpParams { target: Target::Sparsity(7) }.encode(D.as_ref(), X.as_ref()).unwrap().codes;
    assert_eq!(batch.parts().1, plain.parts().1);
    for (a, b) in batch.parts().2.iter().zip(plain.parts().2) {
        assert!((a.wide() - b.wide()).abs() < tol, "{a:e} {b:e}");
    }
}

#[test]
fn plain_and_batch_forms_give_the_same_codes() {
    plain_equals_batch::<f64>(1e-12);
    plain_equals_batch::<f32>(1e-4);
}

fn residual_falls_with_the_sparsity<T: Real>() {
    let (D, X) = (random_unit_columns::<T>(16, 40, 5), random_matrix::<T>(16, 60, 6));
    let mut before = vec![f64::INFINITY; 60];
    for q in 1..=16 {
        let after = encode(&D, &X, q).sq_residuals;
        for i in 0..60 {
            assert!(after[i] <= before[i]);
        }
        before = after;
    }
}

#[test]
fn residual_never_rises_with_the_sparsity() {
    residual_falls_with_the_sparsity::<f64>();
    residual_falls_with_the_sparsity::<f32>();
}

fn orthonormal_dictionary_thresholds<T: Real>() {
    let D = convert::<f64, T>(orthonormal(12, 3).as_ref());
    let X = random_matrix::<T>(12, 30, 7);
    let alpha = convert::<T, f64>(D.transpose()) * convert::<T, f64>(X.as_ref());
    let codes = encode(&D, &X, 4).codes;
    for i in 0..30 {
        let alpha = |j: u32| alpha[(j as usize, i)];
        let mut order: Vec<u32> = (0..12).collect();
        order.sort_by(|&a, &b| alpha(b).abs().total_cmp(&alpha(a).abs()));
        order.truncate(4);
        order.sort_unstable();
        let (atoms, values) = codes.signal(i);
        assert_eq!(atoms, order);
        let close = |(&j, v): (&u32, &T)| (v.wide() - alpha(j)).abs() < tolerance::<T>(1);
        assert!(atoms.iter().zip(values).all(close));
    }
}

#[test]
fn an_orthonormal_dictionary_keeps_the_largest_correlations() {
    orthonormal_dictionary_thresholds::<f64>();
    orthonormal_dictionary_thresholds::<f32>();
}

fn low_coherence_recovers<T: Real>() {
    // Spikes and a flat basis of a 64-point Hadamard matrix: coherence 1/8 < 1/(2q − 1), q = 4.
    let D = spikes_and_waves::<T>(64);
    let values = random_matrix::<T>(4, 50, 5);
    let support = |i: usize| [i % 64, (i + 20) % 64, 64 + i % 64, 64 + (i + 33) % 64];
    let mut Gamma = Mat::<T>::zeros(128, 50);
    for i in 0..50 {
        for (t, j) in support(i).into_iter().enumerate() {
            Gamma[(j, i)] = values[(t, i)];
        }
    }
    let codes = encode(&D, &(&D * &Gamma), 10).codes;
    for i in 0..50 {
        let mut expected = support(i).map(|j| j as u32);
        expected.sort_unstable();
        assert_eq!(codes.signal(i).0, expected, "and it stops at rounding level");
    }
    close(codes.to_dense().as_ref(), Gamma.as_ref(), tolerance::<T>(1));
}

#[test]
fn sparse_signals_are_recovered_when_the_coherence_is_low() {
    low_coherence_recovers::<f64>();
    low_coherence_recovers::<f32>();
}

fn copies_do_no_harm<T: Real>() {
    let mut D = random_unit_columns::<T>(10, 24, 8);
    for j in 0..12 {
        let copy = D.col_as_slice(j).to_vec();
        D.col_as_slice_mut(j + 12).copy_from_slice(&copy);
    }
    let codes = encode(&D, &random_matrix(10, 50, 9), 10).codes;
    assert!(codes.parts().1.iter().all(|&j| j < 12));
}

#[test]
fn copies_of_an_atom_do_no_harm_and_the_lower_index_is_used() {
    copies_do_no_harm::<f64>();
    copies_do_no_harm::<f32>();
}

#[test]
fn atoms_of_any_norm_are_selected_by_angle_and_zero_atoms_never() {
    let unit = random_unit_columns::<f64>(14, 30, 10);
    let scales: Vec<f64> = (0..30).map(|j| if j == 5 { 0.0 } else { 0.1 + j as f64 }).collect();
    let D = Mat::from_fn(14, 30, |i, j| unit[(i, j)] * scales[j]);
    let mut without = unit.clone();
    without.col_as_slice_mut(5).fill(0.0);
    let X = random_matrix::<f64>(14, 40, 11);
    let (scaled, reference) = (encode(&D, &X, 5).codes, encode(&without, &X, 5).codes);
    assert_eq!(scaled.parts().1, reference.parts().1);
    for ((&j, a), b) in scaled.parts().1.iter().zip(scaled.parts().2).zip(reference.parts().2) {
        assert_ne!(j, 5);
        assert!((a * scales[j as usize] - b).abs() < 1e-10);
    }
}

fn error_target_is_met_with_the_fewest_steps<T: Real>() {
    let (D, X) = (random_unit_columns::<T>(24, 60, 12), random_unit_columns::<T>(24, 50, 13));
    let coder = BatchOmp::new(D.as_ref()).unwrap();
    for norm in [0.5, 0.1, 1e-3] {
        let target = Target::Error { norm, max_atoms: None };
        let Encoded { codes, sq_residuals } = coder.encode(X.as_ref(), target).unwrap();
        let R = residuals(D.as_ref(), X.as_ref(), &codes);
        for i in 0..50 {
            let q = codes.signal(i).0.len();
            let reached = R.col(i).norm_l2();
            assert!(reached <= norm * (1.0 + 1e-3) || q == 24, "{reached} > {norm}");
            assert!((sq_residuals[i].sqrt() - reached).abs() <= 1e-4 * norm.max(T::EPS.sqrt()));
            if q > 1 {
                assert!(encode(&D, &X, q - 1).sq_residuals[i] > norm * norm * 0.999);
            }
        }
    }
}

#[test]
fn error_mode_reaches_the_error_and_stops_there() {
    error_target_is_met_with_the_fewest_steps::<f64>();
    error_target_is_met_with_the_fewest_steps::<f32>();
}

#[test]
fn codes_scale_with_the_signals() {
    let (D, X) = (random_unit_columns::<f64>(12, 30, 14), random_matrix::<f64>(12, 20, 15));
    let tiny = Mat::from_fn(12, 20, |i, j| X[(i, j)] * 1e-30);
    let (a, b) = (encode(&D, &X, 4).codes, encode(&D, &tiny, 4).codes);
    assert_eq!(a.parts().1, b.parts().1);
}

#[test]
fn zero_signals_get_empty_codes_and_bad_input_is_named() {
    let D = random_unit_columns::<f64>(6, 9, 16);
    let mut X = random_matrix::<f64>(6, 3, 17);
    X.col_as_slice_mut(1).fill(0.0);
    let Encoded { codes, sq_residuals } = encode(&D, &X, 2);
    assert!(codes.signal(1).0.is_empty() && sq_residuals[1] == 0.0);
    let coder = BatchOmp::new(D.as_ref()).unwrap();
    for bad in [0, 10] {
        let error = coder.encode(X.as_ref(), Target::Sparsity(bad)).unwrap_err();
        assert!(matches!(error, LkdlError::Parameter { name: "sparsity", .. }));
    }
    X[(2, 2)] = f64::NAN;
    let error = coder.encode(X.as_ref(), Target::Sparsity(1)).unwrap_err();
    assert!(matches!(error, LkdlError::NonFinite { row: 2, col: 2, .. }));
    let huge = Mat::<f32>::from_fn(4, 1, |_, _| 1e25);
    assert!(matches!(BatchOmp::new(huge.as_ref()), Err(LkdlError::Unsupported { .. })));
    let coder = BatchOmp::new(Mat::<f32>::identity(4, 4).as_ref()).unwrap();
    assert!(matches!(
        coder.encode(huge.as_ref(), Target::Sparsity(1)),
        Err(LkdlError::Unsupported { .. })
    ));
}

#[test]
fn bits_do_not_depend_on_the_thread_count() {
    fn check<T: Real>() {
        let (D, X) = (random_unit_columns::<T>(32, 90, 18), random_matrix::<T>(32, 1500, 19));
        same_for_any_thread_count(|| -> (Codes<T>, Vec<f64>) {
            let encoded = encode(&D, &X, 6);
            (encoded.codes, encoded.sq_residuals)
        });
    }
    check::<f64>();
    check::<f32>();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn awkward_shapes_keep_the_residual_orthogonal(
        k in 1usize..20, m in 1usize..40, n in 1usize..6, q in 1usize..12, seed in 0u64..1000,
    ) {
        let mut D = random_unit_columns::<f64>(k, m, seed);
        if m > 2 {
            let copy = D.col_as_slice(0).to_vec();
            D.col_as_slice_mut(m - 1).copy_from_slice(&copy);
            D.col_as_slice_mut(m / 2).fill(0.0);
        }
        let X = random_matrix::<f64>(k, n, seed + 1);
        let codes = encode(&D, &X, q.min(m)).codes;
        residual_is_orthogonal_to_chosen_atoms(D.as_ref(), X.as_ref(), &codes, 1e-10);
    }
}
