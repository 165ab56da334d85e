//! What the caller left open and no rule about the data can tell, decided by held-out samples: how
//! many atoms may represent a sample, and whether a kernel helps at all.
//!
//! Few samples of many features per class want more atoms than thousands of digits do, and where
//! classes are linear subspaces (faces under changing light) a kernel only gets in the way. One
//! pursuit gives the decisions of every sparsity ([`lkdl::classify::SparsityPath`]), so the price is
//! a fit on part of the data for each map. What is usual stays unless an alternative is ahead by more
//! than the standard error of the paired difference (McNemar).

use crate::error::RecipeError;
use crate::names::MapName;
use crate::recipe::{Draft, class_sizes};
use crate::wishes::Wishes;
use faer::{Mat, MatRef};
use lkdl::LkdlError;
use lkdl_data::{Split, stratified_folds};
use lkdl_model::{Classifier, Element};

/// Atoms per code at most: beyond, no set that was looked at gains.
const MAX_SPARSITY: usize = 30;
/// Samples looked at at most: enough to tell a point of accuracy, and quick.
const MAX_SAMPLES: usize = 4000;
/// Folds that many samples are cut into; they are judged one after the other until [`ENOUGH`] are.
const MIN_FOLDS: usize = 3;
/// Folds of the fewest: a class of six that lends two is another class.
const MAX_FOLDS: usize = 10;
/// Samples fewer than which are cut into more than [`MIN_FOLDS`] folds, in proportion.
const FEW: usize = 800;
/// Judged samples that suffice: a point of accuracy is eight of them.
const ENOUGH: usize = 800;
/// Standard errors that the best of many sparsities must be ahead: one of thirty is so by chance.
const CLEARLY: f64 = 2.0;
/// The same for no map against the usual one, which is a single comparison.
const LIKELY: f64 = 1.0;

/// What was decided, and by which figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// What to fit.
    pub draft: Draft,
    /// Held-out samples.
    pub n_judged: usize,
    /// Those that were labelled rightly.
    pub n_right: usize,
    /// Those that the usual settings label rightly.
    pub n_usual_right: usize,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = |right: usize| 100.0 * right as f64 / self.n_judged.max(1) as f64;
        let ending = if self.n_judged == 1 { "" } else { "s" };
        let judged = format!("{} held-out sample{ending}", self.n_judged);
        write!(f, "{:.1} % of {judged} right", percent(self.n_right))?;
        if self.n_right != self.n_usual_right {
            write!(f, ", the usual settings {:.1} %", percent(self.n_usual_right))?;
        }
        Ok(())
    }
}

/// Whether each held-out sample was labelled rightly by one map at one sparsity.
struct Outcome {
    sparsity: usize,
    right: Vec<bool>,
}

impl Outcome {
    fn n_right(&self) -> usize {
        self.right.iter().filter(|right| **right).count()
    }

    /// Whether this is ahead of another on the same samples by so many standard errors.
    fn is_ahead_of(&self, other: &Self, standard_errors: f64) -> bool {
        let pairs = || self.right.iter().zip(&other.right);
        let gained = pairs().filter(|(a, b)| **a && !**b).count() as f64;
        let lost = pairs().filter(|(a, b)| !**a && **b).count() as f64;
        gained - lost > standard_errors * (gained + lost).sqrt()
    }
}

/// Decides between `maps`, the usual one first, and sparsities; `None` if nothing is open or there
/// is nothing to judge by.
pub(crate) fn judge<T: Element>(
    wishes: &Wishes,
    maps: &[MapName],
    samples: MatRef<'_, T>,
    labels: &[usize],
    seed: u64,
) -> Option<Verdict> {
    let said = wishes.sparsity;
    let smallest = class_sizes(labels).into_iter().min().unwrap_or(0);
    if (maps.len() < 2 && said.is_some()) || wishes.is_precomputed() || smallest < 2 {
        return None;
    }
    let splits = splits(labels, seed)?;
    // of the parts, which are smaller than the whole
    let part_sizes = class_sizes(&of(labels, &splits.first()?.train));
    let usual = said.unwrap_or_else(|| wishes.usual_sparsity(&part_sizes));
    let mut best: Option<(MapName, Outcome)> = None;
    let mut n_usual_right = 0;
    for &map in maps {
        // what fails here fails in the fit, which says why
        let outcomes = outcomes(wishes, map, &splits, samples, labels, seed).ok()?;
        let (outcome, n_right) = best_sparsity(outcomes, usual)?;
        match &best {
            None => {
                n_usual_right = n_right;
                best = Some((map, outcome));
            }
            Some((_, before)) if outcome.is_ahead_of(before, LIKELY) => {
                best = Some((map, outcome));
            }
            Some(_) => {}
        }
    }
    best.map(|(map, outcome)| Verdict {
        draft: Draft { map, sparsity: (outcome.sparsity != usual).then_some(outcome.sparsity) },
        n_judged: outcome.right.len(),
        n_right: outcome.n_right(),
        n_usual_right,
    })
}

