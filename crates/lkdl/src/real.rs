//! The two scalar types, `f32` and `f64`, and every threshold that depends on which one is used.

use crate::error::LkdlError;
use crate::kernel::CustomKernel;
use faer::traits::RealField;
use faer::{MatMut, MatRef};
use num_traits::Float;
use pulp::Simd;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A working precision: `f32` or `f64`.
///
/// Products, kernel tiles, virtual samples and codes live in this type; eigen-solves, pivots,
/// norms and merged sums are always `f64`.
pub trait Real:
    RealField
    + Float
    + Default
    + Send
    + Sync
    + std::iter::Sum
    + std::fmt::LowerExp
    + sealed::Sealed
    + 'static
{
    /// `"f32"` or `"f64"`.
    const NAME: &'static str;
    /// Machine epsilon, 2⁻²³ or 2⁻⁵².
    const EPS: f64;
    /// A pursuit stops when α_s² falls to this share of ‖x‖²: what is left is rounding.
    const PURSUIT_FLOOR: f64;
    /// An atom whose squared pivot falls to this share of its norm depends on those chosen.
    const DEPENDENT_PIVOT: f64;
    /// Below this share of ‖x‖² the recursion for ρ has lost its digits: recompute it.
    const RESIDUAL_REFRESH: f64;
    /// A K-SVD atom whose new direction is this small (relative) has vanished.
    const VANISHED_ATOM: f64;

    /// Rounds an `f64`.
    fn of(value: f64) -> Self;
    /// Widens to `f64`.
    fn wide(self) -> f64;

    /// eˣ in branch-free arithmetic, so that loops over it vectorise; within 4 units in the last
    /// place, 0 below the normal range.
    #[doc(hidden)]
    fn fast_exp(self) -> Self;
    /// Splits a slice into SIMD vectors and a tail.
    #[doc(hidden)]
    fn as_simd<S: Simd>(slice: &[Self]) -> (&[Self::SimdVec<S>], &[Self]);
    /// Splits a mutable slice into SIMD vectors and a tail.
    #[doc(hidden)]
    fn as_simd_mut<S: Simd>(slice: &mut [Self]) -> (&mut [Self::SimdVec<S>], &mut [Self]);
    /// Calls the user's kernel in this precision.
    #[doc(hidden)]
    fn custom_block(
        kernel: &dyn CustomKernel,
        X: MatRef<'_, Self>,
        Y: MatRef<'_, Self>,
        out: MatMut<'_, Self>,
    ) -> Result<(), LkdlError>;
    /// Calls the user's kernel diagonal in this precision.
    #[doc(hidden)]
    fn custom_diag(
        kernel: &dyn CustomKernel,
        X: MatRef<'_, Self>,
        out: &mut [Self],
    ) -> Result<(), LkdlError>;
}

macro_rules! real {
    ($type:ident, $bits:ident, $eps:expr, $floor:expr, $pivot:expr, $refresh:expr, $vanished:expr,
     $as_simd:ident, $as_simd_mut:ident, $block:ident, $diag:ident,
     $ln2_high:expr, $ln2_low:expr, $lowest:expr, $highest:expr, $taylor:expr) => {
        impl Real for $type {
            const NAME: &'static str = stringify!($type);
            const EPS: f64 = $eps;
            const PURSUIT_FLOOR: f64 = $floor;
            const DEPENDENT_PIVOT: f64 = $pivot;
            const RESIDUAL_REFRESH: f64 = $refresh;
            const VANISHED_ATOM: f64 = $vanished;

            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $type
            }
            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn fast_exp(self) -> Self {
                // eˣ = 2ⁿ·eʳ with n = round(x/ln 2), |r| ≤ ln 2 / 2; adding 1.5·2^(mantissa bits)
                // rounds to an integer and leaves n in the low bits.
                const SHIFT: u32 = $type::MANTISSA_DIGITS - 1;
                const ROUND: $type = (3u64 << (SHIFT - 1)) as $type;
                const BIAS: $bits = ($type::MAX_EXP - 1) as $bits;
                let shifted = self.mul_add(std::$type::consts::LOG2_E, ROUND);
                let n = shifted - ROUND;
                let r = n.mul_add(-$ln2_high, self);
                let r = n.mul_add(-$ln2_low, r);
                let mut sum: $type = $taylor[0];
                for c in &$taylor[1..] {
                    sum = sum.mul_add(r, *c);
                }
                let power = $type::from_bits(shifted.to_bits().wrapping_add(BIAS) << SHIFT);
                let value = sum * power;
                let value = if self < $lowest { 0.0 } else { value };
                if self > $highest { $type::INFINITY } else { value }
            }
            #[inline(always)]
            fn as_simd<S: Simd>(slice: &[Self]) -> (&[Self::SimdVec<S>], &[Self]) {
                S::$as_simd(slice)
            }
            #[inline(always)]
            fn as_simd_mut<S: Simd>(slice: &mut [Self]) -> (&mut [Self::SimdVec<S>], &mut [Self]) {
                S::$as_simd_mut(slice)
            }
            fn custom_block(
                kernel: &dyn CustomKernel,
                X: MatRef<'_, Self>,
                Y: MatRef<'_, Self>,
                out: MatMut<'_, Self>,
            ) -> Result<(), LkdlError> {
                kernel.$block(X, Y, out)
            }
            fn custom_diag(
                kernel: &dyn CustomKernel,
                X: MatRef<'_, Self>,
                out: &mut [Self],
            ) -> Result<(), LkdlError> {
                kernel.$diag(X, out)
            }
        }
    };
}

real!(
    f64,
    u64,
    f64::EPSILON,
    1e-14,
    1e-14,
    1e-6,
    1e-12,
    as_simd_f64s,
    as_mut_simd_f64s,
    block,
    diag,
    f64::from_bits(0x3fe6_2e42_fee0_0000), // ln 2 to 33 bits: n·ln2_high is exact
    f64::from_bits(0x3dea_39ef_3579_3c76), // the rest of ln 2
    -708.0,
    709.0,
    TAYLOR_F64
);
real!(
    f32,
    u32,
    f32::EPSILON as f64,
    1e-11,
    1e-6,
    1e-3,
    1e-6,
    as_simd_f32s,
    as_mut_simd_f32s,
    block_f32,
    diag_f32,
    f32::from_bits(0x3f31_7200), // ln 2 to 15 bits
    f32::from_bits(0x35bf_be8e), // the rest of ln 2
    -87.0,
    88.0,
    TAYLOR_F32
);

/// 1/13!, …, 1/1!, 1/0!: the remainder at |r| = ln 2 / 2 is below half a unit in the last place.
const TAYLOR_F64: [f64; 14] = [
    1.605_904_383_682_161_3e-10,
    2.087_675_698_786_81e-9,
    2.505_210_838_544_172e-8,
    2.755_731_922_398_589e-7,
    2.755_731_922_398_589e-6,
    2.480_158_730_158_73e-5,
    1.984_126_984_126_984e-4,
    1.388_888_888_888_889e-3,
    8.333_333_333_333_333e-3,
    4.166_666_666_666_666_4e-2,
    1.666_666_666_666_666_6e-1,
    0.5,
    1.0,
    1.0,
];
/// 1/7!, …, 1/1!, 1/0!.
const TAYLOR_F32: [f32; 8] =
    [1.984_127e-4, 1.388_888_9e-3, 8.333_334e-3, 4.166_666_8e-2, 1.666_666_7e-1, 0.5, 1.0, 1.0];
