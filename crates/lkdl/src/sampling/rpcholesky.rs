//! Pivoted partial Cholesky of the kernel matrix: K ≈ FᵀF with pivots drawn by what is missing.
//!
//! Chen, Epperly, Tropp & Webber (RPCholesky): with d the residual diagonal,
//! ```math
//! s\sim d/\textstyle\sum d,\quad g=K_{:,s}-F^\top F_{:,s},\quad f=g/\sqrt{g_s},\quad
//! d\leftarrow d-f^2.
//! ```
//! Then FᵀF = CW†Cᵀ, the Nyström matrix of the pivots, and Σd = tr(K − FᵀF) is its exact error.
//!
//! Accelerated form (Epperly, Tropp & Webber 2024), same law: draw b proposals from d at once,
//! form their residual matrix H (b×b), and walk through it: proposal i is accepted with
//! probability H_ii/d_i, and then eliminated from H. All accepted columns follow by one product.
//! Greedy pivots (largest d) run through the same code with b = 1.
//!
//! F is stored t×N, a sample's values contiguous. Time O(Ncp + Nc²), memory N·c values.

use super::draw::Cumulative;
use crate::error::LkdlError;
use crate::kernel::{Kernel, Panel};
use crate::linalg::{Cholesky, add_product, convert, gram};
use crate::matrix::{BLOCK, Columns, col, columns_of, gather, subcols};
use crate::random::{Stage, stream};
use crate::real::Real;
use crate::vector::norm_sq;
use faer::{Mat, MatRef};
use rand::RngExt;
use rayon::prelude::*;

/// A residual below this multiple of √c·ε·max K_ii is rounding of the c eliminations before it.
const ROUNDING: f64 = 10.0;
/// Fewest proposals per block: the products below are then wide enough to run at full speed.
const MIN_PROPOSALS: usize = 64;
/// Proposals per block as a share of the pivots so far. Small enough that most are accepted and a
/// run that stops by its error overshoots little; at the end it is a tenth of c.
const PROPOSAL_SHARE: usize = 10;
/// Rows of F reserved at first, doubled when used up: a run may stop far below its limit.
pub(super) const FIRST_ROWS: usize = 1024;

/// How the next pivot is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PivotRule {
    /// With probability proportional to the residual diagonal.
    Random,
    /// The largest residual diagonal, lowest index first.
    Greedy,
}

/// A partial factorisation K ≈ FᵀF.
#[derive(Debug, Clone)]
pub(crate) struct Pivots<T: Real> {
    /// The pivots, in order.
    pub(crate) indices: Vec<usize>,
    /// F, t×N: the virtual samples of variant `rpcholesky`.
    pub(crate) factor: Mat<T>,
    /// d = diag(K − FᵀF), clamped at 0; 0 at pivots.
    pub(crate) residual_diag: Vec<f64>,
    /// tr K.
    pub(crate) trace: f64,
    /// Σd after each pivot.
    pub(crate) trace_curve: Vec<f64>,
}

impl<T: Real> Pivots<T> {
    /// Σd / tr K; 0 for a kernel matrix without mass.
    pub(crate) fn trace_error(&self) -> f64 {
        if self.trace > 0.0 { self.residual_diag.iter().sum::<f64>() / self.trace } else { 0.0 }
    }
}

/// A residual diagonal up to this value is rounding: 10√c·ε_κ·max K_ii.
pub(super) fn rounding_floor<T: Real>(n_landmarks: usize, diag: &[f64]) -> f64 {
    let largest = diag.iter().copied().fold(0.0, f64::max);
    ROUNDING * (n_landmarks as f64).sqrt() * T::EPS * largest
}

