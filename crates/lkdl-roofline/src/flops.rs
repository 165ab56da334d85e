//! Floating-point operations of each stage, in 10⁹, as the algorithms need them: not those an
//! implementation happens to spend.

/// The sizes of a whole run.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// p.
    pub n_features: usize,
    /// N.
    pub n_samples: usize,
    /// N_t, samples to classify.
    pub n_test: usize,
    /// c.
    pub n_landmarks: usize,
    /// k.
    pub rank: usize,
    /// m, per class.
    pub n_atoms: usize,
    /// q.
    pub sparsity: usize,
    /// T.
    pub n_iters: usize,
    /// L.
    pub n_classes: usize,
}

impl std::fmt::Display for Sizes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { n_features: p, n_samples: n, n_test, n_landmarks: c, rank: k, .. } = self;
        let Self { n_atoms: m, sparsity: q, n_iters: t, n_classes: l, .. } = self;
        write!(f, "N={n},Nt={n_test},p={p},c={c},k={k},m={m},q={q},T={t},L={l}")
    }
}

fn giga(factors: &[usize]) -> f64 {
    factors.iter().map(|&v| v as f64).product::<f64>() * 1e-9
}

/// A product of p×m and p×N, transposed: 2pmN.
pub fn product(p: usize, m: usize, n: usize) -> f64 {
    giga(&[2, p, m, n])
}

/// DᵀX, the Gram matrix and the pursuits: 2pmN + m²p + Nm(q²−1).
pub fn batch_omp(p: usize, m: usize, n: usize, q: usize) -> f64 {
    product(p, m, n) + giga(&[m, m, p]) + giga(&[n, m, q * q - 1])
}

/// Kernel tiles and projection: 2Nc(p + k).
pub fn map(n: usize, c: usize, p: usize, k: usize) -> f64 {
    giga(&[2, n, c, p + k])
}

/// One iteration of K-SVD on L classes of N samples together.
pub fn ksvd_iteration(n_classes: usize, p: usize, m: usize, n: usize, q: usize) -> f64 {
    product(p, m, n) + giga(&[n_classes, m, m, p]) + giga(&[n, m, q * q - 1]) + giga(&[10, p, n, q])
}

/// W and its k leading eigenpairs by a full solve: c²p + 4/3c³ + 2c²k.
pub fn landmark_eigen(c: usize, p: usize, k: usize) -> f64 {
    giga(&[c, c, p]) + giga(&[c, c, c]) * 4.0 / 3.0 + giga(&[2, c, c, k])
}

/// Fit and classification.
pub fn run(sizes: &Sizes) -> f64 {
    let Sizes { n_features: p, n_samples: n, n_test, n_landmarks: c, rank: k, .. } = *sizes;
    let Sizes { n_atoms: m, sparsity: q, n_iters, n_classes, .. } = *sizes;
    map(n, c, p, k)
        + landmark_eigen(c, p, k)
        + n_iters as f64 * ksvd_iteration(n_classes, k, m, n, q)
        + map(n_test, c, p, k)
        + product(k, n_classes * m, n_test)
        + giga(&[n_test, n_classes, m, q * q - 1])
}

/// The sizes of a run of kernel K-SVD, one dictionary per class.
#[derive(Debug, Clone)]
pub struct KernelSizes {
    /// p.
    pub n_features: usize,
    /// n_l, samples of each class.
    pub class_sizes: Vec<usize>,
    /// N_t, samples to classify.
    pub n_test: usize,
    /// m, per class.
    pub n_atoms: usize,
    /// q.
    pub sparsity: usize,
    /// T.
    pub n_iters: usize,
}

impl std::fmt::Display for KernelSizes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { n_features: p, class_sizes, n_test, n_atoms: m, sparsity: q, n_iters: t } = self;
        let (n, l) = (class_sizes.iter().sum::<usize>(), class_sizes.len());
        write!(f, "N={n},Nt={n_test},p={p},m={m},q={q},T={t},L={l}")
    }
}

/// Kernel K-SVD, fit and classification. Every class of n samples: K by n²p; an iteration KA and
/// AᵀKA by 2n²m + 2nm², pursuits of nm(q²−1), and new atoms, whose products with K and with the
/// other atoms are sums over codes, 2(n + m)nq². A new sample: 2N(p + m) for its kernel values and
/// their products with A, and a pursuit of m(q²−1) per class.
pub fn kernel_run(sizes: &KernelSizes) -> f64 {
    let KernelSizes { n_features: p, n_test, n_atoms: m, sparsity: q, n_iters, .. } = *sizes;
    let class = |&n: &usize| {
        let iteration = product(n, m, n)
            + product(m, m, n)
            + giga(&[n, m, q * q - 1])
            + giga(&[2, n + m, n, q, q]);
        giga(&[n, n, p]) + n_iters as f64 * iteration
    };
    let n: usize = sizes.class_sizes.iter().sum();
    sizes.class_sizes.iter().map(class).sum::<f64>()
        + giga(&[2, n_test, n, p + m])
        + giga(&[n_test, sizes.class_sizes.len(), m, q * q - 1])
}

/// The sizes of a run of LC-KSVD2.
#[derive(Debug, Clone, Copy)]
pub struct LcSizes {
    /// p.
    pub n_features: usize,
    /// N.
    pub n_samples: usize,
    /// N_t, samples to classify.
    pub n_test: usize,
    /// m, of all classes together.
    pub n_atoms: usize,
    /// q.
    pub sparsity: usize,
    /// Iterations of the classes' own K-SVD, of the shared one, and on the stack.
    pub n_iters: [usize; 3],
    /// L.
    pub n_classes: usize,
}

