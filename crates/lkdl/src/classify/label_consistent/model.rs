//! The trained LC-KSVD or D-KSVD: a dictionary, and a linear classifier of its codes.

use crate::classify::{Classify, Predictions, join_blocks};
use crate::dictionary::Learned;
use crate::error::{LkdlError, Warning};
use crate::matrix::{
    BLOCK, Contiguous, check_samples, check_size, col, column_sq_norms, columns_of, map_blocks,
};
use crate::pursuit::{BatchOmp, Codes, check_range};
use crate::real::Real;
use faer::{Mat, MatRef};
use std::ops::Range;

/// What an [`LcKsvd`] is made of, for example to keep it in a file.
#[derive(Debug, Clone)]
pub struct LcKsvdParts<T: Real> {
    /// D, unit columns, and the history of the stacked K-SVD.
    pub learned: Learned<T>,
    /// The class every atom was started for; each class has one at least.
    pub atom_classes: Vec<usize>,
    /// Θ, L×m.
    pub classifier: Mat<T>,
    /// The rows of A, one for each class (L×m): all atoms of a class have the same. None if label
    /// consistency had no weight.
    pub consistency: Option<Mat<T>>,
    /// q.
    pub sparsity: usize,
    /// What was odd in the start of which class.
    pub warnings: Vec<(usize, Warning)>,
}

/// A trained LC-KSVD or D-KSVD.
///
/// The score of class l is max Θγ − (Θγ)_l, so the best has 0, and a margin is the difference of the
/// two best entries of Θγ as a share of Σ|(Θγ)_l|: 1 for a code that speaks for one class only.
#[derive(Debug, Clone)]
pub struct LcKsvd<T: Real> {
    parts: LcKsvdParts<T>,
    coder: BatchOmp<T>,
}

impl<T: Real> LcKsvd<T> {
    /// A model from its parts.
    pub fn from_parts(parts: LcKsvdParts<T>) -> Result<Self, LkdlError> {
        let LcKsvdParts { learned, atom_classes, classifier, consistency, sparsity, .. } = &parts;
        let coder = BatchOmp::new(learned.dictionary.as_ref())?;
        let m = coder.n_atoms();
        check_samples(classifier.as_ref(), "classifier")?;
        check_size("classifier's n_atoms", classifier.ncols(), m)?;
        check_size("atom classes", atom_classes.len(), m)?;
        if let Some(consistency) = consistency {
            check_samples(consistency.as_ref(), "consistency")?;
            check_size("consistency's n_classes", consistency.nrows(), classifier.nrows())?;
            check_size("consistency's n_atoms", consistency.ncols(), m)?;
        }
        if let Some(class) = atom_classes.iter().find(|class| **class >= classifier.nrows()) {
            let range = format!("below the number of classes, {}", classifier.nrows());
            return Err(LkdlError::parameter("class of an atom", class, range));
        }
        if !(1..=m).contains(sparsity) {
            let range = format!("between 1 and n_atoms = {m}");
            return Err(LkdlError::parameter("sparsity", sparsity, range));
        }
        Ok(Self { parts, coder })
    }

    /// All of it.
    pub fn parts(&self) -> &LcKsvdParts<T> {
        &self.parts
    }

    /// D, unit columns.
    pub fn dictionary(&self) -> MatRef<'_, T> {
        self.parts.learned.dictionary.as_ref()
    }

    /// D with the history of the stacked K-SVD.
    pub fn learned(&self) -> &Learned<T> {
        &self.parts.learned
    }

    /// Θ, L×m.
    pub fn classifier(&self) -> MatRef<'_, T> {
        self.parts.classifier.as_ref()
    }

    /// The rows of A by class, L×m, if label consistency was asked for.
    pub fn consistency(&self) -> Option<MatRef<'_, T>> {
        self.parts.consistency.as_ref().map(|rows| rows.as_ref())
    }

    /// The class every atom was started for.
    pub fn atom_classes(&self) -> &[usize] {
        &self.parts.atom_classes
    }

    /// q.
    pub fn sparsity(&self) -> usize {
        self.parts.sparsity
    }

    /// Number of classes, L.
    pub fn n_classes(&self) -> usize {
        self.parts.classifier.nrows()
    }

    /// What was odd in the start of which class.
    pub fn warnings(&self) -> impl Iterator<Item = (usize, &Warning)> {
        self.parts.warnings.iter().map(|(class, warning)| (*class, warning))
    }

    /// Θγ of some codes.
    fn votes(&self, codes: &Codes<T>, range: Range<usize>) -> Mat<f64> {
        let Theta = columns_of(&self.parts.classifier);
        let mut votes = Mat::<f64>::zeros(self.n_classes(), range.len());
        for (slot, i) in range.enumerate() {
            let vote = votes.col_as_slice_mut(slot);
            let (atoms, values) = codes.signal(i);
            for (&j, gamma) in atoms.iter().zip(values) {
                for (vote, theta) in vote.iter_mut().zip(col(Theta, j as usize)) {
                    *vote += theta.wide() * gamma.wide();
                }
            }
        }
        votes
    }
}

impl<T: Real> Classify<T> for LcKsvd<T> {
    fn classify(&self, samples: MatRef<'_, T>) -> Result<Predictions, LkdlError> {
        check_samples(samples, "samples")?;
        check_size("samples' n_features", samples.nrows(), self.dictionary().nrows())?;
        let X = Contiguous::new(samples);
        let X = X.columns();
        let sq_norms = column_sq_norms(X);
        check_range::<T>(&sq_norms)?;
        let codes = self.coder.encode_sparsely(X, self.sparsity()).codes;
        let blocks = map_blocks(X.ncols(), BLOCK, |range| self.votes(&codes, range));
        let mut scores = join_blocks(self.n_classes(), X.ncols(), &blocks);
        let mut scales = Vec::with_capacity(X.ncols());
        for i in 0..X.ncols() {
            let theta = scores.col_as_slice_mut(i);
            scales.push(theta.iter().map(|v| v.abs()).sum());
            let best = theta.iter().fold(f64::NEG_INFINITY, |best, v| best.max(*v));
            theta.iter_mut().for_each(|v| *v = best - *v);
        }
        let n_zero_samples = sq_norms.iter().filter(|&&sq_norm| sq_norm == 0.0).count();
        // An empty code of a sample that is not zero has no scale either.
        Ok(Predictions { n_zero_samples, ..Predictions::from_scores(scores, &scales)? })
    }
}
