//! A fitted pipeline from the bytes of a file.

use crate::card::{Card, ClassHistory, Metadata};
use crate::element::Element;
use crate::error::ModelError;
use crate::tensors::{Source, checksum};
use crate::write::KEY;
use crate::{Classifier, FORMAT_VERSION, Pipeline};
use lkdl::map::fastfood::{FastfoodBlock, FastfoodMap};
use lkdl::map::fourier::FourierMap;
use lkdl::prepare::{FittedStep, Preparation, PrepareParams, Step};
use lkdl::{FeatureMap, Kernel, Lkdl, Panel, map::NystroemMap};
use safetensors::{SafeTensorError, SafeTensors};
use serde_json::Value;

/// A model and what its file says of it.
#[derive(Debug, Clone)]
pub struct SavedModel<T: Element> {
    /// The fitted pipeline.
    pub pipeline: Pipeline<T>,
    /// Classes, seed, training data and settings.
    pub card: Card,
    /// How each class's dictionary came to be.
    pub history: Vec<ClassHistory>,
    /// What the fit wanted known.
    pub warnings: Vec<String>,
    /// The library version that wrote the file.
    pub library_version: String,
}

/// A model in the precision it was trained in.
#[derive(Debug, Clone)]
pub enum AnyModel {
    /// Single precision.
    F32(Box<SavedModel<f32>>),
    /// Double precision.
    F64(Box<SavedModel<f64>>),
}

/// Reads a model file.
pub fn from_bytes(bytes: &[u8]) -> Result<AnyModel, ModelError> {
    read(bytes, None)
}

/// Reads what [`to_bytes_without_kernel`](crate::to_bytes_without_kernel) wrote: `kernel` is the one
/// that was kept elsewhere.
pub fn from_bytes_with_kernel(bytes: &[u8], kernel: &Kernel) -> Result<AnyModel, ModelError> {
    read(bytes, Some(kernel))
}

fn read(bytes: &[u8], custom: Option<&Kernel>) -> Result<AnyModel, ModelError> {
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| match error {
        SafeTensorError::MetadataIncompleteBuffer => {
            ModelError::Damaged { problem: "it is not as long as its header says".into() }
        }
        error => ModelError::NotAModel { problem: error.to_string() },
    })?;
    let text = header.metadata().as_ref().and_then(|entries| entries.get(KEY));
    let text = text.ok_or_else(|| ModelError::NotAModel {
        problem: format!("it has no metadata entry \"{KEY}\""),
    })?;
    let tensors = SafeTensors::deserialize(bytes)
        .map_err(|error| ModelError::Damaged { problem: error.to_string() })?;
    let metadata = checked_metadata(text, &tensors)?;
    let source = Source { tensors, custom };
    match metadata.precision.as_str() {
        "f32" => Ok(AnyModel::F32(Box::new(build(metadata, &source)?))),
        "f64" => Ok(AnyModel::F64(Box::new(build(metadata, &source)?))),
        other => Err(ModelError::Unknown { field: "precision", value: other.into() }),
    }
}

/// The metadata, once its version and checksum are known to be right.
fn checked_metadata(text: &str, tensors: &SafeTensors<'_>) -> Result<Metadata, ModelError> {
    let damaged = |problem: String| ModelError::Damaged { problem };
    let outer: Value = serde_json::from_str(text)
        .map_err(|error| damaged(format!("its metadata is no JSON ({error})")))?;
    let model = &outer["model"];
    let version = model["format_version"].as_u64().unwrap_or(0);
    if version > u64::from(FORMAT_VERSION) {
        let library = model["library_version"].as_str().unwrap_or("of unknown version").into();
        return Err(ModelError::NewerVersion { found: version, library });
    }
    let actual = checksum(
        &model.to_string(),
        tensors.names().iter().filter_map(|name| Some((*name, tensors.tensor(name).ok()?))),
    );
    if outer["checksum"].as_str() != Some(actual.as_str()) {
        return Err(damaged("its checksum does not match its contents".into()));
    }
    serde_json::from_value(model.clone())
        .map_err(|error| damaged(format!("its metadata is incomplete ({error})")))
}

