//! What depends on all samples comes from all of them.

use super::*;
use crate::map::Variant;
use crate::prepare::FittedStep;
use crate::sampling::Landmarks;
use faer::MatRef;

/// 600 samples near three planes, with means of 10⁶ and small spreads in some features, and a drift
/// of the mean that the pilot cannot see whole.
fn far<T: Real>(width: usize) -> InMemory<T> {
    let mut source = planes::<T>(600, width);
    for i in 0..600 {
        let x = source.samples.col_as_slice_mut(i);
        x[0] = T::of(1e6 + 1e-3 * x[0].wide());
        x[1] = T::of(-1e6 + 1e3 * x[1].wide());
        x[2] = T::of(x[2].wide() + i as f64);
        x[3] = T::of(0.1);
    }
    source
}

fn nystroem(change: impl FnOnce(&mut NystroemParams)) -> MapParams {
    let mut params = NystroemParams {
        kernel: Kernel::Polynomial { degree: 2.0, offset: 0.5 },
        sampler: Sampler::Uniform,
        n_landmarks: LandmarkCount::Exact(30),
        rank: Rank::Exact(12),
        seed: 3,
        ..Default::default()
    };
    change(&mut params);
    MapParams::Nystroem(params)
}

fn with<T: Real>(prepare: &str, map: MapParams) -> StreamParams<T> {
    StreamParams { prepare: prepare.parse().unwrap(), map, ..params(online()) }
}

/// The maps that depend on all samples.
fn by_sums() -> [MapParams; 4] {
    [
        nystroem(|map| map.variant = Variant::Optimal),
        nystroem(|map| map.centered = true),
        nystroem(|map| (map.variant, map.centered) = (Variant::Optimal, true)),
        nystroem(|map| map.rank = Rank::Trace(0.05)),
    ]
}

fn standardized<T: Real>(preparation: &Preparation<T>) -> Vec<[Vec<f64>; 2]> {
    let columns = preparation.steps().iter().filter_map(|step| match step {
        FittedStep::Standardize { mean, scale } => {
            Some([mean, scale].map(|of| of.iter().map(|v| v.wide()).collect()))
        }
        _ => None,
    });
    columns.collect()
}

fn standardize_is_that_of_samples_in_memory_in<T: Real>(tol: f64) {
    for steps in ["standardize", "center,standardize,l2", "standardize,l2,standardize"] {
        let params = with::<T>(steps, MapParams::None);
        for width in [1, 7, 64, 600] {
            let source = far::<T>(width);
            let model = fit(&params, &source).unwrap();
            let in_memory = params.prepare.fit(source.samples.as_ref()).unwrap();
            let pairs = standardized(model.preparation()).into_iter().zip(standardized(&in_memory));
            for (got, expected) in pairs.flat_map(|(a, b)| a.into_iter().zip(b)) {
                let scale = expected.iter().fold(0.0f64, |most, v| most.max(v.abs()));
                for (a, b) in got.iter().zip(&expected) {
                    // of a mean near zero, digits beyond the samples' own are rounding
                    let size = if steps == "standardize" { b.abs() } else { scale };
                    assert!((a - b).abs() <= tol * size, "{steps} in {width}: {a} {b}");
                }
            }
        }
    }
}

#[test]
fn standardize_is_that_of_samples_in_memory() {
    standardize_is_that_of_samples_in_memory_in::<f64>(1e-12);
    standardize_is_that_of_samples_in_memory_in::<f32>(1e-5);
}

/// FᵀF of some samples.
fn inner_products<T: Real>(F: MatRef<'_, T>) -> Mat<f64> {
    Mat::from_fn(F.ncols(), F.ncols(), |i, j| {
        F.col(i).iter().zip(F.col(j).iter()).map(|(a, b)| a.wide() * b.wide()).sum()
    })
}

