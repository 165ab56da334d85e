//! Every method through the command: fitted, saved, judged and described, with and without a map;
//! and its own ways to be asked wrongly.
#![allow(clippy::unwrap_used)] // helpers of tests unwrap too

mod common;

use common::{Scratch, json, lkdl};

/// A method, flags that make it quick on the digits, and what its file calls it.
const METHODS: [(&str, &[&str], &str); 13] = [
    ("ksvd", &["--atoms", "15", "--iters", "2"], "class-dictionaries"),
    ("mod", &["--atoms", "15", "--iters", "2"], "class-dictionaries"),
    ("online", &["--atoms", "15", "--batch", "32"], "class-dictionaries"),
    ("rls", &["--atoms", "15", "--batch", "32"], "class-dictionaries"),
    ("kernel-ksvd", &["--atoms", "15", "--iters", "2"], "kernel-dictionaries"),
    ("kernel-mod", &["--atoms", "15", "--iters", "2"], "kernel-dictionaries"),
    ("lc-ksvd1", &["--atoms", "10", "--iters", "2", "--sparsity", "10"], "lc-ksvd"),
    ("lc-ksvd2", &["--atoms", "10", "--iters", "2", "--sparsity", "10"], "lc-ksvd"),
    ("d-ksvd", &["--atoms", "10", "--iters", "2", "--sparsity", "10"], "lc-ksvd"),
    ("fddl", &["--atoms", "6", "--iters", "1"], "fddl"),
    ("fddl-simplified", &["--atoms", "10", "--iters", "1"], "fddl"),
    ("src", &["--sparsity", "10"], "src"),
    ("kernel-src", &["--sparsity", "10"], "kernel-src"),
];

/// The digits in two halves.
fn halves(folder: &Scratch) -> (String, String) {
    let csv = folder.path("digits.csv");
    assert_eq!(lkdl(&["data", "convert", "digits", &csv]).code, 0);
    let text = std::fs::read_to_string(&csv).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let half = |name: &str, parity: usize| {
        let rows: Vec<&str> = rows.lines().skip(parity).step_by(2).collect();
        let file = folder.path(name);
        std::fs::write(&file, format!("{header}\n{}\n", rows.join("\n"))).unwrap();
        file
    };
    (half("train.csv", 0), half("test.csv", 1))
}

#[test]
fn every_method_learns_the_digits_with_and_without_a_map() {
    let folder = Scratch::new("methods");
    let (train, test) = halves(&folder);
    for (method, flags, name) in METHODS {
        let exact = method.starts_with("kernel");
        let maps: &[&[&str]] = if exact {
            &[&["--kernel", "polynomial"]]
        } else {
            &[&["--map", "none"], &["--landmarks", "100", "--rank", "60"]]
        };
        for map in maps {
            let model = folder.path("model.safetensors");
            let words = ["fit", &train, "-o", &model, "--method", method, "--force"];
            let run = lkdl(&[&words[..], flags, map].concat());
            assert_eq!(run.code, 0, "{method} {map:?}: {}", run.stderr);
            let has_landmarks = map[0] == "--landmarks";
            assert_eq!(run.stdout.contains("\nlandmarks "), has_landmarks, "{}", run.stdout);
            assert_eq!(run.stdout.contains("\nmap "), has_landmarks, "{}", run.stdout);
            let report = json(&["evaluate", &model, &test, "--json"]);
            let accuracy = report["accuracy"].as_f64().unwrap();
            assert!(accuracy > 0.9, "{method} {map:?}: {accuracy}");
            let facts = json(&["inspect", &model, "--json"]);
            assert_eq!((&facts["method"], &facts["classifier"]), (&method.into(), &name.into()));
            assert!(facts["classes"][0]["n_atoms"].as_u64().unwrap() > 0, "{method}");
            assert_eq!(facts["kernel"].is_string(), exact || map[0] != "--map", "{method}");
            let text = lkdl(&["inspect", &model]);
            assert!(text.code == 0 && text.stdout.contains(method), "{}", text.stdout);
            let picture = folder.path("atoms.png");
            let drawn = lkdl(&["inspect", &model, "--atoms", &picture, "--force"]);
            assert_eq!(drawn.code, 0, "{method} {map:?}: {}", drawn.stderr);
            assert!(std::fs::read(&picture).unwrap().starts_with(b"\x89PNG"), "{method}");
            assert_eq!(lkdl(&["predict", &model, &test]).code, 0, "{method}");
            let mapped =
                lkdl(&["transform", &model, &test, "-o", &folder.path("f.npy"), "--force"]);
            assert_eq!(mapped.code, if exact { 2 } else { 0 }, "{method}: {}", mapped.stderr);
            let by_flag = format!("--method {method} ");
            assert!(!exact || mapped.stderr.contains(&by_flag), "{}", mapped.stderr);
        }
    }
}

