//! Invariants of part 6: the stack, its split, and what the variants have in common.

use super::*;
use crate::classify::Classify;
use crate::monitor::Silent;
use crate::testing::{
    bits, close, random_matrix, random_unit_columns, same_for_any_thread_count, tolerance,
};

/// Clouds around random directions, of unequal norms, the classes in turn.
fn clouds<T: Real>(p: usize, n: usize, n_classes: usize, seed: u64) -> (Mat<T>, Vec<usize>) {
    let centres = random_unit_columns::<T>(p, n_classes, 77);
    let noise = random_matrix::<T>(p, n, seed);
    let X = Mat::from_fn(p, n, |t, i| {
        let scale = 0.5 + (i % 5) as f64;
        T::of(scale * (centres[(t, i % n_classes)].wide() + 0.1 * noise[(t, i)].wide()))
    });
    (X, (0..n).map(|i| i % n_classes).collect())
}

fn params(variant: LcVariant) -> LcKsvdParams {
    LcKsvdParams {
        variant,
        n_atoms: 11,
        sparsity: 3,
        sqrt_alpha: 0.7,
        sqrt_beta: 1.3,
        class_iters: 3,
        shared_iters: 3,
        max_iters: 4,
        ..Default::default()
    }
}

const VARIANTS: [LcVariant; 3] = [LcVariant::Lc1, LcVariant::Lc2, LcVariant::Discriminative];

/// Steps 1 to 3 as published, with Q and A₀ written out: D₀, and the dictionary and codes of the
/// stack [X; √αQ; √βH].
fn published<T: Real>(
    params: &LcKsvdParams,
    X: &Mat<T>,
    labels: &[usize],
) -> (Start<T>, Mat<T>, Codes<T>) {
    let X = columns_of(X);
    let members = class_members(labels, X.ncols()).unwrap();
    let start = params.class_atoms(X, &members, &Silent).unwrap();
    let Z = params.shared_codes(X, &start.D, &Silent).unwrap();
    let (p, m, n_classes) = (X.nrows(), start.D.ncols(), members.len());
    let Q = Mat::from_fn(m, X.ncols(), |j, i| {
        T::of(f64::from(u8::from(start.atom_classes[j] == labels[i])))
    });
    let H = one_hot::<T>(labels, n_classes);
    let A = ridge_regression(columns_of(&Q), &Z, params.ridge).unwrap();
    let Theta = ridge_regression(columns_of(&H), &Z, params.ridge).unwrap();
    let (alpha, beta) = params.weights();
    let stack = |upper: &dyn Fn(usize) -> T,
                 Q: &dyn Fn(usize) -> f64,
                 H: &dyn Fn(usize) -> f64,
                 row: usize| {
        if row < p {
            upper(row)
        } else if row < p + m {
            T::of(alpha.sqrt() * Q(row - p))
        } else {
            T::of(beta.sqrt() * H(row - p - m))
        }
    };
    let samples = Mat::from_fn(p + m + n_classes, X.ncols(), |row, i| {
        stack(&|t| X[(t, i)], &|j| Q[(j, i)].wide(), &|l| H[(l, i)].wide(), row)
    });
    let atoms = Mat::from_fn(p + m + n_classes, m, |row, j| {
        stack(&|t| start.D[(t, j)], &|i| A[(i, j)], &|l| Theta[(l, j)], row)
    });
    let learner = params.learner(m, p, params.max_iters, InitialAtoms::Given(atoms));
    let (learned, codes) = learner.learn_with_codes(samples.as_ref(), 0, &Silent).unwrap();
    (start, learned.dictionary, codes)
}

