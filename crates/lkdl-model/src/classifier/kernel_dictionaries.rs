//! Exact kernel dictionaries: `samples.<l>`, n × p, the training samples of class l that its atoms
//! combine, one per row; `atom_weights.<l>`, m × n, how.

use super::{KernelParameters, Part, history, parameters, put_parameters, sparsity};
use crate::card::{ClassHistory, KernelRecord, MethodRecord};
use crate::element::Element;
use crate::error::ModelError;
use crate::tensors::{Source, Tensors};
use faer::{Mat, MatRef};
use lkdl::exact::{KernelClass, KernelDictionaries};
use lkdl::{Kernel, LkdlError, Warning};

pub(super) const NAME: &str = "kernel-dictionaries";

impl<T: Element> Part<T> for KernelDictionaries<T> {
    fn method(&self) -> &'static str {
        NAME
    }

    fn n_classes(&self) -> usize {
        self.n_classes()
    }

    fn n_features(&self) -> usize {
        self.n_features()
    }

    fn sparsity(&self) -> Option<usize> {
        Some(self.sparsity())
    }

    /// Atoms are combinations of Φ(x): no vectors of the samples' space.
    fn class_atoms(&self) -> Option<Vec<MatRef<'_, T>>> {
        None
    }

    fn class_images(&self) -> Result<Option<Vec<Mat<T>>>, LkdlError> {
        if !self.kernel().is_on_vectors() {
            return Ok(None);
        }
        self.classes().iter().map(KernelClass::pre_images).collect::<Result<_, _>>().map(Some)
    }

    fn n_atoms(&self) -> Vec<usize> {
        self.classes().iter().map(|class| class.coder().n_atoms()).collect()
    }

    fn kernel(&self) -> Option<&Kernel> {
        Some(self.kernel())
    }

    fn history(&self) -> Vec<ClassHistory> {
        self.classes().iter().map(|class| history::of_kernel_learned(class.learned())).collect()
    }

    fn warnings(&self) -> Vec<(usize, &Warning)> {
        self.warnings().collect()
    }

    fn put(&self, tensors: &mut Tensors) -> Result<MethodRecord, ModelError> {
        for (l, class) in self.classes().iter().enumerate() {
            tensors.put_matrix(format!("samples.{l}"), class.samples());
            tensors.put_matrix(format!("atom_weights.{l}"), class.learned().atom_weights.as_ref());
        }
        Ok(MethodRecord {
            sparsity: Some(self.sparsity()),
            history: Part::history(self),
            parameters: put_parameters(&KernelParameters {
                kernel: KernelRecord::try_from(self.kernel())?,
            })?,
        })
    }
}

/// The classifier that `put` wrote.
pub(super) fn get<T: Element>(
    record: &MethodRecord,
    n_classes: usize,
    source: &Source<'_>,
) -> Result<KernelDictionaries<T>, ModelError> {
    let KernelParameters { kernel } = parameters(record)?;
    let class = |l: usize| {
        let learned = history::kernel_learned(
            source.matrix(&format!("atom_weights.{l}"))?,
            record.history.get(l),
        );
        Ok((source.matrix(&format!("samples.{l}"))?, learned))
    };
    let classes = (0..n_classes).map(class).collect::<Result<Vec<_>, ModelError>>()?;
    Ok(KernelDictionaries::from_parts(&kernel.kernel(source.custom)?, classes, sparsity(record)?)?)
}
