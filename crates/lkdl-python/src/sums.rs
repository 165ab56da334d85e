//! Sums over samples as plain arrays, which add: what a map and a dictionary need to know of the
//! data. Blocks may be summed by whoever has them; sums that are added in one order, wherever, are
//! the same bits.

use crate::array::{
    AnySamples, InPrecision, Number, Samples, in_precision, indices, labels, numbers, reshaped,
    rows, vector,
};
use crate::error::Failure;
use crate::job::Call;
use crate::map::{PyFeatureMap, nystroem, own, rank};
use faer::{Mat, MatRef};
use lkdl::blocks::Order;
use lkdl::dictionary::{DictionaryStatistics, DictionarySums, WorstSample};
use lkdl::map::{MapStatistics, MapSums, NystroemParams};
use lkdl::sampling::LandmarkCount;
use lkdl::{FeatureMap, LkdlError};
use pyo3::prelude::*;

/// Statistics number from 0 what they are given, one block here; the data have a number of their own
/// for it.
fn numbered(error: LkdlError, block: usize) -> LkdlError {
    match error {
        LkdlError::InBlock { first, source, .. } => LkdlError::InBlock { block, first, source },
        other => other,
    }
}

/// Neighbours that are added up at a time when there are so many blocks: from the left, then their
/// sums.
#[pyfunction]
#[pyo3(signature = (n_blocks))]
pub fn group_size(n_blocks: usize) -> usize {
    Order::of(n_blocks).radix()
}

/// N, Σκ(x, x), Σκ(X_R, x) and CᵀC.
pub type MapParts<'py> = (usize, f64, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// What a Nyström map needs to know of the rows of X, block number `block` of the data.
#[pyfunction]
#[pyo3(signature = (map, X, block=0, threads=0))]
pub fn map_sums<'py>(
    py: Python<'py>,
    map: &PyFeatureMap,
    X: &Bound<'py, PyAny>,
    block: usize,
    threads: usize,
) -> PyResult<MapParts<'py>> {
    in_precision!(AnySamples::of(X, "X")?, X => {
        let map = own(&map.map)?;
        let sums = Call::silent(py, threads).run(move |_| {
            let mut statistics = MapStatistics::new(nystroem(&map)?.panel().clone());
            statistics.add_block(0, X.view()).map_err(|error| numbered(error, block))?;
            Ok(statistics.finish()?.1)
        })?;
        Ok(map_parts(py, sums))
    })
}

/// The sums as plain arrays.
pub fn map_parts(py: Python<'_>, sums: MapSums) -> MapParts<'_> {
    let MapSums { n_samples, trace, kernel_sum, cross_gram } = sums;
    (n_samples, trace, vector(py, kernel_sum), rows(py, cross_gram.as_ref()))
}

/// The sums that these arrays are.
pub fn read_map_parts(parts: &MapParts<'_>) -> Result<MapSums, Failure> {
    Ok(MapSums {
        n_samples: parts.0,
        trace: parts.1,
        kernel_sum: numbers(&parts.2, "kernel_sum")?,
        cross_gram: matrix(&parts.3, "cross_gram")?,
    })
}

/// The map of the same landmarks by sums over all samples, and the share of the kernel's trace that
/// it misses of them.
#[pyfunction]
#[pyo3(signature = (map, sums, rank, variant, centered=false, indefinite="reject", seed=0,
    threads=0))]
#[allow(clippy::too_many_arguments)] // one for each argument of Python
pub fn map_by_sums(
    py: Python<'_>,
    map: &PyFeatureMap,
    sums: MapParts<'_>,
    rank: &Bound<'_, PyAny>,
    variant: &str,
    centered: bool,
    indefinite: &str,
    seed: u64,
    threads: usize,
) -> PyResult<(PyFeatureMap, f64)> {
    let sums = read_map_parts(&sums)?;
    let params = NystroemParams {
        rank: self::rank(rank)?,
        variant: lkdl_recipe::variant(variant).map_err(Failure::argument)?,
        indefinite: lkdl_recipe::indefinite(indefinite).map_err(Failure::argument)?,
        centered,
        seed,
        ..NystroemParams::default()
    };
    map.refitted(py, params, sums, threads)
}

/// N, zeros among them, A = ΓΓᵀ, Bᵀ = ΓXᵀ, Σ‖x‖², Σ‖x − Dγ‖², users of every atom; of the worst
/// represented samples the squared errors, blocks and rows in them, and the samples themselves.
type DictionaryParts<'py> = (
    usize,
    usize,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    f64,
    f64,
    Bound<'py, PyAny>,
    (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>),
);

