//! The inner kernels of the method: pursuit, map, one iteration of K-SVD.

use crate::data::{USPS_TRAIN, decaying, indices, real, unit_columns};
use crate::measure::{ChainedProduct, against, product_into};
use crate::record::{Record, Value};
use crate::{RooflineError, Session, flops};
use faer::{Mat, MatRef};
use lkdl::Real;
use lkdl::prelude::*;
use lkdl_data::NamedSet;

/// Batch-OMP, Gram matrix included, against DᵀX.
pub fn batch_omp(session: &mut Session<'_>) -> Result<(), RooflineError> {
    for shape in [(256, 300, 7291, 5), (784, 700, 6000, 11), (504, 570, 1216, 30)] {
        batch_omp_in::<f64>(session, shape)?;
        batch_omp_in::<f32>(session, shape)?;
    }
    Ok(())
}

fn batch_omp_in<T: Real>(
    session: &mut Session<'_>,
    (p, m, n, q): (usize, usize, usize, usize),
) -> Result<(), RooflineError> {
    let (D, X) = (unit_columns::<T>(p, m, 1), unit_columns::<T>(p, n, 2));
    let mut alpha = Mat::<T>::zeros(m, n);
    let timing = against(
        session,
        &[q],
        |width| product_into(alpha.as_mut(), D.as_ref(), X.as_ref(), width),
        |&q| Ok(BatchOmp::new(D.as_ref())?.encode(X.as_ref(), Target::Sparsity(q))?),
    )?;
    let seconds = timing.stages[0];
    session.push(Record {
        stage: "batch-omp",
        shape: format!("p={p},m={m},N={n},q={q}"),
        dtype: T::NAME,
        seconds,
        gflop: flops::batch_omp(p, m, n, q),
        ratio: Some(seconds / timing.product),
        extra: Vec::new(),
    });
    Ok(())
}

/// Kernel tiles and projection against the two products alone.
pub fn map(session: &mut Session<'_>) -> Result<(), RooflineError> {
    // MNIST's sizes, but for N: rows are alike, and 20,000 are enough to time
    for shape in [(7291, 256, 1458, 256), (20_000, 784, 2048, 784)] {
        map_in::<f64>(session, shape)?;
        map_in::<f32>(session, shape)?;
    }
    Ok(())
}

fn map_in<T: Real>(
    session: &mut Session<'_>,
    (n, p, c, k): (usize, usize, usize, usize),
) -> Result<(), RooflineError> {
    let n = if session.quick { n.div_ceil(4) } else { n };
    let (X, Y) = (unit_columns::<T>(p, n, 1), unit_columns::<T>(p, c, 2));
    let P = unit_columns::<T>(c, k, 3);
    let kernels = [
        ("polynomial", Kernel::Polynomial { degree: 2.0, offset: 0.0 }),
        ("gaussian", Kernel::Gaussian { sigma: 1.0 }),
    ];
    let maps = kernels
        .iter()
        .map(|(_, kernel)| {
            NystroemMap::from_parts(Panel::new(kernel, Y.as_ref())?, P.as_ref(), &[], &[])
        })
        .collect::<Result<Vec<_>, _>>()?;
    let mut products = ChainedProduct::new(Y.as_ref(), P.as_ref(), X.as_ref());
    let timing =
        against(session, &maps, |width| products.run(width), |map| Ok(map.transform(X.as_ref())?))?;
    for ((name, _), seconds) in kernels.iter().zip(timing.stages) {
        session.push(Record {
            stage: "map",
            shape: format!("{name},N={n},p={p},c={c},k={k}"),
            dtype: T::NAME,
            seconds,
            gflop: flops::map(n, c, p, k),
            ratio: Some(seconds / timing.product),
            extra: Vec::new(),
        });
    }
    Ok(())
}

/// Iterations between the two trainings whose difference is taken.
const KSVD_ITERS: usize = 5;

/// One iteration of K-SVD on ten classes of USPS's sizes, against DᵀX of all classes: on synthetic
/// samples, and on the real ones where they are at hand. Real samples are alike, so more atoms are
/// replaced.
pub fn ksvd_iteration(session: &mut Session<'_>) -> Result<(), RooflineError> {
    let (X, labels) = decaying(256, &USPS_TRAIN, 1);
    ksvd_on(session, "synthetic", &X, &labels)?;
    if let Some(set) = real(session, NamedSet::Usps) {
        let prepare: PrepareParams = "center,l2".parse()?;
        let X = prepare.fit(set.train.samples.as_ref())?.apply_in_place(set.train.samples)?.samples;
        ksvd_on(session, "usps", &X, &indices(&set.train.labels))?;
    }
    Ok(())
}

fn ksvd_on(
    session: &mut Session<'_>,
    data: &str,
    X: &Mat<f64>,
    labels: &[usize],
) -> Result<(), RooflineError> {
    ksvd_in(session, data, X.as_ref(), labels)?;
    ksvd_in(session, data, crate::data::convert::<f32>(X).as_ref(), labels)
}

fn ksvd_in<T: Real>(
    session: &mut Session<'_>,
    data: &str,
    X: MatRef<'_, T>,
    labels: &[usize],
) -> Result<(), RooflineError> {
    let (p, m, n, q) = (X.nrows(), 300, X.ncols(), 5);
    let n_classes = labels.iter().max().map_or(0, |l| l + 1);
    let train = |max_iters| ClassDictionariesParams {
        learner: KsvdParams { n_atoms: m, sparsity: q, max_iters, tol: 0.0, ..Default::default() },
        sparsity: q,
    };
    // dictionaries of all classes have one shape: one of them against all samples is their product
    let D = unit_columns::<T>(p, m, 2);
    let mut alpha = Mat::<T>::zeros(m, n);
    let timing = against(
        session,
        &[train(1), train(1 + KSVD_ITERS)],
        |width| product_into(alpha.as_mut(), D.as_ref(), X, width),
        |params| Ok(params.train(X, labels)?),
    )?;
    let seconds = (timing.stages[1] - timing.stages[0]) / KSVD_ITERS as f64;
    session.push(
        Record {
            stage: "ksvd-iteration",
            shape: format!("L={n_classes},p={p},m={m},N={n},q={q}"),
            dtype: T::NAME,
            seconds,
            gflop: flops::ksvd_iteration(n_classes, p, m, n, q),
            ratio: Some(seconds / timing.product),
            extra: Vec::new(),
        }
        .with("data", Value::Text(data.into())),
    );
    Ok(())
}
