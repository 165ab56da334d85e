//! `lkdl completions SHELL`: the script that lets a shell finish what is typed.

use crate::context::Context;
use crate::failure::Failure;
use clap::Args;
use clap_complete::Shell;

/// Print the completion script of a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Example: lkdl completions bash > ~/.local/share/bash-completion/completions/lkdl"
)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub fn run(args: &CompletionsArgs, context: &Context) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::cli::command(), "lkdl", &mut script);
    context.print_bytes(&script)
}
