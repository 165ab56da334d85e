//! `lkdl fit --stream`: every learner and format, bounded memory, and runs that are killed.
#![allow(clippy::unwrap_used)] // helpers of tests unwrap too

mod common;

use common::{Scratch, command, json, lkdl};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The digits as a file, and flags that make a fit of them quick.
fn digits(folder: &Scratch, name: &str) -> String {
    let file = folder.path(name);
    assert_eq!(lkdl(&["data", "convert", "digits", &file]).code, 0);
    file
}

const QUICK: [&str; 10] = [
    "--stream",
    "--atoms",
    "12",
    "--sparsity",
    "4",
    "--landmarks",
    "60",
    "--rank",
    "40",
    "--force",
];

fn accuracy(model: &str, data: &str) -> f64 {
    json(&["evaluate", model, data, "--json"])["accuracy"].as_f64().unwrap()
}

#[test]
fn every_learner_and_format_streams_the_digits() {
    let folder = Scratch::new("stream-formats");
    let model = folder.path("m.safetensors");
    let mut models = Vec::new();
    for name in ["d.npz", "d.csv", "d.svm", "d.idx", "d.parquet"] {
        let file = digits(&folder, name);
        let words = ["fit", &file, "-o", &model, "--block", "128"];
        let run = lkdl(&[&words[..], &QUICK].concat());
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
        assert!(run.stdout.contains("1797 samples, 64 features, 10 classes, 15 blocks"), "{run:?}");
        assert!(accuracy(&model, &file) > 0.9, "{name}");
        let facts = json(&["inspect", &model, "--json"]);
        models.push((facts["map"].clone(), facts["classes"].clone()));
    }
    // the same samples in any file are the same model
    assert!(models.iter().all(|facts| *facts == models[0]));
    let file = folder.path("d.npz");
    for method in ["rls", "mod"] {
        let words = ["fit", &file, "-o", &model, "--method", method, "--precision", "f32"];
        let run = lkdl(&[&words[..], &QUICK].concat());
        assert_eq!(run.code, 0, "{method}: {}", run.stderr);
        assert!(accuracy(&model, &file) > 0.9, "{method}");
    }
    let shifted = ["fit", "digits", "-o", &model, "--shifts", "--iters", "1", "--json"];
    let report = json(&[&shifted[..], &QUICK].concat());
    assert_eq!(report["data"]["n_samples"], 9 * 1797);
    let two = ["fit", &file, "--more-data", &file, "-o", &model, "--iters", "1", "--json"];
    let report = json(&[&two[..], &QUICK].concat());
    assert_eq!(report["data"]["n_samples"], 2 * 1797);
}

/// Settings that depend on all samples, and a pilot of some.
const OF_ALL: [&str; 9] = [
    "--pilot",
    "500",
    "--prepare",
    "standardize,l2",
    "--sampler",
    "diagonal",
    "--variant",
    "optimal",
    "--centered",
];

#[test]
fn what_depends_on_all_samples_is_gathered_from_them() {
    let folder = Scratch::new("stream-gathered");
    let (model, data) = (folder.path("m.safetensors"), digits(&folder, "d.npz"));
    let words = [&["fit", &data, "-o", &model, "--block", "128"][..], &QUICK, &OF_ALL].concat();
    let run = lkdl(&words);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for stage in ["\nmoments ", "\ndraw ", "\nsums "] {
        assert!(run.stdout.contains(stage), "{}", run.stdout);
    }
    assert!(accuracy(&model, &data) > 0.9);
    let why = "by a pilot of 5";
    assert!(run.stderr.contains(why) && !run.stderr.contains("budget"), "{}", run.stderr);
    let at_once = ["fit", &data, "-o", &model, "--block", "128", "--prepare", "standardize"];
    let run = lkdl(&[&at_once[..], &QUICK].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!run.stdout.contains("moments"), "the pilot holds all: {}", run.stdout);
    let tight = [&words[..], &["--memory", "300kB"]].concat();
    let run = lkdl(&tight);
    assert!(run.code == 2 && run.stderr.contains("raise --memory"), "{run:?}");
}

