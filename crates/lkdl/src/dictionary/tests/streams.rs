//! Learners fed by blocks, and the sums that add: against the same in memory, and dense references.
use super::*;
use crate::blocks::{Block, Order, Source};
use crate::monitor::Silent;
use crate::pursuit::lasso::Penalty;

/// The columns of a matrix, so many to a block.
struct Columns<'a, T: Real> {
    X: &'a Mat<T>,
    width: usize,
    next: usize,
}

impl<T: Real> Source<T> for Columns<'_, T> {
    fn next_block(&mut self) -> Result<Option<Block<T>>, LkdlError> {
        let n = self.width.min(self.X.ncols() - self.next);
        let samples = self.X.subcols(self.next, n).to_owned();
        self.next += n;
        Ok((n > 0).then_some(Block { samples, labels: Vec::new() }))
    }

    fn rewind(&mut self) -> Result<(), LkdlError> {
        self.next = 0;
        Ok(())
    }
}

fn source<T: Real>(X: &Mat<T>, width: usize) -> Columns<'_, T> {
    Columns { X, width, next: 0 }
}

fn mod_params<T: Real>(start: &Mat<T>) -> ModParams<T> {
    ModParams {
        n_atoms: start.ncols(),
        sparsity: 3,
        max_iters: 5,
        tol: 0.0,
        initial: InitialAtoms::Given(start.clone()),
        seed: 0,
    }
}

fn sums_bits<T: Real>(sums: &DictionarySums<T>) -> (Vec<u64>, Vec<u64>, [u64; 2], Vec<usize>) {
    let scalars = [sums.sq_norm.to_bits(), sums.sq_error.to_bits()];
    (bits(&sums.code_products), bits(&sums.sample_products), scalars, sums.uses.clone())
}

fn shards_give_the_same_bits<T: Real>() {
    let (D, X) = (random_unit_columns::<T>(10, 25, 1), random_matrix::<T>(10, 1000, 2));
    let new = || DictionaryStatistics::new(D.as_ref(), 3, 5, Order::of(25)).unwrap();
    let block = |b: usize| X.subcols(40 * b, 40);
    let mut one = new();
    (0..25).for_each(|b| one.add_block(b, block(b)).unwrap());
    let one = one.finish().unwrap();
    // 8 shards, merged from the last to the first, each with its blocks backwards.
    let mut shards: Vec<_> = (0..8).map(|_| new()).collect();
    (0..25).rev().for_each(|b| shards[b * 8 / 25].add_block(b, block(b)).unwrap());
    let mut merged = new();
    shards.into_iter().rev().for_each(|shard| merged.merge(shard).unwrap());
    let merged = merged.finish().unwrap();
    assert_eq!(sums_bits(&one), sums_bits(&merged));
    assert_eq!((&one.worst, one.n_samples), (&merged.worst, 1000));
    // and they are the sums
    let encoded =
        BatchOmp::new(D.as_ref()).unwrap().encode(X.as_ref(), Target::Sparsity(3)).unwrap();
    let Gamma = convert::<T, f64>(encoded.codes.to_dense().as_ref());
    let wide = convert::<T, f64>(X.as_ref());
    close(one.code_products.as_ref(), (&Gamma * Gamma.transpose()).as_ref(), 1e-10);
    close(one.sample_products.as_ref(), (&wide * Gamma.transpose()).as_ref(), 1e-10);
    assert!((one.sq_norm / wide.squared_norm_l2() - 1.0).abs() < 1e-10);
    let mut order: Vec<usize> = (0..1000).collect();
    order.sort_by(|&a, &b| encoded.sq_residuals[b].total_cmp(&encoded.sq_residuals[a]));
    let worst: Vec<usize> = one.worst.iter().map(|w| 40 * w.block + w.column).collect();
    assert_eq!(worst, order[..5]);
    assert_eq!(one.worst[0].sample, X.col_as_slice(order[0]));
}

#[test]
fn one_shard_and_eight_shards_give_the_same_sums_bit_for_bit() {
    shards_give_the_same_bits::<f64>();
    shards_give_the_same_bits::<f32>();
}

