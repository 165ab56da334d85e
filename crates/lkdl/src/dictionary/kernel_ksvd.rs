//! Kernel K-SVD: K-SVD in the space of a kernel, LKDL Eq. (15); Nguyen et al. 2012, 2013.
//!
//! Code every sample by kernel OMP, then refit one atom at a time to what the others leave of the
//! samples I that use it. With E_j = I − Σ_{l≠j} a_l γ^l over those samples and M = E_jᵀKE_j:
//!
//! ```math
//! a_j=E_jv/\sqrt{v^TMv},\qquad \gamma^j=a_j^TKE_j,\qquad
//! v=\begin{cases}\text{leading eigenvector of }M&\text{(exact)}\\
//!   \text{the old coefficients}&\text{(approximate, one step of the power method)}\end{cases}
//! ```
//!
//! Atom after atom, each against the others as they are by then, as in linear K-SVD
//! ([`KsvdParams`](super::KsvdParams)), whose order, replacements and cleaning it shares: on virtual
//! samples with FᵀF = K the two are one algorithm. [`KernelUpdate::Reference`] is the published
//! program of the paper instead.
//!
//! **When to use it.** As the measure of what LKDL approximates, and where one class has few hundred
//! samples. K has n² entries, and classifying one sample takes n kernel values per class.
//!
//! **Cost** per iteration: nm(q²−1) flops to code; O(|I|²q) per atom for M (exact) and about
//! 4n(|I| + |I|q) for the new atom, together 4n²q²; 2n²m + 2nm² in products. Memory 3nm + m² beside K.
//!
//! ```
//! use lkdl::dictionary::KernelKsvdParams;
//!
//! // Points on a circle and the kernel (xᵀy)²: three atoms, any two of them enough.
//! let angle = |i: usize| 0.37 * i as f64;
//! let gram = faer::Mat::from_fn(40, 40, |i, j| (angle(i) - angle(j)).cos().powi(2));
//! let params = KernelKsvdParams::<f64> { n_atoms: 3, sparsity: 3, ..Default::default() };
//! let learned = params.fit(gram.as_ref())?;
//! assert_eq!((learned.atom_weights.nrows(), learned.atom_weights.ncols()), (40, 3));
//! assert!(learned.errors.last().unwrap() < &1e-6); // (cos², sin², cos·sin) has 3 dimensions
//! # Ok::<(), lkdl::LkdlError>(())
//! ```

use super::kernel_learner::{KernelLearned, KernelLearner, check_kernel_problem};
use super::kernel_reference::sweep_frozen;
use super::kernel_residual::{Combination, Users};
use super::kernel_state::{KernelState, state_bytes};
use super::ksvd::sweep_order;
use super::{AtomOrder, Cleaning, InitialWeights, Stop};
use crate::error::LkdlError;
use crate::linalg::leading_pair;
use crate::matrix::{Columns, Contiguous, add_columns, columns_of};
use crate::monitor::{Monitor, Silent};
use crate::pursuit::check_gram;
use crate::real::Real;
use crate::vector::dot_wide;
use faer::MatRef;

/// How the atoms are refitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KernelUpdate {
    /// One step of the power method, atom after atom.
    #[default]
    Approximate,
    /// The leading eigenvector of the residuals' inner products, atom after atom.
    Exact,
    /// The published program: K scaled to unit diagonal; all atoms refitted to the residuals of the
    /// coding step (exactly, but not knowing of each other), coefficients left as they are; an atom
    /// without users, or correlated beyond .98 with one already refitted, becomes the next least
    /// represented sample. `order`, `cleaning` and `final_clean` do not apply, and `errors` are
    /// those of the coding steps.
    Reference,
}

/// Kernel K-SVD's parameters.
#[derive(Debug, Clone)]
pub struct KernelKsvdParams<T: Real> {
    /// m.
    pub n_atoms: usize,
    /// q.
    pub sparsity: usize,
    /// T, the iterations at most.
    pub max_iters: usize,
    /// Stop when the relative error falls by less than this share twice in a row; 0 never stops.
    pub tol: f64,
    /// How the atoms are refitted.
    pub update: KernelUpdate,
    /// The order of a sweep.
    pub order: AtomOrder,
    /// Which atoms are replaced after each sweep; `None` keeps all.
    pub cleaning: Option<Cleaning>,
    /// Whether the last iteration cleans too, as the published experiments did.
    pub final_clean: bool,
    /// Where the dictionary starts.
    pub initial: InitialWeights<T>,
    /// Seed of the initial atoms and of the sweeps' order.
    pub seed: u64,
}

