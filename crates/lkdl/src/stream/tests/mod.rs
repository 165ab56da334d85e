mod drift;
mod gather;

use super::*;
use crate::blocks::{Block, Source};
use crate::monitor::Silent;
use crate::prelude::*;
use crate::state::Saved;
use crate::testing::{bits, close, random_matrix, same_for_any_thread_count};
use faer::Mat;

/// Pass, block number, and the block, which may be changed.
type Spoil<T> = fn(usize, usize, &mut Option<Block<T>>);

/// A source in memory, and what may go wrong with one.
#[derive(Clone)]
struct InMemory<T: Real> {
    samples: Mat<T>,
    labels: Vec<usize>,
    width: usize,
    next: usize,
    pass: usize,
    /// Called with pass, block number and the block before it is handed out.
    spoil: Spoil<T>,
}

impl<T: Real> Source<T> for InMemory<T> {
    fn next_block(&mut self) -> Result<Option<Block<T>>, LkdlError> {
        let first = self.next * self.width;
        let n = self.width.min(self.samples.ncols().saturating_sub(first));
        let mut block = (n > 0).then(|| Block {
            samples: self.samples.subcols(first, n).to_owned(),
            labels: self.labels[first..first + n].to_vec(),
        });
        (self.spoil)(self.pass, self.next, &mut block);
        self.next += 1;
        Ok(block)
    }

    fn rewind(&mut self) -> Result<(), LkdlError> {
        self.pass += 1;
        self.next = 0;
        Ok(())
    }
}

/// Three classes near three random planes, mixed.
fn planes<T: Real>(n: usize, width: usize) -> InMemory<T> {
    let (axes, weights) = (random_matrix::<f64>(12, 6, 1), random_matrix::<f64>(2, n, 2));
    let noise = random_matrix::<f64>(12, n, 3);
    let labels: Vec<usize> = (0..n).map(|i| (i * i + i / 3) % 3).collect();
    let samples = Mat::from_fn(12, n, |t, i| {
        let l = labels[i];
        let part = |a: usize| axes[(t, 2 * l + a)] * weights[(a, i)];
        T::of(part(0) + part(1) + 0.05 * noise[(t, i)])
    });
    InMemory { samples, labels, width, next: 0, pass: 0, spoil: |_, _, _| {} }
}

fn online<T: Real>() -> StreamLearner<T> {
    let coding = OnlineCoding::Omp { sparsity: 2 };
    let (n_atoms, batch_size, max_iters) = (6, 16, 2);
    StreamLearner::Online(OnlineParams {
        n_atoms,
        coding,
        batch_size,
        max_iters,
        ..Default::default()
    })
}

fn learners<T: Real>() -> [StreamLearner<T>; 3] {
    let (n_atoms, sparsity, max_iters) = (6, 2, 3);
    let rls = RlsParams {
        n_atoms,
        sparsity,
        max_iters,
        batch_size: 16,
        forgetting: 0.99,
        ..Default::default()
    };
    let optimal = ModParams { n_atoms, sparsity, max_iters, tol: 0.0, ..Default::default() };
    [online(), StreamLearner::Rls(rls), StreamLearner::Mod(optimal)]
}

fn params<T: Real>(learner: StreamLearner<T>) -> StreamParams<T> {
    StreamParams {
        prepare: "standardize,l2".parse().unwrap(),
        map: MapParams::Nystroem(NystroemParams {
            kernel: Kernel::Polynomial { degree: 2.0, offset: 0.5 },
            sampler: Sampler::Uniform,
            n_landmarks: LandmarkCount::Exact(40),
            rank: Rank::Exact(20),
            centered: true,
            ..Default::default()
        }),
        method: ClassDictionariesParams { learner, sparsity: 2 },
        memory: None,
        drift: DriftParams::default(),
    }
}

const SURVEY: SurveyParams = SurveyParams { n_pilot: 120, per_class: 20, seed: 4, memory: None };

type Model<T> = Lkdl<T, ClassDictionaries<T>>;

