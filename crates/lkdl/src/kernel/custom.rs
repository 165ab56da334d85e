//! The user's own kernel: a trait over blocks, with a closure adapter.

use crate::error::LkdlError;
use crate::linalg::convert;
use faer::{Mat, MatMut, MatRef};
use std::any::Any;

/// A kernel of the user's own, evaluated on blocks of samples (one per column).
///
/// Only the `f64` methods must be written; the `f32` ones widen, call them and round. It is [`Any`], so
/// that whoever made a kernel can find it again in a model.
pub trait CustomKernel: Any + std::fmt::Debug + Send + Sync {
    /// Shown in messages and stored with the model.
    fn name(&self) -> &str;

    /// Writes κ(x_i, y_j) to `out[(i, j)]` for all columns of X and Y.
    fn block(
        &self,
        X: MatRef<'_, f64>,
        Y: MatRef<'_, f64>,
        out: MatMut<'_, f64>,
    ) -> Result<(), LkdlError>;

    /// Writes κ(x_i, x_i) to `out[i]`.
    fn diag(&self, X: MatRef<'_, f64>, out: &mut [f64]) -> Result<(), LkdlError> {
        for (i, value) in out.iter_mut().enumerate() {
            let x = X.subcols(i, 1);
            let mut one = Mat::zeros(1, 1);
            self.block(x, x, one.as_mut())?;
            *value = one[(0, 0)];
        }
        Ok(())
    }

    /// [`CustomKernel::block`] in single precision.
    fn block_f32(
        &self,
        X: MatRef<'_, f32>,
        Y: MatRef<'_, f32>,
        mut out: MatMut<'_, f32>,
    ) -> Result<(), LkdlError> {
        let (X, Y) = (convert::<f32, f64>(X), convert::<f32, f64>(Y));
        let mut wide = Mat::zeros(X.ncols(), Y.ncols());
        self.block(X.as_ref(), Y.as_ref(), wide.as_mut())?;
        out.copy_from(convert::<f64, f32>(wide.as_ref()));
        Ok(())
    }

    /// [`CustomKernel::diag`] in single precision.
    fn diag_f32(&self, X: MatRef<'_, f32>, out: &mut [f32]) -> Result<(), LkdlError> {
        let mut wide = vec![0.0; out.len()];
        self.diag(convert::<f32, f64>(X).as_ref(), &mut wide)?;
        for (to, from) in out.iter_mut().zip(wide) {
            *to = from as f32;
        }
        Ok(())
    }
}

/// A closure over one pair of samples.
struct PairKernel<F> {
    name: String,
    value: F,
}

impl<F> std::fmt::Debug for PairKernel<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PairKernel({})", self.name)
    }
}

impl<F: Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static> CustomKernel for PairKernel<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn block(
        &self,
        X: MatRef<'_, f64>,
        Y: MatRef<'_, f64>,
        mut out: MatMut<'_, f64>,
    ) -> Result<(), LkdlError> {
        let column = |M: MatRef<'_, f64>, j: usize| M.col(j).iter().copied().collect::<Vec<_>>();
        let left: Vec<_> = (0..X.ncols()).map(|i| column(X, i)).collect();
        for j in 0..Y.ncols() {
            let y = column(Y, j);
            for (i, x) in left.iter().enumerate() {
                out[(i, j)] = (self.value)(x, &y);
            }
        }
        Ok(())
    }
}

impl super::Kernel {
    /// A kernel from a function of two samples.
    ///
    /// ```
    /// let kernel = lkdl::Kernel::custom("min", |x, y| {
    ///     x.iter().zip(y).map(|(a, b)| a.min(*b)).sum()
    /// });
    /// assert_eq!(kernel.to_string(), "custom(min)");
    /// ```
    pub fn custom(
        name: impl Into<String>,
        value: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Self::Custom(std::sync::Arc::new(PairKernel { name: name.into(), value }))
    }
}
