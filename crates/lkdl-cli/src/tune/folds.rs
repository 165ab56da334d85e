//! Stratified folds: fit on all but one, test on that one, for each.

use super::fixed::method_flags;
use super::space::Settings;
use crate::command::fit::train_quietly;
use crate::failure::Failure;
use crate::method::{MethodFlags, Precision};
use lkdl_data::{Dataset, Split, stratified_folds};
use lkdl_model::Element;

/// A set and its folds.
pub struct Folds<'a> {
    set: &'a Dataset,
    splits: Vec<Split>,
    seed: u64,
}

impl<'a> Folds<'a> {
    /// Deals the samples of every class to `count` folds.
    pub fn new(set: &'a Dataset, count: usize, seed: u64) -> Result<Self, Failure> {
        let sizes = set.class_counts();
        if sizes.len() < 2 {
            let name = &set.name;
            return Err(Failure::input(format!(
                "{name} has one class; there is nothing to tell apart"
            )));
        }
        // a class of one sample would be unknown to the fold that tests it
        if let Some(class) = sizes.iter().position(|&size| size < 2) {
            let (name, size) = (&set.class_names[class], sizes[class]);
            return Err(Failure::input(format!(
                "class {name} has {size} samples, but folds need 2; drop the class or add samples"
            )));
        }
        Ok(Self { set, splits: stratified_folds(&set.labels, count, seed)?, seed })
    }

    /// Samples to learn from that every fold has.
    pub fn n_training(&self) -> usize {
        self.splits.iter().map(|split| split.train.len()).min().unwrap_or(0)
    }

    /// Samples of the largest class to learn from that every fold has.
    pub fn class_size(&self) -> usize {
        let largest = self.set.class_counts().into_iter().max().unwrap_or(0);
        largest - largest.div_ceil(self.splits.len())
    }

    /// The accuracy of every fold.
    pub fn accuracies(&self, settings: &Settings) -> Result<Vec<f64>, Failure> {
        let flags = method_flags(settings)?;
        match flags.precision {
            Precision::F32 => self.accuracies_in::<f32>(&flags),
            Precision::F64 => self.accuracies_in::<f64>(&flags),
        }
    }

    fn accuracies_in<T: Element>(&self, flags: &MethodFlags) -> Result<Vec<f64>, Failure> {
        let fold = |split: &Split| {
            let (train, test) = (self.set.subset(&split.train)?, self.set.subset(&split.test)?);
            let (model, _) = train_quietly::<T>(flags, &train, self.seed)?;
            let truth: Vec<usize> = test.labels.iter().map(|&label| label as usize).collect();
            Ok(model.predict(test.convert::<T>().as_ref())?.accuracy(&truth)?)
        };
        self.splits.iter().map(fold).collect()
    }
}
