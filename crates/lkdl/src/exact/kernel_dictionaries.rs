//! Kernel K-SVD (or any [`KernelLearner`]) per class; the class that represents a sample best in the
//! kernel's space wins, LKDL Eqs. (15), (16), (25).
//!
//! Training forms K_l = κ(X_l, X_l) of one class at a time (as many as there are threads, or as fit
//! into [`KernelDictionariesParams::memory`]) and forgets it. The model keeps of each class A_l and
//! the samples it combines. Classifying goes by tiles: κ(X_l, Z_block), α = A_lᵀ(tile), Batch-OMP.
//!
//! **When to use it.** As the reference for LKDL, or where classes have at most a few thousand
//! samples and classifying may cost n kernel values. **Cost.** Training: Σ n_l²p for the kernel
//! matrices and the learner's; n_l² values per class in memory. Classifying one sample: 2n(p + m)
//! flops (n training samples in all, m atoms per class) and L pursuits.
//!
//! ```
//! use lkdl::exact::KernelDictionariesParams;
//! use lkdl::prelude::*;
//!
//! // Two rings: no linear dictionary tells them apart, a degree-2 kernel does.
//! let samples = faer::Mat::from_fn(2, 100, |row, i| {
//!     let (angle, radius) = (i as f64, 1.0 + (i % 2) as f64);
//!     radius * if row == 0 { angle.cos() } else { angle.sin() }
//! });
//! let labels: Vec<usize> = (0..100).map(|i| i % 2).collect();
//! let params = LkdlParams {
//!     prepare: PrepareParams::default(),
//!     map: MapParams::None,
//!     method: KernelDictionariesParams {
//!         kernel: Kernel::Polynomial { degree: 2.0, offset: 1.0 },
//!         learner: KernelKsvdParams::<f64> { n_atoms: 8, sparsity: 3, ..Default::default() },
//!         sparsity: 3,
//!         memory: None,
//!     },
//!     memory: None,
//! };
//! let model = params.fit(samples.as_ref(), &labels)?;
//! let accuracy = model.predict(samples.as_ref())?.accuracy(&labels)?;
//! assert!(accuracy > 0.95, "{accuracy}");
//! # Ok::<(), LkdlError>(())
//! ```

use crate::classify::{
    Classify, Predictions, Train, class_members, in_class, join_blocks, largest_needs,
    residuals_over,
};
use crate::dictionary::{KernelLearned, KernelLearner};
use crate::error::{LkdlError, Warning};
use crate::kernel::{Kernel, Panel};
use crate::linalg::mirror_lower;
use crate::matrix::{
    BLOCK, Columns, Contiguous, check_samples, check_size, columns_of, gather, map_blocks_with,
    matrix_bytes, subcols,
};
use crate::monitor::Monitor;
use crate::pursuit::{KernelOmp, Scratch, check_gram, check_range};
use crate::real::Real;
use crate::vector::all_finite;
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// A kernel, a learner for the dictionary of each class, and the sparsity of the decision.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelDictionariesParams<P> {
    /// κ; the published experiments scale it to unit diagonal ([`Kernel::Normalized`]).
    pub kernel: Kernel,
    /// Learns the dictionary of each class.
    pub learner: P,
    /// q, the atoms each class may use to represent a sample.
    pub sparsity: usize,
    /// Bytes that training may use for kernel matrices and learners: fewer classes are then learned
    /// at a time than there are threads. `None` for no limit.
    pub memory: Option<u64>,
}

/// The trained rule: one kernel dictionary per class.
#[derive(Debug, Clone)]
pub struct KernelDictionaries<T: Real> {
    kernel: Kernel,
    classes: Vec<KernelClass<T>>,
    sparsity: usize,
}

/// What is kept of a class: its dictionary φ(X)A.
#[derive(Debug, Clone)]
pub struct KernelClass<T: Real> {
    /// The samples that A combines.
    panel: Panel<T>,
    /// A over these samples, and the training history.
    learned: KernelLearned<T>,
    coder: KernelOmp<T>,
}

