//! Flags of `fit` on the command line of `tune`: those the user gives are held fixed. And back: the
//! settings of a trial as `fit` would read them.

use super::space::Settings;
use crate::failure::Failure;
use crate::method::MethodFlags;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

const HEADING: &str = "Held fixed if given; otherwise searched, or as `fit` has them";

/// The flags of `fit` that were given, with their values.
#[derive(Debug, Clone, Default)]
pub struct Fixed(pub Settings);

/// A parser of nothing but `fit`'s flags.
fn parser() -> Command {
    MethodFlags::augment_args(Command::new("fit").no_binary_name(true).args_override_self(true))
}

impl Args for Fixed {
    fn augment_args(command: Command) -> Command {
        let own = |arg: &Arg| {
            let hide = arg.get_action().takes_values();
            arg.clone().help_heading(HEADING).hide_default_value(hide)
        };
        parser().get_arguments().map(own).fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Fixed {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut fixed = Self::default();
        fixed.update_from_arg_matches(matches)?;
        Ok(fixed)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for arg in parser().get_arguments() {
            let (id, Some(flag)) = (arg.get_id().as_str(), arg.get_long()) else { continue };
            if matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            let value = if arg.get_action().takes_values() {
                let raw = matches.get_raw(id).into_iter().flatten();
                raw.map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(",")
            } else {
                "true".into()
            };
            self.0.insert(flag.into(), value);
        }
        Ok(())
    }
}

/// What the settings mean to `fit`.
pub fn method_flags(settings: &Settings) -> Result<MethodFlags, Failure> {
    let command = parser();
    let is_switch = |flag: &str| {
        let arg = command.get_arguments().find(|arg| arg.get_long() == Some(flag));
        arg.is_some_and(|arg| !arg.get_action().takes_values())
    };
    let word = |(flag, value): (&String, &String)| match is_switch(flag) {
        true => (value == "true").then(|| format!("--{flag}")),
        false => Some(format!("--{flag}={value}")),
    };
    let words: Vec<String> = settings.iter().filter_map(word).collect();
    command
        .clone()
        .try_get_matches_from(words)
        .and_then(|matches| MethodFlags::from_arg_matches(&matches))
        .map_err(|error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Failure::usage(first.trim_start_matches("error: "))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(words: &[&str]) -> Settings {
        let command = Fixed::augment_args(Command::new("tune").no_binary_name(true));
        let matches = command.try_get_matches_from(words).unwrap();
        Fixed::from_arg_matches(&matches).unwrap().0
    }

    #[test]
    fn only_what_was_given_is_fixed_and_comes_back_as_given() {
        assert!(fixed(&[]).is_empty());
        let words =
            ["--kernel", "gaussian", "--sigma=0.5median", "--normalized", "--prepare=center,l2"];
        let settings = fixed(&words);
        let pairs: Vec<_> = settings.iter().map(|(f, v)| (f.as_str(), v.as_str())).collect();
        assert_eq!(
            pairs,
            [
                ("kernel", "gaussian"),
                ("normalized", "true"),
                ("prepare", "center,l2"),
                ("sigma", "0.5median")
            ]
        );
        let flags = method_flags(&settings).unwrap();
        assert!(flags.kernel.normalized);
        assert_eq!(flags.prepare.unwrap().to_string(), "center,l2");
    }

    #[test]
    fn settings_that_fit_would_refuse_are_refused() {
        let settings = [("atoms".to_string(), "many".to_string())].into();
        assert_eq!(method_flags(&settings).unwrap_err().code(), 2);
    }
}
