//! Kernel OMP: orthogonal matching pursuit over a dictionary φ(X)A that is never formed, LKDL
//! Eq. (16); Nguyen et al. 2013.
//!
//! ```math
//! \min_\gamma\ \|\phi(z)-\phi(X)A\gamma\|^2
//!   =\kappa(z,z)-2\gamma^TA^T\kappa(X,z)+\gamma^TA^TKA\gamma
//!   \quad\text{s.t.}\quad\|\gamma\|_0\le q
//! ```
//!
//! Only inner products occur: G = AᵀKA of the atoms, α = Aᵀκ(X, z) and ρ₀ = κ(z, z). With these the
//! loop of [`BatchOmp`] runs unchanged. K is n×n, A n×m, the cross Gram matrix κ(X, Z) n×N.
//!
//! **When to use it.** With an exact kernel dictionary
//! ([`KernelKsvdParams`](crate::dictionary::KernelKsvdParams)); on virtual samples plain [`BatchOmp`]
//! does the same for k instead of n numbers per sample.
//!
//! **Cost.** 2n²m + 2nm² once for G, then 2nm + m(q²−1) per signal, and n kernel values.
//!
//! ```
//! use faer::mat;
//! use lkdl::pursuit::{KernelOmp, Target};
//!
//! // Three samples with the kernel (xᵀy)², of which the first two are the atoms.
//! let kernel = |x: [f64; 2], y: [f64; 2]| (x[0] * y[0] + x[1] * y[1]).powi(2);
//! let samples = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]];
//! let gram = faer::Mat::from_fn(3, 3, |i, j| kernel(samples[i], samples[j]));
//! let atom_weights = mat![[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]];
//! let coder = KernelOmp::new(gram.as_ref(), atom_weights.as_ref())?;
//!
//! let z = [0.1, 2.0];
//! let cross = faer::Mat::from_fn(3, 1, |i, _| kernel(samples[i], z));
//! let encoded = coder.encode(cross.as_ref(), &[kernel(z, z)], Target::Sparsity(1))?;
//! assert_eq!(encoded.codes.signal(0), (&[1][..], &[4.0][..]));
//! # Ok::<(), lkdl::LkdlError>(())
//! ```

use super::batch_omp::{BatchOmp, Signals};
use super::codes::Encoded;
use super::entry::check_range;
use super::gram::check_entries;
use super::target::{Limits, Target};
use crate::error::LkdlError;
use crate::linalg::{mirror_lower, par_product};
use crate::matrix::{Columns, Contiguous, check_samples, check_size, col, columns_of, subcols};
use crate::real::Real;
use crate::vector::dot_wide;
use faer::MatRef;

/// A kernel dictionary φ(X)A made ready for coding: A and G = AᵀKA.
///
/// Atoms need not be unit: they are selected by |α_j|/√G_jj and codes refer to the atoms as given.
/// Zero atoms are never selected.
#[derive(Debug, Clone)]
pub struct KernelOmp<T: Real> {
    /// Its "atoms" are the columns of A, its "signals" columns of kernel values.
    coder: BatchOmp<T>,
}

impl<T: Real> KernelOmp<T> {
    /// Checks K and A, and forms G.
    ///
    /// Errors: a Gram matrix that is not square, finite and symmetric, or with K_ij² > K_ii·K_jj;
    /// weights that do not fit it.
    pub fn new(gram: MatRef<'_, T>, atom_weights: MatRef<'_, T>) -> Result<Self, LkdlError> {
        check_entries(gram)?;
        check_samples(atom_weights, "atom weights")?;
        check_size("atom weights' rows", atom_weights.nrows(), gram.nrows())?;
        let KA = par_product(gram, atom_weights);
        let mut G = par_product(atom_weights.transpose(), KA.as_ref());
        mirror_lower(&mut G);
        check_range::<T>(&(0..G.ncols()).map(|j| G[(j, j)].wide()).collect::<Vec<_>>())?;
        Ok(Self { coder: BatchOmp::from_gram(atom_weights.to_owned(), G) })
    }

    /// Number of atoms, m.
    pub fn n_atoms(&self) -> usize {
        self.coder.n_atoms()
    }

    /// Number of samples n that the atoms combine.
    pub fn n_samples(&self) -> usize {
        self.coder.atoms().nrows()
    }

