//! What was asked for and cannot be, or would mean nothing: said before the work, with the fix.
#![allow(clippy::unwrap_used)] // what is missing here is a failure

mod common;

use common::{Run, Scratch, json, lkdl};

/// Two classes of three features, as `size` says.
fn table(size: impl Fn(u32) -> f64) -> String {
    let mut csv = String::from("u,v,w,label\n");
    for i in 0..40u32 {
        let (class, x) = (i % 2, size(i));
        csv += &format!("{x},{},{},{class}\n", f64::from(i % 7) + 3.0 * f64::from(class), i % 5);
    }
    csv
}

/// A quick model of [`table`].
fn fitted(folder: &Scratch, name: &str, more: &[&str]) -> String {
    let data = folder.write("train.csv", table(|i| f64::from(i % 3)));
    let model = folder.path(name);
    let words = ["fit", &data, "-o", &model, "--force"];
    let run = lkdl(&[&words[..], more].concat());
    assert_eq!(run.code, 0, "{run:?}");
    model
}

/// Refused in one line with these words, and nothing on stdout.
fn refused(run: &Run, code: i32, parts: &[&str]) {
    assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    assert!(run.stderr.starts_with("error: "), "{run:?}");
    assert!(parts.iter().all(|part| run.stderr.contains(part)), "{parts:?}: {run:?}");
}

#[test]
fn reading_flags_that_mean_nothing_are_named() {
    let folder = Scratch::new("moot-reading");
    let csv = folder.write("a.csv", table(f64::from));
    let svm = folder.write("a.svm", "1 1:0.5 2:1\n2 2:3\n");
    for (data, flag, value, formats) in [
        (&csv, "--n-features", "9", "svmlight"),
        (&csv, "--index-base", "0", "svmlight"),
        (&csv, "--samples", "X", "npz, mat or hdf5"),
        (&csv, "--layout", "rows", "npy, npz, mat or hdf5"),
        (&svm, "--layout", "columns", "npy, npz, mat or hdf5"),
        (&svm, "--header", "no", "csv or tsv"),
    ] {
        let run = lkdl(&["data", "info", data, flag, value]);
        refused(&run, 2, &[flag, &format!("is for {formats}, but "), "leave it away"]);
    }
    for (flag, value) in [("--label", "y"), ("--format-in", "csv"), ("--layout", "rows")] {
        let run = lkdl(&["data", "info", "digits", flag, value]);
        refused(&run, 2, &[flag, "is for files, but digits is a set"]);
    }
    // as it would be without
    assert_eq!(lkdl(&["data", "info", &csv, "--layout", "auto"]).code, 0);
    let bare = json(&["data", "info", "digits", "--unlabelled", "--json"]);
    assert!(bare["classes"].is_null(), "{bare}");
}

#[test]
fn output_flags_that_mean_nothing_are_named() {
    let folder = Scratch::new("moot-output");
    let model = fitted(&folder, "m.safetensors", &[]);
    let data = folder.path("train.csv");
    for flag in [&["--image-shape", "1x3"][..], &["--column-major"]] {
        let run = lkdl(&[&["inspect", &model][..], flag].concat());
        refused(&run, 2, &[flag[0], "--atoms FILE or --html FILE"]);
    }
    let run = lkdl(&["predict", &model, &data, "--json", "--format", "csv"]);
    refused(&run, 2, &["--json", "--format", "JSON lines"]);
    refused(&lkdl(&["predict", &model, &data, "--json", "--format", "npy"]), 2, &["--output"]);
    let out = folder.path("p.npy");
    let report = json(&["predict", &model, &data, "--json", "--format", "npy", "-o", &out]);
    assert_eq!(
        common::keys(&report),
        ["command", "file", "n_samples", "n_zero_samples", "version"]
    );
    assert_eq!((report["n_samples"].as_u64(), &report["file"]), (Some(40), &out.into()));
    for name in ["c.csv", "c", "c.npz.gz"] {
        let run = lkdl(&["encode", &model, &data, "-o", &folder.path(name)]);
        refused(&run, 2, &[name, "end the output in .npz"]);
    }
    assert_eq!(folder.names(), ["m.safetensors", "p.npy", "train.csv"]);
}

