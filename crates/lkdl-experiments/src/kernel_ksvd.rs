//! Exact kernel K-SVD, which LKDL is measured against: USPS with the parameters of figures 1b and 2,
//! MNIST with those of figure 3 at 10,000 samples.

use crate::Options;
use crate::error::ExperimentError;
use crate::record::{Published, Record};
use crate::repeat::{Trial, repeat};
use lkdl::dictionary::KernelUpdate;
use lkdl::prelude::{
    Kernel, KernelDictionariesParams, KernelKsvdParams, LkdlParams, MapParams, Real,
};
use lkdl_data::{NamedSet, TrainTest};

/// Samples of MNIST to learn from: the first point of figure 3.
const MNIST_SAMPLES: usize = 10_000;

/// Accuracy of exact kernel K-SVD on USPS, figure 1b (its horizontal line) and figure 2 at 0.
const USPS: Published = Published { value: 96.0, tolerance: 0.25 };
/// The same on MNIST's first 10,000 samples, figure 3.
const MNIST: Published = Published { value: 97.55, tolerance: 0.25 };

const UPDATES: [(&str, KernelUpdate); 3] = [
    ("exact", KernelUpdate::Exact),
    ("approximate", KernelUpdate::Approximate),
    ("reference", KernelUpdate::Reference),
];

/// The parameters of one figure.
struct Recipe {
    id: &'static str,
    dataset: &'static str,
    prepare: &'static str,
    n_atoms: usize,
    max_iters: usize,
    sparsity: usize,
    published: Published,
}

/// USPS: centre, ℓ2, (xᵀy)², 300 atoms per class, 5 iterations, 5 non-zeros.
pub(crate) fn usps(options: &Options) -> Result<Vec<Record>, ExperimentError> {
    let set = NamedSet::Usps.load(&options.data_dir)?;
    let recipe = Recipe {
        id: "kernel-ksvd-usps",
        dataset: "usps",
        prepare: "center,l2",
        n_atoms: 300,
        max_iters: 5,
        sparsity: 5,
        published: USPS,
    };
    recipe.run(options, &set)
}

/// MNIST: the first 10,000 samples, ℓ2, (xᵀy)², 700 atoms per class, 2 iterations, 11 non-zeros.
pub(crate) fn mnist(options: &Options) -> Result<Vec<Record>, ExperimentError> {
    let set = NamedSet::Mnist.load(&options.data_dir)?;
    let first: Vec<usize> = (0..MNIST_SAMPLES).collect();
    let set = TrainTest { train: set.train.subset(&first)?, test: set.test };
    let recipe = Recipe {
        id: "kernel-ksvd-mnist",
        dataset: "mnist-10k",
        prepare: "l2",
        n_atoms: 700,
        max_iters: 2,
        sparsity: 11,
        published: MNIST,
    };
    recipe.run(options, &set)
}

impl Recipe {
    fn run(&self, options: &Options, set: &TrainTest) -> Result<Vec<Record>, ExperimentError> {
        let mut records = Vec::new();
        for (name, update) in UPDATES {
            records.push(self.record::<f64>(options, set, name, update)?);
            records.push(self.record::<f32>(options, set, name, update)?);
        }
        Ok(records)
    }

    fn record<T: Real>(
        &self,
        options: &Options,
        set: &TrainTest,
        name: &str,
        update: KernelUpdate,
    ) -> Result<Record, ExperimentError> {
        let outcome =
            repeat(options.runs, |seed| Trial::run::<T, _>(&self.params::<T>(update, seed)?, set))?;
        let method = "kernel K-SVD";
        let record = Record::new(self.id, method, self.dataset, &outcome, Some(self.published));
        Ok(record
            .variant(format!("{name} {}", T::NAME))
            .with("n_atoms", self.n_atoms)
            .with("sparsity", self.sparsity)
            .with("max_iters", self.max_iters)
            .with("prepare", self.prepare)
            .with("kernel", kernel()))
    }

    fn params<T: Real>(
        &self,
        update: KernelUpdate,
        seed: u64,
    ) -> Result<LkdlParams<KernelDictionariesParams<KernelKsvdParams<T>>>, ExperimentError> {
        let learner = KernelKsvdParams {
            n_atoms: self.n_atoms,
            sparsity: self.sparsity,
            max_iters: self.max_iters,
            tol: 0.0,
            update,
            seed,
            ..Default::default()
        };
        let method = KernelDictionariesParams {
            kernel: kernel(),
            learner,
            sparsity: self.sparsity,
            memory: None,
        };
        Ok(LkdlParams {
            prepare: self.prepare.parse()?,
            map: MapParams::None,
            method,
            memory: None,
        })
    }
}

/// Samples have unit norm, so its diagonal is 1.
fn kernel() -> Kernel {
    Kernel::Polynomial { degree: 2.0, offset: 0.0 }
}
