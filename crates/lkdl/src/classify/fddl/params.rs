//! FDDL's parameters, and training of the full form.

use super::alternate::{Alternated, Alternation};
use super::codes::Stopping;
use super::hessian::hessian_bytes;
use super::layout::{Layout, sorted};
use super::model::{Fddl, FddlTraining};
use super::objective::Weights;
use super::simplified;
use crate::classify::class_dictionaries::in_class;
use crate::classify::{Train, class_members};
use crate::dictionary::{InitialAtoms, zero_samples};
use crate::error::{LkdlError, Warning};
use crate::matrix::{
    Columns, Contiguous, check_addressable, check_samples, column_sq_norms, columns_of,
    matrix_bytes, subcols,
};
use crate::monitor::Monitor;
use crate::pursuit::check_range;
use crate::real::Real;
use faer::{Mat, MatRef};

/// m×N matrices alive while codes are solved for: two sets of codes and gradients, and 𝓜(DᵀX).
const DENSE_CODES: u64 = 5;

/// Which problem is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FddlForm {
    /// All classes together.
    #[default]
    Full,
    /// Every class alone, its codes near their mean: what the published numbers come from.
    Simplified,
}

/// What becomes of an atom that no sample uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnusedAtoms {
    /// It becomes the sample of its class that is represented worst.
    #[default]
    Reseed,
    /// It is dropped, as in the published program; a class keeps at least one atom.
    Drop,
}

/// How a new sample is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum FddlRule {
    /// One code over all atoms; ‖y − D_iγ^i‖² + w‖γ − m_i‖² decides.
    Global {
        /// g1, the weight of ‖γ‖₁ beside ‖y − Dγ‖².
        l1_weight: f64,
        /// w.
        mean_weight: f64,
    },
    /// One code s per class; the minimum of ‖y − D_is‖² + g1‖s‖₁ + g2‖s − m_i^i‖² decides.
    Local {
        /// g1.
        l1_weight: f64,
        /// g2.
        mean_weight: f64,
        /// Codes that minimise ½(‖y − D_is‖² + g2‖s − m_i^i‖²) + g1‖s‖₁, as the published program's,
        /// which scores them with the formula above.
        compat: bool,
    },
}

impl Default for FddlRule {
    /// The local rule with the published weights.
    fn default() -> Self {
        Self::Local { l1_weight: 0.1, mean_weight: 0.001, compat: false }
    }
}

impl FddlRule {
    pub(super) fn check(&self) -> Result<(), LkdlError> {
        let (Self::Global { l1_weight, mean_weight } | Self::Local { l1_weight, mean_weight, .. }) =
            *self;
        if !(l1_weight > 0.0 && l1_weight.is_finite()) {
            return Err(LkdlError::parameter("rule's l1_weight", l1_weight, "finite and above 0"));
        }
        check_weight("rule's mean_weight", mean_weight)
    }
}

/// FDDL's parameters.
#[derive(Debug, Clone)]
pub struct FddlParams<T: Real> {
    /// Full or simplified.
    pub form: FddlForm,
    /// Atoms per class.
    pub n_atoms: usize,
    /// λ1, the weight of ‖Γ‖₁.
    pub l1_weight: f64,
    /// λ2, the weight of the scatters.
    pub scatter_weight: f64,
    /// η ≥ 1, the weight of ‖Γ‖² beside the scatters (full form only).
    pub energy_weight: f64,
    /// Iterations of codes and dictionary.
    pub max_iters: usize,
    /// Steps of one coding at most.
    pub code_iters: usize,
    /// Coding stops when J falls by less than this share of it, twice in a row.
    pub code_tol: f64,
    /// Where the dictionaries start.
    pub initial: InitialAtoms<T>,
    /// What becomes of unused atoms.
    pub unused: UnusedAtoms,
    /// How new samples are judged.
    pub rule: FddlRule,
    /// Seed of the initial atoms.
    pub seed: u64,
}

impl<T: Real> Default for FddlParams<T> {
    /// The weights, start and iterations of the published experiment, with fewer atoms.
    fn default() -> Self {
        Self {
            form: FddlForm::default(),
            n_atoms: 30,
            l1_weight: 0.1,
            scatter_weight: 0.001,
            energy_weight: 1.0,
            max_iters: 5,
            code_iters: 200,
            code_tol: 1e-6,
            initial: InitialAtoms::k_means(),
            unused: UnusedAtoms::default(),
            rule: FddlRule::default(),
            seed: 0,
        }
    }
}

fn check_weight(name: &'static str, value: f64) -> Result<(), LkdlError> {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(LkdlError::parameter(name, value, "a finite number >= 0"))
}

/// Dictionaries of all classes, side by side in class order, before training.
pub(super) struct Start<T: Real> {
    pub(super) dictionaries: Vec<Mat<T>>,
    pub(super) warnings: Vec<(usize, Warning)>,
}

impl<T: Real> FddlParams<T> {
    fn check(
        &self,
        n_features: usize,
        n_samples: usize,
        n_classes: usize,
    ) -> Result<(), LkdlError> {
        for (name, count) in [
            ("n_atoms", self.n_atoms),
            ("max_iters", self.max_iters),
            ("code_iters", self.code_iters),
        ] {
            if count == 0 {
                return Err(LkdlError::parameter(name, 0, "at least 1"));
            }
        }
        check_weight("l1_weight", self.l1_weight)?;
        check_weight("scatter_weight", self.scatter_weight)?;
        check_weight("code_tol", self.code_tol)?;
        if !(self.energy_weight >= 1.0 && self.energy_weight.is_finite()) {
            let range = "finite and at least 1, below which the problem is not convex";
            return Err(LkdlError::parameter("energy_weight", self.energy_weight, range));
        }
        self.rule.check()?;
        let m = self.n_atoms.saturating_mul(n_classes);
        let need = DENSE_CODES * matrix_bytes::<T>(m, n_samples.max(n_features));
        check_addressable("the codes", need)
    }

