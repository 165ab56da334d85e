//! Polynomial kernels of integer degree: direction by a normalised fixed point, then length.
//!
//! Write z = t·u with ‖u‖ = 1. For a given length κ(z,z) = (t²+b)^d is fixed, so the best direction
//! maximises |g| with g = Σ_s a_s(t·uᵀx_s+b)^d; its fixed point is
//! u ← normalise(Σ_s a_s(t·uᵀx_s+b)^{d−1}x_s). For a given direction the length minimises
//! (t²+b)^d − 2|g(t)|. Without offset the direction does not depend on the length, and t^d = |g| for
//! unit u; with one, the two alternate.
//!
//! At degree 2 without offset g = uᵀMu with M = Σ_s a_sx_sx_sᵀ, and the eigenpair of the largest
//! |λ| is the exact answer. Only inner products with the points matter, so an orthonormal basis
//! of their span may stand for the p features.

use super::climb::{Surface, climb};
use super::{Candidate, Expansion, best};
use crate::error::LkdlError;
use crate::linalg::{full_eigen, product_into};
use crate::matrix::col;
use crate::vector::{dot, norm_sq, normalize};
use faer::Mat;

/// Rounds of direction and length.
const MAX_ROUNDS: usize = 50;
/// A length that changes by less than this share has settled.
const SETTLED: f64 = 1e-12;
/// Lengths tried before the best is refined.
const LENGTHS: usize = 64;
/// Bisections of the refinement: to the last bit.
const BISECTIONS: usize = 64;
/// Times the longest length is doubled before the search gives up.
const DOUBLINGS: usize = 64;

/// Directions of one length.
struct Sphere<'a> {
    expansion: Expansion<'a>,
    degree: i32,
    offset: f64,
    /// t.
    length: f64,
}

impl Surface for Sphere<'_> {
    fn look(&self, u: &[f64]) -> (f64, Vec<f64>) {
        let Expansion { points, weights } = self.expansion;
        let base = |s: usize| self.length * dot(u, col(points, s)) + self.offset;
        let bases: Vec<f64> = (0..weights.len()).map(base).collect();
        let slopes: Vec<f64> =
            weights.iter().zip(&bases).map(|(a, base)| a * base.powi(self.degree - 1)).collect();
        let g: f64 = slopes.iter().zip(&bases).map(|(slope, base)| slope * base).sum();
        let mut next = self.expansion.combine(&slopes);
        if g < 0.0 {
            next.iter_mut().for_each(|v| *v = -*v); // towards a deeper valley
        }
        if normalize(&mut next) == 0.0 {
            return (g, u.to_vec());
        }
        (g, next)
    }

    fn retract(&self, u: &mut [f64]) {
        normalize(u);
    }

    fn scale(&self) -> f64 {
        1.0
    }
}

/// The pre-image under (xᵀy + offset)^degree; zero if no point of weight has a direction.
pub(super) fn pre_image(expansion: Expansion<'_>, degree: i32, offset: f64) -> Vec<f64> {
    let candidates =
        expansion.starts().into_iter().filter_map(|s| from_start(expansion, degree, offset, s));
    let mut z = best(candidates, expansion.points.nrows());
    if degree % 2 == 0 && offset == 0.0 {
        face_points(expansion, &mut z);
    }
    z
}

fn from_start(
    expansion: Expansion<'_>,
    degree: i32,
    offset: f64,
    start: usize,
) -> Option<Candidate> {
    let mut u = col(expansion.points, start).to_vec();
    let length = normalize(&mut u);
    if length == 0.0 {
        return None;
    }
    let mut sphere = Sphere { expansion, degree, offset, length };
    if offset == 0.0 {
        sphere.length = 1.0;
        let (mut u, g) = climb(&sphere, u);
        let power = g.abs().powf(1.0 / f64::from(degree));
        // at odd degrees −Φ(z) = Φ(−z)
        let t = if degree % 2 == 1 && g < 0.0 { -power } else { power };
        u.iter_mut().for_each(|v| *v *= t);
        return Some(Candidate { z: u, objective: -g * g });
    }
    let mut objective = f64::INFINITY;
    for _ in 0..MAX_ROUNDS {
        let (direction, g) = climb(&sphere, u);
        u = direction;
        let ray = Ray::new(&sphere, &u, if g < 0.0 { -1.0 } else { 1.0 });
        let (before, length) = (sphere.length, ray.best_length());
        objective = ray.objective(length);
        sphere.length = length;
        if (length - before).abs() <= SETTLED * before.max(length) {
            break;
        }
    }
    u.iter_mut().for_each(|v| *v *= sphere.length);
    Some(Candidate { z: u, objective })
}

