//! Whole runs of the methods that LKDL is measured against or carried into: exact kernel K-SVD,
//! LC-KSVD2 and simplified FDDL, with the paper's parameters, each in both precisions.

use crate::data::{convert, indices, real, usps};
use crate::flops::{KernelSizes, LcSizes};
use crate::measure::{Effort, in_turn};
use crate::record::{Record, Value};
use crate::whole::{self, Outcome, Problem};
use crate::{RooflineError, Session, flops};
use faer::Mat;
use lkdl::Real;
use lkdl::classify::fddl::UnusedAtoms;
use lkdl::dictionary::KernelUpdate;
use lkdl::prelude::*;
use lkdl_data::NamedSet;

/// Samples of MNIST to learn from: the first point of figure 3.
const MNIST_SAMPLES: usize = 10_000;

/// Samples to learn from and to classify, in `f64`.
struct Set {
    train: Mat<f64>,
    labels: Vec<usize>,
    test: Mat<f64>,
    truth: Option<Vec<usize>>,
    prepare: &'static str,
}

impl Set {
    fn n_classes(&self) -> usize {
        self.labels.iter().max().map_or(0, |last| last + 1)
    }

    fn class_sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.n_classes()];
        self.labels.iter().for_each(|&label| sizes[label] += 1);
        sizes
    }

    fn usps(session: &mut Session<'_>) -> Self {
        let (train, labels, test, truth) = usps(session);
        Self { train, labels, test, truth, prepare: "center,l2" }
    }

    /// A set that cannot be made up: `None` where it is not there.
    fn real(session: &mut Session<'_>, set: NamedSet, prepare: &'static str) -> Option<Self> {
        let set = real(session, set)?;
        let (labels, truth) = (indices(&set.train.labels), Some(indices(&set.test.labels)));
        Some(Self { train: set.train.samples, labels, test: set.test.samples, truth, prepare })
    }

    /// Fits and classifies without a map, a few times: the best time and its outcome.
    fn run<T: Real, M: Train<T> + Clone, R>(
        &self,
        session: &Session<'_>,
        method: &M,
        ask: impl Fn(&M::Model) -> R,
    ) -> Result<(f64, Outcome<R>), RooflineError> {
        let (train, test) = (convert::<T>(&self.train), convert::<T>(&self.test));
        let problem = self.problem(&train, &test);
        let prepare: PrepareParams = self.prepare.parse()?;
        let run =
            |_: &()| Ok(whole::run(&prepare, MapParams::None, method.clone(), &problem, &ask)?);
        let reps = if session.quick { 1 } else { 2 };
        let effort = Effort { seconds: 0.0, min_reps: reps, max_reps: reps };
        // one variant has one result
        Ok(in_turn(effort, &[()], run)?.remove(0))
    }

    fn problem<'a, T: Real>(&'a self, train: &'a Mat<T>, test: &'a Mat<T>) -> Problem<'a, T> {
        let truth = self.truth.as_deref();
        Problem { train: train.as_ref(), labels: &self.labels, test: test.as_ref(), truth }
    }
}

/// Exact kernel K-SVD on USPS: (xᵀy)², 300 atoms per class, 5 non-zeros, 5 iterations.
pub fn kernel_ksvd_usps(session: &mut Session<'_>) -> Result<(), RooflineError> {
    let set = Set::usps(session);
    kernel_ksvd::<f64>(session, "kernel-ksvd-usps", &set, (300, 5, 5))?;
    kernel_ksvd::<f32>(session, "kernel-ksvd-usps", &set, (300, 5, 5))
}

/// The same on the first 10,000 samples of MNIST: 700 atoms per class, 11 non-zeros, 2 iterations.
pub fn kernel_ksvd_mnist(session: &mut Session<'_>) -> Result<(), RooflineError> {
    let Some(mut set) = Set::real(session, NamedSet::Mnist, "l2") else { return Ok(()) };
    let n = if session.quick { MNIST_SAMPLES / 4 } else { MNIST_SAMPLES };
    set.train = set.train.subcols(0, n).to_owned();
    set.labels.truncate(n);
    kernel_ksvd::<f64>(session, "kernel-ksvd-mnist", &set, (700, 11, 2))?;
    kernel_ksvd::<f32>(session, "kernel-ksvd-mnist", &set, (700, 11, 2))
}

/// m, q and T.
type Budget = (usize, usize, usize);

