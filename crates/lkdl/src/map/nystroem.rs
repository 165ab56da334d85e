//! Nyström virtual samples: LKDL Eqs. (19)–(24).
//!
//! ```math
//! K\approx C W^\dagger C^T=F^TF,\qquad F=\Sigma_k^{-1/2}V_k^TC^T,\quad W=V\Sigma V^T
//! ```
//!
//! C is N×c and W c×c (19); the approximation is (20), (21), F (22) and, cut to rank k, (23). With
//! P = V_kΣ_k^{-1/2} a sample x, seen in training or new, becomes f = Pᵀκ(X_R, x), (24); with all
//! samples as landmarks these are (27) and (28).
//!
//! C = κ(X, X_R) is used tile by tile and never stored. X is p×N, X_R p×c, P c×k, F k×N.
//!
//! **When to use it.** To run a linear method with any kernel: this is LKDL's map.
//!
//! **Cost.** 2Ncp + c²p + eig(c) + 2Nck flops; memory O(c² + Bc + kN). Per new sample 2c(p + k).
//!
//! ```
//! use lkdl::prelude::*;
//!
//! let samples = faer::Mat::from_fn(2, 50, |t, i| ((t + 1) as f64 * i as f64).sin());
//! let params = NystroemParams {
//!     kernel: Kernel::Polynomial { degree: 2.0, offset: 0.0 },
//!     n_landmarks: LandmarkCount::Exact(10),
//!     ..Default::default()
//! };
//! let (map, f) = params.fit_transform(samples.as_ref())?;
//! // (xᵀy)² of two features has three dimensions, and inner products are kernel values
//! assert_eq!(map.rank(), 3);
//! let x_y = (samples.col(3).transpose() * samples.col(8)) as f64;
//! assert!((f.col(3).transpose() * f.col(8) - x_y.powi(2)).abs() < 1e-8);
//! # Ok::<(), LkdlError>(())
//! ```

use super::plan::nystroem_stages;
use super::projection::{Projection, cross_sums, mean_virtual_sample, project_into, tile_width};
use super::spectrum::{Indefinite, cut, threshold};
use crate::error::{LkdlError, Warning};
use crate::kernel::{Kernel, Panel};
use crate::linalg::{Cholesky, Eigen, convert, full_eigen, leading_eigen, par_product};
use crate::matrix::{Columns, Contiguous, check_samples, check_size, col, columns_of};
use crate::memory::MemoryPlan;
use crate::real::Real;
use crate::sampling::{LandmarkCount, LandmarkParams, Landmarks, Sampler};
use crate::vector::norm_sq;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;
use std::borrow::Cow;

/// How P is made from W.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Variant {
    /// The paper's: the k leading eigenpairs of W.
    #[default]
    Standard,
    /// W = LLᵀ, f = L⁻¹κ(X_R, x): no eigen-solve, k = c. Where W is singular to rounding or
    /// indefinite, the factor of all its usable eigenpairs instead.
    Cholesky,
    /// The best rank-k factor of the whole Nyström matrix, from one more pass over the data
    /// (Nc² + ≈ 4c³ flops).
    Optimal,
}

/// k, the dimension of the virtual samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rank {
    /// min(256, c).
    Standard,
    /// Exactly this many, at most c (and not fewer in the Cholesky variant).
    Exact(usize),
    /// The smallest k that leaves at most this share of the kernel's trace beyond the Nyström
    /// matrix's own error (0.05 is a good value). Uses [`Variant::Optimal`].
    Trace(f64),
}

/// k when nothing is said: as good as any larger one on the paper's digits.
pub(crate) const STANDARD_RANK: usize = 256;