fn small_stack_is_the_published_one<T: Real>(tol: f64) {
    for variant in VARIANTS {
        let (X, labels) = clouds::<T>(8, 60, 3, 1);
        let params = params(variant);
        let (start, stacked, _) = published(&params, &X, &labels);
        let model = params.train(X.as_ref(), &labels).unwrap();
        assert_eq!(model.atom_classes(), start.atom_classes);
        let (p, m) = (8, start.D.ncols());
        let (alpha, beta) = params.weights();
        for j in 0..m {
            let column = stacked.col_as_slice(j);
            let norm = crate::vector::norm_sq(&column[..p]).sqrt();
            let gap = |value: T, row: usize, weight: f64| {
                (value.wide() - column[row].wide() / (weight * norm)).abs()
            };
            for t in 0..p {
                assert!(gap(model.dictionary()[(t, j)], t, 1.0) < tol, "{variant:?}: D");
            }
            for l in 0..3 {
                if beta > 0.0 {
                    let row = p + m + l;
                    assert!(gap(model.classifier()[(l, j)], row, beta.sqrt()) < tol, "Θ");
                }
            }
            for (other, &class) in start.atom_classes.iter().enumerate() {
                if alpha > 0.0 {
                    let value = model.consistency().unwrap()[(class, j)];
                    assert!(gap(value, p + other, alpha.sqrt()) < tol, "{variant:?}: A");
                }
            }
        }
        assert_eq!(model.consistency().is_some(), alpha > 0.0);
    }
}

#[test]
fn one_row_per_class_learns_what_the_published_stack_learns() {
    small_stack_is_the_published_one::<f64>(1e-9);
    small_stack_is_the_published_one::<f32>(2e-3);
}

fn split_keeps_reconstructions<T: Real>() {
    let (X, labels) = clouds::<T>(7, 50, 3, 2);
    let params = params(LcVariant::Lc2);
    let members = class_members(&labels, 50).unwrap();
    let start = params.class_atoms(columns_of(&X), &members, &Silent).unwrap();
    let (alpha, beta) = params.weights();
    let stack = Stack::new(columns_of(&X), &labels, &start.atom_classes, alpha, beta);
    let Theta = random_matrix::<f64>(3, start.D.ncols(), 3);
    let initial = InitialAtoms::Given(stack.atoms(&start.D, Theta.as_ref()));
    let learner = params.learner(start.D.ncols(), 7, 4, initial);
    let (learned, codes) = learner.learn_with_codes(stack.samples.as_ref(), 0, &Silent).unwrap();
    let stacked = &learned.dictionary;
    let (D, lower) = stack.split(columns_of(&X), &labels, stacked, 3);
    let norm = |j: usize| crate::vector::norm_sq(&stacked.col_as_slice(j)[..7]).sqrt();
    let counts = [4.0, 4.0, 3.0f64]; // 11 atoms of three classes
    for i in 0..50 {
        let (atoms, values) = codes.signal(i);
        let sum = |entry: &dyn Fn(usize) -> f64| -> f64 {
            atoms.iter().zip(values).map(|(&j, v)| entry(j as usize) * v.wide()).sum()
        };
        let scale = 1.0 + X.col(i).norm_l2().wide();
        for row in 0..stacked.nrows() {
            let whole = sum(&|j| stacked[(row, j)].wide());
            let parts = match row.checked_sub(7) {
                None => sum(&|j| D[(row, j)].wide() * norm(j)),
                // √αA and √βΘ of one class: the rows that W stands for
                Some(l) => {
                    let weight = (alpha * counts[l] + beta).sqrt();
                    sum(&|j| weight * lower[(l, j)] * norm(j))
                }
            };
            assert!((whole - parts).abs() <= tolerance::<T>(8) * scale, "{row}: {whole} {parts}");
        }
    }
    for j in 0..11 {
        let sq = crate::vector::norm_sq(D.col_as_slice(j));
        assert!((sq - 1.0).abs() <= tolerance::<T>(7));
    }
}

#[test]
fn stacked_reconstructions_are_those_of_the_parts_times_the_norms() {
    split_keeps_reconstructions::<f64>();
    split_keeps_reconstructions::<f32>();
}

fn weights_to_zero<T: Real>() {
    let (X, labels) = clouds::<T>(8, 60, 3, 3);
    let members = class_members(&labels, 60).unwrap();
    for variant in VARIANTS {
        let params = params(variant);
        let start = params.class_atoms(columns_of(&X), &members, &Silent).unwrap();
        let plain = params
            .learner(11, 8, params.max_iters, InitialAtoms::Given(start.D))
            .learn(X.as_ref(), 0)
            .unwrap();
        let train = |weight: f64| {
            LcKsvdParams { sqrt_alpha: weight, sqrt_beta: weight, ..params.clone() }
                .train(X.as_ref(), &labels)
                .unwrap()
        };
        let tiny = train(1e-5);
        close(tiny.dictionary(), plain.dictionary.as_ref(), 1e-3);
        let none = train(0.0);
        // up to the last bit, which bringing unit columns to unit norm again may move
        close(none.dictionary(), plain.dictionary.as_ref(), tolerance::<T>(8));
        assert!(none.consistency().is_none());
        // Θ is then a ridge regression on the codes over D.
        let codes = code(columns_of(&X), none.learned().dictionary.clone(), 3);
        let Theta = ridge_regression(columns_of(&one_hot::<T>(&labels, 3)), &codes, 1.0).unwrap();
        assert_eq!(bits(&none.parts().classifier), bits(&convert::<f64, T>(Theta.as_ref())));
    }
}

