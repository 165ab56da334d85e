//! When a greedy pursuit stops: at q non-zeros, or at an error.
//!
//! ```math
//! \min_\gamma\|x-D\gamma\|_2^2\ \text{s.t.}\ \|\gamma\|_0\le q
//! \qquad\text{or}\qquad
//! \min_\gamma\|\gamma\|_0\ \text{s.t.}\ \|x-D\gamma\|_2\le e
//! ```

use crate::error::LkdlError;

/// What an orthogonal matching pursuit aims at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// At most this many non-zeros per code, between 1 and the number of atoms.
    Sparsity(usize),
    /// As few greedy steps as bring the residual norm ‖x − Dγ‖ down to `norm`.
    Error {
        /// The residual norm to reach, finite and not negative.
        norm: f64,
        /// Gives up at this many atoms; `None` is min(n_features, n_atoms), beyond which no atom
        /// can lower the error.
        max_atoms: Option<usize>,
    },
}

/// A checked [`Target`], as the inner loops use it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limits {
    /// Steps at most.
    pub(crate) max_atoms: usize,
    /// e² in error mode.
    pub(crate) sq_error: Option<f64>,
}

impl Target {
    /// Checks against the dictionary's shape. Kernel dictionaries live in a space without known
    /// dimension: they pass `n_features = n_atoms`.
    pub(crate) fn limits(&self, n_features: usize, n_atoms: usize) -> Result<Limits, LkdlError> {
        match *self {
            Self::Sparsity(sparsity) => {
                check_count("sparsity", sparsity, n_atoms)?;
                Ok(Limits { max_atoms: sparsity, sq_error: None })
            }
            Self::Error { norm, max_atoms } => {
                check_error_norm(norm)?;
                if let Some(max_atoms) = max_atoms {
                    check_count("max_atoms", max_atoms, n_atoms)?;
                }
                let max_atoms = max_atoms.unwrap_or(n_features.min(n_atoms));
                Ok(Limits { max_atoms, sq_error: Some(norm * norm) })
            }
        }
    }
}

impl Limits {
    /// Whether a code of `n_chosen` atoms that leaves ρ = `sq_residual` is final.
    #[inline]
    pub(crate) fn reached(&self, n_chosen: usize, sq_residual: f64) -> bool {
        n_chosen >= self.max_atoms || self.sq_error.is_some_and(|sq_error| sq_residual <= sq_error)
    }
}

/// Rejects an error norm that is negative, infinite or NaN.
pub(crate) fn check_error_norm(norm: f64) -> Result<(), LkdlError> {
    if norm.is_finite() && norm >= 0.0 {
        Ok(())
    } else {
        Err(LkdlError::parameter("error norm", norm, "finite and at least 0"))
    }
}

fn check_count(name: &'static str, count: usize, n_atoms: usize) -> Result<(), LkdlError> {
    if (1..=n_atoms).contains(&count) {
        Ok(())
    } else {
        Err(LkdlError::parameter(name, count, format!("between 1 and n_atoms = {n_atoms}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_outside_the_dictionary_are_named() {
        for bad in [0, 13] {
            let error = Target::Sparsity(bad).limits(4, 12).unwrap_err();
            let text = format!("sparsity is {bad}, but must be between 1 and n_atoms = 12");
            assert_eq!(error.to_string(), text);
            assert!(Target::Error { norm: 0.1, max_atoms: Some(bad) }.limits(4, 12).is_err());
        }
    }

    #[test]
    fn error_norms_must_be_finite_and_not_negative() {
        for norm in [-1e-9, f64::NAN, f64::INFINITY] {
            assert!(Target::Error { norm, max_atoms: None }.limits(4, 12).is_err(), "{norm}");
        }
        assert!(Target::Error { norm: 0.0, max_atoms: None }.limits(4, 12).is_ok());
    }

    #[test]
    fn error_mode_is_capped_by_the_smaller_dimension() {
        let limits = |k, m| Target::Error { norm: 0.5, max_atoms: None }.limits(k, m).unwrap();
        assert_eq!(limits(4, 12), Limits { max_atoms: 4, sq_error: Some(0.25) });
        assert_eq!(limits(12, 4).max_atoms, 4);
        let capped = Target::Error { norm: 0.5, max_atoms: Some(9) }.limits(4, 12).unwrap();
        assert_eq!(capped.max_atoms, 9);
        assert!(capped.reached(9, 1.0) && capped.reached(0, 0.25) && !capped.reached(8, 0.26));
    }
}