/// The Nyström map's parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct NystroemParams {
    /// κ.
    pub kernel: Kernel,
    /// How landmarks are chosen.
    pub sampler: Sampler,
    /// c.
    pub n_landmarks: LandmarkCount,
    /// k.
    pub rank: Rank,
    /// How P is made from W.
    pub variant: Variant,
    /// Subtract the mean virtual sample (kernel PCA).
    pub centered: bool,
    /// What to do with an indefinite kernel.
    pub indefinite: Indefinite,
    /// Bytes the fit may use beside the samples; `None` for no limit.
    pub memory: Option<u64>,
    /// Seed of the landmarks and of the iterative eigen-solve.
    pub seed: u64,
}

impl Default for NystroemParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Polynomial { degree: 2.0, offset: 0.0 },
            sampler: Sampler::default(),
            n_landmarks: LandmarkCount::default(),
            rank: Rank::Standard,
            variant: Variant::default(),
            centered: false,
            indefinite: Indefinite::default(),
            memory: None,
            seed: 0,
        }
    }
}

/// A fitted map.
#[derive(Debug, Clone)]
pub struct NystroemMap<T: Real> {
    panel: Panel<T>,
    /// P, c×k.
    projection: Projection<T>,
    /// The mean virtual sample, subtracted if the map is centred; empty otherwise.
    mean: Vec<T>,
    eigenvalues: Vec<f64>,
    /// Samples mapped at a time by one thread.
    tile_width: usize,
    warnings: Vec<Warning>,
}

impl NystroemParams {
    /// Chooses landmarks and makes the map.
    pub fn fit<T: Real>(&self, samples: MatRef<'_, T>) -> Result<NystroemMap<T>, LkdlError> {
        self.fit_landmarks(samples, &self.choose(samples)?)
    }

    /// The landmarks of [`NystroemParams::fit`].
    pub(crate) fn choose<T: Real>(
        &self,
        samples: MatRef<'_, T>,
    ) -> Result<Landmarks<T>, LkdlError> {
        check_samples(samples, "samples")?;
        self.kernel.check()?;
        self.kernel.check_domain(samples, 0)?;
        self.check_memory::<T>(samples.nrows(), samples.ncols())?;
        self.landmarks().select(&self.kernel, samples)
    }

    /// How landmarks are chosen.
    pub(crate) fn landmarks(&self) -> LandmarkParams {
        LandmarkParams {
            sampler: self.sampler.clone(),
            n_landmarks: self.n_landmarks,
            seed: self.seed,
            memory: self.memory,
        }
    }

    /// Refuses a fit whose landmarks or factorisation would not fit the budget.
    fn check_memory<T: Real>(&self, n_features: usize, n_samples: usize) -> Result<(), LkdlError> {
        let Some(budget) = self.memory else { return Ok(()) };
        let threads = rayon::current_num_threads();
        let (mut stages, _) = nystroem_stages::<T>(self, n_features, n_samples, 0, threads)?;
        // Without centring, fitting maps no sample.
        stages.retain(|stage| self.centered || stage.stage != "map");
        MemoryPlan { stages }.check(budget)
    }

    /// [`NystroemParams::fit`] and the virtual samples of the training set.
    pub fn fit_transform<T: Real>(
        &self,
        samples: MatRef<'_, T>,
    ) -> Result<(NystroemMap<T>, Mat<T>), LkdlError> {
        let map = self.fit(samples)?;
        let F = map.transform(samples)?;
        Ok((map, F))
    }

    /// Makes the map on landmarks chosen before, or the caller's own.
    pub fn fit_landmarks<T: Real>(
        &self,
        samples: MatRef<'_, T>,
        landmarks: &Landmarks<T>,
    ) -> Result<NystroemMap<T>, LkdlError> {
        check_samples(samples, "samples")?;
        check_size("landmarks' n_features", landmarks.points.nrows(), samples.nrows())?;
        let mut map = self.fit_panel(samples, landmarks.panel(&self.kernel, samples)?)?;
        map.warnings.splice(0..0, landmarks.warnings.iter().cloned());
        Ok(map)
    }

