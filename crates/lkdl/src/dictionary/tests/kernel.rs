//! The kernel learners: with the Gram matrix of vectors they are the linear learners on these.
use super::*;
use crate::linalg::gram;
use crate::pursuit::KernelOmp;
use crate::pursuit::check_gram;
use faer::Mat;

fn kernel_ksvd<T: Real>(n_atoms: usize, sparsity: usize) -> KernelKsvdParams<T> {
    KernelKsvdParams { n_atoms, sparsity, max_iters: 5, tol: 0.0, ..Default::default() }
}

const SWEEPS: [(KernelUpdate, AtomUpdate); 2] = [
    (KernelUpdate::Approximate, AtomUpdate::Approximate),
    (KernelUpdate::Exact, AtomUpdate::Exact),
];
const UPDATES: [KernelUpdate; 3] =
    [KernelUpdate::Approximate, KernelUpdate::Exact, KernelUpdate::Reference];

/// aᵀKa of every atom.
fn sq_norms<T: Real>(K: &Mat<T>, A: &Mat<T>) -> Vec<f64> {
    let (K, A) = (convert::<T, f64>(K.as_ref()), convert::<T, f64>(A.as_ref()));
    let KA = &K * &A;
    (0..A.ncols()).map(|j| A.col(j).transpose() * KA.col(j)).collect()
}

/// aᵀKa = 1 to rounding. A norm is computed as aᵀ(Ka), two sums of n terms, so the relative error
/// of its square is at most 2n·(ε/2)·|a|ᵀ|K||a|/aᵀKa (Higham, *Accuracy and Stability*, 3.1): where K
/// is singular, weights may cancel and |a|ᵀ|K||a| is large. Rounding the scaled weights, the unit
/// diagonal of the reference and its way back adds a few ε of the same terms.
fn assert_unit_in<T: Real>(K: &Mat<T>, A: &Mat<T>) {
    let magnitudes = |X: &Mat<T>| Mat::from_fn(X.nrows(), X.ncols(), |i, j| X[(i, j)].abs());
    let terms = sq_norms(&magnitudes(K), &magnitudes(A));
    for (j, (sq, terms)) in sq_norms(K, A).into_iter().zip(terms).enumerate() {
        let rounding = (K.ncols() + 8) as f64 * T::EPS * terms;
        assert!((sq - 1.0).abs() <= rounding, "atom {j}: {sq}, rounding {rounding}");
    }
}

#[test]
fn on_inner_products_of_vectors_it_is_linear_ksvd() {
    // 5 uses per atom in the mean: cleaning replaces those with fewer than 4.
    let X = random_matrix::<f64>(12, 160, 21);
    let K = gram(X.as_ref());
    for (update, linear) in SWEEPS {
        for seed in 0..3 {
            let kernel = KernelKsvdParams { update, seed, ..kernel_ksvd(90, 3) };
            let kernel = kernel.fit(K.as_ref()).unwrap();
            let linear =
                KsvdParams { update: linear, seed, ..ksvd(90, 3) }.fit(X.as_ref()).unwrap();
            for (a, b) in kernel.errors.iter().zip(&linear.errors) {
                assert!((a - b).abs() < 1e-8, "{:?} {:?}", kernel.errors, linear.errors);
            }
            assert_eq!(kernel.n_replaced, linear.n_replaced);
            assert!(kernel.n_replaced > 0, "nothing was replaced, so nothing was compared");
            close((&X * &kernel.atom_weights).as_ref(), linear.dictionary.as_ref(), 1e-6);
        }
    }
}

#[test]
fn on_inner_products_of_vectors_kernel_mod_is_mod() {
    let (_, X) = planted::<f64>(15, 30, 300, 2, 22);
    let kernel = KernelModParams { n_atoms: 30, sparsity: 2, max_iters: 6, ..Default::default() };
    let kernel = kernel.fit(gram(X.as_ref()).as_ref()).unwrap();
    let linear = ModParams { n_atoms: 30, sparsity: 2, max_iters: 6, ..Default::default() };
    let linear = linear.fit(X.as_ref()).unwrap();
    for (a, b) in kernel.errors.iter().zip(&linear.errors) {
        assert!((a - b).abs() < 1e-8, "{:?} {:?}", kernel.errors, linear.errors);
    }
    close((&X * &kernel.atom_weights).as_ref(), linear.dictionary.as_ref(), 1e-6);
}

