//! The features of a table brought into the order that a model has learned them in.

use crate::error::DataError;
use crate::table::Table;
use faer::Mat;
use std::collections::HashMap;
use std::path::Path;

/// What a feature without a name of its own is called in files.
pub(crate) fn usual_name(t: usize) -> String {
    format!("f{t}")
}

/// How features of a table were taken for those of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matched {
    /// By names, which both have.
    ByName,
    /// By place: neither has names.
    ByPlace,
    /// By place, since the table has no names, though the model knows some.
    TableUnnamed,
    /// By place, since the model knows no names, though the table has some.
    ModelUnnamed,
}

/// Names that say more than the place of a feature does: not `f0`, `f1`, … in this order.
fn telling(names: &[String]) -> bool {
    names.iter().enumerate().any(|(t, name)| *name != usual_name(t))
}

impl Table {
    /// The table with the `n_features` features of a model, which calls them `names` if it knows,
    /// and how they were matched.
    ///
    /// Where both the model and the table name features, names decide: features are brought into
    /// the model's order, others are left out, and one that is missing is an error. (The names
    /// `f0`, `f1`, … in this order are those of files whose source has none, and do not count.)
    /// Where one of them has no names, places decide, and a table that [may be
    /// padded](Table::may_be_padded) gets zeros for the features that it does not mention. A number
    /// of features that still differs is left for the model to refuse.
    pub fn align(
        self,
        n_features: usize,
        names: Option<&[String]>,
    ) -> Result<(Self, Matched), DataError> {
        let wanted = names.filter(|names| telling(names));
        let own = self.feature_names.as_deref().filter(|names| telling(names));
        let matched = match (wanted, own) {
            (Some(wanted), Some(own)) if wanted != own => {
                let places = places(wanted, own, &self.name)?;
                return Ok((self.with_features(&places, wanted), Matched::ByName));
            }
            (Some(_), Some(_)) => return Ok((self, Matched::ByName)),
            (Some(_), None) => Matched::TableUnnamed,
            (None, Some(_)) => Matched::ModelUnnamed,
            (None, None) => Matched::ByPlace,
        };
        Ok((self.padded(n_features), matched))
    }

    /// With zeros for features up to `n_features`, if it may be padded.
    fn padded(self, n_features: usize) -> Self {
        let p = self.n_features();
        if !self.may_be_padded || p >= n_features {
            return self;
        }
        let samples = Mat::from_fn(n_features, self.n_samples(), |t, i| {
            if t < p { self.samples[(t, i)] } else { 0.0 }
        });
        Self { samples, feature_names: None, image_shape: None, ..self }
    }

    fn with_features(self, places: &[usize], names: &[String]) -> Self {
        let mut samples = Mat::zeros(places.len(), self.n_samples());
        for i in 0..self.n_samples() {
            let from = self.samples.col_as_slice(i);
            for (slot, place) in samples.col_as_slice_mut(i).iter_mut().zip(places) {
                *slot = from[*place];
            }
        }
        Self { samples, feature_names: Some(names.to_vec()), image_shape: None, ..self }
    }
}

/// Where each of the `wanted` names is among a table's `own`.
fn places(wanted: &[String], own: &[String], table: &str) -> Result<Vec<usize>, DataError> {
    let place: HashMap<&String, usize> = own.iter().zip(0..).collect();
    let missing: Vec<&String> = wanted.iter().filter(|name| !place.contains_key(name)).collect();
    if let Some(first) = missing.first() {
        let problem = match missing.len() {
            1 => format!("no feature {first:?}, which the model has learned from"),
            n => {
                format!("no feature {first:?} and {} others that the model has learned from", n - 1)
            }
        };
        let fix = "give the columns the names they had in training, or no header";
        return Err(DataError::format(Path::new(table), problem, fix));
    }
    Ok(wanted.iter().filter_map(|name| place.get(name).copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Labels;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| name.to_string()).collect()
    }

    fn table(feature_names: Option<&[&str]>) -> Table {
        let samples = Mat::from_fn(3, 2, |t, i| (10 * t + i) as f64);
        let table = Table::new("t", samples, Some(Labels::from_texts(&["a", "b"]))).unwrap();
        table.with_feature_names(feature_names.map(names))
    }

    #[test]
    fn names_bring_columns_into_the_order_of_training() {
        let (aligned, matched) =
            table(Some(&["u", "v", "w"])).align(2, Some(&names(&["w", "u"]))).unwrap();
        assert_eq!(matched, Matched::ByName);
        assert_eq!(aligned.samples, Mat::from_fn(2, 2, |t, i| (20 * (1 - t) + i) as f64));
        assert_eq!(aligned.feature_names, Some(names(&["w", "u"])));
        assert_eq!(aligned.labels, table(None).labels);
        let same = table(Some(&["u", "v", "w"])).align(3, Some(&names(&["u", "v", "w"])));
        assert_eq!(same.unwrap(), (table(Some(&["u", "v", "w"])), Matched::ByName));
        let error = table(Some(&["u", "v", "w"])).align(3, Some(&names(&["u", "x", "z"])));
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("t: no feature \"x\" and 1 others that the model"), "{error}");
    }

    #[test]
    fn places_decide_where_one_side_has_no_names_of_its_own() {
        let usual = names(&["f0", "f1", "f2"]);
        for (own, wanted, matched) in [
            (None, None, Matched::ByPlace),
            (None, Some(names(&["u", "v", "w"])), Matched::TableUnnamed),
            (Some(&["u", "v", "w"][..]), None, Matched::ModelUnnamed),
            (Some(&["u", "v", "w"]), Some(usual.clone()), Matched::ModelUnnamed),
            (Some(&["f0", "f1", "f2"]), Some(names(&["u", "v", "w"])), Matched::TableUnnamed),
            (Some(&["f0", "f1", "f2"]), Some(usual.clone()), Matched::ByPlace),
        ] {
            assert_eq!(table(own).align(3, wanted.as_deref()).unwrap(), (table(own), matched));
        }
        // out of order they say something
        let mixed = table(Some(&["f1", "f0", "f2"])).align(3, Some(&names(&["f0", "f2", "f1"])));
        assert_eq!(mixed.unwrap().0.samples.col_as_slice(0), [10.0, 20.0, 0.0]);
    }

    #[test]
    fn only_a_table_that_leaves_zeros_out_is_padded() {
        let sparse = Table { may_be_padded: true, ..table(None) };
        let align = |table: Table, p| table.align(p, None).unwrap().0;
        let padded = align(sparse.clone(), 5);
        assert_eq!(padded.samples.col_as_slice(1), [1.0, 11.0, 21.0, 0.0, 0.0]);
        assert_eq!(align(sparse.clone(), 2), sparse);
        assert_eq!(align(table(None), 5).n_features(), 3);
    }
}