impl<T: Real> KernelClass<T> {
    /// X, the training samples that some atom uses, one per column.
    pub fn samples(&self) -> MatRef<'_, T> {
        self.panel.points()
    }

    /// The training history, and A: one row per column of [`KernelClass::samples`].
    pub fn learned(&self) -> &KernelLearned<T> {
        &self.learned
    }

    /// Samples, one per atom, whose images come closest to the atoms φ(X)A or to their negatives
    /// ([`Panel::pre_images`]).
    pub fn pre_images(&self) -> Result<Mat<T>, LkdlError> {
        self.panel.pre_images(self.learned.atom_weights.as_ref())
    }

    /// The dictionary ready for coding.
    pub fn coder(&self) -> &KernelOmp<T> {
        &self.coder
    }

    /// The one way to make a class, from training and from a model file, so that both classify by
    /// the same bits.
    fn new(
        kernel: &Kernel,
        samples: MatRef<'_, T>,
        learned: KernelLearned<T>,
    ) -> Result<Self, LkdlError> {
        check_size("atom weights' rows", learned.atom_weights.nrows(), samples.ncols())?;
        let panel = Panel::new(kernel, samples)?;
        let K = gram(&panel)?;
        let coder = KernelOmp::new(K.as_ref(), learned.atom_weights.as_ref())?;
        Ok(Self { panel, learned, coder })
    }
}

/// κ(X, X) of a panel's points, symmetric.
fn gram<T: Real>(panel: &Panel<T>) -> Result<Mat<T>, LkdlError> {
    let mut K = panel.evaluate(panel.points())?;
    mirror_lower(&mut K);
    for (i, value) in panel.kernel().diagonal(panel.points())?.into_iter().enumerate() {
        K[(i, i)] = T::of(value);
    }
    Ok(K)
}

impl<T: Real, P: KernelLearner<T>> Train<T> for KernelDictionariesParams<P> {
    type Model = KernelDictionaries<T>;

    fn train_monitored(
        &self,
        samples: MatRef<'_, T>,
        labels: &[usize],
        monitor: &dyn Monitor,
    ) -> Result<Self::Model, LkdlError> {
        check_samples(samples, "samples")?;
        check_parameters(&self.kernel, self.sparsity)?;
        let members = class_members(labels, samples.ncols())?;
        let sizes: Vec<usize> = members.iter().map(Vec::len).collect();
        let at_once = self.classes_at_once::<T>(samples.nrows(), &sizes)?;
        monitor.begin("learn", members.len().saturating_mul(self.learner.steps()));
        let X = Contiguous::new(samples);
        // Classes of like size side by side, so that none waits long for another.
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by_key(|&l| std::cmp::Reverse(sizes[l]));
        let mut learned: Vec<Option<Result<KernelClass<T>, LkdlError>>> =
            members.iter().map(|_| None).collect();
        for group in order.chunks(at_once) {
            let done: Vec<_> = group
                .par_iter()
                .map(|&l| self.learn_class(gather(X.columns(), &members[l]), l, monitor))
                .collect();
            for (&l, class) in group.iter().zip(done) {
                learned[l] = Some(class.map_err(|error| in_class(l, error)));
            }
        }
        // the error of the lowest class, whichever was met first
        let classes = learned.into_iter().flatten().collect::<Result<Vec<_>, _>>()?;
        Ok(KernelDictionaries { kernel: self.kernel.clone(), classes, sparsity: self.sparsity })
    }

    fn training_bytes(&self, n_features: usize, class_sizes: &[usize], threads: usize) -> u64 {
        let needs = self.needs::<T>(n_features, class_sizes);
        let fits = |at_once: &usize| {
            self.memory.is_none_or(|memory| largest_needs(needs.clone(), *at_once) <= memory)
        };
        let at_once = (1..=threads.max(1)).rev().find(fits).unwrap_or(1);
        largest_needs(needs.clone(), at_once) + self.kept_bytes::<T>(n_features, class_sizes)
    }
}

