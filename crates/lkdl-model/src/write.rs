//! A fitted pipeline as the bytes of a file.

use crate::card::{Card, KernelRecord, Metadata};
use crate::element::Element;
use crate::error::ModelError;
use crate::tensors::{Tensors, checksum};
use crate::{FORMAT_VERSION, Pipeline};
use lkdl::kernel::CustomKernel;
use lkdl::prepare::FittedStep;
use lkdl::{FeatureMap, Kernel};
use std::collections::HashMap;

/// The metadata key that holds everything that is no tensor.
pub(crate) const KEY: &str = "lkdl";

/// The bytes of a model file.
pub fn to_bytes<T: Element>(model: &Pipeline<T>, card: &Card) -> Result<Vec<u8>, ModelError> {
    if let Some(own) = custom_kernel(model) {
        return Err(ModelError::Unsaveable {
            what: format!("the kernel custom({})", own.name()),
            fix: "keep the program that defines it, and fit again there",
        });
    }
    to_bytes_without_kernel(model, card)
}

/// The bytes of a model, whose kernel is kept elsewhere if it is a [`CustomKernel`].
pub fn to_bytes_without_kernel<T: Element>(
    model: &Pipeline<T>,
    card: &Card,
) -> Result<Vec<u8>, ModelError> {
    let n_classes = model.classifier().n_classes();
    if card.class_names.len() != n_classes {
        return Err(ModelError::Unsaveable {
            what: format!("a model of {n_classes} classes with {} names", card.class_names.len()),
            fix: "name every class",
        });
    }
    let mut tensors = Tensors::default();
    put_preparation(&mut tensors, model);
    let (map, kernel) = put_map(&mut tensors, model.map())?;
    let record = model.classifier().put(&mut tensors)?;
    let metadata = Metadata {
        format_version: FORMAT_VERSION,
        library_version: env!("CARGO_PKG_VERSION").into(),
        method: model.classifier().method().into(),
        precision: T::NAME.into(),
        map: map.into(),
        kernel,
        preparation: model.preparation().params().to_string(),
        n_features: model.preparation().n_features(),
        rank: model.classifier().n_features(),
        record,
        warnings: model.warnings().iter().map(ToString::to_string).collect(),
        card: card.clone(),
    };
    serialize(&metadata, &tensors)
}

/// The kernel of the map, or of a method that is exact in its space, if it is the user's own.
pub fn custom_kernel<T: Element>(model: &Pipeline<T>) -> Option<&dyn CustomKernel> {
    let mut kernel = match model.map() {
        FeatureMap::Nystroem(map) => map.panel().kernel(),
        _ => model.classifier().kernel()?,
    };
    while let Kernel::Normalized(inner) = kernel {
        kernel = inner;
    }
    match kernel {
        Kernel::Custom(own) => Some(own.as_ref()),
        _ => None,
    }
}

/// Sorted keys, one checksum: equal models are equal files.
fn serialize(metadata: &Metadata, tensors: &Tensors) -> Result<Vec<u8>, ModelError> {
    let unsaveable = |error: String| ModelError::Unsaveable {
        what: format!("this model ({error})"),
        fix: "report it, with the command that made it",
    };
    let model = serde_json::to_value(metadata).map_err(|error| unsaveable(error.to_string()))?;
    let views = tensors.views()?;
    let checksum = checksum(&model.to_string(), views.iter().map(|(name, v)| (*name, v.clone())));
    let text = serde_json::json!({ "checksum": checksum, "model": model }).to_string();
    let entries = HashMap::from([(KEY.to_string(), text)]);
    safetensors::serialize(views, Some(entries)).map_err(|error| unsaveable(error.to_string()))
}

fn put_preparation<T: Element>(tensors: &mut Tensors, model: &Pipeline<T>) {
    for (i, step) in model.preparation().steps().iter().enumerate() {
        if let FittedStep::Standardize { mean, scale } = step {
            tensors.put_vector(format!("preparation.{i}.mean"), mean);
            tensors.put_vector(format!("preparation.{i}.scale"), scale);
        }
    }
}

/// The map's tensors, its name and its kernel.
fn put_map<T: Element>(
    tensors: &mut Tensors,
    map: &FeatureMap<T>,
) -> Result<(&'static str, Option<KernelRecord>), ModelError> {
    Ok(match map {
        FeatureMap::Identity => ("none", None),
        FeatureMap::Nystroem(map) => {
            let panel = map.panel();
            tensors.put_matrix("landmarks", panel.points());
            if let Some(indices) = panel.indices() {
                tensors.put_indices("landmark_indices", indices);
            }
            tensors.put_matrix("projection", map.projection());
            if !map.mean().is_empty() {
                tensors.put_vector("mean", map.mean());
            }
            if !map.eigenvalues().is_empty() {
                tensors.put_vector("eigenvalues", map.eigenvalues());
            }
            ("nystroem", Some(KernelRecord::try_from(panel.kernel())?))
        }
        FeatureMap::Fourier(map) => {
            tensors.put_matrix("frequencies", map.frequencies());
            ("fourier", None)
        }
        FeatureMap::Fastfood(map) => {
            for (b, block) in map.blocks().iter().enumerate() {
                let permutation: Vec<usize> =
                    block.permutation.iter().map(|&i| i as usize).collect();
                tensors.put_vector(format!("fastfood.{b}.signs"), &block.signs);
                tensors.put_indices(format!("fastfood.{b}.permutation"), &permutation);
                tensors.put_vector(format!("fastfood.{b}.gaussian"), &block.gaussian);
                tensors.put_vector(format!("fastfood.{b}.scale"), &block.scale);
            }
            ("fastfood", None)
        }
        _ => {
            return Err(ModelError::Unsaveable {
                what: "this kind of map".into(),
                fix: "use a map that this version of the model file knows",
            });
        }
    })
}