    /// Codes signals z by their kernel values: column i of `cross` is κ(X, z_i) and
    /// `self_values[i]` = κ(z_i, z_i).
    pub fn encode(
        &self,
        cross: MatRef<'_, T>,
        self_values: &[f64],
        target: Target,
    ) -> Result<Encoded<T>, LkdlError> {
        check_samples(cross, "cross Gram matrix")?;
        check_size("cross Gram matrix's rows", cross.nrows(), self.n_samples())?;
        check_self_values::<T>(self_values, cross.ncols())?;
        // In the kernel's space no dimension limits the atoms but their own number.
        let limits = target.limits(self.n_atoms(), self.n_atoms())?;
        let cross = Contiguous::new(cross);
        Ok(self.encode_columns(cross.columns(), self_values, limits))
    }

    fn encode_columns(
        &self,
        cross: Columns<'_, T>,
        self_values: &[f64],
        limits: Limits,
    ) -> Encoded<T> {
        self.coder.encode_signals(cross, limits, |range| KernelSignals {
            coder: &self.coder,
            cross: subcols(cross, range.clone()),
            self_values: &self_values[range],
        })
    }

    /// Batch-OMP over (A, G), for callers that hold α's factors themselves.
    pub(crate) fn coder(&self) -> &BatchOmp<T> {
        &self.coder
    }
}

/// κ(z, z) must be finite, not negative, and one per signal.
pub(crate) fn check_self_values<T: Real>(values: &[f64], n: usize) -> Result<(), LkdlError> {
    check_size("self kernel values", values.len(), n)?;
    match values.iter().position(|v| !(v.is_finite() && *v >= 0.0)) {
        Some(i) => Err(LkdlError::NotGram {
            what: "self kernel values",
            problem: format!("k(z, z) of signal {i} is {}, but must be finite and >= 0", values[i]),
        }),
        None => check_range::<T>(values),
    }
}

/// Signals in the kernel's space.
struct KernelSignals<'a, T: Real> {
    coder: &'a BatchOmp<T>,
    cross: Columns<'a, T>,
    self_values: &'a [f64],
}

