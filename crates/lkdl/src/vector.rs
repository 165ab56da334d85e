//! The vector loops everything else is built from, compiled for each instruction set and chosen at
//! run time (pulp): a plain `cargo build --release` uses AVX-512 or AVX2 where the machine has it.
//!
//! Every loop here is elementwise, or sums into a fixed number of lanes, so a result depends on
//! the machine but never on the thread count.

use crate::real::Real;
use num_traits::Float;
use pulp::{Arch, Simd, WithSimd};

/// SIMD vectors per step of the pursuit loops.
pub(crate) const UNROLL: usize = 4;

/// Rounds up to whole steps of [`UNROLL`] 512-bit vectors, so that those loops have no tail.
pub(crate) fn padded<T>(n: usize) -> usize {
    n.next_multiple_of(UNROLL * 64 / size_of::<T>())
}

/// aᵀb in the working type.
pub(crate) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    struct Dot<'a, T>(&'a [T], &'a [T]);
    impl<T: Real> WithSimd for Dot<'_, T> {
        type Output = T;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> T {
            dot_simd(simd, self.0, self.1)
        }
    }
    debug_assert_eq!(a.len(), b.len());
    Arch::new().dispatch(Dot(a, b))
}

/// [`dot`] inside a dispatched loop.
#[inline(always)]
pub(crate) fn dot_simd<T: Real, S: Simd>(simd: S, a: &[T], b: &[T]) -> T {
    let ctx = &T::simd_ctx(simd);
    let (a_head, a_tail) = T::as_simd::<S>(a);
    let (b_head, b_tail) = T::as_simd::<S>(b);
    let zero = T::simd_splat(ctx, &T::of(0.0));
    let mut acc = [zero; 4];
    let (a4, a_rest) = a_head.as_chunks::<4>();
    let (b4, b_rest) = b_head.as_chunks::<4>();
    for (x, y) in a4.iter().zip(b4) {
        for u in 0..4 {
            acc[u] = T::simd_mul_add(ctx, x[u], y[u], acc[u]);
        }
    }
    for (&x, &y) in a_rest.iter().zip(b_rest) {
        acc[0] = T::simd_mul_add(ctx, x, y, acc[0]);
    }
    let lower = T::simd_add(ctx, acc[0], acc[1]);
    let upper = T::simd_add(ctx, acc[2], acc[3]);
    let mut sum = T::simd_reduce_sum(ctx, T::simd_add(ctx, lower, upper));
    for (&x, &y) in a_tail.iter().zip(b_tail) {
        sum = Float::mul_add(x, y, sum);
    }
    sum
}

/// y += a·x.
pub(crate) fn axpy<T: Real>(y: &mut [T], a: T, x: &[T]) {
    struct Axpy<'a, T>(&'a mut [T], T, &'a [T]);
    impl<T: Real> WithSimd for Axpy<'_, T> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            axpy_simd(simd, self.0, self.1, self.2);
        }
    }
    debug_assert_eq!(x.len(), y.len());
    Arch::new().dispatch(Axpy(y, a, x));
}

/// [`axpy`] inside a dispatched loop.
#[inline(always)]
pub(crate) fn axpy_simd<T: Real, S: Simd>(simd: S, y: &mut [T], a: T, x: &[T]) {
    let ctx = &T::simd_ctx(simd);
    let a_lanes = T::simd_splat(ctx, &a);
    let (y_head, y_tail) = T::as_simd_mut::<S>(y);
    let (x_head, x_tail) = T::as_simd::<S>(x);
    for (y, &x) in y_head.iter_mut().zip(x_head) {
        *y = T::simd_mul_add(ctx, a_lanes, x, *y);
    }
    for (y, &x) in y_tail.iter_mut().zip(x_tail) {
        *y = Float::mul_add(a, x, *y);
    }
}

/// y += Σ a_t·x_t over four vectors, in one pass over y.
pub(crate) fn add_four<T: Real>(y: &mut [T], a: [T; 4], x: [&[T]; 4]) {
    struct AddFour<'a, T>(&'a mut [T], [T; 4], [&'a [T]; 4]);
    impl<T: Real> WithSimd for AddFour<'_, T> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let Self(y, a, x) = self;
            let ctx = &T::simd_ctx(simd);
            let lanes = a.map(|a| T::simd_splat(ctx, &a));
            let (y_head, y_tail) = T::as_simd_mut::<S>(y);
            let [(x0, t0), (x1, t1), (x2, t2), (x3, t3)] = x.map(|x| T::as_simd::<S>(x));
            let columns = x0.iter().zip(x1).zip(x2).zip(x3);
            for (y, (((&x0, &x1), &x2), &x3)) in y_head.iter_mut().zip(columns) {
                let first = T::simd_mul_add(ctx, lanes[1], x1, T::simd_mul(ctx, lanes[0], x0));
                let sum = T::simd_mul_add(ctx, lanes[2], x2, *y);
                *y = T::simd_add(ctx, first, T::simd_mul_add(ctx, lanes[3], x3, sum));
            }
            let tails = t0.iter().zip(t1).zip(t2).zip(t3);
            for (y, (((&x0, &x1), &x2), &x3)) in y_tail.iter_mut().zip(tails) {
                let first = Float::mul_add(a[1], x1, a[0] * x0);
                *y = first + Float::mul_add(a[3], x3, Float::mul_add(a[2], x2, *y));
            }
        }
    }
    debug_assert!(x.iter().all(|x| x.len() == y.len()));
    Arch::new().dispatch(AddFour(y, a, x));
}

