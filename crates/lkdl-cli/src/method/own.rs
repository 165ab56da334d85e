//! Flags that only some methods have, and the methods that are trained with them.

use super::flags::Method;
use super::settings::Sizes;
use super::trainer::Trainer;
use clap::{Args, ValueEnum};
use lkdl::dictionary::KernelModParams;
use lkdl::exact::KernelSrcParams;
use lkdl::prelude::*;
use lkdl_model::Element;

/// Weights and rules of single methods.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Single methods")]
pub struct OwnFlags {
    /// Weight of label consistency, its square root (lc-ksvd1, lc-ksvd2); 0 leaves it out [default:
    /// 0.033, for unit samples]
    #[arg(long, value_name = "X")]
    pub sqrt_alpha: Option<f64>,
    /// Weight of the linear classifier, its square root (lc-ksvd2, d-ksvd); 0 leaves it out [default:
    /// 0.011, for unit samples]
    #[arg(long, value_name = "X")]
    pub sqrt_beta: Option<f64>,
    /// Weight of the codes' l1 norm (fddl, fddl-simplified) [default: 0.1]
    #[arg(long, value_name = "X")]
    pub lambda1: Option<f64>,
    /// Weight of the codes' scatters (fddl, fddl-simplified) [default: 0.001]
    #[arg(long, value_name = "X")]
    pub lambda2: Option<f64>,
    /// How fddl decides: by a code over each class, or one over all [default: local]
    #[arg(long, value_enum)]
    pub rule: Option<RuleName>,
    /// Code by the lasso, its penalty as a share of the largest correlation, not by OMP (src,
    /// kernel-src)
    #[arg(long, value_name = "SHARE")]
    pub lasso: Option<f64>,
    /// Do as the published program does where it departs from the paper (kernel-ksvd, lc-ksvd1,
    /// lc-ksvd2, d-ksvd, fddl-simplified)
    #[arg(long)]
    pub compat: bool,
}

/// How FDDL decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RuleName {
    /// A code over the atoms of each class
    Local,
    /// One code over the atoms of all classes
    Global,
}

/// What every method is trained with.
pub struct Common {
    pub sizes: Sizes,
    pub n_classes: usize,
    pub iters: Option<usize>,
    pub tol: f64,
    pub exact_update: bool,
    /// Of a method that works in the kernel's space.
    pub kernel: Option<Kernel>,
    pub memory: Option<u64>,
    pub seed: u64,
}

/// Iterations of methods that refine one dictionary per class.
const USUAL_ITERS: usize = 10;

impl Common {
    fn iters(&self) -> usize {
        self.iters.unwrap_or(USUAL_ITERS)
    }

    /// The linear kernel stands in for one that was not chosen, and makes the linear method.
    fn kernel(&self) -> Kernel {
        self.kernel.clone().unwrap_or(Kernel::Linear)
    }
}

