//! Any method, ready to train: whichever it is, its classifier is one that a model file can hold.

use faer::MatRef;
use lkdl::exact::KernelSrcParams;
use lkdl::prelude::*;
use lkdl_model::{Classifier, Element};

/// Parameters of any method.
pub enum Trainer<T: Element> {
    /// One dictionary per class, by any learner.
    ClassDictionaries(ClassDictionariesParams<Box<dyn Learner<T> + Send>>),
    /// One kernel dictionary per class, by any learner.
    KernelDictionaries(KernelDictionariesParams<Box<dyn KernelLearner<T> + Send>>),
    /// LC-KSVD1, LC-KSVD2 or D-KSVD.
    LcKsvd(LcKsvdParams),
    /// FDDL of either form.
    Fddl(FddlParams<T>),
    /// SRC.
    Src(SrcParams),
    /// Kernel SRC.
    KernelSrc(KernelSrcParams),
}

/// The same expression for the parameters of every method.
macro_rules! for_any {
    ($trainer:expr, $params:ident => $result:expr) => {
        match $trainer {
            Trainer::ClassDictionaries($params) => $result,
            Trainer::KernelDictionaries($params) => $result,
            Trainer::LcKsvd($params) => $result,
            Trainer::Fddl($params) => $result,
            Trainer::Src($params) => $result,
            Trainer::KernelSrc($params) => $result,
        }
    };
}

impl<T: Element> Train<T> for Trainer<T> {
    type Model = Classifier<T>;

    fn train_monitored(
        &self,
        samples: MatRef<'_, T>,
        labels: &[usize],
        monitor: &dyn Monitor,
    ) -> Result<Self::Model, LkdlError> {
        for_any!(self, params => {
            Train::<T>::train_monitored(params, samples, labels, monitor).map(Into::into)
        })
    }

    fn training_bytes(&self, n_features: usize, class_sizes: &[usize], threads: usize) -> u64 {
        for_any!(self, params => {
            Train::<T>::training_bytes(params, n_features, class_sizes, threads)
        })
    }
}
