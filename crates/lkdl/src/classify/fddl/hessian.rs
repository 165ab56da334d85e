//! The quadratic part of the objective as a function of the codes:
//!
//! ```math
//! H=D^TD+w\cdot\operatorname{diag}(D_1^TD_1,\dots,D_L^TD_L)+r\cdot I
//! ```
//! With w = 1 the first two terms are 𝓜(DᵀD) of Vu & Monga 2017, which doubles the blocks that a
//! class shares with itself.
//!
//! Multiplying n codes by H costs 2m²n flops, or 4kmn + 2nΣm_l² without ever forming DᵀD: many
//! classes in few dimensions are much cheaper that way. Whichever is smaller is used.

use crate::linalg::{add_product, gram, product_into};
use crate::pursuit::lasso::largest_eigenvalue;
use crate::real::Real;
use faer::{Mat, MatMut, MatRef};
use std::ops::Range;

/// H, m×m.
pub(super) enum Hessian<T: Real> {
    /// Formed.
    Whole(Mat<T>),
    /// D, and w·D_lᵀD_l + r·I of every class.
    Split { D: Mat<T>, own: Vec<(Range<usize>, Mat<T>)> },
}

impl<T: Real> Hessian<T> {
    /// H of the dictionary D (k×m), whose class l owns the columns `atoms[l]`.
    pub(super) fn new(D: &Mat<T>, atoms: &[Range<usize>], own_weight: f64, ridge: f64) -> Self {
        if prefers_whole(D.nrows(), atoms.iter().map(Range::len)) {
            Self::whole(D, atoms, own_weight, ridge)
        } else {
            Self::split(D, atoms, own_weight, ridge)
        }
    }

    fn whole(D: &Mat<T>, atoms: &[Range<usize>], own_weight: f64, ridge: f64) -> Self {
        let mut H = gram(D.as_ref());
        for range in atoms {
            for j in range.clone() {
                for value in &mut H.col_as_slice_mut(j)[range.clone()] {
                    *value = T::of((1.0 + own_weight) * value.wide());
                }
                H[(j, j)] = T::of(H[(j, j)].wide() + ridge);
            }
        }
        Self::Whole(H)
    }

    fn split(D: &Mat<T>, atoms: &[Range<usize>], own_weight: f64, ridge: f64) -> Self {
        let own = |range: &Range<usize>| {
            let mut G = gram(D.subcols(range.start, range.len()));
            for j in 0..G.ncols() {
                for value in G.col_as_slice_mut(j) {
                    *value = T::of(own_weight * value.wide());
                }
                G[(j, j)] = T::of(G[(j, j)].wide() + ridge);
            }
            (range.clone(), G)
        };
        Self::Split { D: D.clone(), own: atoms.iter().map(own).collect() }
    }

    /// out += H·codes.
    pub(super) fn add_to(&self, mut out: MatMut<'_, T>, codes: MatRef<'_, T>) {
        match self {
            Self::Whole(H) => add_product(out, 1.0, H.as_ref(), codes),
            Self::Split { D, own } => {
                let mut mixed = Mat::zeros(D.nrows(), codes.ncols());
                product_into(mixed.as_mut(), D.as_ref(), codes);
                add_product(out.as_mut(), 1.0, D.transpose(), mixed.as_ref());
                for (range, G) in own {
                    let rows = out.as_mut().subrows_mut(range.start, range.len());
                    add_product(rows, 1.0, G.as_ref(), codes.subrows(range.start, range.len()));
                }
            }
        }
    }

    /// An upper bound of the largest eigenvalue, up to the accuracy of a power iteration.
    pub(super) fn lipschitz(&self) -> f64 {
        let m = match self {
            Self::Whole(H) => H.ncols(),
            Self::Split { D, .. } => D.ncols(),
        };
        largest_eigenvalue(m, |v| {
            let codes = Mat::from_fn(m, 1, |j, _| T::of(v[j]));
            let mut out = Mat::zeros(m, 1);
            self.add_to(out.as_mut(), codes.as_ref());
            out.col_as_slice(0).iter().map(|value| value.wide()).collect()
        })
    }
}

/// Whether one product with H is cheaper than those with its parts.
fn prefers_whole(n_features: usize, class_atoms: impl Iterator<Item = usize> + Clone) -> bool {
    let m: usize = class_atoms.clone().sum();
    let own: usize = class_atoms.map(|m| m.saturating_mul(m)).sum();
    m.saturating_mul(m) <= (2 * m).saturating_mul(n_features).saturating_add(own)
}

/// Bytes of H for classes of so many atoms.
pub(super) fn hessian_bytes<T: Real>(n_features: usize, class_atoms: &[usize]) -> u64 {
    use crate::matrix::matrix_bytes;
    let m = class_atoms.iter().sum();
    if prefers_whole(n_features, class_atoms.iter().copied()) {
        return matrix_bytes::<T>(m, m);
    }
    let own: u64 = class_atoms.iter().map(|&m| matrix_bytes::<T>(m, m)).sum();
    matrix_bytes::<T>(n_features, m) + own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::full_eigen;
    use crate::testing::{close, random_matrix, random_unit_columns};

    fn naive(D: &Mat<f64>, atoms: &[Range<usize>], w: f64, r: f64) -> Mat<f64> {
        let class = |j: usize| atoms.iter().position(|range| range.contains(&j)).unwrap();
        Mat::from_fn(D.ncols(), D.ncols(), |i, j| {
            let g: f64 = (0..D.nrows()).map(|t| D[(t, i)] * D[(t, j)]).sum();
            let weight = if class(i) == class(j) { 1.0 + w } else { 1.0 };
            weight * g + if i == j { r } else { 0.0 }
        })
    }

    #[test]
    fn both_forms_multiply_by_the_same_matrix() {
        for (k, sizes) in [(9, [3, 1, 4]), (2, [5, 9, 2]), (1, [1, 1, 1])] {
            let m = sizes.iter().sum();
            let atoms = [0..sizes[0], sizes[0]..sizes[0] + sizes[1], sizes[0] + sizes[1]..m];
            let D = random_unit_columns::<f64>(k, m, 1);
            let codes = random_matrix::<f64>(m, 6, 2);
            let expected = naive(&D, &atoms, 1.0, 0.3) * &codes;
            for H in [Hessian::whole(&D, &atoms, 1.0, 0.3), Hessian::split(&D, &atoms, 1.0, 0.3)] {
                let mut out = Mat::zeros(m, 6);
                H.add_to(out.as_mut(), codes.as_ref());
                close(out.as_ref(), expected.as_ref(), 1e-13);
                let largest = full_eigen(naive(&D, &atoms, 1.0, 0.3).as_ref()).unwrap().values[0];
                let share = H.lipschitz() / largest;
                assert!((0.99..=1.0101).contains(&share), "{share}");
            }
        }
    }

    #[test]
    fn the_cheaper_form_is_chosen() {
        let form = |k: usize, m: usize, classes: usize| {
            let D = random_unit_columns::<f32>(k, m * classes, 1);
            let atoms: Vec<_> = (0..classes).map(|l| l * m..(l + 1) * m).collect();
            matches!(Hessian::new(&D, &atoms, 1.0, 0.0), Hessian::Whole(_))
        };
        assert!(form(20, 10, 3) && form(4, 30, 1) && !form(4, 30, 5));
    }
}
