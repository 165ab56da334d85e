//! Invariants of ALGORITHMS part 5, on small problems, against naive references.
use super::*;
use crate::linalg::{convert, full_eigen};
use crate::matrix::frobenius_sq;
use crate::testing::{
    bits, close, random_matrix, random_unit_columns, same_for_any_thread_count, tolerance,
};
use crate::vector::norm_sq;
use proptest::prelude::*;
use rand::RngExt;

mod kernel;
mod streams;

fn ksvd<T: Real>(n_atoms: usize, sparsity: usize) -> KsvdParams<T> {
    KsvdParams { n_atoms, sparsity, max_iters: 5, tol: 0.0, ..Default::default() }
}

fn assert_unit<T: Real>(D: &Mat<T>) {
    for j in 0..D.ncols() {
        assert!((norm_sq(D.col_as_slice(j)) - 1.0).abs() < 32.0 * T::EPS, "atom {j}");
    }
}

/// Planted problem: m atoms, every signal q of them.
fn planted<T: Real>(p: usize, m: usize, n: usize, q: usize, seed: u64) -> (Mat<T>, Mat<T>) {
    let D = random_unit_columns::<T>(p, m, seed);
    let mut rng = crate::random::stream(seed, crate::random::Stage::Features, 1, 1);
    let weights = random_matrix::<T>(q, n, seed + 1);
    let mut X = Mat::zeros(p, n);
    for i in 0..n {
        let mut chosen = crate::random::sample_without_replacement(&mut rng, m, q);
        chosen.sort_unstable();
        for (t, &j) in chosen.iter().enumerate() {
            axpy(X.col_as_slice_mut(i), weights[(t, i)], D.col_as_slice(j));
        }
    }
    (D, X)
}

/// How many atoms of `truth` are among those learned, up to sign.
fn recovered<T: Real>(truth: &Mat<T>, learned: &Mat<T>) -> usize {
    let correlations = truth.transpose() * learned;
    let found = |j: &usize| correlations.row(*j).iter().any(|v| v.wide().abs() > 0.99);
    (0..truth.ncols()).filter(found).count()
}

fn planted_atoms_are_recovered<T: Real>(seeds: std::ops::Range<u64>) {
    // Over 20 seeds .90–1.0 of the atoms come back, .945 in the mean.
    let (mut total, n) = (0, seeds.clone().count());
    for seed in seeds {
        let (truth, X) = planted::<T>(20, 50, 1500, 3, seed);
        let params = KsvdParams { max_iters: 80, seed, ..ksvd(50, 3) };
        let found = recovered(&truth, &params.fit(X.as_ref()).unwrap().dictionary);
        assert!(found >= 45, "{} seed {seed}: {found} of 50 atoms", T::NAME);
        total += found;
    }
    assert!(total > n * 46, "{}: {total} of {} atoms", T::NAME, n * 50);
}

#[test]
fn a_planted_dictionary_is_recovered() {
    planted_atoms_are_recovered::<f64>(0..6);
    planted_atoms_are_recovered::<f32>(0..3);
}

/// K-SVD by the textbook, dense and in f64: for each atom the best rank-1 fit of its users'
/// residuals, sequential order, no cleaning.
fn naive_ksvd(X: &Mat<f64>, mut D: Mat<f64>, q: usize, iters: usize) -> (Mat<f64>, Vec<f64>) {
    let mut errors = Vec::new();
    for _ in 0..iters {
        let mut Gamma = BatchOmp::new(D.as_ref())
            .unwrap()
            .encode(X.as_ref(), Target::Sparsity(q))
            .unwrap()
            .codes
            .to_dense();
        for j in 0..D.ncols() {
            let users: Vec<usize> = (0..X.ncols()).filter(|&i| Gamma[(j, i)] != 0.0).collect();
            if users.is_empty() {
                continue;
            }
            let without = {
                let mut rest = Gamma.clone();
                for &i in &users {
                    rest[(j, i)] = 0.0;
                }
                X - &D * &rest
            };
            let M = Mat::from_fn(X.nrows(), users.len(), |r, t| without[(r, users[t])]);
            let svd = M.thin_svd().unwrap();
            let sign = if (svd.U().col(0).transpose() * D.col(j)) < 0.0 { -1.0 } else { 1.0 };
            for r in 0..X.nrows() {
                D[(r, j)] = sign * svd.U()[(r, 0)];
            }
            for (t, &i) in users.iter().enumerate() {
                Gamma[(j, i)] = sign * svd.S()[0] * svd.V()[(t, 0)];
            }
        }
        errors.push((X - &D * &Gamma).norm_l2() / X.norm_l2());
    }
    (D, errors)
}