#[test]
fn without_weights_it_is_ksvd_and_tends_to_it() {
    weights_to_zero::<f64>();
    weights_to_zero::<f32>();
}

#[test]
fn d_ksvd_is_lc_ksvd2_without_consistency_and_lc_ksvd1_without_classifier() {
    let (X, labels) = clouds::<f64>(8, 60, 3, 4);
    let train = |params: LcKsvdParams| params.train(X.as_ref(), &labels).unwrap();
    let same = |a: &LcKsvd<f64>, b: &LcKsvd<f64>| {
        assert_eq!(bits(&a.learned().dictionary), bits(&b.learned().dictionary));
        assert_eq!(bits(&a.parts().classifier), bits(&b.parts().classifier));
        assert_eq!(a.consistency().is_some(), b.consistency().is_some());
    };
    let no_consistency = LcKsvdParams { sqrt_alpha: 0.0, ..params(LcVariant::Lc2) };
    same(&train(params(LcVariant::Discriminative)), &train(no_consistency));
    let no_classifier = LcKsvdParams { sqrt_beta: 0.0, ..params(LcVariant::Lc2) };
    same(&train(params(LcVariant::Lc1)), &train(no_classifier));
}

#[test]
fn classes_are_told_apart_and_permuting_labels_permutes_predictions() {
    fn check<T: Real>() {
        // every class along an axis of its own
        let clouds = |n: usize, seed: u64| {
            let noise = random_matrix::<T>(8, n, seed);
            let entry = |t, i| f64::from(u8::from(t == i % 3)) + 0.05 * noise[(t, i)].wide();
            (Mat::from_fn(8, n, |t, i| T::of(entry(t, i))), (0..n).map(|i| i % 3).collect())
        };
        let ((X, labels), (new, truth)): ((_, Vec<usize>), (_, Vec<usize>)) =
            (clouds(90, 5), clouds(300, 6));
        let permutation = [2, 0, 1];
        let permuted: Vec<usize> = labels.iter().map(|&l| permutation[l]).collect();
        let moved =
            |labels: &[usize]| -> Vec<usize> { labels.iter().map(|&l| permutation[l]).collect() };
        for variant in VARIANTS {
            let classify = |params: &LcKsvdParams, labels: &[usize]| {
                params.train(X.as_ref(), labels).unwrap().classify(new.as_ref()).unwrap()
            };
            let predictions = classify(&params(variant), &labels);
            assert_eq!(predictions.labels, truth, "{variant:?}");
            let permuted_labels = classify(&params(variant), &permuted).labels;
            assert_eq!(permuted_labels, moved(&predictions.labels), "{variant:?}");
            // The stale codes are those of samples where labels weigh little, as they were published
            // to, and but for atoms replaced last.
            let compat =
                LcKsvdParams { compat: true, sqrt_alpha: 0.02, sqrt_beta: 0.05, ..params(variant) };
            let accuracy = classify(&compat, &labels).accuracy(&truth).unwrap();
            let of_permuted = classify(&compat, &permuted).accuracy(&moved(&truth)).unwrap();
            assert!(accuracy > 0.9 && of_permuted > 0.9, "{variant:?}: {accuracy} {of_permuted}");
        }
    }
    check::<f64>();
    check::<f32>();
}