/// Chooses up to `max_pivots` pivots among the samples; fewer when the kernel matrix has no more
/// numerical rank, or from the first pivot at which `stop(&trace_curve, trace)` holds.
pub(crate) fn pivoted_cholesky<T: Real>(
    kernel: &Kernel,
    X: Columns<'_, T>,
    rule: PivotRule,
    max_pivots: usize,
    seed: u64,
    mut stop: impl FnMut(&[f64], f64) -> bool,
) -> Result<Pivots<T>, LkdlError> {
    let n = X.ncols();
    let max_pivots = max_pivots.min(n);
    let diag: Vec<f64> = kernel.diag(X)?.iter().map(|v| v.max(0.0)).collect();
    let floor = rounding_floor::<T>(max_pivots, &diag);
    let mut run = Pivots {
        indices: Vec::new(),
        factor: Mat::zeros(max_pivots.min(FIRST_ROWS), n),
        trace: diag.iter().sum(),
        residual_diag: diag,
        trace_curve: Vec::new(),
    };
    let mut stopped = false;
    for block in 0.. {
        let done = run.indices.len();
        if stopped || done == max_pivots || run.residual_diag.iter().all(|&d| d <= floor) {
            break;
        }
        let mut rng = stream(seed, Stage::Proposals, 0, block);
        let proposals: Vec<usize> = match rule {
            PivotRule::Greedy => vec![largest(&run.residual_diag)],
            PivotRule::Random => {
                let count = MIN_PROPOSALS.max(done / PROPOSAL_SHARE);
                let Some(residual) = Cumulative::new(&run.residual_diag) else { break };
                (0..count).map(|_| residual.draw(&mut rng)).collect()
            }
        };
        let accept = |h: f64, d: f64| rule == PivotRule::Greedy || rng.random::<f64>() * d < h;
        let walk = run.walk(kernel, X, &proposals, max_pivots - done, floor, accept)?;
        if !walk.accepted.is_empty() {
            stopped = run.append(kernel, X, &walk, max_pivots, &mut stop)?;
        }
        if !stopped {
            for s in walk.discarded {
                run.residual_diag[s] = 0.0;
            }
        }
    }
    run.factor.truncate(run.indices.len(), n);
    Ok(run)
}

/// The pivots accepted from one block of proposals.
struct Walk {
    accepted: Vec<usize>,
    /// The Cholesky factor of their residual matrix.
    chol: Cholesky,
    /// Proposals that depend on the pivots accepted before them: their residual is rounding.
    discarded: Vec<usize>,
}

impl<T: Real> Pivots<T> {
    /// Walks through the residual matrix H of the proposals, accepting and eliminating.
    fn walk(
        &self,
        kernel: &Kernel,
        X: Columns<'_, T>,
        proposals: &[usize],
        limit: usize,
        floor: f64,
        mut accept: impl FnMut(f64, f64) -> bool,
    ) -> Result<Walk, LkdlError> {
        let b = proposals.len();
        let G = convert::<T, f64>(self.factor_at(proposals).as_ref());
        let mut H =
            Panel::of_samples(kernel, X.as_dyn_stride(), proposals)?.gram()? - gram(G.as_ref());
        let proposed: Vec<f64> = proposals.iter().map(|&s| self.residual_diag[s]).collect();
        let (mut kept, mut discarded) = (Vec::new(), Vec::new());
        for i in 0..b {
            if kept.len() == limit {
                break;
            }
            let h = H[(i, i)];
            if h <= floor {
                discarded.push(proposals[i]);
            } else if accept(h, proposed[i]) {
                // Column i becomes the Cholesky column; later columns lose their part along it.
                let root = h.sqrt();
                for v in &mut H.col_as_slice_mut(i)[i..] {
                    *v /= root;
                }
                let pivot = H.col_as_slice(i).to_vec();
                for j in i + 1..b {
                    for (v, l) in H.col_as_slice_mut(j)[j..].iter_mut().zip(&pivot[j..]) {
                        *v -= l * pivot[j];
                    }
                }
                kept.push(i);
            }
        }
        let lower =
            Mat::from_fn(
                kept.len(),
                kept.len(),
                |i, j| {
                    if i >= j { H[(kept[i], kept[j])] } else { 0.0 }
                },
            );
        let accepted = kept.iter().map(|&i| proposals[i]).collect();
        Ok(Walk { accepted, chol: Cholesky { lower }, discarded })
    }

