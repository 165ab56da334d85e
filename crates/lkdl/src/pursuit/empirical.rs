//! Pursuits through the empirical kernel map: LKDL Eqs. (14), (26).
//!
//! ```math
//! x\ \mapsto\ [\kappa(x_1,x),\dots,\kappa(x_n,x)]^T
//! ```
//!
//! A sample becomes the vector of its kernel values with all training samples, an atom φ(X)a becomes
//! Ka, and a linear pursuit runs on these: kernel matching pursuit (Vincent & Bengio 2002) and
//! kernel basis pursuit (2005). κ need not be positive semi-definite here, since no distance in its
//! space is used. The map is not whitened: inner products are those of K², not of K, which is what
//! [`KernelOmp`](super::KernelOmp) and virtual samples set right (28).
//!
//! **When to use it.** For kernels that are no inner products, or to compare.
//!
//! **Cost.** K is n×n, KA n×m: 2n²m once, then 2nm per signal and what the linear pursuit costs in n
//! dimensions.
//!
//! ```
//! use lkdl::pursuit::{EmpiricalMap, MatchingPursuitParams};
//!
//! // An indefinite kernel of four numbers; every sample is an atom.
//! let kernel = |x: f64, y: f64| (x * y).tanh() - 0.5;
//! let samples = [-1.0, -0.2, 0.4, 2.0];
//! let gram = faer::Mat::from_fn(4, 4, |i, j| kernel(samples[i], samples[j]));
//! let map = EmpiricalMap::new(gram.as_ref(), None)?;
//!
//! let cross = faer::Mat::from_fn(4, 1, |i, _| kernel(samples[i], 0.4));
//! let params = MatchingPursuitParams { max_steps: 1, error_norm: 0.0 };
//! let encoded = map.matching_pursuit(cross.as_ref(), params)?;
//! assert_eq!(encoded.codes.signal(0).0, [2]); // the sample itself
//! # Ok::<(), lkdl::LkdlError>(())
//! ```

use super::basis_pursuit::{BasisPursuitEncoded, BasisPursuitParams};
use super::codes::Encoded;
use super::matching_pursuit::MatchingPursuitParams;
use crate::error::LkdlError;
use crate::linalg::par_product;
use crate::matrix::{check_samples, check_size};
use crate::real::Real;
use faer::{Mat, MatRef};

/// Atoms under the empirical map: the columns of KA.
#[derive(Debug, Clone)]
pub struct EmpiricalMap<T: Real> {
    atoms: Mat<T>,
}

impl<T: Real> EmpiricalMap<T> {
    /// From the n×n kernel values of the training samples and the n×m weights of the atoms; `None`
    /// makes every sample an atom.
    pub fn new(
        gram: MatRef<'_, T>,
        atom_weights: Option<MatRef<'_, T>>,
    ) -> Result<Self, LkdlError> {
        check_samples(gram, "kernel matrix")?;
        check_size("kernel matrix's rows (it must be square)", gram.nrows(), gram.ncols())?;
        let Some(weights) = atom_weights else {
            return Ok(Self { atoms: gram.to_owned() });
        };
        check_samples(weights, "atom weights")?;
        check_size("atom weights' rows", weights.nrows(), gram.nrows())?;
        Ok(Self { atoms: par_product(gram, weights) })
    }

    /// The atoms in the space of the map, n×m.
    pub fn atoms(&self) -> MatRef<'_, T> {
        self.atoms.as_ref()
    }

    /// Kernel matching pursuit of signals z; column i of `cross` is κ(X, z_i).
    pub fn matching_pursuit(
        &self,
        cross: MatRef<'_, T>,
        params: MatchingPursuitParams,
    ) -> Result<Encoded<T>, LkdlError> {
        params.encode(self.atoms(), cross)
    }

    /// Kernel basis pursuit of signals z; column i of `cross` is κ(X, z_i).
    pub fn basis_pursuit(
        &self,
        cross: MatRef<'_, T>,
        params: BasisPursuitParams,
    ) -> Result<BasisPursuitEncoded<T>, LkdlError> {
        params.encode(self.atoms(), cross)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{close, random_matrix};

    /// A symmetric matrix that is no Gram matrix.
    fn indefinite(n: usize) -> Mat<f64> {
        let B = random_matrix::<f64>(n, n, 1);
        Mat::from_fn(n, n, |i, j| B[(i, j)] + B[(j, i)])
    }

    #[test]
    fn planted_atoms_are_found_by_both_pursuits_on_an_indefinite_kernel() {
        // z with κ(X, z) = K(2e_3 − e_7): atoms 3 and 7, as the features say.
        let K = indefinite(12);
        let map = EmpiricalMap::new(K.as_ref(), None).unwrap();
        let cross = Mat::from_fn(12, 1, |i, _| 2.0 * K[(i, 3)] - K[(i, 7)]);
        let found = map.basis_pursuit(cross.as_ref(), BasisPursuitParams::default()).unwrap();
        let (atoms, values) = found.encoded.codes.signal(0);
        assert_eq!((atoms, found.n_infeasible), (&[3, 7][..], 0));
        assert!((values[0] - 2.0).abs() < 1e-6 && (values[1] + 1.0).abs() < 1e-6);
        let params = MatchingPursuitParams { max_steps: 100_000, error_norm: 1e-6 };
        let found = map.matching_pursuit(cross.as_ref(), params).unwrap();
        let Gamma = found.codes.to_dense();
        assert!((Gamma[(3, 0)] - 2.0).abs() < 1e-3 && (Gamma[(7, 0)] + 1.0).abs() < 1e-3);
    }

    #[test]
    fn weights_combine_the_columns() {
        let (K, A) = (indefinite(9), random_matrix::<f64>(9, 4, 2));
        let map = EmpiricalMap::new(K.as_ref(), Some(A.as_ref())).unwrap();
        close(map.atoms(), (&K * &A).as_ref(), 1e-13);
    }

    #[test]
    fn sizes_that_do_not_fit_are_named() {
        let K = indefinite(5);
        assert!(EmpiricalMap::new(K.as_ref().subcols(0, 3), None).is_err());
        let A = random_matrix::<f64>(4, 2, 2);
        let error = EmpiricalMap::new(K.as_ref(), Some(A.as_ref())).unwrap_err();
        assert!(matches!(error, LkdlError::Shape { expected: 5, got: 4, .. }), "{error}");
        let map = EmpiricalMap::new(K.as_ref(), None).unwrap();
        assert!(map.basis_pursuit(A.as_ref(), BasisPursuitParams::default()).is_err());
    }
}
