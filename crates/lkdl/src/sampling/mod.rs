//! Landmarks X_R: the c points whose kernel columns stand for all N, LKDL Eqs. (19)–(21).
//!
//! | sampler | draws | time | memory |
//! |---|---|---|---|
//! | uniform | without replacement | O(Np) | O(N) |
//! | diagonal | ∝ K_ii² or K_ii | O(Np) | O(N) |
//! | column-norm | ∝ ‖K_{:,i}‖² | O(N²p), or O(Nsp) from s rows | O(N) |
//! | coreset | ∝ representation error | O(Np) | O(N) |
//! | k-means++ | ∝ squared distance to those drawn | O(Ncp) | O(N) |
//! | k-means | centres, not samples | 2Ncp per step | O(cp + N) |
//! | greedy, RPCholesky | residual diagonal of the kernel matrix | O(Ncp + Nc²) | N·c |
//! | leverage scores | ∝ ridge leverage | O(Nc²) | O(N + c²) |
//! | hybrid (default) | RPCholesky, then Lloyd steps | the sum | N·c |
//!
//! Rules shared by all. Equal samples count as one, so landmarks never repeat; when fewer than c
//! distinct ones can be had, fewer come back with [`Warning::FewerLandmarks`]. c = N takes every
//! distinct sample; c > N is an error. Weights that are all zero (a kernel without mass) fall back
//! to uniform. Where N·c values exceed the memory budget, pivots are chosen on a uniform pilot
//! sample ([`Warning::PilotSample`]). The diagonal sampler can also draw from samples that come in
//! blocks ([`DiagonalDraw`]).

mod column_norm;
mod coreset;
mod count;
mod diagonal;
mod draw;
mod kmeans;
mod kmeans_plus_plus;
mod leverage;
mod names;
mod reservoir;
pub(crate) mod rpcholesky;
#[cfg(test)]
mod tests;

pub use count::LandmarkCount;
pub use reservoir::{Candidate, DiagonalDraw, Reservoir};

use crate::distinct::distinct;
use crate::error::{LkdlError, Warning};
use crate::kernel::{Kernel, Panel};
use crate::lloyd::lloyd;
use crate::matrix::matrix_bytes;
use crate::matrix::{Columns, Contiguous, check_samples, check_size, columns_of, gather};
use crate::random::{Stage, sample_without_replacement, stream};
use crate::real::Real;
use faer::{Mat, MatRef};
use rpcholesky::{PivotRule, pivoted_cholesky};

/// Samples of a pilot per landmark, at least: with fewer, pivots describe the pilot, not the data.
const PILOT_PER_LANDMARK: usize = 20;
/// Lloyd steps of the default sampler; further ones hardly lower the kernel error.
const HYBRID_STEPS: usize = 5;
/// Default cap on Lloyd steps of k-means.
const KMEANS_STEPS: usize = 25;
/// Default relative fall of the inertia at which k-means stops.
const KMEANS_TOL: f64 = 1e-4;

