//! Orthogonal matching pursuit straight from D, without its Gram matrix.
//!
//! ```math
//! s_t=\arg\max_{j\notin S}\frac{|d_j^Tr|}{\|d_j\|},\qquad
//! u_t=\frac{d_s-UU^Td_s}{\pi_t},\qquad z_t=u_t^Tr,\qquad r\leftarrow r-z_tu_t
//! ```
//! The chosen atoms are factored as D_S = UR, with orthonormal U built one column per step, so
//! r = x − UUᵀx at every step and the code is Rγ_S = z, solved once at the end.
//!
//! Signals go in lockstep, `LOCKSTEP` at a time, so that Dᵀr of all of them is one product and D is read
//! once.
//!
//! **When to use it.** For thousands of atoms (m > ~4,000), or fewer signals than atoms; else
//! [Batch-OMP](super::batch_omp) is cheaper. Both give the same codes.
//!
//! **Cost** per step and signal, D k×m: 2km for Dᵀr plus 8kt for the new direction; no m×m matrix.
//!
//! ```
//! use faer::{Mat, mat};
//! use lkdl::pursuit::{OmpParams, Target};
//!
//! // 5,000 atoms of the plane, one signal.
//! let atoms = Mat::from_fn(2, 5000, |t, j| {
//!     let angle = std::f64::consts::PI * j as f64 / 5000.0;
//!     if t == 0 { angle.cos() } else { angle.sin() }
//! });
//! let params = OmpParams { target: Target::Sparsity(1) };
//! let encoded = params.encode(atoms.as_ref(), mat![[0.0], [2.0]].as_ref())?;
//! assert_eq!(encoded.codes.signal(0).0, [2500]);
//! # Ok::<(), lkdl::LkdlError>(())
//! ```

use super::codes::{CodeBlock, Encoded};
use super::entry::{Norms, best_atom, check_problem, encode_blocks};
use super::target::{Limits, Target};
use crate::error::LkdlError;
use crate::linalg::product_into;
use crate::matrix::{Columns, col};
use crate::real::Real;
use crate::vector::{axpy, dot_wide, norm_sq};
use faer::{Mat, MatRef};

/// Signals per task: enough that reading D is paid for by arithmetic, few enough that m×LOCKSTEP
/// correlations stay small and a handful of signals still spreads over the threads.
const LOCKSTEP: usize = 32;

/// Orthogonal matching pursuit without the Gram matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OmpParams {
    /// When a code is final.
    pub target: Target,
}

impl OmpParams {
    /// Codes every column of `samples` over the columns of `dictionary`, which need not have unit
    /// norm; zero atoms are never chosen and a zero signal gets the empty code.
    ///
    /// A pursuit also ends when the residual is rounding, or when the best atom depends on those
    /// chosen. Errors: empty, non-finite, mismatched or overflowing input; a target out of range.
    pub fn encode<T: Real>(
        &self,
        dictionary: MatRef<'_, T>,
        samples: MatRef<'_, T>,
    ) -> Result<Encoded<T>, LkdlError> {
        check_problem(dictionary, samples)?;
        let limits = self.target.limits(dictionary.nrows(), dictionary.ncols())?;
        encode_blocks(dictionary, samples, LOCKSTEP, |D, X, sq_signals, norms| {
            encode_block(D, X, sq_signals, norms, limits)
        })
    }
}

/// Runs the pursuits of one block in lockstep; those that finish leave the product.
fn encode_block<T: Real>(
    D: Columns<'_, T>,
    X: Columns<'_, T>,
    sq_signals: &[f64],
    norms: &Norms<T>,
    limits: Limits,
) -> CodeBlock<T> {
    let mut pursuits: Vec<Pursuit<T>> =
        sq_signals.iter().enumerate().map(|(i, &sq)| Pursuit::new(col(X, i), sq)).collect();
    let mut R = Mat::<T>::zeros(X.nrows(), X.ncols());
    let mut alpha = Mat::<T>::zeros(D.ncols(), X.ncols());
    let mut active: Vec<usize> = (0..X.ncols()).collect();
    loop {
        active.retain(|&i| !pursuits[i].is_final(limits));
        if active.is_empty() {
            break;
        }
        for (slot, &i) in active.iter().enumerate() {
            R.col_as_slice_mut(slot).copy_from_slice(&pursuits[i].residual);
        }
        let panel = alpha.as_mut().subcols_mut(0, active.len());
        product_into(panel, D.transpose().as_dyn_stride(), R.as_ref().subcols(0, active.len()));
        for (slot, &i) in active.iter().enumerate() {
            pursuits[i].step(D, alpha.col_as_slice_mut(slot), norms);
        }
    }
    let mut block = CodeBlock::default();
    for pursuit in &pursuits {
        block.push(&mut pursuit.code(), pursuit.sq_residual);
    }
    block
}