impl<P> KernelDictionariesParams<P> {
    /// Bytes to learn each class: its samples (and the two copies that make a panel), K, and the
    /// learner's need, or two copies of K in `f64` where its eigenvalues have to be looked at.
    fn needs<T: Real>(&self, n_features: usize, class_sizes: &[usize]) -> Vec<u64>
    where
        P: KernelLearner<T>,
    {
        let test = |n| match self.kernel.is_positive_semidefinite() {
            true => 0,
            false => 2 * matrix_bytes::<f64>(n, n),
        };
        let need = |&n: &usize| {
            3 * matrix_bytes::<T>(n_features, n)
                + matrix_bytes::<T>(n, n)
                + self.learner.learning_bytes(n).max(test(n))
        };
        class_sizes.iter().map(need).collect()
    }

    /// What the model keeps at most: samples and what a panel makes of them, A twice, G.
    fn kept_bytes<T: Real>(&self, n_features: usize, class_sizes: &[usize]) -> u64
    where
        P: KernelLearner<T>,
    {
        let kept = |&n: &usize| {
            let m = self.learner.n_atoms(n);
            2 * (matrix_bytes::<T>(n_features, n) + matrix_bytes::<T>(n, m))
                + matrix_bytes::<T>(m, m)
        };
        class_sizes.iter().map(kept).sum()
    }

    /// How many classes are learned at a time; an error if one alone does not fit.
    fn classes_at_once<T: Real>(
        &self,
        n_features: usize,
        class_sizes: &[usize],
    ) -> Result<usize, LkdlError>
    where
        P: KernelLearner<T>,
    {
        let threads = rayon::current_num_threads().max(1);
        let Some(budget) = self.memory else { return Ok(threads) };
        let needs = self.needs::<T>(n_features, class_sizes);
        let fits = |at_once: &usize| largest_needs(needs.clone(), *at_once) <= budget;
        (1..=threads).rev().find(fits).ok_or_else(|| LkdlError::Memory {
            stage: "the kernel matrix of one class",
            need: largest_needs(needs.clone(), 1),
            budget,
        })
    }

    fn learn_class<T: Real>(
        &self,
        X: Mat<T>,
        class: usize,
        monitor: &dyn Monitor,
    ) -> Result<KernelClass<T>, LkdlError>
    where
        P: KernelLearner<T>,
    {
        let K = gram(&Panel::new(&self.kernel, X.as_ref())?)?;
        if !self.kernel.is_positive_semidefinite() {
            check_gram(K.as_ref())?;
        }
        let mut learned = self.learner.learn_monitored(K.as_ref(), class, monitor)?;
        drop(K);
        let A = &learned.atom_weights;
        let is_used = |&i: &usize| (0..A.ncols()).any(|j| A[(i, j)] != T::of(0.0));
        let used: Vec<usize> = (0..A.nrows()).filter(is_used).collect();
        learned.atom_weights = Mat::from_fn(used.len(), A.ncols(), |i, j| A[(used[i], j)]);
        KernelClass::new(&self.kernel, gather(columns_of(&X), &used).as_ref(), learned)
    }
}

/// The kernel must be able to tell κ(z, z) of a new sample, and a class needs an atom to use.
fn check_parameters(kernel: &Kernel, sparsity: usize) -> Result<(), LkdlError> {
    kernel.check()?;
    if let Kernel::Precomputed = kernel {
        return Err(LkdlError::Unsupported {
            what: "exact kernel dictionaries",
            problem: "need k(z, z) of new samples, which a precomputed kernel does not know",
            fix: "use classify::GramDictionariesParams, which takes these values",
        });
    }
    if sparsity == 0 {
        return Err(LkdlError::parameter("sparsity", 0, "at least 1"));
    }
    Ok(())
}

