//! What a map needs to know of the data: sums over samples, which add across blocks and machines.
//!
//! ```math
//! N,\qquad \operatorname{tr}K=\sum_x\kappa(x,x),\qquad \sum_x\kappa(X_R,x),\qquad
//! S=C^TC=\sum_x\kappa(X_R,x)\,\kappa(X_R,x)^T
//! ```
//!
//! One pass over the data gives them, at 2cp + c² flops per sample; then the landmarks are all that
//! is needed: P of every variant, the mean virtual sample of a centred map, the rank by trace and
//! the certificate tr(K − K̂)/tr K, exactly as from the samples themselves.

use super::nystroem::{DataSums, NystroemMap, NystroemParams, Rank, Variant};
use super::projection::cross_sums;
use crate::blocks::{Add, BlockSums};
use crate::error::LkdlError;
use crate::kernel::Panel;
use crate::linalg::{convert, par_product};
use crate::matrix::{Contiguous, check_samples, check_size};
use crate::real::Real;
use faer::{Mat, MatRef};
use std::borrow::Cow;

/// Sums over samples.
#[derive(Debug, Clone, PartialEq)]
pub struct MapSums {
    /// N.
    pub n_samples: usize,
    /// Σκ(x, x).
    pub trace: f64,
    /// Σκ(X_R, x), one value per landmark.
    pub kernel_sum: Vec<f64>,
    /// S = CᵀC, c×c.
    pub cross_gram: Mat<f64>,
}

impl Add for MapSums {
    fn add(&mut self, later: Self) {
        self.n_samples += later.n_samples;
        self.trace += later.trace;
        self.kernel_sum.iter_mut().zip(later.kernel_sum).for_each(|(sum, more)| *sum += more);
        self.cross_gram += later.cross_gram;
    }
}

/// [`MapSums`] while blocks come in.
///
/// ```
/// use faer::Mat;
/// use lkdl::map::{MapStatistics, NystroemParams, Variant};
/// use lkdl::prelude::*;
///
/// let samples = Mat::from_fn(3, 100, |t, i| ((t + 1) as f64 * i as f64).sin());
/// let params = NystroemParams {
///     kernel: Kernel::Gaussian { sigma: 1.0 },
///     variant: Variant::Optimal,
///     rank: Rank::Exact(8),
///     ..Default::default()
/// };
/// // Landmarks from a pilot; then one pass over all blocks, here by two machines.
/// let panel = Panel::new(&params.kernel, samples.subcols(0, 20))?;
/// let (mut near, mut far) = (MapStatistics::new(panel.clone()), MapStatistics::new(panel));
/// near.add_block(0, samples.subcols(0, 50))?;
/// far.add_block(1, samples.subcols(50, 50))?;
/// near.merge(far)?;
/// let (panel, sums) = near.finish()?;
/// let map = params.fit_sums(panel, &sums)?;
/// assert_eq!((map.rank(), sums.n_samples), (8, 100));
/// // The certificate needs no second pass.
/// let again = map.trace_error(samples.as_ref(), map.transform(samples.as_ref())?.as_ref())?;
/// assert!((map.trace_error_by(&sums)? - again).abs() < 1e-9);
/// # Ok::<(), LkdlError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MapStatistics<T: Real> {
    panel: Panel<T>,
    sums: BlockSums<MapSums>,
}

impl<T: Real> MapStatistics<T> {
    /// Sums over no samples yet, for the landmarks of `panel`.
    pub fn new(panel: Panel<T>) -> Self {
        Self { panel, sums: BlockSums::default() }
    }

    /// The samples of block number `block`.
    pub fn add_block(&mut self, block: usize, samples: MatRef<'_, T>) -> Result<(), LkdlError> {
        let sums = MapSums::of(&self.panel, samples).map_err(|error| error.in_block(block))?;
        self.sums.add_block(block, sums)
    }

