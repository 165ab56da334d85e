//! The flags that describe a method, shared by every command that trains one.

use super::own::OwnFlags;
use super::values::{Bytes, Count, Width, indefinite, landmarks, variant};
use clap::{Args, ValueEnum};
use lkdl::map::{Indefinite, Variant};
use lkdl::prepare::PrepareParams;
use lkdl::sampling::{LandmarkCount, Sampler};

/// How a model is learned; what is not said is chosen from the data.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Method")]
pub struct MethodFlags {
    /// What is learned from virtual samples, or from the samples themselves with --map none
    #[arg(long, value_enum, default_value_t = Method::Ksvd)]
    pub method: Method,
    /// How samples become virtual samples; `none` gives the linear method [default: nystroem, or
    /// none if held-out samples are clearly for it]
    #[arg(long, value_enum)]
    pub map: Option<MapName>,
    /// What is done to every sample first: center, l2, standardize, joined by commas, or none
    /// [default: center,l2 for signals, standardize for measurements]
    #[arg(long, value_name = "STEPS")]
    pub prepare: Option<PrepareParams>,
    /// Atoms per class, or `auto`: half the samples of the typical class (all of 50), at most 300
    #[arg(long, value_name = "M", default_value = "auto")]
    pub atoms: Count,
    /// Atoms that may represent a sample, or `auto`: 5, unless held-out samples are clearly for
    /// another number up to 30 (ksvd, mod); 30 for codes over the atoms of all classes (lc-ksvd1,
    /// lc-ksvd2, d-ksvd, src, kernel-src)
    #[arg(long, value_name = "Q", default_value = "auto")]
    pub sparsity: Count,
    /// Atoms per code while dictionaries are learned [default: --sparsity, or 5 where that is auto]
    #[arg(long, value_name = "Q")]
    pub learning_sparsity: Option<usize>,
    /// Iterations at most [default: 10; 50 for lc-ksvd1, lc-ksvd2 and d-ksvd; 5 for fddl]
    #[arg(long, value_name = "T")]
    pub iters: Option<usize>,
    /// Stop earlier when the error falls by less than this share; 0 never [default: 0.0001]
    #[arg(long, value_name = "X")]
    pub tol: Option<f64>,
    /// Refit atoms by their leading singular pair, not by one power step (ksvd, kernel-ksvd)
    #[arg(long)]
    pub exact_update: bool,
    /// Precision of the arithmetic
    #[arg(long, value_enum, default_value_t = Precision::F64)]
    pub precision: Precision,
    /// Memory the fit may use beside the data [default: about half of the machine's]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// Kernel, landmarks and rank.
    #[command(flatten)]
    pub kernel: KernelFlags,
    /// What only some methods have.
    #[command(flatten)]
    pub own: OwnFlags,
}

/// The kernel and its approximation.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Kernel")]
pub struct KernelFlags {
    /// The kernel [default: polynomial for images, spectra and other signals (16 features or more
    /// of one unit), gaussian for measurements]
    #[arg(long, value_enum)]
    pub kernel: Option<KernelName>,
    /// Degree of the polynomial kernel [default: 2]
    #[arg(long, value_name = "D")]
    pub degree: Option<f64>,
    /// Offset of the polynomial or sigmoid kernel [default: 0]
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    pub offset: Option<f64>,
    /// Width of the Gaussian or exponential kernel: a number, `median`, or `0.5median` [default:
    /// median]
    #[arg(long, value_name = "WIDTH", allow_hyphen_values = true)]
    pub sigma: Option<Width>,
    /// Rate of the Laplacian or chi2 kernel [default: 1/median distance], scale of the sigmoid [1]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub rate: Option<f64>,
    /// Divide the kernel by the square root of its diagonal
    #[arg(long)]
    pub normalized: bool,
    /// How landmarks are chosen [default: hybrid]
    #[arg(long, value_name = "NAME", value_parser = sampler())]
    pub sampler: Option<Sampler>,
    /// Landmarks: a count, a share such as 20%, or `auto` [default: auto]
    #[arg(long, value_name = "C", value_parser = landmarks)]
    pub landmarks: Option<LandmarkCount>,
    /// Dimension of the virtual samples, or `auto`: 256, or all landmarks where they are fewer (512
    /// for random features)
    #[arg(long, value_name = "K")]
    pub rank: Option<Count>,
    /// How the projection is made: standard, cholesky or optimal [default: standard]
    #[arg(long, value_name = "NAME", value_parser = variant)]
    pub variant: Option<Variant>,
    /// Subtract the mean virtual sample
    #[arg(long)]
    pub centered: bool,
    /// What to do with a kernel that is not positive: reject, clip, flip or shift [default: reject]
    #[arg(long, value_name = "POLICY", value_parser = indefinite)]
    pub indefinite: Option<Indefinite>,
}

