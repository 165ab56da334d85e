//! What a dictionary update needs to know of the samples: sums over their codes, which add across
//! blocks and machines.
//!
//! ```math
//! A=\Gamma\Gamma^T,\qquad B=X\Gamma^T,\qquad \sum\|x\|^2,\qquad \sum\|x-D\gamma\|^2
//! ```
//!
//! with how often each atom is used and the few samples that are represented worst, which replace
//! atoms that nobody uses. MOD's update D = BA⁻¹ and its error follow from them without the samples,
//! so a pass over data that no memory holds is one MOD iteration ([`ModParams::learn_source`]). Cost
//! per sample: its code, q² + 2kq flops; memory m² + km per node of the tree of blocks.

use super::optimal_directions::{
    ModParams, code_products, refit, sample_products, solve_for_atoms,
};
use super::{Learned, Stop, check_counts, check_problem, set_atom};
use crate::blocks::{Add, BlockSums, Source};
use crate::error::{LkdlError, Warning};
use crate::linalg::par_product;
use crate::matrix::{Contiguous, check_samples, check_size, col};
use crate::monitor::Monitor;
use crate::pursuit::{BatchOmp, Target};
use crate::real::Real;
use crate::vector::norm_sq;
use faer::{Mat, MatRef};

/// A sample that its code represents badly.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstSample<T: Real> {
    /// ‖x − Dγ‖².
    pub sq_error: f64,
    /// The block it is in.
    pub block: usize,
    /// Its column there.
    pub column: usize,
    /// x.
    pub sample: Vec<T>,
}

/// Sums over coded samples.
#[derive(Debug, Clone, PartialEq)]
pub struct DictionarySums<T: Real> {
    /// N.
    pub n_samples: usize,
    /// Samples of zero norm among them.
    pub n_zero: usize,
    /// A = ΓΓᵀ, m×m.
    pub code_products: Mat<f64>,
    /// B = XΓᵀ, k×m.
    pub sample_products: Mat<f64>,
    /// Σ‖x‖².
    pub sq_norm: f64,
    /// Σ‖x − Dγ‖².
    pub sq_error: f64,
    /// How many samples use each atom.
    pub uses: Vec<usize>,
    /// The worst represented samples, the worst first; of equals the one that came first.
    pub worst: Vec<WorstSample<T>>,
    /// How many of them are kept.
    pub n_worst: usize,
}

impl<T: Real> Add for DictionarySums<T> {
    fn add(&mut self, later: Self) {
        self.n_samples += later.n_samples;
        self.n_zero += later.n_zero;
        self.code_products += later.code_products;
        self.sample_products += later.sample_products;
        self.sq_norm += later.sq_norm;
        self.sq_error += later.sq_error;
        self.uses.iter_mut().zip(later.uses).for_each(|(uses, more)| *uses += more);
        self.worst.extend(later.worst);
        keep_worst(&mut self.worst, self.n_worst);
    }
}

fn keep_worst<T: Real>(worst: &mut Vec<WorstSample<T>>, count: usize) {
    let place = |w: &WorstSample<T>| (w.block, w.column);
    worst.sort_by(|a, b| b.sq_error.total_cmp(&a.sq_error).then(place(a).cmp(&place(b))));
    worst.truncate(count);
}

/// [`DictionarySums`] of one dictionary while blocks come in.
#[derive(Debug, Clone)]
pub struct DictionaryStatistics<T: Real> {
    coder: BatchOmp<T>,
    sparsity: usize,
    n_worst: usize,
    sums: BlockSums<DictionarySums<T>>,
}

impl<T: Real> DictionaryStatistics<T> {
    /// Sums over no samples yet: they will be coded by at most `sparsity` columns of `dictionary`,
    /// and the `n_worst` worst represented kept.
    pub fn new(
        dictionary: MatRef<'_, T>,
        sparsity: usize,
        n_worst: usize,
    ) -> Result<Self, LkdlError> {
        check_counts(dictionary.ncols(), sparsity, 1, 0.0)?;
        let coder = BatchOmp::new(dictionary)?;
        Ok(Self { coder, sparsity, n_worst, sums: BlockSums::default() })
    }

