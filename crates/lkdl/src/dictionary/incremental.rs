//! Learners that are fed: the dictionary moves after every mini-batch, and no sample is kept.
//!
//! Samples come in blocks of any size; batches are always the next b of them, so the result depends
//! on the samples and their order, not on where blocks were cut. What a learner remembers of the
//! past are two sums that fade,
//!
//! ```math
//! A\leftarrow\beta A+\Gamma\Gamma^T,\qquad B\leftarrow\beta B+X\Gamma^T
//! ```
//!
//! in `f64`: m² + km values, however many samples have been seen.

use super::optimal_directions::{add_code_products, add_sample_products};
use super::{Learned, Stop};
use crate::error::{LkdlError, Warning};
use crate::matrix::{
    Columns, Contiguous, check_samples, check_size, col, column_sq_norms, gather, matrix_bytes,
};
use crate::monitor::Monitor;
use crate::pursuit::{Codes, check_range};
use crate::random::{Stage, permutation, stream};
use crate::real::Real;
use crate::state::{Saved, Saving, unfit};
use crate::vector::{norm_sq, normalize, scale};
use faer::{Mat, MatRef};

/// A dictionary that learns from one mini-batch after the other.
pub trait BatchUpdate<T: Real> {
    /// Codes the batch over the dictionary, then moves the dictionary.
    fn update(&mut self, batch: MatRef<'_, T>) -> Result<BatchReport, LkdlError>;

    /// D as it is now.
    fn dictionary(&self) -> &Mat<T>;

    /// Samples will have so many features from now on: atoms are padded with zeros.
    fn pad(&mut self, n_features: usize);

    /// Lends all that the dictionary remembers, under names that begin with `at`.
    fn save<'a>(&'a self, at: &str, to: &mut Saving<'a, T>);
}

/// What one mini-batch did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchReport {
    /// Σ‖x − Dγ‖² with the dictionary that coded the batch.
    pub sq_error: f64,
    /// Atoms that nobody used and that are samples now.
    pub n_replaced: usize,
}

/// A learner while it is fed.
#[derive(Debug, Clone)]
pub struct Incremental<T: Real, S> {
    state: S,
    /// Samples that do not fill a batch yet: the first `n_waiting` columns.
    waiting: Mat<T>,
    n_waiting: usize,
    n_blocks: usize,
    n_zero: usize,
    sq_error: f64,
    sq_norm: f64,
    errors: Vec<f64>,
    n_replaced: usize,
    warnings: Vec<Warning>,
}

impl<T: Real, S: BatchUpdate<T>> Incremental<T, S> {
    /// `state` before its first batch; `warnings` are those of its start.
    pub(super) fn new(state: S, batch_size: usize, warnings: Vec<Warning>) -> Self {
        let waiting = Mat::zeros(state.dictionary().nrows(), batch_size);
        Self {
            state,
            waiting,
            n_waiting: 0,
            n_blocks: 0,
            n_zero: 0,
            sq_error: 0.0,
            sq_norm: 0.0,
            errors: Vec::new(),
            n_replaced: 0,
            warnings,
        }
    }

    /// The next samples, one per column. An error names the block, counted from 0, and leaves the
    /// learner as it was.
    pub fn add_block(&mut self, samples: MatRef<'_, T>) -> Result<(), LkdlError> {
        let X = Contiguous::new(samples);
        self.check(samples, X.columns()).map_err(|error| error.in_block(self.n_blocks))?;
        for i in 0..samples.ncols() {
            self.waiting.col_as_slice_mut(self.n_waiting).copy_from_slice(col(X.columns(), i));
            self.n_waiting += 1;
            if self.n_waiting == self.waiting.ncols() {
                self.learn_waiting()?;
            }
        }
        self.n_blocks += 1;
        Ok(())
    }

    fn check(&self, samples: MatRef<'_, T>, X: Columns<'_, T>) -> Result<(), LkdlError> {
        check_samples(samples, "samples")?;
        check_size("samples' n_features", samples.nrows(), self.waiting.nrows())?;
        check_range::<T>(&column_sq_norms(X))
    }

    /// Learns from the samples that wait.
    fn learn_waiting(&mut self) -> Result<(), LkdlError> {
        let batch = self.waiting.subcols(0, self.n_waiting);
        for i in 0..self.n_waiting {
            let sq_norm = norm_sq(self.waiting.col_as_slice(i));
            self.sq_norm += sq_norm;
            self.n_zero += usize::from(sq_norm == 0.0);
        }
        let report = self.state.update(batch)?;
        self.sq_error += report.sq_error;
        self.n_replaced += report.n_replaced;
        self.n_waiting = 0;
        Ok(())
    }

