//! SRC: `dictionary`, N × k, all training samples of unit norm, one per row; `atom_classes`, N.

use super::{CodingParameters, Part, by_class, counts, parameters, put_parameters};
use crate::card::{ClassHistory, MethodRecord};
use crate::element::Element;
use crate::error::ModelError;
use crate::tensors::{Source, Tensors};
use faer::{Mat, MatRef};
use lkdl::classify::{Src, SrcCoding, SrcParams};
use lkdl::{LkdlError, Warning};

pub(super) const NAME: &str = "src";

impl<T: Element> Part<T> for Src<T> {
    fn method(&self) -> &'static str {
        NAME
    }

    fn n_classes(&self) -> usize {
        self.n_classes()
    }

    fn n_features(&self) -> usize {
        self.dictionary().nrows()
    }

    fn sparsity(&self) -> Option<usize> {
        CodingParameters::from(self.params().coding).sparsity()
    }

    /// The samples of a class need not stand side by side.
    fn class_atoms(&self) -> Option<Vec<MatRef<'_, T>>> {
        None
    }

    fn class_images(&self) -> Result<Option<Vec<Mat<T>>>, LkdlError> {
        Ok(Some(by_class(self.dictionary(), self.atom_classes(), self.n_classes())))
    }

    fn n_atoms(&self) -> Vec<usize> {
        counts(self.atom_classes(), self.n_classes())
    }

    fn history(&self) -> Vec<ClassHistory> {
        Vec::new()
    }

    fn warnings(&self) -> Vec<(usize, &Warning)> {
        self.warnings().iter().map(|warning| (0, warning)).collect()
    }

    fn put(&self, tensors: &mut Tensors) -> Result<MethodRecord, ModelError> {
        tensors.put_matrix("dictionary", self.dictionary());
        tensors.put_indices("atom_classes", self.atom_classes());
        let coding = CodingParameters::from(self.params().coding);
        Ok(MethodRecord {
            sparsity: coding.sparsity(),
            history: Vec::new(),
            parameters: put_parameters(&coding)?,
        })
    }
}

/// The classifier that `put` wrote.
pub(super) fn get<T: Element>(
    record: &MethodRecord,
    source: &Source<'_>,
) -> Result<Src<T>, ModelError> {
    let coding = SrcCoding::from(parameters::<CodingParameters>(record)?);
    let params = SrcParams { coding, ..Default::default() };
    Ok(Src::from_parts(source.matrix("dictionary")?, source.indices("atom_classes")?, params)?)
}
