//! `lkdl man`: the manual pages, made from the same texts as the help.

use crate::context::Context;
use crate::failure::Failure;
use clap::{Args, Command};
use clap_mangen::Man;
use lkdl_data::atomic;
use std::path::PathBuf;

/// Print the manual page, or write those of all commands
#[derive(Debug, Args)]
#[command(after_help = "Example: lkdl man | man -l -")]
pub struct ManArgs {
    /// Write lkdl.1, lkdl-man.1, … into this folder instead
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints or writes.
pub fn run(args: &ManArgs, context: &Context) -> Result<(), Failure> {
    let mut command = crate::cli::command();
    let Some(folder) = &args.out else { return context.print_bytes(&page(&command)?) };
    command.build(); // gives commands in commands their full names
    std::fs::create_dir_all(folder).map_err(|error| Failure::output(folder, &error))?;
    let mut pages = Vec::new();
    collect(&command, &mut pages);
    for (name, command) in &pages {
        let page = page(command)?;
        atomic::write_file(&folder.join(format!("{name}.1")), context.force, |out| {
            out.write_all(&page)
        })
        .map_err(Failure::writing)?;
    }
    context.note(format_args!("{} pages in {}", pages.len(), folder.display()));
    Ok(())
}

/// A command and all under it, each with the name of its page.
fn collect<'a>(command: &'a Command, pages: &mut Vec<(String, &'a Command)>) {
    let full = command.get_display_name().unwrap_or_else(|| command.get_name());
    pages.push((full.to_owned(), command));
    for deeper in command.get_subcommands().filter(|deeper| deeper.get_name() != "help") {
        collect(deeper, pages);
    }
}

fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    Man::new(command.clone())
        .render(&mut page)
        .map_err(|error| Failure::run(format!("cannot make the manual page: {error}")))?;
    Ok(page)
}