impl KernelFlags {
    /// Flags beside `--kernel`, and whether they were given.
    pub fn given(&self) -> [(&'static str, bool); 11] {
        [
            ("degree", self.degree.is_some()),
            ("offset", self.offset.is_some()),
            ("sigma", self.sigma.is_some()),
            ("rate", self.rate.is_some()),
            ("normalized", self.normalized),
            ("sampler", self.sampler.is_some()),
            ("landmarks", self.landmarks.is_some()),
            ("rank", self.rank.is_some()),
            ("variant", self.variant.is_some()),
            ("centered", self.centered),
            ("indefinite", self.indefinite.is_some()),
        ]
    }

    /// Whether anything was said about the kernel or its approximation.
    pub fn says_anything(&self) -> bool {
        self.kernel.is_some() || self.given().iter().any(|(_, given)| *given)
    }
}

fn sampler() -> impl clap::builder::TypedValueParser<Value = Sampler> {
    use clap::builder::TypedValueParser;
    clap::builder::PossibleValuesParser::new(Sampler::names())
        .try_map(|name: String| name.parse::<Sampler>())
}

/// What is learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// A dictionary for each class by K-SVD, one atom at a time
    Ksvd,
    /// A dictionary for each class by the method of optimal directions, all atoms at once
    Mod,
    /// LC-KSVD1: one dictionary whose codes are alike within a class
    LcKsvd1,
    /// LC-KSVD2: and tell the classes apart linearly
    LcKsvd2,
    /// D-KSVD: one dictionary whose codes tell the classes apart linearly
    DKsvd,
    /// FDDL: dictionaries of all classes, told apart by residuals and codes
    Fddl,
    /// FDDL class by class, the form behind the published numbers
    FddlSimplified,
    /// SRC: a sample is represented by all training samples
    Src,
    /// Kernel K-SVD for each class, exactly (no map; n^2 memory per class)
    KernelKsvd,
    /// Kernel MOD for each class, exactly (no map; n^2 memory per class)
    KernelMod,
    /// SRC in the kernel's space, exactly (no map; N^2 memory)
    KernelSrc,
}

impl Method {
    /// Whether it works in the kernel's own space, so that there is nothing to map.
    pub fn is_exact(self) -> bool {
        matches!(self, Self::KernelKsvd | Self::KernelMod | Self::KernelSrc)
    }

    /// Whether it learns a dictionary for each class by a linear learner.
    pub fn has_class_dictionaries(self) -> bool {
        matches!(self, Self::Ksvd | Self::Mod)
    }
}

/// A map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MapName {
    /// Nyström: any kernel, from landmarks
    Nystroem,
    /// Random Fourier features of the Gaussian kernel
    #[value(alias = "rff")]
    Fourier,
    /// Fastfood features of the Gaussian kernel
    Fastfood,
    /// No map: the linear method on the samples themselves
    None,
}

/// A kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KernelName {
    /// x'y
    Linear,
    /// (x'y + offset)^degree
    Polynomial,
    /// exp(-|x-y|^2 / (2 sigma^2))
    Gaussian,
    /// exp(-|x-y| / sigma)
    Exponential,
    /// exp(-rate |x-y|_1)
    Laplacian,
    /// x'y / (|x| |y|)
    Cosine,
    /// tanh(rate x'y + offset)
    Sigmoid,
    /// exp(-rate chi2(x, y)), for values >= 0
    Chi2,
    /// sum of 2xy / (x+y), for values >= 0
    Chi2Additive,
    /// The samples are rows of a kernel matrix
    Precomputed,
}

/// The type of the arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Precision {
    /// Single: half the memory, twice the speed
    F32,
    /// Double
    F64,
}
