//! `lkdl reproduce list`: what can be run, and with which data.

use crate::context::Context;
use crate::failure::Failure;
use crate::table::{Align, Table};
use clap::Args;
use lkdl_experiments::{EXPERIMENTS, Experiment, Scale};
use serde::Serialize;

use super::plan::duration;

/// List the experiments, their data and how long they take
#[derive(Debug, Args)]
pub struct ListArgs {}

#[derive(Serialize)]
struct Entry {
    id: &'static str,
    title: &'static str,
    about: &'static str,
    sets: Vec<&'static str>,
    /// Estimated seconds on two cores with --quick and with --full.
    quick_seconds: f64,
    full_seconds: f64,
}

#[derive(Serialize)]
struct Body {
    experiments: Vec<Entry>,
}

/// Prints the list.
pub fn run(context: &Context) -> Result<(), Failure> {
    let experiments: Vec<Entry> = EXPERIMENTS.iter().map(entry).collect();
    if context.json {
        return context.print_json(&Body { experiments });
    }
    let left = ["id", "data"].map(|head| (head, Align::Left));
    let right = ["--quick", "--full"].map(|head| (head, Align::Right));
    let mut table = Table::new(left.into_iter().chain(right).chain([("what", Align::Left)]));
    for entry in &experiments {
        let what = format!("{}: {}", entry.title, entry.about);
        let (quick, full) = (duration(entry.quick_seconds), duration(entry.full_seconds));
        table.row([entry.id.to_owned(), entry.sets.join(", "), quick, full, what]);
    }
    context.print(table)
}

fn entry(experiment: &Experiment) -> Entry {
    let seconds = |scale: &Scale| {
        let jobs = (experiment.jobs)(scale);
        jobs.iter().map(|job| job.estimate * job.runs as f64).sum()
    };
    Entry {
        id: experiment.id,
        title: experiment.title,
        about: experiment.about,
        sets: experiment.sets.iter().map(|set| set.name()).collect(),
        quick_seconds: seconds(&Scale::quick()),
        full_seconds: seconds(&Scale::full()),
    }
}
