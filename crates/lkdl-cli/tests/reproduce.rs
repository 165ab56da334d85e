//! `lkdl reproduce` from the outside: the rehearsal on the embedded digits in full, and of the
//! others what they say when their data are not there.
#![allow(clippy::unwrap_used)] // what is missing here is a failure

mod common;

use common::{Scratch, command, json, lkdl};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The keys of a record, as they are promised.
const KEYS: [&str; 15] = [
    "dataset",
    "difference",
    "experiment",
    "mean",
    "method",
    "params",
    "published",
    "quantity",
    "reduced",
    "runs",
    "seconds",
    "std",
    "variant",
    "within_tolerance",
    "x",
];

fn records(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Without the times, which differ from run to run.
fn numbers(records: &[Value]) -> Vec<(Value, Value, Value, Value)> {
    let of = |r: &Value| (r["method"].clone(), r["x"].clone(), r["mean"].clone(), r["std"].clone());
    records.iter().map(of).collect()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn a_rehearsal_writes_a_whole_folder_and_goes_on_where_it_was() {
    let scratch = Scratch::new("reproduce");
    let out = scratch.path("results");
    let words = ["reproduce", "digits", "--quick", "--runs", "2", "--json", "--out", &out];
    let run = lkdl(&words);
    assert_eq!(run.code, 0, "{run:?}");
    let first = records(&run.stdout);
    assert_eq!(first.len(), 4, "two methods at two levels");
    for record in &first {
        assert_eq!(common::keys(record), KEYS);
        assert_eq!((record["runs"].as_u64(), &record["published"]), (Some(2), &Value::Null));
        assert!((0.0..=100.0).contains(&record["mean"].as_f64().unwrap()), "{record}");
    }
    for file in ["records.jsonl", "setup.md", "summary.md", "figures/figure-digits-accuracy.svg"] {
        assert!(scratch.0.join("results").join(file).is_file(), "{file}");
    }
    let page = std::fs::read_to_string(scratch.0.join("results/report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("K-SVD"));

    // what is there is not lost unasked
    let refused = lkdl(&words);
    assert_eq!((refused.code, refused.stdout.as_str()), (4, ""), "{refused:?}");
    assert!(refused.stderr.contains("--resume") && refused.stderr.contains("--force"));

    // killed in the middle of a line: that run is done again, the others are not
    let file = scratch.0.join("results/runs.jsonl");
    let whole = std::fs::read_to_string(&file).unwrap();
    assert_eq!(whole.lines().count(), 4, "two methods, two seeds");
    std::fs::write(&file, &whole[..whole.len() - 40]).unwrap();
    let resumed = lkdl(&[&words[..], &["--resume"]].concat());
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert_eq!(numbers(&records(&resumed.stdout)), numbers(&first));
    let again = std::fs::read_to_string(&file).unwrap();
    assert!(again.lines().zip(whole.lines()).take(3).all(|(a, b)| a == b), "kept as they were");
    assert_eq!(again.lines().count(), 4);

    // another seed is another run, and adds to the rows
    let more =
        lkdl(&["reproduce", "digits", "--quick", "--runs", "3", "-q", "-o", &out, "--resume"]);
    assert_eq!(more.code, 0, "{more:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 6);
    let summary = records(&lkdl(&["reproduce", "summary", &out, "--json"]).stdout);
    assert!(summary.len() == 4 && summary.iter().all(|r| r["runs"] == 3), "{summary:?}");
}

#[test]
fn runs_of_other_parameters_are_not_taken_for_these() {
    let scratch = Scratch::new("reproduce-others");
    let out = scratch.path("results");
    let words = ["reproduce", "digits", "--quick", "--json", "--out", &out, "--resume"];
    let first = records(&lkdl(&words).stdout);
    let file = scratch.0.join("results/runs.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    // as if they had been made with other atoms, and were better
    let other =
        text.replace("\"atoms\":\"30\"", "\"atoms\":\"31\"").replace("\"value\":", "\"value\":1");
    assert_ne!(other, text);
    std::fs::write(&file, &other).unwrap();
    let second = records(&lkdl(&words).stdout);
    assert_eq!(numbers(&second), numbers(&first));
    // a file of something else is refused, and stays
    std::fs::write(&file, "a,b\n1,2\n").unwrap();
    let refused = lkdl(&words);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "a,b\n1,2\n");
}

#[test]
fn the_list_names_every_experiment_and_its_time() {
    let run = lkdl(&["reproduce", "list"]);
    assert_eq!(run.code, 0);
    let ids = ["1a", "1b", "2a", "2b", "3", "4a", "4b", "fddl", "yaleb", "codes", "atoms", "ar"];
    for id in ids.into_iter().chain(["yaleb-held-out", "ar-reasons", "batch"]) {
        assert!(run.stdout.lines().any(|line| line.split(' ').next() == Some(id)), "{id}");
    }
    let list = json(&["reproduce", "list", "--json"]);
    assert_eq!(list["experiments"].as_array().unwrap().len(), 17);
    // all in ten minutes on two cores
    let seconds = list["experiments"].as_array().unwrap().iter();
    let quick: f64 = seconds.filter_map(|entry| entry["quick_seconds"].as_f64()).sum();
    assert!(quick < 600.0, "{quick}");
}

#[test]
fn what_cannot_be_run_is_bad_usage() {
    for (words, text) in [
        (&["reproduce", "5c"][..], "choose from all, 1a, 1b"),
        (&["reproduce", "1a", "--quick", "--full"], "cannot be used with"),
        (&["reproduce", "digits", "--runs", "0"], "--runs"),
        (&["reproduce"], "Usage: lkdl reproduce"),
    ] {
        let run = lkdl(words);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(run.stderr.contains(text), "{run:?}");
    }
}

#[test]
fn data_that_are_missing_or_wrong_are_named_with_the_way_to_get_them() {
    let scratch = Scratch::new("reproduce-data");
    let (data, out) = (scratch.path("data"), scratch.path("results"));
    let run = |id: &str| lkdl(&["reproduce", id, "--quick", "--data-dir", &data, "--out", &out]);
    for (id, texts) in [
        ("2a", ["usps/usps.bz2 is missing", "lkdl data fetch usps", "--data-dir"]),
        ("ar", ["ar/randomfaces4ar_rebuilt.mat is missing", "ask the owners", &data]),
        ("all", ["is missing", "looked for in", &data]),
    ] {
        let run = run(id);
        assert_eq!((run.code, run.stdout.as_str()), (3, ""), "{run:?}");
        assert!(texts.iter().all(|text| run.stderr.contains(text)), "{run:?}");
    }
    std::fs::create_dir_all(scratch.0.join("data/usps")).unwrap();
    for name in ["usps.bz2", "usps.t.bz2"] {
        scratch.write(&format!("data/usps/{name}"), "1 1:0.5\n");
    }
    let wrong = run("2a");
    assert_eq!(wrong.code, 3, "{wrong:?}");
    for text in ["usps.bz2 is not the file", "3771e9dd6ba6", "lkdl data fetch usps"] {
        assert!(wrong.stderr.contains(text), "{wrong:?}");
    }
    assert!(!scratch.0.join("results").exists(), "nothing is written before the data are checked");
}

#[test]
fn a_folder_that_cannot_be_written_or_holds_no_results_is_named() {
    let scratch = Scratch::new("reproduce-folder");
    let file = scratch.write("file", "");
    let run = lkdl(&["reproduce", "digits", "--quick", "--out", &file]);
    assert_eq!(run.code, 4, "{run:?}");
    let run = lkdl(&["reproduce", "summary", &scratch.path("none")]);
    assert!(run.code == 3 && run.stderr.contains("runs.jsonl is missing"), "{run:?}");
}

/// A disk that is full after some runs: they are there, and the rest follows when there is space.
#[test]
#[cfg(unix)]
fn a_full_disk_loses_nothing_that_was_finished() {
    let scratch = Scratch::new("reproduce-full");
    let out = scratch.path("results");
    let words = ["reproduce", "digits", "--quick", "--runs", "4", "--resume", "--out", &out];
    // files may have 2 blocks (1 or 2 kB); a write beyond them is an error, and no signal
    let script = "trap '' XFSZ; ulimit -f 2; exec \"$0\" \"$@\"";
    let mut limited = command(&[]);
    let program = limited.get_program().to_owned();
    limited = std::process::Command::new("sh");
    limited.args(["-c", script]).arg(program).args(words).env("HOME", "/no/such/home");
    let run: common::Run = limited.output().unwrap().into();
    assert_eq!(run.code, 4, "{run:?}");
    assert!(run.stderr.contains("runs.jsonl") && run.stderr.contains("free space"), "{run:?}");
    let file = scratch.0.join("results/runs.jsonl");
    let saved = std::fs::read_to_string(&file).unwrap();
    let whole: Vec<&str> = saved.split_inclusive('\n').filter(|l| l.ends_with('\n')).collect();
    assert!(!whole.is_empty() && whole.len() < 8, "{saved}");
    let run = lkdl(&words);
    assert_eq!(run.code, 0, "{run:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with(&whole.concat()) && text.lines().count() == 8, "{text}");
}

/// Tables in the documents are those of the results they name.
#[test]
fn documents_say_what_the_results_say() {
    let documents = ["README.md", "docs/errata.md", "docs/experiments.md"];
    let mut command = command(&["reproduce", "fill", "--check"]);
    let run: common::Run =
        command.args(documents).current_dir(workspace()).output().unwrap().into();
    assert_eq!(run.code, 0, "{run:?}");
    let text = std::fs::read_to_string(workspace().join("README.md")).unwrap();
    assert!(text.contains("<!-- reproduce "), "the README has no table of results");
}

#[test]
fn a_document_that_says_something_else_than_its_results_is_found_out() {
    let scratch = Scratch::new("reproduce-fill");
    let out = scratch.path("results");
    assert_eq!(lkdl(&["reproduce", "digits", "--quick", "--out", &out]).code, 0);
    let waiting = "# A\n<!-- reproduce RESULTS digits -->\nNot yet.\n<!-- end -->\n";
    let file = scratch.write("a.md", waiting);
    let text = || std::fs::read_to_string(&file).unwrap();
    let check = || lkdl(&["reproduce", "fill", "--check", &file]);
    assert_eq!((check().code, text().as_str()), (0, waiting), "no results yet");

    let run = lkdl(&["reproduce", "fill", &file, "--from", &out]);
    assert_eq!(run.code, 0, "{run:?}");
    let filled = text();
    assert!(filled.contains("LKDL hybrid") && !filled.contains("Not yet"), "{filled}");
    assert_eq!(check().code, 0);

    let changed = filled.replacen("| 9", "| 8", 1);
    assert_ne!(changed, filled);
    scratch.write("a.md", changed);
    let found = check();
    assert!(found.code == 1 && found.stderr.contains("lkdl reproduce fill"), "{found:?}");
}
