//! What `lkdl` says about itself: every page of help under snapshot, completions, manual pages.
#![allow(clippy::unwrap_used)] // what is missing here is a failure

mod common;

use common::{Scratch, check_snapshot, lkdl};

/// The names of all commands, as their manual pages have them: lkdl, lkdl-data, lkdl-data-list …
fn pages() -> Vec<String> {
    let scratch = Scratch::new("pages");
    assert_eq!(lkdl(&["man", "--out", &scratch.path("")]).code, 0);
    scratch.names().iter().map(|name| name.strip_suffix(".1").unwrap().to_owned()).collect()
}

#[test]
fn every_page_of_help_is_as_committed() {
    for page in pages() {
        let mut words: Vec<&str> = page.split('-').skip(1).collect();
        words.push("--help");
        let run = lkdl(&words);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{page}");
        let widest = run.stdout.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{page}: {widest:?} columns");
        check_snapshot(&format!("{page}.txt"), &run.stdout);
    }
}

#[test]
fn without_a_command_help_is_printed_as_an_error() {
    for words in [&[][..], &["data"]] {
        // a variable that is set counts as an argument for clap, but not for a person
        for data_dir in [None, Some("/data")] {
            let mut command = common::command(words);
            command.envs(data_dir.map(|folder| ("LKDL_DATA_DIR", folder)));
            let run: common::Run = command.output().unwrap().into();
            assert_eq!((run.code, run.stdout.as_str()), (2, ""));
            assert!(run.stderr.contains("Usage: lkdl"), "{run:?}");
            assert!(!run.stderr.contains("error:"), "{run:?}");
        }
    }
}

#[test]
fn every_shell_gets_its_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let run = lkdl(&["completions", shell]);
        assert_eq!(run.code, 0, "{shell}");
        assert!(run.stdout.contains("convert") && run.stdout.contains("format-out"), "{shell}");
    }
    assert_eq!(lkdl(&["completions", "cmd"]).code, 2);
}

#[test]
fn the_manual_is_a_page_on_stdout() {
    let run = lkdl(&["man"]);
    assert_eq!(run.code, 0);
    assert!(run.stdout.contains(".TH lkdl 1") && run.stdout.contains("Exit codes"), "{run:?}");
}

#[test]
fn the_version_is_that_of_the_workspace() {
    assert_eq!(lkdl(&["--version"]).stdout, concat!("lkdl ", env!("CARGO_PKG_VERSION"), "\n"));
}
