//! Virtual samples: kernel tiles and projection, F = PᵀCᵀ.

use crate::input::{directions, samples};
use criterion::Criterion;
use lkdl::prelude::*;

/// Both precisions.
pub fn projection(criterion: &mut Criterion) {
    run::<f64>(criterion);
    run::<f32>(criterion);
}

fn run<T: Real>(criterion: &mut Criterion) {
    let (p, n) = (256, 1024);
    let X = samples::<T>(p, n, 1);
    for (c, k) in [(256, 256), (1458, 256)] {
        let (Y, P) = (samples::<T>(p, c, 2), directions::<T>(c, k, 3));
        for (name, kernel) in [
            ("polynomial", Kernel::Polynomial { degree: 2.0, offset: 0.0 }),
            ("gaussian", Kernel::Gaussian { sigma: 1.0 }),
        ] {
            let panel = Panel::new(&kernel, Y.as_ref()).unwrap();
            let map = NystroemMap::from_parts(panel, P.as_ref(), &[], &[]).unwrap();
            let id = format!("projection/{name},p={p},c={c},k={k},n={n},{}", T::NAME);
            criterion
                .bench_function(&id, |bencher| bencher.iter(|| map.transform(X.as_ref()).unwrap()));
        }
    }
}
