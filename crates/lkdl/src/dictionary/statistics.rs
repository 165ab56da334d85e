//! What a dictionary update needs to know of the samples: sums over their codes, which add across
//! blocks and machines.
//!
//! ```math
//! A=\Gamma\Gamma^T,\qquad B=X\Gamma^T,\qquad \sum\|x\|^2,\qquad \sum\|x-D\gamma\|^2
//! ```
//!
//! with how often each atom is used and the few samples that are represented worst, which replace
//! atoms that nobody uses. MOD's update D = BA⁻¹ and its error follow from them without the samples,
//! so a pass over data that no memory holds is one MOD iteration ([`ModParams::learn_source`](super::ModParams::learn_source)). Cost
//! per sample: its code, q² + 2kq flops; memory m² + km per node of the tree of blocks.

use super::incremental::pad_rows;
use super::optimal_directions::{code_products, refit, sample_products, solve_for_atoms};
use super::{check_counts, set_atom};
use crate::blocks::{Add, BlockSums};
use crate::error::LkdlError;
use crate::linalg::par_product;
use crate::matrix::{Contiguous, check_size, col};
use crate::pursuit::{BatchOmp, Target};
use crate::real::Real;
use crate::state::{Saved, Saving, unfit};
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

    /// Goes on with `dictionary`, which is that of before with rows of zeros below: samples that
    /// were coded had nothing there.
    pub(super) fn grow(&mut self, dictionary: MatRef<'_, T>) -> Result<(), LkdlError> {
        self.coder = BatchOmp::new(dictionary)?;
        self.sums.sums_mut().for_each(|sums| sums.pad(dictionary.nrows()));
        Ok(())
    }

    /// The sums over all samples.
    pub fn finish(mut self) -> Result<DictionarySums<T>, LkdlError> {
        self.take()
    }

    /// The sums over all samples, which leaves none.
    pub(super) fn take(&mut self) -> Result<DictionarySums<T>, LkdlError> {
        let nothing =
            LkdlError::Empty { what: "samples", rows: self.coder.atoms().nrows(), cols: 0 };
        std::mem::take(&mut self.sums).finish()?.ok_or(nothing)
    }
}

/// Levels of a tree of blocks that no source fills.
const MAX_LEVEL: usize = 48;

impl<T: Real> DictionaryStatistics<T> {
    /// Lends the sums so far, under names that begin with `at`; the dictionary is the caller's.
    pub(super) fn save<'a>(&'a self, at: &str, to: &mut Saving<'a, T>) {
        to.counts(at, "nodes", [self.sums.nodes().len()]);
        for (node, (first, level, sums)) in self.sums.nodes().enumerate() {
            sums.save(&format!("{at}.{node}"), first, level, to);
        }
    }

    /// Takes back the sums that were saved.
    pub(super) fn restore(&mut self, at: &str, from: &mut Saved<T>) -> Result<(), LkdlError> {
        let [n_nodes] = from.counts(at, "nodes")?;
        let shape = (self.coder.atoms().nrows(), self.coder.n_atoms());
        let nodes = (0..n_nodes)
            .map(|node| DictionarySums::restore(&format!("{at}.{node}"), shape, self.n_worst, from))
            .collect::<Result<Vec<_>, _>>()?;
        self.sums = BlockSums::from_nodes(nodes)?;
        Ok(())
    }
}

impl<T: Real> DictionarySums<T> {
    /// The same samples with more features, all zero.
    fn pad(&mut self, n_features: usize) {
        pad_rows(&mut self.sample_products, n_features);
        self.worst.iter_mut().for_each(|worst| worst.sample.resize(n_features, T::of(0.0)));
    }

    fn save<'a>(&'a self, at: &str, first: usize, level: u32, to: &mut Saving<'a, T>) {
        to.counts(at, "n", [first, level as usize, self.n_samples, self.n_zero]);
        to.wide(at, "A", &self.code_products);
        to.wide(at, "B", &self.sample_products);
        to.numbers(at, "squares", [self.sq_norm, self.sq_error]);
        to.counts(at, "uses", self.uses.iter().copied());
        to.numbers(at, "worst_errors", self.worst.iter().map(|worst| worst.sq_error));
        to.counts(at, "worst_places", self.worst.iter().flat_map(|w| [w.block, w.column]));
        let worst = self.worst.iter().map(|worst| worst.sample.as_slice());
        to.columns(at, "worst", self.sample_products.nrows(), worst);
    }

    fn restore(
        at: &str,
        (k, m): (usize, usize),
        n_worst: usize,
        from: &mut Saved<T>,
    ) -> Result<(usize, u32, Self), LkdlError> {
        let [first, level, n_samples, n_zero] = from.counts(at, "n")?;
        let (code_products, sample_products) = (from.wide(at, "A")?, from.wide(at, "B")?);
        let (uses, worst) = (from.list(at, "uses")?, from.matrix(at, "worst")?);
        let (errors, places) = (from.numbers(at, "worst_errors")?, from.list(at, "worst_places")?);
        let &[sq_norm, sq_error] = from.numbers(at, "squares")?.as_slice() else {
            return Err(unfit(at, "squares", "has another length"));
        };
        let (places, rest) = places.as_chunks::<2>();
        let shapes = [
            (code_products.nrows(), code_products.ncols()) == (m, m),
            (sample_products.nrows(), sample_products.ncols()) == (k, m),
            uses.len() == m && worst.nrows() == k,
            errors.len() == worst.ncols() && places.len() == worst.ncols() && rest.is_empty(),
            level < MAX_LEVEL && worst.ncols() <= n_worst,
        ];
        if shapes.contains(&false) {
            return Err(unfit(at, "A", "and its neighbours do not fit together"));
        }
        let places = errors.iter().zip(places).enumerate();
        let worst = places.map(|(i, (&sq_error, &[block, column]))| WorstSample {
            sq_error,
            block,
            column,
            sample: worst.col_as_slice(i).to_vec(),
        });
        let worst = worst.collect();
        let sums = Self {
            n_samples,
            n_zero,
            code_products,
            sample_products,
            sq_norm,
            sq_error,
            uses,
            worst,
            n_worst,
        };
        Ok((first, level as u32, sums))
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
