//! The k leading eigenpairs of a kernel matrix: the library's iteration against a full solve.
//!
//! Both times hold the evaluation of W, which adds the same to each and so understates the gain.
//! How good the iteration is shows in the rank-k trace error tr W − Σ_k θ, which a full solve makes
//! as small as it can be.

use crate::data::{decaying, real};
use crate::measure::{in_turn, time};
use crate::record::{Record, Value};
use crate::{RooflineError, Session, flops};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, MatRef, Par};
use lkdl::prelude::*;
use lkdl_data::NamedSet;

/// Features of the samples, those of MNIST.
const N_FEATURES: usize = 784;

/// c = 3,000 always, the paper's 9,000 with `--full` (its full solve takes minutes).
pub fn eigen(session: &mut Session<'_>) -> Result<(), RooflineError> {
    let mut shapes = vec![if session.quick { (1500, 130) } else { (3000, 260) }];
    if session.full {
        shapes.push((9000, 784));
    }
    let most = shapes.iter().map(|shape| shape.0).max().unwrap_or(0);
    let (data, X) = samples(session, most)?;
    for (c, k) in shapes {
        measure(session, data, X.subcols(0, c), k)?;
    }
    Ok(())
}

/// Unit-norm samples: MNIST's first ones, or synthetic ones.
fn samples(
    session: &mut Session<'_>,
    count: usize,
) -> Result<(&'static str, Mat<f64>), RooflineError> {
    let Some(set) = real(session, NamedSet::Mnist) else {
        session.note("  synthetic samples with a decaying spectrum instead");
        return Ok(("synthetic", decaying(N_FEATURES, &[count.div_ceil(10); 10], 1).0));
    };
    let X = set.train.samples.subcols(0, count).to_owned();
    let prepare: PrepareParams = "l2".parse()?;
    Ok(("mnist", prepare.fit(X.as_ref())?.apply_in_place(X)?.samples))
}

fn measure(
    session: &mut Session<'_>,
    data: &str,
    X: MatRef<'_, f64>,
    k: usize,
) -> Result<(), RooflineError> {
    let (p, c) = (X.nrows(), X.ncols());
    let kernel = Kernel::Polynomial { degree: 2.0, offset: 0.0 };
    let params = NystroemParams {
        kernel: kernel.clone(),
        rank: Rank::Exact(k),
        variant: Variant::Standard,
        ..Default::default()
    };
    let landmarks = Landmarks::from_points(X);
    let fits = in_turn(session.effort, &[()], |()| Ok(params.fit_landmarks(X, &landmarks)?))?;
    let (seconds, map) = &fits[0];

    let panel = Panel::new(&kernel, X)?;
    let (gram_seconds, W) = time(|| panel.gram());
    let W = W?;
    session.note(&format!("  full solve of c={c} …"));
    let (full_seconds, exact) = time(|| full_solve(W.as_ref()));
    let exact = exact?;

    let trace: f64 = (0..c).map(|i| W[(i, i)]).sum();
    let kept = map.eigenvalues();
    let missing = trace - kept.iter().sum::<f64>();
    let least = trace - exact.iter().take(kept.len()).sum::<f64>();
    let full_seconds = gram_seconds + full_seconds;
    session.push(
        Record {
            stage: "eigen",
            shape: format!("c={c},k={k},p={p}"),
            dtype: "f64",
            seconds: *seconds,
            gflop: flops::landmark_eigen(c, p, k),
            ratio: None,
            extra: Vec::new(),
        }
        .with("full_seconds", Value::Number(full_seconds))
        .with("speedup", Value::Number(full_seconds / seconds))
        .with("rank", Value::Count(kept.len() as u64))
        .with("trace_error", Value::Number(missing / trace))
        .with("trace_error_excess", Value::Number(missing / least - 1.0))
        .with("data", Value::Text(data.into())),
    );
    Ok(())
}

/// All eigenvalues, descending; eigenvectors are computed too.
fn full_solve(W: MatRef<'_, f64>) -> Result<Vec<f64>, RooflineError> {
    let c = W.nrows();
    let (par, yes) = (Par::Seq, ComputeEigenvectors::Yes);
    let scratch = self_adjoint_evd_scratch::<f64>(c, yes, par, Default::default());
    let mut values = faer::diag::Diag::<f64>::zeros(c);
    let mut vectors = Mat::<f64>::zeros(c, c);
    self_adjoint_evd(
        W,
        values.as_mut(),
        Some(vectors.as_mut()),
        par,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|error| RooflineError::FullSolve { problem: format!("{error:?}") })?;
    Ok(values.column_vector().iter().rev().copied().collect())
}
