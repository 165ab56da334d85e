//! Diagonal weights: w_i = K_ii² (the paper) or K_ii (its program). O(Np).
//!
//! Samples of unit norm have equal diagonals under every usual kernel: the draw is then uniform.

use crate::error::LkdlError;
use crate::kernel::Kernel;
use crate::matrix::Columns;
use crate::real::Real;

/// w_i relative to the largest, so that no square overflows. A negative K_ii (the kernel is then
/// indefinite) is no probability and counts as 0 unless squared.
pub(super) fn weights<T: Real>(
    kernel: &Kernel,
    X: Columns<'_, T>,
    squared: bool,
) -> Result<Vec<f64>, LkdlError> {
    let diag = kernel.diag(X)?;
    let largest = diag.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
    Ok(diag.iter().map(|v| v / largest).map(|v| if squared { v * v } else { v.max(0.0) }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::columns_of;
    use faer::Mat;

    #[test]
    fn weights_are_the_diagonal_or_its_square_up_to_scale() {
        let X = Mat::from_fn(1, 3, |_, j| j as f64);
        let plain = weights(&Kernel::Linear, columns_of(&X), false).unwrap();
        let squared = weights(&Kernel::Linear, columns_of(&X), true).unwrap();
        assert_eq!(plain, [0.0, 0.25, 1.0]);
        assert_eq!(squared, [0.0, 0.0625, 1.0]);
        let huge = Mat::from_fn(1, 2, |_, j| 1e150 * (1.0 + j as f64));
        assert_eq!(weights(&Kernel::Linear, columns_of(&huge), true).unwrap(), [0.0625, 1.0]);
    }
}
