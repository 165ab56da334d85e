//! Pre-images of virtual vectors: d stands for Σ_s a_sΦ(x_s) over the landmarks, a = Pd.
//!
//! What a pre-image is and how it is found: [`Panel::pre_images`](crate::Panel::pre_images).

use super::nystroem::NystroemMap;
use crate::error::LkdlError;
use crate::linalg::{convert, par_product};
use crate::matrix::{check_samples, check_size};
use crate::real::Real;
use faer::{Mat, MatRef};

impl<T: Real> NystroemMap<T> {
    /// Samples, one per column, whose virtual samples come closest to these virtual vectors or to
    /// their negatives. The pre-image of a zero vector is zero, unless the map is centred.
    ///
    /// Kernels that know no vector space (precomputed, custom) have no pre-images.
    ///
    /// ```
    /// use lkdl::prelude::*;
    /// let samples = faer::Mat::from_fn(2, 6, |row, i| if row == 0 { i as f64 } else { 1.0 });
    /// let params = NystroemParams {
    ///     kernel: Kernel::Gaussian { sigma: 0.5 },
    ///     n_landmarks: LandmarkCount::Exact(6),
    ///     ..Default::default()
    /// };
    /// let (map, virtual_samples) = params.fit_transform(samples.as_ref())?;
    /// let back = map.pre_images(virtual_samples.as_ref())?;
    /// assert!((&back - &samples).norm_max() < 1e-6);
    /// # Ok::<(), LkdlError>(())
    /// ```
    pub fn pre_images(&self, atoms: MatRef<'_, T>) -> Result<Mat<T>, LkdlError> {
        check_samples(atoms, "atoms")?;
        check_size("atoms' rank", atoms.nrows(), self.rank())?;
        let mut D = convert::<T, f64>(atoms);
        for j in 0..D.ncols() {
            // a centred map subtracted the mean from every virtual sample
            for (d, mean) in D.col_as_slice_mut(j).iter_mut().zip(self.mean()) {
                *d += mean.wide();
            }
        }
        let P = convert::<T, f64>(self.projection());
        self.panel().pre_images_of(par_product(P.as_ref(), D.as_ref()).as_ref())
    }
}

#[cfg(test)]
mod tests;
