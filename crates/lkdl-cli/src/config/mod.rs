//! Settings from a file. Every flag of every command may stand in it under its long name:
//!
//! ```toml
//! seed = 7            # any command that has the flag
//! [fit]               # only `lkdl fit`
//! kernel = "gaussian"
//! prepare = ["center", "l2"]
//! [data.convert]      # only `lkdl data convert`
//! layout = "columns"
//! ```
//!
//! Entries become arguments in front of the user's own. Precedence is flags > environment > file >
//! defaults: an entry is left out if the user, or the flag's environment variable, has set that flag
//! or one it conflicts with. A key that no command knows is an error with the nearest that exists.

use crate::cli;
use crate::failure::Failure;
use clap::builder::StyledStr;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// A file of settings is short; anything longer is the wrong file.
const MAX_BYTES: u64 = 1 << 20;

/// Flags that make no sense in a file.
const NOT_IN_A_FILE: [&str; 3] = ["config", "help", "version"];

/// What is to be parsed.
#[derive(Debug)]
pub struct Arguments {
    /// The user's words with those of the file among them.
    pub list: Vec<OsString>,
    /// What came from a file, for messages about it.
    pub origin: Option<String>,
}

impl Arguments {
    /// Known before parsing, so that its messages obey.
    pub fn no_color(&self) -> bool {
        self.list.iter().any(|word| word == "--no-color")
    }

    /// The help of the command that is named, as far as one is.
    pub fn help(&self) -> StyledStr {
        let mut command = cli::command();
        command.build();
        Place::find(&command, &self.list).command.clone().render_help()
    }
}

/// The arguments with the settings of the file that `--config` or `LKDL_CONFIG` names.
pub fn expand(list: Vec<OsString>) -> Result<Arguments, Failure> {
    expand_for(cli::command(), list)
}

fn expand_for(mut command: Command, mut list: Vec<OsString>) -> Result<Arguments, Failure> {
    command.build(); // hands the shared flags down to every command
    // a glance at what the user wrote; the parse in earnest reports what is wrong with it
    let Ok(glance) = command.clone().ignore_errors(true).try_get_matches_from(&list) else {
        return Ok(Arguments { list, origin: None });
    };
    let Some(file) = glance.get_one::<PathBuf>("config") else {
        return Ok(Arguments { list, origin: None });
    };
    let place = Place::find(&command, &list);
    let mut settings = BTreeMap::new();
    let context = Position { file, path: Vec::new() };
    collect(&command, Some(&place.names), &read(file)?, &context, &mut settings)?;

    let given = deepest(&glance);
    let is_given = |arg: &Arg| {
        let source = given.value_source(arg.get_id().as_str());
        matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable))
    };
    let mut words = Vec::new();
    for (key, value) in &settings {
        // a common key may be meant for another command
        let Some(arg) = flag(place.command, key) else { continue };
        let rivals = place.command.get_arg_conflicts_with(arg);
        if !is_given(arg) && !rivals.into_iter().any(is_given) {
            words.extend(as_words(arg, key, value, file)?);
        }
    }
    let origin = format!("{} added {}", file.display(), words.join(" "));
    let origin = (!words.is_empty()).then_some(origin);
    list.splice(place.end..place.end, words.into_iter().map(OsString::from));
    Ok(Arguments { list, origin })
}

/// Which command the user's words name, and where its name ends.
struct Place<'a> {
    command: &'a Command,
    names: Vec<&'a str>,
    end: usize,
}

impl<'a> Place<'a> {
    fn find(command: &'a Command, words: &[OsString]) -> Self {
        let mut place = Self { command, names: Vec::new(), end: 1.min(words.len()) };
        let mut at = 1;
        while let Some(word) = words.get(at).map(|word| word.to_string_lossy()) {
            at += 1;
            if let Some(name) = word.strip_prefix("--") {
                // `--seed 7` is two words, `--seed=7` one
                let two = flag(place.command, name).is_some_and(takes_value);
                at += usize::from(two);
            } else if !word.starts_with('-') {
                let Some(deeper) = place.command.find_subcommand(&*word) else { break };
                place.command = deeper;
                place.names.push(deeper.get_name());
                place.end = at;
            }
        }
        place
    }
}

fn deepest(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, deeper)| deepest(deeper))
}

