//! What a fit knows of all samples, beside the pilot, and what preparation and map are with it.

use crate::error::{LkdlError, Warning};
use crate::kernel::Panel;
use crate::map::{MapSums, NystroemParams};
use crate::matrix::check_size;
use crate::pipeline::{FeatureMap, MapParams};
use crate::prepare::{Moments, Preparation, PrepareParams};
use crate::real::Real;
use crate::sampling::Landmarks;
use faer::MatRef;
use std::borrow::Cow;

/// What was gathered from all samples ([`StreamParams::gather`]). A part that is not there comes from
/// the pilot.
///
/// [`StreamParams::gather`]: super::StreamParams::gather
#[derive(Debug, Clone)]
pub struct Whole<T: Real> {
    /// Of every `standardize` step in turn, moments of the samples as the steps before it leave them.
    pub moments: Vec<Moments>,
    /// Landmarks, prepared, by their numbers in the source.
    pub landmarks: Option<Landmarks<T>>,
    /// Sums of the map of these landmarks.
    pub map_sums: Option<MapSums>,
}

impl<T: Real> Default for Whole<T> {
    /// Nothing.
    fn default() -> Self {
        Self { moments: Vec::new(), landmarks: None, map_sums: None }
    }
}

impl<T: Real> Whole<T> {
    /// The preparation by the moments of all samples, or by the pilot where there are none.
    pub(super) fn preparation(
        &self,
        params: &PrepareParams,
        pilot: MatRef<'_, T>,
    ) -> Result<Preparation<T>, LkdlError> {
        if self.moments.is_empty() {
            return params.fit(pilot);
        }
        check_size("moments", self.moments.len(), params.n_learned())?;
        params.by_moments(pilot.nrows(), &self.moments)
    }

    /// The map of all samples' landmarks and sums, or of the prepared pilot's where there are none,
    /// and what they want known. `numbers` are those of the pilot in the source.
    pub(super) fn map(
        &self,
        params: &MapParams,
        pilot: MatRef<'_, T>,
        numbers: &[usize],
    ) -> Result<(FeatureMap<T>, Vec<Warning>), LkdlError> {
        let MapParams::Nystroem(params) = params else {
            return Ok((params.fit(pilot)?, Vec::new()));
        };
        let landmarks = match &self.landmarks {
            Some(landmarks) => Cow::Borrowed(landmarks),
            None => Cow::Owned(chosen(params, pilot, numbers)?),
        };
        let panel = panel(params, &landmarks, pilot.nrows())?;
        let mut map = match (&self.map_sums, &self.landmarks) {
            (None, _) => params.fit_panel(pilot, panel)?,
            (Some(sums), Some(_)) => params.fit_sums(panel, sums)?,
            (Some(_), None) => {
                return Err(LkdlError::Unsupported {
                    what: "a map by sums over all samples",
                    problem: "needs the landmarks that they belong to",
                    fix: "give the landmarks with the sums",
                });
            }
        };
        map.forget_budget();
        let warnings = landmarks.warnings.iter().chain(map.warnings()).cloned().collect();
        Ok((FeatureMap::Nystroem(Box::new(map)), warnings))
    }
}

/// Landmarks of the prepared pilot, by their numbers in the source.
pub(super) fn chosen<T: Real>(
    params: &NystroemParams,
    pilot: MatRef<'_, T>,
    numbers: &[usize],
) -> Result<Landmarks<T>, LkdlError> {
    let landmarks = params.choose(pilot)?;
    let points = landmarks.panel(&params.kernel, pilot)?.points().to_owned();
    let indices = landmarks.indices.map(|chosen| chosen.iter().map(|&i| numbers[i]).collect());
    Ok(Landmarks { points, indices, ..landmarks })
}

/// Landmarks to compare samples of so many features with.
pub(super) fn panel<T: Real>(
    params: &NystroemParams,
    landmarks: &Landmarks<T>,
    n_features: usize,
) -> Result<Panel<T>, LkdlError> {
    let (points, indices) = (landmarks.points.as_ref(), landmarks.indices.clone());
    Panel::from_parts(&params.kernel, points, indices, n_features)
}