    fn start(&self, X: Columns<'_, T>, layout: &Layout) -> Result<Start<T>, LkdlError> {
        let mut start = Start { dictionaries: Vec::new(), warnings: Vec::new() };
        let mut first = 0;
        for (class, &n) in layout.class_sizes.iter().enumerate() {
            let own = subcols(X, first..first + n);
            first += n;
            let drawn = self.initial.draw(own, self.n_atoms, self.seed, class);
            let (D, warnings) = drawn.map_err(|error| in_class(class, error))?;
            let zeros = zero_samples(own);
            start.warnings.extend(warnings.into_iter().chain(zeros).map(|w| (class, w)));
            start.dictionaries.push(D);
        }
        Ok(start)
    }

    /// The iteration of codes and dictionaries under given weights.
    pub(super) fn alternation(&self) -> Alternation {
        let (l1, scatter) = (self.l1_weight, self.scatter_weight);
        let (weights, cold) = match self.form {
            FddlForm::Full => (Weights::full(l1, scatter, self.energy_weight), false),
            FddlForm::Simplified => (Weights::simplified(l1, scatter), true),
        };
        Alternation {
            weights,
            stopping: Stopping { max_iters: self.code_iters, tol: self.code_tol },
            max_iters: self.max_iters,
            cold,
            unused: self.unused,
        }
    }

    /// All classes together.
    fn train_full(
        &self,
        X: Columns<'_, T>,
        class_sizes: &[usize],
        start: Start<T>,
        monitor: &dyn Monitor,
    ) -> Result<Fddl<T>, LkdlError> {
        monitor.begin("learn", self.max_iters);
        let n_atoms: Vec<usize> = start.dictionaries.iter().map(Mat::ncols).collect();
        let layout = Layout::new(class_sizes, &n_atoms);
        let mut D = Mat::zeros(X.nrows(), layout.n_atoms());
        for (own, range) in start.dictionaries.iter().zip(&layout.atoms) {
            D.as_mut().subcols_mut(range.start, range.len()).copy_from(own);
        }
        let Alternated { D, layout, means, objectives, n_vanished, n_code_steps } =
            self.alternation().run(X, D, layout, monitor)?;
        let own = |range: &std::ops::Range<usize>| D.subcols(range.start, range.len()).to_owned();
        let dictionaries = layout.atoms.iter().map(own).collect();
        let mean_codes =
            Mat::from_fn(layout.n_atoms(), class_sizes.len(), |j, l| means.classes[l][j]);
        let warnings = start.warnings;
        let training = FddlTraining { objectives, n_vanished, n_code_steps, warnings };
        Fddl::from_parts(dictionaries, mean_codes, self.rule, training)
    }
}

impl<T: Real> Train<T> for FddlParams<T> {
    type Model = Fddl<T>;

    fn train_monitored(
        &self,
        samples: MatRef<'_, T>,
        labels: &[usize],
        monitor: &dyn Monitor,
    ) -> Result<Self::Model, LkdlError> {
        check_samples(samples, "samples")?;
        let members = class_members(labels, samples.ncols())?;
        self.check(samples.nrows(), samples.ncols(), members.len())?;
        let X = Contiguous::new(samples);
        check_range::<T>(&column_sq_norms(X.columns()))?;
        let X = sorted(X.columns(), &members);
        let X = columns_of(&X);
        let class_sizes: Vec<usize> = members.iter().map(Vec::len).collect();
        let start = self.start(X, &Layout::new(&class_sizes, &[]))?;
        match self.form {
            FddlForm::Full => self.train_full(X, &class_sizes, start, monitor),
            FddlForm::Simplified => simplified::train(self, X, &class_sizes, start, monitor),
        }
    }

    /// Sorted samples, their residuals, dense codes with their gradients, H and the sums of a sweep.
    /// The classes of the simplified form are counted as if all were trained at once, which idle
    /// threads may bring about.
    fn training_bytes(&self, n_features: usize, class_sizes: &[usize], _: usize) -> u64 {
        let n: usize = class_sizes.iter().sum();
        let (own, m) = (self.n_atoms, self.n_atoms.saturating_mul(class_sizes.len()));
        let sweep = 2 * matrix_bytes::<f64>(own, own) + 4 * matrix_bytes::<f64>(n_features, own);
        let runs = |n: usize| Layout::new(&[n], &[]).runs.len() as u64;
        let partial = matrix_bytes::<T>(n_features.max(own), own);
        let (codes, hessians, sweeps) = match self.form {
            FddlForm::Full => {
                let class_atoms = vec![own; class_sizes.len()];
                let n_runs: u64 = class_sizes.iter().map(|&n| runs(n)).sum();
                let hessian = hessian_bytes::<T>(n_features, &class_atoms);
                (matrix_bytes::<T>(m, n), hessian, sweep + n_runs * partial)
            }
            FddlForm::Simplified => {
                let per_class = |&n: &usize| sweep + runs(n) * partial;
                let hessians = class_sizes.len() as u64 * matrix_bytes::<T>(own, own);
                let sweeps = class_sizes.iter().map(per_class).sum();
                (matrix_bytes::<T>(own, n), hessians, sweeps)
            }
        };
        2 * matrix_bytes::<T>(n_features, n)
            + 2 * matrix_bytes::<T>(n_features, m)
            + DENSE_CODES * codes
            + hessians
            + sweeps
    }
}