#[test]
fn what_cannot_be_streamed_is_refused_with_the_fix() {
    let folder = Scratch::new("stream-refused");
    let model = folder.path("m.safetensors");
    let refused = |words: &[&str], code: i32, text: &str| {
        let run = lkdl(&[&["fit"], words, &["-o", &model]].concat());
        assert_eq!(run.code, code, "{run:?}");
        assert!(run.stderr.contains(text), "{}", run.stderr);
        assert!(!Path::new(&model).exists());
    };
    let ksvd = "--stream does not go with --method ksvd; it is for --method online or rls or mod";
    refused(&["digits", "--stream", "--method", "ksvd"], 2, ksvd);
    refused(&["digits", "--resume"], 2, "--checkpoint");
    let memory = "more than the 0.1 MB that it may use; raise --memory";
    refused(&["digits", "--stream", "--memory", "100kB"], 2, memory);
    let nan = folder.write("nan.csv", "f0,f1,label\n1,2,a\n3,nan,b\n");
    refused(&[&nan, "--stream"], 3, "nan.csv, line 3: column 1 (f1): \"nan\" is not a finite");
    let one = folder.write("one.csv", "f0,f1,label\n1,2,a\n3,4,a\n");
    refused(&[&one, "--stream"], 3, "one.csv has one class, \"a\"; there is nothing to tell apart");
    let mat = folder.path("d.mat");
    assert_eq!(lkdl(&["data", "convert", "digits", &mat]).code, 0);
    refused(&[&mat, "--stream"], 3, "mat is not read in blocks; convert it first");
    refused(&["digits", "--stream", "--block", "0"], 2, "block_size is 0");
    let large = "block_size is 1000000000, but must be between 1 and 1048576";
    refused(&["digits", "--stream", "--block", "1000000000"], 2, large);
    let taken = "is the model or the data; name another file";
    refused(&["digits", "--stream", "--checkpoint", &model], 2, taken);
    refused(&[&one, "--stream", "--checkpoint", &one, "--force"], 2, taken);
    refused(&["digits", "--stream", "--checkpoint", "/dev/null", "--resume"], 2, "is not a file");
    let missing = folder.path("no/such/folder.ckpt");
    refused(&["digits", "--stream", "--checkpoint", &missing, "--resume"], 4, "no/such");
    let turned = folder.write("turned.csv", "f1,f0,label\n1,2,a\n3,4,b\n");
    let other = "turned.csv: feature 0 is \"f1\", where the first file has \"f0\"";
    refused(&[&one, "--stream", "--more-data", &turned], 3, other);
}