#[test]
fn given_weights_are_scaled_and_learned_on() {
    let X = random_matrix::<f64>(10, 60, 23);
    let K = gram(X.as_ref());
    let A = random_matrix::<f64>(60, 20, 24);
    let mut D = &X * &A;
    for j in 0..20 {
        crate::vector::normalize(D.col_as_slice_mut(j));
    }
    let initial = InitialWeights::Given(A);
    let kernel = KernelKsvdParams { initial, ..kernel_ksvd(20, 3) }.fit(K.as_ref()).unwrap();
    let initial = InitialAtoms::Given(D);
    let linear = KsvdParams { initial, ..ksvd(20, 3) }.fit(X.as_ref()).unwrap();
    close((&X * &kernel.atom_weights).as_ref(), linear.dictionary.as_ref(), 1e-6);
}

/// ‖φ(X) − φ(X)AΓ‖² after coding with the starting atoms.
fn coding_error<T: Real>(K: &Mat<T>, params: &KernelKsvdParams<T>) -> f64 {
    let contiguous = Contiguous::new(K.as_ref());
    let (A, _) = params.initial.draw(contiguous.columns(), 24, params.seed, 0).unwrap();
    let mut state = kernel_state::KernelState::new(contiguous.columns(), A).unwrap();
    state.code(params.sparsity);
    state.relative_error()
}

fn sweep_never_raises_the_error<T: Real>(update: KernelUpdate) {
    let K = gram(random_matrix::<T>(16, 120, 25).as_ref());
    for seed in 0..4 {
        let params =
            KernelKsvdParams { update, seed, cleaning: None, max_iters: 1, ..kernel_ksvd(24, 4) };
        let (before, learned) = (coding_error(&K, &params), params.fit(K.as_ref()).unwrap());
        assert!(learned.errors[0] <= before * (1.0 + 64.0 * T::EPS), "{before}");
        assert_unit_in(&K, &learned.atom_weights);
    }
}

#[test]
fn a_sweep_never_raises_the_error_with_supports_fixed() {
    for update in [KernelUpdate::Approximate, KernelUpdate::Exact] {
        sweep_never_raises_the_error::<f64>(update);
        sweep_never_raises_the_error::<f32>(update);
    }
}

#[test]
fn kernel_mod_never_raises_the_error_with_supports_fixed() {
    let K = gram(random_matrix::<f64>(16, 120, 26).as_ref());
    let params = KernelModParams { n_atoms: 24, sparsity: 4, max_iters: 1, ..Default::default() };
    let before = coding_error(&K, &kernel_ksvd(24, 4));
    let learned = params.fit(K.as_ref()).unwrap();
    assert!(learned.errors[0] <= before, "{} > {before}", learned.errors[0]);
    assert_unit_in(&K, &learned.atom_weights);
}

#[test]
fn the_reported_error_is_that_of_the_residual_expansion() {
    // tr((I − AΓ)ᵀK(I − AΓ)) formed densely, from the state after one sweep.
    let K = gram(random_matrix::<f64>(14, 50, 27).as_ref());
    let contiguous = Contiguous::new(K.as_ref());
    let params = KernelKsvdParams { update: KernelUpdate::Exact, ..kernel_ksvd(18, 3) };
    let (A, _) = params.initial.draw(contiguous.columns(), 18, 0, 0).unwrap();
    let mut state = kernel_state::KernelState::new(contiguous.columns(), A).unwrap();
    for _ in 0..2 {
        state.code(3);
        params.sweep(&mut state, &(0..18).collect::<Vec<_>>()).unwrap();
        let E = Mat::<f64>::identity(50, 50) - &state.A * state.codes.to_dense();
        let M = E.transpose() * &K * &E;
        for i in 0..50 {
            assert!((M[(i, i)] - state.sq_errors[i]).abs() < 1e-11 * K[(i, i)], "sample {i}");
        }
        // and what the sweep kept by sums is what products give
        let (KA, G) = (state.KA.clone(), state.G.clone());
        state.refresh();
        close(KA.as_ref(), state.KA.as_ref(), 1e-12);
        close(G.as_ref(), state.G.as_ref(), 1e-12);
    }
}

