//! What a model says of itself: everything that is no tensor.

use crate::error::ModelError;
use lkdl::Kernel;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Where a model comes from and what its classes are called: the caller's part of the metadata.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Card {
    /// The name of every class index.
    pub class_names: Vec<String>,
    /// The seed of the fit.
    pub seed: u64,
    /// The samples it was trained on.
    pub data: DataRecord,
    /// The settings of the fit, as flags and values that would repeat it.
    pub settings: BTreeMap<String, String>,
}

/// The samples a model was trained on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DataRecord {
    /// What they are called.
    pub name: String,
    /// SHA-256 of values and labels; of samples that came in blocks, the 64-bit digest of values.
    pub checksum: String,
    /// How many.
    pub n_samples: usize,
    /// What their source calls the features, if it does: new samples are matched by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_names: Option<Vec<String>>,
    /// Rows and columns of the images they are, pixels row by row, if their source says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_shape: Option<(usize, usize)>,
    /// The number their source counts features from, if it numbers them (LIBSVM: 0 or 1): new
    /// samples in that format are read alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_base: Option<u32>,
}

/// How the dictionary of one class came to be.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ClassHistory {
    /// ‖X − DΓ‖_F / ‖X‖_F after each iteration.
    pub errors: Vec<f64>,
    /// `converged` or `max-iters`.
    pub stop: String,
    /// Atoms replaced over all iterations.
    pub n_replaced: usize,
    /// What the training wanted known.
    pub warnings: Vec<String>,
}

/// What a classifier writes beside its tensors.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct MethodRecord {
    /// q, where codes have so many atoms at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sparsity: Option<usize>,
    #[serde(default)]
    pub(crate) history: Vec<ClassHistory>,
    /// Numbers and names of the method's own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) parameters: BTreeMap<String, Value>,
}

/// The metadata of a file, as it is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) format_version: u32,
    pub(crate) library_version: String,
    /// Which classifier: [`Classifier::method`](crate::Classifier::method).
    pub(crate) method: String,
    /// `f32` or `f64`.
    pub(crate) precision: String,
    /// `none`, `nystroem`, `fourier` or `fastfood`.
    pub(crate) map: String,
    pub(crate) kernel: Option<KernelRecord>,
    pub(crate) preparation: String,
    pub(crate) n_features: usize,
    pub(crate) rank: usize,
    #[serde(flatten)]
    pub(crate) record: MethodRecord,
    pub(crate) warnings: Vec<String>,
    pub(crate) card: Card,
}

/// A kernel and its parameters, in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub(crate) enum KernelRecord {
    /// See [`Kernel::Linear`].
    Linear,
    /// See [`Kernel::Polynomial`].
    Polynomial { degree: f64, offset: f64 },
    /// See [`Kernel::Gaussian`].
    Gaussian { sigma: f64 },
    /// See [`Kernel::Exponential`].
    Exponential { sigma: f64 },
    /// See [`Kernel::Laplacian`].
    Laplacian { rate: f64 },
    /// See [`Kernel::Cosine`].
    Cosine,
    /// See [`Kernel::Sigmoid`].
    Sigmoid { scale: f64, offset: f64 },
    /// See [`Kernel::Chi2Additive`].
    Chi2Additive,
    /// See [`Kernel::Chi2Exponential`].
    Chi2Exponential { rate: f64 },
    /// See [`Kernel::Normalized`].
    Normalized { inner: Box<KernelRecord> },
    /// See [`Kernel::Precomputed`].
    Precomputed,
    /// See [`Kernel::Custom`]: what the function is called, which is kept elsewhere.
    Custom { function: String },
}

impl TryFrom<&Kernel> for KernelRecord {
    type Error = ModelError;

    fn try_from(kernel: &Kernel) -> Result<Self, ModelError> {
        Ok(match kernel {
            Kernel::Linear => Self::Linear,
            &Kernel::Polynomial { degree, offset } => Self::Polynomial { degree, offset },
            &Kernel::Gaussian { sigma } => Self::Gaussian { sigma },
            &Kernel::Exponential { sigma } => Self::Exponential { sigma },
            &Kernel::Laplacian { rate } => Self::Laplacian { rate },
            Kernel::Cosine => Self::Cosine,
            &Kernel::Sigmoid { scale, offset } => Self::Sigmoid { scale, offset },
            Kernel::Chi2Additive => Self::Chi2Additive,
            &Kernel::Chi2Exponential { rate } => Self::Chi2Exponential { rate },
            Kernel::Normalized(inner) => {
                Self::Normalized { inner: Box::new(Self::try_from(inner.as_ref())?) }
            }
            Kernel::Precomputed => Self::Precomputed,
            Kernel::Custom(own) => Self::Custom { function: own.name().into() },
            other => {
                return Err(ModelError::Unsaveable {
                    what: format!("the kernel {other}"),
                    fix: "use a kernel that this version of the model file knows",
                });
            }
        })
    }
}

impl KernelRecord {
    /// The kernel; `custom` is the one that no file can hold.
    pub(crate) fn kernel(&self, custom: Option<&Kernel>) -> Result<Kernel, ModelError> {
        Ok(match self {
            Self::Linear => Kernel::Linear,
            &Self::Polynomial { degree, offset } => Kernel::Polynomial { degree, offset },
            &Self::Gaussian { sigma } => Kernel::Gaussian { sigma },
            &Self::Exponential { sigma } => Kernel::Exponential { sigma },
            &Self::Laplacian { rate } => Kernel::Laplacian { rate },
            Self::Cosine => Kernel::Cosine,
            &Self::Sigmoid { scale, offset } => Kernel::Sigmoid { scale, offset },
            Self::Chi2Additive => Kernel::Chi2Additive,
            &Self::Chi2Exponential { rate } => Kernel::Chi2Exponential { rate },
            Self::Normalized { inner } => Kernel::Normalized(Box::new(inner.kernel(custom)?)),
            Self::Precomputed => Kernel::Precomputed,
            Self::Custom { function } => custom
                .cloned()
                .ok_or_else(|| ModelError::MissingKernel { function: function.clone() })?,
        })
    }
}