/// Four features and the class, 0 or 1, of 900 samples, as an array of NumPy.
fn array(folder: &Scratch, name: &str, value: impl Fn(usize, usize) -> f64) -> String {
    let head = "{'descr': '<f8', 'fortran_order': False, 'shape': (900, 5), }";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16).to_le_bytes());
    bytes.extend(head.as_bytes());
    for sample in 0..900 {
        let class = (sample % 2) as f64;
        let values = (0..4).map(|feature| value(sample, feature)).chain([class]);
        values.for_each(|value| bytes.extend(value.to_le_bytes()));
    }
    let path = folder.path(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_value_that_is_not_finite_is_named_alike_in_memory_and_in_blocks() {
    let folder = Scratch::new("stream-nan");
    let model = folder.path("m.safetensors");
    let smooth = |i: usize, t: usize| ((i * (t + 2)) as f64).sin();
    for (name, bad) in [("nan.npy", f64::NAN), ("inf.npy", f64::INFINITY)] {
        let value = |i, t| if (i, t) == (850, 3) { bad } else { smooth(i, t) };
        let data = array(&folder, name, value);
        let words = ["fit", &data, "--label", "4", "-o", &model, "--method", "online"];
        for (more, place) in
            [(&[][..], ""), (&["--stream", "--block", "100"], "block 8 (from sample 800 on)")]
        {
            let run = lkdl(&[&words[..], more].concat());
            assert_eq!(run.code, 3, "{run:?}");
            assert!(run.stderr.contains("at feature 3 of sample 850"), "{}", run.stderr);
            assert!(run.stderr.contains(place), "{}", run.stderr);
        }
    }
}

#[test]
fn samples_that_tell_nothing_are_refused_as_they_are_in_memory() {
    let folder = Scratch::new("stream-nothing");
    let model = folder.path("m.safetensors");
    let rows = |value: &dyn Fn(usize) -> String| {
        let rows = (0..60).map(|i| format!("{},{}\n", value(i), ["a", "b"][i % 2]));
        "f0,f1,f2,label\n".to_string() + &rows.collect::<String>()
    };
    let same = folder.write("same.csv", rows(&|_| "1,2,3".into()));
    let zero = folder.write("zero.csv", rows(&|_| "0,0,0".into()));
    let class = folder.write(
        "class.csv",
        rows(&|i| match i % 2 {
            0 => format!("{i},{},{}", i * i % 7, i % 5),
            _ => "0,0,0".into(),
        }),
    );
    let plain = ["--prepare", "none", "--map", "none"];
    for (data, more, text) in [
        (&same, &[][..], "60 samples, all of them the same; there is nothing to tell"),
        (&same, &plain, "60 samples, all of them the same"),
        (&zero, &[], "60 samples, all of them the same"),
        (&class, &plain, "class \"b\": samples is all zero; there is nothing to learn from"),
    ] {
        for streamed in [&[][..], &["--stream"], &["--stream", "--pilot", "20", "--block", "7"]] {
            let words = ["fit", data, "-o", &model, "--method", "online"];
            let run = lkdl(&[&words[..], more, streamed].concat());
            assert_eq!(run.code, 3, "{run:?}");
            assert!(run.stderr.contains(text), "{streamed:?}: {}", run.stderr);
        }
    }
}

#[test]
fn mixed_samples_do_not_drift_with_a_pilot_of_twice_as_many_as_landmarks() {
    let folder = Scratch::new("stream-mixed");
    let model = folder.path("m.safetensors");
    let own = ["fit", "digits", "-o", &model, "--stream", "--force", "--json", "--block", "100"];
    let sizes = ["--landmarks", "250", "--pilot", "500", "--atoms", "12", "--sparsity", "4"];
    for seed in ["0", "1", "2"] {
        for sampler in ["hybrid", "uniform", "k-means"] {
            let more = ["--iters", "1", "--map", "nystroem", "--seed", seed, "--sampler", sampler];
            let report = json(&[&own[..], &sizes, &more].concat());
            let highest = report["drift"]["highest"].as_f64().unwrap();
            assert!((0.8..1.6).contains(&highest), "{sampler} {seed}: {highest}");
        }
    }
}

/// A fit of many small blocks that keeps its state after each of them.
fn words<'a>(data: &'a str, model: &'a str, kept: &'a str, method: &'a str) -> Vec<&'a str> {
    let own = ["fit", data, "-o", model, "--method", method, "--block", "24", "--iters", "2"];
    let keep = ["--checkpoint", kept, "--checkpoint-every", "1", "--resume"];
    [&own[..], &QUICK, &keep].concat()
}

/// Starts the fit and kills it after a while; whether it was still running.
fn killed_after(words: &[&str], time: Duration) -> bool {
    let mut child = command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(time);
    let was_running = child.try_wait().unwrap().is_none();
    let _ = child.kill();
    child.wait().unwrap();
    was_running
}

/// A random moment of a run that takes so long, other ones every time.
fn moment_of(time: Duration) -> Duration {
    let word = RandomState::new().hash_one("moment");
    time.mul_f64((word >> 11) as f64 / (1u64 << 53) as f64)
}

/// Temporary files in the folder of a model.
fn temporaries(model: &str) -> usize {
    let folder = std::fs::read_dir(Path::new(model).parent().unwrap()).unwrap();
    let is_temporary = |name: &str| name.starts_with(".lkdl-");
    folder
        .filter(|entry| is_temporary(&entry.as_ref().unwrap().file_name().to_string_lossy()))
        .count()
}

/// Fits that are killed and resumed, for each of three learners: 21 in all.
const KILLS: usize = 7;

#[test]
fn a_fit_that_is_killed_at_any_moment_and_resumed_ends_in_the_same_file() {
    let folder = Scratch::new("stream-killed");
    let data = digits(&folder, "d.npz");
    for method in ["online", "mod", "rls"] {
        let (model, kept) = (folder.path("m.safetensors"), folder.path("fit.ckpt"));
        let mut words = words(&data, &model, &kept, method);
        if method == "mod" {
            words.extend(OF_ALL); // some are killed while they gather, and start anew
        }
        let start = Instant::now();
        let run = lkdl(&words);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let time = start.elapsed();
        let whole = std::fs::read(&model).unwrap();
        assert!(!Path::new(&kept).exists(), "a fit that has ended leaves no checkpoint");
        let (mut n_killed, mut n_resumed) = (0, 0);
        // a moment before the first checkpoint or after the last block is none to go on from
        while n_killed < KILLS || n_resumed == 0 {
            std::fs::remove_file(&model).unwrap();
            let moment = moment_of(time);
            n_killed += usize::from(killed_after(&words, moment));
            assert!(n_killed < 10 * KILLS, "no run was killed while it learned");
            n_resumed += usize::from(Path::new(&kept).exists());
            let run = lkdl(&words);
            assert_eq!(run.code, 0, "{}", run.stderr);
            let same = std::fs::read(&model).unwrap() == whole;
            assert!(same, "{method}, killed after {moment:?} of {time:?}");
            assert!(
                !cfg!(target_os = "linux") || temporaries(&model) == 0,
                "left by the killed one"
            );
        }
    }
}

/// A checkpoint of the fit, by killing it while it learns.
fn interrupt(words: &[&str], model: &str, kept: &str) {
    let start = Instant::now();
    assert_eq!(lkdl(words).code, 0);
    let time = start.elapsed();
    let killed = (1..20).any(|part| {
        let _ = std::fs::remove_file(model);
        killed_after(words, time.mul_f64(0.05 * f64::from(part))) && Path::new(kept).exists()
    });
    assert!(killed, "no run was killed while it learned");
}

#[test]
fn a_fit_that_goes_on_says_what_memory_it_needs_as_it_did_at_first() {
    let folder = Scratch::new("stream-plan");
    let data = digits(&folder, "d.npz");
    let (model, kept) = (folder.path("m.safetensors"), folder.path("fit.ckpt"));
    let words = [&words(&data, &model, &kept, "online")[..], &["--pilot", "700"]].concat();
    let as_json = [&words[..], &["--json"]].concat();
    let whole = json(&as_json);
    assert!(!whole["model"]["memory_plan"].as_array().unwrap().is_empty());
    interrupt(&words, &model, &kept);
    let copy = std::fs::read(&kept).unwrap();
    let run = lkdl(&words);
    assert!(run.stdout.contains("\nmemory ") && run.stdout.contains("resume "), "{run:?}");
    std::fs::write(&kept, copy).unwrap();
    let resumed = json(&as_json);
    for key in ["memory_plan", "memory_at_most"] {
        assert_eq!(resumed["model"][key], whole["model"][key]);
    }
}

#[test]
fn a_checkpoint_of_another_run_or_with_a_flipped_byte_is_refused() {
    let folder = Scratch::new("stream-checkpoint");
    let data = digits(&folder, "d.npz");
    let (model, kept) = (folder.path("m.safetensors"), folder.path("fit.ckpt"));
    let words = words(&data, &model, &kept, "online");
    interrupt(&words, &model, &kept);
    let refused = |words: &[&str], text: &str| {
        let run = lkdl(words);
        assert_eq!(run.code, 3, "{run:?}");
        assert!(run.stderr.contains(text), "{}", run.stderr);
    };
    refused(&[&words[..], &["--seed", "9"]].concat(), "of another run: --seed was 0 and is 9; ");
    let tol = "of another run: --tol was not given and is 0.1; give the same";
    refused(&[&words[..], &["--tol", "0.1"]].concat(), tol);
    let more: Vec<&str> =
        words.iter().map(|word| if *word == "12" { "13" } else { word }).collect();
    refused(&more, "of another run: --atoms was 12 and is 13; ");
    let memory = "of another run: --memory was not given and is 1000000000; ";
    refused(&[&words[..], &["--memory", "1GB"]].concat(), memory);
    refused(&[&words[..], &["--precision", "f32"]].concat(), "another run: --precision was f64");
    let mut bytes = std::fs::read(&kept).unwrap();
    let place = bytes.len() - 5;
    bytes[place] ^= 1;
    std::fs::write(&kept, &bytes).unwrap();
    refused(&words, "the checkpoint is damaged: its checksum does not match");
    std::fs::write(&kept, "no checkpoint").unwrap();
    refused(&words, "not a checkpoint of lkdl");
    // without --resume and --force it is not written over
    let fresh: Vec<&str> =
        words.iter().copied().filter(|word| !["--resume", "--force"].contains(word)).collect();
    let run = lkdl(&fresh);
    assert_eq!(run.code, 4, "{run:?}");
}
