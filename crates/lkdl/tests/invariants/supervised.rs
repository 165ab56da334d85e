//! LC-KSVD, D-KSVD and SRC behind the pipeline: on raw and on virtual samples, the same bits for any
//! number of threads, blind to rotations, and with errors that name the value.

use crate::common::{assert_sound, bits, clouds, normal};
use faer::Mat;
use lkdl::prelude::*;

const VARIANTS: [LcVariant; 3] = [LcVariant::Lc1, LcVariant::Lc2, LcVariant::Discriminative];
const CODINGS: [SrcCoding; 2] =
    [SrcCoding::Omp { sparsity: 3 }, SrcCoding::Lasso { relative_penalty: 0.1 }];

fn lc_ksvd(variant: LcVariant) -> LcKsvdParams {
    LcKsvdParams {
        variant,
        n_atoms: 13,
        sparsity: 3,
        sqrt_alpha: 0.5,
        sqrt_beta: 0.5,
        class_iters: 2,
        shared_iters: 2,
        max_iters: 3,
        ..Default::default()
    }
}

fn src(coding: SrcCoding) -> SrcParams {
    SrcParams { coding, ..Default::default() }
}

fn gaussian(n_landmarks: usize, rank: usize, centered: bool) -> MapParams {
    MapParams::Nystroem(NystroemParams {
        kernel: Kernel::Gaussian { sigma: 1.0 },
        n_landmarks: LandmarkCount::Exact(n_landmarks),
        rank: Rank::Exact(rank),
        centered,
        seed: 3,
        ..Default::default()
    })
}

fn pipeline<M>(map: MapParams, method: M) -> LkdlParams<M> {
    LkdlParams { prepare: PrepareParams { steps: vec![Step::UnitNorm] }, map, method, memory: None }
}

/// Scores and margins as bits, the same in pools of 1, 2, 3 and 8 threads.
fn same_bits<T: Real, M: Train<T> + Sync>(params: &LkdlParams<M>) {
    let ((X, labels), (new, _)) = (clouds::<T>(6, 300, 3, 1), clouds::<T>(6, 270, 3, 2));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let model = params.fit(X.as_ref(), &labels).unwrap();
            let predictions = model.predict(new.as_ref()).unwrap();
            assert_sound(&predictions, 270, 3);
            (bits(predictions.scores.as_ref()), predictions.margins)
        })
    };
    let one = run(1);
    for threads in [2, 3, 8] {
        assert!(run(threads) == one, "{threads} threads, {}", T::NAME);
    }
}

#[test]
fn pipelines_give_the_same_bits_for_any_number_of_threads() {
    for map in [MapParams::None, gaussian(24, 16, false), gaussian(24, 16, true)] {
        for variant in VARIANTS {
            same_bits::<f64, _>(&pipeline(map.clone(), lc_ksvd(variant)));
            same_bits::<f32, _>(&pipeline(map.clone(), lc_ksvd(variant)));
        }
        for coding in CODINGS {
            same_bits::<f64, _>(&pipeline(map.clone(), src(coding)));
            same_bits::<f32, _>(&pipeline(map.clone(), src(coding)));
        }
        let without_gram = SrcParams { max_gram: 0, ..src(CODINGS[0]) };
        same_bits::<f64, _>(&pipeline(map.clone(), without_gram));
    }
}

/// Training and test samples turned by one orthogonal matrix give the same scores.
fn turning_changes_nothing<M: Train<f64>>(method: &M) {
    let ((X, labels), (new, _)) = (clouds::<f64>(9, 150, 3, 4), clouds::<f64>(9, 80, 3, 5));
    let Q = normal::<f64>(9, 9, 3).thin_svd().unwrap().U().to_owned();
    let scores = |X: &Mat<f64>, new: &Mat<f64>| {
        method.train(X.as_ref(), &labels).unwrap().classify(new.as_ref()).unwrap().scores
    };
    let gap = (scores(&X, &new) - scores(&(&Q * &X), &(&Q * &new))).norm_max();
    assert!(gap < 1e-6, "{gap:e}");
}

#[test]
fn only_inner_products_matter() {
    for variant in VARIANTS {
        turning_changes_nothing(&lc_ksvd(variant));
    }
    for coding in CODINGS {
        turning_changes_nothing(&src(coding));
    }
}

#[test]
fn two_rings_are_told_apart_on_virtual_samples_only() {
    let samples = Mat::from_fn(2, 200, |t, i| {
        // both rings at the same angles: direction says nothing
        let (angle, radius) = ((i / 2) as f64, 1.0 + (i % 2) as f64);
        radius * if t == 0 { angle.cos() } else { angle.sin() }
    });
    let labels: Vec<usize> = (0..200).map(|i| i % 2).collect();
    let halves = (samples.subcols(0, 100), samples.subcols(100, 100));
    fn accuracy<M: Train<f64>>(
        map: MapParams,
        method: M,
        (learn, test): (faer::MatRef<'_, f64>, faer::MatRef<'_, f64>),
        labels: &[usize],
    ) -> f64 {
        let prepare = PrepareParams::default();
        let params = LkdlParams { prepare, map, method, memory: None };
        let model = params.fit(learn, &labels[..100]).unwrap();
        model.predict(test).unwrap().accuracy(&labels[100..]).unwrap()
    }
    for variant in VARIANTS {
        let method = || lc_ksvd(variant);
        let kernel = accuracy(gaussian(60, 40, false), method(), halves, &labels);
        let linear = accuracy(MapParams::None, method(), halves, &labels);
        assert!(kernel > 0.95 && linear < 0.7, "{variant:?}: {kernel} {linear}");
    }
    for coding in CODINGS {
        for centered in [false, true] {
            let kernel = accuracy(gaussian(60, 40, centered), src(coding), halves, &labels);
            assert!(kernel > 0.95, "{coding:?}: {kernel}");
        }
        let linear = accuracy(MapParams::None, src(coding), halves, &labels);
        assert!(linear < 0.7, "{coding:?}: {linear}");
    }
}

