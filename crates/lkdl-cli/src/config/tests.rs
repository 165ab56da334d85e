use super::*;
use clap::value_parser;

/// A command line with what matters here: shared flags, a list, rivals, commands in commands.
fn toy() -> Command {
    let shared = |name: &'static str| Arg::new(name).long(name).global(true);
    let fit = Command::new("fit")
        .arg(Arg::new("DATA"))
        .arg(Arg::new("rank").long("rank"))
        .arg(Arg::new("auto").long("auto").action(ArgAction::SetTrue).conflicts_with("rank"))
        .arg(Arg::new("prepare").long("prepare").action(ArgAction::Append));
    let convert = Command::new("convert").arg(Arg::new("layout").long("layout"));
    Command::new("toy")
        .args_override_self(true)
        .arg(shared("seed"))
        .arg(shared("path").env("PATH")) // a variable that is set wherever tests run
        .arg(shared("quiet").action(ArgAction::SetTrue))
        .arg(shared("config").value_parser(value_parser!(PathBuf)))
        .subcommand(fit)
        .subcommand(Command::new("data").subcommand(convert))
}

/// The words of `line` with `CONFIG` standing for a file that holds `text`.
fn expanded(test: &str, text: &str, line: &str) -> Result<String, String> {
    let file = std::env::temp_dir().join(format!("lkdl-{}-{test}.toml", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let path = file.display().to_string();
    let words = line.split(' ').map(|word| OsString::from(word.replace("CONFIG", &path)));
    let outcome = expand_for(toy(), words.collect());
    std::fs::remove_file(&file).unwrap();
    let list = outcome.map_err(|failure| {
        assert_eq!(failure.code(), 2);
        format!("{failure:?}").replace(&path, "CONFIG")
    })?;
    let words: Vec<_> = list.list.iter().map(|word| word.to_string_lossy()).collect();
    Ok(words.join(" ").replace(&path, "CONFIG"))
}

#[test]
fn entries_stand_between_the_command_and_the_users_own_words() {
    let text = "seed = 7\nquiet = true\n[fit]\nrank = 3\nprepare = [\"center\", \"l2\"]";
    assert_eq!(
        expanded("between", text, "toy --config CONFIG fit x").unwrap(),
        "toy --config CONFIG fit --prepare=center --prepare=l2 --quiet --rank=3 --seed=7 x"
    );
    // a flag that stands once takes the list as one text, instead of its last entry
    assert_eq!(
        expanded("list-of-one", "rank = [\"a\", 2]", "toy fit --config CONFIG").unwrap(),
        "toy fit --rank=a,2 --config CONFIG"
    );
    let nested = "[data.convert]\nlayout = \"rows\"";
    assert_eq!(
        expanded("nested", nested, "toy data convert --config=CONFIG").unwrap(),
        "toy data convert --layout=rows --config=CONFIG"
    );
}

#[test]
fn the_inner_table_wins_over_the_common_key() {
    let text = "rank = 1\n[fit]\nrank = 2";
    assert_eq!(
        expanded("inner", text, "toy fit --config CONFIG").unwrap(),
        "toy fit --rank=2 --config CONFIG"
    );
}

#[test]
fn entries_for_other_commands_and_false_switches_are_left_out() {
    let text = "rank = 1\nquiet = false\n[data.convert]\nlayout = \"rows\"";
    let line = "toy data convert --config CONFIG";
    assert_eq!(expanded("others", "rank = 1\nquiet = false", line).unwrap(), line);
    let line = "toy fit --rank 2 --config CONFIG";
    assert_eq!(expanded("others", text, line).unwrap(), line);
}

#[test]
fn flags_and_environment_win_over_the_file() {
    for (test, text, line) in [
        ("flag", "seed = 7", "toy --seed 3 fit --config CONFIG"),
        ("list", "prepare = \"l2\"", "toy fit --prepare center --config CONFIG"),
        ("rival", "auto = true", "toy fit --rank 3 --config CONFIG"),
        ("variable", "path = \"x\"", "toy fit --config CONFIG"),
    ] {
        assert_eq!(expanded(test, text, line).unwrap(), line, "{test}");
    }
}

#[test]
fn a_value_that_looks_like_a_command_is_not_taken_for_one() {
    assert_eq!(
        expanded("value", "quiet = true", "toy --seed fit --config CONFIG data convert").unwrap(),
        "toy --seed fit --config CONFIG data convert --quiet"
    );
}

#[test]
fn what_cannot_be_meant_is_named() {
    for (text, line, part) in [
        ("sede = 7", "toy fit --config CONFIG", "called sede; did you mean seed?"),
        ("[fit]\nlayout = 1", "toy fit --config CONFIG", "called layout in [fit]; did you mean"),
        ("[fot]\nrank = 1", "toy fit --config CONFIG", "called fot; did you mean fit?"),
        ("seed = {a = 1}", "toy fit --config CONFIG", "called seed"),
        ("config = \"b\"", "toy fit --config CONFIG", "called config"),
        (
            "quiet = 1",
            "toy fit --config CONFIG",
            "quiet is of type integer, but must be true or false",
        ),
        ("seed = [[1]]", "toy fit --config CONFIG", "seed is of type array, but must be a number"),
        ("seed = 1\nseed = ", "toy fit --config CONFIG", "CONFIG, line 2: "),
        ("", "toy fit --config /no/such/file", "config /no/such/file: "),
    ] {
        let message = expanded("wrong", text, line).unwrap_err();
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn without_a_file_nothing_changes() {
    for line in ["toy", "toy fit x --rank 1", "toy --help", "toy --nonsense fit"] {
        assert_eq!(expanded("none", "", line).unwrap(), line);
    }
}
