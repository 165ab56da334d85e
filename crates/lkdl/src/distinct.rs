//! Which samples are different: duplicates among landmarks would make W singular, so equal
//! columns count as one sample. Hash every column, sort, compare only equal hashes: O(Np).

use crate::matrix::{BLOCK, Columns, col, map_blocks};
use crate::real::Real;

/// An odd multiplier with well spread bits (2⁶⁴/φ). A poor hash would cost time, never truth.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The first index of every group of equal columns, ascending.
pub(crate) fn distinct<T: Real>(X: Columns<'_, T>) -> Vec<usize> {
    let hashes = map_blocks(X.ncols(), BLOCK, |range| {
        range.map(|i| (hash(col(X, i)), i)).collect::<Vec<_>>()
    });
    let mut hashes = hashes.concat();
    hashes.sort_unstable();
    let mut first = Vec::with_capacity(hashes.len());
    for group in hashes.chunk_by(|a, b| a.0 == b.0) {
        let start = first.len();
        for &(_, i) in group {
            if !first[start..].iter().any(|&j| col(X, i) == col(X, j)) {
                first.push(i);
            }
        }
    }
    first.sort_unstable();
    first
}

/// Equal columns have equal hashes; 0 and −0 are equal.
pub(crate) fn hash<T: Real>(x: &[T]) -> u64 {
    x.iter().fold(0, |h: u64, v| {
        let bits = (v.wide() + 0.0).to_bits();
        (h.rotate_left(23) ^ bits).wrapping_mul(MULTIPLIER)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::columns_of;
    use crate::testing::{random_matrix, same_for_any_thread_count};
    use faer::Mat;

    #[test]
    fn equal_columns_are_found_once_by_their_first_index() {
        let base = random_matrix::<f32>(3, 300, 1);
        let X = Mat::from_fn(3, 900, |i, j| base[(i, (7 * j) % 300)]);
        assert_eq!(distinct(columns_of(&X)), (0..300).collect::<Vec<_>>());
        same_for_any_thread_count(|| distinct(columns_of(&X)));
    }

    #[test]
    fn negative_zero_is_zero_and_close_is_not_equal() {
        let values = [0.0, -0.0, 1.0, 1.0 + f64::EPSILON, 1.0];
        let X = Mat::from_fn(1, 5, |_, j| values[j]);
        assert_eq!(distinct(columns_of(&X)), [0, 2, 3]);
    }
}