fn fit<T: Real>(params: &StreamParams<T>, source: &InMemory<T>) -> Result<Model<T>, LkdlError> {
    let mut source = source.clone();
    started(params, &mut source)?.run(&mut source, &mut KeepNothing, &Silent)
}

/// A fit before its first pass that learns.
fn started<T: Real>(
    params: &StreamParams<T>,
    source: &mut InMemory<T>,
) -> Result<StreamFit<T>, LkdlError> {
    let pilot = SURVEY.survey(source, &Silent)?;
    let whole = params.gather(&pilot, source, &Silent)?;
    params.start(pilot, whole, &Silent)
}

/// Every bit that a model file would hold of the dictionaries and the map, and every warning.
fn facts<T: Real>(model: &Model<T>) -> (Vec<Vec<u64>>, Vec<String>) {
    let learned = model.classifier().learned();
    let mut all: Vec<Vec<u64>> = learned.iter().map(|class| bits(&class.dictionary)).collect();
    all.extend(learned.iter().map(|class| class.errors.iter().map(|e| e.to_bits()).collect()));
    if let FeatureMap::Nystroem(map) = model.map() {
        all.push(bits(&map.projection().to_owned()));
        all.push(map.mean().iter().map(|v| v.wide().to_bits()).collect());
        all.push(map.panel().indices().unwrap().iter().map(|&i| i as u64).collect());
    }
    let of_classes = model.classifier().warnings().map(|(l, w)| format!("{l}: {w}"));
    let histories = learned.iter().map(|c| format!("{:?} {}", c.stop, c.n_replaced));
    let of_fit = model.warnings().iter().map(ToString::to_string);
    (all, of_fit.chain(of_classes).chain(histories).collect())
}

fn every_learner_tells_the_classes_apart_in<T: Real>() {
    let source = planes::<T>(900, 70);
    for learner in learners() {
        let model = fit(&params(learner.clone()), &source).unwrap();
        let accuracy = model.predict(source.samples.as_ref()).unwrap();
        let accuracy = accuracy.accuracy(&source.labels).unwrap();
        assert!(accuracy > 0.95, "{accuracy} by {learner:?}");
        let pilot = |w: &Warning| matches!(w, Warning::Pilot { of: 900, .. });
        assert!(model.warnings().iter().any(pilot));
        // landmarks are samples of the source, by their numbers there
        let FeatureMap::Nystroem(map) = model.map() else { unreachable!() };
        let (panel, indices) = (map.panel(), map.panel().indices().unwrap());
        let prepared = model.preparation().apply(source.samples.as_ref()).unwrap().samples;
        for (j, &i) in indices.iter().enumerate() {
            assert!(panel.points().col(j) == prepared.col(i));
        }
    }
}

#[test]
fn every_learner_tells_the_classes_apart() {
    every_learner_tells_the_classes_apart_in::<f64>();
    every_learner_tells_the_classes_apart_in::<f32>();
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let source = planes::<f32>(500, 64);
    for learner in learners() {
        same_for_any_thread_count(|| facts(&fit(&params(learner.clone()), &source).unwrap()));
    }
}

#[test]
fn with_a_pilot_of_all_samples_mod_is_that_of_samples_in_memory() {
    let source = planes::<f64>(300, 37);
    let learner = ModParams { n_atoms: 6, sparsity: 2, tol: 0.0, ..Default::default() };
    let of_source = params(StreamLearner::Mod(learner.clone()));
    let survey = SurveyParams { n_pilot: 300, ..SURVEY };
    let mut blocks = source.clone();
    let pilot = survey.survey(&mut blocks, &Silent).unwrap();
    assert_eq!((&pilot.samples, &pilot.labels), (&source.samples, &source.labels));
    let whole = of_source.gather(&pilot, &mut blocks, &Silent).unwrap();
    assert!(whole.moments.is_empty() && whole.map_sums.is_none(), "the pilot says it all");
    let streamed = of_source.start(pilot, whole, &Silent).unwrap();
    let streamed = streamed.run(&mut blocks, &mut KeepNothing, &Silent).unwrap();
    let in_memory = LkdlParams {
        prepare: of_source.prepare.clone(),
        map: of_source.map.clone(),
        method: ClassDictionariesParams { learner, sparsity: 2 },
        memory: None,
    };
    let in_memory = in_memory.fit(source.samples.as_ref(), &source.labels).unwrap();
    assert_eq!(streamed.warnings(), in_memory.warnings());
    for (a, b) in streamed.classifier().learned().iter().zip(in_memory.classifier().learned()) {
        close(a.dictionary.as_ref(), b.dictionary.as_ref(), 1e-9);
    }
}

