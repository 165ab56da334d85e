//! Property test: any pipeline on any awkward data gives finite numbers or a typed error.

use crate::common::{assert_sound, normal, samplers};
use crate::kernels::kernels;
use faer::Mat;
use lkdl::dictionary::AtomUpdate;
use lkdl::map::Indefinite;
use lkdl::map::fastfood::FastfoodParams;
use lkdl::map::fourier::FourierParams;
use lkdl::prelude::*;
use proptest::prelude::*;

/// Awkward data of one kind.
fn awkward<T: Real>(kind: usize, p: usize, n: usize, seed: u64) -> Mat<T> {
    let X = normal::<f64>(p, n, seed);
    Mat::from_fn(p, n, |r, i| {
        let (x, first) = (X[(r, i)], X[(r, i % n.div_ceil(3))]);
        T::of(match kind {
            0 => x,
            1 => x.abs(),
            2 => first,                                     // repeated samples
            3 => x.abs() * f64::from(u8::from(i % 3 != 0)), // zero samples
            4 => 1.0,                                       // all equal
            5 => 0.0,
            6 => x * 1e-30,
            7 => x * 1e30,
            8 => 1e6 + x, // far from the origin
            9 => x * 1e200,
            10 => x * 1e-200,
            11 => x * 10f64.powi(7 * (i as i32 % 5) - 14), // norms over many orders
            _ => X[(0, i)] * (r + 1) as f64,               // rank 1
        })
    })
}

/// What proptest draws: the choice of every part, and the sizes.
#[derive(Debug, Clone)]
struct Case {
    kind: usize,
    p: usize,
    n: usize,
    n_classes: usize,
    kernel: usize,
    sampler: usize,
    map: usize,
    learner: usize,
    steps: usize,
    numbers: [usize; 4],
    seed: u64,
}

fn cases() -> impl Strategy<Value = Case> {
    let data = (0..13usize, 1..7usize, 1..25usize, 1..4usize, 0..100u64);
    let parts = (0..kernels().len(), 0..samplers().len(), 0..9usize, 0..3usize, 0..5usize);
    let numbers = [1..26usize, 1..12usize, 1..9usize, 1..5usize];
    (data, parts, numbers).prop_map(|((kind, p, n, n_classes, seed), parts, numbers)| {
        let (kernel, sampler, map, learner, steps) = parts;
        Case { kind, p, n, n_classes, kernel, sampler, map, learner, steps, numbers, seed }
    })
}

impl Case {
    fn map(&self) -> MapParams {
        let [c, k, ..] = self.numbers;
        let nystroem = |variant, indefinite| {
            MapParams::Nystroem(NystroemParams {
                kernel: kernels()[self.kernel].clone(),
                sampler: samplers()[self.sampler].clone(),
                n_landmarks: match c % 3 {
                    0 => LandmarkCount::Auto { trace_error: 0.1, max: c },
                    1 => LandmarkCount::Share(c as f64 / 26.0),
                    _ => LandmarkCount::Exact(c),
                },
                rank: match k % 4 {
                    0 => Rank::Standard,
                    1 => Rank::Trace(k as f64 / 13.0),
                    _ => Rank::Exact(k),
                },
                variant,
                centered: self.seed.is_multiple_of(3),
                indefinite,
                memory: None,
                seed: self.seed,
            })
        };
        match self.map {
            0 => MapParams::None,
            1 => MapParams::Fourier(FourierParams { sigma: 1.0, rank: 2 * k, seed: self.seed }),
            2 => MapParams::Fastfood(FastfoodParams { sigma: 1.0, rank: 2 * k, seed: self.seed }),
            3 => nystroem(Variant::Cholesky, Indefinite::Reject),
            4 => nystroem(Variant::Optimal, Indefinite::Clip),
            5 => nystroem(Variant::Cholesky, Indefinite::Flip),
            6 => nystroem(Variant::Standard, Indefinite::Shift),
            7 => nystroem(Variant::Standard, Indefinite::Clip),
            _ => nystroem(Variant::Standard, Indefinite::Reject),
        }
    }

    fn prepare(&self) -> PrepareParams {
        let steps = match self.steps {
            0 => vec![Step::UnitNorm],
            1 => vec![Step::CenterSample, Step::UnitNorm],
            2 => vec![Step::Standardize],
            _ => vec![],
        };
        PrepareParams { steps }
    }

    /// Fits and predicts; finite or an error that says something.
    fn run<T: Real>(&self) {
        let [.., m, q] = self.numbers;
        let (n_atoms, sparsity, max_iters, seed) = (m, q, 3, self.seed);
        let update = if self.learner == 0 { AtomUpdate::Approximate } else { AtomUpdate::Exact };
        match self.learner {
            2 => self.run_with::<T, _>(ModParams {
                n_atoms,
                sparsity,
                max_iters,
                seed,
                ..Default::default()
            }),
            _ => self.run_with::<T, _>(KsvdParams {
                n_atoms,
                sparsity,
                max_iters,
                seed,
                update,
                ..Default::default()
            }),
        }
    }

    fn run_with<T: Real, P: Learner<T>>(&self, learner: P) {
        let sparsity = self.numbers[3];
        let params = LkdlParams {
            prepare: self.prepare(),
            map: self.map(),
            method: ClassDictionariesParams { learner, sparsity },
            memory: None,
        };
        let X = awkward::<T>(self.kind, self.p, self.n, self.seed);
        if X.col_iter().any(|x| x.iter().any(|v| !v.is_finite())) {
            return; // beyond f32
        }
        let labels: Vec<usize> = (0..self.n).map(|i| i % self.n_classes).collect();
        let n_classes = self.n_classes.min(self.n);
        let outcome = params.fit(X.as_ref(), &labels).and_then(|model| {
            let F = model.transform(X.as_ref())?;
            assert!(F.col_iter().all(|f| f.iter().all(|v| v.is_finite())));
            for class in model.classifier().learned() {
                assert!(class.errors.iter().all(|e| e.is_finite()), "{:?}", class.errors);
                assert!(class.dictionary.col_iter().all(|d| d.iter().all(|v| v.is_finite())));
            }
            model.predict(X.as_ref())
        });
        match outcome {
            Ok(predictions) => assert_sound(&predictions, self.n, n_classes),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn any_pipeline_on_any_data_is_finite_or_a_typed_error(case in cases()) {
        case.run::<f64>();
        case.run::<f32>();
    }
}