/// How landmarks are chosen.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Sampler {
    /// Every sample alike.
    Uniform,
    /// By the kernel matrix's diagonal.
    Diagonal {
        /// K_ii² (the paper) rather than K_ii (its program).
        squared: bool,
    },
    /// By the squared norms of the kernel matrix's columns.
    ColumnNorm {
        /// `None`: exact. `Some(s)`: estimated from s random rows.
        rows: Option<usize>,
    },
    /// Centres of Lloyd's k-means, on at most max(20c, 10,000) samples drawn uniformly. Needs
    /// vectors.
    KMeans {
        /// Most Lloyd steps.
        max_iters: usize,
        /// Stop when the inertia falls by less (relative).
        tol: f64,
        /// Where the centres start.
        seeding: Seeding,
    },
    /// k-means++ seeds: samples far from those drawn before.
    KMeansPlusPlus {
        /// Distance in the kernel's feature space rather than between the vectors.
        kernel_distance: bool,
    },
    /// By the error of representing a sample by the mean of all (the paper). Needs vectors.
    CoresetMean,
    /// By the error of representing a sample by a constant image (the published program). Needs
    /// vectors.
    CoresetConstant,
    /// Pivoted Cholesky, largest residual first. Chases outliers: for comparison.
    GreedyCholesky,
    /// Randomly pivoted Cholesky: the best choice among samples for its cost.
    RpCholesky,
    /// Approximate ridge leverage scores, by recursion.
    LeverageScores,
    /// RPCholesky pivots moved by a few Lloyd steps: the default, and the lowest kernel error.
    /// On a precomputed or custom kernel, which has no means, it is plain RPCholesky.
    Hybrid {
        /// Lloyd steps.
        lloyd_steps: usize,
    },
    /// The samples at these indices; `n_landmarks` is not used.
    Given(Vec<usize>),
    /// c draws *with* replacement, then without the repeats, as the published program does: about
    /// N(1−e^{−c/N}) landmarks remain. For uniform, diagonal, column-norm and coreset.
    WithReplacement(Box<Sampler>),
}

/// Where k-means starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seeding {
    /// Distinct random samples (the paper).
    Uniform,
    /// RPCholesky pivots.
    RpCholesky,
}

impl Default for Sampler {
    fn default() -> Self {
        Self::Hybrid { lloyd_steps: HYBRID_STEPS }
    }
}

impl Sampler {
    /// k-means with the usual stopping rule: 25 steps, or a relative fall below 10⁻⁴.
    pub fn k_means(seeding: Seeding) -> Self {
        Self::KMeans { max_iters: KMEANS_STEPS, tol: KMEANS_TOL, seeding }
    }

    /// Whether it needs samples to be vectors.
    fn needs_vectors(&self) -> bool {
        match self {
            Self::KMeans { .. } | Self::CoresetMean | Self::CoresetConstant => true,
            Self::KMeansPlusPlus { kernel_distance } => !kernel_distance,
            Self::WithReplacement(inner) => inner.needs_vectors(),
            _ => false,
        }
    }
}

/// How many landmarks, chosen how.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LandmarkParams {
    /// How they are chosen.
    pub sampler: Sampler,
    /// c.
    pub n_landmarks: LandmarkCount,
    /// Seed of every random draw.
    pub seed: u64,
    /// Bytes the largest intermediate matrix may take; `None` for no limit.
    pub memory: Option<u64>,
}

/// Chosen landmarks.
#[derive(Debug, Clone)]
pub struct Landmarks<T: Real> {
    /// X_R, one landmark per column, no two equal.
    pub points: Mat<T>,
    /// Which samples they are; `None` if they are none (k-means centres, the caller's own).
    pub indices: Option<Vec<usize>>,
    /// tr(K − K̂)/tr K of the Nyström matrix K̂ on these landmarks, where it is known exactly:
    /// after Cholesky pivoting on all samples, and when all samples are landmarks.
    pub trace_error: Option<f64>,
    /// What the caller may want to know.
    pub warnings: Vec<Warning>,
}

impl<T: Real> Landmarks<T> {
    /// The caller's own landmarks, as they are.
    pub fn from_points(points: MatRef<'_, T>) -> Self {
        Self { points: points.to_owned(), indices: None, trace_error: None, warnings: Vec::new() }
    }

    /// The landmarks ready to be compared with samples; `samples` are those they were chosen from.
    pub fn panel(&self, kernel: &Kernel, samples: MatRef<'_, T>) -> Result<Panel<T>, LkdlError> {
        match &self.indices {
            Some(indices) => Panel::of_samples(kernel, samples, indices),
            None => Panel::new(kernel, self.points.as_ref()),
        }
    }

    /// The samples at `indices`, without repeats.
    fn of_samples(X: Columns<'_, T>, indices: Vec<usize>, wanted: usize) -> Self {
        let points = gather(X, &indices);
        let first = distinct(columns_of(&points));
        let indices = first.iter().map(|&j| indices[j]).collect();
        Self { indices: Some(indices), ..Self::of_centres(points, wanted) }
    }

