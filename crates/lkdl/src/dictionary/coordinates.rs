//! One atom after the other to where tr(DᵀDA) − 2tr(DᵀB) is least, all others fixed:
//!
//! ```math
//! d_j\leftarrow u=\frac{b_j-Da_j}{A_{jj}}+d_j
//! ```
//!
//! Taken literally that is one matrix–vector product per atom, which reads all of D each time. Here
//! r_j = (b_j − Da_j)/A_jj is formed for a panel of atoms by one matrix product, and when atom j moves
//! by s, those r_i that are still to come follow by −A_ji/A_ii·s: the same numbers up to rounding. Sums are
//! `f64`; products are in the precision of D, to which the new atoms are rounded anyway. Cost: 2km²
//! flops for the products, and 2km for each atom of a panel.

use crate::linalg::par_product_by_rows_into;
use crate::real::Real;
use crate::vector::axpy;
use faer::{Accum, Mat};

/// Atoms of a panel: few, so that what follows their moves stays small beside the product.
const PANEL: usize = 32;

/// One Gauss–Seidel sweep over the columns of D. `place` is told j and u, turns u into the new atom,
/// and says whether the atom shall move at all. Where A_jj is 0, so is u.
pub(crate) fn sweep_atoms<T: Real>(
    D: &mut Mat<T>,
    A: &Mat<f64>,
    B: &Mat<f64>,
    mut place: impl FnMut(usize, &mut [T]) -> bool,
) {
    for first in (0..D.ncols()).step_by(PANEL) {
        let width = PANEL.min(D.ncols() - first);
        let (weights, mut R) = (shares(A, A, first, width), shares(B, A, first, width));
        par_product_by_rows_into(R.as_mut(), Accum::Add, -1.0, D.as_ref(), weights.as_ref());
        for i in 0..width {
            let (j, mut u) = (first + i, R.col_as_slice(i).to_vec());
            axpy(&mut u, weights[(j, i)], D.col_as_slice(j));
            if !place(j, &mut u) {
                continue;
            }
            let atom = D.col_as_slice_mut(j);
            let step: Vec<T> = u.iter().zip(&*atom).map(|(new, old)| *new - *old).collect();
            atom.copy_from_slice(&u);
            for later in i + 1..width {
                axpy(R.col_as_slice_mut(later), -weights[(j, later)], &step);
            }
        }
    }
}

/// Columns j of the sums over A_jj, so that none leaves the range of T; zeros where A_jj is 0.
fn shares<T: Real>(sums: &Mat<f64>, A: &Mat<f64>, first: usize, width: usize) -> Mat<T> {
    let mut shares = Mat::zeros(sums.nrows(), width);
    for i in 0..width {
        let j = first + i;
        let share = if A[(j, j)] > 0.0 { 1.0 / A[(j, j)] } else { 0.0 };
        let pairs = shares.col_as_slice_mut(i).iter_mut().zip(sums.col_as_slice(j));
        pairs.for_each(|(to, from)| *to = T::of(from * share));
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::gram;
    use crate::testing::{close, random_matrix};
    use crate::vector::{normalize, scale};

    /// The definition: every atom by a product of its own.
    fn naive(D: &mut Mat<f64>, A: &Mat<f64>, B: &Mat<f64>, unit: bool) {
        for j in 0..D.ncols() {
            let product = &*D * A.subcols(j, 1);
            let mut u: Vec<f64> = (0..D.nrows())
                .map(|t| B[(t, j)] - product[(t, 0)] + A[(j, j)] * D[(t, j)])
                .collect();
            scale(&mut u, 1.0 / A[(j, j)]);
            if unit {
                normalize(&mut u);
            }
            if j % 5 != 3 {
                D.col_as_slice_mut(j).copy_from_slice(&u);
            }
        }
    }

    #[test]
    fn panels_give_what_one_product_per_atom_gives() {
        for (k, m) in [(3, 1), (9, 31), (300, 32), (10, 33), (17, 70)] {
            let codes = random_matrix::<f64>(3 * m, m, 1);
            let (A, B) = (gram(codes.as_ref()), random_matrix::<f64>(k, m, 2));
            for unit in [false, true] {
                let start = random_matrix::<f64>(k, m, 3);
                let (mut expected, mut D) = (start.clone(), start);
                naive(&mut expected, &A, &B, unit);
                sweep_atoms(&mut D, &A, &B, |j, u| {
                    if unit {
                        normalize(u);
                    }
                    j % 5 != 3
                });
                close(D.as_ref(), expected.as_ref(), 1e-10);
            }
        }
    }

    /// Sums of samples of any scale: only their quotients matter, also where the sums themselves are
    /// beyond the range of `f32`.
    #[test]
    fn the_scale_of_the_sums_does_not_matter() {
        let codes = random_matrix::<f64>(120, 40, 7);
        let (A, B) = (gram(codes.as_ref()), random_matrix::<f64>(15, 40, 8));
        let swept = |scale: f64| {
            let scaled =
                |M: &Mat<f64>| Mat::from_fn(M.nrows(), M.ncols(), |i, j| scale * M[(i, j)]);
            let mut D = random_matrix::<f32>(15, 40, 9);
            sweep_atoms(&mut D, &scaled(&A), &scaled(&B), |_, _| true);
            D
        };
        for scale in [1e-60, 1e60] {
            close(swept(scale).as_ref(), swept(1.0).as_ref(), 1e-5);
        }
    }

    #[test]
    fn no_move_raises_the_quadratic_form() {
        let (k, m) = (12, 45);
        let codes = random_matrix::<f64>(2 * m, m, 4);
        let (A, B) = (gram(codes.as_ref()), random_matrix::<f64>(k, m, 5));
        let form = |D: &Mat<f64>| {
            let DA = D * &A;
            (0..m)
                .flat_map(|j| (0..k).map(move |t| (t, j)))
                .map(|at| D[at] * (DA[at] - 2.0 * B[at]))
                .sum::<f64>()
        };
        let mut D = random_matrix::<f64>(k, m, 6);
        let mut before = form(&D);
        for last in 0..m {
            sweep_atoms(&mut D, &A, &B, |j, _| j == last);
            let after = form(&D);
            assert!(after <= before + 1e-9 * before.abs(), "{before} {after}");
            before = after;
        }
    }
}
