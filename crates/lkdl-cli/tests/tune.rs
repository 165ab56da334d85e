//! `lkdl tune` and `lkdl bench` as a shell runs them.
#![allow(clippy::unwrap_used)] // what is missing here is a failure

mod common;

use common::{Scratch, json, keys, lkdl};

/// A short search on the built-in digits; `more` are further words.
fn words<'a>(out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["tune", "digits", "--folds", "2", "--precision", "f32", "--iters", "2"];
    words.extend(["--landmarks", "100", "--kernels", "polynomial,gaussian", "--out", out]);
    words.extend(more);
    words
}

#[test]
fn a_search_is_resumed_and_fit_takes_what_it_found() {
    let scratch = Scratch::new("tune");
    let out = scratch.path("best.toml");
    let first = json(&words(&out, &["--budget", "2", "--json"]));
    assert_eq!(
        keys(&first),
        [
            "best", "checksum", "command", "complete", "config", "data", "folds", "resumed",
            "seed", "trials", "version"
        ]
    );
    assert_eq!(
        keys(&first["best"]),
        ["accuracies", "accuracy_mean", "accuracy_std", "error", "seconds", "settings"]
    );
    assert_eq!((first["resumed"].as_u64(), first["complete"].as_bool()), (Some(0), Some(false)));
    assert_eq!(scratch.names(), ["best.toml", "best.trials.jsonl"]);

    // the config is there: it stays, unless told otherwise
    let refused = lkdl(&words(&out, &["--budget", "3"]));
    assert_eq!((refused.code, refused.stdout.as_str()), (4, ""), "{refused:?}");
    assert!(refused.stderr.contains("--force"), "{refused:?}");
    let second = json(&words(&out, &["--budget", "3", "--json", "--force"]));
    assert_eq!(second["resumed"], 2);
    let trials = second["trials"].as_array().unwrap();
    assert_eq!((trials.len(), &trials[..2]), (3, first["trials"].as_array().unwrap().as_slice()));
    let log = std::fs::read_to_string(scratch.path("best.trials.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 3);

    // the folds are the same, so the accuracy is
    let fitted = json(&["fit", "digits", "--folds", "2", "--config", &out, "--json"]);
    assert_eq!(fitted["folds"]["accuracies"], second["best"]["accuracies"]);

    let table = lkdl(&words(&out, &["--budget", "3", "--force", "--quiet"]));
    assert_eq!((table.code, table.stderr.as_str()), (0, ""));
    assert!(table.stdout.starts_with("trial  kernel"), "{}", table.stdout);
    assert_eq!(table.stdout.lines().filter(|line| line.ends_with("best")).count(), 1);
}

#[test]
fn what_cannot_be_searched_is_refused_before_the_work() {
    let scratch = Scratch::new("tune-bad");
    let (out, one) = (scratch.path("best.toml"), scratch.write("one.csv", "1,a\n2,a\n3,a\n"));
    let text = scratch.write("notes.txt", "not a log\n");
    let tune = |more: &[&str]| {
        let run = lkdl(&[&["tune"], more, &["--out", &out]].concat());
        assert_eq!(run.stdout, "");
        assert!(run.stderr.starts_with("error: "), "{run:?}");
        run.code
    };
    assert_eq!(tune(&["digits", "--folds", "1"]), 2);
    assert_eq!(tune(&["digits", "--kernels", "rbf"]), 2);
    assert_eq!(tune(&["digits", "--kernel", "precomputed"]), 2);
    assert_eq!(tune(&["digits", "--budget", "0"]), 2);
    assert_eq!(tune(&["digits", "--minutes", "0"]), 2);
    assert_eq!(tune(&["digits", "--atoms", "many"]), 2);
    assert_eq!(tune(&["no-such.csv"]), 3);
    assert_eq!(tune(&[&one, "--label", "1"]), 3);
    assert_eq!(tune(&["digits", "--log", &text]), 3);
    assert_eq!(std::fs::read_to_string(text).unwrap(), "not a log\n");
    assert_eq!(tune(&["digits", "--log", &scratch.path("no/such/folder.jsonl")]), 4);
    assert!(!scratch.names().contains(&"best.toml".to_string()));
}

#[test]
fn bench_measures_the_product_and_refuses_unknown_stages() {
    let report = json(&["bench", "--quick", "--stage", "product", "--json", "--quiet"]);
    assert_eq!(
        keys(&report),
        ["command", "product_gflop_per_second", "records", "threads", "version"]
    );
    for record in report["records"].as_array().unwrap() {
        assert!((record["percent_of_product"].as_f64().unwrap() - 100.0).abs() < 1e-6);
        assert!(record["seconds"].as_f64().unwrap() > 0.0);
    }
    let unknown = lkdl(&["bench", "--stage", "mapp"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (2, ""));
    assert!(unknown.stderr.contains("must be one of product, batch-omp"), "{unknown:?}");
}
