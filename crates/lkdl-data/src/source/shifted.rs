//! A set of images made nine times as large: every image, and itself moved by one pixel in each of
//! the eight directions. What moves in is 0. LKDL, part V-D, enlarges MNIST to 540,000 samples so.

use super::Rows;
use crate::error::DataError;
use crate::random::{Stage, draw_to_front, stream};
use crate::table::{Labels, Table};
use std::path::{Path, PathBuf};

/// Samples for each image.
pub const SHIFTS: usize = 9;

/// Images and their shifts, in random order; only the images are held, in `f32`.
pub(super) struct ShiftedImages {
    file: PathBuf,
    shape: (usize, usize),
    pixels: Vec<f32>,
    labels: Labels,
    /// Image and shift of every sample, as SHIFTS·image + shift.
    order: Vec<u32>,
    next: usize,
}

impl ShiftedImages {
    pub(super) fn new(mut images: Table, seed: u64) -> Result<Self, DataError> {
        let file = PathBuf::from(&images.name);
        let Some(shape) = images.image_shape else {
            let problem = "the samples are no images of known size".to_string();
            return Err(DataError::format(
                &file,
                problem,
                "shift digits, usps, mnist or IDX images",
            ));
        };
        let Some(labels) = images.labels.take() else {
            return Err(DataError::Unlabelled { name: images.name });
        };
        let n = images.n_samples().saturating_mul(SHIFTS);
        if u32::try_from(n).is_err() {
            return Err(DataError::parameter("number of shifted images", n, "below 2^32"));
        }
        let columns = (0..images.n_samples()).map(|i| images.samples.col_as_slice(i));
        let pixels = columns.flatten().map(|value| *value as f32).collect();
        let mut order: Vec<usize> = (0..n).collect();
        draw_to_front(&mut stream(seed, Stage::Shifts, 0), &mut order, n);
        let order = order.into_iter().map(|sample| sample as u32).collect();
        Ok(Self { file, shape, pixels, labels, order, next: 0 })
    }

    /// The line of an image that line `row` of its shift comes from; none from beyond its border.
    fn origin(&self, image: usize, shift: usize, row: usize) -> Option<&[f32]> {
        let row = (row + shift / 3).checked_sub(1).filter(|row| *row < self.shape.0)?;
        let first = image * self.n_features() + row * self.shape.1;
        self.pixels.get(first..first + self.shape.1)
    }
}

impl Rows for ShiftedImages {
    fn file(&self) -> &Path {
        &self.file
    }

    fn files(&self) -> Vec<&Path> {
        Vec::new() // it is all in memory
    }

    fn n_features(&self) -> usize {
        self.shape.0 * self.shape.1
    }

    fn next(&mut self, values: &mut [f64], label: &mut String) -> Result<bool, DataError> {
        let Some(&sample) = self.order.get(self.next) else { return Ok(false) };
        self.next += 1;
        let (image, shift) = (sample as usize / SHIFTS, sample as usize % SHIFTS);
        for (row, values) in values.chunks_exact_mut(self.shape.1).enumerate() {
            let line = self.origin(image, shift, row).unwrap_or_default();
            for (column, value) in values.iter_mut().enumerate() {
                let origin = (column + shift % 3).checked_sub(1).and_then(|place| line.get(place));
                *value = origin.map_or(0.0, |pixel| f64::from(*pixel));
            }
        }
        label.clone_from(&self.labels.class_names[self.labels.indices[image] as usize]);
        Ok(true)
    }

    fn rewind(&mut self) -> Result<(), DataError> {
        self.next = 0;
        Ok(())
    }

    fn image_shape(&self) -> Option<(usize, usize)> {
        Some(self.shape)
    }
}
