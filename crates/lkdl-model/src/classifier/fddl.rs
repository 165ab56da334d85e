//! FDDL: `dictionary.<l>`, m × k, the atoms of class l, one per row; `mean_codes`, L × M, `f64`, the
//! mean code of every class over the atoms of all.

use super::{Part, parameters, put_parameters};
use crate::card::{ClassHistory, MethodRecord};
use crate::element::Element;
use crate::error::ModelError;
use crate::tensors::{Source, Tensors};
use faer::MatRef;
use lkdl::Warning;
use lkdl::classify::fddl::FddlTraining;
use lkdl::classify::{Fddl, FddlRule};
use serde::{Deserialize, Serialize};

pub(super) const NAME: &str = "fddl";

/// The rule, and how training went.
#[derive(Serialize, Deserialize)]
struct Parameters {
    rule: Rule,
    objectives: Vec<f64>,
    n_vanished: usize,
    /// Files written before it was counted have none.
    #[serde(default)]
    n_code_steps: usize,
}

/// See [`FddlRule`].
#[derive(Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
enum Rule {
    Global { l1_weight: f64, mean_weight: f64 },
    Local { l1_weight: f64, mean_weight: f64, compat: bool },
}

impl Rule {
    fn new(rule: FddlRule) -> Result<Self, ModelError> {
        Ok(match rule {
            FddlRule::Global { l1_weight, mean_weight } => Self::Global { l1_weight, mean_weight },
            FddlRule::Local { l1_weight, mean_weight, compat } => {
                Self::Local { l1_weight, mean_weight, compat }
            }
            other => {
                return Err(ModelError::Unsaveable {
                    what: format!("the rule {other:?}"),
                    fix: "use the global or the local rule",
                });
            }
        })
    }
}

impl From<Rule> for FddlRule {
    fn from(rule: Rule) -> Self {
        match rule {
            Rule::Global { l1_weight, mean_weight } => Self::Global { l1_weight, mean_weight },
            Rule::Local { l1_weight, mean_weight, compat } => {
                Self::Local { l1_weight, mean_weight, compat }
            }
        }
    }
}

impl<T: Element> Part<T> for Fddl<T> {
    fn method(&self) -> &'static str {
        NAME
    }

    fn n_classes(&self) -> usize {
        self.n_classes()
    }

    fn n_features(&self) -> usize {
        self.dictionaries()[0].nrows()
    }

    fn sparsity(&self) -> Option<usize> {
        None
    }

    fn class_atoms(&self) -> Option<Vec<MatRef<'_, T>>> {
        Some(self.dictionaries().iter().map(|D| D.as_ref()).collect())
    }

    fn history(&self) -> Vec<ClassHistory> {
        Vec::new()
    }

    fn warnings(&self) -> Vec<(usize, &Warning)> {
        self.training().warnings.iter().map(|(class, warning)| (*class, warning)).collect()
    }

    fn put(&self, tensors: &mut Tensors) -> Result<MethodRecord, ModelError> {
        for (class, D) in self.dictionaries().iter().enumerate() {
            tensors.put_matrix(format!("dictionary.{class}"), D.as_ref());
        }
        tensors.put_matrix("mean_codes", self.mean_codes().as_ref());
        let FddlTraining { objectives, n_vanished, n_code_steps, .. } = self.training();
        let parameters = Parameters {
            rule: Rule::new(self.rule())?,
            objectives: objectives.clone(),
            n_vanished: *n_vanished,
            n_code_steps: *n_code_steps,
        };
        Ok(MethodRecord { parameters: put_parameters(&parameters)?, ..MethodRecord::default() })
    }
}

/// The classifier that `put` wrote.
pub(super) fn get<T: Element>(
    record: &MethodRecord,
    n_classes: usize,
    source: &Source<'_>,
) -> Result<Fddl<T>, ModelError> {
    let Parameters { rule, objectives, n_vanished, n_code_steps } = parameters(record)?;
    let dictionary = |class: usize| source.matrix(&format!("dictionary.{class}"));
    let dictionaries = (0..n_classes).map(dictionary).collect::<Result<Vec<_>, _>>()?;
    let training = FddlTraining { objectives, n_vanished, n_code_steps, warnings: Vec::new() };
    Ok(Fddl::from_parts(dictionaries, source.matrix("mean_codes")?, rule.into(), training)?)
}