    /// Appends the rows L⁻¹(K[S,:] − F[:,S]ᵀF) of the accepted pivots S, up to the first at which
    /// `stop` holds; returns whether it did.
    fn append(
        &mut self,
        kernel: &Kernel,
        X: Columns<'_, T>,
        walk: &Walk,
        max_pivots: usize,
        stop: &mut impl FnMut(&[f64], f64) -> bool,
    ) -> Result<bool, LkdlError> {
        let (done, n) = (self.indices.len(), X.ncols());
        let Walk { accepted, chol, .. } = walk;
        if done + accepted.len() > self.factor.nrows() {
            let rows = (2 * self.factor.nrows()).max(done + accepted.len()).min(max_pivots);
            self.factor.resize_with(rows, n, |_, _| T::of(0.0));
        }
        let panel = Panel::of_samples(kernel, X.as_dyn_stride(), accepted)?;
        let G = self.factor_at(accepted);
        let rows: Vec<Result<Vec<f64>, LkdlError>> = self
            .factor
            .par_col_chunks_mut(BLOCK)
            .enumerate()
            .map(|(t, chunk)| {
                let range = t * BLOCK..t * BLOCK + chunk.ncols();
                let (old, new) = chunk.split_at_row_mut(done);
                let mut new = new.subrows_mut(0, accepted.len());
                panel.tile(subcols(X, range.clone()), new.as_mut(), &mut Vec::new())?;
                add_product(new.as_mut(), -1.0, G.transpose(), old.as_ref());
                let mut wide = convert::<T, f64>(new.as_ref());
                chol.solve_lower(wide.as_mut());
                // At a pivot the rows are L's own: exact, where the tile's self-pair is not.
                for (j, s) in accepted.iter().enumerate().filter(|(_, s)| range.contains(s)) {
                    wide.as_mut().col_mut(s - range.start).copy_from(chol.lower.row(j).transpose());
                }
                new.copy_from(convert::<f64, T>(wide.as_ref()));
                finite_row_masses(new.as_ref()).map_err(|value| panel.overflow(value))
            })
            .collect();

        let mut captured = vec![0.0; accepted.len()];
        for block in rows {
            for (sum, part) in captured.iter_mut().zip(block?) {
                *sum += part;
            }
        }
        let mut left: f64 = self.residual_diag.iter().sum();
        let mut stopped = false;
        for (&s, gain) in accepted.iter().zip(captured) {
            left = (left - gain).max(0.0);
            self.indices.push(s);
            self.trace_curve.push(left);
            stopped = stop(&self.trace_curve, self.trace);
            if stopped {
                break;
            }
        }
        let end = self.indices.len();
        let factor = columns_of(&self.factor);
        self.residual_diag.par_iter_mut().enumerate().for_each(|(i, d)| {
            *d = (*d - norm_sq(&col(factor, i)[done..end])).max(0.0);
        });
        for &s in &self.indices[done..] {
            self.residual_diag[s] = 0.0;
        }
        Ok(stopped)
    }

    /// The filled rows of F at some samples, t×len.
    fn factor_at(&self, samples: &[usize]) -> Mat<T> {
        let mut G = gather(columns_of(&self.factor), samples);
        G.truncate(self.indices.len(), samples.len());
        G
    }
}

/// Σ f² of every row of a block, or the first value that is not finite.
fn finite_row_masses<T: Real>(rows: MatRef<'_, T>) -> Result<Vec<f64>, f64> {
    let mut masses = vec![0.0; rows.nrows()];
    for column in rows.col_iter() {
        for (mass, v) in masses.iter_mut().zip(column.iter()) {
            *mass += v.wide() * v.wide();
        }
    }
    match masses.iter().find(|m| !m.is_finite()) {
        Some(&value) => Err(value),
        None => Ok(masses),
    }
}