    /// Free points, without repeats.
    fn of_centres(points: Mat<T>, wanted: usize) -> Self {
        let first = distinct(columns_of(&points));
        let mut warnings = Vec::new();
        if first.len() < wanted {
            warnings.push(Warning::FewerLandmarks { wanted, got: first.len() });
        }
        let points = gather(columns_of(&points), &first);
        Self { points, indices: None, trace_error: None, warnings }
    }
}

impl LandmarkParams {
    /// Chooses landmarks for `samples` (one per column).
    ///
    /// ```
    /// use lkdl::prelude::*;
    ///
    /// let samples = faer::Mat::from_fn(2, 50, |r, i| ((1 + r) as f64 * i as f64).sin());
    /// let params = LandmarkParams {
    ///     sampler: Sampler::RpCholesky,
    ///     n_landmarks: LandmarkCount::Exact(10),
    ///     ..Default::default()
    /// };
    /// let landmarks = params.select(&Kernel::Gaussian { sigma: 1.0 }, samples.as_ref())?;
    /// assert_eq!(landmarks.points.ncols(), 10);
    /// assert!(landmarks.trace_error.is_some_and(|error| error < 0.05));
    /// # Ok::<(), LkdlError>(())
    /// ```
    pub fn select<T: Real>(
        &self,
        kernel: &Kernel,
        samples: MatRef<'_, T>,
    ) -> Result<Landmarks<T>, LkdlError> {
        self.check(kernel, samples)?;
        let contiguous = Contiguous::new(samples);
        let X = contiguous.columns();
        let limit = self.limit(X.ncols())?;
        let trace_error = match (&self.sampler, self.n_landmarks) {
            (Sampler::Given(_), _) | (_, LandmarkCount::Exact(_) | LandmarkCount::Share(_)) => {
                return self.select_count(kernel, X, limit);
            }
            (_, LandmarkCount::Auto { trace_error, .. }) => trace_error,
        };
        let pivots = self.enough_pivots(kernel, X, limit, trace_error)?;
        match &self.sampler {
            Sampler::RpCholesky => Ok(pivots),
            Sampler::Hybrid { lloyd_steps } => self.refine(kernel, X, pivots, *lloyd_steps),
            _ => self.select_count(kernel, X, pivots.points.ncols()),
        }
    }

    /// c by the trace certificate: as many pivots as it needs.
    fn enough_pivots<T: Real>(
        &self,
        kernel: &Kernel,
        X: Columns<'_, T>,
        limit: usize,
        trace_error: f64,
    ) -> Result<Landmarks<T>, LkdlError> {
        let stop = |curve: &[f64], trace: f64| count::enough(curve, trace, trace_error);
        let mut pivots = self.pivots(kernel, X, PivotRule::Random, limit, stop)?;
        pivots.warnings.retain(|w| !matches!(w, Warning::FewerLandmarks { .. }));
        Ok(pivots)
    }

    /// c for N samples, at most.
    pub(crate) fn limit(&self, n_samples: usize) -> Result<usize, LkdlError> {
        match &self.sampler {
            Sampler::Given(indices) => Ok(indices.len()),
            _ => self.n_landmarks.limit(n_samples),
        }
    }

