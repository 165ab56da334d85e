//! The method that `--method` names, ready to train: whichever it is, its classifier is one that a
//! model file can hold.

use faer::MatRef;
use lkdl::prelude::*;
use lkdl_model::{Classifier, Element};

/// Parameters of any method.
pub enum Trainer<T: Element> {
    /// One dictionary per class, by any learner.
    ClassDictionaries(ClassDictionariesParams<Box<dyn Learner<T> + Send>>),
}

impl<T: Element> Train<T> for Trainer<T> {
    type Model = Classifier<T>;

    fn train(&self, samples: MatRef<'_, T>, labels: &[usize]) -> Result<Self::Model, LkdlError> {
        match self {
            Self::ClassDictionaries(params) => params.train(samples, labels).map(Into::into),
        }
    }

    fn train_monitored(
        &self,
        samples: MatRef<'_, T>,
        labels: &[usize],
        monitor: &dyn Monitor,
    ) -> Result<Self::Model, LkdlError> {
        match self {
            Self::ClassDictionaries(params) => {
                params.train_monitored(samples, labels, monitor).map(Into::into)
            }
        }
    }

    fn training_bytes(&self, n_features: usize, class_sizes: &[usize], threads: usize) -> u64 {
        match self {
            Self::ClassDictionaries(params) => {
                Train::<T>::training_bytes(params, n_features, class_sizes, threads)
            }
        }
    }
}