    /// All samples have been seen once more: learns from what is left of them and returns the
    /// relative error ‖X − DΓ‖_F/‖X‖_F of the codes since the last pass, each made before the
    /// dictionary learned from it.
    pub fn end_pass(&mut self) -> Result<f64, LkdlError> {
        if self.n_waiting > 0 {
            self.learn_waiting()?;
        }
        if self.sq_norm == 0.0 {
            return Err(LkdlError::AllZero { what: "samples" });
        }
        let error = (self.sq_error / self.sq_norm).sqrt();
        self.errors.push(error);
        if self.n_zero > 0 && self.errors.len() == 1 {
            self.warnings.push(Warning::ZeroSamples { count: self.n_zero });
        }
        (self.sq_error, self.sq_norm, self.n_zero) = (0.0, 0.0, 0);
        Ok(error)
    }

    /// D as it is now; samples that wait for their batch are not in it yet.
    pub fn dictionary(&self) -> MatRef<'_, T> {
        self.state.dictionary().as_ref()
    }

    /// Samples will have more features from now on, as virtual samples do whose map has grown:
    /// atoms, and what is known of the past, are padded with zeros.
    pub fn grow(&mut self, n_features: usize) -> Result<(), LkdlError> {
        check_growth(self.waiting.nrows(), n_features)?;
        self.state.pad(n_features);
        pad_rows(&mut self.waiting, n_features);
        Ok(())
    }

    /// The dictionary after the last batch, which may be short; atoms have unit norm.
    pub fn finish(mut self) -> Result<Learned<T>, LkdlError> {
        if self.n_waiting > 0 {
            self.learn_waiting()?;
        }
        if self.sq_norm > 0.0 || self.errors.is_empty() {
            self.end_pass()?;
        }
        let mut dictionary = self.state.dictionary().clone();
        for j in 0..dictionary.ncols() {
            normalize(dictionary.col_as_slice_mut(j));
        }
        Ok(Learned {
            dictionary,
            errors: self.errors,
            stop: Stop::MaxIters,
            n_replaced: self.n_replaced,
            warnings: self.warnings,
        })
    }
}

impl<T: Real, S: BatchUpdate<T>> Incremental<T, S> {
    /// Lends all that the learner remembers, under names that begin with `at`.
    pub fn save<'a>(&'a self, at: &str, to: &mut Saving<'a, T>) {
        self.state.save(at, to);
        to.matrix(at, "waiting", &self.waiting);
        to.counts(at, "n", [self.n_waiting, self.n_blocks, self.n_zero, self.n_replaced]);
        to.numbers(at, "squares", [self.sq_error, self.sq_norm]);
        to.numbers(at, "errors", self.errors.iter().copied());
        to.warnings(at, &self.warnings);
    }

    /// The learner that was saved, around the dictionary that was.
    pub(super) fn restore(
        state: S,
        batch_size: usize,
        at: &str,
        from: &mut Saved<T>,
    ) -> Result<Self, LkdlError> {
        let waiting = from.matrix(at, "waiting")?;
        check_size("saved batch's n_features", waiting.nrows(), state.dictionary().nrows())?;
        check_size("saved batch_size", waiting.ncols(), batch_size)?;
        let [n_waiting, n_blocks, n_zero, n_replaced] = from.counts(at, "n")?;
        let &[sq_error, sq_norm] = from.numbers(at, "squares")?.as_slice() else {
            return Err(unfit(at, "squares", "has another length"));
        };
        if n_waiting >= batch_size {
            return Err(unfit(at, "n", "holds a batch that is full"));
        }
        Ok(Self {
            state,
            waiting,
            n_waiting,
            n_blocks,
            n_zero,
            sq_error,
            sq_norm,
            errors: from.numbers(at, "errors")?,
            n_replaced,
            warnings: from.warnings(at)?,
        })
    }

    /// ‖X − DΓ‖_F/‖X‖_F of every pass so far.
    pub fn errors(&self) -> &[f64] {
        &self.errors
    }
}

/// How often samples in memory are gone through, in which order.
pub(super) struct Passes {
    pub(super) max: usize,
    pub(super) tol: f64,
    pub(super) seed: u64,
    pub(super) class: usize,
}

/// Feeds the columns of X, in a new random order every pass.
pub(super) fn learn_in_memory<T: Real, S: BatchUpdate<T>>(
    mut learner: Incremental<T, S>,
    X: Columns<'_, T>,
    passes: &Passes,
    monitor: &dyn Monitor,
) -> Result<Learned<T>, LkdlError> {
    let batch_size = learner.waiting.ncols();
    let stop = loop {
        let pass = learner.errors.len();
        let mut rng = stream(passes.seed, Stage::Batches, passes.class, pass);
        for batch in permutation(&mut rng, X.ncols()).chunks(batch_size) {
            learner.add_block(gather(X, batch).as_ref())?;
        }
        learner.end_pass()?;
        monitor.advance(1);
        if let Some(stop) = Stop::reached(&learner.errors, passes.tol, passes.max) {
            break stop;
        }
        monitor.check()?;
    };
    Ok(Learned { stop, ..learner.finish()? })
}

/// A = ΓΓᵀ and B = XΓᵀ over the past. Not the past fades, which would be a pass over both matrices
/// for every batch: what is new weighs more. Updates of the atoms use quotients of the sums alone.
#[derive(Debug, Clone)]
pub(super) struct FadingSums {
    pub(super) A: Mat<f64>,
    pub(super) B: Mat<f64>,
    /// What the next sample would weigh if nothing faded.
    weight: f64,
}

