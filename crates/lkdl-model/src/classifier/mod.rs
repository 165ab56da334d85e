//! Classifiers that a model file can hold, whatever method trained them.
//!
//! A method is one file here: [`Part`] says how its classifier describes itself and writes its
//! tensors, a function `get` builds it again. Beside that file a new method takes a variant of
//! [`Classifier`], its arms in `part`, `get` and `classify`, and its rows in the crate's table of
//! tensors.

mod class_dictionaries;

use crate::card::{ClassHistory, MethodRecord};
use crate::element::Element;
use crate::error::ModelError;
use crate::tensors::{Source, Tensors};
use faer::MatRef;
use lkdl::classify::{ClassDictionaries, Classify, Predictions};
use lkdl::{LkdlError, Warning};

/// A trained classifier of any method.
#[derive(Debug, Clone)]
pub enum Classifier<T: Element> {
    /// One dictionary per class.
    ClassDictionaries(ClassDictionaries<T>),
}

/// What every classifier tells of itself, and how it is written.
trait Part<T: Element> {
    /// The name of its method in a file.
    fn method(&self) -> &'static str;
    fn n_classes(&self) -> usize;
    fn n_features(&self) -> usize;
    fn sparsity(&self) -> Option<usize>;
    fn class_atoms(&self) -> Option<Vec<MatRef<'_, T>>>;
    fn history(&self) -> Vec<ClassHistory>;
    fn warnings(&self) -> Vec<(usize, &Warning)>;
    /// Writes its tensors; what else there is to know goes into the record.
    fn put(&self, tensors: &mut Tensors) -> MethodRecord;
}

impl<T: Element> Classifier<T> {
    fn part(&self) -> &dyn Part<T> {
        match self {
            Self::ClassDictionaries(classifier) => classifier,
        }
    }

    /// The name of the method in a file: `class-dictionaries`.
    pub fn method(&self) -> &'static str {
        self.part().method()
    }

    /// L.
    pub fn n_classes(&self) -> usize {
        self.part().n_classes()
    }

    /// The dimension of the samples it was trained on: k after a map, p without.
    pub fn n_features(&self) -> usize {
        self.part().n_features()
    }

    /// q, for methods whose codes have so many atoms at most.
    pub fn sparsity(&self) -> Option<usize> {
        self.part().sparsity()
    }

    /// The atoms of each class, in the space of the samples it was trained on; `None` for methods
    /// whose atoms are not vectors there.
    pub fn class_atoms(&self) -> Option<Vec<MatRef<'_, T>>> {
        self.part().class_atoms()
    }

    /// How the dictionary of each class came to be, for methods that learn class by class.
    pub fn history(&self) -> Vec<ClassHistory> {
        self.part().history()
    }

    /// What training wanted known, with the class index. Empty for a model from a file, whose
    /// [`history`](crate::SavedModel::history) has them as text.
    pub fn warnings(&self) -> Vec<(usize, &Warning)> {
        self.part().warnings()
    }

    pub(crate) fn put(&self, tensors: &mut Tensors) -> MethodRecord {
        self.part().put(tensors)
    }

    /// The classifier that `put` wrote.
    pub(crate) fn get(
        method: &str,
        record: &MethodRecord,
        n_classes: usize,
        source: &Source<'_>,
    ) -> Result<Self, ModelError> {
        match method {
            class_dictionaries::NAME => {
                class_dictionaries::get(record, n_classes, source).map(Self::ClassDictionaries)
            }
            other => Err(ModelError::Unknown { field: "method", value: other.into() }),
        }
    }
}

impl<T: Element> Classify<T> for Classifier<T> {
    fn classify(&self, samples: MatRef<'_, T>) -> Result<Predictions, LkdlError> {
        match self {
            Self::ClassDictionaries(classifier) => classifier.classify(samples),
        }
    }
}

impl<T: Element> From<ClassDictionaries<T>> for Classifier<T> {
    fn from(classifier: ClassDictionaries<T>) -> Self {
        Self::ClassDictionaries(classifier)
    }
}
