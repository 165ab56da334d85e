//! The dictionary update of the published program, for reproduction: all atoms are refitted to the
//! residual expansion I − AΓ of the coding step, which stays frozen for the whole sweep, so that no
//! atom knows what became of the others (a Jacobi sweep). Coefficients are not updated.

use super::kernel_residual::Users;
use super::kernel_state::KernelState;
use crate::error::LkdlError;
use crate::linalg::{leading_pair, par_product_into};
use crate::real::Real;
use faer::{Accum, Mat};
use rayon::prelude::*;

/// A candidate this correlated with an atom already refitted adds nothing, and is replaced.
const MAX_CORRELATION: f64 = 0.98;

/// One frozen sweep, in ascending order of the atoms.
pub(super) fn sweep_frozen<T: Real>(state: &mut KernelState<'_, T>) -> Result<(), LkdlError> {
    let alive = refit_all(state)?;
    for j in 0..state.A.ncols() {
        let products = &state.G.col_as_slice(j)[..j];
        let known = products.iter().any(|g| g.wide().abs() > MAX_CORRELATION);
        if (known || !alive[j]) && !state.replace(j) {
            break;
        }
    }
    Ok(())
}

/// Every atom with users to the leading eigenvector of M = E_jᵀKE_j; returns which have any. The
/// others keep their weights until they are replaced.
fn refit_all<T: Real>(state: &mut KernelState<'_, T>) -> Result<Vec<bool>, LkdlError> {
    let lists = state.codes.users();
    let (n, m) = (state.A.nrows(), state.A.ncols());
    let combinations = (0..m)
        .into_par_iter()
        .map(|j| {
            let users = Users::new(state, j, &lists[j]);
            if lists[j].is_empty() {
                return Ok(None);
            }
            let (theta, v) = leading_pair(&users.inner_products(), &users.coefficients())?;
            let alive = !state.has_vanished(theta, 1.0);
            Ok(alive.then(|| (users.combination(&v), theta.sqrt())))
        })
        .collect::<Result<Vec<_>, LkdlError>>()?;
    // A ← V − AW, all columns at once.
    let (mut V, mut W) = (Mat::<T>::zeros(n, m), Mat::<T>::zeros(m, m));
    for (j, combination) in combinations.iter().enumerate() {
        let Some((combination, norm)) = combination else {
            W[(j, j)] = T::of(1.0);
            continue;
        };
        for &(i, v) in &combination.samples {
            V[(i, j)] = T::of(v.wide() / norm);
        }
        for &(l, w) in &combination.atoms {
            W[(l, j)] = T::of(w.wide() / norm);
        }
    }
    par_product_into(V.as_mut(), Accum::Add, 1.0, state.A.as_ref(), W.as_ref());
    state.A = V;
    state.refresh();
    Ok(combinations.iter().map(Option::is_some).collect())
}
