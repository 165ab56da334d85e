//! Sparse coding by the lasso.
//!
//! ```math
//! \min_\gamma\tfrac12\|x-D\gamma\|_2^2+\lambda\|\gamma\|_1
//! ```
//! Three solvers that work from G = DᵀD, α0 = Dᵀx and ρ0 = ‖x‖² alone, so that ridge terms and
//! kernel dictionaries use them unchanged: the exact path ([`Solver::Lars`]), coordinate descent
//! and accelerated gradients. All stop at the same duality gap and agree there.
//!
//! D is k×m. Cost: km² once for G, 2km per signal for α0, then the solver's. The solvers compute
//! in `f64` whatever the samples are: the gap they stop at is below the rounding of `f32`.

mod coordinate;
mod fista;
mod gap;
mod lars;

pub(crate) use fista::largest_eigenvalue;
pub(crate) use gap::{Problem, State, max_abs};

use super::codes::{CodeBlock, Encoded};
use super::entry::{Norms, check_problem, exact_sq_residual};
use crate::error::LkdlError;
use crate::linalg::{convert, gram, product_into};
use crate::matrix::{Columns, Contiguous, col, columns_of, map_blocks, subcols};
use crate::real::Real;
use faer::{Mat, MatRef};

/// Signals per task: a lasso costs far more than an OMP code, so blocks are smaller than elsewhere.
const BLOCK: usize = 64;

/// The weight λ of ‖γ‖₁.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Penalty {
    /// λ itself, the same for every signal.
    Absolute(f64),
    /// λ as a share of each signal's own ‖Dᵀx‖∞, from which on the code is empty.
    Relative(f64),
}

/// How the lasso is solved; all give the same codes, up to the gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solver {
    /// The path of all penalties down to λ: exact, best for short codes.
    Lars,
    /// One coefficient at a time.
    CoordinateDescent,
    /// Accelerated gradient steps with restart.
    Fista,
}

/// Lasso coding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LassoParams {
    /// λ.
    pub penalty: Penalty,
    /// The method.
    pub solver: Solver,
    /// Stops when the duality gap is at most this share of ½‖x‖².
    pub tolerance: f64,
    /// Bends of the path, sweeps over all atoms or gradient steps at most, per signal.
    pub max_iters: usize,
}

impl Default for LassoParams {
    /// λ = 0.1·‖Dᵀx‖∞, LARS, gap 1e-6, 10,000 iterations.
    fn default() -> Self {
        Self {
            penalty: Penalty::Relative(0.1),
            solver: Solver::Lars,
            tolerance: 1e-6,
            max_iters: 10_000,
        }
    }
}

/// Lasso codes, and how many of them are only approximate.
#[derive(Debug, Clone, PartialEq)]
pub struct LassoEncoded<T: Real> {
    /// Γ and the squared residuals.
    pub encoded: Encoded<T>,
    /// Signals whose gap was still above the tolerance at `max_iters`.
    pub n_unconverged: usize,
}

/// When a solver may stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopping {
    /// Gap as a share of ½‖x‖².
    pub(crate) tolerance: f64,
    pub(crate) max_iters: usize,
}

/// A solver with what it needs to know of G.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Prepared {
    Lars,
    CoordinateDescent,
    Fista { lipschitz: f64 },
}

impl Solver {
    /// Looks at G once, for all signals.
    pub(crate) fn prepare(self, G: Columns<'_, f64>) -> Prepared {
        match self {
            Self::Lars => Prepared::Lars,
            Self::CoordinateDescent => Prepared::CoordinateDescent,
            Self::Fista => Prepared::Fista { lipschitz: fista::lipschitz(G) },
        }
    }
}

/// Solves one signal's lasso from the empty code; γ and α = α0 − Gγ are left in `state`. Returns
/// the gap as a share of ½‖x‖²; above the tolerance, the signal did not converge.
pub(crate) fn solve(
    problem: &Problem<'_>,
    solver: Prepared,
    stopping: Stopping,
    state: &mut State,
) -> f64 {
    state.start(problem);
    if problem.rho0 <= 0.0 || problem.lambda >= max_abs(problem.alpha0) {
        return 0.0; // the empty code is the minimum
    }
    match solver {
        Prepared::Lars => lars::solve(problem, stopping, state),
        Prepared::CoordinateDescent => coordinate::solve(problem, stopping, state),
        Prepared::Fista { lipschitz } => fista::solve(problem, stopping, lipschitz, state),
    }
    problem.relative_gap(state)
}

impl LassoParams {
    /// Codes every column of `samples` over the columns of `dictionary`, which need not have unit
    /// norm; zero atoms are never used and a zero signal gets the empty code.
    ///
    /// Errors: empty, non-finite, mismatched or overflowing input; a penalty or tolerance that is
    /// not positive and finite; `max_iters` 0. Stopping at `max_iters` is an outcome, counted in
    /// [`LassoEncoded::n_unconverged`].
    pub fn encode<T: Real>(
        &self,
        dictionary: MatRef<'_, T>,
        samples: MatRef<'_, T>,
    ) -> Result<LassoEncoded<T>, LkdlError> {
        check_problem(dictionary, samples)?;
        self.check()?;
        let (narrow_D, X) = (Contiguous::new(dictionary), Contiguous::new(samples));
        let sq_signals = Norms::new(narrow_D.columns(), X.columns())?.sq_signals;
        let D = convert::<T, f64>(dictionary);
        let G = gram(D.as_ref());
        let solver = self.solver.prepare(columns_of(&G));
        let blocks = map_blocks(samples.ncols(), BLOCK, |range| {
            let rho0 = &sq_signals[range.clone()];
            self.encode_block(&D, &G, solver, subcols(X.columns(), range), rho0)
        });
        Ok(LassoEncoded::join(D.ncols(), blocks))
    }