fn mod_from_sums_is_mod<T: Real>(tol: f64) {
    let X = random_matrix::<T>(12, 400, 3);
    let mut start = random_unit_columns::<T>(12, 20, 4);
    // copies, which nobody will use: they are replaced
    for j in [7, 15] {
        let copy = start.col_as_slice(j - 1).to_vec();
        start.col_as_slice_mut(j).copy_from_slice(&copy);
    }
    let params = mod_params(&start);
    let memory = params.fit(X.as_ref()).unwrap();
    assert!(memory.n_replaced > 0, "nothing was replaced, so nothing was compared");
    for width in [400, 64, 1] {
        let streamed = params.learn_source(&mut source(&X, width), 0, &Silent).unwrap();
        assert_eq!((streamed.n_replaced, streamed.stop), (memory.n_replaced, memory.stop));
        for (a, b) in streamed.errors.iter().zip(&memory.errors) {
            assert!((a - b).abs() < tol, "{:?} {:?}", streamed.errors, memory.errors);
        }
        close(streamed.dictionary.as_ref(), memory.dictionary.as_ref(), tol);
    }
}

#[test]
fn mod_from_sums_over_blocks_is_mod_in_memory() {
    mod_from_sums_is_mod::<f64>(1e-8);
    mod_from_sums_is_mod::<f32>(1e-3);
}

#[test]
fn bad_blocks_are_named() {
    let mut X = random_matrix::<f64>(6, 200, 5);
    X[(2, 150)] = f64::NAN;
    let start = random_unit_columns::<f64>(6, 8, 6);
    let error = mod_params(&start).learn_source(&mut source(&X, 20), 0, &Silent).unwrap_err();
    assert!(
        error.to_string().starts_with("block 7: samples holds NaN at feature 2 of sample 10"),
        "{error}"
    );
    let mut statistics = DictionaryStatistics::new(start.as_ref(), 3, 5, Order::default()).unwrap();
    let error = statistics.add_block(7, X.subcols(140, 20)).unwrap_err();
    assert!(matches!(&error, LkdlError::InBlock { block: 7, .. }), "{error}");
    let wide = random_matrix::<f64>(7, 20, 5);
    let error = statistics.add_block(3, wide.as_ref()).unwrap_err();
    assert_eq!(error.to_string(), "block 3: samples' n_features has size 7, but must be 6");
    // a class need not be in every block, but in one
    statistics.add_block(0, X.subcols(0, 0)).unwrap();
    statistics.add_block(1, X.subcols(0, 20)).unwrap();
    assert_eq!(statistics.clone().finish().unwrap().n_samples, 20);
    let error = statistics.add_block(1, X.subcols(0, 20)).unwrap_err();
    assert_eq!(error, LkdlError::RepeatedBlock { block: 1 });
    let other = random_unit_columns(6, 8, 7);
    let other = DictionaryStatistics::new(other.as_ref(), 3, 5, Order::default()).unwrap();
    assert!(matches!(statistics.merge(other), Err(LkdlError::Unsupported { .. })));
    let empty = Mat::<f64>::zeros(6, 0);
    let error = mod_params(&start).learn_source(&mut source(&empty, 20), 0, &Silent);
    assert!(matches!(error, Err(LkdlError::Empty { .. })));

    let online = OnlineParams { n_atoms: 8, batch_size: 16, ..Default::default() };
    let mut learner = online.start(X.subcols(0, 20), 0).unwrap();
    (0..7).for_each(|b| learner.add_block(X.subcols(20 * b, 20)).unwrap());
    let before = bits(&learner.dictionary().to_owned());
    for bad in [X.subcols(140, 20), X.subcols(0, 0), wide.as_ref()] {
        let error = learner.add_block(bad).unwrap_err();
        assert!(matches!(&error, LkdlError::InBlock { block: 7, .. }), "{error}");
    }
    assert_eq!(bits(&learner.dictionary().to_owned()), before);
    let nothing = online.start(X.subcols(0, 20), 0).unwrap();
    assert!(matches!(nothing.finish(), Err(LkdlError::AllZero { .. })));
}

/// One sweep of the block-coordinate update, dense and by its formula.
fn naive_sweep(X: &Mat<f64>, Gamma: &Mat<f64>, mut D: Mat<f64>, unit: bool) -> Mat<f64> {
    let (mut A, mut B) = (Gamma * Gamma.transpose(), X * Gamma.transpose());
    for j in 0..D.ncols() {
        let DA = &D * A.subcols(j, 1);
        let u: Vec<f64> =
            (0..D.nrows()).map(|t| (B[(t, j)] - DA[(t, 0)]) / A[(j, j)] + D[(t, j)]).collect();
        let norm = u.iter().map(|v| v * v).sum::<f64>().sqrt();
        for t in 0..D.nrows() {
            D[(t, j)] = u[t] / if unit { norm } else { norm.max(1.0) };
        }
        if unit {
            (0..D.ncols()).for_each(|i| A[(i, j)] *= norm);
            (0..D.ncols()).for_each(|i| A[(j, i)] *= norm);
            (0..D.nrows()).for_each(|t| B[(t, j)] *= norm);
        }
    }
    D
}

