//! A fit from blocks, from its beginning or from where it was interrupted: the same steps, and so the
//! same model, for every front.
//!
//! [`StreamJob::survey`] looks at all samples, [`StreamJob::plan`] chooses by the pilot what was left
//! open, [`Planned::start`] makes the fit; each gives its front something to say before the next one
//! takes its time. [`StreamJob::resume`] stands for all three.

use crate::error::RecipeError;
use crate::stream::StreamRecipe;
use crate::wishes::Wishes;
use lkdl::blocks::Source;
use lkdl::monitor::Monitor;
use lkdl::state::Saved;
use lkdl::stream::{DriftParams, Pilot, StreamFit, SurveyParams, Whole};
use lkdl::{LkdlError, MemoryPlan};
use lkdl_data::{BlockSource, Labels};
use lkdl_model::{DataRecord, Element, Note, Run};

/// Names of classes in their order, and which of them every index of the first pass means.
pub type Settled = (Vec<String>, Vec<usize>);

/// Blocks whose classes have names.
pub trait Labelled<T: Element>: Source<T> {
    /// The first pass is over: all classes are known, and have their own indices from now on.
    fn settle(&mut self) -> Result<Settled, LkdlError>;

    /// The classes as texts that [`Labelled::settle_as`] takes.
    fn written_names(&mut self) -> Result<Vec<String>, LkdlError>;

    /// As after the first pass of an earlier fit, whose classes were these; what they are called.
    fn settle_as(&mut self, written: &[String]) -> Result<Vec<String>, LkdlError>;

    /// What is known of the samples beside them.
    fn record(&self) -> DataRecord {
        DataRecord::default()
    }
}

impl<T: Element> Labelled<T> for BlockSource<T> {
    fn settle(&mut self) -> Result<Settled, LkdlError> {
        Ok(Self::settle(self))
    }

    fn written_names(&mut self) -> Result<Vec<String>, LkdlError> {
        Ok(Self::written_names(self).to_vec())
    }

    fn settle_as(&mut self, written: &[String]) -> Result<Vec<String>, LkdlError> {
        Self::settle_as(self, written);
        Ok(Labels::from_texts(written).class_names)
    }

    fn record(&self) -> DataRecord {
        DataRecord {
            feature_names: self.feature_names(),
            image_shape: self.image_shape(),
            index_base: self.index_base(),
            ..DataRecord::default()
        }
    }
}

/// Everything that a fit from blocks is made with, beside the blocks.
#[derive(Debug, Clone)]
pub struct StreamJob {
    /// What is learned.
    pub wishes: Wishes,
    /// Samples of the pilot.
    pub n_pilot: usize,
    /// What is done about drift.
    pub drift: DriftParams,
    /// Of all draws.
    pub seed: u64,
    /// What the data are called.
    pub name: String,
    /// Everything that the model depends on, as it was given; `None` where no checkpoint is kept.
    pub run: Option<Run>,
}

/// What the first pass found.
#[derive(Debug, Clone)]
pub struct Surveyed<T: Element> {
    /// A sample of the samples, with counts of all of them.
    pub pilot: Pilot<T>,
    /// Names of the classes, by their indices in the pilot.
    pub class_names: Vec<String>,
    /// What the samples are.
    pub data: DataRecord,
}

/// A fit that could start.
pub struct Planned<T: Element> {
    /// What was chosen.
    pub recipe: StreamRecipe<T>,
    /// What the fit will need.
    pub memory: MemoryPlan,
    /// What it was chosen from.
    pub surveyed: Surveyed<T>,
    run: Option<Run>,
}

/// A fit that has started, or goes on.
pub struct Started<T: Element> {
    /// The fit.
    pub fit: StreamFit<T>,
    /// Names of the classes.
    pub class_names: Vec<String>,
    /// What it needs.
    pub memory: MemoryPlan,
    /// What a checkpoint says of it.
    pub note: Note,
}

