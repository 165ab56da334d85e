//! k-means++ seeding: samples drawn one after the other with probability proportional to the
//! squared distance D² to the nearest one drawn before. O(Ncp) time, O(N) memory.
//!
//! The distance is that of the input space, or of the feature space:
//! ```math
//! \|\Phi(x)-\Phi(s)\|^2=\kappa(x,x)-2\kappa(x,s)+\kappa(s,s).
//! ```

use super::rpcholesky::rounding_floor;
use crate::error::LkdlError;
use crate::kernel::{Kernel, Panel};
use crate::matrix::{BLOCK, Columns, col, subcols};
use crate::random::{Stage, draw_weighted, stream};
use crate::real::Real;
use crate::vector::sum_zip;
use faer::Mat;
use rand::RngExt;
use rayon::prelude::*;

/// Up to `count` samples; fewer when every sample coincides with one drawn.
pub(super) fn select<T: Real>(
    kernel: &Kernel,
    X: Columns<'_, T>,
    kernel_distance: bool,
    count: usize,
    seed: u64,
) -> Result<Vec<usize>, LkdlError> {
    let n = X.ncols();
    let mut rng = stream(seed, Stage::Seeds, 0, 0);
    let diag = if kernel_distance { kernel.diag(X)? } else { Vec::new() };
    let floor = rounding_floor::<T>(count, &diag);
    let mut nearest = vec![f64::INFINITY; n];
    let mut chosen = vec![rng.random_range(0..n)];
    while let Some(&s) = chosen.last()
        && chosen.len() < count
    {
        if kernel_distance {
            let panel = Panel::of_samples(kernel, X.as_dyn_stride(), &[s])?;
            nearest.par_chunks_mut(BLOCK).enumerate().try_for_each(|(t, nearest)| {
                let start = t * BLOCK;
                let mut tile = Mat::<T>::zeros(1, nearest.len());
                let block = subcols(X, start..start + nearest.len());
                panel.tile(block, tile.as_mut(), &mut Vec::new())?;
                for (i, near) in nearest.iter_mut().enumerate() {
                    let distance = diag[start + i] - 2.0 * tile[(0, i)].wide() + diag[s];
                    if !distance.is_finite() {
                        return Err(panel.overflow(distance));
                    }
                    // A copy of s is at distance 0, which the formula gives up to rounding only.
                    *near = near.min(if distance > floor { distance } else { 0.0 });
                }
                Ok(())
            })?;
        } else {
            nearest.par_iter_mut().enumerate().for_each(|(i, near)| {
                *near = near.min(sum_zip(col(X, i), col(X, s), |a, b| (a - b) * (a - b)).wide());
            });
        }
        nearest[s] = 0.0;
        match draw_weighted(&mut rng, &nearest, nearest.iter().sum()) {
            Some(next) => chosen.push(next),
            None => break,
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::columns_of;
    use crate::testing::random_matrix;

    /// Five tight clusters far apart, 40 samples each.
    fn clusters() -> Mat<f64> {
        let noise = random_matrix::<f64>(2, 200, 4);
        Mat::from_fn(2, 200, |r, i| {
            0.01 * noise[(r, i)] + if r == 0 { (i % 5) as f64 * 4.0 } else { 0.0 }
        })
    }

    #[test]
    fn every_far_cluster_gets_a_seed_in_both_distances() {
        let X = clusters();
        let kernel = Kernel::Gaussian { sigma: 1.0 };
        for kernel_distance in [false, true] {
            for seed in 0..10 {
                let chosen = select(&kernel, columns_of(&X), kernel_distance, 5, seed).unwrap();
                let mut groups: Vec<usize> = chosen.iter().map(|i| i % 5).collect();
                groups.sort_unstable();
                assert_eq!(groups, [0, 1, 2, 3, 4]);
            }
        }
    }

    #[test]
    fn copies_are_never_drawn() {
        let base = random_matrix::<f32>(6, 10, 1);
        let X = Mat::from_fn(6, 200, |r, i| base[(r, i % 10)]);
        let kernel = Kernel::Polynomial { degree: 3.0, offset: 1.0 };
        for kernel_distance in [false, true] {
            let chosen = select(&kernel, columns_of(&X), kernel_distance, 50, 3).unwrap();
            let mut groups: Vec<usize> = chosen.iter().map(|i| i % 10).collect();
            groups.sort_unstable();
            assert_eq!(groups, (0..10).collect::<Vec<_>>());
        }
    }
}