impl OwnFlags {
    /// Flags, and whether they were given.
    pub fn given(&self) -> [(&'static str, bool); 7] {
        [
            ("sqrt-alpha", self.sqrt_alpha.is_some()),
            ("sqrt-beta", self.sqrt_beta.is_some()),
            ("lambda1", self.lambda1.is_some()),
            ("lambda2", self.lambda2.is_some()),
            ("rule", self.rule.is_some()),
            ("lasso", self.lasso.is_some()),
            ("compat", self.compat),
        ]
    }

    /// The method, ready to train.
    pub fn trainer<T: Element>(&self, method: Method, common: &Common) -> Trainer<T> {
        match method {
            Method::Ksvd => class_dictionaries(ksvd(common), common),
            Method::Mod => class_dictionaries(optimal_directions(common), common),
            Method::KernelKsvd => kernel_dictionaries(self.kernel_ksvd(common), common),
            Method::KernelMod => kernel_dictionaries(kernel_mod(common), common),
            Method::LcKsvd1 => Trainer::LcKsvd(self.lc_ksvd(LcVariant::Lc1, common)),
            Method::LcKsvd2 => Trainer::LcKsvd(self.lc_ksvd(LcVariant::Lc2, common)),
            Method::DKsvd => Trainer::LcKsvd(self.lc_ksvd(LcVariant::Discriminative, common)),
            Method::Fddl => Trainer::Fddl(self.fddl(FddlForm::Full, common)),
            Method::FddlSimplified => Trainer::Fddl(self.fddl(FddlForm::Simplified, common)),
            Method::Src => {
                Trainer::Src(SrcParams { coding: self.coding(common), ..Default::default() })
            }
            Method::KernelSrc => Trainer::KernelSrc(KernelSrcParams {
                kernel: common.kernel(),
                coding: self.coding(common),
            }),
        }
    }

    fn kernel_ksvd<T: Element>(&self, common: &Common) -> KernelKsvdParams<T> {
        let update = match (self.compat, common.exact_update) {
            (true, _) => KernelUpdate::Reference,
            (false, true) => KernelUpdate::Exact,
            (false, false) => KernelUpdate::Approximate,
        };
        KernelKsvdParams {
            n_atoms: common.sizes.n_atoms,
            sparsity: common.sizes.learning,
            max_iters: common.iters(),
            tol: common.tol,
            update,
            seed: common.seed,
            ..Default::default()
        }
    }

    fn lc_ksvd(&self, variant: LcVariant, common: &Common) -> LcKsvdParams {
        let usual = LcKsvdParams::default();
        LcKsvdParams {
            variant,
            n_atoms: common.sizes.n_atoms.saturating_mul(common.n_classes),
            sparsity: common.sizes.sparsity,
            sqrt_alpha: self.sqrt_alpha.unwrap_or(usual.sqrt_alpha),
            sqrt_beta: self.sqrt_beta.unwrap_or(usual.sqrt_beta),
            max_iters: common.iters.unwrap_or(usual.max_iters),
            compat: self.compat,
            seed: common.seed,
            ..usual
        }
    }

    fn fddl<T: Element>(&self, form: FddlForm, common: &Common) -> FddlParams<T> {
        let usual = FddlParams::default();
        let l1_weight = self.lambda1.unwrap_or(usual.l1_weight);
        let mean_weight = self.lambda2.unwrap_or(usual.scatter_weight);
        let rule = match self.rule {
            Some(RuleName::Global) => FddlRule::Global { l1_weight, mean_weight },
            _ => FddlRule::Local { l1_weight, mean_weight, compat: self.compat },
        };
        FddlParams {
            form,
            n_atoms: common.sizes.n_atoms,
            l1_weight,
            scatter_weight: mean_weight,
            max_iters: common.iters.unwrap_or(usual.max_iters),
            rule,
            seed: common.seed,
            ..usual
        }
    }

    fn coding(&self, common: &Common) -> SrcCoding {
        match self.lasso {
            Some(relative_penalty) => SrcCoding::Lasso { relative_penalty },
            None => SrcCoding::Omp { sparsity: common.sizes.sparsity },
        }
    }
}

fn ksvd<T: Element>(common: &Common) -> KsvdParams<T> {
    let exact = lkdl::dictionary::AtomUpdate::Exact;
    KsvdParams {
        n_atoms: common.sizes.n_atoms,
        sparsity: common.sizes.learning,
        max_iters: common.iters(),
        tol: common.tol,
        update: if common.exact_update { exact } else { Default::default() },
        seed: common.seed,
        ..Default::default()
    }
}

fn optimal_directions<T: Element>(common: &Common) -> ModParams<T> {
    ModParams {
        n_atoms: common.sizes.n_atoms,
        sparsity: common.sizes.learning,
        max_iters: common.iters(),
        tol: common.tol,
        seed: common.seed,
        ..Default::default()
    }
}

fn kernel_mod<T: Element>(common: &Common) -> KernelModParams<T> {
    KernelModParams {
        n_atoms: common.sizes.n_atoms,
        sparsity: common.sizes.learning,
        max_iters: common.iters(),
        tol: common.tol,
        seed: common.seed,
        ..Default::default()
    }
}

fn class_dictionaries<T: Element>(
    learner: impl Learner<T> + Send + 'static,
    common: &Common,
) -> Trainer<T> {
    let sparsity = common.sizes.sparsity;
    Trainer::ClassDictionaries(ClassDictionariesParams { learner: Box::new(learner), sparsity })
}

fn kernel_dictionaries<T: Element>(
    learner: impl KernelLearner<T> + Send + 'static,
    common: &Common,
) -> Trainer<T> {
    Trainer::KernelDictionaries(KernelDictionariesParams {
        kernel: common.kernel(),
        learner: Box::new(learner),
        sparsity: common.sizes.sparsity,
        memory: common.memory,
    })
}