#[test]
fn one_batch_without_a_past_is_the_block_coordinate_update() {
    let X = random_matrix::<f64>(9, 120, 8);
    let start = random_unit_columns::<f64>(9, 14, 9);
    let omp = OnlineCoding::Omp { sparsity: 3 };
    let lasso = OnlineCoding::Lasso { penalty: Penalty::Relative(0.2) };
    for coding in [omp, lasso] {
        let initial = InitialAtoms::Given(start.clone());
        let params =
            OnlineParams { n_atoms: 14, coding, batch_size: 120, initial, ..Default::default() };
        let mut learner = params.start(X.as_ref(), 0).unwrap();
        learner.add_block(X.as_ref()).unwrap();
        let codes = match coding {
            OnlineCoding::Omp { sparsity } => {
                let coder = BatchOmp::new(start.as_ref()).unwrap();
                coder.encode(X.as_ref(), Target::Sparsity(sparsity)).unwrap().codes
            }
            OnlineCoding::Lasso { penalty } => {
                let params = crate::pursuit::lasso::LassoParams { penalty, ..Default::default() };
                params.encode(start.as_ref(), X.as_ref()).unwrap().encoded.codes
            }
        };
        let naive = naive_sweep(&X, &codes.to_dense(), start.clone(), coding == omp);
        close(learner.dictionary(), naive.as_ref(), 1e-10);
    }
}

#[test]
fn the_sums_of_online_learning_fade_by_their_rule() {
    // Two batches, β = (1 − 1/2)^ρ: codes of the first over D₀, of the second over D₁.
    let X = random_matrix::<f64>(9, 200, 10);
    let start = random_unit_columns::<f64>(9, 14, 11);
    let penalty = Penalty::Relative(0.3);
    let initial = InitialAtoms::Given(start.clone());
    let coding = OnlineCoding::Lasso { penalty };
    let params = OnlineParams {
        n_atoms: 14,
        coding,
        batch_size: 100,
        fading: 3.0,
        initial,
        ..Default::default()
    };
    let mut learner = params.start(X.as_ref(), 0).unwrap();
    learner.add_block(X.subcols(0, 100)).unwrap();
    let first = learner.dictionary().to_owned();
    learner.add_block(X.subcols(100, 100)).unwrap();
    let code = |D: &Mat<f64>, X: MatRef<'_, f64>| {
        let params = crate::pursuit::lasso::LassoParams { penalty, ..Default::default() };
        params.encode(D.as_ref(), X).unwrap().encoded.codes.to_dense()
    };
    let (old, new) = (code(&start, X.subcols(0, 100)), code(&first, X.subcols(100, 100)));
    // √β on samples and codes of the first batch gives β on its products
    let root = 0.125f64.sqrt();
    let faded =
        |of: &Mat<f64>, rest: MatRef<'_, f64>| {
            Mat::from_fn(of.nrows(), 200, |t, i| {
                if i < 100 { root * of[(t, i)] } else { rest[(t, i - 100)] }
            })
        };
    let samples = faded(&X.subcols(0, 100).to_owned(), X.subcols(100, 100));
    let naive = naive_sweep(&samples, &faded(&old, new.as_ref()), first, false);
    close(learner.dictionary(), naive.as_ref(), 1e-10);
}

fn rls<T: Real>(n_atoms: usize, sparsity: usize) -> RlsParams<T> {
    RlsParams { n_atoms, sparsity, max_iters: 1, ..Default::default() }
}