fn kernel_ksvd<T: Real>(
    session: &mut Session<'_>,
    stage: &'static str,
    set: &Set,
    (n_atoms, sparsity, n_iters): Budget,
) -> Result<(), RooflineError> {
    for update in [KernelUpdate::Exact, KernelUpdate::Approximate] {
        let learner = KernelKsvdParams::<T> {
            n_atoms,
            sparsity,
            max_iters: n_iters,
            tol: 0.0,
            update,
            ..Default::default()
        };
        let kernel = Kernel::Polynomial { degree: 2.0, offset: 0.0 };
        let method = KernelDictionariesParams { kernel, learner, sparsity, memory: None };
        let (seconds, outcome) = set.run::<T, _, _>(session, &method, |_| ())?;
        let sizes = KernelSizes {
            n_features: set.train.nrows(),
            class_sizes: set.class_sizes(),
            n_test: set.test.ncols(),
            n_atoms,
            sparsity,
            n_iters,
        };
        let gflop = flops::kernel_run(&sizes);
        let update = Value::Text(format!("{update:?}").to_lowercase());
        let record = record::<T>(stage, sizes.to_string(), seconds, gflop).with("update", update);
        push(session, set, record, &outcome)?;
    }
    Ok(())
}

/// LC-KSVD2 on Extended Yale B as published: 570 atoms, 30 non-zeros, 20 + 20 + 50 iterations.
pub fn lc_ksvd(session: &mut Session<'_>) -> Result<(), RooflineError> {
    let Some(set) = Set::real(session, NamedSet::YaleB, "none") else { return Ok(()) };
    lc_ksvd_in::<f64>(session, &set)?;
    lc_ksvd_in::<f32>(session, &set)
}

fn lc_ksvd_in<T: Real>(session: &mut Session<'_>, set: &Set) -> Result<(), RooflineError> {
    let n_iters = if session.quick { [4, 4, 10] } else { [20, 20, 50] };
    let params = LcKsvdParams {
        variant: LcVariant::Lc2,
        n_atoms: 570,
        sparsity: 30,
        sqrt_alpha: 4.0,
        sqrt_beta: 2.0,
        class_iters: n_iters[0],
        shared_iters: n_iters[1],
        max_iters: n_iters[2],
        ..Default::default()
    };
    let (seconds, outcome) = set.run::<T, _, _>(session, &params, |_| ())?;
    let sizes = LcSizes {
        n_features: set.train.nrows(),
        n_samples: set.train.ncols(),
        n_test: set.test.ncols(),
        n_atoms: params.n_atoms,
        sparsity: params.sparsity,
        n_iters,
        n_classes: set.n_classes(),
    };
    let record = record::<T>("lc-ksvd", sizes.to_string(), seconds, flops::lc_ksvd_run(&sizes));
    push(session, set, record, &outcome)
}

/// Simplified FDDL on USPS as published: 300 atoms per class, 5 iterations. The time is that of
/// training: decisions follow the path of a lasso, whose operations depend on the samples.
pub fn fddl(session: &mut Session<'_>) -> Result<(), RooflineError> {
    let set = Set::usps(session);
    fddl_in::<f64>(session, &set)?;
    fddl_in::<f32>(session, &set)
}

fn fddl_in<T: Real>(session: &mut Session<'_>, set: &Set) -> Result<(), RooflineError> {
    let n_iters = if session.quick { 1 } else { 5 };
    let params = FddlParams::<T> {
        form: FddlForm::Simplified,
        n_atoms: 300,
        l1_weight: 0.1,
        scatter_weight: 0.001,
        max_iters: n_iters,
        initial: InitialAtoms::KMeans { max_iters: 100, tol: 0.0 },
        unused: UnusedAtoms::Drop,
        rule: FddlRule::Local { l1_weight: 0.1, mean_weight: 0.005, compat: true },
        ..Default::default()
    };
    let (_, outcome) =
        set.run::<T, _, _>(session, &params, |model| model.training().n_code_steps)?;
    let (p, n, n_steps) = (set.train.nrows(), set.train.ncols(), outcome.fact);
    let (m, n_classes) = (params.n_atoms, set.n_classes());
    let gflop = flops::fddl_training(n_classes, p, m, n, n_iters, n_steps);
    let shape = format!("N={n},p={p},m={m},T={n_iters},L={n_classes}");
    let record = record::<T>("fddl", shape, outcome.train_seconds, gflop)
        .with("steps_per_code", Value::Number(n_steps as f64 / (n * (n_iters + 1)) as f64));
    push(session, set, record, &outcome)
}

fn record<T: Real>(stage: &'static str, shape: String, seconds: f64, gflop: f64) -> Record {
    Record { stage, shape, dtype: T::NAME, seconds, gflop, ratio: None, extra: Vec::new() }
}

/// Keeps a record, with where the time of its run went and the accuracy where labels are real.
fn push<R>(
    session: &mut Session<'_>,
    set: &Set,
    record: Record,
    outcome: &Outcome<R>,
) -> Result<(), RooflineError> {
    let record = outcome.tell(record, set.truth.as_deref())?;
    session.push(record);
    Ok(())
}
