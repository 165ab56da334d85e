//! Pictures for the page: a test sample of every class before and after corruption, the residuals
//! of a few of them, and the atoms.

use super::experiment::{Condition, Method, Model};
use crate::failure::Failure;
use crate::folds::indices;
use faer::{Mat, MatRef};
use lkdl::prelude::*;
use lkdl_data::Dataset;
use lkdl_report::{Atoms, Decision, MethodResiduals, SampleGroup, SamplePicture, SampleResiduals};

/// What the samples are shown under.
const SHOWN: [Condition; 3] =
    [Condition::noise(0.0), Condition::noise(0.9), Condition::missing(0.7)];
/// Under what decisions are looked at closely.
const CLOSE_LOOK: Condition = Condition::missing(0.7);

/// All pictures of one split.
pub struct Gallery {
    pub samples: Vec<SampleGroup>,
    pub residuals: Vec<SampleResiduals>,
    pub atoms: Vec<Atoms>,
}

impl Gallery {
    /// The first test sample of every class, whatever the methods make of it.
    pub fn new(models: &[(Method, Model)], test: &Dataset, seed: u64) -> Result<Self, Failure> {
        let truth = indices(test);
        let first = |class| truth.iter().position(|label| *label == class);
        let chosen: Vec<usize> = (0..test.n_classes()).filter_map(first).collect();
        // of the subject and what it is held against; the exact method mostly agrees with the first
        let residuals = residuals(&models[..models.len().min(2)], test, seed)?;
        let mut gallery = Self { samples: Vec::new(), residuals, atoms: Vec::new() };
        for condition in SHOWN {
            let corrupted = condition.apply(test, seed)?;
            let shown =
                Mat::from_fn(corrupted.nrows(), chosen.len(), |t, i| corrupted[(t, chosen[i])]);
            let labels: Vec<usize> = chosen.iter().map(|i| truth[*i]).collect();
            let group = Group { condition, test, samples: shown.as_ref(), truth: &labels };
            gallery.samples.push(group.pictures(models)?);
        }
        for (method, model) in models {
            gallery.atoms.extend(atoms(*method, model, test)?);
        }
        Ok(gallery)
    }
}

/// The chosen samples under one condition.
struct Group<'a> {
    condition: Condition,
    test: &'a Dataset,
    samples: MatRef<'a, f32>,
    truth: &'a [usize],
}

impl Group<'_> {
    fn name(&self, class: usize) -> String {
        self.test.class_names.get(class).cloned().unwrap_or_default()
    }

    fn pictures(&self, models: &[(Method, Model)]) -> Result<SampleGroup, Failure> {
        let mut samples: Vec<SamplePicture> = (0..self.truth.len())
            .map(|i| SamplePicture {
                values: self.samples.col(i).iter().map(|v| f64::from(*v)).collect(),
                truth: self.name(self.truth[i]),
                decisions: Vec::new(),
            })
            .collect();
        for (method, model) in models {
            let labels = model.predict(self.samples)?.labels;
            for (sample, label) in samples.iter_mut().zip(labels) {
                let (method, label) = (method.name().into(), self.name(label));
                sample.decisions.push(Decision { method, label });
            }
        }
        let Condition { kind, level } = self.condition;
        Ok(SampleGroup { corruption: kind.into(), level, samples })
    }
}

/// Residuals of two samples: the first that only one method labels rightly, for each of the methods
/// that has one.
fn residuals(
    models: &[(Method, Model)],
    test: &Dataset,
    seed: u64,
) -> Result<Vec<SampleResiduals>, Failure> {
    let samples = CLOSE_LOOK.apply(test, seed)?;
    let truth = indices(test);
    let name = |class: usize| test.class_names.get(class).cloned().unwrap_or_default();
    let predictions = models.iter().map(|(_, model)| model.predict(samples.as_ref()));
    let predictions = predictions.collect::<Result<Vec<_>, _>>()?;
    let mut shown = Vec::new();
    for (t, (method, _)) in models.iter().enumerate() {
        let alone = |i: &usize| {
            let right = |p: &Predictions| p.labels[*i] == truth[*i];
            predictions.iter().enumerate().all(|(s, p)| right(p) == (s == t))
        };
        let Some(i) = (0..truth.len()).find(alone) else { continue };
        let mut of_methods = Vec::new();
        for ((method, model), predictions) in models.iter().zip(&predictions) {
            let norm = f64::from(model.transform(samples.as_ref().subcols(i, 1))?.norm_l2());
            let sq_norm = if norm > 0.0 { norm * norm } else { 1.0 };
            let scores = predictions.scores.col(i).iter().enumerate();
            of_methods.push(MethodResiduals {
                method: method.name().into(),
                label: name(predictions.labels[i]),
                residuals: scores.map(|(l, r)| (name(l), (r / sq_norm).max(0.0))).collect(),
            });
        }
        let truth = name(truth[i]);
        let others = models.iter().map(|(other, _)| other).filter(|other| *other != method);
        let others: Vec<&str> = others.map(|other| other.name()).collect();
        shown.push(SampleResiduals {
            title: format!(
                "A {truth} with {:.0} % of its pixels missing, which {} recognises and {} does not",
                100.0 * CLOSE_LOOK.level,
                method.name(),
                others.join(" or ")
            ),
            values: samples.col(i).iter().map(|v| f64::from(*v)).collect(),
            truth,
            methods: of_methods,
        });
    }
    Ok(shown)
}

/// The dictionaries as pictures: atoms in pixels as they are, virtual ones by their pre-images.
fn atoms(method: Method, model: &Model, test: &Dataset) -> Result<Option<Atoms>, Failure> {
    let note = match method {
        Method::Linear => {
            "The atoms of every class as they were learned. Their sign means nothing; each is \
             drawn with its strongest pixel as ink, and mid-grey is zero."
        }
        Method::Lkdl => {
            "Virtual atoms have no pixels. These are their pre-images: the samples whose images \
             under the kernel map come closest. Their sign means nothing either."
        }
        Method::Kernel => return Ok(None),
    };
    let mut classes = Vec::new();
    for (class, atoms) in model.classifier().class_atoms().into_iter().flatten().enumerate() {
        let pixels = match model.map() {
            FeatureMap::Identity => atoms.to_owned(),
            FeatureMap::Nystroem(map) => map.pre_images(atoms)?,
            _ => return Ok(None),
        };
        let name = test.class_names.get(class).cloned().unwrap_or_default();
        classes
            .push((name, (0..pixels.ncols()).map(|j| upright(pixels.col_as_slice(j))).collect()));
    }
    Ok(Some(Atoms { method: method.name().into(), note: note.into(), classes }))
}

/// An atom with the sign that makes its strongest pixel positive.
fn upright(atom: &[f32]) -> Vec<f64> {
    let strongest = atom.iter().fold(0.0_f32, |a, &v| if v.abs() > a.abs() { v } else { a });
    let sign = if strongest < 0.0 { -1.0 } else { 1.0 };
    atom.iter().map(|v| sign * f64::from(*v)).collect()
}
