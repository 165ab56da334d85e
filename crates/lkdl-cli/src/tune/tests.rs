use super::fixed::method_flags;
use super::*;
use crate::folds::Folds;
use faer::Mat;
use lkdl_data::Dataset;
use space::Limits;
use std::cell::Cell;
use std::path::PathBuf;
use std::time::Duration;

fn key() -> Key {
    Key { data: "set".into(), folds: 2, seed: 0 }
}

fn space() -> Space {
    Space::new(&[], Settings::new(), limits(300, 20, 50)).unwrap()
}

fn limits(n_samples: usize, n_features: usize, class_size: usize) -> Limits {
    Limits { n_samples, n_features, class_size, are_signals: true }
}

fn trials(count: usize) -> Budget {
    Budget { trials: count, deadline: None }
}

/// Accuracy that grows with atoms, and counts its calls.
fn evaluate(calls: &Cell<usize>) -> impl Fn(&Settings) -> Result<Vec<f64>, Failure> {
    |settings: &Settings| {
        calls.set(calls.get() + 1);
        let atoms: f64 = settings["atoms"].parse().unwrap();
        Ok(vec![atoms / 100.0, atoms / 100.0])
    }
}

fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("lkdl-tune-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

/// A run with a log; what it found.
fn run(path: &std::path::Path, key: Key, budget: Budget, evaluate: Evaluate<'_>) -> Tuned {
    let (log, logged) = Log::open(path, &key).unwrap();
    let (space, report) = (space(), |_: usize, _: &Trial, _: bool| {});
    let session =
        Session { space: &space, key, log: Some(log), logged, budget, evaluate, report: &report };
    session.run().unwrap()
}

#[test]
fn a_resumed_search_repeats_nothing_and_ends_where_one_run_would() {
    let (path, calls) = (scratch("resume"), Cell::new(0));
    let evaluate = evaluate(&calls);
    let first = run(&path, key(), trials(5), &evaluate);
    assert_eq!((first.trials.len(), first.resumed, calls.get()), (5, 0, 5));
    assert_eq!(first.end, End::Budget);
    let second = run(&path, key(), trials(9), &evaluate);
    assert_eq!((second.trials.len(), second.resumed, calls.get()), (9, 5, 9));
    let whole = run(&path, key(), trials(1000), &evaluate);
    assert_eq!(whole.end, End::Complete);
    let all_calls = calls.get();
    assert_eq!(all_calls, whole.trials.len());
    let again = run(&path, key(), trials(1000), &evaluate);
    assert_eq!((again.resumed, calls.get()), (again.trials.len(), all_calls));
    assert_eq!(again.best, whole.best);

    let fresh = scratch("fresh");
    let one_run = run(&fresh, key(), trials(1000), &evaluate);
    let settings = |tuned: &Tuned| -> Vec<_> {
        tuned.trials.iter().map(|trial| trial.settings.clone()).collect()
    };
    assert_eq!(settings(&one_run), settings(&whole));
    for path in [path, fresh] {
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn trials_of_other_data_folds_or_seeds_are_not_taken_over() {
    let (path, calls) = (scratch("other"), Cell::new(0));
    let evaluate = evaluate(&calls);
    run(&path, key(), trials(3), &evaluate);
    for other in
        [Key { data: "other".into(), ..key() }, Key { folds: 3, ..key() }, Key { seed: 1, ..key() }]
    {
        assert_eq!(run(&path, other, trials(3), &evaluate).resumed, 0);
    }
    assert_eq!(calls.get(), 12);
    std::fs::remove_file(path).unwrap();
}

fn unlogged(budget: Budget, evaluate: Evaluate<'_>) -> Result<Tuned, Failure> {
    let (space, report) = (space(), |_: usize, _: &Trial, _: bool| {});
    let logged = Vec::new();
    Session { space: &space, key: key(), log: None, logged, budget, evaluate, report: &report }
        .run()
}

#[test]
fn the_best_is_the_largest_mean_and_time_ends_the_search() {
    let calls = Cell::new(0);
    let found = unlogged(trials(60), &evaluate(&calls)).unwrap();
    assert_eq!(found.trials[found.best].settings["atoms"], "50");
    let past = Instant::now() - Duration::from_secs(1);
    let late = Budget { trials: 60, deadline: Some(past) };
    assert_eq!(unlogged(late, &evaluate(&calls)).unwrap_err().code(), 2);
}

#[test]
fn settings_that_fail_are_recorded_and_all_failing_is_an_error() {
    let linear_fails = |settings: &Settings| match settings.get("kernel").map(String::as_str) {
        Some("linear") => Err(Failure::run("no")),
        _ => Ok(vec![0.5]),
    };
    let found = unlogged(trials(6), &linear_fails).unwrap();
    assert_eq!(found.trials[0].error.as_deref(), Some("no"));
    let failure = unlogged(trials(6), &|_: &Settings| Err(Failure::run("no"))).unwrap_err();
    assert_eq!(failure.code(), 1);
    assert!(failure.to_string().contains("failed with: no"));
}

/// Two rings, which a linear kernel cannot tell apart and one of degree 2 can.
fn rings() -> Dataset {
    let samples = Mat::from_fn(2, 120, |row, i| {
        let (angle, radius) = (i as f64, 1.0 + (i % 2) as f64);
        radius * if row == 0 { angle.cos() } else { angle.sin() }
    });
    let labels = (0..120).map(|i| i % 2).collect();
    Dataset::new("rings", samples, labels, vec!["in".into(), "out".into()]).unwrap()
}

#[test]
fn the_kernel_that_separates_is_found_on_real_folds() {
    let set = rings();
    let folds = Folds::new(&set, 3, 0).unwrap();
    let fixed = [("prepare", "none"), ("precision", "f64"), ("offset", "1"), ("iters", "3")];
    let fixed = fixed.map(|(flag, value)| (flag.to_string(), value.to_string())).into();
    let kernels = ["linear".to_string(), "polynomial".to_string()];
    let space = {
        let limits = limits(folds.n_training(), 2, folds.class_size());
        Space::new(&kernels, fixed, limits).unwrap()
    };
    let bar = indicatif::ProgressBar::hidden();
    let evaluate = |settings: &Settings| folds.accuracies(&method_flags(settings)?, &bar);
    let report = |_: usize, _: &Trial, _: bool| {};
    let session = Session {
        space: &space,
        key: Key { data: "rings".into(), folds: 3, seed: 0 },
        log: None,
        logged: Vec::new(),
        budget: trials(12),
        evaluate: &evaluate,
        report: &report,
    };
    let found = session.run().unwrap();
    let best = &found.trials[found.best];
    assert_eq!(best.settings["kernel"], "polynomial");
    assert!(best.mean().unwrap() > 0.95, "{best:?}");
    let linear = found.trials.iter().find(|trial| trial.settings["kernel"] == "linear").unwrap();
    assert!(linear.mean().unwrap() < 0.8, "{linear:?}");
}

#[test]
fn sets_that_cannot_be_folded_are_refused() {
    let named = |labels: Vec<u32>, names: &[&str]| {
        let samples = Mat::from_fn(1, labels.len(), |_, i| i as f64);
        let names = names.iter().map(|name| name.to_string()).collect();
        Dataset::new("set", samples, labels, names).unwrap()
    };
    let refused = |set: &Dataset, folds| Folds::new(set, folds, 0).err().map(|f| f.code());
    assert_eq!(refused(&named(vec![0, 0, 0], &["a"]), 2), Some(3));
    assert_eq!(refused(&named(vec![0, 0, 1], &["a", "b"]), 2), Some(3));
    assert_eq!(refused(&named(vec![0, 0, 1, 1], &["a", "b"]), 1), Some(2));
    assert_eq!(refused(&named(vec![0, 0, 1, 1], &["a", "b"]), 5), Some(2));
    assert_eq!(refused(&named(vec![0, 0, 1, 1], &["a", "b"]), 2), None);
}
