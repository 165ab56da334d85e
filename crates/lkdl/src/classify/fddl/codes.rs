//! All codes at once by accelerated proximal gradient steps that never raise J (FISTA, Beck &
//! Teboulle 2009, as Vu & Monga 2017 use it for FDDL):
//!
//! ```math
//! \Gamma'=\operatorname{soft}\Big(Y-\tfrac1{\text{Lip}}\tfrac12\nabla(Y),\tfrac{\lambda_1}{2\text{Lip}}\Big),
//! \qquad Y=\Gamma+\beta(\Gamma-\Gamma_{\text{last}})
//! ```
//! The gradient is affine in the codes, so that of Y costs no product: one product with H per step,
//! 2m²N flops at most. A step that raises J is thrown away and the momentum starts anew; a step
//! without momentum that raises it doubles Lip. The new codes overwrite the last ones, so two sets
//! of codes and gradients are all that is held.

use super::objective::{Means, Objective, Point, column_sum};
use crate::real::Real;
use faer::Mat;
use num_traits::Float;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// When the steps end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stopping {
    pub(super) max_iters: usize,
    /// J falls by less than this share of it, twice in a row.
    pub(super) tol: f64,
}

/// Improves the codes of `point`; returns J there, and how many steps were tried.
pub(super) fn minimize<T: Real>(
    objective: &Objective<'_, T>,
    point: &mut Point<T>,
    stopping: Stopping,
) -> (f64, usize) {
    let mut lipschitz = objective.lipschitz();
    let mut value = objective.value(point);
    let mut last = Point::blank(objective.layout);
    let (mut t, mut n_small) = (1.0f64, 0); // t = 1 means no momentum
    let mut n_steps = 0;
    while n_steps < stopping.max_iters {
        n_steps += 1;
        let t_next = 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
        let beta = (t - 1.0) / t_next;
        let change = step(objective, point, &mut last, beta, lipschitz);
        if change > 0.0 || change.is_nan() {
            if beta == 0.0 {
                if change <= stopping.tol * value {
                    break; // a plain step that leads nowhere: what is left is rounding
                }
                lipschitz *= 2.0;
            }
            t = 1.0;
            continue;
        }
        std::mem::swap(point, &mut last);
        (value, t) = (value + change, t_next);
        n_small = if -change <= stopping.tol * value { n_small + 1 } else { 0 };
        if n_small == 2 {
            break;
        }
    }
    (value, n_steps)
}

/// One step from `from`, with momentum away from `to`, which it overwrites. Returns the change of J.
fn step<T: Real>(
    objective: &Objective<'_, T>,
    from: &Point<T>,
    to: &mut Point<T>,
    beta: f64,
    lipschitz: f64,
) -> f64 {
    let means = momentum_gradient(objective, &from.means, &to.means, beta);
    let rule = Rule {
        beta: T::of(beta),
        rate: T::of(1.0 / lipschitz),
        threshold: T::of(objective.weights.l1 / (2.0 * lipschitz)),
    };
    let runs = to.gamma.par_iter_mut().zip(to.raw.par_iter_mut()).enumerate();
    let (changes, sums): (Vec<f64>, Vec<Vec<f64>>) = runs
        .map(|(b, (gamma, raw))| {
            let means = &means[objective.layout.runs[b].class];
            let (from_gamma, from_raw) = (&from.gamma[b], &from.raw[b]);
            Arch::new().dispatch(Steps { rule, from_gamma, from_raw, means, gamma, raw });
            objective.raw_into(b, gamma, raw);
            let l1 = objective.weights.l1;
            let change = Arch::new().dispatch(Change { l1, from_gamma, from_raw, gamma, raw });
            (change, column_sum(gamma))
        })
        .unzip();
    to.means = Means::new(objective.layout, &sums);
    changes.iter().sum::<f64>() + objective.mean_change(&from.means, &to.means)
}

