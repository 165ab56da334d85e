//! `lkdl reproduce fill FILE…`: tables in documents, from the results they were measured in.
//!
//! A document says what it wants, and where from:
//!
//! ```text
//! <!-- reproduce results/2026-11-18 1b@20 -->
//! (the table, replaced by every fill)
//! <!-- end -->
//! ```
//!
//! With `RESULTS` for the folder a table waits for its first results: it stays as it is until a fill
//! says where from.

use super::results::{self, Results};
use super::{markdown, summary};
use crate::context::Context;
use crate::failure::Failure;
use clap::Args;
use lkdl_data::atomic;
use lkdl_experiments::Record;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const START: &str = "<!-- reproduce ";
const END: &str = "<!-- end -->";
/// In place of a folder: there are no results yet.
const WAITING: &str = "RESULTS";

/// Fill the tables of documents from results, or check that they are
#[derive(Debug, Args)]
#[command(after_help = "\
A table stands between two lines, which name the folder of results and the part of its summary:
  <!-- reproduce results/2026-11-18 1b@20 -->
  <!-- end -->
One that names RESULTS instead of a folder waits for --from, and stays as it is until then.")]
pub struct FillArgs {
    /// Documents in Markdown
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Write nothing; fail if a table is not as the results have it
    #[arg(long)]
    check: bool,
    /// Take all tables from this folder, and say so in the documents
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

/// Fills or checks every file.
pub fn run(args: &FillArgs, context: &Context) -> Result<(), Failure> {
    let mut folders = Folders::default();
    for file in &args.files {
        let old = std::fs::read_to_string(file)
            .map_err(|error| Failure::input(format!("{}: {error}", file.display())))?;
        let new = filled(&old, args.from.as_deref(), &mut folders)
            .map_err(|problem| problem.in_file(file))?;
        if new == old {
            continue;
        }
        if args.check {
            return Err(Failure::run(format!(
                "{} is not as its results are; run `lkdl reproduce fill {}`",
                file.display(),
                file.display()
            )));
        }
        atomic::write_file(file, true, |out| out.write_all(new.as_bytes()))
            .map_err(Failure::writing)?;
        context.note(format_args!("{} is filled anew", file.display()));
    }
    Ok(())
}

/// Records of folders, each read once.
#[derive(Default)]
struct Folders(BTreeMap<PathBuf, Vec<Record>>);

impl Folders {
    fn records(&mut self, folder: &Path) -> Result<&[Record], Failure> {
        if !self.0.contains_key(folder) {
            self.0.insert(folder.into(), results::records(&Results::read(folder)?));
        }
        Ok(&self.0[folder])
    }
}

/// What is wrong with a document.
enum Problem {
    /// On this line, from 1.
    Line(usize, String),
    Failed(Failure),
}

impl Problem {
    fn in_file(self, file: &Path) -> Failure {
        match self {
            Self::Line(line, what) => {
                Failure::input(format!("{}, line {line}: {what}", file.display()))
            }
            Self::Failed(failure) => failure,
        }
    }
}

/// The document with its tables.
fn filled(text: &str, from: Option<&Path>, folders: &mut Folders) -> Result<String, Problem> {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.lines().enumerate();
    while let Some((i, line)) = lines.next() {
        let words = line.strip_prefix(START).and_then(|rest| rest.strip_suffix(" -->"));
        let waits =
            |words: &&str| from.is_none() && words.split_whitespace().next() == Some(WAITING);
        let Some(words) = words.filter(|words| !waits(words)) else {
            out += line;
            out.push('\n');
            continue;
        };
        let Some((folder, name)) = words.trim().split_once(' ') else {
            let what = "a folder of results and a part of its summary must be named";
            return Err(Problem::Line(i + 1, what.into()));
        };
        let folder = from.unwrap_or(Path::new(folder));
        let records = folders.records(folder).map_err(Problem::Failed)?;
        let block = markdown::block(name, records)
            .ok_or_else(|| Problem::Line(i + 1, summary::unknown_block(name).to_string()))?;
        out += &format!("{START}{} {name} -->\n{block}{END}\n", folder.display());
        if !lines.any(|(_, line)| line == END) {
            return Err(Problem::Line(i + 1, format!("the table has no end; add a line {END}")));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders() -> Folders {
        Folders([(PathBuf::from("r"), Vec::new())].into())
    }

    #[test]
    fn a_table_is_replaced_and_the_rest_stays() {
        let text = "# A\n<!-- reproduce r verdict -->\nold\nlines\n<!-- end -->\nB\n";
        let Ok(new) = filled(text, None, &mut folders()) else { panic!("{text}") };
        assert!(new.starts_with("# A\n<!-- reproduce r verdict -->\nOf the rows"), "{new}");
        assert!(new.ends_with("0 of 0.\n<!-- end -->\nB\n"), "{new}");
        let again = filled(&new, Some(Path::new("r")), &mut folders());
        assert!(again.is_ok_and(|again| again == new));
    }

    #[test]
    fn a_table_without_results_waits_for_them() {
        let text = "<!-- reproduce RESULTS verdict -->\nNot yet.\n<!-- end -->\n";
        let untouched = filled(text, None, &mut folders());
        assert!(untouched.is_ok_and(|untouched| untouched == text));
        let new = filled(text, Some(Path::new("r")), &mut folders());
        let start = "<!-- reproduce r verdict -->\nOf the rows";
        assert!(new.is_ok_and(|new| new.starts_with(start) && !new.contains("Not yet")));
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line() {
        for (text, problem) in [
            ("\n<!-- reproduce r verdict -->\n", "line 2: the table has no end"),
            ("<!-- reproduce r -->\n<!-- end -->\n", "line 1: a folder of results and a part"),
            (
                "<!-- reproduce r 9z -->\n<!-- end -->\n",
                "line 1: no part of a summary is called 9z",
            ),
        ] {
            let Err(found) = filled(text, None, &mut folders()) else { panic!("{text}") };
            let found = found.in_file(Path::new("a.md")).to_string();
            assert!(found.contains(problem), "{found}");
        }
    }
}
