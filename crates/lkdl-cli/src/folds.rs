//! Stratified folds: fit on all but one, test on that one, for each.

use crate::failure::Failure;
use crate::method::{MethodFlags, Precision};
use crate::precision::into_precision;
use crate::words::{counted, shown};
use indicatif::ProgressBar;
use lkdl_data::{Dataset, Split, stratified_folds};
pub use lkdl_experiments::labels as indices;
use lkdl_model::Element;
use lkdl_recipe::RecipeError;

/// A set and its folds.
pub struct Folds<'a> {
    set: &'a Dataset,
    splits: Vec<Split>,
    seed: u64,
}

impl<'a> Folds<'a> {
    /// Deals the samples of every class to `count` folds.
    pub fn new(set: &'a Dataset, count: usize, seed: u64) -> Result<Self, Failure> {
        check_classes(set)?;
        let sizes = set.class_counts();
        // a class of one sample would be unknown to the fold that tests it
        if let Some(class) = sizes.iter().position(|&size| size < 2) {
            let (name, size) = (&set.class_names[class], counted(sizes[class], "sample"));
            return Err(Failure::input(format!(
                "class {} has {size}, but folds need 2; drop the class or add samples",
                shown(name)
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

    /// The accuracy of every fold; `bar` moves one step with each.
    pub fn accuracies(&self, flags: &MethodFlags, bar: &ProgressBar) -> Result<Vec<f64>, Failure> {
        if flags.wishes().is_precomputed() {
            return Err(Failure::usage(
                "folds of a precomputed kernel would need its rows split too; split it yourself",
            ));
        }
        match flags.precision {
            Precision::F32 => self.accuracies_in::<f32>(flags, bar),
            Precision::F64 => self.accuracies_in::<f64>(flags, bar),
        }
    }

    fn accuracies_in<T: Element>(
        &self,
        flags: &MethodFlags,
        bar: &ProgressBar,
    ) -> Result<Vec<f64>, Failure> {
        let wishes = flags.wishes();
        let fold = |split: &Split| {
            let (train, test) = (self.set.subset(&split.train)?, self.set.subset(&split.test)?);
            let (labels, truth) = (indices(&train), indices(&test));
            let samples = into_precision::<T>(train.samples);
            let recipe = wishes.recipe(samples.as_ref(), &labels, self.seed)?;
            let model = recipe.params.fit(samples.as_ref(), &labels)?;
            let test = into_precision::<T>(test.samples);
            let accuracy = model.predict(test.as_ref())?.accuracy(&truth)?;
            bar.inc(1);
            Ok(accuracy)
        };
        self.splits.iter().map(fold).collect()
    }
}

/// One class is nothing to learn: whatever is asked about, it would be the answer. Nor are samples
/// that are all the same.
pub fn check_classes(set: &Dataset) -> Result<(), Failure> {
    let first = set.samples.col(0);
    if set.samples.col_iter().all(|x| x == first) {
        let (data, n_samples) = (set.name.clone(), set.n_samples());
        return Err(RecipeError::AllSame { data, n_samples }.into());
    }
    Ok(lkdl_recipe::check_classes(&set.name, &set.class_names)?)
}