#[test]
fn flags_of_other_methods_are_refused_by_name() {
    let folder = Scratch::new("methods-flags");
    let model = folder.path("m.safetensors");
    let refused = |words: &[&str], parts: [&str; 2]| {
        let run = lkdl(&[&["fit", "digits", "-o", &model], words].concat());
        assert_eq!(run.code, 2, "{words:?}: {}", run.stderr);
        assert!(parts.iter().all(|part| run.stderr.contains(part)), "{words:?}: {}", run.stderr);
    };
    refused(&["--method", "kernel-ksvd", "--map", "nystroem"], ["--map nystroem", "kernel-ksvd"]);
    refused(&["--method", "kernel-ksvd", "--landmarks", "9"], ["--landmarks", "no map"]);
    refused(&["--method", "src", "--atoms", "9"], ["--atoms", "--method src"]);
    refused(&["--method", "fddl", "--sparsity", "9"], ["--sparsity", "--method fddl"]);
    refused(&["--method", "d-ksvd", "--sqrt-alpha", "1"], ["--sqrt-alpha", "lc-ksvd2"]);
    refused(&["--method", "ksvd", "--lambda1", "1"], ["--lambda1", "fddl"]);
    refused(&["--decision-sparsity", "5"], ["--decision-sparsity", "lc-ksvd1"]);
    refused(&["--compat"], ["--compat", "--method ksvd"]);
    refused(&["--lasso", "0.1"], ["--lasso", "src"]);
    assert!(!std::path::Path::new(&model).exists());
}

#[test]
fn bad_weights_and_counts_are_named() {
    let folder = Scratch::new("methods-bad");
    let model = folder.path("m.safetensors");
    for (words, part) in [
        (&["--method", "lc-ksvd2", "--sqrt-alpha=-1"][..], "--sqrt-alpha is -1"),
        (&["--method", "lc-ksvd1", "--decision-sparsity", "0"], "--decision-sparsity is 0"),
        (&["--method", "src", "--lasso", "1.5"], "--lasso is 1.5"),
        (&["--method", "fddl", "--lambda1=-1", "--atoms", "3"], "--lambda1 is -1"),
        (&["--method", "kernel-src", "--memory", "1MB"], "memory"),
        (&["--method", "kernel-ksvd", "--memory", "1MB"], "memory"),
    ] {
        let run = lkdl(&[&["fit", "digits", "-o", &model], words].concat());
        assert_ne!(run.code, 0, "{words:?}");
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains(part), "{}", run.stderr);
    }
}

#[test]
fn codes_that_decide_may_have_other_counts_than_those_learned_with() {
    let folder = Scratch::new("methods-decision");
    let model = |name: &str| folder.path(&format!("{name}.safetensors"));
    let labels = |name: &str, more: &[&str]| {
        let path = model(name);
        let words = ["fit", "digits", "-o", &path, "--method", "lc-ksvd1", "--map", "none"];
        let quick = ["--atoms", "5", "--iters", "2", "--sparsity", "5"];
        let run = lkdl(&[&words[..], &quick, more].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        lkdl(&["predict", &path, "digits"]).stdout
    };
    let usual = labels("usual", &[]);
    assert!(usual.lines().count() > 1000, "{usual}");
    assert_eq!(labels("same", &["--decision-sparsity", "5"]), usual);
    assert_ne!(labels("other", &["--decision-sparsity", "12"]), usual);
}

#[test]
fn a_weight_of_zero_leaves_its_block_out() {
    let folder = Scratch::new("methods-zero");
    let model = folder.path("m.safetensors");
    let words = ["fit", "digits", "-o", &model, "--method", "lc-ksvd2", "--sqrt-alpha", "0"];
    let quick = ["--sqrt-beta", "0", "--atoms", "5", "--iters", "1", "--sparsity", "5"];
    let run = lkdl(&[&words[..], &quick].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
}
