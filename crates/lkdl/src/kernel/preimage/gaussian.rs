//! Gaussian kernel: z ← Σ_s a_sκ(z,x_s)x_s / Σ_s a_sκ(z,x_s), the weighted mean shift.
//!
//! κ(z,z) = 1, so the closest Φ(z) is where |g(z)| = |Σ_s a_sκ(z,x_s)| is largest. The fixed point
//! is a gradient step of length σ²/g: where weights of both signs cancel, g vanishes and the step
//! would leave the data, and a gradient step of length σ²/Σ_s|a_s|κ(z,x_s) is taken instead.

use super::climb::{Surface, climb};
use super::{Candidate, Expansion, best};
use crate::matrix::col;
use crate::vector::sum_zip;

/// g has vanished below this share of Σ_s|a_s|κ(z,x_s).
const VANISHED: f64 = 1e-8;

struct Hills<'a> {
    expansion: Expansion<'a>,
    sigma: f64,
}

impl Surface for Hills<'_> {
    fn look(&self, z: &[f64]) -> (f64, Vec<f64>) {
        let Expansion { points, weights } = self.expansion;
        let value = |s: usize| {
            let sq = sum_zip(z, col(points, s), |a, b| (a - b) * (a - b));
            (-sq / (2.0 * self.sigma * self.sigma)).exp()
        };
        let parts: Vec<f64> = weights.iter().enumerate().map(|(s, a)| a * value(s)).collect();
        let g: f64 = parts.iter().sum();
        let total: f64 = parts.iter().map(|part| part.abs()).sum();
        if total == 0.0 {
            return (0.0, z.to_vec());
        }
        let mut next = self.expansion.combine(&parts);
        if g.abs() >= VANISHED * total {
            next.iter_mut().for_each(|v| *v /= g);
        } else {
            // signum of +0 is 1: from a valley of height 0 it climbs to the positive side
            let step = g.signum() / total;
            next.iter_mut().zip(z).for_each(|(v, z)| *v = z + step * (*v - g * z));
        }
        (g, next)
    }

    fn scale(&self) -> f64 {
        self.sigma
    }
}

/// The pre-image of an expansion; zero if it has no weight.
pub(super) fn pre_image(expansion: Expansion<'_>, sigma: f64) -> Vec<f64> {
    let surface = Hills { expansion, sigma };
    let candidates = expansion.starts().into_iter().map(|s| {
        let (z, g) = climb(&surface, col(expansion.points, s).to_vec());
        Candidate { z, objective: 1.0 - 2.0 * g.abs() }
    });
    best(candidates, expansion.points.nrows())
}