/// The published program's update, dense: unit-diagonal K, E = I − AΓ frozen, one full eigen-solve
/// per atom, replacements by the order of the residuals.
fn naive_reference(K: &Mat<f64>, mut A: Mat<f64>, q: usize, iters: usize) -> Mat<f64> {
    let (n, m) = (A.nrows(), A.ncols());
    for _ in 0..iters {
        let coder = KernelOmp::new(K.as_ref(), A.as_ref()).unwrap();
        let Gamma =
            coder.encode(K.as_ref(), &vec![1.0; n], Target::Sparsity(q)).unwrap().codes.to_dense();
        let E = Mat::<f64>::identity(n, n) - &A * &Gamma;
        let M = E.transpose() * K * &E;
        let mut worst: Vec<usize> = (0..n).collect();
        worst.sort_by(|&a, &b| M[(b, b)].total_cmp(&M[(a, a)]));
        let mut worst = worst.into_iter();
        let old = A.clone();
        for j in 0..m {
            let users: Vec<usize> = (0..n).filter(|&i| Gamma[(j, i)] != 0.0).collect();
            let mut fresh = Mat::<f64>::zeros(n, 1);
            let mut replace = users.is_empty();
            if !replace {
                let Ej = Mat::from_fn(n, users.len(), |r, t| {
                    E[(r, users[t])] + old[(r, j)] * Gamma[(j, users[t])]
                });
                let eigen = full_eigen((Ej.transpose() * K * &Ej).as_ref()).unwrap();
                fresh = &Ej * eigen.vectors.subcols(0, 1);
                let norm = eigen.values[0].sqrt();
                fresh.col_as_slice_mut(0).iter_mut().for_each(|v| *v /= norm);
                let with = A.subcols(0, j).transpose() * K * &fresh;
                replace = (0..j).any(|l| with[(l, 0)].abs() > 0.98);
            }
            if replace {
                fresh.fill(0.0);
                fresh[(worst.next().unwrap(), 0)] = 1.0;
            }
            A.col_as_slice_mut(j).copy_from_slice(fresh.col_as_slice(0));
        }
    }
    A
}

#[test]
fn the_reference_update_is_the_published_program() {
    // Samples of very different norms: the reference scales them, the weights returned do not. Some
    // point the same way, so that atoms that start from them are left without users.
    let directions = random_matrix::<f64>(9, 70, 28);
    let of = |i: usize| if (40..45).contains(&i) { i - 40 } else { i };
    let unit = Mat::from_fn(9, 70, |r, i| directions[(r, of(i))]);
    let X = Mat::from_fn(9, 70, |r, i| unit[(r, i)] * (1.0 + i as f64));
    let unit = Mat::from_fn(9, 70, |r, i| unit[(r, i)] / unit.col(i).norm_l2());
    let start = Mat::from_fn(70, 50, |i, j| f64::from(i == j));
    let naive = &unit * naive_reference(&gram(unit.as_ref()), start.clone(), 2, 4);
    let params = KernelKsvdParams {
        update: KernelUpdate::Reference,
        max_iters: 4,
        initial: InitialWeights::Given(start),
        ..kernel_ksvd(50, 2)
    };
    let learned = params.fit(gram(X.as_ref()).as_ref()).unwrap();
    assert!(learned.n_replaced > 0, "nothing was replaced, so nothing was compared");
    let D = &X * &learned.atom_weights;
    for j in 0..50 {
        // eigenvectors have no sign
        let along = (D.col(j).transpose() * naive.col(j)).abs();
        assert!((along - 1.0).abs() < 1e-7, "atom {j}: {along}");
    }
}

#[test]
fn too_few_samples_zeros_and_single_samples_are_reported() {
    let mut X = random_matrix::<f64>(6, 5, 29);
    X.col_as_slice_mut(2).fill(0.0);
    let copy = X.col_as_slice(0).to_vec();
    X.col_as_slice_mut(4).copy_from_slice(&copy);
    let K = gram(X.as_ref());
    for update in UPDATES {
        let params = KernelKsvdParams { update, ..kernel_ksvd(10, 2) };
        let learned = params.fit(K.as_ref()).unwrap();
        let expected = [
            Warning::MixedAtoms { wanted: 10, from_samples: 3 },
            Warning::ZeroSamples { count: 1 },
        ];
        assert_eq!(learned.warnings, expected);
        assert_unit_in(&K, &learned.atom_weights);
        let single = params.fit(K.as_ref().submatrix(0, 0, 1, 1)).unwrap();
        assert_eq!(single.warnings, [Warning::FewerAtoms { wanted: 10, got: 1 }]);
        assert_eq!(single.atom_weights.ncols(), 1);
        assert!((single.atom_weights[(0, 0)] - K[(0, 0)].powf(-0.5)).abs() < 1e-12);
    }
}