#[test]
fn where_blocks_are_cut_changes_no_pilot_and_online_learning_by_rounding_alone() {
    let pilot = |width| SURVEY.survey(&mut planes::<f64>(400, width), &Silent).unwrap();
    for learner in [&learners::<f64>()[0], &learners()[1]] {
        let whole = fit(&params(learner.clone()), &planes(400, 400)).unwrap();
        for width in [1, 33, 64] {
            assert_eq!(pilot(width).indices, pilot(400).indices);
            let cut = fit(&params(learner.clone()), &planes(400, width)).unwrap();
            for (a, b) in cut.classifier().learned().iter().zip(whole.classifier().learned()) {
                // products of one column round otherwise than those of many
                close(a.dictionary.as_ref(), b.dictionary.as_ref(), 1e-9);
            }
        }
    }
}

/// Keeps a copy after every block.
#[derive(Default)]
struct KeepAll(Vec<Saved<f32>>);

impl Keeper<f32> for KeepAll {
    fn is_due(&mut self) -> bool {
        true
    }

    fn keep(&mut self, state: &Saving<'_, f32>) -> Result<(), LkdlError> {
        self.0.push(state.into());
        Ok(())
    }
}

#[test]
fn a_fit_resumed_after_any_block_ends_in_the_same_bits() {
    let maps = [
        params(online::<f32>()).map,
        MapParams::None,
        MapParams::Fourier(crate::map::fourier::FourierParams { sigma: 1.0, rank: 32, seed: 3 }),
    ];
    for (learner, map) in learners::<f32>().into_iter().zip(maps) {
        let params = StreamParams { map, ..params(learner) };
        let mut source = planes::<f32>(230, 50);
        source.samples.col_as_slice_mut(7).fill(0.0); // a warning to be kept
        let mut kept = KeepAll::default();
        let whole = started(&params, &mut source).unwrap();
        let whole = facts(&whole.run(&mut source, &mut kept, &Silent).unwrap());
        assert_eq!(kept.0.len(), 1 + 5 * params.method.learner.max_passes());
        for state in kept.0 {
            let resumed = params.resume(state).unwrap();
            let resumed = resumed.run(&mut source, &mut KeepNothing, &Silent).unwrap();
            assert!(facts(&resumed) == whole);
        }
    }
}

#[test]
fn a_state_that_is_not_whole_is_refused() {
    let params = params(online::<f32>());
    let (mut source, mut kept) = (planes::<f32>(100, 50), KeepAll::default());
    let fit = started(&params, &mut source).unwrap();
    fit.run(&mut source, &mut kept, &Silent).unwrap();
    let other = StreamParams { map: MapParams::None, ..params.clone() };
    assert!(other.resume(kept.0[1].clone()).is_ok(), "a state does not know its parameters");
    let by_rls = StreamParams {
        method: ClassDictionariesParams { learner: learners()[1].clone(), sparsity: 2 },
        ..params.clone()
    };
    let error = by_rls.resume(kept.0[1].clone()).unwrap_err();
    assert!(matches!(error, LkdlError::SavedState { .. }), "{error}");
    let error = params.resume(Saved::from_iter([])).unwrap_err();
    assert!(matches!(error, LkdlError::SavedState { .. }), "{error}");
}