/// Index of the largest value, the lowest of equals.
fn largest(values: &[f64]) -> usize {
    (0..values.len()).fold(0, |best, i| if values[i] > values[best] { i } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::full_eigen;
    use crate::random::draw_weighted;
    use crate::testing::{close, random_matrix, same_for_any_thread_count, tolerance};

    const GAUSSIAN: Kernel = Kernel::Gaussian { sigma: 1.0 };

    fn dense<T: Real>(kernel: &Kernel, X: &Mat<T>) -> Mat<f64> {
        Panel::new(kernel, X.as_ref()).unwrap().gram().unwrap()
    }

    fn run<T: Real>(
        kernel: &Kernel,
        X: &Mat<T>,
        rule: PivotRule,
        c: usize,
        seed: u64,
    ) -> Pivots<T> {
        pivoted_cholesky(kernel, columns_of(X), rule, c, seed, |_, _| false).unwrap()
    }

    /// CW†Cᵀ on the dense kernel matrix.
    fn nystroem(K: &Mat<f64>, S: &[usize]) -> Mat<f64> {
        let C = Mat::from_fn(K.nrows(), S.len(), |i, j| K[(i, S[j])]);
        let W =
            full_eigen(Mat::from_fn(S.len(), S.len(), |i, j| K[(S[i], S[j])]).as_ref()).unwrap();
        let CV = &C * &W.vectors;
        let floor = 1e-13 * W.values[0];
        let inverse = |v: f64| if v > floor { 1.0 / v } else { 0.0 };
        &Mat::from_fn(CV.nrows(), CV.ncols(), |i, j| CV[(i, j)] * inverse(W.values[j]))
            * CV.transpose()
    }

    /// One pivot at a time on the dense matrix, as the algorithm is written. Returns Σd and pivots.
    fn plain(K: &Mat<f64>, rule: PivotRule, c: usize, seed: u64) -> (f64, Vec<usize>) {
        let n = K.nrows();
        let mut rng = stream(seed, Stage::Landmarks, 9, 9);
        let mut d: Vec<f64> = (0..n).map(|i| K[(i, i)]).collect();
        let (mut F, mut S) = (Vec::<Vec<f64>>::new(), Vec::new());
        while S.len() < c {
            let s = match rule {
                PivotRule::Greedy => largest(&d),
                PivotRule::Random => draw_weighted(&mut rng, &d, d.iter().sum()).unwrap(),
            };
            let g: Vec<f64> =
                (0..n).map(|i| K[(i, s)] - F.iter().map(|f| f[i] * f[s]).sum::<f64>()).collect();
            let f: Vec<f64> = g.iter().map(|v| v / g[s].sqrt()).collect();
            for i in 0..n {
                d[i] = (d[i] - f[i] * f[i]).max(0.0);
            }
            d[s] = 0.0;
            F.push(f);
            S.push(s);
        }
        (d.iter().sum(), S)
    }

    #[test]
    fn residual_and_factor_are_those_of_the_nystroem_matrix() {
        let X = random_matrix::<f64>(4, 300, 1);
        for kernel in [GAUSSIAN, Kernel::Polynomial { degree: 3.0, offset: 1.0 }] {
            for rule in [PivotRule::Random, PivotRule::Greedy] {
                let run = run(&kernel, &X, rule, 30, 4);
                let K = dense(&kernel, &X);
                let approximation = gram(run.factor.as_ref());
                let exact: f64 = (0..300).map(|i| K[(i, i)] - approximation[(i, i)]).sum();
                let left: f64 = run.residual_diag.iter().sum();
                assert!((left - exact).abs() <= 1e-10 * run.trace, "{left} {exact}");
                assert!((run.trace_error() * run.trace - exact).abs() <= 1e-10 * run.trace);
                assert!((run.trace_curve[29] - exact).abs() <= 1e-10 * run.trace);
                close(approximation.as_ref(), nystroem(&K, &run.indices).as_ref(), 1e-8);
            }
        }
    }

    #[test]
    fn single_precision_residual_is_exact_to_its_rounding() {
        let X = random_matrix::<f32>(4, 300, 1);
        let run = run(&GAUSSIAN, &X, PivotRule::Random, 150, 4);
        let K = dense(&GAUSSIAN, &X);
        let F = convert::<f32, f64>(run.factor.as_ref());
        let exact = (0..300).map(|i| K[(i, i)]).sum::<f64>() - norm_of(&F);
        assert_eq!(run.factor.nrows(), run.indices.len());
        assert!((run.trace_error() * 300.0 - exact).abs() < 300.0 * tolerance::<f32>(12));
    }

    fn norm_of(F: &Mat<f64>) -> f64 {
        F.col_iter().flat_map(|f| f.iter()).map(|v| v * v).sum()
    }

    fn rank_r_is_recovered<T: Real>() {
        let X = random_matrix::<T>(7, 200, 2);
        let K = dense(&Kernel::Linear, &X);
        for rule in [PivotRule::Random, PivotRule::Greedy] {
            for c in [7, 30] {
                let found = run(&Kernel::Linear, &X, rule, c, 5);
                assert_eq!(found.indices.len(), 7);
                let F = convert::<T, f64>(found.factor.as_ref());
                close(gram(F.as_ref()).as_ref(), K.as_ref(), tolerance::<T>(7));
                assert!(found.trace_error() < tolerance::<T>(1));
            }
        }
    }

    #[test]
    fn a_matrix_of_rank_r_is_recovered_by_r_pivots_and_gives_no_more() {
        rank_r_is_recovered::<f64>();
        rank_r_is_recovered::<f32>();
    }

    #[test]
    fn accelerated_and_plain_forms_agree_in_mean_error() {
        // Clustered data: the residual changes within a block, so a wrong acceptance rule shows.
        let noise = random_matrix::<f64>(2, 240, 3);
        let X = Mat::from_fn(2, 240, |r, i| {
            0.2 * noise[(r, i)] + if i < 200 { 0.0 } else { (i % 8) as f64 }
        });
        let K = dense(&GAUSSIAN, &X);
        let seeds = 60;
        for c in [5, 12] {
            let errors: Vec<(f64, f64)> = (0..seeds)
                .map(|seed| {
                    let fast = run(&GAUSSIAN, &X, PivotRule::Random, c, seed);
                    (fast.trace_error(), plain(&K, PivotRule::Random, c, seed).0 / 240.0)
                })
                .collect();
            let mean = |f: fn(&(f64, f64)) -> f64| errors.iter().map(f).sum::<f64>() / seeds as f64;
            let (fast, slow) = (mean(|e| e.0), mean(|e| e.1));
            let spread = errors.iter().map(|e| (e.1 - slow).powi(2)).sum::<f64>() / seeds as f64;
            let standard_error = (2.0 * spread / seeds as f64).sqrt();
            assert!((fast - slow).abs() < 3.0 * standard_error, "{fast} {slow} ± {standard_error}");
        }
    }

    #[test]
    fn greedy_takes_the_pivots_of_the_plain_form() {
        let X = random_matrix::<f64>(3, 150, 6);
        let kernel = Kernel::Polynomial { degree: 2.0, offset: 1.0 };
        let fast = run(&kernel, &X, PivotRule::Greedy, 9, 0);
        assert_eq!(fast.indices, plain(&dense(&kernel, &X), PivotRule::Greedy, 9, 0).1);
    }

    #[test]
    fn stopping_by_error_keeps_exactly_the_pivots_needed() {
        let X = random_matrix::<f64>(3, 400, 8);
        let K = dense(&GAUSSIAN, &X);
        let reached = |curve: &[f64], trace: f64| curve.last().is_some_and(|d| *d <= 0.2 * trace);
        let run = pivoted_cholesky(&GAUSSIAN, columns_of(&X), PivotRule::Random, 400, 1, reached)
            .unwrap();
        let t = run.indices.len();
        assert!(t > 1 && t < 60, "{t}");
        assert!(run.trace_curve[t - 1] <= 80.0 && run.trace_curve[t - 2] > 80.0);
        assert_eq!((run.factor.nrows(), run.trace_curve.len()), (t, t));
        close(gram(run.factor.as_ref()).as_ref(), nystroem(&K, &run.indices).as_ref(), 1e-9);
        assert!((run.residual_diag.iter().sum::<f64>() - run.trace_curve[t - 1]).abs() < 1e-9);
    }

    #[test]
    fn the_factor_grows_past_its_first_rows() {
        let X = random_matrix::<f32>(2, 1200, 8);
        let run = run(&Kernel::Exponential { sigma: 0.1 }, &X, PivotRule::Random, 1100, 1);
        assert_eq!((run.factor.nrows(), run.factor.ncols()), (1100, 1200));
        let F = convert::<f32, f64>(run.factor.as_ref());
        assert!((1200.0 - norm_of(&F) - run.residual_diag.iter().sum::<f64>()).abs() < 1e-2);
        assert!(run.trace_curve.windows(2).all(|w| w[1] <= w[0]));
    }

    #[test]
    fn kernel_values_that_are_not_finite_are_an_error() {
        let X = random_matrix::<f64>(2, 50, 8);
        let kernel = Kernel::custom("broken", |x, y| if x == y { 1.0 } else { f64::NAN });
        for rule in [PivotRule::Random, PivotRule::Greedy] {
            let result = pivoted_cholesky(&kernel, columns_of(&X), rule, 5, 0, |_, _| false);
            assert!(matches!(result, Err(LkdlError::KernelOverflow { .. })));
        }
    }

    #[test]
    fn bits_do_not_depend_on_the_thread_count() {
        let X = random_matrix::<f32>(5, 700, 8);
        same_for_any_thread_count(|| {
            let run = run(&GAUSSIAN, &X, PivotRule::Random, 90, 2);
            (run.indices, run.factor, run.residual_diag, run.trace_curve)
        });
    }
}