    /// [`NystroemParams::fit_landmarks`] of points that need not be among the samples.
    pub(crate) fn fit_panel<T: Real>(
        &self,
        samples: MatRef<'_, T>,
        panel: Panel<T>,
    ) -> Result<NystroemMap<T>, LkdlError> {
        let X = Contiguous::new(samples);
        let X = X.columns();
        let mut map = self.factor(panel, &Samples { kernel: &self.kernel, X })?;
        if self.centered {
            let F = map.transform(samples)?;
            map.mean = mean_virtual_sample(columns_of(&F)).into_iter().map(T::of).collect();
        }
        Ok(map)
    }

    pub(super) fn factor<T: Real>(
        &self,
        panel: Panel<T>,
        data: &impl DataSums<T>,
    ) -> Result<NystroemMap<T>, LkdlError> {
        let c = panel.len();
        let (rank, reduced) = self.rank_for(c)?;
        let W = panel.gram()?;
        let (P, eigenvalues, mut warnings) = match (self.variant, self.rank) {
            (Variant::Cholesky, _) => {
                let semidefinite = panel.kernel().is_positive_semidefinite();
                if let Some((P, warnings)) = triangular(W.as_ref(), T::EPS, semidefinite) {
                    (P, Vec::new(), warnings)
                } else {
                    let all = self.spectrum::<T>(&panel, W.as_ref(), c)?;
                    (whiten(&all.values, &all.vectors), Vec::new(), all.warnings)
                }
            }
            (Variant::Standard, Rank::Standard | Rank::Exact(_)) => {
                let kept = self.spectrum::<T>(&panel, W.as_ref(), rank)?;
                (whiten(&kept.values, &kept.vectors), kept.values, kept.warnings)
            }
            (Variant::Optimal, _) | (Variant::Standard, Rank::Trace(_)) => {
                self.optimal(&panel, W.as_ref(), data, rank)?
            }
        };
        if !warnings.iter().any(|w| matches!(w, Warning::RankReduced { .. })) {
            warnings.extend(reduced);
        }
        let projection = Projection::new(convert::<f64, T>(P.as_ref()));
        let tile_width = tile_width::<T>(c, self.memory);
        Ok(NystroemMap { panel, projection, mean: Vec::new(), eigenvalues, tile_width, warnings })
    }

    fn spectrum<T: Real>(
        &self,
        panel: &Panel<T>,
        W: MatRef<'_, f64>,
        rank: usize,
    ) -> Result<super::spectrum::Spectrum, LkdlError> {
        let semidefinite = panel.kernel().is_positive_semidefinite();
        cut(W, rank, T::EPS, semidefinite, self.indefinite, self.seed)
    }

    /// P0 = VΣ^{-1/2} (all kept), P0ᵀSP0 = UΛUᵀ with S = CᵀC, P = P0U_k: then FFᵀ = diag(Λ_k).
    #[allow(clippy::type_complexity)] // the three results of `factor`'s arms
    fn optimal<T: Real>(
        &self,
        panel: &Panel<T>,
        W: MatRef<'_, f64>,
        data: &impl DataSums<T>,
        rank: usize,
    ) -> Result<(Mat<f64>, Vec<f64>, Vec<Warning>), LkdlError> {
        let all = self.spectrum::<T>(panel, W, W.nrows())?;
        let P0 = whiten(&all.values, &all.vectors);
        let S = data.cross_gram(panel)?;
        let SP0 = par_product(S.as_ref().as_ref(), P0.as_ref());
        let M = par_product(P0.transpose(), SP0.as_ref());
        let available = P0.ncols();
        let mut warnings: Vec<Warning> = all
            .warnings
            .into_iter()
            .filter(|w| !matches!(w, Warning::RankReduced { .. }))
            .collect();
        let leading = if let Rank::Trace(share) = self.rank {
            let trace = data.trace()?;
            let all = full_eigen(M.as_ref())?;
            let k = smallest_rank(&all.values, share * trace);
            Eigen {
                values: all.values[..k].to_vec(),
                vectors: all.vectors.subcols(0, k).to_owned(),
            }
        } else {
            if available < rank {
                warnings.push(Warning::RankReduced { wanted: rank, got: available });
            }
            leading_eigen(M.as_ref(), rank.min(available), self.seed)?
        };
        let P = par_product(P0.as_ref(), leading.vectors.as_ref());
        Ok((P, leading.values, warnings))
    }