#[test]
fn a_class_that_comes_late_and_is_rare_is_learned_and_empty_blocks_are_passed_over() {
    let mut source = planes::<f64>(3000, 100);
    source
        .labels
        .iter_mut()
        .enumerate()
        .for_each(|(i, l)| *l = (*l).min(1) + usize::from(i >= 2990 && *l == 2));
    source.spoil = |_, number, block| {
        if number == 3 {
            *block = Some(Block { samples: Mat::zeros(0, 0), labels: Vec::new() });
        }
    };
    let rare = source.labels.iter().filter(|l| **l == 2).count();
    assert!((1..10).contains(&rare));
    let pilot = SURVEY.survey(&mut source.clone(), &Silent).unwrap();
    assert_eq!(pilot.labels.iter().filter(|l| **l == 2).count(), rare, "all of them are kept");
    assert_eq!((pilot.tally.n_blocks, pilot.tally.class_counts[2]), (30, rare));
    for learner in learners() {
        let model = fit(&params(learner), &source).unwrap();
        assert_eq!(model.classifier().n_classes(), 3);
    }
}

#[test]
fn the_pilot_is_uniform_and_in_the_order_of_the_source() {
    let (mut hits, n) = (vec![0; 40], 400);
    for seed in 0..200 {
        let survey = SurveyParams { n_pilot: 40, per_class: 0, seed, memory: None };
        let pilot = survey.survey(&mut planes::<f64>(n, 64), &Silent).unwrap();
        assert_eq!(pilot.indices.len(), 40);
        assert!(pilot.indices.is_sorted());
        pilot.indices.iter().for_each(|i| hits[i / 10] += 1);
    }
    // binomial: 200 of 8000 draws for each tenth of a tenth, deviation 13.8
    assert!(hits.iter().all(|&h: &i32| (h - 200).abs() < 70), "{hits:?}");
}

fn refusal(spoil: Spoil<f64>) -> LkdlError {
    let source = InMemory { spoil, ..planes::<f64>(300, 50) };
    fit(&params(online()), &source).map(|_| ()).unwrap_err()
}

#[test]
fn bad_blocks_are_named() {
    let error = refusal(|_, number, block| {
        if let Some(block) = block.as_mut().filter(|_| number == 3) {
            block.samples[(2, 7)] = f64::NAN;
        }
    });
    let text = error.to_string();
    let place = "block 3 (from sample 150 on): samples holds NaN at feature 2 of sample 157; ";
    assert!(text.starts_with(place), "{text}");
    let error = refusal(|_, number, block| {
        if let Some(block) = block.as_mut().filter(|_| number == 4) {
            block.samples = Mat::zeros(11, 50);
        }
    });
    let text = error.to_string();
    assert!(
        text.starts_with("block 4 (from sample 200 on): samples' n_features has size 11"),
        "{text}"
    );
    let error = refusal(|_, number, block| {
        if let Some(block) = block.as_mut().filter(|_| number == 1) {
            block.labels.pop();
        }
    });
    assert!(
        error.to_string().starts_with("block 1 (from sample 50 on): labels' length has size 49"),
        "{error}"
    );
    let error = refusal(|_, _, block| {
        if let Some(block) = block {
            block.labels.iter_mut().for_each(|label| *label *= 2);
        }
    });
    assert_eq!(error, LkdlError::EmptyClass { class: 1 });
    let error = refusal(|_, _, block| *block = None);
    assert!(matches!(error, LkdlError::Empty { .. }), "{error}");
}