/// What an update of the atoms (rows of D) needs to know of the rows of X, block number `block`.
#[pyfunction]
#[pyo3(signature = (X, D, sparsity, block=0, threads=0))]
pub fn dictionary_sums<'py>(
    py: Python<'py>,
    X: &Bound<'py, PyAny>,
    D: &Bound<'py, PyAny>,
    sparsity: usize,
    block: usize,
    threads: usize,
) -> PyResult<DictionaryParts<'py>> {
    let D = AnySamples::of(D, "D")?;
    in_precision!(AnySamples::of(X, "X")?, X => {
        let D = D.samples("D")?;
        let sums = Call::silent(py, threads).run(move |_| {
            let n_worst = D.view().ncols();
            let mut statistics = DictionaryStatistics::new(D.view(), sparsity, n_worst, Order::of(1))?;
            statistics.add_block(0, X.view()).map_err(|error| numbered(error, block))?;
            Ok(statistics.finish()?)
        })?;
        Ok(dictionary_parts(py, sums, block))
    })
}

fn dictionary_parts<'py, T: Number>(
    py: Python<'py>,
    sums: DictionarySums<T>,
    block: usize,
) -> DictionaryParts<'py> {
    let (worst, n_features) = (&sums.worst, sums.sample_products.nrows());
    let errors = worst.iter().map(|worst| worst.sq_error).collect();
    let places: Vec<usize> = worst.iter().map(|worst| worst.column).collect();
    let samples = worst.iter().flat_map(|worst| worst.sample.iter().copied()).collect();
    let worst = (
        vector(py, errors),
        indices(py, &vec![block; worst.len()]),
        indices(py, &places),
        reshaped(py, samples, worst.len(), n_features),
    );
    (
        sums.n_samples,
        sums.n_zero,
        rows(py, sums.code_products.as_ref()),
        rows(py, sums.sample_products.as_ref()),
        sums.sq_norm,
        sums.sq_error,
        indices(py, &sums.uses),
        worst,
    )
}

/// MOD's update of the atoms that samples were coded over, from sums over all of them: the new atoms,
/// the relative error with them, and how many were replaced because nobody used them.
#[pyfunction]
#[pyo3(signature = (D, sums, threads=0))]
pub fn update_atoms<'py>(
    py: Python<'py>,
    D: &Bound<'py, PyAny>,
    sums: DictionaryParts<'py>,
    threads: usize,
) -> PyResult<(Bound<'py, PyAny>, f64, usize)> {
    let worst = AnySamples::of(&sums.7.3, "worst samples")?;
    in_precision!(AnySamples::of(D, "D")?, D => {
        let sums = read_parts(&sums, &worst.samples("worst samples")?)?;
        let (dictionary, updated) = Call::silent(py, threads).run(move |_| {
            let mut dictionary = D.view().to_owned();
            let updated = sums.update(&mut dictionary)?;
            Ok((dictionary, updated))
        })?;
        Ok((rows(py, dictionary.as_ref()), updated.error, updated.n_replaced))
    })
}

fn read_parts<T: Number>(
    parts: &DictionaryParts<'_>,
    samples: &Samples<T>,
) -> Result<DictionarySums<T>, Failure> {
    let (n_samples, n_zero, code_products, sample_products, sq_norm, sq_error, uses, worst) = parts;
    let (errors, blocks) = (numbers(&worst.0, "worst errors")?, labels(&worst.1)?);
    let (columns, samples) = (labels(&worst.2)?, samples.view());
    if [blocks.len(), columns.len(), samples.ncols()] != [errors.len(); 3] {
        return Err(Failure::argument("the worst samples' arrays differ in length"));
    }
    let worst = errors.into_iter().zip(blocks).zip(columns).zip(samples.col_iter());
    let worst: Vec<WorstSample<T>> = worst
        .map(|(((sq_error, block), column), sample)| {
            let sample = sample.iter().copied().collect();
            WorstSample { sq_error, block, column, sample }
        })
        .collect();
    Ok(DictionarySums {
        n_samples: *n_samples,
        n_zero: *n_zero,
        code_products: matrix(code_products, "code_products")?,
        sample_products: matrix(sample_products, "sample_products")?,
        sq_norm: *sq_norm,
        sq_error: *sq_error,
        uses: labels(uses)?,
        n_worst: worst.len(),
        worst,
    })
}

/// The rows of a float64 array as columns.
fn matrix(array: &Bound<'_, PyAny>, name: &str) -> Result<Mat<f64>, Failure> {
    match AnySamples::of(array, name)? {
        AnySamples::F64(samples) => Ok(MatRef::to_owned(&samples.view())),
        AnySamples::F32(_) => Err(Failure::argument(format!("{name} must be of float64"))),
    }
}

impl PyFeatureMap {
    fn refitted(
        &self,
        py: Python<'_>,
        params: NystroemParams,
        sums: MapSums,
        threads: usize,
    ) -> PyResult<(Self, f64)> {
        crate::map::for_map!(&self.map, map => {
            let map = map.clone();
            let (map, error) = Call::silent(py, threads).run(move |_| {
                let panel = nystroem(&map)?.panel().clone();
                let params = NystroemParams {
                    kernel: panel.kernel().clone(),
                    n_landmarks: LandmarkCount::Exact(panel.len()),
                    ..params
                };
                let map = params.fit_sums(panel, &sums)?;
                let error = map.trace_error_by(&sums)?;
                Ok((FeatureMap::Nystroem(Box::new(map)), error))
            })?;
            Ok((Self::new(map), error))
        })
    }
}
