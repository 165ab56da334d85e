//! `lkdl fit DATA -o MODEL --stream`: the data in blocks, as often as it takes, in bounded memory.

use super::{DriftReport, FitArgs, Memory, Report};
use super::{chosen, learned, named, outcome, planned, planned_stages, save, say, seconds};
use crate::context::Context;
use crate::failure::Failure;
use crate::method::Precision;
use crate::output;
use crate::stages::{StageTime, Stages};
use crate::words::counted;
use lkdl::stream::Drift;
use lkdl_data::{BlockSource, DataArgument};
use lkdl_model::{Classifier, Element, FileKeeper, Note, Pipeline, load_checkpoint};
use lkdl_recipe::{Method, Started, StreamJob, Wishes};
use std::path::Path;

/// Fits, saves and reports.
pub(super) fn run(args: &FitArgs, context: &Context) -> Result<(), Failure> {
    let method = args.method.method.unwrap_or(Method::Online);
    let wishes = Wishes { method, ..args.method.wishes() };
    let flags = &args.stream;
    wishes.check_streamed()?;
    wishes.check_growing(&flags.drift())?;
    if let Some(path) = &flags.checkpoint {
        check_checkpoint(path, args, context)?;
    }
    match args.method.precision {
        Precision::F32 => Run::<f32>::open(args, wishes, context)?.go(),
        Precision::F64 => Run::<f64>::open(args, wishes, context)?.go(),
    }
}

/// Refuses a place for the checkpoint that would cost the model or the data, or where none can be.
fn check_checkpoint(path: &Path, args: &FitArgs, context: &Context) -> Result<(), Failure> {
    let place = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    let files = all_data(args).into_iter().filter_map(|data| match data {
        DataArgument::File(file) => Some(file),
        _ => None,
    });
    for other in files.chain(args.output.clone()) {
        if place(&other) == place(path) {
            return Err(Failure::usage(format!(
                "--checkpoint {} is the model or the data; name another file",
                path.display()
            )));
        }
    }
    let is_there = path.exists();
    if is_there && !path.is_file() {
        let problem = format!("--checkpoint {} is not a file; name one", path.display());
        return Err(Failure::usage(problem));
    }
    if args.stream.resume && is_there { Ok(()) } else { output::check(path, context) }
}

/// A fit from blocks, and what it needs.
struct Run<'a, T: Element> {
    args: &'a FitArgs,
    context: &'a Context,
    source: BlockSource<T>,
    job: StreamJob,
    stages: Stages<'a>,
}

impl<'a, T: Element> Run<'a, T> {
    fn open(args: &'a FitArgs, wishes: Wishes, context: &'a Context) -> Result<Self, Failure> {
        let flags = &args.stream;
        let mut source = open_source(args, context)?;
        let p = source.n_features();
        let n_pilot = flags.n_pilot::<T>(p, wishes.memory);
        source.cut_into(flags.block_size::<T>(p, wishes.memory))?;
        let (drift, seed, name) = (flags.drift(), context.seed, name(args));
        let run = flags.checkpoint.as_ref().map(|_| as_given::<T>(args, &wishes, context));
        let job = StreamJob { wishes, n_pilot, drift, seed, name, run };
        Ok(Self { args, context, source, job, stages: Stages::new(context) })
    }

    fn go(mut self) -> Result<(), Failure> {
        let (context, flags) = (self.context, &self.args.stream);
        let kept = flags.checkpoint.as_deref().filter(|path| flags.resume && path.exists());
        let started = match kept {
            Some(path) => self.resume(path)?,
            None => self.start()?,
        };
        let Started { mut fit, class_names, memory, note } = started;
        let every = flags.checkpoint_every.unwrap_or_default();
        let mut keeper = FileKeeper::new(flags.checkpoint.as_deref(), every, &note)?;
        let of_class = |error| named(error, &class_names);
        fit.run_passes(&mut self.source, &mut keeper, &self.stages).map_err(of_class)?;
        let drift = fit.drift();
        let model = fit.finish().map_err(of_class)?;
        let model: Pipeline<T> = model.map_classifier(Classifier::from);
        let stages = self.stages.finish();
        account(&stages, &model, &note, context)?;
        if let Some(drift) = &drift {
            say(context, "drift", "", in_words(drift))?;
        }
        let mut report = Report {
            n_features: model.preparation().n_features(),
            data: note.data,
            class_names,
            choice: note.choice.map(|choice| chosen(&note.settings, &choice)),
            settings: note.settings,
            drift: drift.map(DriftReport::from),
            folds: None,
            model: None,
        };
        if let Some(output) = &self.args.output {
            let memory = Memory { at_most: memory.peak().bytes, plan: planned_stages(&memory) };
            report.model = Some(save(&model, output, &report, stages, memory, context)?);
        }
        keeper.remove();
        if context.json { context.print_json(&report) } else { Ok(()) }
    }