#[test]
fn bad_gram_matrices_and_parameters_are_typed_errors() {
    let K = gram(random_matrix::<f64>(5, 20, 30).as_ref());
    let parameter = |params: KernelKsvdParams<f64>| {
        matches!(params.fit(K.as_ref()), Err(LkdlError::Parameter { .. }))
    };
    assert!(parameter(kernel_ksvd(0, 1)) && parameter(kernel_ksvd(4, 0)));
    assert!(parameter(kernel_ksvd(4, 5)));
    assert!(parameter(KernelKsvdParams { max_iters: 0, ..kernel_ksvd(4, 2) }));
    assert!(parameter(KernelKsvdParams { tol: f64::NAN, ..kernel_ksvd(4, 2) }));
    let classes = InitialWeights::PerClass(Vec::new());
    assert!(parameter(KernelKsvdParams { initial: classes, ..kernel_ksvd(4, 2) }));
    let fit = |K: MatRef<'_, f64>| kernel_ksvd(4, 2).fit(K).unwrap_err();
    assert!(matches!(fit(Mat::zeros(20, 20).as_ref()), LkdlError::AllZero { .. }));
    assert!(matches!(fit(K.as_ref().subcols(0, 7)), LkdlError::Shape { .. }));
    let mut crooked = K.clone();
    crooked[(3, 4)] += 1.0;
    assert!(matches!(fit(crooked.as_ref()), LkdlError::NotGram { .. }));
    let indefinite = Mat::from_fn(20, 20, |i, j| if i == j { 1.0 } else { -0.5 });
    assert!(matches!(fit(indefinite.as_ref()), LkdlError::NotGram { .. }));
    for (rows, cols) in [(19, 4), (20, 5)] {
        let initial = InitialWeights::Given(random_matrix(rows, cols, 1));
        let error = KernelKsvdParams { initial, ..kernel_ksvd(4, 2) }.fit(K.as_ref());
        assert!(matches!(error, Err(LkdlError::Shape { .. })));
    }
    let initial = InitialWeights::Given(Mat::zeros(20, 4));
    let error = KernelKsvdParams { initial, ..kernel_ksvd(4, 2) }.fit(K.as_ref());
    assert!(matches!(error, Err(LkdlError::AllZero { .. })));
    let huge = KernelKsvdParams { n_atoms: usize::MAX, ..kernel_ksvd(4, 2) };
    assert!(matches!(huge.fit(K.as_ref()), Err(LkdlError::Memory { .. })));
}

#[test]
fn learning_does_not_depend_on_the_unit_of_the_kernel() {
    let K = gram(random_matrix::<f64>(8, 60, 31).as_ref());
    let scaled = Mat::from_fn(60, 60, |i, j| K[(i, j)] * 2f64.powi(-40));
    for update in UPDATES {
        let params = KernelKsvdParams { update, ..kernel_ksvd(20, 3) };
        let (a, b) = (params.fit(K.as_ref()).unwrap(), params.fit(scaled.as_ref()).unwrap());
        assert_eq!(a.n_replaced, b.n_replaced);
        let unscaled = Mat::from_fn(60, 20, |i, j| b.atom_weights[(i, j)] * 2f64.powi(-20));
        close(a.atom_weights.as_ref(), unscaled.as_ref(), 1e-10);
    }
}

#[test]
fn kernel_learners_give_the_same_bits_for_any_number_of_threads() {
    fn check<T: Real>() {
        let K = gram(random_matrix::<T>(24, 300, 32).as_ref());
        let same = |learner: &dyn KernelLearner<T>| {
            same_for_any_thread_count(|| {
                let learned = learner.learn(K.as_ref(), 0).unwrap();
                (bits(&learned.atom_weights), learned.errors)
            });
        };
        for update in UPDATES {
            same(&KernelKsvdParams { update, max_iters: 3, ..kernel_ksvd(40, 4) });
        }
        same(&KernelModParams { n_atoms: 40, sparsity: 4, max_iters: 3, ..Default::default() });
    }
    check::<f64>();
    check::<f32>();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn awkward_gram_matrices_give_unit_atoms_and_finite_errors(
        p in 1usize..8, n in 1usize..14, m in 1usize..12, q in 1usize..5, seed in 0u64..500,
    ) {
        let mut X = random_matrix::<f32>(p, n, seed);
        if n > 2 {
            let copy = X.col_as_slice(0).to_vec();
            X.col_as_slice_mut(n / 2).copy_from_slice(&copy);
            X.col_as_slice_mut(n - 1).fill(0.0);
        }
        let K = gram(X.as_ref());
        check_gram(K.as_ref()).unwrap();
        let sound = |learned: KernelLearned<f32>| {
            assert!(learned.errors.iter().all(|e| e.is_finite()));
            assert_unit_in(&K, &learned.atom_weights);
        };
        for update in UPDATES {
            let params = KernelKsvdParams { update, seed, ..kernel_ksvd(m, q.min(m)) };
            sound(params.fit(K.as_ref()).unwrap());
        }
        let params = KernelModParams { n_atoms: m, sparsity: q.min(m), seed, ..Default::default() };
        sound(params.fit(K.as_ref()).unwrap());
    }
}
