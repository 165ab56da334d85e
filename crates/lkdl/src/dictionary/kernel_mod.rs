//! Kernel MOD: the method of optimal directions in the space of a kernel, LKDL Eq. (15).
//!
//! Code every sample by kernel OMP, then refit all atoms at once,
//!
//! ```math
//! A=\Gamma^T(\Gamma\Gamma^T+\delta I)^{-1},\qquad
//! a_j\leftarrow a_j/\sqrt{a_j^TKa_j},\qquad \gamma^j\leftarrow\gamma^j\sqrt{a_j^TKa_j}
//! ```
//!
//! which is the least squares fit of φ(X) by φ(X)AΓ. K does not enter the solve: it is only needed
//! for the norms and the codes.
//!
//! **When to use it.** As kernel K-SVD ([`KernelKsvdParams`](super::KernelKsvdParams)), where few
//! iterations with all atoms at once are wanted. **Cost** per iteration: nm(q²−1) flops to code,
//! q²n + m³/3 + 2nm² to solve, 2n²m + 2nm² in products. Memory 3nm + m² beside K, and nm + m² in
//! `f64`.
//!
//! ```
//! use lkdl::dictionary::{KernelLearner, KernelModParams};
//!
//! let angle = |i: usize| 0.37 * i as f64;
//! let gram = faer::Mat::from_fn(40, 40, |i, j| (angle(i) - angle(j)).cos().powi(2));
//! let params = KernelModParams::<f64> { n_atoms: 6, sparsity: 2, ..Default::default() };
//! let learned = params.fit(gram.as_ref())?;
//! assert!(learned.errors.last() <= learned.errors.first());
//! # Ok::<(), lkdl::LkdlError>(())
//! ```

use super::kernel_learner::{KernelLearned, KernelLearner, check_kernel_problem};
use super::kernel_state::{KernelState, state_bytes};
use super::optimal_directions::{code_products, solve_for_atoms};
use super::{InitialWeights, Stop};
use crate::error::LkdlError;
use crate::matrix::{Contiguous, matrix_bytes};
use crate::monitor::Monitor;
use crate::pursuit::Codes;
use crate::real::Real;
use faer::{Mat, MatRef};

/// Kernel MOD's parameters.
#[derive(Debug, Clone)]
pub struct KernelModParams<T: Real> {
    /// m.
    pub n_atoms: usize,
    /// q.
    pub sparsity: usize,
    /// The iterations at most.
    pub max_iters: usize,
    /// Stop when the relative error falls by less than this share twice in a row; 0 never stops.
    pub tol: f64,
    /// Where the dictionary starts.
    pub initial: InitialWeights<T>,
    /// Seed of the initial atoms.
    pub seed: u64,
}

impl<T: Real> Default for KernelModParams<T> {
    fn default() -> Self {
        Self {
            n_atoms: 100,
            sparsity: 5,
            max_iters: 10,
            tol: 1e-4,
            initial: InitialWeights::default(),
            seed: 0,
        }
    }
}

impl<T: Real> KernelLearner<T> for KernelModParams<T> {
    fn learn_monitored(
        &self,
        gram: MatRef<'_, T>,
        class: usize,
        monitor: &dyn Monitor,
    ) -> Result<KernelLearned<T>, LkdlError> {
        check_kernel_problem(gram, self.n_atoms, self.sparsity, self.max_iters, self.tol)?;
        let K = Contiguous::new(gram);
        let K = K.columns();
        let (A, mut warnings) = self.initial.draw(K, self.n_atoms, self.seed, class)?;
        let mut state = KernelState::new(K, A)?;
        warnings.extend(state.zero_samples());
        let (mut errors, mut n_replaced) = (Vec::new(), 0);
        let stop = loop {
            state.code(self.sparsity);
            let coding_errors = state.sq_errors.clone();
            let used = update(&mut state)?;
            errors.push(state.relative_error());
            state.sq_errors = coding_errors;
            for j in (0..used.len()).filter(|&j| !used[j]) {
                if !state.replace(j) {
                    break;
                }
            }
            n_replaced += state.n_replaced;
            monitor.iterated(class, errors.last().copied().unwrap_or(1.0));
            if let Some(stop) = Stop::reached(&errors, self.tol, self.max_iters) {
                break stop;
            }
            monitor.check()?;
        };
        Ok(KernelLearned { atom_weights: state.A, errors, stop, n_replaced, warnings })
    }

    fn steps(&self) -> usize {
        self.max_iters
    }

    fn n_atoms(&self, _: usize) -> usize {
        self.n_atoms
    }

    fn learning_bytes(&self, n_samples: usize) -> u64 {
        state_bytes::<T>(n_samples, self.n_atoms, self.sparsity, false)
            + 3 * matrix_bytes::<f64>(n_samples, self.n_atoms)
            + 2 * matrix_bytes::<f64>(self.n_atoms, self.n_atoms)
    }
}

/// A = Γᵀ(ΓΓᵀ + δI)⁻¹ with unit atoms, rows of Γ scaled inversely. Returns which atoms are in use;
/// the others are left as they were.
fn update<T: Real>(state: &mut KernelState<'_, T>) -> Result<Vec<bool>, LkdlError> {
    let fresh = solve_for_atoms(code_products(&state.codes), transposed(&state.codes))?;
    let users = state.codes.users();
    let mut used: Vec<bool> = users.iter().map(|list| !list.is_empty()).collect();
    let before = state.A.clone();
    for j in (0..used.len()).filter(|&j| used[j]) {
        for (to, from) in state.A.col_as_slice_mut(j).iter_mut().zip(fresh.col_as_slice(j)) {
            *to = T::of(*from);
        }
    }
    let norms = state.refresh();
    for j in 0..used.len() {
        for &(_, position) in &users[j] {
            let value = state.codes.value_mut(position);
            *value = T::of(value.wide() * norms[j]);
        }
        used[j] &= norms[j] > 0.0;
    }
    if norms.contains(&0.0) {
        for j in (0..used.len()).filter(|&j| norms[j] == 0.0) {
            state.A.col_as_slice_mut(j).copy_from_slice(before.col_as_slice(j));
        }
        state.refresh();
    }
    state.measure_errors();
    Ok(used)
}

/// Γᵀ, n×m, in `f64`.
fn transposed<T: Real>(codes: &Codes<T>) -> Mat<f64> {
    let mut out = Mat::zeros(codes.n_signals(), codes.n_atoms());
    for i in 0..codes.n_signals() {
        let (atoms, values) = codes.signal(i);
        for (&j, value) in atoms.iter().zip(values) {
            out[(i, j as usize)] = value.wide();
        }
    }
    out
}
