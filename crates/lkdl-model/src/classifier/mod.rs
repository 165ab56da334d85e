//! Classifiers that a model file can hold, whatever method trained them.
//!
//! A method is one file here: [`Part`] says how its classifier describes itself and writes its
//! tensors, a function `get` builds it again. Beside that file a new method takes a variant of
//! [`Classifier`], its arms in `part`, `get` and `classify`, and its rows in the crate's table of
//! tensors.

mod class_dictionaries;
mod fddl;
mod history;
mod kernel_dictionaries;
mod kernel_src;
mod label_consistent;
mod sparse_representation;

use crate::card::{ClassHistory, KernelRecord, MethodRecord};
use crate::element::Element;
use crate::error::ModelError;
use crate::tensors::{Source, Tensors};
use faer::{Mat, MatRef};
use lkdl::classify::{ClassDictionaries, Classify, Fddl, LcKsvd, Predictions, Src, SrcCoding};
use lkdl::exact::{KernelDictionaries, KernelSrc};
use lkdl::{Kernel, LkdlError, Warning};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A trained classifier of any method.
#[derive(Debug, Clone)]
pub enum Classifier<T: Element> {
    /// One dictionary per class.
    ClassDictionaries(ClassDictionaries<T>),
    /// One dictionary per class in the kernel's own space.
    KernelDictionaries(KernelDictionaries<T>),
    /// LC-KSVD or D-KSVD: one dictionary with a linear classifier of its codes.
    LcKsvd(LcKsvd<T>),
    /// FDDL.
    Fddl(Fddl<T>),
    /// SRC: the training samples themselves.
    Src(Src<T>),
    /// SRC in the kernel's own space.
    KernelSrc(KernelSrc<T>),
}

/// What every classifier tells of itself, and how it is written.
trait Part<T: Element> {
    /// The name of its method in a file.
    fn method(&self) -> &'static str;
    fn n_classes(&self) -> usize;
    fn n_features(&self) -> usize;
    fn sparsity(&self) -> Option<usize>;
    fn class_atoms(&self) -> Option<Vec<MatRef<'_, T>>>;
    /// See [`Classifier::class_images`].
    fn class_images(&self) -> Result<Option<Vec<Mat<T>>>, LkdlError> {
        let owned = |atoms: &MatRef<'_, T>| atoms.to_owned();
        Ok(self.class_atoms().map(|classes| classes.iter().map(owned).collect()))
    }
    fn n_atoms(&self) -> Vec<usize> {
        self.class_atoms().unwrap_or_default().iter().map(|atoms| atoms.ncols()).collect()
    }
    /// The kernel of a method that is no linear one.
    fn kernel(&self) -> Option<&Kernel> {
        None
    }
    fn history(&self) -> Vec<ClassHistory>;
    fn warnings(&self) -> Vec<(usize, &Warning)>;
    /// Writes its tensors; what else there is to know goes into the record.
    fn put(&self, tensors: &mut Tensors) -> Result<MethodRecord, ModelError>;
}

impl<T: Element> Classifier<T> {
    fn part(&self) -> &dyn Part<T> {
        match self {
            Self::ClassDictionaries(classifier) => classifier,
            Self::KernelDictionaries(classifier) => classifier,
            Self::LcKsvd(classifier) => classifier,
            Self::Fddl(classifier) => classifier,
            Self::Src(classifier) => classifier,
            Self::KernelSrc(classifier) => classifier,
        }
    }

    /// The name of the method in a file: `class-dictionaries`, `kernel-dictionaries`, `lc-ksvd`,
    /// `fddl`, `src` or `kernel-src`.
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

    /// What the atoms of each class look like in the space of the samples it was trained on: the
    /// atoms themselves, the training samples of a method that has no others, the pre-images of
    /// atoms in a kernel's own space. `None` where the kernel knows no vectors.
    pub fn class_images(&self) -> Result<Option<Vec<Mat<T>>>, LkdlError> {
        self.part().class_images()
    }

    /// How many atoms each class has.
    pub fn n_atoms(&self) -> Vec<usize> {
        self.part().n_atoms()
    }

    /// The kernel of a method that works in its space exactly, without a map.
    pub fn kernel(&self) -> Option<&Kernel> {
        self.part().kernel()
    }

    /// How the dictionary of each class came to be, or the one of all classes; empty for methods
    /// that learn otherwise.
    pub fn history(&self) -> Vec<ClassHistory> {
        self.part().history()
    }

    /// What training wanted known, with the class index. Empty for a model from a file, whose
    /// [`history`](crate::SavedModel::history) has them as text.
    pub fn warnings(&self) -> Vec<(usize, &Warning)> {
        self.part().warnings()
    }

