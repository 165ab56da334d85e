//! Samples at the ends of the number range: an error where products overflow, the same answer where
//! preparation takes the scale away, never NaN.

use crate::common::{Params, assert_sound, clouds, map_of, pipeline};
use crate::kernels::kernels;
use faer::Mat;
use lkdl::map::Indefinite;
use lkdl::map::fastfood::FastfoodParams;
use lkdl::map::fourier::FourierParams;
use lkdl::prelude::*;

const GAUSSIAN: Kernel = Kernel::Gaussian { sigma: 1.0 };

/// Samples times 10^power.
fn scaled<T: Real>(X: &Mat<T>, power: i32) -> Mat<T> {
    Mat::from_fn(X.nrows(), X.ncols(), |r, i| T::of(X[(r, i)].wide() * 10f64.powi(power)))
}

#[test]
fn with_unit_norms_the_scale_of_the_samples_does_not_matter() {
    let ((X, labels), (new, _)) = (clouds::<f64>(6, 60, 3, 1), clouds::<f64>(6, 90, 3, 2));
    for steps in [vec![Step::UnitNorm], vec![Step::CenterSample, Step::UnitNorm]] {
        let mut params =
            pipeline::<f64>(Kernel::Polynomial { degree: 2.0, offset: 0.0 }, [20, 15, 8, 2]);
        params.prepare = PrepareParams { steps };
        let predict = |power| {
            let model = params.fit(scaled(&X, power).as_ref(), &labels).unwrap();
            model.predict(scaled(&new, power).as_ref()).unwrap()
        };
        let expected = predict(0).labels;
        for power in [-300, -200, -100, 100, 200, 300] {
            let predictions = predict(power);
            assert_sound(&predictions, 90, 3);
            assert_eq!(predictions.labels, expected, "1e{power}");
        }
    }
}

/// What a pipeline made of samples: sound predictions, or an error.
fn run<T: Real>(params: &Params<T>, X: &Mat<T>, labels: &[usize]) -> Result<(), LkdlError> {
    let n_classes = labels.iter().max().unwrap() + 1;
    let model = params.fit(X.as_ref(), labels)?;
    let predictions = model.predict(X.as_ref())?;
    assert_sound(&predictions, X.ncols(), n_classes);
    Ok(())
}

#[test]
fn huge_samples_overflow_to_an_error_and_never_to_a_wrong_kernel() {
    fn check<T: Real>(powers: &[i32]) {
        let (X, labels) = clouds::<T>(6, 60, 3, 1);
        for kernel in kernels() {
            for &power in powers {
                let mut params = pipeline::<T>(kernel.clone(), [20, 1, 8, 2]);
                // Landmarks drawn without a look at the samples: only the kernel can notice.
                let uniform = NystroemParams { sampler: Sampler::Uniform, ..map_of(&params) };
                params.map = MapParams::Nystroem(uniform);
                let result = run(&params, &scaled(&X, power), &labels);
                let what = format!("{kernel} 1e{power} {}: {result:?}", T::NAME);
                match kernel {
                    // Differences only: no square of a sample is formed.
                    Kernel::Laplacian { .. } | Kernel::Chi2Exponential { .. } => {}
                    // Grow with the samples, as far as there are numbers.
                    Kernel::Chi2Additive | Kernel::Custom(_) => {}
                    // tanh of an infinite product is 1, as of a large one; angles have no size.
                    Kernel::Sigmoid { .. } | Kernel::Cosine => {}
                    _ => assert!(result.is_err(), "{what}"),
                }
            }
        }
        for map in [
            MapParams::None,
            MapParams::Fourier(FourierParams { sigma: 1.0, rank: 8, seed: 0 }),
            MapParams::Fastfood(FastfoodParams { sigma: 1.0, rank: 8, seed: 0 }),
        ] {
            let params = LkdlParams { map, ..pipeline::<T>(GAUSSIAN, [20, 15, 8, 2]) };
            for &power in powers {
                let _ = run(&params, &scaled(&X, power), &labels); // sound, or an error
            }
        }
    }
    check::<f64>(&[200, 300]);
    check::<f32>(&[25, 37]);
}

#[test]
fn tiny_samples_are_learned_or_refused_but_never_give_nan() {
    fn check<T: Real>(powers: &[i32]) {
        let (X, labels) = clouds::<T>(6, 60, 3, 1);
        for kernel in kernels() {
            for &power in powers {
                let mut params = pipeline::<T>(kernel.clone(), [20, 1, 8, 2]);
                let map = NystroemParams { indefinite: Indefinite::Clip, ..map_of(&params) };
                params.map = MapParams::Nystroem(map);
                let _ = run(&params, &scaled(&X, power), &labels);
            }
        }
        let params = LkdlParams { map: MapParams::None, ..pipeline::<T>(GAUSSIAN, [20, 15, 8, 2]) };
        for &power in powers {
            let _ = run(&params, &scaled(&X, power), &labels);
        }
    }
    check::<f64>(&[-100, -160, -200, -300]);
    check::<f32>(&[-15, -25, -37]);
}
