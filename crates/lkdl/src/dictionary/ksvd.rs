//! K-SVD: code every sample, then refit one atom at a time.
//!
//! ```math
//! \min_{D,\Gamma}\|X-D\Gamma\|_F^2\quad\text{s.t.}\quad\|\gamma_i\|_0\le q,\ \|d_j\|_2=1
//! ```
//!
//! LKDL Eq. (2); Aharon et al. 2006. With E = X − DΓ kept current, atom j and its row g over its
//! users I are refitted to E_I + d_j gᵀ: by its leading singular pair (`Exact`) or by one step of
//! the power method (`Approximate`, Rubinstein et al. 2008):
//!
//! ```text
//! a = (E_I g + ‖g‖²d_j)/‖·‖;  g' = E_Iᵀa + (aᵀd_j)g;  E_I += d_j gᵀ − a g'ᵀ;  d_j = a
//! ```
//!
//! **When to use it.** As the learner of one class's dictionary, or of any dictionary that shall
//! represent samples by few atoms. It converges in fewer iterations than MOD
//! ([`ModParams`](super::ModParams)), whose updates are dearer where atoms are many. The exact update
//! is for comparison: it is slower, and codes change more between iterations than it gains.
//!
//! **Cost** per iteration: 2mkN + m²k + Nm(q²−1) flops to code, 10kNq to update (approximate).
//! Memory: E, k×N, beside the samples.
//!
//! ```
//! use faer::Mat;
//! use lkdl::dictionary::{KsvdParams, Learner};
//!
//! // Mixtures of two out of four directions.
//! let atoms = Mat::<f64>::identity(4, 4);
//! let samples = Mat::from_fn(4, 120, |t, i| {
//!     let (a, b) = (i % 4, (i + 1 + i / 40) % 4);
//!     (1.0 + (i % 7) as f64) * atoms[(t, a)] + (2.0 - (i % 5) as f64) * atoms[(t, b)]
//! });
//! let params = KsvdParams { n_atoms: 4, sparsity: 2, max_iters: 20, ..Default::default() };
//! let learned = params.fit(samples.as_ref())?;
//! assert!(learned.errors.last() < learned.errors.first());
//! for atom in learned.dictionary.col_iter() {
//!     assert!((atom.norm_l2() - 1.0).abs() < 1e-12);
//! }
//! # Ok::<(), lkdl::LkdlError>(())
//! ```

use super::clean::{Cleaning, clean, set_atom};
use super::refit::refit;
use super::{
    Candidates, InitialAtoms, Learned, Learner, Stop, alternating_bytes, check_problem,
    residuals_into, zero_samples,
};
use crate::error::LkdlError;
use crate::linalg::{full_eigen, gram, product_into};
use crate::matrix::{BLOCK, Columns, Contiguous, col, column_sq_norms, columns_of};
use crate::monitor::Monitor;
use crate::pursuit::{BatchOmp, Codes};
use crate::random::{Stage, permutation, stream};
use crate::real::Real;
use crate::vector::{norm_sq, normalize};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// How one atom is refitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtomUpdate {
    /// One step of the power method.
    #[default]
    Approximate,
    /// The leading singular pair.
    Exact,
}

/// The order in which a sweep visits the atoms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtomOrder {
    /// A new random permutation each iteration.
    #[default]
    Random,
    /// 0, 1, 2, …
    Sequential,
}

/// K-SVD's parameters.
#[derive(Debug, Clone)]
pub struct KsvdParams<T: Real> {
    /// m.
    pub n_atoms: usize,
    /// q.
    pub sparsity: usize,
    /// T, the iterations at most.
    pub max_iters: usize,
    /// Stop when the relative error falls by less than this share twice in a row; 0 never stops.
    pub tol: f64,
    /// How one atom is refitted.
    pub update: AtomUpdate,
    /// The order of a sweep.
    pub order: AtomOrder,
    /// Which atoms are replaced after each sweep; `None` keeps all.
    pub cleaning: Option<Cleaning>,
    /// Whether the last iteration cleans too, as the published experiments did.
    pub final_clean: bool,
    /// Where the dictionary starts.
    pub initial: InitialAtoms<T>,
    /// Seed of the initial atoms and of the sweeps' order.
    pub seed: u64,
}

impl<T: Real> Default for KsvdParams<T> {
    fn default() -> Self {
        Self {
            n_atoms: 100,
            sparsity: 5,
            max_iters: 10,
            tol: 1e-4,
            update: AtomUpdate::default(),
            order: AtomOrder::default(),
            cleaning: Some(Cleaning::default()),
            final_clean: true,
            initial: InitialAtoms::default(),
            seed: 0,
        }
    }
}

