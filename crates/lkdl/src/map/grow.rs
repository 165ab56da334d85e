//! Growing a map: more landmarks, without touching the virtual dimensions that are there.
//!
//! With f(x) = Pᵀκ(X_R, x) the old virtual sample, what it misses has a kernel of its own,
//! κ'(x, y) = κ(x, y) − f(x)ᵀf(y). New landmarks Y are a Nyström map of κ': W' = κ'(Y, Y) = VΣVᵀ,
//! P' = VΣ^{-1/2}, and
//!
//! ```math
//! \begin{pmatrix}f\\g\end{pmatrix}=P_+^T\begin{pmatrix}\kappa(X_R,x)\\\kappa(Y,x)\end{pmatrix},
//! \qquad P_+=\begin{pmatrix}P&-PF_YP'\\0&P'\end{pmatrix},\quad F_Y=f(Y)
//! ```
//!
//! F gains rows and keeps those it had, so dictionaries learned before stay what they are once their
//! atoms are padded with zeros. New landmarks are RPCholesky pivots of κ' on recent samples: those of
//! which the map misses most.

use super::nystroem::NystroemMap;
use super::spectrum::threshold;
use crate::error::LkdlError;
use crate::kernel::{Kernel, Panel};
use crate::linalg::{Eigen, convert, full_eigen, gram, par_product};
use crate::matrix::{check_samples, check_size};
use crate::real::Real;
use crate::sampling::{LandmarkCount, LandmarkParams, Landmarks, Sampler};
use faer::{Mat, MatRef};

impl<T: Real> NystroemMap<T> {
    /// At most `n_landmarks` of the `recent` samples (n, of which n² kernel values are formed) that
    /// the map misses most of: pivots of κ'. Fewer, or none, where it misses nothing.
    pub fn missed_landmarks(
        &self,
        recent: MatRef<'_, T>,
        n_landmarks: usize,
        seed: u64,
    ) -> Result<Landmarks<T>, LkdlError> {
        self.check_growth(recent)?;
        let K = convert::<f64, T>(self.missed_gram(recent)?.1.as_ref());
        let params = LandmarkParams {
            sampler: Sampler::RpCholesky,
            n_landmarks: LandmarkCount::Exact(n_landmarks),
            seed,
            memory: None,
        };
        let chosen = params.select(&Kernel::Precomputed, K.as_ref())?;
        let indices = chosen.indices.unwrap_or_default();
        let points = Mat::from_fn(recent.nrows(), indices.len(), |t, j| recent[(t, indices[j])]);
        Ok(Landmarks { points, indices: Some(indices), ..chosen })
    }

    /// The map with more landmarks. The first rows of its virtual samples are those of this map; it
    /// has fewer than one more row per landmark where the landmarks tell it nothing new.
    pub fn grow(&self, landmarks: MatRef<'_, T>) -> Result<Self, LkdlError> {
        self.check_growth(landmarks)?;
        let (c, k, more) = (self.n_landmarks(), self.rank(), landmarks.ncols());
        let (W, missed) = self.missed_gram(landmarks)?;
        let Eigen { values, vectors } = full_eigen(missed.as_ref())?;
        // κ' is a difference: its rounding is that of κ.
        let tau = threshold(W.as_ref(), T::EPS, values.first().copied().unwrap_or(0.0));
        let kept = values.iter().take_while(|&&v| v > tau).count();
        if kept == 0 {
            return Ok(self.clone());
        }
        let new = Mat::from_fn(more, kept, |i, j| vectors[(i, j)] / values[j].sqrt());
        let P = convert::<T, f64>(self.projection());
        let F_new = par_product(
            convert::<T, f64>(self.transform(landmarks)?.as_ref()).as_ref(),
            new.as_ref(),
        );
        let old_share = par_product(P.as_ref(), F_new.as_ref());
        let grown = Mat::from_fn(c + more, k + kept, |i, j| {
            T::of(match (i < c, j < k) {
                (true, true) => P[(i, j)],
                (true, false) => -old_share[(i, j - k)],
                (false, true) => 0.0,
                (false, false) => new[(i - c, j - k)],
            })
        });
        let old = self.panel().points();
        let points = Mat::from_fn(old.nrows(), c + more, |t, j| {
            if j < c { old[(t, j)] } else { landmarks[(t, j - c)] }
        });
        let panel = Panel::new(self.panel().kernel(), points.as_ref())?;
        Self::from_parts(panel, grown.as_ref(), &[], &[])
    }

    /// κ(Y, Y) and κ'(Y, Y).
    fn missed_gram(&self, points: MatRef<'_, T>) -> Result<(Mat<f64>, Mat<f64>), LkdlError> {
        let W = Panel::new(self.panel().kernel(), points)?.gram()?;
        let F = convert::<T, f64>(self.transform(points)?.as_ref());
        let mut missed = &W - gram(F.as_ref());
        (0..missed.ncols()).for_each(|j| missed[(j, j)] = missed[(j, j)].max(0.0));
        Ok((W, missed))
    }

