//! The data commands: formats in and out, and the shapes of their JSON.
#![allow(clippy::unwrap_used)] // what is missing here is a failure

mod common;

use common::{Scratch, json, keys, lkdl};

#[test]
fn json_shapes_are_as_promised() {
    let scratch = Scratch::new("shapes");
    let info = json(&["data", "info", "digits", "--json"]);
    assert_eq!(
        keys(&info),
        [
            "checksum",
            "classes",
            "command",
            "constant_features",
            "data",
            "feature_names",
            "features",
            "highest",
            "image_shape",
            "lowest",
            "mean",
            "samples",
            "version",
            "zero_samples",
            "zeros_percent",
        ]
    );
    assert_eq!(info["command"], "lkdl data info digits --json");
    assert_eq!((&info["samples"], &info["features"]), (&1797.into(), &64.into()));
    assert_eq!(keys(&info["classes"][0]), ["name", "samples"]);

    let list = json(&["data", "list", "--json", "--data-dir", &scratch.path("")]);
    assert_eq!(keys(&list), ["command", "looked_in", "sets", "version"]);
    assert_eq!(
        keys(&list["sets"][0]),
        ["classes", "features", "name", "parts", "place", "samples", "terms"]
    );
    let places: Vec<_> = list["sets"].as_array().unwrap().iter().map(|set| &set["place"]).collect();
    assert_eq!(places, ["built-in", "missing", "missing", "missing", "missing", "missing"]);

    let out = scratch.path("d.csv");
    let convert = json(&["data", "convert", "digits", &out, "--json"]);
    assert_eq!(
        keys(&convert),
        ["checksum", "classes", "command", "data", "features", "out", "samples", "version"]
    );
    assert_eq!(convert["checksum"], info["checksum"]);
}

#[test]
fn what_is_in_a_set_survives_every_format() {
    let scratch = Scratch::new("formats");
    let checksum = |data: &str| json(&["data", "info", data, "--json"])["checksum"].clone();
    let digits = checksum("digits");
    for name in ["a.csv", "a.tsv.gz", "a.svm.bz2", "a.npz", "a-images-idx3-ubyte"] {
        let out = scratch.path(name);
        let run = lkdl(&["data", "convert", "digits", &out]);
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{name}: {run:?}");
        assert!(run.stderr.contains("1797 samples of 64 features"), "{run:?}");
        assert_eq!(checksum(&out), digits, "{name}");
    }
}

#[test]
fn quiet_means_quiet() {
    let scratch = Scratch::new("quiet");
    let run = lkdl(&["data", "convert", "digits", &scratch.path("a.csv"), "-q"]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
}

#[test]
fn settings_come_from_flags_then_variables_then_the_file() {
    let scratch = Scratch::new("settings");
    let config = scratch.write("run.toml", "json = true\ndata-dir = \"/file\"");
    let looked_in = |words: &[&str], variable: Option<&str>| {
        let mut command = common::command(&["data", "list", "--config", &config]);
        let run: common::Run = command
            .args(words)
            .envs(variable.map(|folder| ("LKDL_DATA_DIR", folder)))
            .output()
            .unwrap()
            .into();
        assert_eq!(run.code, 0, "{run:?}");
        let list: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        list["looked_in"][0].as_str().unwrap().to_owned()
    };
    assert_eq!(looked_in(&[], None), "/file");
    assert_eq!(looked_in(&[], Some("/variable")), "/variable");
    assert_eq!(looked_in(&["--data-dir", "/flag"], Some("/variable")), "/flag");
}

#[test]
fn a_label_column_is_found_by_name_and_number() {
    let scratch = Scratch::new("label");
    let file = scratch.write("a.csv", "kind,x,y\ncat,1,2\ndog,3,4\ncat,5,6\n");
    for label in ["kind", "0"] {
        let info = json(&["data", "info", &file, "--label", label, "--json"]);
        assert_eq!((&info["features"], &info["classes"][0]["name"]), (&2.into(), &"cat".into()));
    }
}

#[test]
fn a_dash_is_the_standard_output() {
    let scratch = Scratch::new("stdout");
    let file = scratch.write("a.svm", "1 1:0.5 2:1\n2 2:3\n");
    let convert = |words: &[&str]| {
        let mut command = common::command(&["data", "convert", &file, "-"]);
        let run: common::Run = command.args(words).current_dir(&scratch.0).output().unwrap().into();
        run
    };
    let run = convert(&[]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "f0,f1,label\n0.5,1,1\n0,3,2\n"), "{run:?}");
    assert_eq!(convert(&["--format-out", "svm"]).stdout, "1 1:0.5 2:1\n2 2:3\n");
    for words in [&["--format-out", "idx"][..], &["--format-out", "h5"], &["--json"]] {
        let run = convert(words);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(run.stderr.contains("name a file"), "{run:?}");
    }
    assert_eq!(scratch.names(), ["a.svm"]);
}

