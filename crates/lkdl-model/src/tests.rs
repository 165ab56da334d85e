//! Models survive the file bit for bit; anything else in the file is an error that says what.

use crate::{
    AnyModel, Card, Classifier, DataRecord, Element, ModelError, Pipeline, custom_kernel,
    from_bytes, from_bytes_with_kernel, to_bytes, to_bytes_without_kernel,
};
use faer::Mat;
use lkdl::exact::KernelSrcParams;
use lkdl::map::fastfood::FastfoodParams;
use lkdl::map::fourier::FourierParams;
use lkdl::prelude::*;
use proptest::prelude::*;

fn samples<T: Real>() -> (Mat<T>, Vec<usize>) {
    let X = Mat::from_fn(5, 40, |t, i| {
        T::of(((3 * t + 7 * i) % 11) as f64 / 11.0 + (i % 2 * t) as f64 + 0.1)
    });
    (X, (0..40).map(|i| i % 2).collect())
}

fn nystroem(kernel: Kernel) -> MapParams {
    MapParams::Nystroem(NystroemParams {
        kernel,
        n_landmarks: LandmarkCount::Exact(12),
        rank: Rank::Exact(5),
        centered: true,
        ..Default::default()
    })
}

fn fitted<T: Element>(map: MapParams, prepare: &str) -> Pipeline<T> {
    let (X, labels) = samples::<T>();
    let params = LkdlParams {
        prepare: prepare.parse().unwrap(),
        map,
        method: ClassDictionariesParams {
            learner: KsvdParams { n_atoms: 4, sparsity: 2, ..Default::default() },
            sparsity: 2,
        },
        memory: None,
    };
    params.fit(X.as_ref(), &labels).unwrap().map_classifier(Classifier::from)
}

fn card() -> Card {
    Card {
        class_names: vec!["yes".into(), "nö \"quoted\"".into()],
        seed: u64::MAX,
        data: DataRecord {
            name: "tiny".into(),
            checksum: "ab".into(),
            n_samples: 40,
            feature_names: Some(["a", "b", "c", "d", "e"].map(String::from).into()),
            image_shape: Some((1, 5)),
            index_base: Some(0),
        },
        settings: [("kernel".to_string(), "gaussian".to_string())].into(),
    }
}

fn maps() -> Vec<MapParams> {
    vec![
        MapParams::None,
        nystroem(Kernel::Polynomial { degree: 2.0, offset: 0.1 }),
        nystroem(Kernel::Normalized(Box::new(Kernel::Chi2Exponential { rate: 1.0 / 3.0 }))),
        MapParams::Fourier(FourierParams { sigma: 1.5, rank: 8, seed: 1 }),
        MapParams::Fastfood(FastfoodParams { sigma: 1.5, rank: 8, seed: 1 }),
    ]
}

fn survives<T: Element>(unwrap: impl Fn(AnyModel) -> Pipeline<T>) {
    let (X, _) = samples::<T>();
    for map in maps() {
        for prepare in ["none", "standardize"] {
            if prepare == "standardize"
                && matches!(&map, MapParams::Nystroem(m) if m.kernel.to_string().contains("chi2"))
            {
                continue; // negative values
            }
            let model = fitted::<T>(map.clone(), prepare);
            let bytes = to_bytes(&model, &card()).unwrap();
            assert_eq!(bytes, to_bytes(&model, &card()).unwrap(), "equal models are equal files");
            let again = unwrap(from_bytes(&bytes).unwrap());
            let (a, b) = (model.predict(X.as_ref()).unwrap(), again.predict(X.as_ref()).unwrap());
            assert_eq!(a.labels, b.labels);
            assert!(a.scores == b.scores && a.margins == b.margins, "{map:?}");
            assert_eq!(bytes, to_bytes(&again, &card()).unwrap().as_slice());
        }
    }
}

#[test]
fn every_map_and_precision_survives_bit_for_bit() {
    survives::<f64>(|model| match model {
        AnyModel::F64(saved) => {
            assert_eq!(saved.card, card());
            saved.pipeline
        }
        AnyModel::F32(_) => panic!(),
    });
    survives::<f32>(|model| match model {
        AnyModel::F32(saved) => saved.pipeline,
        AnyModel::F64(_) => panic!(),
    });
}