/// ‖x‖² accumulated in `f64`.
pub(crate) fn norm_sq<T: Real>(x: &[T]) -> f64 {
    dot_wide(x, x)
}

/// aᵀb accumulated in `f64`, whatever the working type.
pub(crate) fn dot_wide<T: Real>(a: &[T], b: &[T]) -> f64 {
    struct DotWide<'a, T>(&'a [T], &'a [T]);
    impl<T: Real> WithSimd for DotWide<'_, T> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> f64 {
            const LANES: usize = 16;
            let (a, a_tail) = self.0.as_chunks::<LANES>();
            let (b, b_tail) = self.1.as_chunks::<LANES>();
            let mut acc = [0.0f64; LANES];
            for (x, y) in a.iter().zip(b) {
                for u in 0..LANES {
                    acc[u] = x[u].wide().mul_add(y[u].wide(), acc[u]);
                }
            }
            let tail: f64 = a_tail.iter().zip(b_tail).map(|(x, y)| x.wide() * y.wide()).sum();
            acc.iter().sum::<f64>() + tail
        }
    }
    debug_assert_eq!(a.len(), b.len());
    Arch::new().dispatch(DotWide(a, b))
}

/// y ← y + a·x in `f64`, whatever the type of x.
pub(crate) fn axpy_wide<T: Real>(y: &mut [f64], a: f64, x: &[T]) {
    struct AxpyWide<'a, T>(&'a mut [f64], f64, &'a [T]);
    impl<T: Real> WithSimd for AxpyWide<'_, T> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            for (y, x) in self.0.iter_mut().zip(self.2) {
                *y = x.wide().mul_add(self.1, *y);
            }
        }
    }
    debug_assert_eq!(y.len(), x.len());
    Arch::new().dispatch(AxpyWide(y, a, x));
}

/// Whether no entry is NaN or infinite: 0·x is 0 for finite x only.
pub(crate) fn all_finite<T: Real>(x: &[T]) -> bool {
    sum_zip(x, x, |v, _| v * T::of(0.0)) == T::of(0.0)
}

/// Scales a vector in place.
pub(crate) fn scale<T: Real>(x: &mut [T], factor: T) {
    for v in x {
        *v *= factor;
    }
}

/// Scales to unit ℓ2 norm and returns the old norm; a zero vector is left as it is.
pub(crate) fn normalize<T: Real>(x: &mut [T]) -> f64 {
    let mut norm = norm_sq(x).sqrt();
    let mut unit = 1.0;
    if !(norm > UNDERFLOW_NORM && norm.is_finite()) {
        // The square left the range of f64: measure the vector in units of its largest entry.
        unit = x.iter().fold(0.0, |peak: f64, v| peak.max(v.wide().abs()));
        if unit == 0.0 {
            return 0.0;
        }
        norm = x.iter().map(|v| (v.wide() / unit).powi(2)).sum::<f64>().sqrt();
    }
    for v in x {
        *v = T::of(v.wide() / unit / norm);
    }
    norm * unit
}

/// Below this norm the squares of a vector's entries lose digits to underflow.
const UNDERFLOW_NORM: f64 = 1e-140;

/// Applies `f` to every entry, with the machine's widest vectors. `f` must be `#[inline(always)]`
/// or a closure over such: that is what lets the loop be compiled for each instruction set.
#[inline(always)]
pub(crate) fn map_in_place<T: Real>(x: &mut [T], f: impl Fn(T) -> T) {
    struct Map<'a, T, F>(&'a mut [T], F);
    impl<T: Real, F: Fn(T) -> T> WithSimd for Map<'_, T, F> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            for v in self.0.iter_mut() {
                *v = (self.1)(*v);
            }
        }
    }
    Arch::new().dispatch(Map(x, f));
}

/// x_i ← f(x_i, y_i), as [`map_in_place`].
#[inline(always)]
pub(crate) fn zip_in_place<T: Real>(x: &mut [T], y: &[T], f: impl Fn(T, T) -> T) {
    struct Zip<'a, T, F>(&'a mut [T], &'a [T], F);
    impl<T: Real, F: Fn(T, T) -> T> WithSimd for Zip<'_, T, F> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            for (v, &w) in self.0.iter_mut().zip(self.1) {
                *v = (self.2)(*v, w);
            }
        }
    }
    debug_assert_eq!(x.len(), y.len());
    Arch::new().dispatch(Zip(x, y, f));
}

