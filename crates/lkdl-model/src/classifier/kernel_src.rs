//! Kernel SRC: `samples`, N × p, all training samples, one per row; `sample_classes`, N.

use super::{
    CodingParameters, KernelParameters, Part, by_class, counts, parameters, put_parameters,
};
use crate::card::{ClassHistory, KernelRecord, MethodRecord};
use crate::element::Element;
use crate::error::ModelError;
use crate::tensors::{Source, Tensors};
use faer::{Mat, MatRef};
use lkdl::classify::SrcCoding;
use lkdl::exact::KernelSrc;
use lkdl::{Kernel, LkdlError, Panel, Warning};

pub(super) const NAME: &str = "kernel-src";

impl<T: Element> Part<T> for KernelSrc<T> {
    fn method(&self) -> &'static str {
        NAME
    }

    fn n_classes(&self) -> usize {
        self.core().n_classes()
    }

    fn n_features(&self) -> usize {
        self.panel().points().nrows()
    }

    fn sparsity(&self) -> Option<usize> {
        CodingParameters::from(self.core().coding()).sparsity()
    }

    /// Atoms are Φ(x): no vectors of the samples' space.
    fn class_atoms(&self) -> Option<Vec<MatRef<'_, T>>> {
        None
    }

    /// The pre-image of Φ(x) is x.
    fn class_images(&self) -> Result<Option<Vec<Mat<T>>>, LkdlError> {
        let (panel, core) = (self.panel(), self.core());
        let images = || by_class(panel.points(), core.atom_classes(), core.n_classes());
        Ok(panel.kernel().is_on_vectors().then(images))
    }

    fn n_atoms(&self) -> Vec<usize> {
        counts(self.core().atom_classes(), self.core().n_classes())
    }

    fn kernel(&self) -> Option<&Kernel> {
        Some(self.panel().kernel())
    }

    fn history(&self) -> Vec<ClassHistory> {
        Vec::new()
    }

    fn warnings(&self) -> Vec<(usize, &Warning)> {
        Vec::new()
    }

    fn put(&self, tensors: &mut Tensors) -> Result<MethodRecord, ModelError> {
        tensors.put_matrix("samples", self.panel().points());
        tensors.put_indices("sample_classes", self.core().atom_classes());
        let coding = CodingParameters::from(self.core().coding());
        let kernel = KernelRecord::try_from(self.panel().kernel())?;
        let mut parameters = put_parameters(&coding)?;
        parameters.extend(put_parameters(&KernelParameters { kernel })?);
        Ok(MethodRecord { sparsity: coding.sparsity(), history: Vec::new(), parameters })
    }
}

/// The classifier that `put` wrote.
pub(super) fn get<T: Element>(
    record: &MethodRecord,
    source: &Source<'_>,
) -> Result<KernelSrc<T>, ModelError> {
    let KernelParameters { kernel } = parameters(record)?;
    let coding = SrcCoding::from(parameters::<CodingParameters>(record)?);
    let samples: Mat<T> = source.matrix("samples")?;
    let panel = Panel::new(&kernel.kernel(source.custom)?, samples.as_ref())?;
    Ok(KernelSrc::from_parts(panel, &source.indices("sample_classes")?, coding)?)
}