/// One signal's state.
struct Pursuit<T> {
    /// r = x − Uz.
    residual: Vec<T>,
    /// ρ0 = ‖x‖².
    sq_signal: f64,
    /// ρ = ‖r‖².
    sq_residual: f64,
    /// S, in the order chosen.
    chosen: Vec<usize>,
    /// U, one column after the other.
    directions: Vec<T>,
    /// The upper triangle R by columns: column t is Uᵀd_s and the pivot π_t, at t(t+1)/2.
    triangle: Vec<f64>,
    /// z = Uᵀx.
    z: Vec<f64>,
    /// No atom can lower the residual further.
    exhausted: bool,
}

impl<T: Real> Pursuit<T> {
    fn new(x: &[T], sq_signal: f64) -> Self {
        Self {
            residual: x.to_vec(),
            sq_signal,
            sq_residual: sq_signal,
            chosen: Vec::new(),
            directions: Vec::new(),
            triangle: Vec::new(),
            z: Vec::new(),
            exhausted: sq_signal == 0.0,
        }
    }

    fn is_final(&self, limits: Limits) -> bool {
        self.exhausted || limits.reached(self.chosen.len(), self.sq_residual)
    }

    /// Chooses the next atom, given α = Dᵀr, and removes its direction from the residual.
    fn step(&mut self, D: Columns<'_, T>, alpha: &mut [T], norms: &Norms<T>) {
        for &j in &self.chosen {
            alpha[j] = T::of(0.0); // already orthogonal: what is left there is rounding
        }
        let floor = T::PURSUIT_FLOOR * self.sq_signal;
        let best = best_atom(alpha, &norms.inverse);
        let Some((s, _)) = best.filter(|(_, score)| score.wide().powi(2) > floor) else {
            self.exhausted = true;
            return;
        };
        let (mut u, mut column) = self.orthogonalise(col(D, s));
        let sq_pivot = norm_sq(&u);
        if sq_pivot <= T::DEPENDENT_PIVOT * norms.sq_atoms[s] {
            self.exhausted = true;
            return;
        }
        let pivot = sq_pivot.sqrt();
        for v in &mut u {
            *v = T::of(v.wide() / pivot);
        }
        let z = dot_wide(&u, &self.residual);
        axpy(&mut self.residual, T::of(-z), &u);
        self.sq_residual = norm_sq(&self.residual);
        column.push(pivot);
        self.triangle.extend(column);
        self.directions.extend(u);
        self.chosen.push(s);
        self.z.push(z);
    }

    /// d − UUᵀd and Uᵀd. Two passes of Gram–Schmidt: after one, a nearly dependent atom would keep
    /// a part along U as large as rounding divided by its pivot.
    fn orthogonalise(&self, d: &[T]) -> (Vec<T>, Vec<f64>) {
        let (mut rest, mut column) = (d.to_vec(), vec![0.0; self.chosen.len()]);
        for _ in 0..2 {
            for (u, entry) in self.directions.chunks_exact(d.len()).zip(&mut column) {
                let along = dot_wide(u, &rest);
                axpy(&mut rest, T::of(-along), u);
                *entry += along;
            }
        }
        (rest, column)
    }