impl<T: Real> Learner<T> for KsvdParams<T> {
    fn learn_monitored(
        &self,
        samples: MatRef<'_, T>,
        class: usize,
        monitor: &dyn Monitor,
    ) -> Result<Learned<T>, LkdlError> {
        self.learn_with_codes(samples, class, monitor).map(|(learned, _)| learned)
    }

    fn steps(&self) -> usize {
        self.max_iters
    }

    fn learning_bytes(&self, n_features: usize, n_samples: usize) -> u64 {
        alternating_bytes::<T>(n_features, n_samples, self.n_atoms, self.sparsity)
    }
}

impl<T: Real> KsvdParams<T> {
    /// [`Learner::learn_monitored`] with the codes that the last sweep left: stale where an atom
    /// has been replaced since.
    pub(crate) fn learn_with_codes(
        &self,
        samples: MatRef<'_, T>,
        class: usize,
        monitor: &dyn Monitor,
    ) -> Result<(Learned<T>, Codes<T>), LkdlError> {
        check_problem(samples, self.n_atoms, self.sparsity, self.max_iters, self.tol)?;
        self.cleaning.map_or(Ok(()), |rule| rule.check())?;
        let X = Contiguous::new(samples);
        let X = X.columns();
        let (D, mut warnings) = self.initial.draw(X, self.n_atoms, self.seed, class)?;
        warnings.extend(zero_samples(X));
        let mut state = Sweep::new(X, D);
        let (mut errors, mut n_replaced) = (Vec::new(), 0);
        let stop = loop {
            let t = errors.len();
            state.code(self.sparsity);
            let order = sweep_order(self.order, self.seed, state.D.ncols(), class, t);
            state.update_atoms(self, &order)?;
            errors.push(state.relative_error());
            let stop = Stop::reached(&errors, self.tol, self.max_iters);
            if stop.is_none() || self.final_clean {
                state.clean(self.cleaning);
            }
            n_replaced += state.n_replaced;
            monitor.iterated(class, errors.last().copied().unwrap_or(1.0));
            if let Some(stop) = stop {
                break stop;
            }
            monitor.check()?;
        };
        let learned = Learned { dictionary: state.D, errors, stop, n_replaced, warnings };
        Ok((learned, state.codes))
    }
}

/// The atoms in the order of one sweep.
pub(super) fn sweep_order(
    order: AtomOrder,
    seed: u64,
    n_atoms: usize,
    class: usize,
    iteration: usize,
) -> Vec<usize> {
    match order {
        AtomOrder::Sequential => (0..n_atoms).collect(),
        AtomOrder::Random => {
            permutation(&mut stream(seed, Stage::AtomOrder, class, iteration), n_atoms)
        }
    }
}

/// The state of one iteration: D, Γ, E = X − DΓ, and what has been replaced.
#[cfg_attr(test, derive(Clone))]
struct Sweep<'a, T: Real> {
    X: Columns<'a, T>,
    sq_norm: f64,
    max_norm: f64,
    D: Mat<T>,
    /// DᵀD, where cleaning has it ready for the next iteration.
    G: Option<Mat<T>>,
    codes: Codes<T>,
    E: Mat<T>,
    /// ‖e_i‖², but for the signals whose residual has changed since.
    sq_errors: Vec<f64>,
    stale: Vec<bool>,
    /// All that may replace an atom, and those left of them in this iteration.
    spares: Candidates,
    candidates: Candidates,
    replaced: Vec<bool>,
    n_replaced: usize,
}

impl<'a, T: Real> Sweep<'a, T> {
    fn new(X: Columns<'a, T>, D: Mat<T>) -> Self {
        let sq_norms = column_sq_norms(X);
        let spares = Candidates::of_norms(&sq_norms);
        Self {
            sq_norm: sq_norms.iter().sum(),
            max_norm: sq_norms.into_iter().fold(0.0, f64::max).sqrt(),
            G: None,
            codes: Codes::empty(D.ncols()),
            E: Mat::zeros(X.nrows(), X.ncols()),
            sq_errors: vec![0.0; X.ncols()],
            stale: vec![true; X.ncols()],
            candidates: spares.clone(),
            spares,
            replaced: Vec::new(),
            n_replaced: 0,
            X,
            D,
        }
    }

    /// Γ by Batch-OMP, E = X − DΓ.
    fn code(&mut self, sparsity: usize) {
        let G = self.G.take().unwrap_or_else(|| gram(self.D.as_ref()));
        let coder = BatchOmp::with_gram(std::mem::replace(&mut self.D, Mat::new()), G);
        self.codes = coder.encode_sparsely(self.X, sparsity).codes;
        self.D = coder.into_atoms();
        residuals_into(&mut self.E, self.X, &self.D, &self.codes);
        self.stale.fill(true);
        self.candidates = self.spares.clone();
        self.replaced = vec![false; self.D.ncols()];
        self.n_replaced = 0;
    }

