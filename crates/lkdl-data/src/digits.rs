//! The 1,797 optical digits of the UCI repository (8×8 pixels, grey values 0..16), embedded.
//!
//! E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning
//! Repository, doi:10.24432/C50P49, CC BY 4.0; see `assets/README.md`.

use crate::dataset::Dataset;
use crate::error::DataError;
use faer::Mat;
use flate2::read::GzDecoder;
use std::io::Read;
use std::path::Path;

/// Records of 64 pixels and a label, compressed.
const RECORDS: &[u8] = include_bytes!("../assets/digits.bin.gz");
const N_SAMPLES: usize = 1797;
const IMAGE: (usize, usize) = (8, 8);
const N_FEATURES: usize = IMAGE.0 * IMAGE.1;

/// The digits in their usual order; pixels row by row, 0 (paper) to 16 (ink).
pub fn digits() -> Result<Dataset, DataError> {
    let file = Path::new("embedded digits");
    let mut records = Vec::with_capacity(N_SAMPLES * (N_FEATURES + 1));
    GzDecoder::new(RECORDS)
        .read_to_end(&mut records)
        .map_err(|source| DataError::reading(file, source))?;
    if records.len() != N_SAMPLES * (N_FEATURES + 1) {
        let problem = format!("{} bytes", records.len());
        return Err(DataError::format(file, problem, "build the program again"));
    }
    let record = |i: usize| &records[i * (N_FEATURES + 1)..][..=N_FEATURES];
    let samples = Mat::from_fn(N_FEATURES, N_SAMPLES, |t, i| f64::from(record(i)[t]));
    let labels = (0..N_SAMPLES).map(|i| u32::from(record(i)[N_FEATURES])).collect();
    let class_names = (0..10).map(|digit| digit.to_string()).collect();
    let set = Dataset::new("digits", samples, labels, class_names)?;
    Ok(Dataset { image_shape: Some(IMAGE), ..set })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_digits_are_the_known_ones() {
        let set = digits().unwrap();
        assert_eq!((set.n_samples(), set.n_features(), set.n_classes()), (1797, 64, 10));
        assert_eq!(set.image_shape, Some((8, 8)));
        assert_eq!(set.class_counts(), [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
        assert_eq!(set.labels[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let pixels = || (0..1797).flat_map(|i| set.samples.col_as_slice(i).iter().copied());
        assert!(pixels().all(|v| (0.0..=16.0).contains(&v) && v.fract() == 0.0));
        assert_eq!(pixels().sum::<f64>(), 561_718.0);
        assert_eq!(set.samples.col_as_slice(0)[..8], [0.0, 0.0, 5.0, 13.0, 9.0, 1.0, 0.0, 0.0]);
    }
}
