//! The command line as a whole: flags that every command takes, and the first page of help.

use crate::command::Command;
use clap::builder::Styles;
use clap::builder::styling::{AnsiColor, Effects};
use clap::{Args, CommandFactory, Parser};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Help is set no wider, however wide the terminal.
const WIDTH: usize = 100;

const SHARED: &str = "Options of every command";

/// Commands in the order a user meets them: what for, and which.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Start", &["demo"]),
    ("Data", &["data"]),
    ("Learn", &["fit", "tune"]),
    ("Use", &["evaluate", "predict", "transform", "encode", "inspect"]),
    ("More", &["reproduce", "bench", "completions", "man"]),
];

/// Lines to try, each with its command; the first two of those there are make it to the page.
const EXAMPLES: [(&str, &str, &str); 4] = [
    ("demo", "lkdl demo", "a table, and a page to open in a browser"),
    ("fit", "lkdl fit data.csv -o model.safetensors", "a sound model without another flag"),
    ("man", "lkdl man | man -l -", "this, as a manual page"),
    ("completions", "lkdl completions bash > lkdl.bash", "for the shell to finish what is typed"),
];

/// Linearized kernel dictionary learning: kernel methods for the price of linear ones
#[derive(Debug, Parser)]
#[command(name = "lkdl", version, arg_required_else_help = true, args_override_self = true)]
#[command(after_long_help = AFTER, styles = STYLES, max_term_width = WIDTH)]
pub struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub shared: Shared,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = SHARED)]
pub struct Shared {
    /// Results as JSON on stdout
    #[arg(long, global = true)]
    pub json: bool,
    /// No progress, notes or warnings on stderr
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Threads to use, or LKDL_THREADS [default: all cores]; results do not depend on it
    #[arg(long, global = true, value_name = "N", env = "LKDL_THREADS", hide_env = true)]
    pub threads: Option<NonZeroUsize>,
    /// Seed of every random draw
    #[arg(long, global = true, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Settings in TOML, or LKDL_CONFIG: `flag = value`, or under `[command]`
    #[arg(long, global = true, value_name = "FILE", env = "LKDL_CONFIG", hide_env = true)]
    pub config: Option<PathBuf>,
    /// Where named data sets are, or LKDL_DATA_DIR
    #[arg(long, global = true, value_name = "DIR", env = "LKDL_DATA_DIR", hide_env = true)]
    pub data_dir: Option<PathBuf>,
    /// Overwrite outputs that exist
    #[arg(long, global = true)]
    pub force: bool,
    /// No colours, as with NO_COLOR
    #[arg(long, global = true)]
    pub no_color: bool,
}

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().effects(Effects::BOLD))
    .usage(AnsiColor::Green.on_default().effects(Effects::BOLD))
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

const AFTER: &str = "\
Exit codes: 0 done, 1 failed run, 2 bad usage, 3 bad input, 4 output not writable, 130 Ctrl-C";

/// The parser, with the first page of help made from the commands there are.
pub fn command() -> clap::Command {
    let command = Cli::command();
    let page = first_page(&command);
    command.help_template(page)
}

fn first_page(command: &clap::Command) -> String {
    let (header, literal) = (STYLES.get_header(), STYLES.get_literal());
    let title = |text: &str| format!("{header}{text}{header:#}\n");
    let line = |left: &str, width: usize, right: &str| {
        format!("  {literal}{left:width$}{literal:#}  {right}\n")
    };
    let mut page = String::from("{about}\n\n{usage-heading} lkdl COMMAND [OPTIONS]\n\n");
    for (group, names) in GROUPS {
        let there = names.iter().filter_map(|name| command.find_subcommand(name));
        for (row, command) in there.enumerate() {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let group = if row == 0 { group } else { "" };
            page += &format!("{header}{group:6}{header:#}");
            page += &line(command.get_name(), 11, &about);
        }
    }
    page += "\n";
    page += &title("Options of every command (the rest: lkdl COMMAND --help)");
    for (flags, about) in [
        ("--json, -q/--quiet", "results as JSON; no progress, notes or warnings"),
        ("--seed N, --threads N", "one seed gives the same bits for any number of threads"),
        ("--config FILE", "settings in TOML; flags > environment > file > defaults"),
        ("--data-dir DIR, --force", "where named sets are; overwrite outputs that exist"),
    ] {
        page += &line(flags, 23, about);
    }
    page += "\n";
    page += &title("Examples");
    let there = |(name, _, _): &&(&str, _, _)| command.find_subcommand(name).is_some();
    for (_, example, about) in EXAMPLES.iter().filter(there).take(2) {
        page += &line(example, 38, about);
    }
    page + "Documentation: README.md, docs/ and `lkdl man`{after-help}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parser_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_command_is_on_the_first_page_once() {
        let listed: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        for command in command().get_subcommands() {
            let name = command.get_name();
            assert_eq!(listed.iter().filter(|listed| **listed == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn the_first_page_fits_one_screen() {
        let page = command().render_long_help().to_string();
        assert!(page.lines().count() <= 30, "{page}");
        assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
    }
}