#[test]
fn exact_updates_equal_the_textbook_algorithm() {
    let X = random_matrix::<f64>(12, 150, 3);
    let start = random_unit_columns::<f64>(12, 18, 4);
    let params = KsvdParams {
        update: AtomUpdate::Exact,
        order: AtomOrder::Sequential,
        cleaning: None,
        initial: InitialAtoms::Given(start.clone()),
        ..ksvd(18, 3)
    };
    let learned = params.fit(X.as_ref()).unwrap();
    let (D, errors) = naive_ksvd(&X, start, 3, 5);
    for (a, b) in learned.errors.iter().zip(&errors) {
        assert!((a - b).abs() < 1e-9, "{:?} {errors:?}", learned.errors);
    }
    close(learned.dictionary.as_ref(), D.as_ref(), 1e-6);
}

fn update_never_raises_the_error<T: Real>(update: AtomUpdate) {
    let X = random_matrix::<T>(16, 120, 7);
    let tol = 64.0 * T::EPS;
    for seed in 0..4 {
        let params = KsvdParams { update, seed, cleaning: None, max_iters: 1, ..ksvd(24, 4) };
        let (D0, _) =
            params.initial.draw(Contiguous::new(X.as_ref()).columns(), 24, seed, 0).unwrap();
        let coded =
            BatchOmp::new(D0.as_ref()).unwrap().encode(X.as_ref(), Target::Sparsity(4)).unwrap();
        let before = (coded.sq_residuals.iter().sum::<f64>()
            / frobenius_sq(Contiguous::new(X.as_ref()).columns()))
        .sqrt();
        let learned = params.fit(X.as_ref()).unwrap();
        assert!(learned.errors[0] <= before * (1.0 + tol), "{} > {before}", learned.errors[0]);
        assert_unit(&learned.dictionary);
    }
}

#[test]
fn a_sweep_never_raises_the_error_with_supports_fixed() {
    update_never_raises_the_error::<f64>(AtomUpdate::Approximate);
    update_never_raises_the_error::<f64>(AtomUpdate::Exact);
    update_never_raises_the_error::<f32>(AtomUpdate::Approximate);
    update_never_raises_the_error::<f32>(AtomUpdate::Exact);
}

fn mod_update_is_least_squares<T: Real>(tol: f64) {
    let X = random_matrix::<T>(10, 80, 8);
    let mut D = random_unit_columns::<T>(10, 15, 9);
    let mut codes =
        BatchOmp::new(D.as_ref()).unwrap().encode(X.as_ref(), Target::Sparsity(3)).unwrap().codes;
    let Gamma = convert::<T, f64>(codes.to_dense().as_ref());
    let columns = Contiguous::new(X.as_ref());
    let used = optimal_directions::update(columns.columns(), &mut D, &mut codes).unwrap();
    assert!(used.iter().all(|&u| u));
    assert_unit(&D);
    // Normal equations, solved densely: D = XΓᵀ(ΓΓᵀ)⁻¹.
    let eigen = full_eigen((&Gamma * Gamma.transpose()).as_ref()).unwrap();
    let inverse = Mat::from_fn(15, 15, |i, j| {
        (0..15)
            .map(|t| eigen.vectors[(i, t)] * eigen.vectors[(j, t)] / eigen.values[t])
            .sum::<f64>()
    });
    let X = convert::<T, f64>(X.as_ref());
    let least_squares = (&X * Gamma.transpose() * inverse) * &Gamma;
    let got = convert::<T, f64>(codes.reconstruct(D.as_ref()).unwrap().as_ref());
    close(got.as_ref(), least_squares.as_ref(), tol);
}

#[test]
fn mod_update_is_the_least_squares_solution_and_its_scaling_leaves_the_product() {
    mod_update_is_least_squares::<f64>(1e-8); // the ridge is 1e-10
    mod_update_is_least_squares::<f32>(tolerance::<f32>(3)); // D and Γ are rounded
}