/// Classifiers of every method, trained on the same samples.
fn classifiers<T: Element>() -> Vec<Classifier<T>> {
    let (X, labels) = samples::<T>();
    let X = X.as_ref();
    let kernel = Kernel::Normalized(Box::new(Kernel::Polynomial { degree: 2.0, offset: 0.5 }));
    let learner = KernelKsvdParams { n_atoms: 4, sparsity: 2, ..Default::default() };
    let kernel_dictionaries =
        KernelDictionariesParams { kernel: kernel.clone(), learner, sparsity: 2, memory: None };
    let lc = |variant| LcKsvdParams {
        variant,
        n_atoms: 7,
        sparsity: 3,
        sqrt_alpha: 1.0,
        sqrt_beta: 0.5,
        max_iters: 3,
        ..Default::default()
    };
    let fddl =
        |form, rule| FddlParams::<T> { form, rule, n_atoms: 3, max_iters: 2, ..Default::default() };
    let global = FddlRule::Global { l1_weight: 0.1, mean_weight: 0.01 };
    let codings = [SrcCoding::Omp { sparsity: 3 }, SrcCoding::Lasso { relative_penalty: 0.2 }];
    let mut all: Vec<Classifier<T>> = vec![
        kernel_dictionaries.train(X, &labels).unwrap().into(),
        lc(LcVariant::Lc1).train(X, &labels).unwrap().into(),
        lc(LcVariant::Lc2).train(X, &labels).unwrap().into(),
        lc(LcVariant::Discriminative).train(X, &labels).unwrap().into(),
        fddl(FddlForm::Full, global).train(X, &labels).unwrap().into(),
        fddl(FddlForm::Simplified, FddlRule::default()).train(X, &labels).unwrap().into(),
    ];
    for coding in codings {
        let src = SrcParams { coding, ..Default::default() };
        all.push(src.train(X, &labels).unwrap().into());
        let kernel_src = KernelSrcParams { kernel: kernel.clone(), coding };
        all.push(kernel_src.train(X, &labels).unwrap().into());
    }
    all
}

fn every_method_survives<T: Element>(unwrap: impl Fn(AnyModel) -> Pipeline<T>) {
    let (X, _) = samples::<T>();
    let mut methods = Vec::new();
    for classifier in classifiers::<T>() {
        let (method, n_atoms) = (classifier.method(), classifier.n_atoms());
        let atoms: Option<Vec<usize>> = classifier
            .class_atoms()
            .map(|classes| classes.iter().map(|atoms| atoms.ncols()).collect());
        assert!(atoms.is_none_or(|atoms| atoms == n_atoms), "{method}");
        assert_eq!((n_atoms.len(), classifier.n_features()), (2, 5), "{method}");
        let preparation = PrepareParams::default().fit(X.as_ref()).unwrap();
        let model = Lkdl::from_parts(preparation, FeatureMap::Identity, classifier);
        let bytes = to_bytes(&model, &card()).unwrap();
        let again = unwrap(from_bytes(&bytes).unwrap());
        assert_eq!(again.classifier().method(), method);
        assert_eq!(again.classifier().n_atoms(), n_atoms, "{method}");
        let (a, b) = (model.predict(X.as_ref()).unwrap(), again.predict(X.as_ref()).unwrap());
        assert!(a.scores == b.scores && a.margins == b.margins, "{method}");
        assert_eq!(bytes, to_bytes(&again, &card()).unwrap(), "{method}");
        methods.push(method);
    }
    methods.dedup();
    methods.sort_unstable();
    methods.dedup();
    assert_eq!(methods, ["fddl", "kernel-dictionaries", "kernel-src", "lc-ksvd", "src"]);
}

#[test]
fn every_method_survives_bit_for_bit() {
    every_method_survives::<f64>(|model| match model {
        AnyModel::F64(saved) => saved.pipeline,
        AnyModel::F32(_) => panic!(),
    });
    every_method_survives::<f32>(|model| match model {
        AnyModel::F32(saved) => saved.pipeline,
        AnyModel::F64(_) => panic!(),
    });
}

