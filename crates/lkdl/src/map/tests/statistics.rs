//! Sums over samples that add: the map from them is the map from the samples.

use super::*;
use crate::error::LkdlError;
use crate::testing::bits;

fn statistics<T: Real>(panel: &Panel<T>, X: &Mat<T>, blocks: &[usize]) -> MapStatistics<T> {
    let mut statistics = MapStatistics::new(panel.clone());
    for &b in blocks {
        statistics.add_block(b, X.subcols(30 * b, 30)).unwrap();
    }
    statistics
}

fn shards_give_the_same_bits<T: Real>() {
    let X = samples::<T>(5, 630, 1);
    for kernel in [GAUSSIAN, SQUARE, Kernel::Chi2Additive] {
        let panel = Panel::new(&kernel, X.subcols(0, 20)).unwrap();
        let all: Vec<usize> = (0..21).collect();
        let (_, one) = statistics(&panel, &X, &all).finish().unwrap();
        let shard =
            |s: usize| -> Vec<usize> { (0..21).rev().filter(|b| b * 8 / 21 == s).collect() };
        let mut merged = MapStatistics::new(panel.clone());
        for s in (0..8).rev() {
            merged.merge(statistics(&panel, &X, &shard(s))).unwrap();
        }
        let (_, merged) = merged.finish().unwrap();
        assert_eq!(bits(&one.cross_gram), bits(&merged.cross_gram));
        assert_eq!(one, merged);
        // and they are the sums
        let C = convert::<T, f64>(panel.evaluate(X.as_ref()).unwrap().as_ref());
        near(&one.cross_gram, &(&C * C.transpose()), 1e-10f64.max(4.0 * T::EPS), &kernel);
        assert_eq!(one.n_samples, 630);
        for j in 0..20 {
            let sum: f64 = C.row(j).iter().sum();
            assert!((one.kernel_sum[j] / sum - 1.0).abs() < 1e-10, "{kernel}");
        }
        let trace: f64 = kernel.diagonal(X.as_ref()).unwrap().iter().sum();
        assert!((one.trace / trace - 1.0).abs() < 1e-12);
    }
}

#[test]
fn one_shard_and_eight_shards_give_the_same_sums_bit_for_bit() {
    shards_give_the_same_bits::<f64>();
    shards_give_the_same_bits::<f32>();
}

fn map_from_sums_is_the_map<T: Real>(tol: f64) {
    let X = samples::<T>(5, 630, 2);
    let all: Vec<usize> = (0..21).collect();
    for variant in VARIANTS {
        for centered in [false, true] {
            let params = NystroemParams { centered, ..variant_params(variant, &GAUSSIAN, 20, 9) };
            let landmarks = Landmarks::from_points(X.subcols(0, 20));
            let map = params.fit_landmarks(X.as_ref(), &landmarks).unwrap();
            let F = map.transform(X.as_ref()).unwrap();
            let (panel, sums) = statistics(map.panel(), &X, &all).finish().unwrap();
            let again = params.fit_sums(panel, &sums).unwrap();
            let G = again.transform(X.as_ref()).unwrap();
            let what = format!("{variant:?} {centered} {}", T::NAME);
            near(&inner_products(G.as_ref()), &inner_products(F.as_ref()), tol, &what);
            let error = map.trace_error(X.as_ref(), F.as_ref()).unwrap();
            let by_sums = again.trace_error_by(&sums).unwrap();
            assert!((by_sums - error).abs() < tol, "{what}: {by_sums} {error}");
        }
    }
    let by_trace = NystroemParams { rank: Rank::Trace(0.05), ..params(&GAUSSIAN, 20, 1) };
    let landmarks = Landmarks::from_points(X.subcols(0, 20));
    let map = by_trace.fit_landmarks(X.as_ref(), &landmarks).unwrap();
    let (panel, sums) = statistics(map.panel(), &X, &all).finish().unwrap();
    assert_eq!(by_trace.fit_sums(panel, &sums).unwrap().rank(), map.rank());
}

#[test]
fn the_map_from_sums_is_the_map_from_the_samples() {
    map_from_sums_is_the_map::<f64>(1e-10);
    // S is summed in another order: where it cuts close eigenvalues apart, the best nine
    // directions turn by its rounding over their gap.
    map_from_sums_is_the_map::<f32>(1e-3);
}

#[test]
fn bad_blocks_and_other_landmarks_are_named() {
    let mut X = samples::<f64>(5, 630, 3);
    let panel = Panel::new(&GAUSSIAN, X.subcols(0, 20)).unwrap();
    let mut sums = statistics(&panel, &X, &[0, 1]);
    X[(3, 215)] = f64::INFINITY;
    let error = sums.add_block(7, X.subcols(210, 30)).unwrap_err().to_string();
    assert!(error.starts_with("block 7: samples holds inf at feature 3 of sample 5"), "{error}");
    let error = sums.add_block(2, X.subrows(0, 4).subcols(0, 9)).unwrap_err();
    assert!(matches!(&error, LkdlError::InBlock { block: 2, .. }), "{error}");
    let error = sums.add_block(2, X.subcols(0, 0)).unwrap_err();
    assert!(error.to_string().starts_with("block 2: samples is empty"), "{error}");
    assert_eq!(sums.add_block(1, X.subcols(0, 9)), Err(LkdlError::RepeatedBlock { block: 1 }));
    let other = Panel::new(&GAUSSIAN, X.subcols(1, 20)).unwrap();
    assert!(matches!(sums.merge(MapStatistics::new(other)), Err(LkdlError::Unsupported { .. })));
    let nothing = MapStatistics::new(panel.clone()).finish();
    assert!(matches!(nothing, Err(LkdlError::Empty { .. })));
    let (_, total) = sums.finish().unwrap();
    let fewer = Panel::new(&GAUSSIAN, X.subcols(0, 19)).unwrap();
    let error = params(&GAUSSIAN, 19, 5).fit_sums(fewer, &total).unwrap_err();
    assert!(matches!(error, LkdlError::Shape { expected: 19, got: 20, .. }), "{error}");
    let mut gap = statistics(&panel, &X, &[0, 2]);
    gap.merge(statistics(&panel, &X, &[4])).unwrap();
    assert!(matches!(gap.finish(), Err(LkdlError::MissingBlock { block: 1 })));
}
