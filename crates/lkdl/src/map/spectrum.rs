//! W = VΣVᵀ, the kernel matrix of the landmarks, cut to the directions that carry information.
//!
//! An eigenvalue counts when it exceeds τ = max(30√c·ε_κ·max W_ii, c·ε₆₄·σ₁), with ε_κ the ε of
//! the type in which W was evaluated: below that it is rounding of the kernel values. The
//! threshold is applied before the square root, so nothing below rounding level is amplified.

use crate::error::{LkdlError, Warning};
use crate::linalg::{Eigen, full_eigen, leading_eigen};
use faer::{Mat, MatRef};

/// Multiple of √c·ε_κ·max W_ii: the spread of eigenvalues of c×c rounding noise, with a margin.
const NOISE_MARGIN: f64 = 30.0;
/// Share of negative spectral mass above which a kernel counts as indefinite.
const INDEFINITE_SHARE: f64 = 1e-6;

/// What to do with a kernel matrix that has negative eigenvalues beyond rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Indefinite {
    /// An error that says how much of the spectrum is negative.
    #[default]
    Reject,
    /// Drop the negative part.
    Clip,
    /// Use |σ|.
    Flip,
    /// Take W − σ_min·I for W: K̂ = C(W − σ_min·I)†Cᵀ, with C as it is. (Shifting C's diagonal
    /// entries too would divide by eigenvalues near zero wherever a new sample is mapped.)
    Shift,
}

/// The kept part of W's spectrum.
#[derive(Debug, Clone)]
pub(super) struct Spectrum {
    /// σ_1 ≥ … ≥ σ_k' > τ.
    pub(super) values: Vec<f64>,
    /// V, c×k'.
    pub(super) vectors: Mat<f64>,
    pub(super) warnings: Vec<Warning>,
}

/// τ of the module's header.
pub(super) fn threshold(W: MatRef<'_, f64>, kernel_eps: f64, sigma_1: f64) -> f64 {
    let c = W.nrows() as f64;
    let peak = (0..W.nrows()).map(|i| W[(i, i)]).fold(0.0, f64::max);
    (NOISE_MARGIN * c.sqrt() * kernel_eps * peak).max(c * f64::EPSILON * sigma_1)
}

/// At most `rank` leading eigenpairs of W above τ. For a kernel known to be semi-definite only
/// those are computed; otherwise all are, to see the negative ones.
pub(super) fn cut(
    W: MatRef<'_, f64>,
    rank: usize,
    kernel_eps: f64,
    semidefinite: bool,
    policy: Indefinite,
    seed: u64,
) -> Result<Spectrum, LkdlError> {
    let mut warnings = Vec::new();
    let Eigen { values, vectors } = if semidefinite {
        leading_eigen(W, rank, seed)?
    } else {
        let mut eigen = full_eigen(W)?;
        let tau = threshold(W, kernel_eps, eigen.values.first().copied().unwrap_or(0.0));
        warnings.extend(repair(&mut eigen, tau, policy)?);
        eigen
    };
    let tau = threshold(W, kernel_eps, values.first().copied().unwrap_or(0.0));
    let kept = values.iter().take(rank).take_while(|&&v| v > tau).count();
    if kept == 0 {
        return Err(LkdlError::ZeroKernel { n_landmarks: W.nrows() });
    }
    if kept < rank {
        warnings.push(Warning::RankReduced { wanted: rank, got: kept });
    }
    let vectors = vectors.subcols(0, kept).to_owned();
    Ok(Spectrum { values: values[..kept].to_vec(), vectors, warnings })
}

/// Applies the policy if the negative eigenvalues below −τ weigh more than rounding.
fn repair(eigen: &mut Eigen, tau: f64, policy: Indefinite) -> Result<Option<Warning>, LkdlError> {
    let total: f64 = eigen.values.iter().map(|v| v.abs()).sum();
    let negative: f64 = eigen.values.iter().filter(|v| **v < -tau).map(|v| v.abs()).sum();
    if negative <= INDEFINITE_SHARE * total {
        return Ok(None);
    }
    let share = negative / total;
    match policy {
        Indefinite::Reject => return Err(LkdlError::Indefinite { share }),
        Indefinite::Clip => {}
        Indefinite::Flip => {
            eigen.values.iter_mut().for_each(|v| *v = v.abs());
            sort_descending(eigen);
        }
        Indefinite::Shift => {
            let lowest = eigen.values.last().copied().unwrap_or(0.0);
            eigen.values.iter_mut().for_each(|v| *v -= lowest);
        }
    }
    Ok(Some(Warning::IndefiniteRepaired { share }))
}

fn sort_descending(eigen: &mut Eigen) {
    let mut order: Vec<usize> = (0..eigen.values.len()).collect();
    order.sort_by(|&a, &b| eigen.values[b].total_cmp(&eigen.values[a]));
    let vectors = &eigen.vectors;
    let sorted = Mat::from_fn(vectors.nrows(), order.len(), |i, j| vectors[(i, order[j])]);
    eigen.values = order.iter().map(|&i| eigen.values[i]).collect();
    eigen.vectors = sorted;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagonal(values: &[f64]) -> Mat<f64> {
        Mat::from_fn(values.len(), values.len(), |i, j| if i == j { values[i] } else { 0.0 })
    }

    fn kept(values: &[f64], policy: Indefinite) -> Result<Vec<f64>, LkdlError> {
        let W = diagonal(values);
        cut(W.as_ref(), values.len(), f64::EPSILON, false, policy, 0).map(|s| s.values)
    }

    #[test]
    fn each_policy_treats_negative_eigenvalues_as_named() {
        let values = [2.0, 1.0, -0.5];
        let error = kept(&values, Indefinite::Reject).unwrap_err();
        assert!(
            matches!(error, LkdlError::Indefinite { share } if (share - 1.0 / 7.0).abs() < 1e-12)
        );
        assert_eq!(kept(&values, Indefinite::Clip).unwrap(), [2.0, 1.0]);
        assert_eq!(kept(&values, Indefinite::Flip).unwrap(), [2.0, 1.0, 0.5]);
        assert_eq!(kept(&values, Indefinite::Shift).unwrap(), [2.5, 1.5]);
    }

    #[test]
    fn rounding_level_eigenvalues_are_dropped_whatever_their_sign() {
        assert_eq!(kept(&[1.0, 1e-17, -1e-17], Indefinite::Reject).unwrap(), [1.0]);
        assert!(matches!(
            kept(&[0.0, 0.0], Indefinite::Reject),
            Err(LkdlError::ZeroKernel { n_landmarks: 2 })
        ));
    }
}
