//! One dictionary per class: `dictionary.<l>`, m × k, the atoms of class l, one per row.

use super::{Part, history, sparsity};
use crate::card::{ClassHistory, MethodRecord};
use crate::element::Element;
use crate::error::ModelError;
use crate::tensors::{Source, Tensors};
use faer::MatRef;
use lkdl::Warning;
use lkdl::classify::ClassDictionaries;
use lkdl::dictionary::Learned;

pub(super) const NAME: &str = "class-dictionaries";

impl<T: Element> Part<T> for ClassDictionaries<T> {
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

    fn class_atoms(&self) -> Option<Vec<MatRef<'_, T>>> {
        Some(self.learned().iter().map(|class| class.dictionary.as_ref()).collect())
    }

    fn history(&self) -> Vec<ClassHistory> {
        self.learned().iter().map(history::of_learned).collect()
    }

    fn warnings(&self) -> Vec<(usize, &Warning)> {
        self.warnings().collect()
    }

    fn put(&self, tensors: &mut Tensors) -> Result<MethodRecord, ModelError> {
        for (class, learned) in self.learned().iter().enumerate() {
            tensors.put_matrix(name(class), learned.dictionary.as_ref());
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
    n_classes: usize,
    source: &Source<'_>,
) -> Result<ClassDictionaries<T>, ModelError> {
    let learned = (0..n_classes)
        .map(|class| learned(class, record.history.get(class), source))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(ClassDictionaries::new(learned, sparsity(record)?)?)
}

fn learned<T: Element>(
    class: usize,
    history: Option<&ClassHistory>,
    source: &Source<'_>,
) -> Result<Learned<T>, ModelError> {
    Ok(history::learned(source.matrix(&name(class))?, history))
}

fn name(class: usize) -> String {
    format!("dictionary.{class}")
}
