//! What every coder does at its entry (check the two matrices, measure the atoms), and the choice
//! of the atom that explains most of a residual.

use super::codes::{CodeBlock, Encoded};
use crate::error::LkdlError;
use crate::matrix::{
    Columns, Contiguous, check_samples, check_size, col, column_sq_norms, map_blocks, subcols,
};
use crate::real::Real;
use crate::vector::{axpy, norm_sq};
use faer::MatRef;
use num_traits::Float;
use pulp::{Arch, Simd, WithSimd};

/// Share of the largest representable number that inner products may reach: room for the sums and
/// quotients that a pursuit forms from them.
const RANGE_SHARE: f64 = 1e-3;

/// Scores this many ε apart (relative) are tied: copies of an atom at other scales differ by the
/// rounding of α, of the norm and of their product.
pub(super) const TIE_EPS: f64 = 8.0;

/// Rejects empty, non-finite or mismatched matrices.
pub(crate) fn check_problem<T: Real>(
    dictionary: MatRef<'_, T>,
    samples: MatRef<'_, T>,
) -> Result<(), LkdlError> {
    check_samples(dictionary, "dictionary")?;
    check_samples(samples, "samples")?;
    check_shapes(dictionary, samples)
}

/// Rejects samples that are none, or have other features than the dictionary.
pub(crate) fn check_shapes<T: Real>(
    dictionary: MatRef<'_, T>,
    samples: MatRef<'_, T>,
) -> Result<(), LkdlError> {
    if samples.ncols() == 0 || samples.nrows() == 0 {
        return check_samples(samples, "samples");
    }
    check_size("samples (rows: n_features of the dictionary)", samples.nrows(), dictionary.nrows())
}

/// The error of samples whose norms are known to be wrong.
pub(crate) fn bad_value<T: Real>(samples: MatRef<'_, T>, X: Columns<'_, T>) -> LkdlError {
    let found =
        check_samples(samples, "samples").and_then(|()| check_range::<T>(&column_sq_norms(X)));
    found.err().unwrap_or(LkdlError::NoConvergence { what: "sparse coding" })
}

/// Norms of atoms and signals, checked against overflow of their products.
pub(crate) struct Norms<T> {
    /// ‖d_j‖².
    pub(crate) sq_atoms: Vec<f64>,
    /// 1/‖d_j‖, and 0 for atoms that must never be chosen.
    pub(crate) inverse: Vec<T>,
    /// ‖x_i‖².
    pub(crate) sq_signals: Vec<f64>,
}

impl<T: Real> Norms<T> {
    /// Measures every column.
    pub(crate) fn new(D: Columns<'_, T>, X: Columns<'_, T>) -> Result<Self, LkdlError> {
        let (sq_atoms, sq_signals) = (column_sq_norms(D), column_sq_norms(X));
        check_range::<T>(&sq_atoms)?;
        check_range::<T>(&sq_signals)?;
        // An atom so small that 1/‖d‖ overflows counts as zero.
        let inverse = sq_atoms.iter().map(|&sq| T::of(1.0 / sq.sqrt()));
        let inverse = inverse.map(|v| if v.is_finite() { v } else { T::of(0.0) }).collect();
        Ok(Self { sq_atoms, inverse, sq_signals })
    }
}

/// Runs a pursuit straight from D, `width` signals to a task; `encode` is given D, the signals of a
/// block, their ‖x_i‖² and all norms. The matrices have passed [`check_problem`].
pub(super) fn encode_blocks<T: Real>(
    dictionary: MatRef<'_, T>,
    samples: MatRef<'_, T>,
    width: usize,
    encode: impl Fn(Columns<'_, T>, Columns<'_, T>, &[f64], &Norms<T>) -> CodeBlock<T> + Sync,
) -> Result<Encoded<T>, LkdlError> {
    let (D, X) = (Contiguous::new(dictionary), Contiguous::new(samples));
    let (D, X) = (D.columns(), X.columns());
    let norms = Norms::new(D, X)?;
    let blocks = map_blocks(X.ncols(), width, |range| {
        let sq_signals = &norms.sq_signals[range.clone()];
        encode(D, subcols(X, range), sq_signals, &norms)
    });
    Ok(Encoded::join(D.ncols(), blocks))
}

/// Rejects squared norms so large that inner products in `T` would overflow.
pub(crate) fn check_range<T: Real>(sq_norms: &[f64]) -> Result<(), LkdlError> {
    let range = RANGE_SHARE * <T as Float>::max_value().wide();
    // Written so that infinity and NaN fail the comparison.
    if sq_norms.iter().all(|&sq| sq <= range) {
        return Ok(());
    }
    Err(LkdlError::Unsupported {
        what: "sparse coding",
        problem: "met samples or atoms so large that their squared norms overflow",
        fix: "scale them, for example to unit norm",
    })
}

