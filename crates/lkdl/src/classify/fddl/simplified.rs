//! Simplified FDDL, which the published numbers come from: every class alone, in parallel.
//!
//! ```math
//! \min_{D_i,A}\|X_i-D_iA\|^2+\lambda_1\|A\|_1+\lambda_2\|A-\operatorname{mean}(A)\|^2
//! ```
//! The objective of the full form on one class without the term of its own atoms. Codes start from
//! zero at every iteration, as the published program's do.

use super::alternate::Alternated;
use super::layout::Layout;
use super::model::{Fddl, FddlTraining};
use super::params::{FddlParams, Start};
use crate::error::LkdlError;
use crate::matrix::{Columns, subcols};
use crate::monitor::Monitor;
use crate::real::Real;
use faer::Mat;
use rayon::prelude::*;

/// Trains on samples sorted by class.
pub(super) fn train<T: Real>(
    params: &FddlParams<T>,
    X: Columns<'_, T>,
    class_sizes: &[usize],
    start: Start<T>,
    monitor: &dyn Monitor,
) -> Result<Fddl<T>, LkdlError> {
    monitor.begin("learn", class_sizes.len().saturating_mul(params.max_iters));
    let mut first = 0;
    let mut tasks = Vec::new();
    for (&n, D) in class_sizes.iter().zip(start.dictionaries) {
        tasks.push((subcols(X, first..first + n), D));
        first += n;
    }
    let alternation = params.alternation();
    let classes: Vec<Result<Alternated<T>, LkdlError>> = tasks
        .into_par_iter()
        .map(|(X, D)| {
            let layout = Layout::new(&[X.ncols()], &[D.ncols()]);
            alternation.run(X, D, layout, monitor)
        })
        .collect();
    let classes = classes.into_iter().collect::<Result<Vec<_>, _>>()?;
    let training = FddlTraining {
        objectives: total(&classes),
        n_vanished: classes.iter().map(|class| class.n_vanished).sum(),
        n_code_steps: classes.iter().map(|class| class.n_code_steps).sum(),
        warnings: start.warnings,
    };
    let mean_codes = mean_codes(&classes);
    let dictionaries = classes.into_iter().map(|class| class.D).collect();
    Fddl::from_parts(dictionaries, mean_codes, params.rule, training)
}

/// The objectives of all classes, added.
fn total<T: Real>(classes: &[Alternated<T>]) -> Vec<f64> {
    let steps = classes.first().map_or(0, |class| class.objectives.len());
    (0..steps).map(|t| classes.iter().map(|class| class.objectives[t]).sum()).collect()
}

/// m_i over all atoms: a class uses its own only.
fn mean_codes<T: Real>(classes: &[Alternated<T>]) -> Mat<f64> {
    let m = classes.iter().map(|class| class.D.ncols()).sum();
    let mut means = Mat::zeros(m, classes.len());
    let mut first = 0;
    for (l, class) in classes.iter().enumerate() {
        let n_atoms = class.D.ncols();
        means.col_as_slice_mut(l)[first..first + n_atoms].copy_from_slice(&class.means.all);
        first += n_atoms;
    }
    means
}