/// The objective along one direction, as a function of the length.
struct Ray<'a> {
    sphere: &'a Sphere<'a>,
    /// uᵀx_s.
    shadows: Vec<f64>,
    /// Which of Φ(z) and −Φ(z) is meant.
    sign: f64,
}

impl<'a> Ray<'a> {
    fn new(sphere: &'a Sphere<'a>, u: &[f64], sign: f64) -> Self {
        let points = sphere.expansion.points;
        let shadows = (0..points.ncols()).map(|s| dot(u, col(points, s))).collect();
        Self { sphere, shadows, sign }
    }

    /// Σ_s f(a_s, uᵀx_s).
    fn sum(&self, f: impl Fn(f64, f64) -> f64) -> f64 {
        self.sphere.expansion.weights.iter().zip(&self.shadows).map(|(a, w)| f(*a, *w)).sum()
    }

    /// (t²+b)^d − 2·sign·Σ_s a_s(t·uᵀx_s+b)^d.
    fn objective(&self, t: f64) -> f64 {
        let (d, b) = (self.sphere.degree, self.sphere.offset);
        (t * t + b).powi(d) - 2.0 * self.sign * self.sum(|a, w| a * (t * w + b).powi(d))
    }

    /// The derivative of the objective over 2d.
    fn slope(&self, t: f64) -> f64 {
        let (d, b) = (self.sphere.degree - 1, self.sphere.offset);
        t * (t * t + b).powi(d) - self.sign * self.sum(|a, w| a * w * (t * w + b).powi(d))
    }

    /// t ≥ 0 of the least objective.
    fn best_length(&self) -> f64 {
        let mut longest = 2.0 * self.sphere.length;
        for _ in 0..DOUBLINGS {
            if self.slope(longest) >= 0.0 {
                break;
            }
            longest *= 2.0;
        }
        let step = longest / LENGTHS as f64;
        let lengths = (0..=LENGTHS).map(|i| i as f64 * step);
        let least =
            lengths.map(|t| (self.objective(t), t)).reduce(|a, b| if b.0 < a.0 { b } else { a });
        let t = least.map_or(0.0, |(_, t)| t);
        let (mut low, mut high) = ((t - step).max(0.0), t + step);
        if !(self.slope(low) < 0.0 && self.slope(high) > 0.0) {
            return t;
        }
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            if self.slope(middle) < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }
}

/// The exact pre-image under (xᵀy)²: z = √|λ|·v of the eigenpair of M with the largest |λ|.
pub(super) fn square(expansion: Expansion<'_>) -> Result<Vec<f64>, LkdlError> {
    let Expansion { points, weights } = expansion;
    let (p, c) = (points.nrows(), points.ncols());
    let weighted = Mat::from_fn(p, c, |row, s| weights[s] * points[(row, s)]);
    let mut M = Mat::zeros(p, p);
    product_into(M.as_mut(), weighted.as_ref(), points.as_dyn_stride().transpose());
    let pairs = full_eigen(M.as_ref())?;
    // eigenvalues descend, so the largest |λ| is the first or the last
    let last = p - 1;
    let at = if pairs.values[0].abs() >= pairs.values[last].abs() { 0 } else { last };
    let length = pairs.values[at].abs().sqrt();
    let mut z: Vec<f64> = pairs.vectors.col_as_slice(at).iter().map(|v| length * v).collect();
    face_points(expansion, &mut z);
    Ok(z)
}

/// Where Φ(z) = Φ(−z): the sign with which z points to its nearest point.
fn face_points(expansion: Expansion<'_>, z: &mut [f64]) {
    let points = expansion.points;
    let cosine = |s: usize| {
        let x = col(points, s);
        let norm = norm_sq(x).sqrt();
        if norm > 0.0 { dot(z, x) / norm } else { 0.0 }
    };
    let nearest =
        (0..points.ncols()).map(cosine).reduce(|a, b| if b.abs() > a.abs() { b } else { a });
    if nearest.is_some_and(|cosine| cosine < 0.0) {
        z.iter_mut().for_each(|v| *v = -*v);
    }
}
