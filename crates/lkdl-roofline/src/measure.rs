//! Times, and the bare products they are held against.
//!
//! A machine's speed drifts: with its temperature, and with what else it does. So every time is
//! the best of several, and a stage and its bare product are measured in turn, not one after the
//! other: their ratio is that of equal conditions.

use crate::{RooflineError, Session, flops};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use lkdl::Real;
use rayon::prelude::*;
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Columns per task of a bare product: which width is best depends on shape and machine, so each
/// is tried.
const WIDTHS: [usize; 5] = [64, 128, 256, 512, 1024];
const MAX_WIDTH: usize = WIDTHS[WIDTHS.len() - 1];
/// Widths that stay in the race after one trial each.
const FINALISTS: usize = 2;

/// How often a measurement is repeated: for a time, but within two counts.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Seconds to spend.
    pub seconds: f64,
    /// Repetitions, at least.
    pub min_reps: usize,
    /// Repetitions, at most.
    pub max_reps: usize,
}

impl Effort {
    /// Runs `step` as often as this allows.
    fn repeat<E>(self, mut step: impl FnMut() -> Result<(), E>) -> Result<(), E> {
        let start = Instant::now();
        let mut reps = 0;
        while reps < self.min_reps
            || (reps < self.max_reps && start.elapsed().as_secs_f64() < self.seconds)
        {
            step()?;
            reps += 1;
        }
        Ok(())
    }
}

/// The seconds of one call, and what it returns; freeing that is not timed.
pub fn time<R>(f: impl FnOnce() -> R) -> (f64, R) {
    let start = Instant::now();
    let result = black_box(f());
    (start.elapsed().as_secs_f64(), result)
}

/// The best times of some variants of a stage, and of their bare product.
#[derive(Debug)]
pub struct Timing {
    /// One per variant.
    pub stages: Vec<f64>,
    /// With the best panel width.
    pub product: f64,
}

/// Measures `stage` for every variant in turn with `product(width)`.
pub fn against<V, R>(
    session: &mut Session<'_>,
    variants: &[V],
    mut product: impl FnMut(usize),
    mut stage: impl FnMut(&V) -> Result<R, RooflineError>,
) -> Result<Timing, RooflineError> {
    product(MAX_WIDTH); // pages in the operands
    let mut trials = WIDTHS.map(|width| (time(|| product(width)).0, width));
    trials.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut best_product = trials[0];
    let mut stages = vec![f64::INFINITY; variants.len()];
    session.effort.repeat(|| {
        for (variant, best) in variants.iter().zip(&mut stages) {
            for &(_, width) in &trials[..FINALISTS] {
                let seconds = time(|| product(width)).0;
                if seconds < best_product.0 {
                    best_product = (seconds, width);
                }
            }
            let (seconds, result) = time(|| stage(variant));
            result?;
            *best = best.min(seconds);
        }
        Ok::<_, RooflineError>(())
    })?;
    let (product, width) = best_product;
    session.note(&format!("  bare product: {product:.5} s in panels of {width} columns"));
    Ok(Timing { stages, product })
}

/// The best time of a bare product.
pub fn bare(session: &mut Session<'_>, product: impl FnMut(usize)) -> f64 {
    let timing = against(session, &[()], product, |()| Ok(()));
    timing.map_or(f64::INFINITY, |timing| timing.product)
}

/// Measures `stage` for every variant in turn: the time and the result of each one's best run.
pub fn in_turn<V, R>(
    effort: Effort,
    variants: &[V],
    mut stage: impl FnMut(&V) -> Result<R, RooflineError>,
) -> Result<Vec<(f64, R)>, RooflineError> {
    let mut best: Vec<Option<(f64, R)>> = variants.iter().map(|_| None).collect();
    effort.repeat(|| {
        for (variant, best) in variants.iter().zip(&mut best) {
            let (seconds, result) = time(|| stage(variant));
            let result = result?;
            if best.as_ref().is_none_or(|before| seconds < before.0) {
                *best = Some((seconds, result));
            }
        }
        Ok::<_, RooflineError>(())
    })?;
    Ok(best.into_iter().flatten().collect())
}

