//! The data of the experiments, read once each and only when they are needed.

use crate::error::ExperimentError;
use lkdl_data::{Dataset, NamedSet, Part, TrainTest, stratified_split};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

/// The data of the experiments.
#[derive(Debug, Default)]
pub struct Sets {
    directory: Option<PathBuf>,
    split: RefCell<HashMap<NamedSet, Rc<TrainTest>>>,
    whole: RefCell<HashMap<NamedSet, Rc<Dataset>>>,
}

impl Sets {
    /// Named sets in this directory, or where they usually are.
    pub fn new(directory: Option<PathBuf>) -> Self {
        Self { directory, ..Self::default() }
    }

    /// A set in its two parts.
    pub fn parts(&self, set: NamedSet) -> Result<Rc<TrainTest>, ExperimentError> {
        if let Some(found) = self.split.borrow().get(&set) {
            return Ok(found.clone());
        }
        let part = |part| set.table(Some(part), self.directory.as_deref())?.into_dataset();
        let parts = Rc::new(TrainTest { train: part(Part::Train)?, test: part(Part::Test)? });
        self.split.borrow_mut().insert(set, parts.clone());
        Ok(parts)
    }

    /// All samples of a set.
    pub fn whole(&self, set: NamedSet) -> Result<Rc<Dataset>, ExperimentError> {
        if let Some(found) = self.whole.borrow().get(&set) {
            return Ok(found.clone());
        }
        let all = Rc::new(set.table(None, self.directory.as_deref())?.into_dataset()?);
        self.whole.borrow_mut().insert(set, all.clone());
        Ok(all)
    }

    /// A random split of all samples of a set, the classes in proportion.
    pub fn random_split(
        &self,
        set: NamedSet,
        test_share: f64,
        seed: u64,
    ) -> Result<TrainTest, ExperimentError> {
        split(&*self.whole(set)?, test_share, seed)
    }

    /// The caller's own samples in place of a named set.
    pub fn insert(&self, set: NamedSet, parts: TrainTest) {
        self.whole.borrow_mut().insert(set, Rc::new(parts.train.clone()));
        self.split.borrow_mut().insert(set, Rc::new(parts));
    }
}

/// A random split, the classes in proportion.
pub fn split(all: &Dataset, test_share: f64, seed: u64) -> Result<TrainTest, ExperimentError> {
    let split = stratified_split(&all.labels, test_share, seed)?;
    Ok(TrainTest { train: all.subset(&split.train)?, test: all.subset(&split.test)? })
}
