//! LC-KSVD and D-KSVD: `dictionary`, m × k, the atoms of all classes, one per row; `atom_classes`, m;
//! `classifier`, m × L, the columns of Θ as rows; `consistency`, m × L, where it has a weight.

use super::{Part, counts, history, sparsity};
use crate::card::{ClassHistory, MethodRecord};
use crate::element::Element;
use crate::error::ModelError;
use crate::tensors::{Source, Tensors};
use faer::MatRef;
use lkdl::Warning;
use lkdl::classify::{LcKsvd, LcKsvdParts};

pub(super) const NAME: &str = "lc-ksvd";

impl<T: Element> Part<T> for LcKsvd<T> {
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
        Some(self.sparsity())
    }

    /// Atoms were started class by class, in order.
    fn class_atoms(&self) -> Option<Vec<MatRef<'_, T>>> {
        if !self.atom_classes().is_sorted() {
            return None;
        }
        let mut start = 0;
        let class = |count: usize| {
            start += count;
            self.dictionary().subcols(start - count, count)
        };
        Some(Part::n_atoms(self).into_iter().map(class).collect())
    }

    fn n_atoms(&self) -> Vec<usize> {
        counts(self.atom_classes(), self.n_classes())
    }

    /// One dictionary for all classes.
    fn history(&self) -> Vec<ClassHistory> {
        vec![history::of_learned(self.learned())]
    }

    fn warnings(&self) -> Vec<(usize, &Warning)> {
        self.warnings().collect()
    }

    fn put(&self, tensors: &mut Tensors) -> Result<MethodRecord, ModelError> {
        tensors.put_matrix("dictionary", self.dictionary());
        tensors.put_indices("atom_classes", self.atom_classes());
        tensors.put_matrix("classifier", self.classifier());
        if let Some(consistency) = self.consistency() {
            tensors.put_matrix("consistency", consistency);
        }
        Ok(MethodRecord {
            sparsity: Some(self.sparsity()),
            history: Part::history(self),
            ..MethodRecord::default()
        })
    }
}

/// The classifier that `put` wrote.
pub(super) fn get<T: Element>(
    record: &MethodRecord,
    source: &Source<'_>,
) -> Result<LcKsvd<T>, ModelError> {
    let consistency = match source.has("consistency") {
        true => Some(source.matrix("consistency")?),
        false => None,
    };
    Ok(LcKsvd::from_parts(LcKsvdParts {
        learned: history::learned(source.matrix("dictionary")?, record.history.first()),
        atom_classes: source.indices("atom_classes")?,
        classifier: source.matrix("classifier")?,
        consistency,
        sparsity: sparsity(record)?,
        warnings: Vec::new(),
    })?)
}
