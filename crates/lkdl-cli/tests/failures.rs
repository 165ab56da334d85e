//! What goes wrong, what is said about it, and the exit code.
#![allow(clippy::unwrap_used)] // what is missing here is a failure

mod common;

use common::{Run, Scratch, command, lkdl};
use std::process::Stdio;

/// One line, `error: …`, with these words in it, and nothing on stdout.
fn fails(words: &[&str], code: i32, parts: &[&str]) {
    let run = lkdl(words);
    assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{words:?}: {run:?}");
    assert!(run.stderr.starts_with("error: "), "{words:?}: {run:?}");
    for part in parts {
        assert!(run.stderr.contains(part), "{words:?}, {part}: {run:?}");
    }
}

/// The same for failures that are not clap's.
fn fails_in_one_line(words: &[&str], code: i32, parts: &[&str]) {
    fails(words, code, parts);
    assert_eq!(lkdl(words).stderr.lines().count(), 1, "{words:?}");
}

#[test]
fn bad_usage_is_2() {
    let scratch = Scratch::new("usage");
    let config = scratch.write("run.toml", "sede = 7");
    let bad_value = scratch.write("value.toml", "threads = \"many\"");
    fails(&["nonsense"], 2, &["unrecognized subcommand 'nonsense'"]);
    fails(&["data", "info", "uspz"], 2, &["did you mean usps?"]);
    fails(&["data", "info", "digits", "--lable", "x"], 2, &["--label"]);
    fails(&["data", "info", "digits", "--threads", "0"], 2, &["--threads"]);
    fails(&["data", "info", "digits", "--layout", "sideways"], 2, &["auto, rows or columns"]);
    fails(&["data", "fetch", "usps", "--timeout", "nan"], 2, &["between"]);
    let words = ["data", "info", "digits", "--config", &config];
    fails_in_one_line(&words, 2, &["called sede; did you mean seed?"]);
    fails(&["data", "info", "digits", "--config", &bad_value], 2, &["value.toml added --threads"]);
    let words = ["data", "info", "digits", "--config", "/no/such.toml"];
    fails_in_one_line(&words, 2, &["/no/such.toml"]);
    fails_in_one_line(&["data", "fetch", "usqs", "--out", "x"], 2, &["choose from digits, usps"]);
    fails_in_one_line(&["data", "fetch", "ar", "--out", "x"], 2, &["may not be redistributed"]);
}

#[test]
fn bad_input_is_3() {
    let scratch = Scratch::new("input");
    let nan = scratch.write("nan.csv", "a,b,label\n1,2,x\n3,nan,y\n");
    let ragged = scratch.write("ragged.csv", "a,b,label\n1,2,x\n3\n");
    let empty = scratch.write("empty.csv", "");
    let wrong = scratch.write("wrong.npy", "not an array at all");
    for (file, part) in [
        (nan, "nan.csv"),
        (ragged, "ragged.csv"),
        (empty, "empty.csv"),
        (wrong, "wrong.npy"),
        (scratch.path("missing.csv"), "missing.csv"),
    ] {
        fails_in_one_line(&["data", "info", &file], 3, &[part, "; "]);
    }
    let words = ["data", "info", "usps:train", "--data-dir", "/no/such/place"];
    fails_in_one_line(&words, 3, &["usps/usps.bz2 is missing", "/no/such/place"]);
}

#[test]
fn an_output_that_cannot_be_written_is_4_and_leaves_nothing() {
    let scratch = Scratch::new("output");
    let old = scratch.write("old.csv", "mine");
    fails_in_one_line(&["data", "convert", "digits", &old], 4, &["old.csv exists", "--force"]);
    assert_eq!(std::fs::read_to_string(&old).unwrap(), "mine");
    let no_folder = scratch.path("no/such/folder/a.csv");
    fails_in_one_line(&["data", "convert", "digits", &no_folder], 4, &["create the folder"]);
    let under_a_file = scratch.path("old.csv/a.csv");
    fails_in_one_line(&["data", "convert", "digits", &under_a_file], 4, &["old.csv/a.csv"]);
    assert_eq!(scratch.names(), ["old.csv"]);
    assert_eq!(lkdl(&["data", "convert", "digits", &old, "--force"]).code, 0);
    assert!(std::fs::metadata(&old).unwrap().len() > 100_000);
    assert_eq!(scratch.names(), ["old.csv"]);
}

#[test]
#[cfg(unix)]
fn a_read_only_folder_is_4() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("readonly");
    let folder = scratch.0.join("locked");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o555)).unwrap();
    if std::fs::write(folder.join("probe"), "").is_ok() {
        println!("this user may write anywhere: the check of a read-only folder did not run");
        return;
    }
    let out = scratch.path("locked/a.csv");
    fails_in_one_line(&["data", "convert", "digits", &out], 4, &["a folder you may write to"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_4() {
    for words in [&["data", "info", "digits"][..], &["--help"], &["man"], &["completions", "zsh"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let run: Run = command(words).stdout(full).output().unwrap().into();
        assert_eq!(run.code, 4, "{words:?}: {run:?}");
        assert!(run.stderr.starts_with("error: stdout: "), "{run:?}");
    }
    let words = ["data", "convert", "digits", "/dev/full", "--format-out", "csv"];
    fails_in_one_line(&words, 4, &["free some space"]);
}

#[test]
fn a_closed_pipe_is_no_failure_and_no_noise() {
    for words in [&["data", "info", "digits"][..], &["--help"], &["man"], &["completions", "zsh"]] {
        let mut child =
            command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let run: Run = child.wait_with_output().unwrap().into();
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{words:?}");
    }
}

#[test]
#[cfg(unix)]
fn an_interrupt_is_130() {
    // a server that takes connections and says nothing keeps the command waiting
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mirror = format!("http://{}", silent.local_addr().unwrap());
    let scratch = Scratch::new("interrupt");
    let mut child = command(&["data", "fetch", "usps", "--mirror", &mirror])
        .args(["--out", &scratch.path("")])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let connection = silent.accept().unwrap();
    let id = child.id().to_string();
    let killed = std::process::Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(connection);
    assert_eq!(scratch.names(), ["usps"]);
}