    /// The rank to aim for with c landmarks, and a warning if they are fewer than it.
    fn rank_for(&self, n_landmarks: usize) -> Result<(usize, Option<Warning>), LkdlError> {
        match self.rank {
            Rank::Standard => Ok((STANDARD_RANK.min(n_landmarks), None)),
            Rank::Exact(0) => Err(LkdlError::parameter("rank", 0, "at least 1")),
            Rank::Exact(rank) => {
                // Fewer landmarks than asked for is the data's doing, not the caller's error.
                let asked = match (&self.sampler, self.n_landmarks) {
                    (Sampler::Given(indices), _) => indices.len(),
                    (_, LandmarkCount::Exact(asked)) => asked,
                    _ => usize::MAX,
                };
                if rank > asked {
                    let range = format!("between 1 and n_landmarks = {asked}");
                    return Err(LkdlError::parameter("rank", rank, range));
                }
                if self.variant == Variant::Cholesky && rank < n_landmarks {
                    let range = format!("n_landmarks = {n_landmarks} in the cholesky variant");
                    return Err(LkdlError::parameter("rank", rank, range));
                }
                let got = rank.min(n_landmarks);
                let reduced = Warning::RankReduced { wanted: rank, got };
                Ok((got, (got < rank).then_some(reduced)))
            }
            Rank::Trace(_) if self.variant == Variant::Cholesky => Err(LkdlError::Unsupported {
                what: "the cholesky variant",
                problem: "keeps every landmark and cannot choose a rank by trace",
                fix: "choose the optimal variant, or leave the rank open",
            }),
            Rank::Trace(share) if share > 0.0 && share < 1.0 => Ok((n_landmarks, None)),
            Rank::Trace(share) => {
                Err(LkdlError::parameter("rank trace share", share, "between 0 and 1, exclusive"))
            }
        }
    }
}

/// Where the sums over all samples come from that an optimal factor needs.
pub(super) trait DataSums<T: Real> {
    /// S = CᵀC.
    fn cross_gram(&self, panel: &Panel<T>) -> Result<Cow<'_, Mat<f64>>, LkdlError>;
    /// tr K.
    fn trace(&self) -> Result<f64, LkdlError>;
}

/// The samples themselves.
struct Samples<'a, T> {
    kernel: &'a Kernel,
    X: Columns<'a, T>,
}

impl<T: Real> DataSums<T> for Samples<'_, T> {
    fn cross_gram(&self, panel: &Panel<T>) -> Result<Cow<'_, Mat<f64>>, LkdlError> {
        Ok(Cow::Owned(cross_sums(panel, self.X)?.0))
    }

    fn trace(&self) -> Result<f64, LkdlError> {
        Ok(self.kernel.diag(self.X)?.iter().sum())
    }
}

