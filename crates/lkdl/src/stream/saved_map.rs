//! Preparation and map of a fit that is kept: what they learned from the samples. The rest follows
//! from their parameters.

use crate::error::LkdlError;
use crate::kernel::Panel;
use crate::map::nystroem::NystroemMap;
use crate::matrix::check_size;
use crate::pipeline::{FeatureMap, MapParams};
use crate::prepare::{FittedStep, Preparation, PrepareParams, Step};
use crate::real::Real;
use crate::state::{Saved, Saving};

const PREPARE: &str = "prepare";
const MAP: &str = "map";

pub(super) fn save_map<'a, T: Real>(
    preparation: &'a Preparation<T>,
    map: &'a FeatureMap<T>,
    to: &mut Saving<'a, T>,
) {
    to.counts(PREPARE, "n", [preparation.n_features()]);
    for (i, step) in preparation.steps().iter().enumerate() {
        if let FittedStep::Standardize { mean, scale } = step {
            let columns = [mean.as_slice(), scale.as_slice()];
            to.columns(PREPARE, &i.to_string(), preparation.n_features(), columns.into_iter());
        }
    }
    if let FeatureMap::Nystroem(map) = map {
        let panel = map.panel();
        let points = panel.points();
        to.columns(MAP, "points", points.nrows(), points.col_iter().filter_map(contiguous));
        if let Some(indices) = panel.indices() {
            to.counts(MAP, "indices", indices.iter().copied());
        }
        let P = map.projection();
        to.columns(MAP, "P", P.nrows(), P.col_iter().filter_map(contiguous));
        to.columns(MAP, "mean", map.mean().len(), [map.mean()].into_iter());
        to.numbers(MAP, "eigenvalues", map.eigenvalues().iter().copied());
        to.counts(MAP, "n", [panel.n_rows()]);
    }
}

/// A column of a matrix that owns its memory, which has no gaps.
fn contiguous<'a, T: Real>(column: faer::ColRef<'a, T>) -> Option<&'a [T]> {
    column.try_as_col_major().map(|column| column.as_slice())
}

pub(super) fn restore_map<T: Real>(
    prepare: &PrepareParams,
    map: &MapParams,
    from: &mut Saved<T>,
) -> Result<(Preparation<T>, FeatureMap<T>), LkdlError> {
    let [n_features] = from.counts(PREPARE, "n")?;
    let mut steps = Vec::new();
    for (i, step) in prepare.steps.iter().enumerate() {
        steps.push(match step {
            Step::CenterSample => FittedStep::CenterSample,
            Step::UnitNorm => FittedStep::UnitNorm,
            Step::Standardize => {
                let learned = from.matrix(PREPARE, &i.to_string())?;
                check_size("saved standardize columns", learned.ncols(), 2)?;
                let column = |j: usize| learned.col_as_slice(j).to_vec();
                FittedStep::Standardize { mean: column(0), scale: column(1) }
            }
        });
    }
    let preparation = Preparation::from_parts(n_features, steps)?;
    let map = match map {
        MapParams::None => FeatureMap::Identity,
        MapParams::Fourier(params) => FeatureMap::Fourier(params.fit(n_features)?),
        MapParams::Fastfood(params) => FeatureMap::Fastfood(params.fit(n_features)?),
        MapParams::Nystroem(params) => {
            let points = from.matrix(MAP, "points")?;
            let indices =
                from.has(MAP, "indices").then(|| from.list(MAP, "indices")).transpose()?;
            let [n_rows] = from.counts(MAP, "n")?;
            let panel = Panel::from_parts(&params.kernel, points.as_ref(), indices, n_rows)?;
            let (P, mean) = (from.matrix(MAP, "P")?, from.matrix(MAP, "mean")?);
            check_size("saved mean's columns", mean.ncols(), 1)?;
            let mean = mean.col_as_slice(0);
            let eigenvalues = from.numbers(MAP, "eigenvalues")?;
            let map = NystroemMap::from_parts(panel, P.as_ref(), mean, &eigenvalues)?;
            FeatureMap::Nystroem(Box::new(map))
        }
    };
    Ok((preparation, map))
}
