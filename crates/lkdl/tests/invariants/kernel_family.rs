//! The exact kernel methods against what they must equal: LKDL with every sample a landmark (the
//! paper's section IV), the linear methods for a linear kernel, and themselves from a model file.

use crate::common::{assert_sound, clouds, normal};
use faer::{Mat, MatRef};
use lkdl::classify::{GramDictionariesParams, GramSrc};
use lkdl::dictionary::{AtomOrder, AtomUpdate, InitialWeights, KernelModParams, KernelUpdate};
use lkdl::exact::{KernelDictionaries, KernelDictionariesParams};
use lkdl::prelude::*;
use lkdl::pursuit::KernelOmp;

/// A kernel of full rank and unit diagonal.
fn kernel() -> Kernel {
    Kernel::Normalized(Box::new(Kernel::Polynomial { degree: 3.0, offset: 1.0 }))
}

fn gram(kernel: &Kernel, X: &Mat<f64>) -> Mat<f64> {
    Panel::new(kernel, X.as_ref()).unwrap().gram().unwrap()
}

/// Virtual samples with FᵀF = K: every sample a landmark, all directions kept.
fn virtual_samples(kernel: Kernel, X: &Mat<f64>) -> Mat<f64> {
    let n = X.ncols();
    let params = NystroemParams {
        kernel,
        sampler: Sampler::Given((0..n).collect()),
        n_landmarks: LandmarkCount::Exact(n),
        rank: Rank::Exact(n),
        ..Default::default()
    };
    params.fit(X.as_ref()).unwrap().transform(X.as_ref()).unwrap()
}

/// Every third sample, as an atom of virtual samples and as weights.
fn starts(F: &Mat<f64>, n_atoms: usize) -> (Mat<f64>, Mat<f64>) {
    let n = F.ncols();
    let A = Mat::from_fn(n, n_atoms, |i, j| f64::from(i == 3 * j % n));
    (F * &A, A)
}

