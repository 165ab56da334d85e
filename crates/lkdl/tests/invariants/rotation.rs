//! Everything after the map uses inner products only: F and QF (Q orthogonal) give the same codes,
//! residuals and labels, so any factor of the Nyström matrix will do.

use crate::common::normal;
use faer::Mat;
use lkdl::dictionary::AtomUpdate;
use lkdl::map::Indefinite;
use lkdl::prelude::*;
use lkdl::pursuit::lasso::{LassoParams, Solver};
use lkdl::pursuit::{BasisPursuitParams, MatchingPursuitParams, OmpParams};

/// 600 digits to learn from and 400 others.
fn digits<T: Real>() -> (Mat<T>, Vec<usize>, Mat<T>) {
    let set = lkdl_data::digits().unwrap();
    let part = |from: usize, to: usize| set.subset(&(from..to).collect::<Vec<_>>()).unwrap();
    let (train, test) = (part(0, 600), part(600, 1000));
    let labels = train.labels.iter().map(|&l| l as usize).collect();
    (train.convert(), labels, test.convert())
}

fn orthogonal<T: Real>(n: usize) -> Mat<T> {
    let U = normal::<f64>(n, n, 3).thin_svd().unwrap().U().to_owned();
    Mat::from_fn(n, n, |i, j| T::of(U[(i, j)]))
}

fn nystroem(variant: Variant, centered: bool) -> NystroemParams {
    NystroemParams {
        kernel: Kernel::Polynomial { degree: 2.0, offset: 0.0 },
        n_landmarks: LandmarkCount::Exact(40),
        rank: Rank::Exact(40),
        variant,
        centered,
        indefinite: Indefinite::Reject,
        seed: 2,
        ..Default::default()
    }
}

fn params<T: Real, P: Learner<T>>(
    map: NystroemParams,
    learner: P,
) -> LkdlParams<ClassDictionariesParams<P>> {
    LkdlParams {
        prepare: PrepareParams { steps: vec![Step::CenterSample, Step::UnitNorm] },
        map: MapParams::Nystroem(map),
        method: ClassDictionariesParams { learner, sparsity: 3 },
        memory: None,
    }
}

fn ksvd<T: Real>(update: AtomUpdate) -> KsvdParams<T> {
    KsvdParams { n_atoms: 20, sparsity: 3, max_iters: 3, update, ..Default::default() }
}

fn optimal_directions<T: Real>() -> ModParams<T> {
    ModParams { n_atoms: 20, sparsity: 3, max_iters: 3, ..Default::default() }
}

/// The same pipeline with the virtual samples turned by Q: P becomes PQᵀ.
fn rotated<T: Real, P: Learner<T>>(
    params: &LkdlParams<ClassDictionariesParams<P>>,
    model: &Lkdl<T, ClassDictionaries<T>>,
    samples: &Mat<T>,
    labels: &[usize],
) -> Lkdl<T, ClassDictionaries<T>> {
    let FeatureMap::Nystroem(map) = model.map() else { panic!("a Nyström map was asked for") };
    let Q = orthogonal::<T>(map.rank());
    let P = map.projection() * Q.transpose();
    let mean = Mat::from_fn(map.mean().len(), 1, |i, _| map.mean()[i]);
    let mean = if map.mean().is_empty() { mean } else { &Q * mean };
    let turned =
        NystroemMap::from_parts(map.panel().clone(), P.as_ref(), mean.col_as_slice(0), &[])
            .unwrap();
    let prepared = model.preparation().apply(samples.as_ref()).unwrap().samples;
    let F = turned.transform(prepared.as_ref()).unwrap();
    let classifier = params.method.train(F.as_ref(), labels).unwrap();
    Lkdl::from_parts(
        model.preparation().clone(),
        FeatureMap::Nystroem(Box::new(turned)),
        classifier,
    )
}

/// Codes of `new` over every class dictionary: supports equal, values and residuals close.
fn same_codes(
    a: &Lkdl<f64, ClassDictionaries<f64>>,
    b: &Lkdl<f64, ClassDictionaries<f64>>,
    new: &Mat<f64>,
) {
    let (F, G) = (a.transform(new.as_ref()).unwrap(), b.transform(new.as_ref()).unwrap());
    for (one, other) in a.classifier().learned().iter().zip(b.classifier().learned()) {
        let target = Target::Sparsity(3);
        let (one, other) =
            (one.encode(F.as_ref(), target).unwrap(), other.encode(G.as_ref(), target).unwrap());
        assert_eq!(one.codes.parts().1, other.codes.parts().1);
        for (x, y) in one.codes.parts().2.iter().zip(other.codes.parts().2) {
            assert!((x - y).abs() < 1e-6, "{x} {y}");
        }
        for (x, y) in one.sq_residuals.iter().zip(&other.sq_residuals) {
            assert!((x - y).abs() < 1e-6, "{x} {y}");
        }
    }
}

fn turning_changes_nothing<P: Learner<f64>>(learner: P, centered: bool) {
    let (X, labels, new) = digits::<f64>();
    let params = params(nystroem(Variant::Standard, centered), learner);
    let model = params.fit(X.as_ref(), &labels).unwrap();
    let turned = rotated(&params, &model, &X, &labels);
    let (F, G) = (model.transform(new.as_ref()).unwrap(), turned.transform(new.as_ref()).unwrap());
    assert!((&F - &G).norm_l2() > 0.5 * F.norm_l2(), "Q must move the virtual samples");
    same_codes(&model, &turned, &new);
    let (a, b) = (model.predict(new.as_ref()).unwrap(), turned.predict(new.as_ref()).unwrap());
    assert_eq!(a.labels, b.labels);
    assert!((&a.scores - &b.scores).norm_max() < 1e-6);
}

