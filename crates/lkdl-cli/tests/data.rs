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
            "features",
            "highest",
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