#[test]
fn bad_labels_and_parameters_are_named_through_the_pipeline() {
    let (X, labels) = clouds::<f64>(5, 30, 3, 1);
    let error = |method: LcKsvdParams, labels: &[usize]| {
        pipeline(MapParams::None, method).fit(X.as_ref(), labels).unwrap_err().to_string()
    };
    let few = LcKsvdParams { n_atoms: 2, sparsity: 1, ..lc_ksvd(LcVariant::Lc2) };
    assert!(error(few, &labels).contains("at least 1 for each of the 3 classes"));
    let negative = LcKsvdParams { sqrt_alpha: -4.0, ..lc_ksvd(LcVariant::Lc1) };
    assert!(error(negative, &labels).starts_with("sqrt_alpha is -4"));
    let mut gap = labels.clone();
    gap.iter_mut().for_each(|label| *label *= 2);
    let text = error(lc_ksvd(LcVariant::Lc2), &gap);
    assert_eq!(text, "class 1 has no sample; drop the label or give it samples");
    let text = pipeline(MapParams::None, src(CODINGS[0])).fit(X.as_ref(), &gap).unwrap_err();
    assert!(matches!(text, LkdlError::EmptyClass { class: 1 }));
}

#[test]
fn single_classes_and_single_samples_are_learned() {
    let (X, mut labels) = clouds::<f64>(5, 30, 3, 1);
    labels[29] = 3; // a class of one sample
    for labels in [labels, vec![0; 30]] {
        let n_classes = labels.iter().max().unwrap() + 1;
        for variant in VARIANTS {
            for (sqrt_alpha, sqrt_beta) in [(0.5, 0.5), (0.0, 0.5), (0.5, 0.0), (0.0, 0.0)] {
                let method = LcKsvdParams { sqrt_alpha, sqrt_beta, ..lc_ksvd(variant) };
                let model = pipeline(MapParams::None, method).fit(X.as_ref(), &labels).unwrap();
                assert_sound(&model.predict(X.as_ref()).unwrap(), 30, n_classes);
            }
        }
        for coding in CODINGS {
            let model = pipeline(MapParams::None, src(coding)).fit(X.as_ref(), &labels).unwrap();
            let predictions = model.predict(X.as_ref()).unwrap();
            assert_sound(&predictions, 30, n_classes);
            assert_eq!(predictions.labels, labels);
        }
    }
}

#[test]
fn budgets_are_kept_or_refused_before_the_fit() {
    let (X, labels) = clouds::<f64>(20, 400, 2, 1);
    fn peak<M: Train<f64>>(params: &LkdlParams<M>) -> u64 {
        params.memory_plan::<f64>(20, &[200, 200]).unwrap().peak().bytes
    }
    let with_gram = pipeline(MapParams::None, src(CODINGS[0]));
    let without = pipeline(MapParams::None, SrcParams { max_gram: 0, ..src(CODINGS[0]) });
    let budget = peak(&without);
    assert!(peak(&with_gram) > budget + 2 * 400 * 400 * 8);
    let refused = LkdlParams { memory: Some(budget), ..with_gram }.fit(X.as_ref(), &labels);
    assert!(matches!(refused, Err(LkdlError::Memory { .. })));
    assert!(LkdlParams { memory: Some(budget), ..without }.fit(X.as_ref(), &labels).is_ok());
    let lc = pipeline(MapParams::None, lc_ksvd(LcVariant::Lc2));
    assert!(peak(&lc) >= 2 * 22 * 400 * 8);
    let refused = LkdlParams { memory: Some(100_000), ..lc }.fit(X.as_ref(), &labels);
    assert!(matches!(refused, Err(LkdlError::Memory { .. })));
}

#[test]
fn a_fit_can_be_stopped_and_reports_no_more_steps_than_it_said() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    #[derive(Default)]
    struct Watch {
        announced: AtomicUsize,
        steps: AtomicUsize,
        stop_after: Option<usize>,
    }
    impl Monitor for Watch {
        fn begin(&self, _: &'static str, steps: usize) {
            self.announced.store(steps, Ordering::SeqCst);
        }
        fn advance(&self, steps: usize) {
            self.steps.fetch_add(steps, Ordering::SeqCst);
        }
        fn cancelled(&self) -> bool {
            self.stop_after.is_some_and(|after| self.steps.load(Ordering::SeqCst) >= after)
        }
    }
    let (X, labels) = clouds::<f64>(5, 60, 3, 1);
    let params = lc_ksvd(LcVariant::Lc2);
    let watch = Watch::default();
    params.train_monitored(X.as_ref(), &labels, &watch).unwrap();
    let (announced, steps) = (&watch.announced, &watch.steps);
    assert_eq!(announced.load(Ordering::SeqCst), 3 * 2 + 2 + 3);
    assert_eq!(steps.load(Ordering::SeqCst), 3 * 2 + 2 + 3);
    for stop_after in [0, 5, 8] {
        let watch = Watch { stop_after: Some(stop_after), ..Watch::default() };
        let stopped = params.train_monitored(X.as_ref(), &labels, &watch);
        assert!(matches!(stopped, Err(LkdlError::Cancelled)), "{stop_after}");
    }
}