#[test]
fn turned_virtual_samples_give_the_same_codes_residuals_and_labels() {
    for centered in [false, true] {
        turning_changes_nothing(ksvd(AtomUpdate::Approximate), centered);
        turning_changes_nothing(ksvd(AtomUpdate::Exact), centered);
        turning_changes_nothing(optimal_directions(), centered);
    }
}

#[test]
fn in_single_precision_turning_changes_hardly_a_label() {
    // Rounding may decide a close call of a pursuit the other way; 1 % of the labels may differ.
    let (X, labels, new) = digits::<f32>();
    let params = params(nystroem(Variant::Standard, false), ksvd(AtomUpdate::Approximate));
    let model = params.fit(X.as_ref(), &labels).unwrap();
    let turned = rotated(&params, &model, &X, &labels);
    let (a, b) = (model.predict(new.as_ref()).unwrap(), turned.predict(new.as_ref()).unwrap());
    let changed = a.labels.iter().zip(&b.labels).filter(|(a, b)| a != b).count();
    assert!(changed <= 4, "{changed} of 400 labels changed");
}

#[test]
fn cholesky_and_eigen_factors_of_one_matrix_give_the_same_labels() {
    let (X, labels, new) = digits::<f64>();
    let fit = |variant| {
        let params = params(nystroem(variant, false), ksvd(AtomUpdate::Approximate));
        params.fit(X.as_ref(), &labels).unwrap()
    };
    let eigen = fit(Variant::Standard);
    let expected = eigen.predict(new.as_ref()).unwrap();
    for variant in [Variant::Cholesky, Variant::Optimal] {
        let other = fit(variant);
        same_codes(&eigen, &other, &new);
        let predictions = other.predict(new.as_ref()).unwrap();
        assert_eq!(predictions.labels, expected.labels, "{variant:?}");
        assert!((&predictions.scores - &expected.scores).norm_max() < 1e-6, "{variant:?}");
    }
}

type Encode<T> = Box<dyn Fn(&Mat<T>, &Mat<T>) -> Encoded<T>>;

/// Coders by name that end after finitely many steps: rounding alone tells two runs apart.
fn finite_coders<T: Real>() -> Vec<(String, Encode<T>)> {
    let omp = OmpParams { target: Target::Sparsity(5) };
    let error = OmpParams { target: Target::Error { norm: 0.5, max_atoms: None } };
    let mp = MatchingPursuitParams { max_steps: 12, error_norm: 0.0 };
    let mut coders: Vec<(String, Encode<T>)> =
        vec![("MP".into(), Box::new(move |D, X| mp.encode(D.as_ref(), X.as_ref()).unwrap()))];
    for params in [omp, error] {
        let target = params.target;
        let plain = move |D: &Mat<T>, X: &Mat<T>| params.encode(D.as_ref(), X.as_ref()).unwrap();
        let batch = move |D: &Mat<T>, X: &Mat<T>| {
            BatchOmp::new(D.as_ref()).unwrap().encode(X.as_ref(), target).unwrap()
        };
        coders.push((format!("OMP {target:?}"), Box::new(plain)));
        coders.push((format!("Batch-OMP {target:?}"), Box::new(batch)));
    }
    coders.push(lasso(Solver::Lars));
    coders
}

/// Coders by name that come as close as they are asked to.
fn iterative_coders<T: Real>() -> Vec<(String, Encode<T>)> {
    let basis_pursuit = |D: &Mat<T>, X: &Mat<T>| {
        BasisPursuitParams::default().encode(D.as_ref(), X.as_ref()).unwrap().encoded
    };
    vec![
        ("basis pursuit".into(), Box::new(basis_pursuit)),
        lasso(Solver::CoordinateDescent),
        lasso(Solver::Fista),
    ]
}

fn lasso<T: Real>(solver: Solver) -> (String, Encode<T>) {
    let params = LassoParams { solver, tolerance: 1e-12, ..LassoParams::default() };
    let encode =
        move |D: &Mat<T>, X: &Mat<T>| params.encode(D.as_ref(), X.as_ref()).unwrap().encoded;
    (format!("lasso {solver:?}"), Box::new(encode))
}

fn see_inner_products_only<T: Real>(coders: Vec<(String, Encode<T>)>, supports: bool, tol: f64) {
    let (D, X, Q) = (normal::<T>(16, 40, 1), normal::<T>(16, 60, 2), orthogonal::<T>(16));
    let (QD, QX) = (&Q * &D, &Q * &X);
    for (name, encode) in coders {
        let (plain, turned) = (encode(&D, &X), encode(&QD, &QX));
        if supports {
            assert_eq!(plain.codes.parts().1, turned.codes.parts().1, "{name} {}", T::NAME);
        }
        let gap = (plain.codes.to_dense() - turned.codes.to_dense()).norm_max().wide();
        assert!(gap < tol, "{name} {}: {gap:e}", T::NAME);
        for (a, b) in plain.sq_residuals.iter().zip(&turned.sq_residuals) {
            assert!((a - b).abs() < tol * 16.0, "{name} {}: {a} {b}", T::NAME);
        }
    }
}

#[test]
fn every_coder_sees_inner_products_only() {
    see_inner_products_only::<f64>(finite_coders(), true, 1e-9);
    see_inner_products_only::<f32>(finite_coders(), false, 1e-3);
    // to a gap of 1e-12, whose square root is how far codes may be off
    see_inner_products_only::<f64>(iterative_coders(), false, 1e-6);
    see_inner_products_only::<f32>(iterative_coders(), false, 1e-3);
}