    pub(crate) fn check(&self) -> Result<(), LkdlError> {
        let (name, penalty) = match self.penalty {
            Penalty::Absolute(lambda) => ("penalty", lambda),
            Penalty::Relative(share) => ("relative penalty", share),
        };
        for (name, value) in [(name, penalty), ("tolerance", self.tolerance)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(LkdlError::parameter(name, value, "finite and above 0"));
            }
        }
        if self.max_iters == 0 {
            return Err(LkdlError::parameter("max_iters", 0, "at least 1"));
        }
        Ok(())
    }

    /// The codes of one block, and how many of them did not reach the gap.
    fn encode_block<T: Real>(
        &self,
        D: &Mat<f64>,
        G: &Mat<f64>,
        solver: Prepared,
        X: Columns<'_, T>,
        sq_signals: &[f64],
    ) -> (CodeBlock<T>, usize) {
        let X = convert::<T, f64>(X.as_dyn_stride());
        let mut alpha0 = Mat::zeros(D.ncols(), X.ncols());
        product_into(alpha0.as_mut(), D.transpose(), X.as_ref());
        let (mut state, mut scratch) = (State::default(), Vec::new());
        let (mut block, mut n_unconverged) = (CodeBlock::default(), 0);
        for (i, &rho0) in sq_signals.iter().enumerate() {
            let problem = self.problem(columns_of(G), alpha0.col_as_slice(i), rho0);
            n_unconverged += usize::from(self.solve(&problem, solver, &mut state));
            let mut entries = entries::<T>(&state);
            let mut sq_residual = problem.sq_residual(&state);
            if sq_residual < T::RESIDUAL_REFRESH * rho0 {
                // ρ0 − γᵀ(α0 + α) has lost its digits, and the rounding of γ to T shows.
                let rounded = entries.iter().map(|&(j, value)| (j as usize, value.wide()));
                let x = col(columns_of(&X), i);
                sq_residual = exact_sq_residual(columns_of(D), x, rounded, &mut scratch);
            }
            block.push(&mut entries, sq_residual);
        }
        (block, n_unconverged)
    }

    /// Codes from inner products alone: G of the atoms, column i of `alpha0` = Dᵀx_i, and ‖x_i‖².
    pub(crate) fn encode_products<T: Real>(
        &self,
        G: Columns<'_, f64>,
        alpha0: Columns<'_, T>,
        sq_signals: &[f64],
    ) -> Result<LassoEncoded<T>, LkdlError> {
        self.check()?;
        let solver = self.solver.prepare(G);
        let blocks = map_blocks(alpha0.ncols(), BLOCK, |range| {
            let (mut state, mut alpha) = (State::default(), Vec::new());
            let (mut block, mut n_unconverged) = (CodeBlock::default(), 0);
            for i in range {
                alpha.clear();
                alpha.extend(col(alpha0, i).iter().map(|v| v.wide()));
                let problem = self.problem(G, &alpha, sq_signals[i]);
                n_unconverged += usize::from(self.solve(&problem, solver, &mut state));
                block.push(&mut entries::<T>(&state), problem.sq_residual(&state).max(0.0));
            }
            (block, n_unconverged)
        });
        Ok(LassoEncoded::join(alpha0.nrows(), blocks))
    }

    /// One signal's lasso.
    fn problem<'a>(&self, G: Columns<'a, f64>, alpha0: &'a [f64], rho0: f64) -> Problem<'a> {
        let lambda = match self.penalty {
            Penalty::Absolute(lambda) => lambda,
            Penalty::Relative(share) => share * max_abs(alpha0),
        };
        Problem { G, alpha0, rho0, lambda }
    }

    /// Solves it; whether the gap was not reached.
    fn solve(&self, problem: &Problem<'_>, solver: Prepared, state: &mut State) -> bool {
        let stopping = Stopping { tolerance: self.tolerance, max_iters: self.max_iters };
        solve(problem, solver, stopping, state) > self.tolerance
    }
}

impl<T: Real> LassoEncoded<T> {
    /// The codes of all blocks, each with how many of its signals missed the gap.
    fn join(n_atoms: usize, blocks: Vec<(CodeBlock<T>, usize)>) -> Self {
        let (blocks, missed): (Vec<_>, Vec<usize>) = blocks.into_iter().unzip();
        Self { encoded: Encoded::join(n_atoms, blocks), n_unconverged: missed.iter().sum() }
    }
}

/// The non-zeros of a solution.
fn entries<T: Real>(state: &State) -> Vec<(u32, T)> {
    let used = state.gamma.iter().enumerate().filter(|entry| *entry.1 != 0.0);
    used.map(|(j, &value)| (j as u32, T::of(value))).collect()
}

#[cfg(test)]
mod tests;