/// RLS-DLA by its formulas, dense: returns D after all batches of `b` columns of X.
fn naive_rls(X: &Mat<f64>, mut D: Mat<f64>, q: usize, b: usize, forgetting: f64) -> Mat<f64> {
    let (n, m) = (X.ncols(), D.ncols());
    let s = X.subcols(0, b).squared_norm_l2() / b as f64;
    let mut A = Mat::from_fn(m, m, |i, j| f64::from(i == j) * s);
    let mut B = Mat::from_fn(D.nrows(), m, |t, j| s * D[(t, j)]);
    for first in (0..n).step_by(b) {
        let batch = X.subcols(first, b);
        let coder = BatchOmp::new(D.as_ref()).unwrap();
        let Gamma = coder.encode(batch, Target::Sparsity(q)).unwrap().codes.to_dense();
        let (seen, settled) = ((first + b) as f64, 0.9 * n as f64);
        let lambda = match seen < settled {
            true => 1.0 - (1.0 - forgetting) * (1.0 - seen / settled).powi(2),
            false => 1.0,
        };
        let kept = lambda.powi(b as i32);
        A = Mat::from_fn(m, m, |i, j| kept * A[(i, j)]) + &Gamma * Gamma.transpose();
        B = Mat::from_fn(D.nrows(), m, |t, j| kept * B[(t, j)]) + batch * Gamma.transpose();
        let eigen = full_eigen(A.as_ref()).unwrap();
        let inverse = Mat::from_fn(m, m, |i, j| {
            let terms =
                (0..m).map(|t| eigen.vectors[(i, t)] * eigen.vectors[(j, t)] / eigen.values[t]);
            terms.sum::<f64>()
        });
        let fresh = &B * inverse;
        let norms: Vec<f64> = (0..m).map(|j| fresh.col(j).norm_l2()).collect();
        D = Mat::from_fn(D.nrows(), m, |t, j| fresh[(t, j)] / norms[j]);
        A = Mat::from_fn(m, m, |i, j| norms[i] * A[(i, j)] * norms[j]);
        B = Mat::from_fn(D.nrows(), m, |t, j| B[(t, j)] * norms[j]);
    }
    D
}

#[test]
fn rls_is_its_formulas_batch_after_batch() {
    let X = random_matrix::<f64>(9, 240, 12);
    let start = random_unit_columns::<f64>(9, 14, 13);
    for forgetting in [1.0, 0.97] {
        let initial = InitialAtoms::Given(start.clone());
        let total = Some(240);
        let params = RlsParams { batch_size: 60, forgetting, total, initial, ..rls(14, 3) };
        let mut learner = params.start(X.as_ref(), 0).unwrap();
        learner.add_block(X.as_ref()).unwrap();
        let naive = naive_rls(&X, start.clone(), 3, 60, forgetting);
        close(learner.dictionary(), naive.as_ref(), 1e-7); // the ridge is 1e-10
    }
}

/// Unit atoms half a unit away from those of `truth`.
fn beside<T: Real>(truth: &Mat<T>, seed: u64) -> Mat<T> {
    let noise = random_unit_columns::<T>(truth.nrows(), truth.ncols(), seed);
    let mut D = Mat::from_fn(truth.nrows(), truth.ncols(), |t, j| {
        T::of(truth[(t, j)].wide() + 0.5 * noise[(t, j)].wide())
    });
    for j in 0..D.ncols() {
        crate::vector::normalize(D.col_as_slice_mut(j));
    }
    D
}

fn planted_atoms_are_found_in_one_pass<T: Real>() {
    for seed in 0..3 {
        let (truth, X) = planted::<T>(16, 24, 4000, 2, seed);
        let start = beside(&truth, seed + 50);
        assert_eq!(recovered(&truth, &start), 0);
        let initial = InitialAtoms::Given(start);
        let params = RlsParams { seed, initial: initial.clone(), ..rls(24, 2) };
        let learned = params.fit(X.as_ref()).unwrap();
        assert_eq!((learned.errors.len(), recovered(&truth, &learned.dictionary)), (1, 24));
        let (coding, batch_size) = (OnlineCoding::Omp { sparsity: 2 }, 64);
        let params = OnlineParams {
            n_atoms: 24,
            coding,
            batch_size,
            max_iters: 1,
            initial,
            seed,
            ..Default::default()
        };
        let learned = params.fit(X.as_ref()).unwrap();
        assert_eq!((learned.errors.len(), recovered(&truth, &learned.dictionary)), (1, 24));
    }
}

#[test]
fn one_pass_recovers_a_planted_dictionary_from_beside_it() {
    planted_atoms_are_found_in_one_pass::<f64>();
    planted_atoms_are_found_in_one_pass::<f32>();
}