#[test]
fn mod_lowers_the_error_and_converges() {
    let (_, X) = planted::<f64>(20, 30, 600, 2, 10);
    let params = ModParams { n_atoms: 30, sparsity: 2, max_iters: 60, ..Default::default() };
    let learned = params.fit(X.as_ref()).unwrap();
    assert!(learned.errors.last().unwrap() < &(0.8 * learned.errors[0]));
    assert_unit(&learned.dictionary);
    assert_eq!(learned.stop, Stop::Converged);
}

#[test]
fn history_and_stop_reason_are_reported() {
    let X = random_matrix::<f64>(10, 100, 11);
    let learned = ksvd(20, 3).fit(X.as_ref()).unwrap();
    assert_eq!((learned.errors.len(), learned.stop), (5, Stop::MaxIters));
    let params = KsvdParams { max_iters: 200, tol: 1e-2, ..ksvd(20, 3) };
    let learned = params.fit(X.as_ref()).unwrap();
    assert!(learned.stop == Stop::Converged && learned.errors.len() < 200);
}

#[test]
fn cleaning_parts_near_duplicates_after_the_update_and_at_the_end_if_asked() {
    // Two atoms on either side of a direction that a tenth of the samples have: both move there.
    let (truth, X) = planted::<f64>(12, 10, 400, 1, 12);
    let (noise, mut start) = (random_matrix::<f64>(12, 401, 13), random_unit_columns(12, 20, 14));
    let X = Mat::from_fn(12, 400, |t, i| X[(t, i)] + 0.02 * noise[(t, i)]);
    for t in 0..12 {
        start[(t, 0)] = truth[(t, 0)] + 0.02 * noise[(t, 400)];
        start[(t, 1)] = truth[(t, 0)] - 0.02 * noise[(t, 400)];
    }
    let initial = InitialAtoms::Given(start);
    let once = KsvdParams { initial, max_iters: 1, ..ksvd(20, 1) };
    let fit = |params: &KsvdParams<f64>| params.fit(X.as_ref()).unwrap();
    let coherence = |learned: &Learned<f64>| {
        let D = &learned.dictionary;
        (D.col(0).transpose() * D.col(1)).abs()
    };
    let kept = fit(&KsvdParams { cleaning: None, ..once.clone() });
    let cleaned = fit(&once);
    assert!(coherence(&kept) > 0.99, "{}", coherence(&kept));
    assert!(coherence(&cleaned) <= 0.99 && cleaned.n_replaced > kept.n_replaced);
    assert_eq!(kept.errors, cleaned.errors); // those of the update
    let not_at_the_end = fit(&KsvdParams { final_clean: false, ..once });
    assert_eq!(bits(&not_at_the_end.dictionary), bits(&kept.dictionary));
}

#[test]
fn a_previous_dictionary_can_be_trained_further() {
    let (_, X) = planted::<f64>(16, 24, 500, 2, 14);
    let plain = KsvdParams { cleaning: None, ..ksvd(24, 2) };
    let first = plain.fit(X.as_ref()).unwrap();
    let initial = InitialAtoms::Given(first.dictionary);
    let second = KsvdParams { initial, ..plain.clone() }.fit(X.as_ref()).unwrap();
    // as one run of twice the iterations, but for the order of the sweeps
    let whole = KsvdParams { max_iters: 10, ..plain }.fit(X.as_ref()).unwrap();
    assert!(second.errors[0] < first.errors[4]);
    assert!((second.errors[4] / whole.errors[9] - 1.0).abs() < 0.1, "{:?}", second.errors);
}

#[test]
fn the_iteration_ends_after_two_small_falls_or_at_its_limit() {
    let reached = |errors: &[f64]| Stop::reached(errors, 0.1, 5);
    assert_eq!(reached(&[1.0, 0.95]), None);
    assert_eq!(reached(&[1.0, 0.95, 0.9]), Some(Stop::Converged));
    assert_eq!(reached(&[1.0, 0.95, 0.8]), None);
    assert_eq!(reached(&[1.0, 0.8, 0.75]), None);
    assert_eq!(reached(&[1.0, 0.8, 0.75, 0.8]), Some(Stop::Converged));
    assert_eq!(reached(&[0.0; 3]), Some(Stop::Converged));
    assert_eq!(reached(&[1.0, 0.8, 0.6, 0.4, 0.2]), Some(Stop::MaxIters));
    assert_eq!(Stop::reached(&[1.0; 4], 0.0, 5), None);
}