    /// Solves Rγ_S = z from the last atom to the first.
    fn code(&self) -> Vec<(u32, T)> {
        let mut gamma = self.z.clone();
        for t in (0..gamma.len()).rev() {
            let column = &self.triangle[t * (t + 1) / 2..][..=t];
            gamma[t] /= column[t];
            for i in 0..t {
                gamma[i] -= column[i] * gamma[t];
            }
        }
        self.chosen.iter().zip(gamma).map(|(&j, value)| (j as u32, T::of(value))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pursuit::testing::{
        naive_omp, orthogonality, orthonormal, residual_is_orthogonal_to_chosen_atoms, residuals,
        spikes_and_waves,
    };
    use crate::testing::{
        close, random_matrix, random_unit_columns, same_for_any_thread_count, tolerance,
    };
    use num_traits::Float;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn sparse(D: &Mat<impl Real>, q: usize) -> OmpParams {
        assert!(q <= D.ncols());
        OmpParams { target: Target::Sparsity(q) }
    }

    fn atoms<T: Real>(encoded: &Encoded<T>, i: usize) -> Vec<usize> {
        encoded.codes.signal(i).0.iter().map(|&j| j as usize).collect()
    }

    fn equals_the_naive_reference<T: Real>(tol: f64) {
        for (k, m, q, seed) in [(20, 50, 6, 1), (8, 8, 8, 2), (30, 10, 4, 3), (1, 3, 1, 4)] {
            let D = random_matrix::<T>(k, m, seed); // atoms of many norms
            let X = random_matrix::<T>(k, 70, seed + 10);
            let encoded = sparse(&D, q).encode(D.as_ref(), X.as_ref()).unwrap();
            residual_is_orthogonal_to_chosen_atoms(
                D.as_ref(),
                X.as_ref(),
                &encoded.codes,
                orthogonality::<T>(),
            );
            let mut expected = Mat::<T>::zeros(m, 70);
            for i in 0..70 {
                let mut code = naive_omp(D.as_ref(), X.col_as_slice(i), q);
                code.sort_unstable_by_key(|entry| entry.0);
                assert_eq!(atoms(&encoded, i), code.iter().map(|e| e.0).collect::<Vec<_>>());
                for (j, value) in code {
                    expected[(j, i)] = T::of(value);
                }
            }
            close(encoded.codes.to_dense().as_ref(), expected.as_ref(), tol);
            let R = residuals(D.as_ref(), X.as_ref(), &encoded.codes);
            for i in 0..70 {
                let (got, sq_signal) = (encoded.sq_residuals[i], norm_sq(X.col_as_slice(i)));
                let direct = R.col(i).squared_norm_l2();
                assert!((got - direct).abs() <= tolerance::<T>(k) * sq_signal);
            }
        }
    }

    #[test]
    fn codes_equal_the_naive_reference() {
        equals_the_naive_reference::<f64>(1e-10);
        equals_the_naive_reference::<f32>(2e-3); // 8 of 8 random atoms are ill-conditioned
    }

    fn residual_falls<T: Real>() {
        let (D, X) = (random_unit_columns::<T>(15, 40, 1), random_matrix::<T>(15, 30, 2));
        let mut last = vec![f64::INFINITY; 30];
        for q in 1..=20 {
            let encoded = sparse(&D, q).encode(D.as_ref(), X.as_ref()).unwrap();
            for i in 0..30 {
                assert!(encoded.sq_residuals[i] <= last[i], "signal {i}, sparsity {q}");
                assert!(encoded.codes.signal(i).0.len() <= q.min(15));
            }
            last = encoded.sq_residuals;
        }
    }

    #[test]
    fn residual_never_rises_with_sparsity() {
        residual_falls::<f64>();
        residual_falls::<f32>();
    }

    fn thresholds_over_orthonormal_atoms<T: Real>() {
        let (X, q) = (random_matrix::<T>(16, 5, 2), 4);
        let D = crate::linalg::convert::<f64, T>(orthonormal(16, 3).as_ref());
        let encoded = sparse(&D, q).encode(D.as_ref(), X.as_ref()).unwrap();
        let alpha = D.transpose() * &X;
        for i in 0..5 {
            let mut order: Vec<usize> = (0..16).collect();
            order.sort_by(|&a, &b| {
                Float::abs(alpha[(b, i)]).partial_cmp(&Float::abs(alpha[(a, i)])).unwrap()
            });
            let mut largest = order[..q].to_vec();
            largest.sort_unstable();
            assert_eq!(atoms(&encoded, i), largest);
            for (&j, value) in largest.iter().zip(encoded.codes.signal(i).1) {
                assert!((*value - alpha[(j, i)]).wide().abs() < tolerance::<T>(16));
            }
        }
    }

    #[test]
    fn orthonormal_atoms_give_the_largest_correlations() {
        thresholds_over_orthonormal_atoms::<f64>();
        thresholds_over_orthonormal_atoms::<f32>();
    }

    fn low_coherence_recovers<T: Real>() {
        // Coherence 1/√k = 1/16 < 1/(2q − 1) for q ≤ 8.
        let (k, q) = (256usize, 8);
        let D = spikes_and_waves::<T>(k);
        let mut Gamma = Mat::<T>::zeros(2 * k, 40);
        let values = random_matrix::<T>(q, 40, 5);
        for i in 0..40 {
            for t in 0..q {
                Gamma[((37 * i + 61 * t + t * t) % (2 * k), i)] = values[(t, i)];
            }
        }
        let encoded = sparse(&D, q).encode(D.as_ref(), (&D * &Gamma).as_ref()).unwrap();
        close(encoded.codes.to_dense().as_ref(), Gamma.as_ref(), tolerance::<T>(1));
    }

    #[test]
    fn planted_codes_are_recovered_at_low_coherence() {
        low_coherence_recovers::<f64>();
        low_coherence_recovers::<f32>();
    }

    fn duplicates_give_the_lower_index<T: Real>() {
        // Copies at every distance from vector and panel edges, signals alone and in a block.
        let base = random_unit_columns::<T>(7, 5, 1);
        let D = Mat::from_fn(7, 45, |i, j| base[(i, j % 5)]);
        let X = random_matrix::<T>(7, 33, 2);
        for n in [1, 2, 33] {
            let X = X.as_ref().subcols(0, n);
            let encoded = sparse(&D, 10).encode(D.as_ref(), X).unwrap();
            for i in 0..n {
                assert_eq!(atoms(&encoded, i), [0, 1, 2, 3, 4], "signal {i} of {n}");
                assert!(encoded.sq_residuals[i].is_finite());
            }
        }
    }

    #[test]
    fn duplicate_atoms_leave_the_lower_index() {
        duplicates_give_the_lower_index::<f64>();
        duplicates_give_the_lower_index::<f32>();
    }

    #[test]
    fn choice_ignores_the_norms_of_atoms_and_zero_atoms() {
        let (unit, X) = (random_unit_columns::<f64>(10, 20, 1), random_matrix::<f64>(10, 9, 2));
        let norm = |j: usize| [0.0, 1e-3, 1.0, 50.0][j % 4];
        let D = Mat::from_fn(10, 20, |i, j| unit[(i, j)] * norm(j));
        let kept: Vec<usize> = (0..20).filter(|&j| norm(j) > 0.0).collect();
        let reduced = Mat::from_fn(10, kept.len(), |i, j| unit[(i, kept[j])]);
        let with = sparse(&D, 4).encode(D.as_ref(), X.as_ref()).unwrap();
        let without = sparse(&reduced, 4).encode(reduced.as_ref(), X.as_ref()).unwrap();
        for i in 0..9 {
            let expected: Vec<usize> = atoms(&without, i).iter().map(|&j| kept[j]).collect();
            assert_eq!(atoms(&with, i), expected);
            for (t, &j) in expected.iter().enumerate() {
                let (scaled, unit) = (with.codes.signal(i).1[t], without.codes.signal(i).1[t]);
                assert!((scaled * norm(j) - unit).abs() < 1e-11);
            }
        }
        let zero = Mat::<f64>::zeros(10, 3);
        let encoded = sparse(&zero, 2).encode(zero.as_ref(), X.as_ref()).unwrap();
        assert_eq!(encoded.codes.nnz(), 0);
    }

    fn error_mode_is_the_shortest_prefix<T: Real>(tol: f64) {
        let (D, X) = (random_unit_columns::<T>(12, 30, 1), random_matrix::<T>(12, 25, 2));
        let by_count: Vec<Encoded<T>> =
            (1..=12).map(|q| sparse(&D, q).encode(D.as_ref(), X.as_ref()).unwrap()).collect();
        for norm in [0.1, 0.5, 1.5] {
            let target = Target::Error { norm, max_atoms: None };
            let encoded = OmpParams { target }.encode(D.as_ref(), X.as_ref()).unwrap();
            let R = residuals(D.as_ref(), X.as_ref(), &encoded.codes);
            for i in 0..25 {
                assert!(R.col(i).norm_l2() <= norm * (1.0 + tol));
                match encoded.codes.signal(i).0.len() {
                    0 => assert!(norm_sq(X.col_as_slice(i)) <= norm * norm),
                    1 => {}
                    n => assert!(by_count[n - 2].sq_residuals[i] > norm * norm),
                }
            }
        }
        let target = Target::Error { norm: 0.0, max_atoms: Some(3) };
        let capped = OmpParams { target }.encode(D.as_ref(), X.as_ref()).unwrap();
        assert_eq!(capped, by_count[2]);
    }

    #[test]
    fn error_mode_stops_at_the_first_step_within_the_error() {
        error_mode_is_the_shortest_prefix::<f64>(1e-12);
        error_mode_is_the_shortest_prefix::<f32>(1e-5);
    }

    #[test]
    fn pursuit_stops_when_only_rounding_is_left() {
        let D = random_unit_columns::<f32>(30, 60, 1);
        let X = Mat::from_fn(30, 1, |i, _| 3.0 * D[(i, 11)]);
        let encoded = sparse(&D, 20).encode(D.as_ref(), X.as_ref()).unwrap();
        assert_eq!(atoms(&encoded, 0), [11]);
    }

    #[test]
    fn awkward_shapes_and_zero_signals_are_coded() {
        for (k, m, n) in [(1, 1, 1), (5, 1, 3), (1, 7, 2), (3, 40, 1), (40, 3, 65)] {
            let D = random_unit_columns::<f64>(k, m, 1);
            let mut X = random_matrix::<f64>(k, n, 2);
            X.col_as_slice_mut(n - 1).fill(0.0);
            let encoded = sparse(&D, m).encode(D.as_ref(), X.as_ref()).unwrap();
            assert_eq!((encoded.codes.n_signals(), encoded.sq_residuals.len()), (n, n));
            assert!(encoded.codes.signal(n - 1).0.is_empty());
            assert_eq!(encoded.sq_residuals[n - 1], 0.0);
        }
    }

    #[test]
    fn bad_input_is_refused() {
        let (D, mut X) = (random_unit_columns::<f64>(4, 6, 1), random_matrix::<f64>(4, 3, 2));
        let code = |q: usize, D: MatRef<'_, f64>, X: MatRef<'_, f64>| {
            OmpParams { target: Target::Sparsity(q) }.encode(D, X).unwrap_err()
        };
        let error = code(7, D.as_ref(), X.as_ref());
        assert!(matches!(error, LkdlError::Parameter { name: "sparsity", .. }));
        let error = code(1, D.as_ref(), X.as_ref().subrows(0, 3));
        assert!(matches!(error, LkdlError::Shape { expected: 4, got: 3, .. }));
        let error = code(1, D.as_ref().subcols(0, 0), X.as_ref());
        assert!(matches!(error, LkdlError::Empty { what: "dictionary", .. }));
        X[(1, 2)] = f64::NAN;
        let error = code(1, D.as_ref(), X.as_ref());
        assert!(matches!(error, LkdlError::NonFinite { what: "samples", row: 1, col: 2, .. }));
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        fn check<T: Real>() {
            let (D, X) = (random_unit_columns::<T>(20, 50, 1), random_matrix::<T>(20, 150, 2));
            same_for_any_thread_count(|| sparse(&D, 5).encode(D.as_ref(), X.as_ref()).unwrap());
        }
        check::<f64>();
        check::<f32>();
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 64, failure_persistence: None, rng_seed: RngSeed::Fixed(4), ..Default::default()
        })]
        #[test]
        fn residual_is_orthogonal_for_any_shape(
            k in 1usize..24, m in 1usize..40, n in 1usize..5, q in 1usize..12, seed in 0u64..1000,
            repeat in 1usize..4,
        ) {
            // Atoms repeat `repeat` times; every third is made of its two neighbours.
            let base = random_matrix::<f64>(k, m.div_ceil(repeat), seed);
            let mut D = Mat::from_fn(k, m, |i, j| base[(i, j / repeat)]);
            for j in (2..m).step_by(3) {
                for i in 0..k {
                    D[(i, j)] = D[(i, j - 1)] - 0.5 * D[(i, j - 2)];
                }
            }
            let X = random_matrix::<f64>(k, n, seed + 1);
            let encoded = sparse(&D, q.min(m)).encode(D.as_ref(), X.as_ref()).unwrap();
            // Nearly dependent atoms get large values, hence the looser bound.
            residual_is_orthogonal_to_chosen_atoms(D.as_ref(), X.as_ref(), &encoded.codes, 1e-8);
            for i in 0..n {
                prop_assert!(encoded.codes.signal(i).0.len() <= q.min(k));
                prop_assert!(encoded.sq_residuals[i] <= norm_sq(X.col_as_slice(i)));
            }
        }
    }
}