/// The mean part of ½∇ at Y, for every class.
fn momentum_gradient<T: Real>(
    objective: &Objective<'_, T>,
    now: &Means,
    last: &Means,
    beta: f64,
) -> Vec<Vec<T>> {
    let (now, last) = (objective.mean_gradient(now), objective.mean_gradient(last));
    let at = |(now, last): (&Vec<f64>, &Vec<f64>)| {
        now.iter().zip(last).map(|(now, last)| T::of(now + beta * (now - last))).collect()
    };
    now.iter().zip(&last).map(at).collect()
}

#[derive(Clone, Copy)]
struct Rule<T> {
    beta: T,
    /// 1/Lip.
    rate: T,
    /// λ1/(2Lip).
    threshold: T,
}

/// sign(v)·max(|v| − by, 0), in a form that vectorises.
#[inline(always)]
fn soft_threshold<T: Real>(v: T, by: T) -> T {
    let zero = T::of(0.0);
    let (above, below) = (v - by, v + by);
    (if above > zero { above } else { zero }) + (if below < zero { below } else { zero })
}

/// The proximal step of a run's codes.
struct Steps<'a, T: Real> {
    rule: Rule<T>,
    from_gamma: &'a Mat<T>,
    from_raw: &'a Mat<T>,
    means: &'a [T],
    /// The last codes, which become the new ones.
    gamma: &'a mut Mat<T>,
    /// The raw gradient of the last codes.
    raw: &'a Mat<T>,
}

impl<T: Real> WithSimd for Steps<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Rule { beta, rate, threshold } = self.rule;
        for i in 0..self.gamma.ncols() {
            let (now, raw) = (self.from_gamma.col_as_slice(i), self.from_raw.col_as_slice(i));
            let last_raw = self.raw.col_as_slice(i);
            let out = self.gamma.col_as_slice_mut(i);
            let rows = now.iter().zip(raw).zip(last_raw).zip(self.means);
            for (out, (((&now, &raw), &last_raw), &mean)) in out.iter_mut().zip(rows) {
                let y = Float::mul_add(beta, now - *out, now);
                let gradient = Float::mul_add(beta, raw - last_raw, raw + mean);
                *out = soft_threshold(y - rate * gradient, threshold);
            }
        }
    }
}

/// What a step of a run changes J by, but for the means: Σ(γ' − γ)(raw + raw') + λ1(|γ'| − |γ|).
/// Exact for a quadratic, and small terms only, where the difference of two values of J would be
/// lost in their size.
struct Change<'a, T: Real> {
    l1: f64,
    from_gamma: &'a Mat<T>,
    from_raw: &'a Mat<T>,
    gamma: &'a Mat<T>,
    raw: &'a Mat<T>,
}

impl<T: Real> WithSimd for Change<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        const LANES: usize = 16;
        let mut lanes = [0.0f64; LANES];
        let mut rest = 0.0;
        let l1 = self.l1;
        let term = |a: T, ra: T, b: T, rb: T| -> f64 {
            let (a, b) = (a.wide(), b.wide());
            (b - a).mul_add(ra.wide() + rb.wide(), l1 * (b.abs() - a.abs()))
        };
        for i in 0..self.gamma.ncols() {
            let (a, a_rest) = self.from_gamma.col_as_slice(i).as_chunks::<LANES>();
            let (ra, ra_rest) = self.from_raw.col_as_slice(i).as_chunks::<LANES>();
            let (b, b_rest) = self.gamma.col_as_slice(i).as_chunks::<LANES>();
            let (rb, rb_rest) = self.raw.col_as_slice(i).as_chunks::<LANES>();
            for (((a, ra), b), rb) in a.iter().zip(ra).zip(b).zip(rb) {
                for u in 0..LANES {
                    lanes[u] += term(a[u], ra[u], b[u], rb[u]);
                }
            }
            for (((&a, &ra), &b), &rb) in a_rest.iter().zip(ra_rest).zip(b_rest).zip(rb_rest) {
                rest += term(a, ra, b, rb);
            }
        }
        lanes.iter().sum::<f64>() + rest
    }
}