#[test]
fn too_few_samples_are_mixed_with_a_warning() {
    let X = random_matrix::<f64>(6, 4, 15);
    let learned = ksvd(10, 2).fit(X.as_ref()).unwrap();
    assert_eq!(learned.warnings, [Warning::MixedAtoms { wanted: 10, from_samples: 4 }]);
    assert_unit(&learned.dictionary);
    let single = ksvd(3, 2).fit(X.subcols(0, 1)).unwrap();
    assert_eq!(single.dictionary.ncols(), 1);
}

#[test]
fn bad_input_is_a_typed_error() {
    let X = random_matrix::<f64>(5, 20, 16);
    let parameter = |params: KsvdParams<f64>| {
        matches!(params.fit(X.as_ref()), Err(LkdlError::Parameter { .. }))
    };
    assert!(parameter(ksvd(0, 1)) && parameter(ksvd(4, 0)) && parameter(ksvd(4, 5)));
    assert!(parameter(KsvdParams { max_iters: 0, ..ksvd(4, 2) }));
    let zeros = Mat::<f64>::zeros(5, 20);
    assert!(matches!(ksvd(4, 2).fit(zeros.as_ref()), Err(LkdlError::AllZero { .. })));
    let wrong = InitialAtoms::Given(random_matrix::<f64>(4, 4, 1));
    let params = KsvdParams { initial: wrong, ..ksvd(4, 2) };
    assert!(matches!(params.fit(X.as_ref()), Err(LkdlError::Shape { .. })));
}

#[test]
fn counts_beyond_any_memory_and_bad_rules_are_refused() {
    let X = random_matrix::<f64>(6, 30, 1);
    let huge = KsvdParams { n_atoms: usize::MAX, ..ksvd(5, 2) };
    assert!(matches!(huge.fit(X.as_ref()), Err(LkdlError::Memory { .. })));
    for max_coherence in [f64::NAN, 0.0, -1.0] {
        let cleaning = Some(Cleaning { max_coherence, min_uses: 4 });
        let error = KsvdParams { cleaning, ..ksvd(5, 2) }.fit(X.as_ref()).unwrap_err();
        assert!(matches!(error, LkdlError::Parameter { .. }), "{error}");
    }
}

#[test]
fn learning_does_not_depend_on_the_unit_of_the_samples() {
    let X = random_matrix::<f64>(8, 120, 3);
    let scaled = Mat::from_fn(8, 120, |t, i| X[(t, i)] * 2f64.powi(-40));
    let (a, b) = (ksvd(20, 3).fit(X.as_ref()).unwrap(), ksvd(20, 3).fit(scaled.as_ref()).unwrap());
    assert_eq!((bits(&a.dictionary), a.n_replaced), (bits(&b.dictionary), b.n_replaced));
}

#[test]
fn zero_samples_are_reported() {
    let mut X = random_matrix::<f64>(6, 30, 1);
    X.col_as_slice_mut(4).fill(0.0);
    let warnings = ksvd(5, 2).fit(X.as_ref()).unwrap().warnings;
    assert_eq!(warnings, [Warning::ZeroSamples { count: 1 }]);
    let learner = ModParams { n_atoms: 5, sparsity: 2, ..Default::default() };
    assert_eq!(learner.fit(X.as_ref()).unwrap().warnings, [Warning::ZeroSamples { count: 1 }]);
}

#[test]
fn every_class_may_start_from_its_own_atoms() {
    let X = random_matrix::<f64>(6, 30, 1);
    let classes = vec![random_unit_columns(6, 5, 2), random_unit_columns(6, 5, 3)];
    let learn = |initial, class| {
        KsvdParams { initial, ..ksvd(5, 2) }.learn(X.as_ref(), class).map(|l| bits(&l.dictionary))
    };
    let per_class = InitialAtoms::PerClass(classes.clone());
    let given = InitialAtoms::Given(classes[1].clone());
    assert_eq!(learn(per_class.clone(), 1).unwrap(), learn(given, 1).unwrap());
    let error = learn(per_class, 2).unwrap_err();
    assert!(matches!(error, LkdlError::Parameter { .. }), "{error}");
}