impl<T: Real> Default for KernelKsvdParams<T> {
    fn default() -> Self {
        Self {
            n_atoms: 100,
            sparsity: 5,
            max_iters: 10,
            tol: 1e-4,
            update: KernelUpdate::default(),
            order: AtomOrder::default(),
            cleaning: Some(Cleaning::default()),
            final_clean: true,
            initial: InitialWeights::default(),
            seed: 0,
        }
    }
}

impl<T: Real> KernelKsvdParams<T> {
    /// Learns a dictionary from the n×n inner products of all samples, which must be positive
    /// semi-definite ([`check_gram`]).
    pub fn fit(&self, gram: MatRef<'_, T>) -> Result<KernelLearned<T>, LkdlError> {
        check_gram(gram)?;
        self.learn(gram, 0)
    }
}

impl<T: Real> KernelLearner<T> for KernelKsvdParams<T> {
    fn learn(&self, gram: MatRef<'_, T>, class: usize) -> Result<KernelLearned<T>, LkdlError> {
        self.learn_monitored(gram, class, &Silent)
    }

    fn learn_monitored(
        &self,
        gram: MatRef<'_, T>,
        class: usize,
        monitor: &dyn Monitor,
    ) -> Result<KernelLearned<T>, LkdlError> {
        check_kernel_problem(gram, self.n_atoms, self.sparsity, self.max_iters, self.tol)?;
        self.cleaning.map_or(Ok(()), |rule| rule.check())?;
        match self.update {
            KernelUpdate::Reference => {
                let (unit, scales) = unit_diagonal(gram);
                let mut learned = self.iterate(columns_of(&unit), class, monitor)?;
                // φ(x_i)/√K_ii back to φ(x_i)
                for j in 0..learned.atom_weights.ncols() {
                    let weights = learned.atom_weights.col_as_slice_mut(j).iter_mut();
                    weights.zip(&scales).for_each(|(w, scale)| *w = T::of(w.wide() * scale));
                }
                Ok(learned)
            }
            _ => self.iterate(Contiguous::new(gram).columns(), class, monitor),
        }
    }

    fn steps(&self) -> usize {
        self.max_iters
    }

    fn n_atoms(&self, _: usize) -> usize {
        self.n_atoms
    }

    fn learning_bytes(&self, n_samples: usize) -> u64 {
        let copy = match self.update {
            KernelUpdate::Reference => crate::matrix::matrix_bytes::<T>(n_samples, n_samples),
            _ => 0,
        };
        let refit = self.update != KernelUpdate::Approximate;
        copy + state_bytes::<T>(n_samples, self.n_atoms, self.sparsity, refit)
    }
}

/// K_ij/√(K_ii K_jj), and 1/√K_ii; zero where the diagonal is.
fn unit_diagonal<T: Real>(K: MatRef<'_, T>) -> (faer::Mat<T>, Vec<f64>) {
    let n = K.ncols();
    let inverse = |v: f64| if v > 0.0 { 1.0 / v.sqrt() } else { 0.0 };
    let scales: Vec<f64> = (0..n).map(|i| inverse(K[(i, i)].wide())).collect();
    let unit = faer::Mat::from_fn(n, n, |i, j| {
        let diagonal = f64::from(scales[i] > 0.0);
        T::of(if i == j { diagonal } else { K[(i, j)].wide() * scales[i] * scales[j] })
    });
    (unit, scales)
}