impl<T: Real> Signals for KernelSignals<'_, T> {
    #[inline(always)]
    fn sq_norm(&self, i: usize) -> f64 {
        self.self_values[i]
    }

    /// γᵀGγ − 2γᵀα₀ + ρ₀ in `f64`, α₀ anew from A and κ(X, z).
    fn sq_residual(&self, i: usize, chosen: &[usize], values: &[f64]) -> f64 {
        let atoms = columns_of(self.coder.atoms());
        let mut rho = self.self_values[i];
        for (&j, &value) in chosen.iter().zip(values) {
            let alpha0 = dot_wide(col(atoms, j), col(self.cross, i));
            let explained: f64 = chosen
                .iter()
                .zip(values)
                .map(|(&l, other)| self.coder.gram().entry(l, j).wide() * other)
                .sum();
            rho += value * (explained - 2.0 * alpha0);
        }
        rho.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::gram;
    use crate::pursuit::Codes;
    use crate::testing::{random_matrix, random_unit_columns, same_for_any_thread_count};
    use crate::vector::norm_sq;
    use faer::Mat;

    /// A linear problem, once as vectors and once as inner products: X, A, Z; D = XA.
    struct Twin<T: Real> {
        D: Mat<T>,
        Z: Mat<T>,
        coder: KernelOmp<T>,
        cross: Mat<T>,
        self_values: Vec<f64>,
    }

    fn twin<T: Real>(p: usize, n: usize, m: usize, seed: u64) -> Twin<T> {
        let X = random_matrix::<T>(p, n, seed);
        let A = random_matrix::<T>(n, m, seed + 1);
        let Z = random_matrix::<T>(p, 60, seed + 2);
        let coder = KernelOmp::new(gram(X.as_ref()).as_ref(), A.as_ref()).unwrap();
        Twin {
            D: &X * &A,
            cross: X.transpose() * &Z,
            self_values: (0..60).map(|i| norm_sq(Z.col_as_slice(i))).collect(),
            Z,
            coder,
        }
    }

    fn equal_codes<T: Real>(a: &Codes<T>, b: &Codes<T>, tol: f64) {
        assert_eq!(a.parts().1, b.parts().1);
        for (a, b) in a.parts().2.iter().zip(b.parts().2) {
            assert!((a.wide() - b.wide()).abs() <= tol * (1.0 + b.wide().abs()), "{a:e} {b:e}");
        }
    }

    fn linear_kernel_gives_omp<T: Real>(tol: f64) {
        for (p, n, m, q) in [(20, 30, 50, 5), (8, 5, 4, 3), (6, 1, 1, 1), (12, 40, 9, 9)] {
            let t = twin::<T>(p, n, m, 7);
            let target = Target::Sparsity(q);
            let linear = BatchOmp::new(t.D.as_ref()).unwrap().encode(t.Z.as_ref(), target).unwrap();
            let kernel = t.coder.encode(t.cross.as_ref(), &t.self_values, target).unwrap();
            equal_codes(&kernel.codes, &linear.codes, tol);
            for (i, (a, b)) in kernel.sq_residuals.iter().zip(&linear.sq_residuals).enumerate() {
                assert!((a - b).abs() <= tol * t.self_values[i], "signal {i}: {a:e} {b:e}");
            }
        }
    }

    #[test]
    fn with_a_linear_kernel_it_is_omp() {
        linear_kernel_gives_omp::<f64>(1e-9);
        linear_kernel_gives_omp::<f32>(2e-3);
    }

    #[test]
    fn by_error_it_is_omp_too_down_to_where_rho_is_computed_anew() {
        let t = twin::<f64>(20, 30, 50, 3);
        for norm in [1.0, 1e-2, 1e-5] {
            let target = Target::Error { norm, max_atoms: Some(20) };
            let linear = BatchOmp::new(t.D.as_ref()).unwrap().encode(t.Z.as_ref(), target).unwrap();
            let kernel = t.coder.encode(t.cross.as_ref(), &t.self_values, target).unwrap();
            equal_codes(&kernel.codes, &linear.codes, 1e-6);
            for (i, rho) in kernel.sq_residuals.iter().enumerate() {
                let reached = rho.sqrt() <= norm;
                assert!(reached || kernel.codes.signal(i).0.len() == 20, "signal {i}: {rho:e}");
            }
        }
    }

    #[test]
    fn zero_and_repeated_atoms_and_zero_signals_do_no_harm() {
        let X = random_unit_columns::<f64>(10, 8, 4);
        let K = gram(X.as_ref());
        // Atom 2 is zero, atom 5 repeats atom 0 at another scale.
        let A = Mat::from_fn(8, 6, |i, j| match j {
            2 => 0.0,
            5 => 3.0 * f64::from(i == 0),
            _ => f64::from(i == j),
        });
        let coder = KernelOmp::new(K.as_ref(), A.as_ref()).unwrap();
        let mut self_values = vec![1.0; 8];
        self_values[3] = 0.0;
        let encoded = coder.encode(K.as_ref(), &self_values, Target::Sparsity(4)).unwrap();
        assert!(encoded.codes.parts().1.iter().all(|&j| j != 2 && j != 5));
        assert!(encoded.codes.signal(3).0.is_empty() && encoded.sq_residuals[3] == 0.0);
    }

    #[test]
    fn sizes_and_values_that_do_not_fit_are_named() {
        let K = gram(random_matrix::<f64>(6, 5, 1).as_ref());
        let A = random_matrix::<f64>(5, 3, 2);
        assert!(KernelOmp::new(K.as_ref(), A.as_ref().subrows(0, 4)).is_err());
        assert!(KernelOmp::new(K.as_ref().subcols(0, 4), A.as_ref()).is_err());
        let coder = KernelOmp::new(K.as_ref(), A.as_ref()).unwrap();
        let encode = |cross, values: &[f64], q| coder.encode(cross, values, Target::Sparsity(q));
        assert!(encode(K.as_ref().subrows(0, 4), &[1.0; 5], 1).is_err());
        assert!(encode(K.as_ref(), &[1.0; 4], 1).is_err());
        assert!(encode(K.as_ref(), &[1.0; 5], 4).is_err());
        let error = encode(K.as_ref(), &[1.0, -2.0, 1.0, 1.0, 1.0], 1).unwrap_err();
        assert!(error.to_string().contains("signal 1 is -2"), "{error}");
    }

    #[test]
    fn bits_do_not_depend_on_the_thread_count() {
        fn check<T: Real>() {
            let X = random_matrix::<T>(30, 90, 5);
            let (A, Z) = (random_matrix::<T>(90, 40, 6), random_matrix::<T>(30, 700, 7));
            let (K, cross) = (gram(X.as_ref()), X.transpose() * &Z);
            let values: Vec<f64> = (0..700).map(|i| norm_sq(Z.col_as_slice(i))).collect();
            same_for_any_thread_count(|| {
                let coder = KernelOmp::new(K.as_ref(), A.as_ref()).unwrap();
                coder.encode(cross.as_ref(), &values, Target::Sparsity(6)).unwrap()
            });
        }
        check::<f64>();
        check::<f32>();
    }
}
