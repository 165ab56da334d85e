//! How many landmarks: a number, a share of the samples, or as many as the kernel needs.
//!
//! The automatic count follows the trace certificate of RPCholesky: pivots are added until
//! tr(K − K̂)/tr K falls to a tolerance (but not before 256), beyond which classification no longer improves, or until
//! further pivots hardly lower it.

use crate::error::LkdlError;

/// The certificate at which accuracy has levelled off in the measurements behind this default.
const DEFAULT_TRACE_ERROR: f64 = 0.15;
/// c² memory and c³ time stay small up to here.
const DEFAULT_MAX: usize = 4096;
/// Landmarks at least, where there are so many samples: fewer save no time worth having, and on
/// small easy sets they cost accuracy. A narrow kernel, which improves slowly from the first pivot,
/// is not mistaken for a stagnating one either.
const START: usize = 256;
/// Share of the last pivots looked at, and the relative improvement they must bring.
const STAGNATION_WINDOW: f64 = 0.1;
const STAGNATION_GAIN: f64 = 0.02;

/// How many landmarks to choose, c.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LandmarkCount {
    /// Exactly this many, between 1 and the number of samples.
    Exact(usize),
    /// This share of the samples (0 to 1), at least one.
    Share(f64),
    /// From the trace certificate, but at most `max` (and at most the number of samples).
    Auto {
        /// tr(K − K̂)/tr K to reach.
        trace_error: f64,
        /// Landmarks at most.
        max: usize,
    },
}

impl Default for LandmarkCount {
    fn default() -> Self {
        Self::Auto { trace_error: DEFAULT_TRACE_ERROR, max: DEFAULT_MAX }
    }
}

impl LandmarkCount {
    /// c for N samples; for the automatic count its upper limit.
    pub(crate) fn limit(self, n_samples: usize) -> Result<usize, LkdlError> {
        match self {
            Self::Exact(count) if (1..=n_samples).contains(&count) => Ok(count),
            Self::Exact(count) => {
                let range = format!("between 1 and n_samples = {n_samples}");
                Err(LkdlError::parameter("n_landmarks", count, range))
            }
            Self::Share(share) if share > 0.0 && share <= 1.0 => {
                Ok(((share * n_samples as f64).round() as usize).clamp(1, n_samples))
            }
            Self::Share(share) => {
                Err(LkdlError::parameter("n_landmarks share", share, "above 0 and at most 1"))
            }
            Self::Auto { trace_error, max } => {
                if !(trace_error > 0.0 && trace_error < 1.0) {
                    let range = "between 0 and 1, exclusive";
                    return Err(LkdlError::parameter("trace_error", trace_error, range));
                }
                if max == 0 {
                    return Err(LkdlError::parameter("max landmarks", max, "at least 1"));
                }
                Ok(max.min(n_samples))
            }
        }
    }
}

/// Whether the certificate is good enough, or no longer improves.
pub(super) fn enough(trace_curve: &[f64], trace: f64, trace_error: f64) -> bool {
    let (n, Some(&left)) = (trace_curve.len(), trace_curve.last()) else { return false };
    let before = trace_curve[n - 1 - (STAGNATION_WINDOW * n as f64) as usize];
    n >= START && (left <= trace_error * trace || before - left < STAGNATION_GAIN * before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_resolved_against_the_samples_and_bad_ones_named() {
        assert_eq!(LandmarkCount::Exact(7).limit(10), Ok(7));
        assert_eq!(LandmarkCount::Share(0.2).limit(7291), Ok(1458));
        assert_eq!(LandmarkCount::Share(0.001).limit(10), Ok(1));
        assert_eq!(LandmarkCount::default().limit(10), Ok(10));
        for bad in [
            LandmarkCount::Exact(0),
            LandmarkCount::Exact(11),
            LandmarkCount::Share(0.0),
            LandmarkCount::Share(f64::NAN),
            LandmarkCount::Auto { trace_error: 0.0, max: 5 },
            LandmarkCount::Auto { trace_error: 0.1, max: 0 },
        ] {
            assert!(matches!(bad.limit(10), Err(LkdlError::Parameter { .. })), "{bad:?}");
        }
    }

    #[test]
    fn selection_stops_at_the_tolerance_or_at_stagnation_but_not_early() {
        assert!(!enough(&[], 1.0, 0.15) && !enough(&[0.5, 0.01], 1.0, 0.15));
        let falling: Vec<f64> = (0..300).map(|i| 0.9 - 0.002 * f64::from(i)).collect();
        assert!(!enough(&falling, 1.0, 0.15));
        assert!(enough(&falling, 1.0, 0.31));
        let flat = vec![0.9; 300];
        assert!(enough(&flat, 1.0, 0.15) && !enough(&flat[..255], 1.0, 0.15));
    }
}
