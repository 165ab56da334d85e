//! What every sparsity would decide, from one pursuit per class.
//!
//! OMP is nested: the first q steps of a longer run are the run of sparsity q. So one pass to
//! q_max gives the residual of LKDL Eq. (25)
//!
//! ```math
//! r_l^2(q)=\|f\|_2^2-\sum_{t\le q} z_{l,t}^2
//! ```
//!
//! for every q ≤ q_max (z: the coordinates of f along the orthonormal directions of the pursuit),
//! and with it the decision of every q: on held-out samples the sparsity can be chosen for the
//! price of one classification. Cost: that of classifying at q_max, 2LmkN + LNm(q_max² − 1) flops.

use super::ClassDictionaries;
use crate::error::LkdlError;
use crate::matrix::{
    BLOCK, Columns, Contiguous, check_samples, check_size, col, column_sq_norms, map_blocks_with,
    subcols,
};
use crate::pursuit::{BatchOmp, Limits, Scratch, check_range};
use crate::real::Real;
use crate::vector::norm_sq;
use faer::{Mat, MatRef};
use pulp::{Arch, Simd, WithSimd};

/// The decisions of a rule at every sparsity from 1 to a largest one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SparsityPath {
    /// By sparsity from 1, the class index of every sample.
    labels: Vec<Vec<usize>>,
}

impl SparsityPath {
    /// q_max.
    pub fn max_sparsity(&self) -> usize {
        self.labels.len()
    }

    /// The class index of every sample at this sparsity; `None` beyond q_max.
    pub fn labels(&self, sparsity: usize) -> Option<&[usize]> {
        self.labels.get(sparsity.checked_sub(1)?).map(Vec::as_slice)
    }

    /// How many samples have their label at sparsity 1, 2, … q_max.
    pub fn n_correct(&self, truth: &[usize]) -> Result<Vec<usize>, LkdlError> {
        let n_samples = self.labels.first().map_or(0, Vec::len);
        check_size("labels' length", truth.len(), n_samples)?;
        let correct =
            |labels: &Vec<usize>| labels.iter().zip(truth).filter(|(a, b)| a == b).count();
        Ok(self.labels.iter().map(correct).collect())
    }
}

impl<T: Real> ClassDictionaries<T> {
    /// Labels every column of `samples` as rules of sparsity 1, 2, … `max_sparsity` would; this
    /// rule's own sparsity plays no part. A class with fewer atoms uses all it has.
    pub fn sparsity_path(
        &self,
        samples: MatRef<'_, T>,
        max_sparsity: usize,
    ) -> Result<SparsityPath, LkdlError> {
        check_samples(samples, "samples")?;
        check_size("samples' n_features", samples.nrows(), self.n_features())?;
        let most = self.coders().iter().map(BatchOmp::n_atoms).max().unwrap_or(0);
        if !(1..=most).contains(&max_sparsity) {
            let range = format!("between 1 and n_atoms = {most}");
            return Err(LkdlError::parameter("max_sparsity", max_sparsity, range));
        }
        let X = Contiguous::new(samples);
        let X = X.columns();
        check_range::<T>(&column_sq_norms(X))?;
        let scratch = || Scratch::new(most, max_sparsity);
        let blocks = map_blocks_with(X.ncols(), BLOCK, scratch, |scratch, range| {
            self.block_labels(scratch, subcols(X, range), max_sparsity)
        });
        let of = |q: usize| blocks.iter().flat_map(|block| block[q].iter().copied()).collect();
        Ok(SparsityPath { labels: (0..max_sparsity).map(of).collect() })
    }

    /// By sparsity, the labels of a block of samples: the smallest residual wins, the lowest class
    /// on ties.
    fn block_labels(
        &self,
        scratch: &mut Scratch<T>,
        X: Columns<'_, T>,
        max_sparsity: usize,
    ) -> Vec<Vec<usize>> {
        let sq_norms: Vec<f64> = (0..X.ncols()).map(|i| norm_sq(col(X, i))).collect();
        let mut least = Mat::full(max_sparsity, X.ncols(), f64::INFINITY);
        let mut labels = vec![vec![0; X.ncols()]; max_sparsity];
        for (l, coder) in self.coders().iter().enumerate() {
            scratch.correlate_with(coder, X);
            let limits = Limits { max_atoms: max_sparsity.min(coder.n_atoms()), sq_error: None };
            let sq_norms = &sq_norms;
            let paths =
                Arch::new().dispatch(Paths { coder, scratch, sq_norms, limits, max_sparsity });
            for i in 0..X.ncols() {
                for q in 0..max_sparsity {
                    if paths[(q, i)] < least[(q, i)] {
                        least[(q, i)] = paths[(q, i)];
                        labels[q][i] = l;
                    }
                }
            }
        }
        labels
    }
}

/// ρ of every signal of a block over one dictionary after each step, compiled for each instruction
/// set.
struct Paths<'a, T: Real> {
    coder: &'a BatchOmp<T>,
    scratch: &'a mut Scratch<T>,
    sq_norms: &'a [f64],
    limits: Limits,
    max_sparsity: usize,
}