fn flag<'a>(command: &'a Command, long: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| arg.get_long() == Some(long))
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

fn read(file: &Path) -> Result<Table, Failure> {
    let problem = |text: String| Failure::usage(format!("config {}{text}", file.display()));
    let mut text = String::new();
    std::fs::File::open(file)
        .and_then(|opened| opened.take(MAX_BYTES + 1).read_to_string(&mut text))
        .map_err(|error| problem(format!(": {error}; name a TOML file that can be read")))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(problem(": too long for settings, over 1 MiB; name a TOML file".into()));
    }
    text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| 1 + before.matches('\n').count());
        problem(format!(", line {line}: {}; mend the TOML", error.message()))
    })
}

/// Where in which file a table stands, for messages.
struct Position<'a> {
    file: &'a Path,
    path: Vec<&'a str>,
}

/// Checks a table and the tables in it. Entries that lie on the way `names` to the user's command
/// are taken over, those of inner tables last.
fn collect(
    command: &Command,
    names: Option<&[&str]>,
    table: &Table,
    position: &Position<'_>,
    settings: &mut BTreeMap<String, Value>,
) -> Result<(), Failure> {
    let mut inner_tables = Vec::new();
    for (key, value) in table {
        match (value, command.find_subcommand(key)) {
            (Value::Table(inner), Some(deeper)) => inner_tables.push((key, inner, deeper)),
            (Value::Table(_), None) => return Err(unknown(command, key, position)),
            _ if !flags_within(command).contains(key.as_str()) => {
                return Err(unknown(command, key, position));
            }
            _ if names.is_some() => {
                settings.insert(key.clone(), value.clone());
            }
            _ => {}
        }
    }
    for (key, inner, deeper) in inner_tables {
        let rest = names
            .and_then(|names| names.split_first())
            .and_then(|(name, rest)| (*name == deeper.get_name()).then_some(rest));
        let path = position.path.iter().copied().chain([key.as_str()]).collect();
        collect(deeper, rest, inner, &Position { file: position.file, path }, settings)?;
    }
    Ok(())
}

/// The long flags of a command and all commands under it.
fn flags_within(command: &Command) -> BTreeSet<&str> {
    let own = command.get_arguments().filter_map(Arg::get_long);
    let deeper = command.get_subcommands().flat_map(flags_within);
    own.chain(deeper).filter(|flag| !NOT_IN_A_FILE.contains(flag)).collect()
}

fn unknown(command: &Command, key: &str, position: &Position<'_>) -> Failure {
    let commands = command.get_subcommands().map(Command::get_name);
    let known = flags_within(command).into_iter().chain(commands);
    let nearest = known.min_by_key(|known| strsim::damerau_levenshtein(known, key));
    let table = match position.path.join(".") {
        path if path.is_empty() => String::new(),
        path => format!(" in [{path}]"),
    };
    let hint = nearest.map(|known| format!("; did you mean {known}?")).unwrap_or_default();
    let file = position.file.display();
    Failure::usage(format!("config {file}: no flag or command is called {key}{table}{hint}"))
}

/// An entry as the words a user would have typed.
fn as_words(arg: &Arg, key: &str, value: &Value, file: &Path) -> Result<Vec<String>, Failure> {
    let wrong = |wanted: &str| {
        let found = value.type_str();
        let file = file.display();
        Failure::usage(format!("config {file}: {key} is of type {found}, but must be {wanted}"))
    };
    if !takes_value(arg) {
        return match value {
            Value::Boolean(true) => Ok(vec![format!("--{key}")]),
            Value::Boolean(false) => Ok(Vec::new()),
            _ => Err(wrong("true or false")),
        };
    }
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => Ok(value.to_string()),
        _ => Err(wrong("a number, a text or a list of them")),
    };
    let values: Vec<String> = match value {
        Value::Array(values) => values.iter().map(text).collect::<Result<_, _>>()?,
        value => vec![text(value)?],
    };
    // A flag that may stand once takes a list as its text is written; repeated, the last would win.
    if matches!(arg.get_action(), ArgAction::Append) {
        return Ok(values.iter().map(|value| format!("--{key}={value}")).collect());
    }
    Ok(vec![format!("--{key}={}", values.join(","))])
}

#[cfg(test)]
mod tests;
