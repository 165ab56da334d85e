//! Samples held against a model: features are matched by name, by position, or by LIBSVM's numbers,
//! and never silently by something else.
#![allow(clippy::unwrap_used)] // what is missing here is a failure

mod common;

use common::{Run, Scratch, json, lkdl};

const FIT: [&str; 6] = ["--atoms", "4", "--sparsity", "1", "--iters", "2"];

fn fit(data: &str, model: &str, more: &[&str]) {
    let run = lkdl(&[&["fit", data, "-o", model, "--force"][..], &FIT, more].concat());
    assert_eq!(run.code, 0, "{run:?}");
}

/// Samples of four features in two classes as LIBSVM text that counts from `base`; feature 0 is
/// mentioned where `mentions` says.
fn libsvm(base: usize, mentions: bool) -> String {
    let mut text = String::new();
    for i in 0..40usize {
        let class = i % 2;
        text += &format!("{class}");
        let values =
            [if mentions { 1 + i % 3 } else { 0 }, 1 + 2 * class, 3 + i % 4, 5 - 3 * class];
        for (t, value) in values.iter().enumerate().filter(|(_, value)| **value != 0) {
            text += &format!(" {}:{value}", t + base);
        }
        text += "\n";
    }
    text
}

/// The same samples as CSV without header, which says where every feature is.
fn csv(mentions: bool) -> String {
    let mut text = String::new();
    for line in libsvm(0, mentions).lines() {
        let (class, entries) = line.split_once(' ').unwrap();
        let mut values = ["0"; 4];
        for (t, value) in entries.split(' ').filter_map(|entry| entry.split_once(':')) {
            values[t.parse::<usize>().unwrap()] = value;
        }
        text += &format!("{},{class}\n", values.join(","));
    }
    text
}

/// A test part that never mentions index 0 is read as its training part was, not shifted.
#[test]
fn libsvm_counts_as_the_training_part_did() {
    let folder = Scratch::new("index-base");
    let train = folder.write("train.svm", libsvm(0, true));
    let model = folder.path("m.safetensors");
    fit(&train, &model, &[]);
    assert_eq!(json(&["inspect", &model, "--json"])["data"]["index_base"], 0);
    let test = folder.write("test.svm", libsvm(0, false));
    let dense = folder.write("test.csv", csv(false));
    let predictions = |data: &str, more: &[&str]| -> Run {
        lkdl(&[&["predict", &model, data][..], more].concat())
    };
    let expected = predictions(&dense, &[]).stdout;
    assert_eq!(expected.lines().count(), 41);
    assert_eq!(predictions(&test, &[]).stdout, expected);
    assert_eq!(predictions(&test, &["--index-base", "0"]).stdout, expected);
    let run = predictions(&test, &["--index-base", "1"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.contains("trained on indices from 0"), "{run:?}");
    // a set that counts otherwise goes through a format that does not count
    let other = folder.write("other.svm", libsvm(1, false));
    let npz = folder.path("other.npz");
    let words = ["data", "convert", &other, &npz, "--index-base", "1", "--n-features", "4"];
    assert_eq!(lkdl(&words).code, 0);
    assert_eq!(predictions(&npz, &[]).stdout, expected);
}

#[test]
fn index_0_contradicts_a_model_of_indices_from_1() {
    let folder = Scratch::new("index-base-1");
    let train = folder.write("train.svm", libsvm(1, true));
    let model = folder.path("m.safetensors");
    fit(&train, &model, &[]);
    assert_eq!(json(&["inspect", &model, "--json"])["data"]["index_base"], 1);
    let test = folder.write("test.svm", libsvm(0, true));
    let run = lkdl(&["evaluate", &model, &test]);
    assert_eq!((run.code, run.stdout.as_str()), (3, ""), "{run:?}");
    assert!(run.stderr.contains("line 1: index 0, where indices are to start at 1"), "{run:?}");
    // said at the fit where no index tells
    let silent = folder.write("silent.svm", libsvm(0, false));
    fit(&silent, &model, &["--index-base", "0"]);
    let facts = json(&["inspect", &model, "--json"]);
    assert_eq!((&facts["n_features"], &facts["data"]["index_base"]), (&4.into(), &0.into()));
    assert_eq!(lkdl(&["evaluate", &model, &test]).code, 0);
    // a model of other data takes the file as it seems
    let dense = folder.write("train.csv", csv(true));
    fit(&dense, &model, &[]);
    assert!(json(&["inspect", &model, "--json"])["data"]["index_base"].is_null());
    for data in [&train, &test] {
        assert_eq!(json(&["evaluate", &model, data, "--json"])["n_samples"], 40);
    }
}

#[test]
fn names_on_one_side_alone_are_remarked_upon() {
    let folder = Scratch::new("one-sided");
    let bare = folder.write("bare.csv", csv(true));
    let named = folder.write("named.csv", format!("a,b,c,d,label\n{}", csv(true)));
    let model = folder.path("m.safetensors");
    for (train, test, note) in [
        (&bare, &bare, None),
        (&named, &named, None),
        (&named, &bare, Some("matched by position: {} has no names")),
        (&bare, &named, Some("matched by position: the model knows no names")),
    ] {
        fit(train, &model, &[]);
        let run = lkdl(&["predict", &model, test]);
        assert_eq!(run.code, 0, "{run:?}");
        match note {
            None => assert_eq!(run.stderr, ""),
            Some(note) => {
                assert!(run.stderr.contains(&note.replace("{}", test)), "{run:?}");
                assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
                assert_eq!(lkdl(&["predict", &model, test, "-q"]).stderr, "");
            }
        }
    }
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let folder = Scratch::new("twice");
    let model = folder.path("m.safetensors");
    for header in ["a,b,a,d,label", "label,b,c,d,label"] {
        let data = folder.write("twice.csv", format!("{header}\n{}", csv(true)));
        for words in [&["data", "info", &data][..], &["fit", &data, "-o", &model]] {
            let run = lkdl(words);
            assert_eq!((run.code, run.stdout.as_str()), (3, ""), "{run:?}");
            let name = &header[..header.find(',').unwrap()];
            assert!(run.stderr.contains(&format!("two columns are called \"{name}\"")), "{run:?}");
        }
    }
}