impl StreamJob {
    /// Looks at all samples.
    pub fn survey<T: Element>(
        &self,
        source: &mut impl Labelled<T>,
        monitor: &dyn Monitor,
    ) -> Result<Surveyed<T>, RecipeError> {
        let (n_pilot, seed, memory) = (self.n_pilot, self.seed, self.wishes.memory);
        let survey = SurveyParams { n_pilot, seed, memory, ..SurveyParams::default() };
        let mut pilot = survey.survey(source, monitor)?;
        let (class_names, classes) = source.settle()?;
        check_variety(&self.name, &pilot)?;
        check_classes(&self.name, &class_names)?;
        pilot.relabel(&classes)?;
        let data = DataRecord {
            name: self.name.clone(),
            checksum: format!("{:016x}", pilot.tally.digest()),
            n_samples: pilot.tally.n_samples,
            ..source.record()
        };
        Ok(Surveyed { pilot, class_names, data })
    }

    /// Chooses by the pilot what was left open.
    pub fn plan<T: Element>(
        &self,
        surveyed: Surveyed<T>,
        monitor: &dyn Monitor,
    ) -> Result<Planned<T>, RecipeError> {
        check_classes(&self.name, &surveyed.class_names)?;
        monitor.begin("choose", 0);
        let Pilot { samples, labels, .. } = &surveyed.pilot;
        let recipe = self.wishes.stream_recipe(samples.as_ref(), labels, self.drift, self.seed)?;
        let memory = recipe.params.stream_plan(&surveyed.pilot)?;
        Ok(Planned { recipe, memory, surveyed, run: self.run.clone() })
    }

    /// Goes on from a checkpoint.
    pub fn resume<T: Element>(
        &self,
        source: &mut impl Labelled<T>,
        (note, state): (Note, Saved<T>),
    ) -> Result<Started<T>, RecipeError> {
        let class_names = source.settle_as(&note.written_names)?;
        let recipe = StreamRecipe::<T>::of(note.settings.clone(), None, self.seed)?;
        let fit = recipe.params.resume(state)?;
        let memory = recipe.params.resumed_plan(&fit)?;
        Ok(Started { fit, class_names, memory, note })
    }
}

impl<T: Element> Planned<T> {
    /// Gathers from all samples what depends on them, and starts.
    pub fn start(
        self,
        source: &mut impl Labelled<T>,
        monitor: &dyn Monitor,
    ) -> Result<Started<T>, LkdlError> {
        let is_kept = self.run.is_some();
        let whole = self.recipe.params.gather(&self.surveyed.pilot, source, monitor)?;
        let mut started = self.start_from(whole, monitor)?;
        // labels of a caller's own kind need have no names that can be written
        if is_kept {
            started.note.written_names = source.written_names()?;
        }
        Ok(started)
    }

    /// Starts from what others have gathered.
    pub fn start_from(
        self,
        whole: Whole<T>,
        monitor: &dyn Monitor,
    ) -> Result<Started<T>, LkdlError> {
        let Self { recipe, memory, surveyed, run } = self;
        let Surveyed { pilot, class_names, data } = surveyed;
        let fit = recipe.params.start(pilot, whole, monitor)?;
        let note = Note {
            run: run.unwrap_or_default(),
            choice: recipe.verdict.map(|verdict| verdict.to_string()),
            settings: recipe.settings,
            written_names: Vec::new(),
            data,
        };
        Ok(Started { fit, class_names, memory, note })
    }
}

/// Refuses samples of less than two classes.
pub fn check_classes(data: &str, class_names: &[String]) -> Result<(), RecipeError> {
    if class_names.len() > 1 {
        return Ok(());
    }
    let class = class_names.first().cloned().unwrap_or_default();
    Err(RecipeError::OneClass { data: called(data), class })
}

/// Refuses samples that are all the same.
fn check_variety<T: Element>(data: &str, pilot: &Pilot<T>) -> Result<(), RecipeError> {
    let n_samples = pilot.tally.n_samples;
    let same = pilot.is_constant();
    if same { Err(RecipeError::AllSame { data: called(data), n_samples }) } else { Ok(()) }
}