/// P with Pᵀ = L⁻¹ of W = LLᵀ, so that f = L⁻¹κ. Every pivot must exceed the rounding of W's values:
/// its row of L⁻¹ would stretch that rounding into features, and a diagonal shift that hides it would
/// cost the small eigenvalues that carry information. Where one does not, landmarks are taken in the
/// order of the largest pivots until none does; the others add nothing beyond the rounding. `None` if
/// W may have negative eigenvalues, or is zero.
fn triangular(
    W: MatRef<'_, f64>,
    kernel_eps: f64,
    semidefinite: bool,
) -> Option<(Mat<f64>, Vec<Warning>)> {
    let c = W.nrows();
    let floor = threshold(W, kernel_eps, 0.0);
    let all = Cholesky::new(W);
    if let Some(all) = all.filter(|all| (0..c).all(|i| all.lower[(i, i)].powi(2) > floor)) {
        return Some((all.inverse_transpose(), Vec::new()));
    }
    if !semidefinite {
        return None;
    }
    // The largest eigenvalue of c×c rounding noise grows with √c, a diagonal entry of it does not.
    let (which, chol) = Cholesky::pivoted(W, floor / (c as f64).sqrt())?;
    let inverse = chol.inverse_transpose();
    let mut P = Mat::zeros(c, which.len());
    for (row, &landmark) in which.iter().enumerate() {
        P.row_mut(landmark).copy_from(inverse.row(row));
    }
    let reduced = Warning::RankReduced { wanted: c, got: which.len() };
    (!which.is_empty()).then_some((P, vec![reduced]))
}

/// VΣ^{-1/2}.
fn whiten(values: &[f64], vectors: &Mat<f64>) -> Mat<f64> {
    let scales: Vec<f64> = values.iter().map(|v| 1.0 / v.sqrt()).collect();
    Mat::from_fn(vectors.nrows(), values.len(), |i, j| vectors[(i, j)] * scales[j])
}

/// The smallest k with Σ_{i>k} λ_i ≤ allowed, at least 1.
fn smallest_rank(values: &[f64], allowed: f64) -> usize {
    let mut tail = 0.0;
    for k in (1..values.len()).rev() {
        tail += values[k].max(0.0);
        if tail > allowed {
            return k + 1;
        }
    }
    1
}

impl<T: Real> NystroemMap<T> {
    /// A map from its parts: landmarks, P (c×k), the mean virtual sample (empty: not centred) and
    /// the kept eigenvalues (empty: unknown).
    pub fn from_parts(
        panel: Panel<T>,
        P: MatRef<'_, T>,
        mean: &[T],
        eigenvalues: &[f64],
    ) -> Result<Self, LkdlError> {
        check_samples(P, "projection")?;
        check_size("projection rows", P.nrows(), panel.len())?;
        if !mean.is_empty() {
            check_size("mean virtual sample", mean.len(), P.ncols())?;
            check_samples(MatRef::from_column_major_slice(mean, mean.len(), 1), "mean")?;
        }
        Ok(Self {
            tile_width: tile_width::<T>(panel.len(), None),
            panel,
            projection: Projection::new(P.to_owned()),
            mean: mean.to_vec(),
            eigenvalues: eigenvalues.to_vec(),
            warnings: Vec::new(),
        })
    }

    /// Centres the map, given Σκ(X_R, x) over the N samples: their mean virtual sample is Pᵀ of it.
    pub(super) fn set_mean(&mut self, kernel_sum: &[f64], n_samples: usize) {
        let mean = |j: usize| {
            let terms = self.projection.matrix().col_as_slice(j).iter().zip(kernel_sum);
            T::of(terms.map(|(p, sum)| p.wide() * sum).sum::<f64>() / n_samples as f64)
        };
        self.mean = (0..self.rank()).map(mean).collect();
    }

    /// Virtual samples of any samples, one per column: f = Pᵀκ(X_R, x), LKDL Eq. (24).
    pub fn transform(&self, samples: MatRef<'_, T>) -> Result<Mat<T>, LkdlError> {
        let mut F = Mat::zeros(self.rank(), samples.ncols());
        self.transform_into(samples, F.as_mut())?;
        Ok(F)
    }

    /// [`NystroemMap::transform`] into memory of the caller, k×N.
    pub fn transform_into(
        &self,
        samples: MatRef<'_, T>,
        mut F: MatMut<'_, T>,
    ) -> Result<(), LkdlError> {
        check_samples(samples, "samples")?;
        check_size("virtual samples' rank", F.nrows(), self.rank())?;
        check_size("virtual samples' count", F.ncols(), samples.ncols())?;
        let X = Contiguous::new(samples);
        project_into(F.as_mut(), &self.panel, &self.projection, X.columns(), self.tile_width)?;
        if !self.mean.is_empty() {
            for f in F.col_iter_mut() {
                f.iter_mut().zip(&self.mean).for_each(|(f, &mean)| *f -= mean);
            }
        }
        Ok(())
    }

