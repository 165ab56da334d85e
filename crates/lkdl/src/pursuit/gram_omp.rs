//! OMP on inner products alone: G = DᵀD of the atoms and α = Dᵀx of the signals, as callers have them
//! who form these products themselves, once for many problems.
//!
//! ```math
//! \min_\gamma\ \|x\|^2-2\gamma^TD^Tx+\gamma^TG\gamma\quad\text{s.t.}\quad\|\gamma\|_0\le q
//! ```
//!
//! The loop is that of [`BatchOmp`](super::BatchOmp). G is m×m, α m×N; m(q²−1) flops per signal.

use super::batch_omp::{Signals, encode_given};
use super::codes::Encoded;
use super::entry::check_range;
use super::gram::check_entries;
use super::greedy::PaddedGram;
use super::kernel_omp::check_self_values;
use super::target::Target;
use crate::error::LkdlError;
use crate::matrix::{Columns, Contiguous, check_samples, check_size, col, subcols};
use crate::real::Real;
use faer::{Mat, MatRef};

/// Atoms known by their inner products, ready for coding. They need not be unit.
#[derive(Debug, Clone)]
pub struct GramOmp<T: Real> {
    /// G of the atoms scaled to unit norm, zero ones left zero.
    gram: PaddedGram<T>,
    /// 1/‖d_j‖, and 0 for a zero atom.
    inverse: Vec<f64>,
    norms: Vec<f64>,
}

impl<T: Real> GramOmp<T> {
    /// Checks G.
    ///
    /// Errors: a matrix that is not square, finite and symmetric, or with G_ij² > G_ii·G_jj.
    pub fn new(gram: MatRef<'_, T>) -> Result<Self, LkdlError> {
        check_entries(gram)?;
        let sq_norms: Vec<f64> = (0..gram.ncols()).map(|j| gram[(j, j)].wide()).collect();
        check_range::<T>(&sq_norms)?;
        let norms: Vec<f64> = sq_norms.iter().map(|sq| sq.sqrt()).collect();
        let inverse: Vec<f64> =
            norms.iter().map(|&norm| if norm > 0.0 { 1.0 / norm } else { 0.0 }).collect();
        let unit = Mat::from_fn(gram.nrows(), gram.ncols(), |i, j| {
            T::of(gram[(i, j)].wide() * inverse[i] * inverse[j])
        });
        Ok(Self { gram: PaddedGram::new(unit.as_ref()), inverse, norms })
    }

    /// Number of atoms, m.
    pub fn n_atoms(&self) -> usize {
        self.norms.len()
    }

    /// Codes signals by their inner products with the atoms: column i of `products` is Dᵀx_i and
    /// `sq_norms[i]` = ‖x_i‖².
    pub fn encode(
        &self,
        products: MatRef<'_, T>,
        sq_norms: &[f64],
        target: Target,
    ) -> Result<Encoded<T>, LkdlError> {
        check_samples(products, "inner products")?;
        check_size("inner products' rows", products.nrows(), self.n_atoms())?;
        check_self_values::<T>(sq_norms, products.ncols())?;
        let limits = target.limits(self.n_atoms(), self.n_atoms())?;
        let mut alpha = products.to_owned();
        for i in 0..alpha.ncols() {
            for (value, inverse) in alpha.col_as_slice_mut(i).iter_mut().zip(&self.inverse) {
                *value = T::of(value.wide() * inverse);
            }
        }
        let alpha = Contiguous::new(alpha.as_ref());
        let alpha = alpha.columns();
        Ok(encode_given(&self.gram, &self.norms, alpha, limits, |range| Products {
            gram: &self.gram,
            alpha: subcols(alpha, range.clone()),
            sq_norms: &sq_norms[range],
        }))
    }
}

/// Signals known by α and their norms.
struct Products<'a, T: Real> {
    gram: &'a PaddedGram<T>,
    alpha: Columns<'a, T>,
    sq_norms: &'a [f64],
}

impl<T: Real> Signals for Products<'_, T> {
    #[inline(always)]
    fn sq_norm(&self, i: usize) -> f64 {
        self.sq_norms[i]
    }

    /// γᵀGγ − 2γᵀα + ρ₀ in `f64`.
    fn sq_residual(&self, i: usize, chosen: &[usize], values: &[f64]) -> f64 {
        let alpha = col(self.alpha, i);
        let mut rho = self.sq_norms[i];
        for (&j, &value) in chosen.iter().zip(values) {
            let explained: f64 = chosen
                .iter()
                .zip(values)
                .map(|(&l, other)| self.gram.entry(l, j).wide() * other)
                .sum();
            rho += value * (explained - 2.0 * alpha[j].wide());
        }
        rho.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{column_sq_norms, columns_of};
    use crate::pursuit::BatchOmp;
    use crate::testing::{random_matrix, same_for_any_thread_count};

    fn equals_batch_omp<T: Real>(tol: f64) {
        let (D, X) = (random_matrix::<T>(12, 30, 1), random_matrix::<T>(12, 200, 2));
        let (G, products) = (D.transpose() * &D, D.transpose() * &X);
        let sq_norms = column_sq_norms(columns_of(&X));
        for target in [Target::Sparsity(4), Target::Error { norm: 1.0, max_atoms: Some(8) }] {
            let expected = BatchOmp::new(D.as_ref()).unwrap().encode(X.as_ref(), target).unwrap();
            let coder = GramOmp::new(G.as_ref()).unwrap();
            let got = coder.encode(products.as_ref(), &sq_norms, target).unwrap();
            assert_eq!(got.codes.parts().1, expected.codes.parts().1);
            for (a, b) in got.codes.parts().2.iter().zip(expected.codes.parts().2) {
                assert!((a.wide() - b.wide()).abs() <= tol * (1.0 + b.wide().abs()), "{a:e} {b:e}");
            }
            for (a, b) in got.sq_residuals.iter().zip(&expected.sq_residuals) {
                assert!((a - b).abs() <= tol * (1.0 + b), "{a:e} {b:e}");
            }
        }
    }

    #[test]
    fn inner_products_give_the_codes_of_vectors() {
        equals_batch_omp::<f64>(1e-11);
        equals_batch_omp::<f32>(2e-4);
    }

    #[test]
    fn bits_do_not_depend_on_threads_and_faults_are_named() {
        let (D, X) = (random_matrix::<f64>(6, 9, 3), random_matrix::<f64>(6, 300, 4));
        let (G, products) = (D.transpose() * &D, D.transpose() * &X);
        let sq_norms = column_sq_norms(columns_of(&X));
        let coder = GramOmp::new(G.as_ref()).unwrap();
        let encode = || coder.encode(products.as_ref(), &sq_norms, Target::Sparsity(3)).unwrap();
        same_for_any_thread_count(encode);
        let few = coder.encode(products.subrows(0, 8), &sq_norms, Target::Sparsity(3));
        assert!(matches!(few, Err(LkdlError::Shape { expected: 9, got: 8, .. })));
        let beyond = coder.encode(products.as_ref(), &sq_norms, Target::Sparsity(10));
        assert!(matches!(beyond, Err(LkdlError::Parameter { name: "sparsity", .. })));
        assert!(GramOmp::new(G.subcols(0, 8)).is_err());
    }
}