    pub(crate) fn put(&self, tensors: &mut Tensors) -> Result<MethodRecord, ModelError> {
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
            kernel_dictionaries::NAME => {
                kernel_dictionaries::get(record, n_classes, source).map(Self::KernelDictionaries)
            }
            label_consistent::NAME => label_consistent::get(record, source).map(Self::LcKsvd),
            fddl::NAME => fddl::get(record, n_classes, source).map(Self::Fddl),
            sparse_representation::NAME => {
                sparse_representation::get(record, source).map(Self::Src)
            }
            kernel_src::NAME => kernel_src::get(record, source).map(Self::KernelSrc),
            other => Err(ModelError::Unknown { field: "method", value: other.into() }),
        }
    }
}

impl<T: Element> Classify<T> for Classifier<T> {
    fn classify(&self, samples: MatRef<'_, T>) -> Result<Predictions, LkdlError> {
        match self {
            Self::ClassDictionaries(classifier) => classifier.classify(samples),
            Self::KernelDictionaries(classifier) => classifier.classify(samples),
            Self::LcKsvd(classifier) => classifier.classify(samples),
            Self::Fddl(classifier) => classifier.classify(samples),
            Self::Src(classifier) => classifier.classify(samples),
            Self::KernelSrc(classifier) => classifier.classify(samples),
        }
    }
}

macro_rules! from_classifier {
    ($($classifier:ident),*) => {$(
        impl<T: Element> From<$classifier<T>> for Classifier<T> {
            fn from(classifier: $classifier<T>) -> Self {
                Self::$classifier(classifier)
            }
        }
    )*};
}

from_classifier!(ClassDictionaries, KernelDictionaries, LcKsvd, Fddl, Src, KernelSrc);

/// The kernel of a method that is no linear one.
#[derive(Serialize, Deserialize)]
struct KernelParameters {
    kernel: KernelRecord,
}

/// See [`SrcCoding`].
#[derive(Serialize, Deserialize)]
#[serde(tag = "coding", rename_all = "kebab-case")]
enum CodingParameters {
    Omp { sparsity: usize },
    Lasso { relative_penalty: f64 },
}

impl CodingParameters {
    fn sparsity(&self) -> Option<usize> {
        match self {
            Self::Omp { sparsity } => Some(*sparsity),
            Self::Lasso { .. } => None,
        }
    }
}

impl From<SrcCoding> for CodingParameters {
    fn from(coding: SrcCoding) -> Self {
        match coding {
            SrcCoding::Omp { sparsity } => Self::Omp { sparsity },
            SrcCoding::Lasso { relative_penalty } => Self::Lasso { relative_penalty },
        }
    }
}

impl From<CodingParameters> for SrcCoding {
    fn from(coding: CodingParameters) -> Self {
        match coding {
            CodingParameters::Omp { sparsity } => Self::Omp { sparsity },
            CodingParameters::Lasso { relative_penalty } => Self::Lasso { relative_penalty },
        }
    }
}

/// Parameters as the entries of a record.
fn put_parameters(parameters: &impl Serialize) -> Result<BTreeMap<String, Value>, ModelError> {
    match serde_json::to_value(parameters) {
        Ok(Value::Object(entries)) => Ok(entries.into_iter().collect()),
        other => Err(ModelError::Unsaveable {
            what: format!("this method's parameters ({other:?})"),
            fix: "report it, with the command that made the model",
        }),
    }
}

/// Parameters from the entries of a record.
fn parameters<P: DeserializeOwned>(record: &MethodRecord) -> Result<P, ModelError> {
    let entries = record.parameters.clone().into_iter().collect();
    serde_json::from_value(Value::Object(entries)).map_err(|error| ModelError::Damaged {
        problem: format!("its method's parameters are incomplete ({error})"),
    })
}

/// q, which the record of this method must have.
fn sparsity(record: &MethodRecord) -> Result<usize, ModelError> {
    record.sparsity.ok_or(ModelError::Unknown { field: "sparsity", value: "missing".into() })
}

/// The columns of each class, side by side.
fn by_class<T: Element>(
    samples: MatRef<'_, T>,
    classes: &[usize],
    n_classes: usize,
) -> Vec<Mat<T>> {
    let of_class = |class: usize| {
        let members: Vec<usize> = (0..classes.len()).filter(|&i| classes[i] == class).collect();
        Mat::from_fn(samples.nrows(), members.len(), |t, i| samples[(t, members[i])])
    };
    (0..n_classes).map(of_class).collect()
}

/// How often each class occurs.
fn counts(classes: &[usize], n_classes: usize) -> Vec<usize> {
    let mut counts = vec![0; n_classes];
    for &class in classes {
        if let Some(count) = counts.get_mut(class) {
            *count += 1;
        }
    }
    counts
}
