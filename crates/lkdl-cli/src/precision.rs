//! The precision a model works in: code for either, samples in it, whether they can be, and without a
//! second copy where it is `f64`.

use crate::failure::Failure;
use faer::{Mat, MatRef};
use lkdl::Real;
use std::any::Any;

/// The same expression for a model in either precision.
macro_rules! in_its_precision {
    ($model:expr, $saved:ident => $result:expr) => {
        match $model {
            lkdl_model::AnyModel::F32($saved) => $result,
            lkdl_model::AnyModel::F64($saved) => $result,
        }
    };
}
pub(crate) use in_its_precision;

/// The largest squared norm of a sample: sums of many such, and their products with small numbers,
/// must not overflow.
const MAX_SQ_NORM: f64 = 1e-3 * f64::MAX;

/// Refuses samples that arithmetic in `T` cannot hold, by their numbers.
pub fn check_range<T: Real>(samples: MatRef<'_, f64>) -> Result<(), Failure> {
    for (i, x) in samples.col_iter().enumerate() {
        let sq_norm: f64 = x.iter().map(|v| v * v).sum();
        let peak = x.iter().map(|v| v.abs()).fold(0.0, f64::max);
        if sq_norm <= MAX_SQ_NORM && T::of(peak).wide().is_finite() {
            continue;
        }
        let t = x.iter().position(|v| v.abs() == peak).unwrap_or(0);
        let fix = if sq_norm <= MAX_SQ_NORM { ", or fit with --precision f64" } else { "" };
        return Err(Failure::input(format!(
            "feature {t} of sample {i} is {:e}, too large for arithmetic in {}; scale the samples \
             or drop this one{fix}",
            x[t],
            T::NAME
        )));
    }
    Ok(())
}

/// The samples rounded to `T`; the `f64` ones are gone when this returns, or are the result.
pub fn into_precision<T: Real>(samples: Mat<f64>) -> Mat<T> {
    let samples: Box<dyn Any> = Box::new(samples);
    match samples.downcast::<Mat<T>>() {
        Ok(same) => *same,
        Err(other) => match other.downcast::<Mat<f64>>() {
            Ok(samples) => lkdl_data::convert(&samples),
            Err(_) => unreachable!("a matrix of f64 was put in"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_that_overflows_is_named_with_its_value() {
        let mut samples = Mat::from_fn(3, 4, |t, i| (t + i) as f64);
        fn refusal<T: Real>(samples: &Mat<f64>) -> Option<(u8, String)> {
            let failure = check_range::<T>(samples.as_ref()).err()?;
            Some((failure.code(), failure.to_string()))
        }
        assert_eq!((refusal::<f32>(&samples), refusal::<f64>(&samples)), (None, None));
        samples[(1, 2)] = -1e39;
        assert_eq!(refusal::<f64>(&samples), None);
        let (code, text) = refusal::<f32>(&samples).unwrap();
        assert_eq!(code, 3);
        assert!(text.starts_with("feature 1 of sample 2 is -1e39, too large for"), "{text}");
        assert!(
            text.ends_with(
                "in f32; scale the samples or drop this one, or fit with --precision f64"
            ),
            "{text}"
        );
        samples[(1, 2)] = 1e308;
        for (code, text) in
            [refusal::<f32>(&samples), refusal::<f64>(&samples)].into_iter().flatten()
        {
            assert!(code == 3 && text.contains("feature 1 of sample 2 is 1e308"), "{text}");
            assert!(!text.contains("--precision"), "{text}");
        }
    }

    #[test]
    fn f64_is_handed_on_and_f32_rounded() {
        let samples = Mat::from_fn(3, 2, |t, i| 0.1 + (t + 10 * i) as f64);
        let place = samples.col_as_slice(0).as_ptr();
        let moved = into_precision::<f64>(samples);
        assert_eq!(moved.col_as_slice(0).as_ptr(), place, "copied");
        let single = into_precision::<f32>(moved);
        assert_eq!((single[(0, 0)], single[(2, 1)]), (0.1f32, 12.1f32));
    }
}
