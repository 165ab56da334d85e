//! Maps that grow where the data drift.

use super::*;

/// 2,900 samples in one plane, then 100 in three other dimensions: of these the pilot has a few,
/// and the landmarks hardly any.
fn elsewhere_at_the_end<T: Real>() -> InMemory<T> {
    let weights = random_matrix::<f64>(3, 3000, 7);
    let labels: Vec<usize> = (0..3000).map(|i| i % 2).collect();
    let samples = Mat::from_fn(6, 3000, |t, i| {
        let large = if t % 2 == labels[i] { 1.0 } else { 0.2 };
        T::of(if (t < 3) == (i < 2900) { large * weights[(t % 3, i)] } else { 0.0 })
    });
    InMemory { samples, labels, width: 50, next: 0, pass: 0, spoil: |_, _, _| {} }
}

fn growing<T: Real>(learner: StreamLearner<T>, grow: usize) -> StreamParams<T> {
    let map = MapParams::Nystroem(NystroemParams {
        kernel: Kernel::Polynomial { degree: 2.0, offset: 0.0 },
        sampler: Sampler::Uniform,
        n_landmarks: LandmarkCount::Exact(12),
        ..Default::default()
    });
    let drift = DriftParams { grow, ..Default::default() };
    StreamParams { map, prepare: "l2".parse().unwrap(), drift, ..params(learner) }
}

/// The share of the last samples that the map of a model misses.
fn missed_at_the_end<T: Real>(model: &Model<T>, source: &InMemory<T>) -> f64 {
    let FeatureMap::Nystroem(map) = model.map() else { panic!("no landmarks") };
    let samples = source.samples.subcols(2900, 100).to_owned();
    let samples = model.preparation().apply_in_place(samples).unwrap().samples;
    let F = map.transform(samples.as_ref()).unwrap();
    let (missed, whole) = map.energies(samples.as_ref(), F.as_ref()).unwrap();
    missed.iter().sum::<f64>() / whole.iter().sum::<f64>()
}

#[test]
fn a_map_grows_where_the_data_drift_and_keeps_what_it_had() {
    let source = elsewhere_at_the_end::<f64>();
    for learner in learners() {
        let fixed = fit(&growing(learner.clone(), 0), &source).unwrap();
        let grown = fit(&growing(learner, 8), &source).unwrap();
        let said = |model: &Model<f64>, n: usize| {
            let mut drifted = model.warnings().iter();
            drifted
                .any(|w| matches!(w, Warning::Drifted { n_grown, .. } if (*n_grown > 0) == (n > 0)))
        };
        assert!(said(&fixed, 0) && said(&grown, 1), "{:?}", grown.warnings());
        let (before, after) =
            (missed_at_the_end(&fixed, &source), missed_at_the_end(&grown, &source));
        assert!(before > 0.2 && after < 0.1 * before, "{before} {after}");
        let (FeatureMap::Nystroem(old), FeatureMap::Nystroem(new)) = (fixed.map(), grown.map())
        else {
            panic!("no landmarks")
        };
        let (c, k) = (old.n_landmarks(), old.rank());
        assert!(new.rank() > k && new.n_landmarks() > c);
        assert_eq!(new.projection().submatrix(0, 0, c, k), old.projection());
    }
}

#[test]
fn a_fit_that_grows_has_the_same_bits_for_any_threads_and_after_any_block() {
    same_for_any_thread_count(|| {
        facts(&fit(&growing(online::<f64>(), 8), &elsewhere_at_the_end()).unwrap())
    });
    for learner in learners::<f32>() {
        let params = growing(learner, 8);
        let (mut source, mut kept) = (elsewhere_at_the_end::<f32>(), KeepAll::default());
        let whole = started(&params, &mut source).unwrap();
        let whole = facts(&whole.run(&mut source, &mut kept, &Silent).unwrap());
        // the blocks around the growth at the end of the first pass, and some of the next
        for state in kept.0.drain(55..70) {
            let resumed = params.resume(state).unwrap();
            let resumed = resumed.run(&mut source, &mut KeepNothing, &Silent).unwrap();
            assert!(facts(&resumed) == whole);
        }
    }
}

#[test]
fn mixed_samples_do_not_drift() {
    let (mut source, params) = (planes::<f64>(2000, 100), params(online()));
    let mut fit = started(&params, &mut source).unwrap();
    fit.run_passes(&mut source, &mut KeepNothing, &Silent).unwrap();
    let drift = fit.drift().unwrap();
    assert!((0.5..1.8).contains(&drift.level) && drift.highest < drift.limit, "{drift:?}");
    assert_eq!(drift.n_grown, 0);
}

#[test]
fn mixed_samples_do_not_drift_however_landmarks_fit_a_small_pilot() {
    // samples in 12 dimensions fill 91 of a polynomial kernel: 60 landmarks miss much, and of a pilot
    // twice as large less than of the rest
    let mut source = planes::<f64>(2000, 100);
    source.samples = random_matrix(12, 2000, 9);
    for sampler in ["uniform", "hybrid", "k-means", "greedy-cholesky", "diagonal"] {
        for seed in 0..3 {
            let map = NystroemParams {
                kernel: Kernel::Polynomial { degree: 2.0, offset: 0.5 },
                sampler: sampler.parse().unwrap(),
                n_landmarks: LandmarkCount::Exact(60),
                seed,
                ..Default::default()
            };
            let params = StreamParams { map: MapParams::Nystroem(map), ..params(online()) };
            let survey = SurveyParams { per_class: 0, seed, ..SURVEY };
            let pilot = survey.survey(&mut source, &Silent).unwrap();
            assert_eq!((pilot.samples.ncols(), pilot.held_out.ncols()), (120, 120));
            let whole = params.gather(&pilot, &mut source, &Silent).unwrap();
            let mut fit = params.start(pilot, whole, &Silent).unwrap();
            fit.run_passes(&mut source, &mut KeepNothing, &Silent).unwrap();
            let drift = fit.drift().unwrap();
            assert!((0.8..1.25).contains(&drift.level), "{sampler} {seed}: {drift:?}");
            assert!(drift.highest < 1.5, "{sampler} {seed}: {drift:?}");
        }
    }
}

#[test]
fn a_pilot_and_samples_beside_it_weigh_as_much_as_all_they_stand_for() {
    let mut source = planes::<f64>(2000, 100);
    let pilot = SURVEY.survey(&mut source, &Silent).unwrap();
    let in_pilot =
        |x: &[f64]| (0..pilot.samples.ncols()).any(|i| pilot.samples.col_as_slice(i) == x);
    assert!((0..120).all(|i| !in_pilot(pilot.held_out.col_as_slice(i))));
    let all = SurveyParams { n_pilot: 2000, ..SURVEY }.survey(&mut source, &Silent).unwrap();
    assert_eq!((all.samples.ncols(), all.held_out.ncols()), (2000, 0));
    let most = SurveyParams { n_pilot: 1990, ..SURVEY }.survey(&mut source, &Silent).unwrap();
    assert_eq!((most.samples.ncols(), most.held_out.ncols()), (1990, 10));
}