/// Weights are brought back to 1 beyond this: rarely, and long before sums of large samples overflow.
const MAX_WEIGHT: f64 = 1e6;

impl FadingSums {
    pub(super) fn zeros(n_features: usize, n_atoms: usize) -> Self {
        let (A, B) = (Mat::zeros(n_atoms, n_atoms), Mat::zeros(n_features, n_atoms));
        Self { A, B, weight: 1.0 }
    }

    /// A = s·I, B = s·D.
    pub(super) fn of_atoms<T: Real>(D: &Mat<T>, s: f64) -> Self {
        let m = D.ncols();
        let A = Mat::from_fn(m, m, |i, j| if i == j { s } else { 0.0 });
        Self { A, B: Mat::from_fn(D.nrows(), m, |t, j| s * D[(t, j)].wide()), weight: 1.0 }
    }

    /// A ← βA + ΓΓᵀ, B ← βB + XΓᵀ, up to a common factor.
    pub(super) fn add<T: Real>(&mut self, beta: f64, X: Columns<'_, T>, codes: &Codes<T>) {
        self.weight /= beta;
        if self.weight >= MAX_WEIGHT {
            // for β = 0, as at the first of all batches, nothing is left of what was before
            self.scale(1.0 / self.weight);
            self.weight = 1.0;
        }
        add_code_products(&mut self.A, self.weight, codes);
        add_sample_products(&mut self.B, self.weight, X, codes);
    }

    fn scale(&mut self, factor: f64) {
        for sum in [&mut self.A, &mut self.B] {
            (0..sum.ncols()).for_each(|j| scale(sum.col_as_slice_mut(j), factor));
        }
    }

    /// Atoms have been divided by these norms: their coefficients, past ones too, are multiplied.
    /// A ← SAS, B ← BS.
    pub(super) fn rescale(&mut self, norms: &[f64]) {
        for (j, &norm) in norms.iter().enumerate() {
            let column = self.A.col_as_slice_mut(j).iter_mut().zip(norms);
            column.for_each(|(value, other)| *value *= norm * other);
            scale(self.B.col_as_slice_mut(j), norm);
        }
    }

    /// Nothing is known of a new atom j.
    pub(super) fn forget(&mut self, j: usize) {
        self.A.col_as_slice_mut(j).fill(0.0);
        (0..self.A.ncols()).for_each(|i| self.A[(j, i)] = 0.0);
        self.B.col_as_slice_mut(j).fill(0.0);
    }

    pub(super) fn pad(&mut self, n_features: usize) {
        pad_rows(&mut self.B, n_features);
    }

    pub(super) fn save<'a, T: Real>(&'a self, at: &str, to: &mut Saving<'a, T>) {
        to.wide(at, "A", &self.A);
        to.wide(at, "B", &self.B);
        to.numbers(at, "weight", [self.weight]);
    }

    /// The sums that were saved, of a dictionary of this shape.
    pub(super) fn restore<T: Real>(
        D: &Mat<T>,
        at: &str,
        from: &mut Saved<T>,
    ) -> Result<Self, LkdlError> {
        let (A, B) = (from.wide(at, "A")?, from.wide(at, "B")?);
        check_size("saved A's rows", A.nrows(), D.ncols())?;
        check_size("saved A's columns", A.ncols(), D.ncols())?;
        check_size("saved B's rows", B.nrows(), D.nrows())?;
        check_size("saved B's columns", B.ncols(), D.ncols())?;
        match from.numbers(at, "weight")?.as_slice() {
            &[weight] if weight > 0.0 && weight < MAX_WEIGHT => Ok(Self { A, B, weight }),
            _ => Err(unfit(at, "weight", "is no weight")),
        }
    }
}

/// Features are added, never taken away.
pub(super) fn check_growth(before: usize, n_features: usize) -> Result<(), LkdlError> {
    if n_features < before {
        let least = format!("at least {before}, as many as before");
        return Err(LkdlError::parameter("n_features", n_features, least));
    }
    Ok(())
}

/// Rows of zeros below.
pub(super) fn pad_rows<T: Real>(X: &mut Mat<T>, n_rows: usize) {
    let n_cols = X.ncols();
    X.resize_with(n_rows, n_cols, |_, _| T::of(0.0));
}

/// A, B and D of an incremental learner, a batch, and the codes of it.
pub(super) fn incremental_bytes<T: Real>(
    n_features: usize,
    n_atoms: usize,
    batch_size: usize,
) -> u64 {
    let sums = matrix_bytes::<f64>(n_atoms, n_atoms) + matrix_bytes::<f64>(n_features, n_atoms);
    // old and new sums, a factor; D twice and its Gram matrix
    4 * sums
        + 2 * matrix_bytes::<T>(n_features, n_atoms)
        + 2 * matrix_bytes::<T>(n_atoms, n_atoms)
        + 2 * matrix_bytes::<T>(n_features + n_atoms, batch_size)
}