/// Parts to learn from and to judge by, of at most [`MAX_SAMPLES`].
fn splits(labels: &[usize], seed: u64) -> Option<Vec<Split>> {
    let kept = thinned_by_class(labels);
    let of_kept: Vec<u32> = kept.iter().map(|&i| labels[i] as u32).collect();
    let n_folds = (MIN_FOLDS * FEW / kept.len().max(1)).clamp(MIN_FOLDS, MAX_FOLDS);
    let folds = stratified_folds(&of_kept, n_folds.min(kept.len()), seed).ok()?;
    let mut judged = 0;
    let enough = |split: &Split| {
        let is_enough = judged >= ENOUGH;
        judged += split.test.len();
        !is_enough
    };
    let in_samples = |part: Vec<usize>| part.into_iter().map(|i| kept[i]).collect();
    let split =
        |split: Split| Split { train: in_samples(split.train), test: in_samples(split.test) };
    Some(folds.into_iter().take_while(enough).map(split).collect())
}

/// Every so many samples of each class, so that about [`MAX_SAMPLES`] are left and no class loses
/// its second.
fn thinned_by_class(labels: &[usize]) -> Vec<usize> {
    let step = labels.len().div_ceil(MAX_SAMPLES).max(1);
    let mut seen = vec![0usize; class_sizes(labels).len()];
    let keep = |i: &usize| {
        let count = &mut seen[labels[*i]];
        *count += 1;
        *count <= 2 || count.is_multiple_of(step)
    };
    (0..labels.len()).filter(keep).collect()
}

/// By sparsity, what one map makes of the held-out samples.
fn outcomes<T: Element>(
    wishes: &Wishes,
    map: MapName,
    splits: &[Split],
    samples: MatRef<'_, T>,
    labels: &[usize],
    seed: u64,
) -> Result<Vec<Outcome>, RecipeError> {
    let sparsities: Vec<usize> = match wishes.sparsity {
        Some(said) => vec![said],
        None => (1..=MAX_SPARSITY).collect(),
    };
    let mut outcomes: Vec<Outcome> =
        sparsities.iter().map(|&sparsity| Outcome { sparsity, right: Vec::new() }).collect();
    for split in splits {
        let (train, truth) = (part(samples, &split.train), of(labels, &split.test));
        let train_labels = of(labels, &split.train);
        let draft = Draft { map, sparsity: None };
        let recipe = wishes.follow(draft, train.as_ref(), &train_labels, seed)?;
        let model = recipe.params.fit(train.as_ref(), &train_labels)?;
        let Classifier::ClassDictionaries(rule) = model.classifier() else {
            return Err(RecipeError::from(LkdlError::Unsupported {
                what: "a path of sparsities",
                problem: "is known for class dictionaries alone",
                fix: "say the sparsity",
            }));
        };
        let most = rule.learned().iter().map(|class| class.dictionary.ncols()).max().unwrap_or(1);
        let test = model.transform(part(samples, &split.test).as_ref())?;
        let path = rule.sparsity_path(test.as_ref(), most.min(MAX_SPARSITY))?;
        for outcome in &mut outcomes {
            // where there are fewer atoms, all of them
            let labels = path.labels(outcome.sparsity.min(path.max_sparsity())).unwrap_or(&[]);
            outcome.right.extend(labels.iter().zip(&truth).map(|(label, truth)| label == truth));
        }
    }
    Ok(outcomes)
}

/// The outcome of the sparsity that is right most often, the smallest of equals, if it is clearly
/// better than the usual one, else that one; and how often the usual one is right.
fn best_sparsity(outcomes: Vec<Outcome>, usual: usize) -> Option<(Outcome, usize)> {
    let at = outcomes.iter().position(|outcome| outcome.sparsity == usual)?;
    let n_usual_right = outcomes[at].n_right();
    let most = outcomes.iter().map(Outcome::n_right).max()?;
    let best = outcomes.iter().position(|outcome| outcome.n_right() == most)?;
    let chosen = if outcomes[best].is_ahead_of(&outcomes[at], CLEARLY) { best } else { at };
    outcomes.into_iter().nth(chosen).map(|outcome| (outcome, n_usual_right))
}

fn part<T: Element>(samples: MatRef<'_, T>, indices: &[usize]) -> Mat<T> {
    Mat::from_fn(samples.nrows(), indices.len(), |t, i| samples[(t, indices[i])])
}

