//! Where an axis begins and ends, and which values it names.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// An axis: its limits and the values that are named on it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) ticks: Vec<f64>,
    /// Decimals that tell the ticks apart.
    decimals: usize,
    /// Equal ratios are equally long.
    logarithmic: bool,
}

/// Named values at most, when they are the data's own.
const MAX_OWN_TICKS: usize = 8;
/// Steps between named values, about.
const STEPS: f64 = 5.0;
/// More decimals than this make no readable label.
const MAX_DECIMALS: i32 = 12;

impl Axis {
    /// Round limits around the values, or the limits given.
    pub(crate) fn around(values: &[f64], limits: Option<(f64, f64)>) -> Self {
        let (low, high) = limits.unwrap_or_else(|| extent(values));
        let (low, high) = widened(low, high);
        let step = round_step((high - low) / STEPS);
        let (low, high) = match limits {
            Some(_) => (low, high),
            None => ((low / step).floor() * step, (high / step).ceil() * step),
        };
        let slack = 1e-9 * step;
        let first = ((low - slack) / step).ceil();
        let ticks = (0..)
            .map(|t| (first + f64::from(t)) * step)
            .take_while(|tick| *tick <= high + slack)
            .take(4 * STEPS as usize)
            .collect();
        Self { low, high, ticks, decimals: decimals(step), logarithmic: false }
    }

    /// The values themselves are named if they are few, with a margin around them.
    pub(crate) fn through(values: &[f64]) -> Self {
        const MARGIN: f64 = 0.04;
        let mut ticks = values.to_vec();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        let (low, high) = extent(values);
        let (low, high) = if low < high { (low, high) } else { widened(low, high) };
        let margin = MARGIN * (high - low);
        if ticks.len() > MAX_OWN_TICKS {
            let round = Self::around(values, Some((low, high)));
            return Self { low: low - margin, high: high + margin, ..round };
        }
        let gap = ticks.windows(2).map(|w| w[1] - w[0]).fold(f64::INFINITY, f64::min);
        let gap = if gap.is_finite() { gap } else { high - low };
        let decimals = ticks.iter().map(|tick| own_decimals(*tick, gap)).max().unwrap_or(0);
        Self { low: low - margin, high: high + margin, ticks, decimals, logarithmic: false }
    }

    /// Powers of ten around values above 0, with 2 and 5 times each if these are few.
    pub(crate) fn powers(values: &[f64]) -> Self {
        let (low, high) = extent(values);
        let (low, high) = if low < high { (low, high) } else { (low / 2.0, high * 2.0) };
        let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        let factors: &[f64] = if last - first <= 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let all = (first..=last)
            .flat_map(|power| factors.iter().map(move |factor| factor * 10.0_f64.powi(power)));
        let all: Vec<f64> = all.collect();
        // the nearest named values outside of the data
        let below = all.iter().rposition(|tick| *tick <= low * 1.000_001).unwrap_or(0);
        let above = all.iter().position(|tick| *tick >= high * 0.999_999).unwrap_or(all.len() - 1);
        let ticks = all[below..=above.max(below)].to_vec();
        let (low, high) = (low.min(ticks[0]), high.max(ticks[ticks.len() - 1]));
        Self { low, high, ticks, decimals: 0, logarithmic: true }
    }

    /// The same axis cut at a value.
    pub(crate) fn up_to(mut self, high: f64) -> Self {
        self.high = high;
        self.ticks.retain(|tick| *tick <= high);
        self
    }

    /// The name of a value.
    pub(crate) fn label(&self, value: f64) -> String {
        if self.logarithmic {
            // 2·10⁻³ is not quite 0.002
            let text = format!("{value:.*}", decimals(value.abs()));
            return if value.abs() >= 1e-6 && value < 1e6 { text } else { format!("{value:.0e}") };
        }
        let largest = self.ticks.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        if largest >= 1e6 {
            return format!("{value:.1e}");
        }
        let text = format!("{value:.*}", self.decimals);
        if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') {
            "0".into()
        } else {
            text
        }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        let share = match self.logarithmic {
            true => (value.max(self.low) / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        start + (share * f64::from(end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        self.label(*value)
    }
}

fn extent(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)))
}

