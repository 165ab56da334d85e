//! Coarse to fine: every kernel at quick sizes, the best of them under every preparation, then
//! walked along one axis at a time, in steps of 2, then of √2.
//!
//! A larger size must bring accuracy; a smaller one need not lose any. So of settings that do
//! equally well the cheapest is found.

use super::space::{Axis, Point, Space};
use crate::failure::Failure;

/// Factors of a step, coarse to fine.
const FACTORS: [f64; 2] = [2.0, std::f64::consts::SQRT_2];
/// Means over folds that differ by less are equal.
const TIE: f64 = 1e-9;

/// Why a search ends before it has nothing left to try.
#[derive(Debug)]
pub enum Halt {
    /// No trials or no time left.
    Budget,
    /// Something that no other setting would mend.
    Failed(Failure),
}

/// The accuracy of a point; `None` if it cannot be had.
pub type Trial<'a> = &'a mut dyn FnMut(&Point) -> Result<Option<f64>, Halt>;

/// A point and its accuracy.
pub type Best = Option<(f64, Point)>;

/// Tries points until none of the neighbours of the best is better. `best` is the best so far, also
/// where the search is halted.
pub fn search(space: &Space, best: &mut Best, trial: Trial<'_>) -> Result<(), Halt> {
    for point in space.coarse() {
        if let Some(score) = trial(&point)?
            && best.as_ref().is_none_or(|(before, _)| score > before + TIE)
        {
            *best = Some((score, point));
        }
    }
    let Some(best) = best else { return Ok(()) };
    for point in space.prepared_otherwise(&best.1) {
        if let Some(score) = trial(&point)?
            && score > best.0 + TIE
        {
            *best = (score, point);
        }
    }
    for factor in FACTORS {
        loop {
            let before = best.1.clone();
            for axis in Axis::ALL {
                climb(space, axis, factor, best, trial)?;
            }
            if best.1 == before {
                break;
            }
        }
    }
    Ok(())
}

/// Walks along one axis, in the direction that is good, as long as it is.
fn climb(
    space: &Space,
    axis: Axis,
    factor: f64,
    best: &mut (f64, Point),
    trial: Trial<'_>,
) -> Result<(), Halt> {
    for up in [true, false] {
        let needed = if up || !axis.is_size() { TIE } else { -TIE };
        let mut moved = false;
        while let Some(next) = space.step(&best.1, axis, up, factor) {
            match trial(&next)? {
                Some(score) if score > best.0 + needed => *best = (score, next),
                _ => break,
            }
            moved = true;
        }
        if moved {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::space::{Choice, Limits, Settings};
    use super::*;

    fn space() -> Space {
        let limits =
            Limits { n_samples: 3000, n_features: 100, class_size: 300, are_signals: true };
        Space::new(&[], Settings::new(), limits).unwrap()
    }

    /// Distance in octaves.
    fn octaves(a: f64, b: f64) -> f64 {
        (a / b).log2().abs()
    }

    /// A smooth hill with its top at unit norm, a width of 5.6 medians, 900 landmarks, rank 500, 120
    /// atoms, sparsity 9.
    fn planted(point: &Point) -> f64 {
        let kernel = match point.kernel {
            Choice::Width("gaussian", width) => 0.1 * octaves(width, 5.6),
            Choice::Degree(degree) => 0.4 + 0.01 * f64::from(degree),
            _ => 0.5,
        };
        let sizes = [
            (point.landmarks, 900.0),
            (point.rank, 500.0),
            (point.atoms, 120.0),
            (point.sparsity, 9.0),
        ];
        let lost: f64 = sizes.iter().map(|(size, top)| 0.01 * octaves(*size as f64, *top)).sum();
        let prepare = if point.prepare == "l2" { 0.0 } else { 0.05 };
        1.0 - kernel - lost - prepare
    }

    #[test]
    fn a_planted_best_setting_is_found() {
        let (mut best, mut trials) = (None, 0);
        let mut trial = |point: &Point| {
            trials += 1;
            Ok(Some(planted(point)))
        };
        search(&space(), &mut best, &mut trial).unwrap();
        let (_, point) = best.unwrap();
        let Choice::Width("gaussian", width) = point.kernel else { panic!("{point:?}") };
        assert!(octaves(width, 5.6) < 0.3 && point.prepare == "l2", "{point:?}");
        let sizes = [point.landmarks, point.rank, point.atoms, point.sparsity];
        for (size, top) in sizes.into_iter().zip([900.0, 500.0, 120.0, 9.0]) {
            assert!(octaves(size as f64, top) < 0.3, "{point:?}");
        }
        assert!(trials < 120, "{trials} trials");
    }

    #[test]
    fn of_equals_the_cheapest_is_found() {
        let mut best = None;
        let good = |point: &Point| point.atoms >= 6 && point.rank >= 40;
        let mut trial = |point: &Point| Ok(Some(if good(point) { 1.0 } else { 0.5 }));
        search(&space(), &mut best, &mut trial).unwrap();
        let (score, point) = best.unwrap();
        assert!(score == 1.0 && point.atoms <= 8 && point.rank <= 57, "{point:?}");
        assert_eq!(point.sparsity, 1);
    }

    #[test]
    fn settings_that_fail_are_passed_over_and_a_halt_keeps_the_best() {
        let mut best = None;
        let is_degree = |point: &Point| matches!(point.kernel, Choice::Degree(_));
        let mut trial = |point: &Point| Ok(is_degree(point).then(|| planted(point)));
        search(&space(), &mut best, &mut trial).unwrap();
        assert!(best.is_some_and(|(_, point)| is_degree(&point)));
        let mut none = None;
        search(&space(), &mut none, &mut |_: &Point| Ok(None)).unwrap();
        assert!(none.is_none());
        let (mut left, mut best) = (4, None);
        let mut trial = |point: &Point| {
            left -= 1;
            if left == 0 { Err(Halt::Budget) } else { Ok(Some(planted(point))) }
        };
        assert!(matches!(search(&space(), &mut best, &mut trial), Err(Halt::Budget)));
        assert!(left == 0 && best.is_some());
    }
}
