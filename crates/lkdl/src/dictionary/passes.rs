//! MOD on samples that no memory holds: every pass over them is one iteration, and between passes
//! the dictionary and two sums are all that is kept.

use super::incremental::{check_growth, pad_rows};
use super::optimal_directions::ModParams;
use super::statistics::DictionaryStatistics;
use super::{Learned, Stop, check_problem};
use crate::blocks::{Order, Source, for_each_block};
use crate::error::{LkdlError, Warning};
use crate::matrix::{Contiguous, check_samples, matrix_bytes};
use crate::monitor::Monitor;
use crate::real::Real;
use crate::state::{Saved, Saving};
use faer::{Mat, MatRef};

/// MOD while it is fed.
#[derive(Debug, Clone)]
pub struct MultiPassMod<T: Real> {
    dictionary: Mat<T>,
    sparsity: usize,
    statistics: DictionaryStatistics<T>,
    errors: Vec<f64>,
    n_replaced: usize,
    warnings: Vec<Warning>,
}

impl<T: Real> ModParams<T> {
    /// A learner to be fed with blocks, whose sums are added in this order; starting atoms are drawn
    /// from `pilot`, which it does not learn from.
    pub fn start(
        &self,
        pilot: MatRef<'_, T>,
        stream: usize,
        order: Order,
    ) -> Result<MultiPassMod<T>, LkdlError> {
        check_problem(pilot, self.n_atoms, self.sparsity, self.max_iters, self.tol)?;
        let X = Contiguous::new(pilot);
        let (dictionary, warnings) =
            self.initial.draw(X.columns(), self.n_atoms, self.seed, stream)?;
        Ok(MultiPassMod {
            statistics: statistics(&dictionary, self.sparsity, order)?,
            sparsity: self.sparsity,
            dictionary,
            errors: Vec::new(),
            n_replaced: 0,
            warnings,
        })
    }

    /// The learner that was saved under `at` while it was fed with the same parameters.
    pub(super) fn resume(
        &self,
        at: &str,
        order: Order,
        from: &mut Saved<T>,
    ) -> Result<MultiPassMod<T>, LkdlError> {
        let dictionary = from.matrix(at, "D")?;
        let mut statistics = statistics(&dictionary, self.sparsity, order)?;
        statistics.restore(at, from)?;
        let [n_replaced] = from.counts(at, "n")?;
        let (errors, warnings) = (from.numbers(at, "errors")?, from.warnings(at)?);
        let sparsity = self.sparsity;
        Ok(MultiPassMod { dictionary, sparsity, statistics, errors, n_replaced, warnings })
    }

    /// [`Learner::learn_monitored`](super::Learner::learn_monitored) on samples that come in blocks:
    /// one pass over `source` per iteration, and memory that grows with the logarithm of its blocks
    /// alone, because nobody has counted them. Starting atoms are drawn from the first block.
    pub fn learn_source(
        &self,
        source: &mut dyn Source<T>,
        stream: usize,
        monitor: &dyn Monitor,
    ) -> Result<Learned<T>, LkdlError> {
        source.rewind()?;
        let Some(first) = source.next_block()? else {
            return Err(LkdlError::Empty { what: "samples", rows: 0, cols: 0 });
        };
        let order = Order::default();
        let mut learner =
            self.start(first.samples.as_ref(), stream, order).map_err(|error| error.in_block(0))?;
        drop(first);
        let stop = loop {
            source.rewind()?;
            let mut block = 0;
            for_each_block(source, |next| {
                check_samples(next.samples.as_ref(), "samples")
                    .map_err(|error| error.in_block(block))?;
                learner.add_block(block, next.samples.as_ref())?;
                block += 1;
                Ok(())
            })?;
            learner.end_pass()?;
            monitor.advance(1);
            if let Some(stop) = Stop::reached(&learner.errors, self.tol, self.max_iters) {
                break stop;
            }
            monitor.check()?;
        };
        Ok(Learned { stop, ..learner.finish() })
    }

    /// Bytes of the learner while it is fed with samples of so many features in so many blocks:
    /// D, its Gram matrix, the sums that are held, and what an update copies of them.
    pub(super) fn feeding_bytes(&self, n_features: usize, n_blocks: usize) -> u64 {
        let m = self.n_atoms;
        let sums = matrix_bytes::<f64>(m, m) + matrix_bytes::<f64>(n_features, m);
        let node = sums + matrix_bytes::<T>(n_features, m);
        // an update, which copies sums, comes when all that are held have become one
        let n_held = Order::of(n_blocks).n_held(n_blocks) as u64;
        (n_held * node).max(node + 2 * sums) + 3 * matrix_bytes::<T>(n_features.max(m), m)
    }
}

fn statistics<T: Real>(
    dictionary: &Mat<T>,
    sparsity: usize,
    order: Order,
) -> Result<DictionaryStatistics<T>, LkdlError> {
    let m = dictionary.ncols();
    DictionaryStatistics::new(dictionary.as_ref(), sparsity.min(m), m, order)
}

impl<T: Real> MultiPassMod<T> {
    /// The samples of block number `block`, from 0 in every pass; there may be none.
    pub fn add_block(&mut self, block: usize, samples: MatRef<'_, T>) -> Result<(), LkdlError> {
        self.statistics.add_block(block, samples)
    }

    /// Samples will have more features from now on, as virtual samples do whose map has grown:
    /// atoms, and the sums of the pass so far, are padded with zeros.
    pub fn grow(&mut self, n_features: usize) -> Result<(), LkdlError> {
        check_growth(self.dictionary.nrows(), n_features)?;
        pad_rows(&mut self.dictionary, n_features);
        self.statistics.grow(self.dictionary.as_ref())
    }

    /// All samples have been seen once more: updates the dictionary and returns the relative error
    /// it leaves.
    pub fn end_pass(&mut self) -> Result<f64, LkdlError> {
        let sums = self.statistics.take()?;
        if self.errors.is_empty() && sums.n_zero > 0 {
            self.warnings.push(Warning::ZeroSamples { count: sums.n_zero });
        }
        let updated = sums.update(&mut self.dictionary)?;
        let order = self.statistics.order();
        self.statistics = statistics(&self.dictionary, self.sparsity, order)?;
        self.errors.push(updated.error);
        self.n_replaced += updated.n_replaced;
        Ok(updated.error)
    }

    /// D as it is now.
    pub fn dictionary(&self) -> MatRef<'_, T> {
        self.dictionary.as_ref()
    }

    /// ‖X − DΓ‖_F/‖X‖_F after every pass so far.
    pub fn errors(&self) -> &[f64] {
        &self.errors
    }

    /// The dictionary after the last pass.
    pub fn finish(self) -> Learned<T> {
        let Self { dictionary, errors, n_replaced, warnings, .. } = self;
        Learned { dictionary, errors, stop: Stop::MaxIters, n_replaced, warnings }
    }

    /// Lends all that the learner remembers, under names that begin with `at`.
    pub fn save<'a>(&'a self, at: &str, to: &mut Saving<'a, T>) {
        to.matrix(at, "D", &self.dictionary);
        self.statistics.save(at, to);
        to.counts(at, "n", [self.n_replaced]);
        to.numbers(at, "errors", self.errors.iter().copied());
        to.warnings(at, &self.warnings);
    }
}
