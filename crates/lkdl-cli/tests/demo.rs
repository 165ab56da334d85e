//! `lkdl demo` from the outside: its JSON, its files, and when it refuses to write.
#![allow(clippy::unwrap_used)] // helpers of tests unwrap too

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

fn lkdl(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lkdl")).args(arguments).output().unwrap()
}

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lkdl-demo-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn json_has_every_result_and_files_are_written() {
    let folder = folder("json");
    let (page, plots) = (folder.join("page.html"), folder.join("plots"));
    let (page_name, plots_name) = (page.to_str().unwrap(), plots.to_str().unwrap());
    let arguments =
        ["demo", "--runs", "1", "--seed", "3", "--json", "--out", page_name, "--svg", plots_name];
    let output = lkdl(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((json["seed"].as_u64(), json["runs"].as_u64()), (Some(3), Some(1)));
    assert_eq!(json["dataset_checksum"].as_str().unwrap().len(), 64);
    assert_eq!(json["parameters"]["sparsity"].as_u64(), Some(3));
    assert!(json["command"].as_str().unwrap().starts_with("lkdl demo"));
    assert!(json["version"].is_string());

    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 2 * (5 + 4));
    let keys =
        ["accuracy_mean", "accuracy_std", "corruption", "level", "method", "runs", "seconds"];
    for row in results {
        let row = row.as_object().unwrap();
        let mut found: Vec<&str> = row.keys().map(String::as_str).collect();
        found.sort_unstable();
        assert_eq!(found, keys);
        assert!((0.0..=1.0).contains(&row["accuracy_mean"].as_f64().unwrap()));
        assert_eq!(row["accuracy_std"].as_f64(), Some(0.0));
        assert!(row["seconds"].as_f64().unwrap() > 0.0);
    }
    let accuracy = |method: &str, corruption: &str, level: f64| {
        let row = results.iter().find(|r| {
            r["method"] == method && r["corruption"] == corruption && r["level"] == level
        });
        row.unwrap()["accuracy_mean"].as_f64().unwrap()
    };
    for method in ["LKDL", "linear K-SVD"] {
        assert!(accuracy(method, "noise", 0.0) > 0.95);
        assert_eq!(accuracy(method, "noise", 0.0), accuracy(method, "missing", 0.0));
    }
    // one split of 450 test samples; means over more are further apart
    let lead = |corruption, level| {
        accuracy("LKDL", corruption, level) - accuracy("linear K-SVD", corruption, level)
    };
    assert!(lead("missing", 0.7) > 0.10, "{}", lead("missing", 0.7));
    assert!(lead("noise", 0.9) > 0.02, "{}", lead("noise", 0.9));

    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>") && text.ends_with("</html>"));
    assert!(plots.join("accuracy-missing.svg").exists() && plots.join("times.svg").exists());

    // nothing is overwritten unasked, and that is said before the work
    let other = folder.join("other.html");
    let output =
        lkdl(&["demo", "--runs", "1", "--out", other.to_str().unwrap(), "--svg", plots_name]);
    assert_eq!(output.status.code(), Some(4), "plots are there");
    assert!(stderr(&output).contains(".svg exists") && !other.exists(), "{}", stderr(&output));
    let output = lkdl(&["demo", "--runs", "1", "--out", page_name]);
    assert_eq!(output.status.code(), Some(4));
    assert!(stderr(&output).starts_with("error: ") && stderr(&output).contains("--force"));
    assert!(output.stdout.is_empty());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn one_seed_gives_the_same_numbers_for_any_number_of_threads() {
    let folder = folder("threads");
    let results = ["1", "2"].map(|threads| {
        let page = folder.join(threads);
        let arguments =
            ["demo", "--runs", "1", "--json", "--threads", threads, "-o", page.to_str().unwrap()];
        let json: Value = serde_json::from_slice(&lkdl(&arguments).stdout).unwrap();
        let rows = json["results"].as_array().unwrap();
        rows.iter().map(|row| row["accuracy_mean"].as_f64().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(results[0], results[1]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn bad_flags_and_places_have_their_exit_codes() {
    for runs in ["0", "-1", "many"] {
        assert_eq!(lkdl(&["demo", "--runs", runs]).status.code(), Some(2), "{runs}");
    }
    let output = lkdl(&["demo", "--runs", "1", "--out", "/nonexistent/folder/page.html"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
}
