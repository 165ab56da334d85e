//! The kernels that every test of all kernels goes through, those of the module and those of the
//! whole: `super` has `Kernel`.

use super::Kernel;

/// Every built-in kernel on vectors, and one of the user's own.
pub fn kernels() -> Vec<Kernel> {
    vec![
        Kernel::Linear,
        Kernel::Polynomial { degree: 2.0, offset: 0.0 },
        Kernel::Polynomial { degree: 5.0, offset: 0.5 },
        Kernel::Polynomial { degree: 1.5, offset: 1.0 },
        Kernel::Gaussian { sigma: 1.3 },
        Kernel::Exponential { sigma: 2.0 },
        Kernel::Laplacian { rate: 0.4 },
        Kernel::Cosine,
        Kernel::Sigmoid { scale: 0.5, offset: -0.5 },
        Kernel::Chi2Additive,
        Kernel::Chi2Exponential { rate: 0.7 },
        Kernel::Normalized(Box::new(Kernel::Polynomial { degree: 3.0, offset: 1.0 })),
        Kernel::custom("min", |x, y| x.iter().zip(y).map(|(a, b)| a.min(*b)).sum()),
    ]
}
