//! Every method with its parameters, ready to train.

use crate::names::{Method, RuleName};
use crate::settings::Sizes;
use crate::trainer::Trainer;
use crate::wishes::OwnWishes;
use lkdl::dictionary::KernelModParams;
use lkdl::exact::KernelSrcParams;
use lkdl::prelude::*;
use lkdl_model::Element;

/// What every method is trained with.
pub(crate) struct Common {
    pub(crate) sizes: Sizes,
    pub(crate) n_classes: usize,
    pub(crate) iters: Option<usize>,
    pub(crate) tol: f64,
    pub(crate) batch: Option<usize>,
    pub(crate) exact_update: bool,
    /// Of a method that works in the kernel's space.
    pub(crate) kernel: Option<Kernel>,
    pub(crate) memory: Option<u64>,
    pub(crate) seed: u64,
}

/// Iterations of methods that refine one dictionary per class: the paper's. Twice as many lose on
/// held-out samples of USPS, and gain nothing on those of MNIST.
const USUAL_ITERS: usize = 5;

impl Common {
    fn iters(&self) -> usize {
        self.iters.unwrap_or(USUAL_ITERS)
    }

    /// The linear kernel stands in for one that was not chosen, and makes the linear method.
    fn kernel(&self) -> Kernel {
        self.kernel.clone().unwrap_or(Kernel::Linear)
    }
}

impl OwnWishes {
    /// The method, ready to train.
    pub(crate) fn trainer<T: Element>(&self, method: Method, common: &Common) -> Trainer<T> {
        match method {
            Method::Ksvd => class_dictionaries(ksvd(common), common),
            Method::Mod => class_dictionaries(optimal_directions(common), common),
            Method::Online => class_dictionaries(online(common), common),
            Method::Rls => class_dictionaries(rls(common), common),
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
            decision_sparsity: self.decision_sparsity,
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

/// Samples of a mini-batch: enough for a product to be worth its while, and few against a class of
/// thousands.
const USUAL_BATCH: usize = 256;

/// Samples of a mini-batch of a stream, which brings many: as many as atoms, so that moving those costs
/// no more than coding these.
pub(crate) fn stream_batch(n_atoms: usize) -> usize {
    USUAL_BATCH.max(n_atoms)
}

/// λ₀ of RLS-DLA, within the range that its authors recommend.
const USUAL_FORGETTING: f64 = 0.99;

pub(crate) fn online<T: Element>(common: &Common) -> OnlineParams<T> {
    OnlineParams {
        n_atoms: common.sizes.n_atoms,
        coding: OnlineCoding::Omp { sparsity: common.sizes.learning },
        batch_size: common.batch.unwrap_or(USUAL_BATCH),
        max_iters: common.iters(),
        tol: common.tol,
        seed: common.seed,
        ..Default::default()
    }
}

pub(crate) fn rls<T: Element>(common: &Common) -> RlsParams<T> {
    RlsParams {
        n_atoms: common.sizes.n_atoms,
        sparsity: common.sizes.learning,
        batch_size: common.batch.unwrap_or(USUAL_BATCH),
        forgetting: USUAL_FORGETTING,
        max_iters: common.iters(),
        tol: common.tol,
        seed: common.seed,
        ..Default::default()
    }
}

pub(crate) fn optimal_directions<T: Element>(common: &Common) -> ModParams<T> {
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
