//! `lkdl reproduce ID…`: the work itself, and the folder that comes of it.

use super::plan::{Plan, Planned, duration};
use super::results::{self, Results, VERSION};
use super::{RunArgs, data, markdown, page, setup};
use crate::context::Context;
use crate::failure::Failure;
use indicatif::ProgressBar;
use lkdl_experiments::{Job, Record, Sets, gather};
use std::time::Instant;

/// Checks data and folder, says what is to be done, does it, and writes the report.
pub fn run(args: &RunArgs, context: &Context) -> Result<(), Failure> {
    let experiments = args.experiments()?;
    let named = data::check(&experiments, context.data_dir.as_deref())?;
    let mut results = Results::open(&args.out, args.resume, context)?;
    let scale = args.scale();
    let plan = Plan::new(experiments, &scale, context.seed);
    plan.table(&results).lines().for_each(|line| context.note(line));

    let mut work = Work {
        sets: Sets::new(context.data_dir.clone()),
        pace: Pace::new(plan.seconds(&results), context),
        results: &mut results,
        context,
    };
    for planned in &plan.experiments {
        work.experiment(planned, plan.seed)?;
    }
    work.pace.bar.finish_and_clear();

    let former = if args.resume { results.former("setup.md") } else { String::new() };
    let facts = setup::joined(&former, setup::facts(&named, scale.name, context));
    write(&results, &facts, context)?;
    context.note(format_args!("The report: {}", args.out.join("report.html").display()));
    Ok(())
}

/// Everything that is made from the runs.
fn write(results: &Results, facts: &[(String, String)], context: &Context) -> Result<(), Failure> {
    let records = results::records(results.runs());
    results.write("records.jsonl", &results::lines(&records)?)?;
    results.write("setup.md", &markdown::setup(facts))?;
    results.write("summary.md", &markdown::summary(&records, results.runs()))?;
    let report = page::report(&records, results.runs(), facts, context);
    let drawn = |error| Failure::run(format!("cannot draw the report: {error}"));
    results.write("report.html", &report.to_html().map_err(drawn)?)?;
    for (name, svg) in report.svgs().map_err(drawn)? {
        results.write(&format!("figures/{name}.svg"), &svg)?;
    }
    Ok(())
}

/// What the jobs of all experiments go through.
struct Work<'a> {
    sets: Sets,
    pace: Pace,
    results: &'a mut Results,
    context: &'a Context,
}

impl Work<'_> {
    /// Runs what is left of an experiment, and prints its rows.
    fn experiment(&mut self, planned: &Planned, seed: u64) -> Result<(), Failure> {
        let id = planned.experiment.id;
        self.pace.bar.set_message(id.to_owned());
        let mut records = Vec::new();
        for job in &planned.jobs {
            let made = self.job(job, seed)?;
            if self.context.json {
                self.context.print_bytes(results::lines(&made)?.as_bytes())?;
            }
            records.extend(made);
        }
        if !self.context.json {
            let title = format!("{} ({id})", planned.experiment.title);
            let table = markdown::table(&records);
            self.pace.bar.suspend(|| self.context.print(format!("{title}\n{table}")))?;
        }
        if let Some(left) = self.pace.left() {
            self.context.note(format_args!("{id} is done, about {} left", duration(left)));
        }
        Ok(())
    }

    /// Runs the seeds of a job that are not there yet; the rows of all its seeds.
    fn job(&mut self, job: &Job, first_seed: u64) -> Result<Vec<Record>, Failure> {
        let mut runs = Vec::new();
        for seed in (0..job.runs as u64).map(|run| first_seed.wrapping_add(run)) {
            if let Some(run) = self.results.find(job, seed) {
                runs.push(run.clone());
                continue;
            }
            let run = job.run(&self.sets, seed, VERSION)?;
            if let Some(why) = &run.skipped {
                let (method, variant) = (&job.setting.method, &job.setting.variant);
                self.context.warn(format_args!("{method} ({variant}) is skipped: {why}"));
            }
            self.results.add(run.clone())?;
            self.pace.step(job.estimate);
            if run.skipped.is_some() {
                break; // another seed needs as much
            }
            runs.push(run);
        }
        Ok(gather(&runs))
    }
}

/// How far the work is, in estimated seconds, and how these compare with the clock.
struct Pace {
    bar: ProgressBar,
    start: Instant,
    total: f64,
    done: f64,
}

impl Pace {
    fn new(total: f64, context: &Context) -> Self {
        let bar = context.progress("", total.ceil() as u64);
        Self { bar, start: Instant::now(), total, done: 0.0 }
    }

    fn step(&mut self, estimate: f64) {
        self.done += estimate;
        self.bar.set_position(self.done as u64);
    }

    /// Seconds that are left, if the rest goes as what has been done.
    fn left(&self) -> Option<f64> {
        let left = self.total - self.done;
        let ratio = self.start.elapsed().as_secs_f64() / self.done;
        (self.done > 0.0 && left > 0.5).then_some(left * ratio)
    }
}
