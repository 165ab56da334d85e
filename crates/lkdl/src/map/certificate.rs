//! How good an approximation is: the error of LKDL Eq. (30), the trace certificate, and the best
//! any rank-c approximation could do.

use crate::error::LkdlError;
use crate::kernel::{Kernel, Panel};
use crate::linalg::{full_eigen, product_into};
use crate::matrix::{Contiguous, check_samples, check_size, map_blocks};
use crate::real::Real;
use crate::vector::norm_sq;
use faer::{Mat, MatRef};

/// Samples per tile of the N×N sweep.
const TILE: usize = 128;

/// ‖K − FᵀF‖_F / ‖K‖_F, LKDL Eq. (30), by tiles: O(N²(p + k)) time, O(N) memory per thread.
pub fn relative_error<T: Real>(
    kernel: &Kernel,
    samples: MatRef<'_, T>,
    virtual_samples: MatRef<'_, T>,
) -> Result<f64, LkdlError> {
    check_samples(samples, "samples")?;
    check_samples(virtual_samples, "virtual samples")?;
    check_size("virtual samples' count", virtual_samples.ncols(), samples.ncols())?;
    let n = samples.ncols();
    let F = virtual_samples;
    let X = Contiguous::new(samples);
    let parts = map_blocks(n, TILE, |range| -> Result<(f64, f64), LkdlError> {
        let indices: Vec<usize> = range.clone().collect();
        let panel = Panel::of_samples(kernel, samples, &indices)?;
        let mut K = Mat::<T>::zeros(indices.len(), n);
        panel.tile(X.columns(), K.as_mut(), &mut Vec::new())?;
        let mut approximate = Mat::<T>::zeros(indices.len(), n);
        let own = F.subcols(range.start, range.len());
        product_into(approximate.as_mut(), own.transpose(), F);
        let (mut gap, mut total) = (0.0, 0.0);
        for j in 0..n {
            total += norm_sq(K.col_as_slice(j));
            for (a, b) in K.col_as_slice(j).iter().zip(approximate.col_as_slice(j)) {
                gap += (a.wide() - b.wide()).powi(2);
            }
        }
        Ok((gap, total))
    });
    let (mut gap, mut total) = (0.0, 0.0);
    for part in parts {
        let (g, t) = part?;
        gap += g;
        total += t;
    }
    if total == 0.0 {
        return Err(LkdlError::ZeroKernel { n_landmarks: n });
    }
    match [gap, total].into_iter().find(|v| !v.is_finite()) {
        Some(value) => Err(LkdlError::KernelOverflow { kernel: kernel.to_string(), value }),
        None => Ok((gap / total).sqrt()),
    }
}

/// Errors of the best approximation of one rank: no sampler can do better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestRankError {
    /// The rank c.
    pub rank: usize,
    /// ‖K − K_c‖_F / ‖K‖_F.
    pub frobenius: f64,
    /// tr(K − K_c)/tr K.
    pub trace: f64,
}

/// The rank-c SVD reference of the paper's Fig. 1a. It forms K whole: O(N²) memory and O(N³)
/// time, for error plots on a few thousand samples.
pub fn best_rank_errors<T: Real>(
    kernel: &Kernel,
    samples: MatRef<'_, T>,
    ranks: &[usize],
) -> Result<Vec<BestRankError>, LkdlError> {
    check_samples(samples, "samples")?;
    let n = samples.ncols();
    if let Some(&bad) = ranks.iter().find(|&&rank| rank > n) {
        return Err(LkdlError::parameter("rank", bad, format!("at most n_samples = {n}")));
    }
    let all: Vec<usize> = (0..n).collect();
    let K = Panel::of_samples(kernel, samples, &all)?.gram()?;
    let mut values = full_eigen(K.as_ref())?.values;
    // Relative to the largest, so that no square leaves the range.
    let peak = values.iter().fold(0.0, |peak: f64, v| peak.max(v.abs()));
    if peak > 0.0 {
        values.iter_mut().for_each(|v| *v /= peak);
    }
    let squares: f64 = values.iter().map(|v| v * v).sum();
    let trace: f64 = values.iter().sum();
    let tail = |rank: usize| {
        let tail = &values[rank..];
        BestRankError {
            rank,
            frobenius: (tail.iter().map(|v| v * v).sum::<f64>() / squares).sqrt(),
            trace: (tail.iter().sum::<f64>() / trace).max(0.0),
        }
    };
    if squares == 0.0 || trace <= 0.0 {
        return Err(LkdlError::ZeroKernel { n_landmarks: n });
    }
    Ok(ranks.iter().map(|&rank| tail(rank)).collect())
}