/// The atom of largest |α_j|·w_j and that value, lowest index on ties ([`TIE_EPS`]); `None` if all
/// are zero.
pub(crate) fn best_atom<T: Real>(alpha: &[T], weights: &[T]) -> Option<(usize, T)> {
    struct Largest<'a, T>(&'a [T], &'a [T]);
    impl<T: Real> WithSimd for Largest<'_, T> {
        type Output = T;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> T {
            const LANES: usize = 16;
            let (a, a_tail) = self.0.as_chunks::<LANES>();
            let (w, w_tail) = self.1.as_chunks::<LANES>();
            let mut largest = [T::of(0.0); LANES];
            for (a, w) in a.iter().zip(w) {
                for u in 0..LANES {
                    let score = Float::abs(a[u]) * w[u];
                    largest[u] = if score > largest[u] { score } else { largest[u] };
                }
            }
            let tail = a_tail.iter().zip(w_tail).map(|(&a, &w)| Float::abs(a) * w);
            tail.chain(largest).fold(T::of(0.0), |best, v| if v > best { v } else { best })
        }
    }
    debug_assert_eq!(alpha.len(), weights.len());
    let largest = Arch::new().dispatch(Largest(alpha, weights));
    if largest == T::of(0.0) {
        return None;
    }
    let tied = T::of(largest.wide() * (1.0 - TIE_EPS * T::EPS));
    let first = alpha.iter().zip(weights).position(|(&a, &w)| Float::abs(a) * w >= tied);
    first.map(|j| (j, largest))
}

/// ‖x − Dγ‖² by its definition; `scratch` holds n_features values.
pub(crate) fn exact_sq_residual<T: Real>(
    D: Columns<'_, T>,
    x: &[T],
    entries: impl Iterator<Item = (usize, T)>,
    scratch: &mut Vec<T>,
) -> f64 {
    scratch.clear();
    scratch.extend_from_slice(x);
    for (j, value) in entries {
        axpy(scratch, -value, col(D, j));
    }
    norm_sq(scratch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::columns_of;
    use crate::testing::random_matrix;
    use faer::Mat;

    fn best_atom_is_the_plain_argmax<T: Real>() {
        for m in [1, 5, 16, 17, 100] {
            let alpha = random_matrix::<T>(m, 1, m as u64);
            let weights = random_matrix::<T>(m, 1, 99);
            let weights: Vec<T> = (0..m).map(|j| Float::abs(weights[(j, 0)])).collect();
            let alpha = alpha.col_as_slice(0);
            let (mut j, mut score) = (0, T::of(-1.0));
            for i in 0..m {
                if Float::abs(alpha[i]) * weights[i] > score {
                    (j, score) = (i, Float::abs(alpha[i]) * weights[i]);
                }
            }
            assert_eq!(best_atom(alpha, &weights), Some((j, score)));
        }
        let mut tied = vec![T::of(0.5); 40];
        (tied[33], tied[7]) = (T::of(2.0), T::of(-2.0));
        assert_eq!(best_atom(&tied, &[T::of(1.0); 40]), Some((7, T::of(2.0))));
        assert_eq!(best_atom(&tied, &[T::of(0.0); 40]), None);
    }

    #[test]
    fn the_best_atom_is_the_first_of_the_largest() {
        best_atom_is_the_plain_argmax::<f64>();
        best_atom_is_the_plain_argmax::<f32>();
    }

    #[test]
    fn overflowing_norms_are_refused_and_vanishing_atoms_get_no_weight() {
        let ones = Mat::<f32>::from_fn(2, 1, |_, _| 1.0);
        let huge = Mat::<f32>::from_fn(2, 1, |_, _| 1e20);
        let tiny = Mat::<f32>::from_fn(2, 1, |_, _| 1e-44);
        let norms = |D: &Mat<f32>, X: &Mat<f32>| Norms::new(columns_of(D), columns_of(X));
        assert!(norms(&huge, &ones).is_err() && norms(&ones, &huge).is_err());
        assert_eq!(norms(&tiny, &ones).unwrap().inverse, [0.0]);
        assert_eq!(norms(&Mat::zeros(2, 1), &ones).unwrap().inverse, [0.0]);
    }

    #[test]
    fn mismatched_rows_are_named() {
        let (D, X) = (random_matrix::<f64>(4, 3, 1), random_matrix::<f64>(5, 2, 1));
        let error = check_problem(D.as_ref(), X.as_ref()).unwrap_err();
        assert!(matches!(error, LkdlError::Shape { expected: 4, got: 5, .. }), "{error}");
    }
}