fn maps_are_those_of_samples_in_memory_in<T: Real>(tol: f64) {
    for map in by_sums() {
        let params = with::<T>("standardize,l2", map);
        let MapParams::Nystroem(map_params) = &params.map else { unreachable!() };
        for width in [9, 64, 600] {
            let source = far::<T>(width);
            let model = fit(&params, &source).unwrap();
            let FeatureMap::Nystroem(map) = model.map() else { unreachable!() };
            let X = model.preparation().apply(source.samples.as_ref()).unwrap().samples;
            let landmarks = Landmarks::from_points(map.panel().points());
            let in_memory = map_params.fit_landmarks(X.as_ref(), &landmarks).unwrap();
            assert_eq!(map.rank(), in_memory.rank());
            let F = [map, &in_memory].map(|map| map.transform(X.subcols(0, 50)).unwrap());
            let [got, expected] = F.each_ref().map(|F| inner_products(F.as_ref()));
            close(got.as_ref(), expected.as_ref(), tol);
            if map_params.centered {
                let mean: f64 =
                    map.transform(X.as_ref()).unwrap().row(0).iter().map(|v| v.wide()).sum();
                assert!(mean.abs() < 600.0 * tol, "the mean of all is {mean}");
            }
            // landmarks of the pilot are samples of the source, by their numbers there
            let indices = map.panel().indices().unwrap();
            assert!(
                indices
                    .iter()
                    .enumerate()
                    .all(|(j, &i)| { map.panel().points().col(j) == X.col(i) })
            );
        }
    }
}

#[test]
fn maps_by_sums_are_those_of_samples_in_memory() {
    maps_are_those_of_samples_in_memory_in::<f64>(1e-9);
    // where rounding of sums meets eigenvalues that are close, directions turn
    maps_are_those_of_samples_in_memory_in::<f32>(2e-3);
}

/// Everything gathered, at once.
fn all_at_once<T: Real>() -> StreamParams<T> {
    let map = nystroem(|map| {
        map.sampler = Sampler::Diagonal { squared: true };
        (map.variant, map.centered) = (Variant::Optimal, true);
    });
    with("standardize,center", map)
}

#[test]
fn landmarks_of_the_diagonal_sampler_are_drawn_from_all_samples() {
    let draw = |map: &mut NystroemParams| map.sampler = Sampler::Diagonal { squared: true };
    let params = with::<f64>("center", nystroem(draw));
    let source = planes::<f64>(600, 64);
    let X = params.prepare.fit(source.samples.as_ref()).unwrap();
    let X = X.apply(source.samples.as_ref()).unwrap().samples;
    let MapParams::Nystroem(map) = &params.map else { unreachable!() };
    let in_memory = map.landmarks().select(&map.kernel, X.as_ref()).unwrap();
    for width in [1, 50, 64, 600] {
        let model = fit(&params, &planes(600, width)).unwrap();
        let FeatureMap::Nystroem(map) = model.map() else { unreachable!() };
        assert_eq!(map.panel().indices(), in_memory.indices.as_deref(), "{width}");
        assert!(map.panel().points() == in_memory.points.as_ref());
    }
    let pilot = SURVEY.survey(&mut source.clone(), &Silent).unwrap();
    let outside = |i: &&usize| !pilot.indices.contains(i);
    assert!(in_memory.indices.iter().flatten().filter(outside).count() > 10, "else it is no test");
    // as many as the pilot needs, where no number is said
    let auto = nystroem(|map| {
        draw(map);
        map.n_landmarks = LandmarkCount::Auto { trace_error: 0.01, max: 25 };
        map.rank = Rank::Standard;
    });
    let model = fit(&with::<f64>("center", auto), &source).unwrap();
    let FeatureMap::Nystroem(map) = model.map() else { unreachable!() };
    assert!((2..=25).contains(&map.n_landmarks()));
}

#[test]
fn without_any_weight_landmarks_come_from_the_pilot() {
    let draw = |map: &mut NystroemParams| {
        (map.sampler, map.kernel) = (Sampler::Diagonal { squared: false }, Kernel::Linear);
        (map.n_landmarks, map.rank) = (LandmarkCount::Exact(1), Rank::Exact(1));
    };
    let mut source = planes::<f64>(400, 50);
    source.samples.fill(0.0);
    let params = with::<f64>("none", nystroem(draw));
    let pilot = SURVEY.survey(&mut source, &Silent).unwrap();
    let whole = params.gather(&pilot, &mut source, &Silent).unwrap();
    assert!(whole.landmarks.is_none());
}