/// Codes of all samples over both dictionaries agree.
#[track_caller]
fn same_codes(K: &Mat<f64>, F: &Mat<f64>, A: MatRef<'_, f64>, D: MatRef<'_, f64>) {
    let target = Target::Sparsity(4);
    let n = K.ncols();
    let own: Vec<f64> = (0..n).map(|i| K[(i, i)]).collect();
    let kernel = KernelOmp::new(K.as_ref(), A).unwrap();
    let kernel = kernel.encode(K.as_ref(), &own, target).unwrap();
    let linear = BatchOmp::new(D).unwrap().encode(F.as_ref(), target).unwrap();
    assert_eq!(kernel.codes.parts().1, linear.codes.parts().1, "supports differ");
    for (a, b) in kernel.codes.parts().2.iter().zip(linear.codes.parts().2) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn lkdl_with_every_sample_a_landmark_is_kernel_ksvd() {
    let X = normal::<f64>(6, 90, 3);
    let (K, F) = (gram(&kernel(), &X), virtual_samples(kernel(), &X));
    let (D0, A0) = starts(&F, 30);
    let updates = [
        (AtomUpdate::Exact, KernelUpdate::Exact),
        (AtomUpdate::Approximate, KernelUpdate::Approximate),
    ];
    for (linear, kernel) in updates {
        let linear = KsvdParams {
            n_atoms: 30,
            sparsity: 4,
            max_iters: 6,
            tol: 0.0,
            update: linear,
            order: AtomOrder::Sequential,
            initial: InitialAtoms::Given(D0.clone()),
            ..Default::default()
        };
        let linear = linear.fit(F.as_ref()).unwrap();
        let kernel = KernelKsvdParams {
            n_atoms: 30,
            sparsity: 4,
            max_iters: 6,
            tol: 0.0,
            update: kernel,
            order: AtomOrder::Sequential,
            initial: InitialWeights::Given(A0.clone()),
            ..Default::default()
        };
        let kernel = kernel.fit(K.as_ref()).unwrap();
        for (a, b) in linear.errors.iter().zip(&kernel.errors) {
            assert!((a - b).abs() < 1e-8, "{:?} {:?}", linear.errors, kernel.errors);
        }
        assert_eq!((linear.n_replaced, linear.stop), (kernel.n_replaced, kernel.stop));
        assert!(linear.n_replaced > 0, "nothing was replaced, so nothing was compared");
        same_codes(&K, &F, kernel.atom_weights.as_ref(), linear.dictionary.as_ref());
    }
}

#[test]
fn lkdl_with_every_sample_a_landmark_is_kernel_mod() {
    let X = normal::<f64>(6, 90, 4);
    let (K, F) = (gram(&kernel(), &X), virtual_samples(kernel(), &X));
    let (D0, A0) = starts(&F, 30);
    let initial = InitialAtoms::Given(D0);
    let linear =
        ModParams { n_atoms: 30, sparsity: 4, max_iters: 4, initial, ..Default::default() };
    let linear = linear.fit(F.as_ref()).unwrap();
    let initial = InitialWeights::Given(A0);
    let kernel =
        KernelModParams { n_atoms: 30, sparsity: 4, max_iters: 4, initial, ..Default::default() };
    let kernel = kernel.fit(K.as_ref()).unwrap();
    for (a, b) in linear.errors.iter().zip(&kernel.errors) {
        assert!((a - b).abs() < 1e-7, "{:?} {:?}", linear.errors, kernel.errors);
    }
    same_codes(&K, &F, kernel.atom_weights.as_ref(), linear.dictionary.as_ref());
}

fn method<T: Real>(
    kernel: Kernel,
    update: KernelUpdate,
) -> KernelDictionariesParams<KernelKsvdParams<T>> {
    let learner =
        KernelKsvdParams { n_atoms: 6, sparsity: 2, max_iters: 3, update, ..Default::default() };
    KernelDictionariesParams { kernel, learner, sparsity: 2, memory: None }
}

fn pipeline<M>(method: M) -> LkdlParams<M> {
    LkdlParams {
        prepare: PrepareParams { steps: vec![Step::UnitNorm] },
        map: MapParams::None,
        method,
        memory: None,
    }
}

const UPDATES: [KernelUpdate; 3] =
    [KernelUpdate::Exact, KernelUpdate::Approximate, KernelUpdate::Reference];

#[test]
fn with_a_linear_kernel_the_pipeline_is_the_linear_one() {
    let (X, labels) = clouds::<f64>(8, 120, 3, 1);
    let learner = KsvdParams { n_atoms: 6, sparsity: 2, max_iters: 3, ..Default::default() };
    let linear = pipeline(ClassDictionariesParams { learner, sparsity: 2 });
    let linear = linear.fit(X.as_ref(), &labels).unwrap().predict(X.as_ref()).unwrap();
    let exact = pipeline(method(Kernel::Linear, KernelUpdate::Approximate));
    let exact = exact.fit(X.as_ref(), &labels).unwrap().predict(X.as_ref()).unwrap();
    assert_eq!(linear.labels, exact.labels);
    for i in 0..120 {
        for l in 0..3 {
            assert!((linear.scores[(l, i)] - exact.scores[(l, i)]).abs() < 1e-9);
        }
    }
}

#[test]
fn gram_matrices_by_hand_give_the_same_labels() {
    let (X, labels) = clouds::<f64>(8, 120, 3, 2);
    let kernel = Kernel::Gaussian { sigma: 0.7 };
    for update in UPDATES {
        let params = method::<f64>(kernel.clone(), update);
        let exact = params.train(X.as_ref(), &labels).unwrap().classify(X.as_ref()).unwrap();
        let K = gram(&kernel, &X);
        let params = GramDictionariesParams { learner: params.learner, sparsity: 2 };
        let model = params.train(K.as_ref(), &labels).unwrap();
        let by_hand = model.classify(K.as_ref(), &[1.0; 120]).unwrap();
        assert_eq!(exact.labels, by_hand.labels);
        assert_eq!((model.n_classes(), model.members(1)[0]), (3, 1));
    }
}

#[test]
fn a_model_made_again_from_its_parts_classifies_by_the_same_bits() {
    fn check<T: Real>(update: KernelUpdate) {
        let (X, labels) = clouds::<T>(8, 120, 3, 3);
        let model = method::<T>(kernel(), update).train(X.as_ref(), &labels).unwrap();
        let parts = model.classes().iter().map(|c| (c.samples().to_owned(), c.learned().clone()));
        let again =
            KernelDictionaries::from_parts(model.kernel(), parts.collect(), model.sparsity());
        let (a, b) = (model.classify(X.as_ref()).unwrap(), again.unwrap().classify(X.as_ref()));
        assert_eq!(
            crate::common::bits(a.scores.as_ref()),
            crate::common::bits(b.unwrap().scores.as_ref())
        );
        assert_sound(&a, 120, 3);
        assert!(a.accuracy(&labels).unwrap() > 0.9);
        assert_eq!(model.classes()[0].samples().ncols(), model.classes()[0].coder().n_samples());
    }
    for update in UPDATES {
        check::<f64>(update);
        check::<f32>(update);
    }
}

#[test]
fn only_samples_that_an_atom_uses_are_kept() {
    // Samples along eight axes, atoms on six of them: the others have nothing to do with any atom.
    let X = Mat::from_fn(8, 40, |t, i| if t == i % 8 { 1.0 + i as f64 / 40.0 } else { 0.0 });
    for update in [KernelUpdate::Exact, KernelUpdate::Approximate] {
        let mut params = method::<f64>(Kernel::Linear, update);
        // the first six samples, one on each of their axes
        let A = Mat::from_fn(40, 6, |i, j| f64::from(u8::from(i == j)));
        params.learner = KernelKsvdParams {
            initial: InitialWeights::Given(A),
            max_iters: 2,
            tol: 0.0,
            cleaning: None,
            ..params.learner
        };
        let model = params.train(X.as_ref(), &[0; 40]).unwrap();
        let class = &model.classes()[0];
        let axis = |i: usize| (0..8).find(|&t| class.samples()[(t, i)] != 0.0).unwrap();
        let kept: Vec<usize> = (0..class.samples().ncols()).map(axis).collect();
        let expected: Vec<usize> = (0..40).map(|i| i % 8).filter(|&t| t < 6).collect();
        assert_eq!(kept, expected, "{update:?}");
        let A = &class.learned().atom_weights;
        assert_eq!((A.nrows(), class.coder().n_samples()), (30, 30));
        assert!((0..30).all(|i| (0..6).any(|j| A[(i, j)] != 0.0)));
        // and the dictionary is that of all samples: axes in the span are met, the others are not
        let residuals = model.classify(X.as_ref()).unwrap().scores;
        for i in 0..40 {
            let left = if i % 8 < 6 { 0.0 } else { X[(i % 8, i)].powi(2) };
            assert!((residuals[(0, i)] - left).abs() < 1e-12, "{update:?}, sample {i}");
        }
    }
}

/// K of the training samples, κ(X, Z) and κ(z, z) after the mean of the training samples has been
/// taken away in the kernel's space.
fn centered(K: &Mat<f64>, cross: &Mat<f64>, own: &[f64]) -> (Mat<f64>, Mat<f64>, Vec<f64>) {
    let n = K.ncols();
    let mean = |values: &Mat<f64>, i: usize| values.col(i).sum() / n as f64;
    let means: Vec<f64> = (0..n).map(|i| mean(K, i)).collect();
    let all = means.iter().sum::<f64>() / n as f64;
    let new: Vec<f64> = (0..own.len()).map(|i| mean(cross, i)).collect();
    let K = Mat::from_fn(n, n, |i, j| K[(i, j)] - means[i] - means[j] + all);
    let cross = Mat::from_fn(n, own.len(), |j, i| cross[(j, i)] - means[j] - new[i] + all);
    let own = own.iter().zip(&new).map(|(own, new)| own - 2.0 * new + all).collect();
    (K, cross, own)
}

#[test]
fn kpca_src_is_kernel_src_on_the_centred_kernel() {
    let (X, labels) = clouds::<f64>(6, 60, 3, 5);
    let (new, _) = clouds::<f64>(6, 40, 3, 6);
    for coding in [SrcCoding::Omp { sparsity: 4 }, SrcCoding::Lasso { relative_penalty: 0.2 }] {
        let map = NystroemParams {
            kernel: kernel(),
            sampler: Sampler::Given((0..60).collect()),
            n_landmarks: LandmarkCount::Exact(60),
            rank: Rank::Exact(60),
            centered: true,
            ..Default::default()
        };
        let kpca = LkdlParams {
            prepare: PrepareParams::default(),
            map: MapParams::Nystroem(map),
            method: SrcParams { coding, ..Default::default() },
            memory: None,
        };
        let kpca = kpca.fit(X.as_ref(), &labels).unwrap();
        let virtual_samples = kpca.transform(new.as_ref()).unwrap();
        let expected = kpca.predict(new.as_ref()).unwrap();

        let panel = Panel::new(&kernel(), X.as_ref()).unwrap();
        let cross = panel.evaluate(new.as_ref()).unwrap();
        let own = kernel().diagonal(new.as_ref()).unwrap();
        let (K, cross, own) = centered(&panel.gram().unwrap(), &cross, &own);
        let model = GramSrc::new(K.as_ref(), &labels, coding).unwrap();
        let got = model.classify(cross.as_ref(), &own).unwrap();

        assert_eq!(got.labels, expected.labels, "{coding:?}");
        let mut most = 0.0f64;
        for (i, own) in own.iter().enumerate() {
            // what no training sample reaches is in every class's residual
            let beyond = own - virtual_samples.col(i).squared_norm_l2();
            most = most.max(beyond);
            for l in 0..3 {
                let gap = got.scores[(l, i)] - expected.scores[(l, i)] - beyond;
                assert!(gap.abs() < 1e-6, "{coding:?}: {gap}");
            }
        }
        assert!(most > 1e-3, "all of the new samples is reached: a weak test");
    }
}

#[test]
fn labels_that_are_all_equal_and_single_samples_are_no_failure() {
    let (X, mut labels) = clouds::<f64>(4, 30, 2, 1);
    let model = method::<f64>(kernel(), KernelUpdate::Exact).train(X.as_ref(), &[0; 30]).unwrap();
    let predictions = model.classify(X.as_ref()).unwrap();
    assert_sound(&predictions, 30, 1);
    assert!(predictions.labels.iter().all(|&l| l == 0));
    labels[29] = 2;
    for update in UPDATES {
        let model = method::<f64>(kernel(), update).train(X.as_ref(), &labels).unwrap();
        let warnings: Vec<_> = model.warnings().collect();
        assert_eq!(warnings, [(2, &Warning::FewerAtoms { wanted: 6, got: 1 })]);
        assert_sound(&model.classify(X.as_ref()).unwrap(), 30, 3);
        assert_eq!(model.classify(X.as_ref()).unwrap().labels[29], 2);
    }
}

#[test]
fn zero_samples_go_to_the_lowest_class_and_are_counted() {
    let (mut X, labels) = clouds::<f64>(4, 40, 2, 1);
    for i in [3, 17] {
        X.as_mut().col_mut(i).fill(0.0);
    }
    let homogeneous = Kernel::Polynomial { degree: 2.0, offset: 0.0 };
    for update in UPDATES {
        let model = method::<f64>(homogeneous.clone(), update).train(X.as_ref(), &labels).unwrap();
        let predictions = model.classify(X.as_ref()).unwrap();
        assert_sound(&predictions, 40, 2);
        assert_eq!((predictions.n_zero_samples, predictions.labels[3]), (2, 0));
        assert!(model.warnings().any(|w| w == (1, &Warning::ZeroSamples { count: 2 })));
    }
}

#[test]
fn what_cannot_be_used_is_named() {
    let (X, labels) = clouds::<f64>(4, 30, 2, 1);
    let train = |method: KernelDictionariesParams<KernelKsvdParams<f64>>| {
        method.train(X.as_ref(), &labels).unwrap_err()
    };
    let exact = |kernel| method::<f64>(kernel, KernelUpdate::Exact);
    let error = train(exact(Kernel::Precomputed));
    assert!(matches!(error, LkdlError::Unsupported { .. }), "{error}");
    let error = train(exact(Kernel::Gaussian { sigma: -1.0 }));
    assert!(matches!(error, LkdlError::Parameter { name: "kernel sigma", .. }), "{error}");
    let error = train(KernelDictionariesParams { sparsity: 0, ..exact(kernel()) });
    assert!(matches!(error, LkdlError::Parameter { name: "sparsity", .. }), "{error}");
    // tanh(x'y − 0.5) is indefinite on these samples
    let error = train(exact(Kernel::Sigmoid { scale: 0.5, offset: -2.0 }));
    let named = matches!(&error, LkdlError::NotGram { .. })
        || matches!(&error, LkdlError::InClass { source, .. } if matches!(**source, LkdlError::NotGram { .. }));
    assert!(named, "{error}");
    let model = exact(kernel()).train(X.as_ref(), &labels).unwrap();
    assert!(matches!(model.classify(X.as_ref().subrows(0, 3)), Err(LkdlError::Shape { .. })));
    let empty = KernelDictionaries::<f64>::from_parts(&kernel(), Vec::new(), 2);
    assert!(matches!(empty, Err(LkdlError::Empty { .. })));
    let wrong = GramDictionariesParams { learner: exact(kernel()).learner, sparsity: 2 };
    let K = gram(&kernel(), &X);
    assert!(wrong.train(K.as_ref(), &labels[..20]).is_err());
    let model = wrong.train(K.as_ref(), &labels).unwrap();
    assert!(model.classify(K.as_ref().subrows(0, 9), &[1.0; 30]).is_err());
    assert!(model.classify(K.as_ref(), &[1.0; 29]).is_err());
    assert!(model.classify(K.as_ref(), &[-1.0; 30]).is_err());
}

#[test]
fn memory_is_planned_and_refused() {
    let (X, labels) = clouds::<f64>(4, 200, 2, 1);
    let exact = method::<f64>(kernel(), KernelUpdate::Exact);
    let plan = pipeline(exact.clone()).memory_plan::<f64>(4, &[100, 100]).unwrap();
    let learn = plan.stages.last().unwrap();
    let K = 100 * 100 * 8;
    assert!(learn.stage == "learn" && learn.bytes > K, "{plan}");
    let refused = LkdlParams { memory: Some(K), ..pipeline(exact.clone()) };
    let error = refused.fit(X.as_ref(), &labels).unwrap_err();
    assert!(matches!(error, LkdlError::Memory { stage: "learn", .. }), "{error}");
    let error = KernelDictionariesParams { memory: Some(K), ..exact.clone() };
    let error = error.train(X.as_ref(), &labels).unwrap_err();
    assert!(matches!(error, LkdlError::Memory { budget, .. } if budget == K), "{error}");
    // What one class needs is too little for two: they are learned one at a time, to the same bits.
    let alone = exact.training_bytes(4, &[100, 100], 1);
    let one = KernelDictionariesParams { memory: Some(alone), ..exact.clone() };
    let (all, limited) =
        (exact.training_bytes(4, &[100, 100], 2), one.training_bytes(4, &[100; 2], 2));
    assert!(limited == alone && alone < all, "{alone} {limited} {all}");
    let scores = |params: &KernelDictionariesParams<KernelKsvdParams<f64>>| {
        let model = params.train(X.as_ref(), &labels).unwrap();
        crate::common::bits(model.classify(X.as_ref()).unwrap().scores.as_ref())
    };
    assert_eq!(scores(&one), scores(&exact));
}
