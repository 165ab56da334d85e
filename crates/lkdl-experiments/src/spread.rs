//! Mean and standard deviation of several runs.

/// Mean and standard deviation of several runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the runs (n − 1 in the denominator); 0 for one run.
    pub std: f64,
}

impl Spread {
    /// Of at least one value; 0 of none.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n.max(1.0);
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        Self { mean, std: if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_is_that_of_a_sample() {
        assert_eq!(Spread::of(&[0.5]), Spread { mean: 0.5, std: 0.0 });
        assert_eq!(Spread::of(&[1.0, 3.0]), Spread { mean: 2.0, std: 2f64.sqrt() });
        assert_eq!(Spread::of(&[]), Spread { mean: 0.0, std: 0.0 });
    }
}