#[test]
fn forgetting_helps_a_start_far_from_the_truth() {
    let found = |forgetting| -> usize {
        let of = |seed| {
            let (truth, X) = planted::<f64>(16, 24, 4000, 2, seed);
            let params = RlsParams { forgetting, seed, ..rls(24, 2) };
            recovered(&truth, &params.fit(X.as_ref()).unwrap().dictionary)
        };
        (0..3).map(of).sum()
    };
    let (all_kept, fading) = (found(1.0), found(0.98));
    assert!(fading > all_kept && fading >= 60, "{all_kept} and {fading} of 72 atoms");
}

/// Every incremental learner, by name.
fn learners<T: Real>() -> Vec<(&'static str, Box<dyn Learner<T>>)> {
    let online = |coding| OnlineParams {
        n_atoms: 20,
        coding,
        batch_size: 48,
        max_iters: 3,
        tol: 0.0,
        ..Default::default()
    };
    let penalty = Penalty::Relative(0.2);
    vec![
        ("online", Box::new(online(OnlineCoding::Omp { sparsity: 3 }))),
        ("online lasso", Box::new(online(OnlineCoding::Lasso { penalty }))),
        ("RLS", Box::new(RlsParams { max_iters: 3, tol: 0.0, ..rls(20, 3) })),
        (
            "RLS, forgetting",
            Box::new(RlsParams { forgetting: 0.99, max_iters: 3, tol: 0.0, ..rls(20, 3) }),
        ),
    ]
}