/// Σ_i f(x_i, y_i) in the working type over a fixed number of lanes; `f` as in [`map_in_place`].
#[inline(always)]
pub(crate) fn sum_zip<T: Real>(x: &[T], y: &[T], f: impl Fn(T, T) -> T) -> T {
    struct Sum<'a, T, F>(&'a [T], &'a [T], F);
    impl<T: Real, F: Fn(T, T) -> T> WithSimd for Sum<'_, T, F> {
        type Output = T;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> T {
            const LANES: usize = 16;
            let (a, a_tail) = self.0.as_chunks::<LANES>();
            let (b, b_tail) = self.1.as_chunks::<LANES>();
            let mut acc = [T::of(0.0); LANES];
            for (x, y) in a.iter().zip(b) {
                for u in 0..LANES {
                    acc[u] += (self.2)(x[u], y[u]);
                }
            }
            let mut sum = T::of(0.0);
            for v in acc {
                sum += v;
            }
            for (&x, &y) in a_tail.iter().zip(b_tail) {
                sum += (self.2)(x, y);
            }
            sum
        }
    }
    debug_assert_eq!(x.len(), y.len());
    Arch::new().dispatch(Sum(x, y, f))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp<T: Real>(n: usize, step: f64) -> Vec<T> {
        (0..n).map(|i| T::of(((i as f64 + 1.0) * step).sin())).collect()
    }

    fn agrees_with_scalar_loops<T: Real>() {
        for n in [0, 1, 7, 16, 63, 64, 65, 257] {
            let (a, b) = (ramp::<T>(n, 0.7), ramp::<T>(n, 0.3));
            let naive: f64 = a.iter().zip(&b).map(|(x, y)| x.wide() * y.wide()).sum();
            let tol = 8.0 * T::EPS * (n as f64 + 1.0);
            assert!((dot(&a, &b).wide() - naive).abs() <= tol);
            assert!((dot_wide(&a, &b) - naive).abs() <= 8.0 * f64::EPSILON * (n as f64 + 1.0));
            assert!((sum_zip(&a, &b, |x, y| x * y).wide() - naive).abs() <= tol);
            let mut y = b.clone();
            axpy(&mut y, T::of(0.5), &a);
            for i in 0..n {
                assert!((y[i].wide() - (b[i].wide() + 0.5 * a[i].wide())).abs() <= 4.0 * T::EPS);
            }
        }
    }

    #[test]
    fn sums_agree_with_scalar_loops() {
        agrees_with_scalar_loops::<f64>();
        agrees_with_scalar_loops::<f32>();
    }

    #[test]
    fn exp_is_accurate_to_a_few_units_in_the_last_place() {
        for i in 0..20_000 {
            let x = -40.0 + 0.004 * f64::from(i);
            assert!((x.fast_exp() / x.exp() - 1.0).abs() < 4.0 * f64::EPSILON, "{x}");
            let x = x as f32;
            assert!((x.fast_exp() / x.exp() - 1.0).abs() < 4.0 * f32::EPSILON, "{x}");
        }
        assert_eq!((0.0f64.fast_exp(), 0.0f32.fast_exp()), (1.0, 1.0));
        assert_eq!(((-800.0f64).fast_exp(), (-110.0f32).fast_exp()), (0.0, 0.0));
        assert_eq!((f64::NEG_INFINITY.fast_exp(), f32::NEG_INFINITY.fast_exp()), (0.0, 0.0));
        assert_eq!((900.0f64.fast_exp(), 100.0f32.fast_exp()), (f64::INFINITY, f32::INFINITY));
    }

    #[test]
    fn non_finite_values_are_seen_wherever_they_are() {
        for n in [1, 16, 17, 100] {
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let mut x = ramp::<f32>(n, 0.9);
                assert!(all_finite(&x));
                x[n - 1] = bad;
                assert!(!all_finite(&x));
            }
        }
    }

    #[test]
    fn normalize_leaves_zero_alone() {
        let mut zero = [0.0f64; 3];
        assert_eq!(normalize(&mut zero), 0.0);
        assert_eq!(zero, [0.0; 3]);
        let mut x = [3.0f32, 4.0];
        assert_eq!(normalize(&mut x), 5.0);
        assert_eq!(x, [0.6, 0.8]);
        for size in [1e200, 1e-200, 1e300] {
            let mut x = [3.0 * size, 4.0 * size];
            assert!((normalize(&mut x) / (5.0 * size) - 1.0).abs() < 1e-14);
            assert!((x[0] - 0.6).abs() < 1e-15 && (x[1] - 0.8).abs() < 1e-15);
        }
    }
}