#[test]
fn any_number_of_threads_gathers_the_same_bits() {
    let source = far::<f32>(70);
    same_for_any_thread_count(|| {
        let model = fit(&all_at_once(), &source).unwrap();
        (standardized(model.preparation()), facts(&model))
    });
}

#[test]
fn where_blocks_are_cut_changes_the_gathered_by_rounding_alone() {
    let whole = fit(&all_at_once::<f64>(), &planes(600, 600)).unwrap();
    for width in [1, 33, 64] {
        let cut = fit(&all_at_once::<f64>(), &planes(600, width)).unwrap();
        let [a, b] = [&cut, &whole].map(|model| match model.map() {
            FeatureMap::Nystroem(map) => map,
            _ => panic!("no landmarks"),
        });
        assert_eq!(a.panel().indices(), b.panel().indices());
        close(a.panel().points(), b.panel().points(), 1e-12);
    }
}

/// A source that counts its passes, and the stages they were for.
fn passes(params: &StreamParams<f64>, survey: SurveyParams) -> usize {
    let mut source = planes::<f64>(600, 100);
    let pilot = survey.survey(&mut source, &Silent).unwrap();
    params.gather(&pilot, &mut source, &Silent).unwrap();
    source.pass - 1
}

#[test]
fn a_pass_is_made_for_what_needs_it_alone() {
    let plain = with("center,l2", nystroem(|_| ()));
    let hybrid = with("l2", nystroem(|map| map.sampler = Sampler::default()));
    let cholesky = nystroem(|map| (map.variant, map.rank) = (Variant::Cholesky, Rank::Standard));
    for params in [plain, hybrid, with("none", cholesky), with("l2", MapParams::None)] {
        assert_eq!(passes(&params, SURVEY), 0);
    }
    assert_eq!(passes(&with("standardize,l2,standardize", MapParams::None), SURVEY), 2);
    for map in by_sums() {
        assert_eq!(passes(&with("l2", map), SURVEY), 1);
    }
    assert_eq!(passes(&all_at_once(), SURVEY), 3);
    assert_eq!(passes(&all_at_once(), SurveyParams { n_pilot: 600, ..SURVEY }), 0);
}

#[test]
fn blocks_without_samples_are_passed_over() {
    let mut gaps = planes::<f64>(600, 50);
    gaps.spoil = |_, number, block| {
        if number == 3 || number == 4 {
            *block = Some(Block { samples: Mat::zeros(0, 0), labels: Vec::new() });
        }
    };
    assert!(fit(&all_at_once(), &gaps).is_ok());
}

#[test]
fn a_resumed_fit_gathers_nothing_again_and_ends_in_the_same_bits() {
    let (params, mut source) = (all_at_once::<f32>(), far::<f32>(50));
    let mut kept = KeepAll::default();
    let whole = started(&params, &mut source).unwrap();
    let whole = whole.run(&mut source, &mut kept, &Silent).unwrap();
    let whole = (standardized(whole.preparation()), facts(&whole));
    for (block, state) in kept.0.into_iter().enumerate() {
        let mut source = far::<f32>(50);
        let resumed = params.resume(state).unwrap();
        let resumed = resumed.run(&mut source, &mut KeepNothing, &Silent).unwrap();
        // the passes that were left of two, each of which begins with a rewind
        assert_eq!(source.pass, 2 - block.saturating_sub(1) / 12, "{block}");
        assert!((standardized(resumed.preparation()), facts(&resumed)) == whole, "{block}");
    }
}

