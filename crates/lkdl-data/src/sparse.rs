//! Sparse matrices as SciPy keeps them: `scipy.sparse.load_npz` reads what is written here.
//!
//! The file is an npz archive with the arrays `indices`, `indptr`, `format` (`csr`), `shape` and
//! `data`.

use crate::atomic;
use crate::error::DataError;
use crate::npy::header;
use lkdl::Real;
use std::io::Write;
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A matrix compressed by rows: row i owns entries `offsets[i]..offsets[i + 1]`.
#[derive(Debug, Clone, Copy)]
pub struct SparseRows<'a, T: Real> {
    /// Columns of the matrix.
    pub n_columns: usize,
    /// Where each row begins, and where the last one ends.
    pub offsets: &'a [usize],
    /// The column of every entry.
    pub columns: &'a [u32],
    /// The value of every entry.
    pub values: &'a [T],
}

impl<T: Real> SparseRows<'_, T> {
    /// Writes the file, whole or not at all.
    pub fn write(&self, path: &Path, overwrite: bool) -> Result<(), DataError> {
        atomic::write_file(path, overwrite, |out| self.fill(out).map_err(std::io::Error::from))
    }

    fn fill(&self, out: &mut dyn Write) -> Result<(), zip::result::ZipError> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .large_file(true);
        let mut archive = ZipWriter::new_stream(out);
        let mut put = |name: &str, dtype: &str, shape: &[usize], bytes: &[u8]| {
            archive.start_file(format!("{name}.npy"), options)?;
            archive.write_all(&header::bytes(dtype, shape))?;
            archive.write_all(bytes)
        };
        let int64 = |value: &usize| (*value as u64).to_le_bytes();
        let shape = [self.offsets.len().saturating_sub(1), self.n_columns];
        let offsets: Vec<u8> = self.offsets.iter().flat_map(int64).collect();
        let columns: Vec<u8> =
            self.columns.iter().flat_map(|&column| u64::from(column).to_le_bytes()).collect();
        put("indices", "<i8", &[self.columns.len()], &columns)?;
        put("indptr", "<i8", &[self.offsets.len()], &offsets)?;
        put("format", "|S3", &[], b"csr")?;
        put("shape", "<i8", &[2], &shape.iter().flat_map(int64).collect::<Vec<u8>>())?;
        let (dtype, values) = self.value_bytes();
        put("data", dtype, &[self.values.len()], &values)?;
        archive.finish()?.into_inner().flush()?;
        Ok(())
    }

    /// The values in their own precision.
    fn value_bytes(&self) -> (&'static str, Vec<u8>) {
        if size_of::<T>() == size_of::<f32>() {
            let single = |value: &T| (value.wide() as f32).to_le_bytes();
            return ("<f4", self.values.iter().flat_map(single).collect());
        }
        ("<f8", self.values.iter().flat_map(|value| value.wide().to_le_bytes()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::io::Read;

    #[test]
    fn the_archive_holds_the_five_arrays_of_scipy() {
        let folder = Scratch::new("sparse");
        let path = folder.0.join("codes.npz");
        let rows = SparseRows {
            n_columns: 4,
            offsets: &[0, 2, 2, 3],
            columns: &[1, 3, 0],
            values: &[0.5f32, -2.0, 3.0],
        };
        rows.write(&path, false).unwrap();
        assert!(matches!(rows.write(&path, false), Err(DataError::Exists { .. })));
        let mut archive = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
        let mut names: Vec<String> = archive.file_names().map(str::to_string).collect();
        names.sort();
        assert_eq!(names, ["data.npy", "format.npy", "indices.npy", "indptr.npy", "shape.npy"]);
        let mut bytes = Vec::new();
        archive.by_name("data.npy").unwrap().read_to_end(&mut bytes).unwrap();
        let values: Vec<u8> = [0.5f32, -2.0, 3.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert!(bytes.starts_with(b"\x93NUMPY") && bytes.ends_with(&values));
        bytes.clear();
        archive.by_name("format.npy").unwrap().read_to_end(&mut bytes).unwrap();
        assert!(bytes.ends_with(b"csr") && String::from_utf8_lossy(&bytes).contains("'shape': ()"));
    }
}
