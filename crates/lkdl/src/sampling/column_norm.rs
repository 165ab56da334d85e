//! Column-norm weights: w_i = ‖K_{:,i}‖², exact in O(N²p) by tiles, or estimated from s uniformly
//! drawn rows in O(Nsp). Memory O(N) beside one tile per thread.

use crate::error::LkdlError;
use crate::kernel::{Kernel, Panel};
use crate::matrix::{BLOCK, Columns, col, columns_of, subcols};
use crate::random::{Stage, sample_without_replacement, stream};
use crate::real::Real;
use crate::vector::norm_sq;
use faer::Mat;
use rayon::prelude::*;

/// Rows of K per tile: 1024×256 values stay in the second-level cache.
const ROWS: usize = 1024;

/// Σ_j κ(x_j, x_i)² over all j, or over `rows` of them drawn without replacement.
pub(super) fn weights<T: Real>(
    kernel: &Kernel,
    X: Columns<'_, T>,
    rows: Option<usize>,
    seed: u64,
) -> Result<Vec<f64>, LkdlError> {
    let n = X.ncols();
    let rows: Vec<usize> = match rows {
        None => (0..n).collect(),
        Some(s) if (1..=n).contains(&s) => {
            sample_without_replacement(&mut stream(seed, Stage::ColumnNorms, 0, 0), n, s)
        }
        Some(s) => {
            let range = format!("between 1 and n_samples = {n}");
            return Err(LkdlError::parameter("column-norm rows", s, range));
        }
    };
    let mut sums = vec![0.0; n];
    for rows in rows.chunks(ROWS) {
        let panel = Panel::of_samples(kernel, X.as_dyn_stride(), rows)?;
        sums.par_chunks_mut(BLOCK).enumerate().try_for_each(|(t, sums)| {
            let range = t * BLOCK..t * BLOCK + sums.len();
            let mut tile = Mat::zeros(rows.len(), sums.len());
            panel.tile(subcols(X, range), tile.as_mut(), &mut Vec::new())?;
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum += norm_sq(col(columns_of(&tile), i));
                if !sum.is_finite() {
                    return Err(panel.overflow(*sum));
                }
            }
            Ok(())
        })?;
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_matrix;

    const KERNEL: Kernel = Kernel::Gaussian { sigma: 1.5 };

    #[test]
    fn exact_weights_are_the_squared_column_norms() {
        let X = random_matrix::<f64>(3, 1100, 2);
        let K = Panel::new(&KERNEL, X.as_ref()).unwrap().evaluate(X.as_ref()).unwrap();
        let weights = weights(&KERNEL, columns_of(&X), None, 0).unwrap();
        for i in 0..1100 {
            let exact = norm_sq(K.col_as_slice(i));
            assert!((weights[i] / exact - 1.0).abs() < 1e-10);
        }
    }

    #[test]
    fn sampled_rows_estimate_the_exact_weights() {
        let X = random_matrix::<f32>(2, 1000, 2);
        let exact = weights(&KERNEL, columns_of(&X), None, 0).unwrap();
        let estimate = weights(&KERNEL, columns_of(&X), Some(250), 1).unwrap();
        for i in 0..1000 {
            let ratio = 4.0 * estimate[i] / exact[i];
            // The isolated samples' norm is their own unit entry, seen by a quarter of the draws.
            assert!(exact[i] < 60.0 || (0.5..2.0).contains(&ratio), "{ratio} at {}", exact[i]);
        }
        assert!(exact.iter().filter(|&&w| w >= 60.0).count() > 500);
    }

    #[test]
    fn a_row_count_out_of_range_is_refused() {
        let X = random_matrix::<f64>(2, 9, 2);
        for rows in [0, 10] {
            let error = weights(&KERNEL, columns_of(&X), Some(rows), 0).unwrap_err();
            assert!(error.to_string().contains("between 1 and n_samples = 9"), "{error}");
        }
    }
}
