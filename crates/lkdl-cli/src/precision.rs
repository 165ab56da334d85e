//! Samples in the precision a model works in, without a second copy where that is `f64`.

use faer::Mat;
use lkdl::Real;
use std::any::Any;

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
    fn f64_is_handed_on_and_f32_rounded() {
        let samples = Mat::from_fn(3, 2, |t, i| 0.1 + (t + 10 * i) as f64);
        let place = samples.col_as_slice(0).as_ptr();
        let moved = into_precision::<f64>(samples);
        assert_eq!(moved.col_as_slice(0).as_ptr(), place, "copied");
        let single = into_precision::<f32>(moved);
        assert_eq!((single[(0, 0)], single[(2, 1)]), (0.1f32, 12.1f32));
    }
}
