//! Lloyd's k-means: centres such that every sample is near one of them.
//!
//! ```math
//! \min_{\mu}\sum_i\min_j\|x_i-\mu_j\|^2
//! ```
//! Assignment by products: the nearest centre maximises x_iᵀμ_j − ½‖μ_j‖²; per iteration 2Ncp
//! flops, O(cp + N) memory. Stop: labels unchanged, or the inertia falls by less than `tol`
//! (relative), or `max_iters` steps. An empty cluster restarts at the sample farthest from its own
//! centre.
//!
//! Neutral ground: landmarks and starting atoms may both be centres, and neither knows the other.

use crate::error::LkdlError;
use crate::linalg::product_into;
use crate::matrix::{BLOCK, Columns, col, columns_of, map_blocks, subcols};
use crate::real::Real;
use crate::vector::{dot_wide, norm_sq, sum_zip, zip_in_place};
use faer::Mat;
use rayon::prelude::*;

/// Up to `max_iters` Lloyd steps from the given centres; a centre that no sample can use is
/// dropped.
pub(crate) fn lloyd<T: Real>(
    X: Columns<'_, T>,
    mut centres: Mat<T>,
    max_iters: usize,
    tol: f64,
) -> Result<Mat<T>, LkdlError> {
    let (mut labels_before, mut inertia_before) = (Vec::new(), f64::INFINITY);
    for _ in 0..max_iters {
        let (labels, distances) = assign(X, columns_of(&centres));
        let inertia: f64 = distances.iter().sum();
        if !inertia.is_finite() {
            return Err(LkdlError::NoConvergence { what: "k-means" });
        }
        // An infinite inertia before the first step: its fall is no number, and never small.
        let settled = inertia_before - inertia < tol * inertia_before;
        if settled || labels == labels_before {
            break;
        }
        centres = update(X, &labels, &distances, centres.ncols());
        (labels_before, inertia_before) = (labels, inertia);
    }
    Ok(centres)
}

/// The nearest centre of every sample, the lowest index of equals, and the squared distance to it.
fn assign<T: Real>(X: Columns<'_, T>, centres: Columns<'_, T>) -> (Vec<u32>, Vec<f64>) {
    // With m the mean centre and δ_j = μ_j − m, the score differs from xᵀδ_j − ½‖δ_j‖² − mᵀδ_j by
    // a term without j: far from the origin the large common part never enters the product.
    let (p, c) = (centres.nrows(), centres.ncols());
    let mean: Vec<T> = (0..p)
        .map(|r| T::of((0..c).map(|j| centres[(r, j)].wide()).sum::<f64>() / c as f64))
        .collect();
    let mut delta = centres.to_owned();
    let mut offset = vec![T::of(0.0); c];
    for j in 0..c {
        let delta = delta.col_as_slice_mut(j);
        zip_in_place(delta, &mean, |y, m| y - m);
        offset[j] = T::of(0.5 * norm_sq(delta) + dot_wide(delta, &mean));
    }
    let blocks = map_blocks(X.ncols(), BLOCK, |range| {
        let block = subcols(X, range);
        let mut scores = Mat::zeros(c, block.ncols());
        product_into(scores.as_mut(), delta.transpose(), block.as_dyn_stride());
        (0..block.ncols())
            .map(|i| {
                let scores = scores.col_as_slice_mut(i);
                zip_in_place(scores, &offset, |s, o| s - o);
                let j = argmax(scores);
                let gap = sum_zip(col(block, i), col(centres, j), |a, b| (a - b) * (a - b));
                (j as u32, gap.wide())
            })
            .collect::<Vec<_>>()
    });
    blocks.into_iter().flatten().unzip()
}

/// Index of the first largest value: the largest over fixed lanes, then its first place.
fn argmax<T: Real>(values: &[T]) -> usize {
    const LANES: usize = 16;
    let larger = |a: T, b: T| if b > a { b } else { a };
    let (chunks, tail) = values.as_chunks::<LANES>();
    let mut lanes = [T::neg_infinity(); LANES];
    for chunk in chunks {
        for u in 0..LANES {
            lanes[u] = larger(lanes[u], chunk[u]);
        }
    }
    let best = lanes.iter().chain(tail).fold(T::neg_infinity(), |a, &b| larger(a, b));
    values.iter().position(|&v| v == best).unwrap_or(0)
}

/// The means of the clusters, each summed in `f64` in the order of its samples.
fn update<T: Real>(X: Columns<'_, T>, labels: &[u32], distances: &[f64], c: usize) -> Mat<T> {
    let mut members = vec![Vec::new(); c];
    for (i, &j) in labels.iter().enumerate() {
        members[j as usize].push(i);
    }
    let empty = members.iter().filter(|m| m.is_empty()).count();
    let mut restarts = farthest_distinct(X, distances, empty).into_iter();
    // A restart is the mean of one sample; a cluster left without one is dropped.
    let clusters: Vec<Vec<usize>> = members
        .into_iter()
        .map(|m| if m.is_empty() { restarts.next().into_iter().collect() } else { m })
        .filter(|m: &Vec<usize>| !m.is_empty())
        .collect();
    let mut centres = Mat::zeros(X.nrows(), clusters.len());
    centres.par_col_chunks_mut(1).zip(&clusters).for_each(|(mut centre, members)| {
        let mut sum = vec![0.0; X.nrows()];
        for &i in members {
            for (s, v) in sum.iter_mut().zip(col(X, i)) {
                *s += v.wide();
            }
        }
        for (r, s) in sum.iter().enumerate() {
            centre[(r, 0)] = T::of(s / members.len() as f64);
        }
    });
    centres
}

