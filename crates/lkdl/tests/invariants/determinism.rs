//! Same seed, same machine, same bits: for every sampler, map and learner, whatever the number of
//! threads.

use crate::common::{bits, clouds, samplers};
use lkdl::dictionary::{AtomUpdate, KernelModParams};
use lkdl::map::fastfood::FastfoodParams;
use lkdl::map::fourier::FourierParams;
use lkdl::prelude::*;
use rayon::ThreadPool;

const GAUSSIAN: Kernel = Kernel::Gaussian { sigma: 1.0 };

fn pools() -> Vec<ThreadPool> {
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    [1, 2, 3, 8].map(pool).into()
}

fn nystroem(sampler: &Sampler, variant: Variant, centered: bool) -> MapParams {
    MapParams::Nystroem(NystroemParams {
        kernel: GAUSSIAN,
        sampler: sampler.clone(),
        n_landmarks: LandmarkCount::Exact(24),
        // Cholesky keeps all landmarks, and given ones may be few
        rank: match (variant, sampler) {
            (Variant::Cholesky, _) | (_, Sampler::Given(_)) => Rank::Standard,
            _ => Rank::Exact(16),
        },
        variant,
        centered,
        seed: 3,
        ..Default::default()
    })
}

/// Every sampler with every variant, and the maps without landmarks.
fn maps() -> Vec<MapParams> {
    let mut maps = vec![
        MapParams::None,
        MapParams::Fourier(FourierParams { sigma: 1.0, rank: 16, seed: 3 }),
        MapParams::Fastfood(FastfoodParams { sigma: 1.0, rank: 16, seed: 3 }),
    ];
    for sampler in samplers() {
        maps.push(nystroem(&sampler, Variant::Standard, false));
        maps.push(nystroem(&sampler, Variant::Cholesky, true));
        maps.push(nystroem(&sampler, Variant::Optimal, false));
    }
    maps
}

/// Everything a fit and a prediction give, as bits.
type Outcome = (Vec<usize>, Vec<u64>, Vec<u64>, Vec<Vec<u64>>, Vec<Vec<f64>>);

/// More than one block of samples, so that there is work to share.
fn outcome<T: Real, P: Learner<T> + Clone>(map: &MapParams, learner: &P) -> Outcome {
    let ((X, labels), (new, _)) = (clouds::<T>(6, 300, 3, 1), clouds::<T>(6, 270, 3, 2));
    let params = LkdlParams {
        prepare: PrepareParams { steps: vec![Step::Standardize] },
        map: map.clone(),
        method: ClassDictionariesParams { learner: learner.clone(), sparsity: 2 },
        memory: None,
    };
    let model = params.fit(X.as_ref(), &labels).unwrap();
    let predictions = model.predict(new.as_ref()).unwrap();
    let learned = model.classifier().learned();
    (
        predictions.labels,
        bits(predictions.scores.as_ref()),
        bits(model.transform(new.as_ref()).unwrap().as_ref()),
        learned.iter().map(|class| bits(class.dictionary.as_ref())).collect(),
        learned.iter().map(|class| class.errors.clone()).collect(),
    )
}

fn same_bits<T: Real, P: Learner<T> + Clone + Sync + Send>(name: &str, learner: P) {
    let pools = pools();
    for map in maps() {
        let one = pools[0].install(|| outcome::<T, P>(&map, &learner));
        for pool in &pools[1..] {
            let threads = pool.current_num_threads();
            let other = pool.install(|| outcome::<T, P>(&map, &learner));
            assert!(other == one, "{name} {} {threads} threads: {map:?}", T::NAME);
        }
    }
}

fn ksvd<T: Real>(update: AtomUpdate) -> KsvdParams<T> {
    KsvdParams { n_atoms: 8, sparsity: 2, max_iters: 2, update, seed: 3, ..Default::default() }
}

fn optimal_directions<T: Real>() -> ModParams<T> {
    ModParams { n_atoms: 8, sparsity: 2, max_iters: 2, seed: 3, ..Default::default() }
}

#[test]
fn ksvd_pipelines_give_the_same_bits_for_any_number_of_threads() {
    same_bits::<f64, _>("K-SVD", ksvd(AtomUpdate::Approximate));
    same_bits::<f32, _>("K-SVD", ksvd(AtomUpdate::Approximate));
}

#[test]
fn exact_ksvd_pipelines_give_the_same_bits_for_any_number_of_threads() {
    same_bits::<f64, _>("exact K-SVD", ksvd(AtomUpdate::Exact));
    same_bits::<f32, _>("exact K-SVD", ksvd(AtomUpdate::Exact));
}

