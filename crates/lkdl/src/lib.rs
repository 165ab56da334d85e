//! Linearized kernel dictionary learning (LKDL): kernel methods for the price of linear ones.
//!
//! Learn one dictionary per class: the one that represents a new sample best, by few of its atoms,
//! tells its class. With a kernel this works where no linear dictionary separates the classes, but
//! the kernel matrix of N samples has N² entries. LKDL never forms it: a Nyström map turns every
//! sample into a short *virtual sample*, and a linear method that runs on virtual samples is a
//! kernel method.
//!
//! Golts & Elad, *Linearized Kernel Dictionary Learning*, IEEE JSTSP 2016, arXiv 1509.05634. Numbers
//! in parentheses are the equations of the arXiv edition.
//!
//! # The method in one page
//!
//! **Problem.** Samples are the columns of X (p×N). A dictionary D has m unit columns, the atoms. A
//! code γ combines at most q of them (1), and learning finds the D whose codes fit best (2):
//!
//! ```math
//! \min_\gamma \|x-D\gamma\|_2^2 \quad\text{s.t.}\quad \|\gamma\|_0\le q,
//! \qquad
//! \min_{D,\Gamma} \|X-D\Gamma\|_F^2 \quad\text{s.t.}\quad \|\gamma_i\|_0\le q
//! ```
//!
//! A kernel is an inner product after some mapping Φ (11): κ(x, y) = ⟨Φ(x), Φ(y)⟩, with all its
//! values on the samples in the N×N kernel matrix K (12). Dictionary learning on Φ(x) itself (15)
//! works with K, and pays N² for it at every step.
//!
//! **Nyström.** Choose c landmarks X_R ([`sampling`]) and evaluate only C = κ(X, X_R), N×c, and
//! W = κ(X_R, X_R), c×c (19). Then (20)
//!
//! ```math
//! K \approx C W^\dagger C^T
//! ```
//!
//! **Virtual samples.** Factor W = VΣVᵀ and keep the k largest eigenvalues (21)–(23); a new sample
//! goes the same way (24):
//!
//! ```math
//! F = \Sigma_k^{-1/2} V_k^T C^T, \quad F^T F \approx K,
//! \qquad
//! f(x) = \Sigma_k^{-1/2} V_k^T [\kappa(x_{R_1},x), \dots, \kappa(x_{R_c},x)]^T
//! ```
//!
//! Inner products of virtual samples are kernel values (29), so every method that looks at inner
//! products only is now a kernel method. What the landmarks miss of a sample is known too:
//! e⊥(x) = κ(x,x) − ‖f‖² ≥ 0, and its sum over the samples is the trace of the error
//! ([`map::NystroemMap::trace_error`]).
//!
//! **Sparse codes.** Orthogonal matching pursuit picks the atom most correlated with the residual,
//! refits, and repeats q times. Batch-OMP ([`pursuit::BatchOmp`]) runs it on G = DᵀD and Dᵀf alone.
//!
//! **K-SVD.** Code all samples, then refit one atom d_j and its coefficients g at a time, on the
//! samples I that use it, to what the other atoms leave ([`dictionary::KsvdParams`]); bars mark the
//! values before the update:
//!
//! ```math
//! \min_{d_j, g} \|E_I + \bar d_j \bar g^T - d_j g^T\|_F^2 \quad\text{s.t.}\quad \|d_j\|_2=1,
//! \qquad E = F - D\Gamma
//! ```
//!
//! **Decision.** [`classify::ClassDictionaries`] holds one dictionary per class; the class whose
//! dictionary leaves least of f wins (25):
//!
//! ```math
//! \text{label}(f) = \arg\min_l \|f-D_l\gamma_l\|_2^2
//! ```
//!
//! # What it costs
//!
//! | stage | flops | memory beside X |
//! |---|---|---|
//! | landmarks, RPCholesky | 2Ncp + Nc² | N·c, or a pilot sample within a budget |
//! | W and its k leading eigenpairs | c²p + at most about 4c³ | c² |
//! | virtual samples | 2Nc(p + k) | k·N, and one tile per thread |
//! | codes, per iteration | 2mkN + Lm²k + Nm(q² − 1) | q·N |
//! | K-SVD update, per iteration | 10kqN | k·N |
//! | a new sample | 2c(p + k) + L(2mk + m(q² − 1)) | |
//!
//! N samples of p features in L classes, m atoms per class. Kernel K-SVD, which LKDL replaces
//! ([`exact`]), holds n² values for a class of n samples and needs N kernel values for every sample
//! that is classified.
//!
//! # Example
//!
//! Handwritten digits of which the test images have lost 30 % of their pixels:
//!
//! ```
//! use lkdl::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let digits = lkdl_data::digits()?;
//! let split = lkdl_data::stratified_split(&digits.labels, 0.5, 0)?;
//! let (train, mut test) = (digits.subset(&split.train)?, digits.subset(&split.test)?);
//! lkdl_data::Corruption::MissingPixels { fraction: 0.3, value: 0.0 }
//!     .apply(&mut test.samples, 0)?;
//! let classes =
//!     |labels: &[u32]| labels.iter().map(|&label| label as usize).collect::<Vec<_>>();
//!
//! let params = LkdlParams {
//!     prepare: "l2".parse()?, // every image to unit norm
//!     map: MapParams::Nystroem(NystroemParams {
//!         kernel: Kernel::Polynomial { degree: 4.0, offset: 0.0 },
//!         ..Default::default()
//!     }),
//!     method: ClassDictionariesParams {
//!         learner: KsvdParams { n_atoms: 30, sparsity: 5, ..Default::default() },
//!         sparsity: 5,
//!     },
//!     memory: None,
//! };
//! let kernelized = params.fit(train.samples.as_ref(), &classes(&train.labels))?;
//! let linear = LkdlParams { map: MapParams::None, ..params }
//!     .fit(train.samples.as_ref(), &classes(&train.labels))?;
//!
//! let truth = classes(&test.labels);
//! let kernelized = kernelized.predict(test.samples.as_ref())?.accuracy(&truth)?;
//! let linear = linear.predict(test.samples.as_ref())?.accuracy(&truth)?;
//! println!("linear {:.1} %, LKDL {:.1} %", 100.0 * linear, 100.0 * kernelized);
//! # assert!(kernelized > 0.8 && linear < 0.75, "{linear} {kernelized}");
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! linear 71.6 %, LKDL 86.9 %
//! ```
//!
//! The programs in `examples/` go on from here: `quickstart`, `kernelize`, `custom_kernel`.
//!
//! # Modules
//!
//! | module | what it does |
//! |---|---|
//! | [`prepare`] | what is done to every sample first: centring, unit norm, standardising |
//! | [`kernel`] | κ, in tiles; the caller's own kernels and precomputed matrices |
//! | [`sampling`] | landmarks: uniform, diagonal, column-norm, coreset, k-means, RPCholesky, leverage scores, hybrid |
//! | [`map`] | virtual samples: Nyström, random Fourier features, Fastfood; error certificates |
//! | [`pursuit`] | codes: Batch-OMP, OMP, matching pursuit, lasso, basis pursuit; kernel OMP |
//! | [`dictionary`] | K-SVD, MOD, online learning, RLS-DLA; kernel K-SVD and kernel MOD on Gram matrices |
//! | [`classify`] | decision rules over dictionaries: one per class; LC-KSVD and D-KSVD; FDDL; SRC |
//! | [`exact`] | the exact kernel methods that LKDL approximates, in the same pipeline |
//! | [`blocks`] | data that come in blocks, and sums over them that add the same in any order |
//! | [`LkdlParams`], [`Lkdl`] | preparation, map and any linear method in one |
//!
//! [`dictionary`], [`pursuit`] and [`classify`] import nothing of [`kernel`], [`sampling`] or
//! [`map`]: the linear methods cannot know that their samples are virtual, and a test proves it.
//!
//! # Bring your own
//!
//! **Kernel.** A function of two samples, or a [`kernel::CustomKernel`] over blocks:
//!
//! ```
//! let kernel = lkdl::Kernel::custom("intersection", |x, y| {
//!     x.iter().zip(y).map(|(a, b)| a.min(*b)).sum()
//! });
//! ```
//!
//! **Learner.** Implement [`dictionary::Learner`] and hand it to
//! [`classify::ClassDictionariesParams`] in place of K-SVD. Here every sample becomes an atom:
//!
//! ```
//! use faer::{Mat, MatRef};
//! use lkdl::{dictionary::Stop, prelude::*};
//!
//! struct EverySample;
//!
//! impl Learner<f64> for EverySample {
//!     fn learn_monitored(
//!         &self,
//!         samples: MatRef<'_, f64>,
//!         _: usize,
//!         _: &dyn Monitor,
//!     ) -> Result<Learned<f64>, LkdlError> {
//!         let unit = |t, i| samples[(t, i)] / samples.col(i).norm_l2();
//!         Ok(Learned {
//!             dictionary: Mat::from_fn(samples.nrows(), samples.ncols(), unit),
//!             errors: vec![0.0],
//!             stop: Stop::Converged,
//!             n_replaced: 0,
//!             warnings: Vec::new(),
//!         })
//!     }
//! }
//!
//! // Two classes on two axes.
//! let samples = Mat::from_fn(2, 4, |t, i| if t == i % 2 { 1.0 + i as f64 } else { 0.1 });
//! let method = ClassDictionariesParams { learner: EverySample, sparsity: 1 };
//! let model = method.train(samples.as_ref(), &[0, 1, 0, 1])?;
//! assert_eq!(model.classify(samples.as_ref())?.labels, [0, 1, 0, 1]);
//! # Ok::<(), LkdlError>(())
//! ```
//!
//! **Classifier.** Implement [`classify::Train`] and [`classify::Classify`]; [`LkdlParams`] then
//! kernelizes it. `examples/kernelize.rs` does so in under 60 lines.
//!
//! # More than memory holds
//!
//! What map and dictionaries learn from the data are sums, and sums add. [`map::MapStatistics`] and
//! [`dictionary::DictionaryStatistics`] take numbered blocks, on one machine or on many, and merge
//! to the same bits whoever saw which block; a map ([`map::NystroemParams::fit_sums`]) and MOD's
//! update ([`dictionary::DictionarySums::update`]) follow from them.
//! [`dictionary::OnlineParams`] and [`dictionary::RlsParams`] move the dictionary after every
//! mini-batch and keep no sample:
//!
//! ```
//! use lkdl::dictionary::OnlineParams;
//!
//! let block = |b: usize| {
//!     faer::Mat::from_fn(6, 200, |t, i| (((200 * b + i) * (t + 2)) as f64).sin())
//! };
//! let params = OnlineParams { n_atoms: 20, batch_size: 64, ..Default::default() };
//! let mut learner = params.start(block(0).as_ref(), 0)?; // starting atoms
//! for b in 0..10 {
//!     learner.add_block(block(b).as_ref())?;
//! }
//! assert_eq!(learner.finish()?.dictionary.ncols(), 20);
//! # Ok::<(), lkdl::LkdlError>(())
//! ```
//!
//! [`map::DriftMonitor`] tells when the landmarks no longer fit the data that come;
//! [`map::NystroemMap::grow`] then adds some, and learning goes on.
//!
//! # Promises
//!
//! - **Determinism.** One seed gives the same bits on one machine, whatever the number of threads:
//!   blocks have fixed sizes, sums have one order, and every random choice draws from a stream of
//!   its own. Another machine may round differently, where it has other vector instructions.
//! - **Precision.** `f32` and `f64` throughout ([`Real`]). Kernel tiles, virtual samples,
//!   dictionaries and codes live in the type chosen; eigen-solves, pivots, norms and merged sums are
//!   always `f64`. Every threshold is relative to the data's own scale.
//! - **Memory.** Nothing is N×N (but for [`exact`], one class at a time), C is never stored, codes are sparse; only pivoting samplers hold
//!   N·c values. [`LkdlParams::memory_plan`] says beforehand what each stage will need. Under a
//!   budget ([`LkdlParams::memory`]) pivots come from a pilot sample and an automatic landmark count
//!   is cut; what still does not fit is an error before any work is done.
//!   [`map::best_rank_errors`] alone forms K whole, for error plots.
//! - **Errors.** Bad input is an [`LkdlError`] that names the value and the fix; no NaN comes out.
//!   What a fit did by rule is a [`Warning`] with its result. The library prints nothing, reads no
//!   file and no clock, and keeps no global state.
#![allow(non_snake_case)] // the paper's letters: docs/notation.md
pub mod blocks;
pub mod classify;
pub mod dictionary;
mod distinct;
pub mod error;
pub mod exact;
pub mod kernel;
mod linalg;
mod lloyd;
pub mod map;
mod matrix;
mod memory;
pub mod monitor;
mod pipeline;
pub mod prepare;
pub mod pursuit;
mod random;
mod real;
pub mod sampling;
pub mod state;
#[cfg(test)]
mod testing;
mod vector;

