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
//! per sample: its code, q² + 2kq flops; memory m² + km for each sum that is held, two of them where
//! the number of blocks is known.

use super::incremental::pad_rows;
use super::optimal_directions::{
    add_codes_of, add_samples_of, for_each_atom, refit, solve_for_atoms,
};
use super::{check_counts, set_atom};
use crate::blocks::{Add, BlockSums, Order};
use crate::error::LkdlError;
use crate::linalg::par_product;
use crate::matrix::{Columns, Contiguous, check_size, col};
use crate::pursuit::{BatchOmp, Encoded, Target};
use crate::real::Real;
use crate::state::{Saved, Saving, unfit};
use crate::vector::{norm_sq, zip_in_place};
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

/// Adds to every column what `of_block` sums up for it, column by column: the sums over a block need
/// no matrix of their own.
fn add_sums(sum: &mut Mat<f64>, of_block: impl Fn(usize, &mut [f64]) + Sync) {
    for_each_atom(sum, |j, column| {
        let mut more = vec![0.0; column.len()];
        of_block(j, &mut more);
        zip_in_place(column, &more, |sum, more| sum + more);
    });
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
    /// the `n_worst` worst represented kept, and blocks added in this order.
    pub fn new(
        dictionary: MatRef<'_, T>,
        sparsity: usize,
        n_worst: usize,
        order: Order,
    ) -> Result<Self, LkdlError> {
        check_counts(dictionary.ncols(), sparsity, 1, 0.0)?;
        let coder = BatchOmp::new(dictionary)?;
        Ok(Self { coder, sparsity, n_worst, sums: BlockSums::new(order) })
    }

    /// The order that blocks are added in.
    pub fn order(&self) -> Order {
        self.sums.order()
    }

    /// Codes the samples of block number `block`. One without samples counts as a block: a class
    /// need not be in every one.
    pub fn add_block(&mut self, block: usize, samples: MatRef<'_, T>) -> Result<(), LkdlError> {
        let (k, m) = (self.coder.atoms().nrows(), self.coder.n_atoms());
        let encoded = self.encode(samples).map_err(|error| error.in_block(block))?;
        let X = Contiguous::new(samples);
        let n_worst = self.n_worst;
        self.sums.fold_block(
            block,
            || DictionarySums::zeros(k, m, n_worst),
            |sums| {
                if let Some(encoded) = &encoded {
                    sums.add_coded(block, X.columns(), encoded);
                }
            },
        )
    }

    /// The codes of samples, if there are any.
    fn encode(&self, samples: MatRef<'_, T>) -> Result<Option<Encoded<T>>, LkdlError> {
        check_size("samples' n_features", samples.nrows(), self.coder.atoms().nrows())?;
        if samples.ncols() == 0 {
            return Ok(None);
        }
        self.coder.encode(samples, Target::Sparsity(self.sparsity)).map(Some)
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
        let empty = BlockSums::new(self.order());
        std::mem::replace(&mut self.sums, empty).finish()?.ok_or(nothing)
    }
}

impl<T: Real> DictionaryStatistics<T> {
    /// Lends the sums so far, under names that begin with `at`; the dictionary is the caller's.
    pub(super) fn save<'a>(&'a self, at: &str, to: &mut Saving<'a, T>) {
        to.counts(at, "parts", [self.sums.parts().len()]);
        for (part, (place, sums)) in self.sums.parts().enumerate() {
            sums.save(&format!("{at}.{part}"), place, to);
        }
    }

    /// Takes back the sums that were saved.
    pub(super) fn restore(&mut self, at: &str, from: &mut Saved<T>) -> Result<(), LkdlError> {
        let [n_parts] = from.counts(at, "parts")?;
        let shape = (self.coder.atoms().nrows(), self.coder.n_atoms());
        for part in 0..n_parts {
            let at = format!("{at}.{part}");
            let (place, sums) = DictionarySums::restore(&at, shape, self.n_worst, from)?;
            self.sums.put_back(place, sums)?;
        }
        Ok(())
    }
}

impl<T: Real> DictionarySums<T> {
    /// Sums over no samples of k features, of m atoms.
    fn zeros(k: usize, m: usize, n_worst: usize) -> Self {
        Self {
            n_samples: 0,
            n_zero: 0,
            code_products: Mat::zeros(m, m),
            sample_products: Mat::zeros(k, m),
            sq_norm: 0.0,
            sq_error: 0.0,
            uses: vec![0; m],
            worst: Vec::new(),
            n_worst,
        }
    }

    /// Adds the coded samples of a block, the same bits as adding the sums over them.
    fn add_coded(&mut self, block: usize, X: Columns<'_, T>, encoded: &Encoded<T>) {
        let (codes, users) = (&encoded.codes, encoded.codes.users());
        add_sums(&mut self.code_products, |j, a| add_codes_of(a, 1.0, &users[j], codes));
        add_sums(&mut self.sample_products, |j, b| add_samples_of(b, 1.0, X, &users[j], codes));
        self.uses.iter_mut().zip(&users).for_each(|(uses, users)| *uses += users.len());
        self.n_samples += X.ncols();
        let mut worst = Vec::new();
        let (mut sq_norms, mut sq_errors) = (0.0, 0.0);
        for (column, &sq_error) in encoded.sq_residuals.iter().enumerate() {
            let sq_norm = norm_sq(col(X, column));
            sq_norms += sq_norm;
            sq_errors += sq_error;
            if sq_norm == 0.0 {
                self.n_zero += 1;
            } else {
                let sample = Vec::new(); // filled in for those that stay
                worst.push(WorstSample { sq_error, block, column, sample });
            }
        }
        self.sq_norm += sq_norms;
        self.sq_error += sq_errors;
        self.worst.extend(worst);
        keep_worst(&mut self.worst, self.n_worst);
        let new = self.worst.iter_mut().filter(|worst| worst.sample.is_empty());
        new.for_each(|worst| worst.sample = col(X, worst.column).to_vec());
    }

    /// The same samples with more features, all zero.
    fn pad(&mut self, n_features: usize) {
        pad_rows(&mut self.sample_products, n_features);
        self.worst.iter_mut().for_each(|worst| worst.sample.resize(n_features, T::of(0.0)));
    }

    fn save<'a>(&'a self, at: &str, place: [usize; 3], to: &mut Saving<'a, T>) {
        to.counts(at, "place", place);
        to.counts(at, "n", [self.n_samples, self.n_zero]);
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
    ) -> Result<([usize; 3], Self), LkdlError> {
        let (place, [n_samples, n_zero]) = (from.counts(at, "place")?, from.counts(at, "n")?);
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
            worst.ncols() <= n_worst,
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
        Ok((place, sums))
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