#[test]
fn incremental_learners_lower_the_error_and_give_the_same_bits_for_any_number_of_threads() {
    fn check<T: Real>() {
        let (_, X) = planted::<T>(12, 20, 900, 3, 14);
        for (name, learner) in learners::<T>() {
            let learned = learner.learn(X.as_ref(), 0).unwrap();
            assert_unit(&learned.dictionary);
            assert_eq!((learned.errors.len(), learned.stop), (3, Stop::MaxIters));
            assert!(learned.errors[2] < 0.9 * learned.errors[0], "{name}: {:?}", learned.errors);
            same_for_any_thread_count(|| {
                let learned = learner.learn(X.as_ref(), 0).unwrap();
                (bits(&learned.dictionary), learned.errors)
            });
        }
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn where_blocks_are_cut_does_not_matter() {
    let X = random_matrix::<f32>(10, 500, 15);
    let online = OnlineParams { n_atoms: 15, batch_size: 32, ..Default::default() };
    let rls = RlsParams { batch_size: 32, ..rls(15, 3) };
    let cut = |width: usize| {
        let (mut a, mut b) =
            (online.start(X.as_ref(), 0).unwrap(), rls.start(X.as_ref(), 0).unwrap());
        for first in (0..500).step_by(width) {
            let block = X.subcols(first, width.min(500 - first));
            a.add_block(block).unwrap();
            b.add_block(block).unwrap();
        }
        [a.finish().unwrap(), b.finish().unwrap()].map(|l| (bits(&l.dictionary), l.errors))
    };
    let whole = cut(500);
    for width in [1, 31, 32, 200] {
        assert!(cut(width) == whole, "blocks of {width}");
    }
}

#[test]
fn incremental_learning_does_not_depend_on_the_unit_of_the_samples() {
    let X = random_matrix::<f64>(8, 300, 16);
    let scaled = Mat::from_fn(8, 300, |t, i| X[(t, i)] * 2f64.powi(-40));
    for (name, learner) in learners::<f64>() {
        let (a, b) =
            (learner.learn(X.as_ref(), 0).unwrap(), learner.learn(scaled.as_ref(), 0).unwrap());
        close(a.dictionary.as_ref(), b.dictionary.as_ref(), 1e-9);
        assert_eq!(a.n_replaced, b.n_replaced, "{name}");
    }
}

#[test]
fn incremental_learning_is_invariant_under_rotation() {
    let X = random_matrix::<f64>(14, 300, 23);
    let Q = crate::pursuit::testing::orthonormal(14, 24);
    let rotated = &Q * &X;
    for (name, learner) in learners::<f64>() {
        let learn = |X: &Mat<f64>| learner.learn(X.as_ref(), 0).unwrap();
        let (a, b) = (learn(&X), learn(&rotated));
        assert_eq!(a.n_replaced, b.n_replaced, "{name}");
        close((&Q * &a.dictionary).as_ref(), b.dictionary.as_ref(), 1e-6);
    }
}

#[test]
fn a_learner_grows_with_its_samples() {
    let X = random_matrix::<f64>(8, 400, 17);
    let padded = Mat::from_fn(11, 400, |t, i| if t < 8 { X[(t, i)] } else { 0.0 });
    let params = OnlineParams { n_atoms: 12, batch_size: 50, ..Default::default() };
    let mut grown = params.start(X.as_ref(), 0).unwrap();
    let mut plain = grown.clone();
    grown.add_block(X.subcols(0, 210)).unwrap();
    grown.grow(11).unwrap();
    grown.add_block(padded.subcols(210, 190)).unwrap();
    plain.add_block(X.as_ref()).unwrap();
    // new features that are zero change nothing
    let (grown, plain) = (grown.finish().unwrap(), plain.finish().unwrap());
    close(grown.dictionary.subrows(0, 8), plain.dictionary.as_ref(), 1e-10);
    assert_eq!(grown.dictionary.subrows(8, 3).norm_max(), 0.0);
    let mut small = params.start(X.as_ref(), 0).unwrap();
    assert!(matches!(small.grow(7), Err(LkdlError::Parameter { .. })));
}

#[test]
fn atoms_without_users_are_replaced_and_zero_samples_counted() {
    let mut X = random_matrix::<f64>(8, 300, 18);
    X.col_as_slice_mut(4).fill(0.0);
    let mut start = random_unit_columns::<f64>(8, 12, 19);
    let copy = start.col_as_slice(2).to_vec();
    start.col_as_slice_mut(9).copy_from_slice(&copy);
    let initial = InitialAtoms::Given(start);
    let params = OnlineParams { n_atoms: 12, initial, max_iters: 1, ..Default::default() };
    let learned = params.fit(X.as_ref()).unwrap();
    assert_eq!(learned.warnings, [Warning::ZeroSamples { count: 1 }]);
    assert!(learned.n_replaced >= 1);
    assert_unit(&learned.dictionary);
    let zeros = Mat::<f64>::zeros(8, 30);
    assert!(matches!(params.fit(zeros.as_ref()), Err(LkdlError::AllZero { .. })));
}

#[test]
fn parameters_out_of_range_are_named() {
    let X = random_matrix::<f64>(8, 60, 20);
    let name = |result: Result<Learned<f64>, LkdlError>| match result {
        Err(LkdlError::Parameter { name, .. }) => name,
        other => panic!("accepted: {:?}", other.map(|l| l.errors)),
    };
    let online = OnlineParams { n_atoms: 10, ..Default::default() };
    let fit = |params: OnlineParams<f64>| name(params.fit(X.as_ref()));
    assert_eq!(fit(OnlineParams { batch_size: 0, ..online.clone() }), "batch_size");
    assert_eq!(fit(OnlineParams { fading: -1.0, ..online.clone() }), "fading");
    assert_eq!(fit(OnlineParams { n_atoms: 0, ..online.clone() }), "n_atoms");
    let coding = OnlineCoding::Lasso { penalty: Penalty::Relative(0.0) };
    assert_eq!(fit(OnlineParams { coding, ..online.clone() }), "relative penalty");
    let coding = OnlineCoding::Omp { sparsity: 11 };
    assert_eq!(fit(OnlineParams { coding, ..online }), "sparsity");
    let fit = |params: RlsParams<f64>| name(params.fit(X.as_ref()));
    assert_eq!(fit(RlsParams { forgetting: 1.5, ..rls(10, 2) }), "forgetting");
    assert_eq!(fit(RlsParams { batch_size: 0, ..rls(10, 2) }), "batch_size");
    let open = RlsParams { forgetting: 0.9, ..rls(10, 2) };
    let error = open.start(X.as_ref(), 0).map(|_| ()).unwrap_err();
    assert!(matches!(error, LkdlError::Parameter { name: "total", .. }), "{error}");
}

#[test]
fn a_learner_fed_by_blocks_can_be_stopped() {
    struct StopAtOnce;
    impl Monitor for StopAtOnce {
        fn cancelled(&self) -> bool {
            true
        }
    }
    let X = random_matrix::<f64>(8, 300, 21);
    for (name, learner) in learners::<f64>() {
        let stopped = learner.learn_monitored(X.as_ref(), 0, &StopAtOnce);
        assert!(matches!(stopped, Err(LkdlError::Cancelled)), "{name}");
    }
    let start = random_unit_columns::<f64>(8, 10, 22);
    let stopped = mod_params(&start).learn_source(&mut source(&X, 50), 0, &StopAtOnce);
    assert!(matches!(stopped, Err(LkdlError::Cancelled)));
}