#[test]
fn centres_of_planted_clusters_are_found() {
    // Three clusters on three axes, a zero sample and a copy.
    let noise = random_matrix::<f64>(4, 90, 20);
    let mut X =
        Mat::from_fn(4, 90, |t, i| 5.0 * f64::from(u8::from(t == i % 3)) + 0.1 * noise[(t, i)]);
    X.col_as_slice_mut(7).fill(0.0);
    let copy = X.col_as_slice(0).to_vec();
    X.col_as_slice_mut(3).copy_from_slice(&copy);
    let columns = Contiguous::new(X.as_ref());
    let found = (0..20).filter(|&seed| {
        let (D, warnings) = InitialAtoms::k_means().draw(columns.columns(), 3, seed, 0).unwrap();
        assert_unit(&D);
        assert!(warnings.is_empty());
        (0..3).all(|t| (0..3).any(|j| D[(t, j)] > 0.99))
    });
    // A random start may put two centres into one cluster; most do not stay there.
    assert!(found.count() >= 8);
    // Fewer samples than atoms: as samples.
    let few = Contiguous::new(X.subcols(0, 2));
    let draw = |initial: InitialAtoms<f64>| initial.draw(few.columns(), 4, 1, 0).unwrap();
    let (a, b) = (draw(InitialAtoms::k_means()), draw(InitialAtoms::Samples));
    assert_eq!((bits(&a.0), a.1), (bits(&b.0), b.1));
    for (max_iters, tol) in [(0, 0.0), (5, f64::NAN), (5, -1.0)] {
        let bad = InitialAtoms::<f64>::KMeans { max_iters, tol };
        let error = bad.draw(columns.columns(), 3, 0, 0).unwrap_err();
        assert!(matches!(error, LkdlError::Parameter { .. }), "{error}");
    }
}

#[test]
fn learning_is_invariant_under_rotation() {
    let X = random_matrix::<f64>(14, 200, 17);
    let Q = crate::pursuit::testing::orthonormal(14, 18);
    let rotated = &Q * &X;
    for update in [AtomUpdate::Approximate, AtomUpdate::Exact] {
        let params = KsvdParams { update, ..ksvd(25, 3) };
        let (a, b) = (params.fit(X.as_ref()).unwrap(), params.fit(rotated.as_ref()).unwrap());
        close((&Q * &a.dictionary).as_ref(), b.dictionary.as_ref(), 1e-8);
    }
    let params = ModParams { n_atoms: 25, sparsity: 3, max_iters: 5, ..Default::default() };
    let (a, b) = (params.fit(X.as_ref()).unwrap(), params.fit(rotated.as_ref()).unwrap());
    close((&Q * &a.dictionary).as_ref(), b.dictionary.as_ref(), 1e-6);
}

#[test]
fn bits_do_not_depend_on_the_thread_count() {
    fn check<T: Real>() {
        let X = random_matrix::<T>(24, 900, 19);
        let same = |learner: &dyn Learner<T>| {
            same_for_any_thread_count(|| {
                let learned = learner.learn(X.as_ref(), 0).unwrap();
                (bits(&learned.dictionary), learned.errors)
            });
        };
        same(&ksvd(40, 4));
        same(&KsvdParams { update: AtomUpdate::Exact, max_iters: 2, ..ksvd(40, 4) });
        same(&ModParams { n_atoms: 40, sparsity: 4, max_iters: 3, ..Default::default() });
    }
    check::<f64>();
    check::<f32>();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn awkward_problems_give_unit_atoms_and_finite_errors(
        p in 1usize..8, n in 1usize..14, m in 1usize..12, q in 1usize..5, seed in 0u64..500,
    ) {
        let mut X = random_matrix::<f32>(p, n, seed);
        let mut rng = crate::random::stream(seed, crate::random::Stage::Features, 2, 2);
        if n > 2 {
            let copy = X.col_as_slice(0).to_vec();
            X.col_as_slice_mut(rng.random_range(1..n)).copy_from_slice(&copy);
            X.col_as_slice_mut(n - 1).fill(0.0);
        }
        for update in [AtomUpdate::Approximate, AtomUpdate::Exact] {
            let params = KsvdParams { update, seed, ..ksvd(m, q.min(m)) };
            let learned = params.fit(X.as_ref()).unwrap();
            prop_assert!(learned.errors.iter().all(|e| e.is_finite()));
            assert_unit(&learned.dictionary);
        }
        let params = ModParams { n_atoms: m, sparsity: q.min(m), seed, ..Default::default() };
        let learned = params.fit(X.as_ref()).unwrap();
        prop_assert!(learned.errors.iter().all(|e| e.is_finite()));
        assert_unit(&learned.dictionary);
    }
}
