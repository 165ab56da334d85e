//! `lkdl data list`: the sets that have a name, and whether they are on this machine.

use crate::catalogue::{CATALOGUE, Entry};
use crate::context::Context;
use crate::failure::Failure;
use crate::table::{Align, Table};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// List the sets that have a name, and where they are
#[derive(Debug, Args)]
pub struct ListArgs {}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    samples: usize,
    features: usize,
    classes: usize,
    parts: bool,
    place: Place,
    terms: &'static str,
}

/// Where the files of a set are.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Place {
    BuiltIn,
    Found(PathBuf),
    /// Some file is not there.
    Missing,
}

#[derive(Serialize)]
struct Report {
    sets: Vec<Row>,
    looked_in: Vec<PathBuf>,
}

/// Prints the list.
pub fn run(_args: &ListArgs, context: &Context) -> Result<(), Failure> {
    let looked_in = lkdl_data::data_dirs(context.data_dir.as_deref());
    let sets: Vec<Row> = CATALOGUE.iter().map(|entry| row(entry, &looked_in)).collect();
    if context.json {
        return context.print_json(&Report { sets, looked_in });
    }
    let mut table = Table::new([
        ("set", Align::Left),
        ("samples", Align::Right),
        ("features", Align::Right),
        ("classes", Align::Right),
        ("where", Align::Left),
        ("terms", Align::Left),
    ]);
    for set in &sets {
        let place = match &set.place {
            Place::BuiltIn => "built in".to_owned(),
            Place::Found(folder) => folder.display().to_string(),
            Place::Missing => "missing".to_owned(),
        };
        let (samples, features, classes) = (set.samples, set.features, set.classes);
        table.row([
            set.name,
            &samples.to_string(),
            &features.to_string(),
            &classes.to_string(),
            &place,
            set.terms,
        ]);
    }
    context.print(table)?;
    if sets.iter().any(|set| matches!(set.place, Place::Missing)) {
        let folders: Vec<_> = looked_in.iter().map(|folder| folder.display().to_string()).collect();
        context.note(format_args!(
            "looked in {}; fetch what is missing with `lkdl data fetch NAME`",
            folders.join(", ")
        ));
    }
    Ok(())
}

fn row(entry: &Entry, folders: &[PathBuf]) -> Row {
    let place = match entry.set {
        None => Place::BuiltIn,
        Some(set) => {
            let is_here =
                |folder: &&PathBuf| set.files().iter().all(|file| folder.join(file.path).is_file());
            folders.iter().find(is_here).cloned().map_or(Place::Missing, Place::Found)
        }
    };
    Row {
        name: entry.name(),
        samples: entry.samples,
        features: entry.features,
        classes: entry.classes,
        parts: entry.set.is_some_and(|set| set.has_parts()),
        place,
        terms: entry.terms,
    }
}
