//! The approximate update of one atom d and of its row g over its users I, by one step of the power
//! method on E_I + d gᵀ (Rubinstein et al. 2008):
//!
//! ```text
//! a = (E_I g + ‖g‖²d)/‖·‖;  g' = E_Iᵀa + (aᵀd)g;  E_I += d gᵀ − a g'ᵀ;  d = a
//! ```
//!
//! Atoms follow one another, since each changes the residuals of the next; so it is the users of one
//! atom that are shared among threads, in tasks of a fixed size: sums have one order.

use crate::matrix::{Columns, col, columns_of};
use crate::real::Real;
use crate::vector::{add_four, axpy, dot_simd, dot_wide, norm_sq};
use faer::prelude::ReborrowMut;
use faer::{ContiguousFwd, Mat, MatMut};
use num_traits::Float;
use pulp::{Arch, Simd, WithSimd};

/// Residual entries of one task: some microseconds of work.
const TASK: usize = 1 << 14;

/// A signal that uses the atom, and where in the codes it does; in ascending order of signals.
pub(super) type User = (usize, usize);

/// Refits `atom` and its row `g` and keeps E in step; `false` if the atom has vanished (‖a‖ at most
/// `floor`·‖g‖): then g is 0, and the atom is left as it is.
pub(super) fn refit<T: Real>(
    E: &mut Mat<T>,
    atom: &mut [T],
    users: &[User],
    g: &mut [T],
    floor: f64,
) -> bool {
    let of_task = (TASK / atom.len()).max(1);
    let sq_g = norm_sq(g);
    let mut a = combined(columns_of(E), users, g, of_task);
    axpy(&mut a, T::of(sq_g), atom);
    let norm = norm_sq(&a).sqrt();
    if norm <= floor * sq_g.sqrt() {
        for (&(i, _), g) in users.iter().zip(g.iter_mut()) {
            axpy(E.col_as_slice_mut(i), *g, atom);
            *g = T::of(0.0);
        }
        return false;
    }
    a.iter_mut().for_each(|v| *v = T::of(v.wide() / norm));
    let along = T::of(dot_wide(&a, atom));
    if let Some(E) = E.as_mut().try_as_col_major_mut() {
        Exchange { old: atom, new: &a, along, of_task }.of(E, 0, users, g);
    }
    atom.copy_from_slice(&a);
    true
}

/// E_I g, summed over a tree of tasks.
fn combined<T: Real>(E: Columns<'_, T>, users: &[User], g: &[T], of_task: usize) -> Vec<T> {
    if let Some(half) = half(users.len(), of_task) {
        let (left, right) = users.split_at(half);
        let (g_left, g_right) = g.split_at(half);
        let (mut sum, other) = rayon::join(
            || combined(E, left, g_left, of_task),
            || combined(E, right, g_right, of_task),
        );
        axpy(&mut sum, T::of(1.0), &other);
        return sum;
    }
    let mut sum = vec![T::of(0.0); E.nrows()];
    let (users4, users_rest) = users.as_chunks::<4>();
    let (g4, g_rest) = g.as_chunks::<4>();
    for (users, &g) in users4.iter().zip(g4) {
        add_four(&mut sum, g, users.map(|(i, _)| col(E, i)));
    }
    for (&(i, _), &g) in users_rest.iter().zip(g_rest) {
        axpy(&mut sum, g, col(E, i));
    }
    sum
}

/// Where so many users are cut in two, at whole tasks; `None` if they are one task.
fn half(n_users: usize, of_task: usize) -> Option<usize> {
    (n_users > of_task).then(|| n_users.div_ceil(of_task).div_ceil(2) * of_task)
}

/// The old atom gives way to the new one in the residuals of its users.
struct Exchange<'a, T> {
    old: &'a [T],
    new: &'a [T],
    /// aᵀd.
    along: T,
    of_task: usize,
}

impl<T: Real> Exchange<'_, T> {
    /// For the columns of E from signal `first` on.
    fn of(
        &self,
        E: MatMut<'_, T, usize, usize, ContiguousFwd>,
        first: usize,
        users: &[User],
        g: &mut [T],
    ) {
        let Some(half) = half(users.len(), self.of_task) else {
            return Arch::new().dispatch(Task { exchange: self, E, first, users, g });
        };
        let (left, right) = users.split_at(half);
        let (g_left, g_right) = g.split_at_mut(half);
        let middle = right[0].0;
        let (E_left, E_right) = E.split_at_col_mut(middle - first);
        rayon::join(
            || self.of(E_left, first, left, g_left),
            || self.of(E_right, middle, right, g_right),
        );
    }
}

/// One task of an [`Exchange`], compiled for each instruction set.
struct Task<'a, T> {
    exchange: &'a Exchange<'a, T>,
    E: MatMut<'a, T, usize, usize, ContiguousFwd>,
    first: usize,
    users: &'a [User],
    g: &'a mut [T],
}

impl<T: Real> WithSimd for Task<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { exchange: &Exchange { old, new, along, .. }, mut E, first, users, g } = self;
        for (&(i, _), g) in users.iter().zip(g) {
            let e = E.rb_mut().col_mut(i - first).as_slice_mut();
            let fresh = Float::mul_add(along, *g, dot_simd(simd, e, new));
            add_two(simd, e, *g, old, T::of(0.0) - fresh, new);
            *g = fresh;
        }
    }
}