/// Without its tensors or parameters no method is built, and none panics.
#[test]
fn a_method_with_a_part_missing_is_an_error_that_says_which() {
    let (X, _) = samples::<f64>();
    for classifier in classifiers::<f64>() {
        let method = classifier.method();
        let preparation = PrepareParams::default().fit(X.as_ref()).unwrap();
        let model = Lkdl::from_parts(preparation, FeatureMap::Identity, classifier);
        let bytes = to_bytes(&model, &card()).unwrap();
        let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        for name in tensors.names() {
            if name == "consistency" {
                continue; // D-KSVD has none
            }
            let without = rewritten(&bytes, |_| {}, |other| other != name);
            let error = from_bytes(&without).unwrap_err();
            assert!(error.to_string().contains(name), "{method} without {name}: {error}");
        }
        let bare = with_metadata(&bytes, |model| model["parameters"] = serde_json::json!({}));
        if !matches!(method, "lc-ksvd") {
            assert!(matches!(from_bytes(&bare), Err(ModelError::Damaged { .. })), "{method}");
        }
    }
}

/// Written by lkdl 0.1.0, before files held classifiers of other methods: it must stay readable, and
/// say the same.
#[test]
fn a_file_of_the_first_version_is_read_and_written_back_as_it_was() {
    let bytes = include_bytes!("../tests/files/class-dictionaries-0.1.0.safetensors");
    let AnyModel::F64(saved) = from_bytes(bytes).unwrap() else { panic!("its numbers are f64") };
    let classifier = saved.pipeline.classifier();
    assert_eq!(classifier.method(), "class-dictionaries");
    assert_eq!((classifier.n_classes(), classifier.sparsity()), (2, Some(2)));
    assert_eq!(classifier.class_atoms().unwrap()[1].ncols(), 3);
    assert_eq!(saved.card.class_names, ["no", "yes"]);
    assert_eq!(saved.history.len(), 2);
    let X = Mat::from_fn(3, 2, |t, i| [[1.0, 2.0, 0.5], [2.0, 1.0, 0.25]][i][t]);
    assert_eq!(saved.pipeline.predict(X.as_ref()).unwrap().labels, [1, 0]);
    assert_eq!(to_bytes(&saved.pipeline, &saved.card).unwrap(), bytes);
}

/// The file with its metadata changed, with the tensors to keep, and a checksum that fits.
fn rewritten(
    bytes: &[u8],
    change: impl Fn(&mut serde_json::Value),
    keep: impl Fn(&str) -> bool,
) -> Vec<u8> {
    let tensors = safetensors::SafeTensors::deserialize(bytes).unwrap();
    let (_, header) = safetensors::SafeTensors::read_metadata(bytes).unwrap();
    let mut entries = header.metadata().clone().unwrap();
    let mut outer: serde_json::Value = serde_json::from_str(&entries["lkdl"]).unwrap();
    change(&mut outer["model"]);
    let kept = tensors.names().into_iter().filter(|name| keep(name));
    let views: Vec<_> = kept.map(|name| (name, tensors.tensor(name).unwrap())).collect();
    outer["checksum"] = crate::tensors::checksum(&outer["model"].to_string(), views.clone()).into();
    entries.insert("lkdl".into(), outer.to_string());
    safetensors::serialize(views, Some(entries)).unwrap()
}

fn with_metadata(bytes: &[u8], change: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    rewritten(bytes, change, |_| true)
}

#[test]
fn a_custom_kernel_and_unnamed_classes_are_refused() {
    let model = fitted::<f64>(nystroem(Kernel::custom("own", |x, y| x[0] * y[0])), "none");
    let error = to_bytes(&model, &card()).unwrap_err().to_string();
    assert!(error.starts_with("the kernel custom(own) cannot be saved; "), "{error}");
    let model = fitted::<f64>(MapParams::None, "none");
    let unnamed = Card { class_names: vec!["one".into()], ..card() };
    assert!(matches!(to_bytes(&model, &unnamed), Err(ModelError::Unsaveable { .. })));
}

#[test]
fn a_custom_kernel_may_be_kept_beside_the_bytes() {
    let own = Kernel::custom("own", |x, y| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>());
    let normalized = Kernel::Normalized(Box::new(own.clone()));
    for kernel in [own.clone(), normalized] {
        let model = fitted::<f64>(nystroem(kernel), "none");
        assert_eq!(custom_kernel(&model).unwrap().name(), "own");
        let bytes = to_bytes_without_kernel(&model, &card()).unwrap();
        let AnyModel::F64(back) = from_bytes_with_kernel(&bytes, &own).unwrap() else { panic!() };
        let X = samples::<f64>().0;
        let scores = |of: &Pipeline<f64>| of.predict(X.as_ref()).unwrap().scores;
        assert_eq!(scores(&back.pipeline), scores(&model));
        let error = from_bytes(&bytes).unwrap_err().to_string();
        assert!(error.starts_with("the model's kernel is the function own"), "{error}");
    }
}