    /// Chooses exactly `n_landmarks`, as far as there are so many distinct ones.
    fn select_count<T: Real>(
        &self,
        kernel: &Kernel,
        X: Columns<'_, T>,
        n_landmarks: usize,
    ) -> Result<Landmarks<T>, LkdlError> {
        let at = |indices| Landmarks::of_samples(X, indices, n_landmarks);
        let random_pivots = || self.pivots(kernel, X, PivotRule::Random, n_landmarks, |_, _| false);
        match &self.sampler {
            Sampler::Given(indices) => Ok(Landmarks::of_samples(X, indices.clone(), indices.len())),
            Sampler::WithReplacement(inner) => {
                self.draw_with_replacement(inner, kernel, X, n_landmarks).map(at)
            }
            _ if n_landmarks == X.ncols() => {
                Ok(Landmarks { trace_error: Some(0.0), ..at(distinct(X)) })
            }
            Sampler::GreedyCholesky => {
                self.pivots(kernel, X, PivotRule::Greedy, n_landmarks, |_, _| false)
            }
            Sampler::RpCholesky => random_pivots(),
            Sampler::Hybrid { lloyd_steps } => {
                self.refine(kernel, X, random_pivots()?, *lloyd_steps)
            }
            Sampler::KMeans { max_iters, tol, seeding } => {
                let seeds = match seeding {
                    Seeding::Uniform => at(self.draw(X, vec![1.0; X.ncols()], n_landmarks)),
                    Seeding::RpCholesky => random_pivots()?,
                };
                self.k_means(X, seeds, *max_iters, *tol)
            }
            Sampler::KMeansPlusPlus { kernel_distance } => {
                kmeans_plus_plus::select(kernel, X, *kernel_distance, n_landmarks, self.seed)
                    .map(at)
            }
            sampler => {
                let weights = self.weights(sampler, kernel, X, n_landmarks)?;
                Ok(at(self.draw(X, weights, n_landmarks)))
            }
        }
    }

    fn check<T: Real>(&self, kernel: &Kernel, samples: MatRef<'_, T>) -> Result<(), LkdlError> {
        kernel.check()?;
        check_samples(samples, "samples")?;
        kernel.check_domain(samples, 0)?;
        if let Kernel::Precomputed = kernel {
            check_size("precomputed kernel rows", samples.nrows(), samples.ncols())?;
        }
        let n = samples.ncols();
        if let Sampler::Given(indices) = &self.sampler {
            if indices.is_empty() {
                return Err(LkdlError::parameter("given landmarks", "empty", "at least one index"));
            }
            return match indices.iter().find(|&&i| i >= n) {
                Some(&bad) => {
                    let bound = format!("below n_samples = {n}");
                    Err(LkdlError::parameter("landmark index", bad, bound))
                }
                None => Ok(()),
            };
        }
        self.n_landmarks.limit(n)?;
        if self.sampler.needs_vectors() && !kernel.is_on_vectors() {
            return Err(LkdlError::Unsupported {
                what: "this sampler",
                problem: "needs samples that are vectors, which a precomputed or custom kernel \
                          does not promise",
                fix: "choose RPCholesky, or k-means++ with the kernel's distance",
            });
        }
        if let Sampler::KMeans { max_iters, tol, .. } = self.sampler {
            if max_iters == 0 {
                return Err(LkdlError::parameter("k-means max_iters", 0, "at least 1"));
            }
            if !(tol >= 0.0 && tol.is_finite()) {
                return Err(LkdlError::parameter("k-means tol", tol, "a finite number >= 0"));
            }
        }
        Ok(())
    }

    /// The weights of a sampler that draws by weight, not all zero.
    fn weights<T: Real>(
        &self,
        sampler: &Sampler,
        kernel: &Kernel,
        X: Columns<'_, T>,
        n_landmarks: usize,
    ) -> Result<Vec<f64>, LkdlError> {
        let weights = match sampler {
            Sampler::Diagonal { squared } => diagonal::weights(kernel, X, *squared)?,
            Sampler::ColumnNorm { rows } => column_norm::weights(kernel, X, *rows, self.seed)?,
            Sampler::CoresetMean => coreset::against_mean(X),
            Sampler::CoresetConstant => coreset::against_constant(X),
            Sampler::LeverageScores => {
                let (scores, _) = leverage::scores(kernel, X, n_landmarks, self.seed)?;
                scores.iter().map(|l| l.min(1.0)).collect()
            }
            _ => vec![1.0; X.ncols()],
        };
        let any = weights.iter().any(|&w| w > 0.0);
        Ok(if any { weights } else { vec![1.0; X.ncols()] })
    }

