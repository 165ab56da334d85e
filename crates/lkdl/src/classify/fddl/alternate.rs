//! Codes, dictionary, codes, dictionary, …, codes: the iteration both forms of FDDL share.

use super::UnusedAtoms;
use super::codes::{Stopping, minimize};
use super::layout::Layout;
use super::objective::{Means, Objective, Weights};
use super::sweep::update;
use crate::error::LkdlError;
use crate::matrix::Columns;
use crate::monitor::Monitor;
use crate::real::Real;
use faer::Mat;

/// What an alternation runs with.
#[derive(Clone, Copy)]
pub(super) struct Alternation {
    pub(super) weights: Weights,
    pub(super) stopping: Stopping,
    pub(super) max_iters: usize,
    /// Codes start from zero at every iteration, not from the last ones.
    pub(super) cold: bool,
    pub(super) unused: UnusedAtoms,
}

/// What it gave.
pub(super) struct Alternated<T: Real> {
    /// D of all classes.
    pub(super) D: Mat<T>,
    pub(super) layout: Layout,
    /// Mean codes over the final dictionary.
    pub(super) means: Means,
    /// J after every coding and every dictionary update.
    pub(super) objectives: Vec<f64>,
    /// Atoms that vanished, over all iterations.
    pub(super) n_vanished: usize,
    /// See [`FddlTraining::n_code_steps`](super::FddlTraining::n_code_steps).
    pub(super) n_code_steps: usize,
}

impl Alternation {
    /// From the dictionary D, on samples sorted by class. Every iteration is a step of the monitor.
    pub(super) fn run<T: Real>(
        &self,
        X: Columns<'_, T>,
        mut D: Mat<T>,
        mut layout: Layout,
        monitor: &dyn Monitor,
    ) -> Result<Alternated<T>, LkdlError> {
        let (mut objectives, mut n_vanished, mut n_code_steps) = (Vec::new(), 0, 0);
        let mut gamma = layout.zeros(layout.n_atoms());
        for _ in 0..self.max_iters {
            monitor.check()?;
            let objective = Objective::new(X, &D, &layout, self.weights);
            let mut point = objective.point(gamma);
            let (value, n_steps) = minimize(&objective, &mut point, self.stopping);
            objectives.push(value);
            n_code_steps += n_steps * X.ncols();
            gamma = point.gamma;
            let vanished = update(X, &mut D, &mut gamma, &layout, self.weights.own, self.unused);
            let objective = Objective::new(X, &D, &layout, self.weights);
            let point = objective.point(gamma);
            objectives.push(objective.value(&point));
            gamma = point.gamma;
            n_vanished += vanished.len();
            if self.unused == UnusedAtoms::Drop && !vanished.is_empty() {
                (D, gamma, layout) = drop_atoms(&D, &gamma, &layout, &vanished);
            }
            if self.cold {
                gamma = layout.zeros(layout.n_atoms());
            }
            monitor.advance(1);
        }
        let objective = Objective::new(X, &D, &layout, self.weights);
        let mut point = objective.point(gamma);
        let (value, n_steps) = minimize(&objective, &mut point, self.stopping);
        objectives.push(value);
        n_code_steps += n_steps * X.ncols();
        let means = point.means;
        Ok(Alternated { D, layout, means, objectives, n_vanished, n_code_steps })
    }
}

/// D and Γ without the vanished atoms. A class none of whose atoms is used keeps its first.
fn drop_atoms<T: Real>(
    D: &Mat<T>,
    gamma: &[Mat<T>],
    layout: &Layout,
    vanished: &[usize],
) -> (Mat<T>, Vec<Mat<T>>, Layout) {
    let survivors = |atoms: &std::ops::Range<usize>| {
        let alive: Vec<usize> = atoms.clone().filter(|j| !vanished.contains(j)).collect();
        if alive.is_empty() { vec![atoms.start] } else { alive }
    };
    let kept: Vec<Vec<usize>> = layout.atoms.iter().map(survivors).collect();
    let n_atoms: Vec<usize> = kept.iter().map(Vec::len).collect();
    let kept = kept.concat();
    let D = Mat::from_fn(D.nrows(), kept.len(), |t, j| D[(t, kept[j])]);
    let rows = |gamma: &Mat<T>| Mat::from_fn(kept.len(), gamma.ncols(), |j, i| gamma[(kept[j], i)]);
    let gamma = gamma.iter().map(rows).collect();
    (D, gamma, Layout::new(&layout.class_sizes, &n_atoms))
}