#[test]
fn a_newer_version_an_unknown_method_and_a_missing_tensor_are_named() {
    let bytes = to_bytes(&fitted::<f64>(maps()[1].clone(), "none"), &card()).unwrap();
    let newer = with_metadata(&bytes, |m| {
        m["format_version"] = 7.into();
        m["library_version"] = "9.9.9".into();
    });
    let error = from_bytes(&newer).unwrap_err().to_string();
    assert!(error.contains("format version 7, written by lkdl 9.9.9"), "{error}");
    let other = with_metadata(&bytes, |m| m["method"] = "oracle".into());
    assert!(matches!(from_bytes(&other), Err(ModelError::Unknown { field: "method", .. })));
    let more = with_metadata(&bytes, |m| {
        m["card"]["class_names"].as_array_mut().unwrap().push("third".into());
    });
    let error = from_bytes(&more).unwrap_err().to_string();
    assert!(error.contains("tensor dictionary.2 is missing"), "{error}");
    let map = with_metadata(&bytes, |m| m["map"] = "fourier".into());
    assert!(from_bytes(&map).unwrap_err().to_string().contains("frequencies is missing"));
    let kernel = with_metadata(&bytes, |m| m["kernel"]["degree"] = (-1.0).into());
    assert!(matches!(from_bytes(&kernel), Err(ModelError::Engine(_))));
    let features = with_metadata(&bytes, |m| m["n_features"] = 6.into());
    assert!(matches!(from_bytes(&features), Err(ModelError::Engine(_))));
}

#[test]
fn other_files_are_told_apart() {
    for bytes in [&b""[..], b"PK\x03\x04", &[0xff; 64], b"label,f0\n1,2\n"] {
        assert!(matches!(from_bytes(bytes), Err(ModelError::NotAModel { .. })));
    }
    let foreign =
        safetensors::serialize(Vec::<(&str, safetensors::tensor::TensorView<'_>)>::new(), None);
    assert!(matches!(from_bytes(&foreign.unwrap()), Err(ModelError::NotAModel { .. })));
    let mut hostile = to_bytes(&fitted::<f32>(MapParams::None, "none"), &card()).unwrap();
    hostile[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(matches!(from_bytes(&hostile), Err(ModelError::NotAModel { .. })));
}

#[test]
fn a_tensor_without_entries_is_refused_whatever_its_shape_claims() {
    let bytes = to_bytes(&fitted::<f64>(MapParams::None, "none"), &card()).unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let mut entries = header.metadata().clone().unwrap();
    let mut outer: serde_json::Value = serde_json::from_str(&entries["lkdl"]).unwrap();
    let empty =
        safetensors::tensor::TensorView::new(safetensors::Dtype::F64, vec![0, 1 << 50], &[]);
    let other = tensors.tensor("dictionary.1").unwrap();
    let views = vec![("dictionary.0", empty.unwrap()), ("dictionary.1", other)];
    outer["checksum"] = crate::tensors::checksum(&outer["model"].to_string(), views.clone()).into();
    entries.insert("lkdl".into(), outer.to_string());
    let hostile = safetensors::serialize(views, Some(entries)).unwrap();
    let error = from_bytes(&hostile).unwrap_err().to_string();
    assert!(error.contains("dictionary.0 is empty"), "{error}");
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    let bytes = to_bytes(&fitted::<f32>(MapParams::None, "none"), &card()).unwrap();
    for end in 0..bytes.len() {
        assert!(from_bytes(&bytes[..end]).is_err(), "{end} of {}", bytes.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn a_flipped_bit_is_found(place in 0.0..1.0f64, bit in 0..8u32) {
        let original = to_bytes(&fitted::<f32>(maps()[1].clone(), "none"), &card()).unwrap();
        let mut bytes = original.clone();
        let at = (place * bytes.len() as f64) as usize;
        bytes[at] ^= 1 << bit;
        // a flip may turn a header's blank into another blank, never into another model
        match from_bytes(&bytes) {
            Err(_) => {}
            Ok(AnyModel::F32(saved)) => {
                prop_assert_eq!(to_bytes(&saved.pipeline, &saved.card).unwrap(), original);
            }
            Ok(AnyModel::F64(_)) => prop_assert!(false, "another precision"),
        }
    }
}