    /// One Gauss–Seidel sweep over the atoms.
    fn update_atoms(&mut self, params: &KsvdParams<T>, order: &[usize]) -> Result<(), LkdlError> {
        let users = self.codes.users();
        for &j in order {
            for &(i, _) in &users[j] {
                self.stale[i] = true;
            }
            let alive = !users[j].is_empty()
                && match params.update {
                    AtomUpdate::Approximate => self.refit_approximately(j, &users[j]),
                    AtomUpdate::Exact => self.refit_exactly(j, &users[j])?,
                };
            if !alive {
                self.replace_unused(j);
            }
        }
        Ok(())
    }

    /// Power step; `false` if the atom has vanished.
    fn refit_approximately(&mut self, j: usize, users: &[(usize, usize)]) -> bool {
        let mut g: Vec<T> =
            users.iter().map(|&(_, position)| *self.codes.value_mut(position)).collect();
        let floor = T::VANISHED_ATOM * self.max_norm;
        let alive = refit(&mut self.E, self.D.col_as_slice_mut(j), users, &mut g, floor);
        for (&(_, position), &value) in users.iter().zip(&g) {
            *self.codes.value_mut(position) = value;
        }
        alive
    }

    /// Leading singular pair of M = E_I + d_j gᵀ; `false` if the atom has vanished.
    fn refit_exactly(&mut self, j: usize, users: &[(usize, usize)]) -> Result<bool, LkdlError> {
        let d = self.D.col_as_slice(j).to_vec();
        let mut M = Mat::<f64>::zeros(d.len(), users.len());
        for (slot, &(i, position)) in users.iter().enumerate() {
            let g = self.codes.value_mut(position).wide();
            for (row, m) in M.col_as_slice_mut(slot).iter_mut().enumerate() {
                *m = self.E[(row, i)].wide() + d[row].wide() * g;
            }
        }
        let (mut a, sigma) = leading_left_vector(M.as_ref())?;
        let alive = sigma > T::VANISHED_ATOM * self.max_norm;
        if alive {
            let along: f64 = a.iter().zip(&d).map(|(a, d)| a * d.wide()).sum();
            if along < 0.0 {
                a.iter_mut().for_each(|v| *v = -*v);
            }
        } else {
            a.iter_mut().for_each(|v| *v = 0.0);
        }
        for (slot, &(i, position)) in users.iter().enumerate() {
            let m = M.col_as_slice(slot);
            let g: f64 = a.iter().zip(m).map(|(a, m)| a * m).sum();
            *self.codes.value_mut(position) = T::of(g);
            for (row, e) in self.E.col_as_slice_mut(i).iter_mut().enumerate() {
                *e = T::of(m[row] - a[row] * g);
            }
        }
        if alive {
            for (to, from) in self.D.col_as_slice_mut(j).iter_mut().zip(&a) {
                *to = T::of(*from);
            }
        }
        Ok(alive)
    }

    /// An atom nobody uses becomes the worst represented signal; none left: it stays.
    fn replace_unused(&mut self, j: usize) {
        self.refresh_errors();
        if let Some(i) = self.candidates.take_worst(&self.sq_errors) {
            set_atom(&mut self.D, j, col(self.X, i));
            self.replaced[j] = true;
            self.n_replaced += 1;
        }
    }

    /// ‖e_i‖² of the signals that have changed: atoms that nobody uses come in numbers, and few
    /// signals change between two of them.
    fn refresh_errors(&mut self) {
        let E = columns_of(&self.E);
        let entries = self.sq_errors.par_iter_mut().zip(&mut self.stale).enumerate();
        entries.with_min_len(BLOCK).filter(|(_, (_, stale))| **stale).for_each(
            |(i, (sq_error, stale))| {
                *sq_error = norm_sq(col(E, i));
                *stale = false;
            },
        );
    }

    /// ‖E‖_F / ‖X‖_F.
    fn relative_error(&mut self) -> f64 {
        if self.sq_norm == 0.0 {
            return 0.0;
        }
        self.refresh_errors();
        (self.sq_errors.iter().sum::<f64>() / self.sq_norm).sqrt()
    }

    fn clean(&mut self, rule: Option<Cleaning>) {
        let Some(rule) = rule else { return };
        self.refresh_errors();
        let mut G = gram(self.D.as_ref());
        let (X, candidates, sq_errors) = (self.X, &mut self.candidates, &self.sq_errors);
        let worst = || candidates.take_worst(sq_errors).map(|i| col(X, i));
        self.n_replaced +=
            clean(rule, &mut self.D, &mut G, &self.codes, &self.replaced, self.max_norm, worst);
        self.G = Some(G);
    }
}

