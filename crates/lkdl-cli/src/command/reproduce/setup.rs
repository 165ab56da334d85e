//! Where and with what results were made.

use super::results::VERSION;
use crate::context::Context;
use lkdl_data::NamedSet;
use std::time::{SystemTime, UNIX_EPOCH};

/// Names and values, for setup.md and the report.
pub fn facts(sets: &[NamedSet], scale: &str, context: &Context) -> Vec<(String, String)> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![
        fact("command", context.command_line()),
        fact("version", format!("lkdl {VERSION}")),
        fact("scale", scale.to_owned()),
        fact("first seed", context.seed.to_string()),
        fact("date", today()),
        fact("machine", machine()),
        fact("threads", context.threads.to_string()),
    ];
    for set in sets {
        for file in set.files() {
            facts.push(fact(file.path, format!("SHA-256 {}", file.sha256)));
        }
    }
    facts
}

/// The facts of all commands that made a folder: those of its setup.md, and what is new, names
/// together.
pub fn joined(former: &str, facts: Vec<(String, String)>) -> Vec<(String, String)> {
    let fact = |line: &str| {
        let (name, value) = line.strip_prefix("- ")?.split_once(": `")?;
        Some((name.to_owned(), value.strip_suffix('`')?.to_owned()))
    };
    let mut all: Vec<(String, String)> = former.lines().filter_map(fact).collect();
    let new: Vec<(String, String)> = facts.into_iter().filter(|f| !all.contains(f)).collect();
    all.extend(new);
    let names: Vec<String> = all.iter().map(|(name, _)| name.clone()).collect();
    all.sort_by_key(|(name, _)| names.iter().position(|known| known == name));
    all
}

/// The processor as the system names it, and the system.
fn machine() -> String {
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let model = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let model = model.map_or(String::new(), |model| format!("{model}, "));
    format!("{model}{cores} cores, {system}")
}

/// The day, in universal time.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date(seconds / 86_400)
}

/// The date so many days after 1 January 1970, in the Gregorian calendar.
fn date(mut days: u64) -> String {
    let leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    let length = |year| 365 + u64::from(leap(year));
    while days >= length(year) {
        days -= length(year);
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_remembers_the_commands_of_all_its_runs() {
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
        };
        let first = pairs(&[("command", "lkdl reproduce 1a"), ("date", "2026-11-18"), ("u", "1")]);
        let text = super::super::markdown::setup(&joined("", first.clone()));
        assert_eq!(joined(&text, first.clone()), first);
        let then = pairs(&[("command", "lkdl reproduce 3"), ("date", "2026-11-18"), ("m", "2")]);
        let both = [&first[..1], &then[..1], &first[1..], &then[2..]].concat();
        assert_eq!(joined(&text, then), both);
    }

    #[test]
    fn days_have_their_dates() {
        let dates = [0, 59, 364, 365, 11_016, 19_782, 20_819].map(date);
        let expected = [
            "1970-01-01",
            "1970-03-01",
            "1970-12-31",
            "1971-01-01",
            "2000-02-29",
            "2024-02-29",
            "2027-01-01",
        ];
        assert_eq!(dates, expected);
    }
}
