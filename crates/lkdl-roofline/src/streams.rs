//! Fits from blocks: one sweep over MNIST enlarged ninefold, held against the bare products of its
//! map. A sweep reads, prepares, maps, codes and sums every sample, and updates the dictionaries; if
//! all but the two products of the map were free, its ratio would be 1.

use crate::data::{real, unit_columns};
use crate::measure::{ChainedProduct, bare, time};
use crate::record::{Record, Value};
use crate::{RooflineError, Session, flops};
use lkdl::monitor::Silent;
use lkdl::prelude::*;
use lkdl::stream::{DriftParams, KeepNothing, StreamParams, SurveyParams};
use lkdl_data::{BlockSource, Dataset, NamedSet, Table};

const N_LANDMARKS: usize = 2048;
const RANK: usize = 784;
const N_ATOMS: usize = 700;
const SPARSITY: usize = 11;
const BLOCK: usize = 8192;
/// As `lkdl fit --stream` chooses it: as many as atoms.
const BATCH: usize = N_ATOMS;

/// One pass of every learner over the shifted images; a few of them if it shall be quick.
pub fn stream(session: &mut Session<'_>) -> Result<(), RooflineError> {
    let Some(set) = real(session, NamedSet::Mnist) else { return Ok(()) };
    let images = if session.quick { first(&set.train, 4000)? } else { set.train };
    let (p, n) = (images.samples.nrows(), lkdl_data::SHIFTS * images.n_samples());
    let product = bare_product(session, p) * n as f64 / BLOCK as f64;
    for (name, learner) in learners() {
        let seconds = sweep(&images, learner)?;
        let record = Record {
            stage: "stream",
            shape: format!("{name},N={n},p={p},c={N_LANDMARKS},k={RANK},m={N_ATOMS},q={SPARSITY}"),
            dtype: "f32",
            seconds,
            gflop: flops::map(n, N_LANDMARKS, p, RANK)
                + flops::batch_omp(RANK, N_ATOMS, n, SPARSITY),
            ratio: Some(seconds / product),
            extra: Vec::new(),
        };
        session.push(record.with("samples_per_second", Value::Number(n as f64 / seconds)));
    }
    Ok(())
}

fn learners() -> [(&'static str, StreamLearner<f32>); 3] {
    let (n_atoms, sparsity, batch_size, max_iters) = (N_ATOMS, SPARSITY, BATCH, 1);
    let coding = OnlineCoding::Omp { sparsity };
    let by_sums = ModParams { n_atoms, sparsity, max_iters, ..Default::default() };
    let online = OnlineParams { n_atoms, coding, batch_size, max_iters, ..Default::default() };
    let rls = RlsParams { n_atoms, sparsity, batch_size, max_iters, ..Default::default() };
    [
        ("mod", StreamLearner::Mod(by_sums)),
        ("online", StreamLearner::Online(online)),
        ("rls", StreamLearner::Rls(rls)),
    ]
}

fn first(images: &Dataset, count: usize) -> Result<Dataset, LkdlError> {
    images.subset(&(0..count.min(images.n_samples())).collect::<Vec<_>>()).map_err(source_error)
}

fn source_error(error: lkdl_data::DataError) -> LkdlError {
    LkdlError::Source { message: error.to_string() }
}

/// The seconds of the two products of one block.
fn bare_product(session: &mut Session<'_>, p: usize) -> f64 {
    let (X, Y) = (unit_columns::<f32>(p, BLOCK, 1), unit_columns::<f32>(p, N_LANDMARKS, 2));
    let P = unit_columns::<f32>(N_LANDMARKS, RANK, 3);
    let mut products = ChainedProduct::new(Y.as_ref(), P.as_ref(), X.as_ref());
    bare(session, |width| products.run(width))
}

/// The seconds of the passes alone: survey and start do not grow with the samples, or are cheap.
fn sweep(images: &Dataset, learner: StreamLearner<f32>) -> Result<f64, LkdlError> {
    let table = Table::from(images.clone());
    let mut source = BlockSource::<f32>::shifted(table, 0, BLOCK).map_err(source_error)?;
    source.settle_as(&images.class_names);
    let params = StreamParams {
        prepare: "center,l2".parse()?,
        map: MapParams::Nystroem(NystroemParams {
            kernel: Kernel::Polynomial { degree: 2.0, offset: 0.0 },
            sampler: Sampler::Uniform,
            n_landmarks: LandmarkCount::Exact(N_LANDMARKS),
            rank: Rank::Exact(RANK),
            ..Default::default()
        }),
        method: ClassDictionariesParams { learner, sparsity: SPARSITY },
        memory: None,
        drift: DriftParams::default(),
    };
    let pilot = SurveyParams::default().survey(&mut source, &Silent)?;
    let whole = params.gather(&pilot, &mut source, &Silent)?;
    let mut fit = params.start(pilot, whole, &Silent)?;
    let (seconds, done) = time(|| fit.run_passes(&mut source, &mut KeepNothing, &Silent));
    done?;
    Ok(seconds)
}