    /// Residual energy e⊥(x) = κ(x,x) − ‖f‖² ≥ 0 of every sample: how much of it the landmarks
    /// miss. A novelty score, and a certificate per sample. `virtual_samples` are their transform.
    /// Of a precomputed kernel only the training samples have it: `samples` must be their matrix.
    pub fn residual_energy(
        &self,
        samples: MatRef<'_, T>,
        virtual_samples: MatRef<'_, T>,
    ) -> Result<Vec<f64>, LkdlError> {
        Ok(self.energies(samples, virtual_samples)?.0)
    }

    /// [`NystroemMap::residual_energy`], and κ(x,x), of which it is a part. The virtual samples are
    /// at hand, so the one is O(pN) more and the other O(kN): no landmark is looked at again.
    pub(crate) fn energies(
        &self,
        samples: MatRef<'_, T>,
        virtual_samples: MatRef<'_, T>,
    ) -> Result<(Vec<f64>, Vec<f64>), LkdlError> {
        if self.panel.kernel() == &Kernel::Precomputed && samples.nrows() != samples.ncols() {
            return Err(LkdlError::Unsupported {
                what: "the residual energy",
                problem: "needs κ(x,x), which the precomputed values of new samples do not hold",
                fix: "ask for it on the training samples only",
            });
        }
        let diag = self.panel.kernel().diagonal(samples)?;
        check_size("virtual samples' count", virtual_samples.ncols(), diag.len())?;
        check_size("virtual samples' rank", virtual_samples.nrows(), self.rank())?;
        let F = Contiguous::new(virtual_samples);
        let F = F.columns();
        let energy = |i: usize| {
            if self.mean.is_empty() {
                return norm_sq(col(F, i));
            }
            let parts = col(F, i).iter().zip(&self.mean);
            parts.map(|(f, mean)| (f.wide() + mean.wide()).powi(2)).sum()
        };
        let missed = diag.par_iter().enumerate().map(|(i, d)| (d - energy(i)).max(0.0)).collect();
        Ok((missed, diag))
    }

    /// tr(K − K̂)/tr K over these samples: the certificate of the approximation.
    pub fn trace_error(
        &self,
        samples: MatRef<'_, T>,
        virtual_samples: MatRef<'_, T>,
    ) -> Result<f64, LkdlError> {
        let (missed, diag) = self.energies(samples, virtual_samples)?;
        let (missing, trace): (f64, f64) = (missed.iter().sum(), diag.iter().sum());
        Ok(if trace > 0.0 { missing / trace } else { 0.0 })
    }

    /// Back to tiles of the usual width, as a map from parts has them, once the fit whose budget
    /// narrowed them is over: a model and its copy from a file then give the same bits.
    pub(crate) fn forget_budget(&mut self) {
        self.tile_width = tile_width::<T>(self.panel.len(), None);
    }

    /// Number of landmarks, c.
    pub fn n_landmarks(&self) -> usize {
        self.panel.len()
    }

    /// Dimension of the virtual samples, k.
    pub fn rank(&self) -> usize {
        self.projection.matrix().ncols()
    }

    /// The landmarks.
    pub fn panel(&self) -> &Panel<T> {
        &self.panel
    }

    /// P, c×k.
    pub fn projection(&self) -> MatRef<'_, T> {
        self.projection.matrix().as_ref()
    }

    /// The mean virtual sample that is subtracted; empty if the map is not centred.
    pub fn mean(&self) -> &[T] {
        &self.mean
    }

    /// The kept eigenvalues, descending: of W (standard) or of the Nyström matrix (optimal);
    /// empty for the Cholesky variant and for a map made from parts.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// What the fit wants known.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}