    /// Codes the samples of block number `block`. One without samples counts as a block: a class
    /// need not be in every one.
    pub fn add_block(&mut self, block: usize, samples: MatRef<'_, T>) -> Result<(), LkdlError> {
        let sums = self.sums_of(block, samples).map_err(|error| error.in_block(block))?;
        self.sums.add_block(block, sums)
    }

    fn sums_of(
        &self,
        block: usize,
        samples: MatRef<'_, T>,
    ) -> Result<DictionarySums<T>, LkdlError> {
        let (k, m) = (self.coder.atoms().nrows(), self.coder.n_atoms());
        check_size("samples' n_features", samples.nrows(), k)?;
        let mut sums = DictionarySums {
            n_samples: samples.ncols(),
            n_zero: 0,
            code_products: Mat::zeros(m, m),
            sample_products: Mat::zeros(k, m),
            sq_norm: 0.0,
            sq_error: 0.0,
            uses: vec![0; m],
            worst: Vec::new(),
            n_worst: self.n_worst,
        };
        if samples.ncols() == 0 {
            return Ok(sums);
        }
        let encoded = self.coder.encode(samples, Target::Sparsity(self.sparsity))?;
        let X = Contiguous::new(samples);
        let X = X.columns();
        sums.code_products = code_products(&encoded.codes);
        sums.sample_products = sample_products(X, &encoded.codes);
        sums.uses = encoded.codes.users().iter().map(Vec::len).collect();
        for (column, &sq_error) in encoded.sq_residuals.iter().enumerate() {
            let sq_norm = norm_sq(col(X, column));
            sums.sq_norm += sq_norm;
            sums.sq_error += sq_error;
            if sq_norm == 0.0 {
                sums.n_zero += 1;
            } else {
                let sample = Vec::new(); // filled in for those that stay
                sums.worst.push(WorstSample { sq_error, block, column, sample });
            }
        }
        keep_worst(&mut sums.worst, self.n_worst);
        for worst in &mut sums.worst {
            worst.sample = col(X, worst.column).to_vec();
        }
        Ok(sums)
    }

    /// The blocks of another shard, coded over the same dictionary.
    pub fn merge(&mut self, other: Self) -> Result<(), LkdlError> {
        if self.coder.atoms() != other.coder.atoms() || self.sparsity != other.sparsity {
            return Err(LkdlError::Unsupported {
                what: "merging dictionary statistics",
                problem: "needs the same dictionary and sparsity on both sides",
                fix: "hand every shard the dictionary of the last update",
            });
        }
        self.sums.merge(other.sums)
    }

    /// The sums over all samples.
    pub fn finish(self) -> Result<DictionarySums<T>, LkdlError> {
        let nothing =
            LkdlError::Empty { what: "samples", rows: self.coder.atoms().nrows(), cols: 0 };
        self.sums.finish()?.ok_or(nothing)
    }
}

/// What an update from sums did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Updated {
    /// ‖X − DΓ‖_F/‖X‖_F with the new dictionary and the codes fitted to it.
    pub error: f64,
    /// Atoms that nobody used and that are samples now.
    pub n_replaced: usize,
}

