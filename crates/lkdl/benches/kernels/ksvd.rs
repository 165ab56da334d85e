//! Dictionary learning on one class: two iterations of K-SVD, by power step and by singular pair.

use crate::input::samples;
use criterion::Criterion;
use lkdl::dictionary::AtomUpdate;
use lkdl::prelude::*;

/// Both precisions.
pub fn ksvd(criterion: &mut Criterion) {
    run::<f64>(criterion);
    run::<f32>(criterion);
}

fn run<T: Real>(criterion: &mut Criterion) {
    let (p, m, q, n) = (256, 300, 5, 729);
    let X = samples::<T>(p, n, 1);
    for (name, update) in [("approximate", AtomUpdate::Approximate), ("exact", AtomUpdate::Exact)] {
        let params = KsvdParams {
            n_atoms: m,
            sparsity: q,
            max_iters: 2,
            tol: 0.0,
            update,
            ..Default::default()
        };
        let id = format!("ksvd/{name},p={p},m={m},q={q},n={n},T=2,{}", T::NAME);
        criterion.bench_function(&id, |bencher| bencher.iter(|| params.fit(X.as_ref()).unwrap()));
    }
}