fn build<T: Element>(metadata: Metadata, source: &Source<'_>) -> Result<SavedModel<T>, ModelError> {
    let preparation = preparation::<T>(&metadata, source)?;
    let map = map::<T>(&metadata, source)?;
    let n_classes = metadata.card.class_names.len();
    let classifier = Classifier::get(&metadata.method, &metadata.record, n_classes, source)?;
    check_rank("of the classifier", classifier.n_features(), metadata.rank)?;
    Ok(SavedModel {
        pipeline: Lkdl::from_parts(preparation, map, classifier),
        card: metadata.card,
        history: metadata.record.history,
        warnings: metadata.warnings,
        library_version: metadata.library_version,
    })
}

fn preparation<T: Element>(
    metadata: &Metadata,
    source: &Source<'_>,
) -> Result<Preparation<T>, ModelError> {
    let params: PrepareParams = metadata.preparation.parse()?;
    let step = |(i, step): (usize, &Step)| {
        Ok(match step {
            Step::CenterSample => FittedStep::CenterSample,
            Step::UnitNorm => FittedStep::UnitNorm,
            Step::Standardize => FittedStep::Standardize {
                mean: source.vector(&format!("preparation.{i}.mean"))?,
                scale: source.vector(&format!("preparation.{i}.scale"))?,
            },
            other => {
                let value = other.to_string();
                return Err(ModelError::Unknown { field: "preparation", value });
            }
        })
    };
    let steps = params.steps.iter().enumerate().map(step).collect::<Result<_, ModelError>>()?;
    Ok(Preparation::from_parts(metadata.n_features, steps)?)
}

fn map<T: Element>(metadata: &Metadata, source: &Source<'_>) -> Result<FeatureMap<T>, ModelError> {
    let map = match metadata.map.as_str() {
        "none" => return Ok(FeatureMap::Identity),
        "nystroem" => nystroem(metadata, source)?,
        "fourier" => FeatureMap::Fourier(FourierMap::from_parts(source.matrix("frequencies")?)?),
        "fastfood" => fastfood(metadata, source)?,
        other => return Err(ModelError::Unknown { field: "map", value: other.into() }),
    };
    let rank = match &map {
        FeatureMap::Nystroem(map) => map.rank(),
        FeatureMap::Fourier(map) => map.rank(),
        FeatureMap::Fastfood(map) => map.rank(),
        _ => metadata.rank,
    };
    check_rank("projection", rank, metadata.rank)?;
    Ok(map)
}

/// Map and classifier must speak of virtual samples of one dimension.
fn check_rank(name: &str, got: usize, rank: usize) -> Result<(), ModelError> {
    if got == rank {
        return Ok(());
    }
    let problem = format!("is of rank {got}, but the model's is {rank}");
    Err(ModelError::Tensor { name: name.into(), problem })
}

fn nystroem<T: Element>(
    metadata: &Metadata,
    source: &Source<'_>,
) -> Result<FeatureMap<T>, ModelError> {
    let kernel = metadata
        .kernel
        .as_ref()
        .ok_or(ModelError::Unknown { field: "kernel", value: "missing".into() })?
        .kernel(source.custom)?;
    let optional = |name| if source.has(name) { source.indices(name).map(Some) } else { Ok(None) };
    let indices = optional("landmark_indices")?;
    let points = source.matrix::<T>("landmarks")?;
    let panel = Panel::from_parts(&kernel, points.as_ref(), indices, metadata.n_features)?;
    let mean = if source.has("mean") { source.vector("mean")? } else { Vec::new() };
    let eigenvalues =
        if source.has("eigenvalues") { source.vector::<f64>("eigenvalues")? } else { Vec::new() };
    let projection = source.matrix::<T>("projection")?;
    let map = NystroemMap::from_parts(panel, projection.as_ref(), &mean, &eigenvalues)?;
    Ok(FeatureMap::Nystroem(Box::new(map)))
}

fn fastfood<T: Element>(
    metadata: &Metadata,
    source: &Source<'_>,
) -> Result<FeatureMap<T>, ModelError> {
    let mut blocks = Vec::new();
    while source.has(&format!("fastfood.{}.signs", blocks.len())) {
        let name = |part: &str| format!("fastfood.{}.{part}", blocks.len());
        let permutation = source.indices(&name("permutation"))?;
        blocks.push(FastfoodBlock {
            signs: source.vector(&name("signs"))?,
            permutation: permutation
                .into_iter()
                .map(|i| u32::try_from(i).unwrap_or(u32::MAX))
                .collect(),
            gaussian: source.vector(&name("gaussian"))?,
            scale: source.vector(&name("scale"))?,
        });
    }
    Ok(FeatureMap::Fastfood(FastfoodMap::from_parts(metadata.n_features, metadata.rank, blocks)?))
}
