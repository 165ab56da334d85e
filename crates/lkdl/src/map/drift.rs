//! Drift: how much of new samples the landmarks miss, against what they missed at the start.
//!
//! The monitor is the running share Σe⊥/Σκ(x,x), the trace error of recent samples. When it exceeds
//! twice that of the pilot, the landmarks no longer fit the data, and the map should grow
//! ([`NystroemMap::grow`](super::NystroemMap::grow)).

use crate::error::LkdlError;
use crate::matrix::check_size;

/// A share of the pilot below this counts as this: landmarks that miss nothing of the pilot are not
/// outgrown by rounding.
const LEAST_SHARE: f64 = 1e-6;

/// Drift is when the share exceeds this many times the pilot's, unless another limit is said.
pub(crate) const USUAL_LIMIT: f64 = 2.0;

/// Samples that the running share reaches back, unless it is said: it then varies by a few hundredths
/// on samples that are mixed, and follows within a block or a few.
pub const USUAL_WINDOW: usize = 1000;

/// Watches the residual energy of samples as they come.
#[derive(Debug, Clone, PartialEq)]
pub struct DriftMonitor {
    /// Σe⊥/Σκ(x,x) of the pilot.
    pilot_share: f64,
    /// How many samples the running sums reach back.
    window: usize,
    /// Drift is when the share exceeds this many times the pilot's.
    limit: f64,
    residual: f64,
    total: f64,
}

impl DriftMonitor {
    /// From the residual energies e⊥ of the pilot and its κ(x,x). The running share starts as that
    /// of the pilot and reaches back about `window` samples.
    pub fn new(energies: &[f64], self_values: &[f64], window: usize) -> Result<Self, LkdlError> {
        if window == 0 {
            return Err(LkdlError::parameter("window", 0, "at least 1"));
        }
        check_size("kernel self-values", self_values.len(), energies.len())?;
        let (residual, total) = (sum(energies)?, sum(self_values)?);
        if total == 0.0 {
            return Err(LkdlError::AllZero { what: "the pilot's kernel values" });
        }
        let weight = window as f64 / energies.len() as f64;
        let pilot_share = (residual / total).max(LEAST_SHARE);
        let (residual, total) = (residual * weight, total * weight);
        Ok(Self { pilot_share, window, limit: USUAL_LIMIT, residual, total })
    }

    /// Another limit than twice the pilot's share.
    pub fn with_limit(self, limit: f64) -> Result<Self, LkdlError> {
        if !(limit > 1.0 && limit.is_finite()) {
            return Err(LkdlError::parameter("drift limit", limit, "a finite number above 1"));
        }
        Ok(Self { limit, ..self })
    }

    /// Residual energies and κ(x,x) of the next samples; whether the data have drifted.
    pub fn observe(&mut self, energies: &[f64], self_values: &[f64]) -> Result<bool, LkdlError> {
        check_size("kernel self-values", self_values.len(), energies.len())?;
        sum(energies)?;
        sum(self_values)?;
        let kept = 1.0 - 1.0 / self.window as f64;
        for (energy, self_value) in energies.iter().zip(self_values) {
            self.residual = self.residual * kept + energy;
            self.total = self.total * kept + self_value;
        }
        Ok(self.has_drifted())
    }

    /// The map has grown: what it missed before says nothing of it, so the running share is that of
    /// the pilot again.
    pub fn restart(&mut self) {
        self.residual = self.pilot_share * self.total;
    }

    /// All that the monitor has learned, for [`DriftMonitor::from_numbers`].
    pub fn to_numbers(&self) -> [f64; 3] {
        [self.pilot_share, self.residual, self.total]
    }

    /// The monitor that had these numbers; `None` if none could have had them.
    pub fn from_numbers(numbers: [f64; 3], window: usize) -> Option<Self> {
        let [pilot_share, residual, total] = numbers;
        let possible = numbers.iter().all(|v| *v >= 0.0 && v.is_finite());
        (possible && pilot_share >= LEAST_SHARE && window > 0).then_some(Self {
            pilot_share,
            window,
            limit: USUAL_LIMIT,
            residual,
            total,
        })
    }