    /// The blocks of another shard, which must have the same landmarks.
    pub fn merge(&mut self, other: Self) -> Result<(), LkdlError> {
        let same = self.panel.kernel() == other.panel.kernel()
            && self.panel.points() == other.panel.points();
        if !same {
            return Err(LkdlError::Unsupported {
                what: "merging map statistics",
                problem: "needs the same kernel and landmarks on both sides",
                fix: "choose the landmarks once and hand them to every shard",
            });
        }
        self.sums.merge(other.sums)
    }

    /// The landmarks, and the sums over all samples.
    pub fn finish(self) -> Result<(Panel<T>, MapSums), LkdlError> {
        match self.sums.finish()? {
            Some(sums) => Ok((self.panel, sums)),
            None => Err(LkdlError::Empty { what: "samples", rows: self.panel.n_rows(), cols: 0 }),
        }
    }
}

impl NystroemParams {
    /// Whether the map depends on all samples beside the landmarks: the optimal variant, a rank by
    /// trace, a centred map.
    pub fn needs_sums(&self) -> bool {
        self.has_optimal_factor() || self.centered
    }

    /// Whether P is made from all samples.
    pub(super) fn has_optimal_factor(&self) -> bool {
        self.variant == Variant::Optimal || matches!(self.rank, Rank::Trace(_))
    }

    /// [`NystroemParams::fit_landmarks`] from sums over the samples instead of the samples.
    pub fn fit_sums<T: Real>(
        &self,
        panel: Panel<T>,
        sums: &MapSums,
    ) -> Result<NystroemMap<T>, LkdlError> {
        sums.check(panel.len())?;
        let mut map = self.factor(panel, sums)?;
        if self.centered {
            map.set_mean(&sums.kernel_sum, sums.n_samples);
        }
        Ok(map)
    }
}

impl<T: Real> DataSums<T> for MapSums {
    fn cross_gram(&self, _: &Panel<T>) -> Result<Cow<'_, Mat<f64>>, LkdlError> {
        Ok(Cow::Borrowed(&self.cross_gram))
    }

    fn trace(&self) -> Result<f64, LkdlError> {
        Ok(self.trace)
    }
}

impl MapSums {
    /// The sums over these samples, for the landmarks of `panel`.
    pub fn of<T: Real>(panel: &Panel<T>, samples: MatRef<'_, T>) -> Result<Self, LkdlError> {
        check_samples(samples, "samples")?;
        check_size("samples' n_features", samples.nrows(), panel.n_rows())?;
        let X = Contiguous::new(samples);
        let (cross_gram, kernel_sum) = cross_sums(panel, X.columns())?;
        let trace = panel.kernel().diag(X.columns())?.iter().sum();
        let diagonal = (0..panel.len()).map(|j| cross_gram[(j, j)]);
        match diagonal.chain([trace]).find(|v| !v.is_finite()) {
            Some(value) => Err(panel.overflow(value)),
            None => Ok(Self { n_samples: samples.ncols(), trace, kernel_sum, cross_gram }),
        }
    }

    fn check(&self, n_landmarks: usize) -> Result<(), LkdlError> {
        check_size("kernel sum", self.kernel_sum.len(), n_landmarks)?;
        check_size("cross-Gram matrix's rows", self.cross_gram.nrows(), n_landmarks)?;
        check_size("cross-Gram matrix's columns", self.cross_gram.ncols(), n_landmarks)
    }
}

impl<T: Real> NystroemMap<T> {
    /// tr(K − K̂)/tr K over the samples of these sums, tr K̂ = tr(PᵀSP): the certificate of
    /// [`NystroemMap::trace_error`] without a second pass.
    pub fn trace_error_by(&self, sums: &MapSums) -> Result<f64, LkdlError> {
        sums.check(self.n_landmarks())?;
        let P = convert::<T, f64>(self.projection());
        let SP = par_product(sums.cross_gram.as_ref(), P.as_ref());
        let captured: f64 = P
            .col_iter()
            .zip(SP.col_iter())
            .map(|(p, sp)| p.iter().zip(sp.iter()).map(|(a, b)| a * b).sum::<f64>())
            .sum();
        let left = (sums.trace - captured).max(0.0);
        Ok(if sums.trace > 0.0 { left / sums.trace } else { 0.0 })
    }
}
