//! Approximate ridge leverage scores by recursion (Musco & Musco 2017, in its practical form).
//!
//! ```math
//! \ell_i=\tfrac1\lambda\bigl(K_{ii}-K_{iS}(K_{SS}+\lambda I)^{-1}K_{Si}\bigr)
//!   \approx\bigl(K(K+\lambda I)^{-1}\bigr)_{ii}
//! ```
//! Nested halves N, N/2, … ≤ c of one random permutation. S starts as the smallest; going up, each
//! half is scored by the S below it and thinned to the next S, whose members carry the weight
//! 1/√π_i of their probability. Time O(Nc²), and O(N + c²) memory: rows K_{iS} live in tiles.

use crate::error::LkdlError;
use crate::kernel::{Kernel, Panel};
use crate::linalg::{cholesky_with_jitter, leading_eigen};
use crate::matrix::{BLOCK, Columns, columns_of, gather, map_blocks};
use crate::random::{Stage, permutation, stream};
use crate::real::Real;
use crate::vector::norm_sq;
use faer::Mat;
use rand::RngExt;

/// The ridge is at least this share of the trace (or ε of the working type): below it, scores
/// would measure rounding.
const RIDGE_FLOOR: f64 = 1e-12;

/// A weighted subset of the samples.
struct Subset {
    indices: Vec<usize>,
    weights: Vec<f64>,
}

/// The ridge leverage scores of all samples for drawing `count` of them, and the ridge λ they
/// belong to; all 0 if the kernel matrix is 0.
pub(super) fn scores<T: Real>(
    kernel: &Kernel,
    X: Columns<'_, T>,
    count: usize,
    seed: u64,
) -> Result<(Vec<f64>, f64), LkdlError> {
    let n = X.ncols();
    let diag = kernel.diag(X)?;
    let order = permutation(&mut stream(seed, Stage::Leverage, 0, 0), n);
    let mut sizes = vec![n];
    while let Some(&size) = sizes.last()
        && size > count
    {
        sizes.push(size.div_ceil(2));
    }
    // At least 1, so that tiny counts neither divide by 0 nor draw nothing.
    let log_count = (count as f64).ln().max(1.0);
    let head = (count as f64 / (4.0 * log_count)).ceil() as usize;

    let smallest = sizes.pop().unwrap_or(n);
    let mut S = Subset { indices: order[..smallest].to_vec(), weights: vec![1.0; smallest] };
    let (mut scores, mut ridge) = (vec![0.0; n], 0.0);
    while let Some(size) = sizes.pop() {
        let half = &order[..size];
        (scores, ridge) = score(kernel, X, half, &diag, &S, head, seed)?;
        if sizes.is_empty() {
            break;
        }
        let mut rng = stream(seed, Stage::Leverage, 0, sizes.len());
        S = Subset { indices: Vec::new(), weights: Vec::new() };
        for (&i, l) in half.iter().zip(&scores) {
            let probability = (l * log_count).min(1.0);
            if rng.random::<f64>() < probability {
                S.indices.push(i);
                S.weights.push(1.0 / probability.sqrt());
            }
        }
        if S.indices.is_empty() {
            // All scores tiny, and chance took none: any one sample keeps the recursion going.
            S = Subset { indices: vec![half[0]], weights: vec![1.0] };
        }
    }
    // From the permutation's order to that of the samples.
    let mut values = vec![0.0; n];
    for (&i, l) in order.iter().zip(&scores) {
        values[i] = *l;
    }
    Ok((values, ridge))
}

/// ℓ_i of the samples `half`, in its order, from the weighted subset S; and λ.
fn score<T: Real>(
    kernel: &Kernel,
    X: Columns<'_, T>,
    half: &[usize],
    diag: &[f64],
    S: &Subset,
    head: usize,
    seed: u64,
) -> Result<(Vec<f64>, f64), LkdlError> {
    let size = S.indices.len();
    let panel = Panel::of_samples(kernel, X.as_dyn_stride(), &S.indices)?;
    let mut W = panel.gram()?;
    for j in 0..size {
        for i in 0..size {
            W[(i, j)] *= S.weights[i] * S.weights[j];
        }
    }
    // λ is the mean of what the leading eigenvalues leave, Σ_{i>head} λ_i / head.
    let trace: f64 = (0..size).map(|i| W[(i, i)]).sum();
    let leading: f64 = leading_eigen(W.as_ref(), head.min(size), seed)?.values.iter().sum();
    let ridge = ((trace - leading) / head as f64).max(RIDGE_FLOOR.max(T::EPS) * trace);
    if ridge <= 0.0 {
        return Ok((vec![0.0; half.len()], 0.0));
    }
    for i in 0..size {
        W[(i, i)] += ridge;
    }
    let chol = cholesky_with_jitter(W.as_ref())?;
    let blocks = map_blocks(half.len(), BLOCK, |range| {
        let block = &half[range];
        let mut tile = Mat::<T>::zeros(size, block.len());
        panel.tile(columns_of(&gather(X, block)), tile.as_mut(), &mut Vec::new())?;
        let mut rows = Mat::from_fn(size, block.len(), |j, i| tile[(j, i)].wide() * S.weights[j]);
        chol.solve_lower(rows.as_mut());
        let mut values = Vec::with_capacity(block.len());
        for (i, &sample) in block.iter().enumerate() {
            let value = (diag[sample] - norm_sq(rows.col_as_slice(i))) / ridge;
            if !value.is_finite() {
                return Err(panel.overflow(value));
            }
            values.push(value.max(0.0));
        }
        Ok(values)
    });
    let mut values = Vec::with_capacity(half.len());
    for block in blocks {
        values.extend(block?);
    }
    Ok((values, ridge))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Cholesky;
    use crate::testing::{random_matrix, random_unit_columns};

    #[test]
    fn scores_are_close_to_the_exact_ridge_leverage_scores() {
        let n = 500;
        let cases = [
            (Kernel::Gaussian { sigma: 1.0 }, random_matrix::<f64>(3, n, 7)),
            (Kernel::Polynomial { degree: 2.0, offset: 1.0 }, random_unit_columns(20, n, 7)),
        ];
        for (kernel, X) in &cases {
            let K = Panel::new(kernel, X.as_ref()).unwrap().gram().unwrap();
            for seed in 0..8 {
                let (values, ridge) = scores(kernel, columns_of(X), 120, seed).unwrap();
                let shifted =
                    Mat::from_fn(n, n, |i, j| K[(i, j)] + if i == j { ridge } else { 0.0 });
                let mut exact = K.clone();
                Cholesky::new(shifted.as_ref()).unwrap().solve(exact.as_mut());
                for i in 0..n {
                    let ratio = values[i] / exact[(i, i)];
                    assert!((0.8..3.0).contains(&ratio), "{kernel}, seed {seed}: {ratio}");
                }
            }
        }
    }

    #[test]
    fn a_zero_kernel_has_no_scores() {
        let X = Mat::<f32>::zeros(2, 20);
        let (scores, _) = scores(&Kernel::Linear, columns_of(&X), 5, 1).unwrap();
        assert!(scores.iter().all(|&l| l == 0.0));
    }
}