#[test]
fn a_source_that_changes_between_passes_is_refused() {
    let changes: [(Spoil<f64>, &str); 6] = [
        (
            |pass, number, block| {
                if pass > 1 && number == 4 {
                    *block = None;
                }
            },
            "it ends after 200 samples in 4 blocks, not after 300 in 6",
        ),
        (
            |pass, number, block| {
                if pass > 2 && number == 6 {
                    *block = Some(Block { samples: Mat::identity(12, 12), labels: vec![0; 12] });
                }
            },
            "it goes on after 300 samples in 6 blocks",
        ),
        (
            |pass, number, block| {
                if let Some(block) = block.as_mut().filter(|_| pass > 1 && number == 2) {
                    block.labels[5] = 3;
                }
            },
            "block 2 has class 3, but there were 3",
        ),
        (
            |pass, number, block| {
                if let Some(block) = block.as_mut().filter(|_| pass > 1 && number == 2) {
                    block.samples[(0, 0)] += 1e-9;
                }
            },
            "values or labels differ",
        ),
        (
            |pass, number, block| {
                if let Some(block) = block.as_mut().filter(|_| pass > 1 && number == 2) {
                    let other = block.labels.iter().position(|l| *l != block.labels[0]).unwrap();
                    block.labels.swap(0, other);
                }
            },
            "values or labels differ",
        ),
        (
            |pass, _, block| {
                if let Some(block) = block.as_mut().filter(|_| pass > 1) {
                    block.samples = block.samples.subrows(1, 11).to_owned();
                }
            },
            "it has 11 features, not 12",
        ),
    ];
    for (spoil, text) in changes {
        let error = refusal(spoil);
        assert!(matches!(error, LkdlError::SourceChanged { .. }), "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn need_does_not_grow_with_the_source_and_what_does_not_fit_is_refused() {
    for learner in learners::<f64>() {
        let mut params = params(learner);
        let plan = |source: &InMemory<f64>, params: &StreamParams<f64>| {
            let pilot = SURVEY.survey(&mut source.clone(), &Silent).unwrap();
            params.stream_plan(&pilot).unwrap()
        };
        let (small, large) = (planes(600, 50), planes(6000, 50));
        let need = plan(&large, &params).peak().bytes;
        assert_eq!(need, plan(&small, &params).peak().bytes);
        params.memory = Some(need);
        assert!(fit(&params, &small).is_ok());
        // blocks of fewer samples than there are landmarks
        assert!(fit(&params, &planes(600, 7)).is_ok());
        params.memory = Some(20_000);
        let error = fit(&params, &small).map(|_| ()).unwrap_err();
        assert!(matches!(error, LkdlError::Memory { budget: 20_000, .. }), "{error}");
    }
}

#[test]
fn samples_of_too_many_classes_for_the_budget_are_refused_while_they_are_read() {
    let mut source = planes::<f64>(3000, 100);
    source.labels = (0..3000).map(|i| i % 600).collect();
    // blocks are read until what is held does not fit, and no further
    source.spoil = |_, number, _| assert!(number < 20, "block {number} is asked for");
    let budget = 12 * 8 * 1000;
    let survey = SurveyParams { memory: Some(budget), ..SURVEY };
    let error = survey.survey(&mut source, &Silent).unwrap_err();
    let LkdlError::SurveyMemory { n_kept, n_classes: 600, need, .. } = error else {
        panic!("{error}")
    };
    assert!(need > budget && need == 12 * 8 * (n_kept as u64 + 200), "{error}");
    source.spoil = |_, _, _| {};
    let enough = SurveyParams { memory: Some(12 * 8 * 3440), ..SURVEY };
    assert!(enough.survey(&mut source, &Silent).is_ok());
}

#[test]
fn classes_can_be_given_other_numbers_once_all_are_known() {
    let mut source = planes::<f64>(300, 50);
    let mut pilot = SURVEY.survey(&mut source, &Silent).unwrap();
    assert!(pilot.relabel(&[0, 1]).is_err());
    pilot.relabel(&[1, 1, 0]).unwrap();
    source.labels.iter_mut().for_each(|label| *label = [1, 1, 0][*label]);
    let params = params(online());
    let whole = params.gather(&pilot, &mut source, &Silent).unwrap();
    let fit = params.start(pilot, whole, &Silent).unwrap();
    let model = fit.run(&mut source, &mut KeepNothing, &Silent).unwrap();
    assert_eq!(model.classifier().n_classes(), 2);
}
