//! The leading eigenpair of one symmetric matrix of moderate size, for refitting an atom.
//!
//! Small matrices are solved fully. Larger ones by Lanczos from a given start, with full
//! re-orthogonalisation: u² flops per step and a few dozen steps, against about 9u³ for all pairs.

use super::{Eigen, full_eigen};
use crate::error::LkdlError;
use crate::random::{Stage, stream};
use crate::vector::{axpy, dot, normalize};
use faer::Mat;
use rand_distr::{Distribution, StandardNormal};

/// Up to this size all pairs cost less than the iteration.
const SMALL: usize = 40;
/// Steps between two looks at the Ritz pair.
const STRIDE: usize = 8;
/// Beyond this many steps the leading eigenvalues are nearly tied: solve fully.
const MAX_STEPS: usize = 96;
/// ‖Mv − θv‖ as a share of θ: rounding level.
const RESIDUAL: f64 = 1e-13;
/// Random share of the start, so that a start orthogonal to the leading vector finds it too.
const NUDGE: f64 = 1e-2;

/// Largest eigenvalue of M (both halves read) and its unit eigenvector.
pub(crate) fn leading_pair(M: &Mat<f64>, start: &[f64]) -> Result<(f64, Vec<f64>), LkdlError> {
    if M.nrows() > SMALL
        && let Some(pair) = lanczos(M, start)?
    {
        return Ok(pair);
    }
    let Eigen { values, vectors } = full_eigen(M.as_ref())?;
    Ok((values[0], vectors.col_as_slice(0).to_vec()))
}

/// `None` if [`MAX_STEPS`] do not suffice.
fn lanczos(M: &Mat<f64>, start: &[f64]) -> Result<Option<(f64, Vec<f64>)>, LkdlError> {
    let n = M.nrows();
    let mut basis: Vec<Vec<f64>> = vec![nudged(start)];
    let (mut diagonal, mut below) = (Vec::<f64>::new(), Vec::<f64>::new());
    let mut y = vec![0.0; n];
    for step in 1..=MAX_STEPS.min(n) {
        let q = &basis[step - 1];
        y.fill(0.0);
        for (j, &value) in q.iter().enumerate() {
            axpy(&mut y, value, M.col_as_slice(j));
        }
        diagonal.push(dot(q, &y));
        // Twice is enough: the second pass takes what rounding left in the first.
        for _ in 0..2 {
            for q in &basis {
                let along = dot(q, &y);
                axpy(&mut y, -along, q);
            }
        }
        let beta = normalize(&mut y);
        let largest = diagonal.iter().fold(0.0, |largest: f64, v| largest.max(v.abs()));
        let last = step == n || step == MAX_STEPS || beta <= RESIDUAL * largest;
        if step % STRIDE == 0 || last {
            let (theta, s) = leading_of_tridiagonal(&diagonal, &below)?;
            if beta * s[step - 1].abs() <= RESIDUAL * theta.abs() || step == n {
                let mut v = vec![0.0; n];
                for (q, &weight) in basis.iter().zip(&s) {
                    axpy(&mut v, weight, q);
                }
                normalize(&mut v);
                return Ok(Some((theta, v)));
            }
        }
        if last {
            break;
        }
        below.push(beta);
        basis.push(y.clone());
    }
    Ok(None)
}

/// The start as a unit vector with a small random part.
fn nudged(start: &[f64]) -> Vec<f64> {
    let mut rng = stream(0, Stage::EigenStart, 1, start.len());
    let mut q = start.to_vec();
    normalize(&mut q);
    let scale = NUDGE / (start.len() as f64).sqrt();
    for v in &mut q {
        let noise: f64 = StandardNormal.sample(&mut rng);
        *v += scale * noise;
    }
    normalize(&mut q);
    q
}

fn leading_of_tridiagonal(diagonal: &[f64], below: &[f64]) -> Result<(f64, Vec<f64>), LkdlError> {
    let k = diagonal.len();
    let T = Mat::from_fn(k, k, |i, j| match i.abs_diff(j) {
        0 => diagonal[i],
        1 => below[i.min(j)],
        _ => 0.0,
    });
    let Eigen { values, vectors } = full_eigen(T.as_ref())?;
    Ok((values[0], vectors.col_as_slice(0).to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::gram;
    use crate::testing::random_matrix;

    #[test]
    fn the_pair_is_that_of_the_full_solve() {
        for n in [1, 2, 7, SMALL, SMALL + 1, 90, 200] {
            let M = gram(random_matrix::<f64>(n / 2 + 1, n, n as u64).as_ref());
            let start = random_matrix::<f64>(n, 1, 3);
            let (theta, v) = leading_pair(&M, start.col_as_slice(0)).unwrap();
            let Eigen { values, vectors } = full_eigen(M.as_ref()).unwrap();
            assert!((theta - values[0]).abs() <= 1e-11 * values[0], "{n}");
            let along = dot(&v, vectors.col_as_slice(0)).abs();
            assert!((along - 1.0).abs() < 1e-9, "{n}: {along}");
        }
    }

    #[test]
    fn a_start_without_the_leading_direction_finds_it() {
        let M = Mat::from_fn(80, 80, |i, j| if i == j { 1.0 + i as f64 } else { 0.0 });
        let start: Vec<f64> = (0..80).map(|i| f64::from(i < 3)).collect();
        let (theta, v) = leading_pair(&M, &start).unwrap();
        assert!((theta - 80.0).abs() < 1e-9 && v[79].abs() > 1.0 - 1e-9, "{theta}");
    }

    #[test]
    fn ties_multiples_of_the_identity_and_zeros_end() {
        for scale in [0.0, 2.0] {
            let M = Mat::from_fn(60, 60, |i, j| if i == j { scale } else { 0.0 });
            let (theta, v) = leading_pair(&M, &[1.0; 60]).unwrap();
            assert!((theta - scale).abs() < 1e-12 && (dot(&v, &v) - 1.0).abs() < 1e-12);
        }
        let mut rank_one = Mat::zeros(60, 60);
        rank_one[(5, 5)] = 3.0;
        let (theta, v) = leading_pair(&rank_one, &[0.0; 60]).unwrap();
        assert!((theta - 3.0).abs() < 1e-12 && v[5].abs() > 1.0 - 1e-12);
    }
}