/// What data are called that may have no name.
fn called(data: &str) -> String {
    if data.is_empty() { "the source".into() } else { data.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use lkdl::monitor::Silent;
    use lkdl::state::Saving;
    use lkdl::stream::{KeepNothing, Keeper};
    use lkdl_data::Table;

    fn rings(block_size: usize) -> BlockSource<f64> {
        let samples = Mat::from_fn(2, 300, |row, i| {
            let (angle, radius) = (i as f64, 1.0 + (i % 2) as f64);
            radius * if row == 0 { angle.cos() } else { angle.sin() }
        });
        let names: Vec<String> = (0..300).map(|i| format!("ring {}", i % 2)).collect();
        let table = Table::new("rings", samples, Some(Labels::from_texts(&names))).unwrap();
        BlockSource::of_table(table, block_size).unwrap()
    }

    fn job(memory: u64, n_pilot: usize) -> StreamJob {
        let settings = [("method", "online"), ("landmarks", "20"), ("atoms", "8")];
        let wishes = Wishes::from_settings(settings).unwrap();
        StreamJob {
            wishes: Wishes { memory: Some(memory), ..wishes },
            n_pilot,
            drift: DriftParams::default(),
            seed: 3,
            name: "rings".into(),
            run: Some(Run::new()),
        }
    }

    /// The state after so many blocks.
    struct After(usize, Option<Saved<f64>>);

    impl Keeper<f64> for After {
        fn is_due(&mut self) -> bool {
            self.0 -= usize::from(self.0 > 0);
            self.0 == 0 && self.1.is_none()
        }

        fn keep(&mut self, state: &Saving<'_, f64>) -> Result<(), LkdlError> {
            if self.0 == 0 {
                self.1 = Some(state.into());
            }
            Ok(())
        }
    }

    #[test]
    fn a_fit_goes_on_where_memory_would_have_cut_other_blocks_and_another_pilot() {
        let (first, mut source) = (job(1 << 30, 200), rings(40));
        let surveyed = first.survey(&mut source, &Silent).unwrap();
        assert_eq!(surveyed.class_names, ["ring 0", "ring 1"]);
        let ready = first.plan(surveyed, &Silent).unwrap();
        let Started { mut fit, note, memory, .. } = ready.start(&mut source, &Silent).unwrap();
        let mut kept = After(5, None);
        fit.run_passes(&mut source, &mut kept, &Silent).unwrap();
        let whole = fit.finish().unwrap();
        let (second, mut source) = (job(1 << 20, 100), rings(64));
        let resumed = second.resume(&mut source, (note, kept.1.unwrap())).unwrap();
        assert_eq!((resumed.memory.peak(), resumed.class_names.len()), (memory.peak(), 2));
        source.cut_into(resumed.fit.first_pass().largest_block).unwrap();
        let resumed = resumed.fit.run(&mut source, &mut KeepNothing, &Silent).unwrap();
        for (a, b) in resumed.classifier().learned().iter().zip(whole.classifier().learned()) {
            assert_eq!(a.dictionary, b.dictionary);
        }
    }

    #[test]
    fn one_class_is_nothing_to_tell_apart() {
        let labels = Labels::from_texts(&["a"; 9]);
        let table = Table::new("t", Mat::identity(9, 9), Some(labels)).unwrap();
        let mut source = BlockSource::<f64>::of_table(table, 4).unwrap();
        let error = job(1 << 30, 9).survey(&mut source, &Silent).unwrap_err();
        assert_eq!(error, RecipeError::OneClass { data: "rings".into(), class: "a".into() });
    }

    #[test]
    fn samples_that_are_all_the_same_are_refused_and_not_if_the_pilot_alone_is() {
        let refusal = |odd: f64| {
            let samples = Mat::from_fn(3, 50, |t, i| if i == 33 { odd } else { t as f64 });
            let labels: Vec<String> = (0..50).map(|i| (i % 2).to_string()).collect();
            let table = Table::new("t", samples, Some(Labels::from_texts(&labels))).unwrap();
            let mut source = BlockSource::<f64>::of_table(table, 8).unwrap();
            let survey = SurveyParams { n_pilot: 4, per_class: 0, ..SurveyParams::default() };
            let pilot = survey.survey(&mut source, &Silent).unwrap();
            assert!(!pilot.indices.contains(&33), "choose another seed");
            check_variety("", &pilot)
        };
        assert_eq!(refusal(7.0), Ok(()));
        let samples = Mat::from_fn(3, 50, |t, _| t as f64);
        let labels: Vec<String> = (0..50).map(|i| (i % 2).to_string()).collect();
        let table = Table::new("t", samples, Some(Labels::from_texts(&labels))).unwrap();
        let mut source = BlockSource::<f64>::of_table(table, 8).unwrap();
        let error = job(1 << 30, 4).survey(&mut source, &Silent).unwrap_err();
        assert_eq!(error, RecipeError::AllSame { data: "rings".into(), n_samples: 50 });
    }
}