#[test]
fn a_format_that_is_only_read_is_refused_before_the_work() {
    let scratch = Scratch::new("unwritable");
    let run = lkdl(&["data", "convert", "no-such.csv", &scratch.path("a.h5")]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("hdf5 cannot be written; write npy, npz, csv"), "{run:?}");
}

#[test]
fn headers_of_numbers_are_found_or_forced() {
    let scratch = Scratch::new("header");
    let pandas = scratch.write("a.csv", "0,1,label\n5,7,x\n6,8,y\n");
    let samples = |words: &[&str]| json(&[&["data", "info", "--json"], words].concat());
    assert_eq!(samples(&[&pandas])["samples"], 2);
    assert_eq!(samples(&[&pandas])["feature_names"][1], "1");
    let numbers = scratch.write("b.csv", "5,7\n1,2\n");
    assert_eq!(samples(&[&numbers, "--header", "no"])["samples"], 2);
    assert_eq!(samples(&[&numbers, "--header", "yes"])["samples"], 1);
    let run = lkdl(&["data", "info", &numbers, "--header", "maybe"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("auto, yes or no"), "{run:?}");
}

#[test]
fn a_test_part_that_mentions_fewer_features_is_padded() {
    let scratch = Scratch::new("padded");
    let lines = |last: usize| -> String {
        (0..40).map(|i| format!("{} 1:{} 2:{} {last}:1\n", i % 2, i % 2 * 3, 1 + i % 3)).collect()
    };
    let train = scratch.write("train.svm", lines(7));
    let test = scratch.write("test.svm", lines(5));
    let model = scratch.path("m.safetensors");
    let fit = ["fit", &train, "-o", &model, "--atoms", "2", "--sparsity", "1", "--iters", "2"];
    let run = lkdl(&fit);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(json(&["evaluate", &model, &test, "--json"])["n_samples"], 40);
    assert_eq!(lkdl(&["predict", &model, &test]).code, 0);
    // a dense table says how many features it has
    let csv = scratch.write("test.csv", "f0,label\n1,0\n");
    assert_eq!(lkdl(&["predict", &model, &csv]).code, 3);
}

/// A pipe gives its bytes once: what looks at the first would lose them.
#[test]
#[cfg(unix)]
fn a_pipe_is_read_whole_once_its_format_is_named() {
    use std::io::Write;
    let piped = |words: &[&str], text: &str| -> common::Run {
        let mut command = common::command(&[&["data", "info", "/dev/stdin"], words].concat());
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
        let sent = child.stdin.take().unwrap().write_all(text.as_bytes());
        let run = child.wait_with_output().unwrap().into();
        drop(sent); // nobody reads what is refused
        run
    };
    let text: String = (0..3000).map(|i| format!("{} 1:{i} 2:1\n", i % 2)).collect();
    let run = piped(&["--format-in", "svm", "--json"], &text);
    let info: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(info["samples"], 3000, "{run:?}");
    let run = piped(&[], &text);
    assert_eq!((run.code, run.stdout.as_str()), (3, ""), "{run:?}");
    assert!(run.stderr.contains("--format-in"), "{run:?}");
    let run = lkdl(&["data", "info", "-"]);
    assert!(run.code == 2 && run.stderr.contains("/dev/stdin"), "{run:?}");
}

#[test]
fn one_large_line_is_refused_in_little_memory() {
    let scratch = Scratch::new("bomb");
    let file = scratch.path("a.csv.gz");
    // one line of 1 GiB, in 64 parts
    let script = "head -c 16777216 /dev/zero | tr '\\0' 1 | gzip -1 > \"$0.part\"; \
                  for part in $(seq 64); do cat \"$0.part\"; done > \"$0\"";
    let made = std::process::Command::new("sh").args(["-c", script, &file]).status();
    assert!(made.unwrap().success());
    let run: common::Run = std::process::Command::new("sh")
        .args(["-c", "ulimit -v 700000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_lkdl")])
        .args(["data", "info", &file, "--threads", "1"])
        .output()
        .unwrap()
        .into();
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.stderr.contains("line 1: longer than 33554432 bytes"), "{run:?}");
}