impl<T: Real> WithSimd for Paths<'_, T> {
    /// q_max × B.
    type Output = Mat<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Mat<f64> {
        let Scratch { alpha, work } = self.scratch;
        let gram = self.coder.gram();
        let never = |_: &[usize], _: &[f64]| 0.0;
        let mut paths = Mat::zeros(self.max_sparsity, self.sq_norms.len());
        // A plain loop: inside an iterator adapter the pursuit would be compiled without SIMD.
        for (i, &rho0) in self.sq_norms.iter().enumerate() {
            work.pursue(simd, gram, alpha.col_as_slice_mut(i), rho0, self.limits, never);
            let mut rho = rho0;
            for (q, left) in paths.col_as_slice_mut(i).iter_mut().enumerate() {
                // a pursuit that ended earlier leaves what it left
                let z = work.coordinates.get(q).copied().unwrap_or(0.0);
                rho = (rho - z * z).max(0.0);
                *left = rho;
            }
        }
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::Classify;
    use crate::dictionary::{Learned, Stop};
    use crate::testing::{random_matrix, random_unit_columns, same_for_any_thread_count};

    fn rule<T: Real>(dictionaries: &[Mat<T>], sparsity: usize) -> ClassDictionaries<T> {
        let learned = |dictionary: &Mat<T>| Learned {
            dictionary: dictionary.clone(),
            errors: vec![0.0],
            stop: Stop::MaxIters,
            n_replaced: 0,
            warnings: Vec::new(),
        };
        ClassDictionaries::new(dictionaries.iter().map(learned).collect(), sparsity).unwrap()
    }

    /// Classes of unequal size, one smaller than the sparsities, one with atoms of any norm, one
    /// with two equal atoms; signals past two blocks, among them a zero one and an atom.
    fn problem<T: Real>() -> (Vec<Mat<T>>, Mat<T>) {
        let sizes = [(1, 20), (2, 3), (3, 40)];
        let mut dictionaries: Vec<Mat<T>> =
            sizes.iter().map(|&(seed, m)| random_unit_columns(12, m, seed)).collect();
        dictionaries[0].col_as_slice_mut(5).iter_mut().for_each(|v| *v *= T::of(3.0));
        let copy = dictionaries[2].col_as_slice(0).to_vec();
        dictionaries[2].col_as_slice_mut(1).copy_from_slice(&copy);
        let mut X = random_matrix::<T>(12, 530, 9);
        X.col_as_slice_mut(3).fill(T::of(0.0));
        X.col_as_slice_mut(4).copy_from_slice(&copy);
        (dictionaries, X)
    }

    fn every_sparsity_decides_as_its_own_rule<T: Real>() {
        let (dictionaries, X) = problem::<T>();
        let path = rule(&dictionaries, 1).sparsity_path(X.as_ref(), 15).unwrap();
        assert_eq!(path.max_sparsity(), 15);
        for sparsity in 1..=15 {
            let own = rule(&dictionaries, sparsity).classify(X.as_ref()).unwrap();
            assert_eq!(path.labels(sparsity).unwrap(), own.labels, "q = {sparsity}");
        }
        assert!(path.labels(0).is_none() && path.labels(16).is_none());
    }

    #[test]
    fn one_pass_decides_as_the_rule_of_every_sparsity() {
        every_sparsity_decides_as_its_own_rule::<f64>();
        every_sparsity_decides_as_its_own_rule::<f32>();
    }

    #[test]
    fn correct_labels_are_counted_per_sparsity() {
        let (dictionaries, X) = problem::<f64>();
        let rule = rule(&dictionaries, 1);
        let path = rule.sparsity_path(X.as_ref(), 4).unwrap();
        let truth = path.labels(3).unwrap().to_vec();
        let correct = path.n_correct(&truth).unwrap();
        assert_eq!(correct[2], 530);
        assert!(correct.iter().all(|&count| count <= 530) && correct[0] < 530);
        assert!(path.n_correct(&truth[1..]).is_err());
    }

    #[test]
    fn bad_arguments_are_named() {
        let (dictionaries, X) = problem::<f64>();
        let rule = rule(&dictionaries, 1);
        for bad in [0, 41] {
            let error = rule.sparsity_path(X.as_ref(), bad).unwrap_err().to_string();
            assert!(error.contains("between 1 and n_atoms = 40"), "{error}");
        }
        assert!(rule.sparsity_path(X.as_ref().subrows(0, 11), 2).is_err());
        assert!(rule.sparsity_path(X.as_ref().subcols(0, 0), 2).is_err());
        let mut nan = X.clone();
        nan[(0, 0)] = f64::NAN;
        assert!(rule.sparsity_path(nan.as_ref(), 2).is_err());
    }

    #[test]
    fn decisions_do_not_depend_on_the_number_of_threads() {
        let (dictionaries, X) = problem::<f32>();
        let rule = rule(&dictionaries, 1);
        same_for_any_thread_count(|| rule.sparsity_path(X.as_ref(), 9).unwrap());
    }
}