/// With room for more atoms than features, the stack used to represent samples exactly and to spend
/// the rest on labels: its codes had nothing in common with those of samples without labels.
#[test]
fn few_features_are_learned_by_the_published_defaults() {
    fn check<T: Real>() {
        let (X, labels) = clouds::<T>(4, 60, 3, 5);
        for variant in VARIANTS {
            let params = LcKsvdParams { variant, n_atoms: 45, ..Default::default() };
            let model = params.train(X.as_ref(), &labels).unwrap();
            assert_eq!(model.sparsity(), 4);
            let accuracy = model.classify(X.as_ref()).unwrap().accuracy(&labels).unwrap();
            assert!(accuracy > 0.9, "{variant:?} {}: {accuracy}", T::NAME);
        }
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn decisions_may_use_other_codes_than_training() {
    let (X, labels) = clouds::<f64>(8, 60, 3, 4);
    let base = params(LcVariant::Lc1);
    let train = |params: &LcKsvdParams| params.train(X.as_ref(), &labels).unwrap();
    let (plain, same, wider) = (
        train(&base),
        train(&LcKsvdParams { decision_sparsity: Some(3), ..base.clone() }),
        train(&LcKsvdParams { decision_sparsity: Some(6), ..base.clone() }),
    );
    assert_eq!(bits(&plain.parts().classifier), bits(&same.parts().classifier));
    // the dictionary is that of training, Θ fits the codes of decisions
    assert_eq!(bits(&plain.learned().dictionary), bits(&wider.learned().dictionary));
    assert_eq!((plain.sparsity(), wider.sparsity()), (3, 6));
    let codes = code(columns_of(&X), wider.learned().dictionary.clone(), 6);
    let Theta = ridge_regression(columns_of(&one_hot::<f64>(&labels, 3)), &codes, 1.0).unwrap();
    assert_eq!(bits(&wider.parts().classifier), bits(&Theta));
    let none = LcKsvdParams { decision_sparsity: Some(0), ..base };
    let error = none.train(X.as_ref(), &labels).unwrap_err().to_string();
    assert_eq!(error, "decision_sparsity is 0, but must be at least 1");
}

#[test]
fn scores_are_what_a_class_lacks_to_the_best_of_theta_gamma() {
    let (X, labels) = clouds::<f64>(8, 60, 3, 7);
    let model = params(LcVariant::Lc2).train(X.as_ref(), &labels).unwrap();
    let mut new = random_matrix::<f64>(8, 270, 8);
    new.col_as_slice_mut(5).fill(0.0);
    let predictions = model.classify(new.as_ref()).unwrap();
    let encoded = BatchOmp::new(model.dictionary()).unwrap();
    let encoded = encoded.encode(new.as_ref(), crate::pursuit::Target::Sparsity(3)).unwrap();
    let votes = model.classifier() * encoded.codes.to_dense();
    for i in 0..270 {
        let mut sorted: Vec<f64> = (0..3).map(|l| votes[(l, i)]).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        for l in 0..3 {
            let score = sorted[0] - votes[(l, i)];
            assert!((predictions.scores[(l, i)] - score).abs() < 1e-12);
        }
        let scale: f64 = sorted.iter().map(|v| v.abs()).sum();
        let margin = if i == 5 { 0.0 } else { (sorted[0] - sorted[1]) / scale };
        assert!((predictions.margins[i] - margin).abs() < 1e-12);
    }
    assert_eq!((predictions.labels[5], predictions.n_zero_samples), (0, 1));
    // Nothing but the scale of the scores depends on that of the samples.
    let large = Mat::from_fn(8, 270, |t, i| 1e9 * new[(t, i)]);
    let scaled = model.classify(large.as_ref()).unwrap();
    assert_eq!(scaled.labels, predictions.labels);
    for (a, b) in scaled.margins.iter().zip(&predictions.margins) {
        assert!((a - b).abs() < 1e-9);
    }
}

#[test]
fn atoms_are_spread_over_the_classes_and_the_first_get_the_remainder() {
    let shares = |m, n_classes| -> Vec<usize> {
        (0..n_classes).map(|class| atoms_of_class(m, n_classes, class)).collect()
    };
    assert_eq!(shares(11, 3), [4, 4, 3]);
    assert_eq!(shares(3, 3), [1, 1, 1]);
    assert_eq!(shares(570, 38), [15; 38]);
}

#[test]
fn an_atom_of_labels_alone_becomes_the_worst_represented_sample() {
    let (X, labels) = clouds::<f64>(6, 30, 3, 9);
    let stack = Stack::new(columns_of(&X), &labels, &[0, 1, 2], 0.5, 0.25);
    let mut stacked = Mat::<f64>::zeros(9, 3);
    stacked[(0, 0)] = 1.0;
    stacked[(6, 1)] = 1.0; // no upper part
    stacked[(1, 2)] = 0.6;
    stacked[(8, 2)] = 0.8;
    let (D, lower) = stack.split(columns_of(&X), &labels, &stacked, 2);
    let weight = (0.5f64 * 1.0 + 0.25).sqrt();
    assert!((lower[(2, 2)] - 0.8 / (0.6 * weight)).abs() < 1e-15);
    // The other two atoms are the first axes: the worst sample is the longest across them.
    let left = |i: usize| (2..6).map(|t| X[(t, i)].powi(2)).sum::<f64>();
    let worst = (0..30).max_by(|&a, &b| left(a).total_cmp(&left(b))).unwrap();
    let norm = X.col(worst).norm_l2();
    for t in 0..6 {
        assert!((D[(t, 1)] - X[(t, worst)] / norm).abs() < 1e-15);
    }
    for l in 0..3 {
        let expected = if l == labels[worst] { 1.0 / norm } else { 0.0 };
        assert!((lower[(l, 1)] - expected).abs() < 1e-15);
    }
}

#[test]
fn compat_takes_the_codes_that_the_stack_left() {
    let (X, labels) = clouds::<f64>(8, 60, 3, 10);
    let params = LcKsvdParams { compat: true, ..params(LcVariant::Lc1) };
    let (_, _, stale) = published(&params, &X, &labels);
    let H = one_hot::<f64>(&labels, 3);
    let Theta = ridge_regression(columns_of(&H), &stale, 1.0).unwrap();
    let model = params.train(X.as_ref(), &labels).unwrap();
    close(model.classifier(), Theta.as_ref(), 1e-8);
    let fresh = LcKsvdParams { compat: false, ..params }.train(X.as_ref(), &labels).unwrap();
    assert_ne!(bits(&fresh.parts().classifier), bits(&model.parts().classifier));
}

fn awkward<T: Real>() {
    let sound = |X: &Mat<T>, labels: &[usize], n_atoms: usize, sparsity: usize| {
        let mut warnings = Vec::new();
        for variant in VARIANTS {
            let params = LcKsvdParams { n_atoms, sparsity, ..params(variant) };
            let model = params.train(X.as_ref(), labels).unwrap();
            let predictions = model.classify(X.as_ref()).unwrap();
            let finite = |v: &f64| v.is_finite() && *v >= 0.0;
            assert!(predictions.scores.col_iter().all(|s| s.iter().all(finite)));
            assert!(predictions.margins.iter().all(|m| (0.0..=1.0).contains(m)));
            assert!(model.dictionary().col_iter().all(|d| d.iter().all(|v| v.is_finite())));
            warnings = model.warnings().map(|(class, w)| (class, w.clone())).collect();
        }
        warnings
    };
    // one sample, one feature, one class
    sound(&random_matrix::<T>(5, 1, 1), &[0], 1, 1);
    sound(&random_matrix::<T>(1, 20, 1), &[0, 1].repeat(10), 4, 2);
    sound(&random_matrix::<T>(4, 12, 1), &[0; 12], 5, 2);
    // a class of one sample has one atom; one of two is mixed
    let X = random_matrix::<T>(6, 23, 2);
    let labels: Vec<usize> = (0..23).map(|i| if i < 20 { 0 } else { 1 + i / 22 }).collect();
    let warnings = sound(&X, &labels, 12, 3);
    assert_eq!(labels.iter().filter(|&&l| l == 1).count(), 2);
    assert_eq!(warnings[0], (1, Warning::MixedAtoms { wanted: 4, from_samples: 2 }));
    assert_eq!(warnings[1], (2, Warning::FewerAtoms { wanted: 4, got: 1 }));
    // duplicates and zeros
    let (mut X, labels) = clouds::<T>(5, 30, 3, 3);
    let copy = X.col_as_slice(0).to_vec();
    (3..9).step_by(3).for_each(|i| X.col_as_slice_mut(i).copy_from_slice(&copy));
    (9..15).for_each(|i| X.col_as_slice_mut(i).fill(T::of(0.0)));
    let warnings = sound(&X, &labels, 9, 4);
    assert!(warnings.contains(&(2, Warning::ZeroSamples { count: 2 })), "{warnings:?}");
    // more atoms than samples
    sound(&random_matrix::<T>(4, 10, 5), &[0, 1].repeat(5), 24, 6);
}

#[test]
fn awkward_shapes_are_learned_around() {
    awkward::<f64>();
    awkward::<f32>();
}

#[test]
fn bits_do_not_depend_on_the_thread_count() {
    fn check<T: Real>() {
        let ((X, labels), (new, _)) = (clouds::<T>(16, 400, 5, 7), clouds::<T>(16, 600, 5, 8));
        let params = LcKsvdParams { n_atoms: 40, ..params(LcVariant::Lc2) };
        same_for_any_thread_count(|| {
            let model = params.train(X.as_ref(), &labels).unwrap();
            let predictions = model.classify(new.as_ref()).unwrap();
            let parts = model.parts();
            let atoms = bits(&parts.learned.dictionary);
            (atoms, bits(&parts.classifier), bits(&predictions.scores), predictions.margins)
        });
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn bad_parameters_are_named() {
    let (X, labels) = clouds::<f64>(6, 30, 3, 1);
    let error = |params: LcKsvdParams| params.train(X.as_ref(), &labels).unwrap_err().to_string();
    let base = || params(LcVariant::Lc2);
    assert_eq!(
        error(LcKsvdParams { n_atoms: 2, sparsity: 1, ..base() }),
        "n_atoms is 2, but must be at least 1 for each of the 3 classes"
    );
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        let alpha = error(LcKsvdParams { sqrt_alpha: weight, ..base() });
        assert!(alpha.starts_with("sqrt_alpha is"), "{alpha}");
        let beta = error(LcKsvdParams { sqrt_beta: weight, ..base() });
        assert!(beta.ends_with("must be a finite number >= 0"), "{beta}");
        assert!(error(LcKsvdParams { ridge: weight, ..base() }).starts_with("ridge is"));
    }
    assert!(error(LcKsvdParams { ridge: 0.0, ..base() }).starts_with("ridge is 0"));
    for sparsity in [0, 12] {
        let text = error(LcKsvdParams { sparsity, ..base() });
        assert!(text.ends_with("between 1 and n_atoms = 11"), "{text}");
    }
    assert!(error(LcKsvdParams { class_iters: 0, ..base() }).starts_with("class_iters is 0"));
    assert!(error(LcKsvdParams { shared_iters: 0, ..base() }).starts_with("shared_iters is 0"));
    assert!(error(LcKsvdParams { max_iters: 0, ..base() }).starts_with("max_iters is 0"));
    let mut zero = X.clone();
    (1..30).step_by(3).for_each(|i| zero.col_as_slice_mut(i).fill(0.0));
    let text = base().train(zero.as_ref(), &labels).unwrap_err().to_string();
    assert_eq!(text, "class 1: samples is all zero; there is nothing to learn from");
}

#[test]
fn models_come_back_from_their_parts_and_wrong_parts_are_refused() {
    let (X, labels) = clouds::<f64>(6, 30, 3, 1);
    let model = params(LcVariant::Lc1).train(X.as_ref(), &labels).unwrap();
    let again = LcKsvd::from_parts(model.parts().clone()).unwrap();
    let scores = |model: &LcKsvd<f64>| bits(&model.classify(X.as_ref()).unwrap().scores);
    assert_eq!(scores(&again), scores(&model));
    let broken = |change: &dyn Fn(&mut LcKsvdParts<f64>)| {
        let mut parts = model.parts().clone();
        change(&mut parts);
        assert!(LcKsvd::from_parts(parts).is_err());
    };
    broken(&|parts| parts.sparsity = 0);
    broken(&|parts| parts.sparsity = 12);
    broken(&|parts| parts.classifier = Mat::zeros(3, 10));
    broken(&|parts| parts.classifier[(0, 0)] = f64::NAN);
    broken(&|parts| parts.consistency = Some(Mat::zeros(2, 11)));
    broken(&|parts| parts.atom_classes[4] = 3);
    broken(&|parts| parts.atom_classes.truncate(4));
    assert!(model.classify(random_matrix::<f64>(5, 2, 1).as_ref()).is_err());
}