    /// Up to `count` distinct samples by weight.
    fn draw<T: Real>(&self, X: Columns<'_, T>, weights: Vec<f64>, count: usize) -> Vec<usize> {
        let mut first_only = vec![0.0; weights.len()];
        for i in distinct(X) {
            first_only[i] = weights[i];
        }
        let mut rng = stream(self.seed, Stage::Landmarks, 0, 0);
        draw::without_replacement(&mut rng, &first_only, count)
    }

    /// The published program's draws.
    fn draw_with_replacement<T: Real>(
        &self,
        inner: &Sampler,
        kernel: &Kernel,
        X: Columns<'_, T>,
        n_landmarks: usize,
    ) -> Result<Vec<usize>, LkdlError> {
        let on_grid = match inner {
            Sampler::Uniform | Sampler::CoresetMean | Sampler::CoresetConstant => false,
            Sampler::Diagonal { .. } | Sampler::ColumnNorm { .. } => true,
            _ => {
                return Err(LkdlError::Unsupported {
                    what: "drawing with replacement",
                    problem: "is defined for samplers that draw all landmarks from fixed weights",
                    fix: "wrap uniform, diagonal, column-norm or a coreset, or drop the wrapper",
                });
            }
        };
        let weights = self.weights(inner, kernel, X, n_landmarks)?;
        let mut rng = stream(self.seed, Stage::Landmarks, 0, 0);
        if on_grid {
            return Ok(draw::on_grid(&mut rng, &weights, n_landmarks));
        }
        Ok(match draw::Cumulative::new(&weights) {
            Some(cumulative) => (0..n_landmarks).map(|_| cumulative.draw(&mut rng)).collect(),
            None => Vec::new(),
        })
    }

    /// Cholesky pivots on all samples, or on a pilot if N·c values exceed the budget.
    fn pivots<T: Real>(
        &self,
        kernel: &Kernel,
        X: Columns<'_, T>,
        rule: PivotRule,
        n_landmarks: usize,
        stop: impl FnMut(&[f64], f64) -> bool,
    ) -> Result<Landmarks<T>, LkdlError> {
        let n = X.ncols();
        let used = self.pilot_size::<T>(X.nrows(), n, n_landmarks)?;
        let pilot = (used < n).then(|| {
            sample_without_replacement(&mut stream(self.seed, Stage::Pilot, 0, 0), n, used)
        });
        // Never for a precomputed kernel, whose columns alone outweigh the factor.
        let restricted = pilot.as_deref().map(|pilot| gather(X, pilot));
        let seen = restricted.as_ref().map_or(X, columns_of);
        let run = pivoted_cholesky(kernel, seen, rule, n_landmarks, self.seed, stop)?;
        let mut indices = run.indices.clone();
        if let Some(pilot) = &pilot {
            indices.iter_mut().for_each(|i| *i = pilot[*i]);
        }
        if indices.is_empty() {
            indices = self.draw(X, vec![1.0; n], n_landmarks);
        }
        let mut landmarks = Landmarks::of_samples(X, indices, n_landmarks);
        match pilot {
            None => landmarks.trace_error = Some(run.trace_error()),
            Some(_) => landmarks.warnings.push(Warning::PilotSample { used, of: n }),
        }
        Ok(landmarks)
    }