impl<T: Real> DictionarySums<T> {
    /// MOD's update of the dictionary that the samples were coded over: D = B(A + δI)⁻¹, unit
    /// columns; atoms without users become the worst represented samples.
    pub fn update(&self, dictionary: &mut Mat<T>) -> Result<Updated, LkdlError> {
        check_size("dictionary's n_features", dictionary.nrows(), self.sample_products.nrows())?;
        check_size("dictionary's n_atoms", dictionary.ncols(), self.uses.len())?;
        if self.sq_norm == 0.0 {
            return Err(LkdlError::AllZero { what: "samples" });
        }
        let (A, B) = (&self.code_products, &self.sample_products);
        let fresh = solve_for_atoms(A.clone(), B.clone())?;
        let norms = refit(dictionary, &fresh, |j| self.uses[j] > 0);
        let mut worst = self.worst.iter();
        let mut n_replaced = 0;
        for j in (0..norms.len()).filter(|&j| norms[j] == 0.0) {
            let Some(next) = worst.next() else { break };
            set_atom(dictionary, j, &next.sample);
            n_replaced += 1;
        }
        let error = (self.sq_residual(&fresh).max(0.0) / self.sq_norm).sqrt();
        Ok(Updated { error, n_replaced })
    }

    /// ‖X − DΓ‖_F² = Σ‖x‖² − 2tr(DᵀB) + tr(DᵀDA) for any D.
    fn sq_residual(&self, D: &Mat<f64>) -> f64 {
        let DA = par_product(D.as_ref(), self.code_products.as_ref());
        let B = &self.sample_products;
        let terms = (0..D.ncols()).map(|j| {
            let columns = D.col_as_slice(j).iter().zip(DA.col_as_slice(j)).zip(B.col_as_slice(j));
            columns.map(|((d, da), b)| d * (da - 2.0 * b)).sum::<f64>()
        });
        self.sq_norm + terms.sum::<f64>()
    }
}

impl<T: Real> ModParams<T> {
    /// [`Learner::learn_monitored`](super::Learner::learn_monitored) on samples that come in blocks:
    /// one pass over `source` per iteration, memory that does not grow with it. Starting atoms are
    /// drawn from the first block.
    pub fn learn_source(
        &self,
        source: &mut dyn Source<T>,
        stream: usize,
        monitor: &dyn Monitor,
    ) -> Result<Learned<T>, LkdlError> {
        let (mut dictionary, mut warnings) = self.start(source, stream)?;
        let (mut errors, mut n_replaced) = (Vec::new(), 0);
        let stop = loop {
            let sums = self.pass(source, &dictionary)?;
            if errors.is_empty() && sums.n_zero > 0 {
                warnings.push(Warning::ZeroSamples { count: sums.n_zero });
            }
            let updated = sums.update(&mut dictionary)?;
            errors.push(updated.error);
            n_replaced += updated.n_replaced;
            monitor.advance(1);
            if let Some(stop) = Stop::reached(&errors, self.tol, self.max_iters) {
                break stop;
            }
            monitor.check()?;
        };
        Ok(Learned { dictionary, errors, stop, n_replaced, warnings })
    }

    fn start(
        &self,
        source: &mut dyn Source<T>,
        stream: usize,
    ) -> Result<(Mat<T>, Vec<Warning>), LkdlError> {
        source.rewind()?;
        let Some(first) = source.next_block()? else {
            return Err(LkdlError::Empty { what: "samples", rows: 0, cols: 0 });
        };
        let X = first.samples.as_ref();
        check_problem(X, self.n_atoms, self.sparsity, self.max_iters, self.tol)
            .map_err(|error| error.in_block(0))?;
        self.initial.draw(Contiguous::new(X).columns(), self.n_atoms, self.seed, stream)
    }

    fn pass(
        &self,
        source: &mut dyn Source<T>,
        dictionary: &Mat<T>,
    ) -> Result<DictionarySums<T>, LkdlError> {
        source.rewind()?;
        let n_worst = self.n_atoms;
        let mut statistics = DictionaryStatistics::new(
            dictionary.as_ref(),
            self.sparsity.min(dictionary.ncols()),
            n_worst,
        )?;
        let mut block = 0;
        while let Some(next) = source.next_block()? {
            check_samples(next.samples.as_ref(), "samples")
                .map_err(|error| error.in_block(block))?;
            statistics.add_block(block, next.samples.as_ref())?;
            block += 1;
        }
        statistics.finish()
    }
}
