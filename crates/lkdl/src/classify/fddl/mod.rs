//! Fisher discrimination dictionary learning (FDDL; Yang et al. 2011, 2014): dictionaries that
//! represent their own class well, the others badly, with codes that gather around class means.
//!
//! # Problem
//!
//! D = [D_1 … D_L] holds atoms of every class, Γ_i are the codes of class i, Γ_i^j their part on
//! the atoms of class j. LKDL Eqs. (5)–(7), with unit atoms:
//!
//! ```math
//! \min_{D,\Gamma}\ \sum_i\Big[\|X_i-D\Gamma_i\|^2+\|X_i-D_i\Gamma_i^i\|^2
//!   +\sum_{j\ne i}\|D_j\Gamma_i^j\|^2\Big]
//! +\lambda_1\|\Gamma\|_1+\lambda_2\big[\operatorname{tr}(S_W-S_B)+\eta\|\Gamma\|^2\big]
//! ```
//!
//! A class's samples shall be represented by all atoms, by its own atoms alone, and hardly use
//! those of the others. S_W is the scatter of the codes around the means m_i of their classes, S_B
//! that of the class means around the mean of all; η ≥ 1 makes the problem convex in Γ.
//!
//! *Simplified* ([`FddlForm::Simplified`]) is what the published numbers come from: every class
//! alone, min ‖X_i − D_iA‖² + λ1‖A‖₁ + λ2‖A − mean(A)‖².
//!
//! Codes come from accelerated gradient steps on all samples at once, dictionaries from sweeps over
//! the atoms, each the exact minimiser; J never rises. A new sample is judged by one code over all
//! atoms or by one code per class ([`FddlRule`]).
//!
//! # When to use it
//!
//! Few atoms per class, classes that share structure, and training time to spare: the full form
//! pushes the dictionaries apart, which per-class K-SVD does not. With hundreds of atoms per class
//! prefer the simplified form. On virtual samples it becomes a kernel method like any other.
//!
//! # Cost
//!
//! m atoms in all, m_i of class i, k features, N samples. Per step of the codes
//! min(2m², 4km + 2Σm_i²)·N flops (simplified: Σ2m_i²n_i); per dictionary update 8kmN. Codes are
//! dense while they are being solved for: five m×N matrices (simplified: five m_i×n_i ones per
//! class). Classifying costs a lasso per sample over m atoms, or L lassos over m_i.
//!
//! # Example
//!
//! ```
//! use lkdl::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let digits = lkdl_data::digits()?;
//! let split = lkdl_data::stratified_split(&digits.labels, 0.5, 0)?;
//! let (train, test) = (digits.subset(&split.train)?, digits.subset(&split.test)?);
//! let classes =
//!     |labels: &[u32]| labels.iter().map(|&label| label as usize).collect::<Vec<_>>();
//!
//! let params = LkdlParams {
//!     prepare: "l2".parse()?,
//!     map: MapParams::None, // a kernel here makes it FDDL + LKDL
//!     method: FddlParams { n_atoms: 12, ..Default::default() },
//!     memory: None,
//! };
//! let model = params.fit(train.samples.as_ref(), &classes(&train.labels))?;
//! let accuracy = model.predict(test.samples.as_ref())?.accuracy(&classes(&test.labels))?;
//! println!("{:.1} %", 100.0 * accuracy);
//! # assert!(accuracy > 0.93, "{accuracy}");
//! # Ok(())
//! # }
//! ```

mod alternate;
mod codes;
mod global;
mod hessian;
mod layout;
mod local;
mod model;
mod objective;
mod params;
mod simplified;
mod sweep;
#[cfg(test)]
mod tests;

pub use model::{Fddl, FddlTraining};
pub use params::{FddlForm, FddlParams, FddlRule, UnusedAtoms};