    /// Bytes that choosing c of N samples needs beside the samples.
    pub(crate) fn selection_bytes<T: Real>(
        &self,
        n_features: usize,
        n_samples: usize,
        n_landmarks: usize,
    ) -> u64 {
        let pivoting = matches!(
            self.sampler,
            Sampler::RpCholesky
                | Sampler::GreedyCholesky
                | Sampler::Hybrid { .. }
                | Sampler::KMeans { seeding: Seeding::RpCholesky, .. }
        ) || matches!(self.n_landmarks, LandmarkCount::Auto { .. });
        let pilot = self.pilot_size::<T>(n_features, n_samples, n_landmarks).unwrap_or(n_samples);
        let copied = if pilot < n_samples { pilot } else { 0 };
        let factor = if pivoting {
            pilot as u64 * factor_row_bytes::<T>(n_landmarks)
                + matrix_bytes::<T>(n_features, copied)
        } else {
            0
        };
        let lloyd = match self.sampler {
            Sampler::Hybrid { .. } | Sampler::KMeans { .. } => {
                matrix_bytes::<T>(n_features, kmeans::samples_drawn(n_samples, n_landmarks))
            }
            _ => 0,
        };
        fixed_bytes::<T>(n_features, n_samples, n_landmarks) + factor.max(lloyd)
    }

    /// How many samples the N·c factor may cover: all, or as many as fit, but at least 20c.
    fn pilot_size<T: Real>(
        &self,
        n_features: usize,
        n_samples: usize,
        n_landmarks: usize,
    ) -> Result<usize, LkdlError> {
        let Some(budget) = self.memory else { return Ok(n_samples) };
        let fixed = fixed_bytes::<T>(n_features, n_samples, n_landmarks);
        let row = factor_row_bytes::<T>(n_landmarks);
        let left = budget.saturating_sub(fixed);
        if left / row >= n_samples as u64 {
            return Ok(n_samples);
        }
        let with_copy = row + matrix_bytes::<T>(n_features, 1);
        let fits = (left / with_copy) as usize;
        let fewest = PILOT_PER_LANDMARK * n_landmarks;
        if fits < fewest.min(n_samples) {
            // what would do: the fewest a pilot may have, or all samples without a copy
            let need = fixed + (fewest as u64 * with_copy).min(n_samples as u64 * row);
            return Err(LkdlError::Memory { stage: "landmark selection", need, budget });
        }
        Ok(fits)
    }

    /// Pivots moved by a few Lloyd steps, where samples have means. Pivots that leave nothing of the
    /// kernel stay: the means of centred samples may span a dimension less.
    fn refine<T: Real>(
        &self,
        kernel: &Kernel,
        X: Columns<'_, T>,
        pivots: Landmarks<T>,
        lloyd_steps: usize,
    ) -> Result<Landmarks<T>, LkdlError> {
        // of an indefinite kernel the pivots' trace says nothing
        let exact = kernel.is_positive_semidefinite()
            && pivots.trace_error.is_some_and(|error| error <= T::EPS.sqrt());
        if lloyd_steps == 0 || exact || !kernel.is_on_vectors() {
            return Ok(pivots);
        }
        self.k_means(X, pivots, lloyd_steps, 0.0)
    }

    /// Lloyd steps from the given landmarks.
    fn k_means<T: Real>(
        &self,
        X: Columns<'_, T>,
        seeds: Landmarks<T>,
        max_iters: usize,
        tol: f64,
    ) -> Result<Landmarks<T>, LkdlError> {
        let sample = kmeans::Sample::new(X, seeds.points.ncols(), self.seed);
        let wanted = seeds.points.ncols();
        let centres = lloyd(sample.columns(), seeds.points, max_iters, tol)?;
        let mut landmarks = Landmarks::of_centres(centres, wanted);
        landmarks.warnings.splice(0..0, seeds.warnings);
        Ok(landmarks)
    }
}

/// Hashes, weights and keys of N samples, and the landmarks with the copies a panel keeps.
fn fixed_bytes<T: Real>(n_features: usize, n_samples: usize, n_landmarks: usize) -> u64 {
    32 * n_samples as u64 + 4 * matrix_bytes::<T>(n_features, n_landmarks)
}

/// Bytes of one sample's row of the N·c factor. It grows by doubling, so that its old and new
/// selves are alive together for a moment.
fn factor_row_bytes<T: Real>(n_landmarks: usize) -> u64 {
    let row = n_landmarks as u64 * size_of::<T>() as u64;
    if n_landmarks > rpcholesky::FIRST_ROWS { row * 3 / 2 } else { row }
}
