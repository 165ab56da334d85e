//! One block of kernel values κ(X_R, X), for kernels that are a product and for one that is not.

use crate::input::samples;
use criterion::Criterion;
use lkdl::prelude::*;

/// Both precisions.
pub fn kernel_tile(criterion: &mut Criterion) {
    run::<f64>(criterion);
    run::<f32>(criterion);
}

fn run<T: Real>(criterion: &mut Criterion) {
    let (p, c, n) = (256, 1024, 512);
    let (Y, X) = (samples::<T>(p, c, 1), samples::<T>(p, n, 2));
    for (name, kernel, c) in [
        ("linear", Kernel::Linear, c),
        ("polynomial", Kernel::Polynomial { degree: 2.0, offset: 0.0 }, c),
        ("gaussian", Kernel::Gaussian { sigma: 1.0 }, c),
        ("laplacian", Kernel::Laplacian { rate: 1.0 }, c / 8),
    ] {
        let panel = Panel::new(&kernel, Y.subcols(0, c)).unwrap();
        let id = format!("kernel_tile/{name},p={p},c={c},n={n},{}", T::NAME);
        criterion
            .bench_function(&id, |bencher| bencher.iter(|| panel.evaluate(X.as_ref()).unwrap()));
    }
}