fn of(labels: &[usize], indices: &[usize]) -> Vec<usize> {
    indices.iter().map(|&i| labels[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wishes(settings: &[(&str, &str)]) -> Wishes {
        Wishes::from_settings(settings.iter().copied()).unwrap()
    }

    fn outcome(sparsity: usize, n_right: usize, of: usize) -> Outcome {
        Outcome { sparsity, right: (0..of).map(|i| i < n_right).collect() }
    }

    #[test]
    fn the_usual_stays_unless_another_is_clearly_better() {
        let chosen = |counts: &[(usize, usize)]| {
            let outcomes = counts.iter().map(|&(q, right)| outcome(q, right, 100)).collect();
            best_sparsity(outcomes, 5).unwrap().0.sparsity
        };
        assert_eq!(chosen(&[(4, 93), (5, 90), (6, 93)]), 5); // 3 ≤ 2·√3
        assert_eq!(chosen(&[(4, 95), (5, 90), (6, 95)]), 4); // 5 > 2·√5, the smaller of equals
        assert_eq!(chosen(&[(5, 90), (6, 20)]), 5);
        assert!(best_sparsity(Vec::new(), 5).is_none());
    }

    /// Faces under changing light: all share six dimensions, and each class has eight of its own. A
    /// code needs more than five atoms, and squared inner products see the light alone.
    fn subspaces() -> (Mat<f64>, Vec<usize>) {
        // uniform in [−1, 1), by splitmix64
        let wave = |a: usize, b: usize| {
            let mut z = ((a as u64) << 32 | b as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let samples = Mat::from_fn(60, 200, |t, i| {
            let weight = |d: usize| wave(100_000 + i, d);
            let own: f64 = (0..8).map(|d| wave(1000 + 8 * (i % 5) + d, t) * weight(d)).sum();
            let light: f64 = (0..6).map(|d| wave(1 + d, t) * weight(100 + d)).sum();
            own + 3.0 * light + 0.5 * wave(200_000 + i, t)
        });
        (samples, (0..200).map(|i| i % 5).collect())
    }

    #[test]
    fn subspaces_get_more_atoms_than_usual_and_no_map() {
        let (samples, labels) = subspaces();
        let maps = [MapName::Nystroem, MapName::None];
        let verdict = judge(&wishes(&[]), &maps, samples.as_ref(), &labels, 0).unwrap();
        let sparsity = verdict.draft.sparsity.unwrap();
        assert_eq!(verdict.draft.map, MapName::None, "{verdict}");
        assert!((8..=16).contains(&sparsity), "{verdict}");
        assert_eq!(verdict.n_judged, 200);
        assert!(verdict.n_right > verdict.n_usual_right, "{verdict}");
        let again = judge(&wishes(&[]), &maps, samples.as_ref(), &labels, 0).unwrap();
        assert_eq!(verdict, again);
        // what is said is not decided
        let said =
            judge(&wishes(&[("sparsity", "3")]), &maps, samples.as_ref(), &labels, 0).unwrap();
        assert_eq!(said.draft.sparsity, None);
    }

    #[test]
    fn nothing_open_and_nothing_to_judge_by_decide_nothing() {
        let (samples, mut labels) = subspaces();
        let none = |settings: &[(&str, &str)], labels: &[usize]| {
            judge(&wishes(settings), &[MapName::None], samples.as_ref(), labels, 0).is_none()
        };
        assert!(none(&[("sparsity", "3")], &labels));
        assert!(none(&[("kernel", "precomputed")], &labels));
        labels[0] = 5; // a class of one sample
        assert!(none(&[], &labels));
    }

    #[test]
    fn many_samples_are_thinned_class_by_class() {
        let labels: Vec<usize> = (0..20_000).map(|i| usize::from(i % 1000 == 0)).collect();
        let kept = thinned_by_class(&labels);
        assert!((3900..=4200).contains(&kept.len()), "{}", kept.len());
        assert!(kept.iter().filter(|&&i| labels[i] == 1).count() >= 4);
        let all = thinned_by_class(&labels[..3000]);
        assert_eq!(all.len(), 3000);
        let n_judged = |labels: &[usize]| -> Vec<usize> {
            splits(labels, 0).unwrap().iter().map(|split| split.test.len()).collect()
        };
        assert_eq!(n_judged(&labels).len(), 1, "a fold of a thousand is enough");
        assert_eq!(n_judged(&labels[..1200]), [400, 400]);
        assert_eq!(n_judged(&labels[..120]), [12; 10], "few samples lend few at a time");
        assert_eq!(n_judged(&labels[..5]), [1; 5]);
    }
}
