//! What samples look like, where the user does not say how to treat them.

use crate::names::KernelName;
use faer::{Mat, MatRef};
use lkdl::prelude::*;

/// Samples looked at where the data decide.
const LOOK_AT: usize = 2000;
/// Features from which on a sample may be a signal: centring fewer would take too much away.
const MANY_FEATURES: usize = 16;
/// Features whose deviations differ by more than this factor have different units.
const SAME_UNIT: f64 = 20.0;

/// Every so many samples, so that at most [`LOOK_AT`] are looked at.
pub(crate) fn thinned<T: Real>(samples: MatRef<'_, T>) -> Mat<T> {
    let step = samples.ncols().div_ceil(LOOK_AT).max(1);
    Mat::from_fn(samples.nrows(), samples.ncols().div_ceil(step), |t, i| samples[(t, i * step)])
}

/// Whether samples look like signals, each of which may be centred by itself.
pub fn are_signals(samples: MatRef<'_, f64>) -> bool {
    Kind::of(thinned(samples).as_ref()) == Kind::Signals
}

/// Two sorts of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Many features of one unit: images, spectra, signals. Their mean level and their strength say
    /// little, so each is centred and scaled, and the paper's kernel compares their shapes.
    Signals,
    /// Few features, or features of different units: measurements.
    Measurements,
}

impl Kind {
    /// The sort of these samples.
    pub(crate) fn of<T: Real>(look: MatRef<'_, T>) -> Self {
        let n = look.ncols() as f64;
        let deviation = |t: usize| {
            let mean = look.row(t).iter().map(|v| v.wide()).sum::<f64>() / n;
            let square = |v: &T| (v.wide() - mean).powi(2);
            (look.row(t).iter().map(square).sum::<f64>() / n).sqrt()
        };
        let mut deviations: Vec<f64> =
            (0..look.nrows()).map(deviation).filter(|deviation| *deviation > 0.0).collect();
        deviations.sort_by(f64::total_cmp);
        let typical = deviations.get(deviations.len() / 2).copied().unwrap_or(1.0);
        let largest = deviations.last().copied().unwrap_or(1.0);
        if look.nrows() >= MANY_FEATURES && largest <= SAME_UNIT * typical {
            Self::Signals
        } else {
            Self::Measurements
        }
    }

    /// What suits them.
    pub(crate) fn preparation(self) -> PrepareParams {
        PrepareParams {
            steps: match self {
                Self::Signals => vec![Step::CenterSample, Step::UnitNorm],
                Self::Measurements => vec![Step::Standardize],
            },
        }
    }

    /// What suits them.
    pub(crate) fn kernel(self) -> KernelName {
        match self {
            Self::Signals => KernelName::Polynomial,
            Self::Measurements => KernelName::Gaussian,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_told_from_measurements() {
        let one_unit = Mat::from_fn(20, 50, |t, i| ((7 * i + 3 * t) % 13) as f64);
        assert_eq!(Kind::of(one_unit.as_ref()), Kind::Signals);
        let units = Mat::from_fn(20, 50, |t, i| one_unit[(t, i)] * 2f64.powi(t as i32));
        assert_eq!(Kind::of(units.as_ref()), Kind::Measurements);
        assert_eq!(Kind::of(one_unit.subrows(0, 15)), Kind::Measurements);
        let constant = Mat::<f64>::full(20, 50, 3.0);
        assert_eq!(Kind::of(constant.as_ref()), Kind::Signals);
    }
}