    /// Goes on from a checkpoint.
    fn resume(&mut self, path: &Path) -> Result<Started<T>, Failure> {
        let run = self.job.run.clone().unwrap_or_default();
        let kept = load_checkpoint::<T>(path, &run).map_err(Failure::input)?;
        let started = self.job.resume(&mut self.source, kept)?;
        // as they were cut by the memory of the machine that the fit was started on
        self.source.cut_into(started.fit.first_pass().largest_block)?;
        let (passes, blocks) = started.fit.progress();
        let done = format!("{} and {}", counted(passes, "pass"), counted(blocks, "block"));
        say(self.context, "resume", "", format!("{} after {done}", path.display()))?;
        say(self.context, "memory", "", planned(&started.memory, false))?;
        Ok(started)
    }

    /// Looks at all samples, chooses by the pilot what was left open, and starts.
    fn start(&mut self) -> Result<Started<T>, Failure> {
        let (context, stages) = (self.context, &self.stages);
        let surveyed = self.job.survey(&mut self.source, stages)?;
        let (class_names, tally) = (surveyed.class_names.clone(), &surveyed.pilot.tally);
        let sizes = [
            counted(tally.n_samples, "sample"),
            counted(tally.n_features, "feature"),
            counted(class_names.len(), "class"),
            counted(tally.n_blocks, "block"),
        ];
        say(context, "data", "", format!("{}: {}", self.job.name, sizes.join(", ")))?;
        let ready = self.job.plan(surveyed, stages)?;
        say(context, "memory", "", planned(&ready.memory, false))?;
        ready.start(&mut self.source, stages).map_err(|error| named(error, &class_names))
    }
}

/// Everything that the model depends on, in the words of the flags. What a machine's memory decides is
/// not given: the checkpoint has it.
fn as_given<T: Element>(args: &FitArgs, wishes: &Wishes, context: &Context) -> lkdl_model::Run {
    let flags = &args.stream;
    let sizes: Vec<String> = all_data(args).iter().map(file_size).collect();
    let given = |value: &Option<usize>| value.map(|count| count.to_string());
    let drift = flags.drift();
    let reading = args.data.read.again();
    let of_stream = [
        ("data", Some(name(args))),
        ("its size", Some(sizes.join(" + "))),
        ("reading", Some(reading.trim().to_string()).filter(|words| !words.is_empty())),
        ("--precision", Some(T::NAME.to_string())),
        ("--seed", Some(context.seed.to_string())),
        ("--block", given(&flags.block)),
        ("--pilot", given(&flags.pilot)),
        ("--grow", Some(drift.grow.to_string())),
        ("--drift-limit", Some(drift.limit.to_string())),
    ];
    let of_stream =
        of_stream.into_iter().filter_map(|(key, value)| Some((key.to_string(), value?)));
    let memory_is_given = args.method.memory.is_some();
    let said = wishes.said().filter(|(option, _)| *option != "memory" || memory_is_given);
    of_stream.chain(said.map(|(option, value)| (format!("--{option}"), value))).collect()
}

/// How much the landmarks have missed.
fn in_words(drift: &Drift) -> String {
    let Drift { level, highest, n_grown, .. } = *drift;
    let grown = match n_grown {
        0 => String::new(),
        n => format!("; {} added", counted(n, "landmark")),
    };
    format!(
        "the landmarks missed {level:.2} times as much of the last samples as of the average one \
         ({highest:.2} at most){grown}"
    )
}

/// DATA and what follows it.
fn all_data(args: &FitArgs) -> Vec<DataArgument> {
    [&args.data.data].into_iter().chain(&args.stream.more_data).cloned().collect()
}

/// What the data are called.
fn name(args: &FitArgs) -> String {
    let names: Vec<String> = all_data(args).iter().map(ToString::to_string).collect();
    names.join(" + ") + if args.stream.shifts { ", shifted" } else { "" }
}

fn open_source<T: Element>(args: &FitArgs, context: &Context) -> Result<BlockSource<T>, Failure> {
    if args.stream.shifts {
        return Ok(BlockSource::shifted(args.data.table(context)?, context.seed, 1)?);
    }
    let (directory, options) = (context.data_dir.as_deref(), args.data.read.options());
    Ok(BlockSource::open(&all_data(args), directory, &options, 1)?)
}

/// The bytes of a file; a named set has none.
fn file_size(data: &DataArgument) -> String {
    match data {
        DataArgument::File(path) => match path.metadata() {
            Ok(metadata) => counted(metadata.len() as usize, "byte"),
            Err(_) => "unknown".into(),
        },
        set => set.to_string(),
    }
}

/// What came of every stage, a line each.
fn account<T: Element>(
    stages: &[StageTime],
    model: &Pipeline<T>,
    note: &Note,
    context: &Context,
) -> Result<(), Failure> {
    for StageTime { stage, seconds: time } in stages {
        let text = match *stage {
            "survey" => Some(counted(note.data.n_samples, "sample")),
            "choose" => {
                let choice = note.choice.as_ref();
                Some(choice.map(|choice| chosen(&note.settings, choice)).unwrap_or_default())
            }
            "moments" => Some("mean and deviation of every feature, of all samples".into()),
            "draw" => Some("landmarks from all samples".into()),
            "sums" => Some("the map's sums over all samples".into()),
            "map" => None, // its time is that of the pilot; blocks are mapped while learning
            "learn" => Some(learned(model.classifier())),
            stage => outcome(stage, model, &note.settings),
        };
        if let Some(text) = text {
            say(context, stage, &seconds(*time), text)?;
        }
    }
    Ok(())
}