impl<T: Real> KernelDictionaries<T> {
    /// A rule from its parts, as a model file keeps them: for every class
    /// [`KernelClass::samples`] and [`KernelClass::learned`].
    pub fn from_parts(
        kernel: &Kernel,
        classes: Vec<(Mat<T>, KernelLearned<T>)>,
        sparsity: usize,
    ) -> Result<Self, LkdlError> {
        check_parameters(kernel, sparsity)?;
        let Some((first, _)) = classes.first() else {
            return Err(LkdlError::Empty { what: "class dictionaries", rows: 0, cols: 0 });
        };
        let n_features = first.nrows();
        let classes = classes
            .into_iter()
            .map(|(samples, learned)| {
                check_size("class samples' n_features", samples.nrows(), n_features)?;
                KernelClass::new(kernel, samples.as_ref(), learned)
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self { kernel: kernel.clone(), classes, sparsity })
    }

    /// κ.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Number of classes, L.
    pub fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// Number of features of a sample.
    pub fn n_features(&self) -> usize {
        self.classes[0].panel.n_rows()
    }

    /// The dictionaries, class by class.
    pub fn classes(&self) -> &[KernelClass<T>] {
        &self.classes
    }

    /// q.
    pub fn sparsity(&self) -> usize {
        self.sparsity
    }

    /// Warnings of all classes, with the class index.
    pub fn warnings(&self) -> impl Iterator<Item = (usize, &Warning)> {
        let classes = self.classes.iter().enumerate();
        classes.flat_map(|(l, class)| class.learned.warnings.iter().map(move |w| (l, w)))
    }

    /// r_l² of a block of samples for all classes: L×B.
    fn block_residuals(
        &self,
        work: &mut Work<T>,
        X: Columns<'_, T>,
        self_values: &[f64],
    ) -> Result<Mat<f64>, LkdlError> {
        let mut residuals = Mat::zeros(self.n_classes(), X.ncols());
        for (l, class) in self.classes.iter().enumerate() {
            let mut tile = Mat::<T>::zeros(class.panel.len(), X.ncols());
            class.panel.tile(X, tile.as_mut(), &mut work.tile_scratch)?;
            for i in 0..X.ncols() {
                if !all_finite(tile.col_as_slice(i)) {
                    let bad = tile.col_as_slice(i).iter().find(|v| !v.is_finite());
                    return Err(class.panel.overflow(bad.map_or(f64::NAN, |v| v.wide())));
                }
            }
            let (coder, tile) = (class.coder.coder(), columns_of(&tile));
            let rho = residuals_over(coder, &mut work.pursuit, tile, self_values, self.sparsity);
            for (i, rho) in rho.into_iter().enumerate() {
                residuals[(l, i)] = rho;
            }
        }
        Ok(residuals)
    }
}

/// What a task reuses from block to block.
struct Work<T: Real> {
    tile_scratch: Vec<T>,
    pursuit: Scratch<T>,
}

impl<T: Real> Classify<T> for KernelDictionaries<T> {
    fn classify(&self, samples: MatRef<'_, T>) -> Result<Predictions, LkdlError> {
        check_samples(samples, "samples")?;
        check_size("samples' n_features", samples.nrows(), self.n_features())?;
        let self_values = self.kernel.diagonal(samples)?;
        check_range::<T>(&self_values)?;
        let X = Contiguous::new(samples);
        let X = X.columns();
        let n_atoms = self.classes.iter().map(|class| class.coder.n_atoms()).max().unwrap_or(0);
        let work = || Work {
            tile_scratch: Vec::new(),
            pursuit: Scratch::new(n_atoms, self.sparsity.min(n_atoms)),
        };
        let blocks = map_blocks_with(X.ncols(), BLOCK, work, |work, range| {
            self.block_residuals(work, subcols(X, range.clone()), &self_values[range])
        });
        let blocks = blocks.into_iter().collect::<Result<Vec<_>, _>>()?;
        let scores = join_blocks(self.n_classes(), X.ncols(), &blocks);
        Predictions::from_scores(scores, &self_values)
    }
}