    /// The running share, as a multiple of the pilot's.
    pub fn level(&self) -> f64 {
        if self.total > 0.0 { self.residual / self.total / self.pilot_share } else { 0.0 }
    }

    /// Whether it exceeds the limit.
    pub fn has_drifted(&self) -> bool {
        self.level() > self.limit
    }
}

fn sum(values: &[f64]) -> Result<f64, LkdlError> {
    match values.iter().position(|v| !(*v >= 0.0 && v.is_finite())) {
        Some(i) => Err(LkdlError::parameter(
            "a residual energy or kernel self-value",
            values[i],
            "a finite number >= 0",
        )),
        None => Ok(values.iter().sum()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_is_the_running_share_over_that_of_the_pilot() {
        let mut drift = DriftMonitor::new(&[0.1; 50], &[1.0; 50], 100).unwrap();
        assert!((drift.level() - 1.0).abs() < 1e-12);
        // e⊥ steps from .1 to .4: the share runs there like 1 − (1 − 1/100)ⁿ.
        for n in 1..=300 {
            let drifted = drift.observe(&[0.4], &[1.0]).unwrap();
            let reached = 4.0 - 3.0 * 0.99f64.powi(n);
            assert!((drift.level() - reached).abs() < 1e-9, "{n}: {} {reached}", drift.level());
            assert_eq!(drifted, reached > 2.0);
        }
        let mut high =
            DriftMonitor::new(&[0.1; 50], &[1.0; 50], 100).unwrap().with_limit(5.0).unwrap();
        assert!(!high.observe(&[0.4; 1000], &[1.0; 1000]).unwrap());
    }

    #[test]
    fn where_blocks_are_cut_does_not_matter() {
        let mut one = DriftMonitor::new(&[0.1; 20], &[1.0; 20], 100).unwrap();
        let mut many = one.clone();
        let energies: Vec<f64> = (0..400).map(|i| 0.3 + 0.1 * f64::from(i).sin()).collect();
        one.observe(&energies, &[1.0; 400]).unwrap();
        for block in energies.chunks(7) {
            many.observe(block, &vec![1.0; block.len()]).unwrap();
        }
        assert_eq!(one, many);
    }

    #[test]
    fn a_restarted_monitor_is_at_the_level_of_the_pilot_and_watches_on() {
        let mut drift = DriftMonitor::new(&[0.1; 50], &[1.0; 50], 100).unwrap();
        drift.observe(&[0.9; 300], &[1.0; 300]).unwrap();
        assert!(drift.level() > 8.0);
        let again = DriftMonitor::from_numbers(drift.to_numbers(), 100).unwrap();
        assert_eq!(again, drift);
        drift.restart();
        assert!((drift.level() - 1.0).abs() < 1e-12 && !drift.has_drifted());
        assert!(drift.observe(&[0.9; 300], &[1.0; 300]).unwrap());
        for impossible in [[0.0, 1.0, 1.0], [0.1, f64::NAN, 1.0], [0.1, 1.0, -1.0]] {
            assert_eq!(DriftMonitor::from_numbers(impossible, 100), None);
        }
    }

    #[test]
    fn a_pilot_without_residual_is_not_outgrown_by_rounding() {
        let mut drift = DriftMonitor::new(&[0.0; 20], &[1.0; 20], 10).unwrap();
        assert!(!drift.observe(&[1e-12; 100], &[1.0; 100]).unwrap());
        assert!(drift.observe(&[1e-3; 100], &[1.0; 100]).unwrap());
    }

    #[test]
    fn values_that_are_no_energies_are_named() {
        assert!(DriftMonitor::new(&[0.1], &[1.0], 0).is_err());
        assert!(DriftMonitor::new(&[0.1], &[1.0, 1.0], 5).is_err());
        assert!(DriftMonitor::new(&[0.0], &[0.0], 5).is_err());
        let mut drift = DriftMonitor::new(&[0.1], &[1.0], 5).unwrap();
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(matches!(drift.observe(&[bad], &[1.0]), Err(LkdlError::Parameter { .. })));
        }
        assert!(drift.with_limit(1.0).is_err());
    }
}