pub use error::{LkdlError, Warning};
pub use kernel::{Kernel, Panel};
pub use memory::{MemoryPlan, StageMemory};
pub use pipeline::{FeatureMap, Lkdl, LkdlParams, MapParams};
pub use real::Real;

/// What most programs need.
pub mod prelude {
    pub use crate::classify::{
        ClassDictionaries, ClassDictionariesParams, Classify, Fddl, FddlForm, FddlParams, FddlRule,
        LcKsvd, LcKsvdParams, LcVariant, Predictions, Src, SrcCoding, SrcParams, Train,
    };
    pub use crate::dictionary::{
        InitialAtoms, KernelKsvdParams, KernelLearner, KernelUpdate, KsvdParams, Learned, Learner,
        ModParams, OnlineCoding, OnlineParams, RlsParams,
    };
    pub use crate::error::{LkdlError, Warning};
    pub use crate::exact::{KernelDictionaries, KernelDictionariesParams};
    pub use crate::kernel::{Kernel, Panel};
    pub use crate::map::{NystroemMap, NystroemParams, Rank, Variant};
    pub use crate::memory::{MemoryPlan, StageMemory};
    pub use crate::monitor::Monitor;
    pub use crate::pipeline::{FeatureMap, Lkdl, LkdlParams, MapParams};
    pub use crate::prepare::{Preparation, PrepareParams, Step};
    pub use crate::pursuit::{BatchOmp, Codes, Encoded, Target};
    pub use crate::real::Real;
    pub use crate::sampling::{LandmarkCount, LandmarkParams, Landmarks, Sampler};
}
