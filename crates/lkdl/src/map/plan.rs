//! What a Nyström fit needs, by stage, and how few landmarks a budget leaves it.

use super::nystroem::{NystroemParams, Rank, STANDARD_RANK, Variant};
use super::projection::tile_width;
use crate::error::LkdlError;
use crate::linalg::eigen_bytes;
use crate::matrix::matrix_bytes;
use crate::memory::StageMemory;
use crate::real::Real;
use crate::sampling::LandmarkCount;

/// Fewest landmarks to which an automatic count is cut to fit a budget.
const MIN_AUTO_LANDMARKS: usize = 64;

/// The stages of fitting a Nyström map on N samples of p features, and the dimension k of its
/// virtual samples. `held` bytes are alive throughout; every thread has its own tile.
pub(crate) fn nystroem_stages<T: Real>(
    params: &NystroemParams,
    n_features: usize,
    n_samples: usize,
    held: u64,
    threads: usize,
) -> Result<(Vec<StageMemory>, usize), LkdlError> {
    let landmarks = params.landmarks();
    let c = landmarks.limit(n_samples)?;
    let k = match params.rank {
        Rank::Exact(rank) => rank.min(c),
        Rank::Standard => STANDARD_RANK.min(c),
        Rank::Trace(_) => c,
    };
    let k = if params.variant == Variant::Cholesky { c } else { k };
    let select = landmarks.selection_bytes::<T>(n_features, n_samples, c);
    let points = 2 * matrix_bytes::<T>(n_features, c);
    let square = matrix_bytes::<f64>(c, c);
    let solve = match (params.variant, params.has_optimal_factor()) {
        // a W that is singular or indefinite is solved by its eigenpairs
        (Variant::Cholesky, _) => eigen_bytes(c, c),
        // V, S, SP0 and M of the second solve
        (_, true) => eigen_bytes(c, c) + 4 * square,
        _ if params.kernel.is_positive_semidefinite() => eigen_bytes(c, k),
        _ => eigen_bytes(c, c),
    };
    let projection = matrix_bytes::<T>(c, k) + matrix_bytes::<f64>(c, k);
    let width = tile_width::<T>(c, params.memory);
    let n_tiles = threads.min(n_samples.div_ceil(width)) as u64;
    let tiles = n_tiles * (matrix_bytes::<T>(c, width) + matrix_bytes::<T>(n_features, width));
    let virtual_samples = matrix_bytes::<T>(k, n_samples);
    let stage = |stage, bytes| StageMemory { stage, bytes: held + bytes };
    let stages = vec![
        stage("landmarks", select),
        stage("factor", points + square + matrix_bytes::<T>(c, c) + solve + projection),
        stage("map", points + projection + tiles + virtual_samples),
    ];
    Ok((stages, k))
}

/// The same parameters with an automatic landmark count cut until `fits` holds (or no further).
pub(crate) fn cut_landmarks(
    params: &NystroemParams,
    n_samples: usize,
    fits: impl Fn(&NystroemParams) -> Result<bool, LkdlError>,
) -> Result<NystroemParams, LkdlError> {
    let mut params = params.clone();
    while let LandmarkCount::Auto { trace_error, max } = params.n_landmarks {
        if max <= MIN_AUTO_LANDMARKS || fits(&params)? {
            break;
        }
        let max = (max.min(n_samples) / 2).max(MIN_AUTO_LANDMARKS);
        params.n_landmarks = LandmarkCount::Auto { trace_error, max };
    }
    Ok(params)
}