/// y += a·x + b·z in one pass.
#[inline(always)]
fn add_two<T: Real, S: Simd>(simd: S, y: &mut [T], a: T, x: &[T], b: T, z: &[T]) {
    let ctx = &T::simd_ctx(simd);
    let (a_lanes, b_lanes) = (T::simd_splat(ctx, &a), T::simd_splat(ctx, &b));
    let (y_head, y_tail) = T::as_simd_mut::<S>(y);
    let (x_head, x_tail) = T::as_simd::<S>(x);
    let (z_head, z_tail) = T::as_simd::<S>(z);
    for ((y, &x), &z) in y_head.iter_mut().zip(x_head).zip(z_head) {
        *y = T::simd_mul_add(ctx, b_lanes, z, T::simd_mul_add(ctx, a_lanes, x, *y));
    }
    for ((y, &x), &z) in y_tail.iter_mut().zip(x_tail).zip(z_tail) {
        *y = Float::mul_add(b, z, Float::mul_add(a, x, *y));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{close, random_matrix, tolerance};

    /// The equations at the head of the file, entry by entry in double precision.
    fn naive<T: Real>(
        E: &Mat<T>,
        d: &[T],
        users: &[User],
        g: &[T],
    ) -> (Mat<f64>, Vec<f64>, Vec<f64>) {
        let p = d.len();
        let mut E = Mat::from_fn(p, E.ncols(), |t, i| E[(t, i)].wide());
        let (d, g): (Vec<f64>, Vec<f64>) =
            (d.iter().map(|v| v.wide()).collect(), g.iter().map(|v| v.wide()).collect());
        let sq_g: f64 = g.iter().map(|g| g * g).sum();
        let mut a: Vec<f64> = (0..p)
            .map(|t| users.iter().zip(&g).map(|(u, g)| E[(t, u.0)] * g).sum::<f64>() + sq_g * d[t])
            .collect();
        let norm = a.iter().map(|v| v * v).sum::<f64>().sqrt();
        a.iter_mut().for_each(|v| *v /= norm);
        let along: f64 = a.iter().zip(&d).map(|(a, d)| a * d).sum();
        let fresh: Vec<f64> = users
            .iter()
            .zip(&g)
            .map(|(u, g)| (0..p).map(|t| E[(t, u.0)] * a[t]).sum::<f64>() + along * g)
            .collect();
        for ((u, g), fresh) in users.iter().zip(&g).zip(&fresh) {
            for t in 0..p {
                E[(t, u.0)] += d[t] * g - a[t] * fresh;
            }
        }
        (E, a, fresh)
    }

    fn follows_its_equations<T: Real>(p: usize, n: usize, every: usize) {
        let mut E = random_matrix::<T>(p, n, 3);
        let users: Vec<User> = (0..n).filter(|i| i % every == 1).map(|i| (i, 7 * i)).collect();
        let mut d = random_matrix::<T>(p, 1, 4).col_as_slice(0).to_vec();
        crate::vector::normalize(&mut d);
        let mut g = random_matrix::<T>(users.len(), 1, 5).col_as_slice(0).to_vec();
        let (E_naive, a, fresh) = naive(&E, &d, &users, &g);
        assert!(refit(&mut E, &mut d, &users, &mut g, 1e-12));
        let wide = |v: &[T]| Mat::from_fn(v.len(), 1, |t, _| v[t].wide());
        let bound = tolerance::<T>(p + users.len());
        let E = Mat::from_fn(p, n, |t, i| E[(t, i)].wide());
        close(E.as_ref(), E_naive.as_ref(), bound);
        close(wide(&d).as_ref(), Mat::from_fn(p, 1, |t, _| a[t]).as_ref(), bound);
        close(wide(&g).as_ref(), Mat::from_fn(fresh.len(), 1, |t, _| fresh[t]).as_ref(), bound);
    }

    #[test]
    fn one_task_and_many_follow_the_equations() {
        for (p, n, every) in
            [(3, 5, 2), (17, 40, 3), (1000, 300, 2), (TASK + 5, 9, 2), (2000, 41, 1)]
        {
            follows_its_equations::<f64>(p, n, every.max(2));
            follows_its_equations::<f32>(p, n, every.max(2));
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut E = random_matrix::<f32>(300, 700, 3);
            let users: Vec<User> = (0..700).filter(|i| i % 3 > 0).map(|i| (i, i)).collect();
            let mut d = random_matrix::<f32>(300, 1, 4).col_as_slice(0).to_vec();
            let mut g = random_matrix::<f32>(users.len(), 1, 5).col_as_slice(0).to_vec();
            pool.install(|| refit(&mut E, &mut d, &users, &mut g, 1e-12));
            (E, d, g)
        };
        let one = run(1);
        for threads in [2, 7] {
            assert!(run(threads) == one, "{threads} threads");
        }
    }

    #[test]
    fn a_vanished_atom_gives_its_share_back() {
        let d = [0.6, 0.8];
        let mut E = Mat::from_fn(2, 3, |t, i| -d[t] * (i as f64 + 1.0));
        let (mut atom, mut g) = (d.to_vec(), vec![1.0, 2.0, 3.0]);
        assert!(!refit(&mut E, &mut atom, &[(0, 0), (1, 1), (2, 2)], &mut g, 1e-12));
        assert_eq!((atom.as_slice(), g.as_slice()), (d.as_slice(), [0.0; 3].as_slice()));
        assert!(E.norm_max() < 1e-15);
    }
}
