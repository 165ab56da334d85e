//! A trained FDDL model: dictionaries, mean codes and the rule that judges new samples.

use super::global::Global;
use super::local::Local;
use super::params::FddlRule;
use crate::classify::{Classify, Predictions};
use crate::error::{LkdlError, Warning};
use crate::linalg::convert;
use crate::matrix::{
    Contiguous, check_samples, check_size, column_sq_norms, columns_of, map_blocks, subcols,
};
use crate::pursuit::check_range;
use crate::real::Real;
use faer::{Mat, MatRef};

/// Samples per task: a lasso or more each.
const BLOCK: usize = 32;

/// How the training went.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FddlTraining {
    /// J after every step: coding, dictionary, coding, …, and a last coding over the final
    /// dictionaries. Simplified: the sum over the classes.
    pub objectives: Vec<f64>,
    /// Atoms that no sample used any more, over all iterations.
    pub n_vanished: usize,
    /// Gradient steps of the codes, each counted once for every sample that took it: 2m² flops
    /// apiece, and most of the training.
    pub n_code_steps: usize,
    /// What the caller may want to know, with the class it is about.
    pub warnings: Vec<(usize, Warning)>,
}

/// A rule ready to score blocks of samples.
pub(super) trait Score: Sync {
    /// One score per class (rows) and sample of the block, the smaller the better.
    fn scores(&self, Y: MatRef<'_, f64>, sq_norms: &[f64]) -> Mat<f64>;
}

/// The rule with its Gram matrices.
#[derive(Debug, Clone)]
enum Judge {
    Global(Global),
    Local(Local),
}

/// A trained FDDL classifier, from [`FddlParams`](super::FddlParams) of either form.
#[derive(Debug, Clone)]
pub struct Fddl<T: Real> {
    dictionaries: Vec<Mat<T>>,
    mean_codes: Mat<f64>,
    rule: FddlRule,
    training: FddlTraining,
    judge: Judge,
}

impl<T: Real> Fddl<T> {
    /// A model from its parts: the dictionary of every class, the mean code of every class (columns)
    /// over the atoms of all classes in order (rows), the rule, and what is known of the training.
    pub fn from_parts(
        dictionaries: Vec<Mat<T>>,
        mean_codes: Mat<f64>,
        rule: FddlRule,
        training: FddlTraining,
    ) -> Result<Self, LkdlError> {
        let Some(first) = dictionaries.first() else {
            return Err(LkdlError::Empty { what: "class dictionaries", rows: 0, cols: 0 });
        };
        let mut atoms = Vec::new();
        let mut end = 0;
        for D in &dictionaries {
            check_samples(D.as_ref(), "class dictionary")?;
            check_range::<T>(&column_sq_norms(columns_of(D)))?;
            check_size("class dictionary's n_features", D.nrows(), first.nrows())?;
            atoms.push(end..end + D.ncols());
            end += D.ncols();
        }
        check_samples(mean_codes.as_ref(), "mean codes")?;
        check_size("mean codes' rows (atoms of all classes)", mean_codes.nrows(), end)?;
        check_size("mean codes' columns (classes)", mean_codes.ncols(), dictionaries.len())?;
        rule.check()?;
        let judge = match rule {
            FddlRule::Global { l1_weight, mean_weight } => {
                let global = Global::new(&dictionaries, atoms, &mean_codes, l1_weight, mean_weight);
                Judge::Global(global)
            }
            FddlRule::Local { l1_weight, mean_weight, compat } => {
                let own = atoms.into_iter().enumerate();
                let own_means: Vec<Vec<f64>> =
                    own.map(|(l, range)| mean_codes.col_as_slice(l)[range].to_vec()).collect();
                Judge::Local(Local::new(&dictionaries, &own_means, l1_weight, mean_weight, compat))
            }
        };
        Ok(Self { dictionaries, mean_codes, rule, training, judge })
    }

    /// Number of classes, L.
    pub fn n_classes(&self) -> usize {
        self.dictionaries.len()
    }

    /// D_i of every class, unit columns.
    pub fn dictionaries(&self) -> &[Mat<T>] {
        &self.dictionaries
    }

    /// m_i, one column per class, over the atoms of all classes in order.
    pub fn mean_codes(&self) -> &Mat<f64> {
        &self.mean_codes
    }

    /// How new samples are judged.
    pub fn rule(&self) -> FddlRule {
        self.rule
    }

    /// How the training went.
    pub fn training(&self) -> &FddlTraining {
        &self.training
    }
}

impl<T: Real> Classify<T> for Fddl<T> {
    /// Scores are those of the rule. A sample of zero norm scores 0 in every class.
    fn classify(&self, samples: MatRef<'_, T>) -> Result<Predictions, LkdlError> {
        check_samples(samples, "samples")?;
        check_size("samples' n_features", samples.nrows(), self.dictionaries[0].nrows())?;
        let X = Contiguous::new(samples);
        let X = X.columns();
        let sq_norms = column_sq_norms(X);
        check_range::<T>(&sq_norms)?;
        let judge: &dyn Score = match &self.judge {
            Judge::Global(global) => global,
            Judge::Local(local) => local,
        };
        let blocks = map_blocks(X.ncols(), BLOCK, |range| {
            let Y = convert::<T, f64>(subcols(X, range.clone()).as_dyn_stride());
            judge.scores(Y.as_ref(), &sq_norms[range])
        });
        let mut scores = Mat::zeros(self.n_classes(), X.ncols());
        for (t, block) in blocks.iter().enumerate() {
            scores.as_mut().subcols_mut(t * BLOCK, block.ncols()).copy_from(block);
        }
        for (i, _) in sq_norms.iter().enumerate().filter(|(_, sq_norm)| **sq_norm == 0.0) {
            scores.col_as_slice_mut(i).fill(0.0);
        }
        Predictions::from_scores(scores, &sq_norms)
    }
}