impl std::fmt::Display for LcSizes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { n_features: p, n_samples: n, n_test, n_atoms: m, sparsity: q, .. } = self;
        let ([own, shared, joint], l) = (self.n_iters, self.n_classes);
        write!(f, "N={n},Nt={n_test},p={p},m={m},q={q},T={own}+{shared}+{joint},L={l}")
    }
}

/// LC-KSVD2, fit and classification: K-SVD of every class with its m/L atoms, K-SVD of all samples
/// and the codes over its dictionary, a ridge regression of Nq² + m³/3 + 2Lm², K-SVD of the stack of
/// p + L rows; a decision 2pm + m(q²−1) + 2Lq.
pub fn lc_ksvd_run(sizes: &LcSizes) -> f64 {
    let LcSizes { n_features: p, n_samples: n, n_test, n_atoms: m, sparsity: q, .. } = *sizes;
    let ([own, shared, joint], n_classes) = (sizes.n_iters, sizes.n_classes);
    let of_class = m / n_classes;
    own as f64 * ksvd_iteration(n_classes, p, of_class, n, q.min(of_class))
        + shared as f64 * ksvd_iteration(1, p, m, n, q)
        + batch_omp(p, m, n, q)
        + giga(&[n, q, q])
        + giga(&[m, m, m]) / 3.0
        + giga(&[2, n_classes, m, m])
        + joint as f64 * ksvd_iteration(1, p + n_classes, m, n, q)
        + product(p, m, n_test)
        + giga(&[n_test, m, q * q - 1])
        + giga(&[2, n_classes, q, n_test])
}

/// Training of simplified FDDL on L classes of N samples together, m atoms each, without its k-means
/// start: 2m² for every step of every sample's code, and in T iterations and a last coding 2m²p per
/// class and 2pmN for H and DᵀX, 6pmN + 2pm² per class for the atoms.
pub fn fddl_training(
    n_classes: usize,
    p: usize,
    m: usize,
    n: usize,
    n_iters: usize,
    n_code_steps: usize,
) -> f64 {
    let coding = giga(&[n_classes, m, m, p]) + product(p, m, n);
    let sweep = giga(&[6, p, m, n]) + giga(&[2, n_classes, p, m, m]);
    giga(&[2, m, m, n_code_steps]) + (n_iters + 1) as f64 * coding + n_iters as f64 * sweep
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small sizes, every term by hand.
    #[test]
    fn terms_of_the_other_methods_add_up() {
        let kernel = KernelSizes {
            n_features: 5,
            class_sizes: vec![10, 20],
            n_test: 7,
            n_atoms: 4,
            sparsity: 3,
            n_iters: 2,
        };
        let class = |n: usize| {
            n * n * 5 + 2 * (2 * n * n * 4 + 2 * n * 16 + n * 4 * 8 + 2 * (n + 4) * n * 9)
        };
        let expected = class(10) + class(20) + 2 * 7 * 30 * 9 + 7 * 2 * 4 * 8;
        assert!((kernel_run(&kernel) * 1e9 - expected as f64).abs() < 1e-3);
        let lc = LcSizes {
            n_features: 5,
            n_samples: 30,
            n_test: 7,
            n_atoms: 6,
            sparsity: 4,
            n_iters: [1, 2, 3],
            n_classes: 2,
        };
        let ksvd = |l: usize, p: usize, m: usize, q: usize| {
            2 * p * m * 30 + l * m * m * p + 30 * m * (q * q - 1) + 10 * p * 30 * q
        };
        let coding = 2 * 5 * 6 * 30 + 36 * 5 + 30 * 6 * 15;
        let expected = ksvd(2, 5, 3, 3)
            + 2 * ksvd(1, 5, 6, 4)
            + coding
            + 3 * ksvd(1, 7, 6, 4)
            + (30 * 16 + 72 + 2 * 2 * 36)
            + (2 * 5 * 6 * 7 + 7 * 6 * 15 + 2 * 2 * 4 * 7);
        assert!((lc_ksvd_run(&lc) * 1e9 - expected as f64).abs() < 1e-3);
        let fddl = fddl_training(2, 5, 4, 30, 3, 100);
        let expected = 2 * 16 * 100
            + 4 * (2 * 16 * 5 + 2 * 5 * 4 * 30)
            + 3 * (6 * 5 * 4 * 30 + 2 * 2 * 5 * 16);
        assert!((fddl * 1e9 - expected as f64).abs() < 1e-3);
    }

    #[test]
    fn totals_are_those_of_the_performance_model() {
        let usps = Sizes {
            n_features: 256,
            n_samples: 7291,
            n_test: 2007,
            n_landmarks: 1458,
            rank: 256,
            n_atoms: 300,
            sparsity: 5,
            n_iters: 5,
            n_classes: 10,
        };
        let mnist = Sizes {
            n_features: 784,
            n_samples: 60_000,
            n_test: 10_000,
            n_landmarks: 9000,
            rank: 784,
            n_atoms: 700,
            sparsity: 11,
            n_iters: 2,
            n_classes: 10,
        };
        for (sizes, expected) in [
            (usps, 30.4),
            (Sizes { n_landmarks: 256, ..usps }, 13.2),
            (mnist, 3416.0),
            (Sizes { n_landmarks: 2048, ..mnist }, 749.0),
        ] {
            let total = run(&sizes);
            assert!((total / expected - 1.0).abs() < 5e-3, "{sizes}: {total}, not {expected}");
        }
    }
}
