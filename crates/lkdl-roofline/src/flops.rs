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

#[cfg(test)]
mod tests {
    use super::*;

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