/// out = AᵀB in column panels of the given width, each sequential, all in parallel.
pub fn product_into<T: Real>(out: MatMut<'_, T>, A: MatRef<'_, T>, B: MatRef<'_, T>, width: usize) {
    out.par_col_chunks_mut(width).enumerate().for_each(|(t, out)| {
        let B = B.subcols(t * width, out.ncols());
        matmul(out, Accum::Replace, A.transpose(), B, T::of(1.0), Par::Seq);
    });
}

/// The two products of a map and nothing else: F = Pᵀ(YᵀX), panel by panel, so that YᵀX never
/// reaches memory. This is as fast as a map could be if kernels cost nothing.
pub struct ChainedProduct<'a, T: Real> {
    Y: MatRef<'a, T>,
    P: MatRef<'a, T>,
    X: MatRef<'a, T>,
    F: Mat<T>,
    /// One tile per thread.
    tiles: Vec<Mutex<Mat<T>>>,
}

impl<'a, T: Real> ChainedProduct<'a, T> {
    /// Takes all memory it will need.
    pub fn new(Y: MatRef<'a, T>, P: MatRef<'a, T>, X: MatRef<'a, T>) -> Self {
        let tile = || Mutex::new(Mat::zeros(Y.ncols(), MAX_WIDTH));
        let tiles = (0..rayon::current_num_threads()).map(|_| tile()).collect();
        Self { Y, P, X, F: Mat::zeros(P.ncols(), X.ncols()), tiles }
    }

    /// Both products, in panels of the given width.
    pub fn run(&mut self, width: usize) {
        let Self { Y, P, X, F, tiles } = self;
        F.as_mut().par_col_chunks_mut(width).enumerate().for_each(|(t, out)| {
            let thread = rayon::current_thread_index().unwrap_or(0);
            let mut tile = tiles[thread].lock().unwrap_or_else(PoisonError::into_inner);
            let X = X.subcols(t * width, out.ncols());
            let mut tile = tile.as_mut().subcols_mut(0, out.ncols());
            matmul(tile.as_mut(), Accum::Replace, Y.transpose(), X, T::of(1.0), Par::Seq);
            matmul(out, Accum::Replace, P.transpose(), tile.as_ref(), T::of(1.0), Par::Seq);
        });
    }
}

/// The machine's product rates, in Gflop/s: the best seen at any time of the run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rates {
    /// Of `f32`.
    pub f32: f64,
    /// Of `f64`.
    pub f64: f64,
}

impl Rates {
    /// That of the named type.
    pub fn of(&self, dtype: &str) -> f64 {
        if dtype == "f32" { self.f32 } else { self.f64 }
    }

    /// Measures both again. Operands are freed: they must not count as a stage's memory.
    pub fn refresh(&mut self, size: usize, reps: usize) {
        self.f32 = self.f32.max(product_rate::<f32>(size, reps));
        self.f64 = self.f64.max(product_rate::<f64>(size, reps));
    }
}

fn product_rate<T: Real>(size: usize, reps: usize) -> f64 {
    let value = |i: usize, j: usize| T::of(((i * 31 + j * 17) % 64) as f64 / 64.0 - 0.5);
    let (A, B) = (Mat::from_fn(size, size, value), Mat::from_fn(size, size, value));
    let mut out = Mat::<T>::zeros(size, size);
    let mut run = |width| time(|| product_into(out.as_mut(), A.as_ref(), B.as_ref(), width)).0;
    run(MAX_WIDTH); // pages in the operands
    let mut best = f64::INFINITY;
    for _ in 0..reps {
        for width in WIDTHS {
            best = best.min(run(width));
        }
    }
    flops::product(size, size, size) / best
}
