//! Bad input: a typed error that names the value, or the documented behaviour; never a panic, a NaN
//! or an endless loop. Sizes at the ends of the number range are in `extreme_input.rs`, any pipeline
//! on any data in `awkward_input.rs`.

use crate::common::{Params, assert_sound, clouds, map_of, normal, pipeline, samplers};
use crate::kernels::kernels;
use faer::Mat;
use lkdl::map::Indefinite;
use lkdl::map::fastfood::FastfoodParams;
use lkdl::map::fourier::FourierParams;
use lkdl::prelude::*;

const GAUSSIAN: Kernel = Kernel::Gaussian { sigma: 1.0 };

fn fit_error<T: Real>(params: &Params<T>, X: &Mat<T>, labels: &[usize]) -> LkdlError {
    match params.fit(X.as_ref(), labels) {
        Err(error) => error,
        Ok(model) => panic!("fitted, warnings {:?}", model.warnings()),
    }
}

#[test]
fn non_finite_values_are_named_in_training_and_in_prediction() {
    fn check<T: Real>() {
        let (X, labels) = clouds::<T>(4, 30, 2, 1);
        let params = pipeline::<T>(GAUSSIAN, [8, 8, 4, 2]);
        let model = params.fit(X.as_ref(), &labels).unwrap();
        for (bad, text) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")]
        {
            let mut broken = X.clone();
            broken[(2, 17)] = T::of(bad);
            let errors = [
                fit_error(&params, &broken, &labels),
                model.predict(broken.as_ref()).unwrap_err(),
                model.transform(broken.as_ref()).unwrap_err(),
            ];
            for error in errors {
                let expected = format!("samples holds {text} at feature 2 of sample 17");
                assert!(error.to_string().starts_with(&expected), "{error}");
            }
        }
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn no_samples_or_no_features_is_an_error() {
    let (X, labels) = clouds::<f64>(4, 30, 2, 1);
    let params = pipeline::<f64>(GAUSSIAN, [8, 8, 4, 2]);
    let model = params.fit(X.as_ref(), &labels).unwrap();
    for (p, n) in [(4, 0), (0, 30), (0, 0)] {
        let empty = Mat::<f64>::zeros(p, n);
        for error in
            [fit_error(&params, &empty, &vec![0; n]), model.predict(empty.as_ref()).unwrap_err()]
        {
            let expected = format!("samples is empty ({p} x {n})");
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
    }
}

#[test]
fn one_sample_and_one_feature_are_enough() {
    for kernel in kernels().into_iter().filter(|k| !matches!(k, Kernel::Sigmoid { .. })) {
        let one = clouds::<f64>(3, 1, 1, 1).0;
        let params = pipeline::<f64>(kernel.clone(), [1, 1, 1, 1]);
        let predictions = params.fit(one.as_ref(), &[0]).unwrap().predict(one.as_ref()).unwrap();
        assert_sound(&predictions, 1, 1);
        let (line, labels) = clouds::<f64>(1, 20, 2, 1);
        // Two landmarks on a line are dependent for many kernels: a rank of 1 is what all have.
        let params = pipeline::<f64>(kernel, [2, 1, 2, 1]);
        let model = params.fit(line.as_ref(), &labels).unwrap();
        assert_sound(&model.predict(line.as_ref()).unwrap(), 20, 2);
    }
}

#[test]
fn a_class_with_fewer_samples_than_atoms_is_mixed_and_reported() {
    let (X, mut labels) = clouds::<f64>(4, 30, 2, 1);
    labels[29] = 2;
    let model = pipeline::<f64>(GAUSSIAN, [10, 10, 6, 2]).fit(X.as_ref(), &labels).unwrap();
    let warnings: Vec<_> = model.classifier().warnings().collect();
    assert_eq!(warnings, [(2, &Warning::FewerAtoms { wanted: 6, got: 1 })]);
    assert_sound(&model.predict(X.as_ref()).unwrap(), 30, 3);
}

#[test]
fn zero_and_repeated_samples_are_learned_around() {
    let (mut X, labels) = clouds::<f64>(4, 40, 2, 1);
    let copy = X.col_as_slice(0).to_vec();
    (20..30).for_each(|i| X.col_as_slice_mut(i).copy_from_slice(&copy));
    (30..34).for_each(|i| X.col_as_slice_mut(i).fill(0.0));
    for sampler in samplers() {
        for kernel in
            [Kernel::Linear, Kernel::Cosine, Kernel::Polynomial { degree: 2.0, offset: 0.0 }]
        {
            let mut params = pipeline::<f64>(kernel, [20, 1, 5, 2]);
            params.map = MapParams::Nystroem(NystroemParams {
                sampler: sampler.clone(),
                rank: Rank::Standard,
                ..map_of(&params)
            });
            params.prepare = PrepareParams { steps: vec![Step::UnitNorm] };
            // One given landmark is a sample; a zero one would be an error of its own.
            let model = params.fit(X.as_ref(), &labels).unwrap();
            let predictions = model.predict(X.as_ref()).unwrap();
            assert_sound(&predictions, 40, 2);
            assert!(predictions.n_zero_samples >= 4);
            assert!(predictions.labels[30..34].iter().all(|&l| l == 0));
            assert!(model.warnings().contains(&Warning::ZeroSamples { count: 4 }));
        }
    }
}

#[test]
fn nothing_but_zeros_is_an_error() {
    let (zeros, labels) = (Mat::<f64>::zeros(4, 30), vec![0; 30]);
    let params = pipeline::<f64>(Kernel::Linear, [8, 8, 4, 2]);
    assert!(matches!(fit_error(&params, &zeros, &labels), LkdlError::ZeroKernel { .. }));
    let linear = LkdlParams { map: MapParams::None, ..params.clone() };
    let error = fit_error(&linear, &zeros, &labels);
    assert!(matches!(error, LkdlError::InClass { class: 0, .. }), "{error}");
    // One landmark that is zero carries no kernel mass either.
    let (mut X, labels) = clouds::<f64>(4, 30, 2, 1);
    X.col_as_slice_mut(0).fill(0.0);
    let given = NystroemParams {
        sampler: Sampler::Given(vec![0]),
        rank: Rank::Exact(1),
        ..map_of(&params)
    };
    let given = LkdlParams { map: MapParams::Nystroem(given), ..params };
    assert_eq!(fit_error(&given, &X, &labels), LkdlError::ZeroKernel { n_landmarks: 1 });
}

#[test]
fn counts_out_of_range_are_named_with_their_limit() {
    let (X, labels) = clouds::<f64>(4, 30, 2, 1);
    let text = |numbers| fit_error(&pipeline::<f64>(GAUSSIAN, numbers), &X, &labels).to_string();
    let range = "n_landmarks is 31, but must be between 1 and n_samples = 30";
    assert_eq!(text([31, 8, 4, 2]), range);
    assert_eq!(text([0, 8, 4, 2]), "n_landmarks is 0, but must be between 1 and n_samples = 30");
    assert_eq!(text([8, 9, 4, 2]), "rank is 9, but must be between 1 and n_landmarks = 8");
    assert_eq!(text([8, 0, 4, 2]), "rank is 0, but must be at least 1");
    assert_eq!(text([8, 8, 4, 5]), "sparsity is 5, but must be between 1 and n_atoms = 4");
    assert_eq!(text([8, 8, 4, 0]), "sparsity is 0, but must be at least 1");
    assert_eq!(text([8, 8, 0, 1]), "n_atoms is 0, but must be at least 1");
    let mut params = pipeline::<f64>(GAUSSIAN, [8, 8, 4, 2]);
    params.method.learner.max_iters = 0;
    assert_eq!(
        fit_error(&params, &X, &labels).to_string(),
        "max_iters is 0, but must be at least 1"
    );
}

#[test]
fn bad_kernel_and_map_parameters_are_named() {
    let (X, labels) = clouds::<f64>(4, 30, 2, 1);
    let text = |map| {
        let params = LkdlParams { map, ..pipeline::<f64>(GAUSSIAN, [8, 8, 4, 2]) };
        fit_error(&params, &X, &labels).to_string()
    };
    let kernel = |kernel| text(pipeline::<f64>(kernel, [8, 8, 4, 2]).map);
    assert!(kernel(Kernel::Gaussian { sigma: 0.0 }).starts_with("kernel sigma is 0, but must be"));
    assert!(kernel(Kernel::Gaussian { sigma: f64::NAN }).starts_with("kernel sigma is NaN"));
    assert!(kernel(Kernel::Laplacian { rate: -1.0 }).starts_with("kernel rate is -1"));
    let negative = Kernel::Polynomial { degree: -2.0, offset: 0.0 };
    assert!(kernel(negative).starts_with("kernel degree is -2"));
    let infinite = Kernel::Polynomial { degree: 2.0, offset: f64::INFINITY };
    assert!(kernel(infinite).starts_with("kernel offset is inf"));
    for (sigma, rank, start) in [(1.0, 7, "rank is 7"), (1.0, 0, "rank is 0"), (-1.0, 8, "kernel")]
    {
        let error = text(MapParams::Fourier(FourierParams { sigma, rank, seed: 0 }));
        assert!(error.starts_with(start), "{error}");
        let error = text(MapParams::Fastfood(FastfoodParams { sigma, rank, seed: 0 }));
        assert!(error.starts_with(start), "{error}");
    }
}

#[test]
fn labels_that_do_not_fit_are_named() {
    let (X, labels) = clouds::<f64>(4, 30, 2, 1);
    let params = pipeline::<f64>(GAUSSIAN, [8, 8, 4, 2]);
    let error = fit_error(&params, &X, &labels[..29]);
    assert_eq!(error.to_string(), "labels' length has size 29, but must be 30");
    let gap: Vec<usize> = labels.iter().map(|l| 3 * l).collect();
    assert_eq!(fit_error(&params, &X, &gap), LkdlError::EmptyClass { class: 1 });
    let mut far = labels.clone();
    far[4] = usize::MAX;
    assert_eq!(fit_error(&params, &X, &far), LkdlError::EmptyClass { class: 2 });
    // One class is a model that always says so.
    let model = params.fit(X.as_ref(), &[0; 30]).unwrap();
    let predictions = model.predict(X.as_ref()).unwrap();
    assert_sound(&predictions, 30, 1);
    assert!(predictions.margins.iter().all(|&m| m == 1.0));
    assert!(predictions.accuracy(&labels[..7]).is_err());
}

#[test]
fn other_features_than_in_training_are_refused() {
    let (X, labels) = clouds::<f64>(4, 30, 2, 1);
    let maps = [
        pipeline::<f64>(GAUSSIAN, [8, 8, 4, 2]).map,
        MapParams::None,
        MapParams::Fourier(FourierParams { sigma: 1.0, rank: 8, seed: 0 }),
        MapParams::Fastfood(FastfoodParams { sigma: 1.0, rank: 8, seed: 0 }),
    ];
    for map in maps {
        let params = LkdlParams { map, ..pipeline::<f64>(GAUSSIAN, [8, 8, 4, 2]) };
        let model = params.fit(X.as_ref(), &labels).unwrap();
        let error = model.predict(X.as_ref().subrows(0, 3)).unwrap_err();
        assert!(matches!(error, LkdlError::Shape { expected: 4, got: 3, .. }), "{error}");
    }
}

#[test]
fn negative_features_of_a_chi_squared_kernel_are_named() {
    for kernel in [
        Kernel::Chi2Additive,
        Kernel::Chi2Exponential { rate: 1.0 },
        Kernel::Normalized(Box::new(Kernel::Chi2Additive)),
    ] {
        let (X, labels) = clouds::<f64>(4, 30, 2, 1);
        let params = pipeline::<f64>(kernel, [8, 4, 4, 2]);
        let model = params.fit(X.as_ref(), &labels).unwrap();
        let mut broken = X.clone();
        broken[(3, 21)] = -0.5;
        let expected = LkdlError::NegativeFeature { row: 3, col: 21, value: -0.5 };
        assert_eq!(fit_error(&params, &broken, &labels), expected);
        assert_eq!(model.predict(broken.as_ref()).unwrap_err(), expected);
    }
}

#[test]
fn a_bad_value_far_down_a_long_list_is_named_by_its_own_column() {
    // Prediction goes in batches; the column is that of the caller's matrix.
    let (X, labels) = clouds::<f32>(4, 30, 2, 1);
    let model =
        pipeline::<f32>(Kernel::Chi2Additive, [8, 4, 4, 2]).fit(X.as_ref(), &labels).unwrap();
    let mut long = Mat::from_fn(4, 20_000, |r, i| X[(r, i % 30)]);
    long[(1, 19_000)] = -0.25;
    let expected = LkdlError::NegativeFeature { row: 1, col: 19_000, value: -0.25 };
    assert_eq!(model.predict(long.as_ref()).unwrap_err(), expected);
}

#[test]
fn an_indefinite_kernel_is_refused_unless_a_policy_says_otherwise() {
    let (X, labels) = (normal::<f64>(4, 30, 1), (0..30).map(|i| i % 2).collect::<Vec<_>>());
    let mut params = pipeline::<f64>(Kernel::Sigmoid { scale: 1.0, offset: -1.0 }, [10, 5, 4, 2]);
    let plain = map_of(&params);
    for variant in [Variant::Standard, Variant::Cholesky, Variant::Optimal] {
        // Cholesky keeps all landmarks
        let rank = if variant == Variant::Cholesky { Rank::Standard } else { plain.rank };
        let plain = NystroemParams { rank, ..plain.clone() };
        params.map = MapParams::Nystroem(NystroemParams { variant, ..plain.clone() });
        let error = fit_error(&params, &X, &labels);
        assert!(matches!(error, LkdlError::Indefinite { .. }), "{error}");
        assert!(
            error.to_string().contains("choose another kernel or the policy clip, flip or shift")
        );
        for indefinite in [Indefinite::Clip, Indefinite::Flip, Indefinite::Shift] {
            params.map =
                MapParams::Nystroem(NystroemParams { variant, indefinite, ..plain.clone() });
            let model = params.fit(X.as_ref(), &labels).unwrap();
            let repaired = |w: &Warning| matches!(w, Warning::IndefiniteRepaired { .. });
            assert!(model.warnings().iter().any(repaired));
            assert_sound(&model.predict(X.as_ref()).unwrap(), 30, 2);
        }
    }
}

#[test]
fn a_singular_landmark_matrix_lowers_the_rank_and_says_so() {
    let (X, labels) = clouds::<f64>(3, 30, 2, 1);
    for variant in [Variant::Standard, Variant::Cholesky, Variant::Optimal] {
        let mut params = pipeline::<f64>(Kernel::Linear, [12, 12, 4, 2]);
        let uniform = NystroemParams { sampler: Sampler::Uniform, ..map_of(&params) };
        params.map = MapParams::Nystroem(NystroemParams { variant, ..uniform });
        let model = params.fit(X.as_ref(), &labels).unwrap();
        let FeatureMap::Nystroem(map) = model.map() else { panic!("{:?}", model.map()) };
        assert_eq!(map.rank(), 3, "{variant:?}");
        assert_eq!(model.warnings(), [Warning::RankReduced { wanted: 12, got: 3 }], "{variant:?}");
        assert_sound(&model.predict(X.as_ref()).unwrap(), 30, 2);
    }
}

#[test]
fn kernel_values_are_not_prepared() {
    let (X, labels) = clouds::<f64>(30, 30, 2, 1);
    let K = X.transpose() * &X;
    let mut params = pipeline::<f64>(Kernel::Precomputed, [8, 8, 4, 2]);
    params.prepare = "center,l2".parse().unwrap();
    assert!(matches!(fit_error(&params, &K, &labels), LkdlError::Unsupported { .. }));
}

#[test]
fn a_monitor_sees_every_stage_and_can_stop_the_fit() {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    #[derive(Default)]
    struct Watch {
        stages: Mutex<Vec<(&'static str, usize)>>,
        steps: AtomicUsize,
        stop_after: Option<usize>,
    }
    impl Monitor for Watch {
        fn begin(&self, stage: &'static str, steps: usize) {
            self.stages.lock().unwrap().push((stage, steps));
        }
        fn advance(&self, steps: usize) {
            self.steps.fetch_add(steps, Ordering::SeqCst);
        }
        fn cancelled(&self) -> bool {
            self.stop_after.is_some_and(|after| self.steps.load(Ordering::SeqCst) >= after)
        }
    }
    let (X, labels) = clouds::<f64>(4, 30, 2, 1);
    let mut params = pipeline::<f64>(GAUSSIAN, [10, 10, 6, 2]);
    params.method.learner.tol = 0.0;
    params.method.learner.max_iters = 7;
    let watch = Watch::default();
    params.fit_monitored(X.as_ref(), &labels, &watch).unwrap();
    let stages = [("prepare", 0), ("landmarks", 0), ("map", 0), ("learn", 14)];
    assert_eq!(*watch.stages.lock().unwrap(), stages);
    assert_eq!(watch.steps.load(Ordering::SeqCst), 14);
    for stop_after in [0, 3] {
        let watch = Watch { stop_after: Some(stop_after), ..Watch::default() };
        let stopped = params.fit_monitored(X.as_ref(), &labels, &watch);
        assert!(matches!(stopped, Err(LkdlError::Cancelled)));
        assert!(watch.steps.load(Ordering::SeqCst) <= stop_after + 2);
    }
}

#[test]
fn a_precomputed_kernel_must_be_square() {
    let (X, labels) = clouds::<f64>(4, 30, 2, 1);
    let params = pipeline::<f64>(Kernel::Precomputed, [8, 8, 4, 2]);
    let error = fit_error(&params, &X, &labels);
    assert_eq!(error.to_string(), "precomputed kernel rows has size 4, but must be 30");
}

#[test]
fn fddl_meets_bad_and_awkward_input_as_the_others_do() {
    let (X, labels) = clouds::<f64>(4, 30, 2, 1);
    let pipeline = |method| LkdlParams {
        prepare: PrepareParams::default(),
        map: pipeline::<f64>(GAUSSIAN, [8, 8, 4, 2]).map,
        method,
        memory: None,
    };
    for form in [FddlForm::Full, FddlForm::Simplified] {
        let fddl = || FddlParams::<f64> { form, n_atoms: 4, max_iters: 2, ..Default::default() };
        let refused = |method| match pipeline(method).fit(X.as_ref(), &labels) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("fitted"),
        };
        let negative = FddlParams { l1_weight: -1.0, ..fddl() };
        assert_eq!(refused(negative), "l1_weight is -1, but must be a finite number >= 0");
        let negative = FddlParams { scatter_weight: -0.5, ..fddl() };
        assert_eq!(refused(negative), "scatter_weight is -0.5, but must be a finite number >= 0");
        let none = FddlParams { n_atoms: 0, ..fddl() };
        assert_eq!(refused(none), "n_atoms is 0, but must be at least 1");
        // A class of one sample, and one class for all.
        let mut single = labels.clone();
        single[29] = 2;
        for (labels, n_classes) in [(single, 3), (vec![0; 30], 1)] {
            let model = pipeline(fddl()).fit(X.as_ref(), &labels).unwrap();
            assert_sound(&model.predict(X.as_ref()).unwrap(), 30, n_classes);
        }
        // The budget is that of the plan, dense codes included.
        let mut params = pipeline(fddl());
        let plan = params.memory_plan::<f64>(4, &[15, 15]).unwrap();
        params.memory = Some(plan.peak().bytes);
        assert!(params.fit(X.as_ref(), &labels).is_ok());
        params.memory = Some(1000);
        assert!(matches!(params.fit(X.as_ref(), &labels), Err(LkdlError::Memory { .. })));
    }
}

#[test]
fn a_budget_too_small_is_an_error_with_both_numbers() {
    let (X, labels) = clouds::<f64>(4, 400, 2, 1);
    let refused = |params: &Params<f64>| {
        let error = fit_error(params, &X, &labels);
        assert!(matches!(error, LkdlError::Memory { budget: 1000, need, .. } if need > 1000));
        assert!(error.to_string().contains("the memory budget is 1000 bytes"), "{error}");
    };
    for sampler in [Sampler::default(), Sampler::RpCholesky, Sampler::GreedyCholesky] {
        let mut params = pipeline::<f64>(GAUSSIAN, [10, 8, 4, 2]);
        let tight = NystroemParams { sampler, memory: Some(1000), ..map_of(&params) };
        params.map = MapParams::Nystroem(tight.clone());
        refused(&params);
        params.map = MapParams::Nystroem(NystroemParams { memory: Some(u64::MAX), ..tight });
        params.fit(X.as_ref(), &labels).unwrap();
    }
    let maps = [
        pipeline::<f64>(GAUSSIAN, [10, 8, 4, 2]).map,
        MapParams::Nystroem(NystroemParams::default()),
        MapParams::None,
        MapParams::Fourier(FourierParams { sigma: 1.0, rank: 8, seed: 0 }),
        MapParams::Fastfood(FastfoodParams { sigma: 1.0, rank: 8, seed: 0 }),
    ];
    for map in maps {
        let mut params = LkdlParams { map, ..pipeline::<f64>(GAUSSIAN, [10, 8, 4, 2]) };
        for budget in [0, 1000] {
            params.memory = Some(budget);
            let error = fit_error(&params, &X, &labels);
            assert!(matches!(error, LkdlError::Memory { budget: b, .. } if b == budget));
        }
        refused(&params);
        // What the plan asks for is enough.
        params.memory = None;
        let plan = params.memory_plan::<f64>(4, &[200, 200]).unwrap();
        params.memory = Some(plan.peak().bytes);
        assert_sound(
            &params.fit(X.as_ref(), &labels).unwrap().predict(X.as_ref()).unwrap(),
            400,
            2,
        );
    }
}
