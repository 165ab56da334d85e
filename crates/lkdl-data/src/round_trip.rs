//! The round trip that every format of arrays must survive, for their tests.

use crate::table::{Labels, Table};
use faer::Mat;

/// Checks that `there_and_back` gives back tables of awkward shapes, values and labels. A format
/// may name the features.
pub(crate) fn check_round_trip(there_and_back: impl Fn(&Table) -> Table) {
    let awkward = [0.1, -0.0, f64::MIN_POSITIVE / 4.0, f64::MAX, -1e300, 3.0];
    let labels: [Option<[&str; 3]>; 7] = [
        None,
        Some(["3", "-1", "3"]),
        Some(["9007199254740993", "-9223372036854775808", "1"]),
        Some(["18446744073709551615", "18446744073709551614", "1"]),
        Some(["cat", "ant", "cat"]),
        Some(["", "bär 🐻", " padded "]),
        Some(["0.5", "1", "0.5"]),
    ];
    for names in labels {
        for (p, n) in [(1, 1), (1, 3), (2, 1), (2, 3)] {
            let samples = Mat::from_fn(p, n, |t, i| awkward[p * i + t]);
            let labels = names.map(|names| Labels::from_texts(&names[..n]));
            let table = Table::new("x", samples, labels).unwrap();
            let back = there_and_back(&table);
            assert_eq!(back.checksum(), table.checksum(), "{table:?}");
            assert_eq!(Table { feature_names: None, ..back }, table);
        }
    }
}