#[test]
fn a_source_that_changes_before_or_between_gathering_is_refused() {
    // pass 1 is the survey, 2 to 4 gather
    let changes: [(Spoil<f64>, &str); 4] = [
        (
            |pass, number, block| {
                if let Some(block) = block.as_mut().filter(|_| pass == 2 && number == 2) {
                    block.samples[(0, 0)] += 1e-9;
                }
            },
            "values or labels differ",
        ),
        (
            |pass, number, block| {
                if pass == 3 && number == 4 {
                    *block = None;
                }
            },
            "it ends after 200 samples in 4 blocks, not after 300 in 6",
        ),
        (
            |pass, number, block| {
                if pass == 4 && number == 6 {
                    *block = Some(Block { samples: Mat::identity(12, 12), labels: vec![0; 12] });
                }
            },
            "it goes on after 300 samples in 6 blocks",
        ),
        (
            |pass, _, block| {
                if let Some(block) = block.as_mut().filter(|_| pass == 2) {
                    block.samples = block.samples.subrows(1, 11).to_owned();
                }
            },
            "it has 11 features, not 12",
        ),
    ];
    for (spoil, text) in changes {
        let source = InMemory { spoil, ..planes::<f64>(300, 50) };
        let error = fit(&all_at_once(), &source).map(|_| ()).unwrap_err();
        assert!(matches!(error, LkdlError::SourceChanged { .. }), "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn errors_of_a_pass_name_its_block() {
    let mut source = planes::<f64>(300, 50);
    source.samples[(0, 170)] = f64::MAX;
    let params = with::<f64>("none", nystroem(|map| map.variant = Variant::Optimal));
    let error = fit(&params, &source).map(|_| ()).unwrap_err();
    assert!(matches!(error, LkdlError::InBlock { block: 3, .. }), "{error}");
    let cancelled = {
        struct Stop;
        impl Monitor for Stop {
            fn cancelled(&self) -> bool {
                true
            }
        }
        let mut source = planes::<f64>(300, 50);
        let pilot = SURVEY.survey(&mut source, &Silent).unwrap();
        all_at_once().gather(&pilot, &mut source, &Stop).unwrap_err()
    };
    assert_eq!(cancelled, LkdlError::Cancelled);
}

#[test]
fn the_plan_counts_the_passes_and_refuses_before_the_first() {
    let mut source = planes::<f64>(600, 20);
    let pilot = SURVEY.survey(&mut source, &Silent).unwrap();
    let params = all_at_once::<f64>();
    let plan = params.stream_plan(&pilot).unwrap();
    let stages: Vec<&str> = plan.stages.iter().map(|stage| stage.stage).collect();
    let expected = ["survey", "moments", "prepare", "landmarks", "draw", "sums"];
    assert_eq!(stages[..6], expected);
    // 30 blocks are five bits: so many c×c sums, and one more
    let sums = plan.stages[5].bytes;
    assert!(sums >= 6 * 30 * 30 * 8, "{sums}");
    let large = nystroem(|map| {
        map.variant = Variant::Optimal;
        (map.n_landmarks, map.rank) = (LandmarkCount::Exact(100), Rank::Exact(12));
    });
    let large = with::<f64>("standardize", large);
    let need = large.stream_plan(&pilot).unwrap();
    let tight = StreamParams { memory: Some(need.peak().bytes - 1), ..large.clone() };
    let passes = source.pass;
    let error = tight.gather(&pilot, &mut source, &Silent).map(|_| ()).unwrap_err();
    assert!(matches!(error, LkdlError::Memory { .. }), "{error}");
    assert_eq!(source.pass, passes, "refused before any pass");
    let enough = StreamParams { memory: Some(need.peak().bytes), ..large };
    assert!(fit(&enough, &source).is_ok());
}

#[test]
fn parts_that_do_not_fit_are_typed_errors() {
    let mut source = planes::<f64>(600, 100);
    let pilot = SURVEY.survey(&mut source, &Silent).unwrap();
    let params = all_at_once::<f64>();
    let whole = params.gather(&pilot, &mut source, &Silent).unwrap();
    let refused = |whole| params.start(pilot.clone(), whole, &Silent).map(|_| ()).unwrap_err();
    let twice = [&whole.moments[..], &whole.moments].concat();
    let error = refused(Whole { moments: twice, ..whole.clone() });
    assert!(matches!(error, LkdlError::Shape { what: "moments", .. }), "{error}");
    let error = refused(Whole { landmarks: None, ..whole.clone() });
    assert!(matches!(error, LkdlError::Unsupported { .. }), "{error}");
    let fewer = Landmarks::from_points(whole.landmarks.as_ref().unwrap().points.subcols(0, 9));
    let error = refused(Whole { landmarks: Some(fewer), ..whole });
    assert!(matches!(error, LkdlError::Shape { expected: 9, got: 30, .. }), "{error}");
    // nothing was gathered: the pilot alone
    assert!(params.start(pilot, Whole::default(), &Silent).is_ok());
}