impl<T: Real> KernelKsvdParams<T> {
    fn iterate(
        &self,
        K: Columns<'_, T>,
        class: usize,
        monitor: &dyn Monitor,
    ) -> Result<KernelLearned<T>, LkdlError> {
        let (A, mut warnings) = self.initial.draw(K, self.n_atoms, self.seed, class)?;
        let mut state = KernelState::new(K, A)?;
        warnings.extend(state.zero_samples());
        let (mut errors, mut n_replaced) = (Vec::new(), 0);
        let stop = loop {
            let t = errors.len();
            state.code(self.sparsity);
            if self.update == KernelUpdate::Reference {
                errors.push(state.relative_error());
                sweep_frozen(&mut state)?;
            } else {
                let order = sweep_order(self.order, self.seed, state.A.ncols(), class, t);
                self.sweep(&mut state, &order)?;
                errors.push(state.relative_error());
            }
            let stop = Stop::reached(&errors, self.tol, self.max_iters);
            if self.update != KernelUpdate::Reference && (stop.is_none() || self.final_clean) {
                state.clean(self.cleaning);
            }
            n_replaced += state.n_replaced;
            if self.update != KernelUpdate::Reference {
                state.refresh(); // a frozen sweep has just done it
            }
            monitor.iterated(class, errors.last().copied().unwrap_or(1.0));
            if let Some(stop) = stop {
                break stop;
            }
            monitor.check()?;
        };
        Ok(KernelLearned { atom_weights: state.A, errors, stop, n_replaced, warnings })
    }

    /// One Gauss–Seidel sweep over the atoms.
    pub(super) fn sweep(
        &self,
        state: &mut KernelState<'_, T>,
        order: &[usize],
    ) -> Result<(), LkdlError> {
        let users = state.codes.users();
        let mut scratch = Scratch::new(state);
        for &j in order {
            let alive = !users[j].is_empty()
                && scratch.refit(state, j, &users[j], self.update == KernelUpdate::Exact)?;
            if !alive {
                state.replace(j);
            }
        }
        Ok(())
    }
}

/// A new atom while it is made.
struct Scratch<T> {
    a: Vec<T>,
    Ka: Vec<T>,
    /// AᵀKa.
    products: Vec<T>,
}

impl<T: Real> Scratch<T> {
    fn new(state: &KernelState<'_, T>) -> Self {
        let (n, m, zero) = (state.A.nrows(), state.A.ncols(), T::of(0.0));
        Self { a: vec![zero; n], Ka: vec![zero; n], products: vec![zero; m] }
    }

    /// Refits atom j and its coefficients; `false` if the atom has vanished.
    fn refit(
        &mut self,
        state: &mut KernelState<'_, T>,
        j: usize,
        list: &[(usize, usize)],
        exactly: bool,
    ) -> Result<bool, LkdlError> {
        let users = Users::new(state, j, list);
        let mut g = users.coefficients();
        let energies = users.energies(&g);
        let v = if exactly { leading_pair(&users.inner_products(), &g)?.1 } else { g.clone() };
        let combination = users.combination(&v);
        self.combine(state, &combination);
        let sq = dot_wide(&self.a, &self.Ka);
        let alive = !state.has_vanished(sq, combination.sq_weights);
        g.fill(0.0);
        if alive {
            // The exact vector has no sign of its own: keep that of the old atom.
            let turned = exactly && self.products[j].wide() < 0.0;
            let norm = if turned { -sq.sqrt() } else { sq.sqrt() };
            g = users.products_with(&self.Ka, &self.products);
            g.iter_mut().for_each(|g| *g /= norm);
            state.set_atom(j, &self.a, &self.Ka, &self.products, norm);
        }
        for ((&(i, position), energy), g) in list.iter().zip(energies).zip(&g) {
            state.sq_errors[i] = (energy - g * g).max(0.0);
            *state.codes.value_mut(position) = T::of(*g);
        }
        Ok(alive)
    }

    /// a = Σ v_i e_i − Σ w_l a_l, with Ka and AᵀKa by the same sums.
    fn combine(&mut self, state: &KernelState<'_, T>, combination: &Combination<T>) {
        let Self { a, Ka, products } = self;
        for out in [&mut *a, &mut *Ka, &mut *products] {
            out.fill(T::of(0.0));
        }
        for &(i, v) in &combination.samples {
            a[i] += v;
        }
        add_columns(Ka, state.K, &combination.samples);
        add_columns(products, columns_of(&state.alpha), &combination.samples);
        add_columns(a, columns_of(&state.A), &combination.atoms);
        add_columns(Ka, columns_of(&state.KA), &combination.atoms);
        add_columns(products, columns_of(&state.G), &combination.atoms);
    }
}
