//! Sparse coding of many signals over one dictionary, its Gram matrix at hand.

use crate::input::directions;
use criterion::Criterion;
use lkdl::prelude::*;

/// Both precisions.
pub fn batch_omp(criterion: &mut Criterion) {
    run::<f64>(criterion);
    run::<f32>(criterion);
}

fn run<T: Real>(criterion: &mut Criterion) {
    let n = 1024;
    for (p, m, q) in [(256, 300, 5), (784, 700, 11), (504, 570, 30)] {
        let (D, X) = (directions::<T>(p, m, 1), directions::<T>(p, n, 2));
        let coder = BatchOmp::new(D.as_ref()).unwrap();
        let id = format!("omp/p={p},m={m},q={q},n={n},{}", T::NAME);
        criterion.bench_function(&id, |bencher| {
            bencher.iter(|| coder.encode(X.as_ref(), Target::Sparsity(q)).unwrap());
        });
        let id = format!("gram/p={p},m={m},{}", T::NAME);
        criterion
            .bench_function(&id, |bencher| bencher.iter(|| BatchOmp::new(D.as_ref()).unwrap()));
    }
}