    fn check_growth(&self, points: MatRef<'_, T>) -> Result<(), LkdlError> {
        check_samples(points, "landmarks")?;
        let refused =
            |problem, fix| Err(LkdlError::Unsupported { what: "growing a map", problem, fix });
        if self.panel().kernel() == &Kernel::Precomputed {
            return refused("needs samples, which a precomputed kernel has not", "fit it anew");
        }
        if !self.mean().is_empty() {
            return refused(
                "would move the mean of a centred map",
                "use a map that is not centred",
            );
        }
        check_size("landmarks' n_features", points.nrows(), self.panel().n_rows())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{NystroemParams, Rank, Variant};
    use crate::testing::{close, random_matrix};

    const GAUSSIAN: Kernel = Kernel::Gaussian { sigma: 1.5 };

    fn fit<T: Real>(X: MatRef<'_, T>, variant: Variant, rank: usize) -> NystroemMap<T> {
        let params = NystroemParams {
            kernel: GAUSSIAN,
            sampler: Sampler::Uniform,
            n_landmarks: LandmarkCount::Exact(15),
            rank: Rank::Exact(rank),
            variant,
            ..Default::default()
        };
        params.fit(X).unwrap()
    }

    fn inner<T: Real>(F: &Mat<T>) -> Mat<f64> {
        gram(convert::<T, f64>(F.as_ref()).as_ref())
    }

    fn rows_are_kept_and_the_rest_is_the_larger_nystroem_matrix<T: Real>(tol: f64) {
        let X = random_matrix::<T>(4, 200, 1);
        let Y = random_matrix::<T>(4, 12, 2);
        for variant in [Variant::Standard, Variant::Cholesky, Variant::Optimal] {
            let map = fit(X.as_ref(), variant, 15);
            let grown = map.grow(Y.as_ref()).unwrap();
            assert_eq!((grown.rank(), grown.n_landmarks()), (27, 27));
            let (F, G) = (map.transform(X.as_ref()).unwrap(), grown.transform(X.as_ref()).unwrap());
            close(G.subrows(0, 15), F.as_ref(), tol);
            // At full rank nothing is lost by doing it in two steps: K̂ is that of all landmarks.
            let whole =
                NystroemParams { kernel: GAUSSIAN, rank: Rank::Standard, ..Default::default() };
            let landmarks = Landmarks::from_points(grown.panel().points());
            let whole = whole.fit_landmarks(X.as_ref(), &landmarks).unwrap();
            let expected = inner(&whole.transform(X.as_ref()).unwrap());
            close(inner(&G).as_ref(), expected.as_ref(), tol);
        }
    }

    #[test]
    fn old_rows_stay_and_the_whole_is_the_nystroem_matrix_of_all_landmarks() {
        rows_are_kept_and_the_rest_is_the_larger_nystroem_matrix::<f64>(1e-8);
        rows_are_kept_and_the_rest_is_the_larger_nystroem_matrix::<f32>(1e-3);
    }

    #[test]
    fn a_truncated_map_grows_by_what_it_misses_and_no_error_rises() {
        let X = random_matrix::<f64>(4, 200, 3);
        let map = fit(X.as_ref(), Variant::Standard, 6);
        let error = |map: &NystroemMap<f64>| {
            map.trace_error(X.as_ref(), map.transform(X.as_ref()).unwrap().as_ref()).unwrap()
        };
        let own = map.panel().points().to_owned();
        let again = map.grow(own.as_ref()).unwrap(); // the directions that truncation left out
        assert_eq!(again.rank(), 15);
        assert!((error(&again) - error(&fit(X.as_ref(), Variant::Standard, 15))).abs() < 1e-9);
        let full = fit(X.as_ref(), Variant::Standard, 15);
        assert_eq!(full.grow(full.panel().points()).unwrap().rank(), 15, "nothing new");
        assert!(error(&map.grow(X.subcols(0, 5)).unwrap()) < error(&map));
    }

    #[test]
    fn pivots_are_where_the_map_misses_most() {
        // Landmarks in one cluster, recent samples in two.
        let noise = random_matrix::<f64>(3, 120, 4);
        let X = Mat::from_fn(3, 120, |t, i| 0.3 * noise[(t, i)] + if i < 60 { 0.0 } else { 6.0 });
        let map = fit(X.subcols(0, 60), Variant::Standard, 15);
        let chosen = map.missed_landmarks(X.as_ref(), 4, 1).unwrap();
        let indices = chosen.indices.clone().unwrap();
        assert!(indices.iter().all(|&i| i >= 60), "{indices:?}");
        let grown = map.grow(chosen.points.as_ref()).unwrap();
        let far = X.subcols(60, 60);
        let missed = |map: &NystroemMap<f64>| {
            map.trace_error(far, map.transform(far).unwrap().as_ref()).unwrap()
        };
        assert!(missed(&map) > 0.99 && missed(&grown) < 0.2, "{}", missed(&grown));
    }

    #[test]
    fn what_cannot_grow_says_so() {
        let X = random_matrix::<f64>(4, 60, 5);
        let map = fit(X.as_ref(), Variant::Standard, 15);
        let other = random_matrix::<f64>(5, 3, 6);
        assert!(matches!(map.grow(other.as_ref()), Err(LkdlError::Shape { .. })));
        assert!(map.missed_landmarks(X.as_ref(), 61, 1).is_err());
        let centred = NystroemParams { kernel: GAUSSIAN, centered: true, ..Default::default() };
        let centred = centred.fit(X.as_ref()).unwrap();
        assert!(matches!(centred.grow(X.subcols(0, 3)), Err(LkdlError::Unsupported { .. })));
    }
}