#[test]
fn mod_pipelines_give_the_same_bits_for_any_number_of_threads() {
    same_bits::<f64, _>("MOD", optimal_directions());
    same_bits::<f32, _>("MOD", optimal_directions());
}

fn fddl_outcome<T: Real>(map: &MapParams, method: &FddlParams<T>) -> (Vec<u64>, Vec<f64>) {
    let ((X, labels), (new, _)) = (clouds::<T>(6, 500, 3, 1), clouds::<T>(6, 90, 3, 2));
    let prepare = PrepareParams { steps: vec![Step::UnitNorm] };
    let params = LkdlParams { prepare, map: map.clone(), method: method.clone(), memory: None };
    let model = params.fit(X.as_ref(), &labels).unwrap();
    let scores = model.predict(new.as_ref()).unwrap().scores;
    (bits(scores.as_ref()), model.classifier().training().objectives.clone())
}

fn fddl_same_bits<T: Real>() {
    let pools = pools();
    let maps = [MapParams::None, nystroem(&Sampler::default(), Variant::Standard, false)];
    for form in [FddlForm::Full, FddlForm::Simplified] {
        let method =
            FddlParams::<T> { form, n_atoms: 5, max_iters: 2, seed: 3, ..Default::default() };
        for map in &maps {
            let one = pools[0].install(|| fddl_outcome(map, &method));
            for pool in &pools[1..] {
                let other = pool.install(|| fddl_outcome(map, &method));
                let threads = pool.current_num_threads();
                assert!(other == one, "{form:?} {} {threads} threads: {map:?}", T::NAME);
            }
        }
    }
}

#[test]
fn fddl_pipelines_give_the_same_bits_for_any_number_of_threads() {
    fddl_same_bits::<f64>();
    fddl_same_bits::<f32>();
}

#[test]
fn the_seed_changes_the_outcome() {
    // Else the tests above would compare constants.
    let learner = |seed| KsvdParams { seed, ..ksvd::<f64>(AtomUpdate::Approximate) };
    let map = nystroem(&Sampler::Uniform, Variant::Standard, false);
    assert_ne!(outcome(&map, &learner(1)), outcome(&map, &learner(2)));
    let MapParams::Nystroem(params) = &map else { unreachable!() };
    let other = MapParams::Nystroem(NystroemParams { seed: 4, ..params.clone() });
    assert_ne!(outcome(&map, &learner(1)), outcome(&other, &learner(1)));
}

#[test]
fn exact_kernel_pipelines_give_the_same_bits_for_any_number_of_threads() {
    fn outcome<T: Real, P: KernelLearner<T> + Clone>(learner: &P) -> (Vec<u64>, Vec<Vec<u64>>) {
        let ((X, labels), (new, _)) = (clouds::<T>(6, 300, 3, 1), clouds::<T>(6, 270, 3, 2));
        let params = LkdlParams {
            prepare: PrepareParams { steps: vec![Step::Standardize] },
            map: MapParams::None,
            method: KernelDictionariesParams {
                kernel: GAUSSIAN,
                learner: learner.clone(),
                sparsity: 2,
                memory: None,
            },
            memory: None,
        };
        let model = params.fit(X.as_ref(), &labels).unwrap();
        let classes = model.classifier().classes().iter();
        let weights = classes.map(|class| bits(class.learned().atom_weights.as_ref())).collect();
        (bits(model.predict(new.as_ref()).unwrap().scores.as_ref()), weights)
    }
    fn same_bits<T: Real, P: KernelLearner<T> + Clone + Send>(name: &str, learner: P) {
        let pools = pools();
        let one = pools[0].install(|| outcome::<T, P>(&learner));
        for pool in &pools[1..] {
            let other = pool.install(|| outcome::<T, P>(&learner));
            assert!(other == one, "{name} {} {} threads", T::NAME, pool.current_num_threads());
        }
    }
    fn all<T: Real>() {
        for update in [KernelUpdate::Approximate, KernelUpdate::Exact, KernelUpdate::Reference] {
            let learner = KernelKsvdParams {
                n_atoms: 8,
                sparsity: 2,
                max_iters: 3,
                update,
                seed: 3,
                ..Default::default()
            };
            same_bits::<T, _>("kernel K-SVD", learner);
        }
        let learner =
            KernelModParams { n_atoms: 8, sparsity: 2, max_iters: 3, ..Default::default() };
        same_bits::<T, _>("kernel MOD", learner);
    }
    all::<f64>();
    all::<f32>();
}