/// The `count` samples farthest from their centres, no two equal and none on its centre.
fn farthest_distinct<T: Real>(X: Columns<'_, T>, distances: &[f64], count: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::with_capacity(count);
    if count == 0 {
        return chosen;
    }
    let mut order: Vec<usize> = (0..X.ncols()).filter(|&i| distances[i] > 0.0).collect();
    order.sort_unstable_by(|&a, &b| distances[b].total_cmp(&distances[a]).then(a.cmp(&b)));
    for i in order {
        if chosen.len() == count {
            break;
        }
        if !chosen.iter().any(|&j| col(X, i) == col(X, j)) {
            chosen.push(i);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random_matrix, same_for_any_thread_count};

    fn naive_inertia<T: Real>(X: &Mat<T>, centres: &Mat<T>) -> f64 {
        let distance = |i: usize, j: usize| -> f64 {
            (0..X.nrows()).map(|r| (X[(r, i)].wide() - centres[(r, j)].wide()).powi(2)).sum()
        };
        (0..X.ncols())
            .map(|i| (0..centres.ncols()).map(|j| distance(i, j)).fold(f64::INFINITY, f64::min))
            .sum()
    }

    fn first_columns<T: Real>(X: &Mat<T>, c: usize) -> Mat<T> {
        X.subcols(0, c).to_owned()
    }

    fn inertia_never_rises<T: Real>() {
        let X = random_matrix::<T>(4, 600, 1);
        let mut before = f64::INFINITY;
        for steps in 1..12 {
            let centres = lloyd(columns_of(&X), first_columns(&X, 20), steps, 0.0).unwrap();
            let inertia = naive_inertia(&X, &centres);
            assert!(inertia <= before * (1.0 + 16.0 * T::EPS), "{inertia} after {before}");
            before = inertia;
        }
        assert!(before < 0.75 * naive_inertia(&X, &first_columns(&X, 20)));
    }

    #[test]
    fn a_lloyd_step_never_raises_the_inertia() {
        inertia_never_rises::<f64>();
        inertia_never_rises::<f32>();
    }

    #[test]
    fn labels_and_distances_are_those_of_the_nearest_centre_far_from_the_origin_too() {
        for offset in [0.0, 1000.0] {
            let noise = random_matrix::<f32>(5, 400, 2);
            let X = Mat::from_fn(5, 400, |r, i| noise[(r, i)] + offset);
            let centres = first_columns(&X, 37);
            let (labels, distances) = assign(columns_of(&X), columns_of(&centres));
            for (i, &label) in labels.iter().enumerate() {
                let distance = |j: usize| -> f64 {
                    (0..5).map(|r| (X[(r, i)].wide() - centres[(r, j)].wide()).powi(2)).sum()
                };
                let nearest = (0..37).map(distance).fold(f64::INFINITY, f64::min);
                assert!(distance(label as usize) <= nearest + 1e-2, "{offset}");
                assert!((distances[i] - distance(label as usize)).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn equal_scores_go_to_the_lowest_index() {
        for n in [1, 15, 16, 17, 40] {
            let mut values = vec![1.0f32; n];
            assert_eq!(argmax(&values), 0);
            values[n / 2..].fill(2.0);
            assert_eq!(argmax(&values), n / 2);
        }
    }

    #[test]
    fn empty_clusters_restart_at_the_farthest_distinct_samples() {
        // Three far copies of one point and a farther one; three starts that attract nobody.
        let at = [0.0, 0.1, 0.2, 10.0, 10.0, 10.0, 30.0];
        let X = Mat::from_fn(1, 7, |_, i| at[i]);
        let start = Mat::from_fn(1, 4, |_, j| [0.1, -90.0, -91.0, -92.0][j]);
        let (labels, distances) = assign(columns_of(&X), columns_of(&start));
        assert_eq!(labels, [0; 7]);
        let after = update(columns_of(&X), &labels, &distances, 4);
        assert_eq!(after.row(0).iter().skip(1).copied().collect::<Vec<_>>(), [30.0, 10.0, 0.0]);
        // With no distinct sample left to restart at, the centre is dropped.
        let two = Mat::from_fn(1, 4, |_, i| f64::from(i % 2 == 0));
        let centres = lloyd(columns_of(&two), Mat::from_fn(1, 3, |_, j| j as f64), 5, 0.0).unwrap();
        assert_eq!(centres.ncols(), 2);
    }

    #[test]
    fn overflow_is_an_error() {
        let X = Mat::from_fn(2, 9, |_, i| 1e30f32 * (i as f32 + 1.0));
        assert!(lloyd(columns_of(&X), first_columns(&X, 2), 5, 0.0).is_err());
    }

    #[test]
    fn bits_do_not_depend_on_the_thread_count() {
        let X = random_matrix::<f32>(6, 900, 3);
        same_for_any_thread_count(|| {
            lloyd(columns_of(&X), first_columns(&X, 50), 6, 1e-4).unwrap()
        });
    }
}