/// u_1 and σ_1 of M, through the eigen-decomposition of the smaller Gram matrix.
fn leading_left_vector(M: MatRef<'_, f64>) -> Result<(Vec<f64>, f64), LkdlError> {
    let wide = M.ncols() > M.nrows();
    let small = if wide { gram(M.transpose()) } else { gram(M) };
    let leading = full_eigen(small.as_ref())?;
    let sigma = leading.values[0].max(0.0).sqrt();
    let v = leading.vectors.subcols(0, 1);
    let mut u = v.to_owned();
    if !wide {
        u = Mat::zeros(M.nrows(), 1);
        product_into(u.as_mut(), M, v);
    }
    let mut u = u.col_as_slice(0).to_vec();
    normalize(&mut u);
    Ok((u, sigma))
}

#[cfg(test)]
mod tests {
    use super::super::residuals;
    use super::*;
    use crate::matrix::frobenius_sq;
    use crate::testing::{close, random_matrix, random_unit_columns, tolerance};

    const UPDATES: [AtomUpdate; 2] = [AtomUpdate::Approximate, AtomUpdate::Exact];

    /// 120 signals coded over 24 atoms, 4 to each.
    fn coded<T: Real>(X: &Mat<T>) -> Sweep<'_, T> {
        let mut state = Sweep::new(columns_of(X), random_unit_columns(16, 24, 1));
        state.code(4);
        state
    }

    fn update_atom<T: Real>(state: &mut Sweep<'_, T>, update: AtomUpdate, j: usize) {
        state.update_atoms(&KsvdParams { update, ..Default::default() }, &[j]).unwrap();
    }

    fn error<T: Real>(state: &Sweep<'_, T>) -> f64 {
        frobenius_sq(columns_of(&state.E)).sqrt()
    }

    /// An update rounds every residual it touches.
    fn rounded<T: Real>(error: f64) -> f64 {
        error * (1.0 + 4.0 * T::EPS)
    }

    fn no_atom_raises_the_error<T: Real>() {
        let X = random_matrix::<T>(16, 120, 7);
        for update in UPDATES {
            let mut state = coded(&X);
            let start = error(&state);
            let mut before = start;
            for j in 0..24 {
                update_atom(&mut state, update, j);
                let after = error(&state);
                assert!(after <= rounded::<T>(before), "{update:?}, atom {j}: {before} {after}");
                let explicit = residuals(columns_of(&X), &state.D, &state.codes);
                close(state.E.as_ref(), explicit.as_ref(), tolerance::<T>(4));
                assert!((norm_sq(state.D.col_as_slice(j)) - 1.0).abs() < 8.0 * T::EPS);
                before = after;
            }
            assert!(before < 0.95 * start, "{update:?}: {start} {before}");
        }
    }

    #[test]
    fn after_every_atom_the_error_is_no_larger_and_the_residuals_are_x_minus_d_gamma() {
        no_atom_raises_the_error::<f64>();
        no_atom_raises_the_error::<f32>();
    }

    fn exact_is_the_best_fit<T: Real>() {
        let X = random_matrix::<T>(16, 120, 8);
        let mut state = coded(&X);
        let mut gain = 0.0;
        for j in 0..24 {
            let mut exact = state.clone();
            update_atom(&mut exact, AtomUpdate::Exact, j);
            update_atom(&mut state, AtomUpdate::Approximate, j);
            assert!(error(&exact) <= rounded::<T>(error(&state)), "atom {j}");
            gain += error(&state) - error(&exact);
        }
        assert!(gain > 1e-3 * error(&state), "one power step is not the singular pair: {gain}");
    }

    #[test]
    fn from_the_same_state_the_exact_update_of_an_atom_is_never_worse() {
        exact_is_the_best_fit::<f64>();
        exact_is_the_best_fit::<f32>();
    }

    #[test]
    fn atoms_without_users_become_the_worst_represented_signals_in_turn() {
        let mut X = random_matrix::<f64>(16, 120, 9);
        X.col_as_slice_mut(3).fill(0.0);
        let mut D = random_unit_columns::<f64>(16, 24, 1);
        for (copy, of) in [(20, 0), (22, 1)] {
            let atom = D.col_as_slice(of).to_vec();
            D.col_as_slice_mut(copy).copy_from_slice(&atom);
        }
        let mut state = Sweep::new(columns_of(&X), D);
        state.code(4);
        let errors = column_sq_norms(columns_of(&state.E));
        let mut order: Vec<usize> = (0..120).collect();
        order.sort_by(|&a, &b| errors[b].total_cmp(&errors[a]));
        for (&j, &i) in [20, 22].iter().zip(&order) {
            update_atom(&mut state, AtomUpdate::Approximate, j);
            let mut expected = X.col_as_slice(i).to_vec();
            normalize(&mut expected);
            assert_eq!(state.D.col_as_slice(j), expected, "atom {j}");
        }
        assert_eq!(state.n_replaced, 2);
    }
}