/// Limits that differ: equal ones get room on both sides.
fn widened(low: f64, high: f64) -> (f64, f64) {
    // what is left of the difference after rounding must still carry steps
    let scale = low.abs().max(high.abs());
    if high - low > 1e-9 * scale {
        return (low, high);
    }
    let room = if scale > 0.0 { 0.1 * scale } else { 1.0 };
    (low - room, high + room)
}

/// 1, 2 or 5 times a power of ten, at least as large as the step.
fn round_step(step: f64) -> f64 {
    let power = 10.0_f64.powf(step.log10().floor());
    let step = step / power;
    let rounded = [1.0, 2.0, 5.0].into_iter().find(|s| step <= s * 1.000_001).unwrap_or(10.0);
    rounded * power
}

fn decimals(step: f64) -> usize {
    (-(step.log10() + 1e-9).floor() as i32).clamp(0, MAX_DECIMALS) as usize
}

/// The decimals a value is written with, down to a tenth of the gap to its neighbours.
fn own_decimals(value: f64, gap: f64) -> usize {
    let most = decimals(gap / 10.0);
    let tolerance = gap / 1000.0;
    (0..most)
        .find(|d| {
            let power = 10.0_f64.powi(*d as i32);
            ((value * power).round() / power - value).abs() <= tolerance
        })
        .unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_ticks_are_round() {
        let axis = Axis::around(&[46.1, 98.6], None);
        assert_eq!((axis.low, axis.high), (40.0, 100.0));
        assert_eq!(axis.ticks, [40.0, 60.0, 80.0, 100.0]);
        let axis = Axis::around(&[], Some((0.0, 100.0)));
        assert_eq!(axis.ticks, [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(axis.label(20.0), "20");
        let axis = Axis::around(&[0.0, 0.013], None);
        assert!(axis.high >= 0.013 && axis.label(axis.ticks[1]) == "0.005", "{axis:?}");
    }

    #[test]
    fn few_values_are_named_themselves() {
        let axis = Axis::through(&[0.0, 0.3, 0.6, 0.9, 1.2, 0.3]);
        assert_eq!(axis.ticks, [0.0, 0.3, 0.6, 0.9, 1.2]);
        assert_eq!(
            axis.ticks.iter().map(|t| axis.label(*t)).collect::<Vec<_>>().join(" "),
            "0 0.3 0.6 0.9 1.2"
        );
        assert!(axis.low < 0.0 && axis.high > 1.2);
        let many: Vec<f64> = (0..30).map(f64::from).collect();
        assert!(Axis::through(&many).ticks.len() <= 8);
    }

    #[test]
    fn powers_of_ten_enclose_the_values() {
        let axis = Axis::powers(&[0.0005, 0.1]);
        assert_eq!((axis.low, axis.high), (0.0005, 0.1));
        let labels: Vec<String> = axis.ticks.iter().map(|tick| axis.label(*tick)).collect();
        assert_eq!(labels, ["0.0005", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1"]);
        let wide = Axis::powers(&[0.3, 9043.0]);
        assert_eq!(wide.ticks, [0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0]);
        // equal ratios are equally long, and what is below the axis stays at its foot
        assert_eq!([0.1, 1.0, 10.0, 10000.0].map(|v| wide.map(&v, (0, 100))), [0, 20, 40, 100]);
        assert_eq!(wide.map(&0.0, (0, 100)), 0);
        for one in [1.0, 3.0, 1e-9, 1e90] {
            let axis = Axis::powers(&[one]);
            assert!(axis.low < one && one < axis.high && !axis.ticks.is_empty(), "{axis:?}");
        }
    }

    #[test]
    fn every_axis_has_width_and_ticks() {
        for values in
            [&[0.0][..], &[5.0], &[-1e90], &[1e-300], &[3.0, 3.0 + 1e-15], &[1e100, -1e100]]
        {
            for axis in [Axis::around(values, None), Axis::through(values)] {
                assert!(axis.low < axis.high, "{values:?}: {axis:?}");
                assert!((1..=20).contains(&axis.ticks.len()), "{values:?}: {axis:?}");
                assert!(axis.ticks.iter().all(|t| t.is_finite() && axis.label(*t).len() < 20));
                assert!(values.iter().all(|v| axis.low <= *v && *v <= axis.high));
            }
        }
    }
}