/// Nothing is printed of a model whose atoms cannot be drawn, nor read where names are wrong.
#[test]
fn refusals_come_before_results() {
    let folder = Scratch::new("early-refusal");
    let model = fitted(&folder, "m.safetensors", &[]);
    let png = folder.path("a.png");
    for json in [&[][..], &["--json"]] {
        let run = lkdl(&[&["inspect", &model, "--atoms", &png][..], json].concat());
        refused(&run, 2, &["atoms of 3 features are no square image", "--image-shape"]);
    }
    let missing = folder.path("none.safetensors");
    refused(&lkdl(&["inspect", &missing, "--atoms", &folder.path("a.jpg")]), 2, &[".png or .svg"]);
    let run = lkdl(&["inspect", &missing, "--atoms", &png, "--html", &png]);
    refused(&run, 2, &["--atoms and --html name the same file"]);
    let out = folder.path("b.toml");
    refused(&lkdl(&["tune", "digits", "--out", &out, "--budget", "0"]), 2, &["--budget is 0"]);
    let log = folder.path("t.toml");
    for out in [log.clone(), folder.path("./t.toml")] {
        let run = lkdl(&["tune", "no-such.csv", "--out", &out, "--log", &log]);
        refused(&run, 2, &["--log and --out are both"]);
    }
    assert_eq!(folder.names(), ["m.safetensors", "train.csv"]);
}

#[test]
fn samples_that_overflow_are_bad_input_and_named() {
    let folder = Scratch::new("overflow");
    let huge = folder.write("huge.csv", table(|i| if i == 11 { 1e308 } else { f64::from(i) }));
    let large = folder.write("large.csv", table(|i| if i == 11 { -1e39 } else { f64::from(i) }));
    let out = folder.path("out.safetensors");
    let (config, codes) = (folder.path("t.toml"), folder.path("c.npz"));
    let double = fitted(&folder, "double.safetensors", &[]);
    let single = fitted(&folder, "single.safetensors", &["--precision", "f32"]);
    let of_huge = ["feature 0 of sample 11 is 1e308, too large", "scale the samples"];
    let of_large = ["feature 0 of sample 11 is -1e39, too large", "f32", "--precision f64"];
    for words in [
        &["fit", &huge, "-o", &out][..],
        &["fit", &huge, "-o", &out, "--prepare", "none", "--kernel", "linear"],
        &["fit", &huge, "--folds", "2", "--precision", "f32"],
        &["tune", &huge, "--out", &config],
        &["predict", &double, &huge],
        &["evaluate", &double, &huge],
        &["transform", &single, &huge, "-o", &codes],
        &["encode", &double, &huge, "-o", &codes],
    ] {
        refused(&lkdl(words), 3, &of_huge);
    }
    for words in [
        &["fit", &large, "-o", &out, "--precision", "f32"][..],
        &["tune", &large, "--out", &config, "--precision", "f32"],
        &["predict", &single, &large],
        &["encode", &single, &large, "-o", &codes],
    ] {
        refused(&lkdl(words), 3, &of_large);
    }
    // in double precision there is room for it
    assert_eq!(lkdl(&["predict", &double, &large]).code, 0);
    // within the range of f32 but not its square: the engine finds out
    let square = folder.write("square.csv", table(|i| if i == 11 { 1e25 } else { f64::from(i) }));
    let words = ["fit", &square, "-o", &out, "--precision", "f32", "--prepare", "none"];
    let run = lkdl(&[&words[..], &["--map", "none", "--sparsity", "2"]].concat());
    assert!(run.code == 3 && run.stderr.contains("scale them"), "{run:?}");
}

#[test]
fn samples_that_are_all_the_same_are_nothing_to_learn_from() {
    let folder = Scratch::new("alike");
    let out = folder.path("out.safetensors");
    for row in ["0,0", "5,-1"] {
        let rows: String = (0..30).map(|i| format!("{row},{}\n", ["x", "y"][i % 2])).collect();
        let data = folder.write("alike.csv", format!("a,b,label\n{rows}"));
        for words in [&["fit", &data, "-o", &out][..], &["fit", &data, "--folds", "2"]] {
            refused(&lkdl(words), 3, &["30 samples, all of them the same"]);
        }
    }
}

#[test]
fn a_precomputed_kernel_is_refused_in_flags_by_methods_of_its_space() {
    let folder = Scratch::new("precomputed");
    let mut csv = String::new();
    for i in 0..12i32 {
        let row: Vec<String> = (0..12).map(|j| f64::from(i * j + 1).to_string()).collect();
        csv += &format!("{},{}\n", row.join(","), ["a", "b"][i as usize % 2]);
    }
    let data = folder.write("k.csv", csv);
    let out = folder.path("m.safetensors");
    for method in ["kernel-ksvd", "kernel-mod", "kernel-src"] {
        let run = lkdl(&["fit", &data, "-o", &out, "--kernel", "precomputed", "--method", method]);
        assert_eq!(run.code, 2, "{run:?}");
        let error = run.stderr.lines().last().unwrap();
        assert!(error.contains("k(z, z)") && error.contains("--method ksvd"), "{error}");
        assert!(!error.contains("Gram"), "{error}");
    }
}
